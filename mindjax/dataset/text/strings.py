"""Transforms that change every text by itself."""

from __future__ import annotations

import functools
import unicodedata
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_type
from mindjax.dataset.text.enums import NormalizeForm
from mindjax.dataset.text.operation import TextOperation
from mindjax.dataset.text.patterns import compile_pattern, replacement


def to_bytes(array: np.ndarray, encoding: str = "utf8") -> np.ndarray:
    """Encode an array of text.

    Args:
        array: array of ``str``.
        encoding: name of the encoding.

    Returns:
        Array of ``bytes``.

    Raises:
        ValueError: it is no array.
    """
    if not isinstance(array, np.ndarray):
        raise located(ValueError, f"input should be a NumPy array, but got {type(array)}.")
    return np.char.encode(array, encoding)


def to_str(array: np.ndarray, encoding: str = "utf8") -> np.ndarray:
    """Decode an array of bytes.

    Args:
        array: array of ``bytes``.
        encoding: name of the encoding.

    Returns:
        Array of ``str``.

    Raises:
        TypeError: it is no array.
    """
    if not isinstance(array, np.ndarray):
        raise located(TypeError, f"input should be a NumPy array, but got {type(array)}.")
    return np.char.decode(array, encoding)


def normalize(text: str, form: NormalizeForm) -> str:
    """Bring a text to a normal form of Unicode."""
    if form == NormalizeForm.NONE:
        return text
    return unicodedata.normalize(form.name, text)  # type: ignore[arg-type]


def check_form(owner: str, form: Any) -> NormalizeForm:
    """Refuse what is no ``NormalizeForm``."""
    if not isinstance(form, NormalizeForm):
        raise located(
            TypeError,
            f"For '{owner}': Wrong input type for normalization_form, should be enum of "
            f"'NormalizeForm', but got {form!r}.",
        )
    return form


class CaseFold(TextOperation):
    """Folds the case of every text, and brings it to the form NFKC as ICU does."""

    def _apply(self, column: np.ndarray) -> np.ndarray:
        return self._each(column, fold)


def fold(text: str) -> str:
    """Fold the case of a text as ICU's ``nfkc_casefold`` does."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    # Characters that Unicode says are ignored by default: marks of format, selectors, fillers.
    return "".join(sign for sign in folded if not _is_ignorable(sign))


def _is_ignorable(sign: str) -> bool:
    code = ord(sign)
    return (
        code in (0xAD, 0x34F, 0x61C, 0x3164, 0xFEFF, 0xFFA0)
        or 0x200B <= code <= 0x200F
        or 0x202A <= code <= 0x202E
        or 0x2060 <= code <= 0x206F
        or 0xFE00 <= code <= 0xFE0F
        or 0x180B <= code <= 0x180F
        or 0xE0000 <= code <= 0xE0FFF
        or code in (0x115F, 0x1160, 0x17B4, 0x17B5)
    )


class NormalizeUTF8(TextOperation):
    """Brings every text to a normal form of Unicode.

    Args:
        normalize_form: the form.
    """

    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC) -> None:
        self.normalize_form = check_form("NormalizeUTF8", normalize_form)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        return self._each(column, lambda text: normalize(text, self.normalize_form))


class RegexReplace(TextOperation):
    """Replaces what matches a regular expression.

    Args:
        pattern: the expression, in ICU's syntax.
        replace: what is put there; ``$1`` stands for the first group.
        replace_all: whether all matches are replaced, not the first alone.
    """

    def __init__(self, pattern: str, replace: str, replace_all: bool = True) -> None:
        check_type("RegexReplace", "pattern", pattern, str)
        check_type("RegexReplace", "replace", replace, str)
        check_type("RegexReplace", "replace_all", replace_all, bool)
        self.pattern, self.replace, self.replace_all = pattern, replace, replace_all

    def _apply(self, column: np.ndarray) -> np.ndarray:
        found = compile_pattern("RegexReplace", self.pattern)
        put, count = replacement(self.replace), 0 if self.replace_all else 1
        return self._each(column, lambda text: found.sub(put, text, count=count))


_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
# What the original's filter comes down to: it applies its rules in the order of their texts, and
# those for links and templates come after the one that has already taken their brackets out.
_MARKUP = ((r"\n ", ""), (r"\n\s*\n", r"\n"), (r"&[^;]*;", " "))
_TAGS = ((r"<.*>", ""), (r"<[^>]*>", ""))


@functools.cache
def _wikipedia() -> list[tuple[Any, str]]:
    digits = [(str(digit), f" {name} ") for digit, name in enumerate(_DIGITS)]
    letters = [(chr(code), chr(code).lower()) for code in range(ord("A"), ord("Z") + 1)]
    rules = [*_MARKUP, *digits, *_TAGS, *letters, (r"[^a-z\n]+", " "), (r"\s+", " ")]
    return [(compile_pattern("FilterWikipediaXML", rule), replacement(put)) for rule, put in rules]


class FilterWikipediaXML(TextOperation):
    """Takes the markup out of lines of a dump of Wikipedia: lower-case letters and blanks stay."""

    def _apply(self, column: np.ndarray) -> np.ndarray:
        return self._each(column, self._filter)

    def _filter(self, text: str) -> str:
        if text[:9].lower() == "#redirect":
            return ""
        for rule, put in _wikipedia():
            text = rule.sub(put, text)
        return text.strip()
