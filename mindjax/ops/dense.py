"""The dense layer's operator: a matrix product with transposed weights and a bias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
from jax import lax

from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.contraction import times_weight

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class Dense(Primitive):
    """x times the transpose of weight, plus bias (MindSpore: ``ops.Dense``)."""

    def compute(self, x: Array, weight: Array, bias: Array | None = None) -> Array:
        """Multiply.

        Args:
            x: (..., in), of one dtype with the others.
            weight: (out, in) or (in,).
            bias: (out,) or None.

        Returns:
            (..., out), or (...) for a weight (in,).
        """
        if x.ndim == 0 or weight.ndim not in (1, 2) or x.shape[-1] != weight.shape[-1]:
            columns = x.shape[-1] if x.ndim else "none"
            raise located(
                ValueError,
                f"For 'MatMul' the input dimensions must be equal, but got 'x1_col': {columns} "
                f"and 'x2_row': {weight.shape[-1] if weight.ndim else 'none'} (Dense, 'x' shape: "
                f"{x.shape}, 'weight' shape: {weight.shape}).",
            )
        for name, other in (("x2", weight), ("bias", bias)):
            if other is not None and other.dtype != x.dtype:
                raise located(
                    TypeError,
                    f"For 'MatMul', the type of '{name}' should be same as 'x1', but got 'x1' with "
                    f"type Tensor[{from_np(x.dtype).name}] and '{name}' with type "
                    f"Tensor[{from_np(other.dtype).name}] (Dense).",
                )
        if weight.ndim == 1:
            out = lax.dot_general(x, weight, (((x.ndim - 1,), (0,)), ((), ())))
        else:
            out = times_weight(x, weight, out_first=True)
        if bias is None:
            return out
        if bias.shape != weight.shape[:-1]:
            raise located(
                ValueError,
                f"For 'Dense', the shape of 'bias' must be {weight.shape[:-1]}, but got "
                f"{bias.shape}.",
            )
        last = (out.ndim - 1,) if bias.ndim else ()
        return out + lax.broadcast_in_dim(bias, out.shape, last)


_DENSE = Dense()


def dense(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """Multiply by transposed weights and add a bias (MindSpore: ``ops.dense``).

    Args:
        input: (..., in).
        weight: (out, in) or (in,), of the same dtype.
        bias: (out,) or None.

    Returns:
        Tensor (..., out).

    Raises:
        TypeError: the dtypes differ.
        ValueError: the sizes differ.
    """
    return _DENSE(input, weight, bias)
