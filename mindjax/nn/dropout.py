"""Dropout layers: they drop while training and pass everything on otherwise."""

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.operators import Operator, laid
from mindjax.ops.dropout import Dropout as _Dropout
from mindjax.ops.dropout import dropout, dropout1d, dropout2d, dropout3d


class Dropout(Cell):
    """Dropout of elements (Srivastava 2014; MindSpore: ``nn.Dropout``).

    Args:
        keep_prob: probability to stay, in (0, 1]; deprecated in the original.
        p: probability to be dropped, in [0, 1); it wins over ``keep_prob``.
        dtype: kept; the output has the input's dtype.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a probability is out of range.
    """

    dropout = Operator(lambda cell: _Dropout(keep_prob=1 - cell._dropped))

    def __init__(
        self, keep_prob: float = 0.5, p: float | None = None, dtype: Any = float32
    ) -> None:
        super().__init__()
        if p is None:
            checks.of_type("keep_prob", keep_prob, float, self.cls_name)
            if not 0 < keep_prob <= 1:
                raise located(
                    ValueError,
                    f"For '{self.cls_name}', the 'keep_prob' must be a number in range (0, 1], "
                    f"but got {keep_prob}.",
                )
            dropped = 1 - keep_prob
        else:
            dropped = checks.float_in_range("p", p, 0, 1, self.cls_name, "[)")
        self.p, self.keep_prob, self.dtype = p, keep_prob, dtype
        self._dropped = float(dropped)

    def construct(self, x: Any) -> Any:
        """Drop elements of a float Tensor."""
        if not self.training or self._dropped == 0:
            return x
        (x,) = laid(self, "dropout", x)
        return dropout(x, self._dropped)

    def extend_repr(self) -> str:
        """Name the probability."""
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class _Channels(Cell):
    """What the layers that drop whole channels share."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        checks.of_type("p", p, float, self.cls_name)
        self.p = checks.float_in_range("p", p, 0, 1, self.cls_name)

    def extend_repr(self) -> str:
        """Name the probability."""
        return f"p={self.p}"


class Dropout1d(_Channels):
    """Dropout of channels of (N, C, L) or (C, L) (MindSpore: ``nn.Dropout1d``).

    Args:
        p: probability of a channel to be dropped.
    """

    def construct(self, x: Any) -> Any:
        """Drop channels."""
        return dropout1d(x, self.p) if self.training and self.p > 0 else x


class Dropout2d(_Channels):
    """Dropout of channels of (N, C, H, W) (Tompson 2015; MindSpore: ``nn.Dropout2d``).

    Args:
        p: probability of a channel to be dropped.
    """

    def construct(self, x: Any) -> Any:
        """Drop channels."""
        return dropout2d(x, self.p) if self.training and self.p > 0 else x


class Dropout3d(_Channels):
    """Dropout of channels of (N, C, D, H, W) (MindSpore: ``nn.Dropout3d``).

    Args:
        p: probability of a channel to be dropped.
    """

    def construct(self, x: Any) -> Any:
        """Drop channels."""
        return dropout3d(x, self.p) if self.training and self.p > 0 else x
