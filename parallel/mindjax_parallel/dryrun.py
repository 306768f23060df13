"""What a program would need on each device of a mesh that is not there: memory and transfers."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from mindjax.core.atomic import replacing
from mindjax_parallel.cost import inlined
from mindjax_parallel.liveness import Held, peak
from mindjax_parallel.mesh import Placement, mesh_of, replicated
from mindjax_parallel.picture import Row, placement_row

# The code is never run: XLA need not make it fast.
_COMPILER = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
_COLLECTIVES = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
_TRANSFER = re.compile(rf"= ([^=]*?) ({_COLLECTIVES})(?:-start)?\(")
_ARRAY = re.compile(r"([a-z]+)(\d+)?\[([\d,]*)\]")


@dataclasses.dataclass
class Needs:
    """What one program needs on each device.

    Attributes:
        name: the program's.
        devices: how many there are.
        elements: of all Parameters that are trained.
        parameters: bytes of Parameters, and of state that is no optimizer's.
        optimizer: bytes of the optimizer's state.
        inputs: bytes of the arguments.
        gradients: most bytes of values that have the shape of a Parameter.
        values: bytes of all other values at the same time; of a pipeline, what micro batches keep
            and send, and the gradients are all that they add up.
        transfers: by kind, how often a run transfers, and the bytes of the results.
        seconds: that the report took.
        allocated: what XLA for this host's processor allocates for values; None if it was not
            asked.
        largest: the largest values, which are there at the same time.
        stages: whether it is a pipeline, of which the values of a single pass are left out.
    """

    name: str
    devices: int
    elements: int
    parameters: float
    optimizer: float
    inputs: float
    gradients: float
    values: float
    transfers: dict[str, tuple[int, int]] | None
    seconds: float
    allocated: int | None
    largest: list[Held]
    stages: bool = False

    @property
    def total(self) -> float:
        """Bytes of everything on a device."""
        state = self.parameters + self.optimizer
        return state + self.inputs + self.gradients + self.values

    def as_dict(self) -> dict[str, Any]:
        """Give the figures for a JSON file."""
        return {**dataclasses.asdict(self), "total": self.total}

    def __str__(self) -> str:
        rows = [
            ("Parameters", self.parameters),
            ("optimizer state", self.optimizer),
            ("inputs", self.inputs),
            ("gradients", self.gradients),
            ("kept values" if self.stages else "other values", self.values),
            ("sum", self.total),
        ]
        lines = [
            f"{self.name}: {self.devices} devices, {self.elements:,} numbers to train, "
            f"looked at in {self.seconds:.1f} s",
            "  bytes a device",
            *(f"    {name:<16}{size / 1e9:12.3f} GB" for name, size in rows),
        ]
        if self.stages:
            lines.append("    (of a pipeline without what a single pass needs for a moment)")
        if self.allocated is not None:
            lines.append(
                f"    (XLA's own order, for this host's processor and not made to save memory: "
                f"{self.allocated / 1e9:.3f} GB of gradients and other values)"
            )
        if self.transfers is not None:
            lines.append("  transfers a device and run")
            lines += [
                f"    {kind:<20}{count:8} times {size / 1e9:12.3f} GB"
                for kind, (count, size) in sorted(self.transfers.items())
            ] or ["    none"]
        return "\n".join(lines)


def _bytes(array: Any, placement: Placement, mesh: Mesh) -> float:
    size = math.prod(np.shape(array)) * np.dtype(array.dtype).itemsize
    return size / math.prod(placement.parts(mesh))


def needs(
    name: str,
    function: Callable[..., Any],
    lowered: Any,
    arrays: Sequence[Any],
    state: Sequence[Any],
    ties: dict[int, int],
    placements: Sequence[Placement],
    mesh: Mesh,
    compiles: bool = True,
) -> Needs:
    """Work out what a program needs.

    Args:
        name: the program's.
        function: the program on flat arrays.
        lowered: jax's form of it.
        arrays: its inputs, or what has their shapes and dtypes.
        state: Handles of the first of them.
        ties: output -> input of the same state.
        placements: of the inputs.
        mesh: the devices.
        compiles: whether XLA cuts the program, so that its transfers can be counted.
    """
    began = time.monotonic()
    known = _shapes_of(state)
    sums = {"parameters": 0.0, "optimizer": 0.0, "inputs": 0.0}
    elements, shapes = 0, set()
    for i, (array, placement) in enumerate(zip(arrays, placements, strict=True)):
        handle = state[i] if i < len(state) else None
        kind = "inputs" if handle is None else "parameters"
        shape = tuple(np.shape(array))
        if handle is not None and _is_optimizers(handle, shape, known):
            kind = "optimizer"
        elif getattr(handle, "requires_grad", False):
            elements += math.prod(shape)
            shapes |= {shape, shape[::-1]} if len(shape) > 1 else set()
        sums[kind] += _bytes(array, placement, mesh)
    most, held = peak(_in_one(function, arrays, placements, ties, mesh), mesh, set(ties))
    gradients = sum(h.bytes for h in held if h.shape in shapes)
    transfers = allocated = None
    if compiles:
        compiled = lowered.compile(compiler_options=_COMPILER)
        transfers = transfers_of(compiled.as_text())
        allocated = int(compiled.memory_analysis().temp_size_in_bytes)
    return Needs(
        name, mesh.size, elements, *sums.values(), gradients, most - gradients, transfers,
        time.monotonic() - began, allocated, held[:20],
    )  # fmt: skip


def needs_of_pipeline(
    name: str, lowered: Any, state: Sequence[Any], mesh: Mesh, compiles: bool
) -> Needs:
    """Work out what a pipeline's program needs: packed state and gradients, what is kept.

    Args:
        name: the program's.
        lowered: the lowered program of stages.
        state: Handles of its first inputs.
        mesh: the devices.
        compiles: whether XLA cuts the program, so that its transfers can be counted.
    """
    began = time.monotonic()
    pack, known = lowered.pack, _shapes_of(state)
    packing, elements = pack.packing, 0
    optimizer = [0.0] * packing.stages
    for handle, member in zip(pack.handles, packing.members, strict=True):
        size = math.prod(member.shape)
        if _is_optimizers(handle, member.shape, known):
            share = size * np.dtype(member.dtype).itemsize / packing.parts(member.kind)
            for stage in member.stages:
                optimizer[stage] += share
        elif handle.requires_grad:
            elements += size
    transfers = allocated = None
    if compiles:
        compiled = lowered.stages.compile(compiler_options=_COMPILER)
        transfers = transfers_of(compiled.as_text())
        allocated = int(compiled.memory_analysis().temp_size_in_bytes)
    most = max(optimizer)
    return Needs(
        name, mesh.size, elements, packing.device_bytes() - most, most, 0.0,
        lowered.gradients.device_bytes(), lowered.held_bytes, transfers,
        time.monotonic() - began, allocated, [], True,
    )  # fmt: skip


def _in_one(
    function: Callable[..., Any],
    arrays: Sequence[Any],
    placements: Sequence[Placement],
    ties: dict[int, int],
    mesh: Mesh,
) -> Any:
    """Lower a program without functions inside it, for shardings to go all the way through."""
    structs = [jax.ShapeDtypeStruct(np.shape(a), a.dtype) for a in arrays]
    shardings = [p.sharding(mesh) for p in placements]
    closed = jax.make_jaxpr(function)(*structs)
    outputs = [shardings[ties[i]] if i in ties else None for i in range(len(closed.out_avals))]
    flat = jax.jit(
        inlined(closed), keep_unused=True, in_shardings=tuple(shardings), out_shardings=outputs
    )
    return flat.lower(*structs)


def _shapes_of(state: Sequence[Any]) -> dict[str, tuple[int, ...]]:
    return {h.name: tuple(h.shape) for h in state if getattr(h, "is_parameter", False)}


def _is_optimizers(handle: Any, shape: tuple[int, ...], known: dict[str, tuple[int, ...]]) -> bool:
    """Tell whether a Handle's name ends with that of a Parameter of its shape."""
    parts = str(getattr(handle, "name", "")).split(".")
    return any(known.get(".".join(parts[i:])) == shape for i in range(1, len(parts)))


def transfers_of(text: str) -> dict[str, tuple[int, int]]:
    """Count the collectives of a compiled program, and the bytes that they give a device.

    Args:
        text: optimised HLO; what stands in a loop counts once.
    """
    found: dict[str, tuple[int, int]] = {}
    for shapes, kind in _TRANSFER.findall(re.sub(r"/\*.*?\*/", "", text)):
        count, size = found.get(kind, (0, 0))
        for _, bits, dims in _ARRAY.findall(shapes):
            width = max(1, int(bits or 8) // 8)
            size += width * math.prod(int(n) for n in dims.split(",") if n)
        found[kind] = count + 1, size
    return found


class Report:
    """Hears of every program of a simulation, and says what it needs.

    Args:
        compiles: whether XLA cuts the programs.
        show: is called with the text about each.
    """

    def __init__(self, compiles: bool = True, show: Any = print) -> None:
        self.programs: list[Needs] = []
        # Of the last program with Parameters, for a picture.
        self.rows: list[Row] = []
        self._compiles, self._show = compiles, show

    def __call__(
        self,
        *,
        name: str,
        function: Callable[..., Any],
        lowered: Any,
        arrays: Sequence[Any],
        state: Sequence[Any],
        ties: dict[int, int],
        partitioner: Any,
    ) -> None:
        """Look at a program that was lowered."""
        if hasattr(lowered, "pack"):
            found = needs_of_pipeline(name, lowered, state, partitioner.mesh, self._compiles)
            self.programs.append(found)
            self._show(str(found))
            return
        if partitioner is None:
            mesh = mesh_of((jax.devices()[0],))
            placements = [replicated(mesh, np.ndim(a)) for a in arrays]
        else:
            mesh = partitioner.mesh
            function, placements = partitioner.simulated
        found = needs(
            name, function, lowered, arrays, state, ties, placements, mesh, self._compiles
        )
        self.programs.append(found)
        # The optimizer's state lies as its Parameter does.
        known = _shapes_of(state)
        parameters = [
            placement_row(h, p, mesh)
            for h, p, a in zip(state, placements, arrays, strict=False)
            if getattr(h, "is_parameter", False)
            and math.prod(np.shape(a)) > 1
            and not _is_optimizers(h, tuple(np.shape(a)), known)
        ]
        self.rows = parameters or self.rows
        self._show(str(found))

    def write(self, path: str) -> None:
        """Write the figures of all programs to a JSON file.

        Raises:
            OSError: the file cannot be written.
        """
        text = json.dumps([p.as_dict() for p in self.programs], indent=1)
        with replacing(path, 0o644) as file:
            file.write(text.encode())
