"""Many calls of a function as one program: a loop of XLA over rows that are stacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.autodiff.differentiate import _array, _replace, _tensors
from mindjax.core.handle import current, is_traced, wrap
from mindjax.core.jaxprs import every
from mindjax.core.pending import Pending
from mindjax.core.state import Wide
from mindjax.graph.flow import _Turn
from mindjax.graph.jit import Programs
from mindjax.tensor.tensor import Tensor


class SlowInLoop(Exception):
    """The function is faster call by call."""


class SunkCalls:
    """A function that takes a block of rows and runs on each, what it writes handed on.

    Args:
        function: function of Tensors; it may write Parameters.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__qualname__ = f"sunk {type(function).__name__}"
        self._programs = Programs(self._loop)

    def __call__(self, block: Sequence[Tensor]) -> Any:
        """Run the function on each row.

        Args:
            block: one Tensor a column, rows along the first axis.

        Returns:
            What the function returns, its Tensors stacked.

        Raises:
            LoopWritesAttributes: the function writes attributes of Cells.
            SlowInLoop: it convolves, on a CPU: XLA's loops there take twice the time of calls.
        """
        return self._programs.call(tuple(block), {})

    def _loop(self, *block: Tensor) -> Any:
        assert current.frame is not None, "only called while a program is traced"
        with Wide():
            columns = [_array(t) for t in block]
            row = [wrap(a[0]) for a in columns]
            turn = _Turn("data sinking", lambda carry, *r: ((), self._function(*r)), (), row)
            if jax.default_backend() == "cpu" and _convolves(turn.pure.jaxpr):
                raise SlowInLoop
            reads = list(turn.pure.reads)
            last, outs = lax.scan(
                lambda carry, slices: turn.call(reads, carry, slices), turn.start, columns
            )
        turn.finish(last)
        return _replace(turn.out, iter([wrap(a) for a in outs]))


def _convolves(jaxpr: Any) -> bool:
    """Tell whether a program, or one within, holds a convolution."""
    names = (e.primitive.name for inner in every(jaxpr) for e in inner.eqns)
    return "conv_general_dilated" in names


def stack(rows: Sequence[Sequence[Tensor]]) -> list[Tensor] | None:
    """Stack rows, column by column, where they lie.

    Args:
        rows: Tensors of one shape and dtype a column.

    Returns:
        One Tensor a column; None if the shapes or dtypes differ.
    """
    columns = []
    for column in zip(*rows, strict=True):
        arrays = [t.array if isinstance(t._raw(), Pending) else t._raw() for t in column]
        first = arrays[0]
        if any(a.shape != first.shape or a.dtype != first.dtype for a in arrays):
            return None
        if any(is_traced(a) for a in arrays):
            return None
        on_host = all(isinstance(a, np.ndarray) for a in arrays)
        with Wide():
            columns.append(wrap(np.stack(arrays) if on_host else jnp.stack(arrays)))
    return columns


def take(tree: Any, index: int) -> Any:
    """Take one row of what `SunkCalls` returned.

    Args:
        tree: Tensors in tuples, lists or dicts.
        index: of the row.
    """
    return _replace(tree, iter([t[index] for t in _tensors(tree)]))
