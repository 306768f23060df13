"""mint's names for shape where the signature differs from ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core.errors import located
from mindjax.ops.rearrange import matrix_diag
from mindjax.ops.sequence import chunk as _chunk
from mindjax.ops.sequence import concat as _concat
from mindjax.ops.sequence import meshgrid as _meshgrid
from mindjax.ops.sequence import repeat_interleave as _repeat_interleave
from mindjax.ops.sequence import split as _split
from mindjax.ops.sequence import stack as _stack
from mindjax.ops.shape import flatten as _flatten
from mindjax.ops.shape import permute as _permute
from mindjax.ops.shape import squeeze as _squeeze
from mindjax.ops.shape import swapaxes
from mindjax.ops.slicing import narrow as _narrow
from mindjax.ops.slicing import select as _select

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two axes (MindSpore: ``mint.transpose``).

    Raises:
        ValueError: an axis is out of range.
    """
    return swapaxes(input, dim0, dim1)


def permute(input: Tensor, dims: Any) -> Tensor:
    """Put the axes in another order; as ``ops.permute``."""
    return _permute(input, dims)


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Drop axes of size 1; as ``ops.squeeze``."""
    return _squeeze(input, dim)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge neighbouring axes, by default all (MindSpore: ``mint.flatten``).

    Raises:
        ValueError: an axis is out of range, or the last comes before the first.
    """
    return _flatten(input, start_dim=start_dim, end_dim=end_dim)


def cat(tensors: Any, dim: int = 0) -> Tensor:
    """Join Tensors along an axis that they have; as ``ops.cat``."""
    return _concat(tensors, dim)


concat = cat


def stack(tensors: Any, dim: int = 0) -> Tensor:
    """Join Tensors of one shape along a new axis; as ``ops.stack``."""
    return _stack(tensors, dim)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a Tensor along an axis; as ``ops.split``."""
    return _split(tensor, split_size_or_sections, dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a Tensor along an axis into equal parts; as ``ops.chunk``."""
    return _chunk(input, chunks, dim)


def repeat_interleave(
    input: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeat each element in place; as ``ops.repeat_interleave``.

    Args:
        input: Tensor.
        repeats: repetitions, one number or one for each element along the axis.
        dim: the axis; None repeats the flattened Tensor.
        output_size: size of the axis in the result, checked when given.

    Returns:
        Tensor.

    Raises:
        ValueError: ``output_size`` is not the size of the axis.
    """
    out = _repeat_interleave(input, repeats, dim)
    axis = 0 if dim is None else dim
    if output_size is not None and out.shape[axis] != output_size:
        raise located(
            ValueError,
            f"For 'repeat_interleave', 'output_size' must be {out.shape[axis]}, got {output_size}.",
        )
    return out


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Make coordinate matrices, by default with ``indexing="ij"``; as ``ops.meshgrid``."""
    return _meshgrid(*tensors, indexing="ij" if indexing is None else indexing)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Make a matrix of a vector's elements, or take a diagonal of a matrix.

    Raises:
        ValueError: ``input`` has neither one axis nor two.
    """
    return matrix_diag(input, diagonal)


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Take ``length`` consecutive elements of an axis; as ``ops.narrow``."""
    return _narrow(input, dim, start, length)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Take one index of an axis, which goes (MindSpore: ``mint.select``).

    Raises:
        IndexError: the index is out of range.
        ValueError: the axis is out of range.
    """
    return _select(input, dim, index)
