"""mint.special: special functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mindjax.ops import rounding
from mindjax.ops.exponential import erfc as erfc
from mindjax.ops.exponential import exp2 as exp2
from mindjax.ops.exponential import expm1 as expm1
from mindjax.ops.exponential import log1p as log1p
from mindjax.ops.numeric.old_names import log_softmax_ext
from mindjax.ops.special import sinc as sinc

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

log_softmax = log_softmax_ext


def round(input: Tensor) -> Tensor:
    """Round to the nearest integer, halves to even (MindSpore: ``mint.special.round``).

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.
    """
    return rounding.round(input)
