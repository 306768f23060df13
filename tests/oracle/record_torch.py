"""Record what torch gives for the calls of `mint` in the op tables: ``.venv-torch/bin/python``.

`mint` follows torch, and the original's CPU has no kernel for a third of it. A call is recorded if
torch has its name and takes its arguments.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import torch  # noqa: E402

from tests.ops.table import FLOATS, MS_NAMES, Case, families  # noqa: E402
from tests.oracle.golden import Writer  # noqa: E402

RENAMED = {"bool_": "bool"}
# Drawn numbers have no golden.
DRAWN = ("rand", "dropout", "bernoulli", "normal", "multinomial", "uniform", "empty")


class Dtypes:
    """Stands for `mindspore` in a face: its dtypes."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, RENAMED.get(name, name))


def tensor(array: np.ndarray, dtype: str) -> torch.Tensor:
    """Make an input."""
    return torch.from_numpy(array.copy()).to(getattr(torch, MS_NAMES[dtype].rstrip("_")))


def name_of(dtype: torch.dtype) -> str:
    """Give MindSpore's name of a dtype."""
    short = {v.rstrip("_"): k for k, v in MS_NAMES.items()}[str(dtype).removeprefix("torch.")]
    kinds = {"b": "Bool", "i": "Int", "u": "UInt", "f": "Float", "c": "Complex"}
    if short in ("bool", "bf16"):
        return {"bool": "Bool", "bf16": "BFloat16"}[short]
    return kinds[short[0]] + short[1:]


class Recorder:
    """Runs the faces that use `mint` alone."""

    def __init__(self) -> None:
        self.names = {"ms": Dtypes(), "mint": torch, "np": np}
        self.writer = Writer()
        self.refused: list[str] = []

    def describe(self, value: Any) -> list[Any]:
        """Describe a result."""
        if isinstance(value, torch.Tensor):
            wide = value.detach().resolve_conj()
            wide = wide.float() if wide.dtype == torch.bfloat16 else wide
            return self.writer.tensor(wide.numpy(), name_of(value.dtype))
        if isinstance(value, tuple | list):
            return ["tuple", [self.describe(v) for v in value]]
        return ["py", type(value).__name__, repr(value)]

    def gradient(self, case: Case, run: Any) -> list[Any]:
        """Describe the gradients with respect to the float inputs, of the weighted outputs."""
        inputs = [tensor(x, a.dtype) for x, a in zip(case.arrays(), case.inputs, strict=True)]
        floats = [x for x, a in zip(inputs, case.inputs, strict=True) if a.dtype in FLOATS]
        for x in floats:
            x.requires_grad_()
        total: Any = 0.0
        for i, leaf in enumerate(floating(run(*inputs))):
            weight = torch.tensor(case.weight(i, tuple(leaf.shape)))
            total = total + (leaf.float() * weight).sum()
        if isinstance(total, float):
            return ["none"]
        total.backward()
        grads = [torch.zeros_like(x) if x.grad is None else x.grad for x in floats]
        return ["tuple", [self.describe(g) for g in grads]]

    def case(self, case: Case) -> None:
        """Record the faces of a case."""
        for index, face in enumerate(case.faces):
            body = " ".join(case.body(face))
            if "mint." not in body or "ops." in body or case.raises:
                continue
            if any(word in body for word in DRAWN):
                continue
            inputs = [tensor(x, a.dtype) for x, a in zip(case.arrays(), case.inputs, strict=True)]
            key = f"{case.name} [{face}]"
            run = case.function(index, self.names)
            try:
                entry = {"value": self.describe(run(*inputs))}
            except Exception as error:
                self.refused.append(f"{key}: {type(error).__name__}: {str(error)[:120]!r}")
                continue
            if case.grad:
                try:
                    gradient = self.gradient(case, run)
                    entry.update({"gradient": gradient} if gradient != ["none"] else {})
                except Exception as error:
                    self.refused.append(f"{key} gradient: {str(error)[:120]!r}")
            self.writer.index[key] = entry


def floating(value: Any) -> list[torch.Tensor]:
    """List the floating tensors of a result."""
    if isinstance(value, tuple | list):
        return [leaf for v in value for leaf in floating(v)]
    return [value] if isinstance(value, torch.Tensor) and value.is_floating_point() else []


def main() -> None:
    """Record every family into one file."""
    recorder = Recorder()
    for rows in families().values():
        for case in rows:
            recorder.case(case)
    about = {"torch": torch.__version__, "numpy": np.__version__}
    recorder.writer.save("mint/torch", about)
    print(len(recorder.writer.index), "recorded;", len(recorder.refused), "refused")
    print("\n".join(recorder.refused))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
