"""mint's names for reading and writing by index where the signature differs from ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.ops.gather import gather_elements
from mindjax.ops.gather import index_select as _index_select
from mindjax.ops.masking import unique_sorted
from mindjax.ops.scatter import index_sum, scatter_along_add
from mindjax.ops.scatter import scatter as _scatter

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

index_add = index_sum
scatter_add = scatter_along_add
unique = unique_sorted


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Take one element for each index, along an axis (MindSpore: ``mint.gather``).

    Args:
        input: Tensor.
        dim: the axis.
        index: integer Tensor of the same rank, elsewhere no larger than ``input``.

    Returns:
        Tensor of ``index``'s shape and ``input``'s dtype.

    Raises:
        ValueError: ranks or sizes do not fit, or the axis is out of range.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return gather_elements(input, dim, index)


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Take the slices of an axis that a vector names (MindSpore: ``mint.index_select``).

    Args:
        input: Tensor.
        dim: the axis.
        index: integer vector.

    Returns:
        Tensor, as long as ``index`` along the axis.

    Raises:
        ValueError: the axis is out of range, or ``index`` has more axes.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return _index_select(input, dim, index)


def scatter(input: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    """Copy a Tensor with single elements replaced along an axis (MindSpore: ``mint.scatter``).

    Args:
        input: Tensor.
        dim: the axis.
        index: integer Tensor of the same rank.
        src: Tensor not smaller than ``index``, or a number.

    Returns:
        Tensor like ``input``.

    Raises:
        ValueError: the shapes do not fit.
    """
    return _scatter(input, dim, index, src)
