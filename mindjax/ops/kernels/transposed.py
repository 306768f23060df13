"""Transposed copies of matrices, made by blocks."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from mindjax.core.primitive import is_portable

Array = jax.Array

_transposed = Primitive("transposed_copy")


def transposed(matrix: Array) -> Array:
    """Give a transposed copy that XLA keeps apart from what it is used for.

    In loops that XLA's CPU backend makes of a transpose and what stands before it, each element is
    read from another cache line.

    Args:
        matrix: (rows, columns).

    Returns:
        (columns, rows).
    """
    if matrix.dtype != np.float32 or is_portable() or _handler() is None:
        return lax.optimization_barrier(matrix.T)
    return _transposed.bind(matrix)


def _handler() -> str | None:
    from mindjax.ops.kernels.handlers import handler

    return handler("transposed")


def _call(matrix: Array) -> Array:
    shape = jax.ShapeDtypeStruct(matrix.shape[::-1], matrix.dtype)
    return jax.ffi.ffi_call(_handler() or "", shape)(matrix)


def _batched(arrays: Any, axes: Any) -> Any:
    rows = jnp.moveaxis(arrays[0], axes[0], 0)
    return lax.optimization_barrier(jnp.swapaxes(rows, 1, 2)), 0


def run_compiled(primitive: Primitive) -> None:
    """Let a kernel's primitive run on arrays as a program, under `jax.disable_jit` too."""

    def bound(*arrays: Array, numbers: tuple[tuple[str, Any], ...]) -> Any:
        return primitive.bind(*arrays, **dict(numbers))

    program = jax.jit(bound, static_argnames="numbers")

    def run(*arrays: Array, **numbers: Any) -> Any:
        # Without jit the program would bind the primitive to the arrays again.
        with jax.disable_jit(False):
            return program(*arrays, numbers=tuple(numbers.items()))

    primitive.def_impl(run)


run_compiled(_transposed)
_transposed.def_abstract_eval(lambda matrix: ShapedArray(matrix.shape[::-1], matrix.dtype))
ad.deflinear2(_transposed, lambda cotangent, matrix: [_transposed.bind(cotangent)])
batching.primitive_batchers[_transposed] = _batched
mlir.register_lowering(_transposed, mlir.lower_fun(_call, multiple_results=False), "cpu")
