"""``mindjax inspect``: what is in a file, whichever of MindSpore's kinds it is.

A kind of file is one entry of `KINDS`: how it is recognized, and what is printed of it.
"""

from __future__ import annotations

import collections
import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mindjax.checkpoint import ckpt, safetensors
from mindjax.core import cipher


class Kind(NamedTuple):
    """A kind of file.

    Attributes:
        name: what it is called.
        fits: tells from the path and the first 64 bytes whether a file may be of the kind.
        describe: gives the lines of the summary; raises if the file is not of the kind.
        draw: gives the graph as SVG; None if files of the kind hold no graph.
    """

    name: str
    fits: Callable[[str, bytes], bool]
    describe: Callable[[str], Iterable[str]]
    draw: Callable[[str], str] | None = None


class NoGraph(ValueError):
    """A file of this kind holds no graph that could be drawn."""


def inspect(path: str, graph: str | None = None) -> int:
    """Print what is in a file, and draw its graph.

    Args:
        path: the file.
        graph: the SVG file to draw to; None for none.

    Returns:
        The process's exit status: 0, or 2 if the file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            size = file.seek(0, os.SEEK_END)
        kind = _kind_of(path, head)
        lines = list(kind.describe(path))
        drawing = None
        if graph is not None:
            if kind.draw is None:
                raise NoGraph(f"a file of the kind {kind.name} holds no graph")
            drawing = kind.draw(path)
    except (OSError, RuntimeError, ValueError, NotImplementedError) as error:
        print(f"mindjax: {path} cannot be inspected: {error}", file=sys.stderr)
        return 2
    print(f"{path}: {kind.name}, {_bytes(size)}, SHA-256 {_digest(path)}")
    print("\n".join(lines))
    if drawing is not None and graph is not None:
        with open(graph, "w", encoding="utf-8") as file:
            file.write(drawing)
        print(f"drawn to {graph}")
    return 0


def _kind_of(path: str, head: bytes) -> Kind:
    if cipher.is_encrypted(head):
        raise ValueError("it is encrypted")
    for kind in KINDS:
        if kind.fits(path, head):
            return kind
    known = ", ".join(kind.name for kind in KINDS)
    raise ValueError(f"it is none of the kinds {known}")


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _bytes(count: int) -> str:
    size, unit = float(count), "bytes"
    for larger in ("KiB", "MiB", "GiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"


def _shape(shape: Iterable[Any]) -> str:
    return "x".join("?" if n in (-1, None) else str(n) for n in shape) or "scalar"


def _table(title: str, rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"{title}: {len(rows)}"
    if rows:
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            yield "  " + "  ".join(cells).rstrip()


def _arrays(title: str, arrays: dict[str, Any]) -> Iterator[str]:
    rows, total, count = [], 0, 0
    for name, value in arrays.items():
        if isinstance(value, str):
            rows.append((name, "text", f"{len(value)} characters"))
            continue
        array = np.asarray(value)
        rows.append((name, _shape(array.shape), array.dtype.name))
        total, count = total + array.nbytes, count + array.size
    yield f"{title}: {count:,} numbers in {_bytes(total)}"
    yield from _table("names", rows)


# -- MindIR --


def _describe_mindir(path: str) -> Iterator[str]:
    from mindjax.mindir.graph import read_file

    graph = read_file(path)
    model = graph.model
    made = f"{model.producer_name} {model.producer_version}".strip() or "unknown"
    yield f"made by {made}, dialect {model.mind_ir_version or 1}"
    yield from _table("inputs", [(i.name, _shape(i.shape), i.dtype) for i in graph.inputs])
    outputs = [
        (_shape(t.dims), _type_name(t.data_type)) for o in model.graph.output for t in o.tensor
    ]
    yield from _table("outputs with a type", outputs)
    nodes = [n for g in graph.graphs.values() for n in g.nodes]
    loops = sum(g.loop for g in graph.graphs.values())
    yield f"graphs: {len(graph.graphs)}, {loops} of them loops"
    counts = collections.Counter(n.operator.name if n.operator else "call" for n in nodes)
    yield from _table("primitives", [(name, str(n)) for name, n in counts.most_common()])
    yield f"nodes: {len(nodes)}"
    yield from _arrays("parameters", graph.parameters)
    for key, value in model.user_info.items():
        yield f"user info {key}: {value if len(value) < 80 else f'{len(value)} characters'}"


def _type_name(code: int) -> str:
    from mindjax.mindir.schema import DTYPES

    return DTYPES.get(code, f"type {code}")


def _draw_mindir(path: str) -> str:
    from mindjax.cli.drawing import Box, draw
    from mindjax.mindir.graph import read_file

    network = read_file(path)
    boxes = []
    for graph in network.graphs.values():
        prefix = f"{graph.name}/"
        names = set(graph.inputs) | {n.output for n in graph.nodes}
        boxes += [
            Box(prefix + name, name.partition(":")[2] or name, "input", []) for name in graph.inputs
        ]
        for node in graph.nodes:
            label = node.operator.name if node.operator else "call"
            used = [*node.inputs, *([] if node.operator else [node.target])]
            weights = [network.parameter_names[u] for u in used if u in network.parameter_names]
            boxes.append(
                Box(
                    prefix + node.output,
                    " ".join([label, *weights]),
                    "node",
                    [prefix + u for u in used if u in names],
                )
            )
    return draw(boxes)


def _is_mindir(path: str, head: bytes) -> bool:
    return path.endswith(".mindir") or head.startswith(b"\x0a\x03") or b"MindSpore" in head


# -- ONNX --


def _describe_onnx(path: str) -> Iterator[str]:
    from mindjax.onnx.reading.graph import read_file
    from mindjax.onnx.reading.table import OPERATORS

    network = read_file(path)
    made = network.producer or "unknown"
    yield f"made by {made}, opset {network.opset}, IR version {network.version}"
    for title, types in (("inputs", network.inputs), ("outputs", network.outputs)):
        yield from _table(title, [_onnx_type(kind) for kind in types])
    graphs = _onnx_graphs(network.main)
    yield f"graphs: {len(graphs)}"
    counts = collections.Counter(n.kind for g in graphs for n in g.nodes)
    yield from _table("operators", [(name, str(n)) for name, n in counts.most_common()])
    missing = sorted(kind for kind in counts if kind not in OPERATORS)
    if missing:
        yield f"MindJAX has not: {', '.join(missing)}"
    yield f"nodes: {counts.total()}"
    arrays = {name: a for g in graphs for name, a in g.constants.items() if a.size > 1}
    yield from _arrays("constants and weights", arrays)
    for key, value in network.metadata.items():
        yield f"metadata {key}: {value if len(value) < 80 else f'{len(value)} characters'}"


def _onnx_type(kind: Any) -> tuple[str, str, str]:
    shape = "any shape" if kind.shape is None else _shape(kind.shape)
    return kind.name, shape, "no tensor" if kind.dtype is None else kind.dtype.name


def _onnx_graphs(graph: Any) -> list[Any]:
    from mindjax.onnx.reading.graph import graphs_of

    inner = (g for node in graph.nodes for g in graphs_of(node))
    return [graph, *(g for one in inner for g in _onnx_graphs(one))]


def _draw_onnx(path: str) -> str:
    from mindjax.cli.drawing import Box, draw
    from mindjax.onnx.reading.graph import read_file

    boxes = []
    for place, graph in enumerate(_onnx_graphs(read_file(path).main)):
        prefix = f"{place}/"
        names = set(graph.inputs) | {o for n in graph.nodes for o in n.outputs}
        boxes += [Box(prefix + name, name, "input", []) for name in graph.inputs]
        for node in graph.nodes:
            weights = [name for name in node.inputs if name in graph.constants]
            used = [prefix + name for name in node.inputs if name in names]
            label = " ".join([node.kind, *weights])
            boxes += [Box(prefix + o, label, "node", used) for o in node.outputs if o]
    return draw(boxes)


# -- checkpoints --


def _describe_ckpt(path: str) -> Iterator[str]:
    with open(path, "rb") as file:
        found = ckpt.read(file)
        checked = ckpt.has_crc(file)
    yield f"check sum: {'yes' if checked else 'no'}"
    yield from _arrays("values", found)


def _describe_safetensors(path: str) -> Iterator[str]:
    with open(path, "rb") as file:
        found = safetensors.read(file)
    arrays, metadata = found if isinstance(found, tuple) else (found, {})
    for key, value in metadata.items():
        yield f"metadata {key}: {value}"
    yield from _arrays("values", arrays)


def _is_safetensors(path: str, head: bytes) -> bool:
    return path.endswith(".safetensors") or head[8:9] == b"{"


# -- StableHLO --


def _describe_stablehlo(path: str) -> Iterator[str]:
    from mindjax.mindir.stablehlo import read_artifact

    artifact = read_artifact(path)
    exported = artifact.exported
    yield f"function {exported.fun_name}, for {', '.join(exported.platforms)}"
    yield from _table("inputs", artifact.inputs)
    yield from _table("outputs", artifact.outputs)
    counts = collections.Counter(re.findall(r"= \"?(?:stablehlo|chlo)\.(\w+)", artifact.text))
    yield from _table("operations", [(name, str(n)) for name, n in counts.most_common()])
    targets = sorted(set(re.findall(r"custom_call @(\S+?)\(", artifact.text)))
    if targets:
        yield f"needs the custom calls: {', '.join(targets)}"


def _is_stablehlo(path: str, head: bytes) -> bool:
    return path.endswith((".stablehlo", ".jaxexport"))


# -- MindRecord --


def _describe_mindrecord(path: str) -> Iterator[str]:
    from mindjax.mindrecord.header import read_header

    with open(path, "rb") as file:
        header = read_header(file)
    assert header.schema is not None
    yield f"rows: {header.rows()}"
    if header.schema.desc:
        yield f"description: {header.schema.desc}"
    fields = [
        (field.name, field.type, "" if field.shape is None else _shape(field.shape))
        for field in header.schema.fields.values()
    ]
    yield from _table("fields", fields)
    yield f"index fields: {', '.join(header.index_fields) or 'none'}"
    used = sum(page.size for page in header.pages)
    yield f"pages: {len(header.pages)} of {_bytes(header.page_size)}, {_bytes(used)} in use"
    yield from _table("shards", [(name,) for name in header.shards])
    if not os.path.exists(path + ".db"):
        yield "its index is missing"


def _is_mindrecord(path: str, head: bytes) -> bool:
    return b'"header_size"' in head or path.endswith(".mindrecord")


KINDS = [
    Kind("MindRecord", _is_mindrecord, _describe_mindrecord),
    Kind("ONNX", lambda path, head: path.endswith(".onnx"), _describe_onnx, _draw_onnx),
    Kind("StableHLO artifact", _is_stablehlo, _describe_stablehlo),
    Kind("safetensors", _is_safetensors, _describe_safetensors),
    Kind("checkpoint", lambda path, head: path.endswith(".ckpt"), _describe_ckpt),
    Kind("MindIR", _is_mindir, _describe_mindir, _draw_mindir),
]
"""The kinds of files that are known, in the order in which they are tried."""
