"""Sums that are normalized at once, and gated units."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.ops.bound import BoundPrimitive

Array = jax.Array


class Swiglu(BoundPrimitive):
    """One half of an axis, by its sigmoid and by the other half; call: ``Swiglu()(x, dim)``."""

    statics: ClassVar[tuple[str, ...]] = ("dim",)
    dim: int = field(default=-1, kw_only=True)

    def compute(self, x: Array) -> Array:
        """Gate, in float32 for 16-bit floats."""
        checks.floating("input", x.dtype, self.name)
        axis = checks.axis_in_rank(self.dim, x.ndim, self.name, "dim")
        if not x.ndim or x.shape[axis] % 2:
            raise located(
                ValueError,
                f"For '{self.name}', the dimension specified by 'dim' must be divisible by 2, but "
                f"got x_shape[dim]: {x.shape[axis] if x.ndim else 0}.",
            )
        a, b = jnp.split(x if x.dtype == np.float64 else x.astype(np.float32), 2, axis)
        return (jax.nn.silu(a) * b).astype(x.dtype)


def swiglu(input: Any, dim: int = -1) -> Any:
    """Gate one half of an axis by the other (Shazeer 2020; MindSpore: ``ops.swiglu``).

    Args:
        input: float Tensor.
        dim: axis of even size.

    Returns:
        Tensor with half the size along ``dim``: ``a * sigmoid(a) * b``.

    Raises:
        TypeError: the input is not float.
        ValueError: there is no such axis, or its size is odd.
    """
    return Swiglu()(input, checks.integer("dim", dim, "Swiglu"))


def _epsilon(value: Any, owner: str) -> float:
    checks.of_type("epsilon", value, float, owner)
    checks.in_range("epsilon", value, 0, 1, owner, "(]")
    return value


def _check_pair(owner: str, x1: Array, x2: Array, **vectors: Array) -> None:
    checks.floating("x1", x1.dtype, owner)
    checks.floating("x2", x2.dtype, owner)
    checks.same_dtype(owner, x1=x1.dtype, x2=x2.dtype)
    if x1.shape != x2.shape:
        raise located(
            ValueError,
            f"For {owner}, shape of x1: {x1.shape} are not consistent with the shape x2: "
            f"{x2.shape} .",
        )
    for name, y in vectors.items():
        if y.ndim > x1.ndim or y.shape != x1.shape[x1.ndim - y.ndim :]:
            raise located(
                ValueError,
                f"For '{owner}', the shape of '{name}' must be that of the last axes of 'x1' "
                f"{x1.shape}, but got {y.shape}.",
            )


class AddRmsNorm(BoundPrimitive):
    """A sum by its root mean square; call: ``AddRmsNorm()(x1, x2, gamma, epsilon)``."""

    arrays: ClassVar[int] = 3
    statics: ClassVar[tuple[str, ...]] = ("epsilon",)
    epsilon: float = field(default=1e-6, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check epsilon."""
        return {k: _epsilon(v, self.name) for k, v in statics.items()}

    def compute(self, x1: Array, x2: Array, gamma: Array) -> tuple[Array, Array, Array]:
        """Normalize over the axes of ``gamma``."""
        _check_pair(self.name, x1, x2, gamma=gamma)
        total = x1 + x2
        wide = total if total.dtype == np.float64 else total.astype(np.float32)
        axes = tuple(range(total.ndim - gamma.ndim, total.ndim))
        square = jnp.mean(jnp.square(wide), axes, keepdims=True)
        inverse = lax.rsqrt(square + np.asarray(self.epsilon, wide.dtype))
        out = wide * inverse * gamma.astype(wide.dtype)
        return out.astype(x1.dtype), inverse, total


def add_rms_norm(x1: Any, x2: Any, gamma: Any, epsilon: float = 1e-6) -> tuple[Any, Any, Any]:
    """Add and normalize by the root mean square (MindSpore: ``ops.add_rms_norm``).

    Args:
        x1: float Tensor.
        x2: of the same shape and dtype.
        gamma: the shape of the last axes.
        epsilon: added to the mean square, in (0, 1].

    Returns:
        The normalized Tensor, the inverse root mean squares in float32, and the sum.

    Raises:
        TypeError: a dtype is wrong.
        ValueError: the shapes do not fit, or epsilon is out of range.
    """
    return AddRmsNorm()(x1, x2, gamma, epsilon)


class AddLayerNormV2(BoundPrimitive):
    """A sum normalized; call: ``(x1, x2, gamma, beta, epsilon, additionalOut)``."""

    arrays: ClassVar[int] = 4
    statics: ClassVar[tuple[str, ...]] = ("epsilon", "additionalOut")
    epsilon: float = field(default=1e-5, kw_only=True)
    additionalOut: bool = field(default=False, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check epsilon and the flag."""
        if "epsilon" in statics:
            checks.of_type("epsilon", statics["epsilon"], float, self.name)
        if "additionalOut" in statics:
            checks.boolean("additional_output", statics["additionalOut"], self.name)
        return statics

    def compute(
        self, x1: Array, x2: Array, gamma: Array, beta: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Normalize over the last axis; the sum is given only if asked, else zeros."""
        _check_pair(self.name, x1, x2, gamma=gamma, beta=beta)
        total = x1 + x2
        wide = total if total.dtype == np.float64 else total.astype(np.float32)
        mean = jnp.mean(wide, -1, keepdims=True)
        variance = jnp.mean(jnp.square(wide - mean), -1, keepdims=True)
        inverse = lax.rsqrt(variance + np.asarray(self.epsilon, wide.dtype))
        out = (wide - mean) * inverse * gamma.astype(wide.dtype) + beta.astype(wide.dtype)
        shown = total if self.additionalOut else jnp.zeros_like(total)
        return out.astype(x1.dtype), mean, inverse, shown


def add_layer_norm(
    x1: Any,
    x2: Any,
    gamma: Any,
    beta: Any,
    epsilon: float = 1e-5,
    additional_output: bool = False,
) -> tuple[Any, Any, Any, Any]:
    """Add and normalize over the last axis (MindSpore: ``ops.add_layer_norm``).

    Args:
        x1: float Tensor.
        x2: of the same shape and dtype.
        gamma: factors of the last axis.
        beta: added to it.
        epsilon: added to the variance.
        additional_output: whether the sum is given; zeros otherwise.

    Returns:
        The normalized Tensor, means and inverse deviations in float32, and the sum.

    Raises:
        TypeError: a dtype or type is wrong.
        ValueError: the shapes do not fit.
    """
    return AddLayerNormV2()(x1, x2, gamma, beta, epsilon, additional_output)
