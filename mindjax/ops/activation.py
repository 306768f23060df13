"""Activation functions; tanh is an elementary function and lives elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.core.random import default_generator, key
from mindjax.ops.state import write
from mindjax.ops.times_sigmoid import times_sigmoid

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class ReLU(Primitive):
    """Rectified linear unit, max(x, 0) (MindSpore: ``ops.ReLU``)."""

    def compute(self, x: Array) -> Array:
        """Apply it to any real array."""
        if x.dtype == np.bool_:
            return x
        checks.real("input_x", x.dtype, "ReLU")
        return _rectified(x)


@jax.custom_jvp
def _rectified(x: Array) -> Array:
    # A select lets XLA keep fewer temporaries than a maximum; NaN passes through both.
    return jnp.where(x <= 0, jnp.zeros((), x.dtype), x)


@_rectified.defjvp
def _rectified_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return _rectified(x), jnp.where(x > 0, dx, jnp.zeros((), dx.dtype))


class ReLU6(Primitive):
    """Rectified linear unit cut at 6 (MindSpore: ``ops.ReLU6``)."""

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("input_x", x.dtype, "ReLU6")
        return jax.nn.relu6(x)


class Sigmoid(Primitive):
    """Logistic function (MindSpore: ``ops.Sigmoid``)."""

    def compute(self, x: Array) -> Array:
        """Apply it; integers are computed in Float32."""
        return lax.logistic(_as_float(x))


class GeLU(Primitive):
    """Gaussian error linear unit, tanh form (Hendrycks 2016; MindSpore: ``ops.GeLU``)."""

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("input", x.dtype, "GeLU")
        return jax.nn.gelu(x, approximate=True)


class _ExactGeLU(Primitive, register=False):
    """Gaussian error linear unit by the error function."""

    def compute(self, x: Array) -> Array:
        checks.floating("input", x.dtype, "GeLU")
        half = jnp.asarray(0.5, x.dtype)
        return x * (half * (1 + lax.erf(x * np.asarray(np.sqrt(0.5), x.dtype))))


class FastGeLU(Primitive):
    """Gaussian error linear unit by a logistic function (MindSpore: ``ops.FastGeLU``)."""

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("x", x.dtype, "FastGeLU")
        return x * lax.logistic(np.asarray(1.702, x.dtype) * x)


class SiLU(Primitive):
    """Sigmoid linear unit, x * sigmoid(x) (MindSpore: ``ops.silu``)."""

    def compute(self, x: Array) -> Array:
        """Apply it; integers are computed in Float32."""
        x = _as_float(x)
        return times_sigmoid(x)


class Elu(Primitive):
    """Exponential linear unit (Clevert 2015; MindSpore: ``ops.Elu``).

    Args:
        alpha: height of the negative side.
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        checks.of_type("alpha", self.alpha, (float, int), "Elu")

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("input_x", x.dtype, "Elu")
        return jax.nn.elu(x, self.alpha)


class CeLU(Primitive):
    """Continuously differentiable exponential linear unit (MindSpore: ``ops.CeLU``).

    Args:
        alpha: scale of the negative side, not 0.
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        checks.of_type("alpha", self.alpha, (float, int), "CeLU")
        if self.alpha == 0:
            raise located(
                ValueError, "For primitive[CeLU], the alpha must be not equal to 0, but got 0."
            )

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("x", x.dtype, "CeLU")
        return jax.nn.celu(x, self.alpha)


class SeLU(Primitive):
    """Self-normalising exponential linear unit (Klambauer 2017; MindSpore: ``ops.SeLU``)."""

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("input_x", x.dtype, "SeLU")
        return jax.nn.selu(x)


class _LeakyReLU(Primitive, register=False):
    """x above 0, alpha * x below."""

    alpha: float = 0.2

    def compute(self, x: Array) -> Array:
        checks.floating("input", x.dtype, "LeakyReLU")
        return jnp.where(x > 0, x, np.asarray(self.alpha, x.dtype) * x)


class PReLU(Primitive):
    """Leaky rectified linear unit with learned slopes (He 2015; MindSpore: ``ops.PReLU``)."""

    def compute(self, x: Array, weight: Array) -> Array:
        """Apply it.

        Args:
            x: (N, C, ...), float.
            weight: (C,) or (1,), of the same dtype.

        Returns:
            The shape and dtype of ``x``.
        """
        channels = x.shape[1] if x.ndim > 1 else 1
        if weight.ndim > 1 or weight.size not in (1, channels):
            raise located(
                ValueError,
                "For 'PReLU', the channel of 'x' and the size of 'weight' must be equal, or the "
                f"latter 1, but got 'x' shape: {x.shape}, 'weight' shape: {weight.shape}.",
            )
        shape = (1, weight.size) + (1,) * (x.ndim - 2) if x.ndim > 1 else (weight.size,)
        return jnp.where(x > 0, x, weight.reshape(shape) * x)


class HSigmoid(Primitive):
    """Piecewise linear sigmoid, relu6(x + 3) / 6 (MindSpore: ``ops.HSigmoid``)."""

    def compute(self, x: Array) -> Array:
        """Apply it; integers are rounded towards 0."""
        y = _as_float(x)
        return (jax.nn.relu6(y + 3) / 6).astype(x.dtype)


class HSwish(Primitive):
    """x * relu6(x + 3) / 6 (Howard 2019; MindSpore: ``ops.HSwish``)."""

    def compute(self, x: Array) -> Array:
        """Apply it; integers are rounded towards 0."""
        y = _as_float(x)
        return (y * (jax.nn.relu6(y + 3) / 6)).astype(x.dtype)


class Softplus(Primitive):
    """log(1 + exp(x)) (MindSpore: ``ops.Softplus``)."""

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("x", x.dtype, "Softplus")
        return jax.nn.softplus(x)


class _ScaledSoftplus(Primitive, register=False):
    """Softplus of beta * x, over beta; the identity where beta * x is above the threshold."""

    beta: float = 1.0
    threshold: float = 20.0

    def compute(self, x: Array) -> Array:
        checks.floating("x", x.dtype, "Softplus")
        scaled = x * np.asarray(self.beta, x.dtype)
        return jnp.where(
            scaled > self.threshold, x, jax.nn.softplus(scaled) / np.asarray(self.beta, x.dtype)
        )


class LogSigmoid(Primitive):
    """log(sigmoid(x)) (MindSpore: ``ops.logsigmoid``)."""

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("x", x.dtype, "LogSigmoid")
        return -jax.nn.softplus(-x)


class Mish(Primitive):
    """x * tanh(softplus(x)) (Misra 2019; MindSpore: ``ops.Mish``)."""

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("x", x.dtype, "Mish")
        return x * jnp.tanh(jax.nn.softplus(x))


class Softsign(Primitive):
    """x / (1 + |x|) (MindSpore: ``ops.Softsign``)."""

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("input_x", x.dtype, "Softsign")
        return x / (1 + jnp.abs(x))


class HShrink(Primitive):
    """0 within [-lambd, lambd], the identity outside (MindSpore: ``ops.HShrink``).

    Args:
        lambd: half width; a negative one counts as 0.
    """

    lambd: float = 0.5

    def __post_init__(self) -> None:
        checks.of_type("lambd", self.lambd, (bool, int, float), "HShrink")

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("input", x.dtype, "HShrink")
        return jnp.where(jnp.abs(x) > max(self.lambd, 0.0), x, jnp.zeros_like(x))


class SoftShrink(Primitive):
    """0 within [-lambd, lambd], moved towards 0 by lambd outside (MindSpore: ``ops.SoftShrink``).

    Args:
        lambd: half width, at least 0.
    """

    lambd: float = 0.5

    def __post_init__(self) -> None:
        checks.of_type("lambd", self.lambd, (int, float), "SoftShrink")
        if self.lambd < 0:
            raise located(
                RuntimeError,
                "For 'SoftShrink', the values for lambd should be greater or equal to 0, but "
                f"found to be [{self.lambd}].",
            )

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("input", x.dtype, "SoftShrink")
        width = np.asarray(self.lambd, x.dtype)
        moved = jnp.where(x > 0, x - width, x + width)
        return jnp.where(jnp.abs(x) > width, moved, jnp.zeros_like(x))


class HardTanh(Primitive):
    """x cut at two bounds (MindSpore: ``ops.hardtanh``).

    Args:
        min_val: lower bound.
        max_val: upper bound.
    """

    min_val: float = -1.0
    max_val: float = 1.0

    def compute(self, x: Array) -> Array:
        """Apply it to any real array."""
        low, high = np.asarray(self.min_val, x.dtype), np.asarray(self.max_val, x.dtype)
        # A gradient passes inside only; a cut by max and min would halve it at the bounds.
        cut = jnp.where(x < low, low, x)
        return jnp.where(cut > high, high, cut)


class Threshold(Primitive):
    """x above a threshold, a constant elsewhere (MindSpore: ``ops.threshold``).

    Args:
        threshold: the bound.
        value: the constant.
    """

    threshold: float
    value: float

    def compute(self, x: Array) -> Array:
        """Apply it to any real array."""
        return jnp.where(
            x > np.asarray(self.threshold, x.dtype), x, np.asarray(self.value, x.dtype)
        )


class TanhShrink(Primitive):
    """x - tanh(x) (MindSpore: ``ops.tanhshrink``)."""

    def compute(self, x: Array) -> Array:
        """Apply it; integers are computed in Float32."""
        x = _as_float(x)
        return x - jnp.tanh(x)


class GLU(Primitive):
    """First half times the sigmoid of the second (Dauphin 2016; MindSpore: ``ops.GLU``).

    Args:
        axis: axis that is halved.
    """

    axis: int = -1

    def __post_init__(self) -> None:
        checks.of_type("axis", self.axis, int, "GLU")

    def compute(self, x: Array) -> Array:
        """Apply it to a float array whose size along the axis is even."""
        axis = checks.axis_in_rank(self.axis, x.ndim, "GLU", scalar=False)
        if x.shape[axis] % 2:
            raise located(
                ValueError,
                f"For 'GLU', x_shape[{axis}] must be divisible by 2, but got {x.shape[axis]}.",
            )
        half = x.shape[axis] // 2
        value, gate = lax.split(x, (half, half), axis)
        return value * lax.logistic(gate)


class Logit(Primitive):
    """log(x / (1 - x)) (MindSpore: ``ops.Logit``).

    Args:
        eps: x is cut to [eps, 1 - eps] first; a negative one cuts nothing.
    """

    eps: float = -1.0

    def __post_init__(self) -> None:
        checks.of_type("eps", self.eps, (float, int), "Logit")

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("input", x.dtype, "Logit")
        if self.eps >= 0:
            low, high = np.asarray(self.eps, x.dtype), np.asarray(1 - self.eps, x.dtype)
            x = jnp.where(x < low, low, jnp.where(x > high, high, x))
        return jnp.log(x / (1 - x))


class _RReLU(Primitive, register=False):
    """Leaky rectified linear unit with uniform random slopes."""

    lower: float
    upper: float

    def compute(self, x: Array, seed: Array, offset: Array) -> Array:
        checks.floating("input", x.dtype, "RReLU")
        slope = jax.random.uniform(key(seed, offset), x.shape, jnp.float32, self.lower, self.upper)
        return jnp.where(x < 0, x * slope.astype(x.dtype), x)


def _as_float(x: Array) -> Array:
    return x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(np.float32)


_RELU, _RELU6, _SIGMOID, _GELU, _EXACT_GELU = ReLU(), ReLU6(), Sigmoid(), GeLU(), _ExactGeLU()
_FAST_GELU, _SILU, _SELU, _PRELU, _HSIGMOID = FastGeLU(), SiLU(), SeLU(), PReLU(), HSigmoid()
_HSWISH, _SOFTPLUS, _LOGSIGMOID, _MISH = HSwish(), Softplus(), LogSigmoid(), Mish()
_SOFTSIGN, _TANHSHRINK = Softsign(), TanhShrink()


def relu(input: Any, inplace: bool = False) -> Tensor:
    """Cut an array at 0 from below (MindSpore: ``ops.relu``).

    Args:
        input: any shape, real.
        inplace: write the result into ``input`` and give that.

    Returns:
        Tensor of the same shape and dtype.
    """
    out = _RELU(input)
    return write_back(input, out, "relu") if inplace else out


def write_back(target: Any, value: Any, owner: str) -> Any:
    """Write a result into the Tensor that it was made of, and give that Tensor.

    Args:
        target: Tensor that the op was given.
        value: its result, of the same shape and dtype.
        owner: op named in the error.

    Returns:
        ``target``.

    Raises:
        TypeError: ``target`` is no Tensor.
    """
    if not isinstance(target, Handle):
        raise located(
            TypeError, f"For '{owner}', 'inplace' needs a Tensor, but got {type(target).__name__}."
        )
    return write(target, value)


def relu6(x: Any) -> Tensor:
    """Cut a float array at 0 and 6 (MindSpore: ``ops.relu6``).

    Args:
        x: any shape, float.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _RELU6(x)


def sigmoid(input: Any) -> Tensor:
    """Apply the logistic function (MindSpore: ``ops.sigmoid``).

    Args:
        input: any shape, float.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _SIGMOID(input)


def gelu(input: Any, approximate: str = "none") -> Tensor:
    """Apply the Gaussian error linear unit (MindSpore: ``ops.gelu``).

    Args:
        input: any shape, float.
        approximate: ``"none"`` by the error function, ``"tanh"`` by its approximation.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        ValueError: ``approximate`` is neither.
    """
    if approximate not in ("none", "tanh"):
        raise located(
            ValueError,
            "For ops.gelu, approximate value should be either 'none' or 'tanh', but got "
            f"{approximate!r}.",
        )
    return _GELU(input) if approximate == "tanh" else _EXACT_GELU(input)


def fast_gelu(x: Any) -> Tensor:
    """Apply the Gaussian error linear unit in its logistic form (MindSpore: ``ops.fast_gelu``).

    Args:
        x: any shape, float.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _FAST_GELU(x)


def silu(input: Any) -> Tensor:
    """Apply x * sigmoid(x) (MindSpore: ``ops.silu``).

    Args:
        input: any shape, float.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _SILU(input)


def elu(input_x: Any, alpha: float = 1.0) -> Tensor:
    """Apply the exponential linear unit (MindSpore: ``ops.elu``).

    Args:
        input_x: any shape, float.
        alpha: height of the negative side.

    Returns:
        Tensor of the same shape and dtype.
    """
    return Elu(alpha)(input_x)


def celu(x: Any, alpha: float = 1.0) -> Tensor:
    """Apply the continuously differentiable exponential linear unit (MindSpore: ``ops.celu``).

    Args:
        x: any shape, float.
        alpha: scale of the negative side, not 0.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        ValueError: ``alpha`` is 0.
    """
    return CeLU(alpha)(x)


def selu(input_x: Any) -> Tensor:
    """Apply the self-normalising exponential linear unit (MindSpore: ``ops.selu``).

    Args:
        input_x: any shape, float.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _SELU(input_x)


def leaky_relu(input: Any, alpha: float = 0.2) -> Tensor:
    """Scale what is below 0 (MindSpore: ``ops.leaky_relu``).

    Args:
        input: any shape, float.
        alpha: slope below 0.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``alpha`` is not a number.
    """
    return _LeakyReLU(checks.of_type("alpha", alpha, (float, int), "leaky_relu"))(input)


def prelu(input: Any, weight: Any) -> Tensor:
    """Scale what is below 0 by a slope a channel (MindSpore: ``ops.prelu``).

    Args:
        input: (N, C, ...), float.
        weight: (C,) or (1,).

    Returns:
        Tensor of the shape and dtype of ``input``.

    Raises:
        ValueError: the sizes differ.
    """
    return _PRELU(input, weight)


def hardsigmoid(input: Any) -> Tensor:
    """Apply the piecewise linear sigmoid (MindSpore: ``ops.hardsigmoid``).

    Args:
        input: any shape, float.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _HSIGMOID(input)


def hardswish(input: Any) -> Tensor:
    """Apply x * hardsigmoid(x) (MindSpore: ``ops.hardswish``).

    Args:
        input: any shape, float.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _HSWISH(input)


def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Tensor:
    """Apply log(1 + exp(beta * x)) / beta (MindSpore: ``ops.softplus``).

    Args:
        input: any shape, float.
        beta: scale.
        threshold: above it, beta * x counts as the logarithm itself.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _ScaledSoftplus(
        checks.number("beta", beta, "softplus"), checks.number("threshold", threshold, "softplus")
    )(input)


def logsigmoid(x: Any) -> Tensor:
    """Apply the logarithm of the logistic function (MindSpore: ``ops.logsigmoid``).

    Args:
        x: any shape, float.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _LOGSIGMOID(x)


def mish(x: Any) -> Tensor:
    """Apply x * tanh(softplus(x)) (MindSpore: ``ops.mish``).

    Args:
        x: any shape, float.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _MISH(x)


def softsign(x: Any) -> Tensor:
    """Apply x / (1 + |x|) (MindSpore: ``ops.softsign``).

    Args:
        x: any shape, float.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _SOFTSIGN(x)


def hardshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Set what is within [-lambd, lambd] to 0 (MindSpore: ``ops.hardshrink``).

    Args:
        input: any shape, float.
        lambd: half the width of what becomes 0; a negative one counts as 0.

    Returns:
        Tensor of the same shape and dtype.
    """
    return HShrink(lambd)(input)


def softshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Move an array towards 0 by ``lambd`` (MindSpore: ``ops.softshrink``).

    Args:
        input: any shape, float.
        lambd: distance that elements move, not negative.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        RuntimeError: ``lambd`` is negative.
    """
    return SoftShrink(lambd)(input)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Cut an array at two bounds (MindSpore: ``ops.hardtanh``).

    Args:
        input: any shape, float.
        min_val: lower bound.
        max_val: upper bound.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: a bound is no number.
    """
    checks.of_type("min_val", min_val, (float, int), "hardtanh")
    checks.of_type("max_val", max_val, (float, int), "hardtanh")
    return HardTanh(min_val, max_val)(input)


def threshold(input: Any, thr: float, value: float) -> Tensor:
    """Keep what is above a threshold and set the rest to a value (MindSpore: ``ops.threshold``).

    Args:
        input: any shape, float.
        thr: what is not above it is replaced.
        value: number put in its place.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``thr`` or ``value`` is no number.
    """
    checks.of_type("thr", thr, (float, int), "threshold")
    checks.of_type("value", value, (float, int), "threshold")
    return Threshold(thr, value)(input)


def logit(input: Any, eps: float | None = None) -> Tensor:
    """Apply log(x / (1 - x)) (MindSpore: ``ops.logit``).

    Args:
        input: any shape, float.
        eps: the input is cut to [eps, 1 - eps] first; None cuts nothing.

    Returns:
        Tensor of the same shape and dtype.
    """
    return Logit(-1.0 if eps is None else eps)(input)


def tanhshrink(input: Any) -> Tensor:
    """Apply x - tanh(x) (MindSpore: ``ops.tanhshrink``).

    Args:
        input: any shape, float.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _TANHSHRINK(input)


def glu(x: Any, axis: int = -1) -> Tensor:
    """Gate the first half along an axis by the second (Dauphin 2016; MindSpore: ``ops.glu``).

    Args:
        x: any shape, float; its size along the axis is even.
        axis: axis to halve.

    Returns:
        Tensor of half the size along the axis.

    Raises:
        ValueError: there is no such axis, or its size is odd.
    """
    return GLU(axis)(x)


def rrelu(input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Tensor:
    """Scale what is below 0 by random slopes (Xu 2015; MindSpore: ``ops.rrelu``).

    Args:
        input: any shape, float.
        lower: smallest slope.
        upper: largest slope.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        ValueError: the bounds are not in order within [0, 1].
    """
    for name, bound in (("lower", lower), ("upper", upper)):
        checks.float_in_range(name, bound, 0, 1, "rrelu")
    if lower > upper:
        raise located(
            ValueError,
            "For 'rrelu', the value of 'upper' must be greater than or equal to 'lower', but got "
            f"upper: {upper}, lower: {lower}.",
        )
    return _RReLU(lower, upper)(input, *default_generator().next_key())
