"""Tensor methods of the reduction family: aliases of ops."""


class ReductionMethods:
    """Methods of the reduction family."""

    __slots__ = ()
