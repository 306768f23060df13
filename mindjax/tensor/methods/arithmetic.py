"""Tensor's operators, and its methods for arithmetic, comparison, logic and linear algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.ops import (
    activation,
    arithmetic,
    blending,
    clipping,
    comparison,
    exponential,
    linalg,
    logic,
    products,
    rounding,
    special,
    trigonometry,
)

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

_NUMPY = (np.generic, np.ndarray)
_ADD, _SUB, _MUL = arithmetic.add_ext, arithmetic.sub_ext, arithmetic.Mul()
_COMPARABLE = (Handle, bool, int, float, *_NUMPY, jax.Array)


def _operand(value: Any) -> Any:
    """Make a Tensor of a list, as the original does; refuse complex numbers, as it does too."""
    if type(value) is list:
        return Handle.tensor_class(value)
    if type(value) is complex:
        raise located(
            TypeError,
            f"A Tensor and the complex number {value} do not mix: make it a Tensor.",
        )
    return value


class ArithmeticMethods:
    """Methods of the arithmetic family."""

    __slots__ = ()

    # -- operators --

    # With another Tensor the usual ones call their op without a step between.
    def __add__(self, other: Any) -> Tensor:
        if isinstance(other, Handle):
            return _ADD._pair(self, other)
        return _ADD._dispatch(self, _operand(other))

    def __radd__(self, other: Any) -> Tensor:
        return arithmetic.add_ext(_operand(other), self)

    def __sub__(self, other: Any) -> Tensor:
        if isinstance(other, Handle):
            return _SUB._pair(self, other)
        return _SUB._dispatch(self, _operand(other))

    def __rsub__(self, other: Any) -> Tensor:
        return arithmetic.sub(_operand(other), self)

    def __isub__(self, other: Any) -> Tensor:
        return arithmetic.sub(self, _operand(other))

    def __mul__(self, other: Any) -> Tensor:
        if isinstance(other, Handle):
            return _MUL._pair(self, other)
        return _MUL._dispatch(self, _operand(other))

    def __rmul__(self, other: Any) -> Tensor:
        return arithmetic.mul(_operand(other), self)

    def __truediv__(self, other: Any) -> Tensor:
        return arithmetic.true_divide(self, _operand(other))

    def __rtruediv__(self, other: Any) -> Tensor:
        return arithmetic.true_divide(_operand(other), self)

    def __floordiv__(self, other: Any) -> Tensor:
        return arithmetic.floor_divide(self, _operand(other))

    def __rfloordiv__(self, other: Any) -> Tensor:
        return arithmetic.floor_divide(_operand(other), self)

    def __mod__(self, other: Any) -> Tensor:
        return arithmetic.floor_mod(self, _operand(other))

    def __rmod__(self, other: Any) -> Tensor:
        return arithmetic.floor_mod(_operand(other), self)

    def __pow__(self, other: Any) -> Tensor:
        return arithmetic.pow(self, _operand(other))

    def __rpow__(self, other: Any) -> Tensor:
        return arithmetic.pow(_operand(other), self)

    def __matmul__(self, other: Any) -> Tensor:
        return products.matmul(self, other)  # type: ignore[arg-type]

    def __rmatmul__(self, other: Any) -> Tensor:
        return products.matmul(other, self)  # type: ignore[arg-type]

    def __and__(self, other: Any) -> Tensor:
        return logic.bitwise_and(self, _operand(other))

    def __or__(self, other: Any) -> Tensor:
        return logic.bitwise_or(self, _operand(other))

    def __xor__(self, other: Any) -> Tensor:
        return logic.bitwise_xor(self, _operand(other))

    # Numbers of numpy leave the operation to us; Python's, as in the original, do not mix.
    def __rand__(self, other: Any) -> Any:
        return logic.bitwise_and(self, other) if isinstance(other, _NUMPY) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return logic.bitwise_or(self, other) if isinstance(other, _NUMPY) else NotImplemented

    def __rxor__(self, other: Any) -> Any:
        return logic.bitwise_xor(self, other) if isinstance(other, _NUMPY) else NotImplemented

    def __neg__(self) -> Tensor:
        return arithmetic.neg(self)  # type: ignore[arg-type]

    def __pos__(self) -> Tensor:
        return self  # type: ignore[return-value]

    def __abs__(self) -> Tensor:
        return arithmetic.abs(self)  # type: ignore[arg-type]

    def __invert__(self) -> Tensor:
        return logic.logical_not(self)  # type: ignore[arg-type]

    def __round__(self, ndigits: int = 0) -> Tensor:
        return rounding.round(self, decimals=ndigits)  # type: ignore[arg-type]

    # What cannot be compared is unequal, as for any Python object; so `x == None` is False.
    def __eq__(self, other: Any) -> Any:
        return comparison.equal(self, other) if isinstance(other, _COMPARABLE) else False

    def __ne__(self, other: Any) -> Any:
        return comparison.not_equal(self, other) if isinstance(other, _COMPARABLE) else True

    __hash__ = object.__hash__

    def __lt__(self, other: Any) -> Tensor:
        return comparison.less(self, _operand(other))

    def __le__(self, other: Any) -> Tensor:
        return comparison.less_equal(self, _operand(other))

    def __gt__(self, other: Any) -> Tensor:
        return comparison.greater(self, _operand(other))

    def __ge__(self, other: Any) -> Tensor:
        return comparison.greater_equal(self, _operand(other))

    # -- arithmetic --

    def add(self, other: Any, *, alpha: float = 1) -> Tensor:
        """Compute ``self + alpha * other`` (MindSpore: ``Tensor.add``).

        Args:
            other: Tensor or number.
            alpha: number.

        Raises:
            TypeError: the dtypes do not mix, or ``alpha`` is a float for integer Tensors.
        """
        other = _operand(other)
        return (
            arithmetic.add_ext(self, other)
            if alpha == 1
            else (arithmetic.add_ext(self, other, alpha))
        )

    def sub(self, other: Any, *, alpha: float = 1) -> Tensor:
        """Compute ``self - alpha * other`` (MindSpore: ``Tensor.sub``).

        Args:
            other: Tensor or number.
            alpha: number.

        Raises:
            TypeError: the dtypes do not mix, or ``alpha`` is a float for integer Tensors.
        """
        return arithmetic.subtract(self, _operand(other), alpha=alpha)

    subtract = sub
    mul = arithmetic.mul

    def multiply(self, value: Any) -> Tensor:
        """Multiply element by element; as ``ops.multiply``."""
        return arithmetic.mul(self, value)

    div = arithmetic.div
    divide = arithmetic.div
    true_divide = arithmetic.true_divide
    floor_divide = arithmetic.floor_divide
    fmod = arithmetic.fmod
    remainder = arithmetic.remainder
    pow = arithmetic.pow
    neg = arithmetic.neg
    negative = arithmetic.neg
    abs = arithmetic.abs
    absolute = arithmetic.abs
    sign = arithmetic.sign
    inv = arithmetic.inv
    maximum = arithmetic.maximum
    minimum = arithmetic.minimum
    clamp = clipping.clamp
    clip = clipping.clip
    addcmul = blending.addcmul
    addcdiv = blending.addcdiv
    lerp = blending.lerp

    def positive(self) -> Tensor:
        """Give the Tensor itself (MindSpore: ``Tensor.positive``)."""
        return self  # type: ignore[return-value]

    xlogy = special.xlogy
    xdivy = special.xdivy
    hypot = special.hypot
    logaddexp = special.logaddexp
    logaddexp2 = special.logaddexp2
    fmax = special.fmax
    fmin = special.fmin
    heaviside = special.heaviside

    def float_power(self, other: Any) -> Tensor:
        """Raise to a power in Float64; as ``ops.float_power``."""
        return special.float_power(self, other)  # type: ignore[arg-type]

    nan_to_num = special.nan_to_num
    real = special.real
    imag = special.imag
    conj = special.conj
    rad2deg = special.rad2deg
    deg2rad = special.deg2rad
    sinc = special.sinc
    signbit = special.signbit
    isneginf = special.isneginf
    isposinf = special.isposinf

    # -- powers, exponentials, trigonometry, rounding --

    sigmoid = activation.sigmoid
    sqrt = exponential.sqrt
    rsqrt = exponential.rsqrt
    square = exponential.square
    reciprocal = exponential.reciprocal
    exp = exponential.exp
    expm1 = exponential.expm1
    log = exponential.log
    log1p = exponential.log1p
    log2 = exponential.log2
    log10 = exponential.log10
    erf = exponential.erf
    erfc = exponential.erfc
    erfinv = exponential.erfinv
    sin = trigonometry.sin
    cos = trigonometry.cos
    tan = trigonometry.tan
    asin = trigonometry.asin
    acos = trigonometry.acos
    atan = trigonometry.atan
    arcsin = trigonometry.asin
    arccos = trigonometry.acos
    arctan = trigonometry.atan
    atan2 = trigonometry.atan2
    arctan2 = trigonometry.atan2
    sinh = trigonometry.sinh
    cosh = trigonometry.cosh
    tanh = trigonometry.tanh
    asinh = trigonometry.asinh
    acosh = trigonometry.acosh
    atanh = trigonometry.atanh
    arcsinh = trigonometry.asinh
    arccosh = trigonometry.acosh
    arctanh = trigonometry.atanh
    floor = rounding.floor
    ceil = rounding.ceil
    trunc = rounding.trunc
    round = rounding.round
    frac = rounding.frac

    # -- comparison and logic --

    equal = comparison.equal
    eq = comparison.equal
    not_equal = comparison.not_equal
    ne = comparison.not_equal
    less = comparison.less
    lt = comparison.less
    less_equal = comparison.less_equal
    le = comparison.less_equal
    greater = comparison.greater
    gt = comparison.greater
    greater_equal = comparison.greater_equal
    ge = comparison.greater_equal
    isclose = comparison.isclose
    allclose = comparison.allclose
    logical_and = logic.logical_and
    logical_or = logic.logical_or
    logical_xor = logic.logical_xor
    logical_not = logic.logical_not
    bitwise_and = logic.bitwise_and
    bitwise_or = logic.bitwise_or
    bitwise_xor = logic.bitwise_xor
    bitwise_left_shift = logic.bitwise_left_shift
    bitwise_right_shift = logic.bitwise_right_shift
    isnan = logic.isnan
    isinf = logic.isinf
    isfinite = logic.isfinite

    def where(self, condition: Any, other: Any) -> Tensor:
        """Keep elements where the condition holds, take ``other`` elsewhere (MindSpore: ``where``).

        Args:
            condition: Bool Tensor.
            other: Tensor or number.

        Raises:
            TypeError: the dtypes do not mix.
        """
        return logic.where(condition, self, other)

    # -- linear algebra --

    matmul = products.matmul
    mm = products.mm
    bmm = products.bmm
    mv = products.mv
    outer = products.outer
    ger = products.outer
    inner = products.inner
    addmm = products.addmm
    addbmm = products.addbmm
    baddbmm = products.baddbmm
    addmv = products.addmv
    norm = linalg.norm
    inverse = linalg.inverse

    def dot(self, other: Any) -> Tensor:
        """Take the scalar product of vectors, or contract as `ops.dot` (MindSpore: ``Tensor.dot``).

        Args:
            other: Tensor of the same dtype.

        Raises:
            ValueError: the sizes do not fit.
        """
        vectors = self.ndim == 1 and other.ndim == 1  # type: ignore[attr-defined]
        return (products.vector_dot if vectors else products.dot)(self, other)  # type: ignore[arg-type]
