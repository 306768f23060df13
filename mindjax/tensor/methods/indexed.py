"""Tensor methods of segments, replaced rows and sparse forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.tensor.indexing import getitem
from mindjax.tensor.methods.late import Late

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


class IndexedMethods:
    """Methods that are functions of `mindjax.ops.indexed` and `mindjax.ops.sparse`."""

    __slots__ = ()

    inplace_update = Late()
    unsorted_segment_max = Late()
    unsorted_segment_min = Late()
    unsorted_segment_prod = Late()
    to_coo = Late("dense_to_sparse_coo")
    to_csr = Late("dense_to_sparse_csr")

    def index(self: Any, indices: Any) -> Tensor:
        """Take elements by index Tensors, one an axis (MindSpore: ``Tensor.index``).

        Args:
            indices: tuple or list of integer or Bool Tensors, for the first axes.

        Returns:
            Tensor.

        Raises:
            TypeError: it is no sequence of Tensors.
            IndexError: an index is out of range, or there are more than axes.
        """
        if not isinstance(indices, tuple | list) or not all(isinstance(i, Handle) for i in indices):
            raise located(
                TypeError,
                f"For 'index', the 'indices' must be a tuple of Tensors, but got {indices!r}.",
            )
        return getitem(self, tuple(indices))
