"""Run a function only if a Tensor is true: its writes become those of XLA's conditional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax import lax

from mindjax.core import jax_private
from mindjax.core.errors import located
from mindjax.core.handle import current, is_traced
from mindjax.core.state import Wide, in_user_x64, purify
from mindjax.tensor.tensor import Tensor


def run_if(condition: Tensor, function: Callable[[], Any]) -> None:
    """Run a function for what it writes.

    Args:
        condition: Bool of shape (). In PYNATIVE its value is waited for.
        function: writes Parameters.

    Raises:
        RuntimeError: in a graph, the function writes attributes of Cells.
    """
    if not (current.frame is not None or jax_private.tracing()) or not is_traced(condition.array):
        if bool(condition):
            function()
        return

    def body() -> list[Any]:
        in_user_x64(function)
        return []

    with Wide():
        pure = purify(body, [])
        if pure.attributes:
            names = [name for _, name, _ in pure.attributes]
            raise located(
                RuntimeError,
                f"A conditional step writes the attributes {names}, which a graph cannot choose "
                "between: make them Parameters.",
            )
        before = [h.array for h in pure.written]
        after = lax.cond(
            condition.array.reshape(()),
            lambda reads, old: pure.call(reads, [])[1],
            lambda reads, old: old,
            list(pure.reads),
            before,
        )
    pure.write_back(after)
