"""Which of XLA:CPU's two ways of making code the program of a single op takes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from mindjax.core import jax_private, jaxprs

# LLVM's code of a fusion at once, not by way of MLIR's passes: the same values to the last bit in
# half of the time to compile.
_AT_ONCE = {"xla_cpu_use_fusion_emitters": False}
# The versions of jaxlib that know the option.
_FIRST, _BEFORE = (0, 10), (0, 13)
# What runs slower as such code: 1.6 to 5 times for a million elements, where others take as long.
_SLOWER = frozenset({"argmax", "argmin", "pad", "transpose"})
_SLOWER_KINDS = ("scatter", "cum")


@functools.cache
def _known() -> bool:
    return _FIRST <= jax_private.jaxlib_version[:2] < _BEFORE and jax.default_backend() == "cpu"


def at_once(jaxpr: Any) -> bool:
    """Tell whether a program is compiled sooner, and runs as fast, without MLIR's passes.

    Args:
        jaxpr: of the program.
    """
    return not any(
        e.primitive.name in _SLOWER or e.primitive.name.startswith(_SLOWER_KINDS)
        for one in jaxprs.every(jaxpr)
        for e in one.eqns
    )


def program(function: Callable[..., Any], plain: Any, arrays: Any) -> Any:
    """Give the compiled form of a function for calls outside other programs.

    Args:
        function: of arrays.
        plain: `jax.jit` of it.
        arrays: what it is called with first.
    """
    if jax_private.jit_disabled() or not _known():
        return plain
    # Jax traces once for both.
    if not at_once(plain.trace(*arrays).jaxpr):
        return plain
    return jax.jit(function, compiler_options=_AT_ONCE)
