"""What all optimizers share: a step is one compiled program in PYNATIVE too."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Self, TypeVar

from mindjax.core.context import graph_mode
from mindjax.core.handle import current
from mindjax.graph.program import is_tracing_outside
from mindjax.nn.cell import Cell

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
        return super().__call__(*args, **kwargs)
