"""COCO: boxes, outlines, key points, panoptic segments and captions of images."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_type
from mindjax.dataset.sources.listed import (
    ListedDataset,
    check_decrypt,
    check_file,
    check_folder,
)

_NEEDED = object()


class CocoDataset(ListedDataset):
    """Images of COCO that have annotations; the columns depend on the task.

    ``Detection``: ``image``, ``bbox`` (n, 4) float32, ``category_id`` and ``iscrowd`` (n, 1)
    uint32. ``Stuff``: ``image``, ``segmentation`` float32, outlines padded with -1, ``iscrowd``.
    ``Keypoint``: ``image``, ``keypoints`` float32, ``num_keypoints`` (n, 1) uint32. ``Panoptic``:
    as ``Detection``, and ``area`` (n, 1) uint32. ``Captioning``: ``image``, ``captions`` (n, 1).

    Args:
        dataset_dir: folder of the images.
        annotation_file: the JSON file of the annotations.
        task: ``"Detection"``, ``"Stuff"``, ``"Keypoint"``, ``"Panoptic"`` or ``"Captioning"``.
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
        ValueError: the folder, the file or the task does not exist, or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _refuses_pk = True
    _tasks: ClassVar[dict[str, tuple[str, ...]]] = {
        "Detection": ("image", "bbox", "category_id", "iscrowd"),
        "Stuff": ("image", "segmentation", "iscrowd"),
        "Keypoint": ("image", "keypoints", "num_keypoints"),
        "Panoptic": ("image", "bbox", "category_id", "iscrowd", "area"),
        "Captioning": ("image", "captions"),
    }

    def __init__(
        self,
        dataset_dir: str,
        annotation_file: str,
        task: str = "Detection",
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
        owner = "CocoDataset"
        check_folder(owner, dataset_dir)
        self.annotation_file = check_file(owner, annotation_file, "annotation_file")
        check_type(owner, "task", task, str)
        if task not in self._tasks:
            raise located(ValueError, f"Invalid task type: {task}: use one of {list(self._tasks)}.")
        self.task, self.extra_metadata = task, bool(extra_metadata)
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
        self._categories: dict[int, list[Any]] = {}

    def _columns(self) -> list[str]:
        meta = ["_meta-filename"] if self.extra_metadata else []
        return [*self._tasks[self.task], *meta]

    def get_class_indexing(self) -> dict[str, list[int]]:
        """Give the number of each category, and for ``Panoptic`` whether it is a thing."""
        if self.task not in ("Detection", "Panoptic"):
            raise located(
                NotImplementedError,
                "Only 'Detection' and 'Panoptic' support get_class_indexing.",
            )
        self._entries()
        return {name: list(numbers) for name, *numbers in self._categories.values()}

    # Listing.

    def _bad(self, text: str) -> Exception:
        return located(RuntimeError, f"Invalid annotation, {text}")

    def _get(self, node: Any, name: str, default: Any = _NEEDED) -> Any:
        if isinstance(node, dict) and name in node:
            return node[name]
        if default is not _NEEDED:
            return default
        raise self._bad(
            f"the attribute of '{name}' is missing in annotation file: {self.annotation_file}."
        )

    def _array(self, name: str, value: Any, kind: Any) -> np.ndarray:
        try:
            found = np.array(value, np.float64 if kind is np.float32 else np.int64)
            return found.astype(kind)
        except (ValueError, TypeError, OverflowError):
            raise self._bad(
                f"the attribute of '{name}' should be made of numbers in annotation file: "
                f"{self.annotation_file}, but got {str(value)[:100]}."
            ) from None

    def _list(self) -> list[Any]:
        path = self.annotation_file
        try:
            with open(path, encoding="utf-8") as file:
                content = json.load(file)
        except (OSError, ValueError) as error:
            raise located(
                RuntimeError,
                f"Invalid annotation file, Coco Dataset annotation file:{path} load failed, error "
                f"description: {error}",
            ) from None
        images = self._nodes_of(content, "images")
        names = {self._get(image, "id"): str(self._get(image, "file_name")) for image in images}
        notes = self._nodes_of(content, "annotations")
        if self.task in ("Detection", "Panoptic"):
            self._read_categories(self._nodes_of(content, "categories"))
        found: dict[Any, list[tuple[Any, ...]]] = {}
        for note in notes:
            image = self._get(note, "image_id")
            if image not in names:
                raise self._bad(
                    f"the attribute of 'image_id': {image} is missing in the node of 'image' from "
                    f"annotation file: {path}"
                )
            found.setdefault(image, []).extend(self._values(note))
        return [(name, found[image]) for image, name in names.items() if found.get(image)]

    def _nodes_of(self, content: Any, name: str) -> list[Any]:
        nodes = self._get(content, name)
        if not isinstance(nodes, list):
            raise self._bad(
                f"the '{name}' node should be a list in annotation file: {self.annotation_file}."
            )
        return nodes

    def _read_categories(self, nodes: list[Any]) -> None:
        self._categories = {}
        for node in nodes:
            number, name = self._get(node, "id"), self._get(node, "name")
            thing = [self._get(node, "isthing")] if self.task == "Panoptic" else []
            self._categories[number] = [name, number, *thing]

    def _category(self, node: Any) -> int:
        number = self._get(node, "category_id")
        if number not in self._categories:
            raise self._bad(
                f"the attribute of 'category_id': {number} is missing in the node of 'categories' "
                f"from annotation file: {self.annotation_file}"
            )
        return number

    def _values(self, note: Any) -> list[tuple[Any, ...]]:
        """Give the values of the columns beside the image, a tuple for each line of an array."""
        if self.task == "Captioning":
            return [(str(self._get(note, "caption")),)]
        if self.task == "Detection":
            return [(self._get(note, "bbox"), self._category(note), self._get(note, "iscrowd", 0))]
        if self.task == "Keypoint":
            return [(self._get(note, "keypoints"), self._get(note, "num_keypoints"))]
        if self.task == "Panoptic":
            return [
                (
                    self._get(part, "bbox"),
                    self._category(part),
                    self._get(part, "iscrowd", 0),
                    self._get(part, "area"),
                )
                for part in self._get(note, "segments_info")
            ]
        crowd = self._get(note, "iscrowd")
        shape = self._get(note, "segmentation")
        # A crowd is one run-length code, a thing one or more outlines.
        outlines = [self._get(shape, "counts")] if isinstance(shape, dict) else shape
        return [(outlines, crowd)]

    # Rows.

    def _row(self, entry: Any) -> tuple[Any, ...]:
        name, values = entry
        columns = list(zip(*values, strict=True))
        if self.task == "Stuff":
            columns[0] = tuple(outline for outlines in columns[0] for outline in outlines)
        arrays = [self._image(self._path(name))]
        for column, value in zip(self._tasks[self.task][1:], columns, strict=True):
            if column == "captions":
                arrays.append(np.array(value)[:, None])
            elif column in ("bbox", "segmentation", "keypoints"):
                arrays.append(self._padded(column, value))
            else:
                arrays.append(self._array(column, value, np.uint32)[:, None])
        if self.extra_metadata:
            arrays.append(np.array(name.split(".")[0]))
        return tuple(arrays)

    def _padded(self, name: str, rows: tuple[Any, ...]) -> np.ndarray:
        lines = [self._array(name, row, np.float32).ravel() for row in rows]
        padded = np.full((len(lines), max(map(len, lines), default=0)), -1, np.float32)
        for place, line in enumerate(lines):
            padded[place, : len(line)] = line
        return padded
