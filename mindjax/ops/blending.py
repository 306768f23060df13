"""Sums of several Tensors, and blends: `addn`, `lerp`, `addcmul`, `addcdiv`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.promotion import convert, floating, promote

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


class AddN(Primitive):
    """Sum of a sequence of arrays (MindSpore: ``ops.AddN``)."""

    def compute(self, arrays: Sequence[Array]) -> Array:
        """Add arrays of one shape and dtype."""
        if not isinstance(arrays, tuple | list):
            raise located(
                TypeError, f"For '{self.name}', the input must be a tuple or list of Tensors."
            )
        if not arrays:
            raise located(ValueError, f"For '{self.name}', the input must hold a Tensor.")
        first = arrays[0]
        for i, x in enumerate(arrays):
            if x.dtype != first.dtype:
                raise located(
                    TypeError,
                    f"For primitive[{self.name}], the input type must be same. "
                    f"name:[element_0]:Tensor[{from_np(first.dtype)}]. "
                    f"name:[element_{i}]:Tensor[{from_np(x.dtype)}].",
                )
            if x.shape != first.shape:
                raise located(
                    ValueError,
                    f"For '{self.name}', input shape must be same, but got shape of input[{i}]: "
                    f"{x.shape}, shape of input[0]: {first.shape}.",
                )
        return reduce(jnp.add, arrays)


class AccumulateNV2(AddN):
    """Sum of a sequence of arrays (MindSpore: ``ops.AccumulateNV2``)."""


_addn, _accumulate_n = AddN(), AccumulateNV2()


def addn(x: Sequence[Tensor]) -> Tensor:
    """Add Tensors (MindSpore: ``ops.addn``).

    Args:
        x: tuple or list of Tensors of one shape and dtype.

    Returns:
        Tensor of that shape and dtype.

    Raises:
        TypeError: the dtypes differ, or ``x`` is not a sequence.
        ValueError: the shapes differ, or there is no Tensor.
    """
    return _addn(x)


def accumulate_n(x: Sequence[Tensor]) -> Tensor:
    """Add Tensors (MindSpore: ``ops.accumulate_n``).

    Args:
        x: tuple or list of Tensors of one shape and dtype.

    Returns:
        Tensor of that shape and dtype.

    Raises:
        TypeError: the dtypes differ, or ``x`` is not a sequence.
        ValueError: the shapes differ, or there is no Tensor.
    """
    return _accumulate_n(x)


class Addcmul(Primitive):
    """``input + value * x1 * x2`` (MindSpore: ``ops.Addcmul``)."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1, 2)

    def compute(self, x: Array, x1: Array, x2: Array, value: Array) -> Array:
        """Combine arrays that broadcast to each other; ``value`` is cast to their dtype."""
        x, x1, x2 = promote(x, x1, x2, op="Addcmul", broadcast=True)
        return x + convert(value, x.dtype) * x1 * x2


_addcmul = Addcmul()


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
    """Compute ``input + value * tensor1 * tensor2`` (MindSpore: ``ops.addcmul``).

    Args:
        input: Tensor of any shape.
        tensor1: Tensor that broadcasts to ``input``.
        tensor2: Tensor that broadcasts to ``input``.
        value: number or Tensor.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _addcmul(input, tensor1, tensor2, value)


class Addcdiv(Primitive):
    """``input + value * x1 / x2`` (MindSpore: ``ops.Addcdiv``)."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1, 2)

    def compute(self, x: Array, x1: Array, x2: Array, value: Array) -> Array:
        """Combine arrays that broadcast to each other; ``value`` is cast to their dtype."""
        x, x1, x2 = (floating(a) for a in promote(x, x1, x2, op="Addcdiv", broadcast=True))
        return x + convert(value, x.dtype) * (x1 / x2)


_addcdiv = Addcdiv()


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
    """Compute ``input + value * tensor1 / tensor2`` (MindSpore: ``ops.addcdiv``).

    Args:
        input: Tensor of any shape.
        tensor1: Tensor that broadcasts to ``input``.
        tensor2: Tensor that broadcasts to ``input``.
        value: number or Tensor.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _addcdiv(input, tensor1, tensor2, value)


class Lerp(Primitive):
    """``start + weight * (end - start)`` (MindSpore: ``ops.Lerp``)."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, start: Array, end: Array, weight: Array) -> Array:
        """Blend arrays that broadcast to each other; ``weight`` is cast to their dtype."""
        start, end = (floating(a) for a in promote(start, end, op="Lerp", broadcast=True))
        return start + convert(weight, start.dtype) * (end - start)


_lerp = Lerp()


def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """Blend linearly from ``input`` to ``end`` (MindSpore: ``ops.lerp``).

    Args:
        input: Tensor of any shape.
        end: Tensor that broadcasts to ``input``.
        weight: number or Tensor; 0 gives ``input``, 1 gives ``end``.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _lerp(input, end, weight)
