"""MNIST to MindRecord."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.mindrecord.conversion import (
    SUCCESS,
    MSRStatus,
    check_partitions,
    set_large_pages,
    to_jpeg,
    write_all,
)
from mindjax.mindrecord.filewriter import FileWriter
from mindjax.mindrecord.shards import check_filename

_SIDE = 28
_IMAGES_HEADER, _LABELS_HEADER = 16, 8


def _unpacked(path: str, header: int) -> np.ndarray:
    try:
        with gzip.open(path, "rb") as file:
            return np.frombuffer(file.read()[header:], np.uint8)
    except (OSError, EOFError, zlib.error) as error:
        raise located(RuntimeError, f"Invalid mnist file, failed to read {path}: {error}") from None


class MnistToMR:
    """Converts MNIST's packed IDX files; images become JPEG.

    Args:
        source: folder with ``train-images-idx3-ubyte.gz``, ``train-labels-idx1-ubyte.gz`` and the
            two ``t10k`` files.
        destination: path of the MindRecord files, before ``_train.mindrecord`` and
            ``_test.mindrecord``.
        partition_number: number of files of each part.

    Raises:
        ParamValueError: a path or the number is wrong.
        ValueError: ``partition_number`` is no int.
    """

    def __init__(self, source: str, destination: str, partition_number: int = 1) -> None:
        check_filename(source)
        check_filename(destination)
        self.source = source
        self.partition_number = check_partitions(partition_number)
        self.writer_train = FileWriter(f"{destination}_train.mindrecord", self.partition_number)
        self.writer_test = FileWriter(f"{destination}_test.mindrecord", self.partition_number)

    def run(self) -> MSRStatus:
        """Write both parts.

        Returns:
            SUCCESS.

        Raises:
            RuntimeError: a file cannot be read or is no such file, or a destination exists.
        """
        for prefix, writer in (("train", self.writer_train), ("t10k", self.writer_test)):
            set_large_pages(writer)
            writer.add_schema(
                {"label": {"type": "int64"}, "data": {"type": "bytes"}}, "mnist_schema"
            )
            writer.add_index(["label"])
            write_all(writer, self._rows(prefix))
        return SUCCESS

    def _rows(self, prefix: str) -> Iterator[dict[str, Any]]:
        images_at = os.path.join(self.source, f"{prefix}-images-idx3-ubyte.gz")
        labels_at = os.path.join(self.source, f"{prefix}-labels-idx1-ubyte.gz")
        images, labels = _unpacked(images_at, _IMAGES_HEADER), _unpacked(labels_at, _LABELS_HEADER)
        if len(images) != len(labels) * _SIDE * _SIDE:
            raise located(
                RuntimeError,
                f"Invalid mnist file, {images_at} has not an image of {_SIDE} x {_SIDE} for each "
                f"label of {labels_at}.",
            )
        for image, label in zip(images.reshape(-1, _SIDE, _SIDE), labels, strict=True):
            yield {"label": int(label), "data": to_jpeg(image)}

    def transform(self) -> None:
        """Write both parts.

        Raises:
            RuntimeError: a file cannot be read or is no such file, or a destination exists.
        """
        self.run()
