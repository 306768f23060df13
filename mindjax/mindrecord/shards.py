"""Reading the rows of MindRecord files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.mindrecord import config
from mindjax.mindrecord.exceptions import ParamValueError, damaged
from mindjax.mindrecord.header import Header, read_header
from mindjax.mindrecord.index import Index, index_path, read_all
from mindjax.mindrecord.schema import Schema

_LENGTH = 8
_FORBIDDEN = frozenset("\\/:*?\"<>|`&';")
_INT64 = 1 << 63


def check_filename(path: Any, name: str = "File path") -> str:
    """Check the path of a file that is read or written.

    Args:
        path: the path.
        name: what it is, for the message.

    Returns:
        The path.

    Raises:
        ParamValueError: it is no text, is empty, or its file name has a character it must not have.
    """
    if not path:
        raise ParamValueError(f"{name} is not allowed None or empty!")
    if not isinstance(path, str):
        raise ParamValueError(f"File path: {path} is not string.")
    if path.endswith("/"):
        raise ParamValueError("File path can not end with '/'")
    base = os.path.basename(path)
    if _FORBIDDEN & set(base):
        raise ParamValueError(f"File name should not contains {''.join(sorted(_FORBIDDEN))}")
    if base != base.strip(" "):
        raise ParamValueError("File name should not start/end with space.")
    return path


def check_files(file_name: Any, num_consumer: Any) -> None:
    """Check what readers take.

    Args:
        file_name: a path or a list of paths.
        num_consumer: number of readers.

    Raises:
        ParamValueError: a path is none, or the number is out of range.
    """
    for path in file_name if isinstance(file_name, list) else [file_name]:
        check_filename(path)
    if num_consumer is None:
        raise ParamValueError("Parameter num_consumer is None.")
    if not isinstance(num_consumer, int):
        raise ParamValueError("Parameter num_consumer is not int.")


def check_consumers(num_consumer: int) -> None:
    """Refuse more readers than there are processor cores.

    Raises:
        ParamValueError: so many are not possible.
    """
    most = os.cpu_count() or 1
    if not 1 <= num_consumer <= most:
        raise ParamValueError(
            f"Parameter num_consumer: {num_consumer} should between 1 and {most}."
        )


class Shard:
    """One file and its index, open for reading.

    Args:
        path: the file.

    Raises:
        RuntimeError: there is no such file or index, or one is damaged.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = config.open_plain(path)
        try:
            self.header = self._read_header()
            self._index = self._open_index()
            self._positions = self._read_positions()
        except ValueError as error:
            self.close()
            raise damaged(index_path(path), str(error)) from None
        except BaseException:
            self.close()
            raise

    def _read_header(self) -> Header:
        try:
            return read_header(self._file)
        except ValueError as error:
            raise damaged(self.path, str(error)) from None

    def _open_index(self) -> Index:
        path = index_path(self.path)
        with config.open_plain(path) as file:
            try:
                if config.get_enc_key() is not None:
                    data = read_all(file)
                    return Index(data, len(data))
                return Index(path, file.seek(0, os.SEEK_END))
            except ValueError as error:
                raise damaged(path, str(error)) from None

    def _read_positions(self) -> np.ndarray:
        if self._index.name() != os.path.basename(self.path):
            raise located(
                RuntimeError,
                f"Invalid file, mindrecord meta file: {index_path(self.path)} and mindrecord file: "
                f"{self.path} can not match. Please do not rename the mindrecord file or meta "
                "file.",
            )
        places = self._index.positions()
        header = self.header
        size = self._file.seek(0, os.SEEK_END)
        if len(places) != header.rows():
            raise ValueError(f"the index has {len(places)} rows and the file {header.rows()}")
        sizes = np.array([page.size for page in header.pages], np.int64)
        for page, start, stop in (places[:, :3].T, places[:, 4:].T):
            if ((page < 0) | (page >= len(sizes))).any():
                raise ValueError("the index names a page that the file has not")
            good = (start >= 0) & (stop - start >= _LENGTH) & (stop <= sizes[page])
            if not good.all() or (page * header.page_size + header.header_size + stop > size).any():
                raise ValueError("the index names a place beyond its page")
        return places

    def __len__(self) -> int:
        return len(self._positions)

    @property
    def schema(self) -> Schema:
        """Give the fields of a row."""
        assert self.header.schema is not None
        return self.header.schema

    def raw(self, row: int) -> dict[str, Any]:
        """Read the single numbers and texts of a row.

        Raises:
            RuntimeError: the row is damaged.
        """
        return self._decoded(self.schema.decode_raw, self._positions[row, :3])

    def blobs(self, row: int) -> dict[str, bytes]:
        """Read the blobs of a row, arrays still packed.

        Raises:
            RuntimeError: the row is damaged.
        """
        return self._decoded(self.schema.decode_blob, self._positions[row, 4:])

    def _decoded(self, decode: Any, place: np.ndarray) -> Any:
        page, start, stop = place.tolist()
        at = self.header.page_start(page) + start
        # Positioned: threads share the file.
        data = os.pread(self._file.fileno(), stop - start, at)
        try:
            if len(data) != stop - start:
                raise ValueError("a row is cut off")
            if int.from_bytes(data[:_LENGTH], "little") != len(data) - _LENGTH:
                raise ValueError("a row has another length than its index says")
            return decode(data[_LENGTH:])
        except ValueError as error:
            raise damaged(self.path, str(error)) from None

    def values(self, field: str) -> list[Any]:
        """Read an index field of all rows.

        Raises:
            RuntimeError: the index is damaged.
        """
        try:
            values = self._index.values(field)
            if len(values) != len(self):
                raise ValueError("the index has changed")
            return values
        except ValueError as error:
            raise damaged(index_path(self.path), str(error)) from None

    def close(self) -> None:
        """Close both files."""
        self._file.close()
        if hasattr(self, "_index"):
            self._index.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()


class Shards:
    """The rows of several files, one after the other.

    Args:
        files: one path, for all the files that were written together, or a list of paths.

    Raises:
        RuntimeError: a file is missing or damaged, or their schemas differ.
    """

    def __init__(self, files: str | Sequence[str]) -> None:
        self.shards: list[Shard] = []
        try:
            for path in _together(files) if isinstance(files, str) else files:
                self.shards.append(Shard(path))
                first = self.shards[0]
                if self.shards[-1].schema.content() != first.schema.content():
                    raise located(
                        RuntimeError,
                        f"Invalid file, the schema of mindrecord file: {path} is not that of "
                        f"{first.path}.",
                    )
        except BaseException:
            self.close()
            raise
        sizes = [len(shard) for shard in self.shards]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def schema(self) -> Schema:
        """Give the fields of a row."""
        return self.shards[0].schema

    @property
    def index_fields(self) -> list[str]:
        """Give the fields that the index holds."""
        return self.shards[0].header.index_fields

    def locate(self, row: int) -> tuple[Shard, int]:
        """Find the file of a row, and the row's number in it."""
        place = int(np.searchsorted(self.starts, row, "right")) - 1
        return self.shards[place], row - int(self.starts[place])

    def values(self, field: str) -> list[Any]:
        """Read an index field of all rows."""
        return [value for shard in self.shards for value in shard.values(field)]

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse columns that rows have not.

        Raises:
            RuntimeError: there is no such column.
        """
        for name in columns:
            if name not in self.schema.fields:
                raise located(
                    RuntimeError,
                    f"Invalid data, column name: {name} can not found in schema. Please check the "
                    "'column_list'.",
                )

    def close(self) -> None:
        """Close all files."""
        for shard in self.shards:
            shard.close()


def _together(path: str) -> Iterator[str]:
    """Find the files that were written together with one; they lie in its folder."""
    config.open_plain(index_path(path)).close()
    with config.open_plain(path) as file:
        try:
            names = read_header(file).shards
        except ValueError as error:
            raise damaged(path, str(error)) from None
    folder = os.path.dirname(path)
    return iter([os.path.join(folder, name) for name in names])


def plain_number(value: Any) -> Any:
    """Give a raw value as the original's readers do: a float that is whole is an int."""
    if isinstance(value, float) and value.is_integer() and -_INT64 <= value < _INT64:
        return int(value)
    return value
