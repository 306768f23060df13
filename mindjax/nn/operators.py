"""Operators of layers as attributes, so that parallel training can give them strategies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindjax.core.primitive import Primitive
from mindjax.ops.collective.resharding import lay_out


class Operator:
    """An attribute of a layer: its operator, made when somebody asks for it.

    A layer computes with functions; scripts name its operators only to shard them, as in
    ``net.dense.matmul.shard(((2, 4), (1, 4)))``.

    Args:
        make: makes the operator of a layer.
    """

    def __init__(self, make: Callable[[Any], Primitive]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, cell: Any, owner: type | None = None) -> Any:
        """Give the layer's operator."""
        if cell is None:
            return self
        # In the layer's own dict it is found before this descriptor.
        found = cell.__dict__[self._name] = self._make(cell)
        return found


def sharded(cell: Any, name: str) -> Any:
    """Give an operator of a layer if it has a strategy, else None.

    Args:
        cell: the layer.
        name: attribute of the operator.
    """
    found = cell.__dict__.get(name)
    return found if found is not None and "_strategy" in found.__dict__ else None


def laid(cell: Any, name: str, *inputs: Any) -> tuple[Any, ...]:
    """Lay inputs out as the strategy of a layer's operator says, if it has one.

    Args:
        cell: the layer.
        name: attribute of the operator.
        inputs: Tensors.
    """
    found = sharded(cell, name)
    return inputs if found is None else lay_out(inputs, found.__dict__["_strategy"][0])
