"""Products of vectors and matrices, and norms."""

from __future__ import annotations

import functools
from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.numpy.arguments import (
    Axis,
    axes_in,
    axis_in,
    broadcast_shape,
    cast_result,
    is_single,
    leading_axes,
    need_tensors,
    promote,
    to_tensor,
)
from mindjax.numpy.array_creation import eye
from mindjax.tensor import Tensor


def _aligned(a: Tensor, b: Tensor, axis: int) -> None:
    if a.shape[-1] != b.shape[axis]:
        raise located(
            ValueError,
            f"shapes {a.shape} {b.shape} not aligned: {a.shape[-1]} != {b.shape[axis]}.",
        )
    if a.dtype is not b.dtype:
        raise located(
            TypeError,
            f"For 'MatMul', the type of 'x2' should be same as 'x1', but got {b.dtype} and "
            f"{a.dtype}.",
        )


def inner(a: Tensor, b: Tensor) -> Tensor:
    """Sum products over the last axes (MindSpore: ``numpy.inner``).

    Args:
        a: Tensor; a 0-d one multiplies.
        b: Tensor of the same dtype and last size.

    Returns:
        Tensor of the other axes.

    Raises:
        TypeError: an argument is no Tensor, or the dtypes differ.
        ValueError: the last sizes differ.
    """
    need_tensors(a, b)
    if not a.shape or not b.shape:
        return ops.mul(a, b)
    _aligned(a, b, -1)
    return ops.tensor_dot(a, b, ((len(a.shape) - 1,), (len(b.shape) - 1,)))


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Sum products over the last axis of one and the last but one of the other (``numpy.dot``).

    Args:
        a: Tensor; a 0-d one multiplies.
        b: Tensor of the same dtype; a vector is summed over its axis.

    Returns:
        Tensor of the other axes.

    Raises:
        TypeError: an argument is no Tensor, or the dtypes differ.
        ValueError: the sizes differ.
    """
    need_tensors(a, b)
    if not a.shape or not b.shape:
        return ops.mul(a, b)
    axis = max(len(b.shape) - 2, 0)
    _aligned(a, b, axis)
    return ops.tensor_dot(a, b, ((len(a.shape) - 1,), (axis,)))


def outer(a: Tensor, b: Tensor) -> Tensor:
    """Multiply each element with each of another Tensor (MindSpore: ``numpy.outer``).

    Args:
        a: Tensor, flattened.
        b: Tensor of the same dtype, flattened.

    Returns:
        Tensor of shape (a.size, b.size).

    Raises:
        TypeError: an argument is no Tensor, or the dtypes differ.
    """
    need_tensors(a, b)
    rows, columns = ops.reshape(a, (-1, 1)), ops.reshape(b, (1, -1))
    _aligned(rows, columns, 0)
    return ops.mul(rows, columns)


def tensordot(a: Tensor, b: Tensor, axes: Any = 2) -> Tensor:
    """Sum products over several axes (MindSpore: ``numpy.tensordot``).

    Args:
        a: Tensor.
        b: Tensor.
        axes: number of last axes of ``a`` and first of ``b``, or the axes of both.

    Returns:
        Tensor of the other axes.

    Raises:
        TypeError: an argument is no Tensor.
        ValueError: the sizes do not fit.
    """
    need_tensors(a, b)
    if axes == 0 and (not a.shape or not b.shape):
        return ops.mul(a, b)
    return ops.tensor_dot(a, b, axes)


def matmul(x1: Tensor, x2: Tensor, dtype: Any = None) -> Tensor:
    """Multiply matrices, over leading axes that broadcast (MindSpore: ``numpy.matmul``).

    Args:
        x1: Tensor of at least one axis.
        x2: Tensor of at least one axis and the same dtype.
        dtype: MindSpore dtype of the result.

    Returns:
        Tensor.

    Raises:
        TypeError: an argument is no Tensor, or the dtypes differ.
        RuntimeError: the sizes do not fit.
    """
    need_tensors(x1, x2)
    return cast_result(ops.matmul(x1, x2), dtype)


def multi_dot(arrays: Any) -> Tensor:
    """Multiply matrices in the cheapest order (MindSpore: ``numpy.multi_dot``).

    Args:
        arrays: sequence of 2-d Tensors; the first and the last may be vectors.

    Returns:
        Tensor.

    Raises:
        ValueError: there are less than two, one is not 2-d, or the sizes do not fit.
    """
    checks.of_type("arrays", arrays, (tuple, list), "multi_dot")
    if len(arrays) < 2:
        raise located(ValueError, f"Expecting at least 2 arrays, but got {len(arrays)}.")
    parts = [to_tensor(x) for x in arrays]
    if len(parts) == 2:
        return dot(*parts)
    shape: tuple[int, ...] = ()
    if len(parts[0].shape) == 1:
        parts[0] = ops.reshape(parts[0], (1, -1))
    else:
        shape += parts[0].shape[:1]
    if len(parts[-1].shape) == 1:
        parts[-1] = ops.reshape(parts[-1], (-1, 1))
    else:
        shape += parts[-1].shape[1:]
    if any(len(x.shape) != 2 for x in parts):
        raise located(
            ValueError, f"Array must be 2 dimensional, but got {[x.shape for x in parts]}."
        )
    sizes = (*(x.shape[0] for x in parts), parts[-1].shape[1])

    @functools.cache
    def cheapest(i: int, j: int) -> tuple[int, int]:
        """Give the cost of multiplying parts i to j, and behind which part to cut them."""
        if i == j:
            return 0, i
        return min(
            (cheapest(i, k)[0] + cheapest(k + 1, j)[0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
            for k in range(i, j)
        )

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return parts[i]
        cut = cheapest(i, j)[1]
        return dot(product(i, cut), product(cut + 1, j))

    return ops.reshape(product(0, len(parts) - 1), shape)


def matrix_power(a: Any, n: int) -> Tensor:
    """Multiply a matrix with itself (MindSpore: ``numpy.matrix_power``).

    Args:
        a: array-like of at least two axes, the last two of one size.
        n: how often it is a factor, not negative.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``n`` is no integer.
        ValueError: ``n`` is negative, or the matrices are not square.
    """
    x = to_tensor(a)
    if not isinstance(n, int):
        raise located(TypeError, f"exponent must be an integer, but got {n!r}.")
    if len(x.shape) < 2:
        raise located(ValueError, f"Array must be at least two-dimensional, but got {x.shape}.")
    if x.shape[-2] != x.shape[-1]:
        raise located(ValueError, f"Last 2 dimensions must be square, but got {x.shape}.")
    if n < 0:
        raise located(ValueError, f"n < 0 is not supported now, but got {n}.")
    if n == 0:
        return ops.broadcast_to(eye(x.shape[-1], dtype=x.dtype), x.shape)
    out = None
    while n:
        if n & 1:
            out = x if out is None else ops.matmul(out, x)
        n >>= 1
        x = ops.matmul(x, x) if n else x
    assert out is not None
    return out


def kron(a: Any, b: Any) -> Tensor:
    """Take the Kronecker product (MindSpore: ``numpy.kron``).

    Args:
        a: array-like.
        b: array-like; the one of less axes gets leading ones.

    Returns:
        Tensor; along each axis as many blocks as ``a`` has elements.

    Raises:
        TypeError: an argument is no array-like.
    """
    return ops.kron(to_tensor(a), to_tensor(b))


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """Take the cross product of vectors of 2 or 3 elements (MindSpore: ``numpy.cross``).

    Args:
        a: array-like; a missing third element is 0.
        b: array-like that broadcasts to ``a``.
        axisa: axis of the vectors in ``a``.
        axisb: axis of the vectors in ``b``.
        axisc: axis of the vectors in the result; without effect if both have 2 elements.
        axis: in place of all three.

    Returns:
        Tensor; of two elements each only the third one, without the axis.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: there is no such axis, or the sizes do not fit.
    """
    x, y = to_tensor(a), to_tensor(b)
    if axis is not None:
        axisa = axisb = axisc = axis
    x = ops.moveaxis(x, axis_in(axisa, len(x.shape)), -1)
    y = ops.moveaxis(y, axis_in(axisb, len(y.shape)), -1)
    sizes = x.shape[-1], y.shape[-1]
    if any(size not in (2, 3) for size in sizes):
        raise located(
            ValueError,
            "incompatible dimensions for cross product (dimension must be 2 or 3), but got "
            f"{sizes}.",
        )
    kind = promote(x.dtype, y.dtype)
    shape = broadcast_shape(x.shape[:-1], y.shape[:-1])
    x, y = (ops.broadcast_to(ops.cast(v, kind), (*shape, v.shape[-1])) for v in (x, y))
    if sizes == (2, 2):
        return ops.sub(ops.mul(x[..., 0], y[..., 1]), ops.mul(x[..., 1], y[..., 0]))
    x, y = (v if v.shape[-1] == 3 else ops.pad(v, (0, 1)) for v in (x, y))
    return ops.moveaxis(ops.cross(x, y, -1), -1, axis_in(axisc, len(shape) + 1))


def norm(x: Any, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Take a norm of vectors or matrices (MindSpore: ``numpy.norm``).

    Args:
        x: array-like.
        ord: None for the square root of the sum of squares; for vectors a number or infinity, for
            matrices ``"fro"``, 1, -1, or plus or minus infinity.
        axis: axis of vectors, or two of matrices; None for all elements.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes.

    Raises:
        NotImplementedError: ``ord`` is ``"nuc"``, 2 or -2 for matrices.
        ValueError: ``ord`` is unknown, or there are neither one nor two axes.
    """
    if not isinstance(ord, int | float) and ord not in (None, "fro", "nuc"):
        raise located(ValueError, f"invalid value for `ord`: {ord!r}.")
    value = to_tensor(x)
    ndim = len(value.shape)
    if axis is None:
        if ord is None:
            value = ops.reshape(value, (-1,))
        if len(value.shape) not in (1, 2):
            raise located(
                ValueError,
                f"for None axis, array must a vector or a 2-D matrix, but got {value.shape}.",
            )
    axes = axes_in(axis, len(value.shape))
    if len(axes) == 1:
        out = _vector_norm(value, ord, axes, keepdims)
    elif len(axes) == 2:
        out = _matrix_norm(value, ord, axes, keepdims)
    else:
        raise located(ValueError, f"invalid number of dimensions to norm: {axes}.")
    return leading_axes(out, ndim) if keepdims else out


def _vector_norm(x: Tensor, ord: Any, axes: tuple[int, ...], keep: bool) -> Tensor:
    if ord in ("fro", "nuc"):
        raise located(ValueError, f"norm {ord!r} is only defined for matrices.")
    if ord in (float("inf"), float("-inf")):
        reduce = ops.amax if ord > 0 else ops.amin
        return reduce(ops.abs(x), axes, keep)
    if ord == 0:
        return ops.sum(ops.cast(ops.ne(x, 0), float32), axes, keep)
    if ord is None or ord == 2:
        return ops.sqrt(_sum(ops.square(_floating(x)), axes, keep))
    if ord == 1:
        return _sum(ops.abs(_floating(x)), axes, keep)
    return ops.pow(_sum(ops.pow(ops.abs(_floating(x)), ord), axes, keep), 1.0 / ord)


def _matrix_norm(x: Tensor, ord: Any, axes: tuple[int, ...], keep: bool) -> Tensor:
    if ord == 0:
        raise located(ValueError, "for 0 axis, norm is defined only for 2-D matrices.")
    if ord == "nuc" or ord in (2, -2):
        raise located(
            NotImplementedError,
            f"norm {ord!r} of matrices is not implemented here: use ops.matrix_norm.",
        )
    if ord in (None, "fro"):
        return ops.sqrt(_sum(ops.square(_floating(x)), axes, keep))
    if ord not in (1, -1, float("inf"), float("-inf")):
        raise located(ValueError, f"invalid norm order for matrices: {ord!r}.")
    rows, columns = axes
    summed, compared = (rows, columns) if ord in (1, -1) else (columns, rows)
    reduce = ops.amax if ord > 0 else ops.amin
    out = reduce(_sum(ops.abs(x), (summed,), True), (compared,), True)
    return out if keep else ops.squeeze(out, axes)


def _sum(x: Tensor, axes: tuple[int, ...], keep: bool) -> Tensor:
    return ops.sum(x, axes, keep, dtype=x.dtype)


def _floating(x: Tensor) -> Tensor:
    return x if is_single(x.dtype) or x.dtype.kind == "float" else ops.cast(x, float32)
