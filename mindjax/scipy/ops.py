"""The primitives behind SciPy's face."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import is_traced, unwrap
from mindjax.core.primitive import Primitive
from mindjax.ops.linear import spectra
from mindjax.ops.linear.host import on_host
from mindjax.ops.linear.matrices import COMPLEX, HALF, REAL, accept, known, matrices
from mindjax.ops.linear.solve import SolveTriangular as SolveTriangular
from mindjax.ops.promotion import convert, floating

if TYPE_CHECKING:
    from mindjax.tensor import Tensor


class Eig(spectra.Eig, register=False):
    """Eigenvalues and eigenvectors of general matrices (MindSpore: ``scipy.ops.Eig``).

    Args:
        compute_v: whether the eigenvectors are wanted; else a 0 stands in their place.
    """

    compute_v: bool = True

    def __post_init__(self) -> None:
        checks.boolean("compute_v", self.compute_v, "Eig")


class LU(Primitive):
    """LU factorisation with exchanged rows (MindSpore: ``scipy.ops.LU``)."""

    def compute(self, x: Array) -> tuple[Array, Array, Array]:
        """Give packed factors, pivots from 0, and Int32 permutation matrices."""
        accept("LU", (*REAL, *COMPLEX), a=x)
        matrices("LU", x, "a")
        packed, pivots, order = jax.lax.linalg.lu(x)
        rows = jnp.arange(x.shape[-2], dtype=np.int32)
        return packed, pivots, convert(order[..., None, :] == rows[:, None], np.int32)


class LinearSumAssignment(Primitive):
    """Cheapest assignment of rows to columns, on the host (``scipy.ops.LinearSumAssignment``)."""

    def __call__(self, cost_matrix: Any, dimension_limit: Any, maximize: Any) -> Any:
        """Assign; a limit beyond the columns raises where values are known (PYNATIVE, CPU)."""
        for name, x in (("cost_matrix", cost_matrix), ("dimension_limit", dimension_limit)):
            if not hasattr(x, "dtype"):
                raise located(
                    TypeError,
                    f"For 'LinearSumAssignment', '{name}' must be a Tensor, but got {x!r}.",
                )
        if not is_traced(unwrap(maximize)):
            maximize = checks.python_value(maximize)
            checks.boolean("maximize", maximize, "LinearSumAssignment")
        limit = known(dimension_limit)
        if limit is not None and len(cost_matrix.shape) == 2:
            columns = cost_matrix.shape[1]
            if columns < limit < np.iinfo(np.int64).max or limit < 0:
                raise located(
                    RuntimeError,
                    f"For 'LinearSumAssignment', 'dimension_limit' must be from 0 to {columns}, "
                    f"but got {limit}.",
                )
        return self._dispatch(cost_matrix, dimension_limit, maximize)

    def compute(self, cost: Array, limit: Array, maximize: Array) -> tuple[Array, Array]:
        """Give rows and their columns, with -1 where the limit leaves none."""
        integers = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
        accept("LinearSumAssignment", (*HALF, *REAL, *integers, "Bool"), cost_matrix=cost)
        accept("LinearSumAssignment", ("Int64",), dimension_limit=limit)
        if cost.ndim != 2:
            raise located(
                ValueError,
                f"For 'LinearSumAssignment', 'cost_matrix' must have rank 2, but got {cost.ndim}.",
            )
        size = min(cost.shape)
        result = jax.ShapeDtypeStruct((size,), np.int64)

        def assign(costs: Any, columns: Any, largest: Any) -> tuple[Any, Any]:
            from scipy.optimize import linear_sum_assignment  # slow to load

            found = linear_sum_assignment(costs[:, : int(columns)], bool(largest))
            padded = (np.pad(i, (0, size - len(i)), constant_values=-1) for i in found)
            return tuple(padded)  # type: ignore[return-value]

        inputs = jax.lax.stop_gradient(convert(cost, np.float64)), limit, maximize
        rows, columns = on_host(assign, (result, result), *inputs, vmap_method="sequential")
        return rows, columns


def solve_triangular(
    a: Tensor, b: Tensor, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> Tensor:
    """Solve with triangular matrices (MindSpore: ``scipy.ops.solve_triangular``).

    Args:
        a: Tensor of shape (..., n, n); integers are computed in Float32.
        b: Tensor of shape (..., n) or (..., n, k) and the same dtype.
        trans: 0 or ``"N"`` for ``a``, 1 or ``"T"`` for its transpose, 2 or ``"C"`` for the
            conjugate transpose.
        lower: whether the lower triangle is read, else the upper one.
        unit_diagonal: whether the diagonal counts as 1.

    Returns:
        Tensor of the shape of ``b``.

    Raises:
        TypeError: the dtypes differ, or a flag is no bool.
        ValueError: the shapes do not fit, or there is no such ``trans``.
    """
    letter = {0: "N", 1: "T", 2: "C"}.get(trans, trans) if not isinstance(trans, bool) else trans
    if letter not in ("N", "T", "C"):
        raise located(
            ValueError,
            f"For 'solve_triangular', the 'trans' must be one of 0, 1, 2, 'N', 'T', 'C', but got "
            f"{trans!r}.",
        )
    if getattr(a, "dtype", 0) != getattr(b, "dtype", 1):
        raise located(
            TypeError,
            "For 'solve_triangular', 'a' and 'b' must be Tensors of one dtype, but got "
            f"{getattr(a, 'dtype', a)} and {getattr(b, 'dtype', b)}.",
        )
    solve = SolveTriangular(lower, unit_diagonal, letter)
    return solve(_floating(a), _floating(b))


class _Floating(Primitive, register=False):
    """Integers as Float32; other numbers as they are."""

    def compute(self, x: Array) -> Array:
        return floating(x)


_floating = _Floating()
