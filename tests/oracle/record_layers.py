"""Ask the original for the values of a family's layers: run with the oracle's python from the root.

``PYTHON tests/oracle/record_layers.py FAMILY`` records ``tests/nn/FAMILY_cases.py``.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import mint, nn, ops

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests.nn import tables
from tests.nn.layer_cases import Layer

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "goldens" / "nn"
NAMES = {"ms": ms, "nn": nn, "mint": mint, "np": np, "ops": ops}


def reset(case: Layer, cell: Any) -> None:
    """Give the Parameters their numbers."""
    for name, p in cell.parameters_and_names():
        if str(p.dtype) == "Float32":
            p.set_data(ms.Tensor(case.parameter(name, tuple(p.shape))))


def record(case: Layer, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Run a layer forwards, some steps of training and backwards."""
    ms.set_context(mode=ms.GRAPH_MODE if case.graph else ms.PYNATIVE_MODE)
    cell = eval(case.make, NAMES)
    call = tables.caller(case, NAMES)
    shown = repr(cell)
    listed = {
        n: [list(p.shape), bool(p.requires_grad), str(p.dtype)]
        for n, p in cell.parameters_and_names()
    }
    reset(case, cell)
    cell.set_train(case.train)
    inputs = [ms.Tensor(a) for a in case.arrays()]
    outs = tables.flat(call(cell, *inputs))
    dtypes = [str(out.dtype) for out in outs]
    for i, out in enumerate(outs):
        arrays[f"{case.name}/out/{i}"] = out.asnumpy()
    for _ in range(tables.STEPS - 1):
        for out in tables.flat(call(cell, *inputs)):
            out.asnumpy()
    for name, p in cell.parameters_and_names():
        if str(p.dtype) == "Float32" and not p.requires_grad:
            arrays[f"{case.name}/after/{name}"] = p.asnumpy().copy()
    reset(case, cell)
    if case.grad:
        gradients(case, cell, call, inputs, arrays)
    return {"repr": shown, "parameters": listed, "dtypes": dtypes}


def gradients(
    case: Layer, cell: Any, call: Any, inputs: list[Any], arrays: dict[str, np.ndarray]
) -> None:
    """Differentiate the weighted sum of the outputs."""
    places = tables.differentiated(case)
    named = [(n, p) for n, p in cell.parameters_and_names() if p.requires_grad]
    weights = [p for _, p in named]

    def loss(*args: Any) -> Any:
        total = ms.Tensor(0.0)
        for out in tables.flat(call(cell, *args)):
            if str(out.dtype) == "Float32":
                total = total + (out * ms.Tensor(case.sens(tuple(out.shape)))).sum()
        return total

    shape = arrays[f"{case.name}/out/0"].shape
    sens = ms.Tensor(case.sens(shape)) if case.graph else None

    def compiled(*args: Any) -> Any:
        return (cell(*args) * sens).sum()

    if not places and not weights:
        return
    grads = ms.grad(compiled if case.graph else loss, places or None, weights or None)(*inputs)
    if places and weights:
        by_place, by_weight = grads
    else:
        by_place, by_weight = (grads, ()) if places else ((), grads)
    by_place = by_place if isinstance(by_place, tuple) else (by_place,)
    for i, g in zip(places, by_place, strict=True):
        arrays[f"{case.name}/grad/{i}"] = g.asnumpy()
    for (name, _), g in zip(named, by_weight, strict=True):
        arrays[f"{case.name}/grad/{name}"] = g.asnumpy()


def error(text: str, names: dict[str, Any]) -> list[str]:
    """Run an expression that fails and give the class and the first line."""
    for _ in range(2):
        try:
            for out in tables.flat(eval(text, names)):
                if isinstance(out, ms.Tensor):
                    out.asnumpy()
        except Exception as caught:
            lines = [line for line in str(caught).split("\n") if line.strip("- ")]
            return [type(caught).__name__, " ".join(lines[0].split())[:300]]
    raise SystemExit(f"{text} raises nothing")


def main(family: str) -> None:
    """Record a family."""
    arrays: dict[str, np.ndarray] = {}
    layers, failed = {}, []
    for case in tables.layers(family):
        try:
            layers[case.name] = record(case, arrays)
        except Exception as caught:
            line = " ".join(str(caught).split())[:300]
            failed.append(f"{case.name}: {type(caught).__name__} {line}")
    if failed:
        raise SystemExit("\n".join(failed))
    np.savez_compressed(FOLDER / f"{family}.npz", **arrays)
    about = {"mindspore": ms.__version__, "numpy": np.__version__, "mode": "PYNATIVE"}
    names = tables.names(family, NAMES)
    rows = {
        "about": about,
        "layers": layers,
        "errors": {t: error(t, names) for t in tables.errors(family)},
    }
    (FOLDER / f"{family}.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
