"""Tensor methods of segments, replaced rows and sparse forms."""

from __future__ import annotations

from mindjax.tensor.methods.late import Late


class IndexedMethods:
    """Methods that are functions of `mindjax.ops.indexed` and `mindjax.ops.sparse`."""

    __slots__ = ()

    inplace_update = Late()
    unsorted_segment_max = Late()
    unsorted_segment_min = Late()
    unsorted_segment_prod = Late()
    to_coo = Late("dense_to_sparse_coo")
    to_csr = Late("dense_to_sparse_csr")
