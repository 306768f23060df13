"""The dtype that joins others, by this namespace's own rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.dtype import Number, bool_, float32, int32
from mindjax.core.errors import located
from mindjax.numpy.arguments import checked_dtype, promote
from mindjax.tensor import Tensor


def promote_types(type1: Any, type2: Any) -> Number:
    """Find the dtype that joins two dtypes (MindSpore: ``numpy.promote_types``).

    Args:
        type1: dtype, its name or a Python type.
        type2: dtype, its name or a Python type.

    Returns:
        MindSpore dtype; a float wins over every integer.

    Raises:
        TypeError: an argument is no dtype.
    """
    return promote(checked_dtype(type1), checked_dtype(type2))


def result_type(*arrays_and_dtypes: Any) -> Number:
    """Find the dtype that joins Tensors, numbers and dtypes (MindSpore: ``numpy.result_type``).

    Args:
        arrays_and_dtypes: Tensors, Python numbers, dtypes or names of dtypes.

    Returns:
        MindSpore dtype.

    Raises:
        TypeError: an argument is none of these.
    """
    kinds = [_kind(x) for x in arrays_and_dtypes]
    joint = kinds[0]
    for kind in kinds[1:]:
        joint = promote(joint, kind)
    return joint


def _kind(x: Any) -> Number:
    if isinstance(x, Tensor):
        return x.dtype
    if isinstance(x, bool | int | float):
        return bool_ if isinstance(x, bool) else int32 if isinstance(x, int) else float32
    if isinstance(x, Number):
        return x
    if isinstance(x, str):
        try:
            return checked_dtype(x)
        except TypeError:
            return checked_dtype(str(np.dtype(x)))
    raise located(TypeError, f"data type not understood: {x!r}.")
