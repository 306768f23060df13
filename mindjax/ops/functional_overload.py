"""The original's inner path of functions that take the arguments of `ops` and of `mint` alike."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mindjax.ops import functional


def __getattr__(name: str) -> Any:
    # A method of Tensor takes both faces' argument names, and its first argument is the Tensor.
    if name.startswith("__"):
        raise AttributeError(f"module 'mindspore.ops.functional_overload' has no '{name}'")
    method = getattr(import_module("mindjax.tensor").Tensor, name, None)
    if callable(method):
        return method
    found = getattr(functional, name, None)
    return getattr(import_module("mindjax.mint"), name) if found is None else found


def __dir__() -> list[str]:
    return dir(functional)
