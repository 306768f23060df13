"""Record what torch's layers give for the rows of `mint.nn`: ``.venv-torch/bin/python``.

The original's CPU has no kernel for most of these layers, whose names and meaning are torch's.
"""

from __future__ import annotations

import json
import pathlib
import sys
from types import SimpleNamespace
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import torch  # noqa: E402

from tests.mint.layer_cases import LAYERS  # noqa: E402
from tests.nn.layer_cases import Layer  # noqa: E402

STEPS = 3


def state(cell: Any) -> dict[str, torch.Tensor]:
    """Name what a layer holds in Float32."""
    named = {**dict(cell.named_parameters()), **dict(cell.named_buffers())}
    return {n: t for n, t in named.items() if t.dtype == torch.float32}


def record(case: Layer, arrays: dict[str, np.ndarray]) -> list[str]:
    """Run a layer some steps and backwards; gives the dtypes of its outputs."""
    cell = eval(case.make, {"mint": SimpleNamespace(nn=torch.nn)})
    with torch.no_grad():
        for name, t in state(cell).items():
            t.copy_(torch.from_numpy(case.parameter(name, tuple(t.shape))))
    cell.train(case.train)
    inputs = [torch.from_numpy(a.copy()) for a in case.arrays()]
    floats = [x.requires_grad_() for x in inputs if x.dtype == torch.float32 and case.grad]
    outs = cell(*inputs)
    outs = list(outs) if isinstance(outs, tuple) else [outs]
    total: Any = 0.0
    for i, out in enumerate(outs):
        arrays[f"{case.name}/out/{i}"] = out.detach().numpy()
        if out.dtype == torch.float32:
            total = total + (out * torch.tensor(case.sens(tuple(out.shape)))).sum()
    if case.grad:
        total.backward()
        for i, x in enumerate(inputs):
            if any(x is f for f in floats):
                arrays[f"{case.name}/grad/{i}"] = x.grad.numpy()
        for name, p in cell.named_parameters():
            arrays[f"{case.name}/grad/{name}"] = p.grad.numpy()
    with torch.no_grad():
        for _ in range(STEPS - 1):
            cell(*inputs)
    for name, t in cell.named_buffers():
        arrays[f"{case.name}/after/{name}"] = t.numpy()
    return [str(out.dtype).removeprefix("torch.") for out in outs]


def main() -> None:
    """Record every row."""
    arrays: dict[str, np.ndarray] = {}
    dtypes = {case.name: record(case, arrays) for case in LAYERS}
    folder = ROOT / "tests" / "goldens" / "mint"
    np.savez_compressed(folder / "layers.npz", **arrays)
    rows = {"about": {"torch": torch.__version__}, "dtypes": dtypes}
    (folder / "layers.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
