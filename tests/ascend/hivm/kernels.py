"""Arrays for the cases, the recorded modules of the compiler, and the comparison with numpy."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tests.ascend.hivm.cases import Case

GOLDEN = Path(__file__).parents[2] / "goldens" / "ascend" / "hivm.json.gz"
DTYPES = {
    "half": np.float16,
    "bfloat": ml_dtypes.bfloat16,
    "single": np.float32,
    "int": np.int32,
    "int8": np.int8,
}
TOLERANCE = {"half": 1e-3, "bfloat": 8e-3, "single": 1e-5, "int": 0}


_SCALE = {"int": 100, "int8": 30}


def kinds(case: Case) -> tuple[str, ...]:
    """The type of each argument."""
    return case.kinds or (case.dtype,) * len(case.shapes)


def arrays(case: Case) -> list[np.ndarray]:
    """Inputs of a case: normal numbers, the same for each run."""
    generator = np.random.default_rng(len(case.name))
    found = []
    for shape, kind in zip(case.shapes, kinds(case), strict=True):
        values = generator.standard_normal(shape) * _SCALE.get(kind, 1)
        values = np.abs(values) + 0.01 if case.positive else values
        found.append(values.astype(DTYPES[kind]))
    return found


def expected(case: Case, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """What numpy computes in double precision."""
    wide = [a.astype(np.float64) if case.dtype != "int" else a for a in inputs]
    parts = []
    for block in range(case.blocks):
        rows = [
            np.split(a, case.blocks)[block] if cut else a
            for a, cut in zip(wide, case.split or (False,) * len(wide), strict=True)
        ]
        result = case.compute(np, *rows)
        parts.append(result if isinstance(result, tuple) else (result,))
    if case.blocks == 1:
        return list(parts[0])
    return [np.concatenate(p) for p in zip(*parts, strict=True)]


def error(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest difference, relative to the largest magnitude where that is above one."""
    wide = np.asarray(found).astype(np.float64)
    assert wide.shape == np.shape(wanted)
    return float(np.abs(wide - wanted).max() / max(1.0, np.abs(wanted).max()))


def launched(case: Case) -> int | None:
    """The blocks of a launch: those of the case, or what the compiler chose."""
    return case.blocks if case.blocks > 1 else None


def lowered(case: Case) -> str:
    """The module that a case gives to the compiler."""
    import jax
    import jax.numpy as jnp
    from mindjax_ascend.hivm import lower

    shapes = [
        jax.ShapeDtypeStruct(s, DTYPES[k]) for s, k in zip(case.shapes, kinds(case), strict=True)
    ]

    def function(*xs):
        return case.compute(jnp, *xs)

    if case.blocks > 1:
        return lower.lower_blocks(function, case.blocks, *shapes, split=case.split, name=case.name)
    return lower.lower(function, *shapes, name=case.name)


def recorded() -> dict[str, Any]:
    """The recorded modules by name, with the version of the compiler and its target."""
    return json.loads(gzip.decompress(GOLDEN.read_bytes()))
