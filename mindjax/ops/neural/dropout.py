"""Dropout with masks of bits, and of the channels of volumes."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.core.random import default_generator, key, seeded
from mindjax.ops.dropout import DropoutChannels, check_rank

Array = jax.Array


class Dropout3D(Primitive):
    """Dropout of whole channels of volumes (Tompson 2015; MindSpore: ``ops.Dropout3D``).

    Args:
        keep_prob: probability of a channel to stay.
    """

    keep_prob: float = 0.5

    def __post_init__(self) -> None:
        checks.float_in_range("keep_prob", self.keep_prob, 0, 1, "Dropout3D")

    def __call__(self, x: Any) -> Any:
        """Drop channels of (N, C, D, H, W).

        Returns:
            The rest, divided by ``keep_prob``, and the mask of truths, both of the input's shape.
        """
        check_rank(x, (5,), "Dropout3D")
        return DropoutChannels(float(self.keep_prob), 2)(x, *default_generator().next_key())


def _bytes(shape: tuple[int, ...]) -> int:
    """Give the size of a mask: whole groups of 128 bits."""
    return -(-math.prod(shape) // 128) * 16


class _Bits(Primitive, register=False):
    """A mask with one bit an element, the lowest first."""

    shape: tuple[int, ...]

    def compute(self, keep_prob: Array, seed: Array, offset: Array) -> Array:
        size = _bytes(self.shape)
        draws = jax.random.uniform(key(seed, offset), (size, 8), np.float32)
        kept = draws < keep_prob.astype(np.float32).reshape(())
        return jnp.packbits(kept, axis=1, bitorder="little").reshape(size)


class DropoutGenMask(Primitive):
    """Random bits for `DropoutDoMask`; call: ``DropoutGenMask(...)(shape, keep_prob)``.

    MindSpore: ``ops.DropoutGenMask``.

    Args:
        Seed0: with ``Seed1``, seed of a stream of its own; both 0 for the global stream.
        Seed1: see ``Seed0``.
    """

    Seed0: int = 0
    Seed1: int = 0

    def __post_init__(self) -> None:
        for name in ("Seed0", "Seed1"):
            checks.non_negative_int(name, getattr(self, name), "DropoutGenMask")
        if self.Seed0 or self.Seed1:
            self.__dict__["_generator"] = seeded(self.Seed0 ^ (self.Seed1 << 16))

    def __call__(self, shape: Any, keep_prob: Any) -> Any:
        """Draw the mask of a shape.

        Args:
            shape: tuple of ints.
            keep_prob: probability of a bit, a number or a Tensor of one element.

        Returns:
            UInt8 Tensor, whole groups of 128 bits.
        """
        sizes = checks.sizes("shape", shape, "DropoutGenMask")
        generator = self.__dict__.get("_generator") or default_generator()
        return _Bits(sizes)(keep_prob, *generator.next_key())


class DropoutDoMask(Primitive):
    """Elements whose bit is set, divided by the probability (MindSpore: ``ops.DropoutDoMask``)."""

    def compute(self, x: Array, mask: Array, keep_prob: Array) -> Array:
        """Drop elements of a float array.

        Args:
            x: any shape.
            mask: UInt8, what `DropoutGenMask` gives for the shape of ``x``.
            keep_prob: one element in [0, 1].
        """
        owner = "DropoutDoMask"
        checks.floating("input_x", x.dtype, owner)
        if mask.dtype != np.uint8:
            raise located(
                TypeError, f"For '{owner}', 'mask' must be UInt8, but got {from_np(mask.dtype)}."
            )
        if mask.ndim != 1 or mask.shape[0] < _bytes(x.shape) or keep_prob.size != 1:
            raise located(
                ValueError,
                f"For '{owner}', 'mask' must have {_bytes(x.shape)} elements and 'keep_prob' one, "
                f"but got shapes {mask.shape} and {keep_prob.shape}.",
            )
        bits = jnp.unpackbits(mask, bitorder="little")[: x.size].reshape(x.shape)
        probability = keep_prob.reshape(()).astype(x.dtype)
        none = probability == 0
        scaled = x / jnp.where(none, 1, probability)
        return jnp.where((bits == 1) & ~none, scaled, jnp.zeros((), x.dtype))
