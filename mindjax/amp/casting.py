"""Cells and operators that cast what they give."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import float16, float32
from mindjax.core.handle import current
from mindjax.nn.cell import Cell
from mindjax.nn.precision import cast_floats


class _OutputTo16(Cell):
    """A Cell of full precision within one of low precision.

    Args:
        backbone: the Cell.
        dtype: what its output is cast to.
    """

    def __init__(self, backbone: Cell, dtype: Any = float16) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self.dtype = dtype

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Give the Cell's output, cast."""
        return ops.cast(self._backbone(*args, **kwargs), self.dtype)


class _OutputTo32(Cell):
    """A network of low precision whose output is Float32.

    Args:
        backbone: the network.
    """

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Give the network's output, cast."""
        return cast_floats(self._backbone(*args, **kwargs), float32)


class WithLossCell(Cell):
    """A network with its loss, which is computed in Float32.

    Args:
        backbone: network of the data.
        loss_fn: Cell of the network's output and the label.
    """

    def __init__(self, backbone: Cell, loss_fn: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        """Give the loss of a batch."""
        out = cast_floats(self._backbone(data), float32)
        return self._loss_fn(out, cast_floats(label, float32))


class LowPrecision:
    """An operator that computes in low precision and gives Float32.

    Args:
        operator: the Primitive.
        dtype: what its inputs are cast to.
    """

    def __init__(self, operator: Any, dtype: Any) -> None:
        self.operator, self.dtype = operator, dtype

    def __call__(self, *inputs: Any) -> Any:
        """Run the operator."""
        outer, current.mixed = current.mixed, None
        try:
            out = self.operator(*(cast_floats(x, self.dtype) for x in inputs))
        finally:
            current.mixed = outer
        return cast_floats(out, float32)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "operator" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.operator, name)
