"""Python numbers that a compiled program computes: their kind is known, their value is not yet."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from mindjax.core import jax_private
from mindjax.core.handle import wrap
from mindjax.core.values import need_values

Number = bool | int | float

DTYPES: dict[type, Any] = {bool: np.bool_, int: np.int64, float: np.float64}
_ORDER = (bool, int, float)


class TracedNumber:
    """A bool, int or float in a graph, whose value the program computes.

    It counts as a Python number where Tensors meet it: a float32 Tensor stays float32.

    Args:
        array: 0-d array, traced.
        kind: ``bool``, ``int`` or ``float``.
    """

    __slots__ = ("array", "kind")
    # numpy leaves the operation to this class.
    __array_ufunc__ = None

    def __init__(self, array: Any, kind: type) -> None:
        self.kind = kind
        old = jax_private.swap_x64(True)
        try:
            self.array = jnp.asarray(array).reshape(()).astype(DTYPES[kind])
        finally:
            jax_private.set_x64(old)

    def tensor(self) -> Any:
        """Give the number as a 0-d Tensor: Int64, Float32 or Bool."""
        old = jax_private.swap_x64(True)
        try:
            dtype = np.float32 if self.kind is float else DTYPES[self.kind]
            return wrap(self.array.astype(dtype))
        finally:
            jax_private.set_x64(old)

    def _needed(self, what: str) -> Any:
        raise need_values(f"the value of a Python number ({what})")

    def __bool__(self) -> bool:
        return self._needed("bool")

    def __index__(self) -> int:
        return self._needed("index")

    def __int__(self) -> int:
        return self._needed("int")

    def __float__(self) -> float:
        return self._needed("float")

    def __hash__(self) -> int:
        return self._needed("hash")

    def __repr__(self) -> str:
        return self._needed("text")

    def __format__(self, spec: str) -> str:
        return self._needed("text")

    def __round__(self, digits: Any = None) -> Any:
        if self.kind is not float:
            return self
        if digits is None:
            return TracedNumber(_wide(jnp.round, self.array), int)
        return TracedNumber(_wide(lambda x: jnp.round(x, digits), self.array), float)

    def __neg__(self) -> Any:
        return TracedNumber(_wide(operator.neg, _as(self, _arithmetic(self.kind))), self._upper())

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return TracedNumber(_wide(jnp.abs, _as(self, _arithmetic(self.kind))), self._upper())

    def __invert__(self) -> Any:
        return TracedNumber(_wide(operator.invert, _as(self, int)), int)

    def _upper(self) -> type:
        return _arithmetic(self.kind)


def _arithmetic(kind: type) -> type:
    return int if kind is bool else kind


def _wide(function: Callable[..., Any], *arrays: Any) -> Any:
    """Compute with 64-bit types."""
    old = jax_private.swap_x64(True)
    try:
        return function(*arrays)
    finally:
        jax_private.set_x64(old)


def _as(value: Any, kind: type) -> Any:
    array = value.array if isinstance(value, TracedNumber) else np.asarray(value)
    return _wide(lambda a: jnp.asarray(a).astype(DTYPES[kind]), array)


def kind_of(value: Any) -> type | None:
    """Give ``bool``, ``int`` or ``float`` for numbers, traced or not, and None for all else."""
    if isinstance(value, TracedNumber):
        return value.kind
    if isinstance(value, np.generic):
        value = value.item()
    return next((k for k in _ORDER if isinstance(value, k)), None)


def common_kind(first: type, second: type) -> type:
    """Give the wider of two kinds of numbers."""
    return _ORDER[max(_ORDER.index(first), _ORDER.index(second))]


def _binary(
    function: Callable[[Any, Any], Any], result: type | None, least: type
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make an operator and its reflection.

    Args:
        function: the operator on arrays.
        result: kind of the result, None for that of the operands.
        least: narrowest kind that it is computed in.
    """

    def compute(left: Any, right: Any) -> Any:
        kind = common_kind(common_kind(left[1], right[1]), least)
        out = _wide(function, _as(left[0], kind), _as(right[0], kind))
        return TracedNumber(out, result or kind)

    def straight(self: TracedNumber, other: Any) -> Any:
        kind = kind_of(other)
        return NotImplemented if kind is None else compute((self, self.kind), (other, kind))

    def reflected(self: TracedNumber, other: Any) -> Any:
        kind = kind_of(other)
        return NotImplemented if kind is None else compute((other, kind), (self, self.kind))

    return straight, reflected


def _power(base: Any, exponent: Any) -> Any:
    return jnp.power(base, exponent)


for _name, _function, _result, _least in (
    ("add", operator.add, None, int),
    ("sub", operator.sub, None, int),
    ("mul", operator.mul, None, int),
    ("truediv", operator.truediv, float, float),
    ("floordiv", operator.floordiv, None, int),
    ("mod", operator.mod, None, int),
    ("pow", _power, None, int),
    ("and", operator.and_, None, bool),
    ("or", operator.or_, None, bool),
    ("xor", operator.xor, None, bool),
    ("lshift", operator.lshift, None, int),
    ("rshift", operator.rshift, None, int),
):
    _straight, _reflected = _binary(_function, _result, _least)
    setattr(TracedNumber, f"__{_name}__", _straight)
    setattr(TracedNumber, f"__r{_name}__", _reflected)
for _name, _function in (
    ("lt", operator.lt),
    ("le", operator.le),
    ("gt", operator.gt),
    ("ge", operator.ge),
    ("eq", operator.eq),
    ("ne", operator.ne),
):
    setattr(TracedNumber, f"__{_name}__", _binary(_function, bool, bool)[0])


def traced_array(value: TracedNumber, dtype: Any) -> Any:
    """Give a number's array in another dtype."""
    return _wide(lambda a: a.astype(dtype), value.array)
