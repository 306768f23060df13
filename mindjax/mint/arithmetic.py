"""mint's arithmetic and comparison functions whose signature differs from `ops`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core.errors import located
from mindjax.ops import arithmetic, exponential, logic, products, rounding
from mindjax.ops.masking import nonzero
from mindjax.ops.shape import shape_of

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

dot = products.vector_dot


def add(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """Compute ``input + alpha * other`` (MindSpore: ``mint.add``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.
        alpha: number.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or ``alpha`` is a float for integer Tensors.
    """
    if alpha == 1:
        return arithmetic.add_ext(input, other)
    return arithmetic.add_ext(input, other, alpha)


def sub(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """Compute ``input - alpha * other`` (MindSpore: ``mint.sub``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.
        alpha: number.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or ``alpha`` is a float for integer Tensors.
    """
    return arithmetic.subtract(input, other, alpha=alpha)


def isnan(tensor: Tensor) -> Tensor:
    """Tell where elements are NaN (MindSpore: ``mint.isnan``).

    Args:
        tensor: Tensor of any shape and dtype.

    Returns:
        Bool Tensor of the same shape.
    """
    return logic.isnan(tensor)


def frac(input: Tensor) -> Tensor:
    """Give what stands behind the point, with the sign of the number (MindSpore: ``mint.frac``).

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.
    """
    return rounding.frac(input)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiply batches of matrices (MindSpore: ``mint.bmm``).

    Args:
        input: Tensor of shape (b, n, k).
        mat2: Tensor of shape (b, k, m), of the same dtype.

    Returns:
        Tensor of shape (b, n, m).

    Raises:
        TypeError: the dtypes differ.
        ValueError: one is not of 3 axes, the inner sizes differ, or the batches do not broadcast.
    """
    for name, x in (("input", input), ("mat2", mat2)):
        if len(shape_of(x)) != 3:
            raise located(
                ValueError,
                f"For 'bmm', the '{name}' must have 3 axes, but got shape {shape_of(x)}.",
            )
    return products.bmm(input, mat2)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Multiply a matrix with a vector (MindSpore: ``mint.mv``).

    Args:
        input: Tensor of shape (n, k).
        vec: Tensor of shape (k,), of the same dtype.

    Returns:
        Tensor of shape (n,).

    Raises:
        TypeError: the dtypes differ.
        ValueError: the ranks are not 2 and 1, or the inner sizes differ.
    """
    return products.mv(input, vec)


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Take ``input`` where the condition holds, ``other`` elsewhere (MindSpore: ``mint.where``).

    Args:
        condition: Bool Tensor.
        input: Tensor or number; without it the positions of what is not zero are asked for.
        other: Tensor or number.

    Returns:
        Tensor of the broadcast shape; or a tuple of Int64 Tensors, one an axis of ``condition``.

    Raises:
        TypeError: only one of ``input`` and ``other`` is given, or the dtypes do not mix.
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if input is None or other is None:
        raise located(TypeError, "For 'where', 'input' and 'other' must be given together.")
    return logic.where(condition, input, other)


def sqrt(input: Tensor) -> Tensor:
    """Compute the square root of each element (MindSpore: ``mint.sqrt``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return exponential.sqrt(input)
