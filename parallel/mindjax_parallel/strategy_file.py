"""Strategy files of a training: how each Parameter lies, written when a program is compiled.

A file says for every Parameter how the ranks are arranged and which of their axes cut which
dimension, as `build_searched_strategy` and `transform_checkpoints` read it.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jax.sharding import Mesh

from mindjax.checkpoint.layouts import Layout, LayoutError, Span, layout_of
from mindjax.checkpoint.strategy import (
    Dims,
    OperatorStrategy,
    ParallelLayouts,
    StrategyFile,
    read_strategy,
    write_group_info,
    write_strategy,
)
from mindjax.core import scopes, world
from mindjax.core.errors import located
from mindjax_parallel.mesh import Axes, Placement


class Files(NamedTuple):
    """Where strategies are read and written; an empty path for nowhere.

    Attributes:
        load: strategy file whose layouts Parameters take.
        save: strategy file to write.
        group: file of the ranks that hold the same parts of all Parameters.
        trainable: whether only Parameters that are trained are read and written.
        operators_load: JSON file of strategies for operators that have none of their own.
        operators_save: JSON file of operators' strategies to write.
    """

    load: str = ""
    save: str = ""
    group: str = ""
    trainable: bool = True
    operators_load: str = ""
    operators_save: str = ""


NO_FILES = Files()


def record_of(placement: Placement, mesh: Mesh) -> ParallelLayouts:
    """Give a strategy file's record of a placement.

    Args:
        placement: of a Parameter.
        mesh: the devices, in the order of the ranks.
    """
    matrix, places = _matrix(placement, mesh)
    last = len(matrix) - 1
    maps = [tuple(last - place for place in _places(axes, places)) for axes in placement.dimensions]
    if all(len(one) < 2 for one in maps):
        flat = tuple(one[0] if one else -1 for one in maps)
        found = (Dims(flat),)
    else:
        # An empty list more tells one dimension along several axes from several dimensions.
        nested = [Dims(one or (-1,)) for one in maps]
        found = (*nested, Dims(())) if len(nested) == 1 else tuple(nested)
    return ParallelLayouts((Dims(matrix),), found, (), (), 0, 0, 0)


def _matrix(placement: Placement, mesh: Mesh) -> tuple[tuple[int, ...], dict[str, int]]:
    """Join mesh axes that follow one another in the ranks and in a dimension, or cut nothing."""
    following: dict[str, str] = {}
    used = {a for axes in placement.dimensions for a in axes}
    for axes in placement.dimensions:
        following.update(itertools.pairwise(axes))
    names = mesh.axis_names
    matrix: list[int] = []
    places: dict[str, int] = {}
    for i, name in enumerate(names):
        before = names[i - 1] if i else None
        joined = before is not None and (following.get(before) == name or not {before, name} & used)
        if joined:
            matrix[-1] *= mesh.shape[name]
        else:
            matrix.append(mesh.shape[name])
        places[name] = len(matrix) - 1
    return tuple(matrix), places


def _places(axes: Axes, places: Mapping[str, int]) -> list[int]:
    return list(dict.fromkeys(places[a] for a in axes))


def placement_from(record: Any, name: str, mesh: Mesh) -> Placement:
    """Give the placement that a strategy file's record stands for on these devices.

    Args:
        record: as `build_searched_strategy` gives it.
        name: of the Parameter.
        mesh: the devices.

    Raises:
        RuntimeError: it is for another number of devices, or damaged.
    """
    try:
        layout = layout_of(record)
        if layout.ranks != mesh.size:
            raise LayoutError(
                f"it is for {layout.ranks} devices, but the device number of this stage is "
                f"{mesh.size}: transform the checkpoints, and leave the strategy file out"
            )
        return Placement(tuple(_axes_of(spans, mesh) for spans in layout.spans))
    except LayoutError as error:
        raise located(
            RuntimeError, f"The layout of '{name}' in the strategy file does not fit: {error}."
        ) from None


def _axes_of(spans: Sequence[Span], mesh: Mesh) -> Axes:
    found: list[str] = []
    for low, high in spans:
        stride = mesh.size
        inner: list[str] = []
        for axis in mesh.axis_names:
            outer, stride = stride, stride // mesh.shape[axis]
            if low <= stride and outer <= high:
                inner.append(axis)
        if math.prod(mesh.shape[a] for a in inner) != high // low:
            raise LayoutError(
                f"its ranks with the strides {low} to {high} are no axes of a mesh of "
                f"{tuple(mesh.shape.values())}"
            )
        found += inner
    return tuple(found)


class Strategies:
    """What a partitioner reads from strategy files, and what it has written to them.

    Args:
        files: their paths.
        mesh: the devices.
    """

    def __init__(self, files: Files, mesh: Mesh) -> None:
        self._files, self._mesh = files, mesh
        self._records: dict[str, ParallelLayouts] = {}
        # By identity and place; operators are kept so that no other gets their identity.
        self._names: dict[tuple[int, str], tuple[Any, str]] = {}
        self._operators: dict[str, OperatorStrategy] = {}
        self._for_operators: dict[str, Any] | None = None
        self._placements: dict[str, tuple[Placement, tuple[int, ...]]] = {}
        self._loaded: Mapping[str, Any] | None = None

    def loaded(self, handle: Any, shape: tuple[int, ...]) -> Placement | None:
        """Give the placement that the file to load has for a Parameter, None without one.

        Raises:
            RuntimeError: the record does not fit the devices or the shape.
            ValueError: there is no such file.
        """
        if not self._files.load or not self._concerns(handle):
            return None
        if self._loaded is None:
            self._loaded = read_strategy(self._files.load).layouts
        record = self._loaded.get(handle.name)
        if record is None:
            return None
        found = placement_from(record, handle.name, self._mesh)
        parts = found.parts(self._mesh) if len(found.dimensions) == len(shape) else ()
        if len(parts) != len(shape) or any(n % p for n, p in zip(shape, parts, strict=True)):
            raise located(
                RuntimeError,
                f"The layout of '{handle.name}' in the strategy file {self._files.load} does not "
                f"fit its shape {shape}.",
            )
        return found

    def note(
        self, state: Sequence[Any], shapes: Sequence[Any], placed: Sequence[Placement]
    ) -> None:
        """Write the files anew with the Parameters of a program.

        Args:
            state: Handles of its state.
            shapes: of their arrays.
            placed: how they lie at rest.

        Raises:
            OSError: a file cannot be written.
        """
        if not (self._files.save or self._files.group or self._files.operators_save):
            return
        for handle, shape, placement in zip(state, shapes, placed, strict=False):
            if self._concerns(handle):
                self._records[handle.name] = record_of(placement, self._mesh)
                self._placements[handle.name] = placement, shape
        if self._files.save:
            path = _with_folder(self._files.save)
            operators = list(self._operators.values())
            write_strategy(path, StrategyFile(1, operators, dict(self._records)))
        if self._files.operators_save:
            path = _with_folder(self._files.operators_save)
            write_strategy(path, StrategyFile(1, list(self._operators.values()), {}))
        if self._files.group:
            write_group_info(_with_folder(self._files.group), self._alike())

    def of_operator(self, record: Any) -> tuple[Any, Any] | None:
        """Give an operator's strategies, of inputs and outputs: its own, or those of a file.

        Args:
            record: the operator, which is being traced.

        Returns:
            None if it has none.

        Raises:
            ValueError: there is no such file.
        """
        own = record.__dict__.get("_strategy")
        files = self._files
        if not (files.save or files.operators_save or files.operators_load):
            return own
        name = self._name(record)
        if own is None:
            return self._from_file(name)
        # Strategies by Layouts have no numbers to write.
        flat = [entry for entry in own[0] if isinstance(entry, tuple)]
        if len(flat) == len(own[0]) and all(isinstance(v, int) for e in flat for v in e):
            self._operators[name] = OperatorStrategy(name, 0, tuple(Dims(e) for e in flat))
        return own

    def _name(self, record: Any) -> str:
        """Name an operator by the Cell that it is in, and by its number among its like there."""
        place = scopes.place()
        known = self._names.get((id(record), place))
        if known is None:
            stem = f"{place}/{record.name}-op"
            number = sum(name.startswith(stem) for _, name in self._names.values())
            known = self._names[id(record), place] = record, f"{stem}{number}"
        return known[1]

    def _from_file(self, name: str) -> tuple[Any, Any] | None:
        if not self._files.operators_load:
            return None
        if self._for_operators is None:
            found = read_strategy(self._files.operators_load).operators
            self._for_operators = {o.name: tuple(d.dim for d in o.strategies) for o in found}
        given = self._for_operators.get(name)
        return None if given is None else (given, None)

    def _concerns(self, handle: Any) -> bool:
        named = getattr(handle, "is_parameter", False) and isinstance(handle.name, str)
        return named and (handle.requires_grad or not self._files.trainable)

    def _alike(self) -> list[int]:
        """List the ranks that hold the same parts as this one."""
        layouts = [(layout_of(self._records[n]), s) for n, (_, s) in self._placements.items()]

        def held(rank: int) -> list[Any]:
            return [_bounds(layout, rank, shape) for layout, shape in layouts]

        own = held(world.transport.rank)
        return [rank for rank in range(self._mesh.size) if held(rank) == own]


def _bounds(layout: Layout, rank: int, shape: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(side.start, side.stop) for side in layout.part(rank, shape)]


def _with_folder(path: str) -> str:
    path = os.path.abspath(path)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except OSError as error:
        raise located(
            type(error), f"The folder of {path} cannot be made: {error.strerror}."
        ) from None
    return path
