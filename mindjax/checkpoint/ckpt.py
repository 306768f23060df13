"""The ``.ckpt`` file format: what a file holds, as names and numpy arrays, and back."""

from __future__ import annotations

import contextlib
import mmap
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NamedTuple, Protocol

import numpy as np

from mindjax.checkpoint import wire
from mindjax.core.allocator import fresh
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


class Int4(np.ndarray):
    """An int8 array whose bytes are of the type ``Int4`` (the original's ``qint4x2``)."""


class Writes(Protocol):
    """What a checkpoint is written to: a binary file, or what stands before one."""

    def write(self, chunk: bytes | memoryview, /) -> object:
        """Take further bytes."""
        ...


class Span(NamedTuple):
    """Where bytes stand in the file."""

    start: int
    stop: int


class Piece(NamedTuple):
    """One stored value, which is a slice when a tensor is large."""

    name: str
    dims: tuple[int, ...]
    kind: str
    content: Span


def type_name(array: np.ndarray) -> str:
    """Give the name under which the format stores an array's dtype, such as ``"Float32"``."""
    return "Int4" if isinstance(array, Int4) else from_np(array.dtype).name


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


def write(file: Writes, entries: Iterable[tuple[str, Content]], crc_check: bool) -> None:
    """Write a checkpoint.

    Args:
        file: what takes the bytes.
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
    file: IO[bytes],
    crc_check: bool = False,
    wanted: Wanted | None = None,
    mapped: bool = False,
) -> dict[str, Content]:
    """Read a checkpoint.

    Args:
        file: binary file, open for reading and seekable.
        crc_check: whether the check sum, if the file has one, is compared.
        wanted: tells by its name whether a value is kept; all are by default.
        mapped: whether arrays that stand in one piece are read-only views of the mapped file, which
            nobody may shorten then.

    Returns:
        Names and values in the file's order.

    Raises:
        CkptError: the file is cut off, damaged, encrypted or something else than a checkpoint.
    """
    expected, end = _trailer(file)
    read_ahead(file)
    if is_encrypted(file):
        raise CkptError("it is encrypted: give its key as 'dec_key'")
    if crc_check and expected is not None and _crc(file, end) != expected:
        raise CkptError("the crc check is failed")
    found: dict[str, Content] = {}
    pieces: list[Piece] = []
    view = map_file(file) if mapped else None
    try:
        for piece in _pieces(file, end):
            if pieces and piece.name != pieces[0].name:
                _add(found, file, pieces, view)
                pieces = []
            if wanted is None or wanted(piece.name):
                pieces.append(piece)
        if pieces:
            _add(found, file, pieces, view)
    except (wire.WireError, UnicodeDecodeError) as error:
        raise CkptError(f"the content cannot be parsed: {error}") from error
    return found


def read_ahead(file: IO[bytes]) -> None:
    """Tell the system, where it takes advice, that a file is read from start to end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)


def map_file(file: IO[bytes]) -> memoryview | None:
    """Map a file into memory; None for an empty one and for what is no file of the system."""
    try:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):
        return None


def is_encrypted(file: IO[bytes]) -> bool:
    """Tell from its first bytes whether a file, open for reading, is encrypted."""
    file.seek(0)
    return file.read(4) in _CIPHER_HEADS


def has_crc(file: IO[bytes]) -> bool:
    """Tell whether a file, open for reading, ends with a check sum."""
    return _trailer(file)[0] is not None


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


def _crc(file: IO[bytes], end: int) -> int:
    file.seek(0)
    crc, left = 0, end
    while left:
        chunk = file.read(min(left, 1 << 20))
        if not chunk:
            raise CkptError("it became shorter while it was read")
        crc = zlib.crc32(chunk, crc)
        left -= len(chunk)
    return crc


def _pieces(file: IO[bytes], end: int) -> Iterator[Piece]:
    """Find value after value; the contents stay in the file."""
    for number, value in _fields(file, Span(0, end)):
        if number != 1 or not isinstance(value, Span):
            raise wire.WireError("it does not look as a checkpoint does")
        yield _piece(file, value)


def _piece(file: IO[bytes], value: Span) -> Piece:
    name, tensor = "", None
    for number, part in _fields(file, value):
        if number == 1:
            name = _bytes(file, part).decode()
        elif number == 2:
            tensor = _span(part)
        elif number == 3:
            raise CkptError(
                f"'{name}' is a map parameter, which MindJAX cannot read: save the file without it"
            )
    if tensor is None:
        raise wire.WireError(f"'{name}' has no tensor")
    dims: list[int] = []
    kind, content = "", Span(0, 0)
    for number, part in _fields(file, tensor):
        if number == 1:
            dims += [part] if isinstance(part, int) else _packed(_bytes(file, part))
        elif number == 2:
            kind = _bytes(file, part).decode()
        elif number == 3:
            content = _span(part)
    return Piece(name, tuple(wire.signed(dim) for dim in dims), kind, content)


def _fields(file: IO[bytes], message: Span) -> Iterator[tuple[int, int | Span]]:
    """Walk over a message in the file: numbers as they are, everything else as its place."""
    at, stop = message
    while at < stop:
        file.seek(at)
        head = file.read(min(20, stop - at))
        tag, used = wire.read_varint(head, 0, len(head))
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise wire.WireError("a field has the number 0")
        if kind == wire.VARINT:
            value, used = wire.read_varint(head, used, len(head))
            at += used
            yield number, value
            continue
        if kind == wire.BYTES:
            size, used = wire.read_varint(head, used, len(head))
        elif kind in (wire.FIXED64, wire.FIXED32):
            size = 8 if kind == wire.FIXED64 else 4
        else:
            raise wire.WireError(f"a field has the unknown kind {kind}")
        at += used
        if size > stop - at:
            raise wire.WireError("it is cut off")
        yield number, Span(at, at + size)
        at += size


def _span(value: int | Span) -> Span:
    if isinstance(value, int):
        raise wire.WireError("a field has the wrong kind")
    return value


def _bytes(file: IO[bytes], value: int | Span) -> bytes:
    start, stop = _span(value)
    file.seek(start)
    return file.read(stop - start)


def _packed(value: bytes) -> list[int]:
    numbers, at = [], 0
    while at < len(value):
        number, at = wire.read_varint(value, at, len(value))
        numbers.append(number)
    return numbers


def _add(
    found: dict[str, Content], file: IO[bytes], pieces: list[Piece], view: memoryview | None
) -> None:
    first = pieces[0]
    if first.kind == "str":
        found[first.name] = _text(
            first.name, b"".join(_bytes(file, piece.content) for piece in pieces)
        )
    else:
        found[first.name] = _array(first, file, [piece.content for piece in pieces], view)


def _text(name: str, raw: bytes) -> str:
    if len(raw) % 4:
        raise CkptError(f"the text '{name}' is cut off")
    try:
        return raw.decode("utf-32-le").rstrip("\0")
    except UnicodeDecodeError:
        raise CkptError(f"'{name}' is not text") from None


def _array(piece: Piece, file: IO[bytes], spans: list[Span], view: memoryview | None) -> np.ndarray:
    dtype = np.dtype(np.int8) if piece.kind == "Int4" else _NP_TYPES.get(piece.kind)
    if dtype is None:
        raise CkptError(f"'{piece.name}' has the unknown type '{piece.kind}'")
    size = sum(stop - start for start, stop in spans)
    # The original stores a scalar without dims, and reads dims [0] as a scalar too.
    dims = () if piece.dims == (0,) and size else piece.dims
    count = 1
    for dim in dims:
        count *= dim
    if any(dim < 0 for dim in dims) or count * dtype.itemsize != size:
        raise CkptError(
            f"'{piece.name}' has {size} bytes, but its shape {dims} and type {piece.kind} need "
            f"{count * dtype.itemsize}"
        )
    try:
        if view is not None and len(spans) == 1:
            array = viewed(view, spans[0], dtype, dims)
        else:
            array = fresh(dims, dtype)
    except (ValueError, OverflowError):
        raise CkptError(f"'{piece.name}' has the impossible shape {dims}") from None
    if array.flags.writeable:
        at = 0
        for span in spans:
            fill(file, span, array, at)
            at += span.stop - span.start
    return array.view(Int4) if piece.kind == "Int4" else array


def viewed(view: memoryview, span: Span, dtype: np.dtype[Any], dims: tuple[int, ...]) -> np.ndarray:
    """Give a read-only array of bytes in memory, which need not be aligned."""
    return np.frombuffer(view[span.start : span.stop], dtype).reshape(dims)


def fill(file: IO[bytes], span: Span, array: np.ndarray, at: int = 0) -> None:
    """Read bytes of a file straight into an array.

    Args:
        file: binary file, open for reading and seekable.
        span: what is read.
        array: contiguous array of any shape.
        at: offset of the first byte in the array's memory.

    Raises:
        CkptError: the file ends before.
    """
    left = span.stop - span.start
    if not left:
        return
    file.seek(span.start)
    view = array.reshape(-1).view(np.uint8).data[at : at + left]
    while left:
        got = file.readinto(view[-left:])  # type: ignore[attr-defined]
        if not got:
            raise CkptError("it became shorter while it was read")
        left -= got
