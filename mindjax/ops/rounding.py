"""Rounding, element by element."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core import checks
from mindjax.core.primitive import Primitive
from mindjax.ops.arithmetic import sub
from mindjax.ops.bound import BoundPrimitive

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def _inexact(x: Array) -> bool:
    return jnp.issubdtype(x.dtype, jnp.inexact)


class Floor(Primitive):
    """Rounding down."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.floor(x) if _inexact(x) else x


_floor = Floor()


def floor(input: Tensor) -> Tensor:
    """Round down (MindSpore: ``ops.floor``).

    Args:
        input: Tensor of any shape; integers are whole already.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _floor(input)


class Ceil(Primitive):
    """Rounding up."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.ceil(x) if _inexact(x) else x


_ceil = Ceil()


def ceil(input: Tensor) -> Tensor:
    """Round up (MindSpore: ``ops.ceil``).

    Args:
        input: Tensor of any shape; integers are whole already.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _ceil(input)


class Trunc(Primitive):
    """Rounding towards zero."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.trunc(x) if _inexact(x) else x


_trunc = Trunc()


def trunc(input: Tensor) -> Tensor:
    """Round towards zero (MindSpore: ``ops.trunc``).

    Args:
        input: Tensor of any shape; integers are whole already.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _trunc(input)


class Round(BoundPrimitive):
    """Rounding to the nearest number, halves to the even one (MindSpore: ``ops.Round``)."""

    statics: ClassVar[tuple[str, ...]] = ("decimals",)
    decimals: int = field(default=0, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the number of digits."""
        return {"decimals": checks.integer("decimals", statics["decimals"], "Round")}

    def compute(self, x: Array) -> Array:
        """Round an array."""
        if not _inexact(x) and self.decimals >= 0:
            return x
        return jnp.round(x, self.decimals)


_round = Round()


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Round to the nearest number, halves to the even one (MindSpore: ``ops.round``).

    Args:
        input: Tensor of any shape.
        decimals: digits to keep behind the point, negative for places before it.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _round(input) if decimals == 0 else _round(input, decimals)


class Rint(Primitive):
    """Rounding to the nearest whole number, halves to the even one (MindSpore: ``ops.Rint``)."""

    def compute(self, x: Array) -> Array:
        """Round an array."""
        return jnp.round(x) if _inexact(x) else x


def frac(x: Tensor) -> Tensor:
    """Give what stands behind the point, with the sign of the number (MindSpore: ``ops.frac``).

    Args:
        x: Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.
    """
    return sub(x, trunc(x))
