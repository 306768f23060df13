"""``mindjax export``: a network of a script or of a file, as a file that others run."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax.alias import install


class ExportError(ValueError):
    """The command's words do not fit together; the message says how."""


def export(
    source: str,
    inputs: Sequence[str],
    out: str | None = None,
    file_format: str | None = None,
    checkpoint: str | None = None,
) -> int:
    """Export a network.

    Args:
        source: ``FILE.py:NAME``, where NAME is a Cell, or a class or function that gives one
            without arguments; or a ``.mindir`` or ``.onnx`` file.
        inputs: shapes such as ``"1x3x32x32"`` or ``"2x8:int32"``; those of a file are its own
            where they are not given.
        out: the file to write; by default the source's name with the format's suffix.
        file_format: ``"STABLEHLO"``, also by default, ``"MINDIR"`` or ``"ONNX"``; or taken from
            ``out``.
        checkpoint: a file of Parameters to load first.

    Returns:
        The process's exit status: 0, or 2 if something given does not fit.
    """
    install()
    import mindjax
    from mindjax.mindir import GraphCell
    from mindjax.mindir import export as write

    try:
        if source.endswith(".mindir"):
            graph = mindjax.load(source)
            net: Any = GraphCell(graph)
            inputs = inputs or [f"{'x'.join(map(str, i.shape))}:{i.dtype}" for i in graph.inputs]
        elif source.endswith(".onnx"):
            net = mindjax.onnx.load(source)
            inputs = inputs or [_size_text(kind) for kind in net.network.inputs]
        else:
            net = network(source)
        net.set_train(False)
        if checkpoint is not None:
            missing, _ = mindjax.load_param_into_net(net, mindjax.load_checkpoint(checkpoint))
            if missing:
                raise ExportError(f"{checkpoint} has no values for {missing[:3]}")
        if file_format is None:
            suffix = os.path.splitext(out)[1] if out else ""
            file_format = {".mindir": "MINDIR", ".onnx": "ONNX"}.get(suffix, "STABLEHLO")
        if out is None:
            stem = os.path.splitext(os.path.basename(source.partition(":")[0]))[0]
            out = f"{stem}.{file_format.lower()}"
        tensors = [_tensor(text) for text in inputs]
        write(net, *tensors, file_name=out, file_format=file_format)
    except (OSError, ValueError, TypeError, RuntimeError, NotImplementedError) as error:
        print(f"mindjax: {source} is not exported: {error}", file=sys.stderr)
        return 2
    print(f"{source} exported to {out}")
    return 0


def network(source: str) -> Any:
    """Run a script and give a network of it.

    Args:
        source: ``FILE.py:NAME``, where NAME is a Cell, or gives one without arguments.

    Raises:
        ExportError: the words are wrong, or there is no Cell.
    """
    path, colon, name = source.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise ExportError("give the network as FILE.py:NAME, or as a .mindir or .onnx file")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    found = runpy.run_path(path, run_name="mindjax_export").get(name)
    from mindjax.nn import Cell

    made = found() if callable(found) and not isinstance(found, Cell) else found
    if not isinstance(made, Cell):
        raise ExportError(f"{name} in {path} is no Cell, and gives none")
    return made


def _size_text(kind: Any) -> str:
    """Give the type of an ONNX file's input as a user writes it."""
    if kind.shape is None or None in kind.shape or kind.dtype is None:
        raise ExportError(f"the size of the input '{kind.name}' may change: give --input")
    return f"{'x'.join(map(str, kind.shape)) or 'scalar'}:{kind.dtype.name}"


def _tensor(text: str) -> Any:
    from mindjax import Tensor

    shape, _, dtype = text.partition(":")
    try:
        sizes = [] if shape == "scalar" else [int(n) for n in shape.replace(",", "x").split("x")]
        array = np.zeros(sizes, dtype or "float32")
    except (ValueError, TypeError):
        raise ExportError(f"{text!r} is no shape such as 1x3x32x32 or 2x8:int32") from None
    return Tensor(array)
