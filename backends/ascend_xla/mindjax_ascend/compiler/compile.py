"""Compiles one program: to steps where all of it has some, else for the delegate."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mindjax_ascend import jax_internals, protobuf
from mindjax_ascend.compiler import collectives, lowering, segments
from mindjax_ascend.compiler.graph import UnsupportedError
from mindjax_ascend.compiler.program import TYPES, Header, Region, delegated
from mindjax_ascend.delegate import NUMBERS, Delegate

CALLBACK = lowering.CALLBACK
# How a portable artifact of StableHLO begins; the source of a split program is none.
ARTIFACT = b"ML\xefR"
PASSES = (
    "builtin.module(func.func(stablehlo-legalize-deprecated-ops{fail-on-unused=false},"
    "chlo-legalize-to-stablehlo),canonicalize,cse,symbol-dce)"
)


@dataclass
class Compiled:
    """What became of a program."""

    name: str
    steps: Counter[str] = field(default_factory=Counter)
    operators: Counter[tuple[str, str]] = field(default_factory=Counter)
    delegated: str = ""
    left: Counter[str] = field(default_factory=Counter)  # segments without a kernel, by reason


# One entry a compilation, the last ones in order, for reports and tests.
compiled: deque[Compiled] = deque(maxlen=10_000)


def _memory(attributes: Any) -> int:
    kind = attributes["mhlo.memory_kind"].value if "mhlo.memory_kind" in attributes else "device"
    return 1 if kind == "pinned_host" else 0


def _attributes(function: Any, name: str, count: int) -> list[Any]:
    if name not in function.attributes:
        return [{}] * count
    return list(function.attributes[name])


def _shape(type: Any) -> tuple[int, tuple[int, ...]]:
    if str(type) == "!stablehlo.token":
        return 23, ()
    return TYPES[str(type.element_type)], tuple(type.shape)


def _header(module: Any, code: bytes, options: bytes, parsed: Any) -> Header:
    main, _ = lowering.main_of(module)
    type = main.type if hasattr(main, "type") else main.attributes["function_type"].value
    arguments = _attributes(main, "arg_attrs", len(type.inputs))
    results = _attributes(main, "res_attrs", len(type.results))
    donated = [
        i for i, a in enumerate(arguments) if "tf.aliasing_output" in a or "jax.buffer_donor" in a
    ]
    return Header(
        name=module.operation.attributes["sym_name"].value,
        source=code,
        options=options,
        assignment=protobuf.assignment(parsed),
        replicas=parsed.num_replicas,
        partitions=parsed.num_partitions,
        devices=protobuf.device_ids(parsed),
        donated=donated,
        parameters=[_shape(t) for t in type.inputs],
        outputs=[_shape(t) for t in type.results],
        memories=[_memory(a) for a in results],
        functions=sorted(set(_functions(module.operation))),
    )


def _functions(operation: Any) -> Iterator[int]:
    """Walk the numbers of the Python functions that a program calls."""
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                attributes = op.operation.attributes
                if "call_target_name" in attributes:
                    if attributes["call_target_name"].value == CALLBACK:
                        yield attributes["mhlo.backend_config"]["id"].value
                else:
                    yield from _functions(op.operation)


def _count(region: Region, record: Compiled) -> None:
    for step in region.steps:
        record.steps[step.op] += 1
        for name in step.source.split():
            record.operators[name, "map" if step.op == "map" else step.op] += 1
        for inner in step.regions:
            _count(inner, record)


def _split(
    context: Any, header: Header, code: bytes, options: bytes, delegate: Delegate
) -> tuple[Any, dict[int, list[list[int]]]]:
    """Give what each of several devices runs and groups of them; the header gets its shapes."""
    parsed = jax_internals.CompileOptions.ParseFromString(options)
    header.source = collectives.partition(*delegate.place(parsed), code, options)
    module = jax_internals.stablehlo_of(context, header.source)
    main, _ = lowering.main_of(module)
    type = main.attributes["function_type"].value
    header.parameters = [_shape(t) for t in type.inputs]
    header.outputs = [_shape(t) for t in type.results]
    return module, collectives.groups_by_mesh(jax_internals.text_of(header.source))


def compile(code: bytes, options: bytes, delegate: Delegate, fuse: bool) -> bytes:
    """Compile a program to what the library reads.

    Args:
        code: a portable artifact of StableHLO.
        options: serialised compile options.
        delegate: runs what has no steps.
        fuse: whether elementwise operators share steps.
    """
    parsed = jax_internals.CompileOptions.ParseFromString(options)
    jax_internals.register_passes()
    with jax_internals.context() as context:
        module = jax_internals.parse(context, code)
        header = _header(module, code, options, parsed)
        record = Compiled(header.name)
        groups: dict[int, list[list[int]]] = {}
        try:
            if os.environ.get("MINDJAX_ASCEND_DELEGATE") == "1":
                raise UnsupportedError("MINDJAX_ASCEND_DELEGATE=1 delegates everything")
            if header.replicas > 1:
                raise UnsupportedError(f"it runs as {header.replicas} replicas")
            if header.partitions > 1:
                module, groups = _split(context, header, code, options, delegate)
            manager = jax_internals.passmanager.PassManager.parse(PASSES, context)
            manager.run(module.operation)
            if segments.wanted():
                segments.check(fuse)
                record.left = segments.outline(module, delegate)
                manager.run(module.operation)
            program, body = lowering.compile_steps(module, header, fuse, groups)
            _count(body, record)
            compiled.append(record)
            return program
        except UnsupportedError as error:
            record.delegated = str(error)
    header.source = code
    loaded = delegate.compile(code, options)
    # Of a partitioned program a device holds parts, whose shapes the delegate knows.
    header.parameters = [(NUMBERS[d], s) for s, d in loaded.parameters]
    header.outputs = [(NUMBERS[d], s) for s, d in loaded.results]
    compiled.append(record)
    return delegated(header, record.delegated)
