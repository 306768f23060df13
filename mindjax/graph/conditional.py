"""A choice between two functions by a Tensor: XLA's conditional while a graph is traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jax import lax

from mindjax.core import jax_private
from mindjax.core.handle import current, is_traced, wrap
from mindjax.core.state import Wide, purify
from mindjax.tensor.tensor import Tensor

Branch = Callable[[], Sequence[Any]]


def is_undecided(value: Any) -> bool:
    """Tell whether a Tensor has no value yet, because a graph is being traced."""
    tracing = current.frame is not None or jax_private.tracing()
    return tracing and isinstance(value, Tensor) and is_traced(value.array)


def conditional(condition: Tensor, true: Branch, false: Branch) -> list[Any]:
    """Choose between two functions; what either writes is written if it is chosen.

    Args:
        condition: one element, any dtype, undecided.
        true: gives a list of Tensors.
        false: gives a list of Tensors of the same shapes and dtypes.

    Returns:
        The list of the function that is chosen.

    Raises:
        TypeError: the two lists differ in length, shapes or dtypes.
    """

    def body(function: Branch) -> Callable[[], list[Any]]:
        return lambda: [tensor.array for tensor in function()]

    with Wide():
        pures = [purify(body(function), []) for function in (true, false)]
        written = list(dict.fromkeys(h for pure in pures for h in pure.written))
        before = [h.array for h in written]

        def branch(place: int) -> Callable[..., Any]:
            pure = pures[place]

            def run(reads: Any, old: Any) -> Any:
                outs, writes = pure.call(reads[place], [])
                fresh = dict(zip(pure.written, writes, strict=False))
                return outs, [fresh.get(h, o) for h, o in zip(written, old, strict=True)]

            return run

        outs, after = lax.cond(
            condition.array.reshape(()).astype(bool),
            branch(0),
            branch(1),
            [list(pure.reads) for pure in pures],
            before,
        )
    for handle, value in zip(written, after, strict=True):
        handle.assign_value(value)
    return [wrap(a) for a in outs]
