"""Old path of the vocabulary and of the enumerations (MindSpore: ``dataset.text.utils``)."""

from mindjax.dataset.text import CharNGram as CharNGram
from mindjax.dataset.text import FastText as FastText
from mindjax.dataset.text import GloVe as GloVe
from mindjax.dataset.text import JiebaMode as JiebaMode
from mindjax.dataset.text import NormalizeForm as NormalizeForm
from mindjax.dataset.text import SentencePieceModel as SentencePieceModel
from mindjax.dataset.text import SPieceTokenizerLoadType as SPieceTokenizerLoadType
from mindjax.dataset.text import SPieceTokenizerOutType as SPieceTokenizerOutType
from mindjax.dataset.text import Vectors as Vectors
from mindjax.dataset.text import Vocab as Vocab
from mindjax.dataset.text import to_bytes as to_bytes
from mindjax.dataset.text import to_str as to_str
