"""Look-up of rows in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import peek
from mindjax.core.primitive import Primitive

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class _Embedding(Primitive, register=False):
    """Rows of a table; the row at ``padding_idx`` gets no gradient."""

    padding_idx: int | None = None

    def compute(self, ids: Array, weight: Array) -> Array:
        if ids.dtype.kind not in "iu":
            raise located(
                TypeError,
                "For primitive[Embedding], the input argument[input] must be a type of "
                f"{{Tensor[Int32], Tensor[Int64]}}, but got dtype {ids.dtype}.",
            )
        if weight.ndim != 2:
            raise located(
                ValueError,
                f"For 'Embedding', the 'weight' must have 2 dims, but got shape {weight.shape}.",
            )
        if self.padding_idx is not None:
            row = lax.broadcasted_iota(np.int32, (weight.shape[0], 1), 0)
            frozen = row == np.int32(self.padding_idx)
            weight = jnp.where(frozen, lax.stop_gradient(weight), weight)
        rows = ids.astype(np.int32)
        # Out of range is the nearest row; wrapping negative indices would cost a pass.
        return weight.at[rows].get(mode="clip", wrap_negative_indices=False)


class _Renormalize(Primitive, register=False):
    """The table with the rows that are looked up scaled down to a largest norm."""

    max_norm: float
    norm_type: float

    def compute(self, ids: Array, weight: Array) -> Array:
        power = np.asarray(self.norm_type, weight.dtype)
        total = jnp.sum(jnp.abs(weight) ** power, 1, keepdims=True)
        norm = total ** np.asarray(1 / self.norm_type, weight.dtype)
        bound = np.asarray(self.max_norm, weight.dtype)
        scaled = weight * (bound / (norm + np.asarray(1e-7, weight.dtype)))
        used = jnp.zeros((weight.shape[0], 1), np.bool_)
        used = used.at[ids.reshape(-1).astype(np.int32)].set(True, mode="drop")
        return jnp.where(used & (norm > bound), scaled, weight)


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Look rows up in a table (MindSpore: ``ops.embedding``).

    Args:
        input: indices of any shape, Int32 or Int64.
        weight: (rows, width); written if ``max_norm`` is given.
        padding_idx: row that gets no gradient, counted from the end if negative.
        max_norm: rows that are looked up are scaled down to this norm first.
        norm_type: exponent of that norm.
        scale_grad_by_freq: not supported.

    Returns:
        Tensor of the shape of ``input``, then width.

    Raises:
        NotImplementedError: ``scale_grad_by_freq`` is True.
        ValueError: ``padding_idx`` is not a row.
    """
    if scale_grad_by_freq:
        raise located(
            NotImplementedError,
            "For 'embedding', 'scale_grad_by_freq=True' is not supported: divide the gradient by "
            "ops.bincount of the indices.",
        )
    checks.tensors("embedding", weight=weight)
    rows = weight.shape[0]
    if padding_idx is not None:
        padding_idx = checks.int_in_range("padding_idx", padding_idx, -rows, rows, "embedding")
        padding_idx %= rows
    if max_norm is not None:
        scaled = _Renormalize(
            checks.number("max_norm", max_norm, "embedding"),
            checks.number("norm_type", norm_type, "embedding"),
        )(input, weight)
        if not hasattr(weight, "assign_value"):
            raise located(
                TypeError, "For 'embedding', 'max_norm' writes 'weight', which must be a Tensor."
            )
        weight.assign_value(peek(scaled))
    return _Embedding(padding_idx)(input, weight)
