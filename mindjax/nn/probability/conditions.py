"""What parameters of distributions and bijectors must be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mindjax.core.dtype import Type, as_dtype, float32, float64
from mindjax.core.errors import located
from mindjax.core.handle import is_traced
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


def as_tensor(value: Any, dtype: Any = float32) -> Any:
    """Bring a parameter to a Tensor.

    Args:
        value: Tensor, array, list or number; a Parameter stays what it is.
        dtype: element type of the Tensor.

    Raises:
        ValueError: the value is None.
        TypeError: it is a bool or something else.
    """
    if value is None:
        raise located(ValueError, "Input cannot be None in cast_to_tensor")
    if isinstance(value, Parameter):
        return value
    if isinstance(value, bool):
        raise located(TypeError, "Input cannot be Type Bool")
    if isinstance(value, Tensor | np.ndarray | list | int | float):
        return Tensor(value, dtype=dtype)
    raise located(
        TypeError, f"Unable to convert input of type {type(value)} to a Tensor of type {dtype}"
    )


def is_float(dtype: Any) -> bool:
    """Tell whether a dtype is one of floats."""
    return as_dtype(dtype).kind == "float"


def common_dtype(values: Mapping[str, Any], hint: Any) -> Any:
    """Find the dtype of a distribution's parameters.

    Args:
        values: parameters by name.
        hint: dtype where no parameter has one.

    Returns:
        The parameters' dtype; Float32 for integers and Float64.

    Raises:
        TypeError: two parameters have different dtypes.
    """
    if hint is None or as_dtype(hint).kind in ("int", "uint"):
        hint = float32
    found: Type | None = None
    for name, value in values.items():
        if not hasattr(value, "dtype"):
            continue
        dtype = as_dtype(value.dtype)
        if found is None:
            found = dtype
        elif dtype != found:
            raise located(
                TypeError,
                f"{name} should have the same dtype as other arguments, but got {dtype} and "
                f"{found}.",
            )
    if found is None:
        return hint
    return float32 if found.kind in ("int", "uint") or found == float64 else found


def batch_shape(values: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Give the common shape of parameters, None where one is not given.

    Raises:
        ValueError: the shapes do not broadcast.
    """
    if any(value is None for value in values.values()):
        return None
    shapes = [
        np.shape(v) if isinstance(v, list) else getattr(v, "shape", ()) for v in values.values()
    ]
    try:
        return np.broadcast_shapes(*(tuple(s) for s in shapes))
    except ValueError:
        raise located(
            ValueError, f"The shapes of {list(values)} do not broadcast, but got {shapes}."
        ) from None


def is_scalar_batch(values: Mapping[str, Any]) -> bool:
    """Tell whether all parameters that are given are Python numbers."""
    return all(v is None or isinstance(v, int | float) for v in values.values())


def _known(value: Any) -> np.ndarray | None:
    """Give the numbers of a parameter; None inside a compiled program, where there are none."""
    if value is None or is_traced(value._raw()):
        return None
    return np.asarray(value.asnumpy(), np.float64)


def positive(value: Any, name: str, zero: bool = False) -> None:
    """Check that all elements of a parameter are above 0, or from 0 up.

    Raises:
        ValueError: one is not.
    """
    found = _known(value)
    if found is not None and not ((found >= 0) if zero else (found > 0)).all():
        word = "greater than or equal to" if zero else "greater than"
        raise located(ValueError, f"{name} must be {word} zero, but got {found.min()}.")


def below(low: Any, high: Any) -> None:
    """Check that a lower bound is below an upper one.

    Raises:
        ValueError: it is not.
    """
    first, second = _known(low), _known(high)
    if first is not None and second is not None and not (first < second).all():
        raise located(ValueError, f"low must be less than high, but got {first} and {second}.")


def probabilities(value: Any) -> None:
    """Check that all elements of a parameter lie between 0 and 1.

    Raises:
        ValueError: one does not.
    """
    found = _known(value)
    if found is None:
        return
    if not (found > 0).all():
        raise located(
            ValueError, f"Probabilities must be greater than zero, but got {found.min()}."
        )
    if not (found < 1).all():
        raise located(ValueError, f"Probabilities must be less than one, but got {found.max()}.")


def categories(value: Any) -> None:
    """Check that a parameter holds probabilities of categories, which sum up to one.

    Raises:
        ValueError: it has no axis, or a sum is not one.
    """
    if not value.shape:
        raise located(ValueError, "probs for Categorical distribution must have rank >= 1.")
    found = _known(value)
    if found is None:
        return
    eps = np.finfo(np.float16 if "16" in str(value.dtype) else np.float32).eps
    if not np.allclose(found.sum(-1), 1, rtol=eps * 10, atol=eps):
        raise located(
            ValueError,
            "Probabilities for each category should sum to one for Categorical distribution, but "
            f"got sums {found.sum(-1)}.",
        )
