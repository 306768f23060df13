"""Curvature for second-order steps: Kronecker factors, their inverses, and gradients between them.

Martens & Grosse 2015; convolutions: Grosse & Martens 2016. Not primitives of the original, which
names its own for each device: unregistered.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from mindjax.core.primitive import Primitive

Array = jax.Array


class InverseBlocks(Primitive, register=False):
    """Inverses of the blocks along the diagonal of a positive definite matrix, by Cholesky.

    The last block is filled up with the identity.

    Args:
        size: rows of a block; a smaller matrix is one block.
    """

    size: int

    def compute(self, matrix: Array) -> Array:
        """Give (blocks, size, size)."""
        rows = matrix.shape[0]
        size = min(rows, self.size)
        count = -(-rows // size)
        missing = count * size - rows
        matrix = jnp.pad(matrix, ((0, missing), (0, missing)))
        filled = jnp.arange(count * size) >= rows
        matrix = matrix + jnp.diag(filled.astype(matrix.dtype))
        blocks = matrix.reshape(count, size, count, size)
        each = jnp.arange(count)
        blocks = blocks.at[each, :, each, :].get()
        identity = jnp.broadcast_to(jnp.eye(size, dtype=matrix.dtype), blocks.shape)
        lower = lax.linalg.cholesky(blocks)
        inner = lax.linalg.triangular_solve(lower, identity, left_side=True, lower=True)
        return jnp.swapaxes(inner, -1, -2) @ inner


class Preconditioned(Primitive, register=False):
    """A matrix of gradients between two matrices of blocks along the diagonal: G⁻¹ g A⁻¹."""

    def compute(self, left: Array, gradient: Array, right: Array) -> Array:
        """Multiply.

        Args:
            left: (a, s, s).
            gradient: (out, in), with out at most a s.
            right: (a, b, t, t) with in at most b t.
        """
        (a, s, _), (_, b, t, _) = left.shape, right.shape
        rows, columns = gradient.shape
        padded = jnp.pad(gradient, ((0, a * s - rows), (0, b * t - columns)))
        parts = padded.reshape(a, s, b, t)
        parts = jnp.einsum("aij,ajbk->aibk", left, parts)
        parts = jnp.einsum("aibk,abkl->aibl", parts, right)
        return parts.reshape(a * s, b * t)[:rows, :columns]


class PatchMoment(Primitive, register=False):
    """Second moment of the patches that a convolution sees, averaged over the samples first.

    Args:
        kernel_size: (height, width).
        stride: (height, width).
        dilation: (height, width).
        pad_mode: ``"same"``, ``"valid"`` or ``"pad"``.
        padding: (top, bottom, left, right) of ``"pad"``.
    """

    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    pad_mode: str
    padding: tuple[int, ...]

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Give the moment of (N, C, H, W), (C h w, C h w), and the number of places, (1,)."""
        top, bottom, left, right = self.padding
        padding: Any = self.pad_mode.upper()
        if self.pad_mode == "pad":
            padding = [(top, bottom), (left, right)]
        patches = lax.conv_general_dilated_patches(
            x.astype(jnp.float32),
            self.kernel_size,
            self.stride,
            padding,
            rhs_dilation=self.dilation,
        )
        mean = jnp.mean(patches, 0).reshape(patches.shape[1], -1)
        places = mean.shape[1]
        return mean @ mean.T / places, jnp.full((1,), places, jnp.float32)


class GradientMoment(Primitive, register=False):
    """Second moment of a convolution's output gradients, averaged over the samples first."""

    def compute(self, gradient: Array) -> tuple[Array, Array]:
        """Give the moment of (N, C, H, W), (C, C), and the number of places, (1,)."""
        mean = jnp.mean(gradient.astype(jnp.float32), 0).reshape(gradient.shape[1], -1)
        places = mean.shape[1]
        return mean @ mean.T / places, jnp.full((1,), places, jnp.float32)
