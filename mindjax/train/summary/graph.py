"""The graph of a network for TensorBoard: the compiled program's operations, or the Cells."""

from __future__ import annotations

from typing import Any

from mindjax.graph.listing import latest_program, operations
from mindjax.nn.cell import Cell
from mindjax.train.summary.events import proto


def graph_of(network: Cell) -> bytes:
    """Describe a network as a serialized ``GraphDef``.

    Args:
        network: Cell. If it has run as a compiled program, the program's operations are shown,
            otherwise its Cells, in whose boxes their Parameters lie.
    """
    graph = proto("proto.graph_pb2").GraphDef()
    graph.versions.producer = 22
    program = latest_program(vars(network).get("_programs"))
    if program is not None:
        for operation in operations(program):
            _add(graph, operation.name, operation.kind, operation.inputs, operation.outputs)
        return graph.SerializeToString()
    root = type(network).__name__
    for name, cell in network.cells_and_names():
        path = "/".join([root, *name.split(".")] if name else [root])
        parameters = [
            _add(graph, f"{path}/{key}", "Parameter", [], _type_of(parameter))
            for key, parameter in cell._params.items()
            if parameter is not None
        ]
        _add(graph, f"{path}/{type(cell).__name__}", type(cell).__name__, parameters, "")
    return graph.SerializeToString()


def _type_of(parameter: Any) -> str:
    return f"{parameter.dtype}[{','.join(map(str, parameter.shape))}]"


def _add(graph: Any, name: str, kind: str, inputs: list[str], outputs: str) -> str:
    node = graph.node.add(name=_clean(name), op=kind)
    node.input.extend(map(_clean, inputs))
    if outputs:
        node.attr["outputs"].s = outputs.encode()
    return node.name


def _clean(name: str) -> str:
    """TensorBoard takes ``^`` and ``:`` in names for edges."""
    return name.replace("^", "_").replace(":", "_").replace(" ", "_")
