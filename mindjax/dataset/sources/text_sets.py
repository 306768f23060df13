"""Public sets of texts: where their parts lie, and how a part becomes rows."""

from __future__ import annotations

import csv
import json
import os
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_type
from mindjax.dataset.engine.run import Run
from mindjax.dataset.engine.samplers import Shuffle
from mindjax.dataset.sources.files import FilesDataset, find_files

Row = tuple[Any, ...]


class TextSet(FilesDataset):
    """A public set of texts; a subclass says its columns, its parts and how a part is read.

    Args:
        dataset_dir: folder of the set.
        usage: name of a part, or "all" where there is that; None for all.
        num_samples: at most so many rows.
        num_parallel_workers: number of files whose rows come in turn.
        shuffle: False for the order of the files, True or ``Shuffle.GLOBAL`` for rows in random
            order, ``Shuffle.FILES`` for files in random order.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: there is no such folder or part, or an argument is out of range.
        RuntimeError: a file of the part is missing or damaged.
    """

    columns: tuple[str, ...]
    # Part -> file; read in this order.
    parts: ClassVar[dict[str, str]]
    default = "all"

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = type(self).__name__
        folder = check_folder(owner, dataset_dir)
        usages = [*self.parts, *(["all"] if self.default == "all" else [])]
        self.dataset_dir, self.usage = folder, check_usage(owner, usage, usages) or self.default
        names = self.parts.values() if self.usage == "all" else [self.parts[self.usage]]
        super().__init__(
            [os.path.join(folder, name) for name in names],
            num_samples,
            num_parallel_workers,
            shuffle,
            num_shards,
            shard_id,
            cache,
        )
        self._made: list[Row] = []

    def _columns(self) -> list[str]:
        return list(self.columns)

    def _read_file(self, path: str) -> list[Row]:
        raise NotImplementedError(type(self).__name__)

    def _counts(self) -> list[int]:
        self._made, counts = [], []
        for path in self.dataset_files:
            try:
                rows = self._read_file(path)
            except (OSError, ValueError, KeyError, TypeError, xml.ParseError, csv.Error) as error:
                raise located(
                    RuntimeError,
                    f"Invalid data, {type(self).__name__} API can't read the data file (interface "
                    f"mismatch or no data found). Check {path}: {error!r}.",
                ) from None
            self._made += rows
            counts.append(len(rows))
        return counts

    def _rows(self, run: Run) -> Iterator[tuple[np.ndarray, ...]]:
        order = self._order()
        for place in self._indices(run).tolist():
            yield tuple([_array(value) for value in self._made[order[place]]])


class TextSetOfWorkers(TextSet):
    """A set of texts whose number of workers is its last argument but one; see ``TextSet``."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(
            dataset_dir,
            usage,
            num_samples,
            num_parallel_workers,
            shuffle,
            num_shards,
            shard_id,
            cache,
        )


def check_folder(owner: str, folder: Any) -> str:
    """Refuse what is no folder that can be read; give its path.

    Raises:
        TypeError: it is no path.
        ValueError: there is no such folder.
    """
    check_type(owner, "dataset_dir", folder, (str, os.PathLike))
    if not os.path.isdir(folder) or not os.access(folder, os.R_OK):
        raise located(
            ValueError,
            f"For '{owner}': The folder {folder} does not exist or is not a directory or "
            "permission denied!",
        )
    return os.fspath(folder)


def check_usage(owner: str, usage: Any, usages: list[str]) -> str | None:
    """Refuse the name of a part that there is not; give it.

    Raises:
        TypeError: it is no text.
        ValueError: there is no such part.
    """
    if usage is None:
        return None
    check_type(owner, "usage", usage, str)
    if usage not in usages:
        raise located(
            ValueError,
            f"For '{owner}': Input usage is not within the valid set of {usages}, but got "
            f"{usage!r}.",
        )
    return usage


def _array(value: Any) -> np.ndarray:
    """Make a column of a text, of a number or of several."""
    first = value[0] if isinstance(value, list) and value else value
    return np.array(value, np.uint32 if isinstance(first, int) else np.str_)


def text_lines(path: str) -> list[str]:
    """Give the lines of a file without their ends."""
    with open(path, encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


# Tables.


def _table(path: str, width: int, separator: str = ",") -> list[Row]:
    with open(path, encoding="utf-8", newline="") as file:
        rows = [tuple(row) for row in csv.reader(file, delimiter=separator, strict=True) if row]
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise ValueError(f"failed to parse csv file: row {number} has {len(row)} of {width}")
    return rows


_SORTED = {"test": "test.csv", "train": "train.csv"}
_TRAIN_FIRST = {"train": "train.csv", "test": "test.csv"}


class AGNewsDataset(TextSet):
    """AG News; see ``TextSet``."""

    columns, parts = ("index", "title", "description"), _SORTED

    def _read_file(self, path: str) -> list[Row]:
        return _table(path, len(self.columns))


class AmazonReviewDataset(AGNewsDataset):
    """Amazon reviews, polarity or full; see ``TextSet``."""

    columns = ("label", "title", "content")


class DBpediaDataset(AGNewsDataset):
    """DBpedia; see ``TextSet``."""

    columns = ("class", "title", "content")


class YahooAnswersDataset(AGNewsDataset):
    """Yahoo Answers; see ``TextSet``."""

    columns = ("class", "title", "content", "answer")


class SogouNewsDataset(TextSetOfWorkers):
    """Sogou News; see ``TextSet``."""

    columns, parts = ("index", "title", "content"), _TRAIN_FIRST

    def _read_file(self, path: str) -> list[Row]:
        return _table(path, len(self.columns))


class YelpReviewDataset(SogouNewsDataset):
    """Yelp reviews, polarity or full; see ``TextSet``."""

    columns = ("label", "text")


class SST2Dataset(TextSet):
    """Stanford Sentiment Treebank: columns sentence and label, of the test part sentence alone."""

    columns = ("sentence", "label")
    parts, default = {"train": "train.tsv", "test": "test.tsv", "dev": "dev.tsv"}, "train"

    def _columns(self) -> list[str]:
        return ["sentence"] if self.usage == "test" else ["sentence", "label"]

    def _read_file(self, path: str) -> list[Row]:
        rows = [line.split("\t") for line in text_lines(path)[1:] if line]
        for number, row in enumerate(rows, 1):
            if len(row) != 2:
                raise ValueError(f"row {number} has {len(row)} columns and not 2")
        return [(row[1],) if self.usage == "test" else tuple(row) for row in rows]


# Lines.


class PennTreebankDataset(TextSet):
    """Penn Treebank: column text; see ``TextSet``."""

    columns = ("text",)
    parts: ClassVar[dict[str, str]] = {
        part: f"ptb.{part}.txt" for part in ("test", "train", "valid")
    }

    def _read_file(self, path: str) -> list[Row]:
        return [(line,) for line in text_lines(path) if line]


class WikiTextDataset(PennTreebankDataset):
    """WikiText-2 and WikiText-103: column text; see ``TextSet``."""

    parts: ClassVar[dict[str, str]] = {
        part: f"wiki.{part}.tokens" for part in ("test", "train", "valid")
    }


class EnWik9Dataset(TextSet):
    """EnWik9: column text, empty lines too; see ``TextSet``.

    Args:
        dataset_dir: folder of the set.
        num_samples: at most so many rows.
        num_parallel_workers: accepted; there is one file.
        shuffle: as in ``TextSet``.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None.
    """

    columns, parts = ("text",), {"all": "enwik9"}

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = True,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(
            dataset_dir,
            None,
            num_samples,
            num_parallel_workers,
            shuffle,
            num_shards,
            shard_id,
            cache,
        )

    def _read_file(self, path: str) -> list[Row]:
        return [(line,) for line in text_lines(path)]


class CoNLL2000Dataset(TextSetOfWorkers):
    """CoNLL-2000: words and their tags, a row a sentence; see ``TextSet``."""

    columns = ("word", "pos_tag", "chunk_tag")
    parts: ClassVar[dict[str, str]] = {"test": "test.txt", "train": "train.txt"}
    separator = " "

    def _read_file(self, path: str) -> list[Row]:
        rows: list[Row] = []
        words: list[list[str]] = []
        for number, line in enumerate([*text_lines(path), ""], 1):
            if not line.strip():
                rows += [tuple(map(list, zip(*words, strict=True)))] if words else []
                words = []
                continue
            word = line.split(self.separator)
            if len(word) != len(self.columns):
                raise ValueError(f"line {number} has {len(word)} columns of {len(self.columns)}")
            words.append(word)
        return rows


class UDPOSDataset(CoNLL2000Dataset):
    """Universal Dependencies: words and their tags, a row a sentence; see ``TextSet``."""

    columns = ("word", "universal", "stanford")
    separator = "\t"
    parts: ClassVar[dict[str, str]] = {
        "valid": "en-ud-tag.v2.dev.txt",
        "test": "en-ud-tag.v2.test.txt",
        "train": "en-ud-tag.v2.train.txt",
    }


class SQuADDataset(TextSet):
    """SQuAD 1.1 and 2.0: context, question, answers and where they start; see ``TextSet``.

    A question without an answer has an empty text that starts at 4294967295.
    """

    columns = ("context", "question", "text", "answer_start")
    parts: ClassVar[dict[str, str]] = {"train": "train-v", "dev": "dev-v"}

    def _read_file(self, path: str) -> list[Row]:
        folder, start = os.path.split(path)
        names = [name for name in sorted(os.listdir(folder)) if name.startswith(start)]
        if not names:
            raise FileNotFoundError(f"failed to find SQuAD {start} data file")
        with open(os.path.join(folder, names[0]), encoding="utf-8") as file:
            try:
                content = json.load(file)
            except ValueError as error:
                raise ValueError(f"{names[0]}: {error}") from None
        return [
            (
                paragraph["context"],
                question["question"],
                [answer["text"] for answer in question["answers"]] or [""],
                [answer["answer_start"] for answer in question["answers"]] or [2**32 - 1],
            )
            for article in content["data"]
            for paragraph in article["paragraphs"]
            for question in paragraph["qas"]
        ]


# CLUE: task -> (columns of train and eval, columns of test); names within an entry by dots.
_PAIR = ("sentence1", "sentence2")
_SPANS = tuple(f"target.span{n}_{what}" for n in (1, 2) for what in ("index", "text"))
_TASKS = {
    "AFQMC": (("label", *_PAIR), ("id", *_PAIR)),
    "TNEWS": (("keywords", "label", "label_desc", "sentence"), ("id", "keywords", "sentence")),
    "IFLYTEK": (("label", "label_des", "sentence"), ("id", "sentence")),
    "CMNLI": (("label", *_PAIR), ("id", *_PAIR)),
    "WSC": (("idx", "label", *_SPANS, "text"), ("idx", *_SPANS, "text")),
    "CSL": (("abst", "id", "keyword", "label"), ("abst", "id", "keyword")),
}


class CLUEDataset(TextSet):
    """CLUE: files of JSON, a row a line.

    Args:
        dataset_files: paths or patterns of files.
        task: AFQMC, TNEWS, IFLYTEK, CMNLI, WSC or CSL.
        usage: train, test or eval.
        num_samples: at most so many rows.
        num_parallel_workers: number of files whose rows come in turn.
        shuffle: as in ``TextSet``.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None.

    Raises:
        ValueError: there is no such file, task or usage.
        RuntimeError: a line is no such entry.
    """

    def __init__(
        self,
        dataset_files: Any,
        task: str = "AFQMC",
        usage: str = "train",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        files = find_files("CLUEDataset", dataset_files)
        if task not in _TASKS:
            raise located(
                ValueError, "task should be 'AFQMC', 'TNEWS', 'IFLYTEK', 'CMNLI', 'WSC' or 'CSL'."
            )
        if usage not in ("train", "test", "eval"):
            raise located(ValueError, "usage should be 'train', 'test' or 'eval'.")
        self._keys = _TASKS[task][usage == "test"]
        self.columns = tuple(key.rpartition(".")[2] for key in self._keys)
        FilesDataset.__init__(
            self, files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )

    def _read_file(self, path: str) -> list[Row]:
        rows = []
        for number, line in enumerate(text_lines(path), 1):
            try:
                entry = json.loads(line) if line else None
                rows += [] if entry is None else [tuple(_within(entry, k) for k in self._keys)]
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"line {number} is no entry of the task: {error!r}") from None
        return rows


def _within(entry: dict[str, Any], key: str) -> Any:
    first, _, rest = key.partition(".")
    return _within(entry[first], rest) if rest else entry[first]
