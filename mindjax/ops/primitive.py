"""The original's old import path of the Primitive base class and `constexpr`."""

from mindjax.core.primitive import Primitive as Primitive
from mindjax.ops.composite import constexpr as constexpr
