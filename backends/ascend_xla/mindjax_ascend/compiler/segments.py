"""Segments of a program that the vendor's open compiler makes kernels of, run by its simulator.

A segment is a connected group of elementwise operators, repeats and reductions that stand together
in a block. It becomes one custom call that carries HIVM, which `lowering` makes a step of.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindjax_ascend import jax_internals
from mindjax_ascend.delegate import Delegate, view
from mindjax_ascend.hivm import CompileError, MemoryFault, Program, SimulationError, compiler, lower
from mindjax_ascend.hivm.build import LoweringError
from mindjax_ascend.jax_internals import ir

TARGET = "mindjax_ascend_hivm"
# What shapes values; the others in a segment compute.
SHAPING = frozenset({"broadcast_in_dim", "constant", "convert", "reshape"})
COMPUTING = frozenset(
    ["abs", "add", "and", "compare", "divide", "exponential", "log", "logistic", "maximum",
     "minimum", "multiply", "negate", "not", "or", "power", "reduce", "rsqrt", "select", "sqrt",
     "subtract", "tanh"]
)  # fmt: skip
FLOATS = ("f32", "f16", "bf16")
ELEMENTS = (*FLOATS, "i32")
# On integers the host's are certain: saturation, quotients by zero.
OF_FLOATS = frozenset({"convert", "divide", "power"})
# Regions whose blocks are programs of their own, and may hold segments.
OUTER = ("stablehlo.while", "stablehlo.case", "stablehlo.if")


def wanted() -> bool:
    """Tell whether ``MINDJAX_ASCEND_HIVM=1`` asks for kernels of the vendor's compiler."""
    return os.environ.get("MINDJAX_ASCEND_HIVM") == "1"


def check(simulated: bool) -> None:
    """Refuse to make kernels that nothing here can run.

    Args:
        simulated: whether the driver is ``sim``.

    Raises:
        CompilerMissing: the compiler is not installed.
        RuntimeError: the driver is ``acl``.
    """
    if not simulated:
        raise RuntimeError(
            "UNIMPLEMENTED: MINDJAX_ASCEND_HIVM=1 has no kernels for the driver acl: hivmc, the "
            "last step of the vendor's compiler, comes with CANN and is closed; unset it, and "
            "CANN's operators do the steps, or set MINDJAX_ASCEND_DRIVER=sim"
        )
    compiler.installed()


def outline(module: Any, delegate: Delegate) -> Counter[str]:
    """Replace a module's segments by custom calls.

    Args:
        module: of StableHLO, changed in place.
        delegate: computes what a kernel must give.

    Returns:
        How many segments are left to the host, by reason.
    """
    left: Counter[str] = Counter()
    with module.context, ir.Location.unknown():
        main = lower.inline(module)
        for block in _blocks(main):
            for segment in list(_segments(block)):
                _replace(segment, left, delegate)
    return left


def _blocks(operation: Any) -> list[Any]:
    found = []
    for region in operation.regions:
        for block in region.blocks:
            found.append(block)
            for inner in block.operations:
                if inner.operation.name in OUTER:
                    found += _blocks(inner.operation)
    return found


def _name(operation: Any) -> str:
    return operation.name.removeprefix("stablehlo.")


def _shape(value: Any) -> tuple[str, list[int]] | None:
    type = value.type
    if not isinstance(type, ir.RankedTensorType) or not type.has_static_shape:
        return None
    return str(type.element_type), list(type.shape)


def _fusible(operation: Any) -> bool:
    name = _name(operation)
    if name == "constant":
        value = operation.attributes["value"]
        return isinstance(value, ir.DenseElementsAttr) and value.is_splat
    if name not in SHAPING and name not in COMPUTING:
        return False
    if len(operation.results) != 1 or (name == "reduce" and len(operation.operands) != 2):
        return False
    for value in (*operation.operands, *operation.results):
        shape = _shape(value)
        if shape is None or shape[0] not in (*ELEMENTS, "i1") or 0 in shape[1]:
            return False
    type = operation.results[0].type
    if name in OF_FLOATS and str(type.element_type) not in FLOATS:
        return False
    # What works on scalars alone has no form for vector units.
    return name == "reduce" or type.rank > 0


def _segments(block: Any) -> Iterator[list[Any]]:
    """Give the connected groups within each run of operators that are taken."""
    run: list[Any] = []
    for op in block.operations:
        if _fusible(op.operation):
            run.append(op.operation)
        else:
            yield from _connected(run)
            run = []


def _connected(run: list[Any]) -> Iterator[list[Any]]:
    """Split a run into groups that share values; constants are copied into each that reads them."""
    group: dict[Any, int] = {}
    for number, operation in enumerate(run):
        if _name(operation) == "constant":
            continue
        joined = {group[v] for v in operation.operands if v in group}
        for value, other in group.items():
            if other in joined:
                group[value] = number
        group[operation.results[0]] = number
    for number in dict.fromkeys(group.values()):
        members = [o for o in run if group.get(o.results[0]) == number]
        read = dict.fromkeys(v for o in members for v in o.operands)
        # A block, which owns an argument, is no operation.
        owners = [getattr(v.owner, "operation", None) for v in read]
        constants = [o for o in owners if o is not None and _name(o) == "constant" and _fusible(o)]
        if any(_name(o) in COMPUTING for o in members):
            yield constants + members


def _replace(segment: list[Any], left: Counter[str], delegate: Delegate) -> None:
    inside = {o.results[0]: o for o in segment}
    inputs = list(dict.fromkeys(v for o in segment for v in o.operands if v not in inside))
    outputs = [
        o.results[0]
        for o in segment
        if _name(o) != "constant" and any(not _within(use.owner, segment) for use in _uses(o))
    ]
    if not outputs:
        return
    if any(str(v.type.element_type) == "i1" for v in (*inputs, *outputs)):
        left["truth values at an edge"] += 1
        return
    made = _kernel(_module(segment, inputs, outputs), delegate)
    if made.reason:
        left[made.reason] += 1
        return
    names = dict.fromkeys(_name(o) for o in segment if _name(o) != "constant")
    config: dict[str, ir.Attribute] = {
        "hivm": ir.StringAttr.get(made.hivm),
        "does": ir.StringAttr.get(" ".join(names)),
    }
    last = [o for o in segment if _name(o) != "constant"][-1]
    # What reads the results stands behind the whole run, and what is read before it.
    with ir.InsertionPoint.after(last):
        call = ir.Operation.create(
            "stablehlo.custom_call",
            results=[v.type for v in outputs],
            operands=inputs,
            attributes={
                "call_target_name": ir.StringAttr.get(TARGET),
                "mhlo.backend_config": ir.DictAttr.get(config),
            },
        )
    for value, result in zip(outputs, call.results, strict=True):
        value.replace_all_uses_with(result)
    for operation in reversed(segment):
        if _name(operation) != "constant":
            operation.erase()


def _uses(operation: Any) -> list[Any]:
    return list(operation.results[0].uses)


def _within(user: Any, segment: list[Any]) -> bool:
    return any(user.operation == o for o in segment)


def _module(segment: list[Any], inputs: list[Any], outputs: list[Any]) -> str:
    """Write a segment as a module of its own."""
    module = ir.Module.create()
    type = ir.FunctionType.get([v.type for v in inputs], [v.type for v in outputs])
    with ir.InsertionPoint(module.body):
        function = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get("main"),
                "function_type": ir.TypeAttr.get(type),
                "sym_visibility": ir.StringAttr.get("public"),
            },
            regions=1,
        )
    block = function.regions[0].blocks.append(*type.inputs)
    values = dict(zip(inputs, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        for operation in segment:
            copy = operation.clone()
            for index, value in enumerate(operation.operands):
                copy.operands[index] = values[value]
            values[operation.results[0]] = copy.results[0]
        ir.Operation.create("func.return", operands=[values[v] for v in outputs])
    return str(module)


@dataclass(frozen=True)
class Kernel:
    """What the compiler made of a segment, or why it made nothing that can be used."""

    hivm: str = ""
    reason: str = ""


@functools.lru_cache(maxsize=1024)
def _kernel(text: str, delegate: Delegate) -> Kernel:
    """Compile a segment and run it once; the compiler is known to make some kernels wrong."""
    try:
        with jax_internals.context() as context:
            hivm = compiler.compile(lower.lower_module(ir.Module.parse(text, context))).hivm
        program = _program(hivm)
        arrays = _trial(program)
        found = program.run(*arrays).outputs
    except (LoweringError, CompileError, MemoryFault, SimulationError) as error:
        return Kernel(reason=str(error).splitlines()[0][:160])
    wanted = delegate.values(text, arrays)
    if not all(_close(f, w) for f, w in zip(found, wanted, strict=True)):
        return Kernel(reason="the kernel's values are not the host's")
    return Kernel(hivm)


def _trial(program: Program) -> list[np.ndarray]:
    """Draw arguments, the same ones each time: small, of both signs."""
    random = np.random.default_rng(1)
    return [np.asarray(2 * random.standard_normal(s)).astype(d) for s, d in program.inputs]


def _close(found: np.ndarray, wanted: np.ndarray) -> bool:
    """Compare values to the accuracy of their type, relative to the greatest."""
    if found.dtype.kind in "iu":
        return np.array_equal(found, wanted)
    accuracy = 1e-4 if found.dtype == np.float32 else 2e-2
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    finite = wanted[np.isfinite(wanted)]
    scale = max(1.0, float(np.abs(finite).max(initial=0.0)))
    return np.allclose(found, wanted, 0, accuracy * scale, equal_nan=True)


@functools.lru_cache(maxsize=1024)
def _program(hivm: str) -> Program:
    return Program(hivm)


def run(hivm: bytes, inputs: list[int], outputs: list[int]) -> None:
    """Run a kernel in the simulator.

    Args:
        hivm: what the compiler made.
        inputs: addresses of the arguments.
        outputs: addresses of the results.
    """
    program = _program(hivm.decode())
    kinds = program.inputs
    arrays = [view(a, shape, dtype) for a, (shape, dtype) in zip(inputs, kinds, strict=True)]
    results = program.run(*arrays).outputs
    for address, result in zip(outputs, results, strict=True):
        view(address, result.shape, result.dtype)[...] = result
