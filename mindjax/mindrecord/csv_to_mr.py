"""CSV files to MindRecord."""

from __future__ import annotations

import csv
import os
from typing import Any

from mindjax.core.errors import located
from mindjax.mindrecord.conversion import (
    SUCCESS,
    MSRStatus,
    check_partitions,
    set_large_pages,
    write_all,
)
from mindjax.mindrecord.filewriter import FileWriter
from mindjax.mindrecord.shards import check_filename

# What stands for a missing value, as pandas, which the original reads with, has it.
_MISSING = frozenset(
    ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"]
) | frozenset(["<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"])
_BOOLEANS = {"True": 1, "TRUE": 1, "true": 1, "False": 0, "FALSE": 0, "false": 0}
_INT64 = 1 << 63


def _typed(cells: list[str]) -> tuple[str, list[Any]]:
    """Find the type of a column, and its values; a missing text stays the text that it is."""
    missing = [cell in _MISSING for cell in cells]
    if not any(missing):
        if cells and all(cell in _BOOLEANS for cell in cells):
            return "int32", [_BOOLEANS[cell] for cell in cells]
        try:
            numbers = [int(cell) for cell in cells if "_" not in cell]
        except ValueError:
            numbers = []
        if len(numbers) == len(cells) and all(-_INT64 <= n < _INT64 for n in numbers):
            return "int64", numbers
    try:
        reals = [
            float("nan") if gone else float(cell)
            for cell, gone in zip(cells, missing, strict=True)
            if "_" not in cell
        ]
    except ValueError:
        reals = []
    if len(reals) == len(cells) and not all(missing):
        return "float64", reals
    return "string", cells


class CsvToMR:
    """Converts a CSV file; its first line names the columns.

    A column of whole numbers becomes int64, of other numbers or of numbers with missing ones
    float64, of true and false int32, and any other string. All columns become index fields.

    Args:
        source: path of the CSV file.
        destination: path of the MindRecord file.
        columns_list: the columns wanted; None for all.
        partition_number: number of files.

    Raises:
        ValueError: an argument has a wrong type.
        ParamValueError: a path or the number is wrong.
    """

    def __init__(
        self,
        source: str,
        destination: str,
        columns_list: list[str] | None = None,
        partition_number: int = 1,
    ) -> None:
        for name, path in (("source", source), ("destination", destination)):
            if not isinstance(path, str):
                raise located(ValueError, f"The parameter {name} must be str, but got {path!r}.")
            check_filename(path)
        if columns_list and not (
            isinstance(columns_list, list) and all(isinstance(c, str) for c in columns_list)
        ):
            raise located(ValueError, "The parameter columns_list must be list of str.")
        self.source, self.destination = source, destination
        self.columns_list = columns_list
        self.partition_number = check_partitions(partition_number)
        self.writer = FileWriter(destination, self.partition_number)

    def run(self) -> MSRStatus:
        """Write all lines.

        Returns:
            SUCCESS.

        Raises:
            OSError: the file does not exist.
            ValueError: a column's name is a number, or a line has another number of cells.
            RuntimeError: a column does not exist, or the destination does.
        """
        columns = self._read()
        schema = {name: {"type": kind} for name, (kind, _) in columns.items()}
        set_large_pages(self.writer)
        self.writer.add_schema(schema, "csv_schema")
        for name in columns:
            if name.isdigit():
                raise located(
                    ValueError,
                    f"The first line content: {name} of the CSV file is used as a column name and "
                    "does not allow starting with a number.",
                )
        self.writer.add_index(list(columns))
        rows = zip(*(values for _, values in columns.values()), strict=True)
        write_all(self.writer, (dict(zip(columns, row, strict=True)) for row in rows))
        return SUCCESS

    def _read(self) -> dict[str, tuple[str, list[Any]]]:
        if not os.path.exists(self.source):
            raise located(OSError, f"Csv file {self.source} do not exist.")
        with open(self.source, encoding="utf-8", newline="") as file:
            try:
                lines = [line for line in csv.reader(file) if line]
            except (csv.Error, UnicodeDecodeError) as error:
                raise located(ValueError, f"Csv file {self.source}: {error}.") from None
        if not lines:
            raise located(RuntimeError, "Failed to generate schema from csv file.")
        names, *rows = lines
        for place, row in enumerate(rows):
            if len(row) != len(names):
                raise located(
                    ValueError,
                    f"Csv file {self.source}: row {place} has {len(row)} cells and not "
                    f"{len(names)}.",
                )
        for name in self.columns_list or []:
            if name not in names:
                raise located(
                    RuntimeError,
                    f"The parameter columns_list is illegal, column {name} does not exist.",
                )
        return {
            name: _typed([row[names.index(name)] for row in rows])
            for name in self.columns_list or names
        }

    def transform(self) -> None:
        """Write all lines.

        Raises:
            OSError: the file does not exist.
            ValueError: a column's name is a number, or a line has another number of cells.
            RuntimeError: a column does not exist, or the destination does.
        """
        self.run()
