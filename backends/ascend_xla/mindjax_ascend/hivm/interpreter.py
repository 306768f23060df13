"""The scalar unit: it runs the control flow of one core and issues instructions to the pipes.

Numbers that come out of a memory are known only when the instructions run, so they are held in
registers; loop bounds and addresses must not depend on them.
"""

from __future__ import annotations

import itertools
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import syntax
from .library import call
from .memory import DTYPES, Memory, MemoryFault, Space, View, contiguous, width
from .pipes import Instruction, SimulationError


@dataclass
class Register:
    """A number that an instruction of the scalar pipe computes when it runs."""

    value: Any = None


@dataclass(frozen=True)
class Core:
    """One core of a simulated launch."""

    number: int
    kind: str  # AIC, the cube core, or AIV, a vector core
    block: int
    blocks: int
    sub_block: int
    sub_blocks: int


Value = int | float | bool | Register | View


def _number(text: str, kind: str) -> int | float:
    if kind not in DTYPES or kind[0] == "i":
        return int(text, 0)
    if text.startswith("0x"):
        bits = int(text, 16)
        if kind == "f16":
            return float(np.uint16(bits).view(np.float16))
        return struct.unpack("<f", struct.pack("<I", bits << 16 if kind == "bf16" else bits))[0]
    return float(text)


def _floordiv(left: int, right: int) -> int:
    return left // right


def _truncdiv(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "addi": operator.add, "subi": operator.sub, "muli": operator.mul,
    "divsi": _truncdiv, "divui": _floordiv, "floordivsi": _floordiv,
    "ceildivsi": lambda x, y: -(-x // y),
    "remsi": lambda x, y: x - y * _truncdiv(x, y), "remui": operator.mod,
    "minsi": min, "maxsi": max, "minui": min, "maxui": max,
    "andi": operator.and_, "ori": operator.or_, "xori": operator.xor,
    "shli": operator.lshift, "shrsi": operator.rshift,
    "addf": operator.add, "subf": operator.sub, "mulf": operator.mul,
    "divf": operator.truediv, "maximumf": max, "minimumf": min, "maxnumf": max, "minnumf": min,
}  # fmt: skip

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq, "ne": operator.ne,
    "slt": operator.lt, "sle": operator.le, "sgt": operator.gt, "sge": operator.ge,
    "ult": operator.lt, "ule": operator.le, "ugt": operator.gt, "uge": operator.ge,
    "oeq": operator.eq, "une": operator.ne, "olt": operator.lt, "ole": operator.le,
    "ogt": operator.gt, "oge": operator.ge,
}  # fmt: skip

_UNARY: dict[str, Callable[[Any], Any]] = {
    "index_cast": int, "index_castui": int, "extsi": int, "extui": int, "trunci": int,
    "sitofp": float, "uitofp": float, "fptosi": int, "extf": float, "truncf": float,
    "negf": operator.neg,
}  # fmt: skip


class Interpreter:
    """Runs the functions of a module on one core and collects what it issues."""

    def __init__(self, module: syntax.Module, core: Core, spaces: dict[str, Space]) -> None:
        self.module = module
        self.core = core
        self.issued: list[Instruction] = []
        names = ("ub",) if core.kind == "AIV" else ("cbuf", "cc", "ca", "cb")
        self.memories = {
            name: Memory(spaces[name].name, spaces[name].size, spaces[name].align) for name in names
        }
        self.line = 0

    def run(self, function: syntax.Function, arguments: list[Value]) -> None:
        """Issue what a function does with its arguments.

        Raises:
            SimulationError: Control flow depends on memory, or a library call is not known.
            MemoryFault: A buffer or an access is outside of a memory, or not aligned.
        """
        names = [name for name, _, _ in function.arguments]
        self._block(function.body or [], dict(zip(names, arguments, strict=True)))

    # What instructions are made of.

    def issue(self, instruction: Instruction, check: bool = True) -> None:
        """Append an instruction; views of the core's memories are checked."""
        instruction.line = self.line
        if check:
            for view in instruction.reads + instruction.writes:
                local = view.memory in self.memories.values()
                view.check(aligned=local and instruction.pipe not in ("S", "ST"))
        self.issued.append(instruction)

    def local(self, space: str, address: int, element: str, shape: list[int]) -> View:
        """A buffer in a memory of this core."""
        if space not in self.memories:
            raise MemoryFault(f"a core of kind {self.core.kind} has no memory {space}")
        return View.of(self.memories[space], address, element, shape)

    # Blocks and operations.

    def _block(self, operations: list[syntax.Operation], names: dict[str, Value]) -> list[Value]:
        for op in operations:
            self.line = op.line
            if op.name in ("scf.yield", "return"):
                return [names[o] for o in op.operands]
            try:
                results = self._operation(op, names)
            except (SimulationError, MemoryFault) as error:
                if str(error).startswith("line "):
                    raise
                raise type(error)(f"line {op.line}: {error}") from None
            for name, value in zip(op.results, results, strict=True):
                names[name] = value
        return []

    def _operation(self, op: syntax.Operation, names: dict[str, Value]) -> list[Value]:
        kind, _, rest = op.name.partition(".")
        if kind == "arith":
            return [self._arithmetic(op, rest, names)]
        if kind == "hivm":
            return self._hardware(op, rest.removeprefix("hir."), names)
        if kind == "affine":
            numbers = [self._integer(names[o]) for o in op.operands]
            found = op.attributes["map"].evaluate(numbers)
            return [found[0] if rest == "apply" else min(found) if rest == "min" else max(found)]
        if op.name == "scf.for":
            return self._loop(op, names)
        if op.name == "scf.if":
            taken = bool(self._integer(names[op.operands[0]]))
            branch = op.regions[0] if taken else (op.regions[1] if len(op.regions) > 1 else [])
            return self._block(branch, dict(names))
        if op.name == "call":
            return self._call(op, names)
        if op.name == "annotation.mark":
            return []
        return self._view(op, names)

    def _integer(self, value: Value) -> int:
        if isinstance(value, Register):
            raise SimulationError("control flow or an address depends on a number in memory")
        if isinstance(value, View):
            raise SimulationError("a memory where a number is needed")
        return int(value)

    def _integers(self, items: list[str | int], names: dict[str, Value]) -> list[int]:
        return [i if isinstance(i, int) else self._integer(names[i]) for i in items]

    def _arithmetic(self, op: syntax.Operation, name: str, names: dict[str, Value]) -> Value:
        if name == "constant":
            value = op.attributes["value"]
            if isinstance(value, bool):
                return value
            kind = op.types[0]
            return _number(value, kind.name if isinstance(kind, syntax.Scalar) else "")
        values = [names[o] for o in op.operands]
        if name == "select":
            compute: Callable[..., Any] = lambda c, x, y: x if c else y  # noqa: E731
        elif name in ("cmpi", "cmpf"):
            compute = _COMPARE[op.attributes["predicate"]]
        elif name in _BINARY:
            compute = _BINARY[name]
        elif name in _UNARY:
            compute = _UNARY[name]
        else:
            raise SimulationError(f"arith.{name} on the scalar unit is not known")
        if not any(isinstance(v, Register) for v in values):
            return compute(*values)
        result = Register()

        def run() -> None:
            result.value = compute(*(known(v) for v in values))

        self.issue(Instruction("work", "S", op.name, op.line, run, cycles=1))
        return result

    def _loop(self, op: syntax.Operation, names: dict[str, Value]) -> list[Value]:
        begin, end, step = (self._integer(names[o]) for o in op.operands[:3])
        carried = [names[o] for o in op.operands[3:]]
        for index in range(begin, end, step):
            inner = dict(names)
            inner[op.attributes["variable"]] = index
            inner.update(zip(op.attributes["carried"], carried, strict=True))
            results = self._block(op.regions[0], inner)
            carried = results or carried
        # `%r:2 = scf.for` names its results %r#0 and %r#1.
        return carried

    def _call(self, op: syntax.Operation, names: dict[str, Value]) -> list[Value]:
        callee = op.attributes["callee"]
        arguments = [names[o] for o in op.operands]
        function = self.module.functions.get(callee)
        if function is not None and function.body is not None:
            self.run(function, arguments)
            return []
        if not call(self, callee, arguments):
            raise SimulationError(f"the library call {callee} is not known")
        return []

    # Views.

    def _view(self, op: syntax.Operation, names: dict[str, Value]) -> list[Value]:
        base = names[op.operands[-1] if op.name == "memref.store" else op.operands[0]]
        if not isinstance(base, View):
            raise SimulationError(f"{op.name} of a number")
        name, attributes = op.name, op.attributes
        target = op.types[0]
        if name in ("memref.cast", "memref.memory_space_cast"):
            return [base]
        if name == "memref.load":
            return [self._load(op, base, names)]
        if name == "memref.store":
            self._store(op, names[op.operands[0]], base, names)
            return []
        if not isinstance(target, syntax.MemRef):
            raise SimulationError(f"{name} has no memref type")
        if name == "memref.subview":
            offsets = self._integers(attributes["offsets"], names)
            sizes = self._integers(attributes["sizes"], names)
            steps = self._integers(attributes["strides"], names)
            shift = sum(o * s for o, s in zip(offsets, base.strides, strict=True))
            strides = [a * b for a, b in zip(steps, base.strides, strict=True)]
            # A result of lower rank leaves out sizes of one.
            drop = len(sizes) - len(target.shape)
            kept = []
            for axis, size in enumerate(sizes):
                if (
                    drop
                    and size == 1
                    and (len(sizes) - axis <= drop or target.shape[len(kept)] != 1)
                ):
                    drop -= 1
                else:
                    kept.append(axis)
            return [base.recut([sizes[k] for k in kept], [strides[k] for k in kept], shift)]
        if name == "memref.expand_shape":
            shape = self._integers(attributes["shape"], names)
            strides = [1] * len(shape)
            for axis, group in enumerate(attributes["groups"]):
                step = base.strides[axis]
                for k in reversed(group):
                    strides[k] = step
                    step *= shape[k]
            return [base.recut(shape, strides)]
        if name == "memref.collapse_shape":
            shape, strides = [], []
            for group in attributes["groups"]:
                inner = [k for k in group if base.shape[k] != 1] or [group[-1]]
                for outer, k in itertools.pairwise(inner):
                    if base.strides[outer] != base.strides[k] * base.shape[k]:
                        raise SimulationError(f"{name} of dimensions that are not contiguous")
                size = 1
                for k in group:
                    size *= base.shape[k]
                shape.append(size)
                strides.append(base.strides[inner[-1]])
            return [base.recut(shape, strides)]
        if name == "memref.reinterpret_cast":
            shape = self._integers(attributes["sizes"], names)
            strides = self._integers(attributes["strides"], names)
            return [base.recut(shape, strides, self._integers(attributes["offset"], names)[0])]
        sizes = iter(self._integers(attributes["sizes"], names))
        shape = [next(sizes) if n is None else n for n in target.shape]
        key = "shift" if name == "memref.view" else "offset"
        shift = self._integers(attributes[key], names)[0]
        view = base.recut(shape, contiguous(shape), shift, target.element)
        if view.start + view.size * width(view.element) > view.high:
            raise MemoryFault(
                f"overflow: a view of {view.nbytes} bytes in a buffer of "
                f"{(base.high - base.low) // 8} bytes of {base.memory.name}"
            )
        return [view]

    def _element(self, op: syntax.Operation, base: View, names: dict[str, Value]) -> View:
        at = self._integers(op.attributes["indices"], names)
        shift = sum(i * s for i, s in zip(at, base.strides, strict=True))
        return base.recut((), (), shift)

    def _load(self, op: syntax.Operation, base: View, names: dict[str, Value]) -> Register:
        view, result = self._element(op, base, names), Register()

        def run() -> None:
            result.value = view.read().item()

        self.issue(Instruction("work", "S", op.name, op.line, run, reads=[view], cycles=1))
        return result

    def _store(
        self, op: syntax.Operation, value: Value, base: View, names: dict[str, Value]
    ) -> None:
        view = self._element(op, base, names)

        def run() -> None:
            view.write(np.asarray(known(value)))

        self.issue(Instruction("work", "ST", op.name, op.line, run, writes=[view], cycles=1))

    # The hardware's own operations.

    def _hardware(self, op: syntax.Operation, name: str, names: dict[str, Value]) -> list[Value]:
        core = self.core
        if name == "bitcast":
            base, target = names[op.operands[0]], op.types[0]
            if not isinstance(base, View) or not isinstance(target, syntax.MemRef):
                raise SimulationError("bitcast of a number")
            if width(base.element) != width(target.element):
                raise SimulationError("bitcast to another width")
            return [base.recut(base.shape, base.strides, element=target.element)]
        if name == "pointer_cast":
            target = op.types[0]
            if not isinstance(target, syntax.MemRef) or len(op.operands) != 1:
                raise SimulationError("pointer_cast of several addresses")
            sizes = iter(self._integers(op.attributes.get("sizes", []), names))
            shape = [next(sizes) if n is None else n for n in target.shape]
            address = self._integer(names[op.operands[0]])
            if target.space == "gm" and 0 in shape:  # scratch that nothing uses
                return [View.of(Memory("GM nothing", 0), 0, target.element, shape)]
            return [self.local(target.space, address, target.element, shape)]
        if name in ("set_flag", "wait_flag"):
            source, target = op.attributes["pipes"]
            event = self._event(op, names)
            self.flag(name.split("_")[0], source, target, event)
        elif name == "pipe_barrier":
            self.barrier(op.attributes["pipe"])
        elif name in ("sync_block_set", "sync_block_wait"):
            self._core_flag(name.rsplit("_", 1)[1], op, names)
        elif name.startswith("get_"):
            numbers = {
                "get_block_idx": core.block,
                "get_block_num": core.blocks,
                "get_sub_block_idx": core.sub_block,
                "get_sub_block_num": core.sub_blocks,
            }
            return [numbers[name]]
        return []

    def _event(self, op: syntax.Operation, names: dict[str, Value]) -> int:
        return self._integer(names[op.operands[0]]) if op.operands else op.attributes["event"]

    def flag(self, kind: str, source: str, target: str, event: int) -> None:
        """Set a flag on the pipe `source`, or wait for it on the pipe `target`."""
        pipe = source if kind == "set" else target
        flag = (self.core.number, source, target, event)
        name = f"{kind}_flag[{source}, {target}, {event}]"
        self.issue(Instruction(kind, pipe, name, self.line, flag=flag))

    def barrier(self, pipe: str) -> None:
        """Let a pipe, or all of them, complete what was issued."""
        self.issue(Instruction("barrier", pipe, f"pipe_barrier[{pipe}]", self.line))

    def _core_flag(self, kind: str, op: syntax.Operation, names: dict[str, Value]) -> None:
        """A flag between a cube core and its vector cores: each pair has its own."""
        source, target = op.attributes["pipes"]
        event = self._event(op, names)
        core = self.core
        subs = range(2) if core.kind == "AIC" else (core.sub_block,)
        setter = core.kind if kind == "set" else ("AIV" if core.kind == "AIC" else "AIC")
        for sub in subs:
            flag = ("block", core.block, setter, sub, event)
            pipe = source if kind == "set" else target
            name = f"sync_block_{kind}[{event}]"
            self.issue(Instruction(kind, pipe, name, op.line, flag=flag))


def known(value: Value) -> Any:
    """A number, or what is in a register by now."""
    return value.value if isinstance(value, Register) else value
