"""Types of all values of a MindIR graph: its nodes run once on arrays that are only traced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax.core.handle import Handle
from mindjax.graph.recorded import record
from mindjax.mindir.graph import FuncGraph, Node
from mindjax.mindir.interpreter import Interpreter
from mindjax.onnx.writing.emitter import Ref
from mindjax.tensor import Tensor


class _Watched(Interpreter):
    """A run that notes the type of each node's result."""

    def __init__(self, network: FuncGraph, constants: dict[str, Any], types: dict[str, Any]):
        parameters = {name: Tensor(np.array(a)) for name, a in network.parameters.items()}
        super().__init__(network, parameters, constants)
        self._types = types

    def _node(self, node: Node, environment: dict[str, Any]) -> Any:
        result = super()._node(node, environment)
        self._types[node.output] = _type(result)
        return result


def _type(value: Any) -> Any:
    if isinstance(value, Handle):
        return Ref("", tuple(value.shape), value.dtype.np)  # type: ignore[attr-defined]
    if type(value) in (tuple, list):
        return tuple(map(_type, value))
    return None


def find_types(network: FuncGraph, inputs: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Find the types of all nodes' results.

    Args:
        network: the graph.
        inputs: its inputs' Tensors; more than once where sizes may change, with different sizes.

    Returns:
        Name of a node -> `Ref` without a name, a tuple of such, or None for what is no array;
        sizes that are not the same each time are None.
    """
    constants = {
        name: Tensor(np.array(value)) if isinstance(value, np.ndarray) else value
        for name, value in network.constants.items()
    }
    found: list[dict[str, Any]] = []
    for values in inputs:
        types: dict[str, Any] = {}
        record(lambda *given, t=types: _Watched(network, constants, t).run(given), tuple(values))
        found.append(types)
    first = found[0]
    for other in found[1:]:
        first = {name: _common(kind, other.get(name)) for name, kind in first.items()}
    return first


def _common(one: Any, other: Any) -> Any:
    if isinstance(one, Ref) and isinstance(other, Ref):
        same = [a if a == b else None for a, b in zip(one.shape, other.shape, strict=True)]
        return Ref("", tuple(same), one.dtype)
    if type(one) is tuple and isinstance(other, tuple):
        return tuple(map(_common, one, other))
    return one
