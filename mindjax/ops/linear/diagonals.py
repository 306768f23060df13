"""Bands and diagonals of matrices: taking, setting, filling, summing; views that exchange axes."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype, int32
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.linear.matrices import accept, matrices
from mindjax.ops.promotion import convert
from mindjax.ops.rearrange import tril_indices, triu_indices
from mindjax.ops.shape import Transpose

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array

ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


class MatrixBandPart(Primitive):
    """Matrices with zeros outside a band (MindSpore: ``ops.MatrixBandPart``)."""

    def compute(self, x: Array, lower: Array, upper: Array) -> Array:
        """Keep ``lower`` diagonals below the main one and ``upper`` above it."""
        matrices("MatrixBandPart", x, "x")
        for name, bound in (("lower", lower), ("upper", upper)):
            if not jnp.issubdtype(bound.dtype, jnp.integer):
                raise located(
                    TypeError,
                    f"For 'MatrixBandPart', the '{name}' must be an int, but got {bound.dtype}.",
                )
            if bound.ndim:
                raise located(
                    ValueError,
                    f"For 'MatrixBandPart', the rank of '{name}' must be 0, but got {bound.ndim}.",
                )
        rows, columns = (lax.broadcasted_iota(np.int64, x.shape[-2:], i) for i in (0, 1))
        low, high = convert(lower, np.int64), convert(upper, np.int64)
        kept = ((low < 0) | (rows - columns <= low)) & ((high < 0) | (columns - rows <= high))
        return jnp.where(kept, x, jnp.zeros((), x.dtype))


_band = MatrixBandPart()


def matrix_band_part(x: Tensor, lower: Any, upper: Any) -> Tensor:
    """Set matrices to zero outside a band (MindSpore: ``ops.matrix_band_part``).

    Args:
        x: Tensor of shape (..., m, n).
        lower: number of diagonals kept below the main one, int or 0-d Tensor; all if negative.
        upper: number of diagonals kept above it.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: a number is no integer.
        ValueError: ``x`` has fewer than two axes, or a number is no 0-d Tensor.
    """
    return _band(x, lower, upper)


def _offsets(op: str, k: Any) -> tuple[int, int]:
    """Give the lowest and the highest diagonal."""
    k = checks.python_value(k)
    given = k if isinstance(k, tuple) else (k, k)
    low, high = given if len(given) == 2 else (given * 2)[:2]
    pair = checks.integer("k", low, op), checks.integer("k", high, op)
    if len(given) > 2 or pair[0] > pair[1]:
        raise located(
            ValueError,
            f"For '{op}', the 'k' must be one diagonal or the lowest and the highest, but got {k}.",
        )
    return pair


def _start(d: int, size: int, longest: int, align: str) -> int:
    """Tell where the values of a diagonal begin in its row of ``longest`` places."""
    above, below = align.split("_")
    left = (d >= 0 and above == "LEFT") or (d <= 0 and below == "LEFT")
    return 0 if left else longest - size


def _length(rows: int, columns: int, d: int) -> int:
    return min(rows + min(d, 0), columns - max(d, 0))


def _places(
    rows: int, columns: int, low: int, high: int, longest: int, align: str
) -> tuple[Any, Any]:
    """Tell for each element of a matrix whether it is in the band, and its place in the diagonals.

    The diagonals are rows of ``longest`` places, the highest first.
    """
    i, j = np.indices((rows, columns))
    d = j - i
    inside = (low <= d) & (d <= high)
    starts = np.zeros(high - low + 1, int)
    for offset in range(low, high + 1):
        starts[high - offset] = _start(offset, _length(rows, columns, offset), longest, align)
    row = np.where(inside, high - d, 0)
    place = row * longest + np.minimum(i, j) + starts[row]
    return inside, np.where(inside, place, 0).astype(np.int32)


def _laid_out(diagonals: Array, single: bool, inside: Any, places: Any, outside: Array) -> Array:
    """Write diagonals into matrices."""
    batch = diagonals.shape[: -1 if single else -2]
    flat = diagonals.reshape((*batch, -1))
    return jnp.where(inside, jnp.take(flat, places, -1, mode="clip"), outside)


class _Aligned(Primitive, register=False):
    """Base of the operators that align diagonals of different lengths."""

    align: str = "RIGHT_LEFT"

    def __post_init__(self) -> None:
        checks.one_of("align", self.align, ALIGNMENTS, self.name)


class MatrixDiagV3(_Aligned):
    """Matrices made of diagonals (MindSpore: ``ops.MatrixDiagV3``).

    Args:
        align: sides of the diagonals above and below the main one.
    """

    low: int = field(default=0, kw_only=True)
    high: int = field(default=0, kw_only=True)
    num_rows: int = field(default=-1, kw_only=True)
    num_cols: int = field(default=-1, kw_only=True)

    def __call__(
        self,
        x: Any,
        k: Any = 0,
        num_rows: Any = -1,
        num_cols: Any = -1,
        padding_value: Any = 0,
    ) -> Any:
        """Write the diagonals ``k`` of new matrices."""
        low, high = _offsets("MatrixDiagV3", k)
        rows = checks.integer("num_rows", checks.python_value(num_rows), "MatrixDiagV3")
        columns = checks.integer("num_cols", checks.python_value(num_cols), "MatrixDiagV3")
        bound = MatrixDiagV3(self.align, low=low, high=high, num_rows=rows, num_cols=columns)
        return bound._dispatch(x, padding_value)

    def compute(self, x: Array, padding: Array) -> Array:
        """Write diagonals (..., d, n), or (..., n) for one."""
        low, high, single = self.low, self.high, self.low == self.high
        if x.ndim < (1 if single else 2) or (not single and x.shape[-2] != high - low + 1):
            raise located(
                ValueError,
                f"For 'MatrixDiagV3', the 'x' must have shape (..., {high - low + 1}, n) for "
                f"k {(low, high)}, but got {x.shape}.",
            )
        longest = x.shape[-1]
        least = longest - min(high, 0), longest + max(low, 0)
        rows, columns = self.num_rows, self.num_cols
        if rows == columns == -1:
            rows = columns = max(least)
        rows, columns = (least[0] if rows == -1 else rows), (least[1] if columns == -1 else columns)
        if rows < least[0] or columns < least[1] or (rows != least[0] and columns != least[1]):
            raise located(
                ValueError,
                f"For 'MatrixDiagV3', the numbers of rows and columns {(rows, columns)} do not fit "
                f"the 'x' of shape {x.shape} and k {(low, high)}.",
            )
        inside, places = _places(rows, columns, low, high, longest, self.align)
        if padding.size != 1:
            raise located(
                ValueError,
                f"For 'MatrixDiagV3', the 'padding_value' must be one number, but got shape "
                f"{padding.shape}.",
            )
        return _laid_out(x, single, inside, places, convert(padding.reshape(()), x.dtype))


def matrix_diag(
    x: Tensor,
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Make matrices of diagonals (MindSpore: ``ops.matrix_diag``).

    Args:
        x: Tensor of shape (..., n) for one diagonal, (..., d, n) for d, the highest first.
        k: the diagonal, or the lowest and the highest, as a Tensor or tuple; 0 is the main one.
        num_rows: rows of the matrices; -1 for as many as are needed.
        num_cols: columns of the matrices.
        padding_value: number outside the diagonals.
        align: sides that diagonals above and below the main one keep to in ``x``:
            ``"RIGHT_LEFT"``, ``"LEFT_RIGHT"``, ``"LEFT_LEFT"`` or ``"RIGHT_RIGHT"``.

    Returns:
        Tensor of shape (..., num_rows, num_cols).

    Raises:
        TypeError: a number is no integer.
        ValueError: the numbers do not fit ``x``, or there is no such ``align``.
    """
    return MatrixDiagV3(align)(x, k, num_rows, num_cols, padding_value)


def _check_offsets(op: str, x: Array, low: int, high: int) -> None:
    m, n = x.shape[-2:]
    if not -m < low <= high < n and (low, high) != (0, 0):
        raise located(
            ValueError, f"For '{op}', the 'k' must be in ({-m}, {n}), but got {(low, high)}."
        )


class MatrixDiagPartV3(_Aligned):
    """Diagonals of matrices (MindSpore: ``ops.MatrixDiagPartV3``).

    Args:
        align: sides of the diagonals above and below the main one.
    """

    low: int = field(default=0, kw_only=True)
    high: int = field(default=0, kw_only=True)

    def __call__(self, x: Any, k: Any, padding_value: Any) -> Any:
        """Take the diagonals ``k``."""
        low, high = _offsets("MatrixDiagPartV3", k)
        return MatrixDiagPartV3(self.align, low=low, high=high)._dispatch(x, padding_value)

    def compute(self, x: Array, padding: Array) -> Array:
        """Take diagonals of (..., m, n)."""
        matrices("MatrixDiagPartV3", x, "x")
        low, high = self.low, self.high
        _check_offsets("MatrixDiagPartV3", x, low, high)
        m, n = x.shape[-2:]
        longest = min(m + min(high, 0), n - max(low, 0))
        inside = np.zeros((high - low + 1, longest), bool)
        places = np.zeros((high - low + 1, longest), np.int32)
        for row, d in enumerate(range(high, low - 1, -1)):
            size = _length(m, n, d)
            first = _start(d, size, longest, self.align)
            inside[row, first : first + size] = True
            steps = np.arange(size)
            places[row, first : first + size] = (steps + max(-d, 0)) * n + steps + max(d, 0)
        if low == high:
            inside, places = inside[0], places[0]
        return _laid_out(x, False, inside, places, convert(padding.reshape(()), x.dtype))


def matrix_diag_part(x: Tensor, k: Any, padding_value: Any, align: str = "RIGHT_LEFT") -> Tensor:
    """Take diagonals of matrices (MindSpore: ``ops.matrix_diag_part``).

    Args:
        x: Tensor of shape (..., m, n).
        k: the diagonal, or the lowest and the highest, as a Tensor or tuple; 0 is the main one.
        padding_value: number beside diagonals that are shorter than the longest.
        align: sides that diagonals above and below the main one keep to, as in `matrix_diag`.

    Returns:
        Tensor of shape (..., n) for one diagonal, (..., d, n) for d, the highest first.

    Raises:
        TypeError: ``k`` is no integer.
        ValueError: there is no such diagonal or ``align``, or ``x`` has fewer than two axes.
    """
    return MatrixDiagPartV3(align)(x, k, padding_value)


class MatrixSetDiagV3(_Aligned):
    """Matrices with other diagonals (MindSpore: ``ops.MatrixSetDiagV3``).

    Args:
        align: sides of the diagonals above and below the main one.
    """

    low: int = field(default=0, kw_only=True)
    high: int = field(default=0, kw_only=True)

    def __call__(self, x: Any, diagonal: Any, k: Any = 0) -> Any:
        """Replace the diagonals ``k``."""
        low, high = _offsets("MatrixSetDiagV3", k)
        return MatrixSetDiagV3(self.align, low=low, high=high)._dispatch(x, diagonal)

    def compute(self, x: Array, diagonal: Array) -> Array:
        """Write diagonals into (..., m, n)."""
        matrices("MatrixSetDiagV3", x, "x")
        low, high = self.low, self.high
        _check_offsets("MatrixSetDiagV3", x, low, high)
        m, n = x.shape[-2:]
        longest = min(m + min(high, 0), n - max(low, 0))
        single = low == high
        wanted = (*x.shape[:-2], *(() if single else (high - low + 1,)), longest)
        if diagonal.shape != wanted or diagonal.dtype != x.dtype:
            raise located(
                ValueError if diagonal.shape != wanted else TypeError,
                f"For 'MatrixSetDiagV3', the 'diagonal' must have shape {wanted} and dtype "
                f"{x.dtype}, but got {diagonal.shape} and {diagonal.dtype}.",
            )
        inside, places = _places(m, n, low, high, longest, self.align)
        return _laid_out(diagonal, single, inside, places, x)


def matrix_set_diag(x: Tensor, diagonal: Tensor, k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Replace diagonals of matrices (MindSpore: ``ops.matrix_set_diag``).

    Args:
        x: Tensor of shape (..., m, n).
        diagonal: Tensor of the same dtype and of the shape that `matrix_diag_part` gives.
        k: the diagonal, or the lowest and the highest, as a Tensor or tuple; 0 is the main one.
        align: sides that diagonals above and below the main one keep to, as in `matrix_diag`.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        TypeError: ``k`` is no integer, or the dtypes differ.
        ValueError: the shapes do not fit, or there is no such diagonal or ``align``.
    """
    return MatrixSetDiagV3(align)(x, diagonal, k)


class DiagPart(Primitive):
    """Diagonal of a Tensor of twice k axes, as one of k axes (MindSpore: ``ops.DiagPart``)."""

    def compute(self, x: Array) -> Array:
        """Take ``out[i...] = x[i..., i...]``."""
        half = x.ndim // 2
        if not x.ndim or x.ndim % 2:
            raise located(
                ValueError, f"For 'DiagPart', the input rank must be even, but got {x.ndim}."
            )
        if x.shape[:half] != x.shape[half:]:
            raise located(
                ValueError,
                f"For 'DiagPart', both halves of the shape must be equal, but got {x.shape}.",
            )
        shape = x.shape[:half]
        size = int(np.prod(shape))
        return jnp.diagonal(x.reshape(size, size)).reshape(shape)


class FillDiagonal(Primitive):
    """Tensor with another main diagonal (MindSpore: ``ops.FillDiagonal``).

    Args:
        fill_value: number to be written.
        wrap: whether the diagonal starts again below the square part of a tall matrix.
    """

    fill_value: float
    wrap: bool = False

    def __post_init__(self) -> None:
        checks.of_type("fill_value", self.fill_value, float, "FillDiagonal")
        checks.boolean("wrap", self.wrap, "FillDiagonal")

    def compute(self, x: Array) -> Array:
        """Write the number where all indices are equal."""
        if x.ndim < 2 or (x.ndim > 2 and len(set(x.shape)) > 1):
            raise located(
                ValueError,
                "For 'FillDiagonal', the 'input_x' must be a matrix, or have equal sizes on all "
                f"axes, but got shape {x.shape}.",
            )
        places = [lax.broadcasted_iota(np.int32, x.shape, a) for a in range(x.ndim)]
        if self.wrap and x.ndim == 2:
            places[0] = places[0] % np.int32(x.shape[1] + 1)
        on = places[0] == places[1]
        for other in places[2:]:
            on = on & (other == places[0])
        value = jnp.asarray(self.fill_value, np.float64 if x.dtype.itemsize > 4 else np.float32)
        return jnp.where(on, convert(value, x.dtype), x)


class Trace(Primitive):
    """Sum of a matrix's diagonal (MindSpore: ``ops.Trace``)."""

    def compute(self, x: Array) -> Array:
        """Sum, in the dtype of the input."""
        if x.ndim != 2:
            raise located(
                RuntimeError, f"For 'Trace', the 'input' must have rank 2, but got {x.ndim}."
            )
        if x.dtype == np.bool_:
            accept("Trace", ("a number",), input=x)
        return jnp.trace(x, dtype=x.dtype)


_trace = Trace()


def trace(input: Tensor) -> Tensor:
    """Sum the main diagonal of a matrix (MindSpore: ``ops.trace``).

    Args:
        input: Tensor of shape (m, n), numbers.

    Returns:
        0-d Tensor of the same dtype.

    Raises:
        TypeError: ``input`` is Bool.
        RuntimeError: ``input`` is no matrix.
    """
    return _trace(input)


class _Indices(Primitive, register=False):
    """Base of the two operators without inputs that list places of a triangle."""

    row: int
    col: int
    offset: int = 0
    dtype: Number = int32
    lower: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("row", "col", "offset"):
            checks.of_type(name, getattr(self, name), int, self.name)

    def __call__(self) -> Any:
        """Make the Tensor of shape (2, number of places)."""
        make = tril_indices if self.lower else triu_indices
        return make(self.row, self.col, self.offset, dtype=as_dtype(self.dtype))


class TrilIndices(_Indices):
    """Places of a matrix's lower triangle (MindSpore: ``ops.TrilIndices``).

    Args:
        row: number of rows.
        col: number of columns.
        offset: highest diagonal that belongs to it.
        dtype: Int32 or Int64.
    """


class TriuIndices(_Indices):
    """Places of a matrix's upper triangle (MindSpore: ``ops.TriuIndices``).

    Args:
        row: number of rows.
        col: number of columns.
        offset: lowest diagonal that belongs to it.
        dtype: Int32 or Int64.
    """

    lower: ClassVar[bool] = False


class TransposeView(Transpose):
    """Axes in another order, as a view (MindSpore: ``ops.TransposeView``)."""


class TransposeExtView(BoundPrimitive):
    """Two axes exchanged, as a view; call: ``TransposeExtView()(input, dim0, dim1)``."""

    view: ClassVar[bool | str] = True
    statics: ClassVar[tuple[str, ...]] = ("dim0", "dim1")
    dim0: int = field(default=0, kw_only=True)
    dim1: int = field(default=1, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the types of the axes."""
        return {k: checks.integer(k, v, "TransposeExtView") for k, v in statics.items()}

    def compute(self, x: Array) -> Array:
        """Exchange the axes."""
        places = (
            checks.axis_in_rank(d, x.ndim, "TransposeExtView") for d in (self.dim0, self.dim1)
        )
        return jnp.swapaxes(x, *places) if x.ndim else x


class ConjugateTranspose(BoundPrimitive):
    """Axes in another order, conjugated; call: ``ConjugateTranspose()(x, perm)``."""

    statics: ClassVar[tuple[str, ...]] = ("perm",)
    perm: tuple[int, ...] = field(default=(), kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the type of the axes."""
        checks.of_type("perm", statics["perm"], tuple, "ConjugateTranspose")
        return {"perm": checks.integers("perm", statics["perm"], "ConjugateTranspose")}

    def compute(self, x: Array) -> Array:
        """Permute and conjugate."""
        if len(self.perm) != x.ndim:
            raise located(
                ValueError,
                f"For 'ConjugateTranspose', 'perm' must name {x.ndim} axes, but got {self.perm}.",
            )
        perm = checks.axes_in_rank(self.perm, x.ndim, "ConjugateTranspose", "perm")
        return jnp.conj(lax.transpose(x, perm))
