"""Writes the rows of a pipeline into MindRecord files (MindSpore: ``Dataset.save``)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_type
from mindjax.mindrecord.conversion import write_all
from mindjax.mindrecord.filewriter import FileWriter

if TYPE_CHECKING:
    from mindjax.dataset.engine.dataset import Dataset

_MOST_FILES = 1000
# Element types of columns -> those of fields.
_TYPES = {
    **dict.fromkeys(("bool", "int8", "uint8", "int16", "uint16", "int32"), "int32"),
    **dict.fromkeys(("uint32", "int64", "uint64"), "int64"),
    **dict.fromkeys(("float16", "float32"), "float32"),
    "float64": "float64",
}


def save(dataset: Dataset, file_name: str, num_files: int, file_type: str) -> None:
    """Write the rows of one epoch; see ``Dataset.save``."""
    check_type("save", "file_name", file_name, str)
    check_type("save", "num_files", num_files, int)
    check_type("save", "file_type", file_type, str)
    if file_type != "mindrecord":
        raise located(ValueError, f"{file_type} dataset format is not supported.")
    if not 0 < num_files <= _MOST_FILES:
        raise located(ValueError, f"num_files should between 0 and {_MOST_FILES}.")
    folder = os.path.dirname(os.path.abspath(file_name))
    if not os.path.isdir(folder):
        raise located(RuntimeError, f"SaveToDisk failed, can not get real dataset path: {folder}")
    rows = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    first = next(rows, None)
    if first is None:
        raise located(RuntimeError, "SaveToDisk failed: the dataset has no rows.")
    fields = {name: _field(name, column) for name, column in first.items()}
    writer = FileWriter(file_name, num_files)
    try:
        writer.add_schema(fields, "schema")
    except Exception as error:
        raise located(RuntimeError, f"Failed to build schema: {fields}: {error}.") from None
    write_all(writer, _converted(first, rows, fields))


def _field(name: str, column: np.ndarray) -> dict[str, Any]:
    kind = column.dtype.kind
    if kind in "US":
        if column.size != 1 or column.ndim > 1:
            what = "string" if kind == "U" else "bytes"
            raise located(
                RuntimeError,
                f"Invalid data, mindrecord can not support multi-dimensional {what} tensor: "
                f"column {name} has shape {column.shape}.",
            )
        return {"type": "string" if kind == "U" else "bytes"}
    found = _TYPES.get(column.dtype.name)
    if found is None:
        raise located(
            RuntimeError, f"Invalid dtype, column {name} of {column.dtype} can not be saved."
        )
    return {"type": found, "shape": [-1, *column.shape[1:]]} if column.ndim else {"type": found}


def _converted(
    first: dict[str, Any], rows: Any, fields: dict[str, dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    shapes = {name: column.shape[1:] for name, column in first.items()}
    yield {name: _value(fields[name], column) for name, column in first.items()}
    for row in rows:
        for name, column in row.items():
            if column.shape[1:] != shapes[name]:
                raise located(
                    RuntimeError,
                    "Tensor with dynamic shape do not currently support saving. Except for the "
                    "shape of dimension 0, the other dimension shapes must be fixed: column "
                    f"{name} has shapes {first[name].shape} and {column.shape}.",
                )
        yield {name: _value(fields[name], column) for name, column in row.items()}


def _value(field: dict[str, Any], column: np.ndarray) -> Any:
    kind = field["type"]
    if kind in ("string", "bytes"):
        return column.reshape(()).item()
    array = column.astype(kind)
    return array if array.ndim else array.item()
