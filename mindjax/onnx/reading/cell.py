"""`load`: an ONNX file as a Cell."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mindjax.core.context import GRAPH_MODE, get_context
from mindjax.core.errors import located
from mindjax.core.handle import Handle, current
from mindjax.graph.jit import Programs
from mindjax.nn.cell import Cell
from mindjax.onnx.reading import operators as operators
from mindjax.onnx.reading.errors import OnnxError, Undecided, UnknownOperator
from mindjax.onnx.reading.graph import Graph, Network, Node, graphs_of, read_file
from mindjax.onnx.reading.run import Run
from mindjax.onnx.reading.table import OPERATORS
from mindjax.tensor import Parameter, Tensor


def load(file_name: str) -> OnnxCell:
    """Read an ONNX file as a network.

    Nothing in the file is run, and no file outside its folder is read.

    Args:
        file_name: path.

    Returns:
        A Cell that runs it in both modes; its weights are Parameters.

    Raises:
        RuntimeError: the file is damaged, or something else than ONNX (`OnnxError`).
        NotImplementedError: it needs an operator that MindJAX does not have.
        TypeError: ``file_name`` is no path.
        OSError: the file cannot be read.
        ImportError: the package onnx is not installed.
    """
    if not isinstance(file_name, str | os.PathLike):
        raise located(
            TypeError,
            f"For 'load', the 'file_name' must be a path, but got {type(file_name).__name__}.",
        )
    try:
        return OnnxCell(read_file(os.fspath(file_name)))
    except OnnxError as error:
        raise located(OnnxError, f"For 'load', {file_name} cannot be read: {error}.") from error
    except UnknownOperator as error:
        raise located(
            NotImplementedError, f"For 'load', {file_name} cannot be read: {error}."
        ) from error


class OnnxCell(Cell):
    """A network out of an ONNX file.

    It runs as one program, except while PYNATIVE records gradients, and where shapes depend on
    values: then PYNATIVE runs it node by node.

    Args:
        network: the file's graphs.
    """

    def __init__(self, network: Network) -> None:
        super().__init__(auto_prefix=True)
        self.network = network
        # By the numbers of graphs and their names: arrays, and names of Parameters.
        self._fixed: dict[int, dict[str, np.ndarray]] = {}
        self._weights: dict[int, dict[str, str]] = {}
        self._keep(network.main, "", _roles(network.main))
        self._compiled = Programs(self._execute)
        self._by_node = False

    def _keep(self, graph: Graph, prefix: str, roles: dict[tuple[int, str], str]) -> None:
        """Make weights Parameters; what shapes are computed from stays as it is."""
        weights: dict[str, str] = {}
        for name, array in graph.constants.items():
            role = roles.get((graph.number, name))
            if role is None or not _is_weight(array):
                continue
            own = _unused(f"{prefix}{name}", self._params)
            data = Tensor(np.array(array))
            self._params[own] = Parameter(data, name=own, requires_grad=role == "weight")
            weights[name] = own
        # The file's arrays need not stay beside the Parameters.
        for name in weights:
            del graph.constants[name]
        self._weights[graph.number], self._fixed[graph.number] = weights, graph.constants
        for node in graph.nodes:
            for place, inner in enumerate(graphs_of(node)):
                self._keep(inner, f"{prefix}{node.name}.{place}.", roles)

    def _constants(self) -> dict[int, dict[str, Any]]:
        """Give the arrays and Parameters of each graph by name."""
        return {
            number: {**fixed, **{n: self._params[p] for n, p in self._weights[number].items()}}
            for number, fixed in self._fixed.items()
        }

    def construct(self, *inputs: Any) -> Any:
        """Run the network on Tensors."""
        if self._by_node or current.tape is not None:
            return self._execute(*inputs)
        try:
            return self._compiled.call(inputs, {})
        except Undecided as error:
            if get_context("mode") == GRAPH_MODE:
                raise located(
                    NotImplementedError,
                    f"For 'OnnxCell', {error}, which a graph cannot hold: use PYNATIVE_MODE.",
                ) from None
        self._by_node = True
        return self._execute(*inputs)

    def _execute(self, *inputs: Any) -> Any:
        kinds = self.network.inputs
        if len(inputs) > len(kinds):
            raise located(
                ValueError,
                f"For 'OnnxCell', the network takes {len(kinds)} inputs, got {len(inputs)}.",
            )
        values = []
        for i, kind in enumerate(kinds):
            if i >= len(inputs):
                raise located(
                    ValueError,
                    f"For 'OnnxCell', the network takes {len(kinds)} inputs, got {len(inputs)}: "
                    f"'{kind.name}' is missing.",
                )
            values.append(_checked(inputs[i], kind))
        try:
            results = Run(self._constants(), self.network.opset).graph(
                self.network.main, values, {}
            )
        except OnnxError as error:
            raise located(OnnxError, f"For 'OnnxCell', {error}.") from error
        except UnknownOperator as error:
            raise located(NotImplementedError, f"For 'OnnxCell', {error}.") from error
        outs = [_result(r) for r in results]
        return outs[0] if len(outs) == 1 else tuple(outs)


def _checked(value: Any, kind: Any) -> Any:
    """Bring an input to what a node takes, if it has the type that the file says."""
    if isinstance(value, list | tuple):
        return [_checked(v, kind._replace(dtype=None, shape=None)) for v in value]
    if value is None or not isinstance(value, Tensor):
        return value if value is None else np.asarray(value)
    if kind.dtype is not None and value.dtype.np != kind.dtype:
        raise located(
            TypeError,
            f"For 'OnnxCell', the input '{kind.name}' must be {kind.dtype}, but got {value.dtype}.",
        )
    shape = tuple(value.shape)
    if kind.shape is not None and (
        len(shape) != len(kind.shape)
        or any(b is not None and a != b for a, b in zip(shape, kind.shape, strict=True))
    ):
        wanted = "x".join("?" if n is None else str(n) for n in kind.shape) or "scalar"
        raise located(
            ValueError,
            f"For 'OnnxCell', the input '{kind.name}' must have the shape {wanted}, but got "
            f"{shape}.",
        )
    return value


def _result(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_result(v) for v in value)
    return value if value is None or isinstance(value, Handle) else Tensor(np.array(value))


def _is_weight(array: np.ndarray) -> bool:
    real = np.issubdtype(array.dtype, np.floating) or array.dtype.name == "bfloat16"
    return real and array.ndim > 0 and array.size > 1


def _unused(name: str, known: Any) -> str:
    count, found = 1, name
    while found in known:
        count += 1
        found = f"{name}_{count}"
    return found


# -- which constants are weights --


def _roles(main: Graph) -> dict[tuple[int, str], str]:
    """Tell for each constant that only the program computes with, whether it is trained.

    What a shape is computed from is left out: it must stay known while a graph is traced.
    """
    roles: dict[tuple[int, str], str] = {}
    for owner, name, role in _uses(main, []):
        before = roles.get((owner, name))
        order = ("static", "weight", "state")
        if before is None or order.index(role) < order.index(before):
            roles[owner, name] = role
    return {key: role for key, role in roles.items() if role != "static"}


def _uses(graph: Graph, outer: Sequence[Graph]) -> Iterator[tuple[int, str, str]]:
    scopes = [*outer, graph]
    static: set[str] = set()
    # Backwards: what a static value is computed from is static.
    for node in reversed(graph.nodes):
        entry = OPERATORS.get(node.kind)
        shapes = bool(entry and entry.folds) and any(o in static for o in node.outputs)
        for place, name in enumerate(node.inputs):
            if not name:
                continue
            role = _role(node, place)
            if role != "blind" and (role == "static" or shapes):
                static.add(name)
                role = "static"
            owner = _owner(name, scopes)
            if owner is not None and role != "blind":
                yield owner.number, name, role
        for inner in graphs_of(node):
            yield from _uses(inner, scopes)
    for name in graph.outputs:
        owner = _owner(name, scopes)
        if owner is not None:
            yield owner.number, name, "weight"


def _role(node: Node, place: int) -> str:
    entry = OPERATORS.get(node.kind)
    if entry is None:
        return "weight"
    if entry.blind:
        return "blind"
    if entry.concrete or entry.is_static(place):
        return "static"
    return "state" if node.kind == "BatchNormalization" and place > 2 else "weight"


def _owner(name: str, scopes: Sequence[Graph]) -> Graph | None:
    for graph in reversed(scopes):
        if name in graph.constants:
            return graph
        if name in graph.inputs or any(name in n.outputs for n in graph.nodes):
            return None
    return None
