"""The vocabulary: words and their numbers."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import INT32_MAX, check_bool, check_interval, check_type


def check_words(owner: str, name: str, words: Any) -> list[str]:
    """Refuse what is no list of different texts.

    Raises:
        TypeError: it is no list, or an entry is no ``str``.
        ValueError: a word comes twice.
    """
    check_type(owner, name, words, list)
    seen: set[str] = set()
    for word in words:
        check_type(owner, name, word, str)
        if word in seen:
            raise located(ValueError, f"For '{owner}': {name} contains duplicate word: {word}.")
        seen.add(word)
    return words


def _specials(owner: str, special_tokens: Any, special_first: Any) -> list[str]:
    check_bool(owner, "special_first", special_first)
    return [] if special_tokens is None else check_words(owner, "special_tokens", special_tokens)


class Vocab:
    """Words and their numbers; made by one of its ``from_`` methods."""

    def __init__(self) -> None:
        self._ids: dict[str, int] | None = None
        self._words: dict[int, str] = {}

    @classmethod
    def _numbered(cls, words: list[str], specials: list[str], special_first: bool) -> Vocab:
        listed = [*specials, *words] if special_first else [*words, *specials]
        return cls._of({word: number for number, word in enumerate(listed)})

    @classmethod
    def _of(cls, ids: dict[str, int]) -> Vocab:
        vocab = cls()
        vocab._ids = ids
        vocab._words = {number: word for word, number in ids.items()}
        return vocab

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        columns: Any = None,
        freq_range: Any = None,
        top_k: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """Build a vocabulary of the words of a dataset, the most frequent first.

        Args:
            dataset: dataset with columns of text.
            columns: names of the columns; None for all.
            freq_range: (low, high), how often a word must come; None for an open end.
            top_k: number of words kept; None for all.
            special_tokens: words that are added.
            special_first: whether they stand before the others.

        Returns:
            The vocabulary; words that come equally often are in the order of their bytes.

        Raises:
            TypeError: an argument has another type.
            ValueError: a range is none, or a special token is a word of the dataset.
        """
        owner = "Vocab.from_dataset"
        low, high = _frequencies(owner, freq_range)
        check_type(owner, "top_k", top_k, (int, type(None)))
        if top_k is not None:
            check_interval(owner, "top_k", top_k, 1, INT32_MAX)
        specials = _specials(owner, special_tokens, special_first)
        names = [columns] if isinstance(columns, str) else columns
        for place, name in enumerate(names or ()):
            check_type(owner, f"columns[{place}]", name, str)
        counts: Counter[str] = Counter()
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            for name in names or row:
                if name not in row:
                    raise located(
                        RuntimeError,
                        f"For '{owner}': Invalid column name: column name: {name} does not exist.",
                    )
                if row[name].dtype.kind not in "US":
                    raise located(
                        RuntimeError,
                        f"For '{owner}': Invalid datatype: the words must be strings, but column "
                        f"{name} has {row[name].dtype}.",
                    )
                counts.update(np.asarray(row[name]).astype(str).ravel().tolist())
        for token in specials:
            if token in counts:
                raise located(
                    RuntimeError,
                    f"For '{owner}': special_tokens is already in the dataset: {token}.",
                )
        kept = [word for word, count in counts.items() if low <= count <= high]
        kept.sort(key=lambda word: (-counts[word], word.encode()))
        return cls._numbered(kept[:top_k], specials, special_first)

    @classmethod
    def from_list(
        cls, word_list: list[str], special_tokens: Any = None, special_first: bool = True
    ) -> Vocab:
        """Number the words of a list.

        Args:
            word_list: different words.
            special_tokens: words that are added.
            special_first: whether they stand before the others.

        Returns:
            The vocabulary.

        Raises:
            TypeError: an argument has another type.
            ValueError: a word comes twice.
        """
        owner = "Vocab.from_list"
        words = check_words(owner, "word_list", word_list)
        specials = _specials(owner, special_tokens, special_first)
        both = set(words) & set(specials)
        if both:
            raise located(
                ValueError,
                f"For '{owner}': special_tokens and word_list contain duplicate word :{both}.",
            )
        return cls._numbered(words, specials, special_first)

    @classmethod
    def from_file(
        cls,
        file_path: str,
        delimiter: str = "",
        vocab_size: int | None = None,
        special_tokens: Any = None,
        special_first: bool = True,
    ) -> Vocab:
        """Number the words of a file, one a line.

        Args:
            file_path: path of the file.
            delimiter: a word ends at the first one in its line.
            vocab_size: number of lines read; None for all.
            special_tokens: words that are added.
            special_first: whether they stand before the others.

        Returns:
            The vocabulary.

        Raises:
            TypeError: an argument has another type.
            ValueError: ``vocab_size`` is not positive.
            RuntimeError: the file is not there, or a word comes twice.
        """
        owner = "Vocab.from_file"
        specials = _specials(owner, special_tokens, special_first)
        check_type(owner, "file_path", file_path, str)
        check_type(owner, "delimiter", delimiter, str)
        if vocab_size is not None:
            check_type(owner, "vocab_size", vocab_size, int)
            check_interval(owner, "vocab_size", vocab_size, 1, INT32_MAX)
        if not os.path.isfile(file_path):
            raise located(RuntimeError, f"For '{owner}': failed to open file: {file_path}.")
        words: list[str] = []
        with open(file_path, encoding="utf-8") as lines:
            for line in lines:
                if vocab_size is not None and len(words) == vocab_size:
                    break
                line = line.rstrip("\n")
                words.append(line.split(delimiter, 1)[0] if delimiter else line)
        try:
            return cls._numbered(check_words(owner, "file", words), specials, special_first)
        except ValueError as error:
            raise located(RuntimeError, str(error)) from None

    @classmethod
    def from_dict(cls, word_dict: dict[str, int]) -> Vocab:
        """Take words and their numbers.

        Args:
            word_dict: number of each word, at least 0.

        Returns:
            The vocabulary.

        Raises:
            TypeError: an argument has another type.
            ValueError: a number is negative.
        """
        owner = "Vocab.from_dict"
        check_type(owner, "word_dict", word_dict, dict)
        for word, number in word_dict.items():
            check_type(owner, "word", word, str)
            check_type(owner, "word_id", number, int)
            check_interval(owner, "word_id", number, 0, INT32_MAX)
        return cls._of(dict(word_dict))

    @property
    def _built(self) -> dict[str, int]:
        if self._ids is None:
            raise located(
                RuntimeError,
                "The Vocab has not built yet. Use Vocab.from_dataset(), Vocab.from_list(), "
                "Vocab.from_file() or Vocab.from_dict() to build a Vocab.",
            )
        return self._ids

    def vocab(self) -> dict[str, int]:
        """Give the number of each word."""
        return dict(self._built)

    def tokens_to_ids(self, tokens: Any) -> Any:
        """Look words up.

        Args:
            tokens: one word, or a list or array of words.

        Returns:
            One number for one word, else a list; -1 for an unknown word.

        Raises:
            TypeError: they are no texts.
        """
        ids = self._built
        check_type("Vocab.tokens_to_ids", "tokens", tokens, (str, list, np.ndarray))
        if isinstance(tokens, list):
            for place, token in enumerate(tokens):
                check_type("Vocab.tokens_to_ids", f"tokens[{place}]", token, (str, np.str_))
        listed = tokens.tolist() if isinstance(tokens, np.ndarray) else tokens
        if isinstance(listed, str):
            return ids.get(listed, -1)
        found = [ids.get(token, -1) for token in listed]
        return found[0] if len(found) == 1 else found

    def ids_to_tokens(self, ids: Any) -> Any:
        """Look numbers up.

        Args:
            ids: one number, or a list or array of numbers.

        Returns:
            One word for one number, else a list; "" for an unknown number.

        Raises:
            TypeError: they are no integers.
            ValueError: one is negative.
        """
        owner = "Vocab.ids_to_tokens"
        assert self._built is not None
        check_type(owner, "ids", ids, (int, list, np.ndarray))
        if isinstance(ids, int):
            check_interval(owner, "ids", ids, 0, INT32_MAX)
        if isinstance(ids, list):
            for place, number in enumerate(ids):
                check_type(owner, f"ids[{place}]", number, (int, np.integer))
                check_interval(owner, f"ids[{place}]", number, 0, INT32_MAX)
        listed = ids.tolist() if isinstance(ids, np.ndarray) else ids
        if isinstance(listed, int):
            return self._words.get(listed, "")
        found = [self._words.get(int(number), "") for number in listed]
        return found[0] if len(found) == 1 else found


def _frequencies(owner: str, freq_range: Any) -> tuple[float, float]:
    if freq_range is None:
        return 0, float("inf")
    check_type(owner, "freq_range", freq_range, tuple)
    if len(freq_range) != 2:
        raise located(ValueError, f"For '{owner}': freq_range needs to be a tuple of 2 element.")
    for entry in freq_range:
        if entry is not None and not isinstance(entry, int):
            raise located(
                ValueError,
                f"For '{owner}': freq_range needs to be either None or a tuple of 2 integers or an "
                f"int and a None, but got {freq_range!r}.",
            )
    low = 0 if freq_range[0] is None else freq_range[0]
    high = float("inf") if freq_range[1] is None else freq_range[1]
    if low > high or low < 0:
        raise located(
            ValueError,
            f"For '{owner}': frequency range [a,b] should be 0 <= a <= b (a,b are inclusive), but "
            f"got {freq_range!r}.",
        )
    return low, high
