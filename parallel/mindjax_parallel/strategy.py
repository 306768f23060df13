"""Strategies: numbers of parts of every dimension, checked and turned into placements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jax.sharding import Mesh

from mindjax.core.errors import located
from mindjax_parallel.layout import placed
from mindjax_parallel.mesh import Placement, arrange
from mindjax_parallel.rules import Dimensions, dimensions


def placements(
    record: Any, strategy: Sequence[Any], shapes: Sequence[tuple[int, ...]], mesh: Mesh
) -> list[Placement]:
    """Give the placements of an operator's inputs under a strategy.

    Args:
        record: the operator.
        strategy: for each input the number of parts of every dimension.
        shapes: of its array inputs.
        mesh: the devices.

    Raises:
        RuntimeError: the strategy does not fit the inputs, the devices or the operator.
    """
    strategy = _of_arrays(strategy, shapes)
    check(record.name, strategy, shapes, mesh)
    return _placements(record, strategy, dimensions(record, shapes), mesh)


def _of_arrays(strategy: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
    """Flatten the strategies of sequences, and give numbers, of no dimensions, empty ones."""
    flat: list[Any] = []
    for entry in strategy:
        nested = isinstance(entry, tuple) and any(isinstance(v, tuple) for v in entry)
        flat.extend(entry if nested else [entry])
    if len(flat) < len(shapes):
        given = iter(flat)
        full = [() if not s else next(given, None) for s in shapes]
        if None not in full and next(given, None) is None:
            return tuple(full)
    return tuple(flat)


def check(
    name: str, strategy: Sequence[Any], shapes: Sequence[tuple[int, ...]], mesh: Mesh
) -> None:
    """Check numbers of parts against the shapes and the devices.

    Raises:
        RuntimeError: they do not fit.
    """

    def wrong(why: str) -> RuntimeError:
        return located(
            RuntimeError, f"For '{name}', the strategy {tuple(strategy)} is invalid: {why}."
        )

    if len(strategy) != len(shapes):
        raise wrong(
            f"the inputs numbers {len(shapes)} is not equal to in_strategy numbers: {len(strategy)}"
        )
    for i, (parts, shape) in enumerate(zip(strategy, shapes, strict=True)):
        if len(parts) != len(shape):
            raise wrong(
                f"input {i} of shape {shape} has dimension {len(shape)}, which is not equal to "
                f"in_strategy dimension: {len(parts)}"
            )
        for size, part in zip(shape, parts, strict=True):
            if part < 1:
                raise wrong(f"each element in strategy must be a positive integer, but got {part}")
            if size % part:
                raise wrong(
                    f"input {i} of shape {shape} cannot be divisible by strategy value {part}"
                )
        needed = math.prod(parts)
        if mesh.size % needed:
            raise wrong(
                f"it cuts input {i} into {needed} parts, but the device number of this stage is "
                f"{mesh.size}, which must be a multiple"
            )


def _placements(
    record: Any, strategy: Sequence[Any], known: Dimensions, mesh: Mesh
) -> list[Placement]:
    parts: dict[str, int] = {}
    for labels, numbers in zip(known.inputs, strategy, strict=True):
        for label, number in zip(labels, numbers, strict=True):
            if parts.setdefault(label, number) != number:
                raise located(
                    RuntimeError,
                    f"For '{record.name}', the strategy {tuple(strategy)} is invalid: strategies "
                    f"of relevant dimensions must be equal, but got {parts[label]} and {number}.",
                )
    for label, why in known.whole.items():
        if parts.get(label, 1) != 1:
            raise located(
                RuntimeError,
                f"For '{record.name}', the strategy {tuple(strategy)} is invalid: {why}, but got "
                f"{parts[label]}.",
            )
    if mesh.size % math.prod(parts.values()):
        raise located(
            RuntimeError,
            f"For '{record.name}', the strategy {tuple(strategy)} needs "
            f"{math.prod(parts.values())} devices, but the device number of this stage is "
            f"{mesh.size}, which must be a multiple.",
        )
    copies = [mesh.size // math.prod(parts.values())] if known.last else []
    order = sorted(parts, key=lambda label: label not in known.first)
    found = arrange(mesh, [*copies, *(parts[label] for label in order)], record.name)
    axes = dict(zip(order, found[len(copies) :], strict=True))
    return [Placement(tuple(axes[label] for label in labels)) for labels in known.inputs]


def output_placements(
    record: Any,
    strategy: Any,
    shapes: Sequence[tuple[int, ...]],
    inputs: Sequence[tuple[int, ...]],
    given: Sequence[Placement],
    mesh: Mesh,
) -> list[Placement]:
    """Give the placements of an operator's outputs under an out-strategy.

    Args:
        record: the operator.
        strategy: for each output the number of parts of every dimension.
        shapes: of the outputs.
        inputs: shapes of the inputs.
        given: placements of the inputs.
        mesh: the devices.

    Raises:
        RuntimeError: the strategy does not fit the outputs or the devices.
    """
    check(record.name, strategy, shapes, mesh)
    known = dimensions(record, inputs)
    axes = {
        label: placed_along
        for labels, placement in zip(known.inputs, given, strict=True)
        for label, placed_along in zip(labels, placement.dimensions, strict=True)
    }
    found: list[Placement] = []
    for i, (parts, shape) in enumerate(zip(strategy, shapes, strict=True)):
        labels = known.outputs[i] if known.outputs is not None and i < len(known.outputs) else None
        alike = labels is not None and len(labels) == len(shape)
        wanted = [axes.get(label, ()) for label in labels] if alike and labels else None
        if wanted is not None and Placement(tuple(wanted)).parts(mesh) == tuple(parts):
            found.append(Placement(tuple(wanted)))
            continue
        # Sums over a cut dimension that end cut along another one: a reduce-scatter.
        summed = [a for label, a in axes.items() if labels is None or label not in labels]
        found.append(_scattered(mesh, parts, wanted, summed, record.name))
    return found


def _scattered(
    mesh: Mesh, parts: Sequence[int], wanted: Any, summed: Sequence[Any], name: str
) -> Placement:
    """Place an output whose parts go beyond those of its inputs' dimensions."""
    if wanted is not None:
        free = [axis for axes in summed for axis in axes]
        entries = []
        for axes, part in zip(wanted, parts, strict=True):
            have = list(axes)
            missing = part // max(1, math.prod(mesh.shape[a] for a in axes))
            for axis in list(free):
                if missing > 1 and missing % mesh.shape[axis] == 0:
                    have.append(axis)
                    free.remove(axis)
                    missing //= mesh.shape[axis]
            entries.append(tuple(have))
        placement = Placement(tuple(entries))
        if placement.parts(mesh) == tuple(parts):
            return placement
    return Placement(arrange(mesh, parts, name))


def layouts(
    record: Any, given: Sequence[Any], shapes: Sequence[tuple[int, ...]], mesh: Mesh
) -> list[Placement]:
    """Give the placements that one layout a tensor stands for.

    Args:
        record: the operator.
        given: dictionaries of `Layout.to_dict`, one a tensor.
        shapes: of the tensors.
        mesh: the devices.

    Raises:
        RuntimeError: there are too few or too many, or one does not fit.
    """
    flat: list[Any] = []
    for entry in given:
        flat.extend(entry if isinstance(entry, tuple | list) else [entry])
    if len(flat) != len(shapes):
        raise located(
            RuntimeError,
            f"For '{record.name}', the inputs numbers {len(shapes)} is not equal to in_strategy "
            f"numbers: {len(flat)}.",
        )
    found = []
    for i, (layout, shape) in enumerate(zip(flat, shapes, strict=True)):
        placement = placed(layout, mesh, len(shape), record.name)
        for size, parts in zip(shape, placement.parts(mesh), strict=True):
            if size % parts:
                raise located(
                    RuntimeError,
                    f"For '{record.name}', input {i} of shape {shape} cannot be divisible by the "
                    f"strategy value {parts} of its layout.",
                )
        found.append(placement)
    return found


def plan_placement(name: str, plan: Sequence[int], shape: tuple[int, ...], mesh: Mesh) -> Placement:
    """Give the placement of a Parameter with a plan: copies lie along the first axes.

    Args:
        name: of the Parameter.
        plan: numbers of parts of its dimensions.
        shape: its shape.
        mesh: the devices.

    Raises:
        RuntimeError: the plan does not fit the shape or the devices.
    """
    check(name, (plan,), [shape], mesh)
    return Placement(arrange(mesh, [mesh.size // math.prod(plan), *plan], name)[1:])
