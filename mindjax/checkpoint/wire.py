"""The wire format of protocol buffers: varints, tagged fields, bounds-checked reading."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MASK = (1 << 64) - 1


class WireError(ValueError):
    """The bytes are not a well-formed message."""


def varint(number: int) -> bytes:
    """Encode an integer; a negative one takes ten bytes, as int64 does."""
    number &= _MASK
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def integer(number: int, value: int) -> bytes:
    """Encode field ``number`` with an integer value."""
    return varint(number << 3 | VARINT) + varint(value)


def prefix(number: int, size: int) -> bytes:
    """Encode the head of field ``number``, which ``size`` bytes follow."""
    return varint(number << 3 | BYTES) + varint(size)


def read_varint(buffer: bytes | memoryview, at: int, end: int) -> tuple[int, int]:
    """Decode the unsigned integer that begins at ``at``.

    Args:
        buffer: the message.
        at: offset of the first byte.
        end: offset behind the last byte that may be read.

    Returns:
        The integer and the offset behind it.

    Raises:
        WireError: the integer runs past ``end`` or over 64 bits.
    """
    value = shift = 0
    while at < end and shift < 70:
        byte = buffer[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK, at
        shift += 7
    raise WireError("an integer is cut off")


def signed(value: int) -> int:
    """Read an unsigned varint as int64."""
    return value - (1 << 64) if value >> 63 else value


def fields(buffer: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Walk over the fields of one message.

    Args:
        buffer: the whole message.

    Yields:
        Field number and value: an unsigned int for a varint, else the field's bytes.

    Raises:
        WireError: the message is cut off or not a message.
    """
    at, end = 0, len(buffer)
    while at < end:
        tag, at = read_varint(buffer, at, end)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise WireError("a field has the number 0")
        if kind == VARINT:
            value, at = read_varint(buffer, at, end)
            yield number, value
            continue
        if kind == BYTES:
            size, at = read_varint(buffer, at, end)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise WireError(f"a field has the unknown kind {kind}")
        if size > end - at:
            raise WireError("a field is cut off")
        yield number, buffer[at : at + size]
        at += size
