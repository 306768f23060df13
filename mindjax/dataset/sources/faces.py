"""Pairs of faces and of patches: LFW and PhotoTour."""

from __future__ import annotations

import functools
import io
import os
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.failures import pipeline_error
from mindjax.dataset.sources.listed import (
    ListedDataset,
    bad_line,
    check_choice,
    check_folder,
    numbers,
    read_bytes,
    read_lines,
)


class LFWDataset(ListedDataset):
    """Labeled faces: ``image`` and ``label``, or ``image1``, ``image2`` and ``label``; uint32.

    The label of a pair tells whether it shows one person.

    Args:
        dataset_dir: folder with ``lfw``, ``lfw_funneled`` or ``lfw-deepfunneled``,
            ``lfw-names.txt`` and lists such as ``peopleDevTrain.txt`` and ``pairs.txt``.
        task: ``"people"`` or ``"pairs"``; None for people.
        usage: ``"10fold"``, ``"train"``, ``"test"`` or ``"all"``; None for all: training and test.
        image_set: ``"original"``, ``"funneled"`` or ``"deepfunneled"``; None for funneled.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or an argument is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    def __init__(
        self,
        dataset_dir: str,
        task: str | None = None,
        usage: str | None = None,
        image_set: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "LFWDataset"
        check_folder(owner, dataset_dir)
        folders = {
            "original": "lfw",
            "funneled": "lfw_funneled",
            "deepfunneled": "lfw-deepfunneled",
        }
        self.task = check_choice(owner, "task", task, ("people", "pairs"), "people")
        usages = ("10fold", "train", "test", "all")
        self.usage = check_choice(owner, "usage", usage, usages, "all")
        self.image_set = check_choice(owner, "image_set", image_set, folders, "funneled")
        self._folder = folders[self.image_set]
        super().__init__(
            dataset_dir,
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            cache,
            decode,
        )

    def _columns(self) -> list[str]:
        return ["image", "label"] if self.task == "people" else ["image1", "image2", "label"]

    def _face(self, name: str, number: int) -> str:
        return self._path(self._folder, name, f"{name}_{number:04}.jpg")

    def _list(self) -> list[Any]:
        endings = {"10fold": [""], "train": ["DevTrain"], "test": ["DevTest"]}
        found: list[Any] = []
        for ending in endings.get(self.usage, ["DevTrain", "DevTest"]):
            path = self._path(f"{self.task}{ending}.txt")
            if not os.path.isfile(path):
                raise located(
                    RuntimeError,
                    "Invalid file, LFW annotation file is empty. Check file path: "
                    f"{self.dataset_dir}: {path} does not exist.",
                )
            lines = [line.split("\t") for line in read_lines(path, "LFW")]
            # The first line counts folds or rows, and a line of one word those of a fold.
            rows = [(n, words) for n, words in enumerate(lines, 1) if n > 1 and len(words) > 1]
            found += self._people(path, rows) if self.task == "people" else self._pairs(path, rows)
        return found

    def _people(self, path: str, rows: list[Any]) -> list[Any]:
        names = read_lines(self._path("lfw-names.txt"), "LFW")
        labels = {line.split("\t")[0]: number for number, line in enumerate(names)}
        found = []
        for number, words in rows:
            name = words[0]
            count = numbers(path, number, "\t".join(words), words[1:2], int)[0]
            if name not in labels:
                raise bad_line(path, number, name, "a name of lfw-names.txt and a number")
            found += [(self._face(name, image), labels[name]) for image in range(1, count + 1)]
        return found

    def _pairs(self, path: str, rows: list[Any]) -> list[Any]:
        found = []
        for number, words in rows:
            line = "\t".join(words)
            if len(words) not in (3, 4):
                raise bad_line(path, number, line, "a name and two numbers, or two of each")
            same = len(words) == 3
            other = words[0] if same else words[2]
            first, second = numbers(path, number, line, (words[1], words[-1]), int)
            found.append((self._face(words[0], first), self._face(other, second), int(same)))
        return found

    def _row(self, entry: Any) -> tuple[Any, ...]:
        *paths, label = entry
        return (*(self._image(path) for path in paths), np.array(label, np.uint32))


class PhotoTourDataset(ListedDataset):
    """Patches of photographs: ``image`` (64, 64, 1) uint8, or pairs of them.

    The columns of pairs are ``image1``, ``image2`` and ``matches`` uint32, which tells whether both
    show one point.

    Args:
        dataset_dir: folder with a folder of each name, of ``patches0000.bmp`` and so on,
            ``info.txt`` and ``m50_100000_100000_0.txt``.
        name: ``"notredame"``, ``"yosemite"``, ``"liberty"``, ``"notredame_harris"``,
            ``"yosemite_harris"`` or ``"liberty_harris"``.
        usage: ``"train"``, single patches, or ``"test"``, pairs; None for train.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or an argument is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _places = ("notredame", "yosemite", "liberty")

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
        owner = "PhotoTourDataset"
        check_folder(owner, dataset_dir)
        names = (*self._places, *(f"{place}_harris" for place in self._places))
        self.usage = check_choice(owner, "usage", usage, ("train", "test"), "train")
        self.name = check_choice(owner, "name", name, names)
        super().__init__(
            dataset_dir,
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            cache,
        )

    def _columns(self) -> list[str]:
        return ["image"] if self.usage == "train" else ["image1", "image2", "matches"]

    def _list(self) -> list[Any]:
        if not os.path.isdir(self._path(self.name)):
            raise located(RuntimeError, f"{self._path(self.name)} does not exist.")
        count = sum(1 for line in self._lines("info.txt", 2))
        if self.usage == "train":
            return [(number,) for number in range(count)]
        pairs = []
        for first, point, _, second, other, *_ in self._lines("m50_100000_100000_0.txt", 7):
            if not (0 <= first < count and 0 <= second < count):
                raise located(
                    RuntimeError,
                    f"Invalid file, m50_100000_100000_0.txt of {self._path(self.name)} names the "
                    f"patches {first} and {second}, but info.txt has {count} lines.",
                )
            pairs.append((first, second, int(point == other)))
        return pairs

    def _lines(self, name: str, width: int) -> list[list[int]]:
        path = self._path(self.name, name)
        found = []
        for number, line in enumerate(read_lines(path, "PhotoTour info"), 1):
            words = line.split()
            if words:
                if len(words) < width:
                    raise bad_line(path, number, line, f"{width} numbers")
                found.append(numbers(path, number, line, words[:width], int))
        return found

    def _patch(self, number: int) -> np.ndarray:
        sheet, place = divmod(number, 256)
        pixels = _sheet(self._path(self.name, f"patches{sheet:04}.bmp"))
        row, column = divmod(place, 16)
        return pixels[row * 64 : row * 64 + 64, column * 64 : column * 64 + 64, None].copy()

    def _row(self, entry: Any) -> tuple[Any, ...]:
        patches = tuple(self._patch(number) for number in entry[:2])
        return patches if len(entry) == 1 else (*patches, np.array(entry[2], np.uint32))


# A sheet takes one MB and holds 256 rows.
@functools.lru_cache(maxsize=64)
def _sheet(path: str) -> np.ndarray:
    """Read a sheet of 16 by 16 patches."""
    from mindjax.dataset.vision.codec import pillow

    images = pillow("PhotoTourDataset")
    content = read_bytes(path)
    try:
        pixels = np.array(images.open(io.BytesIO(content)).convert("L"))
    except (OSError, ValueError, SyntaxError):
        raise pipeline_error(
            f"Invalid image, failed to decode {path}: the image is broken or permission denied."
        ) from None
    if pixels.shape != (1024, 1024):
        raise pipeline_error(
            f"Invalid image, {path} should have 1024 rows and columns, but got {pixels.shape}."
        )
    return pixels
