"""Along one axis: running sums of exponentials, differences, integrals."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.numeric.kinds import FLOATS, accept
from mindjax.ops.promotion import broadcast_shape, convert
from mindjax.ops.special import diff

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


class CumulativeLogsumexp(BoundPrimitive):
    """Logarithms of running sums of exponentials; call: ``CumulativeLogsumexp()(x, axis)``.

    Args:
        exclusive: whether an element itself does not count; the first is the lowest number.
        reverse: whether the sums run from the end.
    """

    exclusive: bool = False
    reverse: bool = False
    statics: ClassVar[tuple[str, ...]] = ("axis",)
    axis: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        checks.boolean("exclusive", self.exclusive, "CumulativeLogsumexp")
        checks.boolean("reverse", self.reverse, "CumulativeLogsumexp")

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the axis."""
        axis = statics["axis"]
        axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
        return {"axis": checks.integer("axis", axis, "CumulativeLogsumexp")}

    def compute(self, x: Array) -> Array:
        """Add up along the axis."""
        op = "CumulativeLogsumexp"
        accept(op, "x", x, FLOATS)
        if not x.ndim:
            raise located(
                ValueError,
                f"For primitive[{op}], the input x rank must be greater than or equal to 1, but "
                "got 0.",
            )
        if not -x.ndim <= self.axis < x.ndim:
            raise located(
                RuntimeError,
                f"For '{op}', 'axis' must be in range [{-x.ndim}, {x.ndim}), but got: {self.axis}.",
            )
        axis = self.axis % x.ndim
        if not x.size:
            return x
        wide = x if x.dtype == np.float64 else convert(x, np.float32)
        out = lax.cumlogsumexp(wide, axis, reverse=self.reverse).astype(x.dtype)
        if not self.exclusive:
            return out
        size = x.shape[axis]
        edge = list(x.shape)
        edge[axis] = 1
        lowest = jnp.full(edge, jnp.finfo(x.dtype).min, x.dtype)
        if self.reverse:
            parts = [lax.slice_in_dim(out, 1, size, axis=axis), lowest]
        else:
            parts = [lowest, lax.slice_in_dim(out, 0, size - 1, axis=axis)]
        return jnp.concatenate(parts, axis)


def logcumsumexp(input: Tensor, axis: int) -> Tensor:
    """Take logarithms of running sums of exponentials (MindSpore: ``ops.logcumsumexp``).

    Args:
        input: float Tensor with an axis or more.
        axis: the axis.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` holds no floats, or ``axis`` is no int.
        ValueError: ``input`` has no axis.
        RuntimeError: there is no such axis.
    """
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise located(TypeError, f"For 'logcumsumexp', 'axis' must be int type, but got {axis!r}.")
    return CumulativeLogsumexp()(input, axis)


def diff_ext(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Take differences of neighbours along an axis (MindSpore: ``mint.diff``).

    Args:
        input: Tensor with an axis or more; of truth values, whether neighbours differ.
        n: how often.
        dim: the axis.
        prepend: Tensor to put in front of ``input`` along the axis.
        append: Tensor to put behind it.

    Returns:
        Tensor whose axis is ``n`` shorter.

    Raises:
        TypeError: ``n`` or ``dim`` is no int.
        ValueError: ``n`` is negative, or there is no such axis.
    """
    checks.non_negative_int("n", checks.integer("n", n, "diff"), "diff")
    return diff(input, n, dim, prepend, append)


class _Trapezoid(Primitive, register=False):
    """Sum of trapezoids along an axis."""

    dx: float
    dim: int

    def compute(self, y: Array, x: Array | None = None) -> Array:
        if jnp.issubdtype(y.dtype, jnp.complexfloating):
            raise located(TypeError, f"For 'trapz', 'y' must be real, but got {y.dtype}.")
        if not -y.ndim <= self.dim < y.ndim:
            raise located(
                ValueError,
                f"For 'trapz', dim {self.dim} is out of bounds for array of dimension {y.ndim}.",
            )
        axis = self.dim % y.ndim
        kind = y.dtype if y.dtype == np.float16 else np.dtype(np.float32)
        wide = jnp.moveaxis(convert(y, kind), axis, -1)
        steps: Any = self.dx
        if x is not None:
            steps = self._steps(convert(x, kind), axis, y)
        pairs = wide[..., 1:] + wide[..., :-1]
        if x is not None:
            broadcast_shape("trapz", pairs.shape, steps.shape)
        return jnp.sum(pairs * steps, -1) / 2

    def _steps(self, x: Array, axis: int, y: Array) -> Array:
        """Give the widths of the trapezoids on the last axis."""
        if x.ndim not in (1, y.ndim):
            raise located(
                ValueError,
                f"For 'trapz', 'x' must have 1 or {y.ndim} axes, but got shape {x.shape}.",
            )
        x = jnp.moveaxis(x, axis, -1) if x.ndim > 1 else x
        if x.shape[-1] != y.shape[axis]:
            raise located(
                RuntimeError,
                "For 'trapz', there must be one `x` value for each sample point, but got the "
                f"shapes {x.shape} and {y.shape}.",
            )
        return x[..., 1:] - x[..., :-1]


def trapz(y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Integrate along an axis by the trapezoidal rule (MindSpore: ``ops.trapz``).

    Args:
        y: real Tensor of values.
        x: Tensor of places, with one axis or as many as ``y``; None takes even ones.
        dx: distance of even places.
        dim: the axis.

    Returns:
        Tensor without the axis, Float16 for Float16, else Float32.

    Raises:
        TypeError: ``dx`` is no float, or ``dim`` no int.
        ValueError: there is no such axis, or the shapes do not fit.
        RuntimeError: ``x`` has another number of places.
    """
    if not isinstance(dx, float):
        raise located(TypeError, f"For `trapz`, the input `dx` must be float, but got {dx!r}.")
    record = _Trapezoid(dx, checks.integer("dim", dim, "trapz"))
    return record(y) if x is None else record(y, x)
