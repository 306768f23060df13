"""The devices that a program is spread over, as one mesh that every arrangement of them fits.

The original arranges its devices anew for every operator (a device matrix of 2 x 4 here, of 4 x 2
there). XLA propagates shardings within one mesh only, so there is one, whose axes have prime sizes:
an arrangement is a way to put these axes together.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from mindjax.core import world
from mindjax.core.errors import located
from mindjax.core.parallel_context import get_auto_parallel_context

Axes = tuple[str, ...]
"""Names of mesh axes that one dimension is cut along, the slowest first."""


class Placement(NamedTuple):
    """How an array lies on the mesh: the axes that each dimension is cut along."""

    dimensions: tuple[Axes, ...]

    @property
    def cut(self) -> bool:
        """Whether any dimension is cut."""
        return any(self.dimensions)

    def parts(self, mesh: Mesh) -> tuple[int, ...]:
        """Give the number of parts of each dimension."""
        return tuple(math.prod(mesh.shape[a] for a in axes) for axes in self.dimensions)

    def sharding(self, mesh: Mesh, memory: str | None = None) -> NamedSharding:
        """Give jax's form of it.

        Args:
            mesh: the devices.
            memory: kind of memory that holds the array; None for the device's own.
        """
        spec = PartitionSpec(*(axes if axes else None for axes in self.dimensions))
        return NamedSharding(mesh, spec, memory_kind=memory)


def prime_factors(number: int) -> tuple[int, ...]:
    """Give the prime factors of a number from 1 up, in ascending order."""
    found: list[int] = []
    divisor = 2
    while number > 1:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1 if divisor * divisor <= number else max(1, number - divisor)
    return tuple(found)


@functools.lru_cache(maxsize=64)
def mesh_of(devices: tuple[Any, ...]) -> Mesh:
    """Give the mesh of some devices: axes ``d0``, ``d1``, ... of prime sizes.

    Args:
        devices: jax devices, in the order of the original's ranks.
    """
    sizes = prime_factors(len(devices)) or (1,)
    names = tuple(f"d{i}" for i in range(len(sizes)))
    return Mesh(np.array(devices, object).reshape(sizes), names)


def device_count() -> int:
    """Give the number of devices that programs are spread over.

    It is ``device_num`` of `set_auto_parallel_context` where that was set, else all that jax has.

    Raises:
        RuntimeError: ``device_num`` asks for more than there are.
    """
    asked = get_auto_parallel_context("device_num")
    present = world.device_count()
    if asked > present:
        raise located(
            RuntimeError,
            f"For 'set_auto_parallel_context', the 'device_num' {asked} is larger than available "
            f"device number: {present}. Start the script with 'mindjax run --devices {asked} "
            "SCRIPT', or set the 'device_num' to the devices that are there.",
        )
    return asked if asked > 1 else present


def whole_mesh() -> Mesh:
    """Give the mesh of all devices of a program."""
    return mesh_of(tuple(world.devices()[: device_count()]))


def stages_mesh(stages: int) -> tuple[Mesh, Mesh]:
    """Give the mesh of all devices with an axis ``"stage"``, and the mesh of one stage.

    Args:
        stages: number of stages; each has as many devices, one after the other.

    Raises:
        RuntimeError: the devices do not divide into the stages.
    """
    devices = world.devices()[: device_count()]
    if len(devices) % stages:
        raise located(
            RuntimeError,
            f"The device number {len(devices)} must be divisible by the number of pipeline stages "
            f"{stages}.",
        )
    one = mesh_of(tuple(devices[: len(devices) // stages]))
    return _with_stages(tuple(devices), stages, one.axis_names, tuple(one.shape.values())), one


@functools.lru_cache(maxsize=64)
def _with_stages(
    devices: tuple[Any, ...], stages: int, names: tuple[str, ...], sizes: tuple[int, ...]
) -> Mesh:
    return Mesh(np.array(devices, object).reshape(stages, *sizes), ("stage", *names))


def arrange(mesh: Mesh, matrix: Sequence[int], owner: str) -> tuple[Axes, ...]:
    """Give the axes that stand for each dimension of an arrangement of devices.

    Args:
        mesh: the devices.
        matrix: sizes of the arrangement, whose product divides the number of devices. Devices
            beyond it hold copies.
        owner: what asks, named in errors.

    Returns:
        Axes of each dimension.

    Raises:
        RuntimeError: the arrangement does not fit the devices.
    """
    free = list(mesh.axis_names)
    found: list[Axes] = []
    for size in matrix:
        axes: list[str] = []
        left = size
        for axis in list(free):
            if left % mesh.shape[axis] == 0 and left > 1:
                axes.append(axis)
                free.remove(axis)
                left //= mesh.shape[axis]
        if left != 1:
            raise located(
                RuntimeError,
                f"For '{owner}', the device arrangement {tuple(matrix)} does not fit "
                f"{mesh.size} devices: the product must divide the device number.",
            )
        found.append(tuple(axes))
    return tuple(found)


def replicated(mesh: Mesh, rank: int) -> Placement:
    """Give the placement of an array of ``rank`` dimensions that every device holds whole."""
    del mesh
    return Placement(((),) * rank)


def along(mesh: Mesh, shape: Sequence[int], dimension: int, axes: Sequence[str]) -> Placement:
    """Give the placement that cuts an array along one dimension.

    Args:
        mesh: the devices.
        shape: of the array; one without dimensions is not cut.
        dimension: which is cut.
        axes: along which; those from the first on that divide it hold parts.
    """
    if not shape:
        return Placement(())
    used: list[str] = []
    left = shape[dimension]
    for axis in axes:
        if left % mesh.shape[axis]:
            break
        used.append(axis)
        left //= mesh.shape[axis]
    entries: list[Axes] = [()] * len(shape)
    entries[dimension] = tuple(used)
    return Placement(tuple(entries))


def along_first(mesh: Mesh, shape: Sequence[int]) -> Placement:
    """Give the placement that cuts an array along its first dimension over all devices."""
    return along(mesh, shape, 0, mesh.axis_names)


def placement_of(array: Any, mesh: Mesh) -> Placement | None:
    """Give how an array lies on a mesh, None if it lies elsewhere."""
    sharding = getattr(array, "sharding", None)
    if not isinstance(sharding, NamedSharding) or sharding.mesh != mesh:
        return None
    return from_spec(sharding.spec, array.ndim)


def from_spec(spec: Any, rank: int) -> Placement:
    """Make a placement of jax's partition spec."""
    entries = [() if e is None else (e,) if isinstance(e, str) else tuple(e) for e in spec]
    return Placement((*entries, *((),) * (rank - len(entries))))
