"""Transforms of rows of tokens."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindjax.core.dtype as mstype
from mindjax.core.dtype import Number, to_np
from mindjax.dataset.engine.checks import INT32_MAX, check_bool, check_interval, check_type
from mindjax.dataset.text.operation import TextOperation
from mindjax.dataset.text.vocabulary import Vocab
from mindjax.dataset.transforms.operation import OneToOne, TensorOperation


class AddToken(TextOperation):
    """Adds a token at an end of a row of tokens, or of every row of a table.

    Args:
        token: the token.
        begin: whether it comes first and not last.
    """

    def __init__(self, token: str, begin: bool = True) -> None:
        check_type("AddToken", "token", token, str)
        self.token, self.begin = token, check_bool("AddToken", "begin", begin)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        texts = self._texts(column)
        if texts.ndim not in (1, 2):
            raise self._fail(f"input tensor rank should be 1 or 2, but got: {texts.ndim}.")
        added = np.full((*texts.shape[:-1], 1), self.token)
        return np.concatenate([added, texts] if self.begin else [texts, added], -1)


class Lookup(TextOperation):
    """Gives the number of every word.

    Args:
        vocab: the vocabulary.
        unknown_token: word whose number an unknown word gets; None refuses unknown words.
        data_type: dtype of the numbers.
    """

    def __init__(
        self, vocab: Vocab, unknown_token: str | None = None, data_type: Any = mstype.int32
    ) -> None:
        if unknown_token is not None:
            check_type("Lookup", "unknown_token", unknown_token, str)
        check_type("Lookup", "vocab is not an instance of text.Vocab.", vocab, Vocab)
        check_type("Lookup", "data_type", data_type, mstype.Type)
        self.vocab, self.unknown_token, self.data_type = vocab, unknown_token, data_type

    def _apply(self, column: np.ndarray) -> np.ndarray:
        ids, default = self.vocab._built, None
        if not isinstance(self.data_type, Number):
            raise self._fail(
                f"data_type should be numeric type, but got: {self.data_type}.", ValueError
            )
        if self.unknown_token is not None:
            default = ids.get(self.unknown_token)
            if default is None:
                raise self._fail(f"unknown_token: [{self.unknown_token}] doesn't exist in vocab.")
        texts = self._texts(column)
        numbers = []
        for word in texts.ravel().tolist():
            number = ids.get(word, default)
            if number is None:
                raise self._fail(
                    f"invalid data, token: {word!r} doesn't exist in vocab and no unknown token is "
                    "specified."
                )
            numbers.append(number)
        return np.array(numbers, to_np(self.data_type)).reshape(texts.shape)


class Ngram(TextOperation):
    """Joins neighbouring words of a row.

    Args:
        n: numbers of words that are joined, or one.
        left_pad: (token, width) put before the row, at most n - 1 of them.
        right_pad: (token, width) put behind it.
        separator: text between the words.
    """

    def __init__(
        self,
        n: Any,
        left_pad: tuple[str, int] = ("", 0),
        right_pad: tuple[str, int] = ("", 0),
        separator: str = " ",
    ) -> None:
        listed = [n] if isinstance(n, int) else n
        if not isinstance(listed, list) or not listed:
            raise self._fail(
                f"n needs to be a non-empty list of positive integers, but got {n!r}.", ValueError
            )
        for place, size in enumerate(listed):
            check_type("Ngram", f"gram[{place}]", size, int)
            check_interval("Ngram", f"gram_{place}", size, 1, INT32_MAX)
        for name, pad in (("left_pad", left_pad), ("right_pad", right_pad)):
            if (
                not isinstance(pad, tuple)
                or len(pad) != 2
                or not isinstance(pad[0], str)
                or not isinstance(pad[1], int)
            ):
                raise self._fail(
                    f"{name} needs to be a tuple of (str, int) str is pad token and int is "
                    f"pad_width, but got {pad!r}.",
                    ValueError,
                )
            if pad[1] < 0:
                raise self._fail(f"padding width need to be positive numbers: {pad!r}.", ValueError)
        check_type("Ngram", "separator", separator, str)
        self.ngrams, self.separator = listed, separator
        self.left_pad, self.right_pad = left_pad, right_pad

    def _apply(self, column: np.ndarray) -> np.ndarray:
        texts = self._texts(column)
        if texts.ndim != 1:
            raise self._fail(f"input is not a 1-D data, got rank: {texts.ndim}.")
        grams = []
        for size in self.ngrams:
            left = [self.left_pad[0]] * min(self.left_pad[1], size - 1)
            right = [self.right_pad[0]] * min(self.right_pad[1], size - 1)
            words = [*left, *texts.tolist(), *right]
            found = [
                self.separator.join(words[at : at + size]) for at in range(len(words) - size + 1)
            ]
            grams.extend(found or [""])
        return np.array(grams, dtype=np.str_)


class SlidingWindow(OneToOne):
    """Makes a row a table of its windows.

    Args:
        width: length of a window.
        axis: the axis, 0 or -1.
    """

    def __init__(self, width: int, axis: int = 0) -> None:
        check_type("SlidingWindow", "width", width, int)
        check_interval("SlidingWindow", "width", width, 1, INT32_MAX)
        check_type("SlidingWindow", "axis", axis, int)
        self.width, self.axis = width, axis

    def _apply(self, column: np.ndarray) -> np.ndarray:
        if column.ndim != 1:
            raise self._fail(f"SlidingWindow only supports 1D input, got rank: {column.ndim}.")
        if self.axis not in (0, -1):
            raise self._fail(
                f"axis supports 0 or -1 only for now, but got: {self.axis}.", ValueError
            )
        if len(column) < self.width:
            return np.empty((0,), column.dtype)
        windows = np.lib.stride_tricks.sliding_window_view(column, self.width)
        return np.ascontiguousarray(windows)


class ToNumber(TextOperation):
    """Reads every text as a number.

    Args:
        data_type: dtype of the numbers.
    """

    def __init__(self, data_type: Any) -> None:
        check_type("ToNumber", "data_type", data_type, mstype.Type)
        if not isinstance(data_type, Number):
            raise self._fail(f"data_type: {data_type} is not numeric data type.", TypeError)
        self.data_type = to_np(data_type)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        texts = self._texts(column)
        whole = self.data_type.kind in "iu"
        numbers = []
        for text in texts.ravel().tolist():
            try:
                number = int(text) if whole else float(text)
            except ValueError:
                raise self._fail(f"it is invalid to convert {text!r} to a number.") from None
            if whole and not (
                np.iinfo(self.data_type).min <= number <= np.iinfo(self.data_type).max
            ):
                raise self._fail(f"{text!r} is out of bounds for {self.data_type}.")
            numbers.append(number)
        out = np.array(numbers).astype(self.data_type).reshape(texts.shape)
        if not whole and not np.isfinite(out).all():
            raise self._fail(f"a number is out of bounds for {self.data_type}.")
        return out


class Truncate(OneToOne):
    """Cuts the end of a row, or of every row of a table, off.

    Args:
        max_seq_len: length that stays.
    """

    def __init__(self, max_seq_len: int) -> None:
        check_type("Truncate", "max_seq_len", max_seq_len, int)
        check_interval("Truncate", "max_seq_len", max_seq_len, 1, INT32_MAX)
        self.max_seq_len = max_seq_len

    def _apply(self, column: np.ndarray) -> np.ndarray:
        if column.ndim not in (1, 2):
            raise self._fail(f"input tensor rank should be 1 or 2, but got: {column.ndim}.")
        return np.ascontiguousarray(column[..., : self.max_seq_len])


class TruncateSequencePair(TensorOperation):
    """Cuts the ends of two rows off, of the longer first, until both together are short enough.

    Args:
        max_length: length of both together.
    """

    def __init__(self, max_length: int) -> None:
        check_type("TruncateSequencePair", "max_length", max_length, int)
        check_interval("TruncateSequencePair", "max_length", max_length, 1, INT32_MAX)
        self.max_length = max_length

    def _apply(self, *columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if len(columns) != 2:
            raise self._fail(f"the number of input should be 2, but got: {len(columns)}.")
        first, second = columns
        if first.ndim != 1 or second.ndim != 1:
            raise self._fail("both inputs should be 1-D.")
        one, two = len(first), len(second)
        while one + two > self.max_length:
            if one > two:
                one -= 1
            else:
                two -= 1
        return first[:one], second[:two]
