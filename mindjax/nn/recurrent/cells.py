"""Single steps of recurrent networks."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import float16, float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.neural.recurrence import recurrent_step
from mindjax.tensor.initializer import Uniform, initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


def tensor(name: str, value: Any, owner: str) -> None:
    """Check that an input is a Tensor of Float32 or Float16.

    Args:
        name: of the input.
        value: to be checked.
        owner: class named in the error.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, Tensor):
        raise located(
            TypeError, f"For '{owner}', the '{name}' must be a Tensor, but got {value!r}."
        )
    if value.dtype not in (float32, float16):
        raise located(
            TypeError,
            f"For '{owner}', the '{name}' should be one of [Float32, Float16], but got "
            f"'{value.dtype}'.",
        )


def pair(value: Any, owner: str) -> None:
    """Check that the state of an LSTM is a tuple of two.

    Args:
        value: to be checked.
        owner: class named in the error.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, tuple):
        raise located(
            TypeError,
            f"For '{owner}', the 'hx' must be a tuple of two Tensors, but got "
            f"{type(value).__name__}.",
        )
    if len(value) != 2:
        raise located(
            TypeError, f"For '{owner}', the length of 'hx' must be '2', but got '{len(value)}'."
        )


class RNNCellBase(Cell):
    """What the steps share: weights and checks (MindSpore: of ``nn.layer.rnn_cells``).

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        has_bias: whether the gates have biases.
        num_chunks: number of gates.
        dtype: of the Parameters.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool,
        num_chunks: int,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.has_bias = checks.of_type("has_bias", has_bias, bool, owner)
        self.hidden_size = checks.positive_int("hidden_size", hidden_size, owner)
        self.input_size = checks.positive_int("input_size", input_size, owner)
        rows, bound = num_chunks * hidden_size, 1 / math.sqrt(hidden_size)
        # The original draws values that it replaces: what a script draws next depends on it.
        np.random.randn(rows * (input_size + hidden_size + 2 * has_bias))

        def parameter(name: str, *shape: int) -> Parameter:
            return Parameter(initializer(Uniform(scale=bound), shape, dtype), name)

        self.weight_ih = parameter("weight_ih", rows, input_size)
        self.weight_hh = parameter("weight_hh", rows, hidden_size)
        self.bias_ih = parameter("bias_ih", rows) if has_bias else None
        self.bias_hh = parameter("bias_hh", rows) if has_bias else None

    def reset_parameters(self, dtype: Any = float32) -> None:
        """Draw the Parameters again, uniformly within 1 / sqrt(hidden_size).

        Args:
            dtype: of the new values.
        """
        for weight in self.get_parameters():
            bound = Uniform(scale=1 / math.sqrt(self.hidden_size))
            weight.set_data(initializer(bound, weight.shape, dtype))

    def _step(self, kind: str, x: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return recurrent_step(kind, x, state, weights)


class RNNCell(RNNCellBase):
    """One step of an Elman network (Elman 1990; MindSpore: ``nn.RNNCell``).

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        has_bias: whether there are biases.
        nonlinearity: ``"tanh"`` or ``"relu"``.
        dtype: of the Parameters.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    _non_linearity: ClassVar[list[str]] = ["tanh", "relu"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: Any = float32,
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, 1, dtype)
        checks.of_type("nonlinearity", nonlinearity, str, self.cls_name)
        self.nonlinearity = checks.one_of(
            "nonlinearity", nonlinearity, self._non_linearity, self.cls_name
        )

    def construct(self, x: Any, hx: Any) -> Any:
        """Give the new state (batch, hidden_size).

        Args:
            x: (batch, input_size).
            hx: state (batch, hidden_size).
        """
        tensor("x", x, self.cls_name)
        tensor("hx", hx, self.cls_name)
        return self._step(f"rnn_{self.nonlinearity}", x, (hx,))[0]


class LSTMCell(RNNCellBase):
    """One step of a long short-term memory (Hochreiter 1997; MindSpore: ``nn.LSTMCell``).

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        has_bias: whether there are biases.
        dtype: of the Parameters.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        dtype: Any = float32,
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, 4, dtype)

    def construct(self, x: Any, hx: Any) -> Any:
        """Give the new output and state, both (batch, hidden_size).

        Args:
            x: (batch, input_size).
            hx: tuple of output and state, both (batch, hidden_size).
        """
        pair(hx, self.cls_name)
        tensor("x", x, self.cls_name)
        for i, state in enumerate(hx):
            tensor(f"hx[{i}]", state, self.cls_name)
        return self._step("lstm", x, hx)


class GRUCell(RNNCellBase):
    """One step of a gated recurrent unit (Cho 2014; MindSpore: ``nn.GRUCell``).

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        has_bias: whether there are biases.
        dtype: of the Parameters.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: Any = float32
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, 3, dtype)

    def construct(self, x: Any, hx: Any) -> Any:
        """Give the new state (batch, hidden_size).

        Args:
            x: (batch, input_size).
            hx: state (batch, hidden_size).
        """
        tensor("x", x, self.cls_name)
        tensor("hx", hx, self.cls_name)
        return self._step("gru", x, (hx,))[0]
