"""The header of a MindRecord file: its schema, its pages, and the names of its other shards."""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass, field
from typing import IO, Any

from mindjax.mindrecord.schema import Schema, read_schema

HEADER_SIZES = (1 << 14, 1 << 27)
PAGE_SIZES = (1 << 15, 1 << 28)
DEFAULT_HEADER_SIZE = 1 << 24
DEFAULT_PAGE_SIZE = 1 << 25
MAX_SHARD_COUNT = 1000
BLOB, RAW = "BLOB_DATA", "RAW_DATA"
_VERSION = "3.0"
_LENGTH = struct.Struct("<Q")


@dataclass
class Page:
    """One page of a file.

    Attributes:
        number: place in the file.
        kind: `BLOB` or `RAW`.
        kind_number: of a blob page, its number among them, which is its row group's number.
        size: bytes in use.
        start: of a blob page, its first row.
        stop: of a blob page, the row after its last one.
        groups: of a raw page, row groups and where they begin in it.
    """

    number: int
    kind: str
    kind_number: int
    size: int = 0
    start: int = 0
    stop: int = 0
    groups: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Header:
    """The header of one shard.

    Attributes:
        schema: the fields of a row; None until the user has added it.
        index_fields: the fields that the index holds, in order.
        header_size: bytes before the first page.
        page_size: bytes of a page.
        pages: the pages, by number.
        compression_size: bytes that packing integers saved.
        shards: file names of all shards, in order.
        shard: place of this file among them.
        statistics: what older versions put there.
    """

    schema: Schema | None = None
    index_fields: list[str] = field(default_factory=list)
    header_size: int = DEFAULT_HEADER_SIZE
    page_size: int = DEFAULT_PAGE_SIZE
    pages: list[Page] = field(default_factory=list)
    compression_size: int = 0
    shards: list[str] = field(default_factory=list)
    shard: int = 0
    statistics: Any = None

    def page_start(self, number: int) -> int:
        """Give the place of a page in the file."""
        return self.header_size + number * self.page_size

    def last(self, kind: str) -> Page | None:
        """Give the last page of a kind, or None."""
        return next((page for page in reversed(self.pages) if page.kind == kind), None)

    def add_page(self, kind: str, kind_number: int, start: int = 0) -> Page:
        """Append an empty page."""
        page = Page(len(self.pages), kind, kind_number, start=start, stop=start)
        if kind == BLOB:
            page.groups = [(0, 0)]
        else:
            page.stop = 0
        self.pages.append(page)
        return page

    def rows(self) -> int:
        """Count the rows."""
        return sum(page.stop - page.start for page in self.pages if page.kind == BLOB)

    def to_bytes(self) -> bytes:
        """Write the header as it begins the file.

        Raises:
            ValueError: it is longer than `header_size`.
        """
        assert self.schema is not None
        pages = [
            {
                "end_row_id": page.stop,
                "page_id": page.number,
                "page_size": page.size,
                "page_type": page.kind,
                "page_type_id": page.kind_number,
                "row_group_ids": [{"id": group, "offset": at} for group, at in page.groups],
                "shard_id": self.shard,
                "start_row_id": page.start,
            }
            for page in self.pages
        ]
        text = json.dumps(
            {
                "header_size": self.header_size,
                "index_fields": [
                    {"index_field": name, "schema_id": 0} for name in self.index_fields
                ]
                or None,
                "page": pages or None,
                "page_size": self.page_size,
                "compression_size": max(self.compression_size, 0),
                "schema": [
                    {
                        "blob_fields": [blob.name for blob in self.schema.blobs],
                        "desc": self.schema.desc,
                        "schema": self.schema.content(),
                    }
                ],
                "shard_addresses": self.shards,
                "shard_id": self.shard,
                "statistics": self.statistics,
                "version": _VERSION,
            },
            ensure_ascii=False,
            separators=(",", ":"),
        ).encode("utf-8")
        if len(text) + _LENGTH.size > self.header_size:
            raise ValueError(
                f"the header of {len(text)} bytes is larger than {self.header_size}, please use "
                "'set_header_size' to set a larger one"
            )
        return _LENGTH.pack(len(text)) + text


def read_header(file: IO[bytes]) -> Header:
    """Read the header of a shard.

    Args:
        file: the shard, open for reading.

    Returns:
        The header, checked.

    Raises:
        ValueError: it is none.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    first = file.read(_LENGTH.size)
    length = _LENGTH.unpack(first)[0] if len(first) == _LENGTH.size else 0
    if not 0 < length <= min(size, HEADER_SIZES[1]) - _LENGTH.size:
        raise ValueError("failed to parse header content")
    text = file.read(length)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("failed to parse header content") from None
    if not isinstance(found, dict):
        raise ValueError("failed to parse header content")
    header = Header(
        header_size=_int(found, "header_size", *HEADER_SIZES),
        page_size=_int(found, "page_size", *PAGE_SIZES),
        compression_size=_int(found, "compression_size", 0, 1 << 63, missing=0),
        shard=_int(found, "shard_id", 0, MAX_SHARD_COUNT - 1),
        statistics=found.get("statistics"),
    )
    if length + _LENGTH.size > header.header_size:
        raise ValueError("the header is longer than its size")
    if found.get("version") != _VERSION:
        raise ValueError(f"version {found.get('version')!r} is not {_VERSION}")
    schemas = found.get("schema")
    if not isinstance(schemas, list) or len(schemas) != 1:
        raise ValueError("the header has no schema")
    header.schema = read_schema(schemas[0])
    header.index_fields = [
        _index_field(entry, header.schema) for entry in _list(found, "index_fields")
    ]
    header.shards = [_address(entry) for entry in _list(found, "shard_addresses")]
    if not 1 <= len(header.shards) <= MAX_SHARD_COUNT or header.shard >= len(header.shards):
        raise ValueError("the header's list of shards is wrong")
    header.pages = [_page(entry, place, header) for place, entry in enumerate(_list(found, "page"))]
    return header


def _int(found: dict[str, Any], name: str, low: int, high: int, missing: int | None = None) -> int:
    value = found.get(name, missing)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{name} of the header is {str(value)[:40]}, out of [{low}, {high}]")
    return value


def _list(found: dict[str, Any], name: str) -> list[Any]:
    value = found.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{name} of the header is no list")
    return value


def _index_field(entry: Any, schema: Schema) -> str:
    name = entry.get("index_field") if isinstance(entry, dict) else None
    if not isinstance(name, str) or name not in {raw.name for raw in schema.raws}:
        raise ValueError("an index field of the header is not in its schema")
    return name


def _address(entry: Any) -> str:
    # A shard lies beside the others: a name that leads elsewhere is no shard's.
    if not isinstance(entry, str) or os.path.basename(entry) != entry or entry in ("", ".", ".."):
        raise ValueError("the name of a shard in the header is no file name")
    if "\0" in entry:
        raise ValueError("the name of a shard in the header is no file name")
    return entry


def _page(entry: Any, place: int, header: Header) -> Page:
    if not isinstance(entry, dict) or entry.get("page_type") not in (BLOB, RAW):
        raise ValueError("a page of the header is of no known type")
    if entry.get("page_id") != place:
        raise ValueError("the pages of the header are not in order")
    most = 1 << 62
    page = Page(
        place,
        entry["page_type"],
        _int(entry, "page_type_id", 0, most),
        _int(entry, "page_size", 0, header.page_size),
        _int(entry, "start_row_id", 0, most),
        _int(entry, "end_row_id", 0, most),
    )
    for group in _list(entry, "row_group_ids"):
        if not isinstance(group, dict):
            raise ValueError("a row group of the header is wrong")
        page.groups.append((_int(group, "id", 0, most), _int(group, "offset", 0, page.size)))
    if page.stop < page.start:
        raise ValueError("a page of the header ends before it begins")
    return page
