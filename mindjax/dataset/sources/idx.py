"""Reader of IDX files, the format of MNIST and its relatives."""

from __future__ import annotations

import gzip
import os
import struct
import zlib

import numpy as np

from mindjax.core.errors import located

IMAGES, LABELS = 2051, 2049


def read_idx(path: str, magic: int, kind: str = "mnist") -> np.ndarray:
    """Read an IDX file of bytes, unpacking it if its name ends with ``.gz``.

    Args:
        path: the file.
        magic: ``IMAGES`` (three dimensions) or ``LABELS`` (one).
        kind: name of the set, for messages.

    Returns:
        The array, uint8.

    Raises:
        RuntimeError: the file cannot be read, is no such file, or is truncated.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
        if path.endswith(".gz"):
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise located(
            RuntimeError, f"Invalid {kind} file, failed to read {path}: {error}"
        ) from None
    rank = magic & 255
    header = 4 + 4 * rank
    found = struct.unpack_from(">i", data)[0] if len(data) >= 4 else None
    if found != magic:
        part = "image" if magic == IMAGES else "label"
        raise located(
            RuntimeError,
            f"Invalid {kind} file, the {part} number of {path} should be {magic}, but got "
            f"{'an empty file' if found is None else found}",
        )
    if len(data) < header:
        raise located(
            RuntimeError,
            f"Invalid {kind} file, the header of {path} should have {header} bytes, but got "
            f"{len(data)}",
        )
    shape = struct.unpack_from(f">{rank}i", data, 4)
    wanted = int(np.prod(shape, dtype=np.int64))
    if min(shape) < 0 or len(data) - header != wanted:
        raise located(
            RuntimeError,
            f"Invalid {kind} file, truncated data length of {path} should be {wanted}, but got "
            f"{len(data) - header}",
        )
    return np.frombuffer(data, np.uint8, wanted, header).reshape(shape)


def find_idx(folder: str, prefix: str, stem: str) -> str | None:
    """Find one of a folder's IDX files; an unpacked file is preferred to a packed one.

    Args:
        folder: where to look.
        prefix: such as ``"train"`` or ``"t10k"``.
        stem: ``"images-idx3"`` or ``"labels-idx1"``.

    Returns:
        The path, or None.
    """
    dotted = stem.replace("-idx", ".idx")
    for packing in ("", ".gz"):
        for name in (stem, dotted):
            path = os.path.join(folder, f"{prefix}-{name}-ubyte{packing}")
            if os.path.isfile(path):
                return path
    return None


def read_pair(kind: str, folder: str, prefix: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Read the images and labels of one part.

    Args:
        kind: name of the set, for messages.
        folder: where the files lie.
        prefix: such as ``"train"`` or ``"t10k"``.

    Returns:
        Images (n, rows, columns, 1) uint8 and labels (n,) uint32; None when neither file exists.

    Raises:
        RuntimeError: one of them is missing or bad, or their lengths differ.
    """
    images_at = find_idx(folder, prefix, "images-idx3")
    labels_at = find_idx(folder, prefix, "labels-idx1")
    if images_at is None and labels_at is None:
        return None
    if images_at is None or labels_at is None:
        missing = (
            f"{prefix}-images-idx3-ubyte" if images_at is None else f"{prefix}-labels-idx1-ubyte"
        )
        raise located(
            RuntimeError,
            f"Invalid {kind} file, num of images should be equal to num of labels, but "
            f"{os.path.join(folder, missing)} is missing.",
        )
    images, labels = read_idx(images_at, IMAGES, kind), read_idx(labels_at, LABELS, kind)
    if len(images) != len(labels):
        raise located(
            RuntimeError,
            f"Invalid {kind} file, the images number of {images_at} should be equal to the labels "
            f"number of {labels_at}, but got images number: {len(images)}, labels number: "
            f"{len(labels)}.",
        )
    return images[..., None], labels.astype(np.uint32)
