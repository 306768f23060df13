"""Writing rows to the pages of one shard."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import IO

from mindjax.core.errors import located
from mindjax.mindrecord.header import BLOB, PAGE_SIZES, RAW, Header, Page

_LENGTH = struct.Struct("<Q")


class PageWriter:
    """Appends rows to a shard.

    The rows whose blobs share a blob page are a row group; their raw halves lie one after the
    other in one raw page. A group that outgrows its raw page moves to a new one whole.

    Args:
        file: the shard, open for writing and reading.
        header: its header, whose pages are kept up to date.
    """

    def __init__(self, file: IO[bytes], header: Header) -> None:
        self._file, self._header = file, header
        self._blob, self._raw = header.last(BLOB), header.last(RAW)

    def append(self, raws: Sequence[bytes], blobs: Sequence[bytes]) -> None:
        """Append rows.

        Args:
            raws: their raw halves.
            blobs: their blob halves.

        Raises:
            RuntimeError: a row is larger than a page.
        """
        for what, halves in (("blob", blobs), ("raw", raws)):
            if max(map(len, halves), default=0) + _LENGTH.size > self._header.page_size:
                raise located(
                    RuntimeError,
                    f"Invalid data, Page size: {self._header.page_size} is too small to save a "
                    f"{what} row. Please try to use the mindrecord api 'set_page_size(value)' to "
                    f"enable larger page size, and the value range is in [{PAGE_SIZES[0]} bytes, "
                    f"{PAGE_SIZES[1]} bytes].",
                )
        raws = [_LENGTH.pack(len(half)) + half for half in raws]
        blobs = [_LENGTH.pack(len(half)) + half for half in blobs]
        groups = list(self._groups(raws, blobs))
        last = -1 if self._raw is None else self._raw.groups[-1][0]
        for turn, (start, stop) in enumerate(groups):
            if start < stop:
                self._append_blobs(blobs[start:stop], new=turn > 0)
        start, stop = groups[0]
        if start < stop:
            self._keep_group_whole(sum(map(len, raws[start:stop])))
        for turn, (start, stop) in enumerate(groups):
            if start < stop:
                last += turn > 0
                self._append_raws(raws[start:stop], last if turn > 0 else None)

    def _groups(self, raws: Sequence[bytes], blobs: Sequence[bytes]) -> Iterator[tuple[int, int]]:
        """Cut rows into groups; the first one, which may be empty, belongs to the open page."""
        most, start = self._header.page_size, 0
        blob_size = 0 if self._blob is None else self._blob.size
        raw_size = 0 if self._raw is None else self._raw.size - self._raw.groups[-1][1]
        for place, (raw, blob) in enumerate(zip(raws, blobs, strict=True)):
            if not blob_size or blob_size + len(blob) > most or raw_size + len(raw) > most:
                yield start, place
                start, blob_size, raw_size = place, 0, 0
            blob_size += len(blob)
            raw_size += len(raw)
        yield start, len(raws)

    def _append_blobs(self, blobs: Sequence[bytes], new: bool) -> None:
        page = self._blob
        if new or page is None:
            number, row = (0, 0) if page is None else (page.kind_number + 1, page.stop)
            page = self._blob = self._header.add_page(BLOB, number, row)
        self._write(page, blobs)
        page.stop += len(blobs)

    def _append_raws(self, raws: Sequence[bytes], group: int | None) -> None:
        page = self._raw
        if page is None or page.size + sum(map(len, raws)) > self._header.page_size:
            page = self._new_raw_page()
        if group is not None:
            page.groups.append((group, page.size))
        self._write(page, raws)

    def _keep_group_whole(self, size: int) -> None:
        """Move the last group to a page of its own if ``size`` bytes more do not fit."""
        old = self._raw
        assert old is not None
        if old.size + size <= self._header.page_size:
            return
        group, offset = old.groups.pop()
        self._file.seek(self._header.page_start(old.number) + offset)
        moved = self._file.read(old.size - offset)
        old.size = offset
        page = self._new_raw_page()
        page.groups.append((group, 0))
        self._write(page, [moved])

    def _new_raw_page(self) -> Page:
        # MindSpore numbers raw pages after the place of the one before.
        number = 0 if self._raw is None else self._raw.number + 1
        self._raw = self._header.add_page(RAW, number)
        return self._raw

    def _write(self, page: Page, chunks: Sequence[bytes]) -> None:
        data = b"".join(chunks)
        self._file.seek(self._header.page_start(page.number) + page.size)
        self._file.write(data)
        page.size += len(data)


def rows_of(file: IO[bytes], header: Header) -> Iterator[tuple[list[int], bytes]]:
    """Find the rows of a shard by its pages alone, in the order of their numbers.

    Args:
        file: the shard, open for reading.
        header: its header.

    Yields:
        Of each row: page, start and end of its raw half, its row group, page, start and end of its
        blob half; and the raw half.

    Raises:
        ValueError: the pages are damaged.
    """
    blobs = {page.kind_number: page for page in header.pages if page.kind == BLOB}
    for page in header.pages:
        if page.kind != RAW:
            continue
        file.seek(header.page_start(page.number))
        data = file.read(page.size)
        ends = [offset for _, offset in page.groups[1:]] + [page.size]
        for (group, at), end in zip(page.groups, ends, strict=True):
            blob = blobs.get(group)
            if blob is None:
                raise ValueError("a row group has no blob page")
            places = _blobs(file, header, blob)
            while at < end:
                stop = _stop(data[at : at + _LENGTH.size], at, end)
                start, blob_stop = next(places, (-1, -1))
                if start < 0:
                    raise ValueError("a blob page has fewer rows than its raw page")
                yield (
                    [page.number, at, stop, group, blob.number, start, blob_stop],
                    data[at + _LENGTH.size : stop],
                )
                at = stop


def _blobs(file: IO[bytes], header: Header, page: Page) -> Iterator[tuple[int, int]]:
    at, start = 0, header.page_start(page.number)
    while at < page.size:
        file.seek(start + at)
        stop = _stop(file.read(_LENGTH.size), at, page.size)
        yield at, stop
        at = stop


def _stop(prefix: bytes, at: int, end: int) -> int:
    size = _LENGTH.unpack(prefix)[0] if len(prefix) == _LENGTH.size else end
    if at + _LENGTH.size + size > end:
        raise ValueError("a row reaches beyond its page")
    return at + _LENGTH.size + size
