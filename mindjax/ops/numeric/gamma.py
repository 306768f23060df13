"""Gamma functions and their kin: polygamma, incomplete gamma and beta, Hurwitz zeta."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import to_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.gather import known_values
from mindjax.ops.numeric.kinds import FLOATS, REAL, accept, accept_alike
from mindjax.ops.promotion import broadcast_shape, convert
from mindjax.ops.shape import broadcast

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def _wide(x: Array) -> Array:
    """Compute in Float32 at least."""
    return x if x.dtype == np.float64 else convert(x, np.float32)


class Lgamma(Primitive):
    """Logarithm of the absolute value of the gamma function (MindSpore: ``ops.Lgamma``)."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        accept("Lgamma", "x", x, (*FLOATS, "Int32"))
        out = lax.lgamma(_wide(x))
        return out if x.dtype == np.int32 else out.astype(x.dtype)


def lgamma(input: Tensor) -> Tensor:
    """Compute the logarithm of the absolute value of the gamma function (``ops.lgamma``).

    Args:
        input: float or Int32 Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype, Float32 for Int32.

    Raises:
        TypeError: ``input`` has another dtype.
    """
    return Lgamma()(input)


class Digamma(Primitive):
    """Derivative of the logarithm of the gamma function (MindSpore: ``ops.Digamma``)."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        accept("Digamma", "input", x, FLOATS)
        wide = _wide(x)
        zero = wide == 0
        out = lax.digamma(jnp.where(zero, 1.0, wide))
        return jnp.where(zero, -jnp.inf, out).astype(x.dtype)


def digamma(input: Tensor) -> Tensor:
    """Compute the derivative of `lgamma` (MindSpore: ``ops.digamma``).

    Args:
        input: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` holds no floats.
    """
    return Digamma()(input)


def _tail(s: Array, q: Array) -> Array:
    """Sum the Hurwitz zeta series for s > 1 and q > 0 by Euler and Maclaurin's formula."""
    terms = 12
    total = sum((jnp.power(q + k, -s) for k in range(terms)), jnp.zeros_like(q))
    end = q + terms
    power = jnp.power(end, -s)
    total = total + power * end / (s - 1) + 0.5 * power
    bernoulli = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
    factor = s * power / end
    for j, b in enumerate(bernoulli, 1):
        total = total + b / math.factorial(2 * j) * factor
        factor = factor * (s + (2 * j - 1)) * (s + 2 * j) / (end * end)
    return total


@jax.custom_jvp
def hurwitz(s: Array, q: Array) -> Array:
    """Compute the Hurwitz zeta function; NaN at non-integer powers of negative numbers."""
    floor = jnp.floor(q)
    rest = q - floor
    usual = lax.zeta(s, jnp.where(q > 0, q, 1.0))
    usual = jnp.where(s == jnp.inf, jnp.power(q, -s), usual)
    # Below 0 the terms up to the first positive one are a difference of two such series.
    sign = jnp.where(jnp.remainder(s, 2.0) == 0, 1.0, -1.0)
    inside = jnp.where(rest > 0, rest, 0.5)
    below = lax.zeta(s, 1.0 - inside) - lax.zeta(s, jnp.where(q < 0, 1.0 - q, 1.0))
    negative = lax.zeta(s, inside) + sign * below
    negative = jnp.where(s == jnp.floor(s), negative, jnp.nan)
    negative = jnp.where((rest > 0) | ~(s > 1), negative, jnp.inf)
    negative = jnp.where(jnp.isnan(q), jnp.nan, negative)
    return jnp.where(q > 0, usual, negative)


@hurwitz.defjvp
def _hurwitz_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Array, Array]:
    (s, q), (ds, dq) = primals, tangents
    fits = (s > 1) & (q > 0)
    safe_s, safe_q = jnp.where(fits, s, 2.0), jnp.where(fits, q, 1.0)
    slope = jax.jvp(lambda v: _tail(v, safe_q), (safe_s,), (jnp.ones_like(safe_s),))[1]
    by_s = jnp.where(fits, slope, jnp.nan)
    return hurwitz(s, q), ds * by_s - dq * s * hurwitz(s + 1, q)


class Zeta(Primitive):
    """Hurwitz zeta function (MindSpore: ``ops.Zeta``)."""

    def compute(self, x: Array, q: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        accept_alike("Zeta", REAL, q=q, x=x)
        shape = broadcast_shape("Zeta", x.shape, q.shape)
        return hurwitz(broadcast(x, shape), broadcast(q, shape))


def zeta(input: Any, other: Any) -> Tensor:
    """Sum ``1 / (k + other)**input`` over all k from 0 on (MindSpore: ``ops.zeta``).

    Args:
        input: Float32 or Float64 Tensor, or number: the power. Infinity at 1, NaN below.
        other: Float32 or Float64 Tensor, or number; the shapes broadcast.

    Returns:
        Tensor of the common shape; it is differentiable in both.

    Raises:
        TypeError: neither is a Tensor, the dtypes differ, or one is not a float.
    """
    x, q = input, other
    if not hasattr(x, "dtype") and not hasattr(q, "dtype"):
        raise located(TypeError, "For 'zeta', at least one of the inputs should be Tensor.")
    if isinstance(x, int | float):
        x = np.asarray(x, to_np(q.dtype))
    elif isinstance(q, int | float):
        q = np.asarray(q, to_np(x.dtype))
    return Zeta()(x, q)


class Polygamma(Primitive):
    """Derivatives of `Digamma`; call: ``Polygamma()(n, x)``."""

    def compute(self, n: Array, x: Array) -> Array:
        """Map an array element by element."""
        accept("Polygamma", "a", n, ("Int32", "Int64"))
        accept("Polygamma", "x", x, FLOATS)
        if n.ndim:
            raise located(
                ValueError,
                f"For 'Polygamma', 'a' should be a 0-dim Tensor, but got rank: {n.ndim}.",
            )
        wide = _wide(x)
        order = broadcast(n.astype(wide.dtype), wide.shape)
        out = _polygamma(order, wide)
        return out.astype(x.dtype)


@jax.custom_jvp
def _polygamma(n: Array, x: Array) -> Array:
    zero = x == 0
    first = jnp.where(zero, -jnp.inf, lax.digamma(jnp.where(zero, 1.0, x)))
    sign = jnp.where(jnp.remainder(n, 2.0) == 0, -1.0, 1.0)
    other = sign * jnp.exp(lax.lgamma(n + 1)) * hurwitz(jnp.maximum(n, 1.0) + 1, x)
    return jnp.where(n == 0, first, jnp.where(n > 0, other, jnp.nan))


@_polygamma.defjvp
def _polygamma_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Array, Array]:
    n, x = primals
    return _polygamma(n, x), _polygamma(n + 1, x) * tangents[1]


def polygamma(n: Tensor, input: Tensor) -> Tensor:
    """Compute the n-th derivative of `digamma` (MindSpore: ``ops.polygamma``).

    Args:
        n: 0-d Int32 or Int64 Tensor; negative orders give NaN.
        input: float Tensor of any shape.

    Returns:
        Tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``n`` is no integer Tensor, or ``input`` holds no floats.
        ValueError: ``n`` has axes.
    """
    if not hasattr(n, "dtype"):
        raise located(
            TypeError,
            f"For primitive[Polygamma], the input[0] should be a Tensor, but got {n!r}.",
        )
    return Polygamma()(n, input)


class Igamma(Primitive):
    """Lower regularized incomplete gamma function (MindSpore: ``ops.Igamma``)."""

    def compute(self, a: Array, x: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        accept_alike("Igamma", REAL, a=a, x=x)
        shape = broadcast_shape("Igamma", a.shape, x.shape)
        return lax.igamma(broadcast(a, shape), broadcast(x, shape))


def igamma(input: Tensor, other: Tensor) -> Tensor:
    """Compute the lower regularized incomplete gamma function (MindSpore: ``ops.igamma``).

    Args:
        input: Float32 or Float64 Tensor: the exponent a, above 0.
        other: Tensor of the same dtype: the limit x, not below 0; the shapes broadcast.

    Returns:
        Tensor of the common shape; it is differentiable in both.

    Raises:
        TypeError: a dtype is another, or they differ.
    """
    return Igamma()(input, other)


class Igammac(Primitive):
    """Upper regularized incomplete gamma function (MindSpore: ``ops.Igammac``)."""

    def compute(self, a: Array, x: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        accept_alike("Igammac", REAL, a=a, x=x)
        shape = broadcast_shape("Igammac", a.shape, x.shape)
        return lax.igammac(broadcast(a, shape), broadcast(x, shape))


def igammac(input: Tensor, other: Tensor) -> Tensor:
    """Compute the upper regularized incomplete gamma function (MindSpore: ``ops.igammac``).

    Args:
        input: Float32 or Float64 Tensor: the exponent a, above 0.
        other: Tensor of the same dtype: the limit x, not below 0; the shapes broadcast.

    Returns:
        Tensor of the common shape; it is differentiable in both.

    Raises:
        TypeError: a dtype is another, or they differ.
    """
    return Igammac()(input, other)


class Mvlgamma(Primitive):
    """Logarithm of the multivariate gamma function (MindSpore: ``ops.Mvlgamma``).

    Args:
        p: dimension, from 1 up.
    """

    p: int

    def __post_init__(self) -> None:
        checks.of_type("p", self.p, int, "Mvlgamma")
        checks.positive_int("p", self.p, "Mvlgamma")

    def __call__(self, *inputs: Any) -> Any:
        """Check the range where the values are known, and compute."""
        host = known_values(inputs[0])
        if host is not None and host.dtype.kind == "f" and not (host > (self.p - 1) / 2).all():
            raise located(
                ValueError,
                "For Mvlgamma, all elements of 'x' must be greater than (p-1)/2, but got "
                f"{host.min()} for p {self.p}.",
            )
        return super()._dispatch(*inputs)

    def compute(self, x: Array) -> Array:
        """Map an array element by element; NaN outside of the range."""
        accept("Mvlgamma", "x", x, REAL)
        total = sum(lax.lgamma(x - i / 2) for i in range(self.p))
        total = total + math.log(math.pi) * self.p * (self.p - 1) / 4
        return jnp.where(x > (self.p - 1) / 2, total, jnp.nan)


def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Compute the logarithm of the multivariate gamma function (MindSpore: ``ops.mvlgamma``).

    Args:
        input: Float32 or Float64 Tensor of any shape, above ``(p - 1) / 2``.
        p: dimension, from 1 up.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` has another dtype, or ``p`` is no int.
        ValueError: ``p`` is below 1, or an element is out of range (in PYNATIVE on the CPU; a
            compiled program gives NaN).
    """
    return Mvlgamma(p)(input)


@jax.custom_jvp
def _betainc(a: Array, b: Array, x: Array) -> Array:
    return lax.betainc(a, b, x)


@_betainc.defjvp
def _betainc_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Array, Array]:
    a, b, x = primals
    da, db, dx = tangents
    log = (a - 1) * jnp.log(x) + (b - 1) * jnp.log1p(-x)
    log = log + lax.lgamma(a + b) - lax.lgamma(a) - lax.lgamma(b)
    return _betainc(a, b, x), (
        _shape_slope(a, b, x) * da - _shape_slope(b, a, 1 - x) * db + jnp.exp(log) * dx
    )


def _shape_slope(a: Array, b: Array, x: Array) -> Array:
    """Differentiate by ``a``; there is no closed form, so by differences in Float64."""
    wide_a, wide_b, wide_x = (v.astype(np.float64) for v in (a, b, x))
    step = 1e-5 * wide_a
    above, below = (lax.betainc(wide_a + s, wide_b, wide_x) for s in (step, -step))
    return ((above - below) / (2 * step)).astype(a.dtype)


class Betainc(Primitive):
    """Regularized incomplete beta function (MindSpore: ``ops.Betainc``).

    It is differentiable in all three inputs, in ``a`` and ``b`` with eight digits.
    """

    def compute(self, a: Array, b: Array, x: Array) -> Array:
        """Map three arrays of one shape."""
        accept_alike("Betainc", REAL, a=a, b=b, x=x)
        checks.same_shape("Betainc", a=a.shape, b=b.shape)
        checks.same_shape("Betainc", a=a.shape, x=x.shape)
        return _betainc(a, b, x)


class _LogBeta(Primitive):
    """Logarithm of the beta function, exact for large arguments too."""

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast."""
        shape = broadcast_shape("LBeta", x.shape, y.shape)
        wide = [jnp.broadcast_to(_wide(a), shape) for a in (x, y)]
        return jax.scipy.special.betaln(*wide).astype(x.dtype)


def logbeta(x: Tensor, y: Tensor) -> Tensor:
    """Compute the logarithm of the beta function.

    Args:
        x: float Tensor.
        y: the same, of a shape that broadcasts with it.

    Returns:
        Tensor in the broadcast shape.
    """
    return _LogBeta()(x, y)
