"""Tensor methods that numpy's arrays have, and that no op gives: resize."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.ops.creation import zeros
from mindjax.ops.sequence import concat
from mindjax.ops.shape import reshape, spread
from mindjax.ops.slicing import narrow
from mindjax.tensor.methods.late import Late

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


class ArrayMethods:
    """Methods of numpy's arrays, and activations by their old names."""

    __slots__ = ()

    hardshrink = Late()
    logit = Late()
    soft_shrink = Late("softshrink")

    def resize(self: Any, *new_shape: Any) -> Tensor:
        """Give another shape; elements are cut off, or zeros put behind (``Tensor.resize``).

        Args:
            new_shape: sizes, as integers or one sequence; none leaves the shape.

        Returns:
            Tensor of that shape and the same dtype; other than numpy's, this Tensor stays.

        Raises:
            TypeError: a size is no integer.
            ValueError: a size is negative.
        """
        if not new_shape:
            return self
        shape = checks.sizes("new_shape", spread(new_shape), "resize")
        flat, wanted = reshape(self, (-1,)), math.prod(shape)
        if wanted > self.size:
            flat = concat([flat, zeros((wanted - self.size,), self.dtype)], 0)
        return reshape(narrow(flat, 0, 0, wanted), shape)
