"""Nodes become steps: elementwise ones that feed each other become one."""

from __future__ import annotations

from collections import defaultdict

import ml_dtypes
import numpy as np

from mindjax_ascend.compiler import cann, cann_kernels
from mindjax_ascend.compiler.graph import (
    ALIAS,
    BROADCAST,
    CONSTANT,
    SCALAR,
    Block,
    Node,
    collapse,
    strides_of,
)
from mindjax_ascend.compiler.program import BYTES, Region, Step, Value
from mindjax_ascend.compiler.program import CONSTANT as IN_CONSTANTS
from mindjax_ascend.compiler.scalars import ScalarCode

# Registers of longer programs would not stay in the first cache.
MAX_INSTRUCTIONS, MAX_INPUTS = 48, 20
FLOAT32 = 11
HALVES = {10: np.dtype(np.float16), 13: np.dtype(ml_dtypes.bfloat16)}


class Fusion:
    """Emits the steps of a block and of the blocks in it.

    Args:
        main: the whole program.
        fuse: whether elementwise nodes share steps; without, each is one operator of CANN.
    """

    def __init__(self, main: Block, fuse: bool) -> None:
        self.fuse = fuse
        self.constants = bytearray()
        self.uses: dict[Value, int] = defaultdict(int)
        self.maker: dict[Value, Node] = {}
        self.home: dict[Value, Block] = {}
        self.whole: set[Value] = set()  # values that a step, an alias or a result reads in memory
        self.absorbed: set[Node] = set()
        self.single: dict[tuple[int, bytes], Value] = {}
        self._survey(main)

    def _survey(self, block: Block) -> None:
        for node in block.nodes:
            for value in node.outputs:
                self.maker[value] = node
                self.home[value] = block
            for value in node.inputs:
                self.uses[value] += 1
                if node.kind != SCALAR:
                    self.whole.add(value)
            for inner in node.blocks:
                self._survey(inner)
        for value in block.results:
            self.uses[value] += 1
            self.whole.add(value)

    def block(self, block: Block) -> Region:
        """Give the steps of a block."""
        region = Region(list(block.parameters), list(block.results))
        for node in reversed(block.nodes):
            self._absorb(node, block)
        for node in block.nodes:
            self._emit(node, block, region.steps)
        return region

    def _absorb(self, node: Node, block: Block) -> None:
        """Mark the elementwise nodes that only this one reads."""
        if node.kind != SCALAR or node in self.absorbed or not self.fuse:
            return
        budget = [MAX_INSTRUCTIONS - 1, MAX_INPUTS - 3]

        def visit(current: Node) -> None:
            for value in current.inputs:
                made = self.maker.get(value)
                if (
                    made is not None
                    and made.kind == SCALAR
                    and self.uses[value] == 1
                    and value not in self.whole
                    and self.home[value] is block
                    and value.dims == node.outputs[0].dims
                    and budget[0] > 0
                    and budget[1] >= len(made.inputs)
                ):
                    budget[0] -= 1
                    budget[1] -= len(made.inputs) - 1
                    self.absorbed.add(made)
                    visit(made)

        visit(node)

    def _emit(self, node: Node, block: Block, steps: list[Step]) -> None:
        if node.kind == CONSTANT:
            self._constant(node)
        elif node.kind == BROADCAST:
            if node.outputs[0] in self.whole:
                steps.append(self._repeat(node))
        elif node.kind == ALIAS:
            node.outputs[0].base = node.inputs[0]
        elif node.kind == SCALAR:
            if node not in self.absorbed and self.uses[node.outputs[0]]:
                steps.append(self._map(node))
        else:
            regions = [self.block(inner) for inner in node.blocks]
            text = node.data.decode() if node.op in ("foreign", "hivm") else ""
            inputs, outputs, ints = node.inputs, node.outputs, node.ints
            step = Step(node.op, inputs, outputs, ints, text, node.calls, regions, node.source)
            if not self.fuse and not node.calls:
                write = cann_kernels.of_step if node.op == "foreign" else cann.of_step
                step.calls = write(step, self._splat)
            steps.append(step)

    def _splat(self, value: Value) -> bytes | None:
        """Give the bytes of the one number that an array is known to hold everywhere."""
        made = self.maker.get(value)
        if made is None:
            return None
        if made.kind == CONSTANT:
            return made.data if made.splat else None
        if made.kind in (BROADCAST, ALIAS):
            return self._splat(made.inputs[0])
        if made.op == "convert" and value.type == FLOAT32 and made.inputs[0].type in HALVES:
            data = self._splat(made.inputs[0])
            if data is not None:
                wide = np.frombuffer(data, HALVES[made.inputs[0].type]).astype(np.float32)
                return wide.tobytes()
        return None

    def _single(self, type: int, data: bytes) -> Value:
        """Give a constant of one element, which an operator of CANN reads in memory."""
        if (type, data) not in self.single:
            self.constants += bytes(-len(self.constants) % 64)
            self.single[type, data] = Value(type, (), IN_CONSTANTS, len(self.constants))
            self.constants += data
        return self.single[type, data]

    def _constant(self, node: Node) -> None:
        value = node.outputs[0]
        value.place = IN_CONSTANTS
        if value not in self.whole and node.splat:
            value.index = 0
            if not self.constants:
                self.constants += bytes(64)
            return
        self.constants += bytes(-len(self.constants) % 64)
        value.index = len(self.constants)
        self.constants += node.data * value.elements if node.splat else node.data

    def _repeat(self, node: Node) -> Step:
        value = node.outputs[0]
        dims, (to, source) = collapse(list(value.dims), strides_of(value.dims), node.ints)
        ints = [len(dims), *dims, 0, *to, 0, *source]
        step = Step("copy", node.inputs, node.outputs, ints, source=node.source)
        if not self.fuse:
            step.calls = cann.of_step(step, self._splat)
        return step

    def _map(self, root: Node) -> Step:
        inputs: list[Value] = []
        modes: list[list[int] | None] = []  # None is contiguous, else strides over the dims
        known: dict[Value, int] = {}
        sources: list[str] = []
        dims = list(root.outputs[0].dims)
        code = ScalarCode(0)

        def read(value: Value, source: Value, mode: list[int] | None) -> int:
            # An operator of CANN takes all its operands, be they the same.
            if value not in known or not self.fuse:
                known[value] = len(inputs)
                inputs.append(source)
                modes.append(mode)
            return known[value]

        def constant(type: int, data: bytes) -> tuple[str, int]:
            if self.fuse:
                return "slot", code.constant(type, int.from_bytes(data, "little"))
            single = self._single(type, data)
            return "input", read(single, single, [0] * len(dims))

        def operand(value: Value) -> tuple[str, int]:
            made = self.maker.get(value)
            if made is not None:
                if made in self.absorbed:
                    return "slot", visit(made)
                if made.kind == CONSTANT and made.splat:
                    return constant(value.type, made.data)
                if made.kind == BROADCAST:
                    source = self.maker.get(made.inputs[0])
                    if source is not None and source.kind == CONSTANT and source.splat:
                        return constant(value.type, source.data)
                    return "input", read(value, made.inputs[0], made.ints)
            if value.elements == 1 and root.outputs[0].elements != 1:
                return "input", read(value, value, [0] * len(dims))
            return "input", read(value, value, None)

        def visit(node: Node, last: bool = False) -> int:
            slots = []
            for value in node.inputs:
                kind, slot = operand(value)
                slots.append(slot if kind == "slot" else 1000000 + slot)
            for slot in set(slots):
                code.release(slot) if slot < 0 else None
            target = None if last else code.register()
            if target is not None and target in slots:
                # Results may not lie where operands are: the loops assume that they do not.
                target = self._other(code, slots, target)
            type = node.inputs[-1 if node.op == "select" else 0].type
            code.add(node.op, type, node.outputs[0].type, target, slots)
            sources.append(node.source)
            return -1 if target is None else target

        visit(root, True)
        code.inputs = len(inputs)
        for i, (op, type, to, target, slots) in enumerate(code.instructions):
            placed = [s - 1000000 if s >= 1000000 else s for s in slots]
            code.instructions[i] = (op, type, to, target, placed)
        strided = [m for m in modes if m is not None]
        everything = [strides_of(dims), *strided]
        short, merged = collapse(dims, *everything)
        rest = iter(merged[1:])
        ints = [*code.finish(1), len(short), *short]
        for mode in modes:
            if mode is None:
                ints.append(0)
                continue
            strides = next(rest)
            if any(strides):
                ints += [2, *strides]
            else:
                ints.append(1)
        step = Step("map", inputs, root.outputs, ints, source=" ".join(dict.fromkeys(sources)))
        if not self.fuse:
            step.calls = cann.elementwise(root.op, inputs, modes, root.outputs[0])
        return step

    @staticmethod
    def _other(code: ScalarCode, slots: list[int], taken: int) -> int:
        code.registers += 1
        fresh = -code.registers
        code.release(taken)
        return fresh


def cost(region: Region) -> int:
    """Estimate the time of a region in nanoseconds; loops and functions of Python count as long."""
    total = 0
    for step in region.steps:
        total += 200
        work = sum(v.elements for v in step.outputs) + sum(v.elements for v in step.inputs)
        if step.op in ("while", "callback", "foreign", "hivm"):
            total += 10**9
        elif step.op == "dot":
            total += step.ints[0] * step.ints[1] * step.ints[2] * step.ints[3] // 8
        elif step.op in ("convolution", "sort", "reduce_window", "select_and_scatter"):
            total += 100 * work
        elif step.op == "map":
            total += work * max(1, len(step.source.split()))
        else:
            total += 2 * work
        total += max((cost(r) for r in step.regions), default=0)
    return total


def bytes_of(value: Value) -> int:
    """Give the room that a value takes in the arena."""
    return value.elements * BYTES[value.type]
