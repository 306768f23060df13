"""Cells as jax pytrees: the leaves are the Parameters' values, the rest is structure."""

from __future__ import annotations

import copy
from typing import Any

import jax

from mindjax.core.handle import current, leaf


class CellStructure:
    """Everything of a Cell but its Parameters' values.

    Two are equal when they come from one Cell in the same state (modes, attributes, hooks).
    """

    __slots__ = ("_key", "cell")

    def __init__(self, cell: Any) -> None:
        self.cell = cell.__dict__.get("_structure_of", cell)
        cells = [c for _, c in cell.cells_and_names()]
        flags = [p.requires_grad for p in cell.get_parameters()]
        self._key = (
            id(self.cell),
            [(c.plain_attributes(), c.__dict__["_cast"]) for c in cells],
            tuple(flags),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CellStructure) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key[0])


def flatten(cell: Any) -> tuple[tuple[Any, ...], CellStructure]:
    """Take a Cell apart into its Parameters' values and its structure."""
    return tuple(leaf(p) for p in cell.get_parameters()), CellStructure(cell)


def flatten_with_keys(cell: Any) -> tuple[list[Any], CellStructure]:
    """Take a Cell apart, with the Parameters' names as keys."""
    leaves = [(jax.tree_util.DictKey(p.name), leaf(p)) for p in cell.get_parameters()]
    return leaves, CellStructure(cell)


def unflatten(structure: CellStructure, leaves: Any) -> Any:
    """Make a Cell of the same structure with other values."""
    memo: dict[int, Any] = {}
    for parameter, value in zip(structure.cell.get_parameters(), leaves, strict=True):
        fresh = object.__new__(type(parameter))
        fresh._init_handle(value)
        fresh._frame = current.frame
        fresh.__dict__.update(parameter.__dict__)
        memo[id(parameter)] = fresh
    cell = copy.deepcopy(structure.cell, memo)
    cell.__dict__["_structure_of"] = structure.cell
    return cell


def register(cls: type) -> None:
    """Make a subclass of Cell known to jax."""
    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
