"""CIFAR-10 and CIFAR-100, from their Python files, to MindRecord."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.mindrecord.conversion import SUCCESS, MSRStatus, check_fields, to_jpeg
from mindjax.mindrecord.exceptions import PathNotExistsError
from mindjax.mindrecord.filewriter import FileWriter
from mindjax.mindrecord.shards import check_filename

_PIXELS = 3 * 32 * 32
# All that a pickled array of bytes needs; nothing else is looked up, so nothing else is run.
_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"global '{module}.{name}' is forbidden")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def _load(owner: str, path: str, labels: tuple[str, ...]) -> tuple[np.ndarray, list[list[int]]]:
    """Read images (n, 32, 32, 3) uint8 and, for each kind of label, n numbers."""
    try:
        with open(path, "rb") as file:
            found = _Unpickler(io.BytesIO(file.read()), encoding="bytes").load()
        found = {k.decode() if isinstance(k, bytes) else k: v for k, v in found.items()}
        data = np.asarray(found["data"])
        numbers = [[int(number) for number in found[name]] for name in labels]
        if data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] != _PIXELS:
            raise ValueError(f"its images are {data.dtype} of shape {data.shape}")
        if any(len(kind) != len(data) for kind in numbers):
            raise ValueError("it has not as many labels as images")
    except Exception as error:  # pickled data raises whatever it likes
        raise located(
            RuntimeError, f"Not a valid {owner} Dataset: {path}: {type(error).__name__}: {error}."
        ) from None
    return data.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), numbers


class _CifarToMR:
    _labels: tuple[str, ...]
    _columns: tuple[str, ...]
    _train = ""
    _test = ""

    def __init__(self, source: str, destination: str) -> None:
        check_filename(source)
        self.source = source
        for prefix, what in ((self._train, self._train), (self._test, self._test)):
            if not self._parts(prefix):
                raise PathNotExistsError(what + ("*" if what.endswith("_") else ""))
        check_filename(destination)
        self.destination = destination

    def _parts(self, prefix: str) -> list[str]:
        names = sorted(os.listdir(self.source))
        if self._train.endswith("_"):
            return [name for name in names if name.startswith(prefix)]
        return [name for name in names if name == prefix]

    def run(self, fields: list[str] | None = None) -> MSRStatus:
        """Write training images to ``destination``, the others to ``destination + "_test"``.

        Args:
            fields: the index fields; None for all that can be.

        Returns:
            SUCCESS.

        Raises:
            ValueError: ``fields`` is no list.
            RuntimeError: a file is not what it should be, or the destination exists.
        """
        check_fields(fields)
        for prefix, suffix, desc in (
            (self._train, "", "img_train"),
            (self._test, "_test", "img_test"),
        ):
            writer = FileWriter(self.destination + suffix)
            names = ("id", *self._columns)
            schema: dict[str, dict[str, Any]] = {name: {"type": "int64"} for name in names}
            writer.add_schema({**schema, "data": {"type": "bytes"}}, desc)
            if fields:
                writer.add_index(fields)
            writer.write_raw_data(list(self._rows(prefix)))
            writer.commit()
        return SUCCESS

    def _rows(self, prefix: str) -> Iterator[dict[str, Any]]:
        number = 0
        for name in self._parts(prefix):
            path = os.path.join(self.source, name)
            images, labels = _load(type(self).__name__[: -len("ToMR")], path, self._labels)
            for image, *classes in zip(images, *labels, strict=True):
                named = dict(zip(self._columns, classes, strict=True))
                yield {"id": number, "data": to_jpeg(image), **named}
                number += 1

    def transform(self, fields: list[str] | None = None) -> None:
        """Write training images to ``destination``, the others to ``destination + "_test"``.

        Args:
            fields: the index fields; None for all that can be.

        Raises:
            ValueError: ``fields`` is no list.
            RuntimeError: a file is not what it should be, or the destination exists.
        """
        self.run(fields)


class Cifar10ToMR(_CifarToMR):
    """Converts CIFAR-10's Python files; images become JPEG. No code in them is run.

    Args:
        source: folder with ``data_batch_*`` and ``test_batch``.
        destination: path of the MindRecord file.

    Raises:
        ParamValueError: a path is wrong.
        PathNotExistsError: the folder has no such files.
    """

    _labels = ("labels",)
    _columns = ("label",)
    _train = "data_batch_"
    _test = "test_batch"


class Cifar100ToMR(_CifarToMR):
    """Converts CIFAR-100's Python files; images become JPEG. No code in them is run.

    Args:
        source: folder with ``train`` and ``test``.
        destination: path of the MindRecord file.

    Raises:
        ParamValueError: a path is wrong.
        PathNotExistsError: the folder has no such files.
    """

    _labels = ("fine_labels", "coarse_labels")
    _columns = ("fine_label", "coarse_label")
    _train = "train"
    _test = "test"
