"""Messages by the tables of `schema`: parsed, built and serialized."""

from __future__ import annotations

import struct
from typing import Any

from mindjax.checkpoint import wire
from mindjax.mindir.schema import BY_NAME, BY_NUMBER, Field

# No real file nests deeper than 20; without a bound a hostile one ends the process.
DEPTH = 60

_ZEROS: dict[str, Any] = {
    "int": 0, "uint": 0, "bool": False, "float": 0.0, "double": 0.0, "text": "", "bytes": b"",
}  # fmt: skip
_FIXED = {"float": ("<f", 4, wire.FIXED32), "double": ("<d", 8, wire.FIXED64)}


class MindIRError(RuntimeError):
    """The file is no readable MindIR; the message says why."""


class Message:
    """One message; its fields are attributes, lists where the schema repeats them.

    Args:
        kind: name in the schema.
        values: fields to set.
    """

    __slots__ = ("_kind", "_unknown", "_values")

    def __init__(self, kind: str, **values: Any) -> None:
        object.__setattr__(self, "_kind", kind)
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_unknown", [])
        for name, value in values.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        values = object.__getattribute__(self, "_values")
        if name in values:
            return values[name]
        field = BY_NAME[object.__getattribute__(self, "_kind")].get(name)
        if field is None:
            raise AttributeError(f"a {self._kind} of MindIR has no field '{name}'")
        if field.repeated:
            made: Any = []
        elif field.kind == "map":
            made = {}
        elif field.kind in BY_NAME:
            return Message(field.kind)
        else:
            return _ZEROS[field.kind]
        values[name] = made
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in BY_NAME[self._kind]:
            raise AttributeError(f"a {self._kind} of MindIR has no field '{name}'")
        self._values[name] = value

    def has(self, name: str) -> bool:
        """Tell whether a field is set and, if it is repeated, not empty."""
        value = self._values.get(name)
        return value is not None and not (isinstance(value, list | dict) and not value)

    def clear(self, name: str) -> None:
        """Take a field's value away."""
        self._values.pop(name, None)

    def __repr__(self) -> str:
        return f"{self._kind}({', '.join(self._values)})"

    def SerializeToString(self) -> bytes:
        """Give the bytes of the message, fields in the order of their numbers."""
        return serialize(self)


def parse(kind: str, buffer: bytes | memoryview) -> Message:
    """Read a message.

    Args:
        kind: name in the schema.
        buffer: all of its bytes, which `bytes` fields keep views of.

    Returns:
        The message.

    Raises:
        MindIRError: the bytes are no such message.
    """
    try:
        return _parse(kind, memoryview(buffer), DEPTH)
    except (wire.WireError, UnicodeDecodeError) as error:
        raise MindIRError(f"the content cannot be parsed: {error}") from error


def _parse(kind: str, buffer: memoryview, depth: int) -> Message:
    if not depth:
        raise MindIRError(f"its messages nest deeper than {DEPTH}")
    message = Message(kind)
    values, table = message._values, BY_NUMBER[kind]
    for number, raw in wire.fields(buffer):
        field = table.get(number)
        if field is None:
            message._unknown.append((number, raw))
        elif field.kind == "map":
            key, value = _entry(_bytes(raw))
            values.setdefault(field.name, {})[key] = value
        elif field.repeated:
            values.setdefault(field.name, []).extend(_elements(field, raw, depth))
        else:
            *_, values[field.name] = _elements(field, raw, depth) or [_ZEROS.get(field.kind)]
    return message


def _bytes(raw: int | memoryview) -> memoryview:
    if isinstance(raw, int):
        raise wire.WireError("a field has the wrong kind")
    return raw


def _entry(raw: memoryview) -> tuple[str, str]:
    found = {1: "", 2: ""}
    for number, value in wire.fields(raw):
        if number in found:
            found[number] = str(_bytes(value), "utf-8", "surrogateescape")
    return found[1], found[2]


def _elements(field: Field, raw: int | memoryview, depth: int) -> list[Any]:
    """Read one occurrence of a field, which holds several values if they are packed."""
    kind = field.kind
    if kind in BY_NAME:
        return [_parse(kind, _bytes(raw), depth - 1)]
    if kind == "text":
        return [str(_bytes(raw), "utf-8", "surrogateescape")]
    if kind == "bytes":
        return [_bytes(raw)]
    if kind in _FIXED:
        layout, size, _ = _FIXED[kind]
        raw = _bytes(raw)
        if len(raw) % size:
            raise wire.WireError("a number is cut off")
        return [v for (v,) in struct.iter_unpack(layout, raw)]
    numbers = [raw] if isinstance(raw, int) else _packed(raw)
    if kind == "int":
        return [wire.signed(n) for n in numbers]
    return [bool(n) for n in numbers] if kind == "bool" else numbers


def _packed(raw: memoryview) -> list[int]:
    numbers, at = [], 0
    while at < len(raw):
        number, at = wire.read_varint(raw, at, len(raw))
        numbers.append(number)
    return numbers


def serialize(message: Message) -> bytes:
    """Give the bytes of a message, fields in the order of their numbers."""
    chunks: list[bytes | memoryview] = []
    table = BY_NAME[message._kind]
    for name, value in sorted(message._values.items(), key=lambda item: table[item[0]].number):
        field = table[name]
        if field.kind == "map":
            for key, text in value.items():
                entry = _sized(1, _text(key)) + _sized(2, _text(text))
                chunks.append(_sized(field.number, entry))
            continue
        for element in value if field.repeated else [value]:
            chunks.extend(_chunk(field, element))
    for number, raw in message._unknown:
        chunks.append(wire.integer(number, raw) if isinstance(raw, int) else _sized(number, raw))
    return b"".join(chunks)


def _chunk(field: Field, value: Any) -> list[bytes | memoryview]:
    number, kind = field.number, field.kind
    if kind in BY_NAME:
        value = serialize(value)
    elif kind == "text":
        value = _text(value)
    elif kind in _FIXED:
        layout, _, wire_kind = _FIXED[kind]
        return [wire.varint(number << 3 | wire_kind), struct.pack(layout, value)]
    elif kind != "bytes":
        return [wire.integer(number, int(value))]
    return [wire.prefix(number, len(value)), value]


def _sized(number: int, raw: bytes | memoryview) -> bytes:
    return wire.prefix(number, len(raw)) + bytes(raw)


def _text(value: str) -> bytes:
    return value.encode("utf-8", "surrogateescape")
