"""The index of a shard: an SQLite file beside it that says where each row lies.

An index that is read is data of strangers: nothing in it is run (no view, trigger, virtual table
or function), and how long it may take and how much it may hold is bounded by its size.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO, Any
from urllib.parse import quote

import numpy as np

from mindjax.core.atomic import replacing
from mindjax.mindrecord import config
from mindjax.mindrecord.header import Header

_POSITIONS = (
    "PAGE_ID_RAW",
    "PAGE_OFFSET_RAW",
    "PAGE_OFFSET_RAW_END",
    "ROW_GROUP_ID",
    "PAGE_ID_BLOB",
    "PAGE_OFFSET_BLOB",
    "PAGE_OFFSET_BLOB_END",
)
_TABLE = (
    "CREATE TABLE INDEXES(  ROW_ID               INT  NOT NULL,"
    " PAGE_ID_RAW          INT  NOT NULL, PAGE_OFFSET_RAW      INT  NOT NULL,"
    " PAGE_OFFSET_RAW_END  INT  NOT NULL, ROW_GROUP_ID         INT  NOT NULL,"
    " PAGE_ID_BLOB         INT  NOT NULL, PAGE_OFFSET_BLOB     INT  NOT NULL,"
    " PAGE_OFFSET_BLOB_END INT  NOT NULL"
)
_COLUMN_TYPES = {
    "int32": "INTEGER",
    "int64": "INTEGER",
    "float32": "REAL",
    "float64": "REAL",
    "string": "TEXT",
}
# Steps of SQLite's machine: a row of eight numbers takes about 20, and at least 10 bytes.
_STEPS_A_CALL = 10_000
_STEPS_A_BYTE = 20
_LEAST_STEPS = 1_000_000
_CHUNK = 1 << 16
_MOST_INDEX_BYTES = 1 << 40

Row = tuple[list[int], dict[str, Any]]


def index_path(path: str) -> str:
    """Give the path of a shard's index."""
    return path + ".db"


@contextlib.contextmanager
def new_index(path: str, name: str, header: Header, rows: Iterable[Row]) -> Iterator[None]:
    """Write an index that takes its place when the block ends well.

    Args:
        path: the index; its folder exists.
        name: the shard's file name.
        header: the shard's header.
        rows: of each row, its place as `pages.rows_of` gives it, and its raw values.
    """
    assert header.schema is not None
    folder = os.path.dirname(os.path.abspath(path))
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(replacing(path, 0o600))
        scratch = stack.enter_context(
            tempfile.TemporaryDirectory(prefix=".mindrecord-", dir=folder)
        )
        made = os.path.join(scratch, "index")
        with contextlib.closing(sqlite3.connect(made)) as database:
            _fill(database, name, header, rows)
        with open(made, "rb") as file:
            config.seal(file, target)
        yield


def _fill(database: sqlite3.Connection, name: str, header: Header, rows: Iterable[Row]) -> None:
    assert header.schema is not None
    fields = header.index_fields
    columns = [
        f"INC_{place} INT, {field}_0 {_COLUMN_TYPES[header.schema.fields[field].type]}"
        for place, field in enumerate(fields)
    ]
    keys = ["ROW_ID", *(f"INC_{place}" for place in range(len(fields)))]
    # nothing is shared until the file is copied to its place
    database.execute("PRAGMA synchronous=OFF")
    database.execute("PRAGMA journal_mode=MEMORY")
    database.execute(",".join([_TABLE, *columns]) + f", PRIMARY KEY({','.join(keys)}))")
    database.execute("CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)")
    database.execute("INSERT INTO SHARD_NAME (NAME) VALUES (?)", (name,))
    names = ["ROW_ID", *_POSITIONS]
    for place, field in enumerate(fields):
        names += [f"INC_{place}", f"{field}_0"]
    places = ",".join("?" * len(names))

    def entries() -> Iterator[list[Any]]:
        for number, (positions, raw) in enumerate(rows):
            entry: list[Any] = [number, *positions]
            for field in fields:
                entry += [0, raw[field]]
            yield entry

    database.executemany(f"INSERT INTO INDEXES ({','.join(names)}) VALUES ({places})", entries())
    database.commit()


class Index:
    """An index, open for reading.

    Args:
        source: its path, or its bytes.
        size: its size in bytes.

    Raises:
        ValueError: it is no such index.
    """

    def __init__(self, source: str | bytes, size: int) -> None:
        self._steps = _LEAST_STEPS + _STEPS_A_BYTE * size
        self._calls = 0
        with _translated():
            if isinstance(source, str):
                uri = f"file:{quote(os.path.abspath(source))}?mode=ro&immutable=1"
                self._database = sqlite3.connect(uri, uri=True, check_same_thread=False)
            else:
                self._database = sqlite3.connect(":memory:", check_same_thread=False)
                self._database.deserialize(source)
            database = self._database
            database.execute("PRAGMA trusted_schema=OFF")
            database.execute("PRAGMA cell_size_check=ON")
            database.execute("PRAGMA mmap_size=0")
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max(size, 1 << 16), 1 << 30))
            database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            database.set_progress_handler(self._progress, _STEPS_A_CALL)
            database.set_authorizer(_authorize)
            kinds = database.execute(
                "SELECT type, sql FROM sqlite_master WHERE name IN ('INDEXES', 'SHARD_NAME')"
            ).fetchall()
        plain = [
            kind == "table" and isinstance(sql, str) and sql.upper().startswith("CREATE TABLE")
            for kind, sql in kinds
        ]
        if len(plain) != 2 or not all(plain):
            self.close()
            raise ValueError("the index has not the tables INDEXES and SHARD_NAME")

    def _progress(self) -> int:
        self._calls += 1
        return self._calls * _STEPS_A_CALL > self._steps

    def close(self) -> None:
        """Close it."""
        self._database.close()

    def name(self) -> str:
        """Read the file name of the shard that it belongs to.

        Raises:
            ValueError: it is damaged.
        """
        with _translated():
            rows = self._database.execute("SELECT NAME FROM SHARD_NAME").fetchmany(2)
        if len(rows) != 1 or not isinstance(rows[0][0], str):
            raise ValueError("the index names no shard")
        return rows[0][0]

    def positions(self) -> np.ndarray:
        """Read where rows lie.

        Returns:
            int64 of shape (rows, 7), in the order of row numbers: page, start and end of the raw
            half, row group, page, start and end of the blob half.

        Raises:
            ValueError: it is damaged.
        """
        self._calls = 0
        parts = [np.empty((0, 1 + len(_POSITIONS)), np.int64)]
        with _translated():
            cursor = self._database.execute(
                f"SELECT ROW_ID,{','.join(_POSITIONS)} FROM INDEXES NOT INDEXED"
            )
            while chunk := cursor.fetchmany(_CHUNK):
                part = np.array(chunk)
                if part.dtype != np.int64:
                    raise ValueError("the index holds what is no number")
                parts.append(part)
        table = np.concatenate(parts)
        if (np.diff(table[:, 0]) != 1).any():
            table = table[np.argsort(table[:, 0], kind="stable")]
        if (table[:, 0] != np.arange(len(table))).any():
            raise ValueError("the rows of the index are not numbered from 0")
        return np.ascontiguousarray(table[:, 1:])

    def values(self, field: str) -> list[Any]:
        """Read an index field.

        Args:
            field: its name, one of the header's index fields.

        Returns:
            Its value in each row, by row number; None for what is not a number.

        Raises:
            ValueError: it is damaged.
        """
        self._calls = 0
        with _translated():
            # Brackets: SQLite reads an unknown name in double quotes as a text.
            rows = self._database.execute(
                f"SELECT ROW_ID,[{field}_0] FROM INDEXES NOT INDEXED"
            ).fetchall()
        numbers = [number for number, _ in rows]
        if any(not isinstance(value, int | float | str | None) for _, value in rows):
            raise ValueError("the index holds what is no value")
        if numbers != list(range(len(rows))):
            if any(not isinstance(number, int) for number in numbers):
                raise ValueError("the rows of the index are not numbered")
            rows.sort(key=lambda row: row[0])
        return [value for _, value in rows]


def _authorize(action: int, first: str | None, *_: str | None) -> int:
    """Let SQLite read the three tables, and nothing else."""
    if action == sqlite3.SQLITE_SELECT:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ and first in ("INDEXES", "SHARD_NAME", "sqlite_master"):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError, MemoryError) as error:
        raise ValueError(f"the index cannot be read: {error}") from None


def read_all(file: IO[bytes]) -> bytes:
    """Read an index that lies in an open file.

    Raises:
        ValueError: it is too large to be one.
    """
    size = file.seek(0, os.SEEK_END)
    if size > _MOST_INDEX_BYTES:
        raise ValueError("the index is too large")
    file.seek(0)
    return file.read(size)
