"""Running the graphs of an ONNX file: each node is a call of an operator.

Values that are known without the network's inputs, such as shapes, stay numpy arrays, and numpy
computes with them; so a graph that is traced knows its shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mindjax.core.handle import Handle
from mindjax.graph.conditional import is_undecided
from mindjax.onnx.reading.errors import OnnxError, Undecided, UnknownOperator
from mindjax.onnx.reading.graph import Graph, Node
from mindjax.onnx.reading.named import named
from mindjax.onnx.reading.table import Attributes, Entry, apply, entry_of
from mindjax.tensor.tensor import Tensor

# Arrays of more elements than this are computed by the program.
_FOLDED = 1 << 16
Environment = dict[str, Any]


class Run:
    """One run of a network.

    Args:
        constants: for each graph, by its number, arrays and Parameters by name.
        opset: version of ONNX's operators.
    """

    def __init__(self, constants: Mapping[int, Mapping[str, Any]], opset: int) -> None:
        self._constants = constants
        self.opset = opset

    def graph(self, graph: Graph, arguments: Sequence[Any], outer: Environment) -> list[Any]:
        """Run a graph.

        Args:
            graph: the graph.
            arguments: its inputs.
            outer: values by name that it may take from around it.

        Returns:
            Its results: Tensors, or arrays where they are known.
        """
        if len(arguments) != len(graph.inputs):
            raise OnnxError(f"a graph takes {len(graph.inputs)} inputs, but gets {len(arguments)}")
        environment = {**outer, **self._constants[graph.number]}
        environment.update(zip(graph.inputs, arguments, strict=True))
        for node in graph.nodes:
            results = self._node(node, environment)
            if len(results) < len([o for o in node.outputs if o]):
                raise OnnxError(f"the node '{node.name}' ({node.kind}) gives too few results")
            environment.update((o, r) for o, r in zip(node.outputs, results, strict=False) if o)
        return [environment[name] for name in graph.outputs]

    def _node(self, node: Node, environment: Environment) -> Sequence[Any]:
        entry = entry_of(node.kind, node.name)
        values = [environment[name] if name else None for name in node.inputs]
        while values and values[-1] is None:
            values.pop()
        try:
            if entry.special is not None:
                result = entry.special(self, node, values, environment)
            else:
                result = self._computed(entry, node, values)
        except (Undecided, UnknownOperator, OnnxError) as error:
            if error.args and "the node '" not in str(error):
                error.args = (f"the node '{node.name}' ({node.kind}): {error.args[0]}",)
            raise
        except (TypeError, ValueError, IndexError, KeyError, OverflowError,
                ZeroDivisionError, MemoryError, AttributeError) as error:  # fmt: skip
            text = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
            raise OnnxError(f"the node '{node.name}' ({node.kind}) fails: {text}") from error
        return result if isinstance(result, tuple) else (result,)

    def _computed(self, entry: Entry, node: Node, values: list[Any]) -> Any:
        attributes = Attributes(node.attributes, node.kind, self.opset, len(node.outputs))
        function = entry.function
        assert function is not None
        if entry.concrete:
            return _arrays(function(attributes, *(known(v) for v in values)))
        if entry.blind and all(v is not None for v in values):
            return _arrays(function(attributes, *values))
        if entry.folds and all(v is None or _is_small(v) for v in values):
            with np.errstate(all="ignore"):
                return _arrays(function(attributes, *values))
        given = [
            known(v) if entry.is_static(i) else tensor(v) if v is not None else None
            for i, v in enumerate(values)
        ]
        if entry.folds and all(v is None or isinstance(v, np.ndarray) for v in given):
            with np.errstate(all="ignore"):
                return _arrays(function(attributes, *given))
        ours = named(attributes, given)
        return apply(attributes, given) if ours is None else ours


def _is_small(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.size <= _FOLDED


def _arrays(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(np.asarray(r) for r in result)
    return np.asarray(result)


def tensor(value: Any) -> Any:
    """Give a value as a Tensor.

    Args:
        value: Tensor or array.
    """
    if isinstance(value, Handle):
        return value
    if not isinstance(value, np.ndarray | np.generic):
        raise OnnxError("a sequence stands where a tensor is needed")
    return Tensor(np.array(value))


def known(value: Any) -> Any:
    """Give the values of an array.

    Raises:
        Undecided: they are not known while a graph is traced.
    """
    if value is None or isinstance(value, np.ndarray):
        return value
    if isinstance(value, list):
        return [known(v) for v in value]
    if is_undecided(value):
        raise Undecided("its result's shape depends on values")
    return value.asnumpy()
