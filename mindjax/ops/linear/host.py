"""Calls of host functions from compiled programs, exact in double precision.

jax hands arrays to a callback in the user's setting, where double precision may be off: 64-bit
numbers travel as pairs of 32-bit words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Array = jax.Array

_PAIRS = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.uint64))
_WIDE = np.dtype(np.complex128)


def on_host(
    run: Callable[..., Any],
    results: tuple[jax.ShapeDtypeStruct, ...],
    *arrays: Array,
    vmap_method: str = "expand_dims",
) -> tuple[Array, ...]:
    """Call a function of numpy arrays from a traced program.

    Args:
        run: pure function of numpy arrays that gives a tuple of numpy arrays.
        results: shapes and dtypes of what it gives.
        arrays: arguments.
        vmap_method: how jax batches the call; with ``"expand_dims"`` the arrays get leading axes.

    Returns:
        The results.
    """
    dtypes = [np.dtype(a.dtype) for a in arrays]

    def packed_run(*words: Any) -> tuple[Any, ...]:
        values = [_read(np.asarray(w), d) for w, d in zip(words, dtypes, strict=True)]
        outputs = run(*values)
        return tuple(
            _words(np.array(o, r.dtype, order="C")) for o, r in zip(outputs, results, strict=True)
        )

    shapes = tuple(_packed_shape(r) for r in results)
    out = jax.pure_callback(
        packed_run, shapes, *(_pack(a) for a in arrays), vmap_method=vmap_method
    )
    return tuple(_unpack(o, np.dtype(r.dtype)) for o, r in zip(out, results, strict=True))


def _packed_shape(result: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
    dtype = np.dtype(result.dtype)
    if dtype == _WIDE:
        return jax.ShapeDtypeStruct((*result.shape, 2, 2), np.uint32)
    if dtype in _PAIRS:
        return jax.ShapeDtypeStruct((*result.shape, 2), np.uint32)
    return result


def _pack(x: Array) -> Array:
    if x.dtype == _WIDE:
        x = jnp.stack([jnp.real(x), jnp.imag(x)], -1)
    return lax.bitcast_convert_type(x, np.uint32) if x.dtype in _PAIRS else x


def _unpack(x: Array, dtype: Any) -> Array:
    if dtype == _WIDE:
        parts = lax.bitcast_convert_type(x, np.float64)
        return lax.complex(parts[..., 0], parts[..., 1])
    return lax.bitcast_convert_type(x, dtype) if dtype in _PAIRS else x


def _words(x: Any) -> Any:
    if x.dtype == _WIDE:
        return x.reshape((*x.shape, 1)).view(np.uint32).reshape((*x.shape, 2, 2))
    return x.reshape((*x.shape, 1)).view(np.uint32) if x.dtype in _PAIRS else x


def _read(x: Any, dtype: Any) -> Any:
    if dtype == _WIDE:
        return np.ascontiguousarray(x).reshape((*x.shape[:-2], 4)).view(dtype)[..., 0]
    return np.ascontiguousarray(x).view(dtype)[..., 0] if dtype in _PAIRS else x
