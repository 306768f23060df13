"""Compare MindJAX's results with the goldens: type by type, with a tolerance by dtype."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import mindjax as ms
from mindjax import Tensor, mint, nn, ops
from tests.ops.later import LATER
from tests.ops.table import FLOATS, MS_NAMES, Case
from tests.oracle.golden import Reader

NAMES = {"ms": ms, "ops": ops, "mint": mint, "nn": nn, "Tensor": Tensor, "np": np}
TOLERANCE = {
    "Float64": (1e-6, 1e-7),
    "Float32": (1e-4, 1e-5),
    "Float16": (1e-2, 1e-3),
    "BFloat16": (2e-2, 1e-2),
    "Complex64": (1e-4, 1e-5),
    "Complex128": (1e-6, 1e-7),
}
KINDS = {"f": "float", "i": "int", "u": "int", "b": "bool", "c": "complex"}


def inputs(case: Case) -> list[Tensor]:
    """Make the inputs of a case."""
    pairs = zip(case.arrays(), case.inputs, strict=True)
    return [Tensor(x, getattr(ms, MS_NAMES[arr.dtype])) for x, arr in pairs]


def present(case: Case) -> list[int]:
    """Give the faces whose names are here already."""
    return [i for i in range(len(case.faces)) if not case.names(i) & LATER]


def float_places(case: Case) -> tuple[int, ...]:
    """Give the positions of the inputs that have a gradient."""
    return tuple(i for i, x in enumerate(case.inputs) if x.dtype in FLOATS)


def to_numpy(tensor: Tensor) -> np.ndarray:
    """Read a tensor; BFloat16 becomes Float32."""
    return np.asarray(tensor.asnumpy()).astype(
        np.float32 if str(tensor.dtype) == "BFloat16" else tensor.asnumpy().dtype
    )


def differences(got: Any, want: list[Any], reader: Reader, case: Case) -> list[str]:
    """List in words how a result differs from a golden entry."""
    kind = want[0]
    if kind in ("tuple", "list"):
        if not isinstance(got, (tuple, list)) or len(got) != len(want[1]):
            return [f"{kind} of {len(want[1])} expected, got {type(got).__name__} {got!r:.80}"]
        parts = [differences(g, w, reader, case) for g, w in zip(got, want[1], strict=True)]
        return [f"[{i}] {text}" for i, part in enumerate(parts) for text in part]
    if kind == "dtype":
        return [] if str(got) == want[1] else [f"dtype {want[1]} expected, got {got}"]
    if kind == "py":
        same = (type(got).__name__, repr(got)) == (want[1], want[2])
        return [] if same else [f"{want[1]} {want[2]} expected, got {type(got).__name__} {got!r}"]
    if kind != "T":
        return [f"the original raised {want[1:]}"]
    if not isinstance(got, Tensor):
        return [f"Tensor expected, got {type(got).__name__} {got!r:.80}"]
    return tensor_differences(got, want, reader, case)


def tensor_differences(got: Tensor, want: list[Any], reader: Reader, case: Case) -> list[str]:
    """List how a tensor differs in dtype, shape or value."""
    expected = reader.array(want)
    array = to_numpy(got)
    name = str(got.dtype)
    found = []
    if want[1] is None:
        if not case.grad and KINDS[array.dtype.kind] != KINDS[expected.dtype.kind]:
            inexact = any(x.dtype not in FLOATS for x in case.inputs)
            if not (expected.dtype.kind == "f" and inexact):
                found.append(f"a {KINDS[expected.dtype.kind]} dtype expected, got {name}")
    elif name != want[1]:
        found.append(f"dtype {want[1]} expected, got {name}")
    if tuple(got.shape) != expected.shape:
        return [*found, f"shape {expected.shape} expected, got {tuple(got.shape)}"]
    if array.dtype.kind in "fc":
        rtol, atol = TOLERANCE[name]
        if case.tol:
            rtol, atol = max(rtol, case.tol[0]), max(atol, case.tol[1])
    else:
        rtol = atol = 0
    wide = complex if "c" in (array.dtype.kind, expected.dtype.kind) else np.float64
    close = np.isclose(array.astype(wide), expected.astype(wide), rtol, atol, equal_nan=True)
    if not close.all():
        place = tuple(int(i) for i in np.argwhere(~close)[0])
        found.append(
            f"{(~close).sum()} of {close.size} values differ, at {place}: "
            f"{expected[place]} expected, got {array[place]}"
        )
    return found


def weighted(face: Any, case: Case) -> Any:
    """Turn a face into a number, as the recorder does."""

    def leaves(value: Any) -> list[Any]:
        if isinstance(value, (tuple, list)):
            return [leaf for v in value for leaf in leaves(v)]
        floating = isinstance(value, Tensor) and "Float" in str(value.dtype)
        return [value] if floating else []

    def loss(*args: Any) -> Any:
        total = None
        for i, leaf in enumerate(leaves(face(*args))):
            term = (leaf.astype(ms.float32) * Tensor(case.weight(i, leaf.shape))).sum()
            total = term if total is None else total + term
        return total

    return loss


def expected_value(case: Case, index: int, reader: Reader, graph: bool = False) -> list[Any]:
    """Give the golden entry of a face."""
    entry = reader.index[case.name]
    if graph and "graph" in entry:
        return entry["graph"][index]
    return entry["values"][entry["face"][index]]


def short(error: BaseException) -> str:
    """Give an exception's class and the start of its first line."""
    line = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {re.sub(r' +', ' ', line)[:160]}"
