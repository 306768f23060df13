"""MNIST and Fashion-MNIST, from their IDX files."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.sources.idx import read_pair
from mindjax.dataset.sources.mappable import FolderDataset

# MindSpore reads files in the order of their names: the test part comes first in "all".
_PARTS = {"train": ("train",), "test": ("t10k",), "all": ("t10k", "train")}


class MnistDataset(FolderDataset):
    """Handwritten digits: columns ``image`` (28, 28, 1) uint8 and ``label`` uint32.

    Args:
        dataset_dir: folder with the IDX files, as they are or with ``.gz``.
        usage: ``"train"``, ``"test"`` or ``"all"``; None for all.
        num_samples: at most so many rows.
        num_parallel_workers: accepted; the files are read at once.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or ``usage`` or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _kind: ClassVar[str] = "mnist"

    def _prefixes(self) -> tuple[str, ...]:
        return _PARTS[self.usage]

    def _read(self) -> list[np.ndarray]:
        found = [read_pair(self._kind, self.dataset_dir, prefix) for prefix in self._prefixes()]
        pairs = [pair for pair in found if pair is not None]
        if not pairs:
            raise located(
                RuntimeError,
                f"Invalid data, {type(self).__name__} API can't read the data file (interface "
                f"mismatch or no data found). Check {self._kind} file in directory: "
                f"{self.dataset_dir}",
            )
        if len(pairs) == 1:
            return list(pairs[0])
        return [np.concatenate(parts) for parts in zip(*pairs, strict=True)]


class FashionMnistDataset(MnistDataset):
    """Pictures of clothes in MNIST's format; see ``MnistDataset``."""
