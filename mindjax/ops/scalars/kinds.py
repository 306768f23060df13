"""Kinds of values, as graph code asks for them, and the vendor's tables of types."""

from __future__ import annotations

import math
from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import (
    TensorType,
    Type,
    float32,
    get_py_obj_dtype,
    list_,
    tuple_,
    type_none,
)
from mindjax.core.errors import located
from mindjax.core.handle import Handle, is_traced, unwrap
from mindjax.core.primitive import Primitive
from mindjax.ops.shape import shape_of


def typeof(x: Any) -> Type:
    """Give the type of a value (MindSpore: ``ops.typeof``).

    Args:
        x: Tensor, number, text, tuple, list or None.

    Returns:
        The type of tensors of its dtype, the dtype that a number has, or the type of the rest.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(x, Handle):
        tensor: Any = x
        return TensorType(tensor.dtype)
    if x is None:
        return type_none
    if isinstance(x, tuple):
        return tuple_
    if isinstance(x, list):
        return list_
    if type(x) is float:
        return float32
    try:
        return get_py_obj_dtype(x)
    except NotImplementedError:
        raise located(TypeError, f"For 'typeof', {type(x)} has no type.") from None


def hastype(x: Any, t: Type) -> bool:
    """Tell whether a value is of a type (MindSpore: ``ops.hastype``).

    Args:
        x: value.
        t: a type; that of tensors, of tuples or of lists stands for all of them.

    Returns:
        Whether it is.

    Raises:
        TypeError: ``t`` is no type.
    """
    checks.of_type("t", t, Type, "hastype")
    found = typeof(x)
    if isinstance(t, TensorType) and t.element_type() is None:
        return isinstance(found, TensorType)
    return found == t


def isconstant(x: Any) -> bool:
    """Tell whether a value is known now (MindSpore: ``ops.isconstant``).

    Args:
        x: value.

    Returns:
        False for a Tensor, or a sequence with one, that is traced.
    """
    if isinstance(x, tuple | list):
        return all(isconstant(v) for v in x)
    return not (isinstance(x, Handle) and is_traced(unwrap(x)))


def is_tensor_bool_cond(x: Any) -> bool:
    """Check that a Tensor can be a condition (MindSpore: ``ops.is_tensor_bool_cond``).

    Args:
        x: Tensor.

    Returns:
        True.

    Raises:
        ValueError: it has not one element.
    """
    if math.prod(shape_of(x)) != 1:
        raise located(
            ValueError,
            "Only tensor which shape is () or (1,) can be converted to bool, but got tensor shape "
            f"is {shape_of(x)}",
        )
    return True


def is_sequence_value_unknown(x: Any) -> bool:
    """Tell whether a sequence holds something that is not known yet.

    MindSpore: ``ops.is_sequence_value_unknown``.

    Args:
        x: tuple or list.

    Returns:
        Whether an element is traced.
    """
    return not isconstant(checks.of_type("x", x, (tuple, list), "IsShapeUnKnown"))


def is_sequence_shape_unknown(x: Any) -> bool:
    """Tell whether the length of a sequence is not known (``ops.is_sequence_shape_unknown``).

    Args:
        x: tuple or list.

    Returns:
        False: a sequence is a Python one, also in a compiled program.
    """
    checks.of_type("x", x, (tuple, list), "IsDimUnKnown")
    return False


def is_dynamic_sequence_element_unknown(x: Any) -> bool:
    """Tell whether what a sequence of unknown length holds is not known.

    MindSpore: ``ops.is_dynamic_sequence_element_unknown``.

    Args:
        x: tuple or list.

    Returns:
        False: see `is_sequence_shape_unknown`.
    """
    checks.of_type("x", x, (tuple, list), "IsElementUnknown")
    return False


_TYPE_NUMBERS = {
    "Bool": 30,
    "Int8": 32,
    "Int16": 33,
    "Int32": 34,
    "Int64": 35,
    "UInt8": 37,
    "UInt16": 38,
    "UInt32": 39,
    "UInt64": 40,
    "Float16": 42,
    "Float32": 43,
    "Float64": 44,
    "BFloat16": 45,
    "Float8E4M3FN": 46,
    "Float8E5M2": 47,
    "Complex64": 51,
    "Complex128": 52,
}


class DtypeToEnum(Primitive):
    """The number that MindSpore's files give a dtype; call: ``DtypeToEnum()(op, arg, dtype)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Look it up.

        Raises:
            TypeError: the last input is no dtype that has one.
        """
        op_name, arg_name, dtype = inputs
        number = _TYPE_NUMBERS.get(dtype.name) if isinstance(dtype, Type) else None
        if number is None:
            raise located(
                TypeError,
                f"For '{op_name}', the input '{arg_name}' should be mindspore dtype, but got "
                f"{dtype}.",
            )
        return number
