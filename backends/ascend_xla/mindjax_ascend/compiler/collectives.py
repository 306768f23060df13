"""Programs for several devices: XLA's partitioner splits them, and devices meet in some steps."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from mindjax_ascend import jax_internals, protobuf
from mindjax_ascend.compiler import rules_math
from mindjax_ascend.compiler.graph import UnsupportedError, strides_of
from mindjax_ascend.compiler.program import Value

REDUCERS = ("add", "multiply", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor")


def partition(client: Any, devices: list[Any], code: bytes, options: bytes) -> bytes:
    """Split a program into the one that each device runs.

    XLA:CPU compiles the whole program; what its partitioner gives is taken from the files that it
    writes on demand, and the rest is thrown away.

    Args:
        client: of XLA:CPU.
        devices: of the client, one a partition.
        code: a portable artifact of StableHLO.
        options: serialised compile options.

    Returns:
        A serialised HloModuleProto.

    Raises:
        UnsupportedError: XLA does not write it.
    """
    parsed = jax_internals.CompileOptions.ParseFromString(options)
    with tempfile.TemporaryDirectory() as folder:
        jax_internals.dump_passes(parsed, folder, "spmd-partitioning")
        jax_internals.compile_on(client, code, devices, parsed)
        found = sorted(Path(folder).glob("*after_spmd-partitioning*.hlo.pb"))
        if not found:
            raise UnsupportedError("XLA's partitioner did not show what it made")
        whole = found[-1].read_bytes()
    module = next(v for n, v in protobuf.fields(whole) if n == 1)
    assert isinstance(module, bytes)
    return module


# How XLA writes groups of devices that differ along axes of a mesh.
_BY_MESH = re.compile(
    r"channel_id=(\d+), replica_groups=mesh\[([^\]]*)\](?:, device_ids=\(([^{]*)\))? \{([^}]*)\}"
)


def _order(text: str | None, count: int) -> np.ndarray[Any, Any]:
    """Read the order of a mesh's devices: a list, or a transposed box of all."""
    if not text:
        return np.arange(count)
    box = re.fullmatch(r"\[([\d,]+)\](?:T\(([\d,]+)\))?", text)
    if box is None:
        return np.array([int(i) for i in text.split(",")])
    numbers = np.arange(count).reshape([int(i) for i in box[1].split(",")])
    return (numbers.transpose([int(i) for i in box[2].split(",")]) if box[2] else numbers).ravel()


def groups_by_mesh(text: str) -> dict[int, list[list[int]]]:
    """Read the groups of devices that a program gives by axes of a mesh, by their channels.

    StableHLO has such groups too, but jaxlib forgets the order of the mesh's devices there.

    Args:
        text: the program as XLA writes it.

    Raises:
        UnsupportedError: an axis is split, or one channel has several groups.
    """
    found: dict[int, list[list[int]]] = {}
    for channel, mesh, ids, along in _BY_MESH.findall(text):
        sizes = {n: int(size) for n, size in re.findall(r"'([^']+)'=(\d+)", mesh)}
        axes = re.findall(r"'([^']+)'", along)
        if along.replace(" ", "") != ",".join(f"'{a}'" for a in axes):
            raise UnsupportedError(f"groups of devices along {along}")
        count, names = int(np.prod(list(sizes.values()))), list(sizes)
        places = _order(ids, count).reshape(list(sizes.values()))
        order = [i for i, n in enumerate(names) if n not in axes] + [names.index(a) for a in axes]
        length = int(np.prod([sizes[a] for a in axes]))
        groups = places.transpose(order).reshape(-1, length).tolist()
        if found.setdefault(int(channel), groups) != groups:
            raise UnsupportedError(f"channel {channel} with several groups of devices")
    return found


def _groups(low: Any, op: Any, flattened: bool) -> list[list[int]]:
    """Give the groups of devices that meet, of one length all."""
    count = low.partitions
    if count == 1:
        return [[0]]
    handle = str(op.attributes["channel_handle"]) if "channel_handle" in op.attributes else ""
    number = re.search(r"handle = (\d+)", handle)
    if number is None or number[1] == "0":
        # Without a channel only replicas meet, and there is one.
        return [[i] for i in range(count)]
    if not flattened:
        return [list(range(count))]
    said = op.attributes["replica_groups"]
    if hasattr(said, "is_splat"):
        rows = np.array(said).tolist()
    elif int(number[1]) in low.groups:
        rows = low.groups[int(number[1])]
    else:
        raise UnsupportedError(f"groups of devices {said}")
    groups = [[int(i) for i in row] for row in rows] or [list(range(count))]
    if sorted(i for g in groups for i in g) != list(range(count)):
        raise UnsupportedError(f"{op.name} with groups {groups} of {count} devices")
    return groups


def _meet(
    low: Any, step: str, source: Value, target: Value, groups: list[list[int]], rest: list[int]
) -> None:
    ints = [len(groups), len(groups[0]), *(i for g in groups for i in g), len(rest), *rest]
    low.step(step, [source], [target], ints)


def _gathered(low: Any, source: Value, groups: list[list[int]]) -> Value:
    together = low.value(source.type, (len(groups[0]), *source.dims))
    _meet(low, "device_gather", source, together, groups, [])
    return together


def _axis_first(low: Any, source: Value, axis: int, parts: int) -> Value:
    """Split an axis and bring its parts to the front, each in one piece."""
    dims, strides = list(source.dims), strides_of(source.dims)
    length = dims[axis] // parts
    dims[axis] = length
    split = low.value(source.type, (parts, *dims))
    low.copy(source, split, [length * strides[axis], *strides])
    return split


def _axis_back(low: Any, source: Value, axis: int, target: Value) -> None:
    """Join the parts at the front along an axis."""
    strides = strides_of(source.dims)
    order = [*range(1, axis + 1), 0, *range(axis + 1, len(source.dims))]
    moved = low.value(source.type, tuple(source.dims[i] for i in order))
    low.copy(source, moved, [strides[i] for i in order])
    low.alias(moved, target)


def _reduced(low: Any, op: Any, together: Value, target: Value) -> None:
    """Reduce the first axis by an operator's region; 16-bit numbers in 32 bits."""
    name = rules_math.single_operator(op.regions[0].blocks[0], REDUCERS)
    half = target.type in rules_math.HALVES
    if half:
        together = rules_math.as_float32(low, together)
    parts, rest, strides = together.dims[0], together.dims[1:], strides_of(together.dims)
    total = None
    for i in range(parts):
        part = low.value(together.type, rest)
        ints = [len(rest), *rest, 0, *strides_of(rest), i * strides[0], *strides[1:]]
        low.step("copy", [together], [part], ints)
        last = i == parts - 1 and not half
        if total is not None:
            result = target if last else low.value(together.type, rest)
            low.scalar(name, [total, part], result)
            part = result
        elif last:
            low.alias(part, target)
        total = part
    if half:
        low.scalar("convert", [total], target)


def _flattened(op: Any) -> bool:
    return "use_global_device_ids" in op.attributes


def _all_reduce(low: Any, op: Any) -> None:
    groups = _groups(low, op, _flattened(op))
    for source, target in zip(low.read(op), low.make_all(op), strict=True):
        if len(groups[0]) == 1:
            low.alias(source, target)
        else:
            _reduced(low, op, _gathered(low, source, groups), target)


def _all_gather(low: Any, op: Any) -> None:
    groups, axis = _groups(low, op, _flattened(op)), op.attributes["all_gather_dim"].value
    for source, target in zip(low.read(op), low.make_all(op), strict=True):
        _axis_back(low, _gathered(low, source, groups), axis, target)


def _reduce_scatter(low: Any, op: Any) -> None:
    groups = _groups(low, op, _flattened(op))
    axis, (source,), target = op.attributes["scatter_dimension"].value, low.read(op), low.make(op)
    split = _axis_first(low, source, axis, len(groups[0]))
    together = low.value(split.type, split.dims)
    _meet(low, "device_exchange", split, together, groups, [])
    _reduced(low, op, together, target)


def _all_to_all(low: Any, op: Any) -> None:
    groups = _groups(low, op, True)
    apart, join = (op.attributes[f"{n}_dimension"].value for n in ("split", "concat"))
    for source, target in zip(low.read(op), low.make_all(op), strict=True):
        split = _axis_first(low, source, apart, len(groups[0]))
        together = low.value(split.type, split.dims)
        _meet(low, "device_exchange", split, together, groups, [])
        _axis_back(low, together, join, target)


def _collective_permute(low: Any, op: Any) -> None:
    pairs = [int(i) for i in np.array(op.attributes["source_target_pairs"]).reshape(-1)]
    (source,), target = low.read(op), low.make(op)
    _meet(low, "device_permute", source, target, [list(range(low.partitions))], pairs)


def _collective_broadcast(low: Any, op: Any) -> None:
    (source,), target = low.read(op), low.make(op)
    pairs = [i for g in _groups(low, op, True) for member in g for i in (g[0], member)]
    _meet(low, "device_permute", source, target, [list(range(low.partitions))], pairs)


def _partition_id(low: Any, op: Any) -> None:
    target = low.make(op)
    if low.partitions == 1:
        low.constant(target, bytes(4), True)
    else:
        low.step("partition_id", [], [target], [])


RULES = {
    "all_reduce": _all_reduce,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
    "collective_permute": _collective_permute,
    "collective_broadcast": _collective_broadcast,
    "partition_id": _partition_id,
}
