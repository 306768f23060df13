"""ONNX's recurrent networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from mindjax.onnx.reading.errors import UnknownOperator
from mindjax.onnx.reading.table import Attributes, operator

_ACTIVATIONS: dict[str, Callable[[Any, float | None, float | None], Any]] = {
    "relu": lambda x, a, b: jnp.maximum(x, 0),
    "tanh": lambda x, a, b: jnp.tanh(x),
    "sigmoid": lambda x, a, b: lax.logistic(x),
    "affine": lambda x, a, b: (1.0 if a is None else a) * x + (0.0 if b is None else b),
    "leakyrelu": lambda x, a, b: jnp.where(x < 0, (0.01 if a is None else a) * x, x),
    "thresholdedrelu": lambda x, a, b: jnp.where(x > (1.0 if a is None else a), x, 0),
    "scaledtanh": lambda x, a, b: (
        (1.0 if a is None else a) * jnp.tanh((1.0 if b is None else b) * x)
    ),
    "hardsigmoid": lambda x, a, b: jnp.clip(
        (0.2 if a is None else a) * x + (0.5 if b is None else b), 0, 1
    ),
    "elu": lambda x, a, b: jnp.where(
        x < 0, (1.0 if a is None else a) * jnp.expm1(jnp.minimum(x, 0)), x
    ),
    "softsign": lambda x, a, b: x / (1 + jnp.abs(x)),
    "softplus": lambda x, a, b: jax.nn.softplus(x),
}
_DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _activations(n: Attributes, count: int) -> list[Any]:
    own = _DEFAULTS[n.kind]
    names = n.get("activations") or own * count
    alphas, betas = n.get("activation_alpha") or [], n.get("activation_beta") or []
    functions = []
    for i, name in enumerate(names):
        function = _ACTIVATIONS.get(name.lower())
        if function is None:
            raise UnknownOperator(f"MindJAX has no activation '{name[:40]}'")
        a = alphas[i] if i < len(alphas) else None
        b = betas[i] if i < len(betas) else None
        functions.append(lambda x, f=function, a=a, b=b: f(x, a, b))
    return functions


@operator("RNN", "GRU", "LSTM")
def _recurrent(
    n: Attributes, x: Any, w: Any, r: Any, bias: Any = None, lengths: Any = None,
    first: Any = None, first_cell: Any = None, peepholes: Any = None,
) -> Any:  # fmt: skip
    if n.get("clip"):
        raise UnknownOperator(f"'{n.kind}' with 'clip' has no form in MindJAX")
    directions, size = w.shape[0], r.shape[-1]
    batch_first = bool(n.get("layout"))
    if batch_first:
        x = x.swapaxes(0, 1)
        first, first_cell = (s if s is None else s.swapaxes(0, 1) for s in (first, first_cell))
    steps, batch, _ = x.shape
    functions = _activations(n, directions)
    each = len(functions) // directions
    outs, lasts, cells = [], [], []
    for d in range(directions):
        backwards = n.get("direction", "forward") == "reverse" or d == 1
        state = jnp.zeros((batch, size), x.dtype) if first is None else first[d]
        cell = jnp.zeros((batch, size), x.dtype) if first_cell is None else first_cell[d]
        both = jnp.zeros((2, _GATES[n.kind] * size), x.dtype)
        both = both if bias is None else bias[d].reshape((2, -1))
        turn = _turn(n, r[d], both, functions[d * each : (d + 1) * each],
                     None if peepholes is None else peepholes[d].reshape((3, size)))  # fmt: skip
        projected = jnp.matmul(x, w[d].T) + both[0]
        inside = jnp.ones((steps, batch, 1), jnp.bool_)
        if lengths is not None:
            inside = (jnp.arange(steps)[:, None] < lengths[None])[..., None]

        def step(carry: Any, row: Any, turn: Any = turn) -> Any:
            now, live = row
            after = tuple(
                jnp.where(live, a, b) for a, b in zip(turn(carry, now), carry, strict=True)
            )
            return after, jnp.where(live, after[0], 0)

        (state, cell), rows = lax.scan(step, (state, cell), (projected, inside), reverse=backwards)
        outs.append(rows)
        lasts.append(state)
        cells.append(cell)
    out, last, kept = jnp.stack(outs, 1), jnp.stack(lasts), jnp.stack(cells)
    if batch_first:
        out = out.transpose((2, 0, 1, 3))
        last, kept = last.swapaxes(0, 1), kept.swapaxes(0, 1)
    results = (out, last, kept)
    return results[: n.outputs] if n.outputs > 1 else out


def _turn(n: Attributes, r: Any, bias: Any, functions: list[Any], peepholes: Any) -> Any:
    """Give the function of one step: (state, cell), projected input -> (state, cell)."""
    behind = bias[1]

    def rnn(carry: Any, now: Any) -> Any:
        state, cell = carry
        return functions[0](now + jnp.matmul(state, r.T) + behind), cell

    def gru(carry: Any, now: Any) -> Any:
        state, cell = carry
        size = state.shape[-1]
        own = jnp.matmul(state, r[: 2 * size].T) + behind[: 2 * size]
        z, reset = jnp.split(functions[0](now[:, : 2 * size] + own), 2, -1)
        hidden, shift = r[2 * size :], behind[2 * size :]
        if n.get("linear_before_reset"):
            mixed = reset * (jnp.matmul(state, hidden.T) + shift)
        else:
            mixed = jnp.matmul(reset * state, hidden.T) + shift
        candidate = functions[1](now[:, 2 * size :] + mixed)
        return (1 - z) * candidate + z * state, cell

    def lstm(carry: Any, now: Any) -> Any:
        state, cell = carry
        gates = jnp.split(now + jnp.matmul(state, r.T) + behind, 4, -1)
        i, o, f, c = gates
        if peepholes is not None:
            i, f = i + peepholes[0] * cell, f + peepholes[2] * cell
        i, f = functions[0](i), functions[0](f)
        f = 1 - i if n.get("input_forget") else f
        after = f * cell + i * functions[1](c)
        o = o if peepholes is None else o + peepholes[1] * after
        return functions[0](o) * functions[2](after), after

    return {"RNN": rnn, "GRU": gru, "LSTM": lstm}[n.kind]
