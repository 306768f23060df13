"""The loop of an LSTM over time (Hochreiter 1997), with weights packed once for all steps."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax_ascend.kernels.foreign import available, call, operator, with_gradient

Array = jax.Array

ACLNN = (
    operator(
        "aclnnLSTM",
        "in:input list:params list:hx bool:hasBiases int:numLayers double:dropout bool:train "
        "bool:bidirectional bool:batchFirst optional:batchSizes out:output out:hy out:cy",
    ),
)


def wanted(inputs: Array, weight: Array, h: Array, c: Array) -> bool:
    """Tell whether the kernels take the arrays."""
    fits = inputs.ndim == 3 and weight.ndim == h.ndim == c.ndim == 2 and inputs.size > 0
    fits = fits and all(x.dtype == np.float32 for x in (inputs, weight, h, c))
    fits = fits and h.shape == c.shape == (inputs.shape[1], weight.shape[1])
    return fits and available("lstm", "lstm", "lstm_grad")


def reference(inputs: Array, weight: Array, h: Array, c: Array) -> tuple[Array, Array]:
    """Run over a sequence of which the inputs' part of the gates is known.

    Args:
        inputs: float (T, B, 4 * H), the gates i, f, g, o, with all biases.
        weight: (4 * H, H).
        h: output before, (B, H).
        c: cell before, (B, H).

    Returns:
        The outputs (T, B, H) and the last cell (B, H).
    """

    def step(state: Any, x: Array) -> Any:
        h, c = state
        i, f, g, o = jnp.split(x + jnp.matmul(h, weight.T), 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    (_, c), out = jax.lax.scan(step, (h, c), inputs)
    return out, c


def lstm(inputs: Array, weight: Array, h: Array, c: Array) -> tuple[Array, Array]:
    """Run as `reference` does, by the kernel where it takes the arrays."""
    run = _lstm if wanted(inputs, weight, h, c) else reference
    return run(inputs, weight, h, c)


def _forward(inputs: Array, weight: Array, h: Array, c: Array) -> Any:
    steps, batch, gates = inputs.shape
    states = ((steps, batch, gates // 4), np.float32)
    outputs = [states, (inputs.shape, np.float32), states]
    out, kept, cells = call("lstm", "lstm", outputs, inputs, weight, h, c, batched="sequential")
    return (out, cells[-1]), (weight, h, c, out, kept, cells)


def _backward(saved: Any, dout: Any) -> Any:
    weight, h, c, out, kept, cells = saved
    outputs = [(kept.shape, np.float32), (h.shape, np.float32), (c.shape, np.float32)]
    d_inputs, d_h, d_c = call(
        "lstm", "lstm_grad", outputs, *dout, weight, kept, cells, c, batched="sequential"
    )
    from mindjax.ops.contraction import weight_gradient

    before = jnp.concatenate([h[None], out[:-1]]).reshape(-1, h.shape[1])
    d_weight = weight_gradient(d_inputs.reshape(-1, weight.shape[0]), before)
    return d_inputs, d_weight, d_h, d_c


_lstm = with_gradient(_forward, _backward, reference)
