"""One recurrent network over a sequence, with lengths: Elman, GRU and LSTM in the order of cuDNN.

The product of the input with its weights is taken once, outside the loop over time, and the loop's
derivative is linear in the products of the past states with the weights' tangent, which are taken
outside too: so the weights' gradient is one product after the loop, not one a step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive

Array = jax.Array
State = tuple[Array, ...]


class Kind(NamedTuple):
    """One kind of recurrent network.

    Attributes:
        gates: number of gates.
        states: number of states; the first one is the output.
        step: from the inputs' part of the gates, the states' part and the states to the states.
        slopes: from the same, over all steps at once, to what `linear` needs.
        linear: from the slopes, the tangents of both parts and of the states to that of the states.
    """

    gates: int
    states: int
    step: Callable[[Array, Array, State], State]
    slopes: Callable[[Array, Array, State], State]
    linear: Callable[[State, Array, Array, State], State]


def _elman(activation: Callable[[Array], Array], slope: Callable[[Array], Array]) -> Kind:
    return Kind(
        gates=1,
        states=1,
        step=lambda x, h, state: (activation(x + h),),
        slopes=lambda x, h, state: (slope(x + h),),
        linear=lambda slopes, x, h, state: (slopes[0] * (x + h),),
    )


def _gru_gates(x: Array, h: Array) -> tuple[Array, Array, Array, Array]:
    x_r, x_z, x_n = jnp.split(x, 3, -1)
    h_r, h_z, h_n = jnp.split(h, 3, -1)
    reset, update = jax.nn.sigmoid(x_r + h_r), jax.nn.sigmoid(x_z + h_z)
    return reset, update, jnp.tanh(x_n + reset * h_n), h_n


def _gru(x: Array, h: Array, state: State) -> State:
    _, update, new, _ = _gru_gates(x, h)
    return (new + update * (state[0] - new),)


def _gru_slopes(x: Array, h: Array, state: State) -> State:
    reset, update, new, h_n = _gru_gates(x, h)
    of_new = (1 - new * new) * (1 - update)
    of_reset = of_new * h_n * reset * (1 - reset)
    of_update = (state[0] - new) * update * (1 - update)
    return of_reset, of_update, of_new, reset, update


def _gru_linear(slopes: State, x: Array, h: Array, state: State) -> State:
    of_reset, of_update, of_new, reset, update = slopes
    x_r, x_z, x_n = jnp.split(x, 3, -1)
    h_r, h_z, h_n = jnp.split(h, 3, -1)
    gates = of_reset * (x_r + h_r) + of_update * (x_z + h_z) + of_new * (x_n + reset * h_n)
    return (gates + update * state[0],)


def _lstm_gates(x: Array, h: Array) -> tuple[Array, ...]:
    i, f, g, o = jnp.split(x + h, 4, -1)
    return jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)


def _lstm(x: Array, h: Array, state: State) -> State:
    i, f, g, o = _lstm_gates(x, h)
    cell = f * state[1] + i * g
    return o * jnp.tanh(cell), cell


def _lstm_slopes(x: Array, h: Array, state: State) -> State:
    i, f, g, o = _lstm_gates(x, h)
    tanh = jnp.tanh(f * state[1] + i * g)
    of_cell = (g * i * (1 - i), state[1] * f * (1 - f), i * (1 - g * g))
    return *of_cell, tanh * o * (1 - o), f, o * (1 - tanh * tanh)


def _lstm_linear(slopes: State, x: Array, h: Array, state: State) -> State:
    of_i, of_f, of_g, of_o, forget, of_cell = slopes
    i, f, g, o = jnp.split(x + h, 4, -1)
    cell = of_i * i + of_f * f + of_g * g + forget * state[1]
    return of_o * o + of_cell * cell, cell


KINDS = {
    "rnn_tanh": _elman(jnp.tanh, lambda x: 1 - jnp.tanh(x) ** 2),
    "rnn_relu": _elman(jax.nn.relu, lambda x: (x > 0).astype(x.dtype)),
    "gru": Kind(3, 1, _gru, _gru_slopes, _gru_linear),
    "lstm": Kind(4, 2, _lstm, _lstm_slopes, _lstm_linear),
}


def _times(a: Array, b: Array) -> Array:
    return jnp.matmul(a, b.T, precision=lax.Precision.HIGHEST)


def _chosen(mask: Array | None, new: State, old: State) -> State:
    if mask is None:
        return new
    return tuple(jnp.where(mask, n, o) for n, o in zip(new, old, strict=True))


def _scan(
    kind: Kind, backwards: bool, inputs: Array, state: State, w: Array, b: Array, mask: Any
) -> tuple[State, State, State]:
    """Give the states after each step, those before each step, and the last ones."""

    def step(state: State, row: tuple[Array, Any]) -> tuple[State, tuple[State, State]]:
        x, alive = row
        new = _chosen(alive, kind.step(x, _times(state[0], w) + b, state), state)
        return new, (new, state)

    last, (after, before) = lax.scan(step, state, (inputs, mask), reverse=backwards)
    return after, before, last


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _run(
    name: str, backwards: bool, inputs: Array, state: State, w: Array, b: Array, mask: Any
) -> tuple[State, State]:
    after, _, last = _scan(KINDS[name], backwards, inputs, state, w, b, mask)
    return after, last


@_run.defjvp
def _run_jvp(name: str, backwards: bool, primals: Any, tangents: Any) -> Any:
    kind = KINDS[name]
    inputs, state, w, b, mask = primals
    d_inputs, d_state, d_w, d_b, _ = tangents
    after, before, last = _scan(kind, backwards, inputs, state, w, b, mask)
    slopes = kind.slopes(inputs, _times(before[0], w) + b, before)
    # What the past states give through the weights' tangent needs no loop.
    d_hidden = _times(before[0], d_w) + d_b

    def step(d_state: State, row: Any) -> tuple[State, State]:
        slopes, x, h, alive = row
        new = kind.linear(slopes, x, h + _times(d_state[0], w), d_state)
        new = _chosen(alive, new, d_state)
        return new, new

    rows = (slopes, d_inputs, d_hidden, mask)
    d_last, d_after = lax.scan(step, d_state, rows, reverse=backwards)
    return (after, last), (d_after, d_last)


class _Recurrence(Primitive):
    """A recurrent network over a sequence in one direction.

    Args:
        kind: key of `KINDS`.
        backwards: whether it reads from the end, each sequence from its own.
    """

    kind: str
    backwards: bool = False

    def compute(
        self,
        x: Array,
        state: State,
        w_ih: Array,
        w_hh: Array,
        b_ih: Array | None = None,
        b_hh: Array | None = None,
        lengths: Array | None = None,
    ) -> tuple[Array, ...]:
        """Run over a sequence.

        Args:
            x: (length, batch, input).
            state: one or two of (batch, hidden).
            w_ih: (gates * hidden, input).
            w_hh: (gates * hidden, hidden).
            b_ih: (gates * hidden,) or None.
            b_hh: the same.
            lengths: (batch,) integers: steps of each sequence; None for all.

        Returns:
            Outputs (length, batch, hidden), zeros past the end, and the last states.
        """
        if x.ndim != 3:
            raise located(
                ValueError,
                f"'x' must have 3 dimensions, length, batch and input_size, but got {x.shape}.",
            )
        w_ih, w_hh = w_ih.astype(x.dtype), w_hh.astype(x.dtype)
        _fitting(x[0], state, w_ih, w_hh)
        batch = x.shape[1]
        state = tuple(jnp.broadcast_to(s, (batch, s.shape[1])) for s in state)
        inputs = _times(x, w_ih)
        if b_ih is not None:
            inputs = inputs + b_ih.astype(x.dtype)
        b = jnp.zeros((), x.dtype) if b_hh is None else b_hh.astype(x.dtype)
        mask = None
        if lengths is not None:
            mask = (jnp.arange(x.shape[0])[:, None] < lengths[None, :])[:, :, None]
        after, last = _run(self.kind, self.backwards, inputs, state, w_hh, b, mask)
        out = after[0] if mask is None else jnp.where(mask, after[0], jnp.zeros((), x.dtype))
        return (out, *last)


class _RecurrentStep(Primitive):
    """One step of a recurrent network.

    Args:
        kind: key of `KINDS`.
    """

    kind: str

    def compute(
        self,
        x: Array,
        state: State,
        w_ih: Array,
        w_hh: Array,
        b_ih: Array | None = None,
        b_hh: Array | None = None,
    ) -> tuple[Array, ...]:
        """Take a step; the arguments are those of `_Recurrence`, ``x`` is (batch, input).

        Returns:
            The new states, one or two of (batch, hidden).
        """
        _fitting(x, state, w_ih, w_hh)
        from_input, from_state = _times(x, w_ih), _times(state[0], w_hh)
        if b_ih is not None and b_hh is not None:
            from_input, from_state = from_input + b_ih, from_state + b_hh
        return KINDS[self.kind].step(from_input, from_state, tuple(state))


def _fitting(x: Array, state: State, w_ih: Array, w_hh: Array) -> None:
    if w_ih.dtype != x.dtype:
        raise located(
            TypeError,
            f"'x' and the weights must have one dtype, but got {from_np(x.dtype)} and "
            f"{from_np(w_ih.dtype)}.",
        )
    _product("x", x, w_ih)
    for s in state:
        _product("hx", s, w_hh)
        if s.shape[0] not in (1, x.shape[0]):
            raise located(
                ValueError,
                f"'hx' must hold a state for each of {x.shape[0]} samples, but got {s.shape[0]}.",
            )


def _product(name: str, x: Array, w: Array) -> None:
    if x.ndim != 2 or x.shape[1] != w.shape[1]:
        raise located(
            ValueError,
            f"For 'MatMul' the input dimensions must be equal, but got 'x1_col': {x.shape[-1]} and "
            f"'x2_row': {w.shape[1]} ('{name}' of a step has shape {x.shape}).",
        )


def recurrence(
    kind: str,
    x: Any,
    state: Any,
    weights: tuple[Any, Any, Any, Any],
    lengths: Any = None,
    backwards: bool = False,
) -> tuple[Any, ...]:
    """Run a recurrent network over a sequence in one direction.

    Args:
        kind: ``"rnn_tanh"``, ``"rnn_relu"``, ``"gru"`` or ``"lstm"``.
        x: (length, batch, input).
        state: tuple of one or two of (batch, hidden).
        weights: of the input (gates * hidden, input), of the state (gates * hidden, hidden), and
            their biases (gates * hidden,) or None. Gates: reset, update, new; or input, forget,
            cell, output.
        lengths: (batch,) integers, or None.
        backwards: whether it reads from the end.

    Returns:
        The outputs (length, batch, hidden) and the last states.
    """
    return _Recurrence(kind, backwards)(x, state, *weights, lengths)


def recurrent_step(
    kind: str, x: Any, state: Any, weights: tuple[Any, Any, Any, Any]
) -> tuple[Any, ...]:
    """Take one step of a recurrent network.

    Args:
        kind: as in `recurrence`.
        x: (batch, input).
        state: tuple of one or two of (batch, hidden).
        weights: as in `recurrence`.

    Returns:
        The new states.
    """
    return _RecurrentStep(kind)(x, state, *weights)
