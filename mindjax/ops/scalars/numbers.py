"""Python's operators on numbers, truth values and texts, under the names of graph code.

They take Tensors too, as Python's operators do, so that they work on numbers that are traced.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.core.dtype import Type, as_dtype, bool_, float64, int64
from mindjax.core.errors import is_located, located
from mindjax.core.handle import Handle, is_traced, unwrap
from mindjax.core.primitive import Primitive
from mindjax.ops.arithmetic import maximum, minimum
from mindjax.ops.cast import cast
from mindjax.ops.exponential import log
from mindjax.ops.logic import logical_and, logical_not, logical_or
from mindjax.ops.shape import reshape, shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


def _named(name: str, function: Callable[..., Any], what: str) -> Callable[[Any, Any], Any]:
    """Give a function of two inputs the name and the errors of an op."""

    def op(x: Any, y: Any) -> Any:
        try:
            return function(x, y)
        except ZeroDivisionError:
            raise located(
                ValueError, f"For '{name}', the divisor could not be zero, but got {y}."
            ) from None
        except TypeError as error:
            raise _owned(name, error) from None

    return _described(op, name, what)


def _named_one(name: str, function: Callable[[Any], Any], what: str) -> Callable[[Any], Any]:
    """Give a function of one input the name and the errors of an op."""

    def op(x: Any) -> Any:
        try:
            return function(x)
        except (TypeError, ValueError) as error:
            raise _owned(name, error) from None

    return _described(op, name, what)


def _owned(name: str, error: Exception) -> Exception:
    """Give an error of Python's the name of an op; one that has a place already stays."""
    return error if is_located(error) else located(type(error), f"For '{name}', {error}.")


def _described(op: Any, name: str, what: str) -> Any:
    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"Give {what} (MindSpore: ``ops.{name}``)."
    return op


def _tensors(*inputs: Any) -> bool:
    return any(isinstance(x, Handle) for x in inputs)


def _log(x: Any) -> Any:
    return log(x) if _tensors(x) else math.log(x)


def _max(x: Any, y: Any) -> Any:
    return maximum(x, y) if _tensors(x, y) else builtins.max(x, y)


def _min(x: Any, y: Any) -> Any:
    return minimum(x, y) if _tensors(x, y) else builtins.min(x, y)


def _and(x: Any, y: Any) -> Any:
    return logical_and(x, y) if _tensors(x, y) else bool(x and y)


def _or(x: Any, y: Any) -> Any:
    return logical_or(x, y) if _tensors(x, y) else bool(x or y)


def _not(x: Any) -> Any:
    return logical_not(x) if _tensors(x) else not x


scalar_add = _named("scalar_add", operator.add, "the sum of two numbers")
scalar_sub = _named("scalar_sub", operator.sub, "the difference of two numbers")
scalar_mul = _named("scalar_mul", operator.mul, "the product of two numbers")
scalar_div = _named("scalar_div", operator.truediv, "the quotient of two numbers")
scalar_floordiv = _named("scalar_floordiv", operator.floordiv, "the quotient, rounded down")
scalar_mod = _named("scalar_mod", operator.mod, "the remainder, with the divisor's sign")
scalar_pow = _named("scalar_pow", operator.pow, "a number to the power of another")
scalar_eq = _named("scalar_eq", operator.eq, "whether two numbers are equal")
scalar_ne = _named("scalar_ne", operator.ne, "whether two numbers differ")
scalar_lt = _named("scalar_lt", operator.lt, "whether a number is below another")
scalar_le = _named("scalar_le", operator.le, "whether a number is at most another")
scalar_gt = _named("scalar_gt", operator.gt, "whether a number is above another")
scalar_ge = _named("scalar_ge", operator.ge, "whether a number is at least another")
scalar_log = _named_one("scalar_log", _log, "the natural logarithm of a number")
scalar_max = _named("scalar_max", _max, "the larger of two numbers")
scalar_min = _named("scalar_min", _min, "the smaller of two numbers")
scalar_uadd = _named_one("scalar_uadd", operator.pos, "a number as it is")
scalar_usub = _named_one("scalar_usub", operator.neg, "a number with the other sign")
bool_and = _named("bool_and", _and, "whether both hold")
bool_or = _named("bool_or", _or, "whether one holds")
bool_not = _named_one("bool_not", _not, "whether something does not hold")
bool_eq = _named("bool_eq", operator.eq, "whether two truth values are equal")
string_eq = _named("string_eq", operator.eq, "whether two texts are equal")
string_concat = _named("string_concat", operator.add, "two texts, one after the other")
is_ = _named("is_", operator.is_, "whether two things are the same")
is_not = _named("is_not", operator.is_not, "whether two things are not the same")
augassign_add = _named("augassign_add", operator.add, "what ``x += y`` leaves in ``x``")
augassign_sub = _named("augassign_sub", operator.sub, "what ``x -= y`` leaves in ``x``")
augassign_mul = _named("augassign_mul", operator.mul, "what ``x *= y`` leaves in ``x``")
augassign_div = _named("augassign_div", operator.truediv, "what ``x /= y`` leaves in ``x``")
augassign_mod = _named("augassign_mod", operator.mod, "what ``x %= y`` leaves in ``x``")
augassign_floordiv = _named(
    "augassign_floordiv", operator.floordiv, "what ``x //= y`` leaves in ``x``"
)


_CASTS: dict[Any, Callable[[Any], Any]] = {int64: int, float64: float, bool_: bool}


def scalar_cast(input_x: Any, input_y: Any) -> Any:
    """Cast a number to a Python type (MindSpore: ``ops.scalar_cast``).

    Args:
        input_x: number, or 0-d Tensor.
        input_y: int64, float64 or bool, for Python's types; any for a Tensor.

    Returns:
        Python number; a Tensor for a Tensor.

    Raises:
        TypeError: ``input_x`` is no number.
        ValueError: there is no Python type of that dtype.
    """
    if isinstance(input_x, Handle):
        number: Any = input_x
        return cast(number, as_dtype(input_y))
    if not isinstance(input_x, bool | int | float):
        raise located(
            TypeError,
            "For 'ScalarCast', the type of 'x' should be one of '['bool', 'Number']', but got type "
            f"'{type(input_x).__name__}'.",
        )
    kind = _CASTS.get(input_y) if isinstance(input_y, type | Type) else None
    if kind is None:
        raise located(
            ValueError,
            "For 'ScalarCast', the supported type is in the list: [Int64, Float64, Bool], but got "
            f"{input_y}",
        )
    try:
        return kind(input_x)
    except (ValueError, OverflowError):
        raise located(
            ValueError, f"For 'ScalarCast', {input_x} cannot be cast to {input_y}."
        ) from None


class ScalarCast(Primitive):
    """A number as a Python type; call: ``ScalarCast()(input_x, input_y)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Cast; see ``ops.scalar_cast``."""
        return scalar_cast(*inputs)


def scalar_to_array(input_x: Any) -> Tensor:
    """Make a 0-d Tensor of a number, of the dtype that ``Tensor(x)`` has (``ops.scalar_to_array``).

    Args:
        input_x: number.

    Returns:
        Tensor: Int64 of an integer, Float32 of another number, Bool of a truth value.

    Raises:
        TypeError: it is no number.
    """
    if not isinstance(input_x, bool | int | float | complex):
        raise located(
            TypeError, f"For 'ScalarToArray', the input must be a number, but got {input_x!r}."
        )
    made: Any = Handle.tensor_class
    return made(input_x)


class ScalarToArray(Primitive):
    """A 0-d Tensor of a number; call: ``ScalarToArray()(input_x)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Make it; see ``ops.scalar_to_array``."""
        return scalar_to_array(*inputs)


def array_to_scalar(x: Any) -> Any:
    """Give the number in a Tensor of one element (MindSpore: ``ops.array_to_scalar``).

    Args:
        x: Tensor of one element.

    Returns:
        Python number; a 0-d Tensor while the function is compiled.

    Raises:
        ValueError: there are more elements, or none.
    """
    checks.tensors("array_to_scalar", x=x)
    if math.prod(shape_of(x)) != 1:
        raise located(
            ValueError,
            f"For 'array_to_scalar', the Tensor must have one element, but got {shape_of(x)}.",
        )
    return reshape(x, ()) if is_traced(unwrap(x)) else x.item()


def mixed_precision_cast(dst_dtype: Any, x: Any) -> Any:
    """Cast the floating-point Tensors of a structure (MindSpore: ``ops.mixed_precision_cast``).

    Args:
        dst_dtype: floating-point dtype.
        x: Tensor, or tuple or list that may hold Tensors; anything else stays.

    Returns:
        The cast Tensor, or a tuple.

    Raises:
        TypeError: ``dst_dtype`` is no dtype.
    """
    dtype = as_dtype(dst_dtype)
    if isinstance(x, tuple | list):
        return tuple(mixed_precision_cast(dtype, v) for v in x)
    found: Any = x
    return cast(found, dtype) if isinstance(x, Handle) and found.dtype.kind == "float" else x
