"""Evenly spaced numbers: range, arange, linspace, logspace."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import Number, float32, int64
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.creation import as_tensor, checked_dtype

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class Range(BoundPrimitive):
    """Numbers from start, a step apart; call: ``Range()(start, end, step)``."""

    maxlen: int = 1000000
    arrays: ClassVar[int] = 2
    count: int | None = field(default=None, kw_only=True)
    dtype: Number = field(default=int64, kw_only=True)

    def __call__(self, *inputs: Any) -> Any:
        """Make the Tensor; the numbers must be known, since they give its length."""
        if self.count is not None:
            return as_tensor(Primitive.__call__(self, *inputs))
        start, end, step = (_number("Range", v) for v in inputs)
        return _range(start, end, step, _range_dtype((start, end, step)), self.maxlen)

    def compute(self, start: Array, step: Array) -> Array:
        """Count, and scale."""
        assert self.count is not None
        wide = _counting(self.dtype)
        steps = lax.iota(wide, self.count)
        return (start.astype(wide) + steps * step.astype(wide)).astype(self.dtype.np)


def _counting(dtype: Number) -> Any:
    """Give the dtype in which a range is computed: no narrower than Float32, Int64 for integers."""
    if dtype.kind != "float":
        return np.dtype(np.int64)
    return dtype.np if dtype.bits >= 32 else np.dtype(np.float32)


def _number(op: str, value: Any) -> int | float:
    value = checks.python_value(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        kind = "String" if isinstance(value, str) else type(value).__name__
        raise located(
            TypeError,
            f"For {op}, the input type must be int or float or a TensorScalar in [mindspore.int32, "
            f"mindspore.float32, mindspore.int64, mindspore.float64], but got {kind}",
        )
    return value


def _range_dtype(values: Any) -> Number:
    return float32 if any(isinstance(v, float) for v in values) else int64


def _range(start: float, end: float, step: float, dtype: Number, limit: int | None = None) -> Any:
    if step == 0:
        raise located(ValueError, "For Range, delta cannot be equal to zero.")
    if start < end and step < 0:
        raise located(ValueError, "For Range, delta cannot be negative when limit > start.")
    if start > end and step > 0:
        raise located(ValueError, "For Range, delta cannot be positive when limit < start.")
    count = math.ceil((end - start) / step)
    if limit is not None and count > limit:
        raise located(
            ValueError, f"For 'Range', the number of elements {count} is more than maxlen {limit}."
        )
    wide = _counting(dtype)
    return Range(count=count, dtype=dtype)(np.asarray(start, wide), np.asarray(step, wide))


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """Make the numbers from ``start`` up to, not including, ``end`` (MindSpore: ``ops.arange``).

    Args:
        start: first number, or the end when ``end`` is None; number or 0-d Tensor.
        end: where to stop.
        step: distance.
        dtype: element type; by default Int64, Float32 when an argument is a float.

    Returns:
        1-d Tensor.

    Raises:
        TypeError: an argument is no number.
        ValueError: ``step`` is 0 or leads away from ``end``.
    """
    if end is None:
        start, end = 0, start
    first, last, distance = (_number("arange", v) for v in (start, end, step))
    kind = checked_dtype("arange", dtype, _range_dtype((first, last, distance)))
    return _range(first, last, distance, kind)


def range(start: Any, end: Any, step: Any, maxlen: int = 1000000) -> Tensor:
    """Make the numbers from ``start`` up to, not including, ``end`` (MindSpore: ``ops.range``).

    Args:
        start: first number.
        end: where to stop.
        step: distance.
        maxlen: largest number of elements.

    Returns:
        1-d Tensor, Int64 or Float32.

    Raises:
        TypeError: an argument is no number.
        ValueError: ``step`` is 0 or leads away from ``end``, or there are too many elements.
    """
    return Range(maxlen)(start, end, step)


class LinSpace(BoundPrimitive):
    """Evenly spaced numbers, ends included; call: ``LinSpace()(start, stop, num)``."""

    arrays: ClassVar[int] = 2
    statics: ClassVar[tuple[str, ...]] = ("num",)
    num: int | None = field(default=None, kw_only=True)
    dtype: Number | None = field(default=None, kw_only=True)

    def compute(self, start: Array, stop: Array) -> Array:
        """Interpolate."""
        num = self.num
        assert num is not None
        if num <= 0:
            raise located(
                ValueError,
                f"For primitive[LinSpace], the num must be greater than 0, but got {num}.",
            )
        dtype = _float_of(start) if self.dtype is None else self.dtype.np
        start, stop = start.astype(dtype)[..., None], stop.astype(dtype)[..., None]
        if num == 1:
            return start
        steps = lax.iota(np.int32, num).astype(dtype)
        # The last element is `stop` itself, whatever the rounding of the step.
        raised = start + steps * ((stop - start) / (num - 1))
        return jnp.where(steps == num - 1, stop, raised)


def _float_of(x: Array) -> Any:
    return x.dtype if jnp.issubdtype(x.dtype, jnp.floating) else np.dtype(np.float32)


def linspace(start: Any, end: Any, steps: int) -> Tensor:
    """Make evenly spaced numbers, both ends included (MindSpore: ``ops.linspace``).

    Args:
        start: number or Tensor: first number.
        end: number or Tensor: last number.
        steps: how many.

    Returns:
        Float Tensor; its last axis holds the numbers.

    Raises:
        TypeError: ``steps`` is no integer.
        ValueError: ``steps`` is not positive.
    """
    record = LinSpace(num=checks.integer("num", steps, "LinSpace"))
    return as_tensor(Primitive.__call__(record, *_arrays(start, end)))


def _arrays(*values: Any) -> tuple[Any, ...]:
    return tuple(
        np.asarray(v, np.float32) if isinstance(v, bool | int | float) else v for v in values
    )


def logspace(start: Any, end: Any, steps: int, base: Any = 10, *, dtype: Any = float32) -> Tensor:
    """Make numbers whose logarithms are evenly spaced (MindSpore: ``ops.logspace``).

    Args:
        start: exponent of the first number.
        end: exponent of the last number.
        steps: how many.
        base: positive base.
        dtype: element type.

    Returns:
        Tensor.
    """
    checked = checked_dtype("logspace", dtype, float32)
    return as_tensor(
        _LogSpace(checks.integer("steps", steps, "logspace"), checked)(*_arrays(start, end, base))
    )


class _LogSpace(Primitive, register=False):
    """Powers of a base with evenly spaced exponents."""

    steps: int
    dtype: Number

    def compute(self, start: Array, stop: Array, base: Array) -> Array:
        exponents = jnp.linspace(start, stop, self.steps, dtype=np.float64)
        return jnp.power(base.astype(np.float64), exponents).astype(self.dtype.np)
