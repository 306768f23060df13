"""Public sets of translations, and reviews that lie in a file each."""

from __future__ import annotations

import os
import xml.etree.ElementTree as xml
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.run import Run
from mindjax.dataset.engine.samplers import Shuffle
from mindjax.dataset.sources.files import FilesDataset
from mindjax.dataset.sources.mappable import MappableDataset
from mindjax.dataset.sources.text_sets import (
    Row,
    TextSet,
    check_folder,
    check_usage,
    text_lines,
)

_USAGES = ["train", "test", "valid", "all"]


class Translations(TextSet):
    """A set of sentences and their translations: columns text and translation."""

    columns = ("text", "translation")

    def _begin(self, folder: str, pair: tuple[str, str], names: list[str], *rest: Any) -> None:
        """Read files whose names hold ``{}`` where the language stands."""
        self.dataset_dir, self.language_pair = folder, pair
        FilesDataset.__init__(self, [os.path.join(folder, name) for name in names], *rest)

    def _read_file(self, path: str) -> list[Row]:
        texts, others = (self._sentences(path.replace("{}", name)) for name in self.language_pair)
        if len(texts) != len(others):
            raise ValueError(f"{len(texts)} sentences have {len(others)} translations")
        return list(zip(texts, others, strict=True))

    def _sentences(self, path: str) -> list[str]:
        if path.endswith(".xml"):
            return [(found.text or "").strip() for found in xml.parse(path).iter("seg")]
        return [line.strip() for line in text_lines(path) if line and not line.startswith("<")]


def _pair(owner: str, pair: Any, default: tuple[str, str], known: list[str]) -> tuple[str, str]:
    """Check a pair of languages: both are known, and they differ.

    Raises:
        TypeError: it is neither a list nor a tuple.
        ValueError: there is no such pair.
    """
    if pair is None:
        return default
    if not isinstance(pair, list | tuple):
        raise located(
            TypeError, f"For '{owner}': language_pair should be a type list or tuple, got {pair!r}."
        )
    if len(pair) != 2 or pair[0] == pair[1] or any(name not in known for name in pair):
        raise located(
            ValueError,
            f"For '{owner}': language_pair holds two languages of {known}, but got {pair!r}.",
        )
    return pair[0], pair[1]


class Multi30kDataset(Translations):
    """Multi30k; see ``TextSet``.

    Args:
        dataset_dir: folder of the set.
        usage: train, test, valid or all; None for all.
        language_pair: ``["en", "de"]`` or ``["de", "en"]``; None for the first.
        num_samples: at most so many rows.
        num_parallel_workers: number of files whose rows come in turn.
        shuffle: as in ``TextSet``.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None.
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        language_pair: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "Multi30kDataset"
        folder = check_folder(owner, dataset_dir)
        part = check_usage(owner, usage, _USAGES) or "all"
        pair = _pair(owner, language_pair, ("en", "de"), ["en", "de"])
        files = {
            "test": "mmt16_task1_test/test.{}",
            "train": "training/train.{}",
            "valid": "validation/val.{}",
        }
        names = list(files.values()) if part == "all" else [files[part]]
        rest = num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        self._begin(folder, pair, names, *rest)

    def _sentences(self, path: str) -> list[str]:
        return [line for line in text_lines(path) if line]


_YEARS = ["dev2010", "tst2010", "tst2011", "tst2012", "tst2013", "tst2014"]


class IWSLT2016Dataset(Translations):
    """IWSLT 2016: talks; see ``TextSet``.

    Args:
        dataset_dir: folder of the set.
        usage: train, test, valid or all; None for all.
        language_pair: en and one of ar, cs, de, fr, in either order; None for de and en.
        valid_set: name of the validation part; None for tst2013.
        test_set: name of the test part; None for tst2014.
        num_samples: at most so many rows.
        shuffle: as in ``TextSet``.
        num_shards: number of shards.
        shard_id: which shard this is.
        num_parallel_workers: number of files whose rows come in turn.
        cache: only None.
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        language_pair: Sequence[str] | None = None,
        valid_set: str | None = None,
        test_set: str | None = None,
        num_samples: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "IWSLT2016Dataset"
        folder = check_folder(owner, dataset_dir)
        part = check_usage(owner, usage, _USAGES) or "all"
        pair = _pair(owner, language_pair, ("de", "en"), ["en", "fr", "de", "cs", "ar"])
        if "en" not in pair:
            raise located(ValueError, f"For '{owner}': one of language_pair is 'en', got {pair}.")
        years = {"valid": valid_set or "tst2013", "test": test_set or "tst2014"}
        for name, year in years.items():
            if year not in _YEARS:
                raise located(
                    ValueError,
                    f"For '{owner}': Input {name}_set is not within the valid set of {_YEARS}, but "
                    f"got {year!r}.",
                )
        both = "-".join(pair)
        place = f"texts/{pair[0]}/{pair[1]}/{both}"
        files = {"train": f"{place}/train.tags.{both}.{{}}"} | {
            name: f"{place}/IWSLT16.TED.{year}.{both}.{{}}.xml" for name, year in years.items()
        }
        names = list(files.values()) if part == "all" else [files[part]]
        rest = num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        self._begin(folder, pair, names, *rest)


class IWSLT2017Dataset(Translations):
    """IWSLT 2017: talks; see ``TextSet``.

    Args:
        dataset_dir: folder of the set.
        usage: train, test, valid or all; None for all.
        language_pair: two of de, en, it, nl and ro; None for de and en.
        num_samples: at most so many rows.
        shuffle: as in ``TextSet``.
        num_shards: number of shards.
        shard_id: which shard this is.
        num_parallel_workers: number of files whose rows come in turn.
        cache: only None.
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        language_pair: Sequence[str] | None = None,
        num_samples: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "IWSLT2017Dataset"
        folder = check_folder(owner, dataset_dir)
        part = check_usage(owner, usage, _USAGES) or "all"
        pair = _pair(owner, language_pair, ("de", "en"), ["en", "nl", "de", "it", "ro"])
        both = "-".join(pair)
        place = "texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo"
        files = {"train": f"{place}/train.tags.{both}.{{}}"} | {
            name: f"{place}/IWSLT17.TED.{year}.{both}.{{}}.xml"
            for name, year in (("valid", "dev2010"), ("test", "tst2010"))
        }
        names = list(files.values()) if part == "all" else [files[part]]
        rest = num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        self._begin(folder, pair, names, *rest)


class IMDBDataset(MappableDataset):
    """Reviews of films, a file each: columns text and label, 1 for a good one.

    Args:
        dataset_dir: folder of the set.
        usage: train, test or all; None for all.
        num_samples: at most so many rows.
        num_parallel_workers: number of threads that read.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None.

    Raises:
        ValueError: there is no such folder or part, or an argument is out of range.
        RuntimeError: a folder of the part is missing or has no reviews.
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(
            num_parallel_workers, num_samples, sampler, shuffle, num_shards, shard_id, cache
        )
        self.dataset_dir = check_folder("IMDBDataset", dataset_dir)
        self.usage = check_usage("IMDBDataset", usage, ["train", "test", "all"]) or "all"
        self._found: list[tuple[str, int]] | None = None

    def _files(self) -> list[tuple[str, int]]:
        if self._found is None:
            found = []
            for part in ("train", "test") if self.usage == "all" else (self.usage,):
                for label, name in ((1, "pos"), (0, "neg")):
                    folder = os.path.join(self.dataset_dir, part, name)
                    if not os.path.isdir(folder):
                        raise located(
                            RuntimeError,
                            "Invalid parameter, dataset dir may not exist or is not a directory: "
                            f"{folder}.",
                        )
                    found += [(os.path.join(folder, f), label) for f in sorted(os.listdir(folder))]
            if not found:
                raise located(
                    RuntimeError,
                    "Invalid data, IMDBDataset API can't read the data file (interface mismatch or "
                    f"no data found). Check {self.dataset_dir}.",
                )
            self._found = found
        return self._found

    def _columns(self) -> list[str]:
        return ["text", "label"]

    def _length(self) -> int:
        return len(self._files())

    def _labels(self) -> Any:
        return lambda: np.array([label for _, label in self._files()])

    def _rows(self, run: Run) -> Iterator[tuple[np.ndarray, ...]]:
        files = self._files()
        rows = [files[place] for place in self._indices(run).tolist()]
        return run.map(self, _review, rows, self._worker_count(), False, "IMDBDataset")


def _review(entry: tuple[str, int]) -> tuple[np.ndarray, ...]:
    path, label = entry
    with open(path, encoding="utf-8") as file:
        return np.array(file.read().rstrip("\n"), np.str_), np.array(label, np.int32)
