"""mint's names for reading and writing by index where the signature differs from ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.ops.gather import gather_elements
from mindjax.ops.gather import index_select as _index_select
from mindjax.ops.scatter import scatter as _scatter

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Take one element for each index, along an axis; as ``ops.gather_elements``."""
    return gather_elements(input, dim, index)


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Take the slices of an axis that a vector names; as ``ops.index_select``."""
    return _index_select(input, dim, index)


def scatter(input: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    """Copy a Tensor with single elements replaced along an axis; as ``ops.scatter``."""
    return _scatter(input, dim, index, src)
