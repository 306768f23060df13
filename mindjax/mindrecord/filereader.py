"""Reading rows of MindRecord files one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from mindjax import log
from mindjax.mindrecord.exceptions import MRMUnsupportedSchemaError, ParamTypeError
from mindjax.mindrecord.schema import to_array
from mindjax.mindrecord.shards import (
    Shard,
    Shards,
    check_consumers,
    check_files,
    plain_number,
)

# Rows that one reader takes at once, and blocks that each may be ahead.
_BLOCK = 64
_AHEAD = 2


def read_row(shard: Shard, row: int, columns: list[str] | None) -> dict[str, Any]:
    """Read a row as Python values.

    Args:
        shard: the file.
        row: the row's number in it.
        columns: the fields wanted; None for all.

    Returns:
        Field to value: single numbers and texts first, then blobs, each sorted by name.

    Raises:
        MRMUnsupportedSchemaError: an array has not the shape that the schema says.
        RuntimeError: the row is damaged.
    """
    fields = shard.schema.fields.values()
    wanted = [field for field in fields if columns is None or field.name in columns]
    raws = [field.name for field in wanted if not field.is_blob]
    values: dict[str, Any] = {}
    if raws:
        raw = shard.raw(row)
        values = {name: plain_number(raw[name]) for name in raws}
    blobs = [field for field in wanted if field.is_blob]
    if columns is not None:
        blobs.sort(key=lambda field: columns.index(field.name))
    if blobs:
        found = shard.blobs(row)
        for field in blobs:
            data = found[field.name]
            try:
                values[field.name] = data if field.shape is None else to_array(field, data)
            except ValueError as error:
                raise MRMUnsupportedSchemaError(
                    f"Shape in schema is illegal: field '{field.name}' of a row of {shard.path}: "
                    f"{error}."
                ) from None
    return values


class FileReader:
    """Reads rows of MindRecord files in their order.

    Args:
        file_name: one path, for all the files that were written together, or a list of paths, for
            these alone.
        num_consumer: number of threads that read, at most the number of processor cores.
        columns: the fields wanted; None for all.
        operator: accepted, and of no effect, as in the original.

    Raises:
        ParamValueError: ``file_name`` or ``num_consumer`` is wrong.
        ParamTypeError: ``columns`` is no list.
        RuntimeError: a file is missing or damaged, or has no such column.
    """

    def __init__(
        self,
        file_name: str | list[str],
        num_consumer: int = 4,
        columns: list[str] | None = None,
        operator: Any = None,
    ) -> None:
        self._shards: Shards | None = None
        check_files(file_name, num_consumer)
        if num_consumer != 4:  # The default is not checked: machines may have fewer cores.
            check_consumers(num_consumer)
        if operator is not None:
            log.warning("The parameter 'operator' will be deprecated in a future version.")
        if columns and not isinstance(columns, list):
            raise ParamTypeError("columns", "list")
        self._columns = list(columns) if columns else None
        self._consumers = num_consumer
        shards = Shards(file_name)
        self._schema, self._rows = shards.schema, len(shards)
        self._shards = shards
        try:
            shards.check_columns(self._columns or [])
        except BaseException:
            self.close()
            raise
        self._next = 0

    def get_next(self) -> Iterator[dict[str, Any]]:
        """Read the rows that were not read yet.

        Yields:
            Field to value: numbers, ``str``, ``bytes`` and arrays.

        Raises:
            MRMUnsupportedSchemaError: an array has not the shape that the schema says.
            RuntimeError: a row is damaged.
        """
        if self._shards is None:
            return
        with ThreadPoolExecutor(self._consumers, "mindrecord") as pool:
            waiting: deque[Future[list[dict[str, Any]]]] = deque()
            try:
                begun = self._next
                while waiting or begun < self._rows:
                    while begun < self._rows and len(waiting) < _AHEAD * self._consumers:
                        waiting.append(pool.submit(self._block, begun))
                        begun += _BLOCK
                    for row in waiting.popleft().result():
                        self._next += 1
                        yield row
            finally:
                for future in waiting:
                    future.cancel()

    def _block(self, start: int) -> list[dict[str, Any]]:
        assert self._shards is not None
        rows = range(start, min(start + _BLOCK, self._rows))
        return [read_row(*self._shards.locate(row), self._columns) for row in rows]

    def close(self) -> None:
        """Close the files."""
        if self._shards is not None:
            self._shards.close()
            self._shards = None

    def __del__(self) -> None:
        self.close()

    def schema(self) -> dict[str, dict[str, Any]]:
        """Give the fields: name to ``{"type": ...}`` or ``{"shape": [...], "type": ...}``."""
        return self._schema.content()

    def len(self) -> int:
        """Count the rows."""
        return self._rows
