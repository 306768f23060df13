"""Variance, standard deviation and median."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.primitive import Primitive
from mindjax.ops.extremes import pick
from mindjax.ops.promotion import convert, floating
from mindjax.ops.sorting import order

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array
Axis = int | tuple[int, ...] | list[int] | None


class Var(Primitive):
    """Variance over axes (MindSpore: ``Var``).

    Args:
        dim: the axes; None means all.
        correction: what is taken from the number of elements before dividing by it.
        keepdim: whether reduced axes stay, with size 1.
    """

    dim: Axis = None
    correction: int = 1
    keepdim: bool = False

    def compute(self, x: Array) -> Array:
        """Reduce an array."""
        return _moments(self, x)[0]


class VarMean(Primitive):
    """Variance and mean over axes (MindSpore: ``VarMean``).

    Args:
        dim: the axes; None means all.
        correction: what is taken from the number of elements before dividing by it.
        keepdim: whether reduced axes stay, with size 1.
    """

    dim: Axis = None
    correction: int = 1
    keepdim: bool = False

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Reduce an array."""
        return _moments(self, x)


class Std(Primitive):
    """Standard deviation over axes (MindSpore: ``Std``).

    Args:
        dim: the axes; None means all.
        correction: what is taken from the number of elements before dividing by it.
        keepdim: whether reduced axes stay, with size 1.
    """

    dim: Axis = None
    correction: int = 1
    keepdim: bool = False

    def compute(self, x: Array) -> Array:
        """Reduce an array."""
        return jnp.sqrt(_moments(self, x)[0])


class StdMean(Primitive):
    """Standard deviation and mean over axes (MindSpore: ``StdMean``).

    Args:
        dim: the axes; None means all.
        correction: what is taken from the number of elements before dividing by it.
        keepdim: whether reduced axes stay, with size 1.
    """

    dim: Axis = None
    correction: int = 1
    keepdim: bool = False

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Reduce an array."""
        variance, mean = _moments(self, x)
        return jnp.sqrt(variance), mean


class ReduceStd(Primitive):
    """Standard deviation and mean over axes (MindSpore: ``ops.ReduceStd``).

    Args:
        axis: the axes; none given means all.
        unbiased: whether to divide by one less than the number of elements.
        keep_dims: whether reduced axes stay, with size 1.
    """

    axis: Axis = ()
    unbiased: bool = True
    keep_dims: bool = False

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Reduce an array."""
        axis = tuple(self.axis) if isinstance(self.axis, list) else self.axis
        return StdMean(axis, int(self.unbiased), self.keep_dims).compute(x)


def _moments(record: Any, x: Array) -> tuple[Array, Array]:
    x = floating(x)
    axes = checks.reduced_axes(record.dim, x.ndim, record.name)
    count = int(np.prod([x.shape[a] for a in axes], dtype=np.int64))
    mean = jnp.mean(x, axes, dtype=x.dtype, keepdims=True)
    total = jnp.sum(jnp.square(jnp.abs(x - mean)), axes, keepdims=record.keepdim)
    variance = total / jnp.asarray(count - record.correction, total.dtype)
    return variance, mean if record.keepdim else jnp.squeeze(mean, axes)


def moments_record(cls: type[Any], axis: Any, ddof: Any, keepdims: Any) -> Any:
    """Make a record of this file with checked attributes."""
    return cls(
        checks.axis_or_axes("axis", axis, cls.__name__),
        int(ddof) if isinstance(ddof, bool) else checks.integer("ddof", ddof, cls.__name__),
        bool(keepdims),
    )


def var(input: Tensor, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Take the variance over axes (MindSpore: ``ops.var``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.
        axis: axes to reduce, all by default.
        ddof: what is taken from the number of elements before dividing by it.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return moments_record(Var, axis, ddof, keepdims)(input)


def std(input: Tensor, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Take the standard deviation over axes (MindSpore: ``ops.std``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.
        axis: axes to reduce, all by default.
        ddof: what is taken from the number of elements before dividing by it.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return moments_record(Std, axis, ddof, keepdims)(input)


def var_mean(
    input: Tensor, axis: Axis = None, ddof: int = 0, keepdims: bool = False
) -> tuple[Tensor, Tensor]:
    """Take the variance and the mean over axes (MindSpore: ``ops.var_mean``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.
        axis: axes to reduce, all by default.
        ddof: what is taken from the number of elements before dividing by it.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Two Tensors without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return moments_record(VarMean, axis, ddof, keepdims)(input)


def std_mean(
    input: Tensor, axis: Axis = None, ddof: int = 0, keepdims: bool = False
) -> tuple[Tensor, Tensor]:
    """Take the standard deviation and the mean over axes (MindSpore: ``ops.std_mean``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.
        axis: axes to reduce, all by default.
        ddof: what is taken from the number of elements before dividing by it.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Two Tensors without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return moments_record(StdMean, axis, ddof, keepdims)(input)


class Median(Primitive):
    """Lower median along an axis and its position (MindSpore: ``ops.Median``).

    Args:
        global_median: whether to take the median of all elements; the position is then 0.
        axis: the axis.
        keep_dims: whether the axis stays, with size 1.
        ignore_nan: whether NaNs are left out instead of being the median.
    """

    global_median: bool = False
    axis: int = 0
    keep_dims: bool = False
    ignore_nan: bool = False

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Find medians and their Int64 positions."""
        flat = self.global_median or x.ndim == 0
        source = x.reshape(-1) if flat else x
        axis = 0 if self.global_median else checks.axis_in_rank(self.axis, x.ndim, "Median")
        places = order(source, axis, False)
        missing = jnp.isnan(source) if jnp.issubdtype(x.dtype, jnp.inexact) else source != source
        gaps = jnp.sum(missing, axis, dtype=np.int32, keepdims=True)
        size = source.shape[axis]
        middle = jnp.maximum((size - gaps - 1) // 2, 0)
        if not self.ignore_nan:
            # NaNs are sorted last: the first of them stands behind the other elements.
            middle = jnp.where(gaps > 0, size - gaps, (size - 1) // 2)
        index = jnp.take_along_axis(places, middle, axis, mode="clip").squeeze(axis)
        value = pick(source, index, axis)
        index = jnp.zeros_like(index) if self.global_median else index
        if self.keep_dims and x.ndim:
            shape = (
                (1,) * x.ndim if self.global_median else (*x.shape[:axis], 1, *x.shape[axis + 1 :])
            )
            value, index = value.reshape(shape), index.reshape(shape)
        return value, convert(index, np.int64)


def median(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Take the lower median along an axis (MindSpore: ``ops.median``).

    Args:
        input: real Tensor of any shape.
        axis: the axis.
        keepdims: whether the axis stays, with size 1.

    Returns:
        Medians, and their Int64 positions; NaN where there is one.

    Raises:
        ValueError: there is no such axis.
    """
    return Median(False, checks.integer("axis", axis, "median"), bool(keepdims))(input)


def nanmedian(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Take the lower median along an axis without the NaNs (MindSpore: ``ops.nanmedian``).

    Args:
        input: real Tensor of any shape.
        axis: the axis.
        keepdims: whether the axis stays, with size 1.

    Returns:
        Medians, and their Int64 positions.

    Raises:
        ValueError: there is no such axis.
    """
    return Median(False, checks.integer("axis", axis, "nanmedian"), bool(keepdims), True)(input)
