"""What the transforms of text share: the check of their input and the form of their tokens."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.dataset.transforms.operation import OneToOne

Span = tuple[int, int]


class TextOperation(OneToOne):
    """A transform of one column of text."""

    def _texts(self, column: np.ndarray) -> np.ndarray:
        if column.dtype.kind != "U":
            raise self._fail(f"input is not string datatype, got datatype: {column.dtype}.")
        return column

    def _each(self, column: np.ndarray, change: Any) -> np.ndarray:
        texts = self._texts(column)
        changed = [change(text) for text in texts.ravel().tolist()]
        return np.array(changed, dtype=np.str_).reshape(texts.shape)


class Tokenizer(TextOperation):
    """A transform of one text into a row of tokens.

    Args:
        with_offsets: whether two columns follow, where each token begins and ends in the text's
            UTF-8 bytes (uint32).
    """

    def __init__(self, with_offsets: bool = False) -> None:
        if not isinstance(with_offsets, bool):
            raise self._fail(
                f"Wrong input type for with_offsets, should be boolean, but got {with_offsets!r}.",
                TypeError,
            )
        self.with_offsets = with_offsets

    def _split(self, text: str) -> tuple[str, list[Span]]:
        """Give the text that was cut, and (start, end) of each token in it."""
        raise NotImplementedError

    def _apply(self, column: np.ndarray) -> Any:
        if column.ndim > 0:
            raise self._fail(f"the input shape should be scalar, but got rank: {column.ndim}.")
        text, spans = self._split(str(self._texts(column)))
        spans = spans or [(0, 0)]
        tokens = np.array([text[start:end] for start, end in spans], dtype=np.str_)
        if not self.with_offsets:
            return tokens
        return tokens, *offsets(text, spans)


def offsets(text: str, spans: list[Span]) -> tuple[np.ndarray, np.ndarray]:
    """Turn places in a text into places in its UTF-8 bytes."""
    at = np.concatenate([[0], np.cumsum([len(sign.encode()) for sign in text], dtype=np.int64)])
    starts, ends = np.array(spans, dtype=np.int64).T
    return at[starts].astype(np.uint32), at[ends].astype(np.uint32)
