"""mint's names for making Tensors where the signature differs from ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.core.dtype import as_dtype, float32, int64
from mindjax.core.errors import located
from mindjax.ops import amax, cast
from mindjax.ops.creation import full as _full
from mindjax.ops.creation import one_hot as _one_hot
from mindjax.ops.creation import ones as _ones
from mindjax.ops.creation import zeros as _zeros
from mindjax.ops.masking import need_values
from mindjax.ops.ranges import linspace as _linspace
from mindjax.ops.state import identity

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


def clone(input: Tensor) -> Tensor:
    """Copy a Tensor; gradients pass through (MindSpore: ``mint.clone``).

    Args:
        input: Tensor of any shape and dtype.

    Returns:
        New Tensor of the same shape and dtype.
    """
    return identity(input)


def zeros(size: Any, *, dtype: Any = None) -> Tensor:
    """Fill a shape with zeros (MindSpore: ``mint.zeros``).

    Args:
        size: sizes.
        dtype: element type; Float32 by default.

    Returns:
        Tensor.

    Raises:
        TypeError: ``size`` holds no integers.
        ValueError: a size is negative.
    """
    return _zeros(size, dtype)


def ones(size: Any, *, dtype: Any = None) -> Tensor:
    """Fill a shape with ones (MindSpore: ``mint.ones``); arguments as `zeros`.

    Args:
        size: sizes.
        dtype: element type; Float32 by default.

    Returns:
        Tensor.

    Raises:
        TypeError: ``size`` holds no integers.
        ValueError: a size is negative.
    """
    return _ones(size, dtype)


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """Fill a shape with one value (MindSpore: ``mint.full``).

    Args:
        size: sizes.
        fill_value: number or 0-d Tensor.
        dtype: element type; by default that of the value: Bool, Int64 or Float32.

    Returns:
        Tensor.
    """
    if dtype is None:
        if not isinstance(fill_value, int | float):
            checks.tensors("full", fill_value=fill_value)
        kind = as_dtype(
            type(fill_value) if isinstance(fill_value, int | float) else fill_value.dtype
        )
    else:
        kind = as_dtype(dtype)
    return _full(checks.sizes("size", size, "full"), fill_value, dtype=kind)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None) -> Tensor:
    """Make evenly spaced numbers, both ends included (MindSpore: ``mint.linspace``).

    Args:
        start: first number.
        end: last number.
        steps: how many.
        dtype: element type; Float32 by default.

    Returns:
        1-d Tensor.

    Raises:
        ValueError: ``steps`` is not positive.
    """
    kind = float32 if dtype is None else as_dtype(dtype)
    return cast(_linspace(start, end, steps), kind)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Put 1 at each index, 0 elsewhere (MindSpore: ``mint.nn.functional.one_hot``).

    Args:
        tensor: integer Tensor.
        num_classes: size of the new last axis; -1 for the largest index plus 1.

    Returns:
        Int64 Tensor.

    Raises:
        RuntimeError: a compiled program asks for -1, whose value it cannot know.
        ValueError: ``num_classes`` is another negative number.
    """
    checks.tensors("one_hot", tensor=tensor)
    num_classes = checks.integer("num_classes", num_classes, "one_hot")
    if num_classes == -1:
        need_values("", "give 'num_classes'", tensor)
        num_classes = int(amax(tensor)) + 1 if tensor.size else 0
    elif num_classes < 0:
        raise located(
            ValueError,
            f"For 'one_hot', 'num_classes' must be -1 or at least 0, but got {num_classes}.",
        )
    return cast(_one_hot(tensor, num_classes), int64)
