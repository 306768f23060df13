"""Small pictures: KMNIST, EMNIST, QMNIST, USPS, Semeion, SVHN, STL-10."""

from __future__ import annotations

import glob
import os
from typing import Any, ClassVar

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_bool
from mindjax.dataset.engine.samplers import PKSampler, Shuffle
from mindjax.dataset.sources.idx import IMAGES, read_idx
from mindjax.dataset.sources.lines import LinesDataset
from mindjax.dataset.sources.listed import (
    bad_line,
    check_choice,
    check_file,
    check_folder,
    numbers,
    read_lines,
    read_mat,
)
from mindjax.dataset.sources.mappable import FolderDataset
from mindjax.dataset.sources.mnist import MnistDataset


class KMnistDataset(MnistDataset):
    """Japanese characters in MNIST's format; see ``MnistDataset``."""

    _kind = "kmnist"


class EMnistDataset(MnistDataset):
    """Handwritten letters and digits: columns ``image`` (28, 28, 1) uint8 and ``label`` uint32.

    Args:
        dataset_dir: folder with the IDX files, as they are or with ``.gz``.
        name: ``"byclass"``, ``"bymerge"``, ``"balanced"``, ``"letters"``, ``"digits"`` or
            ``"mnist"``.
        usage: ``"train"``, ``"test"`` or ``"all"``; None for all.
        num_samples: at most so many rows.
        num_parallel_workers: accepted; the files are read at once.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or ``name``, ``usage`` or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _kind = "emnist"

    def __init__(
        self,
        dataset_dir: str,
        name: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        names = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")
        check_folder("EMnistDataset", dataset_dir)
        self.name = check_choice("EMnistDataset", "name", name, names)
        super().__init__(
            dataset_dir,
            usage,
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            cache,
        )

    def _prefixes(self) -> tuple[str, ...]:
        # Files come in the order of their names.
        parts = ("test", "train") if self.usage == "all" else (self.usage,)
        return tuple(f"emnist-{self.name}-{part}" for part in parts)


class QMnistDataset(FolderDataset):
    """MNIST's digits with their history: columns ``image`` (28, 28, 1) uint8 and ``label`` uint32.

    Args:
        dataset_dir: folder with the IDX files.
        usage: ``"train"``, ``"test"``, ``"test10k"``, ``"test50k"``, ``"nist"`` or ``"all"``; None
            for all.
        compat: whether a label is the digit alone and not all eight numbers of the file.
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

    # Files of a part, and which of their rows belong to it.
    _parts: ClassVar[dict[str, tuple[tuple[str, int, int | None], ...]]] = {
        "train": (("qmnist-train", 0, None),),
        "test": (("qmnist-test", 0, None),),
        "test10k": (("qmnist-test", 0, 10_000),),
        "test50k": (("qmnist-test", 10_000, 60_000),),
        "nist": (("xnist", 0, None),),
        "all": (("qmnist-train", 0, None), ("qmnist-test", 0, None), ("xnist", 0, None)),
    }

    _usages = tuple(_parts)

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        compat: bool = True,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(
            dataset_dir,
            usage,
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            cache,
        )
        self.compat = check_bool("QMnistDataset", "compat", compat)

    def _read(self) -> list[np.ndarray]:
        images, labels = [], []
        for stem, first, stop in self._parts[self.usage]:
            paths = [
                os.path.join(self.dataset_dir, f"{stem}-{kind}")
                for kind in ("images-idx3-ubyte", "labels-idx2-int")
            ]
            for path in paths:
                if not os.path.isfile(path):
                    raise located(
                        RuntimeError,
                        f"Invalid file path, Qmnist data file: {path} does not exist or is a "
                        "directory.",
                    )
            pixels, numbers_of = read_idx(paths[0], IMAGES, "qmnist"), _read_history(paths[1])
            if len(pixels) != len(numbers_of):
                raise located(
                    RuntimeError,
                    f"Invalid qmnist file, the images number of {paths[0]} should be equal to the "
                    f"labels number of {paths[1]}, but got images number: {len(pixels)}, labels "
                    f"number: {len(numbers_of)}.",
                )
            if stop is not None and len(pixels) < stop:
                raise located(
                    RuntimeError,
                    f"Invalid file, failed to read {(stop - first) * 784} bytes from {paths[0]}: "
                    "the data file is damaged or the content is incomplete.",
                )
            images.append(pixels[first:stop])
            labels.append(numbers_of[first:stop])
        table = np.concatenate(labels).astype(np.uint32)
        return [np.concatenate(images)[..., None], table[:, 0] if self.compat else table]

    def _labels(self) -> Any:
        return lambda: self._arrays()[1] if self.compat else self._arrays()[1][:, 0]


def _read_history(path: str) -> np.ndarray:
    """Read an IDX file of eight numbers a row."""
    with open(path, "rb") as file:
        data = file.read()
    head = np.frombuffer(data[:12], ">i4") if len(data) >= 12 else np.zeros(3, np.int64)
    magic, count, width = map(int, head)
    if (magic, width) != (3074, 8) or count < 0 or len(data) != 12 + 32 * count:
        raise located(
            RuntimeError,
            f"Invalid qmnist file, {path} should be 3074, a number of rows and 8, and 8 numbers a "
            f"row, but got {magic}, {count} and {width}, and {len(data)} bytes.",
        )
    return np.frombuffer(data, ">i4", offset=12).reshape(count, 8)


class USPSDataset(LinesDataset):
    """Digits of envelopes: columns ``image`` (16, 16, 1) uint8 and ``label`` uint32.

    Args:
        dataset_dir: folder with the files ``usps`` and ``usps.t``.
        usage: ``"train"``, ``"test"`` or ``"all"``; None for all.
        num_samples: at most so many rows.
        num_parallel_workers: number of files whose rows come in turn.
        shuffle: False for the order of the files, True or ``Shuffle.GLOBAL`` for rows in random
            order, ``Shuffle.FILES`` for files in random order.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or ``usage`` or a shard is out of range.
        RuntimeError: a file is missing; when rows are read: it is bad.
    """

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
        owner = "USPSDataset"
        self.dataset_dir = check_folder(owner, dataset_dir)
        self.usage = check_choice(owner, "usage", usage, ("train", "test", "all"), "all")
        files = {"train": "usps", "test": "usps.t"}
        paths = [
            os.path.join(self.dataset_dir, name)
            for part, name in files.items()
            if self.usage in (part, "all")
        ]
        for path in paths:
            if not os.path.isfile(path):
                raise located(
                    RuntimeError,
                    f"Invalid file, USPS dataset file: {path} does not exist or is a directory.",
                )
        super().__init__(
            [glob.escape(path) for path in paths],
            num_samples,
            num_parallel_workers,
            shuffle,
            num_shards,
            shard_id,
            cache,
        )

    def _columns(self) -> list[str]:
        return ["image", "label"]

    def _types(self) -> list[Any]:
        return [np.uint8, np.uint32]

    def _read_file(self, path: str) -> list[tuple[Any, ...]]:
        rows = []
        for number, line in enumerate(read_lines(path, "USPS"), 1):
            label, *pairs = line.split()[:258] or [""]
            if len(pairs) != 256 or not all(":" in pair for pair in pairs):
                raise bad_line(path, number, line, "a label and 256 pairs with a ':'")
            words = [pair.split(":", 1)[1] for pair in pairs]
            values = np.array(numbers(path, number, line, words, float), np.float32)
            digit = numbers(path, number, line, [label], int)[0] - 1
            if not 0 <= digit < 10 or np.abs(values).max() > 1:
                raise bad_line(path, number, line, "a label within [1, 10], numbers within [-1, 1]")
            image = ((values + 1) / 2 * 255).astype(np.uint8)
            rows.append((image.reshape(16, 16, 1), digit))
        return rows


class SemeionDataset(FolderDataset):
    """Digits of 0 and 1: columns ``image`` (16, 16) uint8 and ``label`` uint32.

    Args:
        dataset_dir: folder with ``semeion.data``.
        num_samples: at most so many rows.
        num_parallel_workers: accepted; the file is read at once.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: the file is missing or bad.
    """

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
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
            sampler,
            num_shards,
            shard_id,
            cache,
        )

    def _read(self) -> list[np.ndarray]:
        path = os.path.join(self.dataset_dir, "semeion.data")
        if not os.path.isfile(path):
            raise located(
                RuntimeError, f"Invalid file, failed to find semeion file: {self.dataset_dir}"
            )
        rows = []
        for number, line in enumerate(read_lines(path, "Semeion"), 1):
            values = numbers(path, number, line, line.split(), float)
            if not values:
                continue
            if len(values) != 266 or sorted(values[256:]) != [0.0] * 9 + [1.0]:
                raise located(
                    RuntimeError,
                    "Invalid data, file content does not match SemeionDataset: line "
                    f"{number} of {path} should be 256 numbers and a one among nine zeros.",
                )
            rows.append(values)
        if not rows:
            raise located(
                RuntimeError,
                f"Invalid data, file content does not match SemeionDataset: {path} is empty.",
            )
        table = np.array(rows)
        images = table[:, :256].astype(np.uint8).reshape(-1, 16, 16)
        return [images, table[:, 256:].argmax(1).astype(np.uint32)]


class SVHNDataset(FolderDataset):
    """House numbers: columns ``image`` (32, 32, 3) uint8 and ``label`` uint32.

    Args:
        dataset_dir: folder with ``train_32x32.mat``, ``test_32x32.mat`` and ``extra_32x32.mat``.
        usage: ``"train"``, ``"test"``, ``"extra"`` or ``"all"``; None for all.
        num_samples: at most so many rows.
        num_parallel_workers: accepted; the files are read at once.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.

    Raises:
        ValueError: the folder or a file does not exist, or ``usage`` or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is bad.
    """

    _parts = ("train", "test", "extra")

    _usages = (*_parts, "all")

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        owner = "SVHNDataset"
        check_folder(owner, dataset_dir)
        part = check_choice(owner, "usage", usage, self._usages, "all")
        self._files = [
            check_file(owner, os.path.join(dataset_dir, f"{name}_32x32.mat"), "file")
            for name in self._parts
            if part in (name, "all")
        ]
        if isinstance(sampler, PKSampler):
            raise located(ValueError, f"{owner} doesn't support PKSampler.")
        super().__init__(
            dataset_dir,
            part,
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            None,
        )

    def _read(self) -> list[np.ndarray]:
        images, labels = [], []
        for path in self._files:
            found = read_mat("SVHNDataset", path, "X", "y")
            pixels, digits = found["X"], found["y"].ravel()
            if (
                pixels.ndim != 4
                or pixels.shape[:3] != (32, 32, 3)
                or pixels.shape[3] != len(digits)
            ):
                raise located(
                    RuntimeError,
                    f"Invalid file, {path} should hold X of shape (32, 32, 3, n) and n labels y, "
                    f"but got {pixels.shape} and {len(digits)}.",
                )
            images.append(pixels.transpose(3, 0, 1, 2))
            # The digit 0 has the label 10 in the files.
            labels.append(digits % 10)
        return [
            np.ascontiguousarray(np.concatenate(images), np.uint8),
            np.concatenate(labels).astype(np.uint32),
        ]


class STL10Dataset(FolderDataset):
    """Photographs of ten classes: columns ``image`` (96, 96, 3) uint8 and ``label`` int32.

    Args:
        dataset_dir: folder with ``train_X.bin``, ``train_y.bin``, ``test_X.bin``, ``test_y.bin``
            and ``unlabeled_X.bin``.
        usage: ``"train"``, ``"test"``, ``"unlabeled"``, whose labels are -1,
            ``"train+unlabeled"`` or ``"all"``; None for all.
        num_samples: at most so many rows.
        num_parallel_workers: accepted; the files are read at once.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder or a file does not exist, or ``usage`` or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is bad.
    """

    _parts: ClassVar[dict[str, tuple[str, ...]]] = {
        "train": ("train",),
        "test": ("test",),
        "unlabeled": ("unlabeled",),
        "train+unlabeled": ("train", "unlabeled"),
        "all": ("test", "train", "unlabeled"),
    }

    _usages = tuple(_parts)

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
        owner = "STL10Dataset"
        check_folder(owner, dataset_dir)
        part = check_choice(owner, "usage", usage, self._usages, "all")
        for name in self._parts[part]:
            for kind in ("X", "y") if name != "unlabeled" else ("X",):
                check_file(owner, os.path.join(dataset_dir, f"{name}_{kind}.bin"), "file")
        super().__init__(
            dataset_dir,
            part,
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            cache,
        )

    def _read(self) -> list[np.ndarray]:
        images, labels = [], []
        for part in self._parts[self.usage]:
            path = os.path.join(self.dataset_dir, f"{part}_X.bin")
            data = np.fromfile(path, np.uint8)
            count, rest = divmod(len(data), 3 * 96 * 96)
            classes = np.full(count, -1, np.int32)
            if part != "unlabeled":
                labels_at = os.path.join(self.dataset_dir, f"{part}_y.bin")
                classes = np.fromfile(labels_at, np.uint8).astype(np.int32) - 1
                if len(classes) != count:
                    raise located(
                        RuntimeError,
                        f"Invalid file, error in {labels_at}: the number of labels is not equal to "
                        f"the number of images in {path}.",
                    )
            if rest or not count:
                raise located(
                    RuntimeError,
                    f"Invalid file, the length of {path} should be a multiple of 27648 bytes, but "
                    f"got {len(data)}.",
                )
            # A file goes down its columns.
            images.append(data.reshape(count, 3, 96, 96).transpose(0, 3, 2, 1))
            labels.append(classes)
        return [np.ascontiguousarray(np.concatenate(images)), np.concatenate(labels)]
