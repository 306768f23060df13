"""Reading rows of MindRecord files group by group and page by page."""

from __future__ import annotations

import json
from typing import Any

from mindjax.core.errors import located
from mindjax.mindrecord.exceptions import (
    MRMDefineCategoryError,
    ParamTypeError,
    ParamValueError,
)
from mindjax.mindrecord.filereader import read_row
from mindjax.mindrecord.shards import Shards, check_consumers, check_files


class MindPage:
    """Reads the rows that have one value in an index field, some at a time.

    Args:
        file_name: one path, for all the files that were written together, or a list of paths, for
            these alone.
        num_consumer: number of readers; a page is read by the caller's thread.

    Raises:
        ParamValueError: ``file_name`` or ``num_consumer`` is wrong.
        RuntimeError: a file is missing or damaged.
    """

    def __init__(self, file_name: str | list[str], num_consumer: int = 4) -> None:
        self._shards: Shards | None = None
        check_files(file_name, num_consumer)
        if num_consumer != 4:
            check_consumers(num_consumer)
        self._shards = Shards(file_name)
        self._category_field: str | None = None
        self._groups: dict[str, list[int]] = {}

    def __del__(self) -> None:
        if self._shards is not None:
            self._shards.close()

    @property
    def candidate_fields(self) -> list[str]:
        """Give the index fields, which rows can be grouped by."""
        assert self._shards is not None
        return list(self._shards.index_fields)

    @property
    def category_field(self) -> str | None:
        """Give the field that rows are grouped by.

        Setting it raises ``ParamTypeError`` for what is no text, and ``MRMDefineCategoryError`` for
        what is no index field.
        """
        return self._category_field

    @category_field.setter
    def category_field(self, category_field: str) -> None:
        if not category_field or not isinstance(category_field, str):
            raise ParamTypeError("category_fields", "str")
        if category_field not in self.candidate_fields:
            raise MRMDefineCategoryError(
                f"Field '{category_field}' is not a candidate category field."
            )
        assert self._shards is not None
        groups: dict[str, list[int]] = {}
        for row, value in enumerate(self._shards.values(category_field)):
            name = f"{value:.15g}" if isinstance(value, float) else str(value)
            groups.setdefault(name, []).append(row)
        self._category_field = category_field
        self._groups = {name: groups[name] for name in sorted(groups)}

    def _chosen(self) -> dict[str, list[int]]:
        if self._category_field is None:
            raise located(
                RuntimeError, "Invalid data, field: is invalid. Please set 'category_field' first."
            )
        return self._groups

    def read_category_info(self) -> str:
        """Describe the groups.

        Returns:
            JSON: ``{"categories": [{"count": ..., "id": ..., "name": ...}, ...], "key": ...}``.

        Raises:
            RuntimeError: ``category_field`` is not set.
        """
        categories = [
            {"count": len(rows), "id": number, "name": name}
            for number, (name, rows) in enumerate(self._chosen().items())
        ]
        found = {"categories": categories or None, "key": f"{self._category_field}_0"}
        return json.dumps(found, ensure_ascii=False, separators=(",", ":"))

    def read_at_page_by_id(self, category_id: int, page: int, num_row: int) -> list[dict[str, Any]]:
        """Read a page of a group that is given by its number.

        Args:
            category_id: the group's ``id`` of ``read_category_info``.
            page: the page's number, from 0.
            num_row: rows of a page.

        Returns:
            The rows: field to value.

        Raises:
            ParamValueError: an argument is no number or out of range.
            RuntimeError: there is no such group or page, or ``category_field`` is not set.
        """
        if not isinstance(category_id, int) or category_id < 0:
            raise ParamValueError("Category id should be int and greater than or equal to 0.")
        _check_page(page, num_row)
        groups = list(self._chosen().values())
        if category_id >= len(groups):
            raise located(
                RuntimeError,
                f"Invalid data, category_id: {category_id} must be in the range "
                f"[0, {len(groups)}).",
            )
        return self._read(groups[category_id], page, num_row)

    def read_at_page_by_name(
        self, category_name: str, page: int, num_row: int
    ) -> list[dict[str, Any]]:
        """Read a page of a group that is given by its value.

        Args:
            category_name: the group's ``name`` of ``read_category_info``.
            page: the page's number, from 0.
            num_row: rows of a page.

        Returns:
            The rows: field to value.

        Raises:
            ParamValueError: an argument is of a wrong type or out of range.
            RuntimeError: there is no such group or page, or ``category_field`` is not set.
        """
        if not isinstance(category_name, str):
            raise ParamValueError("Category name should be str.")
        _check_page(page, num_row)
        groups = self._chosen()
        if category_name not in groups:
            raise located(RuntimeError, f"category_name: {category_name} could not found.")
        return self._read(groups[category_name], page, num_row)

    def _read(self, rows: list[int], page: int, num_row: int) -> list[dict[str, Any]]:
        assert self._shards is not None
        start = page * num_row
        if start >= len(rows):
            raise located(
                RuntimeError, f"Invalid data, page no: {page} or page size: {num_row} is invalid."
            )
        chosen = rows[start : start + num_row]
        return [read_row(*self._shards.locate(row), None) for row in chosen]


def _check_page(page: Any, num_row: Any) -> None:
    if not isinstance(page, int) or page < 0:
        raise ParamValueError("Page should be int and greater than or equal to 0.")
    if not isinstance(num_row, int) or num_row <= 0:
        raise ParamValueError("num_row should be int and greater than 0.")
