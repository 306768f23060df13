"""Conversion between dtypes by the original's rules, and questions about dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core.dtype import Number, as_dtype, float32
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.promotion import is_float
from mindjax.ops.bound import at_call, bind

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


class Cast(Primitive):
    """Conversion to another dtype (MindSpore: ``ops.Cast``)."""

    dtype: Number = at_call(float32)

    def __call__(self, x: Any, dtype: Number | None = None) -> Any:
        """Convert a Tensor or number to ``dtype``."""
        if dtype is None or dtype is self.dtype:
            return super().__call__(x)
        return super(Cast, _record(dtype)).__call__(x)

    def compute(self, x: Array) -> Array:
        """Convert an array."""
        return convert_values(x, self.dtype.np)


_RECORDS: dict[Number, Cast] = {}


def _record(dtype: Any) -> Cast:
    found = _RECORDS.get(dtype) if isinstance(dtype, Number) else None
    if found is not None:
        return found
    if not isinstance(dtype, Number):
        raise located(
            TypeError,
            f"For 'Cast', the input 'dtype' should be mindspore dtype, but got {dtype}.",
        )
    return _RECORDS.setdefault(dtype, bind(Cast(), dtype=dtype))


def convert_values(x: Any, dtype: np.dtype[Any]) -> Array:
    """Convert an array; a float that no integer of the dtype equals is cut as the original cuts it.

    Args:
        x: array of any shape.
        dtype: numpy dtype.

    Returns:
        Array of the same shape. For NaN and floats out of range, int32 and int64 give the smallest
        number, and narrower integers the low bits of that in int32.
    """
    x = jnp.asarray(x)
    if x.dtype == dtype:
        return x
    if jnp.issubdtype(x.dtype, jnp.complexfloating) and not jnp.issubdtype(
        dtype, jnp.complexfloating
    ):
        x = x != 0 if dtype == np.bool_ else x.real
    if is_float(x) and dtype.kind in "iu":
        wide = np.dtype(np.int64 if dtype.itemsize == 8 or dtype == np.uint32 else np.int32)
        low = np.iinfo(wide).min
        # -2**31 and -2**63 are exact in every float type that can hold them.
        inside = (
            (x > float(low) - 1) & (x < -float(low))
            if x.dtype == np.float64
            else ((x >= float(low)) & (x < -float(low)))
        )
        if x.dtype == np.float16 or x.dtype == jnp.float8_e4m3fn or x.dtype == jnp.float8_e5m2:
            inside = jnp.isfinite(x)
        whole = jax.lax.convert_element_type(jnp.where(inside, x, jnp.zeros((), x.dtype)), wide)
        x = jnp.where(inside, whole, jnp.asarray(low, wide))
    return jax.lax.convert_element_type(x, dtype)


def cast(input: Any, dtype: Number) -> Tensor:
    """Convert to another dtype (MindSpore: ``ops.cast``).

    Args:
        input: Tensor of any shape, or number.
        dtype: MindSpore dtype.

    Returns:
        Tensor of the same shape; the Tensor itself where it has that dtype already.

    Raises:
        TypeError: ``dtype`` is not a MindSpore dtype.
    """
    record = _record(dtype)
    # A Parameter has an identity that its converted values must not share.
    if (
        isinstance(input, Handle)
        and not input.is_parameter
        and input.value_dtype == record.dtype.np
    ):
        return input  # type: ignore[return-value]
    return record(input)


def cast_like(input: Any, other: Any) -> Tensor:
    """Convert to the dtype of another Tensor or array.

    Args:
        input: Tensor of any shape.
        other: Tensor or jax array.

    Returns:
        Tensor of ``input``'s shape and ``other``'s dtype.
    """
    return input if input.dtype == other.dtype else cast(input, as_dtype(other.dtype))


def is_tensor(obj: Any) -> bool:
    """Tell whether an object is a Tensor (MindSpore: ``ops.is_tensor``).

    Args:
        obj: any object.
    """
    return isinstance(obj, Handle)


def is_floating_point(input: Tensor) -> bool:
    """Tell whether a Tensor holds real floating-point numbers (``ops.is_floating_point``).

    Args:
        input: Tensor.
    """
    return as_dtype(input.dtype).kind == "float"


def is_complex(input: Tensor) -> bool:
    """Tell whether a Tensor holds complex numbers (MindSpore: ``ops.is_complex``).

    Args:
        input: Tensor.
    """
    return as_dtype(input.dtype).kind == "complex"


def is_nonzero(input: Tensor) -> bool:
    """Tell whether a Tensor of one element is not zero (MindSpore: ``ops.is_nonzero``).

    Args:
        input: Tensor of one element.

    Raises:
        ValueError: there is not exactly one element.
    """
    return bool(input)
