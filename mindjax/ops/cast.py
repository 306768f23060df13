"""Conversion between dtypes by the original's rules, and questions about dtypes."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype, float32
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.promotion import is_float

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


class Cast(BoundPrimitive):
    """Conversion to another dtype (MindSpore: ``ops.Cast``)."""

    statics: ClassVar[tuple[str, ...]] = ("dtype",)
    dtype: Number = field(default=float32, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check that it is a dtype."""
        return {"dtype": _record(statics["dtype"]).dtype}

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
    return _RECORDS.setdefault(dtype, Cast(dtype=dtype))


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
        if x.dtype in (np.float16, jnp.float8_e4m3fn, jnp.float8_e5m2):
            inside = jnp.isfinite(x)
        elif x.dtype == np.float64:
            inside = (x > float(low) - 1) & (x < -float(low))
        else:
            # -2**31 and -2**63 are exact in every float type that can hold them.
            inside = (x >= float(low)) & (x < -float(low))
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


class SameBits(Primitive, register=False):
    """The bits of a Tensor read as another dtype; the last axis shrinks or grows to match.

    Args:
        dtype: MindSpore dtype.
    """

    dtype: Number

    def compute(self, x: Array) -> Array:
        """Reinterpret an array of any shape."""
        have, want = x.dtype.itemsize, self.dtype.np.itemsize
        if have == want:
            return lax.bitcast_convert_type(x, self.dtype.np)
        if x.ndim == 0 or (want > have and x.shape[-1] * have % want):
            raise located(
                ValueError,
                f"For 'Tensor.view', the last axis of {x.shape} must hold a whole number of "
                f"{self.dtype.name}.",
            )
        if have > want:
            return lax.bitcast_convert_type(x, self.dtype.np).reshape(*x.shape[:-1], -1)
        parts = x.reshape(*x.shape[:-1], x.shape[-1] * have // want, want // have)
        return lax.bitcast_convert_type(parts, self.dtype.np)


def cast_like(input: Any, other: Any) -> Tensor:
    """Convert to the dtype of another Tensor or array.

    Args:
        input: Tensor of any shape.
        other: Tensor or jax array.

    Returns:
        Tensor of ``input``'s shape and ``other``'s dtype.
    """
    checks.tensors("cast_like", input=input, other=other)
    return input if input.dtype == other.dtype else cast(input, as_dtype(other.dtype))


def cast_to(x: Any, dtype: Any) -> Any:
    """Cast to a dtype, if one is given.

    Args:
        x: Tensor of any shape.
        dtype: MindSpore dtype, or None.

    Returns:
        Tensor of the same shape.
    """
    return x if dtype is None else cast(x, as_dtype(dtype))


class DType(Primitive):
    """Element type of a Tensor (MindSpore: ``ops.DType``)."""

    def __call__(self, *inputs: Any) -> Number:
        """Give the dtype; nothing is computed.

        Raises:
            TypeError: the input is no Tensor.
        """
        (x,) = inputs
        if not isinstance(x, Handle):
            raise located(
                TypeError,
                "For Primitive[Dtype], the input argument[input_x] must be a Tensor, but got "
                f"{type(x)}.",
            )
        return as_dtype(x.value_dtype)


def dtype(x: Any) -> Number:
    """Give the element type of a Tensor (MindSpore: ``ops.dtype``).

    Args:
        x: Tensor of any shape.

    Returns:
        The MindSpore dtype.

    Raises:
        TypeError: ``x`` is no Tensor.
    """
    return DType()(x)


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
    checks.tensors("is_floating_point", input=input)
    return as_dtype(input.dtype).kind == "float"


def is_complex(input: Tensor) -> bool:
    """Tell whether a Tensor holds complex numbers (MindSpore: ``ops.is_complex``).

    Args:
        input: Tensor.
    """
    checks.tensors("is_complex", input=input)
    return as_dtype(input.dtype).kind == "complex"


def is_nonzero(input: Tensor) -> bool:
    """Tell whether a Tensor of one element is not zero (MindSpore: ``ops.is_nonzero``).

    Args:
        input: Tensor of one element.

    Raises:
        ValueError: there is not exactly one element.
    """
    return bool(input)
