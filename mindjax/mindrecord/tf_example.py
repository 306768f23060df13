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


def _masked(data: bytes) -> int:
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
            if check != _masked(head[:8]) or length > size - file.tell() - _SUM.size:
                raise ValueError(f"{path} is damaged, or no TFRecord file")
            data, check = file.read(length), file.read(_SUM.size)
            if len(check) != _SUM.size or _SUM.unpack(check)[0] != _masked(data):
                raise ValueError(f"{path} is damaged")
            yield data


def parse_example(data: bytes) -> dict[str, list[Any]]:
    """Read a ``tf.train.Example``.

    Args:
        data: the message.

    Returns:
        Feature to its values: ``bytes``, ``int`` or ``float``.

    Raises:
        ValueError: it is no such message.
    """
    features: dict[str, list[Any]] = {}
    try:
        for number, block in _fields(data):
            for inner, entry in _fields(block) if number == 1 else ():
                if inner == 1:
                    parts = dict(_fields(entry))
                    features[parts[1].decode("utf-8")] = _values(parts.get(2, b""))
    except (IndexError, KeyError, AttributeError, TypeError, struct.error) as error:
        raise ValueError(f"a record is no tf.train.Example: {error}") from None
    return features


def _values(feature: bytes) -> list[Any]:
    values: list[Any] = []
    for kind, block in _fields(feature):
        for number, value in _fields(block):
            if number != 1:
                continue
            if kind == 1:
                values.append(value)
            elif kind == 2:
                values += np.frombuffer(value, "<f4").tolist()
            elif isinstance(value, int):
                values.append(_signed(value))
            else:
                at = 0
                while at < len(value):
                    one, at = _varint(value, at)
                    values.append(_signed(one))
    return values


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if wire == 2:
            size, at = _varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError(f"a record is no tf.train.Example: wire type {wire}")
        if at + size > len(data):
            raise ValueError("a record is cut off")
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a record is no tf.train.Example: a number is too long")


def _signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
