"""Record the goldens of the op tables under the original: ``/tmp/oracle/bin/python``.

Usage: ``python tests/oracle/record.py [FAMILY ...]``, such as ``gather`` or ``numpy/logic``. A
family is recorded in a process of its own; a case that takes it down is left out and named.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import time
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from tests.ops.table import FLOATS, MS_NAMES, VARIABLES, Case, families  # noqa: E402
from tests.oracle.golden import Writer  # noqa: E402

NO_KERNEL = (
    "unregistered",
    "not registered",
    "does not support",
    "unsupported",
    "Unsupported data type",
    "not support",
    "Select kernel",
    "kernel type",
    "kernel has not",
    "device",
    "dlsym",
    "Create kernelmod",
    "KernelMod Init Failed",
    "only supports Ascend",
    "unexpected kernel",
)


class Missing(Exception):
    """The original's CPU has no kernel; carries the dtypes that it inferred."""


class Recorder:
    """Runs cases under the original, which does its work later than it says."""

    def __init__(self) -> None:
        import mindspore as ms
        import mindspore.scipy.fft
        import mindspore.scipy.linalg
        import mindspore.scipy.ops
        import mindspore.scipy.optimize
        from mindspore import Tensor, mint, nn, ops

        self.ms = ms
        self.names = {"ms": ms, "ops": ops, "mint": mint, "nn": nn, "Tensor": Tensor, "np": np}
        self.writer = Writer()

    def drain(self) -> None:
        """Let errors of earlier calls arrive."""
        for _ in range(5):
            try:
                (self.ms.Tensor(np.ones(1, np.float32)) + 1).asnumpy()
                return
            except Exception:
                time.sleep(0.002)

    def inputs(self, case: Case) -> list[Any]:
        """Make the original's tensors."""
        pairs = zip(case.arrays(), case.inputs, strict=True)
        return [self.ms.Tensor(x, getattr(self.ms, MS_NAMES[arr.dtype])) for x, arr in pairs]

    def force(self, value: Any) -> Any:
        """Read every tensor of a result; raise what its kernel raised."""
        ms = self.ms
        if isinstance(value, (tuple, list)):
            kind = "list" if isinstance(value, list) else "tuple"
            return [kind, [self.force(v) for v in value]]
        if isinstance(value, ms.Tensor):
            wide = value.astype(ms.float32) if value.dtype == ms.bfloat16 else value
            return self.writer.tensor(wide.asnumpy().copy(), str(value.dtype))
        if isinstance(value, type(ms.float32)) or hasattr(ms, str(value).lower()):
            return ["dtype", str(value)]
        return ["py", type(value).__name__, repr(value)]

    def dtypes(self, value: Any) -> list[str]:
        """List the dtypes that were inferred for a result."""
        if isinstance(value, (tuple, list)):
            return [d for v in value for d in self.dtypes(v)]
        return [str(value.dtype)] if isinstance(value, self.ms.Tensor) else []

    def attempt(self, run: Any, raises: bool = False) -> list[Any]:
        """Describe a result, an error that came three times, or the lack of a kernel."""
        inferred: list[str] = []
        error: Exception | None = None
        for _ in range(3):
            try:
                out = run()
                inferred = self.dtypes(out)
                return self.force(out)
            except Exception as caught:
                error = caught
                self.drain()
        line = " ".join(str(error).strip().split("\n")[0].split())[:160]
        lacks = any(word in str(error) for word in NO_KERNEL)
        if (
            lacks
            and not raises
            and isinstance(error, (RuntimeError, TypeError, NotImplementedError))
        ):
            return ["nokernel", inferred, line]
        return ["error", type(error).__name__, line]

    def mathematics(self, case: Case, inferred: list[str], agreed: str | None) -> Any:
        """Give the value in float64, with the dtype inferred or else the other faces' dtype."""
        value = self.evaluate(case, self.wide(case))
        values = value if isinstance(value, tuple) else (value,)
        dtypes = inferred if len(inferred) == len(values) else [agreed] * len(values)
        entries = [
            self.writer.tensor(np.asarray(v), d) for v, d in zip(values, dtypes, strict=True)
        ]
        return entries[0] if not isinstance(value, tuple) else ["tuple", entries]

    def wide(self, case: Case) -> list[np.ndarray]:
        """Give the inputs in double precision (truth values stay)."""
        return [x if x.dtype.kind in "bc" else x.astype(np.float64) for x in case.arrays()]

    def evaluate(self, case: Case, inputs: list[np.ndarray]) -> Any:
        """Run a case's formula."""
        import scipy.special as sp

        names = dict(zip(VARIABLES, inputs, strict=False), np=np, sp=sp)
        with np.errstate(all="ignore"):
            return eval(case.math or "", names)

    def slope(self, case: Case) -> list[Any]:
        """Differentiate a case's formula by central differences in float64."""
        inputs = self.wide(case)

        def loss() -> float:
            value = self.evaluate(case, inputs)
            values = value if isinstance(value, tuple) else (value,)
            kept = [v for v in map(np.asarray, values) if v.dtype.kind == "f"]
            return sum(float((v * case.weight(i, v.shape)).sum()) for i, v in enumerate(kept))

        grads = []
        for x, arr in zip(inputs, case.inputs, strict=True):
            if arr.dtype not in FLOATS:
                continue
            grad = np.zeros_like(x)
            for place in np.ndindex(x.shape):
                old, step = x[place], 1e-6
                x[place] = old + step
                up = loss()
                x[place] = old - step
                grad[place] = (up - loss()) / (2 * step)
                x[place] = old
            grads.append(self.writer.tensor(grad, None))
        return ["tuple", grads]

    def gradient(self, case: Case) -> list[Any]:
        """Describe the gradients of the first face that has some."""
        places = tuple(i for i, x in enumerate(case.inputs) if x.dtype in FLOATS)
        if case.judge == "math":
            return self.slope(case)
        entry: list[Any] = ["none"]
        for index in range(len(case.faces)):
            face = case.function(index, self.names)
            loss = weighted(self.ms, face, case)
            entry = self.attempt(lambda loss=loss: self.ms.grad(loss, places)(*self.inputs(case)))
            if entry[0] not in ("error", "nokernel"):
                return entry if entry[0] == "tuple" else ["tuple", [entry]]
        return self.slope(case) if case.math else entry

    def case(self, case: Case) -> dict[str, Any]:
        """Record one case: values by face, gradients, GRAPH where it differs."""
        values = []
        for index in range(len(case.faces)):
            face = case.function(index, self.names)
            values.append(self.attempt(lambda face=face: face(*self.inputs(case)), case.raises))
        good = next((v for v in values if v[0] not in ("error", "nokernel")), None)
        dtypes = {v[1] for v in values if v[0] == "T"}
        agreed = dtypes.pop() if len(dtypes) == 1 else None
        if agreed and "Int" in agreed:
            agreed = None  # index and sum dtypes are what the faces differ in
        notes = []
        for index, value in enumerate(values):
            if case.judge == "math":
                values[index] = self.mathematics(case, [], agreed)
            elif value[0] == "nokernel":
                notes.append(f"{case.faces[index]}: {value[2]}")
                if case.math:
                    values[index] = self.mathematics(case, value[1], agreed)
                elif good:
                    values[index] = retyped(good, list(value[1]))
                else:
                    print(f"   NO VALUE {case.name} [{case.faces[index]}] {value[2]}")
            elif (value[0] == "error") != case.raises:
                print(f"   UNEXPECTED {case.name} [{case.faces[index]}] {value}")
        shown: dict[str, Any] = {"sum": case.checksum(), "values": [], "face": []}
        for value in values:
            if value not in shown["values"]:
                shown["values"].append(value)
            shown["face"].append(shown["values"].index(value))
        if notes:
            shown["no_kernel"] = notes
        if case.grad and not case.raises:
            shown["grad"] = self.gradient(case)
            if shown["grad"][0] != "tuple":
                print(f"   NO GRAD {case.name} {shown['grad']}")
                del shown["grad"]
        if case.both:
            compiled = [self.ms.jit(case.function(i, self.names)) for i in range(len(case.faces))]
            shown["graph"] = [
                self.attempt(lambda run=run: run(*self.inputs(case))) for run in compiled
            ]
        return shown


def retyped(entry: list[Any], dtypes: list[str]) -> list[Any]:
    """Give another face's value the dtypes inferred for this one; integers else have none."""
    if entry[0] in ("tuple", "list"):
        return [entry[0], [retyped(e, dtypes) for e in entry[1]]]
    if entry[0] != "T":
        return entry
    known = dtypes.pop(0) if dtypes else (None if "Int" in entry[1] else entry[1])
    return [entry[0], known, *entry[2:]]


def weighted(ms: Any, face: Any, case: Case) -> Any:
    """Turn a face into a number: every float output times its own fixed weights."""

    def leaves(value: Any) -> list[Any]:
        if isinstance(value, (tuple, list)):
            return [leaf for v in value for leaf in leaves(v)]
        floating = isinstance(value, ms.Tensor) and "Float" in str(value.dtype)
        return [value] if floating else []

    def loss(*inputs: Any) -> Any:
        total = None
        for i, leaf in enumerate(leaves(face(*inputs))):
            term = (leaf.astype(ms.float32) * ms.Tensor(case.weight(i, leaf.shape))).sum()
            total = term if total is None else total + term
        return total

    return loss


def tables() -> dict[str, list[Case]]:
    """Give the tables of every group."""
    return {**families(), **families("numpy")}


def record(family: str, skipped: list[str], progress: pathlib.Path) -> None:
    """Record one family in this process."""
    recorder = Recorder()
    for case in tables()[family]:
        if case.name in skipped:
            print(f"   CRASHES {case.name}")
            continue
        progress.write_text(case.name)
        recorder.writer.index[case.name] = recorder.case(case)
    about = {"mindspore": recorder.ms.__version__, "numpy": np.__version__, "mode": "PYNATIVE"}
    recorder.writer.save(family, about)


def main() -> None:
    """Record the families named, or all."""
    if len(sys.argv) > 2 and sys.argv[1] == "--child":
        record(sys.argv[2], sys.argv[4:], pathlib.Path(sys.argv[3]))
        return
    for family in sys.argv[1:] or tables():
        print(family, flush=True)
        skipped: list[str] = []
        progress = pathlib.Path(f"/tmp/record-{os.getpid()}")
        for _ in range(12):
            command = [sys.executable, __file__, "--child", family, str(progress), *skipped]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode == 0:
                break
            skipped.append(progress.read_text())
            print(f"   died with {done.returncode} at {skipped[-1]}: {done.stderr[-600:]}")
        lines = done.stdout.splitlines()
        print("\n".join(line for line in lines if line.startswith("   ")), flush=True)


if __name__ == "__main__":
    main()
