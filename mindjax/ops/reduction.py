"""Reductions over axes: sums, means, products, extremes, truth; statistics are in `statistics`."""

from __future__ import annotations

import builtins
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype, int32
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.arithmetic import maximum, minimum, true_divide
from mindjax.ops.bound import BoundPrimitive, set_fields
from mindjax.ops.cast import cast, cast_like, convert_values
from mindjax.ops.logic import isnan, logical_not
from mindjax.ops.logic import where as select_where
from mindjax.ops.promotion import convert, floating, is_bool, truth

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array
Axis = int | tuple[int, ...] | list[int] | None


class _Reduction(BoundPrimitive, register=False):
    """What reductions called as ``record(x, axis)`` share; none given means all axes."""

    statics: ClassVar[tuple[str, ...]] = ("axis",)
    axis: Axis = field(default=(), kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the axes' types."""
        axis = checks.axis_or_axes("axis", statics["axis"], self.name)
        return {"axis": () if axis is None else axis}

    def _axes(self, x: Array) -> tuple[int, ...]:
        return checks.reduced_axes(self.axis, x.ndim, self.name)


def sum_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Give the dtype of sums and products: Int64 for small integers and truth values."""
    small = dtype.kind in "bi" or dtype == np.uint8
    return np.dtype(np.int64) if small else dtype


class ReduceSum(_Reduction):
    """Sum over axes, in the array's dtype (MindSpore: ``ops.ReduceSum``).

    Args:
        keep_dims: whether reduced axes stay, with size 1.
        skip_mode: whether an empty ``axis`` means no reduction instead of all axes.
    """

    keep_dims: bool = False
    skip_mode: bool = False

    def compute(self, x: Array) -> Array:
        """Sum an array."""
        if self.skip_mode and self.axis == ():
            return x
        axes = self._axes(x)
        if is_bool(x):
            return jnp.any(x, axes, keepdims=self.keep_dims)
        return jnp.sum(x, axes, dtype=x.dtype, keepdims=self.keep_dims)


class ReduceMean(_Reduction):
    """Mean over axes, in the array's dtype (MindSpore: ``ops.ReduceMean``).

    Args:
        keep_dims: whether reduced axes stay, with size 1.
    """

    keep_dims: bool = False

    def compute(self, x: Array) -> Array:
        """Average an array; integer means are cut towards zero."""
        return _mean(x, self._axes(x), self.keep_dims)


def _mean(x: Array, axes: tuple[int, ...], keep_dims: bool) -> Array:
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return jnp.mean(x, axes, dtype=x.dtype, keepdims=keep_dims)
    if is_bool(x):
        return jnp.all(x, axes, keepdims=keep_dims)
    count = int(np.prod([x.shape[a] for a in axes], dtype=np.int64))
    total = jnp.sum(convert(x, np.int64), axes, dtype=np.int64, keepdims=keep_dims)
    return convert(jax.lax.div(total, jnp.full_like(total, max(count, 1))), x.dtype)


class ReduceProd(_Reduction):
    """Product over axes, in the array's dtype (MindSpore: ``ops.ReduceProd``).

    Args:
        keep_dims: whether reduced axes stay, with size 1.
    """

    keep_dims: bool = False

    def compute(self, x: Array) -> Array:
        """Multiply the elements of an array."""
        axes = self._axes(x)
        if is_bool(x):
            return jnp.all(x, axes, keepdims=self.keep_dims)
        return jnp.prod(x, axes, dtype=x.dtype, keepdims=self.keep_dims)


def _refuse_empty(op: str, x: Array, axes: tuple[int, ...]) -> None:
    if builtins.any(x.shape[a] == 0 for a in axes):
        raise located(
            ValueError, f"For '{op}', an empty axis has no extreme element: shape {x.shape}."
        )


class ReduceMax(_Reduction):
    """Largest element over axes (MindSpore: ``ops.ReduceMax``).

    Args:
        keep_dims: whether reduced axes stay, with size 1.
    """

    keep_dims: bool = False

    def compute(self, x: Array) -> Array:
        """Take the largest element; NaN wins, and equal ones share the gradient."""
        axes = self._axes(x)
        _refuse_empty(self.name, x, axes)
        return jnp.max(x, axes, keepdims=self.keep_dims)


class ReduceMin(_Reduction):
    """Smallest element over axes (MindSpore: ``ops.ReduceMin``).

    Args:
        keep_dims: whether reduced axes stay, with size 1.
    """

    keep_dims: bool = False

    def compute(self, x: Array) -> Array:
        """Take the smallest element; NaN wins, and equal ones share the gradient."""
        axes = self._axes(x)
        _refuse_empty(self.name, x, axes)
        return jnp.min(x, axes, keepdims=self.keep_dims)


class ReduceAny(_Reduction):
    """Whether any element over axes is not zero (MindSpore: ``ops.ReduceAny``).

    Args:
        keep_dims: whether reduced axes stay, with size 1.
    """

    keep_dims: bool = False

    def compute(self, x: Array) -> Array:
        """Take the logical or of an array; UInt8 stays UInt8, as in the original."""
        found = jnp.any(truth(x), self._axes(x), keepdims=self.keep_dims)
        return convert(found, x.dtype) if x.dtype == np.uint8 else found


class ReduceAll(_Reduction):
    """Whether all elements over axes are not zero (MindSpore: ``ops.ReduceAll``).

    Args:
        keep_dims: whether reduced axes stay, with size 1.
    """

    keep_dims: bool = False

    def compute(self, x: Array) -> Array:
        """Take the logical and of an array."""
        return jnp.all(truth(x), self._axes(x), keepdims=self.keep_dims)


class _Extended(BoundPrimitive, register=False):
    """What reductions called as ``record(x, dim, keepdim, dtype)`` share."""

    statics: ClassVar[tuple[str, ...]] = ("dim", "keepdim", "dtype")
    dim: Axis = field(default=None, kw_only=True)
    keepdim: bool = field(default=False, kw_only=True)
    dtype: Number | None = field(default=None, kw_only=True)

    def bind(
        self, dim: Any = None, keepdim: bool = False, dtype: Any = None, **statics: Any
    ) -> dict[str, Any]:
        """Check the axes and the dtype."""
        return {
            "dim": checks.axis_or_axes("dim", dim, self.name),
            "keepdim": bool(keepdim),
            "dtype": None if dtype is None else as_dtype(dtype),
        }

    def _wanted(self, x: Array, default: np.dtype[Any]) -> Array:
        return convert_values(x, default if self.dtype is None else self.dtype.np)

    def _axes(self, x: Array) -> tuple[int, ...]:
        return checks.reduced_axes(self.dim, x.ndim, self.name, "axis")


class SumExt(_Extended):
    """Sum over axes; small integers add up to Int64 (MindSpore: ``SumExt``)."""

    def compute(self, x: Array) -> Array:
        """Sum an array."""
        x = self._wanted(x, sum_dtype(x.dtype))
        return jnp.sum(x, self._axes(x), dtype=x.dtype, keepdims=self.keepdim)


class MeanExt(_Extended):
    """Mean over axes (MindSpore: ``MeanExt``)."""

    def compute(self, x: Array) -> Array:
        """Average an array; integer means are cut towards zero."""
        x = self._wanted(x, x.dtype)
        return _mean(x, self._axes(x), self.keepdim)


class ProdExt(_Extended):
    """Product over axes; small integers multiply to Int64 (MindSpore: ``ProdExt``)."""

    def compute(self, x: Array) -> Array:
        """Multiply the elements of an array."""
        x = self._wanted(x, sum_dtype(x.dtype))
        return jnp.prod(x, self._axes(x), dtype=x.dtype, keepdims=self.keepdim)


_reduce_sum = ReduceSum()
sum_ext, mean_ext, prod_ext = SumExt(), MeanExt(), ProdExt()
_RECORDS: dict[tuple[type[_Reduction], bool], _Reduction] = {
    (cls, keep): cls(keep)  # type: ignore[call-arg]
    for cls in (ReduceMean, ReduceMax, ReduceMin, ReduceAny, ReduceAll)
    for keep in (False, True)
}


def reduce_with(cls: type[_Reduction], x: Any, axis: Any, keep_dims: Any) -> Any:
    """Run a reduction, with a record made once."""
    return _RECORDS[cls, bool(keep_dims)](x, axis)


def sum(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum over axes (MindSpore: ``ops.sum``).

    Args:
        input: Tensor of any shape.
        dim: axes to sum over, all by default.
        keepdim: whether reduced axes stay, with size 1.
        dtype: element type of the result; Int64 by default for Bool, UInt8 and signed integers.

    Returns:
        Tensor without the axes ``dim``.

    Raises:
        ValueError: there is no such axis.
        TypeError: ``dim`` holds no integers.
    """
    return sum_ext(input, dim, keepdim, dtype)


def mean(x: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Average over axes (MindSpore: ``ops.mean``).

    Args:
        x: Tensor of any shape.
        axis: axes to average over, all by default.
        keep_dims: whether reduced axes stay, with size 1.

    Returns:
        Tensor of the same dtype without the axes; integer means are cut towards zero.

    Raises:
        ValueError: there is no such axis.
        TypeError: ``axis`` holds no integers.
    """
    return reduce_with(ReduceMean, x, axis, keep_dims)


def reduce_mean(x: Tensor, axis: Axis = ()) -> Tensor:
    """Average over axes (MindSpore: ``ops.reduce_mean``).

    Args:
        x: Tensor of any shape.
        axis: axes to average over, all by default.

    Returns:
        Tensor of the same dtype without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return reduce_with(ReduceMean, x, axis, False)


def reduce_sum(x: Tensor, axis: Axis = ()) -> Tensor:
    """Sum over axes in the Tensor's own dtype (MindSpore: ``ops.reduce_sum``).

    Args:
        x: Tensor of any shape.
        axis: axes to sum over, all by default.

    Returns:
        Tensor of the same dtype without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return _reduce_sum(x, axis)


def prod(input: Tensor, axis: Axis = None, keep_dims: bool = False, dtype: Any = None) -> Tensor:
    """Multiply over axes (MindSpore: ``ops.prod``).

    Args:
        input: Tensor of any shape.
        axis: axes to multiply over, all by default.
        keep_dims: whether reduced axes stay, with size 1.
        dtype: element type of the result; Int64 by default for Bool, UInt8 and signed integers.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return prod_ext(input, axis, keep_dims, dtype)


def any(input: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Tell whether any element is not zero (MindSpore: ``ops.any``).

    Args:
        input: Tensor of any shape and dtype.
        axis: axes to reduce, all by default.
        keep_dims: whether reduced axes stay, with size 1.

    Returns:
        Bool Tensor without the axes, UInt8 for a UInt8 one.

    Raises:
        ValueError: there is no such axis.
    """
    return reduce_with(ReduceAny, input, axis, keep_dims)


def all(input: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Tell whether all elements are not zero (MindSpore: ``ops.all``).

    Args:
        input: Tensor of any shape and dtype.
        axis: axes to reduce, all by default.
        keep_dims: whether reduced axes stay, with size 1.

    Returns:
        Bool Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return reduce_with(ReduceAll, input, axis, keep_dims)


def masked(op: str, x: Any, initial: Any, mask: Any) -> Any:
    """Replace what a mask leaves out by the initial value.

    Args:
        op: name of the operator, for messages.
        x: Tensor.
        initial: number, needed with a mask.
        mask: Bool Tensor that broadcasts to ``x``, or None.

    Returns:
        The Tensor, masked.

    Raises:
        ValueError: there is a mask but no initial value.
    """
    if mask is None or mask is True:
        return x
    if initial is None:
        raise located(
            ValueError, f"For '{op}', 'initial' must be a number when 'where' is given, not None."
        )
    return select_where(mask, x, initial)


def amax(
    input: Tensor,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    initial: Any = None,
    where: Any = None,
) -> Tensor:
    """Take the largest element over axes (MindSpore: ``ops.amax``).

    Args:
        input: real Tensor of any shape.
        axis: axes to reduce, all by default.
        keepdims: whether reduced axes stay, with size 1.
        initial: least value of the result.
        where: Bool Tensor that says which elements count; it needs ``initial``.

    Returns:
        Tensor of the same dtype without the axes; equal elements share the gradient.

    Raises:
        ValueError: there is no such axis, a reduced axis is empty, or ``where`` lacks ``initial``.
    """
    out = reduce_with(ReduceMax, masked("amax", input, initial, where), axis, keepdims)
    return out if initial is None else maximum(out, initial)


def amin(
    input: Tensor,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    initial: Any = None,
    where: Any = None,
) -> Tensor:
    """Take the smallest element over axes (MindSpore: ``ops.amin``).

    Args:
        input: real Tensor of any shape.
        axis: axes to reduce, all by default.
        keepdims: whether reduced axes stay, with size 1.
        initial: greatest value of the result.
        where: Bool Tensor that says which elements count; it needs ``initial``.

    Returns:
        Tensor of the same dtype without the axes; equal elements share the gradient.

    Raises:
        ValueError: there is no such axis, a reduced axis is empty, or ``where`` lacks ``initial``.
    """
    out = reduce_with(ReduceMin, masked("amin", input, initial, where), axis, keepdims)
    return out if initial is None else minimum(out, initial)


class LogSumExp(_Reduction):
    """Logarithm of the sum of exponentials over axes (MindSpore: ``LogSumExp``).

    Args:
        keep_dims: whether reduced axes stay, with size 1.
    """

    keep_dims: bool = False

    def compute(self, x: Array) -> Array:
        """Reduce an array, shifted by its largest element."""
        return jax.nn.logsumexp(floating(x), self._axes(x), keepdims=self.keep_dims)


_logsumexp = {False: LogSumExp(), True: LogSumExp(True)}


def logsumexp(input: Tensor, dim: Axis, keepdim: bool = False) -> Tensor:
    """Take the logarithm of the sum of exponentials (MindSpore: ``ops.logsumexp``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.
        dim: axes to reduce; ``()`` means all.
        keepdim: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return _logsumexp[bool(keepdim)](input, dim)


class CountNonZero(Primitive):
    """Number of elements over axes that are not zero (MindSpore: ``ops.CountNonZero``).

    Args:
        dims: axes to reduce, all by default.
    """

    dims: Axis = None
    keep_dims: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        set_fields(self, dims=checks.axis_or_axes("dims", self.dims, self.name))

    def compute(self, x: Array) -> Array:
        """Count in an array; Int64."""
        axes = checks.reduced_axes(self.dims, x.ndim, self.name, "dims")
        return jnp.sum(truth(x), axes, dtype=np.int64, keepdims=self.keep_dims)


def count_nonzero(
    x: Tensor, axis: Axis = (), keep_dims: bool = False, dtype: Number = int32
) -> Tensor:
    """Count the elements that are not zero (MindSpore: ``ops.count_nonzero``).

    Args:
        x: Tensor of any shape.
        axis: axes to reduce; ``()`` means all.
        keep_dims: whether reduced axes stay, with size 1.
        dtype: element type of the result.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    dims = checks.axis_or_axes("axis", axis, "count_nonzero")
    return cast(CountNonZero(dims, keep_dims=bool(keep_dims))(x), dtype)


def nansum(
    input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None
) -> Tensor:
    """Sum over axes, NaN counting as 0 (MindSpore: ``ops.nansum``).

    Args:
        input: real Tensor of any shape.
        axis: axes to sum over, all by default.
        keepdims: whether reduced axes stay, with size 1.
        dtype: element type of the result.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return sum_ext(select_where(isnan(input), 0, input), axis, keepdims, dtype)


def nanmean(
    input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None
) -> Tensor:
    """Average over axes without the NaNs (MindSpore: ``ops.nanmean``).

    Args:
        input: real Tensor of any shape.
        axis: axes to average over, all by default.
        keepdims: whether reduced axes stay, with size 1.
        dtype: element type of the result.

    Returns:
        Tensor without the axes, NaN where nothing is left.

    Raises:
        ValueError: there is no such axis.
    """
    count = sum_ext(logical_not(isnan(input)), axis, keepdims)
    return true_divide(nansum(input, axis, keepdims, dtype=dtype), cast_like(count, input))


def aminmax(input: Tensor, *, axis: Axis = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Take the smallest and the largest element along an axis (MindSpore: ``ops.aminmax``).

    Args:
        input: real Tensor of any shape.
        axis: the axis; None means all.
        keepdims: whether the axis stays, with size 1.

    Returns:
        Smallest and largest elements.

    Raises:
        ValueError: there is no such axis.
    """
    return amin(input, axis, keepdims), amax(input, axis, keepdims)
