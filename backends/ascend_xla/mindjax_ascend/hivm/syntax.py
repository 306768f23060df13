"""The textual form of HIVM: types, operations with regions, and a parser for them.

The parser reads the module that `bishengir-compile` hands to its last step. It knows the syntax of
each operation of that form and refuses any other by name and line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .affine import AffineMap, affine_map, split

UNKNOWN = None  # a size, stride or offset that is written `?`


class HivmSyntaxError(ValueError):
    """The text is not the HIVM that this parser reads."""


@dataclass(frozen=True)
class Scalar:
    """A type of one number, such as `f32`, `index` or `i64`."""

    name: str


@dataclass(frozen=True)
class MemRef:
    """The type of a view of memory; sizes and strides are in elements, None where unknown."""

    shape: tuple[int | None, ...]
    element: str
    strides: tuple[int | None, ...] | None
    offset: int | None
    space: str


Type = Scalar | MemRef


@dataclass
class Operation:
    """One operation: its name, the names of its results and operands, and what else it carries."""

    name: str
    line: int
    results: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    types: list[Type] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    regions: list[list[Operation]] = field(default_factory=list)


@dataclass
class Function:
    """A function of the module: a kernel with a body, or the declaration of a library call."""

    name: str
    line: int
    arguments: list[tuple[str, Type, str]]
    attributes: str
    body: list[Operation] | None


@dataclass
class Module:
    """A module: its attributes as text and its functions by name."""

    attributes: str
    functions: dict[str, Function]


_OPEN, _CLOSE = "([{<", ")]}>"
_SPACE = re.compile(r"(?:\s|//[^\n]*)*")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.$-]*")
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")


class _Cursor:
    """A position in the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip(self) -> None:
        self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]

    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def fail(self, wanted: str) -> HivmSyntaxError:
        self.skip()
        found = self.text[self.at : self.at + 50].split("\n")[0]
        return HivmSyntaxError(f"line {self.line()}: expected {wanted}, found {found!r}")

    def peek(self, literal: str) -> bool:
        self.skip()
        return self.text.startswith(literal, self.at)

    def take(self, literal: str) -> bool:
        if self.peek(literal):
            self.at += len(literal)
            return True
        return False

    def need(self, literal: str) -> None:
        if not self.take(literal):
            raise self.fail(repr(literal))

    def match(self, pattern: re.Pattern[str], wanted: str) -> str:
        self.skip()
        found = pattern.match(self.text, self.at)
        if found is None:
            raise self.fail(wanted)
        self.at = found.end()
        return found[0]

    def word(self) -> str:
        return self.match(_IDENTIFIER, "a name")

    def value(self) -> str:
        return self.match(_VALUE, "a value")

    def try_word(self, literal: str) -> bool:
        self.skip()
        found = _IDENTIFIER.match(self.text, self.at)
        if found is not None and found[0] == literal:
            self.at = found.end()
            return True
        return False

    def enclosed(self) -> str:
        """What stands between the bracket here and its partner; the cursor goes behind it."""
        self.skip()
        begin, depth, text = self.at, 0, self.text
        if begin >= len(text) or text[begin] not in _OPEN:
            raise self.fail("a bracket")
        quoted = False
        while self.at < len(text):
            char = text[self.at]
            if char == '"':
                quoted = not quoted
            elif not quoted:
                if text.startswith("->", self.at):
                    self.at += 1
                elif char in _OPEN:
                    depth += 1
                elif char in _CLOSE:
                    depth -= 1
            self.at += 1
            if depth == 0:
                return text[begin + 1 : self.at - 1]
        raise HivmSyntaxError(f"line {self.text.count(chr(10), 0, begin) + 1}: an open bracket")

    def attribute_dictionary(self) -> str:
        return self.enclosed() if self.peek("{") else ""

    def values(self, close: str) -> list[str]:
        """Comma-separated values up to a closing bracket."""
        found: list[str] = []
        while not self.take(close):
            found.append(self.value())
            self.take(",")
        return found

    def indices(self) -> list[str | int]:
        """A list in brackets of values and integers, as subviews have."""
        self.need("[")
        found: list[str | int] = []
        while not self.take("]"):
            if self.peek("%"):
                found.append(self.value())
            else:
                found.append(int(self.match(re.compile(r"-?\d+"), "an integer")))
            self.take(",")
        return found

    def type(self) -> Type:
        name = self.word()
        return _memref(self, self.enclosed()) if name == "memref" else Scalar(name)

    def types(self) -> list[Type]:
        found = [self.type()]
        while self.take(","):
            found.append(self.type())
        return found


def _size(text: str) -> int | None:
    return UNKNOWN if text.strip() == "?" else int(text)


def _memref(cursor: _Cursor, text: str) -> MemRef:
    head, _, rest = text.partition(",")
    *sizes, element = head.strip().split("x")
    strides: tuple[int | None, ...] | None = None
    offset: int | None = 0
    if found := re.search(r"strided<\[([^\]]*)\](?:, offset: (\S+?))?>", rest):
        strides = tuple(_size(s) for s in found[1].split(",") if s.strip())
        offset = _size(found[2]) if found[2] else 0
    space = re.search(r"address_space<(\w+)>", rest)
    if not re.fullmatch(r"[a-z]+\d+|index", element):
        raise cursor.fail(f"an element type instead of {element!r} of memref<{text}>")
    shape = tuple(_size(s) for s in sizes)
    return MemRef(shape, element, strides, offset, space[1] if space else "gm")


# --- the module --------------------------------------------------------------------------------


def parse(text: str) -> Module:
    """Parse the text of a HIVM module.

    Args:
        text: The module as the compiler prints it, or as it is written by hand.

    Returns:
        The module.

    Raises:
        HivmSyntaxError: An operation or a type has no known form; the message has the line.
    """
    return _Parser(text).module()


class _Parser:
    def __init__(self, text: str) -> None:
        self.cursor = _Cursor(text)
        self.maps: dict[str, AffineMap] = {}

    def module(self) -> Module:
        cursor = self.cursor
        while cursor.peek("#"):
            name = cursor.match(re.compile(r"#\w+"), "the name of a map")
            cursor.need("=")
            if cursor.word() != "affine_map":
                raise cursor.fail("affine_map")
            self.maps[name] = affine_map(cursor.enclosed())
        if not cursor.try_word("module"):
            raise cursor.fail("module")
        if cursor.take("@"):
            cursor.word()
        attributes = cursor.enclosed() if cursor.try_word("attributes") else ""
        cursor.need("{")
        functions: dict[str, Function] = {}
        while not cursor.take("}"):
            function = self.function()
            functions[function.name] = function
        return Module(attributes, functions)

    def function(self) -> Function:
        cursor = self.cursor
        line = cursor.line()
        if cursor.word() != "func.func":
            raise cursor.fail("func.func")
        cursor.try_word("private")
        cursor.need("@")
        name = cursor.word()
        arguments: list[tuple[str, Type, str]] = []
        cursor.need("(")
        while not cursor.take(")"):
            argument = ""
            if cursor.peek("%"):
                argument = cursor.value()
                cursor.need(":")
            arguments.append((argument, cursor.type(), cursor.attribute_dictionary()))
            cursor.take(",")
        if cursor.take("->"):
            cursor.enclosed() if cursor.peek("(") else cursor.type()
        attributes = cursor.enclosed() if cursor.try_word("attributes") else ""
        body = self.region() if cursor.peek("{") else None
        return Function(name, line, arguments, attributes, body)

    def region(self) -> list[Operation]:
        self.cursor.need("{")
        operations = []
        while not self.cursor.take("}"):
            operations.append(self.operation())
        return operations

    def operation(self) -> Operation:
        cursor = self.cursor
        cursor.skip()
        line = cursor.line()
        results: list[str] = []
        if cursor.peek("%"):
            results.append(cursor.value())
            if cursor.take(":"):
                count = int(cursor.match(re.compile(r"\d+"), "a count"))
                results = [f"{results[0]}#{k}" for k in range(count)]
            while cursor.take(","):
                results.append(cursor.value())
            cursor.need("=")
        name = cursor.word()
        operation = Operation(_SHORT.get(name, name), line, results)
        reader = _READERS.get(operation.name)
        if reader is None and name.startswith("arith."):
            reader = _Parser.arithmetic
        if reader is None:
            raise HivmSyntaxError(f"line {line}: the operation {name} has no known form")
        reader(self, operation)
        return operation

    # One method for each form. What a method does not read is not allowed.

    def constant(self, op: Operation) -> None:
        cursor = self.cursor
        if cursor.peek("true") or cursor.peek("false"):
            op.attributes["value"] = cursor.word() == "true"
            op.types = [Scalar("i1")]
            return
        literal = cursor.match(
            re.compile(r"-?0x[0-9A-Fa-f]+|-?[\d.]+(?:[eE][-+]?\d+)?"), "a number"
        )
        cursor.need(":")
        op.types = [cursor.type()]
        op.attributes["value"] = literal

    def arithmetic(self, op: Operation) -> None:
        cursor = self.cursor
        if op.name in ("arith.cmpi", "arith.cmpf"):
            op.attributes["predicate"] = cursor.word()
            cursor.need(",")
        op.operands = [cursor.value()]
        while cursor.take(","):
            op.operands.append(cursor.value())
        if cursor.try_word("fastmath") or cursor.try_word("overflow"):
            cursor.enclosed()
        cursor.attribute_dictionary()
        cursor.need(":")
        op.types = cursor.types()
        if cursor.try_word("to"):
            op.types = [cursor.type()]

    def affine(self, op: Operation) -> None:
        cursor = self.cursor
        if cursor.peek("#"):
            name = cursor.match(re.compile(r"#\w+"), "the name of a map")
            if name not in self.maps:
                raise cursor.fail(f"a map, not {name},")
            op.attributes["map"] = self.maps[name]
        else:
            cursor.word()
            op.attributes["map"] = affine_map(cursor.enclosed())
        cursor.need("(")
        op.operands = cursor.values(")")
        if cursor.take("["):
            op.operands += cursor.values("]")

    def conversion(self, op: Operation) -> None:
        cursor = self.cursor
        op.operands = [cursor.value()]
        cursor.need(":")
        cursor.type()
        if not cursor.try_word("to"):
            cursor.need("->")
        op.types = [cursor.type()]

    def reshape(self, op: Operation) -> None:
        cursor = self.cursor
        op.operands = [cursor.value()]
        groups = cursor.enclosed()
        op.attributes["groups"] = [
            [int(k) for k in group.split(",")] for group in re.findall(r"\[([\d, ]+)\]", groups)
        ]
        if cursor.try_word("output_shape"):
            op.attributes["shape"] = cursor.indices()
        cursor.need(":")
        cursor.type()
        cursor.try_word("into")
        op.types = [cursor.type()]

    def view(self, op: Operation) -> None:
        cursor = self.cursor
        op.operands = [cursor.value()]
        op.attributes["shift"] = cursor.indices()
        op.attributes["sizes"] = cursor.indices()
        cursor.need(":")
        cursor.type()
        cursor.try_word("to")
        op.types = [cursor.type()]

    def subview(self, op: Operation) -> None:
        cursor = self.cursor
        op.operands = [cursor.value()]
        op.attributes["offsets"] = cursor.indices()
        op.attributes["sizes"] = cursor.indices()
        op.attributes["strides"] = cursor.indices()
        cursor.attribute_dictionary()
        cursor.need(":")
        cursor.type()
        cursor.try_word("to")
        op.types = [cursor.type()]

    def reinterpret(self, op: Operation) -> None:
        cursor = self.cursor
        op.operands = [cursor.value()]
        for key, word in (("offset", "to"), ("sizes", ""), ("strides", "")):
            if word:
                cursor.try_word(word)
            cursor.word()
            cursor.need(":")
            op.attributes[key] = cursor.indices()
            cursor.take(",")
        cursor.need(":")
        cursor.type()
        cursor.try_word("to")
        op.types = [cursor.type()]

    def load(self, op: Operation) -> None:
        cursor = self.cursor
        op.operands = [cursor.value()]
        op.attributes["indices"] = cursor.indices()
        cursor.attribute_dictionary()
        cursor.need(":")
        op.types = [cursor.type()]

    def store(self, op: Operation) -> None:
        cursor = self.cursor
        op.operands = [cursor.value()]
        cursor.need(",")
        op.operands.append(cursor.value())
        op.attributes["indices"] = cursor.indices()
        cursor.attribute_dictionary()
        cursor.need(":")
        op.types = [cursor.type()]

    def workspace(self, op: Operation) -> None:
        cursor = self.cursor
        cursor.need("(")
        op.attributes["sizes"] = cursor.values(")")
        cursor.try_word("from")
        op.operands = [cursor.value()]
        cursor.word()
        cursor.need("=")
        op.attributes["offset"] = cursor.indices()
        cursor.need(":")
        cursor.try_word("from")
        cursor.type()
        cursor.try_word("to")
        op.types = [cursor.type()]

    def loop(self, op: Operation) -> None:
        cursor = self.cursor
        op.attributes["variable"] = cursor.value()
        cursor.need("=")
        op.operands = [cursor.value()]
        cursor.try_word("to")
        op.operands.append(cursor.value())
        cursor.try_word("step")
        op.operands.append(cursor.value())
        carried: list[str] = []
        if cursor.try_word("iter_args"):
            cursor.need("(")
            while not cursor.take(")"):
                carried.append(cursor.value())
                cursor.need("=")
                op.operands.append(cursor.value())
                cursor.take(",")
            cursor.need("->")
            cursor.enclosed()
        op.attributes["carried"] = carried
        if cursor.take(":"):
            cursor.type()
        op.regions = [self.region()]
        cursor.attribute_dictionary()

    def condition(self, op: Operation) -> None:
        cursor = self.cursor
        op.operands = [cursor.value()]
        if cursor.take("->"):
            cursor.enclosed()
        op.regions = [self.region()]
        if cursor.try_word("else"):
            op.regions.append(self.region())
        cursor.attribute_dictionary()

    def outcome(self, op: Operation) -> None:
        cursor = self.cursor
        if cursor.peek("%"):
            op.operands = [cursor.value()]
            while cursor.take(","):
                op.operands.append(cursor.value())
            cursor.need(":")
            cursor.types()

    def call(self, op: Operation) -> None:
        cursor = self.cursor
        cursor.need("@")
        op.attributes["callee"] = cursor.word()
        cursor.need("(")
        op.operands = cursor.values(")")
        cursor.need(":")
        cursor.enclosed()
        cursor.need("->")
        cursor.enclosed() if cursor.peek("(") else cursor.type()

    def pointer(self, op: Operation) -> None:
        cursor = self.cursor
        cursor.need("(")
        op.operands = cursor.values(")")
        if cursor.take("["):
            op.attributes["sizes"] = cursor.values("]")
        cursor.attribute_dictionary()
        cursor.need(":")
        op.types = [cursor.type()]

    def flag(self, op: Operation) -> None:
        parts = split(self.cursor.enclosed())
        op.attributes["pipes"] = [p.strip("<>").removeprefix("PIPE_") for p in parts[:2]]
        event = parts[2]
        if event.startswith("%"):
            op.operands = [event]
        else:
            op.attributes["event"] = int(event.strip("<>").removeprefix("EVENT_ID"))

    def barrier(self, op: Operation) -> None:
        op.attributes["pipe"] = self.cursor.enclosed().strip("<> ").removeprefix("PIPE_")

    def core_flag(self, op: Operation) -> None:
        cursor = self.cursor
        parts = [p.strip("<>") for p in split(cursor.enclosed())]
        op.attributes["pipes"] = [p.removeprefix("PIPE_") for p in parts[1:3]]
        cursor.word()
        cursor.need("=")
        if cursor.peek("%"):
            op.operands = [cursor.value()]
        else:
            op.attributes["event"] = int(cursor.match(re.compile(r"\d+"), "a flag"))
        while cursor.peek("ffts_base_addr") or cursor.peek("syn_instr_mode"):
            cursor.word()
            cursor.need("=")
            cursor.value() if cursor.peek("%") else cursor.enclosed()

    def number(self, op: Operation) -> None:
        self.cursor.need("->")
        op.types = [self.cursor.type()]

    def alone(self, op: Operation) -> None:
        """An operation without operands."""

    def register(self, op: Operation) -> None:
        op.operands = [self.cursor.value()]

    def annotation(self, op: Operation) -> None:
        self.cursor.value()
        self.cursor.attribute_dictionary()
        self.cursor.need(":")
        self.cursor.type()


_SHORT = {"func.call": "call", "func.return": "return"}

_READERS = {
    "arith.constant": _Parser.constant,
    "affine.apply": _Parser.affine,
    "affine.min": _Parser.affine,
    "affine.max": _Parser.affine,
    "memref.cast": _Parser.conversion,
    "memref.memory_space_cast": _Parser.conversion,
    "memref.view": _Parser.view,
    "memref.subview": _Parser.subview,
    "memref.expand_shape": _Parser.reshape,
    "memref.collapse_shape": _Parser.reshape,
    "memref.reinterpret_cast": _Parser.reinterpret,
    "memref.load": _Parser.load,
    "memref.store": _Parser.store,
    "memref_ext.alloc_workspace": _Parser.workspace,
    "scf.for": _Parser.loop,
    "scf.if": _Parser.condition,
    "scf.yield": _Parser.outcome,
    "return": _Parser.outcome,
    "call": _Parser.call,
    "annotation.mark": _Parser.annotation,
    "hivm.hir.bitcast": _Parser.conversion,
    "hivm.hir.pointer_cast": _Parser.pointer,
    "hivm.hir.set_flag": _Parser.flag,
    "hivm.hir.wait_flag": _Parser.flag,
    "hivm.hir.pipe_barrier": _Parser.barrier,
    "hivm.hir.sync_block_set": _Parser.core_flag,
    "hivm.hir.sync_block_wait": _Parser.core_flag,
    "hivm.hir.get_block_idx": _Parser.number,
    "hivm.hir.get_block_num": _Parser.number,
    "hivm.hir.get_sub_block_idx": _Parser.number,
    "hivm.hir.get_sub_block_num": _Parser.number,
    "hivm.hir.set_mask_norm": _Parser.alone,
    "hivm.hir.set_ffts_base_addr": _Parser.register,
}
