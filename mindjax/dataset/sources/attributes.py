"""Images whose lists say what they show: CelebA, Food-101, manifest files, Flickr, SBU."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_bool, check_type
from mindjax.dataset.sources.listed import (
    ClassesDataset,
    ListedDataset,
    PartsDataset,
    bad_line,
    check_decrypt,
    check_file,
    check_folder,
    numbers,
    read_lines,
)


class CelebADataset(ListedDataset):
    """Faces of the famous: columns ``image`` and ``attr``, 40 attributes of 0 or 1 uint32.

    Args:
        dataset_dir: folder of the images, with ``list_attr_celeba.txt`` and, for parts,
            ``list_eval_partition.txt``.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        usage: ``"train"``, ``"valid"``, ``"test"`` or ``"all"``.
        sampler: a ``Sampler`` or an iterable of row numbers.
        decode: whether images are decoded.
        extensions: endings of names of images that are taken; None for all.
        num_samples: at most so many rows.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
        decrypt: function from the path of an image to its bytes.

    Raises:
        ValueError: the folder does not exist, or ``usage`` or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _column_names = ("image", "attr")
    _refuses_pk = True
    _parts = ("train", "valid", "test")

    def __init__(
        self,
        dataset_dir: str,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        usage: str = "all",
        sampler: Any = None,
        decode: bool = False,
        extensions: list[str] | None = None,
        num_samples: int | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Callable[[str], Any] | None = None,
    ) -> None:
        owner = "CelebADataset"
        check_folder(owner, dataset_dir)
        check_type(owner, "extensions", extensions, (list, type(None)))
        if usage not in (*self._parts, "all"):
            raise located(
                ValueError, f"usage should be 'all', 'train', 'valid' or 'test', but got {usage!r}."
            )
        self.usage, self.extensions = usage, tuple(extensions or ())
        self.decrypt = check_decrypt(owner, decrypt)
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

    def _list(self) -> list[Any]:
        path = self._path("list_attr_celeba.txt")
        lines = read_lines(path, "CelebA")
        part_of = self._part_of_each() if self.usage != "all" else {}
        found = []
        # The first line counts the images, the second names the attributes.
        for number, line in enumerate(lines[2:], 3):
            name, *words = line.split() or [""]
            if not name or (self.extensions and os.path.splitext(name)[1] not in self.extensions):
                continue
            values = numbers(path, number, line, words, int)
            if set(values) - {1, -1}:
                raise bad_line(path, number, line, "a file and numbers that are 1 or -1")
            if self.usage == "all" or part_of.get(name) == self._parts.index(self.usage):
                found.append((name, values))
        if not found:
            raise self._no_rows("file path")
        return found

    def _part_of_each(self) -> dict[str, int]:
        path = self._path("list_eval_partition.txt")
        found = {}
        for number, line in enumerate(read_lines(path, "CelebA"), 1):
            name, *words = line.split() or [""]
            if name:
                found[name] = [*numbers(path, number, line, words[:1], int), -1][0]
        return found

    def _row(self, entry: Any) -> tuple[Any, ...]:
        name, values = entry
        return self._image(self._path(name)), (np.array(values) == 1).astype(np.uint32)


class Food101Dataset(PartsDataset):
    """Dishes: columns ``image`` and ``label``, the name of the dish.

    The folder holds ``images`` and the lists ``meta/train.txt`` and ``meta/test.txt``; usages are
    ``"train"``, ``"test"`` and ``"all"``, the default. Arguments are ``PartsDataset``'s.
    """

    def _list(self) -> list[Any]:
        folder = self._path("images")
        if not os.path.isdir(folder):
            raise located(
                RuntimeError, f"Invalid path, Food101 image path: {folder} does not exist."
            )
        parts = ("train", "test") if self.usage == "all" else (self.usage,)
        names = [
            name
            for part in parts
            for line in read_lines(self._path("meta", f"{part}.txt"), "Food101")
            if (name := line.strip())
        ]
        return [(os.path.join(folder, f"{name}.jpg"), name.split("/")[0]) for name in names]

    def _row(self, entry: Any) -> tuple[Any, ...]:
        return self._image(entry[0]), np.array(entry[1])


class ManifestDataset(ClassesDataset):
    """Images that a manifest file names: columns ``image`` and ``label`` int32.

    Args:
        dataset_file: the manifest, a JSON object a line with ``source``, ``usage`` and
            ``annotation``.
        usage: ``"train"``, ``"eval"`` or ``"inference"``.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        class_indexing: label of each class that is taken; None numbers all in the order of names.
        decode: whether images are decoded.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the file does not exist, or a shard is out of range.
        RuntimeError: ``usage`` is unknown or arguments exclude each other; when rows are read: a
            file is missing or bad.
    """

    _label_type = np.int32

    def __init__(
        self,
        dataset_file: str,
        usage: str = "train",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "ManifestDataset"
        self.dataset_file = check_file(owner, dataset_file, "dataset_file")
        check_type(owner, "class_indexing", class_indexing, (dict, type(None)))
        check_type(owner, "usage", usage, str)
        if usage not in ("train", "eval", "inference"):
            raise located(
                RuntimeError,
                f"ManifestDataset: {usage} does not match any mode in [ inference eval train ]",
            )
        self.usage, self.class_indexing = usage, dict(class_indexing or {})
        check_bool(owner, "decode", decode)
        super().__init__(
            os.path.dirname(self.dataset_file) or ".",
            num_samples,
            num_parallel_workers,
            shuffle,
            decode,
            sampler,
            num_shards,
            shard_id,
            cache,
        )

    def num_classes(self) -> int:
        """Give the number of classes."""
        return len(self.get_class_indexing())

    def get_class_indexing(self) -> dict[str, int]:
        """Give the label of each class."""
        if self.class_indexing:
            return dict(self.class_indexing)
        names = sorted({name for _, name in self._sources()})
        return {name: number for number, name in enumerate(names)}

    def _sources(self) -> list[tuple[str, str]]:
        path = self.dataset_file
        found = []
        for line in read_lines(path, "manifest"):
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
                if str(entry.get("usage", "")).lower() != self.usage:
                    continue
                source = str(entry["source"])
                names = [str(note["name"]) for note in entry["annotation"]]
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise located(
                    RuntimeError,
                    f"Invalid manifest file, parse ManiFest file: {path} failed, "
                    f"{type(error).__name__}: {error} of the line {line[:100]!r}",
                ) from None
            found += [(source, name) for name in names[:1]]
        return found

    def _list(self) -> list[Any]:
        labels = self.get_class_indexing()
        found = [(path, labels[name]) for path, name in self._sources() if name in labels]
        for path, _ in found:
            if not os.path.isfile(path):
                raise located(RuntimeError, f"Invalid file path, {path} does not exist.")
        return found


class FlickrDataset(ListedDataset):
    """Photographs of Flickr8k or Flickr30k: columns ``image`` and ``annotation``, five captions.

    Args:
        dataset_dir: folder of the images.
        annotation_file: file of lines such as ``x.jpg#0``, a tab and a caption.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded; None for no.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder or the file does not exist, or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _column_names = ("image", "annotation")

    def __init__(
        self,
        dataset_dir: str,
        annotation_file: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        check_folder("FlickrDataset", dataset_dir)
        self.annotation_file = check_file("FlickrDataset", annotation_file, "annotation_file")
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

    def _list(self) -> list[Any]:
        found: dict[str, list[str]] = {}
        for number, line in enumerate(read_lines(self.annotation_file, "Flickr"), 1):
            if not line:
                continue
            name, tab, caption = line.partition("\t")
            if not tab or "#" not in name:
                raise bad_line(self.annotation_file, number, line, "an image, a tab and a caption")
            found.setdefault(name[: name.rindex("#")], []).append(caption)
        for name in found:
            if not os.path.isfile(self._path(name)):
                raise located(
                    RuntimeError,
                    f"Invalid file path, flickr dataset file: {self._path(name)} does not exist.",
                )
        return sorted(found.items())

    def _row(self, entry: Any) -> tuple[Any, ...]:
        return self._image(self._path(entry[0])), np.array(entry[1])


class SBUDataset(ClassesDataset):
    """Photographs with captions: columns ``image`` and ``caption``.

    The folder holds ``SBU_captioned_photo_dataset_urls.txt``,
    ``SBU_captioned_photo_dataset_captions.txt`` and ``sbu_images``; images that are not there are
    left out.

    Args:
        dataset_dir: folder of the set.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder or a list does not exist, or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _column_names = ("image", "caption")
    # What comes after it names a file, with "_" for "/".
    _url_start = len("http://static.flickr.co")

    def _lists(self) -> list[list[str]]:
        return [
            read_lines(self._path(f"SBU_captioned_photo_dataset_{kind}.txt"), "SBU")
            for kind in ("urls", "captions")
        ]

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        folder = check_folder("SBUDataset", dataset_dir)
        for kind in ("urls", "captions"):
            name = f"SBU_captioned_photo_dataset_{kind}.txt"
            check_file("SBUDataset", os.path.join(folder, name), "file")
        super().__init__(
            dataset_dir,
            num_samples,
            num_parallel_workers,
            shuffle,
            decode,
            sampler,
            num_shards,
            shard_id,
            cache,
        )

    def _labels(self) -> Any:
        return None

    def _list(self) -> list[Any]:
        urls, captions = self._lists()
        if len(urls) != len(captions):
            raise located(
                RuntimeError,
                f"Invalid file, the lists of {self.dataset_dir} should be of one length, but got "
                f"{len(urls)} urls and {len(captions)} captions.",
            )
        folder = self._path("sbu_images")
        found = []
        for url, caption in zip(urls, captions, strict=True):
            path = os.path.join(folder, url.strip()[self._url_start :].replace("/", "_"))
            if os.path.isfile(path):
                found.append((path, caption.rstrip()))
        if not found:
            raise located(
                RuntimeError, f"Invalid data, no valid images in {folder}, check SBU dataset."
            )
        return found

    def _row(self, entry: Any) -> tuple[Any, ...]:
        return self._image(entry[0]), np.array(entry[1])
