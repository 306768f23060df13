"""Bessel functions of orders 0 and 1, with their derivatives in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.primitive import Primitive
from mindjax.ops.numeric import bessel_series as series

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array

_ROOT_HALF = math.sqrt(0.5)


def _chebyshev(t: Array, coefficients: Sequence[float]) -> Array:
    """Sum a Chebyshev series by Clenshaw's recurrence."""
    twice, last, before = 2 * t, jnp.zeros_like(t), jnp.zeros_like(t)
    for c in reversed(coefficients[1:]):
        last, before = twice * last - before + c, last
    return t * last - before + coefficients[0]


def _near(x: Array, limit: float, coefficients: Sequence[float]) -> Array:
    return _chebyshev(2 * jnp.square(x / limit) - 1, coefficients)


def _far(x: Array, order: int) -> tuple[Array, Array, Array, Array]:
    """Give P, Q, and the cosine and sine of the phase, times the amplitude, for x > 8."""
    t = 2 * jnp.square(8 / x) - 1
    p = _chebyshev(t, series.P1 if order else series.P0)
    q = _chebyshev(t, series.Q1 if order else series.Q0) / x
    # The phase x - pi/4 or x - 3pi/4 is never formed: that would cost digits of a large x.
    cos, sin = jnp.cos(x), jnp.sin(x)
    amplitude = jnp.sqrt(2 / (math.pi * x)) * _ROOT_HALF
    total, difference = (sin + cos) * amplitude, (sin - cos) * amplitude
    return (p, q, difference, -total) if order else (p, q, total, difference)


@jax.custom_jvp
def j0(x: Array) -> Array:
    """Compute the Bessel function of the first kind of order 0."""
    size = jnp.abs(x)
    p, q, cos, sin = _far(jnp.maximum(size, 8), 0)
    return jnp.where(size <= 8, _near(jnp.minimum(size, 8), 8, series.J0), p * cos - q * sin)


@jax.custom_jvp
def j1(x: Array) -> Array:
    """Compute the Bessel function of the first kind of order 1."""
    size = jnp.abs(x)
    p, q, cos, sin = _far(jnp.maximum(size, 8), 1)
    near = x * _near(jnp.minimum(size, 8), 8, series.J1)
    return jnp.where(size <= 8, near, jnp.sign(x) * (p * cos - q * sin))


@jax.custom_jvp
def y0(x: Array) -> Array:
    """Compute the Bessel function of the second kind of order 0."""
    low, high = jnp.minimum(x, 8), jnp.maximum(x, 8)
    near = _near(low, 8, series.Y0) + (2 / math.pi) * jnp.log(low) * j0(low)
    p, q, cos, sin = _far(high, 0)
    return jnp.where(x > 8, p * sin + q * cos, near)


@jax.custom_jvp
def y1(x: Array) -> Array:
    """Compute the Bessel function of the second kind of order 1."""
    low, high = jnp.minimum(x, 8), jnp.maximum(x, 8)
    part = jnp.where(low == 0, 0.0, jnp.log(low) * j1(low))
    near = low * _near(low, 8, series.Y1) + (2 / math.pi) * (part - 1 / jnp.abs(low))
    p, q, cos, sin = _far(high, 1)
    return jnp.where(x > 8, p * sin + q * cos, near)


@jax.custom_jvp
def k0e(x: Array) -> Array:
    """Compute exp(x) times the modified Bessel function of the second kind of order 0."""
    low, high = jnp.minimum(x, 2), jnp.maximum(x, 2)
    near = _near(low, 2, series.K0) - jnp.log(low / 2) * _i0(low)
    far = _chebyshev(4 / high - 1, series.K0E) / jnp.sqrt(high)
    return jnp.where(x > 2, far, near * jnp.exp(low))


@jax.custom_jvp
def k1e(x: Array) -> Array:
    """Compute exp(x) times the modified Bessel function of the second kind of order 1."""
    low, high = jnp.minimum(x, 2), jnp.maximum(x, 2)
    part = jnp.where(low == 0, 0.0, jnp.log(low / 2) * _i1(low))
    near = _near(low, 2, series.K1) / jnp.abs(low) + part
    far = _chebyshev(4 / high - 1, series.K1E) / jnp.sqrt(high)
    return jnp.where(x > 2, far, near * jnp.exp(low))


@jax.custom_jvp
def k0(x: Array) -> Array:
    """Compute the modified Bessel function of the second kind of order 0."""
    return jnp.exp(-x) * k0e(x)


@jax.custom_jvp
def k1(x: Array) -> Array:
    """Compute the modified Bessel function of the second kind of order 1."""
    return jnp.exp(-x) * k1e(x)


@jax.custom_jvp
def i0e(x: Array) -> Array:
    """Compute exp(-abs(x)) times the modified Bessel function of the first kind of order 0."""
    return lax.bessel_i0e(x)


@jax.custom_jvp
def i1e(x: Array) -> Array:
    """Compute exp(-abs(x)) times the modified Bessel function of the first kind of order 1."""
    return lax.bessel_i1e(x)


@jax.custom_jvp
def _i0(x: Array) -> Array:
    return jnp.exp(jnp.abs(x)) * lax.bessel_i0e(x)


@jax.custom_jvp
def _i1(x: Array) -> Array:
    return jnp.exp(jnp.abs(x)) * lax.bessel_i1e(x)


def _over(value: Array, x: Array, at_zero: float) -> Array:
    """Divide by x, with the limit at 0."""
    zero = x == 0
    return jnp.where(zero, at_zero, value / jnp.where(zero, 1.0, x))


_i0.defjvps(lambda g, out, x: _i1(x) * g)
_i1.defjvps(lambda g, out, x: (_i0(x) - _over(out, x, 0.5)) * g)
i0e.defjvps(lambda g, out, x: (i1e(x) - jnp.sign(x) * out) * g)
i1e.defjvps(lambda g, out, x: (i0e(x) - jnp.sign(x) * out - _over(out, x, 0.5)) * g)
j0.defjvps(lambda g, out, x: -j1(x) * g)
j1.defjvps(lambda g, out, x: (j0(x) - _over(j1(x), x, 0.5)) * g)
y0.defjvps(lambda g, out, x: -y1(x) * g)
y1.defjvps(lambda g, out, x: (y0(x) - out / x) * g)
k0.defjvps(lambda g, out, x: -k1(x) * g)
k1.defjvps(lambda g, out, x: -(k0(x) + out / x) * g)
k0e.defjvps(lambda g, out, x: (out - k1e(x)) * g)
k1e.defjvps(lambda g, out, x: (out - k0e(x) - out / x) * g)


class _Bessel(Primitive, register=False):
    """A function of each element, computed in Float32 at least."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        checks.floating("x", x.dtype, self.name)
        wide = x if x.dtype == np.float64 else x.astype(np.float32)
        return type(self).function(wide).astype(x.dtype)

    @staticmethod
    def function(_: Array) -> Array:
        """Map a Float32 or Float64 array."""
        raise NotImplementedError


def _plain(function: Callable[..., Any]) -> Any:
    return staticmethod(function)


class BesselJ0(_Bessel):
    """Bessel function of the first kind of order 0 (MindSpore: ``ops.BesselJ0``)."""

    function = _plain(j0)


class BesselJ1(_Bessel):
    """Bessel function of the first kind of order 1 (MindSpore: ``ops.BesselJ1``)."""

    function = _plain(j1)


class BesselY0(_Bessel):
    """Bessel function of the second kind of order 0 (MindSpore: ``ops.BesselY0``)."""

    function = _plain(y0)


class BesselY1(_Bessel):
    """Bessel function of the second kind of order 1 (MindSpore: ``ops.BesselY1``)."""

    function = _plain(y1)


class BesselI0(_Bessel):
    """Modified Bessel function of the first kind of order 0 (MindSpore: ``ops.BesselI0``)."""

    function = _plain(_i0)


class BesselI0e(_Bessel):
    """`BesselI0` times ``exp(-abs(x))`` (MindSpore: ``ops.BesselI0e``)."""

    function = _plain(i0e)


class BesselI1(_Bessel):
    """Modified Bessel function of the first kind of order 1 (MindSpore: ``ops.BesselI1``)."""

    function = _plain(_i1)


class BesselI1e(_Bessel):
    """`BesselI1` times ``exp(-abs(x))`` (MindSpore: ``ops.BesselI1e``)."""

    function = _plain(i1e)


class BesselK0(_Bessel):
    """Modified Bessel function of the second kind of order 0 (MindSpore: ``ops.BesselK0``)."""

    function = _plain(k0)


class BesselK0e(_Bessel):
    """`BesselK0` times ``exp(x)`` (MindSpore: ``ops.BesselK0e``)."""

    function = _plain(k0e)


class BesselK1(_Bessel):
    """Modified Bessel function of the second kind of order 1 (MindSpore: ``ops.BesselK1``)."""

    function = _plain(k1)


class BesselK1e(_Bessel):
    """`BesselK1` times ``exp(x)`` (MindSpore: ``ops.BesselK1e``)."""

    function = _plain(k1e)


def bessel_j0(x: Tensor) -> Tensor:
    """Compute the Bessel function of the first kind of order 0 (``ops.bessel_j0``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return BesselJ0()(x)


def bessel_j1(x: Tensor) -> Tensor:
    """Compute the Bessel function of the first kind of order 1 (``ops.bessel_j1``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return BesselJ1()(x)


def bessel_y0(x: Tensor) -> Tensor:
    """Compute the Bessel function of the second kind of order 0 (``ops.bessel_y0``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype; NaN below 0.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return BesselY0()(x)


def bessel_y1(x: Tensor) -> Tensor:
    """Compute the Bessel function of the second kind of order 1 (``ops.bessel_y1``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype; NaN below 0.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return BesselY1()(x)


def bessel_i0(x: Tensor) -> Tensor:
    """Compute the modified Bessel function of the first kind of order 0 (``ops.bessel_i0``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return BesselI0()(x)


def bessel_i0e(x: Tensor) -> Tensor:
    """Compute the modified Bessel function I0 times ``exp(-abs(x))`` (``ops.bessel_i0e``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return BesselI0e()(x)


def bessel_i1(x: Tensor) -> Tensor:
    """Compute the modified Bessel function of the first kind of order 1 (``ops.bessel_i1``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return BesselI1()(x)


def bessel_i1e(x: Tensor) -> Tensor:
    """Compute the modified Bessel function I1 times ``exp(-abs(x))`` (``ops.bessel_i1e``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return BesselI1e()(x)


def bessel_k0(x: Tensor) -> Tensor:
    """Compute the modified Bessel function of the second kind of order 0 (``ops.bessel_k0``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype; NaN below 0.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return BesselK0()(x)


def bessel_k0e(x: Tensor) -> Tensor:
    """Compute the modified Bessel function K0 times ``exp(x)`` (``ops.bessel_k0e``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype; NaN below 0.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return BesselK0e()(x)


def bessel_k1(x: Tensor) -> Tensor:
    """Compute the modified Bessel function of the second kind of order 1 (``ops.bessel_k1``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype; NaN below 0.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return BesselK1()(x)


def bessel_k1e(x: Tensor) -> Tensor:
    """Compute the modified Bessel function K1 times ``exp(x)`` (``ops.bessel_k1e``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype; NaN below 0.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return BesselK1e()(x)


def i0(input: Tensor) -> Tensor:
    """Compute the modified Bessel function of the first kind of order 0 (``ops.i0``).

    Args:
        input: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` holds no floats.
    """
    return bessel_i0(input)
