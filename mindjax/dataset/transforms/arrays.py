"""Transforms of arrays of any meaning: casts, labels, padding, slices."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from mindjax.core.dtype import Number, to_np
from mindjax.core.dtype import bool_ as ms_bool
from mindjax.core.errors import located
from mindjax.dataset.engine.checks import INT64_MAX, check_interval, check_type
from mindjax.dataset.transforms.operation import OneToOne, TensorOperation


class Relational(IntEnum):
    """Comparisons of ``Mask``."""

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


_COMPARE = {
    Relational.EQ: np.equal,
    Relational.NE: np.not_equal,
    Relational.GT: np.greater,
    Relational.GE: np.greater_equal,
    Relational.LT: np.less,
    Relational.LE: np.less_equal,
}


def output_dtype(owner: str, name: str, value: Any) -> np.dtype[Any]:
    """Bring a dtype argument of a transform to numpy's.

    Args:
        owner: the transform.
        name: argument's name.
        value: MindSpore dtype, or what ``np.dtype`` takes (``float`` is float64 here).

    Returns:
        The numpy dtype.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(value, Number):
        return to_np(value)
    try:
        if value is None or isinstance(value, int):
            raise TypeError
        return np.dtype(value)
    except TypeError:
        raise located(
            TypeError,
            f"For '{owner}': Argument {name} with value {value!r} is not of type "
            f"[mindspore.dtype, numpy.dtype], but got {type(value)}.",
        ) from None


def cast(rows: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Cast as C does: a float beyond an integer's range wraps through int64."""
    if rows.dtype == dtype:
        return rows
    if rows.dtype.kind == "f" and dtype.kind in "iu" and dtype.itemsize < 8:
        with np.errstate(invalid="ignore"):
            return rows.astype(np.int64).astype(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return rows.astype(dtype)


class TypeCast(OneToOne):
    """Casts to another dtype.

    Args:
        data_type: MindSpore or numpy dtype.
    """

    def __init__(self, data_type: Any) -> None:
        self.data_type = output_dtype("TypeCast", "data_type", data_type)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        if (column.dtype.kind in "US") != (self.data_type.kind in "US"):
            raise self._fail(
                f"TypeCast does not support cast from {_kind(column.dtype)} to "
                f"{_kind(self.data_type)}"
            )
        return cast(column, self.data_type)

    _apply_batch = _apply


def _kind(dtype: np.dtype[Any]) -> str:
    return {"U": "string", "S": "bytes"}.get(dtype.kind, str(dtype))


class OneHot(OneToOne):
    """Turns class numbers into rows of zeros and a one.

    Args:
        num_classes: length of a row.
        smoothing_rate: share of the one that is spread over all classes, in [0, 1].
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        check_type("OneHot", "num_classes", num_classes, int)
        if num_classes <= 0:
            raise located(
                ValueError, f"For 'OneHot': Input must be greater than 0, but got {num_classes}."
            )
        check_type("OneHot", "smoothing_rate", smoothing_rate, (int, float))
        check_interval("OneHot", "smoothing_rate", smoothing_rate, 0.0, 1.0)
        self.num_classes, self.smoothing_rate = num_classes, smoothing_rate

    def _apply(self, column: np.ndarray) -> np.ndarray:
        if column.ndim > 1 and column.shape != (len(column), 1):
            raise self._fail(f"Only support scalar or 1D input, got rank: {column.ndim}")
        if column.ndim > 1:
            column = column[:, 0]
        return self._encode(column)

    def _apply_batch(self, rows: np.ndarray) -> np.ndarray:
        if rows.ndim > 2:
            raise self._fail(f"Only support scalar or 1D input, got rank: {rows.ndim - 1}")
        return self._encode(rows)

    def _encode(self, column: np.ndarray) -> np.ndarray:
        if column.dtype.kind not in "iu":
            raise self._fail(f"Only support input of int type, but got: {column.dtype}")
        if column.size and column.max() >= self.num_classes:
            raise self._fail(
                f"index values should not bigger than num classes: {self.num_classes}, but got: "
                f"{column.max()}"
            )
        if column.size and column.min() < 0:
            raise self._fail(f"index values should not be negative, but got: {column.min()}")
        hot = column[..., None] == np.arange(self.num_classes, dtype=column.dtype)
        if self.smoothing_rate == 0:
            return hot.astype(column.dtype)
        low = self.smoothing_rate / self.num_classes
        return np.where(hot, 1.0 - self.smoothing_rate + low, low)


class Fill(OneToOne):
    """Replaces every element by one value.

    Args:
        fill_value: number, text or bytes; cast to the column's dtype.
    """

    def __init__(self, fill_value: Any) -> None:
        check_type("Fill", "fill_value", fill_value, (str, float, bool, int, bytes))
        self.fill_value = fill_value

    def _apply(self, column: np.ndarray) -> np.ndarray:
        fill = np.asarray(self.fill_value)
        if (column.dtype.kind in "US" or fill.dtype.kind in "US") and (
            column.dtype.kind != fill.dtype.kind
        ):
            raise self._fail(
                "fill_value and the input tensor must be of the same data type when involving "
                f"strings or bytes, but got fill_value data type {_kind(fill.dtype)} and input "
                f"tensor data type {_kind(column.dtype)}"
            )
        dtype = fill.dtype if fill.dtype.kind in "US" else column.dtype
        return np.full(column.shape, cast(fill, dtype), dtype)

    _apply_batch = _apply


class Duplicate(TensorOperation):
    """Gives its column twice."""

    def _apply(self, *columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if len(columns) != 1:
            raise self._fail("only supports transform one column each time.")
        return columns[0], columns[0]


class Concatenate(TensorOperation):
    """Joins its columns along an axis.

    Args:
        axis: 0 or -1, as in the original.
        prepend: array put before them.
        append: array put behind them.
    """

    def __init__(self, axis: int = 0, prepend: Any = None, append: Any = None) -> None:
        check_type("Concatenate", "axis", axis, int)
        if axis not in (0, -1):
            raise located(
                ValueError, f"For 'Concatenate': only 1D concatenation supported, got axis {axis}."
            )
        for name, value in (("prepend", prepend), ("append", append)):
            check_type("Concatenate", name, value, (np.ndarray, type(None)))
            if value is not None and value.ndim != 1:
                raise located(
                    ValueError, f"For 'Concatenate': can only prepend/append 1D arrays: {name}."
                )
        self.axis, self.prepend, self.append = axis, prepend, append

    def _apply(self, *columns: np.ndarray) -> np.ndarray:
        parts = [part for part in (self.prepend, *columns, self.append) if part is not None]
        for part in parts:
            if part.ndim != 1:
                raise self._fail(f"only 1D concatenation supported, got rank: {part.ndim}")
            if part.dtype != columns[0].dtype and part.dtype.kind not in "US":
                raise self._fail(
                    "input datatype does not match the prepend, append or another column's "
                    f"datatype, got input datatype: {columns[0].dtype}, other: {part.dtype}"
                )
        return np.concatenate(parts, self.axis)


class Mask(OneToOne):
    """Compares every element with a constant.

    Args:
        operator: the comparison.
        constant: number, bool or text.
        dtype: dtype of the result.
    """

    def __init__(self, operator: Relational, constant: Any, dtype: Any = ms_bool) -> None:
        check_type("Mask", "operator", operator, Relational)
        check_type("Mask", "constant", constant, (str, float, bool, int, bytes))
        self.operator, self.constant = operator, constant
        self.dtype = output_dtype("Mask", "dtype", dtype)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        if (column.dtype.kind in "US") != isinstance(self.constant, str | bytes):
            raise self._fail("input datatype does not match the value datatype.")
        # MindSpore casts the constant to the column's dtype.
        constant = cast(np.asarray(self.constant), column.dtype)
        if column.dtype.kind in "US":
            constant = np.asarray(self.constant)
        return cast(_COMPARE[self.operator](column, constant), self.dtype)

    _apply_batch = _apply


class PadEnd(OneToOne):
    """Pads at the end of each axis; what is longer is cut off.

    Args:
        pad_shape: length of each axis; None keeps it.
        pad_value: what is put there; None for 0 or the empty text.
    """

    def __init__(self, pad_shape: Any, pad_value: Any = None) -> None:
        check_type("PadEnd", "pad_shape", pad_shape, (list, tuple))
        for place, size in enumerate(pad_shape):
            check_type("PadEnd", f"pad_shape[{place}]", size, (int, type(None)))
            if size is not None:
                check_interval("PadEnd", f"pad_shape[{place}]", size, 1, INT64_MAX)
        check_type("PadEnd", "pad_value", pad_value, (str, float, bool, int, bytes, type(None)))
        self.pad_shape, self.pad_value = list(pad_shape), pad_value

    def _apply(self, column: np.ndarray) -> np.ndarray:
        if column.ndim != len(self.pad_shape):
            raise self._fail(
                f"invalid pad shape, as rank of input is: {column.ndim}, and rank of pad value: "
                f"{len(self.pad_shape)}"
            )
        text = column.dtype.kind in "US"
        if self.pad_value is not None and text != isinstance(self.pad_value, str | bytes):
            raise self._fail("pad_value and item of input tensor must be of the same type.")
        sizes = [
            have if size is None else size
            for size, have in zip(self.pad_shape, column.shape, strict=True)
        ]
        fill = np.asarray(self.pad_value if self.pad_value is not None else ("" if text else 0))
        dtype = np.result_type(column.dtype, fill.dtype) if text else column.dtype
        out = np.full(sizes, fill if text else cast(fill, dtype), dtype)
        kept = tuple(
            slice(0, min(size, have)) for size, have in zip(sizes, column.shape, strict=True)
        )
        out[kept] = column[kept]
        return out


class Slice(OneToOne):
    """Cuts elements out; every axis stays.

    Args:
        *slices: one an axis: an int, a list of ints, a ``slice``, None or True for the whole axis,
            or one ``...`` for all the axes between.
    """

    def __init__(self, *slices: Any) -> None:
        kinds = (int, list, slice, bool, type(None), type(Ellipsis))
        for entry in slices:
            check_type("Slice", "slice", entry, kinds)
            for value in entry if isinstance(entry, list) else ():
                check_type("Slice", "slice", value, int)
            if isinstance(entry, slice) and entry.step is not None and entry.step < 0:
                raise located(
                    RuntimeError, f"For 'Slice': Wrong slice object: {entry}, step is negative."
                )
        self.slices = slices

    def _apply(self, column: np.ndarray) -> np.ndarray:
        entries = list(self.slices)
        if Ellipsis in [entry for entry in entries if entry is Ellipsis]:
            at = next(place for place, entry in enumerate(entries) if entry is Ellipsis)
            middle = column.ndim - (len(entries) - 1)
            entries[at : at + 1] = [slice(None)] * max(0, middle)
        if len(entries) > column.ndim:
            raise self._fail(f"has {len(entries)} slices for a column of rank {column.ndim}.")
        for axis, entry in enumerate(entries):
            if entry is None or entry is True:
                continue
            chosen = [entry] if isinstance(entry, int) else entry
            if isinstance(chosen, list):
                size = column.shape[axis]
                for value in chosen:
                    if not -size <= value < size:
                        raise self._fail(f"Index {value} is out of bounds.")
                column = np.take(column, [value % size for value in chosen], axis)
            else:
                column = column[(slice(None),) * axis + (chosen,)]
        return column


class Unique(OneToOne):
    """Gives the different elements in the order of their first appearance.

    The result is three columns: the elements, for each input element its place among them (int32),
    and how often each comes (int32).
    """

    def _apply(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if column.ndim < 2:
            raise self._fail(
                f"input must be at least 2-D in order to do unique op, got rank:{column.ndim}"
            )
        values, first, inverse, counts = np.unique(
            column, return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return (
            values[order],
            place[inverse.ravel()].astype(np.int32),
            counts[order].astype(np.int32),
        )
