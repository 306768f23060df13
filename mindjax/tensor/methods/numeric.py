"""Tensor methods: special functions, counting, searching, and random Tensors of the same shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.ops import activation, families, special
from mindjax.ops.arithmetic import sub
from mindjax.ops.cast import cast
from mindjax.ops.gather import (
    broadcast_shape,
    check_range,
    clip_indices,
    gather_elements,
    wrap_indices,
)
from mindjax.ops.reduction import amax, amin
from mindjax.ops.sampling import draw, draw_uniform
from mindjax.ops.sequence import stack
from mindjax.ops.shape import broadcast_to, expand_dims, reshape
from mindjax.tensor.methods.late import Late

if TYPE_CHECKING:
    from mindjax.tensor import Tensor


class NumericMethods:
    """Methods of the numeric and stochastic families."""

    __slots__ = ()

    angle = Late()
    bincount = Late()
    copysign = Late()
    diff = special.diff
    digamma = Late()
    gcd = Late()
    hardshrink = activation.hardshrink
    histc = Late()
    i0 = Late()
    igamma = Late()
    igammac = Late()
    invert = Late()
    isreal = Late()
    lcm = Late()
    ldexp = Late()
    lgamma = Late()
    logcumsumexp = Late()
    logit = activation.logit
    msort = Late()
    mvlgamma = Late()
    nanquantile = Late()
    nextafter = Late()
    quantile = Late()
    sgn = Late()
    soft_shrink = activation.softshrink
    unique_consecutive = Late()
    unique_with_pad = Late()

    def bitwise_not(self: Any) -> Tensor:
        """Flip every bit; as ``mint.bitwise_not``."""
        # The ops have no function of this name, nor of the next.
        from mindjax.ops.numeric.elements import bitwise_not

        return bitwise_not(self)

    def kthvalue(self: Any, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
        """Find the k-th smallest element along an axis; as ``mint.kthvalue``."""
        from mindjax.ops.numeric.searching import kthvalue

        return kthvalue(self, k, dim, keepdim)

    def approximate_equal(self: Any, other: Any, tolerance: float = 1e-5) -> Tensor:
        """Tell where two Tensors differ by less than a tolerance; as ``ops.approximate_equal``."""
        return families.load("approximate_equal")(self, other, tolerance)

    def searchsorted(self: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
        """Find the places where values keep this Tensor sorted (MindSpore: ``searchsorted``).

        Args:
            v: number, list or Tensor of values.
            side: ``"left"`` for the first place, ``"right"`` for the last.
            sorter: integer Tensor: positions that sort this Tensor.

        Returns:
            Int32 Tensor of the shape of ``v``.

        Raises:
            ValueError: ``side`` is unknown, or the shapes do not fit.
        """
        if side not in ("left", "right"):
            raise located(
                ValueError,
                "For 'Tensor.searchsorted', the argument 'side' should be one of in ['left', "
                f"'right'], but got {side}.",
            )
        values = v if hasattr(v, "dtype") else Handle.tensor_class(v)
        return families.load("searchsorted")(self, values, out_int32=True, side=side, sorter=sorter)

    def is_signed(self: Any) -> bool:
        """Tell whether the element type has negative numbers."""
        return self.dtype.kind in ("int", "float", "complex")

    def ptp(self: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Take the largest less the smallest element over axes (MindSpore: ``Tensor.ptp``).

        Args:
            axis: int or tuple of int, all axes by default.
            keepdims: whether reduced axes stay, with size 1.

        Returns:
            Tensor without the axes.

        Raises:
            TypeError: ``axis`` is neither, or ``keepdims`` no bool.
            ValueError: there is no such axis.
        """
        if not isinstance(keepdims, bool):
            raise located(
                TypeError,
                f"For 'Tensor.ptp', the type of the argument 'keepdims' must be bool, but got "
                f"{keepdims!r}.",
            )
        if axis is not None and not isinstance(axis, int | tuple):
            raise located(
                TypeError, f"For Tensor.ptp, the axis should be int or tuple, but got {axis!r}."
            )
        return sub(amax(self, axis, keepdims), amin(self, axis, keepdims))

    def choose(self: Any, choices: Any, mode: str = "clip") -> Tensor:
        """Take each element from the choice that this index Tensor names (MindSpore: ``choose``).

        Args:
            choices: sequence of Tensors, arrays or numbers that broadcast with this Tensor, or a
                Tensor whose first axis is the sequence.
            mode: ``"clip"`` or ``"wrap"`` brings indices out of range into it, ``"raise"`` raises
                (in PYNATIVE on the CPU).

        Returns:
            Tensor of the common shape.

        Raises:
            ValueError: the shapes do not broadcast, ``mode`` is unknown, or this Tensor is 0-d.
            RuntimeError: an index is out of range, in mode ``"raise"``.
        """
        if mode not in ("clip", "wrap", "raise"):
            raise located(
                ValueError,
                f"For 'Tensor.choose', 'mode' must be 'clip', 'wrap' or 'raise', but got {mode!r}.",
            )
        if not self.ndim:
            raise located(ValueError, "For 'Tensor.choose', the index Tensor must have an axis.")
        items: Any = checks.of_type("choices", choices, (tuple, list, Handle), "Tensor.choose")
        items = [c if isinstance(c, Handle) else Handle.tensor_class(c) for c in items]
        shape = broadcast_shape("Tensor.choose", self.shape, *(c.shape for c in items))  # type: ignore[attr-defined]
        index = broadcast_to(self, shape)
        if mode == "raise":
            check_range("Tensor.choose", index, len(items))
        index = (clip_indices if mode == "clip" else wrap_indices)(index, len(items))
        table = stack(tuple(broadcast_to(c, shape) for c in items))  # type: ignore[arg-type]
        return reshape(gather_elements(table, 0, expand_dims(index, 0)), shape)

    def cauchy(self: Any, median: float = 0.0, sigma: float = 1.0) -> Tensor:
        """Draw numbers of the Cauchy distribution with this shape and dtype.

        Args:
            median: of the distribution.
            sigma: scale, half of the width at half of the height.

        Returns:
            Tensor like this one, which stays as it is.

        Raises:
            TypeError: an argument is no float.
        """
        drawn = families.load("Cauchy")(list(self.shape), median, sigma)()
        return cast(drawn, self.dtype)

    def log_normal(self: Any, mean: float = 1.0, std: float = 2.0) -> Tensor:
        """Draw numbers whose logarithms are normal, with this shape and dtype.

        Args:
            mean: of the logarithms.
            std: of the logarithms.

        Returns:
            Tensor like this one, which stays as it is.

        Raises:
            TypeError: an argument is no float, or this Tensor holds none.
        """
        return families.load("LogNormalReverse")(mean, std)(self)

    def uniform(self: Any, from_: Any = 0.0, to: Any = 1.0, generator: Any = None) -> Tensor:
        """Draw uniform numbers from [from_, to) with this shape and dtype.

        Args:
            from_: lower bound, a number.
            to: upper bound, a number.
            generator: stream; None takes the default one.

        Returns:
            Tensor like this one, which stays as it is.

        Raises:
            TypeError: ``from_`` is larger than ``to``.
            ValueError: this Tensor holds no floats.
        """
        low = checks.number("from_", from_, "Tensor.uniform")
        if low > checks.number("to", to, "Tensor.uniform"):
            raise located(
                TypeError,
                f"For 'Tensor.uniform', 'from_' must not be larger than 'to', but got {from_} and "
                f"{to}.",
            )
        key = draw("uniform", generator=generator)
        return draw_uniform(self.value_shape, self.dtype, from_, to, key)
