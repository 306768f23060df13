"""What the converters of public data sets share."""

from __future__ import annotations

import enum
import io
import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.mindrecord.filewriter import FileWriter

_BATCH = 256
_HEADER_SIZE = 1 << 24
_PAGE_SIZE = 1 << 26


class MSRStatus(enum.IntEnum):
    """How a conversion ended."""

    SUCCESS = 0
    FAILED = 1


SUCCESS = MSRStatus.SUCCESS
FAILED = MSRStatus.FAILED


def set_large_pages(writer: FileWriter) -> None:
    """Set the sizes that converters use."""
    writer.set_header_size(_HEADER_SIZE)
    writer.set_page_size(_PAGE_SIZE)


def write_all(writer: FileWriter, rows: Iterable[dict[str, Any]], parallel: bool = False) -> None:
    """Write rows, some hundred at a time, and commit them.

    Args:
        writer: where to; it has its schema.
        rows: the rows.
        parallel: whether each shard has a thread of its own.
    """
    source = iter(rows)
    while batch := list(itertools.islice(source, _BATCH)):
        writer.write_raw_data(batch, parallel)
    writer.commit()


def check_partitions(partition_number: Any) -> int:
    """Check a number of files; ``FileWriter`` checks its range.

    Raises:
        ValueError: it is no int.
    """
    if not isinstance(partition_number, int):
        raise located(
            ValueError, f"The parameter partition_number must be int, but got {partition_number!r}."
        )
    return partition_number


def check_fields(fields: Any) -> None:
    """Check the index fields that a user gives to ``transform``.

    Raises:
        ValueError: it is no list.
    """
    if fields and not isinstance(fields, list):
        raise located(
            ValueError, f"The parameter fields should be None or list, but got {fields!r}."
        )


def to_jpeg(image: np.ndarray) -> bytes:
    """Encode an image as JPEG of quality 95.

    Args:
        image: (H, W) gray or (H, W, 3) RGB, uint8.

    Returns:
        The file's bytes.

    Raises:
        ImportError: pillow is missing.
    """
    try:
        from PIL import Image
    except ImportError:
        raise located(
            ImportError, 'Encoding images needs pillow: pip install "mindjax[vision]".'
        ) from None
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()
