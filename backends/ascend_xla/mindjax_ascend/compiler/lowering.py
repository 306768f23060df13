"""Walks a StableHLO program and writes down the steps that compute it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindjax_ascend.compiler import (
    cann,
    collectives,
    foreign,
    fusion,
    planning,
    rules_data,
    rules_math,
    segments,
)
from mindjax_ascend.compiler.graph import (
    ALIAS,
    BROADCAST,
    CONSTANT,
    SCALAR,
    STEP,
    Block,
    Node,
    UnsupportedError,
    strides_of,
)
from mindjax_ascend.compiler.program import (
    ARGUMENT,
    BYTES,
    TOKEN,
    TYPES,
    Header,
    Region,
    Value,
    stepwise,
)
from mindjax_ascend.compiler.scalars import check

# On one device these say nothing.
ANNOTATIONS = ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape")
CALLBACK = "mindjax_ascend_callback"


class Lowering:
    """The state of a walk: what each value of MLIR is, and the nodes of the current block.

    Args:
        functions: the module's functions by name.
        partitions: how many devices run the program together.
        groups: of devices that meet, by channels, where the module does not say so itself.
        fuse: whether elementwise operators share steps; without, steps are operators of CANN.
    """

    def __init__(
        self,
        functions: dict[str, Any],
        partitions: int,
        groups: dict[int, list[list[int]]],
        fuse: bool,
    ) -> None:
        self.functions, self.partitions, self.groups = functions, partitions, groups
        self.fuse = fuse
        self.known: dict[Any, Value] = {}
        self.splats: dict[Any, bytes] = {}
        self.block = Block()
        self.source = ""

    def element_type(self, type: Any) -> int:
        """Give the number of an array type's element type.

        Raises:
            UnsupportedError: the runtime has no such type.
        """
        text = str(type)
        if text == "!stablehlo.token":
            return TOKEN
        element = str(getattr(type, "element_type", text))
        number = TYPES.get(element)
        if number is None or number not in BYTES:
            raise UnsupportedError(f"element type {element}")
        return number

    def describe(self, type: Any) -> Value:
        """Make a value of an MLIR type."""
        number = self.element_type(type)
        if number == TOKEN:
            return Value(TOKEN, ())
        if not type.has_static_shape:
            raise UnsupportedError("shapes that are not known when compiling")
        return Value(number, tuple(type.shape))

    def value(self, type: int, dims: tuple[int, ...]) -> Value:
        """Make an intermediate value."""
        return Value(type, tuple(dims))

    def read(self, op: Any) -> list[Value]:
        """Give the values of an operator's operands."""
        return [self.known[o] for o in op.operands]

    def make_all(self, op: Any) -> list[Value]:
        """Make the values of an operator's results."""
        made = [self.describe(r.type) for r in op.results]
        self.known.update(zip(op.results, made, strict=True))
        return made

    def make(self, op: Any) -> Value:
        """Make the value of an operator's only result."""
        (made,) = self.make_all(op)
        return made

    def _add(self, kind: int, op: str, inputs: list[Value], outputs: list[Value]) -> Node:
        node = Node(kind, op, inputs, outputs, source=self.source)
        self.block.nodes.append(node)
        return node

    def step(
        self,
        op: str,
        inputs: list[Value],
        outputs: list[Value],
        ints: list[int],
        data: bytes = b"",
        blocks: list[Block] | None = None,
    ) -> None:
        """Add a call of a kernel."""
        node = self._add(STEP, op, inputs, outputs)
        node.ints, node.data, node.blocks = ints, data, blocks or []

    def instead(
        self, inputs: list[Value], target: Value, calls: str, write: Callable[[], None]
    ) -> None:
        """Add calls of CANN's operators, and the steps that do the same where they cannot.

        Args:
            inputs: what the calls read.
            target: what they make, which the last step makes as well.
            calls: as `cann.py` writes them.
            write: adds the steps.
        """
        outside, self.block = self.block, Block([], results=[target])
        write()
        inner, self.block = self.block, outside
        node = self._add(STEP, "instead", inputs, [target])
        node.blocks, node.calls = [inner], calls

    def scalar(self, op: str, inputs: list[Value], target: Value) -> None:
        """Add an elementwise operator."""
        if op == "convert" and inputs[0].type == target.type:
            self.alias(inputs[0], target)
            return
        check(op, inputs[-1 if op == "select" else 0].type, target.type)
        self._add(SCALAR, op, inputs, [target])

    def alias(self, source: Value, target: Value) -> None:
        """Make a value another view of the bytes of one."""
        self._add(ALIAS, "alias", [source], [target])

    def broadcast(self, source: Value, target: Value, strides: list[int]) -> None:
        """Repeat an array along the axes whose stride is zero."""
        self._add(BROADCAST, "broadcast", [source], [target]).ints = strides

    def copy(self, source: Value, target: Value, strides: list[int]) -> None:
        """Copy an array that is read with these strides."""
        to = strides_of(target.dims)
        ints = [len(target.dims), *target.dims, 0, *to, 0, *strides]
        self.step("copy", [source], [target], ints)

    def constant(self, target: Value, data: bytes, splat: bool) -> None:
        """Add a constant, of its elements' bytes or of the one that all share."""
        node = self._add(CONSTANT, "constant", [], [target])
        node.data, node.splat = data, splat
        if splat:
            self.splats[target] = data

    def within(self, block: Any, parameters: list[Value]) -> Block:
        """Walk a region's block into a block of its own."""
        outside, self.block = self.block, Block(parameters)
        try:
            self.known.update(zip(block.arguments, parameters, strict=True))
            results = self.walk(block)
            self.block.results = [self.known[r] for r in results]
            return self.block
        finally:
            self.block = outside

    def walk(self, block: Any) -> list[Any]:
        """Walk a block's operators; gives the operands of its last."""
        *body, last = list(block.operations)
        for op in body:
            name = op.operation.name
            self.source = name.removeprefix("stablehlo.")
            if rules_math.scalar_name(op) is not None and name.startswith("stablehlo."):
                rules_math.elementwise(self, op)
                continue
            rule = RULES.get(self.source)
            if rule is None:
                raise UnsupportedError(name)
            rule(self, op.operation)
        return list(last.operands)

    def call(self, name: str, op: Any) -> None:
        """Walk a function's body in place of a call of it."""
        function = self.functions[name]
        block = function.regions[0].blocks[0]
        outside = dict(self.known)
        self.known.update(zip(block.arguments, self.read(op), strict=True))
        results = [self.known[r] for r in self.walk(block)]
        self.known = outside
        self.known.update(zip(op.results, results, strict=True))


def _call(low: Lowering, op: Any) -> None:
    low.call(op.attributes["callee"].value, op)


def _composite(low: Lowering, op: Any) -> None:
    low.call(op.attributes["decomposition"].value, op)


def _while(low: Lowering, op: Any) -> None:
    carried, before = low.make_all(op), low.read(op)
    condition, body = (r.blocks[0] for r in op.regions)
    blocks = [low.within(condition, carried), low.within(body, carried)]
    low.source = "while"
    low.step("while", before, carried, [], blocks=blocks)


def _case(low: Lowering, op: Any) -> None:
    (chosen,), targets = low.read(op), low.make_all(op)
    blocks = [low.within(r.blocks[0], []) for r in op.regions]
    low.source = "case"
    low.step("case", [chosen], targets, [], blocks=blocks)


def _barrier(low: Lowering, op: Any) -> None:
    for source, target in zip(low.read(op), low.make_all(op), strict=True):
        low.alias(source, target)


def _token(low: Lowering, op: Any) -> None:
    low.constant(low.make(op), b"", False)


def _replica(low: Lowering, op: Any) -> None:
    low.constant(low.make(op), bytes(4), True)


def _annotation(low: Lowering, op: Any) -> None:
    (source,), target = low.read(op), low.make(op)
    low.alias(source, target)


def _custom_call(low: Lowering, op: Any) -> None:
    target = op.attributes["call_target_name"].value
    if target in ANNOTATIONS:
        _annotation(low, op)
    elif target == CALLBACK:
        number = op.attributes["mhlo.backend_config"]["id"].value
        low.step("callback", low.read(op), low.make_all(op), [number])
    elif target == segments.TARGET:
        config = op.attributes["mhlo.backend_config"]
        low.source = config["does"].value
        text = config["hivm"].value.encode()
        low.step("hivm", low.read(op), low.make_all(op), [], text)
    else:
        foreign.custom_call(low, op)


RULES: dict[str, Callable[[Any, Any], None]] = {
    **rules_data.RULES,
    **rules_math.RULES,
    **collectives.RULES,
    "func.call": _call,
    "composite": _composite,
    "while": _while,
    "case": _case,
    "if": _case,
    "optimization_barrier": _barrier,
    "create_token": _token,
    "after_all": _token,
    "replica_id": _replica,
    "mhlo.copy": _annotation,
    "custom_call": _custom_call,
    "sdy.sharding_constraint": _annotation,
}


def main_of(module: Any) -> tuple[Any, dict[str, Any]]:
    """Give a module's main function and all its functions by name."""
    functions = {}
    for op in module.body.operations:
        if op.operation.name == "func.func":
            functions[op.attributes["sym_name"].value] = op
    return functions["main"], functions


def compile_steps(
    module: Any, header: Header, fuse: bool, groups: dict[int, list[list[int]]]
) -> tuple[bytes, Region]:
    """Compile a module to what each device runs.

    Args:
        module: of StableHLO, without CHLO.
        header: what is said of every program.
        fuse: whether elementwise operators share steps.
        groups: of devices that meet, by channels, where the module does not say so itself.

    Returns:
        The program's bytes, and its steps for a report.

    Raises:
        UnsupportedError: an operator has no step.
    """
    main, functions = main_of(module)
    low = Lowering(functions, header.partitions, groups, fuse)
    block = main.regions[0].blocks[0]
    for i, argument in enumerate(block.arguments):
        value = low.describe(argument.type)
        value.place, value.index = ARGUMENT, i
        low.block.parameters.append(value)
        low.known[argument] = value
    low.block.results = [low.known[r] for r in low.walk(block)]
    emitted = fusion.Fusion(low.block, fuse)
    body = emitted.block(low.block)
    values, arena = planning.plan(body)
    if not fuse:
        for step in body.steps:
            if step.op == "move":
                step.calls = cann.of_step(step, lambda _: None)
    constants = bytes(emitted.constants)
    return stepwise(header, values, constants, arena, fusion.cost(body), body), body
