"""Kinds of types, to ask with ``isinstance`` what kind a dtype is of."""

from __future__ import annotations

from typing import Any

from mindjax.core.dtype import Bool as Bool
from mindjax.core.dtype import Complex as Complex
from mindjax.core.dtype import Float as Float
from mindjax.core.dtype import Int as Int
from mindjax.core.dtype import List as List
from mindjax.core.dtype import Number as Number
from mindjax.core.dtype import String as String
from mindjax.core.dtype import TensorType as TensorType
from mindjax.core.dtype import Tuple as Tuple
from mindjax.core.dtype import Type as Type
from mindjax.core.dtype import UInt as UInt
from mindjax.core.dtype import bfloat16


class _OfBFloat16(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return instance is bfloat16


class BFloat(metaclass=_OfBFloat16):
    """The kind of BFloat16, which is a `Float` here too."""
