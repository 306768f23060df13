"""The ``.safetensors`` file format with the metadata that MindSpore writes."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from typing import IO, Any

import ml_dtypes
import numpy as np

from mindjax.checkpoint.ckpt import CkptError, Int4, Span, fill, map_file, read_ahead, viewed
from mindjax.core.allocator import fresh

_NP_TYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "I8": np.dtype(np.int8),
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "I16": np.dtype(np.int16),
    "U16": np.dtype(np.uint16),
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "I32": np.dtype(np.int32),
    "U32": np.dtype(np.uint32),
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
    "I64": np.dtype(np.int64),
    "U64": np.dtype(np.uint64),
    "C64": np.dtype(np.complex64),
}
_NAMES = {dtype: name for name, dtype in _NP_TYPES.items()}
_RANK = {name: rank for rank, name in enumerate(_NP_TYPES)}
_HEADER_LIMIT = 100_000_000
_METADATA = "__metadata__"
_ZERO_RUN = 1 << 32


class SafetensorsError(ValueError):
    """The file is not readable; the message says why."""


def write(
    file: IO[bytes],
    arrays: dict[str, np.ndarray],
    crc_check: bool,
    metadata: dict[str, str] | None = None,
) -> None:
    """Write arrays in MindSpore's manner.

    Args:
        file: binary file, open for writing.
        arrays: names and arrays of any shape.
        crc_check: whether the metadata holds a check sum over the names and values.
        metadata: further metadata.

    Raises:
        TypeError: an array's dtype has no name in this format.
    """
    for name, array in arrays.items():
        if array.dtype not in _NAMES:
            raise TypeError(f"'{name}' has the dtype {array.dtype}, which safetensors lacks")
    notes = {"format": "ms", **(metadata or {})}
    notes |= {name: "Int4" for name, array in arrays.items() if isinstance(array, Int4)}
    if crc_check:
        notes["crc_num"] = str(_crc(arrays))
    header: dict[str, Any] = {_METADATA: notes} if arrays else {}
    # Wide types first keeps every array aligned.
    order = sorted(arrays, key=lambda name: (-_RANK[_NAMES[arrays[name].dtype]], name))
    offset = 0
    for name in order:
        array = arrays[name]
        span = [offset, offset + array.nbytes]
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": span,
        }
        offset = span[1]
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for name in order:
        file.write(_raw(arrays[name]))


def read(
    file: IO[bytes],
    crc_check: bool = False,
    wanted: Callable[[str], bool] | None = None,
    mapped: bool = False,
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read arrays.

    Args:
        file: binary file, open for reading and seekable.
        crc_check: whether the check sum, if the metadata has one, is compared.
        wanted: tells by its name whether an array is kept; all are by default.
        mapped: whether the arrays are read-only views of the mapped file, which nobody may shorten
            then.

    Returns:
        The arrays in the order of their names, and the metadata.

    Raises:
        SafetensorsError: the file is cut off, damaged or something else.
    """
    header, notes, start, total = _header(file)
    arrays = {}
    view = map_file(file) if mapped else None
    read_ahead(file)
    for name in sorted(header):
        if wanted is None or crc_check or wanted(name):
            array = _array(file, name, header[name], (start, total), view)
            is_int4 = notes.get(name) == "Int4" and array.dtype == np.int8
            arrays[name] = array.view(Int4) if is_int4 else array
    stored = notes.get("crc_num")
    if crc_check and stored is not None and str(_crc(arrays)) != stored:
        raise SafetensorsError("the crc check has failed")
    if wanted is not None:
        arrays = {name: array for name, array in arrays.items() if wanted(name)}
    return arrays, notes


def metadata(file: IO[bytes]) -> dict[str, Any]:
    """Read only the metadata of a file, open for reading.

    Raises:
        SafetensorsError: the file is cut off, damaged or something else.
    """
    return _header(file)[1]


def _header(file: IO[bytes]) -> tuple[dict[str, Any], dict[str, Any], int, int]:
    """Read the entries, the metadata, where the data begin and how many bytes they have."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size < 8:
        raise SafetensorsError("it is too short")
    length = int.from_bytes(file.read(8), "little")
    if length > min(size - 8, _HEADER_LIMIT):
        raise SafetensorsError("its header is cut off")
    try:
        header = json.loads(file.read(length).decode())
    except (ValueError, RecursionError):
        raise SafetensorsError("its header is not JSON") from None
    if not isinstance(header, dict):
        raise SafetensorsError("its header is not a table")
    notes = header.pop(_METADATA, None)
    if not isinstance(notes, dict):
        notes = {}
    return header, notes, 8 + length, size - 8 - length


def _raw(array: np.ndarray) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _crc(arrays: dict[str, np.ndarray]) -> int:
    crc = 0
    for name in sorted(arrays):
        crc = zlib.crc32(name.encode(), crc)
        array = arrays[name]
        if array.ndim == 0 and array.dtype.kind in "iu" and 0 <= int(array) < _ZERO_RUN:
            # MindSpore: ``bytes(array)`` of an integer n is n zeros (test_safetensors_crc).
            for start in range(0, int(array), 1 << 20):
                crc = zlib.crc32(bytes(min(1 << 20, int(array) - start)), crc)
        else:
            crc = zlib.crc32(_raw(array), crc)
    return crc


def _array(
    file: IO[bytes], name: str, entry: Any, place: tuple[int, int], view: memoryview | None
) -> np.ndarray:
    start, total = place
    try:
        dtype, shape = _NP_TYPES[entry["dtype"]], tuple(entry["shape"])
        begin, end = entry["data_offsets"]
        whole = all(type(number) is int and number >= 0 for number in (*shape, begin, end))
    except (KeyError, TypeError, ValueError):
        raise SafetensorsError(f"its entry for '{name}' is not understood") from None
    count = 1
    for dim in shape if whole else ():
        count *= dim
    if not whole or not begin <= end <= total or count * dtype.itemsize != end - begin:
        raise SafetensorsError(f"the data of '{name}' is cut off or of another size")
    span = Span(start + begin, start + end)
    try:
        if view is not None:
            return viewed(view, span, dtype, shape)
        array = fresh(shape, dtype)
    except (ValueError, OverflowError):
        raise SafetensorsError(f"'{name}' has the impossible shape {shape}") from None
    try:
        fill(file, span, array)
    except CkptError as error:
        raise SafetensorsError(str(error)) from None
    return array
