"""CIFAR-10 and CIFAR-100, from their binary files."""

from __future__ import annotations

import os
from typing import ClassVar

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.sources.mappable import FolderDataset

_PIXELS = 3 * 32 * 32


class Cifar10Dataset(FolderDataset):
    """Photographs of ten classes: columns ``image`` (32, 32, 3) uint8 and ``label`` uint32.

    Args:
        dataset_dir: folder with ``data_batch_*.bin`` and ``test_batch.bin``.
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

    _files: ClassVar[dict[str, tuple[str, ...]]] = {
        "train": tuple(f"data_batch_{number}.bin" for number in range(1, 6)),
        "test": ("test_batch.bin",),
    }
    _label_bytes = 1

    def _read(self) -> list[np.ndarray]:
        parts = ("train", "test") if self.usage == "all" else (self.usage,)
        paths = [
            os.path.join(self.dataset_dir, name) for part in parts for name in self._files[part]
        ]
        records = [self._records(path) for path in paths if os.path.isfile(path)]
        if not records:
            raise located(
                RuntimeError,
                f"Invalid data, {type(self).__name__} API can't read the data file (interface "
                f"mismatch or no data found). Check file in directory: {self.dataset_dir}",
            )
        table = np.concatenate(records)
        labels = table[:, : self._label_bytes].astype(np.uint32)
        planes = table[:, self._label_bytes :].reshape(-1, 3, 32, 32)
        images = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
        return [images, *(labels[:, place] for place in range(self._label_bytes))]

    def _records(self, path: str) -> np.ndarray:
        data = np.fromfile(path, np.uint8)
        size = self._label_bytes + _PIXELS
        if not len(data) or len(data) % size:
            raise located(
                RuntimeError,
                f"Invalid cifar file, the length of {path} should be a multiple of {size} bytes, "
                f"but got {len(data)}.",
            )
        return data.reshape(-1, size)


class Cifar100Dataset(Cifar10Dataset):
    """Photographs of a hundred classes: ``image``, ``coarse_label`` and ``fine_label`` uint32.

    The files are ``train.bin`` and ``test.bin``; see ``Cifar10Dataset``.
    """

    _files: ClassVar[dict[str, tuple[str, ...]]] = {
        "train": ("train.bin",),
        "test": ("test.bin",),
    }
    _label_bytes = 2

    def _columns(self) -> list[str]:
        return ["image", "coarse_label", "fine_label"]
