"""Products with weights whose gradient runs at the speed of the product itself on CPUs.

The gradient of the weights contracts both operands over their first axis, x^T dy. XLA's CPU backend
gives such a product to a slower kernel than one whose left operand is contracted over its last
axis. The tangent is therefore written over a transposed copy, kept apart from the product by a
kernel or an optimization barrier, so that its transpose is the fast product. Forward mode and
higher orders are jax's own of what is written here. Where there is a kernel for the products
themselves, it reads transposed operands as they lie, and no copy is made.
"""

from __future__ import annotations

import functools
import os
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero

from mindjax.core.device import target
from mindjax.ops.kernels import product
from mindjax.ops.kernels.transposed import transposed

Array = jax.Array

SMALLEST = 1 << 22
"""Multiplications of a product from which on a transposed copy pays."""


@functools.cache
def forms_wanted() -> bool:
    """Tell whether ops may take other forms than the plain ones.

    They may, unless ``MINDJAX_CPU_FORMS`` is 0 when the first op asks.
    """
    return os.environ.get("MINDJAX_CPU_FORMS", "1") != "0"


def cpu_forms() -> bool:
    """Tell whether ops take the forms made for XLA's CPU backend."""
    return forms_wanted() and target() == "CPU"


def times_weight(
    x: Array, weight: Array, out_first: bool, precision: lax.Precision | None = None
) -> Array:
    """Contract the last axis of an array with a matrix of weights.

    Args:
        x: (..., in).
        weight: (out, in) if ``out_first``, else (in, out), of the same dtype.
        out_first: which axis of the weights is contracted.
        precision: of the products.

    Returns:
        (..., out).
    """
    size = x.size * weight.shape[0 if out_first else 1]
    worth = x.ndim > 1 and x.dtype.name in ("float32", "float64") and size >= SMALLEST
    if not worth or not cpu_forms():
        return plain(x, weight, out_first, precision)
    if product.wanted(x, weight):
        rows = product.product(x.reshape(-1, x.shape[-1]), weight, right_turned=out_first)
        return rows.reshape(*x.shape[:-1], rows.shape[-1])
    return barred(x, weight, out_first, precision)


def plain(
    x: Array, weight: Array, out_first: bool, precision: lax.Precision | None = None
) -> Array:
    """Contract as `times_weight` does, with jax's own derivative."""
    axes = (((x.ndim - 1,), (1 if out_first else 0,)), ((), ()))
    return lax.dot_general(x, weight, axes, precision)


@partial(jax.custom_jvp, nondiff_argnums=(2, 3))
def barred(
    x: Array, weight: Array, out_first: bool, precision: lax.Precision | None = None
) -> Array:
    """Contract as `times_weight` does, with the derivative for CPUs."""
    return plain(x, weight, out_first, precision)


def _barred_jvp(
    out_first: bool, precision: lax.Precision | None, primals: Any, tangents: Any
) -> Any:
    (x, weight), (dx, dw) = primals, tangents
    out = barred(x, weight, out_first, precision)
    parts = []
    if not isinstance(dx, SymbolicZero):
        parts.append(plain(dx, weight, out_first, precision))
    if not isinstance(dw, SymbolicZero):
        rows = by_tangent(x.reshape(-1, x.shape[-1]), dw, out_first, precision)
        parts.append(rows.reshape(out.shape))
    return out, sum(parts[1:], parts[0])


barred.defjvp(_barred_jvp, symbolic_zeros=True)


def by_tangent(
    x: Array, dw: Array, out_first: bool, precision: lax.Precision | None = None
) -> Array:
    """Contract x (batch, in) with a tangent; transposed, it contracts over the batch.

    Of the two operands of that contraction the smaller one is transposed.
    """
    if product.wanted(x, dw):
        return product.product(x, dw, right_turned=out_first)
    if out_first and dw.shape[0] <= dw.shape[1]:
        return transposed(plain(dw, x, True, precision))
    columns = transposed(x)
    dw = transposed(dw) if out_first else dw
    return lax.dot_general(columns, dw, (((0,), (0,)), ((), ())), precision)


def weight_gradient(dy: Array, x: Array) -> Array:
    """Contract two matrices over their rows: (batch, out) and (batch, in) give (out, in)."""
    if product.wanted(dy, x):
        return product.product(dy, x, left_turned=True)
    return lax.dot_general(lax.optimization_barrier(dy.T), x, (((1,), (0,)), ((), ())))


def times_each(x: Array, y: Array) -> Array:
    """Multiply matrices, or batches of them, as `jax.numpy.matmul` does.

    The gradient of the right operand contracts both x and dy over their rows, which XLA's CPU
    backend multiplies slower; where there is a kernel for products, it computes that gradient.
    """
    batched = x.ndim == y.ndim > 2 and x.shape[:-2] == y.shape[:-2]
    if not batched or x.size * y.shape[-1] < SMALLEST or not cpu_forms():
        return jnp.matmul(x, y)
    return by_kernel(x, y) if product.wanted(x, y) else jnp.matmul(x, y)


@jax.custom_jvp
def by_kernel(x: Array, y: Array) -> Array:
    """Multiply as `times_each` does, with the derivative for CPUs."""
    return jnp.matmul(x, y)


def _by_kernel_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    out = by_kernel(x, y)
    parts = []
    if not isinstance(dx, SymbolicZero):
        parts.append(jnp.matmul(dx, y))
    if not isinstance(dy, SymbolicZero):
        left, right = (a.reshape(-1, *a.shape[-2:]) for a in (x, dy))
        # What is wider than high is, in attention, a transposed array: so is its gradient.
        if dy.shape[-2] < dy.shape[-1]:
            made = product.product(left, right.swapaxes(1, 2), right_turned=True)
        else:
            made = product.product(left, right)
        parts.append(made.reshape(out.shape))
    return out, sum(parts[1:], parts[0])


by_kernel.defjvp(_by_kernel_jvp, symbolic_zeros=True)
