"""Second names of ops on Tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.ops.arithmetic import FloorDiv, FloorMod
from mindjax.ops.ranges import Range
from mindjax.ops.shape import reshape, shape
from mindjax.ops.slicing import Slice

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


def floordiv(input: Any, other: Any) -> Tensor:
    """Divide and round down (MindSpore: ``ops.floordiv``).

    Args:
        input: Tensor or number.
        other: Tensor or number.

    Returns:
        Tensor.
    """
    return FloorDiv()(input, other)


def floormod(x: Any, y: Any) -> Tensor:
    """Give the remainder, with the divisor's sign (MindSpore: ``ops.floormod``).

    Args:
        x: Tensor or number.
        y: Tensor or number.

    Returns:
        Tensor.
    """
    return FloorMod()(x, y)


def reshape_(input: Tensor, shape: Any) -> Tensor:
    """Give the elements another shape (MindSpore: ``ops.reshape_``); not in place.

    Args:
        input: Tensor.
        shape: tuple of ints; one may be -1.

    Returns:
        Tensor.
    """
    return reshape(input, shape)


def shape_(x: Tensor) -> Any:
    """Give the sizes of a Tensor (MindSpore: ``ops.shape_``).

    Args:
        x: Tensor.

    Returns:
        Tuple of ints.
    """
    return shape(x)


def tensor_range(start: Any, end: Any, step: Any) -> Tensor:
    """List numbers at equal distances (MindSpore: ``ops.tensor_range``).

    Args:
        start: first number.
        end: limit, which is not reached.
        step: distance.

    Returns:
        Tensor of one axis.
    """
    return Range()(start, end, step)


def tensor_slice(input: Tensor, begin: Any, size: Any) -> Tensor:
    """Cut a box out of a Tensor (MindSpore: ``ops.tensor_slice``).

    Args:
        input: Tensor.
        begin: first place on each axis.
        size: size on each axis.

    Returns:
        Tensor.
    """
    return Slice()(input, begin, size)
