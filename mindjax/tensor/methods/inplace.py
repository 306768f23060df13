"""Tensor methods of the inplace family: aliases of ops."""


class InplaceMethods:
    """Methods of the inplace family."""

    __slots__ = ()
