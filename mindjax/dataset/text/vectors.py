"""Vectors of words, read from files of text."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import INT32_MAX, check_bool, check_interval, check_type
from mindjax.dataset.text.operation import TextOperation


class Vectors:
    """Vectors of words; made by ``from_file``."""

    # What a file's name must end with, and begin with.
    _name: tuple[str, str] = ("", "")

    def __init__(self) -> None:
        self._table: dict[str, np.ndarray] = {}
        self._width = 0

    @classmethod
    def from_file(cls, file_path: str, max_vectors: int | None = None) -> Vectors:
        """Read a file whose lines are a word and its numbers.

        Args:
            file_path: path of the file; a first line of two numbers is skipped.
            max_vectors: number of lines read; None or 0 for all.

        Returns:
            The vectors; of a word that comes twice the first one.

        Raises:
            TypeError: an argument has another type.
            ValueError: ``max_vectors`` is negative.
            RuntimeError: the file is not there, has another name than its kind wants, or its
                lines differ in length.
        """
        owner = f"{cls.__name__}.from_file"
        check_type(owner, "file_path", file_path, str)
        if max_vectors is not None:
            check_type(owner, "max_vectors", max_vectors, int)
            check_interval(owner, "max_vectors", max_vectors, 0, INT32_MAX)
        start, end = cls._name
        base = os.path.basename(file_path)
        if not (base.startswith(start) and base.endswith(end)):
            raise located(
                RuntimeError,
                f"For '{owner}': invalid file, the name should be {start}*{end}, but got {base}.",
            )
        if not os.path.isfile(file_path):
            raise located(RuntimeError, f"For '{owner}': failed to open file: {file_path}.")
        made = cls()
        with open(file_path, encoding="utf-8") as lines:
            for at, line in enumerate(lines):
                word, *numbers = line.rstrip().split(" ")
                if at == 0 and len(numbers) == 1:
                    continue
                if max_vectors and len(made._table) >= max_vectors:
                    break
                try:
                    vector = np.array(numbers, np.float32)
                except ValueError:
                    raise located(
                        RuntimeError, f"For '{owner}': line {at + 1} of {file_path} has no numbers."
                    ) from None
                if not len(vector) or (made._width and len(vector) != made._width):
                    raise located(
                        RuntimeError,
                        f"For '{owner}': all vectors must have the same dimension, but got "
                        f"{len(vector)} in line {at + 1} of {file_path}.",
                    )
                made._width = len(vector)
                made._table.setdefault(word, vector)
        if not made._width:
            raise located(RuntimeError, f"For '{owner}': {file_path} has no vectors.")
        return made

    def _find(self, word: str) -> np.ndarray | None:
        return self._table.get(word)


class GloVe(Vectors):
    """Vectors of GloVe, from a file ``glove.6B.*.txt``."""

    _name = ("glove.6B.", ".txt")


class FastText(Vectors):
    """Vectors of fastText, from a file ``*.vec``."""

    _name = ("", ".vec")


class CharNGram(Vectors):
    """Vectors of pieces of words of 2 to 4 characters; a word gets the mean of those it has."""

    def _find(self, word: str) -> np.ndarray | None:
        signs = ["#BEGIN#", *word, "#END#"]
        total, count = np.zeros(self._width, np.float32), 0
        for size in (2, 3, 4):
            for at in range(len(signs) - size + 1):
                found = self._table.get(f"{size}gram-{''.join(signs[at : at + size])}")
                if found is not None:
                    total, count = total + found, count + 1
        return total / np.float32(count) if count else None


class ToVectors(TextOperation):
    """Gives the vector of every word.

    Args:
        vectors: the vectors.
        unk_init: vector of an unknown word; None for zeros.
        lower_case_backup: whether an unknown word is looked up in lower case too.
    """

    def __init__(
        self, vectors: Vectors, unk_init: Any = None, lower_case_backup: bool = False
    ) -> None:
        check_type("ToVectors", "vectors", vectors, Vectors)
        if unk_init is not None:
            check_type("ToVectors", "unk_init", unk_init, (list, tuple))
            for place, value in enumerate(unk_init):
                check_type("ToVectors", f"unk_init[{place}]", value, (int, float))
        self.vectors, self.unk_init = vectors, unk_init or []
        self.lower_case_backup = check_bool("ToVectors", "lower_case_backup", lower_case_backup)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        texts = self._texts(column)
        if texts.ndim > 1:
            raise self._fail(f"input should be scalar or 1-D, but got rank: {texts.ndim}.")
        width = self.vectors._width
        if self.unk_init and len(self.unk_init) != width:
            raise self._fail(
                "unk_init must be the same length as vectors, but got unk_init: "
                f"{len(self.unk_init)} and vectors: {width}."
            )
        unknown = np.array(self.unk_init or [0.0] * width, np.float32)
        found = []
        for word in np.atleast_1d(texts).tolist():
            vector = self.vectors._find(word)
            if vector is None and self.lower_case_backup:
                vector = self.vectors._find(word.lower())
            found.append(unknown if vector is None else vector)
        return np.stack(found) if texts.ndim else found[0]
