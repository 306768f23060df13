"""The packed form of integer arrays: a width of 1, 2, 4 or 8 bytes for each number.

The count (32 bits, big-endian), two bits of width a number (the first one in the highest bits of a
byte), then the numbers themselves, little-endian and signed.
"""

from __future__ import annotations

import numpy as np

_COUNT = 4
_SHIFTS = np.array([6, 4, 2, 0], np.uint8)


def pack_integers(array: np.ndarray) -> bytes:
    """Pack an array.

    Args:
        array: int32 or int64, of any shape.

    Returns:
        The packed numbers, in C order.
    """
    flat = np.ascontiguousarray(array).reshape(-1).astype(np.int64)
    codes = np.zeros(len(flat), np.uint8)
    for code, bits in ((1, 7), (2, 15), (3, 31)):
        codes[(flat < -(1 << bits)) | (flat >= 1 << bits)] = code
    padded = np.zeros(-(-len(flat) // 4) * 4, np.uint8)
    padded[: len(flat)] = codes
    widths = np.bitwise_or.reduce(padded.reshape(-1, 4) << _SHIFTS, axis=1)
    # Of the eight bytes of each number, the first ones up to its width.
    kept = np.arange(8) < (1 << codes.astype(np.int64))[:, None]
    numbers = flat.astype("<i8").view(np.uint8).reshape(-1, 8)[kept]
    return len(flat).to_bytes(_COUNT, "big") + widths.tobytes() + numbers.tobytes()


def unpack_integers(data: bytes, dtype: str) -> np.ndarray:
    """Unpack an array.

    Args:
        data: what `pack_integers` gave.
        dtype: ``"int32"`` or ``"int64"``.

    Returns:
        The numbers, flat.

    Raises:
        ValueError: ``data`` is cut off or too long, or a number does not fit ``dtype``.
    """
    count = int.from_bytes(data[:_COUNT], "big")
    start = _COUNT + -(-count // 4)
    if len(data) < start + count:
        raise ValueError("an array of integers is cut off")
    if count and data[_COUNT:start] == _same_widths(count, data[_COUNT] >> 6):
        width = 1 << (data[_COUNT] >> 6)
        if start + count * width != len(data):
            raise ValueError("an array of integers has another length than it says")
        return _checked(np.frombuffer(data, f"<i{width}", count, start), dtype)
    packed = np.frombuffer(data, np.uint8, start - _COUNT, _COUNT)
    codes = (packed[:, None] >> _SHIFTS & 3).reshape(-1)[:count]
    sizes = 1 << codes.astype(np.int64)
    if start + int(sizes.sum()) != len(data):
        raise ValueError("an array of integers has another length than it says")
    numbers = np.frombuffer(data, np.uint8, offset=start)
    values = np.empty(count, np.int64)
    places = np.cumsum(sizes) - sizes
    for code in np.unique(codes):
        chosen = codes == code
        taken = numbers[places[chosen, None] + np.arange(1 << int(code))]
        values[chosen] = np.ascontiguousarray(taken).view(f"<i{1 << int(code)}")[:, 0]
    return _checked(values, dtype)


def _same_widths(count: int, code: int) -> bytes:
    """Give the widths of numbers that are all of one width."""
    whole, left = divmod(count, 4)
    byte = code * 0x55
    return bytes([byte]) * whole + (bytes([byte & 0xFF00 >> 2 * left & 0xFF]) if left else b"")


def _checked(values: np.ndarray, dtype: str) -> np.ndarray:
    small = dtype == "int32" and values.itemsize == 8 and len(values)
    if small and (values.min() < -(1 << 31) or values.max() >= 1 << 31):
        raise ValueError("a number does not fit int32")
    return values.astype(dtype)
