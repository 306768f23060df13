"""TFRecord files and the ``tf.train.Example`` messages in them, without TensorFlow."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

_POLYNOMIAL = 0x82F63B78  # CRC-32C, bits reversed
_MASK = 0xA282EAD8
_LENGTH = struct.Struct("<QI")
_SUM = struct.Struct("<I")
# Larger chunks are summed in so many parts at once.
_LANES = 256
_LEAST_LANES_BYTES = 8192


class FixedLenFeature(NamedTuple):
    """A feature of fixed length, as ``tf.io.FixedLenFeature`` describes it.

    Attributes:
        shape: its sizes: ``[]`` for a single value, ``[n]`` for n.
        dtype: ``"string"``, ``"int64"``, ``"float32"`` or another name of TensorFlow's types.
        default_value: what a message without it has; None for an error.
    """

    shape: list[int]
    dtype: Any
    default_value: Any = None


def _crc_table() -> np.ndarray:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = (table >> 1) ^ np.where(table & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
    return table


_TABLE = _crc_table()
_LIST = _TABLE.tolist()


def crc32c(data: bytes) -> int:
    """Compute the CRC-32C check sum.

    Args:
        data: the bytes.

    Returns:
        The sum, 32 bits.
    """
    state, start = 0xFFFFFFFF, 0
    if len(data) >= _LEAST_LANES_BYTES:
        length = len(data) // _LANES
        start = length * _LANES
        lanes = np.frombuffer(data, np.uint8, start).reshape(_LANES, length)
        sums = np.zeros(_LANES, np.uint32)
        units = np.uint32(1) << np.arange(32, dtype=np.uint32)
        for place in range(length):
            sums = _TABLE[(sums ^ lanes[:, place]) & 255] ^ (sums >> 8)
            # What ``length`` bytes of zero make of each bit of a sum: summing is linear.
            units = _TABLE[units & 255] ^ (units >> 8)
        moved = units.tolist()
        for lane in sums.tolist():
            shifted = 0
            while state:
                lowest = state & -state
                shifted ^= moved[lowest.bit_length() - 1]
                state ^= lowest
            state = shifted ^ lane
    for byte in data[start:]:
        state = _LIST[(state ^ byte) & 255] ^ (state >> 8)
    return state ^ 0xFFFFFFFF


def masked_crc(data: bytes) -> int:
    """Give the check sum that TFRecord files keep: a CRC-32C, turned and shifted."""
    value = crc32c(data)
    return ((value >> 15 | value << 17) + _MASK) & 0xFFFFFFFF


def read_records(path: str) -> Iterator[bytes]:
    """Read the records of a TFRecord file.

    Args:
        path: the file, not packed.

    Yields:
        Each record's bytes.

    Raises:
        ValueError: the file is cut off or damaged.
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        while head := file.read(_LENGTH.size):
            if len(head) != _LENGTH.size:
                raise ValueError(f"{path} is cut off")
            length, check = _LENGTH.unpack(head)
            if check != masked_crc(head[:8]) or length > size - file.tell() - _SUM.size:
                raise ValueError(f"{path} is damaged, or no TFRecord file")
            data, check = file.read(length), file.read(_SUM.size)
            if len(check) != _SUM.size or _SUM.unpack(check)[0] != masked_crc(data):
                raise ValueError(f"{path} is damaged")
            yield data


class Feature(NamedTuple):
    """The values of one feature.

    Attributes:
        kind: "string", "float32", "int64", or "" for a feature without a kind.
        values: byte strings, or an array.
    """

    kind: str
    values: list[bytes] | np.ndarray


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
        if shift > 63:
            raise ValueError("a record is no tf.train.Example: a number has more than 64 bits")


def _fields(data: bytes) -> list[tuple[int, int, bytes | int]]:
    """Give the fields of a protobuf message: number, wire type, and bytes or an integer."""
    found: list[tuple[int, int, bytes | int]] = []
    place, end = 0, len(data)
    while place < end:
        tag, place = _varint(data, place)
        number, wire = tag >> 3, tag & 7
        value: bytes | int
        if wire == 0:
            value, place = _varint(data, place)
        elif wire in (1, 2, 5):
            size = {1: 8, 5: 4}.get(wire)
            if size is None:
                size, place = _varint(data, place)
            value = data[place : place + size]
            place += size
        else:
            raise ValueError(f"a record is no tf.train.Example: no field has the wire type {wire}")
        if place > end or not number:
            raise ValueError("a record is no tf.train.Example: a field goes beyond the end")
        found.append((number, wire, value))
    return found


def _integers(packed: bytes) -> np.ndarray:
    """Decode packed varints."""
    data = np.frombuffer(packed, np.uint8)
    ends = np.flatnonzero(data < 128)
    if len(data) and (not len(ends) or ends[-1] != len(data) - 1):
        raise ValueError("a record is no tf.train.Example: a number goes beyond the end")
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    lengths = ends - starts + 1
    values = np.zeros(len(ends), np.uint64)
    for place in range(int(lengths.max(initial=0))):
        if place > 9:
            raise ValueError("a record is no tf.train.Example: a number has more than 64 bits")
        here = lengths > place
        bits = (data[starts[here] + place] & 127).astype(np.uint64)
        values[here] |= bits << np.uint64(7 * place)
    return values.view(np.int64)


def _feature(data: bytes) -> Feature:
    kind = ""
    found = b""
    # Protobuf: of a choice the last one counts.
    for number, wire, value in _fields(data):
        if wire == 2 and number in (1, 2, 3) and isinstance(value, bytes):
            kind, found = ("string", "float32", "int64")[number - 1], value
    listed = [(wire, value) for number, wire, value in _fields(found) if number == 1]
    if kind == "string":
        return Feature(kind, [value for _, value in listed if isinstance(value, bytes)])
    parts: list[np.ndarray] = [np.empty(0, np.float32 if kind == "float32" else np.int64)]
    for _, value in listed:
        if isinstance(value, int):
            parts.append(np.array([value], np.uint64).view(np.int64))
        else:
            parts.append(np.frombuffer(value, "<f4") if kind == "float32" else _integers(value))
    return Feature(kind, np.concatenate(parts))


def parse_features(data: bytes) -> dict[str, Feature]:
    """Read a ``tf.train.Example``.

    Args:
        data: its bytes.

    Returns:
        The features by name.

    Raises:
        ValueError: it is none.
    """
    features: dict[str, Feature] = {}
    try:
        for number, wire, part in _fields(data):
            if number != 1 or wire != 2 or not isinstance(part, bytes):
                continue
            for entry in _messages(part):
                name = b""
                feature = b""
                for key, _, value in _fields(entry):
                    assert isinstance(value, bytes)
                    name, feature = (value, feature) if key == 1 else (name, value)
                features[name.decode()] = _feature(feature)
    except (IndexError, AssertionError) as error:
        raise ValueError("a record is no tf.train.Example: it ends early") from error
    return features


def _messages(data: bytes) -> list[bytes]:
    return [value for number, _, value in _fields(data) if number == 1 and isinstance(value, bytes)]


def parse_example(data: bytes) -> dict[str, list[Any]]:
    """Read a ``tf.train.Example``.

    Args:
        data: the message.

    Returns:
        Feature to its values: ``bytes``, ``int`` or ``float``.

    Raises:
        ValueError: it is no such message.
    """
    return {
        name: values if isinstance(values, list) else values.tolist()
        for name, (_, values) in parse_features(data).items()
    }
