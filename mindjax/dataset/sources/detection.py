"""Boxes of cars and faces: KITTI and WIDERFace."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.sources.listed import (
    PartsDataset,
    bad_line,
    list_folder,
    numbers,
    read_lines,
)


class KITTIDataset(PartsDataset):
    """Streets: ``image``, and in training the things in it, a line of each column for one.

    The columns are ``label`` (n, 1) uint32, ``truncated`` (n, 1) float32, ``occluded`` (n, 1)
    uint32, ``alpha`` (n, 1), ``bbox`` (n, 4), ``dimensions`` (n, 3), ``location`` (n, 3) and
    ``rotation_y`` (n, 1) float32. The folder holds ``data_object_image_2`` and
    ``data_object_label_2``; usages are ``"train"``, the default, and ``"test"``. Arguments are
    ``PartsDataset``'s.
    """

    _usages = ("train", "test")
    _default_usage = "train"
    # Columns of a file that make one of ours: name, first, last and type.
    _fields = (
        ("truncated", 1, 2, np.float32),
        ("occluded", 2, 3, np.uint32),
        ("alpha", 3, 4, np.float32),
        ("bbox", 4, 8, np.float32),
        ("dimensions", 8, 11, np.float32),
        ("location", 11, 14, np.float32),
        ("rotation_y", 14, 15, np.float32),
    )

    def _columns(self) -> list[str]:
        if self.usage == "test":
            return ["image"]
        return ["image", "label", *(name for name, *_ in self._fields)]

    def _list(self) -> list[Any]:
        part = "training" if self.usage == "train" else "testing"
        folder = self._path("data_object_image_2", part, "image_2")
        images = list_folder(folder, (".png",))
        if self.usage == "test":
            return [(os.path.join(folder, name), None) for name in images]
        things = [self._things(name[:-4]) for name in images]
        kinds = sorted({line[0] for lines in things for line in lines})
        self._labels_of = {kind: number for number, kind in enumerate(kinds)}
        return [
            (os.path.join(folder, name), lines) for name, lines in zip(images, things, strict=True)
        ]

    def _things(self, name: str) -> list[Any]:
        path = self._path("data_object_label_2", "training", "label_2", f"{name}.txt")
        if not os.path.isfile(path):
            raise located(RuntimeError, f"Invalid path, {path} does not exist.")
        found = []
        for number, line in enumerate(read_lines(path, "KITTI"), 1):
            words = line.split()
            if not words:
                continue
            if len(words) < 15:
                raise bad_line(path, number, line, "a name and 14 numbers")
            found.append((words[0], numbers(path, number, line, words[1:15], float)))
        return found

    def _row(self, entry: Any) -> tuple[Any, ...]:
        path, things = entry
        if things is None:
            return (self._image(path),)
        table = np.array([values for _, values in things], np.float64).reshape(len(things), 14)
        labels = np.array([self._labels_of[kind] for kind, _ in things], np.uint32)
        columns = [self._image(path), labels[:, None]]
        for _, first, last, kind in self._fields:
            values = table[:, first - 1 : last - 1]
            # What is unknown is -1 in the file and 2 ** 32 - 1 in the column.
            columns.append(values.astype(np.int64 if kind is np.uint32 else kind).astype(kind))
        return tuple(columns)


class WIDERFaceDataset(PartsDataset):
    """Faces: ``image``, and but for the test part the faces in it, a line of each column for one.

    The columns are ``bbox`` (n, 4), ``blur``, ``expression``, ``illumination``, ``occlusion``,
    ``pose`` and ``invalid`` (n,) int32. The folder holds ``WIDER_train``, ``WIDER_val``,
    ``WIDER_test`` and ``wider_face_split``; usages are ``"train"``, ``"valid"``, ``"test"`` and
    ``"all"``, the default: training and validation. Arguments are ``PartsDataset``'s.
    """

    _usages = ("train", "test", "valid", "all")
    # The original's names of the file's columns; the set itself says that "invalid" comes fourth.
    _fields = ("blur", "expression", "illumination", "occlusion", "pose", "invalid")

    def _columns(self) -> list[str]:
        if self.usage == "test":
            return ["image"]
        return ["image", "bbox", *self._fields]

    def _list(self) -> list[Any]:
        parts = {"train": ("train",), "valid": ("val",), "test": ("test",)}
        found: list[Any] = []
        for part in parts.get(self.usage, ("train", "val")):
            folder = self._path(f"WIDER_{part}", "images")
            if not os.path.isdir(folder):
                raise located(
                    RuntimeError, f"Invalid path, failed to open WIDERFace folder: {folder}"
                )
            ending = "test_filelist" if part == "test" else f"{part}_bbx_gt"
            path = self._path("wider_face_split", f"wider_face_{ending}.txt")
            lines = read_lines(path, "WIDERFace")
            if part == "test":
                faces: dict[str, Any] = {line.strip(): None for line in lines if line.strip()}
            else:
                faces = self._faces(path, lines)
            found += [(os.path.join(folder, name), faces[name]) for name in sorted(faces)]
        return found

    def _faces(self, path: str, lines: list[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        at = 0
        while at < len(lines):
            name = lines[at].strip()
            if not name:
                at += 1
                continue
            if at + 1 == len(lines):
                raise bad_line(path, at + 1, name, "followed by a number of faces")
            count = numbers(path, at + 2, lines[at + 1], [lines[at + 1]], int)[0]
            # An image without a face has one line of zeros.
            stop = at + 2 + max(count, 1)
            rows = []
            for number in range(at + 2, stop):
                line = lines[number] if number < len(lines) else ""
                row = numbers(path, number + 1, line, line.split(), int)
                if len(row) != 10:
                    raise bad_line(path, number + 1, line, "10 numbers")
                rows.append(row)
            found[name] = rows
            at = stop
        return found

    def _row(self, entry: Any) -> tuple[Any, ...]:
        path, faces = entry
        if faces is None:
            return (self._image(path),)
        table = np.array(faces, np.int32)
        return (self._image(path), table[:, :4], *table[:, 4:].T)
