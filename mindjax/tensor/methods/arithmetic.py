"""Tensor methods of the arithmetic family: aliases of ops."""


class ArithmeticMethods:
    """Methods of the arithmetic family."""

    __slots__ = ()
