"""Tensor methods of linear algebra, loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core.dtype import int64
from mindjax.core.errors import located
from mindjax.ops import families
from mindjax.ops.rearrange import diagonal
from mindjax.ops.reduction import sum
from mindjax.ops.shape import shape_of
from mindjax.tensor.methods.late import Late

if TYPE_CHECKING:
    from mindjax.tensor import Tensor


class LinearMethods:
    """Methods of the linear algebra family."""

    __slots__ = ()

    adjoint = Late()
    cholesky = Late()
    cholesky_inverse = Late()
    cholesky_solve = Late()
    cov = Late()
    cross = Late()
    det = Late()
    eigvals = Late()
    geqrf = Late()
    log_matrix_determinant = Late()
    logdet = Late()
    lstsq = Late()
    lu_solve = Late()
    matrix_determinant = Late()
    matrix_power = Late()
    orgqr = Late()
    renorm = Late()
    slogdet = Late()
    svd = Late()

    @property
    def H(self: Any) -> Tensor:
        """The conjugate transpose of a matrix.

        Raises:
            ValueError: the Tensor is no matrix.
        """
        ndim = len(shape_of(self))
        if ndim != 2:
            raise located(
                ValueError, f"For tensor.H, only 2-D Tensor is supported, but got {ndim}-D."
            )
        return families.load("adjoint")(self)

    @property
    def mH(self: Any) -> Tensor:
        """The conjugate transpose of the matrices in the last two axes."""
        return families.load("adjoint")(self)

    def addr(self: Any, vec1: Any, vec2: Any, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """Add an outer product (MindSpore: ``Tensor.addr``); as ``ops.addr``."""
        return families.load("addr")(self, vec1, vec2, beta=beta, alpha=alpha)

    def fill_diagonal(self: Any, fill_value: float, wrap: bool = False) -> Tensor:
        """Give a Tensor with another main diagonal (MindSpore: ``Tensor.fill_diagonal``).

        Args:
            fill_value: float to be written.
            wrap: whether the diagonal starts again below the square part of a tall matrix.

        Returns:
            Tensor of the same shape.

        Raises:
            TypeError: ``fill_value`` is no float.
            ValueError: the Tensor has one axis, or more than two of different sizes.
        """
        return families.load("FillDiagonal")(fill_value, wrap)(self)

    def ormqr(
        self: Any, input2: Any, input3: Any, left: bool = True, transpose: bool = False
    ) -> Tensor:
        """Multiply by Householder reflections (MindSpore: ``Tensor.ormqr``); as ``ops.ormqr``."""
        return families.load("ormqr")(self, input2, input3, left, transpose)

    def qr(self: Any, some: bool = True) -> tuple[Tensor, Tensor]:
        """Factor matrices (MindSpore: ``Tensor.qr``); as ``ops.qr``.

        Args:
            some: whether Q has min(m, n) columns only, else m.

        Returns:
            Q and R.
        """
        return families.load("qr")(self, "reduced" if some else "complete")

    def trace(
        self: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None
    ) -> Tensor:
        """Sum a diagonal (MindSpore: ``Tensor.trace``).

        Args:
            offset: diagonal; above the main one if positive.
            axis1: first axis of the matrices.
            axis2: second axis of the matrices.
            dtype: of the result; by default Int64 for integers, else that of the Tensor.

        Returns:
            Tensor without the two axes.

        Raises:
            RuntimeError: the Tensor has fewer than two axes.
            ValueError: an axis is out of range, or both are the same.
        """
        ndim = len(shape_of(self))
        if ndim < 2:
            raise located(
                RuntimeError, f"For 'trace', the Tensor must have 2 or more axes, but got {ndim}."
            )
        if dtype is None and self.dtype.kind != "float" and self.dtype.kind != "complex":
            dtype = int64
        return sum(diagonal(self, offset, axis1, axis2), -1, dtype=dtype)

    def triangular_solve(
        self: Any,
        A: Any,
        upper: bool = True,
        transpose: bool = False,
        unitriangular: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Solve with triangular matrices; as ``mint.triangular_solve``."""
        from mindjax.ops.linear.solve import triangular_solve

        return triangular_solve(self, A, upper, transpose, unitriangular)
