"""Reverse-mode differentiation: on the tape in PYNATIVE, by jax in a graph."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.autodiff import rows
from mindjax.core import jax_private
from mindjax.core.handle import Handle, Tracer, current, peek_all, wrap
from mindjax.core.partition import partitioner
from mindjax.core.primitive import Primitive
from mindjax.core.state import StateFrame, in_user_x64
from mindjax.core.tape import Tape, active_tape
from mindjax.core.view import Same, View
from mindjax.tensor.tensor import Tensor, run_hooks


class Ones(Primitive, register=False):
    """Ones of an array's shape and dtype: the seed of a gradient."""

    def compute(self, x: Any) -> Any:
        """Make the ones."""
        return jnp.ones_like(x)


class Zeros(Primitive, register=False):
    """Zeros of an array's shape and dtype: the gradient of what is not used."""

    def compute(self, x: Any) -> Any:
        """Make the zeros."""
        return jnp.zeros_like(x)


class CastLike(Primitive, register=False):
    """A cotangent broadcast to an output's shape and cast to its dtype."""

    def compute(self, cotangent: Any, output: Any) -> Any:
        """Cast and broadcast."""
        return jnp.broadcast_to(cotangent, output.shape).astype(output.dtype)


_ones, _zeros, _cast_like = Ones(), Zeros(), CastLike()


def differentiate(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    positions: Sequence[int],
    weights: Sequence[Any],
    has_aux: bool = False,
    seeds: Any = None,
) -> tuple[Any, list[Any], list[Any]]:
    """Run a function and compute its gradients.

    Args:
        function: function of Tensors.
        args: its positional arguments.
        kwargs: its keyword arguments.
        positions: arguments to differentiate by; trees of Tensors give trees of gradients.
        weights: Parameters to differentiate by.
        has_aux: whether only the first output is differentiated.
        seeds: cotangents in the structure of the outputs; None for ones.

    Returns:
        The outputs, one gradient a position, one gradient a weight.
    """
    inputs = [t for p in positions for t in _tensors(args[p])]
    frame = current.frame
    engine = _on_tape if frame is None or _any_integers(inputs) else _in_graph
    distinct = list(dict.fromkeys(weights))
    out, input_grads, distinct_grads = engine(
        function, args, kwargs, positions, inputs, distinct, has_aux, seeds
    )
    for group, values in ((input_grads, inputs), (distinct_grads, distinct)):
        for i, value in enumerate(values):
            hooks = value.__dict__.get("_gradient_hooks")
            if hooks:
                group[i] = run_hooks(hooks, group[i])
    register = (current if frame is None else frame.root_frame()).overflow
    if register is not None:
        register.note([*input_grads, *distinct_grads])
    weight_grads = distinct_grads
    if len(distinct) != len(weights):
        by_weight = dict(zip(distinct, distinct_grads, strict=True))
        weight_grads = [by_weight[w] for w in weights]
    if not positions:
        return out, input_grads, weight_grads
    following = iter(input_grads)
    return out, [_restore(args[p], following) for p in positions], weight_grads


def _any_integers(tensors: list[Any]) -> bool:
    return any(t.dtype.kind not in ("float", "complex") for t in tensors)


def _tensors(value: Any) -> list[Any]:
    """List the Tensors of an argument, in order."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, tuple | list):
        return [t for v in value for t in _tensors(v)]
    if isinstance(value, dict):
        return [t for v in value.values() for t in _tensors(v)]
    return []


def _restore(value: Any, gradients: Any) -> Any:
    """Put gradients in the structure of an argument; what is no Tensor drops out."""
    if isinstance(value, Tensor):
        return next(gradients)
    if isinstance(value, tuple | list):
        return tuple(_restore(v, gradients) for v in value if _tensors(v))
    if isinstance(value, dict):
        return {k: _restore(v, gradients) for k, v in value.items() if _tensors(v)}
    return ()


def _replace(value: Any, tensors: Any) -> Any:
    if isinstance(value, Tensor):
        return next(tensors)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)._make(_replace(v, tensors) for v in value)  # type: ignore[attr-defined]
    if isinstance(value, tuple | list):
        return type(value)(_replace(v, tensors) for v in value)
    if isinstance(value, dict):
        return {k: _replace(v, tensors) for k, v in value.items()}
    return value


def _with_inputs(args: tuple[Any, ...], positions: Sequence[int], tensors: Any) -> list[Any]:
    following = iter(tensors)
    return [_replace(a, following) if i in positions else a for i, a in enumerate(args)]


def _outputs(out: Any, has_aux: bool) -> list[Any]:
    """List the Tensors that are differentiated."""
    if has_aux and isinstance(out, tuple | list):
        return _tensors(out[0])
    return _tensors(out)


def _seed(outputs: list[Any], seeds: Any) -> list[Any]:
    if seeds is None:
        return [_ones(o) for o in outputs]
    given = _tensors(seeds) if not isinstance(seeds, int | float) else [Tensor(seeds)]
    return [_cast_like(s, o) for s, o in zip(given, outputs, strict=False)]


# -- the tape --


def _on_tape(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    positions: Sequence[int],
    inputs: list[Any],
    weights: Sequence[Any],
    has_aux: bool,
    seeds: Any,
) -> tuple[Any, list[Any], list[Any]]:
    with active_tape() as tape:
        fresh = [_leaf_input(tape, t) for t in inputs]
        parameters = tape.parameters
        before = [parameters.get(w) for w in weights]
        weight_leaves = tape.leaves(peek_all(weights), before)
        in_frame = current.frame is not None
        for weight, leaf in zip(weights, weight_leaves, strict=True):
            # MindSpore: in PYNATIVE a frozen weight gets a gradient of zeros.
            if in_frame or weight.requires_grad:
                parameters[weight] = leaf
        try:
            out = function(*(_with_inputs(args, positions, fresh) if fresh else args), **kwargs)
            outputs = _outputs(out, has_aux)
            places = [tape.position(o) for o in outputs]
        finally:
            for weight, leaf, outer in zip(weights, weight_leaves, before, strict=True):
                if parameters.get(weight) == leaf:
                    parameters[weight] = outer
        wanted = [*(t._node for t in fresh), *weight_leaves] if fresh else weight_leaves
        outer_tape = current.tape
        if tape.depth == 1:
            current.tape = None
        try:
            cotangents = _seed(outputs, seeds)
            given = zip(places, cotangents, strict=False)
            found = tape.backward([(p, c) for p, c in given if p is not None], wanted)
            values = [*inputs, *weights] if inputs else weights
            grads = [_zeros(v) if g is None else g for g, v in zip(found, values, strict=True)]
        finally:
            current.tape = outer_tape
        if fresh:
            out = _detach(out, fresh, inputs)
    return out, grads[: len(inputs)], grads[len(inputs) :]


def _leaf_input(tape: Tape, tensor: Any) -> Any:
    """Make the Tensor that the function sees: an alias of the caller's, and a leaf."""
    fresh = wrap(tensor.peek())
    fresh._node = tape.leaf(fresh._value, tape.position(tensor))
    if current.frame is None and not isinstance(fresh._value, Tracer):
        fresh._view = View(tensor, Same(), ())
    return fresh


def _detach(out: Any, fresh: list[Any], inputs: list[Any]) -> Any:
    """Give back the caller's own Tensor where the function returned its argument."""
    own = {id(f): t for f, t in zip(fresh, inputs, strict=True)}
    if isinstance(out, Tensor):
        return own.get(id(out), out)
    if isinstance(out, tuple | list) and not hasattr(out, "_fields"):
        return type(out)(_detach(o, fresh, inputs) for o in out)
    return out


# -- jax, while a graph is traced --


def _in_graph(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    positions: Sequence[int],
    inputs: list[Any],
    weights: Sequence[Any],
    has_aux: bool,
    seeds: Any,
) -> tuple[Any, list[Any], list[Any]]:
    kept: dict[str, Any] = {}

    def pure(input_values: list[Any], weight_values: list[Any]) -> Any:
        frame = StateFrame(list(zip(weights, weight_values, strict=True)))
        with frame:
            fresh = [wrap(v) for v in input_values]
            out = in_user_x64(function, *_with_inputs(args, positions, fresh), **kwargs)
            outputs = [_array(o) for o in _outputs(out, has_aux)]
            every = _tensors(out)
            kept.update(out=out, written=list(frame.written), attributes=dict(frame.attributes))
            attributes = [
                (v.array if isinstance(v, Handle) else None) for _, v in frame.attributes.values()
            ]
            aux = [_array(o) for o in every], [frame.values[h] for h in frame.written], attributes
        return outputs, aux

    old = jax_private.swap_x64(True)
    try:
        primals = [_array(t) for t in inputs], [_array(w) for w in weights]
        spread = partitioner()
        forward = pure if spread is None else spread.gathered(pure, weights)
        by_rows = spread is None and rows.wanted(weights)
        differentiated = rows.vjp if by_rows else functools.partial(jax.vjp, has_aux=True)
        outputs, pull_back, (every, written, attributes) = differentiated(forward, *primals)
        tensors = [wrap(o) for o in outputs]
        cotangents = [
            _cotangent(c.array, o) for c, o in zip(_seed(tensors, seeds), outputs, strict=True)
        ]
        input_grads, weight_grads = pull_back(cotangents)
    finally:
        jax_private.set_x64(old)
    for handle, value in zip(kept["written"], written, strict=True):
        handle.assign_value(value)
    frame = current.frame
    assert frame is not None
    for ((_, name), (owner, value)), array in zip(
        kept["attributes"].items(), attributes, strict=True
    ):
        frame.write_attribute(owner, name, value if array is None else wrap(array))
    out = _replace(kept["out"], iter([wrap(a) for a in every]))
    grads = [
        [_gradient(g, p) for g, p in zip(group, values, strict=True)]
        for group, values in ((input_grads, primals[0]), (weight_grads, primals[1]))
    ]
    return out, grads[0], grads[1]


def _array(tensor: Any) -> Any:
    value = tensor.array
    return jnp.asarray(value) if isinstance(value, np.ndarray) else value


def _cotangent(value: Any, output: Any) -> Any:
    if jnp.issubdtype(output.dtype, jnp.inexact):
        return value
    return np.zeros(output.shape, jax.dtypes.float0)


def _gradient(gradient: Any, primal: Any) -> Any:
    if isinstance(gradient, rows.Rows):
        from mindjax.ops.sparse.formats import RowTensor

        return RowTensor._make((wrap(gradient.indices), wrap(gradient.values), gradient.shape))
    if gradient.dtype == jax.dtypes.float0:
        return wrap(jnp.zeros(primal.shape, primal.dtype))
    return wrap(gradient)
