"""The table of operators: a primitive of MindIR -> nodes of ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mindjax.onnx.writing.emitter import Emitter, Ref


class Call(NamedTuple):
    """A primitive's call.

    Attributes:
        fields: attributes by the names of the primitive's fields.
        inputs: `Ref` for what is computed, arrays and Python values for constants.
        out: the type of the result, as a `Ref` without a name; a tuple if there are several.
    """

    fields: dict[str, Any]
    inputs: list[Any]
    out: Any


Row = Callable[[Emitter, Call], Any]

ROWS: dict[str, Row] = {}
"""Primitive -> function of (emitter, call) that gives the results."""


def row(*names: str) -> Callable[[Row], Row]:
    """Register the nodes of primitives."""

    def keep(function: Row) -> Row:
        ROWS.update(dict.fromkeys(names, function))
        return function

    return keep


def plain(kind: str) -> Row:
    """Give the row of a primitive that is one node of the same inputs."""

    def write(emitter: Emitter, call: Call) -> Ref:
        return emitter.op(kind, *call.inputs)

    return write
