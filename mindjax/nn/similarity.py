"""The cosine of the angle between vectors."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.arithmetic import maximum
from mindjax.ops.exponential import sqrt
from mindjax.ops.reduction import sum
from mindjax.tensor.tensor import Tensor


class CosineSimilarity(Cell):
    """The cosine of the angle between vectors along an axis.

    MindSpore: ``nn.layer.CosineSimilarity``; ``nn.CosineSimilarity`` is the metric.

    Args:
        dim: the axis.
        eps: least product of the norms.
    """

    def __init__(self, dim: int = 1, eps: float = 1e-08) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def construct(self, x1: Any, x2: Any) -> Any:
        """Compare two float Tensors of one shape; the axis goes.

        Raises:
            TypeError: an input is not a Tensor.
        """
        for name, x in (("x1", x1), ("x2", x2)):
            if not isinstance(x, Tensor):
                raise located(
                    TypeError,
                    f"For 'CosineSimilarity', '{name}' must be a tensor, but got {type(x)}",
                )
        product = sum(x1 * x2, self.dim)
        squares = sum(x1 * x1, self.dim) * sum(x2 * x2, self.dim)
        return product / sqrt(maximum(squares, self.eps * self.eps))
