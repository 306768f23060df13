"""Lowered programs whose shardings Shardy propagates, to see where every value would lie."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
from jax.sharding import Mesh

from mindjax.core.jax_private import ir, passmanager
from mindjax_parallel.mesh import Placement

Cuts = list[tuple[tuple[str, ...], ...]]
_DIMENSION = re.compile(r"\{([^}]*)\}")
_AXIS = re.compile(r'"([^"]+)"')


def propagated(lowered: Any) -> tuple[Cuts, Cuts]:
    """Let Shardy propagate the shardings of a lowered program through it, without compiling.

    Args:
        lowered: a `jax.stages.Lowered` of one mesh; its module is changed.

    Returns:
        For each input, then for each output, the mesh axes of every dimension; empty where
        nothing is said.
    """
    module = lowered.compiler_ir()
    with module.context:
        pipeline = "builtin.module(sdy-propagation-pipeline)"
        passmanager.PassManager.parse(pipeline).run(module.operation)
        (main,) = (o for o in module.body.operations if o.attributes["sym_name"].value == "main")
        kind = main.attributes["function_type"].value
        found: list[Cuts] = []
        for name, types in (("arg_attrs", kind.inputs), ("res_attrs", kind.results)):
            said = name in main.attributes
            found.append(cuts(main.attributes[name] if said else None, len(types)))
    return found[0], found[1]


def cuts_of(function: Any, mesh: Mesh, *inputs: Any) -> list[Placement]:
    """Give how the results of a function would lie.

    Args:
        function: of lists of arrays, gives a list.
        mesh: the devices.
        *inputs: for each list, shapes and dtypes, and their placements.

    Returns:
        The placements; axes that do not divide a dimension are left out.
    """
    given = [
        [
            jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=p.sharding(mesh))
            for a, p in zip(avals, placements, strict=True)
        ]
        for avals, placements in inputs
    ]
    lowered = jax.jit(function, keep_unused=True).lower(*given)
    shapes = [tuple(o.shape) for o in jax.eval_shape(function, *given)]
    found = propagated(lowered)[1]
    return [fitting(dims, shape, mesh) for dims, shape in zip(found, shapes, strict=True)]


def fitting(spec: Sequence[tuple[str, ...]], shape: Sequence[int], mesh: Mesh) -> Placement:
    """Drop the axes that do not divide their dimension.

    Args:
        spec: axes of each dimension; empty for none.
        shape: sizes of the dimensions.
        mesh: the devices.
    """
    entries = [tuple(axes) for axes in spec] or [()] * len(shape)
    kept: list[tuple[str, ...]] = []
    for axes, size in zip(entries, shape, strict=True):
        good: list[str] = []
        for axis in axes:
            if size % mesh.shape[axis]:
                break
            good.append(axis)
            size //= mesh.shape[axis]
        kept.append(tuple(good))
    return Placement(tuple(kept))


def cuts(attributes: Any, count: int) -> Cuts:
    """Read the shardings of a function's inputs or outputs; empty where nothing is said."""
    found: Cuts = []
    for i in range(count):
        entry = None if attributes is None else attributes[i]
        if entry is None or "sdy.sharding" not in entry:
            found.append(())
            continue
        text = str(entry["sdy.sharding"])
        body = text[text.index("[") + 1 : text.index("]")]
        found.append(tuple(tuple(_AXIS.findall(d)) for d in _DIMENSION.findall(body)))
    return found


class ShardedValue(NamedTuple):
    """A value of a program: its shape, bytes, and the mesh axes of each dimension."""

    shape: tuple[int, ...]
    bytes: int
    dims: tuple[tuple[str, ...], ...]


class ShardedOperation(NamedTuple):
    """An operation of a program; dimensions that a product or reduction adds up over."""

    name: str
    inputs: list[ShardedValue]
    output: ShardedValue
    contracting: tuple[tuple[int, ...], tuple[int, ...]]
    reduced: tuple[int, ...]


class ShardedModule:
    """A lowered program whose inputs are placed again and again, to see where its values lie.

    Args:
        lowered: a `jax.stages.Lowered` that knows a mesh.
        count: number of its inputs.
    """

    def __init__(self, lowered: Any, count: int) -> None:
        self._module, self._count = lowered.compiler_ir(), count
        self._main: Any = None

    def propagate(self, placements: Sequence[Any]) -> None:
        """Place inputs, and let Shardy propagate that; None for an input leaves it open."""
        with self._module.context:
            copy = self._module.operation.clone()
            region = copy.regions[0].blocks[0].operations
            main = next(o for o in region if _symbol(o) == "main")
            entries = [ir.DictAttr.get(_attributes(p)) for p in placements]
            main.attributes["arg_attrs"] = ir.ArrayAttr.get(entries)
            pipeline = "builtin.module(sdy-propagation-pipeline)"
            passmanager.PassManager.parse(pipeline).run(copy)
            region = copy.regions[0].blocks[0].operations
            self._copy = copy
            self._main = next(o for o in region if _symbol(o) == "main")

    def inputs(self) -> Cuts:
        """Give the axes of each input's dimensions."""
        return cuts(self._main.attributes["arg_attrs"], self._count)

    def operations(self) -> Iterator[ShardedOperation]:
        """Walk over the operations with tensors, in order."""
        known: dict[Any, ShardedValue] = {}
        block = self._main.regions[0].blocks[0]
        for argument, dims in zip(block.arguments, self.inputs(), strict=True):
            known[argument] = valued(argument.type, dims)
        for operation in block.operations:
            operation = operation.operation
            outputs = list(operation.results)
            if not outputs:
                continue
            attributes = operation.attributes
            said: list[Any] = []
            if "sdy.sharding" in attributes:
                said = shardings_in(str(attributes["sdy.sharding"]))
            for i, result in enumerate(outputs):
                known[result] = valued(result.type, said[i] if i < len(said) else ())
            inputs = [known[o] for o in operation.operands if o in known]
            yield ShardedOperation(
                operation.name,
                inputs,
                known[outputs[0]],
                _contracting(attributes) if "dot_dimension_numbers" in attributes else ((), ()),
                _numbers(str(attributes["dimensions"]))
                if operation.name == "stablehlo.reduce"
                else (),
            )


_SHARDING = re.compile(r"<@\w+, \[(.*?)\](?:, [^<>]*)?>")
_WIDTH = re.compile(r"(\d+)")


def _symbol(operation: Any) -> str:
    attributes = operation.attributes
    return attributes["sym_name"].value if "sym_name" in attributes else ""


def _attributes(dims: Any) -> dict[str, Any]:
    if dims is None:
        return {}
    text = ", ".join("{" + ", ".join(f'"{a}"' for a in axes) + "}" for axes in dims)
    return {"sdy.sharding": ir.Attribute.parse(f"#sdy.sharding<@mesh, [{text}]>")}


def shardings_in(text: str) -> list[Any]:
    """Read the shardings in an operation's attribute, one a result."""
    return [
        tuple(tuple(_AXIS.findall(d)) for d in _DIMENSION.findall(body))
        for body in _SHARDING.findall(text)
    ]


def valued(kind: Any, dims: Any) -> ShardedValue:
    """Give what is known of a value of a type."""
    try:
        kind = ir.RankedTensorType(kind)
    except ValueError:
        # A token: it has no shape.
        return ShardedValue((), 0, ())
    shape = tuple(kind.shape)
    found = _WIDTH.search(str(kind.element_type))
    width = max(1, int(found[1]) // 8) if found else 4
    size = width
    for n in shape:
        size *= n
    return ShardedValue(shape, size, tuple(dims) or ((),) * len(shape))


def _contracting(attributes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    text = str(attributes["dot_dimension_numbers"])

    def of(side: str) -> tuple[int, ...]:
        found = re.search(rf"{side}_contracting_dimensions = \[([\d, ]*)\]", text)
        return tuple(int(n) for n in found[1].split(",") if n.strip()) if found else ()

    return of("lhs"), of("rhs")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text.partition(":")[2]))
