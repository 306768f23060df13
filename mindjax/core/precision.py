"""Mixed precision: what an op's floating-point inputs are cast to before it runs."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from mindjax.core.dtype import Number, bfloat16, float16, float32, float64
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive


class MixedPrecisionType(enum.Enum):
    """What `Cell.get_mixed_precision_type` gives (MindSpore: the same names)."""

    NOTSET = 0
    FP16 = 1
    FP32 = 2
    BF16 = 3
    AUTO = 4


KINDS = {
    float16: MixedPrecisionType.FP16,
    float32: MixedPrecisionType.FP32,
    bfloat16: MixedPrecisionType.BF16,
}


class OpLists(NamedTuple):
    """The level ``auto``: each op's precision by its name.

    Attributes:
        dtype: of the ops in ``low``.
        low: names of ops that compute in ``dtype``.
        full: names of ops that compute in Float32.
        promoted: names of ops that compute in the widest dtype of their inputs.
    """

    dtype: Number
    low: frozenset[str]
    full: frozenset[str]
    promoted: frozenset[str]

    def of(self, name: str, inputs: tuple[Any, ...]) -> Number | None:
        """Give the dtype that an op's inputs are cast to; None to leave them."""
        if name in self.low:
            return self.dtype
        if name in self.full:
            return float32
        if name in self.promoted:
            return _widest(inputs)
        return None


class CastTo(Primitive, register=False):
    """A Tensor in the precision of the Cell or op that uses it."""

    dtype: Any

    def compute(self, x: Any) -> Any:
        """Cast the values."""
        return x.astype(self.dtype.np)


def prepared(mixed: Any, name: str, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Cast the inputs of an op.

    Args:
        mixed: dtype that Parameters are cast to, or `OpLists`.
        name: of the op.
        inputs: of the op.
    """
    if not isinstance(mixed, OpLists):
        return tuple(_cast(x, mixed, _parameter) for x in inputs)
    dtype = mixed.of(name, inputs)
    return inputs if dtype is None else tuple(_cast(x, dtype, _any) for x in inputs)


def _parameter(handle: Handle) -> bool:
    return handle.is_parameter


def _any(handle: Handle) -> bool:
    return True


def _cast(value: Any, dtype: Number, chosen: Callable[[Handle], bool]) -> Any:
    """Cast floating-point handles, also inside tuples."""
    if isinstance(value, Handle):
        if chosen(value) and value.value_dtype != dtype.np and _is_float(value.value_dtype):
            return CastTo(dtype)(value)
        return value
    if isinstance(value, tuple | list):
        return tuple(_cast(v, dtype, chosen) for v in value)
    return value


def _is_float(dtype: Any) -> bool:
    return bool(jnp.issubdtype(dtype, jnp.floating))


def _floats(values: Any) -> Iterator[np.dtype[Any]]:
    for value in values:
        if isinstance(value, tuple | list):
            yield from _floats(value)
        elif isinstance(value, Handle) and _is_float(value.value_dtype):
            yield np.dtype(value.value_dtype)


def _widest(inputs: tuple[Any, ...]) -> Number | None:
    found = set(_floats(inputs))
    if len(found) < 2:
        return None
    return float64 if np.dtype(float64.np) in found else float32
