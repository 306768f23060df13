"""Ask the original for the values of every layer: run with the oracle's python from the root."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import mint, nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests.nn.layer_cases import CALLS, ERRORS, LAYERS, MINT, Layer

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "goldens" / "nn"
NAMES = {"ms": ms, "nn": nn, "mint": mint, "np": np}


def record(case: Layer, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Run a layer forwards and backwards."""
    cell = eval(case.make, NAMES)
    shown = repr(cell)
    names = {}
    for name, p in cell.parameters_and_names():
        names[name] = [list(p.shape), bool(p.requires_grad), str(p.dtype)]
        if str(p.dtype) == "Float32":
            p.set_data(ms.Tensor(case.parameter(name, tuple(p.shape))))
    cell.set_train(case.train)
    inputs = [ms.Tensor(a) for a in case.arrays()]
    out = cell(*inputs)
    out = out[0] if isinstance(out, tuple) else out
    arrays[f"{case.name}/out"] = out.asnumpy()
    for name, p in cell.parameters_and_names():
        if str(p.dtype) == "Float32" and not p.requires_grad:
            arrays[f"{case.name}/after/{name}"] = p.asnumpy()
            p.set_data(ms.Tensor(case.parameter(name, tuple(p.shape))))
    if case.grad:
        sens = ms.Tensor(case.sens(tuple(out.shape)))
        places = tuple(i for i, a in enumerate(case.inputs) if a.dtype == "f32")
        weights = [p for p in cell.get_parameters() if p.requires_grad]

        def loss(*args: Any) -> Any:
            value = cell(*args)
            return ((value[0] if isinstance(value, tuple) else value) * sens).sum()

        grads = ms.grad(loss, places or None, weights or None)(*inputs)
        if places and weights:
            by_place, by_weight = grads
        else:
            by_place, by_weight = (grads, ()) if places else ((), grads)
        by_place = by_place if isinstance(by_place, tuple) else (by_place,)
        for i, g in zip(places, by_place, strict=True):
            arrays[f"{case.name}/grad/{i}"] = g.asnumpy()
        named = [n for n, p in cell.parameters_and_names() if p.requires_grad]
        for name, g in zip(named, by_weight, strict=True):
            arrays[f"{case.name}/grad/{name}"] = g.asnumpy()
    return {"repr": shown, "parameters": names, "dtype": str(out.dtype)}


def error(text: str) -> list[str]:
    """Run an expression that fails and give the class and the first line."""
    names = {**NAMES, **{k: eval(v, NAMES) for k, v in CALLS.items()}}
    for _ in range(2):
        try:
            out = eval(text, names)
            if isinstance(out, ms.Tensor):
                out.asnumpy()
        except Exception as caught:
            lines = [line for line in str(caught).split("\n") if line.strip("- ")]
            return [type(caught).__name__, " ".join(lines[0].split())]
    raise SystemExit(f"{text} raises nothing")


def main() -> None:
    """Record both tables."""
    arrays: dict[str, np.ndarray] = {}
    layers, failed = {}, []
    for case in [*LAYERS, *MINT]:
        try:
            layers[case.name] = record(case, arrays)
        except Exception as caught:
            failed.append(f"{case.name}: {type(caught).__name__} {str(caught)[:200]}")
    if failed:
        raise SystemExit("\n".join(failed))
    FOLDER.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(FOLDER / "layers.npz", **arrays)
    about = {"mindspore": ms.__version__, "numpy": np.__version__, "mode": "PYNATIVE"}
    rows = {"about": about, "layers": layers, "errors": {t: error(t) for t in ERRORS}}
    (FOLDER / "layers.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
