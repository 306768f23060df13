"""Dense layers."""

from __future__ import annotations

import math
from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.core.precision import OpLists
from mindjax.core.primitive import Primitive
from mindjax.nn.activation import get_activation
from mindjax.nn.cell import Cell
from mindjax.nn.operators import Operator, sharded
from mindjax.ops.dense import dense
from mindjax.tensor.initializer import HeUniform, Uniform, initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class Dense(Cell):
    """x times the transpose of weight, plus bias (MindSpore: ``nn.Dense``).

    Args:
        in_channels: size of the last axis of the input.
        out_channels: size of the last axis of the output.
        weight_init: Tensor (out, in), initializer, its name or a number; None for
            HeUniform(sqrt(5)).
        bias_init: the same for (out,); None for uniform in 1 / sqrt(in).
        has_bias: whether there is a bias.
        activation: name, Cell or Primitive that is applied to the result, or None.
        dtype: of the Parameters.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a size is not above 0, or a Tensor does not fit.
    """

    matmul = Operator(lambda cell: ops.MatMul(transpose_b=True))
    bias_add = Operator(lambda cell: ops.BiasAdd())

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: Any = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.in_channels = checks.positive_int("in_channels", in_channels, owner)
        self.out_channels = checks.positive_int("out_channels", out_channels, owner)
        self.has_bias = checks.boolean("has_bias", has_bias, owner)
        shape = (out_channels, in_channels)
        if isinstance(weight_init, Tensor) and tuple(weight_init.shape) != shape:
            raise located(
                ValueError,
                f"For '{owner}', weight init shape error. The ndim of 'weight_init' must be equal "
                "to 2, and the first dim must be equal to 'out_channels', and the second dim must "
                f"be equal to 'in_channels'. But got 'weight_init' shape: {weight_init.shape}, "
                f"'out_channels': {out_channels}, 'in_channels': {in_channels}.",
            )
        if weight_init is None:
            weight_init = HeUniform(negative_slope=math.sqrt(5))
        self.weight = Parameter(initializer(weight_init, shape, dtype), name="weight")
        self.bias = None
        if has_bias:
            if isinstance(bias_init, Tensor) and tuple(bias_init.shape) != shape[:1]:
                raise located(
                    ValueError,
                    f"For '{owner}', bias init shape error. The ndim of 'bias_init' must be equal "
                    "to 1, and the first dim must be equal to 'out_channels'. But got 'bias_init' "
                    f"shape: {bias_init.shape}, 'out_channels': {out_channels}.",
                )
            if bias_init is None:
                bias_init = Uniform(scale=1 / math.sqrt(in_channels))
            self.bias = Parameter(initializer(bias_init, shape[:1], dtype), name="bias")
        self.activation = get_activation(activation) if isinstance(activation, str) else activation
        if activation is not None and not isinstance(self.activation, Cell | Primitive):
            raise located(
                TypeError,
                f"For '{owner}', the 'activation' must be str or Cell or Primitive, but got "
                f"{type(activation).__name__}.",
            )

    def construct(self, x: Any) -> Any:
        """Compute (..., in) -> (..., out)."""
        if sharded(self, "matmul") or sharded(self, "bias_add"):
            out = self._by_operators(x)
        elif isinstance(current.mixed, OpLists) and self.bias is not None:
            # MindSpore: two operators, of which the second has the wider dtype.
            out = dense(x, self.weight)
            out = ops.AddN()([out, ops.broadcast_to(self.bias, out.shape)])
        else:
            out = dense(x, self.weight, self.bias)
        return out if self.activation is None else self.activation(out)

    def _by_operators(self, x: Any) -> Any:
        """Compute with the operators that have strategies, on a matrix."""
        rows = x if x.ndim == 2 else ops.reshape(x, (-1, self.in_channels))
        out = self.matmul(rows, self.weight)
        if self.bias is not None:
            out = self.bias_add(out, self.bias)
        return out if x.ndim == 2 else ops.reshape(out, (*x.shape[:-1], self.out_channels))

    def extend_repr(self) -> str:
        """Name the sizes and the activation."""
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            text += f", has_bias={self.has_bias}"
        if self.activation is not None:
            text += f", activation={self.activation}"
        return text


class Linear(Cell):
    """x times the transpose of weight, plus bias (MindSpore: ``mint.nn.Linear``).

    Args:
        in_features: size of the last axis of the input.
        out_features: size of the last axis of the output.
        bias: whether there is a bias.
        weight_init: as in `Dense`.
        bias_init: as in `Dense`.
        dtype: of the Parameters; None for Float32.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a size is not above 0.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        dtype = float32 if dtype is None else dtype
        self.in_features = checks.positive_int("in_features", in_features, self.cls_name)
        self.out_features = checks.positive_int("out_features", out_features, self.cls_name)
        self.has_bias = checks.boolean("bias", bias, self.cls_name)
        if weight_init is None:
            weight_init = HeUniform(negative_slope=math.sqrt(5))
        shape = (out_features, in_features)
        self.weight = Parameter(initializer(weight_init, shape, dtype), name="weight")
        self.bias = None
        if bias:
            if bias_init is None:
                bias_init = Uniform(scale=1 / math.sqrt(in_features))
            self.bias = Parameter(initializer(bias_init, shape[:1], dtype), name="bias")

    def construct(self, x: Any) -> Any:
        """Compute (..., in) -> (..., out)."""
        return dense(x, self.weight, self.bias)

    def extend_repr(self) -> str:
        """Name the sizes."""
        text = f"input_features={self.in_features}, output_features={self.out_features}"
        return text + (f", has_bias={self.has_bias}" if self.has_bias else "")
