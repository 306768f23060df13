"""Tensor methods of the shape family: aliases of ops."""


class ShapeMethods:
    """Methods of the shape family."""

    __slots__ = ()
