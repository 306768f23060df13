"""Tensor methods that change or ask for the element type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core import dtype as dtypes
from mindjax.core.errors import located
from mindjax.ops.cast import cast, is_complex, is_floating_point

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

_str, _float = str, float
_DEVICES = ("ascend", "cpu", "gpu", "cuda", "npu")


class ConversionMethods:
    """Methods of the conversion family; each gives the Tensor itself if nothing changes."""

    __slots__ = ()

    is_floating_point = is_floating_point
    is_complex = is_complex

    def astype(self, dtype: Any, copy: Any = True) -> Tensor:
        """Convert to another dtype (MindSpore: ``Tensor.astype``).

        Args:
            dtype: MindSpore or numpy dtype, its name, or ``bool``, ``int``, ``float`` (Float64).
            copy: whether the result may be a new Tensor, which it is in any case where dtypes
                differ; the original ignores it too.

        Returns:
            Tensor of the same shape.

        Raises:
            TypeError: ``dtype`` is none of these.
        """
        if dtype is None:
            raise located(TypeError, "For Tensor.astype, the 'dtype' must be a dtype, not None.")
        return cast(self, dtypes.float64 if dtype is _float else dtypes.as_dtype(dtype))

    def to(self, dtype: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Convert to another dtype; a device name changes nothing (MindSpore: ``Tensor.to``).

        Args:
            dtype: MindSpore dtype, or the name of a device.
            args: a dtype behind the name of a device.
            kwargs: ``non_blocking`` and ``copy``, which change nothing here.

        Returns:
            Tensor of the same shape.

        Raises:
            TypeError: ``dtype`` is neither, or an argument is unknown.
            ValueError: there is no such device.
        """
        unknown = kwargs.keys() - {"non_blocking", "copy", "dtype"}
        if unknown or len(args) > 1:
            raise located(
                TypeError,
                f"For 'Tensor.to', the arguments are (dtype) or (device, dtype), but got {args} "
                f"and {sorted(kwargs)}.",
            )
        if isinstance(dtype, _str) and dtype.lower().split(":")[0] in _DEVICES:
            dtype = kwargs.get("dtype", args[0] if args else None)
            if dtype is None:
                return self  # type: ignore[return-value]
        if isinstance(dtype, _str):
            raise located(
                ValueError,
                f"For 'Tensor.to', the device must be one of {_DEVICES}, but got {dtype!r}; a "
                "dtype must be a mindspore one.",
            )
        return self.astype(dtype)

    def type(self, dtype: Any = None) -> Any:
        """Convert to another dtype, or give the name of this one (MindSpore: ``Tensor.type``).

        Args:
            dtype: MindSpore dtype; None asks for the name.

        Raises:
            TypeError: ``dtype`` is not a dtype.
        """
        if dtype is None:
            return str(self.dtype)  # type: ignore[attr-defined]
        return self.astype(dtype)

    def type_as(self, other: Any) -> Tensor:
        """Convert to the dtype of another Tensor (MindSpore: ``Tensor.type_as``).

        Args:
            other: Tensor.
        """
        return cast(self, other.dtype)

    def bool(self) -> Tensor:
        """Convert to Bool."""
        return cast(self, dtypes.bool_)

    def byte(self) -> Tensor:
        """Convert to UInt8."""
        return cast(self, dtypes.uint8)

    def short(self) -> Tensor:
        """Convert to Int16."""
        return cast(self, dtypes.int16)

    def int(self) -> Tensor:
        """Convert to Int32."""
        return cast(self, dtypes.int32)

    def long(self) -> Tensor:
        """Convert to Int64."""
        return cast(self, dtypes.int64)

    def half(self) -> Tensor:
        """Convert to Float16."""
        return cast(self, dtypes.float16)

    def bfloat16(self) -> Tensor:
        """Convert to BFloat16."""
        return cast(self, dtypes.bfloat16)

    def float(self) -> Tensor:
        """Convert to Float32."""
        return cast(self, dtypes.float32)

    def double(self) -> Tensor:
        """Convert to Float64."""
        return cast(self, dtypes.float64)
