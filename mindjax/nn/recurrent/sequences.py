"""Recurrent layers over sequences: several layers, both directions, lengths, dropout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import float32, int32, int64
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.dropout import Dropout
from mindjax.nn.recurrent.cells import pair, tensor
from mindjax.ops.creation import zeros
from mindjax.ops.neural.recurrence import KINDS, recurrence
from mindjax.ops.sequence import concat, stack
from mindjax.ops.shape import transpose
from mindjax.tensor.parameter import Parameter, ParameterTuple
from mindjax.tensor.tensor import Tensor


class _RNNBase(Cell):
    """What the layers share; `LSTM` describes the arguments.

    Args:
        mode: ``"RNN_TANH"``, ``"RNN_RELU"``, ``"GRU"`` or ``"LSTM"``.
        input_size: see `LSTM`, as for the others.
        hidden_size: size of the state.
        num_layers: number of layers.
        has_bias: whether there are biases.
        batch_first: whether the batch is the first axis.
        dropout: probability between layers.
        bidirectional: whether there are two directions.
        dtype: of the Parameters.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.hidden_size = checks.positive_int("hidden_size", hidden_size, owner)
        checks.positive_int("input_size", input_size, owner)
        self.num_layers = checks.positive_int("num_layers", num_layers, owner)
        checks.of_type("dropout", dropout, float, owner)
        self.has_bias = checks.of_type("has_bias", has_bias, bool, owner)
        self.batch_first = checks.of_type("batch_first", batch_first, bool, owner)
        self.bidirectional = checks.of_type("bidirectional", bidirectional, bool, owner)
        if not 0 <= dropout < 1:
            raise located(
                ValueError,
                f"For '{owner}', the 'dropout' must be a number in range [0, 1) representing the "
                f"probability of an element being zeroed, but got {dropout}.",
            )
        self._kind = mode.lower()
        self.is_lstm = mode == "LSTM"
        self.dropout = dropout
        self.dropout_op = Dropout(p=float(dropout))
        self._directions = 2 if bidirectional else 1
        rows = KINDS[self._kind].gates * hidden_size
        lists: dict[str, list[Parameter]] = {n: [] for n in ("w_ih", "w_hh", "b_ih", "b_hh")}

        def add(group: str, name: str, *shape: int) -> None:
            # From numpy's global stream itself, so that its seed gives the original's weights.
            bound = 1 / math.sqrt(hidden_size)
            first = np.random.uniform(-bound, bound, shape).astype(np.float32)
            lists[group].append(Parameter(Tensor(first, dtype), name))

        for layer in range(num_layers):
            width = input_size if layer == 0 else hidden_size * self._directions
            for suffix in ("", "_reverse")[: self._directions]:
                place = f"l{layer}{suffix}"
                add("w_ih", f"weight_ih_{place}", rows, width)
                add("w_hh", f"weight_hh_{place}", rows, hidden_size)
                if has_bias:
                    add("b_ih", f"bias_ih_{place}", rows)
                    add("b_hh", f"bias_hh_{place}", rows)
        self.w_ih_list = ParameterTuple(lists["w_ih"])
        self.w_hh_list = ParameterTuple(lists["w_hh"])
        self.b_ih_list = ParameterTuple(lists["b_ih"])
        self.b_hh_list = ParameterTuple(lists["b_hh"])

    def construct(self, x: Any, hx: Any = None, seq_length: Any = None) -> Any:
        """Run over sequences.

        Args:
            x: (length, batch, input_size), or (batch, length, input_size) with ``batch_first``,
                Float32 or Float16.
            hx: first states (layers * directions, batch, hidden_size) in the dtype of ``x``, for an
                LSTM a tuple of outputs and states; None for zeros.
            seq_length: (batch,) Int32 or Int64: length of each sequence; None for all steps.

        Returns:
            The outputs (length, batch, directions * hidden_size), zeros past the end, in the order
            of axes of ``x``, and the last states in the form of ``hx``.

        Raises:
            TypeError: an input is of a wrong type.
            ValueError: a size does not fit.
        """
        tensor("x", x, self.cls_name)
        if len(x.shape) != 3:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'x' must have 3 dimensions, but got shape {x.shape}.",
            )
        batch = x.shape[0] if self.batch_first else x.shape[1]
        states = self._first_states(x, hx, batch)
        if seq_length is not None:
            self._check_lengths(seq_length, batch)
        if self.batch_first:
            x = transpose(x, (1, 0, 2))
        last: list[list[Any]] = [[] for _ in states]
        for layer in range(self.num_layers):
            outputs = []
            for d in range(self._directions):
                at = layer * self._directions + d
                out, *reached = recurrence(
                    self._kind,
                    x,
                    tuple(s[at] for s in states),
                    self._weights(at),
                    seq_length,
                    d == 1,
                )
                outputs.append(out)
                for kept, state in zip(last, reached, strict=True):
                    kept.append(state)
            x = concat(outputs, 2) if len(outputs) > 1 else outputs[0]
            if self.dropout != 0 and layer < self.num_layers - 1:
                x = self.dropout_op(x)
        if self.batch_first:
            x = transpose(x, (1, 0, 2))
        stacked = tuple(stack(kept, 0) for kept in last)
        return x, stacked if self.is_lstm else stacked[0]

    def _weights(self, at: int) -> tuple[Any, Any, Any, Any]:
        b_ih, b_hh = (self.b_ih_list[at], self.b_hh_list[at]) if self.has_bias else (None, None)
        return self.w_ih_list[at], self.w_hh_list[at], b_ih, b_hh

    def _first_states(self, x: Any, hx: Any, batch: int) -> tuple[Any, ...]:
        owner = self.cls_name
        count = self.num_layers * self._directions
        if hx is None:
            shape = (count, batch, self.hidden_size)
            return tuple(zeros(shape, x.dtype) for _ in range(2 if self.is_lstm else 1))
        if self.is_lstm:
            pair(hx, owner)
        for i, state in enumerate(hx if self.is_lstm else (hx,)):
            name = f"hx[{i}]" if self.is_lstm else "hx"
            tensor(name, state, owner)
            if state.dtype != x.dtype:
                raise located(
                    TypeError,
                    f"For '{owner}', the type of '{name}' should be same as 'x', but got 'x' with "
                    f"type {x.dtype} and '{name}' with type {state.dtype}.",
                )
            if len(state.shape) != 3 or state.shape[0] != count:
                raise located(
                    ValueError,
                    f"For '{owner}', the '{name}' must be {(count, batch, self.hidden_size)}, one "
                    f"state for each layer and direction, but got {state.shape}.",
                )
        return hx if self.is_lstm else (hx,)

    def _check_lengths(self, lengths: Any, batch: int) -> None:
        owner = self.cls_name
        if not isinstance(lengths, Tensor) or lengths.dtype not in (int32, int64):
            given = lengths.dtype if isinstance(lengths, Tensor) else type(lengths).__name__
            raise located(
                TypeError,
                f"For '{owner}', the 'seq_length' should be a Tensor of Int32 or Int64, but got "
                f"'{given}'.",
            )
        if lengths.shape != (batch,):
            raise located(
                ValueError,
                f"For '{owner}', batch size of x and seq_length must be equal, but got {batch} of "
                f"x and {lengths.shape} of seq_length.",
            )


class RNN(_RNNBase):
    """Elman network over sequences (Elman 1990; MindSpore: ``nn.RNN``).

    Args:
        *args: ``input_size``, ``hidden_size``, ``num_layers``, ``has_bias``, ``batch_first``,
            ``dropout``, ``bidirectional`` and ``dtype``, as of `LSTM`.
        **kwargs: the same by name, and ``nonlinearity``: ``"tanh"`` or ``"relu"``.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise located(
                ValueError,
                "For 'RNN', the 'nonlinearity' must be in ['tanh', 'relu'], but got "
                f"{nonlinearity}.",
            )
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)


class GRU(_RNNBase):
    """Gated recurrent units over sequences (Cho 2014; MindSpore: ``nn.GRU``).

    Args:
        *args: ``input_size``, ``hidden_size``, ``num_layers``, ``has_bias``, ``batch_first``,
            ``dropout``, ``bidirectional`` and ``dtype``, as of `LSTM`.
        **kwargs: the same by name.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)


class LSTM(_RNNBase):
    """Long short-term memory over sequences (Hochreiter 1997; MindSpore: ``nn.LSTM``).

    Args:
        *args: ``input_size``: features of the input; ``hidden_size``: features of the state;
            ``num_layers`` (1): layers, one on the other; ``has_bias`` (True); ``batch_first``
            (False): inputs are (batch, length, input_size); ``dropout`` (0.0): probability, in
            [0, 1), of an element between two layers to be dropped while training;
            ``bidirectional`` (False): whether a second network reads backwards; ``dtype``
            (Float32): of the Parameters.
        **kwargs: the same by name.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)
