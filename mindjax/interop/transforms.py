"""jax functions as ops, and jax's transformations for functions of Tensors or of raw arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from mindjax.core.handle import Handle, unwrap
from mindjax.core.primitive import Primitive
from mindjax.core.state import Wide, in_user_x64
from mindjax.graph.jit import Programs


class JaxFunction(Primitive, register=False):
    """A function on jax arrays as an op."""

    function: Any
    options: Any = ()

    def compute(self, *arrays: Any) -> Any:
        """Call the function."""
        return self.function(*arrays, **dict(self.options))


def as_op(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make an op of a function on jax arrays.

    Args:
        function: pure, traceable; takes arrays and returns an array or a tuple of arrays.

    Returns:
        A function that takes Tensors (keyword arguments are constants) and returns Tensors; it has
        gradients, and runs in PYNATIVE and GRAPH like any op.
    """

    @functools.wraps(function)
    def op(*inputs: Any, **options: Any) -> Any:
        return JaxFunction(function, tuple(sorted(options.items())))(*inputs)

    return op


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(_holds_tensor(v) for v in value)
    if isinstance(value, dict):
        return any(_holds_tensor(v) for v in value.values())
    return isinstance(value, Handle)


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function of Tensors or of raw arrays, with the state that it reads and writes.

    Args:
        function: may use Cells and Parameters from around it; they stay state, not constants.

    Returns:
        The compiled function; it gives the kind of array that it is given.
    """
    programs = Programs(function)
    raw = Programs(lambda *args, **kwargs: unwrap(function(*args, **kwargs)))

    @functools.wraps(function)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        if _holds_tensor((args, kwargs)):
            return programs.call(args, kwargs)
        return raw.call(args, kwargs)

    return compiled


def grad(
    function: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Differentiate with ``jax.grad`` a function of Tensors or of raw arrays.

    Args:
        function: returns a 0-d Tensor or array; with ``has_aux`` a pair of it and more.
        argnums: arguments to differentiate by: Tensors, arrays, Cells or trees of them.
        has_aux: whether the function returns more.

    Returns:
        A function that gives the gradients in the kind of the arguments.
    """

    def pure(*args: Any, **kwargs: Any) -> Any:
        return unwrap(in_user_x64(function, *args, **kwargs))

    transformed = jax.grad(pure, argnums, has_aux)

    @functools.wraps(function)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        with Wide():
            return transformed(*args, **kwargs)

    return gradient


def vmap(function: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Map a function of Tensors or of raw arrays over an axis with ``jax.vmap``.

    Args:
        function: the function of one element.
        in_axes: mapped axis of each argument, None for those not mapped.
        out_axes: where the mapped axis stands in the outputs.

    Returns:
        The mapped function; it gives the kind of array that it is given.
    """

    def body(*args: Any, **kwargs: Any) -> Any:
        return in_user_x64(function, *args, **kwargs)

    mapped = jax.vmap(body, in_axes, out_axes)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with Wide():
            return mapped(*args, **kwargs)

    return call
