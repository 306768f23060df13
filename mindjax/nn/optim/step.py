"""What all optimizers share: a step is one compiled program in PYNATIVE too."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Self, TypeVar

from mindjax.core.context import graph_mode
from mindjax.core.handle import current
from mindjax.graph.program import is_tracing_outside
from mindjax.nn.cell import Cell
from mindjax.ops.kernels.together import wanted
from mindjax.ops.update import Together
from mindjax.tensor.tensor import Tensor

Construct = TypeVar("Construct", bound=Callable[..., Any])


def one_program(construct: Construct) -> Construct:
    """Mark a ``construct`` that runs as one program whatever the mode, as in the original."""
    construct.one_program = True  # type: ignore[attr-defined]
    return construct


# What made each optimizer: `mindspore.boost` makes them anew with other groups.
_MADE_WITH: weakref.WeakKeyDictionary[Any, tuple[tuple[Any, ...], dict[str, Any]]] = (
    weakref.WeakKeyDictionary()
)


def arguments_of(optimizer: Any) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Give the arguments that an optimizer was made with, None for a copy."""
    return _MADE_WITH.get(optimizer)


class StepCell(Cell):
    """Base of optimizers; a ``construct`` without the mark runs op by op in PYNATIVE."""

    # A step is the end of a training step: one program with the gradients' ops.
    _joins = True

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Note the arguments."""
        made = super().__new__(cls)
        _MADE_WITH[made] = args, kwargs
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run ``construct``."""
        if (
            getattr(type(self).construct, "one_program", False)
            and not graph_mode()
            and current.frame is None
            and current.tape is None
            and not is_tracing_outside()
        ):
            return self.compile_and_run(*args, **kwargs)
        if current.frame is not None and args and isinstance(args[0], tuple | list):
            # A step within a larger program, which uses the weights too.
            args = _together(args[0]), *args[1:]
        return super().__call__(*args, **kwargs)


def _together(gradients: Any) -> Any:
    """Let the first update wait for the last gradient; what is no Tensor stays as it is."""
    dense = [g for g in gradients if type(g) is Tensor]
    if current.recorder is not None or not wanted(dense):
        return gradients
    following = iter(Together()(*dense))
    return tuple(next(following) if type(g) is Tensor else g for g in gradients)
