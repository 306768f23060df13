"""One recurrent network over a sequence, with lengths: Elman, GRU and LSTM in the order of cuDNN.

The product of the input with its weights is taken once, outside the loop over time. For a gradient
the loop keeps its gates' activations, one array a step, and the derivative's loop works on them
without a nonlinear function but the last; it is linear in the products of the past states with the
weights' tangent, which are taken outside: so the weights' gradient is one product after the loop,
not one a step. ``MINDJAX_CPU_FORMS=0`` leaves the plain loop with jax's own derivative.
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
from mindjax.ops.contraction import by_tangent, cpu_forms, forms_wanted, times_weight

Array = jax.Array
State = tuple[Array, ...]


class Kind(NamedTuple):
    """One kind of recurrent network.

    Attributes:
        gates: number of gates.
        states: number of states; the first one is the output.
        joint: whether the inputs' and the states' parts of the gates come in as a sum only.
        step: from the inputs' part of the gates, the states' part and the states to the states and
            to the activations that `linear` needs.
        linear: from these activations, the states before and after the step, and the tangents of
            both parts and of the states before, to the tangents of the states after.
    """

    gates: int
    states: int
    joint: bool
    step: Callable[[Array, Array, State], tuple[State, Array]]
    linear: Callable[[Array, State, State, Array, Array, State], State]


def _elman(activation: Callable[[Array], Array], slope: Callable[[Array], Array]) -> Kind:
    def step(x: Array, h: Array, state: State) -> tuple[State, Array]:
        out = activation(x + h)
        return (out,), out

    return Kind(
        gates=1,
        states=1,
        joint=True,
        step=step,
        linear=lambda kept, before, after, x, h, state: (slope(kept) * (x + h),),
    )


def _gru(x: Array, h: Array, state: State) -> tuple[State, Array]:
    x_r, x_z, x_n = jnp.split(x, 3, -1)
    h_r, h_z, h_n = jnp.split(h, 3, -1)
    reset, update = jax.nn.sigmoid(x_r + h_r), jax.nn.sigmoid(x_z + h_z)
    new = jnp.tanh(x_n + reset * h_n)
    out = new + update * (state[0] - new)
    return (out,), jnp.concatenate([reset, update, new, h_n], -1)


def _gru_linear(
    kept: Array, before: State, after: State, x: Array, h: Array, state: State
) -> State:
    reset, update, new, h_n = jnp.split(kept, 4, -1)
    x_r, x_z, x_n = jnp.split(x, 3, -1)
    h_r, h_z, h_n_tangent = jnp.split(h, 3, -1)
    of_new = (1 - new * new) * (1 - update)
    of_reset = of_new * h_n * reset * (1 - reset)
    of_update = (before[0] - new) * update * (1 - update)
    gates = of_reset * (x_r + h_r) + of_update * (x_z + h_z)
    return (gates + of_new * (x_n + reset * h_n_tangent) + update * state[0],)


def _lstm(x: Array, h: Array, state: State) -> tuple[State, Array]:
    gates = x + h
    if forms_wanted():
        # All gates in one loop: of four equal parts the third takes tanh, the others sigmoid.
        size = gates.shape[-1] // 4
        third = lax.broadcasted_iota(jnp.int32, gates.shape, gates.ndim - 1) // size == 2
        if gates.dtype.itemsize < 4:
            kept = jnp.where(third, jnp.tanh(gates), jax.nn.sigmoid(gates))
        else:
            # sigmoid(x) = (1 + tanh(x / 2)) / 2, to the last bit of one.
            half = jnp.tanh(gates * jnp.where(third, 1.0, 0.5).astype(gates.dtype))
            kept = jnp.where(third, half, 0.5 * half + 0.5)
        i, f, g, o = jnp.split(kept, 4, -1)
    else:
        i, f, g, o = jnp.split(gates, 4, -1)
        i, f, g, o = jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)
        kept = gates
    cell = f * state[1] + i * g
    return (o * jnp.tanh(cell), cell), kept


def _lstm_linear(
    kept: Array, before: State, after: State, x: Array, h: Array, state: State
) -> State:
    i, f, g, o = jnp.split(kept, 4, -1)
    d_i, d_f, d_g, d_o = jnp.split(x + h, 4, -1)
    tanh = jnp.tanh(after[1])
    cell = g * i * (1 - i) * d_i + before[1] * f * (1 - f) * d_f + i * (1 - g * g) * d_g
    cell = cell + f * state[1]
    return tanh * o * (1 - o) * d_o + o * (1 - tanh * tanh) * cell, cell


KINDS = {
    "rnn_tanh": _elman(jnp.tanh, lambda out: 1 - out * out),
    "rnn_relu": _elman(jax.nn.relu, lambda out: (out > 0).astype(out.dtype)),
    "gru": Kind(3, 1, False, _gru, _gru_linear),
    "lstm": Kind(4, 2, True, _lstm, _lstm_linear),
}


def _times(a: Array, b: Array) -> Array:
    return jnp.matmul(a, b.T, precision=lax.Precision.HIGHEST)


def _chosen(mask: Array | None, new: State, old: State) -> State:
    if mask is None:
        return new
    return tuple(jnp.where(mask, n, o) for n, o in zip(new, old, strict=True))


def _scan(
    kind: Kind, backwards: bool, inputs: Array, state: State, w: Array, b: Array, mask: Any
) -> tuple[State, Array, State]:
    """Give the states after each step, each step's activations, and the last states."""

    def step(state: State, row: tuple[Array, Any]) -> tuple[State, tuple[State, Array]]:
        x, alive = row
        new, kept = kind.step(x, _times(state[0], w) + b, state)
        new = _chosen(alive, new, state)
        return new, (new, kept)

    last, (after, kept) = lax.scan(step, state, (inputs, mask), reverse=backwards)
    return after, kept, last


def run(
    name: str, backwards: bool, inputs: Array, state: State, w: Array, b: Array, mask: Any = None
) -> tuple[State, State]:
    """Run over a sequence of which the inputs' part of the gates is known.

    Args:
        name: key of `KINDS`.
        backwards: whether the sequence is read from its end.
        inputs: (length, batch, gates * hidden).
        state: the states before, each (batch, hidden).
        w: (gates * hidden, hidden).
        b: (gates * hidden,) or ().
        mask: Bool (length, batch, 1) of the steps that are taken; None for all.

    Returns:
        The states after each step, each (length, batch, hidden), and the last ones.
    """
    if forms_wanted():
        return _run(name, backwards, inputs, state, w, b, mask)
    after, _, last = _scan(KINDS[name], backwards, inputs, state, w, b, mask)
    return after, last


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
    after, kept, last = _scan(kind, backwards, inputs, state, w, b, mask)
    before = tuple(_shifted(a, s, backwards) for a, s in zip(after, state, strict=True))
    # What the past states give through the weights' tangent needs no loop.
    d_hidden = _by_weights(before[0], d_w) + d_b
    if kind.joint:
        d_inputs, d_hidden = d_inputs + d_hidden, None

    # The slopes are made of the activations in either direction, not kept.
    @partial(jax.checkpoint, prevent_cse=False)
    def linear(
        kept: Array, before: State, after: State, x: Array, h: Array, d_state: State
    ) -> State:
        return kind.linear(kept, before, after, x, h, d_state)

    def step(d_state: State, row: Any) -> tuple[State, State]:
        kept, before, after, x, h, alive = row
        past = _times(d_state[0], w)
        new = linear(kept, before, after, x, past if h is None else h + past, d_state)
        new = _chosen(alive, new, d_state)
        return new, new

    rows = (kept, before, after, d_inputs, d_hidden, mask)
    d_last, d_after = lax.scan(step, d_state, rows, reverse=backwards)
    return (after, last), (d_after, d_last)


def _shifted(after: Array, first: Array, backwards: bool) -> Array:
    """Give the state before each step."""
    if backwards:
        return jnp.concatenate([after[1:], first[None]])
    return jnp.concatenate([first[None], after[:-1]])


def _by_weights(states: Array, d_w: Array) -> Array:
    """Multiply all states with the weights' tangent, by a form whose transpose is fast on CPUs."""
    if not cpu_forms():
        return _times(states, d_w)
    rows = by_tangent(states.reshape(-1, states.shape[-1]), d_w, True, lax.Precision.HIGHEST)
    return rows.reshape(*states.shape[:-1], d_w.shape[0])


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
        inputs = times_weight(x, w_ih, True, lax.Precision.HIGHEST)
        if b_ih is not None:
            inputs = inputs + b_ih.astype(x.dtype)
        b = jnp.zeros((), x.dtype) if b_hh is None else b_hh.astype(x.dtype)
        mask = None
        if lengths is not None:
            mask = (jnp.arange(x.shape[0])[:, None] < lengths[None, :])[:, :, None]
        after, last = run(self.kind, self.backwards, inputs, state, w_hh, b, mask)
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
        return KINDS[self.kind].step(from_input, from_state, tuple(state))[0]


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
