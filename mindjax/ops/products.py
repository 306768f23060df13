"""Matrix products and contractions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.arithmetic import add_ext, mul
from mindjax.ops.contraction import times_each, times_weight
from mindjax.ops.promotion import promote, promote_pair

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def _same_dtype(op: str, x: Any, y: Any) -> None:
    for operand in (x, y):
        if not hasattr(operand, "dtype"):
            raise located(
                TypeError, f"For '{op}', the inputs must be Tensors, but got {operand!r}."
            )
    if x.dtype != y.dtype:
        raise located(
            TypeError,
            f"For '{op}', the type of 'x2' should be same as 'x1', but got 'x1' with type "
            f"Tensor[{from_np(x.dtype)}] and 'x2' with type Tensor[{from_np(y.dtype)}].",
        )


class MatMulExt(Primitive):
    """Matrix product of arrays of rank 1 or more (MindSpore: ``MatMulExt``)."""

    def compute(self, x: Array, y: Array) -> Array:
        """Multiply arrays of rank 1 or more."""
        _same_dtype("MatMulExt", x, y)
        if x.ndim == 0 or y.ndim == 0:
            raise located(
                ValueError,
                "For 'MatMulExt' op, inputs must be all tensors and rank >= 1, but got shapes "
                f"{x.shape} and {y.shape}.",
            )
        inner = y.shape[-2] if y.ndim > 1 else y.shape[0]
        if x.shape[-1] != inner:
            raise located(
                RuntimeError,
                "For 'MatMulExt' op, shape1[-1] must be equal to shape2[-2], but got "
                f"{x.shape[-1]} and {inner}.",
            )
        _check_batches("MatMulExt", x, y)
        return times_weight(x, y, out_first=False) if y.ndim == 2 else times_each(x, y)


def _check_batches(op: str, x: Array, y: Array) -> None:
    try:
        jnp.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        raise located(
            ValueError,
            f"For {op}, inputs shape cannot be broadcast, with x shape {x.shape}, y shape "
            f"{y.shape}.",
        ) from None


_matmul = MatMulExt()


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Multiply matrices (MindSpore: ``ops.matmul``).

    Args:
        input: Tensor of shape (..., n, k) or (k,).
        other: Tensor of shape (..., k, m) or (k,), of the same dtype.

    Returns:
        Tensor of shape (..., n, m), without the axis that a vector lacks.

    Raises:
        TypeError: the dtypes differ.
        RuntimeError: the inner sizes differ.
        ValueError: a Tensor has rank 0, or the batches do not broadcast.
    """
    return _matmul(input, other)


class MatMul(Primitive):
    """Product of two matrices (MindSpore: ``ops.MatMul``).

    Args:
        transpose_a: whether the first is transposed.
        transpose_b: whether the second is transposed.
    """

    transpose_a: bool = False
    transpose_b: bool = False

    def compute(self, x: Array, y: Array) -> Array:
        """Multiply arrays of rank 2."""
        _same_dtype("MatMul", x, y)
        if x.ndim != 2 or y.ndim != 2:
            raise located(
                ValueError,
                "MatMul inputs should have the same dimension size and equal to 2, but got shapes "
                f"{x.shape} and {y.shape}.",
            )
        columns, rows = x.shape[not self.transpose_a], y.shape[self.transpose_b]
        if columns != rows:
            raise located(
                ValueError,
                "For 'MatMul' the input dimensions must be equal, but got 'x1_col': "
                f"{columns} and 'x2_row': {rows}.",
            )
        if not self.transpose_a:
            return times_weight(x, y, out_first=self.transpose_b)
        # A contraction with swapped axes, not a transposed copy.
        contracted = ((0 if self.transpose_a else 1,), (1 if self.transpose_b else 0,))
        return jax.lax.dot_general(x, y, (contracted, ((), ())))


_matmul_2d = MatMul()


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiply two matrices (MindSpore: ``ops.mm``).

    Args:
        input: Tensor of shape (n, k).
        mat2: Tensor of shape (k, m), of the same dtype.

    Returns:
        Tensor of shape (n, m).

    Raises:
        TypeError: the dtypes differ.
        ValueError: the ranks are not 2, or the inner sizes differ.
    """
    return _matmul_2d(input, mat2)


class BatchMatMul(Primitive):
    """Product of batches of matrices (MindSpore: ``ops.BatchMatMul``).

    Args:
        transpose_a: whether the first matrices are transposed.
        transpose_b: whether the second matrices are transposed.
    """

    transpose_a: bool = False
    transpose_b: bool = False

    def compute(self, x: Array, y: Array) -> Array:
        """Multiply arrays of rank 2 or more whose batches broadcast."""
        _same_dtype("BatchMatMul", x, y)
        if x.ndim < 2 or y.ndim < 2:
            raise located(
                ValueError,
                "For BatchMatMul, the inputs must have rank 2 or more, but got shapes "
                f"{x.shape} and {y.shape}.",
            )
        columns = x.shape[-2 if self.transpose_a else -1]
        rows = y.shape[-1 if self.transpose_b else -2]
        if columns != rows:
            raise located(
                ValueError,
                "For BatchMatMul, the row of the input 'y' should be same as the col of the input "
                f"'x', with x shape {x.shape}(transpose_a={self.transpose_a}), y shape {y.shape}"
                f"(transpose_b={self.transpose_b}).",
            )
        _check_batches("BatchMatMul", x, y)
        x = jnp.swapaxes(x, -1, -2) if self.transpose_a else x
        y = jnp.swapaxes(y, -1, -2) if self.transpose_b else y
        return times_each(x, y)


_batch_matmul = BatchMatMul()


def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Multiply batches of matrices (MindSpore: ``ops.bmm``).

    Args:
        input_x: Tensor of shape (..., n, k).
        mat2: Tensor of shape (..., k, m), of the same dtype.

    Returns:
        Tensor of shape (..., n, m).

    Raises:
        TypeError: the dtypes differ.
        ValueError: the inner sizes differ, or the batches do not broadcast.
    """
    return _batch_matmul(input_x, mat2)


def mv(mat: Tensor, vec: Tensor) -> Tensor:
    """Multiply a matrix with a vector (MindSpore: ``ops.mv``).

    Args:
        mat: Tensor of shape (n, k).
        vec: Tensor of shape (k,), of the same dtype.

    Returns:
        Tensor of shape (n,).

    Raises:
        TypeError: the dtypes differ.
        ValueError: the ranks are not 2 and 1, or the inner sizes differ.
    """
    _check_rank("mv", "mat", mat, 2)
    _check_rank("mv", "vec", vec, 1)
    if mat.shape[1] != vec.shape[0]:
        raise located(
            ValueError,
            "For 'mv' the input dimensions must be equal, but got 'mat_col': "
            f"{mat.shape[1]} and 'vec_row': {vec.shape[0]}.",
        )
    return _matmul(mat, vec)


def _check_rank(op: str, argument: str, x: Any, rank: int) -> None:
    checks.tensors(op, **{argument: x})
    if len(x.shape) != rank:
        raise located(
            ValueError,
            f"For '{op}', the dimension of '{argument}' must be {rank}, but got {len(x.shape)}.",
        )


class TensorDot(Primitive, register=False):
    """Contraction of two arrays over chosen axes."""

    axes: int | tuple[tuple[int, ...], tuple[int, ...]]

    def compute(self, x: Array, y: Array) -> Array:
        """Contract arrays."""
        _same_dtype("tensor_dot", x, y)
        if isinstance(self.axes, int):
            first = tuple(range(x.ndim - self.axes, x.ndim))
            second = tuple(range(self.axes))
        else:
            first = tuple(
                checks.axis_in_rank(a, x.ndim, "tensor_dot", "axes") for a in self.axes[0]
            )
            second = tuple(
                checks.axis_in_rank(a, y.ndim, "tensor_dot", "axes") for a in self.axes[1]
            )
        sizes = [x.shape[a] for a in first], [y.shape[a] for a in second]
        if sizes[0] != sizes[1]:
            raise located(
                ValueError,
                f"For 'tensor_dot', the contracted sizes must be equal, but got {sizes[0]} and "
                f"{sizes[1]} (shapes {x.shape}, {y.shape}, axes {self.axes}).",
            )
        return jax.lax.dot_general(x, y, ((first, second), ((), ())))


def tensor_dot(x1: Tensor, x2: Tensor, axes: Any) -> Tensor:
    """Contract two Tensors over chosen axes (MindSpore: ``ops.tensor_dot``).

    Args:
        x1: Tensor of any shape.
        x2: Tensor of any shape and the same dtype.
        axes: number of last axes of ``x1`` and first axes of ``x2``, or a pair of axes or of lists
            of axes.

    Returns:
        Tensor whose axes are those of ``x1`` and then of ``x2`` that are left.

    Raises:
        TypeError: the dtypes differ, or ``axes`` is neither.
        ValueError: contracted sizes differ.
    """
    if not isinstance(axes, tuple | list):
        count = checks.integer("axes", axes, "tensor_dot")
        if not 0 <= count <= min(len(x1.shape), len(x2.shape)):
            raise located(
                ValueError,
                f"For 'tensor_dot', the 'axes' must be in [0, rank], but got {count} for shapes "
                f"{tuple(x1.shape)} and {tuple(x2.shape)}.",
            )
        return TensorDot(count)(x1, x2)
    if len(axes) != 2:
        raise located(ValueError, f"For 'tensor_dot', the 'axes' must be a pair, but got {axes}.")
    first, second = (checks.axis_or_axes("axes", a, "tensor_dot") for a in axes)
    pair = tuple(a if isinstance(a, tuple) else (a,) for a in (first, second))
    return TensorDot(pair)(x1, x2)  # type: ignore[arg-type]


def dot(input: Tensor, other: Tensor) -> Tensor:
    """Contract the last axis with the last but one of another Tensor (MindSpore: ``ops.dot``).

    Args:
        input: Tensor of rank 2 or more.
        other: Tensor of rank 2 or more, of the same dtype.

    Returns:
        Tensor with the other axes of ``input`` and then those of ``other``.

    Raises:
        TypeError: the dtypes differ.
        ValueError: a rank is below 2, or the contracted sizes differ.
    """
    checks.tensors("dot", input=input, other=other)
    ranks = len(input.shape), len(other.shape)
    if min(ranks) < 2:
        raise located(
            ValueError,
            "For 'dot', the inputs x1, x2 should have 'dimension >= 2', but got 'len(x1_shape)': "
            f"({ranks[0]}) and 'len(x2_shape)': ({ranks[1]}).",
        )
    return TensorDot(((ranks[0] - 1,), (ranks[1] - 2,)))(input, other)


def vector_dot(input: Tensor, other: Tensor) -> Tensor:
    """Take the scalar product of two vectors (MindSpore: ``mint.dot``).

    Args:
        input: Tensor of shape (n,).
        other: Tensor of shape (n,), of the same dtype.

    Returns:
        0-d Tensor.

    Raises:
        TypeError: the dtypes differ.
        ValueError: the ranks are not 1, or the sizes differ.
    """
    _check_rank("dot", "input", input, 1)
    _check_rank("dot", "other", other, 1)
    return TensorDot(1)(input, other)


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiply each element of one vector with each of another (MindSpore: ``ops.outer``).

    Args:
        input: Tensor of shape (n,).
        vec2: Tensor of shape (m,).

    Returns:
        Tensor of shape (n, m) and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
        ValueError: the ranks are not 1.
    """
    return _ger(input, vec2)


class Ger(Primitive):
    """Outer product of two vectors (MindSpore: ``ops.Ger``)."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Multiply arrays of rank 1."""
        if x.ndim != 1 or y.ndim != 1:
            raise located(
                ValueError,
                f"For 'outer', the inputs must be 1-D tensors, but got shapes {x.shape} and "
                f"{y.shape}.",
            )
        x, y = promote_pair("outer", x[:, None], y[None, :])
        return x * y


_ger = Ger()
ger = outer


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Contract the last axes of two Tensors (MindSpore: ``ops.inner``).

    Args:
        input: Tensor of any shape.
        other: Tensor of any shape with the same last size.

    Returns:
        Tensor with the other axes of ``input`` and then those of ``other``; the plain product if
        one is a number.

    Raises:
        TypeError: the dtypes differ.
        ValueError: the last sizes differ.
    """
    checks.tensors("inner", input=input, other=other)
    ranks = len(input.shape), len(other.shape)
    if 0 in ranks:
        return mul(input, other)
    return TensorDot(((ranks[0] - 1,), (ranks[1] - 1,)))(input, other)


class EinsumExt(Primitive):
    """Sum of products written in Einstein's notation (MindSpore: the primitive of ``mint.einsum``).

    Args:
        equation: subscripts, such as ``"bij,bjk->bik"``.
    """

    equation: str

    def compute(self, operands: Sequence[Array]) -> Array:
        """Contract a sequence of arrays."""
        try:
            return jnp.einsum(self.equation, *promote(*operands, op="Einsum"))
        except ValueError as error:
            shapes = ", ".join(str(x.shape) for x in operands)
            raise located(
                ValueError,
                f"For 'einsum', the equation {self.equation!r} does not fit shapes {shapes}: "
                f"{error}",
            ) from None


class Einsum(EinsumExt):
    """Sum of products written in Einstein's notation (MindSpore: ``ops.Einsum``).

    Args:
        equation: subscripts, such as ``"bij,bjk->bik"``. Without a letter for the result, it has
            the shape (1,).
    """

    def compute(self, operands: Sequence[Array]) -> Array:
        """Contract a sequence of arrays."""
        return jnp.atleast_1d(super().compute(operands))


def contract(kind: type[EinsumExt], equation: Any, operands: tuple[Any, ...]) -> Tensor:
    """Sum products by a Primitive; the arguments are those of `einsum`."""
    if not isinstance(equation, str):
        checks.tensors("einsum", equation=equation)
        equation, operands = _lettered((equation, *operands))
    elif len(operands) == 1 and isinstance(operands[0], tuple | list):
        operands = tuple(operands[0])
    return kind(equation)(operands)


def einsum(equation: Any, *operands: Any) -> Tensor:
    """Sum products written in Einstein's notation (MindSpore: ``ops.einsum``).

    Args:
        equation: subscripts, such as ``"bij,bjk->bik"``; or the first Tensor, with lists of axis
            numbers behind each Tensor and, if wanted, one for the result.
        operands: the Tensors.

    Returns:
        Tensor with the axes that the equation names, of shape (1,) if it names none.

    Raises:
        ValueError: the equation does not fit the Tensors.
        TypeError: the dtypes do not mix.
    """
    return contract(Einsum, equation, operands)


def _lettered(parts: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Turn ``x, [0, 1], y, [1, 2], [0, 2]`` into an equation and operands."""

    def letters(axes: Any) -> str:
        return "".join(
            "..." if a is Ellipsis else chr(97 + a) if a < 26 else chr(39 + a) for a in axes
        )

    pairs = len(parts) // 2
    equation = ",".join(letters(parts[2 * i + 1]) for i in range(pairs))
    if len(parts) % 2:
        equation += "->" + letters(parts[-1])
    return equation, tuple(parts[2 * i] for i in range(pairs))


def _blend(input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """Compute ``beta * input + alpha * product``."""
    scaled = input if isinstance(beta, int | float) and beta == 1 else mul(input, beta)
    more = product if isinstance(alpha, int | float) and alpha == 1 else mul(product, alpha)
    return add_ext(scaled, more)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Compute ``beta * input + alpha * mat1 @ mat2`` (MindSpore: ``ops.addmm``).

    Args:
        input: Tensor that broadcasts to (n, m).
        mat1: Tensor of shape (n, k).
        mat2: Tensor of shape (k, m).
        beta: number.
        alpha: number.

    Returns:
        Tensor of shape (n, m).

    Raises:
        TypeError: the dtypes differ.
        ValueError: the inner sizes differ.
    """
    return _blend(input, _matmul_2d(mat1, mat2), beta, alpha)


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Compute ``beta * input + alpha * batch1 @ batch2`` (MindSpore: ``ops.baddbmm``).

    Args:
        input: Tensor that broadcasts to (b, n, m).
        batch1: Tensor of shape (b, n, k).
        batch2: Tensor of shape (b, k, m).
        beta: number.
        alpha: number.

    Returns:
        Tensor of shape (b, n, m).

    Raises:
        TypeError: the dtypes differ.
        ValueError: the sizes do not fit.
    """
    _check_rank("baddbmm", "batch1", batch1, 3)
    _check_rank("baddbmm", "batch2", batch2, 3)
    return _blend(input, _batch_matmul(batch1, batch2), beta, alpha)


def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """Compute ``beta * input + alpha * sum(batch1 @ batch2)`` (MindSpore: ``ops.addbmm``).

    Args:
        input: Tensor that broadcasts to (n, m).
        batch1: Tensor of shape (b, n, k).
        batch2: Tensor of shape (b, k, m).
        beta: number.
        alpha: number.

    Returns:
        Tensor of shape (n, m).

    Raises:
        TypeError: the dtypes differ.
        ValueError: the sizes do not fit.
    """
    _check_rank("addbmm", "batch1", batch1, 3)
    _check_rank("addbmm", "batch2", batch2, 3)
    return _blend(input, TensorDot(((0, 2), (0, 1)))(batch1, batch2), beta, alpha)


def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Compute ``beta * input + alpha * mat @ vec`` (MindSpore: ``ops.addmv``).

    Args:
        input: Tensor that broadcasts to (n,).
        mat: Tensor of shape (n, k).
        vec: Tensor of shape (k,).
        beta: number.
        alpha: number.

    Returns:
        Tensor of shape (n,).

    Raises:
        TypeError: the dtypes differ.
        ValueError: the ranks are not 2 and 1, or the inner sizes differ.
    """
    return _blend(input, mv(mat, vec), beta, alpha)
