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

    Args:
        input: Tensor.
        dim0: an axis.
        dim1: the other.

    Returns:
        Tensor; in PYNATIVE a view of ``input``.

    Raises:
        TypeError: an axis is no integer.
        ValueError: an axis is out of range.
    """
    return swapaxes(input, dim0, dim1)


def permute(input: Tensor, dims: Any) -> Tensor:
    """Put the axes in another order (MindSpore: ``mint.permute``).

    Args:
        input: Tensor.
        dims: every axis once, in the new order.

    Returns:
        Tensor; in PYNATIVE a view of ``input``.

    Raises:
        ValueError: ``dims`` is no order of the axes.
    """
    return _permute(input, dims)


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Drop axes of size 1 (MindSpore: ``mint.squeeze``).

    Args:
        input: Tensor.
        dim: an axis or several; None for all that have size 1.

    Returns:
        Tensor; in PYNATIVE a view of ``input``.

    Raises:
        ValueError: an axis is out of range.
    """
    return _squeeze(input, dim)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge neighbouring axes, by default all (MindSpore: ``mint.flatten``).

    Args:
        input: Tensor.
        start_dim: first axis to merge.
        end_dim: last axis to merge.

    Returns:
        Tensor; in PYNATIVE a view of ``input``.

    Raises:
        ValueError: an axis is out of range, or the last comes before the first.
    """
    return _flatten(input, start_dim=start_dim, end_dim=end_dim)


def cat(tensors: Any, dim: int = 0) -> Tensor:
    """Join Tensors along an axis that they have (MindSpore: ``mint.cat``).

    Args:
        tensors: tuple or list of Tensors, of one shape but for the axis.
        dim: the axis.

    Returns:
        Tensor of the common dtype.

    Raises:
        TypeError: ``tensors`` is no tuple or list of Tensors.
        ValueError: the shapes do not fit, or the axis is out of range.
    """
    return _concat(tensors, dim)


concat = cat


def stack(tensors: Any, dim: int = 0) -> Tensor:
    """Join Tensors of one shape along a new axis (MindSpore: ``mint.stack``).

    Args:
        tensors: tuple or list of Tensors.
        dim: where the axis stands in the result.

    Returns:
        Tensor.

    Raises:
        TypeError: ``tensors`` is no tuple or list of Tensors.
        ValueError: the shapes differ, or the axis is out of range.
    """
    return _stack(tensors, dim)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a Tensor along an axis (MindSpore: ``mint.split``).

    Args:
        tensor: Tensor.
        split_size_or_sections: size of each part but the last, or the sizes of all.
        dim: the axis.

    Returns:
        The parts; in PYNATIVE views of ``tensor``.

    Raises:
        TypeError: ``split_size_or_sections`` holds no integers.
        ValueError: the sizes do not fit, or the axis is out of range.
    """
    return _split(tensor, split_size_or_sections, dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a Tensor along an axis into equal parts (MindSpore: ``mint.chunk``).

    Args:
        input: Tensor.
        chunks: how many parts at most; the last may be shorter.
        dim: the axis.

    Returns:
        The parts.

    Raises:
        ValueError: ``chunks`` is not positive, or the axis is out of range.
    """
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
    """Make coordinate matrices (MindSpore: ``mint.meshgrid``).

    Args:
        tensors: vectors or 0-d Tensors; or one tuple or list of them.
        indexing: ``"ij"``, the default, or ``"xy"``, which swaps the first two axes.

    Returns:
        One Tensor for each vector, all of one shape.

    Raises:
        ValueError: ``indexing`` is another.
    """
    return _meshgrid(*tensors, indexing="ij" if indexing is None else indexing)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Make a matrix of a vector's elements, or take a diagonal of a matrix (``mint.diag``).

    Args:
        input: (n,) or (n, m).
        diagonal: which one; above the main one if positive.

    Returns:
        Tensor of two axes, or of one.

    Raises:
        ValueError: ``input`` has neither one axis nor two.
    """
    return matrix_diag(input, diagonal)


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Take consecutive elements of an axis (MindSpore: ``mint.narrow``).

    Args:
        input: Tensor.
        dim: the axis.
        start: first index.
        length: how many.

    Returns:
        Tensor; in PYNATIVE a view of ``input``.

    Raises:
        ValueError: the axis, start or length is out of range.
    """
    return _narrow(input, dim, start, length)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Take one index of an axis, which goes (MindSpore: ``mint.select``).

    Args:
        input: Tensor.
        dim: the axis.
        index: the index.

    Returns:
        Tensor; in PYNATIVE a view of ``input``.

    Raises:
        IndexError: the index is out of range.
        ValueError: the axis is out of range.
    """
    return _select(input, dim, index)
