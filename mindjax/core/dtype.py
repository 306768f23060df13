"""MindSpore's data types, their conversion to and from numpy's, and the one promotion table."""

from __future__ import annotations

import enum
import functools
from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from mindjax.core.errors import located


class Type:
    """Base of all type objects.

    Args:
        name: the original's name, such as ``"Float32"``.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"mindspore.{self.name.lower()}"

    def __str__(self) -> str:
        return self.name

    def __copy__(self) -> Type:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Type:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _by_name, (self.name,)


class Number(Type):
    """A numeric element type of tensors."""

    kind: ClassVar[str] = "number"

    def __init__(self, name: str, np_dtype: Any) -> None:
        super().__init__(name)
        self.np = np.dtype(np_dtype)
        self.bits = 1 if self.np == np.bool_ else self.np.itemsize * 8


class Bool(Number):
    """Truth values."""

    kind = "bool"


class Int(Number):
    """Signed integers."""

    kind = "int"


class UInt(Number):
    """Unsigned integers."""

    kind = "uint"


class Float(Number):
    """Floating-point numbers."""

    kind = "float"


class Complex(Number):
    """Complex numbers."""

    kind = "complex"


class Foreign(Type):
    """An element type of the original's devices that neither numpy nor XLA has."""

    kind = "foreign"

    @property
    def np(self) -> Any:
        """Refuse: numpy has no such dtype.

        Raises:
            TypeError: always.
        """
        raise located(
            TypeError,
            f"{self.name} has no numpy dtype: XLA has float8_e4m3fn and float8_e5m2 for 8 bits, "
            "and int8 holds integers of 4.",
        )


class QuantDtype(enum.Enum):
    """Integers of quantized numbers by their bits (MindSpore: ``mindspore.QuantDtype``)."""

    INT1 = 0
    INT2 = 1
    INT3 = 2
    INT4 = 3
    INT5 = 4
    INT6 = 5
    INT7 = 6
    INT8 = 7
    INT9 = 8
    INT10 = 9
    INT11 = 10
    INT12 = 11
    INT13 = 12
    INT14 = 13
    INT15 = 14
    INT16 = 15
    UINT1 = 100
    UINT2 = 101
    UINT3 = 102
    UINT4 = 103
    UINT5 = 104
    UINT6 = 105
    UINT7 = 106
    UINT8 = 107
    UINT9 = 108
    UINT10 = 109
    UINT11 = 110
    UINT12 = 111
    UINT13 = 112
    UINT14 = 113
    UINT15 = 114
    UINT16 = 115

    def __str__(self) -> str:
        return self.name

    def value(self) -> int:  # type: ignore[override]
        """Give the number by which files name the type."""
        return self._value_


class String(Type):
    """Text."""


class TensorType(Type):
    """The type of a tensor, in type signatures.

    Args:
        element: its element type; None for any.
    """

    def __init__(self, element: Number | None = None) -> None:
        super().__init__("Tensor" if element is None else f"Tensor[{element.name}]")
        self._element = element

    def element_type(self) -> Number | None:
        """Give the element type, None for any."""
        return self._element

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and other._element is self._element

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorType, (self._element,)


class List(Type):
    """The type of a list, in type signatures."""


class Tuple(Type):
    """The type of a tuple, in type signatures."""


class NoneType(Type):
    """The type of ``None``, in type signatures."""


class _NullType(Type):
    """The type of what is not given."""


# The names below are the original's public ones; several shadow builtins inside this module.
_int, _float, _bool, _complex, _tuple = int, float, bool, complex, tuple

bool_ = Bool("Bool", np.bool_)
int8 = byte = Int("Int8", np.int8)
int16 = short = Int("Int16", np.int16)
int32 = intc = Int("Int32", np.int32)
int64 = long = intp = Int("Int64", np.int64)
uint8 = ubyte = UInt("UInt8", np.uint8)
uint16 = ushort = UInt("UInt16", np.uint16)
uint32 = uintc = UInt("UInt32", np.uint32)
uint64 = uintp = UInt("UInt64", np.uint64)
float16 = half = Float("Float16", np.float16)
float32 = single = Float("Float32", np.float32)
float64 = double = Float("Float64", np.float64)
bfloat16 = Float("BFloat16", ml_dtypes.bfloat16)
float8_e4m3fn = Float("Float8E4M3FN", ml_dtypes.float8_e4m3fn)
float8_e5m2 = Float("Float8E5M2", ml_dtypes.float8_e5m2)
complex64 = cfloat = Complex("Complex64", np.complex64)
complex128 = cdouble = Complex("Complex128", np.complex128)
hifloat8 = Foreign("HiFloat8")
qint4x2 = Foreign("Int4")
string = String("String")
type_none = NoneType("None")
_null = _NullType("Null")
tensor_type = TensorType()
list_ = List("List")
tuple_ = Tuple("Tuple")
number = Type("Number")
int_, uint, float_ = Type("Int"), Type("UInt"), Type("Float")

NUMBERS: Any = (
    bool_,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    bfloat16,
    float32,
    float64,
    complex64,
    complex128,
    float8_e4m3fn,
    float8_e5m2,
)
int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
float_type = (float16, float32, float64, bfloat16)
complex_type = (complex64, complex128)
number_type = int_type + uint_type + float_type + complex_type
signed_type = (int8, byte, int16, short, int32, intc, int64, intp, *float_type, *complex_type)
all_types = (bool_, *number_type)
np_bfloat16 = ml_dtypes.bfloat16

_FROM_NP: dict[np.dtype[Any], Number] = {t.np: t for t in NUMBERS}
_FROM_NAME: dict[str, Type] = {t.name: t for t in NUMBERS} | {
    t.name: t
    for t in (
        hifloat8,
        qint4x2,
        string,
        type_none,
        _null,
        tensor_type,
        list_,
        tuple_,
        number,
        int_,
        uint,
        float_,
    )
}
_FROM_PYTHON: dict[type, Number] = {
    _bool: bool_,
    _int: int64,
    _float: float64,
    _complex: complex128,
}


def _by_name(name: str) -> Type:
    return _FROM_NAME[name]


def from_np(dtype: Any) -> Number:
    """Map a numpy dtype (or anything ``np.dtype`` takes) to MindSpore's.

    Args:
        dtype: numpy dtype, scalar type or name.

    Returns:
        The MindSpore dtype.

    Raises:
        TypeError: the dtype has no counterpart.
    """
    found = _FROM_NP.get(dtype)
    if found is None:
        found = _FROM_NP.get(np.dtype(dtype))
    if found is None:
        raise located(TypeError, f"The numpy dtype '{dtype}' has no MindSpore counterpart.")
    return found


def to_np(dtype: Any) -> np.dtype[Any]:
    """Map a MindSpore dtype, a Python type or a numpy dtype to numpy's.

    Args:
        dtype: MindSpore dtype, ``bool``/``int``/``float``/``complex``, or a numpy dtype.

    Returns:
        The numpy dtype.

    Raises:
        TypeError: ``dtype`` is none of these.
    """
    if isinstance(dtype, Number):
        return dtype.np
    return as_dtype(dtype).np


def as_dtype(dtype: Any) -> Number:
    """Bring a MindSpore dtype, a Python type or a numpy dtype to MindSpore's.

    Args:
        dtype: MindSpore dtype, ``bool``/``int``/``float``/``complex``, or a numpy dtype.

    Returns:
        The MindSpore dtype; Python's ``float`` is Float32, as Python numbers are in operations.

    Raises:
        TypeError: ``dtype`` is none of these.
    """
    if isinstance(dtype, Number):
        return dtype
    if dtype is _float:
        return float32
    if isinstance(dtype, type) and dtype in _FROM_PYTHON:
        return _FROM_PYTHON[dtype]
    if isinstance(dtype, str) and dtype in _FROM_NAME:
        found = _FROM_NAME[dtype]
        if isinstance(found, Number):
            return found
    if isinstance(dtype, Foreign):
        return dtype.np
    try:
        if dtype is not None:
            return from_np(dtype)
    except (TypeError, ValueError):
        # numpy's error for an array is a ValueError that prints it.
        pass
    raise located(
        TypeError, f"'{dtype!s:.60}' is not a data type: give one such as mindspore.float32."
    ) from None


def dtype_to_nptype(type_: Number) -> type:
    """Give the numpy scalar type of a MindSpore dtype (MindSpore: ``dtype_to_nptype``).

    Args:
        type_: the dtype.
    """
    return to_np(type_).type


def dtype_to_pytype(type_: Number) -> type:
    """Give the Python type that holds values of a MindSpore dtype.

    Args:
        type_: the dtype.
    """
    return {"bool": _bool, "int": _int, "uint": _int, "float": _float, "complex": _complex}[
        as_dtype(type_).kind
    ]


def pytype_to_dtype(obj: Any) -> Type:
    """Map a Python or numpy type to a MindSpore dtype (MindSpore: ``pytype_to_dtype``).

    Args:
        obj: the type.

    Raises:
        NotImplementedError: ``obj`` has no counterpart.
    """
    if isinstance(obj, Type):
        return obj
    if isinstance(obj, type) and obj in _FROM_PYTHON:
        return _FROM_PYTHON[obj]
    if obj is str:
        return string
    try:
        return from_np(obj)
    except TypeError:
        raise located(NotImplementedError, f"The Python type {obj} has no data type.") from None


def get_py_obj_dtype(obj: Any) -> Type:
    """Give the MindSpore type of a Python object or of a Python type.

    Args:
        obj: the object or type.
    """
    if isinstance(obj, type):
        return pytype_to_dtype(obj)
    dtype = getattr(obj, "dtype", None)
    return dtype if isinstance(dtype, Type) else pytype_to_dtype(type(obj))


def type_size_in_bytes(dtype: Number) -> Any:
    """Give the size of one element in bytes."""
    return to_np(dtype).itemsize


# Implicit conversion. Widths within a kind order the types; uint16/32/64 mix with nothing but bool.
_LONE = (uint16, uint32, uint64)


@functools.cache
def promote_types(x: Number, y: Number) -> Number:
    """Find the common dtype of two tensors.

    Args:
        x: dtype of the first operand.
        y: dtype of the second operand.

    Returns:
        The dtype that both are converted to before the operation.

    Raises:
        TypeError: the original converts neither way (for example Int8 with UInt16).
    """
    if x is y:
        return x
    if x is bool_:
        return y
    if y is bool_:
        return x
    if x in _LONE or y in _LONE or (x.bits == 8 != y.bits == 8 and "float" in x.kind):
        raise _no_conversion(x.name, y.name)
    if x.kind == "complex" or y.kind == "complex":
        wide = float64 in (x, y) or complex128 in (x, y)
        return complex128 if wide else complex64
    if x.kind == "float" and y.kind == "float":
        if x.bits == y.bits:
            return float32
        return x if x.bits > y.bits else y
    if x.kind == "float" or y.kind == "float":
        return x if x.kind == "float" else y
    if x.kind == y.kind:
        return x if x.bits > y.bits else y
    signed = x if x.kind == "int" else y
    return int16 if signed is int8 else signed


@functools.cache
def promote_scalar(tensor: Number, scalar: type) -> Number:
    """Find the common dtype of a tensor and a Python number.

    Args:
        tensor: dtype of the tensor operand.
        scalar: ``bool``, ``int``, ``float`` or ``complex``.

    Returns:
        The dtype of both operands of the operation.

    Raises:
        TypeError: the original converts neither way.
    """
    if scalar is _bool:
        return tensor
    if tensor in _LONE:
        raise _no_conversion(tensor.name, f"Tensor[{'Int64' if scalar is _int else 'Float32'}]")
    if scalar is _int:
        return int64 if tensor is bool_ else tensor
    if scalar is _float:
        return tensor if tensor.kind in ("float", "complex") else float32
    if tensor.kind == "complex":
        return tensor
    return complex128 if tensor is float64 else complex64


def _no_conversion(x: str, y: str) -> TypeError:
    return located(TypeError, f"Type implicit conversion between {x} and {y} is not supported.")
