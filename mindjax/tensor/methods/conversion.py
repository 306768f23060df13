"""Tensor methods that change or ask for the element type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core import checks
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
            copy: whether a new Tensor is made; where dtypes agree the values are shared in any
                case, as in the original.

        Returns:
            Tensor of the same shape.

        Raises:
            TypeError: ``dtype`` is none of these.
        """
        if dtype is None:
            raise located(TypeError, "For Tensor.astype, the 'dtype' must be a dtype, not None.")
        return cast(self, dtypes.float64 if dtype is _float else dtypes.as_dtype(dtype))

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """Convert to another dtype; a device name changes nothing (MindSpore: ``Tensor.to``).

        Args:
            args: ``(dtype, non_blocking, copy)``, or ``(device, dtype, non_blocking, copy)``.
            kwargs: the same by name. ``copy`` makes a new Tensor even where nothing changes;
                ``non_blocking`` tunes the original's copies.

        Returns:
            Tensor of the same shape.

        Raises:
            TypeError: ``dtype`` is no dtype, or an argument is unknown.
            ValueError: there is no such device.
        """
        names = ["dtype", "non_blocking", "copy"]
        if "device" in kwargs or (args and isinstance(args[0], _str)):
            names.insert(0, "device")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        if not given or given.keys() - set(names) or len(given) < len(args) + len(kwargs):
            raise located(
                TypeError,
                f"For 'Tensor.to', the arguments are {names}, but got {args} and {sorted(kwargs)}.",
            )
        device, dtype = given.get("device"), given.get("dtype")
        if device is not None and str(device).lower().split(":")[0] not in _DEVICES:
            raise located(
                ValueError,
                f"For 'Tensor.to', the device must be one of {_DEVICES}, but got {device!r}; a "
                "dtype must be a mindspore one.",
            )
        out: Any = self if dtype is None else self.astype(dtype)
        return out.copy() if given.get("copy") and out is self else out

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
        checks.tensors("Tensor.type_as", other=other)
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
