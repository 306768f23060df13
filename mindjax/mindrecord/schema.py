"""The schema of a MindRecord file: which fields a row has, and how they lie in its two halves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mindjax.core.errors import located
from mindjax.mindrecord import msgpack
from mindjax.mindrecord.exceptions import (
    MRMAddSchemaError,
    MRMBuildSchemaError,
    MRMInvalidSchemaError,
)
from mindjax.mindrecord.integers import pack_integers, unpack_integers

NUMBERS = ("int32", "int64", "float32", "float64")
TYPES = (*NUMBERS, "string", "bytes")
# Python's types of single values -> the types of fields that take them.
_TAKES: dict[type, tuple[str, ...]] = {
    int: ("int32", "int64"),
    float: ("float32", "float64"),
    str: ("string",),
    bytes: ("bytes",),
    np.int32: ("int32",),
    np.int64: ("int64",),
    np.float32: ("float32",),
    np.float64: ("float64",),
}
_NAME = re.compile(r"[0-9a-zA-Z_]+")
_LENGTH = 8
# What a row without a blob, or without raw values, has in their place.
_NO_BLOB = bytes(4)
_NO_RAW = msgpack.pack({"id": 0})
_MOST_DIMENSIONS = 32
_INT64 = 1 << 63


class Field(NamedTuple):
    """One field.

    Attributes:
        name: its name.
        type: one of `TYPES`.
        shape: sizes of an array, at most one of them -1; None for a single value.
    """

    name: str
    type: str
    shape: tuple[int, ...] | None

    @property
    def is_blob(self) -> bool:
        """Tell whether it lies in blob pages."""
        return self.type == "bytes" or self.shape is not None


class Schema:
    """The fields of a file, sorted by name.

    Args:
        fields: the fields.
        desc: what the user says about them.
    """

    def __init__(self, fields: Iterable[Field], desc: str) -> None:
        self.fields = {field.name: field for field in sorted(fields)}
        self.desc = desc
        self.blobs = [field for field in self.fields.values() if field.is_blob]
        self.raws = [field for field in self.fields.values() if not field.is_blob]

    def content(self) -> dict[str, dict[str, Any]]:
        """Give the fields as the user wrote them."""
        return {
            name: {"type": field.type}
            if field.shape is None
            else {"shape": list(field.shape), "type": field.type}
            for name, field in self.fields.items()
        }

    # Writing.

    def fault(self, row: Mapping[str, Any]) -> str:
        """Tell why a row does not fit; empty if it does."""
        for field in self.fields.values():
            if field.name not in row:
                return f"there is not field: '{field.name}' in the raw data."
            value = row[field.name]
            if field.shape is None:
                if field.type not in _TAKES.get(type(value), ()):
                    return (
                        f"data type: '{type(value).__name__}' for field: '{field.name}' is not "
                        "matched."
                    )
            elif not isinstance(value, np.ndarray) or str(value.dtype) != field.type:
                kind = getattr(value, "dtype", type(value).__name__)
                return f"data type: '{kind}' for field: '{field.name}' is not matched."
            elif not _fits(value.shape, field.shape):
                return f"data shape: '{value.shape}' for field: '{field.name}' is not matched."
        return ""

    def encode(self, row: Mapping[str, Any]) -> tuple[bytes, bytes, int]:
        """Write one row that fits.

        Args:
            row: field to value.

        Returns:
            Its raw half, its blob half, and the bytes that packing integers saved.

        Raises:
            RuntimeError: a value has no form in a file.
        """
        raw = {
            field.name: row[field.name].item()
            if isinstance(row[field.name], np.generic)
            else row[field.name]
            for field in self.raws
        }
        blobs, saved = [], 0
        for field in self.blobs:
            value = row[field.name]
            if field.shape is None:
                blobs.append(value)
            elif field.type.startswith("int"):
                blobs.append(pack_integers(value))
                saved += value.nbytes - len(blobs[-1])
            else:
                blobs.append(value.tobytes())
            if len(self.blobs) == 1 and not memoryview(value).nbytes:
                raise located(
                    RuntimeError,
                    f"Invalid data, the only blob field '{field.name}' of a row is empty.",
                )
        try:
            for name, value in raw.items():
                if isinstance(value, int) and not -_INT64 <= value < _INT64:
                    raise OverflowError(f"{value} of field '{name}' does not fit 64 bits")
            packed = msgpack.pack(raw) if raw else _NO_RAW
        except (OverflowError, UnicodeEncodeError) as error:
            raise located(RuntimeError, f"Invalid data, a row cannot be written: {error}") from None
        if len(blobs) == 1:
            return packed, blobs[0], saved
        joined = b"".join(len(blob).to_bytes(_LENGTH, "big") + blob for blob in blobs)
        return packed, joined if blobs else _NO_BLOB, saved

    # Reading.

    def decode_raw(self, data: bytes) -> dict[str, Any]:
        """Read a raw half.

        Args:
            data: its bytes.

        Returns:
            Field to value, for the fields of the schema.

        Raises:
            ValueError: the bytes are damaged or do not fit the schema.
        """
        found = msgpack.unpack(data)
        row: dict[str, Any] = {}
        for field in self.raws:
            value = found.get(field.name)
            if field.name not in found or isinstance(value, bool | None):
                raise ValueError(f"a row has no field {field.name}")
            if isinstance(value, str) != (field.type == "string"):
                raise ValueError(f"field {field.name} of a row is no {field.type}")
            row[field.name] = value
        return row

    def decode_blob(self, data: bytes) -> dict[str, bytes]:
        """Take a blob half apart.

        Args:
            data: its bytes.

        Returns:
            Blob field to its bytes, still packed.

        Raises:
            ValueError: the bytes are damaged or do not fit the schema.
        """
        if not self.blobs:
            return {}
        if len(self.blobs) == 1:
            return {self.blobs[0].name: data}
        parts: dict[str, bytes] = {}
        at = 0
        for field in self.blobs:
            size = int.from_bytes(data[at : at + _LENGTH], "big")
            at += _LENGTH
            if at + size > len(data):
                raise ValueError("a blob is cut off")
            parts[field.name] = data[at : at + size]
            at += size
        if at != len(data):
            raise ValueError("a blob has another length than it says")
        return parts


def to_array(field: Field, data: bytes) -> np.ndarray:
    """Read the array of a blob field.

    Args:
        field: an array's field.
        data: its packed bytes.

    Returns:
        The array.

    Raises:
        ValueError: the bytes are damaged or do not fit the shape.
    """
    assert field.shape is not None
    if field.type.startswith("int"):
        flat = unpack_integers(data, field.type)
    else:
        flat = np.frombuffer(data, field.type)
    return flat.reshape(field.shape)


def _fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    count = int(np.prod(shape, dtype=np.int64))
    known = int(np.prod([size for size in wanted if size != -1], dtype=np.int64))
    return count % known == 0 if -1 in wanted else count == known


def check_schema(content: Any, desc: str | None) -> Schema:
    """Make a schema of what the user wrote.

    Args:
        content: field to ``{"type": ...}`` or ``{"type": ..., "shape": [...]}``.
        desc: what the user says about it.

    Returns:
        The schema.

    Raises:
        MRMInvalidSchemaError: ``content`` is no such dictionary.
        MRMBuildSchemaError: a shape has sizes that no array has.
    """
    if not content:
        raise MRMInvalidSchemaError("Schema content is empty.")
    if not isinstance(content, dict):
        raise MRMInvalidSchemaError("Schema content should be dict.")
    fields = []
    for name, entry in content.items():
        if not isinstance(name, str):
            raise located(TypeError, f"expected a field's name of type str, but got {name!r}")
        if not _NAME.fullmatch(name):
            raise MRMInvalidSchemaError(
                f"Field '{name}' should be composed of '0-9' or 'a-z' or 'A-Z' or '_'."
            )
        if not entry or not isinstance(entry, dict):
            raise MRMInvalidSchemaError(f"Field '{name}' should be dict.")
        if "type" not in entry or len(entry) > 2 or (len(entry) == 2 and "shape" not in entry):
            raise MRMInvalidSchemaError(f"Field '{entry}' contains illegal attributes.")
        kind, shape = entry["type"], entry.get("shape")
        if kind not in (TYPES if len(entry) == 1 else NUMBERS):
            raise MRMInvalidSchemaError(f"Field '{name}' contain illegal attribute '{kind}'.")
        if "shape" in entry and not isinstance(shape, list):
            raise MRMInvalidSchemaError(f"Field '{name}' contain illegal attribute '{shape}'.")
        fields.append(Field(name, kind, None if shape is None else _shape(shape)))
    if desc is not None and not isinstance(desc, str):
        raise located(TypeError, f"For 'add_schema', desc should be of type str, but got {desc!r}.")
    return Schema(fields, desc or "")


def _shape(sizes: list[Any]) -> tuple[int, ...]:
    for size in sizes:
        if not isinstance(size, int) or isinstance(size, bool):
            raise located(RuntimeError, f"For 'add_schema', a size must be number, but is {size!r}")
    if len(sizes) > _MOST_DIMENSIONS or sizes.count(-1) > 1 or any(n < -1 or not n for n in sizes):
        raise MRMBuildSchemaError
    return tuple(sizes)


def read_schema(entry: Any) -> Schema:
    """Make a schema of a file's header.

    Args:
        entry: ``{"blob_fields": [...], "desc": ..., "schema": {...}}``.

    Returns:
        The schema.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(entry, dict) or not isinstance(entry.get("desc", ""), str):
        raise ValueError("the schema of the header is none")
    try:
        schema = check_schema(entry.get("schema"), entry.get("desc"))
    except (
        MRMInvalidSchemaError,
        MRMBuildSchemaError,
        MRMAddSchemaError,
        TypeError,
        RuntimeError,
    ) as error:
        raise ValueError(f"the schema of the header is wrong: {error}") from None
    if entry.get("blob_fields") != [field.name for field in schema.blobs]:
        raise ValueError("the blob fields of the header are not those of its schema")
    return schema
