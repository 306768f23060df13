"""Norms of Tensors: as a result, as a limit, as a penalty."""

from __future__ import annotations

import math
from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import float16, float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.arithmetic import abs, maximum
from mindjax.ops.creation import ones_like
from mindjax.ops.exponential import sqrt, square
from mindjax.ops.logic import where
from mindjax.ops.reduction import mean, sum
from mindjax.ops.state import stop_gradient


def clipped(x: Any, limit: Any, axes: Any) -> Any:
    """Scale a Tensor down to a norm.

    Args:
        x: the Tensor.
        limit: greatest Euclidean norm, a number or a Tensor.
        axes: axes that a norm is taken over; None for all.

    Returns:
        Tensor of the shape of ``x``.
    """
    squares = sum(square(x), axes, True)
    positive = squares > 0
    # The root's slope at 0 is infinite; rows of zeros stay as they are.
    norms = where(positive, sqrt(where(positive, squares, ones_like(squares))), squares)
    return x * limit / maximum(norms, limit)


class ClipByNorm(Cell):
    """A Tensor scaled down to a Euclidean norm (MindSpore: ``nn.ClipByNorm``).

    Args:
        axis: int or tuple of ints that a norm is taken over; None for all.

    Raises:
        TypeError: ``axis`` is of a wrong type.
    """

    def __init__(self, axis: Any = None) -> None:
        super().__init__()
        if axis is not None:
            checks.of_type("axis", axis, (int, tuple), self.cls_name)
        self.axis = () if axis is None else axis

    def construct(self, x: Any, clip_norm: Any) -> Any:
        """Clip.

        Args:
            x: Float16 or Float32.
            clip_norm: greatest norm, a positive Tensor that broadcasts to ``x``.

        Returns:
            Tensor of the shape of ``x``, Float32.
        """
        for name, value in (("x", x), ("clip_norm", clip_norm)):
            if value.dtype not in (float16, float32):
                raise located(
                    TypeError,
                    f"For '{self.cls_name}', the type of '{name}' must be Float16 or Float32, but "
                    f"got {value.dtype}.",
                )
        axes = None if self.axis == () else self.axis
        return clipped(x.astype(float32), clip_norm.astype(float32), axes)


class L1Regularizer(Cell):
    """The sum of magnitudes, times a number (MindSpore: ``nn.L1Regularizer``).

    Args:
        scale: factor, above 0.

    Raises:
        TypeError: ``scale`` is not a number.
        ValueError: it is not above 0, or not finite.
    """

    def __init__(self, scale: float) -> None:
        super().__init__()
        checks.of_type("scale", scale, (int, float), self.cls_name)
        if scale <= 0:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'scale' must be greater than 0, but got {scale}.",
            )
        if math.isinf(scale) or math.isnan(scale):
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'scale' can not be INF or NAN, but got {scale}.",
            )
        self.scale = float(scale)

    def construct(self, weights: Any) -> Any:
        """Give the penalty of a Tensor of any shape."""
        return sum(abs(weights)) * self.scale


class Norm(Cell):
    """The Euclidean norm (MindSpore: ``nn.Norm``).

    Args:
        axis: int or tuple of ints; () for all.
        keep_dims: whether the axes stay, with size 1.

    Raises:
        TypeError: ``keep_dims`` is not a bool.
    """

    def __init__(self, axis: Any = (), keep_dims: bool = False) -> None:
        super().__init__()
        self.keep_dims = checks.of_type("keep_dims", keep_dims, bool, self.cls_name)
        self.axis = axis

    def construct(self, x: Any) -> Any:
        """Give the norm over the axes."""
        axes = None if isinstance(self.axis, tuple | list) and not self.axis else self.axis
        return sqrt(sum(square(x), axes, self.keep_dims))

    def extend_repr(self) -> str:
        """Name the arguments."""
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class Moments(Cell):
    """Mean and variance (MindSpore: ``nn.Moments``).

    Args:
        axis: int or tuple of ints; None for all.
        keep_dims: whether the axes stay, with size 1; None for False.

    Raises:
        TypeError: an argument is of a wrong type.
    """

    def __init__(self, axis: Any = None, keep_dims: bool | None = None) -> None:
        super().__init__()
        owner = self.cls_name
        axis = () if axis is None else axis
        for i, item in enumerate(axis if isinstance(axis, tuple) else ()):
            checks.of_type(f"axis[{i}]", item, int, owner)
        self.axis = checks.of_type("axis", axis, (int, tuple), owner)
        keep_dims = False if keep_dims is None else keep_dims
        self.keep_dims = checks.of_type("keep_dims", keep_dims, bool, owner)

    def construct(self, x: Any) -> Any:
        """Give mean and biased variance of a Float16 or Float32 Tensor."""
        if x.dtype not in (float16, float32):
            raise located(
                TypeError,
                f"For '{self.cls_name}', the 'input x' should be one of [Float16, Float32], but "
                f"got '{x.dtype}'.",
            )
        axes = None if self.axis == () else self.axis
        wide = x.astype(float32)
        center = mean(wide, axes, True)
        spread = square(wide - stop_gradient(center))
        first = center if self.keep_dims else mean(wide, axes)
        return first.astype(x.dtype), mean(spread, axes, self.keep_dims).astype(x.dtype)
