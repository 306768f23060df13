"""Tokenizers."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import UINT32_MAX, check_interval
from mindjax.dataset.text.enums import NormalizeForm
from mindjax.dataset.text.operation import Span, TextOperation, Tokenizer, offsets
from mindjax.dataset.text.patterns import category_class, compile_pattern
from mindjax.dataset.text.strings import check_form, fold, normalize, to_str
from mindjax.dataset.text.vocabulary import Vocab


def _flag(owner: str, name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise located(
            TypeError,
            f"For '{owner}': Wrong input type for {name}, should be boolean, but got {value!r}.",
        )
    return value


def _text(owner: str, name: str, value: Any) -> str:
    if value is None and name == "delim_pattern":
        raise located(ValueError, f"For '{owner}': {name} is not provided.")
    if not isinstance(value, str):
        raise located(
            TypeError,
            f"For '{owner}': Wrong input type for {name}, should be string, but got {value!r}.",
        )
    return value


class PythonTokenizer:
    """Applies a function that splits a text.

    Args:
        tokenizer: function of one ``str`` that gives a list of ``str``.
    """

    def __init__(self, tokenizer: Callable[[str], Any]) -> None:
        if not callable(tokenizer):
            raise located(
                TypeError, f"tokenizer is not a callable Python function, but got {tokenizer!r}."
            )
        self.pyfunc = tokenizer
        self.random = False

    def __call__(self, in_array: np.ndarray) -> np.ndarray:
        """Split every text of an array.

        Args:
            in_array: array of ``str`` or of UTF-8 bytes.

        Returns:
            Tokens; one more axis than ``in_array``.

        Raises:
            TypeError: it is no array.
            RuntimeError: the function raised.
        """
        if not isinstance(in_array, np.ndarray):
            raise located(TypeError, f"input should be a NumPy array. Got {type(in_array)}.")
        texts = to_str(in_array) if in_array.dtype.kind == "S" else in_array
        try:
            split = np.vectorize(
                lambda text: np.array(self.pyfunc(text), dtype="U"), signature="()->(n)"
            )
            return split(texts)
        except Exception as error:
            name = getattr(self.pyfunc, "__name__", type(self.pyfunc).__name__)
            raise located(
                RuntimeError, f"Error occurred in Pyfunc [{name}], error message: {error}"
            ) from error


class UnicodeCharTokenizer(Tokenizer):
    """Splits a text into its characters.

    Args:
        with_offsets: whether the places of the tokens follow.
    """

    def _split(self, text: str) -> tuple[str, list[Span]]:
        return text, [(at, at + 1) for at in range(len(text))]


def _is_blank(sign: str) -> bool:
    # Unicode's White_Space; Python counts four separators of ASCII too.
    return sign.isspace() and not "\x1c" <= sign <= "\x1f"


def _runs(text: str, kind: Callable[[str], Any]) -> list[tuple[int, int, Any]]:
    found: list[tuple[int, int, Any]] = []
    for at, sign in enumerate(text):
        key = kind(sign)
        if found and found[-1][2] == key:
            found[-1] = (found[-1][0], at + 1, key)
        else:
            found.append((at, at + 1, key))
    return found


class WhitespaceTokenizer(Tokenizer):
    """Splits a text at blanks.

    Args:
        with_offsets: whether the places of the tokens follow.
    """

    def _split(self, text: str) -> tuple[str, list[Span]]:
        return text, [(start, end) for start, end, blank in _runs(text, _is_blank) if not blank]


_SCRIPTS = {"CJK": "HAN", "IDEOGRAPHIC": "HAN", "KANGXI": "HAN", "COMBINING": "INHERITED"}
_WIDTHS = ("FULLWIDTH", "HALFWIDTH")


@functools.lru_cache(maxsize=65536)
def script_of(sign: str) -> str:
    """Name the script of a character: that of its Unicode name if it is a letter, else common."""
    category = unicodedata.category(sign)
    if category == "Cn":
        return "UNKNOWN"
    if category[0] not in "LM" and category != "Nl" and not 0x2E80 <= ord(sign) <= 0x2FDF:
        return "COMMON"
    if category in ("Lm", "Sk") and (0x2B0 <= ord(sign) <= 0x2FF or ord(sign) in (0x30FC, 0xFF70)):
        return "COMMON"
    words = unicodedata.name(sign, "UNKNOWN").split()
    first = words[1] if words[0] in _WIDTHS and len(words) > 1 else words[0]
    return _SCRIPTS.get(first, first)


class UnicodeScriptTokenizer(Tokenizer):
    """Splits a text where the script changes, and between blanks and others.

    Args:
        keep_whitespace: whether blanks are tokens too.
        with_offsets: whether the places of the tokens follow.
    """

    def __init__(self, keep_whitespace: bool = False, with_offsets: bool = False) -> None:
        super().__init__(with_offsets)
        self.keep_whitespace = _flag("UnicodeScriptTokenizer", "keep_whitespace", keep_whitespace)

    def _split(self, text: str) -> tuple[str, list[Span]]:
        runs = _runs(text, lambda sign: " " if _is_blank(sign) else script_of(sign))
        return text, [
            (start, end) for start, end, kind in runs if kind != " " or self.keep_whitespace
        ]


def _cut(text: str, delimiter: re.Pattern[str], keep: re.Pattern[str] | None) -> list[Span]:
    """Cut a text at matches; those that another expression matches are tokens too."""
    spans, at = [], 0
    for found in delimiter.finditer(text):
        start, end = found.span()
        if end == start:
            continue
        if start > at:
            spans.append((at, start))
        if keep is not None and keep.fullmatch(text, start, end):
            spans.append((start, end))
        at = end
    if at < len(text):
        spans.append((at, len(text)))
    return spans


class RegexTokenizer(Tokenizer):
    """Splits a text at what matches a regular expression.

    Args:
        delim_pattern: the expression, in ICU's syntax.
        keep_delim_pattern: delimiters that match it as a whole are tokens too.
        with_offsets: whether the places of the tokens follow.
    """

    def __init__(
        self, delim_pattern: str, keep_delim_pattern: str = "", with_offsets: bool = False
    ) -> None:
        self.delim_pattern = _text("RegexTokenizer", "delim_pattern", delim_pattern)
        self.keep_delim_pattern = _text("RegexTokenizer", "keep_delim_pattern", keep_delim_pattern)
        super().__init__(with_offsets)

    def _split(self, text: str) -> tuple[str, list[Span]]:
        delimiter = compile_pattern("RegexTokenizer", self.delim_pattern)
        kept = self.keep_delim_pattern
        return text, _cut(
            text, delimiter, compile_pattern("RegexTokenizer", kept) if kept else None
        )


_UNUSED = r"\[CLS\]|\[SEP\]|\[UNK\]|\[PAD\]|\[MASK\]|\[unused\d+\]"
_IDEOGRAPHS = (
    "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b820-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f"
)


@functools.cache
def _basic_patterns(unused: bool, blanks: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    single = f"[!-/:-@\\[-`{{-~{category_class('P')}{_IDEOGRAPHS}]"
    kept = f"{_UNUSED}|{single}" if unused else single
    return re.compile(rf"\s+|{kept}"), re.compile(rf"\s+|{kept}" if blanks else kept)


class BasicTokenizer(Tokenizer):
    """Splits a text at blanks, punctuation and ideographs, after cleaning it.

    Args:
        lower_case: whether case is folded and accents are taken off; the form is then NFD.
        keep_whitespace: whether blanks are tokens too.
        normalization_form: normal form that the text is brought to.
        preserve_unused_token: whether ``[CLS]``, ``[SEP]``, ``[UNK]``, ``[PAD]``, ``[MASK]`` and
            ``[unused1]`` stay whole.
        with_offsets: whether the places of the tokens follow, in the cleaned text.
    """

    def __init__(
        self,
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        owner = type(self).__name__
        self.lower_case = _flag(owner, "lower_case", lower_case)
        self.keep_whitespace = _flag(owner, "keep_whitespace", keep_whitespace)
        self.preserve_unused_token = _flag(owner, "preserve_unused_token", preserve_unused_token)
        super().__init__(with_offsets)
        self.normalization_form = check_form(owner, normalization_form)

    def _clean(self, text: str) -> str:
        if self.lower_case:
            if self.preserve_unused_token:
                parts = re.split(f"({_UNUSED})", text)
                text = "".join(part if at % 2 else fold(part) for at, part in enumerate(parts))
            else:
                text = fold(text)
            text = normalize(text, NormalizeForm.NFD)
            text = "".join(sign for sign in text if unicodedata.category(sign) != "Mn")
        else:
            text = normalize(text, self.normalization_form)
        return "".join(" " if unicodedata.category(sign) in ("Cc", "Cf") else sign for sign in text)

    def _split(self, text: str) -> tuple[str, list[Span]]:
        text = self._clean(text)
        return text, _cut(text, *_basic_patterns(self.preserve_unused_token, self.keep_whitespace))


class WordpieceTokenizer(TextOperation):
    """Splits words into the longest pieces that a vocabulary has.

    Args:
        vocab: the vocabulary.
        suffix_indicator: mark of a piece that is not the first of its word.
        max_bytes_per_token: a longer word is unknown.
        unknown_token: token for a word that cannot be split; "" leaves the word.
        with_offsets: whether the places of the tokens follow.
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        with_offsets: bool = False,
    ) -> None:
        owner = type(self).__name__
        if vocab is None:
            raise located(ValueError, f"For '{owner}': vocab is not provided.")
        if not isinstance(vocab, Vocab):
            raise located(
                TypeError,
                f"For '{owner}': Wrong input type for vocab, should be text.Vocab object, but got "
                f"{type(vocab)}.",
            )
        self.vocab = vocab
        self.suffix_indicator = _text(owner, "suffix_indicator", suffix_indicator)
        self.unknown_token = _text(owner, "unknown_token", unknown_token)
        self.with_offsets = _flag(owner, "with_offsets", with_offsets)
        if not isinstance(max_bytes_per_token, int) or isinstance(max_bytes_per_token, bool):
            raise located(
                TypeError,
                f"For '{owner}': Argument max_bytes_per_token with value {max_bytes_per_token!r} "
                "is not of type [<class 'int'>].",
            )
        check_interval(owner, "max_bytes_per_token", max_bytes_per_token, 0, UINT32_MAX)
        self.max_bytes_per_token = max_bytes_per_token

    def _pieces(self, word: str) -> list[tuple[str, Span]]:
        whole = [(self.unknown_token or word, (0, len(word)))]
        if len(word.encode()) > self.max_bytes_per_token:
            return whole
        ids, pieces, start = self.vocab._built, [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = (self.suffix_indicator if start else "") + word[start:end]
                if piece in ids:
                    pieces.append((piece, (start, end)))
                    start = end
                    break
            else:
                return whole
        return pieces

    def _apply(self, column: np.ndarray) -> Any:
        if column.ndim > 1:
            raise self._fail(
                f"the input tensor should be scalar or 1-D, but got rank: {column.ndim}."
            )
        return self._of_words([(word, 0) for word in np.atleast_1d(self._texts(column)).tolist()])

    def _of_words(self, words: list[tuple[str, int]]) -> Any:
        tokens, starts, ends = [], [], []
        for word, base in words:
            pieces = self._pieces(word)
            if not pieces:
                continue
            tokens.extend(piece for piece, _ in pieces)
            first, last = offsets(word, [span for _, span in pieces])
            starts.append(first + np.uint32(base))
            ends.append(last + np.uint32(base))
        if not tokens:
            tokens, starts, ends = [""], [np.zeros(1, np.uint32)], [np.zeros(1, np.uint32)]
        made = np.array(tokens, dtype=np.str_)
        return (made, np.concatenate(starts), np.concatenate(ends)) if self.with_offsets else made


class BertTokenizer(WordpieceTokenizer):
    """Splits a text as ``BasicTokenizer`` does, and its words as ``WordpieceTokenizer`` does.

    Args:
        vocab: the vocabulary.
        suffix_indicator: mark of a piece that is not the first of its word.
        max_bytes_per_token: a longer word is unknown.
        unknown_token: token for a word that cannot be split; "" leaves the word.
        lower_case: whether case is folded and accents are taken off.
        keep_whitespace: whether blanks are tokens too.
        normalization_form: normal form that the text is brought to.
        preserve_unused_token: whether ``[CLS]`` and its like stay whole.
        with_offsets: whether the places of the tokens follow, in the cleaned text.
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        super().__init__(vocab, suffix_indicator, max_bytes_per_token, unknown_token, with_offsets)
        self._basic = BasicTokenizer(
            lower_case, keep_whitespace, normalization_form, preserve_unused_token, True
        )

    def _apply(self, column: np.ndarray) -> Any:
        if column.ndim > 0:
            raise self._fail(f"the input shape should be scalar, but got rank: {column.ndim}.")
        words, starts, _ = self._basic(column)
        return self._of_words(list(zip(words.tolist(), starts.tolist(), strict=True)))
