"""Gradients against float64 differences, second order too, and vmap against a loop, for every op.

A chunk of cases is one compiled program; a case's gradient is compared along one random direction.
`make test-all` runs every case; `make test` a sample, without the second order.
"""

from __future__ import annotations

import dataclasses
import functools
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, ops
from tests.ops.compare import NAMES, TOLERANCE, inputs, present, short
from tests.ops.table import FLOATS, Case, families

CHUNK = 10
STEP = 1e-4
# A run of the default tests has time for one case of so many.
SLOPES_SHARE, VMAP_SHARE = 24, 48
# Random, or not a function of its inputs' values alone.
DRAWS = ("dropout", "random", "multinomial", "bernoulli", "uniform", "normal", "rand", "shuffle")
# Their derivative is defined otherwise on purpose, or their inputs lie on a corner: case -> why.
CORNERS = {
    "abs_zero": "at 0",
    "batch_dot": "Float32 alone",
    "batch_dot_4d": "Float32 alone",
    "batch_dot_mixed": "Float32 alone",
    "batch_dot_vectors": "Float32 alone",
    "batch_norm_eval": "the running moments have no gradient",
    "bessel_at_0": "i0e has a kink at 0",
    "cast_same": "rounds to Float32",
    "ce_prim_grad": "the labels have no gradient, as in the original",
    "ctc_v2_raw_gradient": "the inputs count as results of log_softmax, as in the original",
    "grad_through_half": "rounds to Float16",
    "log_softmax_ext_dtype": "rounds to Float32",
    "max_tie_grad": "equal elements",
    "maximum_tie": "equal elements",
    "minimum_tie": "equal elements",
    "relu_kink": "at 0",
    "round": "at a half",
    "sign": "at 0",
    "stop_gradient": "part of the value has no gradient",
    "stop_gradient_factor": "part of the value has no gradient",
    "stop_gradient_part": "part of the value has no gradient",
    "trapz": "rounds to Float32",
    "trapz_dx": "rounds to Float32",
    "trapz_x": "rounds to Float32",
    "trapz_x_axis": "rounds to Float32",
    "unsorted_max": "an empty segment has the least number, infinite in the loss",
    "unsorted_max_negative": "an empty segment has the least number, infinite in the loss",
    "unsorted_min": "an empty segment has the greatest number, infinite in the loss",
    "unsorted_min_negative": "an empty segment has the greatest number, infinite in the loss",
}
# Their gradient by a parameter is a series without a derivative of its own, in XLA and in the
# original.
FIRST_ORDER = ("igamma", "igamma_broadcast", "igammac", "betainc")
# They read one triangle of a symmetric matrix: their gradient is that along symmetric matrices.
SYMMETRIC = ("cholesky", "cholesky_batch", "scipy_cholesky_lower", "eigh_grad")
# Cases that vmap cannot map: case -> why.
UNMAPPED = {
    "square_sum_all": "XLA for CPU (jaxlib 0.10.2) counts an element of a stacked flip twice",
}


def plain_cases(wanted: Callable[[Case], bool]) -> list[Case]:
    """List the cases in their own dtype that a program can compute."""
    found = [c for rows in families().values() for c in rows if "@" not in c.name]
    found = [c for c in found if c.graph and not c.raises and present(c) and wanted(c)]
    return [c for c in found if not any(d in face.lower() for face in c.faces for d in DRAWS)]


def wide(case: Case) -> Case:
    """Give the case with its float inputs in float64."""
    wider = [dataclasses.replace(x, dtype="f64") if x.dtype in FLOATS else x for x in case.inputs]
    return Case(case.name, wider, *case.faces)


GRADIENT = plain_cases(
    lambda c: (c.grad and c.judge == "original") or (c.grad and c.math is not None)
)
GRADIENT = [c for c in GRADIENT if c.name not in CORNERS]
MAPPED = plain_cases(lambda c: bool(c.inputs) and c.name not in UNMAPPED)


def sample(cases: list[Case], share: int) -> list[Case]:
    """Give one case of so many, chosen by its name: the choice stays when others are added."""
    return [c for c in cases if zlib.crc32(c.name.encode()) % share == 0]


SOME_GRADIENT = sample(GRADIENT, SLOPES_SHARE)
SOME_MAPPED = sample(MAPPED, VMAP_SHARE)


def floats(value: Any) -> list[Any]:
    """List the real floating-point Tensors of a result."""
    if isinstance(value, tuple | list):
        return [leaf for v in value for leaf in floats(v)]
    return [value] if isinstance(value, Tensor) and value.dtype in (ms.float32, ms.float64) else []


def loss_of(case: Case) -> Callable[..., Any]:
    """Turn the first face into a number: every float output times fixed weights."""
    face = case.function(present(case)[0], NAMES)

    def loss(*args: Any) -> Any:
        total = Tensor(0.0, ms.float64)
        for i, leaf in enumerate(floats(face(*args))):
            weights = Tensor(case.weight(i, leaf.shape).astype(np.float64))
            total = total + (leaf.astype(ms.float64) * weights).sum()
        return total

    return loss


def direction(case: Case, place: int) -> Tensor:
    """Give a random direction of an input."""
    rng = np.random.Generator(np.random.PCG64(len(case.name) + place))
    way = rng.random(case.inputs[place].shape) * 2 - 1
    if case.name in SYMMETRIC:
        way = way + np.swapaxes(way, -1, -2)
    return Tensor(way, ms.float64)


def slopes(case: Case, args: tuple[Any, ...], second_order: bool = True) -> list[Any]:
    """Give the slope and the curvature along a direction: by gradients, and by differences."""
    places = tuple(i for i, x in enumerate(case.inputs) if x.dtype == "f64")
    ways = [direction(case, i) for i in places]
    loss = loss_of(case)

    def moved(t: Any) -> list[Any]:
        new = list(args)
        for i, way in zip(places, ways, strict=True):
            new[i] = args[i] + way * t
        return new

    def along(t: Any) -> Any:
        grads = ms.grad(loss, places)(*moved(t))
        grads = grads if isinstance(grads, tuple) else (grads,)
        return sum((g * w).sum() for g, w in zip(grads, ways, strict=True))

    zero, h = Tensor(0.0, ms.float64), STEP
    first = (loss(*moved(h)) - loss(*moved(-h))) / (2 * h)
    if not second_order or case.name in FIRST_ORDER:
        return [along(zero), first]
    second = (along(zero + h) - along(zero - h)) / (2 * h)
    return [along(zero), first, ms.grad(along)(zero), second]


def numbers(cases: list[Case], run: Callable[[Case, tuple[Any, ...]], list[Any]]) -> list[Any]:
    """Compute what `run` gives for several cases in one program; alone where that fails."""
    groups = [tuple(inputs(c)) for c in cases]

    def every(*flat: Any) -> Any:
        out, at = [], 0
        for case, group in zip(cases, groups, strict=True):
            out.append(run(case, flat[at : at + len(group)]))
            at += len(group)
        return out

    try:
        return [list(r) for r in ms.jit(every)(*(x for g in groups for x in g))]
    except Exception as error:
        if len(cases) > 1:
            return [numbers([case], run)[0] for case in cases]
        return [short(error)]


def slope_problems(cases: list[Case], second_order: bool = True) -> list[str]:
    """List the cases whose derivatives are not those of their values."""
    problems = []
    cases = [wide(c) for c in cases]
    run = functools.partial(slopes, second_order=second_order)
    for case, found in zip(cases, numbers(cases, run), strict=True):
        if isinstance(found, str):
            problems.append(f"{case.name} [{case.faces[0]}]: {found}")
            continue
        got = [float(x.asnumpy()) for x in found]
        for order, (a, b) in enumerate(zip(got[::2], got[1::2], strict=True), 1):
            if not np.isclose(a, b, 1e-4, 1e-4, equal_nan=True):
                problems.append(f"{case.name} [{case.faces[0]}]: order {order}: {a} for {b}")
    return problems


def mapped(case: Case, args: tuple[Any, ...]) -> list[Any]:
    """Give the results of two rows, by vmap and by a loop."""
    face = case.function(present(case)[0], NAMES)
    rows = [args, tuple(ops.flip(x, (0,)) if x.shape else x for x in args)]
    stacked = [ops.stack(pair) for pair in zip(*rows, strict=True)]
    together = leaves(ms.vmap(face)(*stacked))
    apart = [leaves(face(*row)) for row in rows]
    return [x for i, t in enumerate(together) for x in (t, ops.stack([a[i] for a in apart]))]


def leaves(value: Any) -> list[Any]:
    """List the Tensors of a result."""
    if isinstance(value, tuple | list):
        return [leaf for v in value for leaf in leaves(v)]
    return [value] if isinstance(value, Tensor) else []


def vmap_problems(cases: list[Case]) -> list[str]:
    """List the cases that vmap computes otherwise than a loop."""
    problems = []
    for case, found in zip(cases, numbers(cases, mapped), strict=True):
        label = f"{case.name} [{case.faces[0]}]"
        if isinstance(found, str):
            problems.append(f"{label}: {found}")
            continue
        for a, b in zip(found[::2], found[1::2], strict=True):
            rtol, atol = TOLERANCE.get(str(a.dtype), (0, 0))
            same = a.shape == b.shape and a.dtype == b.dtype
            x, y = (
                np.asarray(v.astype(ms.float32) if v.dtype == ms.bfloat16 else v) for v in (a, b)
            )
            if not same or not np.allclose(x, y, rtol, atol * 10, equal_nan=True):
                problems.append(f"{label}: {a.dtype}{a.shape} differs from {b.dtype}{b.shape}")
    return problems


def chunks(cases: list[Case]) -> range:
    """Give the starts of the chunks."""
    return range(0, len(cases), CHUNK)


def check(problems: list[str]) -> None:
    """Fail with all problems at once."""
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", chunks(GRADIENT))
def test_slopes(start: int) -> None:
    check(slope_problems(GRADIENT[start : start + CHUNK]))


@pytest.mark.slow
@pytest.mark.parametrize("start", chunks(MAPPED))
def test_vmap(start: int) -> None:
    check(vmap_problems(MAPPED[start : start + CHUNK]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", chunks(SOME_GRADIENT))
def test_slopes_of_a_sample(start: int) -> None:
    check(slope_problems(SOME_GRADIENT[start : start + CHUNK], second_order=False))


@pytest.mark.parametrize("start", chunks(SOME_MAPPED))
def test_vmap_of_a_sample(start: int) -> None:
    check(vmap_problems(SOME_MAPPED[start : start + CHUNK]))
