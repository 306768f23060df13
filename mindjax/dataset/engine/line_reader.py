"""Reads single lines of a large text file."""

from __future__ import annotations

import os
from typing import IO

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_interval, check_type


class LineReader:
    """Gives the lines of a file by their numbers, from 1.

    Args:
        filename: path of the file; where its lines begin is looked up once.

    Raises:
        TypeError: ``filename`` is no text.
        RuntimeError: there is no such file.
    """

    def __init__(self, filename: str) -> None:
        check_type("LineReader", "filename", filename, str)
        self.filename = os.path.realpath(filename)
        if not os.path.exists(self.filename):
            raise located(RuntimeError, f"The input file [{filename}] does not exist.")
        if not os.path.isfile(self.filename):
            raise located(RuntimeError, f"The input file [{filename}] is not a regular file.")
        self.offsets = [0]
        with open(self.filename, "rb") as file:
            for line in file:
                self.offsets.append(self.offsets[-1] + len(line))
        self.offsets.pop()
        self._file: IO[bytes] | None = None

    def __getitem__(self, line: int) -> str:
        """Give a line; see ``readline``."""
        return self.readline(line)

    def __len__(self) -> int:
        """Count the lines."""
        return len(self.offsets)

    def __del__(self) -> None:
        """Close the file."""
        self.close()

    def len(self) -> int:
        """Count the lines."""
        return len(self.offsets)

    def readline(self, line: int) -> str:
        """Give a line without its end.

        Args:
            line: its number, from 1.

        Raises:
            TypeError: ``line`` is no int.
            ValueError: there is no such line.
        """
        check_type("LineReader", "line", line, int)
        check_interval("LineReader", "line", line, 1, len(self.offsets))
        if self._file is None:
            self._file = open(self.filename, "rb")  # noqa: SIM115  (close() closes it)
        self._file.seek(self.offsets[line - 1])
        text = self._file.readline().decode("utf-8")
        return text.removesuffix("\n").removesuffix("\r")

    def close(self) -> None:
        """Close the file; the next line opens it again."""
        file, self._file = getattr(self, "_file", None), None
        if file is not None:
            file.close()
