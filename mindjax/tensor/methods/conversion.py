"""Tensor methods of the conversion family: aliases of ops."""


class ConversionMethods:
    """Methods of the conversion family."""

    __slots__ = ()
