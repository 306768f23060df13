"""The assignment problem."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mindjax.scipy.ops import LinearSumAssignment
from mindjax.tensor import Tensor as _Tensor

if TYPE_CHECKING:
    from mindjax.tensor import Tensor


def linear_sum_assignment(
    cost_matrix: Tensor,
    maximize: bool,
    dimension_limit: Any = _Tensor(sys.maxsize),  # noqa: B008
) -> tuple[Tensor, Tensor]:
    """Assign rows to columns at least cost (MindSpore: ``scipy.optimize.linear_sum_assignment``).

    The host computes it.

    Args:
        cost_matrix: Tensor of shape (m, n): what each pair costs.
        maximize: whether the greatest sum is wanted instead of the least.
        dimension_limit: 0-d Int64 Tensor: number of columns that count, all by default.

    Returns:
        Two Int64 Tensors of shape (min(m, n),), the rows and their columns, with -1 at the end
        where the limit leaves none.

    Raises:
        RuntimeError: the limit is above the number of columns, in PYNATIVE on the CPU.
        TypeError: an argument is of another type.
        ValueError: ``cost_matrix`` is no matrix.
    """
    return LinearSumAssignment()(cost_matrix, dimension_limit, maximize)


class _Callable(ModuleType):
    """A module that is called like its function: importing it by name puts it in its place."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return linear_sum_assignment(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
