"""Random Tensors."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import Number, float16, float32, float64, int8, int16, int32, int64
from mindjax.core.errors import located
from mindjax.numpy.arguments import checked_dtype
from mindjax.numpy.array_creation import checked_shape
from mindjax.tensor import Tensor


def _one_of(dtype: Any, kinds: tuple[Number, ...], names: tuple[str, ...]) -> Number:
    if dtype not in (names if isinstance(dtype, str) else kinds):
        raise located(
            ValueError,
            f"The argument 'dtype' must be one of {[str(k) for k in kinds]}, but got {dtype!r}.",
        )
    return checked_dtype(dtype)


def _float(dtype: Any) -> Number:
    return _one_of(dtype, (float16, float32, float64), ("float", "float16", "float32", "float64"))


def _sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    if not shape:
        return (1,)
    sizes = shape
    if len(shape) == 1 and isinstance(shape[0], list | tuple):
        sizes = tuple(shape[0])
    for size in sizes:
        if not isinstance(size, int):
            raise located(
                TypeError,
                "The argument 'shape' must be ints, or one list or tuple of ints, but got "
                f"{size!r} of type {type(size).__name__}.",
            )
    return sizes


def rand(*shape: Any, dtype: Any = float32) -> Tensor:
    """Draw numbers from 0 to 1 (MindSpore: ``numpy.rand``).

    Args:
        shape: sizes, as integers or one sequence; (1,) by default.
        dtype: Float16, Float32 or Float64, or its name.

    Returns:
        Tensor.

    Raises:
        TypeError: a size is no integer.
        ValueError: ``dtype`` is another one.
    """
    kind = _float(dtype)
    return ops.cast(ops.rand(*_sizes(shape)), kind)


def randn(*shape: Any, dtype: Any = float32) -> Tensor:
    """Draw normally distributed numbers (MindSpore: ``numpy.randn``).

    Args:
        shape: sizes, as integers or one sequence; (1,) by default.
        dtype: Float16, Float32 or Float64, or its name.

    Returns:
        Tensor.

    Raises:
        TypeError: a size is no integer.
        ValueError: ``dtype`` is another one.
    """
    kind = _float(dtype)
    return ops.cast(ops.randn(*_sizes(shape)), kind)


def randint(
    minval: int, maxval: int | None = None, shape: Any = None, dtype: Any = int32
) -> Tensor:
    """Draw integers (MindSpore: ``numpy.randint``).

    Args:
        minval: lowest; if it is the only bound, the end, from 0.
        maxval: end, which does not belong to them.
        shape: int, or tuple or list of ints; (1,) by default.
        dtype: Int8, Int16, Int32 or Int64, or its name.

    Returns:
        Tensor.

    Raises:
        TypeError: a bound is no integer.
        ValueError: the interval is empty, or ``dtype`` another one.
    """
    for name, value in (("minval", minval), ("maxval", maxval)):
        if not isinstance(value, int) and not (value is None and name == "maxval"):
            raise located(
                TypeError,
                f"For mindspore.numpy.randint, the type of the argument '{name}' must be int, but "
                f"got {value!r}.",
            )
    low, high = (0, minval) if maxval is None else (minval, maxval)
    if low >= high:
        raise located(
            ValueError,
            "For mindspore.numpy.randint, the interval must not be empty, but got "
            f"minval={minval} and maxval={maxval}.",
        )
    kind = _one_of(dtype, (int8, int16, int32, int64), ("int", "int8", "int16", "int32", "int64"))
    sizes = (1,) if shape is None else checked_shape(shape)
    return ops.cast(ops.randint(low, high, sizes), kind)
