"""Where the records of TFRecord files lie, plain or packed, and whether their sums are right."""

from __future__ import annotations

import gzip
import mmap
import shutil
import struct
import tempfile
import zlib
from typing import IO

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.failures import pipeline_error
from mindjax.mindrecord.tf_example import masked_crc

COMPRESSIONS = ("", "GZIP", "ZLIB")
_HEAD = struct.Struct("<QI")
_FOOT = struct.Struct("<I")


def open_records(path: str, compression: str) -> bytes | mmap.mmap:
    """Give a file's records as one buffer, unpacked where it is compressed.

    Args:
        path: the file.
        compression: "", "GZIP" or "ZLIB".

    Returns:
        The buffer; it lies in memory only as far as it is read.

    Raises:
        RuntimeError: it cannot be read or unpacked.
    """
    try:
        with open(path, "rb") as file:
            packed = compression == "ZLIB" or (compression and file.peek(2)[:2] == b"\x1f\x8b")
            if not packed:
                return _mapped(file)
            with tempfile.TemporaryFile() as plain:
                if compression == "GZIP":
                    with gzip.GzipFile(fileobj=file) as unpacked:
                        shutil.copyfileobj(unpacked, plain)
                else:
                    _inflate(file, plain)
                plain.flush()
                return _mapped(plain)
    except (OSError, EOFError, zlib.error) as error:
        raise located(
            RuntimeError,
            f"Invalid file. The following files either cannot be opened, or are not valid "
            f"TFRecordDataset files: {path}: {error}.",
        ) from None


def _mapped(file: IO[bytes]) -> bytes | mmap.mmap:
    if not file.seek(0, 2):
        return b""
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _inflate(file: IO[bytes], plain: IO[bytes]) -> None:
    stream = zlib.decompressobj()
    while chunk := file.read(1 << 20):
        plain.write(stream.decompress(chunk))
    if not stream.eof:
        raise EOFError("the stream ends early")


def index_records(path: str, buffer: bytes | mmap.mmap) -> tuple[np.ndarray, np.ndarray]:
    """Find the records of a file.

    Args:
        path: the file, for messages.
        buffer: its bytes.

    Returns:
        Where each record's data begins and how long it is.

    Raises:
        RuntimeError: the file is empty, ends early, or a length has another checksum.
    """
    starts, sizes = [], []
    place, end = 0, len(buffer)
    while place < end or not end:
        head = buffer[place : place + _HEAD.size]
        number = len(starts)
        if len(head) < _HEAD.size:
            raise _broken(path, number, "it ends within a record's head")
        size, crc = _HEAD.unpack(head)
        if masked_crc(head[:8]) != crc:
            raise _broken(path, number, "its length has another checksum")
        place += _HEAD.size
        if size + _FOOT.size > end - place:
            raise _broken(path, number, f"{size} bytes are promised and {end - place} left")
        starts.append(place)
        sizes.append(size)
        place += size + _FOOT.size
    return np.array(starts, np.int64), np.array(sizes, np.int64)


def read_record(path: str, buffer: bytes | mmap.mmap, number: int, start: int, size: int) -> bytes:
    """Give the data of one record.

    Raises:
        RuntimeError: it has another checksum than the file says.
    """
    data = buffer[start : start + size]
    (crc,) = _FOOT.unpack(buffer[start + size : start + size + _FOOT.size])
    if masked_crc(data) != crc:
        raise pipeline_error(_text(path, number, "its data has another checksum"))
    return data


def _broken(path: str, number: int, what: str) -> Exception:
    return located(RuntimeError, _text(path, number, what))


def _text(path: str, number: int, what: str) -> str:
    return (
        "Invalid file. The following files either cannot be opened, or are not valid "
        f"TFRecordDataset files: {path}: record {number}: {what}."
    )
