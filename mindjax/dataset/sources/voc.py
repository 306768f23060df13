"""PASCAL VOC: boxes of things, and images of their outlines."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ClassVar
from xml.etree import ElementTree

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_type
from mindjax.dataset.sources.listed import (
    ListedDataset,
    check_decrypt,
    check_file,
    check_folder,
    read_lines,
)


class VOCDataset(ListedDataset):
    """Images of VOC; the columns depend on the task.

    ``Segmentation``: ``image`` and ``target``, an image. ``Detection``: ``image``, ``bbox`` (n, 4)
    float32 (left, top, width, height), ``label``, ``difficult`` and ``truncate`` (n, 1) uint32.

    Args:
        dataset_dir: folder with ``JPEGImages``, ``ImageSets``, ``Annotations`` and
            ``SegmentationClass``.
        task: ``"Segmentation"`` or ``"Detection"``.
        usage: name of the list of images, in ``ImageSets/Segmentation`` or ``ImageSets/Main``.
        class_indexing: for ``Detection``, label of each class that is taken; None numbers all in
            the order of names.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
        extra_metadata: whether there is a last column ``_meta-filename``, which iterators show
            only after ``rename`` has taken its prefix away.
        decrypt: function from the path of an image to its bytes.

    Raises:
        ValueError: the folder, the list or the task does not exist, or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _tasks: ClassVar[dict[str, tuple[str, ...]]] = {
        "Segmentation": ("image", "target"),
        "Detection": ("image", "bbox", "label", "difficult", "truncate"),
    }

    def __init__(
        self,
        dataset_dir: str,
        task: str = "Segmentation",
        usage: str = "train",
        class_indexing: dict[str, int] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        extra_metadata: bool = False,
        decrypt: Callable[[str], Any] | None = None,
    ) -> None:
        owner = "VOCDataset"
        folder = check_folder(owner, dataset_dir)
        check_type(owner, "task", task, str)
        check_type(owner, "usage", usage, str)
        check_type(owner, "class_indexing", class_indexing, (dict, type(None)))
        if task not in self._tasks:
            raise located(ValueError, f"Invalid task : {task}: use one of {list(self._tasks)}.")
        if task == "Segmentation" and class_indexing is not None:
            raise located(ValueError, "class_indexing is not supported in Segmentation task.")
        kind = "Segmentation" if task == "Segmentation" else "Main"
        listing = os.path.join(folder, "ImageSets", kind, f"{usage}.txt")
        self._list_at = check_file(owner, listing, "usage")
        self.task, self.usage, self.class_indexing = task, usage, dict(class_indexing or {})
        self.extra_metadata, self.decrypt = bool(extra_metadata), check_decrypt(owner, decrypt)
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
        meta = ["_meta-filename"] if self.extra_metadata else []
        return [*self._tasks[self.task], *meta]

    def get_class_indexing(self) -> dict[str, int]:
        """Give the label of each class."""
        if self.task != "Detection":
            raise located(NotImplementedError, "Only 'Detection' support get_class_indexing.")
        self._entries()
        return dict(self._labels_of)

    def _list(self) -> list[Any]:
        names = [name for line in read_lines(self._list_at, "VOC") if (name := line.strip())]
        if self.task == "Segmentation":
            return [(name, ()) for name in names]
        found = [(name, self._objects(self._path("Annotations", f"{name}.xml"))) for name in names]
        classes = sorted({kind for _, objects in found for kind, *_ in objects})
        self._labels_of = self.class_indexing or {name: n for n, name in enumerate(classes)}
        taken = [
            (name, [thing for thing in objects if thing[0] in self._labels_of])
            for name, objects in found
        ]
        return [entry for entry in taken if entry[1]]

    def _objects(self, path: str) -> list[tuple[Any, ...]]:
        """Read the class, box, difficulty and truncation of each thing of an image."""
        if not os.path.isfile(path):
            raise located(RuntimeError, f"Invalid file path, {path} does not exist.")
        try:
            root = ElementTree.parse(path).getroot()
        except (ElementTree.ParseError, OSError, ValueError) as error:
            raise located(
                RuntimeError,
                f"Invalid xml, failed to load {path}: the xml file is damaged or incorrect format: "
                f"{error}.",
            ) from None
        things = []
        for node in root.findall("object"):
            box = node.find("bndbox")
            if box is None:
                raise located(RuntimeError, f"Invalid xml, the node of bndbox is missing in {path}")
            left, top, right, bottom = (
                _number(path, box, key) for key in ("xmin", "ymin", "xmax", "ymax")
            )
            if not (0 < left < right and 0 < top < bottom):
                raise located(
                    RuntimeError,
                    f"Invalid bndbox, the coordinate of bndbox in {path} should be greater than 0, "
                    f"but got {{{left:g}, {top:g}, {right:g}, {bottom:g}}}",
                )
            flags = [int(_number(path, node, key)) for key in ("difficult", "truncated")]
            kind = (node.findtext("name") or "").strip()
            things.append((kind, (left, top, right - left, bottom - top), *flags))
        if not things:
            raise located(RuntimeError, f"Invalid xml, the node of object is missing in {path}.")
        return things

    def _row(self, entry: Any) -> tuple[Any, ...]:
        name, things = entry
        columns: list[Any] = [self._image(self._path("JPEGImages", f"{name}.jpg"))]
        if self.task == "Segmentation":
            columns.append(self._image(self._path("SegmentationClass", f"{name}.png")))
        else:
            kinds, boxes, *flags = zip(*things, strict=True)
            columns.append(np.array(boxes, np.float32))
            for values in ([self._labels_of[kind] for kind in kinds], *flags):
                columns.append(np.array(values, np.int64).astype(np.uint32)[:, None])
        if self.extra_metadata:
            columns.append(np.array(name))
        return tuple(columns)


def _number(path: str, node: Any, key: str) -> float:
    text = node.findtext(key)
    if text is None:
        return 0.0
    try:
        return float(text)
    except ValueError:
        raise located(
            RuntimeError,
            f"Invalid xml, the node of {key} should be a number in {path}, but got {text!r}.",
        ) from None
