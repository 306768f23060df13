"""Normalization over batches, layers, groups and root mean squares."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle, peek
from mindjax.core.primitive import Primitive
from mindjax.ops.promotion import promote
from mindjax.ops.shape import laid_along

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def _wide(x: Array) -> Array:
    """Statistics of 16-bit floats are taken in 32 bits."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


@partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def _moments(x: Array, axes: tuple[int, ...], keepdims: bool = False) -> tuple[Array, Array]:
    mean = jnp.mean(x, axes, keepdims=True)
    variance = jnp.mean(jnp.square(x - mean), axes, keepdims=keepdims)
    return (mean if keepdims else mean.reshape(variance.shape)), variance


@_moments.defjvp
def _moments_jvp(axes: tuple[int, ...], keepdims: bool, primals: Any, tangents: Any) -> Any:
    """Leave out what the mean's tangent gives to the variance's: the deviations' sum is zero."""
    (x,), (dx,) = primals, tangents
    mean, variance = _moments(x, axes, keepdims)
    deviation = x - (mean if keepdims else jnp.expand_dims(mean, axes))
    spread = jnp.mean(2 * deviation * dx, axes, keepdims=keepdims)
    return (mean, variance), (jnp.mean(dx, axes, keepdims=keepdims), spread)


def _check_channels(owner: str, x: Array, channel: int, **vectors: Array | None) -> None:
    if x.ndim < 2 or x.ndim <= channel:
        raise located(
            ValueError, f"For '{owner}', the input must have at least 2 dims, but got {x.ndim}."
        )
    for name, vector in vectors.items():
        if vector is not None and vector.shape != (x.shape[channel],):
            raise located(
                ValueError,
                f"For {owner}, {name}.shape[0] should be equal to input_x's channel dimension: "
                f"{x.shape[channel]}, but got {name} shape: {vector.shape}.",
            )


def _normalize(
    x: Array,
    mean: Array,
    variance: Array,
    scale: Array | None,
    bias: Array | None,
    epsilon: float,
    channel: int,
) -> Array:
    """Normalize with one multiplication and one addition an element."""
    factor = lax.rsqrt(variance + np.asarray(epsilon, variance.dtype))
    if scale is not None:
        factor = scale.astype(factor.dtype) * factor
    out = (_wide(x) - laid_along(mean, x, channel)) * laid_along(factor, x, channel)
    if bias is not None:
        out = out + laid_along(bias.astype(out.dtype), x, channel)
    return out.astype(x.dtype)


class _BatchNormInference(Primitive, register=False):
    """Normalization by given moments."""

    epsilon: float
    channel: int = 1

    def compute(
        self,
        x: Array,
        scale: Array | None,
        bias: Array | None,
        mean: Array,
        variance: Array,
    ) -> Array:
        checks.floating("input_x", x.dtype, "BatchNorm")
        _check_channels(
            "BatchNorm", x, self.channel, scale=scale, bias=bias, mean=mean, variance=variance
        )
        # MindSpore: no gradient flows to the moving moments (test batch_norm_eval).
        mean, variance = lax.stop_gradient(mean), lax.stop_gradient(variance)
        return _normalize(x, mean, variance, scale, bias, self.epsilon, self.channel)


class _BatchNormTraining(Primitive, register=False):
    """Normalization by the batch's moments, and the moving moments that follow.

    Fields: epsilon; momentum, the weight of the batch; channel axis.
    """

    epsilon: float
    momentum: float
    channel: int = 1

    def compute(
        self,
        x: Array,
        scale: Array | None,
        bias: Array | None,
        mean: Array | None,
        variance: Array | None,
    ) -> tuple[Array, ...]:
        checks.floating("input_x", x.dtype, "BatchNorm")
        _check_channels(
            "BatchNorm", x, self.channel, scale=scale, bias=bias, mean=mean, variance=variance
        )
        axes = tuple(a for a in range(x.ndim) if a != self.channel)
        batch_mean, batch_variance = _moments(_wide(x), axes)
        out = _normalize(x, batch_mean, batch_variance, scale, bias, self.epsilon, self.channel)
        if mean is None or variance is None:
            return out, batch_mean, batch_variance
        count = x.size // x.shape[self.channel]
        unbiased = lax.stop_gradient(batch_variance) * (count / max(count - 1, 1))
        weight = np.asarray(self.momentum, mean.dtype)
        following = mean + weight * (lax.stop_gradient(batch_mean).astype(mean.dtype) - mean)
        spread = variance + weight * (unbiased.astype(variance.dtype) - variance)
        return out, batch_mean, batch_variance, following, spread


def batch_norm_training(
    x: Any,
    scale: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    epsilon: float,
    momentum: float,
    channel: int = 1,
) -> tuple[Any, Any, Any]:
    """Normalize by the batch's moments and write the moving ones.

    Args:
        x: (N, C, ...), or the channels at ``channel``.
        scale: (C,), or None for ones.
        bias: (C,), or None for zeros.
        mean: (C,): moving mean; written if it is a Tensor or Parameter; None for none.
        variance: (C,): moving variance, unbiased; the same.
        epsilon: added to the variance.
        momentum: weight of the batch in the moving moments.
        channel: axis of the channels.

    Returns:
        The normalized array, the batch's mean and its biased variance.
    """
    record = _BatchNormTraining(
        checks.number("epsilon", epsilon, "batch_norm_training"),
        checks.number("momentum", momentum, "batch_norm_training"),
        channel,
    )
    out, batch_mean, batch_variance, *moving = record(x, scale, bias, mean, variance)
    for target, value in zip((mean, variance), moving, strict=False):
        if isinstance(target, Handle):
            target.assign_value(peek(value))
    return out, batch_mean, batch_variance


def batch_norm_inference(
    x: Any, scale: Any, bias: Any, mean: Any, variance: Any, epsilon: float, channel: int = 1
) -> Any:
    """Normalize by given moments; arguments as `batch_norm_training`."""
    return _BatchNormInference(checks.number("epsilon", epsilon, "batch_norm_inference"), channel)(
        x, scale, bias, mean, variance
    )


class BatchNorm(Primitive):
    """Batch normalization (Ioffe 2015; MindSpore: ``ops.BatchNorm``).

    Args:
        is_training: use the batch's moments and write the moving ones.
        epsilon: added to the variance.
        momentum: weight of the batch in the moving moments.
        data_format: ``"NCHW"`` or ``"NHWC"``.
    """

    is_training: bool = False
    epsilon: float = 1e-5
    momentum: float = 0.1
    data_format: str = "NCHW"

    def __post_init__(self) -> None:
        checks.boolean("is_training", self.is_training, "BatchNorm")
        checks.float_in_range("epsilon", self.epsilon, 0, 1, "BatchNorm", "(]")
        checks.float_in_range("momentum", self.momentum, 0, 1, "BatchNorm")
        checks.one_of("format", self.data_format, ("NCHW", "NHWC"), "BatchNorm")

    def __call__(self, input_x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
        """Normalize.

        Args:
            input_x: (N, C, ...).
            scale: (C,).
            bias: (C,).
            mean: (C,): moving mean, a Parameter in training.
            variance: (C,): moving variance, a Parameter in training.

        Returns:
            The normalized Tensor, then the batch's mean and variance twice (the moving ones
            outside training).
        """
        channel = len(input_x.shape) - 1 if self.data_format == "NHWC" else 1
        vectors = (scale, bias, mean, variance)
        if not self.is_training:
            out = batch_norm_inference(input_x, *vectors, self.epsilon, channel)
            return out, mean, variance, mean, variance
        training = (self.epsilon, self.momentum, channel)
        out, batch_mean, batch_variance = batch_norm_training(input_x, *vectors, *training)
        return out, batch_mean, batch_variance, batch_mean, batch_variance


def batch_norm(
    input_x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize a batch (Ioffe 2015; MindSpore: ``ops.batch_norm``).

    Args:
        input_x: (N, C, ...).
        running_mean: (C,); written in training.
        running_var: (C,); written in training with the unbiased variance.
        weight: (C,).
        bias: (C,).
        training: use the batch's moments.
        momentum: weight of the batch in the running moments.
        eps: added to the variance.

    Returns:
        Tensor of the shape and dtype of ``input_x``.

    Raises:
        ValueError: the sizes differ.
    """
    return BatchNorm(training, eps, momentum)(input_x, weight, bias, running_mean, running_var)[0]


class LayerNorm(Primitive):
    """Layer normalization (Ba 2016; MindSpore: ``ops.LayerNorm``).

    Args:
        begin_norm_axis: first axis that is normalized over.
        begin_params_axis: first axis that gamma and beta span.
        epsilon: added to the variance.
    """

    begin_norm_axis: int = 1
    begin_params_axis: int = 1
    epsilon: float = 1e-7

    def __post_init__(self) -> None:
        for name in ("begin_norm_axis", "begin_params_axis"):
            checks.of_type(name, getattr(self, name), int, "LayerNorm")
        checks.of_type("epsilon", self.epsilon, (float, int), "LayerNorm")

    def compute(self, x: Array, gamma: Array, beta: Array) -> tuple[Array, Array, Array]:
        """Normalize.

        Args:
            x: any shape, float.
            gamma: the shape of ``x`` from ``begin_params_axis`` on.
            beta: the shape of ``gamma``.

        Returns:
            The normalized array, and mean and variance with the normalized axes kept as 1.
        """
        checks.floating("input_x", x.dtype, "LayerNorm")
        first = checks.axis_in_rank(self.begin_norm_axis, x.ndim, "LayerNorm", scalar=False)
        span = checks.axis_in_rank(self.begin_params_axis, x.ndim, "LayerNorm", scalar=False)
        if gamma.shape != x.shape[span:] or beta.shape != x.shape[span:]:
            raise located(
                ValueError,
                "For 'LayerNorm', gamma or beta shape must match input shape, but got input "
                f"shape: {x.shape}, gamma shape: {gamma.shape}, beta shape: {beta.shape}.",
            )
        wide = _wide(x)
        mean, variance = _moments(wide, tuple(range(first, x.ndim)), keepdims=True)
        scaled = (wide - mean) * lax.rsqrt(variance + np.asarray(self.epsilon, wide.dtype))
        out = scaled * gamma.astype(wide.dtype) + beta.astype(wide.dtype)
        return out.astype(x.dtype), mean, variance


class _LayerNormPlain(Primitive, register=False):
    """Layer normalization over the last axes, with weights that may be missing."""

    count: int
    epsilon: float

    def compute(self, x: Array, gamma: Array | None, beta: Array | None) -> Array:
        checks.floating("input", x.dtype, "LayerNorm")
        shape = x.shape[x.ndim - self.count :]
        for vector in (gamma, beta):
            if vector is not None and vector.shape != shape:
                raise located(
                    ValueError,
                    "For 'LayerNorm', gamma or beta shape must match input shape, but got input "
                    f"shape: {x.shape}, gamma or beta shape: {vector.shape}.",
                )
        wide = _wide(x)
        mean, variance = _moments(wide, tuple(range(x.ndim - self.count, x.ndim)), keepdims=True)
        out = (wide - mean) * lax.rsqrt(variance + np.asarray(self.epsilon, wide.dtype))
        if gamma is not None:
            out = out * gamma.astype(wide.dtype)
        if beta is not None:
            out = out + beta.astype(wide.dtype)
        return out.astype(x.dtype)


def layer_norm(
    input: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize over the last axes (Ba 2016; MindSpore: ``ops.layer_norm``).

    Args:
        input: any shape that ends with ``normalized_shape``.
        normalized_shape: int, or tuple or list of ints.
        weight: Tensor of shape ``normalized_shape``, or None.
        bias: Tensor of shape ``normalized_shape``, or None.
        eps: added to the variance.

    Returns:
        Tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``normalized_shape`` is none of these.
        ValueError: the shapes do not fit.
    """
    if isinstance(normalized_shape, int):
        normalized_shape = (normalized_shape,)
    checks.of_type("normalized_shape", normalized_shape, (int, tuple, list), "layer_norm")
    checks.tensors("layer_norm", input=input)
    shape, eps = tuple(normalized_shape), checks.number("eps", eps, "layer_norm")
    if not shape or tuple(input.shape)[-len(shape) :] != shape:
        raise located(
            ValueError,
            "For 'LayerNorm', gamma or beta shape must match input shape, but got input shape: "
            f"{tuple(input.shape)}, normalized shape: {shape}.",
        )
    return _LayerNormPlain(len(shape), eps)(input, weight, bias)


class _GroupNorm(Primitive, register=False):
    """Group normalization, with weights that may be missing."""

    num_groups: int
    epsilon: float

    def compute(self, x: Array, gamma: Array | None, beta: Array | None) -> Array:
        checks.floating("input", x.dtype, "GroupNorm")
        groups = self.num_groups
        if x.ndim < 2 or x.shape[1] % groups:
            raise located(
                ValueError,
                "For GroupNorm, the 'num_channels' must be divided by 'num_groups', but got input "
                f"shape: {x.shape}, 'num_groups': {groups}.",
            )
        grouped = _wide(x).reshape(x.shape[0], groups, -1)
        mean, variance = _moments(grouped, (2,), keepdims=True)
        out = (grouped - mean) * lax.rsqrt(variance + np.asarray(self.epsilon, grouped.dtype))
        out = out.reshape(x.shape)
        for name, vector in (("weight", gamma), ("bias", beta)):
            if vector is not None and vector.shape != x.shape[1:2]:
                raise located(
                    ValueError,
                    f"For 'GroupNorm', the shape of '{name}' must be ({x.shape[1]},), but got "
                    f"{vector.shape}.",
                )
        if gamma is not None:
            out = out * laid_along(gamma.astype(out.dtype), x, 1)
        if beta is not None:
            out = out + laid_along(beta.astype(out.dtype), x, 1)
        return out.astype(x.dtype)


def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """Normalize groups of channels (Wu 2018; MindSpore: ``ops.group_norm``).

    Args:
        input: (N, C, ...).
        num_groups: number of groups, a divisor of C.
        weight: (C,) or None.
        bias: (C,) or None.
        eps: added to the variance.

    Returns:
        Tensor of the shape and dtype of ``input``.

    Raises:
        ValueError: C is not divisible, or the sizes differ.
    """
    groups = checks.positive_int("num_groups", num_groups, "group_norm")
    return _GroupNorm(groups, checks.number("eps", eps, "group_norm"))(input, weight, bias)


class RmsNorm(Primitive):
    """Root mean square normalization (Zhang 2019; MindSpore: ``ops.RmsNorm``).

    Args:
        epsilon: added to the mean square.
    """

    epsilon: float = 1e-6

    def __post_init__(self) -> None:
        checks.of_type("epsilon", self.epsilon, (float, int), "RmsNorm")

    def compute(self, x: Array, gamma: Array) -> tuple[Array, Array]:
        """Normalize over the axes of ``gamma``.

        Returns:
            The normalized array, and the inverse root mean squares with those axes kept as 1.
        """
        checks.floating("x", x.dtype, "RmsNorm")
        first = x.ndim - gamma.ndim
        if first < 0 or x.shape[first:] != gamma.shape:
            raise located(
                ValueError,
                f"For 'RmsNorm', the shape of 'gamma' must be that of the last axes of 'x', but "
                f"got 'x' shape: {x.shape}, 'gamma' shape: {gamma.shape}.",
            )
        wide = _wide(x)
        square = jnp.mean(jnp.square(wide), tuple(range(first, x.ndim)), keepdims=True)
        inverse = lax.rsqrt(square + np.asarray(self.epsilon, wide.dtype))
        return (wide * inverse * gamma.astype(wide.dtype)).astype(x.dtype), inverse


def rms_norm(x: Any, gamma: Any, epsilon: float = 1e-6) -> Any:
    """Normalize by the root mean square (Zhang 2019; MindSpore: ``ops.rms_norm``).

    Args:
        x: any shape, float.
        gamma: the shape of the last axes of ``x``.
        epsilon: added to the mean square.

    Returns:
        The normalized Tensor, and the inverse root mean squares.

    Raises:
        ValueError: the shapes do not fit.
    """
    return RmsNorm(epsilon)(x, gamma)


class LRN(Primitive):
    """Local response normalization over channels (Krizhevsky 2012; MindSpore: ``ops.LRN``).

    Args:
        depth_radius: half width of the window of channels.
        bias: added to the sum.
        alpha: factor of the sum.
        beta: exponent.
        norm_region: only ``"ACROSS_CHANNELS"``.
    """

    depth_radius: int = 5
    bias: float = 1.0
    alpha: float = 1.0
    beta: float = 0.5
    norm_region: str = "ACROSS_CHANNELS"

    def __post_init__(self) -> None:
        checks.non_negative_int("depth_radius", self.depth_radius, "LRN")
        for name in ("bias", "alpha", "beta"):
            checks.of_type(name, getattr(self, name), (float, int), "LRN")
        checks.one_of("norm_region", self.norm_region, ("ACROSS_CHANNELS",), "LRN")

    def compute(self, x: Array) -> Array:
        """Normalize (N, C, H, W)."""
        checks.floating("x", x.dtype, "LRN")
        if x.ndim != 4:
            raise located(
                ValueError, f"For 'LRN', the dimension of input 'x' must be 4, but got {x.ndim}."
            )
        radius = self.depth_radius
        window = (1, 2 * radius + 1, 1, 1)
        edges = ((0, 0), (radius, radius), (0, 0), (0, 0))
        total = lax.reduce_window(
            jnp.square(x), np.array(0, x.dtype), lax.add, window, (1, 1, 1, 1), edges
        )
        base = np.asarray(self.bias, x.dtype) + np.asarray(self.alpha, x.dtype) * total
        return x * base ** np.asarray(-self.beta, x.dtype)


def lrn(
    x: Any,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Tensor:
    """Normalize over neighbouring channels (Krizhevsky 2012; MindSpore: ``ops.lrn``).

    Args:
        x: (N, C, H, W), float16 or float32.
        depth_radius: channels on each side that count.
        bias: added to the sum of squares.
        alpha: weight of the sum of squares.
        beta: exponent.
        norm_region: ``"ACROSS_CHANNELS"``, the only one.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: an argument has another type.
        ValueError: ``norm_region`` is another one, or ``x`` has not four axes.
    """
    return LRN(depth_radius, bias, alpha, beta, norm_region)(x)


class _Normalize(Primitive, register=False):
    """Division by the p-norm along an axis."""

    p: float
    dim: tuple[int, ...]
    eps: float

    def compute(self, x: Array) -> Array:
        checks.floating("input", x.dtype, "normalize")
        axes = tuple(checks.axis_in_rank(d, x.ndim, "normalize", scalar=False) for d in self.dim)
        if self.p == 2:
            square = jnp.sum(jnp.square(x), axes, keepdims=True)
            norm = jnp.sqrt(jnp.maximum(square, np.asarray(self.eps**2, x.dtype)))
            return x / jnp.maximum(norm, np.asarray(self.eps, x.dtype))
        if self.p == 1:
            norm = jnp.sum(jnp.abs(x), axes, keepdims=True)
        else:
            power = np.asarray(self.p, x.dtype)
            total = jnp.sum(jnp.abs(x) ** power, axes, keepdims=True)
            norm = total ** np.asarray(1 / self.p, x.dtype)
        return x / jnp.maximum(norm, np.asarray(self.eps, x.dtype))


def normalize(
    input: Any, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12
) -> Tensor:
    """Divide by the p-norm along an axis (MindSpore: ``mint.nn.functional.normalize``).

    Args:
        input: any shape, float.
        p: exponent of the norm.
        dim: axis or axes.
        eps: smallest divisor.

    Returns:
        Tensor of the same shape and dtype.
    """
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    return _Normalize(
        checks.number("p", p, "normalize"), dims, checks.number("eps", eps, "normalize")
    )(input)


class _CosineSimilarity(Primitive, register=False):
    """Cosine of the angle between two arrays along an axis."""

    dim: int
    eps: float

    def compute(self, x1: Array, x2: Array) -> Array:
        x1, x2 = promote(x1, x2, op="cosine_similarity")
        checks.floating("x1", x1.dtype, "cosine_similarity")
        x1, x2 = jnp.broadcast_arrays(x1, x2)
        axis = checks.axis_in_rank(self.dim, x1.ndim, "cosine_similarity", scalar=False)
        least = np.asarray(self.eps**2, x1.dtype)
        squares = [jnp.maximum(jnp.sum(jnp.square(x), axis), least) for x in (x1, x2)]
        return jnp.sum(x1 * x2, axis) * lax.rsqrt(squares[0]) * lax.rsqrt(squares[1])


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Take the cosine of the angle between vectors (MindSpore: ``ops.cosine_similarity``).

    Args:
        x1: any shape, float.
        x2: a shape that broadcasts with it.
        dim: axis of the vectors.
        eps: smallest norm that is divided by.

    Returns:
        Tensor of the common shape without the axis.

    Raises:
        ValueError: ``dim`` is outside the rank.
    """
    return _CosineSimilarity(
        checks.of_type("dim", dim, int, "cosine_similarity"),
        checks.number("eps", eps, "cosine_similarity"),
    )(x1, x2)
