"""Checks of arguments that users' own layers call (MindSpore: ``mindspore._checkparam``).

The functions that take ``arg_value, arg_name, prim_name`` give the value back. ``Validator`` and
``Rel`` are the names of older releases.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mindjax.core.dtype import Float, Int, Number, TensorType, Type, UInt, as_dtype
from mindjax.core.errors import located

EQ, NE, LT, LE, GT, GE = range(1, 7)
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = range(7, 11)
IN, NOT_IN = 11, 12

_RELATIONS: dict[int, tuple[str, Callable[[Any, Any], bool]]] = {
    EQ: ("=", operator.eq),
    NE: ("!=", operator.ne),
    LT: ("<", operator.lt),
    LE: ("<=", operator.le),
    GT: (">", operator.gt),
    GE: (">=", operator.ge),
    IN: ("in", lambda a, b: a in b),
    NOT_IN: ("not in", lambda a, b: a not in b),
}
_BRACKETS = {INC_NEITHER: "()", INC_LEFT: "[)", INC_RIGHT: "(]", INC_BOTH: "[]"}


class Rel:
    """Relations by name (MindSpore 1.x: ``_checkparam.Rel``)."""

    EQ, NE, LT, LE, GT, GE = EQ, NE, LT, LE, GT, GE
    INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH
    IN, NOT_IN = IN, NOT_IN


def _wrong(error: type[Exception], message: str) -> Exception:
    """Make the error in the original's words alone: the message speaks for the caller."""
    return located(error, message, named=False)


def _subject(arg_name: str | None, prim_name: str | None) -> str:
    what = f"'{arg_name}'" if arg_name else "input value"
    return f"For '{prim_name}', the {what}" if prim_name else f"The {what}"


def _check_number(
    value: Any, bound: Any, rel: int, kind: type, arg_name: str | None, prim_name: str | None
) -> Any:
    subject = _subject(arg_name, prim_name)
    sign, holds = _RELATIONS[rel]
    if not isinstance(value, kind):
        raise _wrong(
            TypeError, f"{subject} must be {kind.__name__}, but got '{type(value).__name__}'"
        )
    if not math.isfinite(value):
        raise _wrong(ValueError, f"{subject} must be a legal value, but got '{value}'.")
    refused = isinstance(value, bool)
    if refused or not holds(value, bound):
        raise _wrong(
            TypeError if refused else ValueError,
            f"{subject} must be {kind.__name__} and must {sign} {bound}, but got '{value}' with "
            f"type '{type(value).__name__}'.",
        )
    return value


def check_is_number(
    arg_value: Any, arg_type: type, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that a value is a finite number of a type; TypeError or ValueError otherwise."""
    what = f"'{arg_name}'" if arg_name else "input value"
    lead = f"For '{prim_name}', the" if prim_name else "The"
    if not isinstance(arg_value, arg_type) or isinstance(arg_value, bool):
        raise _wrong(
            TypeError,
            f"{lead} type of {what} must be '{arg_type.__name__}', but got "
            f"'{type(arg_value).__name__}'.",
        )
    if not math.isfinite(arg_value):
        raise _wrong(ValueError, f"{lead} {what} must be a legal float, but got '{arg_value}'.")
    return arg_value


def check_number_range(
    arg_value: Any,
    lower_limit: Any,
    upper_limit: Any,
    rel: int,
    value_type: type,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """Check that a number of a type lies between two limits; ``rel`` says which belong to it."""
    subject = _subject(arg_name, prim_name)
    accepted = isinstance(arg_value, np.ndarray | np.generic | value_type)
    if not accepted or isinstance(arg_value, bool):
        raise _wrong(
            TypeError,
            f"{subject} must be '{value_type.__name__}',  but got '{type(arg_value).__name__}'.",
        )
    start, end = _BRACKETS[rel]
    above = arg_value >= lower_limit if start == "[" else arg_value > lower_limit
    below = arg_value <= upper_limit if end == "]" else arg_value < upper_limit
    if not (above and below):
        raise _wrong(
            ValueError,
            f"{subject} must be in range of {start}{lower_limit}, {upper_limit}{end}, but got "
            f"{arg_value} with type '{type(arg_value).__name__}'.",
        )
    return arg_value


def check_int_range(
    arg_value: Any,
    lower_limit: Any,
    upper_limit: Any,
    rel: int,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """Check that an int lies between two limits."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float_range(
    arg_value: Any,
    lower_limit: Any,
    upper_limit: Any,
    rel: int,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """Check that a float lies between two limits."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def check(
    arg_name: str,
    arg_value: Any,
    value_name: str,
    value: Any,
    rel: int = EQ,
    prim_name: str | None = None,
    excp_cls: type[Exception] = ValueError,
) -> Any:
    """Check a relation between two named values."""
    sign, holds = _RELATIONS[rel]
    if not holds(arg_value, value):
        lead = f"For '{prim_name}', the" if prim_name else "The"
        shown = arg_name if " " in arg_name else f"'{arg_name}'"
        raise _wrong(
            excp_cls, f"{lead} {shown} should be {sign} {value_name}: {value}, but got {arg_value}."
        )
    return arg_value


def check_number(arg_name: str, arg_value: Any, value: Any, rel: int, prim_name: str) -> Any:
    """Check a relation between a value and a bound."""
    sign, holds = _RELATIONS[rel]
    if not holds(arg_value, value):
        raise _wrong(
            ValueError,
            f"For '{prim_name}', the argument '{arg_name}' must {sign} {value}, but got "
            f"{arg_value}.",
        )
    return arg_value


def check_int(
    arg_value: Any, value: Any, rel: int, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that a value is an int in a relation to another."""
    return _check_number(arg_value, value, rel, int, arg_name, prim_name)


def check_float(
    arg_value: Any, value: Any, rel: int, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that a value is a float in a relation to another."""
    return _check_number(arg_value, value, rel, float, arg_name, prim_name)


def check_equal_int(
    arg_value: Any, value: Any, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that a value is an int equal to another."""
    return check_int(arg_value, value, EQ, arg_name, prim_name)


def _against_zero(name: str, kind: type, rel: int) -> Callable[..., Any]:
    """Make the check of a number's sign."""
    sign = _RELATIONS[rel][0]

    def check_sign(
        arg_value: Any, arg_name: str | None = None, prim_name: str | None = None
    ) -> Any:
        return _check_number(arg_value, 0, rel, kind, arg_name, prim_name)

    check_sign.__name__ = check_sign.__qualname__ = name
    check_sign.__doc__ = f"Check that a value is of type {kind.__name__} and {sign} 0."
    return check_sign


check_positive_int = _against_zero("check_positive_int", int, GT)
check_negative_int = _against_zero("check_negative_int", int, LT)
check_non_positive_int = _against_zero("check_non_positive_int", int, LE)
check_non_negative_int = _against_zero("check_non_negative_int", int, GE)
check_positive_float = _against_zero("check_positive_float", float, GT)
check_negative_float = _against_zero("check_negative_float", float, LT)
check_non_positive_float = _against_zero("check_non_positive_float", float, LE)
check_non_negative_float = _against_zero("check_non_negative_float", float, GE)


def _sequence(
    name: str, element: Callable[..., Any]
) -> Callable[[Sequence[Any], str | None, str | None], Sequence[Any]]:
    """Make the check of each element of a sequence."""

    def check_elements(
        sequence: Sequence[Any], arg_name: str | None = None, prim_name: str | None = None
    ) -> Sequence[Any]:
        for i, value in enumerate(sequence):
            element(value, f"{arg_name or 'arg_name'}[{i}]", prim_name)
        return sequence

    check_elements.__name__ = check_elements.__qualname__ = name
    check_elements.__doc__ = f"Check each element as `{element.__name__}` does."
    return check_elements


check_positive_int_sequence = _sequence("check_positive_int_sequence", check_positive_int)
check_non_negative_int_sequence = _sequence(
    "check_non_negative_int_sequence", check_non_negative_int
)
check_positive_float_sequence = _sequence("check_positive_float_sequence", check_positive_float)


def check_is_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Check that a value is an int."""
    return check_is_number(arg_value, int, arg_name, prim_name)


def check_is_float(
    arg_value: Any, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that a value is a finite float."""
    return check_is_number(arg_value, float, arg_name, prim_name)


def check_isinstance(arg_name: str, arg_value: Any, classes: Any) -> Any:
    """Check a value's class; ValueError otherwise."""
    if not isinstance(arg_value, classes):
        raise _wrong(
            ValueError,
            f"The parameter '{arg_name}' must be isinstance of {classes}, but got {arg_value}.",
        )
    return arg_value


def check_bool(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> bool:
    """Check that a value is a bool; TypeError otherwise."""
    if not isinstance(arg_value, bool):
        subject = _subject(arg_name, prim_name)
        raise _wrong(TypeError, f"{subject} must be a bool, but got {type(arg_value).__name__}.")
    return arg_value


def check_string(
    arg_value: Any, valid_values: Any, arg_name: str | None = None, prim_name: str | None = None
) -> str:
    """Check that a value is one of some strings; ValueError otherwise."""
    if not isinstance(arg_value, str) or arg_value not in valid_values:
        raise _wrong(
            ValueError,
            f"{_subject(arg_name or 'parameter', prim_name)} must be str and must be in "
            f"'{valid_values}', but got '{arg_value}'.",
        )
    return arg_value


def check_str_by_regular(
    target: str, reg: str | None = None, flag: Any = re.ASCII, prim_name: str | None = None
) -> bool:
    """Check that a string matches a pattern, by default that of names; ValueError otherwise."""
    reg = reg or r"^\w+[0-9a-zA-Z\_\.]*$"
    if re.match(reg, target, flag) is None:
        raise _wrong(
            ValueError,
            f"{_subject(target, prim_name)} is illegal, it must be match regular'{reg}' by "
            f"flags'{flag}.'",
        )
    return True


def check_file_name_by_regular(
    target: Any, reg: str | None = None, prim_name: str | None = None
) -> bool:
    """Check that a string names a file, not a folder."""
    subject = _subject(str(target), prim_name)
    if not isinstance(target, str):
        raise _wrong(TypeError, f"{subject} must be string, but got {type(target)}.")
    if target.endswith(("\\", "/")):
        raise _wrong(ValueError, f"{subject} cannot be a directory path.")
    reg = reg or r"^[0-9a-zA-Z@\_\-\.\:\/\\]+$"
    if re.match(reg, target) is None:
        raise _wrong(ValueError, f"{subject} is illegal, it must be match regular '{reg}'.")
    return True


def check_valid_input(arg_name: str, arg_value: Any, prim_name: str) -> Any:
    """Check that a value is not None; ValueError otherwise."""
    if arg_value is None:
        raise _wrong(
            ValueError,
            f"For '{prim_name}', the argument '{arg_name}' can not be None, but got {arg_value}.",
        )
    return arg_value


def _several(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, Iterable) else (values,)


def check_value_type(
    arg_name: str, arg_value: Any, valid_types: Any, prim_name: str | None = None
) -> Any:
    """Check a value's class, where a bool is no int; a float is given back with six digits."""
    types = _several(valid_types)
    if not isinstance(arg_value, types) or (isinstance(arg_value, bool) and bool not in types):
        names = [getattr(t, "__name__", str(t)) for t in types]
        shown = f"'{names[0]}'" if len(names) == 1 else f"one of '{names}'"
        lead = f"For '{prim_name}', the" if prim_name else "The"
        raise _wrong(
            TypeError,
            f"{lead} type of '{arg_name}' should be {shown}, but got type "
            f"'{type(arg_value).__name__}'.",
        )
    return round(arg_value, 6) if isinstance(arg_value, float) and float not in types else arg_value


def _element_type(value: Any) -> Any:
    return value.element_type() if isinstance(value, TensorType) else value


def check_type_name(arg_name: str, arg_type: Any, valid_types: Any, prim_name: str | None) -> Any:
    """Check that a type, or a tensor type's element type, is one of some; TypeError otherwise."""
    types = _several(valid_types)
    arg_type = _element_type(arg_type)
    if arg_type not in types:
        names = [getattr(t, "__name__", t) for t in types]
        shown = names[0] if len(names) == 1 else f"one of {names}"
        lead = f"For '{prim_name}', the" if prim_name else "The"
        raise _wrong(
            TypeError,
            f"{lead} '{arg_name}' should be {shown}, but got "
            f"'{getattr(arg_type, '__name__', repr(arg_type))}'.",
        )
    return arg_type


_KINDS: dict[str, type[Type]] = {
    "Number": Number,
    "Int": Int,
    "UInt": UInt,
    "Float": Float,
    "Tensor": TensorType,
}


def _is_subclass(kind: Any, template: Any) -> bool:
    """Tell whether a type is another, or of the kind that another stands for."""
    if not isinstance(template, Type) or kind == template:
        return kind is template or (isinstance(template, Type) and kind == template)
    wanted = _KINDS.get(template.name)
    return wanted is not None and isinstance(kind, wanted)


def check_subclass(
    arg_name: str,
    type_: Any,
    template_types: Any,
    prim_name: str,
    addition_error_info: str | None = None,
) -> None:
    """Check that a MindSpore type is one of some, or of a kind of them; TypeError otherwise."""
    templates = _several(template_types)
    if any(_is_subclass(type_, t) for t in templates):
        return
    shown = f"type '{type(type_).__name__}'" if isinstance(type_, tuple | list) else str(type_)
    lead = "one of " if len(templates) > 1 else ""
    more = f" {addition_error_info}" if addition_error_info else ""
    raise _wrong(
        TypeError,
        f"For '{prim_name}', the element of '{arg_name}' must be {lead}"
        f"{', '.join(map(str, templates))}, but got {shown}{more}.",
    )


def check_types_same_and_valid(args: dict[str, Any], valid_values: Any, prim_name: str) -> None:
    """Check that the types of named arguments are equal and among some; TypeError otherwise."""
    for name, kind in args.items():
        check_subclass(name, kind, valid_values, prim_name)
    _check_same(list(args.items()), prim_name)


def _check_same(items: list[tuple[str, Any]], prim_name: str) -> None:
    for name, kind in items[1:]:
        first, wanted = items[0]
        if kind != wanted:
            raise _wrong(
                TypeError,
                f"For '{prim_name}', the type of '{name}' should be same as '{first}', but got "
                f"'{first}' with type {wanted} and '{name}' with type {kind}.",
            )


def check_tensors_dtypes_same_and_valid(
    args: dict[str, Any], valid_dtypes: Any, prim_name: str
) -> None:
    """Check that Tensor types have one element type, which is among some."""
    kinds = [TensorType(t) for t in _several(valid_dtypes)]
    check_types_same_and_valid(args, kinds, prim_name)


def check_tensor_dtype_valid(
    arg_name: str, arg_type: Any, valid_dtypes: Any, prim_name: str
) -> None:
    """Check that a Tensor type's element type is among some."""
    kinds = [TensorType(t) for t in _several(valid_dtypes)]
    check_subclass(arg_name, arg_type, kinds, prim_name)


def check_scalar_or_tensor_types_same(
    args: dict[str, Any], valid_values: Any, prim_name: str, allow_mix: bool = False
) -> None:
    """Check that types are equal and valid; with ``allow_mix`` a Tensor's may be a scalar's."""
    for name, kind in args.items():
        if _element_type(kind) not in valid_values:
            raise _wrong(
                TypeError,
                f"For '{prim_name}', the type of '{name}' must be in {valid_values}, but got "
                f"{_element_type(kind)}.",
            )
    mixed = len({isinstance(kind, TensorType) for kind in args.values()}) > 1
    keep = mixed and not allow_mix
    _check_same([(n, k if keep else _element_type(k)) for n, k in args.items()], prim_name)


def check_element_type_of_iterable(
    arg_name: str, arg_value: Any, valid_types: Any, prim_name: str | None = None
) -> None:
    """Check the class of each element of a list, tuple, set or dict's keys."""
    for element in arg_value:
        check_value_type(arg_name, element, valid_types, prim_name)


def check_astype_dtype(dtype: Any) -> Any:
    """Give the MindSpore dtype that a name, a Python type or a dtype stands for.

    Raises:
        TypeError: there is none.
    """
    return as_dtype(dtype)


def args_type_check(*type_args: Any, **type_kwargs: Any) -> Callable[..., Any]:
    """Make a decorator that checks the classes of a function's arguments; None always passes.

    Args:
        type_args: class or classes of each argument, in order.
        type_kwargs: class or classes by name.

    Returns:
        The decorator; the function it gives raises TypeError for an argument of another class.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)
        wanted = signature.bind_partial(*type_args, **type_kwargs).arguments
        # A function that takes anything by name is checked by name.
        wanted = wanted.get("kwargs", wanted)

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs).arguments
            for name, value in given.get("kwargs", given).items():
                if name in wanted and value is not None and not isinstance(value, wanted[name]):
                    raise _wrong(
                        TypeError,
                        f"The parameter '{name}' must be {wanted[name]}, but got {type(value)}",
                    )
            return function(*args, **kwargs)

        return checked

    return decorate


class Validator:
    """The checks as static methods (MindSpore 1.x: ``_checkparam.Validator``)."""

    check = staticmethod(check)
    check_bool = staticmethod(check_bool)
    check_equal_int = staticmethod(check_equal_int)
    check_file_name_by_regular = staticmethod(check_file_name_by_regular)
    check_float = staticmethod(check_float)
    check_float_legal_value = staticmethod(check_is_float)
    check_float_positive = staticmethod(check_positive_float)
    check_float_range = staticmethod(check_float_range)
    check_int = staticmethod(check_int)
    check_int_range = staticmethod(check_int_range)
    check_integer = staticmethod(check_is_int)
    check_is_float = staticmethod(check_is_float)
    check_is_int = staticmethod(check_is_int)
    check_isinstance = staticmethod(check_isinstance)
    check_negative_int = staticmethod(check_negative_int)
    check_non_negative_float = staticmethod(check_non_negative_float)
    check_non_negative_int = staticmethod(check_non_negative_int)
    check_non_positive_int = staticmethod(check_non_positive_int)
    check_number = staticmethod(check_number)
    check_number_range = staticmethod(check_number_range)
    check_positive_float = staticmethod(check_positive_float)
    check_positive_int = staticmethod(check_positive_int)
    check_positive_int_sequence = staticmethod(check_positive_int_sequence)
    check_scalar_or_tensor_types_same = staticmethod(check_scalar_or_tensor_types_same)
    check_str_by_regular = staticmethod(check_str_by_regular)
    check_string = staticmethod(check_string)
    check_subclass = staticmethod(check_subclass)
    check_tensor_dtype_valid = staticmethod(check_tensor_dtype_valid)
    check_tensors_dtypes_same_and_valid = staticmethod(check_tensors_dtypes_same_and_valid)
    check_type_name = staticmethod(check_type_name)
    check_types_same_and_valid = staticmethod(check_types_same_and_valid)
    check_valid_input = staticmethod(check_valid_input)
    check_value_type = staticmethod(check_value_type)
