"""Values and norms limited to a range: `clamp`, `clip_by_value`, `clip_by_global_norm`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.arithmetic import maximum, minimum
from mindjax.ops.cast import cast_like
from mindjax.ops.promotion import convert, promote

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


class ClampTensor(Primitive):
    """Values limited to a range (MindSpore: ``ClampTensor``)."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1, 2)

    def compute(self, x: Array, low: Array | None = None, high: Array | None = None) -> Array:
        """Limit values; where the bounds cross the upper one holds, and NaN stays."""
        if low is None and high is None:
            raise located(ValueError, "For Clamp, at least one of 'min' or 'max' must not be None.")
        x, low, high = promote(x, low, high, op="Clamp", broadcast=True)
        # Strict comparison: the gradient at a bound is 1, as in the original.
        if low is not None:
            x = jnp.where(x < low, low, x)
        if high is not None:
            x = jnp.where(x > high, high, x)
        return x


_clamp = ClampTensor()


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Limit values to a range (MindSpore: ``ops.clamp``).

    Args:
        input: Tensor of any shape.
        min: lower bound, a number or a Tensor that broadcasts to ``input``; None for none.
        max: upper bound, likewise.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        ValueError: both bounds are None.
        TypeError: the dtypes do not mix.
    """
    return _clamp(input, min, max)


clip = clamp


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Limit values to a range and keep the dtype (MindSpore: ``ops.clip_by_value``).

    Args:
        x: Tensor of any shape, or tuple or list of Tensors.
        clip_value_min: lower bound, a number or a Tensor that broadcasts to ``x``; None for none.
        clip_value_max: upper bound, likewise.

    Returns:
        Tensor of ``x``'s shape and dtype, or a tuple of such.

    Raises:
        ValueError: both bounds are None.
    """
    if isinstance(x, tuple | list):
        return tuple(clip_by_value(t, clip_value_min, clip_value_max) for t in x)
    checks.tensors("clip_by_value", x=x)
    if clip_value_min is None and clip_value_max is None:
        raise located(
            ValueError,
            "For 'clip_by_value', at least one of 'clip_value_min' or 'clip_value_max' must not be "
            "None.",
        )
    out = x
    if clip_value_max is not None:
        out = minimum(out, clip_value_max)
    if clip_value_min is not None:
        out = maximum(out, clip_value_min)
    return cast_like(out, x)


class _ClipByGlobalNorm(Primitive, register=False):
    """Arrays scaled down together so that their common 2-norm is at most a limit."""

    def compute(self, arrays: Sequence[Array], limit: Array) -> tuple[Array, ...]:
        """Scale arrays; the norm is computed in float32 or wider."""
        total = sum(jnp.sum(jnp.square(_wide(x))) for x in arrays)
        norm = jnp.sqrt(total)
        limit = convert(limit, norm.dtype)
        scale = limit / jnp.maximum(norm, limit)
        return tuple(convert(_wide(x) * convert(scale, _wide(x).dtype), x.dtype) for x in arrays)


def _wide(x: Array) -> Array:
    return x if x.dtype == jnp.float64 else convert(x, jnp.float32)


_clip_by_global_norm = _ClipByGlobalNorm()


def clip_by_global_norm(x: Any, clip_norm: float = 1.0, use_norm: None = None) -> Any:
    """Scale Tensors so that their common norm has a limit (MindSpore: ``clip_by_global_norm``).

    Args:
        x: tuple or list of Tensors, or one Tensor.
        clip_norm: largest 2-norm of all elements together, positive.
        use_norm: None, as in the original.

    Returns:
        Tensors of the same shapes and dtypes; one for one.

    Raises:
        TypeError: ``x`` holds something else than Tensors.
        ValueError: ``clip_norm`` is not positive, or ``use_norm`` is not None.
    """
    if not isinstance(x, tuple | list):
        checks.tensors("clip_by_global_norm", x=x)
        return clip_by_global_norm((x,), clip_norm, use_norm)[0]
    for part in x:
        checks.tensors("clip_by_global_norm", x=part)
    if use_norm is not None:
        raise located(
            ValueError,
            f"For 'clip_by_global_norm', the 'use_norm' must be None, but got {use_norm}.",
        )
    if isinstance(clip_norm, int | float) and clip_norm <= 0:
        raise located(
            ValueError,
            f"For 'clip_by_global_norm', the 'clip_norm' must be positive, but got {clip_norm}.",
        )
    return _clip_by_global_norm(tuple(x), clip_norm)


class _ClipByNorm(Primitive, register=False):
    """Arrays scaled down together so that their common p-norm is at most a limit."""

    norm_type: float = 2.0

    def compute(self, arrays: Sequence[Array], limit: Array) -> tuple[Array, ...]:
        """Scale arrays."""
        parts = [jnp.abs(_wide(x)).reshape(-1) for x in arrays]
        flat = jnp.concatenate([convert(p, parts[0].dtype) for p in parts])
        norm = jnp.linalg.norm(flat, self.norm_type)
        scale = jnp.minimum(convert(limit, norm.dtype) / (norm + 1e-6), 1.0)
        return tuple(convert(_wide(x) * convert(scale, _wide(x).dtype), x.dtype) for x in arrays)


def clip_by_norm(
    x: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Any:
    """Scale Tensors down so that their common p-norm has a limit (MindSpore: ``clip_by_norm``).

    Args:
        x: Tensor, or tuple or list of Tensors.
        max_norm: largest norm of all elements together.
        norm_type: order p of the norm, any number or inf.
        error_if_nonfinite: whether to raise if the norm is NaN or infinite.

    Returns:
        Tensor, or sequence of Tensors, of the same shapes and dtypes.

    Raises:
        RuntimeError: the norm is not finite and ``error_if_nonfinite`` is set.
    """
    many = isinstance(x, tuple | list)
    out = _ClipByNorm(checks.number("norm_type", norm_type, "clip_by_norm"))(
        tuple(x) if many else (x,), max_norm
    )
    if error_if_nonfinite and not _norm_is_finite(x if many else (x,)):
        raise located(
            RuntimeError,
            f"For 'clip_by_norm', the total norm of order {norm_type} is not finite.",
        )
    return type(x)(out) if many else out[0]


def _norm_is_finite(tensors: Sequence[Any]) -> bool:
    from mindjax.ops.logic import isfinite
    from mindjax.ops.reduction import all as reduce_all

    return all(bool(reduce_all(isfinite(t))) for t in tensors)
