"""Recurrent networks over whole sequences: LSTM and GRU."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.core.random import default_generator, key
from mindjax.ops.contraction import forms_wanted, times_weight
from mindjax.ops.neural.recurrence import run

Array = jax.Array


def _floats(owner: str, **arrays: Array | None) -> None:
    for name, x in arrays.items():
        if x is not None and from_np(x.dtype).kind != "float":
            raise located(
                TypeError,
                f"For '{owner}', the dtype of '{name}' must be Float16 or Float32, but got "
                f"{from_np(x.dtype)}.",
            )


def _shapes(owner: str, **pairs: tuple[Array | None, tuple[int, ...]]) -> None:
    for name, (x, shape) in pairs.items():
        if x is not None and x.shape != shape:
            raise located(
                ValueError,
                f"For '{owner}', the shape of '{name}' must be {shape}, but got {x.shape}.",
            )


def _only(record: Any, **values: Any) -> None:
    """Refuse what the original documents as not supported."""
    for name, value in values.items():
        given = getattr(record, name)
        checks.of_type(name, given, type(value), record.name)
        if given != value:
            raise located(
                NotImplementedError,
                f"For '{record.name}', only {value!r} is supported as '{name}', but got {given!r}.",
            )


def _times(a: Array, b: Array) -> Array:
    return jnp.matmul(a, b, precision=lax.Precision.HIGHEST)


class LSTM(Primitive):
    """Long short-term memory (Hochreiter 1997; MindSpore: ``ops.LSTM``).

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        num_layers: number of layers, one on the other.
        has_bias: whether the weights hold biases.
        bidirectional: whether a second network reads backwards.
        dropout: probability of an element between two layers to be dropped.
        proj_size: size that the hidden state is projected to; 0 for none.
    """

    input_size: int
    hidden_size: int
    num_layers: int
    has_bias: bool
    bidirectional: bool
    dropout: float
    proj_size: int = 0

    def __post_init__(self) -> None:
        owner = "LSTM"
        for name in ("input_size", "hidden_size", "num_layers"):
            checks.positive_int(name, getattr(self, name), owner)
        checks.int_in_range("proj_size", self.proj_size, 0, self.hidden_size, owner)
        checks.boolean("has_bias", self.has_bias, owner)
        checks.boolean("bidirectional", self.bidirectional, owner)
        checks.of_type("dropout", self.dropout, float, owner)
        checks.in_range("dropout", self.dropout, 0, 1, owner, "[]")

    def __call__(self, input: Any, h: Any, c: Any, w: Any) -> Any:
        """Run over a sequence.

        Args:
            input: (length, batch, input_size).
            h: (layers * directions, batch, hidden or projected size), the first output.
            c: (layers * directions, batch, hidden_size), the first state.
            w: weights in a row: for each layer and direction those of the input (4 hidden, in), of
                the hidden state (4 hidden, hidden) and of the projection (projected, hidden); then
                the biases (4 hidden), one or two for each. The gates are input, forget, cell,
                output.

        Returns:
            Outputs (length, batch, directions * size), last output, last state, and two empty
            Tensors where the original keeps what its backward needs.
        """
        if self.dropout > 0 and self.num_layers > 1:
            return super().__call__(input, h, c, w, *default_generator().next_key())
        return super().__call__(input, h, c, w)

    def compute(
        self,
        x: Array,
        h: Array,
        c: Array,
        w: Array,
        seed: Array | None = None,
        offset: Array | None = None,
    ) -> tuple[Array, ...]:
        """Run all layers; dropout takes the key of one draw."""
        owner, hidden = "LSTM", self.hidden_size
        directions = 2 if self.bidirectional else 1
        networks = self.num_layers * directions
        out = self.proj_size or hidden
        if x.ndim != 3 or x.shape[2] != self.input_size:
            raise located(
                ValueError,
                f"For '{owner}', 'input' must be (length, batch, {self.input_size}), but got shape "
                f"{x.shape}.",
            )
        batch = x.shape[1]
        _floats(owner, input=x, h=h, c=c, w=w)
        _shapes(owner, h=(h, (networks, batch, out)), c=(c, (networks, batch, hidden)))
        weights, biases = self._unpacked(w.reshape(-1), directions, out)
        for layer in range(self.num_layers):
            results = []
            for d in range(directions):
                at = layer * directions + d
                results.append(
                    self._run(x, h[at], c[at], weights[at], biases[at], backwards=d == 1)
                )
            x = jnp.concatenate([r[0] for r in results], 2)
            h = h.at[layer * directions : (layer + 1) * directions].set(
                jnp.stack([r[1] for r in results])
            )
            c = c.at[layer * directions : (layer + 1) * directions].set(
                jnp.stack([r[2] for r in results])
            )
            if seed is not None and offset is not None and layer + 1 < self.num_layers:
                draw = jax.random.fold_in(key(seed, offset), layer)
                kept = jax.random.bernoulli(draw, 1 - self.dropout, x.shape)
                rest = 1 - self.dropout
                x = jnp.where(kept, x / rest, 0).astype(x.dtype) if rest else jnp.zeros_like(x)
        empty = jnp.zeros((0, 1), x.dtype)
        return x, h, c, empty, empty

    def _unpacked(
        self, w: Array, directions: int, out: int
    ) -> tuple[list[tuple[Array, ...]], list[Array]]:
        """Cut the row of weights into those of each network; two biases become their sum."""
        hidden, place = self.hidden_size, 0
        weights: list[tuple[Array, ...]] = []

        def cut(*shape: int) -> Array:
            nonlocal place
            size = int(np.prod(shape))
            part = w[place : place + size].reshape(shape)
            place += size
            return part

        sizes = []
        for layer in range(self.num_layers):
            width = self.input_size if layer == 0 else out * directions
            sizes += [width] * directions
        plain = sum(4 * hidden * (n + out) + self.proj_size * hidden for n in sizes)
        each = 4 * hidden * len(sizes)
        given = [plain + each, plain + 2 * each] if self.has_bias else [plain]
        if w.shape[0] not in given:
            raise located(
                ValueError,
                f"For 'LSTM', 'w' must have {' or '.join(map(str, given))} elements, but got "
                f"{w.shape[0]}.",
            )
        for n in sizes:
            parts = [cut(4 * hidden, n), cut(4 * hidden, out)]
            weights.append((*parts, cut(self.proj_size, hidden)) if self.proj_size else (*parts,))
        biases = []
        for _ in sizes:
            if not self.has_bias:
                biases.append(jnp.zeros(4 * hidden, w.dtype))
            elif w.shape[0] == given[0]:
                biases.append(cut(4 * hidden))
            else:
                biases.append(cut(4 * hidden) + cut(4 * hidden))
        return weights, biases

    def _run(
        self,
        x: Array,
        h: Array,
        c: Array,
        weights: tuple[Array, ...],
        bias: Array,
        backwards: bool,
    ) -> tuple[Array, Array, Array]:
        """Run one network over a sequence."""
        inputs = times_weight(x, weights[0], True, lax.Precision.HIGHEST) + bias
        if len(weights) == 2 and forms_wanted():
            none = jnp.zeros((), x.dtype)
            after, last = run("lstm", backwards, inputs, (h, c), weights[1], none)
            return after[0], last[0], last[1]

        def step(state: tuple[Array, Array], row: Array) -> tuple[tuple[Array, Array], Array]:
            h, c = state
            gates = row + _times(h, weights[1].T)
            i, f, g, o = jnp.split(gates, 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            if len(weights) == 3:
                h = _times(h, weights[2].T)
            return (h, c), h

        (h, c), outputs = lax.scan(step, (h, c), inputs, reverse=backwards)
        return outputs, h, c


def _lstm_step(
    x: Array, h: Array, c: Array, w: Array, b: Array, forget_bias: float
) -> tuple[Array, ...]:
    """Take one step; gates are input, cell, forget, output."""
    gates = _times(jnp.concatenate([x, h], 1), w) + b
    i, j, f, o = jnp.split(gates, 4, 1)
    i, j = jax.nn.sigmoid(i), jnp.tanh(j)
    f, o = jax.nn.sigmoid(f + np.asarray(forget_bias, f.dtype)), jax.nn.sigmoid(o)
    c = f * c + i * j
    tanh = jnp.tanh(c)
    return o * tanh, c, i, j, f, o, tanh


class DynamicRNN(Primitive):
    """An LSTM over a sequence, with the values of its gates (MindSpore: ``ops.DynamicRNN``).

    Args:
        cell_type: only ``"LSTM"``.
        direction: only ``"UNIDIRECTIONAL"``.
        cell_depth: only 1.
        use_peephole: only False.
        keep_prob: only 1.0.
        cell_clip: only -1.0.
        num_proj: only 0.
        time_major: only True.
        activation: only ``"tanh"``.
        forget_bias: added to the forget gate.
        is_training: kept for the original's sake: the result is the same.
    """

    cell_type: str = "LSTM"
    direction: str = "UNIDIRECTIONAL"
    cell_depth: int = 1
    use_peephole: bool = False
    keep_prob: float = 1.0
    cell_clip: float = -1.0
    num_proj: int = 0
    time_major: bool = True
    activation: str = "tanh"
    forget_bias: float = 0.0
    is_training: bool = True

    def __post_init__(self) -> None:
        checks.of_type("forget_bias", self.forget_bias, float, "DynamicRNN")
        checks.boolean("is_training", self.is_training, "DynamicRNN")
        _only(
            self,
            cell_type="LSTM",
            direction="UNIDIRECTIONAL",
            cell_depth=1,
            use_peephole=False,
            keep_prob=1.0,
            cell_clip=-1.0,
            num_proj=0,
            time_major=True,
            activation="tanh",
        )

    def compute(
        self,
        x: Array,
        w: Array,
        b: Array,
        seq_length: Array | None,
        init_h: Array,
        init_c: Array,
    ) -> tuple[Array, ...]:
        """Run over a sequence.

        Args:
            x: (length, batch, input).
            w: (input + hidden, 4 hidden): gates are input, cell, forget, output.
            b: (4 hidden,).
            seq_length: only None.
            init_h: (1, batch, hidden), the first output.
            init_c: (1, batch, hidden), the first state.

        Returns:
            Outputs twice, states, and the values of input, cell, forget and output gates and of
            tanh(state), each (length, batch, hidden).
        """
        owner = "DynamicRNN"
        _no_lengths(seq_length, owner)
        if x.ndim != 3 or w.ndim != 2 or w.shape[1] % 4:
            raise located(
                ValueError,
                f"For '{owner}', 'x' must be (length, batch, input) and 'w' (input + hidden, 4 "
                f"hidden), but got shapes {x.shape} and {w.shape}.",
            )
        hidden = w.shape[1] // 4
        _floats(owner, x=x, w=w, b=b, init_h=init_h, init_c=init_c)
        state = (1, x.shape[1], hidden)
        _shapes(
            owner,
            w=(w, (x.shape[2] + hidden, 4 * hidden)),
            b=(b, (4 * hidden,)),
            init_h=(init_h, state),
            init_c=(init_c, state),
        )
        wide = jnp.promote_types(b.dtype, np.float32)
        weights = (w.astype(wide), b.astype(wide), self.forget_bias)

        def step(state: tuple[Array, Array], row: Array) -> tuple[Any, tuple[Array, ...]]:
            h, c, *gates = _lstm_step(row, *state, *weights)
            return (h, c), (h, c, *gates)

        first = (init_h[0].astype(wide), init_c[0].astype(wide))
        _, (h, c, *gates) = lax.scan(step, first, x.astype(wide))
        kept = [g.astype(b.dtype) for g in (c, *gates)]
        return h.astype(b.dtype), h.astype(x.dtype), *kept


def _no_lengths(lengths: Any, owner: str) -> None:
    if lengths is not None:
        raise located(
            NotImplementedError,
            f"For '{owner}', only None is supported as 'seq_length', but got a Tensor: mask the "
            "results.",
        )


class BasicLSTMCell(Primitive):
    """One step of an LSTM (MindSpore: ``ops.BasicLSTMCell``).

    Args:
        keep_prob: only 1.0.
        forget_bias: added to the forget gate.
        state_is_tuple: only True: output and state are two Tensors.
        activation: only ``"tanh"``.
    """

    keep_prob: float = 1.0
    forget_bias: float = 1.0
    state_is_tuple: bool = True
    activation: str = "tanh"

    def __post_init__(self) -> None:
        checks.of_type("forget_bias", self.forget_bias, float, "BasicLSTMCell")
        _only(self, keep_prob=1.0, state_is_tuple=True, activation="tanh")

    def compute(self, x: Array, h: Array, c: Array, w: Array, b: Array) -> tuple[Array, ...]:
        """Take one step.

        Args:
            x: (batch, input).
            h: (batch, hidden), the last output.
            c: (batch, hidden), the last state.
            w: (input + hidden, 4 hidden): gates are input, cell, forget, output.
            b: (4 hidden,) or (4 hidden, 1, 1, 1).

        Returns:
            State, output, and the values of input, cell, forget and output gates and of
            tanh(state), each (batch, hidden).
        """
        owner = "BasicLSTMCell"
        _floats(owner, x=x, h=h, c=c, w=w, b=b)
        w, b = w.reshape(w.shape[:2]), b.reshape(-1)
        hidden = w.shape[1] // 4
        state = (x.shape[0], hidden)
        _shapes(
            owner,
            h=(h, state),
            c=(c, state),
            w=(w, (x.shape[1] + hidden, 4 * hidden)),
            b=(b, (4 * hidden,)),
        )
        wide = jnp.promote_types(c.dtype, np.float32)
        inputs = [a.astype(wide) for a in (x, h, c, w, b)]
        fresh, state_now, *gates = _lstm_step(*inputs, self.forget_bias)  # type: ignore[misc]
        kept = [g.astype(c.dtype) for g in gates]
        return state_now.astype(c.dtype), fresh.astype(h.dtype), *kept


class DynamicGRUV2(Primitive):
    """A GRU over a sequence, with the values of its gates (MindSpore: ``ops.DynamicGRUV2``).

    Args:
        direction: only ``"UNIDIRECTIONAL"``.
        cell_depth: only 1.
        keep_prob: only 1.0.
        cell_clip: only -1.0.
        num_proj: only 0.
        time_major: only True.
        activation: only ``"tanh"``.
        gate_order: ``"rzh"`` or ``"zrh"``: reset and update, or update and reset, then the new.
        reset_after: apply the reset gate after the product with the weights, not before.
        is_training: kept for the original's sake: the result is the same.
    """

    direction: str = "UNIDIRECTIONAL"
    cell_depth: int = 1
    keep_prob: float = 1.0
    cell_clip: float = -1.0
    num_proj: int = 0
    time_major: bool = True
    activation: str = "tanh"
    gate_order: str = "rzh"
    reset_after: bool = True
    is_training: bool = True

    def __post_init__(self) -> None:
        owner = "DynamicGRUV2"
        checks.of_type("gate_order", self.gate_order, str, owner)
        checks.one_of("gate_order", self.gate_order, ("rzh", "zrh"), owner)
        checks.boolean("reset_after", self.reset_after, owner)
        checks.boolean("is_training", self.is_training, owner)
        _only(
            self,
            direction="UNIDIRECTIONAL",
            cell_depth=1,
            keep_prob=1.0,
            cell_clip=-1.0,
            num_proj=0,
            time_major=True,
            activation="tanh",
        )

    def compute(
        self,
        x: Array,
        weight_input: Array,
        weight_hidden: Array,
        bias_input: Array | None,
        bias_hidden: Array | None,
        seq_length: Array | None,
        init_h: Array,
    ) -> tuple[Array, ...]:
        """Run over a sequence.

        Args:
            x: (length, batch, input).
            weight_input: (input, 3 hidden).
            weight_hidden: (hidden, 3 hidden).
            bias_input: (3 hidden,) or None.
            bias_hidden: (3 hidden,) or None.
            seq_length: only None.
            init_h: (batch, hidden), the first output.

        Returns:
            Outputs twice, and the values of update, reset and new gates and of the hidden part of
            the new one, each (length, batch, hidden).
        """
        owner = "DynamicGRUV2"
        _no_lengths(seq_length, owner)
        arrays = {"x": x, "weight_input": weight_input, "weight_hidden": weight_hidden}
        _floats(owner, **arrays, bias_input=bias_input, bias_hidden=bias_hidden, init_h=init_h)
        if x.ndim != 3 or weight_hidden.ndim != 2:
            raise located(
                ValueError,
                f"For '{owner}', 'x' must be (length, batch, input) and 'weight_hidden' (hidden, 3 "
                f"hidden), but got shapes {x.shape} and {weight_hidden.shape}.",
            )
        hidden = weight_hidden.shape[0]
        _shapes(
            owner,
            weight_input=(weight_input, (x.shape[2], 3 * hidden)),
            weight_hidden=(weight_hidden, (hidden, 3 * hidden)),
            bias_input=(bias_input, (3 * hidden,)),
            bias_hidden=(bias_hidden, (3 * hidden,)),
            init_h=(init_h, (x.shape[1], hidden)),
        )
        first = next(a for a in (bias_input, bias_hidden, init_h) if a is not None)
        wide = jnp.promote_types(first.dtype, np.float32)
        zero = jnp.zeros(3 * hidden, wide)
        to_hidden = weight_hidden.astype(wide)
        bias = zero if bias_hidden is None else bias_hidden.astype(wide)
        inputs = _times(x.astype(wide), weight_input.astype(wide))
        inputs = inputs + (zero if bias_input is None else bias_input.astype(wide))
        swapped = self.gate_order == "zrh"

        def step(h: Array, row: Array) -> tuple[Array, tuple[Array, ...]]:
            given, own = row, _times(h, to_hidden) + bias
            r_x, z_x, n_x = jnp.split(given, 3, 1)
            r_h, z_h, n_h = jnp.split(own, 3, 1)
            if swapped:
                r_x, z_x, r_h, z_h = z_x, r_x, z_h, r_h
            r, z = jax.nn.sigmoid(r_x + r_h), jax.nn.sigmoid(z_x + z_h)
            if self.reset_after:
                n = jnp.tanh(n_x + r * n_h)
            else:
                n_h = _times(r * h, to_hidden[:, 2 * hidden :]) + bias[2 * hidden :]
                n = jnp.tanh(n_x + n_h)
            h = (1 - z) * n + z * h
            return h, (h, z, r, n, n_h)

        _, (h, *gates) = lax.scan(step, init_h.astype(wide), inputs)
        out = h.astype(first.dtype)
        return out, out, *(g.astype(first.dtype) for g in gates)
