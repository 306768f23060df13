"""Special functions, and ranges of numbers, as layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import float16, float32, int32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.numeric.gamma import digamma, igamma, lgamma, logbeta
from mindjax.ops.reduction import logsumexp
from mindjax.tensor.tensor import Tensor


def _dtypes(owner: str, *allowed: Any, **inputs: Any) -> None:
    for name, x in inputs.items():
        if not isinstance(x, Tensor) or x.dtype not in allowed:
            given = x.dtype if isinstance(x, Tensor) else type(x).__name__
            raise located(
                TypeError,
                f"For '{owner}', the '{name}' should be one of {[str(d) for d in allowed]}, but "
                f"got '{given}'.",
            )


class ReduceLogSumExp(Cell):
    """The logarithm of the sum of exponentials (MindSpore: ``nn.ReduceLogSumExp``).

    Args:
        axis: int, or tuple or list of ints; () for all.
        keep_dims: whether the axes stay, with size 1.

    Raises:
        TypeError: an argument is of a wrong type.
    """

    def __init__(self, axis: Any, keep_dims: bool = False) -> None:
        super().__init__()
        self.axis = checks.of_type("axis", axis, (int, list, tuple), self.cls_name)
        self.keep_dims = checks.of_type("keep_dims", keep_dims, bool, self.cls_name)

    def construct(self, x: Any) -> Any:
        """Reduce a float Tensor."""
        axis = tuple(self.axis) if isinstance(self.axis, list) else self.axis
        return logsumexp(x, axis, self.keep_dims)


class Range(Cell):
    """Numbers at equal distances (MindSpore: ``nn.Range``).

    Args:
        start: first number; the end, if ``limit`` is None.
        limit: end, which is left out.
        delta: distance, not 0.

    Raises:
        ValueError: ``delta`` is 0.
    """

    def __init__(self, start: float, limit: float | None = None, delta: float = 1) -> None:
        super().__init__()
        if delta == 0:
            raise located(ValueError, f"For '{self.cls_name}', the 'delta' can not be zero.")
        data = np.arange(0, start, delta) if limit is None else np.arange(start, limit, delta)
        self.ms_dtype = float32 if data.dtype == np.float64 else int32
        self.result_tensor = Tensor(data, dtype=self.ms_dtype)

    def construct(self) -> Any:
        """Give the numbers, Float32 or Int32."""
        return self.result_tensor


class LGamma(Cell):
    """The logarithm of the absolute value of the gamma function (MindSpore: ``nn.LGamma``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Any) -> Any:
        """Compute it for a Float16 or Float32 Tensor."""
        _dtypes(self.cls_name, float16, float32, x=x)
        return lgamma(x)


class DiGamma(Cell):
    """The derivative of the logarithm of the gamma function (MindSpore: ``nn.DiGamma``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Any) -> Any:
        """Compute it for a Float16 or Float32 Tensor."""
        _dtypes(self.cls_name, float16, float32, x=x)
        return digamma(x)


class IGamma(Cell):
    """The regularized lower incomplete gamma function (MindSpore: ``nn.IGamma``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, a: Any, x: Any) -> Any:
        """Compute it.

        Args:
            a: parameter, Float32.
            x: upper end of the integral, Float32, of a shape that broadcasts with ``a``.

        Returns:
            Tensor, NaN where an input is negative.
        """
        _dtypes(self.cls_name, float32, a=a, x=x)
        return igamma(a, x)


class LBeta(Cell):
    """The logarithm of the beta function (MindSpore: ``nn.LBeta``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Any, y: Any) -> Any:
        """Compute it for two Tensors of one dtype, Float16 or Float32, that broadcast."""
        _dtypes(self.cls_name, float16, float32, x=x)
        _dtypes(self.cls_name, x.dtype, y=y)
        return logbeta(x, y)
