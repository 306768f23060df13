"""Declared inputs whose sizes change: checked, and padded to few sizes where that is safe."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from mindjax.core.errors import located
from mindjax.ops.creation import zeros
from mindjax.ops.sequence import concat
from mindjax.tensor.tensor import Tensor

SMALLEST = 8
"""Rows of the smallest bucket."""


def row_wise(target: Any) -> Any:
    """Promise that a Cell or function treats each row by itself, so that rows may be added.

    Where its inputs are declared with None as their first size (`Cell.set_inputs`,
    `enable_dynamic`), it then gets inputs with zero rows added up to the next power of two, and
    those rows are cut off each output: one program serves all sizes up to a bucket's. It must not
    be promised of what mixes rows (a mean over the batch, batch normalization in training), nor of
    outputs whose first axis is another.

    Args:
        target: Cell, or function of Tensors.

    Returns:
        The same.

    Raises:
        TypeError: it is neither, or a bound method, which keeps no promise: name its function.
    """
    if not callable(target) or inspect.ismethod(target) or not hasattr(target, "__dict__"):
        raise located(
            TypeError,
            f"For 'row_wise', 'target' must be a Cell or a function, but got {target!r}.",
        )
    target.__dict__["_row_wise"] = True
    return target


def is_row_wise(target: Any) -> bool:
    """Tell whether `row_wise` was promised of a Cell or function."""
    return bool(getattr(target, "__dict__", {}).get("_row_wise"))


def declared_shape(value: Any) -> tuple[Any, ...] | None:
    """Give the sizes that a Tensor was declared with; None of one that has values."""
    return getattr(value, "__dict__", {}).get("_declared_shape")


def known(size: Any) -> bool:
    """Tell whether a declared size is a number."""
    return isinstance(size, int) and size >= 0


def check_inputs(declared: Sequence[Any], given: Sequence[Any]) -> None:
    """Check a call's arguments against `Cell.set_inputs`.

    Args:
        declared: what `set_inputs` got: Tensors with sizes that may be unknown, or other values.
        given: the arguments.

    Raises:
        ValueError: the number of arguments, a dtype or a known size differs.
    """
    if len(declared) != len(given):
        raise located(
            ValueError,
            f"For 'set_inputs', the length of 'inputs' must be {len(given)}, the number of "
            f"arguments, but got {len(declared)}.",
        )
    for place, (wanted, value) in enumerate(zip(declared, given, strict=True), 1):
        if isinstance(wanted, tuple | list) and isinstance(value, tuple | list):
            check_inputs(wanted, value)
            continue
        if not isinstance(wanted, Tensor) or not isinstance(value, Tensor):
            continue
        sizes = declared_shape(wanted)
        sizes = tuple(wanted.shape) if sizes is None else sizes
        if wanted.dtype is not value.dtype:
            raise located(
                ValueError,
                "For set_inputs and tuple(list) in set_inputs, the dtype of "
                f"{place}th input must be the same as expected, but got expected: {wanted.dtype}, "
                f"and input: {value.dtype}!",
            )
        if sizes == (-2,):
            continue
        if len(sizes) != value.ndim:
            raise located(
                ValueError,
                "For set_inputs and tuple(list) in set_inputs, the dimension of "
                f"{place}th input must be the same as expected, but got expected: {len(sizes)}, "
                f"and input: {value.ndim}!",
            )
        for expected, size in zip(sizes, value.shape, strict=True):
            if known(expected) and expected != size:
                raise located(
                    ValueError,
                    "For set_inputs and tuple(list) in set_inputs, the shape of "
                    f"{place}th input must be the same as expected, but got expected: {expected}, "
                    f"and input: {size}!",
                )


def call_padded(call: Callable[..., Any], declared: Sequence[Any], args: tuple[Any, ...]) -> Any:
    """Call with rows added to each argument whose first size is unknown.

    Args:
        call: what runs the program.
        declared: the arguments' declarations.
        args: the arguments.

    Returns:
        The outputs, without the rows that were added.
    """
    places = [
        i
        for i, (wanted, value) in enumerate(zip(declared, args, strict=False))
        if isinstance(value, Tensor) and _opens(declared_shape(wanted))
    ]
    sizes = {args[i].shape[0] for i in places}
    if len(sizes) != 1:
        # Nothing is unknown, or rows of several counts: each shape has a program of its own.
        return call(*args)
    (rows,) = sizes
    bucket = max(SMALLEST, 1 << (rows - 1).bit_length()) if rows else SMALLEST
    if bucket == rows:
        return call(*args)
    padded = [_padded(v, bucket) if i in places else v for i, v in enumerate(args)]
    return _cut(call(*padded), bucket, rows)


def _opens(sizes: Any) -> bool:
    return bool(sizes) and sizes != (-2,) and not known(sizes[0])


def _padded(value: Any, bucket: int) -> Any:
    missing = (bucket - value.shape[0], *value.shape[1:])
    return concat((value, zeros(missing, value.dtype)), 0)


def _cut(out: Any, bucket: int, rows: int) -> Any:
    if isinstance(out, Tensor):
        if out.ndim == 0 or out.shape[0] != bucket:
            raise located(
                ValueError,
                f"'row_wise' was promised of what gives an output of shape {out.shape} for inputs "
                f"of {bucket} rows: only outputs whose first axis is the rows can be cut to size.",
            )
        return out[:rows]
    if isinstance(out, tuple) and hasattr(out, "_fields"):
        return type(out)._make(_cut(o, bucket, rows) for o in out)  # type: ignore[attr-defined]
    if isinstance(out, tuple | list):
        return type(out)(_cut(o, bucket, rows) for o in out)
    if isinstance(out, dict):
        return {k: _cut(v, bucket, rows) for k, v in out.items()}
    return out
