"""Old path of the transforms of text (MindSpore: ``dataset.text.transforms``)."""

from mindjax.dataset.text import AddToken as AddToken
from mindjax.dataset.text import BasicTokenizer as BasicTokenizer
from mindjax.dataset.text import BertTokenizer as BertTokenizer
from mindjax.dataset.text import CaseFold as CaseFold
from mindjax.dataset.text import FilterWikipediaXML as FilterWikipediaXML
from mindjax.dataset.text import Lookup as Lookup
from mindjax.dataset.text import Ngram as Ngram
from mindjax.dataset.text import NormalizeUTF8 as NormalizeUTF8
from mindjax.dataset.text import PythonTokenizer as PythonTokenizer
from mindjax.dataset.text import RegexReplace as RegexReplace
from mindjax.dataset.text import RegexTokenizer as RegexTokenizer
from mindjax.dataset.text import SlidingWindow as SlidingWindow
from mindjax.dataset.text import ToNumber as ToNumber
from mindjax.dataset.text import ToVectors as ToVectors
from mindjax.dataset.text import Truncate as Truncate
from mindjax.dataset.text import TruncateSequencePair as TruncateSequencePair
from mindjax.dataset.text import UnicodeCharTokenizer as UnicodeCharTokenizer
from mindjax.dataset.text import UnicodeScriptTokenizer as UnicodeScriptTokenizer
from mindjax.dataset.text import WhitespaceTokenizer as WhitespaceTokenizer
from mindjax.dataset.text import WordpieceTokenizer as WordpieceTokenizer
