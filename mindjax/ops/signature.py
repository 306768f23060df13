"""Descriptions of operators' arguments (MindSpore: ``mindspore.ops.signature``)."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple


class sig_rw(enum.Enum):
    """Whether an argument is read or written."""

    RW_READ = 0
    RW_WRITE = 1
    RW_REF = 2


class sig_kind(enum.Enum):
    """How an argument is given."""

    KIND_POSITIONAL_KEYWORD = 0
    KIND_VAR_POSITIONAL = 1
    KIND_KEYWORD_ONLY = 2
    KIND_VAR_KEYWARD = 3
    KIND_EMPTY_DEFAULT_VALUE = 4


sig_dtype: Any = enum.Enum(
    "sig_dtype", ["T", *(f"T{i}" for i in range(1, 10)), "T_EMPTY_DEFAULT_VALUE"]
)


class Signature(NamedTuple):
    """What is said of one argument."""

    name: str
    rw: Any
    kind: Any
    default: Any
    dtype: Any


def make_sig(
    name: str = "var",
    rw: Any = sig_rw.RW_READ,
    kind: Any = sig_kind.KIND_POSITIONAL_KEYWORD,
    default: Any = sig_kind.KIND_EMPTY_DEFAULT_VALUE,
    dtype: Any = sig_dtype.T_EMPTY_DEFAULT_VALUE,
) -> Signature:
    """Describe an argument (MindSpore: ``make_sig``).

    Args:
        name: its name.
        rw: whether it is read or written.
        kind: how it is given.
        default: its default value.
        dtype: a letter that is the same for arguments of one dtype.
    """
    return Signature(name, rw, kind, default, dtype)
