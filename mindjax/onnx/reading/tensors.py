"""Tensors of ONNX files as numpy arrays; nothing is allocated before sizes are checked."""

from __future__ import annotations

import os
from typing import Any

import ml_dtypes
import numpy as np

from mindjax.onnx.reading.errors import OnnxError, UnknownOperator

# ONNX's numbers of dtypes.
DTYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.float32), 2: np.dtype(np.uint8), 3: np.dtype(np.int8), 4: np.dtype(np.uint16),
    5: np.dtype(np.int16), 6: np.dtype(np.int32), 7: np.dtype(np.int64), 9: np.dtype(np.bool_),
    10: np.dtype(np.float16), 11: np.dtype(np.float64), 12: np.dtype(np.uint32),
    13: np.dtype(np.uint64), 14: np.dtype(np.complex64), 15: np.dtype(np.complex128),
    16: np.dtype(ml_dtypes.bfloat16),
}  # fmt: skip
# Fields that hold the values of dtypes where they are not raw bytes.
_FIELDS = {1: "float_data", 14: "float_data", 7: "int64_data", 11: "double_data", 15: "double_data",
           12: "uint64_data", 13: "uint64_data"}  # fmt: skip
# Kept as the bits of an integer.
_BITS = {10: np.uint16, 16: np.uint16}
# No array of a file is larger; the product of hostile dims may have a million digits.
_LARGEST = 1 << 48
_AXES = 32


def text(value: Any) -> str:
    """Give a text of a file; protobuf leaves bytes that are no UTF-8 as they are.

    Raises:
        OnnxError: it is no UTF-8.
    """
    if not isinstance(value, str):
        raise OnnxError("one of its texts is no UTF-8")
    return value


def np_dtype(code: int) -> np.dtype[Any]:
    """Give the numpy dtype of ONNX's number.

    Raises:
        UnknownOperator: MindJAX has no such dtype.
    """
    found = DTYPES.get(code)
    if found is None:
        raise UnknownOperator(f"MindJAX has no dtype for ONNX's number {code}")
    return found


def checked_shape(dims: Any, name: str) -> tuple[int, ...]:
    """Give the shape of a tensor whose elements can be counted.

    Raises:
        OnnxError: a size is negative, or there are too many axes or elements.
    """
    shape = tuple(dims)
    if len(shape) > _AXES:
        raise OnnxError(f"the tensor '{name}' has {len(shape)} axes")
    count = 1
    for size in shape:
        if size < 0 or (count := count * size) > _LARGEST:
            raise OnnxError(f"the tensor '{name}' has the impossible shape {shape[:8]}")
    return shape


class Storage:
    """The files beside a model that hold the bytes of its tensors.

    Args:
        folder: the model's; no file outside it is read. None if there may be no such files.
    """

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._taken: dict[str, int] = {}

    def read(self, tensor: Any, wanted: int) -> Any:
        """Give the bytes of a tensor that lie in another file.

        Args:
            tensor: ONNX's message.
            wanted: how many bytes it needs.

        Raises:
            OnnxError: the place is outside of the folder, or of the file.
        """
        name = text(tensor.name)[:80]
        given = {text(entry.key): text(entry.value) for entry in tensor.external_data}
        location = given.get("location", "")
        if self._folder is None or not location:
            raise OnnxError(f"the tensor '{name}' lies in another file, which it must not here")
        root = os.path.realpath(self._folder)
        odd = os.path.isabs(location) or "\0" in location or "\\" in location
        path = "" if odd else os.path.realpath(os.path.join(root, location))
        if odd or os.path.commonpath([root, path]) != root or not os.path.isfile(path):
            raise OnnxError(
                f"the tensor '{name}' lies in {location[:80]!r}, which is no file beside the model"
            )
        try:
            offset, length = int(given.get("offset", 0)), int(given.get("length", wanted))
        except ValueError:
            raise OnnxError(f"the place of the tensor '{name}' is no number") from None
        size = os.path.getsize(path)
        if offset < 0 or length != wanted or offset + length > size:
            raise OnnxError(f"the tensor '{name}' needs {wanted} bytes, which {location[:80]!r} "
                            "does not have at its place")  # fmt: skip
        # Many tensors that name the same bytes would fill the memory from a small file.
        self._taken[path] = self._taken.get(path, 0) + length
        if self._taken[path] > 4 * size + (1 << 20):
            raise OnnxError(f"its tensors take the bytes of {location[:80]!r} again and again")
        with open(path, "rb") as file:
            file.seek(offset)
            content = file.read(length)
        if len(content) != length:
            raise OnnxError(f"the tensor '{name}' lies outside of {location[:80]!r}")
        return content


def read_tensor(tensor: Any, storage: Storage) -> np.ndarray:
    """Read a tensor's values.

    Args:
        tensor: ONNX's message.
        storage: the files beside the model.

    Returns:
        Array of the tensor's dtype and shape.

    Raises:
        OnnxError: shape, dtype and values do not fit each other.
        UnknownOperator: MindJAX has no such dtype.
    """
    name = text(tensor.name)[:80]
    shape = checked_shape(tensor.dims, name)
    dtype = np_dtype(tensor.data_type)
    count = 1
    for size in shape:
        count *= size
    wanted = count * dtype.itemsize
    if tensor.data_location == 1:
        content = storage.read(tensor, wanted)
    elif tensor.HasField("raw_data"):
        content = tensor.raw_data
    else:
        field = getattr(tensor, _FIELDS.get(tensor.data_type, "int32_data"))
        parts = 2 if dtype.kind == "c" else 1
        if len(field) != count * parts:
            raise OnnxError(
                f"the tensor '{name}' of the shape {shape} has {len(field) // parts} values"
            )
        kind = _BITS.get(tensor.data_type, dtype)
        if parts == 2:
            kind = np.dtype(f"f{dtype.itemsize // 2}")
        try:
            content = np.array(field, kind).tobytes()
        except (OverflowError, ValueError):
            raise OnnxError(f"the tensor '{name}' has values outside of {dtype}") from None
    if len(content) != wanted:
        raise OnnxError(
            f"the tensor '{name}' has {len(content)} bytes, but its shape {shape} and type "
            f"{dtype} need {wanted}"
        )
    return np.frombuffer(content, dtype).reshape(shape)
