"""Tensor methods of the indexing family: aliases of ops."""


class IndexingMethods:
    """Methods of the indexing family."""

    __slots__ = ()
