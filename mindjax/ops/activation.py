"""Activation functions; tanh is an elementary function and lives elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import as_dtype
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.core.random import default_generator, key
from mindjax.ops.arithmetic import neg
from mindjax.ops.cast import cast

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class ReLU(Primitive):
    """Rectified linear unit, max(x, 0) (MindSpore: ``ops.ReLU``)."""

    def compute(self, x: Array) -> Array:
        """Apply it to any real array."""
        if x.dtype == np.bool_:
            return x
        # A select lets XLA keep fewer temporaries than a maximum; NaN passes through both.
        return jnp.where(x <= 0, jnp.zeros((), x.dtype), x)


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
        return x * lax.logistic(x)


class Softmax(Primitive):
    """Exponentials that sum to 1 along axes (MindSpore: ``ops.Softmax``).

    Args:
        axis: int or tuple of ints.
    """

    axis: int | tuple[int, ...] = -1

    def __post_init__(self) -> None:
        axis = self.axis
        if isinstance(axis, bool) or not isinstance(axis, int | tuple):
            raise located(
                TypeError,
                "For 'Softmax', the type of 'axis' should be one of '[int, tuple of int]', but "
                f"got {type(axis)}.",
            )

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("input", x.dtype, "Softmax")
        axes = _axes(self.axis, x.ndim, "Softmax")
        shifted = x - lax.stop_gradient(jnp.max(x, axes, keepdims=True))
        exponentials = jnp.exp(shifted)
        return exponentials / jnp.sum(exponentials, axes, keepdims=True)


class LogSoftmax(Primitive):
    """Logarithm of the softmax along an axis (MindSpore: ``ops.LogSoftmax``).

    Args:
        axis: int.
    """

    axis: int = -1

    def __post_init__(self) -> None:
        checks.of_type("axis", self.axis, int, "LogSoftmax")

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("logits", x.dtype, "LogSoftmax")
        return log_softmax_of(x, checks.axis_in_rank(self.axis, x.ndim, "LogSoftmax"))


def log_softmax_of(x: Array, axis: int) -> Array:
    """Give the logarithm of the softmax of an array along one axis."""
    shifted = x - lax.stop_gradient(jnp.max(x, axis, keepdims=True))
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis, keepdims=True))


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
        axis = checks.axis_in_rank(self.axis, x.ndim, "GLU")
        if x.shape[axis] % 2:
            raise located(
                ValueError,
                f"For 'GLU', x_shape[{axis}] must be divisible by 2, but got {x.shape[axis]}.",
            )
        half = x.shape[axis] // 2
        value, gate = (lax.slice_in_dim(x, i * half, (i + 1) * half, axis=axis) for i in (0, 1))
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


class _GumbelSoftmax(Primitive, register=False):
    """Softmax of logits with Gumbel noise; a one-hot of it in the forward pass if hard."""

    tau: float
    hard: bool
    dim: int

    def compute(self, x: Array, seed: Array, offset: Array) -> Array:
        checks.floating("logits", x.dtype, "gumbel_softmax")
        axis = checks.axis_in_rank(self.dim, x.ndim, "gumbel_softmax")
        noise = jax.random.gumbel(key(seed, offset), x.shape, jnp.float32).astype(x.dtype)
        soft = jax.nn.softmax((x + noise) / np.asarray(self.tau, x.dtype), axis=axis)
        if not self.hard:
            return soft
        best = lax.argmax(soft, axis, np.int32)
        place = lax.broadcasted_iota(np.int32, x.shape, axis)
        hot = (place == jnp.expand_dims(best, axis)).astype(x.dtype)
        return lax.stop_gradient(hot - soft) + soft


def _as_float(x: Array) -> Array:
    return x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(np.float32)


def _axes(axis: int | tuple[int, ...], rank: int, owner: str) -> tuple[int, ...]:
    axes = (axis,) if isinstance(axis, int) else axis
    return tuple(checks.axis_in_rank(a, rank, owner) for a in axes)


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
    return write(input, out, "relu") if inplace else out


def write(target: Any, value: Any, owner: str) -> Any:
    """Write a result into the Tensor that it was made of, and give that Tensor."""
    if not isinstance(target, Handle):
        raise located(
            TypeError, f"For '{owner}', 'inplace' needs a Tensor, but got {type(target).__name__}."
        )
    target.assign_value(value._value, value._node)
    return target


def relu6(x: Any) -> Tensor:
    """Cut a float array at 0 and 6 (MindSpore: ``ops.relu6``)."""
    return _RELU6(x)


def sigmoid(input: Any) -> Tensor:
    """Apply the logistic function (MindSpore: ``ops.sigmoid``)."""
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
    """Apply the Gaussian error linear unit in its logistic form (MindSpore: ``ops.fast_gelu``)."""
    return _FAST_GELU(x)


def silu(input: Any) -> Tensor:
    """Apply x * sigmoid(x) (MindSpore: ``ops.silu``)."""
    return _SILU(input)


def softmax(input: Any, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """Make exponentials that sum to 1 along an axis (MindSpore: ``ops.softmax``).

    Args:
        input: any shape, float.
        axis: the axis.
        dtype: dtype that ``input`` is cast to first.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``axis`` is not an int.
        ValueError: ``axis`` is outside the rank.
    """
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise located(
            TypeError,
            f"the type of 'axis' must be 'int', but got '{axis}' with type "
            f"'{type(axis).__name__}'.",
        )
    return Softmax(axis)(cast_to(input, dtype))


def log_softmax(logits: Any, axis: int = -1) -> Tensor:
    """Make logarithms of the softmax along an axis (MindSpore: ``ops.log_softmax``).

    Args:
        logits: any shape, float.
        axis: the axis.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        ValueError: ``axis`` is outside the rank.
    """
    return LogSoftmax(axis)(logits)


def softmin(x: Any, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """Give the softmax of -x; arguments as `softmax` (MindSpore: ``ops.softmin``)."""
    return Softmax(axis)(neg(cast_to(x, dtype)))


def cast_to(x: Any, dtype: Any) -> Any:
    """Cast to a dtype, if one is given."""
    return x if dtype is None else cast(x, as_dtype(dtype))


def elu(input_x: Any, alpha: float = 1.0) -> Tensor:
    """Apply the exponential linear unit (MindSpore: ``ops.elu``)."""
    return Elu(alpha)(input_x)


def celu(x: Any, alpha: float = 1.0) -> Tensor:
    """Apply the continuously differentiable exponential linear unit (MindSpore: ``ops.celu``)."""
    return CeLU(alpha)(x)


def selu(input_x: Any) -> Tensor:
    """Apply the self-normalising exponential linear unit (MindSpore: ``ops.selu``)."""
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
    """Apply the piecewise linear sigmoid (MindSpore: ``ops.hardsigmoid``)."""
    return _HSIGMOID(input)


def hardswish(input: Any) -> Tensor:
    """Apply x * hardsigmoid(x) (MindSpore: ``ops.hardswish``)."""
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
    return _ScaledSoftplus(float(beta), float(threshold))(input)


def logsigmoid(x: Any) -> Tensor:
    """Apply the logarithm of the logistic function (MindSpore: ``ops.logsigmoid``)."""
    return _LOGSIGMOID(x)


def mish(x: Any) -> Tensor:
    """Apply x * tanh(softplus(x)) (MindSpore: ``ops.mish``)."""
    return _MISH(x)


def softsign(x: Any) -> Tensor:
    """Apply x / (1 + |x|) (MindSpore: ``ops.softsign``)."""
    return _SOFTSIGN(x)


def hardshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Set what is within [-lambd, lambd] to 0 (MindSpore: ``ops.hardshrink``)."""
    return HShrink(lambd)(input)


def softshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Move an array towards 0 by ``lambd`` (MindSpore: ``ops.softshrink``)."""
    return SoftShrink(lambd)(input)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Cut an array at two bounds (MindSpore: ``ops.hardtanh``)."""
    checks.of_type("min_val", min_val, (float, int), "hardtanh")
    checks.of_type("max_val", max_val, (float, int), "hardtanh")
    return HardTanh(min_val, max_val)(input)


def threshold(input: Any, thr: float, value: float) -> Tensor:
    """Keep what is above a threshold and set the rest to a value (MindSpore: ``ops.threshold``)."""
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
    """Apply x - tanh(x) (MindSpore: ``ops.tanhshrink``)."""
    return _TANHSHRINK(input)


def glu(x: Any, axis: int = -1) -> Tensor:
    """Gate the first half along an axis by the second (MindSpore: ``ops.glu``)."""
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


def gumbel_softmax(logits: Any, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    """Draw from a relaxed categorical distribution (Jang 2016; MindSpore: ``ops.gumbel_softmax``).

    Args:
        logits: any shape, float: unnormalised log-probabilities.
        tau: temperature, above 0.
        hard: give one-hot draws whose gradient is that of the soft ones.
        dim: axis of the categories.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        ValueError: ``tau`` is not above 0.
    """
    checks.boolean("hard", hard, "gumbel_softmax")
    checks.float_in_range("tau", tau, 0.0, float("inf"), "gumbel_softmax", "()")
    return _GumbelSoftmax(float(tau), hard, dim)(logits, *default_generator().next_key())
