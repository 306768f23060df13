"""Custom backward passes: `Cell.bprop`, gradient hooks, functions with their own backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.autodiff.differentiate import Zeros, _replace, _tensors
from mindjax.core import jax_private
from mindjax.core.errors import located
from mindjax.core.handle import current, wrap
from mindjax.core.primitive import Primitive
from mindjax.core.state import in_user_x64, purify
from mindjax.core.tape import Node, Tape
from mindjax.tensor.tensor import Tensor

Backward = Callable[[list[Any], Any, list[Any]], tuple[Sequence[Any], dict[Any, Any]]]


def with_bprop(
    function: Callable[..., Any],
    bprop: Callable[..., Any],
    args: tuple[Any, ...],
    parameters: Sequence[Any] = (),
    owner: str = "Cell",
) -> Any:
    """Call a function whose gradient is the user's.

    Args:
        function: forward function of Tensors.
        bprop: ``bprop(*args, out, dout)`` gives one gradient an argument, or a pair of these and a
            dict of gradients by Parameter.
        args: arguments of the call.
        parameters: Parameters that ``function`` reads; without a gradient in the dict it is zero.
        owner: name for error messages.

    Returns:
        What ``function`` returns.

    Raises:
        TypeError: ``bprop`` does not return one gradient an argument.
    """

    shape = _emptied(args)

    def backward(given: list[Any], out: Any, douts: list[Any]) -> Any:
        values = _replace(shape, iter(given))
        dout = douts[0] if isinstance(out, Tensor) else tuple(douts)
        return _split(bprop(*values, out, dout), values, owner)

    return custom_call(
        lambda given: function(*_replace(shape, iter(given))), backward, args, parameters
    )


def _emptied(value: Any) -> Any:
    """Copy a tree with Tensors that hold nothing, to be kept where jax may keep functions."""
    empty = iter(Tensor._from_array(np.zeros(())) for _ in _tensors(value))
    return _replace(value, empty)


def _split(result: Any, args: tuple[Any, ...], owner: str) -> tuple[list[Any], dict[Any, Any]]:
    by_parameter: dict[Any, Any] = {}
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], dict):
        result, by_parameter = result
    grads = result if isinstance(result, tuple | list) else (result,)
    if len(grads) != len(args):
        raise located(
            TypeError,
            f"For '{owner}', 'bprop' must return a gradient for each of the {len(args)} inputs, "
            f"but got {len(grads)}.",
        )
    flat: list[Any] = []
    for value, gradient in zip(args, grads, strict=True):
        tensors = _tensors(value)
        given = _tensors(gradient)
        if isinstance(gradient, int | float) and len(tensors) == 1:
            given = [Tensor(float(gradient)).broadcast_to(tensors[0].shape)]
        if len(given) != len(tensors):
            given = [Zeros()(t) for t in tensors]
        flat.extend(given)
    return flat, by_parameter


def custom_call(
    function: Callable[[list[Any]], Any],
    backward: Backward,
    args: Any,
    parameters: Sequence[Any] = (),
) -> Any:
    """Run a function on the Tensors in ``args`` with a backward pass of its own.

    Args:
        function: gets the list of Tensors and returns a tree of Tensors.
        backward: gets the Tensors, the output and its cotangents; returns gradients of the Tensors
            and a dict of gradients by Parameter.
        args: tree that holds the Tensors.
        parameters: Parameters that ``function`` reads.

    Returns:
        What ``function`` returns.
    """
    tensors = _tensors(args)
    if current.tape is not None:
        return _call_on_tape(current.tape, function, backward, tensors, parameters)
    if current.frame is not None or jax_private.tracing():
        return _call_traced(function, backward, tensors, parameters)
    return function(tensors)


def _call_on_tape(
    tape: Tape,
    function: Callable[[list[Any]], Any],
    backward: Backward,
    tensors: list[Any],
    parameters: Sequence[Any],
) -> Any:
    current.tape = None
    try:
        out = function(tensors)
    finally:
        current.tape = tape
    parents = [tape.position(t) for t in [*tensors, *parameters]]
    outputs = _tensors(out)
    if not outputs or all(p is None for p in parents):
        return out
    # The function may return an argument as it is: its node must not become the argument's.
    outputs = [wrap(o.peek()) if any(o is t for t in tensors) else o for o in outputs]
    out = _replace(out, iter(outputs))

    def custom(cotangents: list[Any]) -> list[Any]:
        douts = [Zeros()(o) if c is None else c for c, o in zip(cotangents, outputs, strict=True)]
        grads, by_parameter = backward(tensors, out, douts)
        return [*grads, *(by_parameter.get(p) for p in parameters)]

    arrays = [t.peek() for t in tensors]
    node = tape.add(Node(tape, None, arrays, None, parents, len(outputs), custom))
    for i, tensor in enumerate(outputs):
        tensor._node = (node, i)
    return out


def _call_traced(
    function: Callable[[list[Any]], Any],
    backward: Backward,
    tensors: list[Any],
    parameters: Sequence[Any],
) -> Any:
    kept: dict[str, Any] = {}

    def body(*arrays: Any) -> list[Any]:
        out = in_user_x64(function, [wrap(a) for a in arrays])
        kept["out"] = _emptied(out)
        return [t.array for t in _tensors(out)]

    inputs = [jnp.asarray(t.array) if isinstance(t.array, np.ndarray) else t.array for t in tensors]
    pure = purify(body, inputs)
    values = {id(p.array): p for p in parameters}
    owners = [values.get(id(r)) for r in pure.reads]
    evaluate = pure.call

    @jax.custom_vjp
    def call(reads: Any, arrays: Any) -> Any:
        return evaluate(reads, arrays)

    def forward(reads: Any, arrays: Any) -> Any:
        outs, writes = evaluate(reads, arrays)
        return (outs, writes), (reads, arrays, outs)

    def pull_back(residuals: Any, cotangents: Any) -> Any:
        reads, arrays, outs = residuals
        tensors_in = [wrap(a) for a in arrays]
        out = _replace(kept["out"], iter([wrap(o) for o in outs]))
        douts = [wrap(_zeros_for_integers(c, o)) for c, o in zip(cotangents[0], outs, strict=True)]
        grads, by_parameter = in_user_x64(backward, tensors_in, out, douts)
        read_grads = []
        for value, owner in zip(reads, owners, strict=True):
            given = by_parameter.get(owner) if owner is not None else None
            read_grads.append(_match(None if given is None else given.array, value))
        return read_grads, [_match(g.array, a) for g, a in zip(grads, arrays, strict=True)]

    call.defvjp(forward, pull_back)
    old = jax_private.swap_x64(True)
    try:
        outs, writes = call(pure.reads, inputs)
    finally:
        jax_private.set_x64(old)
    pure.write_back(writes)
    return _replace(kept["out"], iter([wrap(o) for o in outs]))


def _zeros_for_integers(cotangent: Any, output: Any) -> Any:
    if cotangent.dtype == jax.dtypes.float0:
        return jnp.zeros(output.shape, output.dtype)
    return cotangent


def _match(gradient: Any, value: Any) -> Any:
    if not jnp.issubdtype(value.dtype, jnp.inexact):
        return np.zeros(value.shape, jax.dtypes.float0)
    if gradient is None:
        return jnp.zeros(value.shape, value.dtype)
    return jnp.broadcast_to(gradient, value.shape).astype(value.dtype)


def watch_gradient(value: Any, hook: Callable[[list[Any]], Sequence[Any] | None]) -> Any:
    """Let a hook see, and replace, the gradients that flow back through Tensors.

    Args:
        value: tree of Tensors.
        hook: gets the list of gradients; returns their replacements, or None to leave them.

    Returns:
        The same tree, through which the gradients are watched.
    """

    def backward(given: list[Any], out: Any, douts: list[Any]) -> Any:
        replaced = hook(douts)
        return (douts if replaced is None else list(replaced)), {}

    shape = _emptied(value)
    return custom_call(lambda given: _replace(shape, iter(list(given))), backward, value)


class HookBackward(Primitive):
    """Let a function see, and replace, the gradients of Tensors (MindSpore: ``ops.HookBackward``).

    Args:
        hook_fn: gets the tuple of gradients; what it returns replaces them unless it is None.
        cell_id: a name for the hook.
    """

    hook_fn: Any
    cell_id: str = ""

    def __call__(self, *inputs: Any) -> Any:
        """Give the inputs, with their gradients watched."""

        def hook(grads: list[Any]) -> Any:
            replaced = self.hook_fn(tuple(grads))
            return replaced if replaced is None or isinstance(replaced, tuple) else (replaced,)

        out = watch_gradient(inputs, hook)
        return out[0] if len(out) == 1 else out
