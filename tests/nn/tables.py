"""The tables of layers by family, and what recording and testing them share."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from tests.nn.layer_cases import Layer

FAMILIES = (
    "recurrent",
    "transformer",
    "general",
    "settings",
    "spatial",
    "mint",
    "loss",
    "criteria",
    "pooled",
)
STEPS = 3


def layers(family: str) -> list[Layer]:
    """List the rows of a family."""
    return importlib.import_module(f"tests.nn.{family}_cases").LAYERS


def errors(family: str) -> list[str]:
    """List the expressions of a family that raise."""
    return getattr(importlib.import_module(f"tests.nn.{family}_cases"), "ERRORS", [])


def names(family: str, names: dict[str, Any]) -> dict[str, Any]:
    """Give the names that a family's erring expressions use."""
    calls = getattr(importlib.import_module(f"tests.nn.{family}_cases"), "CALLS", {})
    return {**names, **{k: eval(v, names) for k, v in calls.items()}}


def caller(case: Layer, names: dict[str, Any]) -> Callable[..., Any]:
    """Give the function of a Cell and its inputs that a row runs."""
    if case.call is None:
        return lambda cell, *inputs: cell(*inputs)
    return eval(case.call, dict(names))


def flat(out: Any) -> list[Any]:
    """List the Tensors of an output."""
    if isinstance(out, tuple | list):
        return [t for part in out for t in flat(part)]
    return [] if out is None else [out]


def differentiated(case: Layer) -> tuple[int, ...]:
    """Give the positions of the inputs that gradients are taken for."""
    return tuple(i for i, a in enumerate(case.inputs) if a.dtype == "f32")
