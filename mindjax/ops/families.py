"""Families of ops that are loaded when one of their names is first asked for.

A family is a package whose `__init__` is an explicit list of ``from module import name as name``.
The list is read without running it, so that importing `mindjax.ops` does not load every op.
"""

from __future__ import annotations

import ast
import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

PACKAGES: tuple[str, ...] = (
    "linear",
    "spectral",
    "numeric",
    "stochastic",
    "vision",
    "neural",
    "indexed",
    "updates",
    "sparse",
    "scalars",
    "fused",
    "collective",
    "custom",
)


@cache
def index() -> dict[str, str]:
    """Map every name of the families to the module that defines it."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        source = pkgutil.get_data(f"mindjax.ops.{package}", "__init__.py")
        for node in ast.parse(source or b"").body:
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                found.update({n.asname: node.module for n in node.names if n.asname is not None})
    return found


def load(name: str) -> Any:
    """Load the op of a name.

    Args:
        name: public name of an op that a family lists.

    Raises:
        KeyError: no family lists it.
    """
    return getattr(import_module(index()[name]), name)
