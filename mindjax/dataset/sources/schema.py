"""The columns that a source should have: names, element types and shapes."""

from __future__ import annotations

import json
import os
from typing import Any

from mindjax.core import dtype as types
from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_type

_TYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "string"),
)
_KEYS = ("columns", "datasetType", "numRows")


class Column:
    """One column.

    Args:
        name: its name.
        type: name of its element type.
        shape: its sizes, -1 for an unknown one; None where only the rank, 1, is known.
    """

    def __init__(self, name: str, type: str, shape: list[int] | None) -> None:
        self.name, self.type, self.shape = name, type, shape

    def content(self) -> dict[str, Any]:
        """Give what stands in a schema's JSON."""
        shape = {} if self.shape is None else {"shape": self.shape}
        rank = 1 if self.shape is None else len(self.shape)
        return {"name": self.name, "rank": rank, **shape, "type": self.type}


class Schema:
    """The columns of a data set.

    Args:
        schema_file: path of a JSON file; None for a schema without columns.

    Raises:
        TypeError: ``schema_file`` is no text.
        ValueError: there is no such file.
        RuntimeError: it is no schema.
    """

    def __init__(self, schema_file: str | None = None) -> None:
        self.schema_file = schema_file or ""
        self._columns: list[Column] = []
        self._entries: dict[str, dict[str, Any]] = {}
        self._type = ""
        self._rows = 0
        if schema_file is None:
            return
        if not isinstance(schema_file, str):
            raise located(TypeError, f"path: {schema_file!r} is not string")
        path = os.path.realpath(schema_file)
        if not os.path.isfile(path) or not os.access(path, os.R_OK):
            raise located(ValueError, f"The file {path} does not exist or permission denied!")
        with open(path, encoding="utf-8") as file:
            try:
                content = json.load(file)
            except ValueError as error:
                raise located(
                    RuntimeError, f"Schema file failed to load: {path}: {error}"
                ) from None
        self.from_json(content)

    def add_column(self, name: str, de_type: Any, shape: list[int] | None = None) -> None:
        """Add a column.

        Args:
            name: its name.
            de_type: a MindSpore type or its name.
            shape: its sizes; None for one unknown size.

        Raises:
            TypeError: an argument has the wrong type, or the type is unknown.
        """
        check_type("Schema", "name", name, str)
        kind = str(de_type).lower() if isinstance(de_type, types.Type) else de_type
        if kind not in _TYPES:
            raise located(TypeError, f"Unknown column type: {de_type!r}; there are {_TYPES}.")
        if shape is not None:
            check_type("Schema", "shape", shape, list)
            for place, size in enumerate(shape):
                check_type("Schema", f"shape[{place}]", size, int)
        self._columns.append(Column(name, kind, None if shape is None else list(shape)))

    def parse_columns(self, columns: Any) -> None:
        """Add columns.

        Args:
            columns: dictionaries with ``name``, ``type`` and, unless it is a number, ``shape``; or
                a dictionary from name to ``type`` and ``shape``.

        Raises:
            RuntimeError: it is neither, or a column has no name or type.
        """
        if isinstance(columns, dict):
            listed = [(name, columns[name]) for name in sorted(columns)]
        elif isinstance(columns, list | tuple):
            listed = [
                (entry.get("name") if isinstance(entry, dict) else None, entry) for entry in columns
            ]
        else:
            raise located(
                RuntimeError,
                "columns must be dict or list, columns contain name, type, shape(optional).",
            )
        for name, entry in listed:
            if name is None:
                raise located(RuntimeError, f"Column's name is missing: {entry!r}.")
            kind = entry.get("type") if isinstance(entry, dict) else None
            if kind is None:
                raise located(RuntimeError, f"Column's type is missing: column {name!r}.")
            if kind not in _TYPES:
                raise located(RuntimeError, f"Type is unknown: column {name!r} has {kind!r}.")
            self._entries[name] = entry
            self.add_column(name, kind, list(entry.get("shape", [])))

    def from_json(self, json_obj: Any) -> None:
        """Take over the content of a schema file.

        Args:
            json_obj: dictionary with ``columns`` and perhaps ``datasetType`` and ``numRows``.

        Raises:
            RuntimeError: it has other entries or no columns.
        """
        if not isinstance(json_obj, dict) or "columns" not in json_obj:
            raise located(
                RuntimeError, f'"columns" node is required in the schema: {self.schema_file}.'
            )
        for name in json_obj:
            if name not in _KEYS:
                raise located(RuntimeError, f"Unknown field {name} in the schema.")
        if not json_obj["columns"]:
            raise located(RuntimeError, "Columns are missing in the schema.")
        rows = json_obj.get("numRows", 0)
        if not isinstance(rows, int) or rows < 0:
            raise located(
                RuntimeError, f"numRows must be greater than or equal to 0, but got {rows!r}."
            )
        self._columns = []
        self.parse_columns(json_obj["columns"])
        self._type, self._rows = json_obj.get("datasetType", ""), rows

    def to_json(self) -> str:
        """Give the schema as JSON."""
        content: dict[str, Any] = {"columns": [column.content() for column in self._columns]}
        if self._type:
            content["datasetType"] = self._type
        if self._rows:
            content["numRows"] = self._rows
        return json.dumps(content, indent=2)

    def __str__(self) -> str:
        return self.to_json()

    @property
    def columns(self) -> list[Column]:
        """Give the columns."""
        return list(self._columns)

    @staticmethod
    def get_num_rows(schema: Schema | str) -> int:
        """Give the number of rows that a schema, or its file, names, or 0."""
        return (schema if isinstance(schema, Schema) else Schema(schema))._rows


def schema_of(schema: Any) -> Schema | None:
    """Bring the argument of a source to a schema.

    Raises:
        TypeError: it is neither a schema nor a path.
        ValueError: there is no such file.
        RuntimeError: the file is no schema, or a column has neither shape nor rank.
    """
    if schema is None or isinstance(schema, Schema):
        return schema
    found = Schema(schema)
    for column in found._columns:
        # MindSpore: of a file that a source reads the rank counts, where there is no shape.
        entry = found._entries.get(column.name, {})
        if "shape" not in entry:
            rank = entry.get("rank")
            if not isinstance(rank, int) or rank < 0:
                raise located(
                    RuntimeError,
                    f'Invalid data, "rank" field of column {column.name} must have value >= 0 in '
                    f"JSON schema file: {schema}.",
                )
            column.shape = [] if rank == 0 else None
    return found
