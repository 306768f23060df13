"""Layers that change the shape of their input, or nothing."""

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.creation import one_hot
from mindjax.ops.shape import flatten
from mindjax.tensor.tensor import Tensor


class Flatten(Cell):
    """Axes from one to another made one (MindSpore: ``nn.Flatten``).

    Args:
        start_dim: first axis.
        end_dim: last axis.

    Raises:
        TypeError: one is not an int.
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = checks.of_type("start_dim", start_dim, int, self.cls_name)
        self.end_dim = checks.of_type("end_dim", end_dim, int, self.cls_name)

    def check_axis_valid(self, axis: int, ndim: int) -> None:
        """Check that an axis is one of a Tensor's.

        Args:
            axis: the axis.
            ndim: the Tensor's number of dimensions.

        Raises:
            ValueError: it is out of range.
        """
        if not -ndim <= axis < ndim:
            raise located(
                ValueError,
                f"For '{self.cls_name}', 'start_dim' or 'end_dim' out of range: got {axis} for "
                f"{ndim} dimensions.",
            )

    def construct(self, x: Any) -> Any:
        """Flatten (N, ...) to (N, size), or as the axes say."""
        ndim = max(len(x.shape), 1)
        for axis in (self.start_dim, self.end_dim):
            self.check_axis_valid(axis, ndim)
        return flatten(x, start_dim=self.start_dim, end_dim=self.end_dim).unlink()


class Identity(Cell):
    """The input itself (MindSpore: ``nn.Identity``).

    Args:
        args: any; taken so that the layer can stand for another.
        kwargs: any.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, input: Any) -> Any:
        """Give the input."""
        return input


class OneHot(Cell):
    """Indices as vectors (MindSpore: ``nn.OneHot``).

    Args:
        axis: where the new axis stands.
        depth: its size.
        on_value: at the index.
        off_value: elsewhere.
        dtype: of the output.
    """

    def __init__(
        self,
        axis: int = -1,
        depth: int = 1,
        on_value: float = 1.0,
        off_value: float = 0.0,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.axis = checks.of_type("axis", axis, int, self.cls_name)
        self.depth = checks.of_type("depth", depth, int, self.cls_name)
        self.on_value, self.off_value, self.dtype = on_value, off_value, dtype

    def construct(self, indices: Any) -> Any:
        """Write indices (...) out."""
        on, off = Tensor(self.on_value, self.dtype), Tensor(self.off_value, self.dtype)
        return one_hot(indices, self.depth, on, off, self.axis)
