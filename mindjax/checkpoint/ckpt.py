"""The ``.ckpt`` file format: what a file holds, as names and numpy arrays, and back."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, NamedTuple

import numpy as np

from mindjax.checkpoint import wire
from mindjax.core.dtype import NUMBERS, from_np

# A tensor above this many bytes is stored as several consecutive values with one name.
SLICE_BYTES = 512 << 20
TRAILER = b"crc_num"
_TRAILER_BYTES = len(TRAILER) + 10
# The original's encrypted containers begin with one of these.
_CIPHER_HEADS = tuple(magic.to_bytes(4, "little") for magic in (0x7F3A5ED8, 0x7F3A5ED9, 0x7F3A5EDA))
_NP_TYPES = {dtype.name: dtype.np for dtype in NUMBERS}

Content = np.ndarray | str
Wanted = Callable[[str], bool]


class CkptError(ValueError):
    """The file is not a readable checkpoint; the message says why."""


class Piece(NamedTuple):
    """One stored value, which is a slice when a tensor is large."""

    name: str
    dims: tuple[int, ...]
    kind: str
    content: memoryview


def type_name(array: np.ndarray) -> str:
    """Give the name under which the format stores an array's dtype, such as ``"Float32"``."""
    return from_np(array.dtype).name


def encode(name: str, content: Content) -> Iterator[bytes | memoryview]:
    """Encode one named value as the bytes that stand in the file.

    Args:
        name: name of the parameter.
        content: array of any shape, or text.

    Yields:
        Chunks of at most 512 MiB, to be written one after the other; none for an empty array,
        which the format leaves out.
    """
    if isinstance(content, str):
        kind, dims = "str", (0,)
        raw = memoryview(np.array(content).astype("<U").tobytes())
    else:
        kind, dims = type_name(content), content.shape
        raw = np.ascontiguousarray(content).reshape(-1).view(np.uint8).data
    tag = name.encode()
    head = (
        b"".join(wire.integer(1, dim) for dim in dims) + wire.prefix(2, len(kind)) + kind.encode()
    )
    for start in range(0, len(raw), SLICE_BYTES):
        piece = raw[start : start + SLICE_BYTES]
        tensor = head + wire.prefix(3, len(piece))
        value = wire.prefix(1, len(tag)) + tag + wire.prefix(2, len(tensor) + len(piece)) + tensor
        yield wire.prefix(1, len(value) + len(piece)) + value
        yield piece


def write(file: IO[bytes], entries: Iterable[tuple[str, Content]], crc_check: bool) -> None:
    """Write a checkpoint.

    Args:
        file: binary file, open for writing.
        entries: names and values, in the file's order.
        crc_check: whether a check sum of everything ends the file.
    """
    crc = 0
    for name, content in entries:
        for chunk in encode(name, content):
            if crc_check:
                crc = zlib.crc32(chunk, crc)
            file.write(chunk)
    if crc_check:
        file.write(TRAILER + crc.to_bytes(10, "big"))


def read(
    file: IO[bytes], crc_check: bool = False, wanted: Wanted | None = None
) -> dict[str, Content]:
    """Read a checkpoint.

    Args:
        file: binary file, open for reading and seekable.
        crc_check: whether the check sum, if the file has one, is compared.
        wanted: tells by its name whether a value is kept; all are by default.

    Returns:
        Names and values in the file's order.

    Raises:
        CkptError: the file is cut off, damaged, encrypted or something else than a checkpoint.
    """
    expected, end = _trailer(file)
    file.seek(0)
    if file.read(4) in _CIPHER_HEADS:
        raise CkptError("it is encrypted: decrypt it first")
    file.seek(0)
    check = _Crc() if crc_check and expected is not None else None
    found: dict[str, Content] = {}
    pieces: list[Piece] = []
    try:
        for piece in _pieces(file, end, check):
            if pieces and piece.name != pieces[0].name:
                _add(found, pieces)
                pieces = []
            if wanted is None or wanted(piece.name):
                pieces.append(piece)
        if pieces:
            _add(found, pieces)
    except (wire.WireError, UnicodeDecodeError) as error:
        raise CkptError(f"the content cannot be parsed: {error}") from error
    if check is not None and check.value != expected:
        raise CkptError("the crc check is failed")
    return found


def has_crc(path: str) -> bool:
    """Tell whether a file ends with a check sum."""
    with open(path, "rb") as file:
        return _trailer(file)[0] is not None


class _Crc:
    """A running check sum."""

    value = 0

    def add(self, chunk: bytes) -> None:
        self.value = zlib.crc32(chunk, self.value)


def _trailer(file: IO[bytes]) -> tuple[int | None, int]:
    """Find the stored check sum, or None, and where the values end."""
    size = file.seek(0, os.SEEK_END)
    if size < _TRAILER_BYTES:
        return None, size
    file.seek(size - _TRAILER_BYTES)
    tail = file.read(_TRAILER_BYTES)
    if not tail.startswith(TRAILER):
        return None, size
    return int.from_bytes(tail[len(TRAILER) :], "big"), size - _TRAILER_BYTES


def _pieces(file: IO[bytes], end: int, check: _Crc | None) -> Iterator[Piece]:
    """Read value after value, so that no more than one is in memory besides the arrays."""
    at = 0
    while at < end:
        file.seek(at)
        head = file.read(min(20, end - at))
        tag, used = wire.read_varint(head, 0, len(head))
        if tag != 1 << 3 | wire.BYTES:
            raise wire.WireError("it does not begin as a checkpoint does")
        size, used = wire.read_varint(head, used, len(head))
        if size > end - at - used:
            raise wire.WireError("it is cut off")
        file.seek(at + used)
        body = file.read(size)
        if len(body) != size:
            raise wire.WireError("it is cut off")
        if check is not None:
            check.add(head[:used])
            check.add(body)
        yield _piece(memoryview(body))
        at += used + size


def _piece(body: memoryview) -> Piece:
    name, tensor = "", None
    for number, value in wire.fields(body):
        if number == 1:
            name = _bytes(value).decode()
        elif number == 2:
            tensor = _view(value)
        elif number == 3:
            raise CkptError(
                f"'{name}' is a map parameter, which MindJAX cannot read: save the file without it"
            )
    if tensor is None:
        raise wire.WireError(f"'{name}' has no tensor")
    dims: list[int] = []
    kind, content = "", memoryview(b"")
    for number, value in wire.fields(tensor):
        if number == 1:
            dims += [value] if isinstance(value, int) else _packed(value)
        elif number == 2:
            kind = _bytes(value).decode()
        elif number == 3:
            content = _view(value)
    return Piece(name, tuple(wire.signed(dim) for dim in dims), kind, content)


def _view(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise wire.WireError("a field has the wrong kind")
    return value


def _bytes(value: int | memoryview) -> bytes:
    return bytes(_view(value))


def _packed(value: memoryview) -> list[int]:
    numbers, at = [], 0
    while at < len(value):
        number, at = wire.read_varint(value, at, len(value))
        numbers.append(number)
    return numbers


def _add(found: dict[str, Content], pieces: list[Piece]) -> None:
    first = pieces[0]
    raw = first.content if len(pieces) == 1 else b"".join(piece.content for piece in pieces)
    found[first.name] = _text(first.name, raw) if first.kind == "str" else _array(first, raw)


def _text(name: str, raw: bytes | memoryview) -> str:
    if len(raw) % 4:
        raise CkptError(f"the text '{name}' is cut off")
    try:
        return bytes(raw).decode("utf-32-le").rstrip("\0")
    except UnicodeDecodeError:
        raise CkptError(f"'{name}' is not text") from None


def _array(piece: Piece, raw: bytes | memoryview) -> np.ndarray:
    if piece.kind == "Int4":
        raise NotImplementedError(
            f"'{piece.name}' has the type Int4, which MindJAX cannot read: leave it out with "
            "'choice_func', or convert it to Int8 in the original"
        )
    dtype = _NP_TYPES.get(piece.kind)
    if dtype is None:
        raise CkptError(f"'{piece.name}' has the unknown type '{piece.kind}'")
    # The original stores a scalar without dims, and reads dims [0] as a scalar too.
    dims = () if piece.dims == (0,) and len(raw) else piece.dims
    count = 1
    for dim in dims:
        count *= dim
    if any(dim < 0 for dim in dims) or count * dtype.itemsize != len(raw):
        raise CkptError(
            f"'{piece.name}' has {len(raw)} bytes, but its shape {dims} and type {piece.kind} "
            f"need {count * dtype.itemsize}"
        )
    # The copy is aligned and writable, and lets the bytes of the file go.
    return np.frombuffer(raw, dtype).reshape(dims).copy()
