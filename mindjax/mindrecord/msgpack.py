"""The MessagePack of MindRecord's raw pages: one flat map a row."""

from __future__ import annotations

import struct
from collections.abc import Mapping

Scalar = None | bool | int | float | str

_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_UNSIGNED = ((1 << 8, 0xCC), (1 << 16, 0xCD), (1 << 32, 0xCE), (1 << 64, 0xCF))
_SIGNED = ((1 << 7, 0xD0), (1 << 15, 0xD1), (1 << 31, 0xD2), (1 << 63, 0xD3))
_TEXTS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
_CONSTANTS: dict[int, Scalar] = {0xC0: None, 0xC2: False, 0xC3: True}


def _number(code: int, value: float) -> bytes:
    return bytes([code]) + struct.pack(_NUMBERS[code], value)


def _integer(value: int) -> bytes:
    if -32 <= value < 128:
        return bytes([value & 255])
    for limit, code in _UNSIGNED if value >= 0 else _SIGNED:
        if -limit <= value < limit:
            return _number(code, value)
    raise OverflowError(f"{value} does not fit 64 bits")


def _single(value: float) -> bool:
    try:
        return struct.unpack("f", struct.pack("f", value))[0] == value
    except OverflowError:
        return False


def _text(value: str) -> bytes:
    encoded = value.encode("utf-8")
    size = len(encoded)
    if size < 32:
        return bytes([0xA0 | size]) + encoded
    for limit, code in ((1 << 8, 0xD9), (1 << 16, 0xDA), (1 << 32, 0xDB)):
        if size < limit:
            return bytes([code]) + struct.pack(_TEXTS[code], size) + encoded
    raise OverflowError("a text of 4 GiB or more")


def pack(row: Mapping[str, int | float | str]) -> bytes:
    """Write one row.

    Args:
        row: name to value; a float is written with 32 bits where that loses nothing.

    Returns:
        The map, its keys sorted.

    Raises:
        OverflowError: an integer does not fit 64 bits.
        UnicodeEncodeError: a text has no UTF-8 form.
    """
    size = len(row)
    parts = [bytes([0x80 | size]) if size < 16 else b"\xde" + struct.pack(">H", size)]
    for name in sorted(row):
        value = row[name]
        parts.append(_text(name))
        if isinstance(value, str):
            parts.append(_text(value))
        elif isinstance(value, float):
            parts.append(_number(0xCA if _single(value) else 0xCB, value))
        else:
            parts.append(_integer(value))
    return b"".join(parts)


def unpack(data: bytes) -> dict[str, Scalar]:
    """Read one row.

    Args:
        data: a whole map of texts to numbers and texts.

    Returns:
        Name to value.

    Raises:
        ValueError: ``data`` is no such map, or something follows it.
    """
    try:
        at = 1
        size = data[0] & 15
        if data[0] == 0xDE:
            size, at = struct.unpack_from(">H", data, 1)[0], 3
        elif data[0] & 0xF0 != 0x80:
            raise ValueError("a row is no map")
        row: dict[str, Scalar] = {}
        for _ in range(size):
            name, at = _value(data, at)
            if not isinstance(name, str):
                raise ValueError("a field's name is no text")
            row[name], at = _value(data, at)
    except (IndexError, struct.error):
        raise ValueError("a row is cut off") from None
    if at != len(data):
        raise ValueError("a row has another length than it says")
    return row


def _value(data: bytes, at: int) -> tuple[Scalar, int]:
    code = data[at]
    at += 1
    if code < 0x80:
        return code, at
    if code >= 0xE0:
        return code - 256, at
    if code in _NUMBERS:
        form = _NUMBERS[code]
        return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)
    if code in _CONSTANTS:
        return _CONSTANTS[code], at
    if code & 0xE0 == 0xA0:
        size = code & 31
    elif code in _TEXTS:
        form = _TEXTS[code]
        (size,) = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
    else:
        raise ValueError(f"a value has the unknown code {code:#x}")
    if at + size > len(data):
        raise ValueError("a row is cut off")
    return data[at : at + size].decode("utf-8"), at + size
