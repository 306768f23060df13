"""Copies in another arrangement: pad, flip, roll, triangles and diagonals."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import as_dtype, float64, int64
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.shape import reshape, shape_of, swapaxes

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class Pad(Primitive):
    """Zeros around an array."""

    paddings: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        paddings = checks.python_value(self.paddings)
        if not isinstance(paddings, tuple):
            raise located(
                TypeError,
                f"For 'Pad', the type of 'paddings' must be tuple, but got {self.paddings!r}.",
            )
        for pair in paddings:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise located(ValueError, "For 'Pad', the shape of 'paddings' must be (n, 2).")
            if min(pair) < 0:
                raise located(ValueError, "For 'Pad', all elements of paddings must be >= 0.")
        object.__setattr__(self, "paddings", paddings)

    def compute(self, x: Array) -> Array:
        """Pad each axis."""
        if len(self.paddings) != x.ndim:
            raise located(
                ValueError,
                "For 'Pad', the length of 'paddings' must be equal to the rank of 'input_x', but "
                f"got {len(self.paddings)} vs {x.ndim}",
            )
        return lax.pad(x, jnp.zeros((), x.dtype), [(a, b, 0) for a, b in self.paddings])


class PadV3(BoundPrimitive):
    """Padding of the last axes; call: ``PadV3(mode)(input, paddings, value)``."""

    mode: str = "constant"
    paddings_contiguous: bool = True
    paddings: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if self.mode not in ("constant", "reflect", "edge", "circular"):
            raise located(
                ValueError,
                "For 'PadV3', the 'mode' must be str and must be in '['constant', 'reflect', "
                f"'edge', 'circular']', but got '{self.mode}'.",
            )

    def __call__(self, *inputs: Any) -> Any:
        """Pad; ``inputs`` are the array, the paddings unless they are bound, and the value."""
        if isinstance(inputs[-1], float) and getattr(inputs[0], "dtype", None) is float64:
            # As an operand, a Python float would be rounded to Float32.
            inputs = (*inputs[:-1], np.asarray(inputs[-1]))
        if self.paddings or not len(inputs) > 1:
            return Primitive.__call__(self, *inputs)
        paddings = checks.integers("paddings", inputs[1], "PadV3")
        record = PadV3(self.mode, self.paddings_contiguous, paddings=paddings)
        return Primitive.__call__(record, inputs[0], *inputs[2:])

    def compute(self, x: Array, value: Array | None = None) -> Array:
        """Pad the last axes, negative paddings cut; ``value`` is cast to the dtype of ``x``."""
        pairs = _pairs(self.paddings, self.paddings_contiguous)
        if len(pairs) > x.ndim:
            raise located(
                ValueError,
                f"For 'PadV3', the length of 'padding' must be at most twice the rank {x.ndim}, "
                f"but got {len(self.paddings)}.",
            )
        full = [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]
        if self.mode == "constant":
            zero = jnp.zeros((), x.dtype) if value is None else value.astype(x.dtype).reshape(())
            return lax.pad(x, zero, [(a, b, 0) for a, b in full])
        for axis, (before, after) in enumerate(full):
            if before or after:
                x = _extended(x, axis, before, after, self.mode)
        return x


def _pairs(paddings: tuple[int, ...], contiguous: bool) -> list[tuple[int, int]]:
    half = len(paddings) // 2
    if contiguous:
        return [(paddings[2 * i], paddings[2 * i + 1]) for i in range(half)]
    return list(zip(paddings[:half], paddings[half:], strict=True))


def _extended(x: Array, axis: int, before: int, after: int, mode: str) -> Array:
    size = x.shape[axis]
    limit = size - 1 if mode == "reflect" else size
    if mode != "edge" and max(before, after) > limit:
        raise located(
            ValueError,
            f"For 'PadV3' {mode} mode, Padding size must be less than the corresponding input "
            f"dimension, but got: padding ({before},{after}) at dimension {axis} of input:[{size}]",
        )

    def part(start: int, stop: int) -> Array:
        return lax.slice_in_dim(x, start, stop, axis=axis)

    left, right = max(before, 0), max(after, 0)
    if mode == "reflect":
        head, tail = lax.rev(part(1, left + 1), [axis]), lax.rev(part(limit - right, limit), [axis])
    elif mode == "circular":
        head, tail = part(size - left, size), part(0, right)
    else:
        shape = list(x.shape)
        shape[axis] = left
        head = jnp.broadcast_to(part(0, 1), shape)
        shape[axis] = right
        tail = jnp.broadcast_to(part(size - 1, size), shape)
    middle = part(max(-before, 0), size - max(-after, 0))
    return lax.concatenate([head, middle, tail], axis)


def pad(input_x: Tensor, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Pad the last axes (MindSpore: ``ops.pad``).

    Args:
        input_x: Tensor.
        padding: numbers of elements before and after, a pair an axis from the last; negative cuts.
        mode: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        value: what ``"constant"`` fills in; 0 by default.

    Returns:
        Tensor of the same dtype.

    Raises:
        TypeError: ``padding`` is no sequence of integers.
        ValueError: their number is odd or too large, the mode is unknown, or reflection and
            wrapping reach further than the axis.
    """
    pairs = checks.integers("padding", padding, "pad")
    if len(pairs) % 2:
        raise located(
            ValueError,
            f"For 'pad', the size of padding must be divisible by 2, but got {len(pairs)}",
        )
    if mode != "constant" and value is not None and value != 0:
        raise located(
            ValueError,
            f"For 'pad', the padding mode '{mode}' can not set value, but got value {value}.",
        )
    if not pairs:
        return input_x
    record = PadV3("edge" if mode == "replicate" else mode, paddings=pairs)
    return record(input_x) if value is None else record(input_x, value)


class ReverseV2(Primitive):
    """Axes in reverse order of elements."""

    axis: Any

    def compute(self, x: Array) -> Array:
        """Reverse."""
        axes = self.axis if isinstance(self.axis, tuple | list) else (self.axis,)
        return lax.rev(x, checks.axes_in_rank(axes, x.ndim, "ReverseV2"))


def flip(input: Tensor, dims: Any) -> Tensor:
    """Reverse the order of elements along axes (MindSpore: ``ops.flip``).

    Args:
        input: Tensor.
        dims: axes.

    Returns:
        Tensor.

    Raises:
        TypeError: ``dims`` holds no integers.
        ValueError: an axis is out of range or repeats.
    """
    dims = checks.python_value(dims)
    return ReverseV2(checks.integers("dims", dims if isinstance(dims, tuple) else (dims,), "flip"))(
        input
    )


def reverse(x: Tensor, axis: Any) -> Tensor:
    """Reverse the order of elements along axes (MindSpore: ``ops.reverse``).

    Args:
        x: Tensor of any shape.
        axis: axes, an int or several.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: an axis is out of range or repeats.
    """
    return flip(x, axis)


def flipud(input: Tensor) -> Tensor:
    """Reverse the first axis (MindSpore: ``ops.flipud``).

    Args:
        input: Tensor of at least one axis.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: there is no axis.
    """
    return flip(input, (0,))


def fliplr(input: Tensor) -> Tensor:
    """Reverse the second axis (MindSpore: ``ops.fliplr``).

    Args:
        input: Tensor of at least two axes.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: there are fewer than two axes.
    """
    return flip(input, (1,))


class Roll(Primitive):
    """Elements moved along axes, the last coming round to the front."""

    shifts: Any
    dims: Any = None

    def compute(self, x: Array) -> Array:
        """Roll; without axes over the flattened array."""
        shifts = self.shifts if isinstance(self.shifts, tuple | list) else (self.shifts,)
        if self.dims is None or self.dims == ():
            flat = x.reshape(-1)
            return _rolled(flat, shifts[0], 0).reshape(x.shape)
        dims = self.dims if isinstance(self.dims, tuple | list) else (self.dims,)
        if len(shifts) != len(dims):
            raise located(
                ValueError,
                f"For 'Roll', shifts and dims must have the same size, but got {len(shifts)} and "
                f"{len(dims)}.",
            )
        for shift, dim in zip(shifts, dims, strict=True):
            x = _rolled(x, shift, checks.axis_in_rank(dim, x.ndim, "Roll", "dims"))
        return x


def _rolled(x: Array, shift: int, axis: int) -> Array:
    size = x.shape[axis]
    cut = size - shift % size if size else 0
    if cut == size:
        return x
    parts = [lax.slice_in_dim(x, cut, size, axis=axis), lax.slice_in_dim(x, 0, cut, axis=axis)]
    return lax.concatenate(parts, axis)


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Move elements along axes, the last coming round (MindSpore: ``ops.roll``).

    Args:
        input: Tensor.
        shifts: places to move, one an axis.
        dims: axes; None rolls the flattened Tensor.

    Returns:
        Tensor.

    Raises:
        ValueError: the numbers of shifts and axes differ, or an axis is out of range.
    """
    return Roll(checks.python_value(shifts), checks.python_value(dims))(input)


def rot90(input: Tensor, k: int, dims: Any) -> Tensor:
    """Turn a plane by quarter turns.

    Args:
        input: Tensor with at least two axes.
        k: number of quarter turns from the first towards the second axis.
        dims: the two axes.

    Returns:
        Tensor.

    Raises:
        ValueError: ``dims`` are not two different axes.
    """
    axes, rank = checks.integers("dims", dims, "rot90"), len(shape_of(input))
    if len(axes) != 2:
        raise located(ValueError, f"For 'rot90', 'dims' must hold 2 axes, but got {dims!r}.")
    if not all(-rank <= axis < rank for axis in axes) or (axes[0] - axes[1]) % rank == 0:
        raise located(
            RuntimeError,
            f"For 'rot90', 'dims' must hold two different axes in [{-rank}, {rank}), but got "
            f"{axes}.",
        )
    axes = (axes[0] % rank, axes[1] % rank)
    turns = checks.integer("k", k, "rot90") % 4
    if turns == 0:
        return input
    if turns == 2:
        return flip(input, axes)
    if turns == 1:
        return swapaxes(flip(input, (axes[1],)), *axes)
    return flip(swapaxes(input, *axes), (axes[1],))


def _triangle(x: Array, diagonal: int, lower: bool, op: str) -> Array:
    if x.ndim < 2:
        raise located(
            ValueError,
            f"For primitive[{op}], the x's rank must be greater than or equal to 2, but got "
            f"{x.ndim}.",
        )
    rows, columns = (lax.broadcasted_iota(np.int32, x.shape[-2:], i) for i in (0, 1))
    keep = columns - rows <= diagonal if lower else columns - rows >= diagonal
    return jnp.where(keep, x, jnp.zeros((), x.dtype))


class Tril(Primitive):
    """The lower triangle of matrices."""

    diagonal: int = 0

    def compute(self, x: Array) -> Array:
        """Keep what is on and below a diagonal."""
        return _triangle(x, self.diagonal, True, "Tril")


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Keep the lower triangle of matrices (MindSpore: ``ops.tril``).

    Args:
        input: Tensor with at least two axes.
        diagonal: the highest diagonal that stays; 0 is the main one.

    Returns:
        Tensor, zero above.

    Raises:
        ValueError: ``input`` has fewer than two axes.
    """
    return Tril(checks.integer("diagonal", diagonal, "Tril"))(input)


class Triu(Primitive):
    """The upper triangle of matrices."""

    diagonal: int = 0

    def compute(self, x: Array) -> Array:
        """Keep what is on and above a diagonal."""
        return _triangle(x, self.diagonal, False, "Triu")


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """Keep the upper triangle of matrices (MindSpore: ``ops.triu``).

    Args:
        input: Tensor with at least two axes.
        diagonal: the lowest diagonal that stays; 0 is the main one.

    Returns:
        Tensor, zero below.

    Raises:
        ValueError: ``input`` has fewer than two axes.
    """
    return Triu(checks.integer("diagonal", diagonal, "Triu"))(input)


def _indices(op: str, row: int, col: int, offset: int, dtype: Any, lower: bool) -> Tensor:
    shape = [checks.integer(n, v, op) for n, v in (("row", row), ("col", col))]
    if min(shape) < 0:
        raise located(ValueError, f"For '{op}', 'row' and 'col' must be >= 0, but got {shape}.")
    # Beyond the corners nothing changes, and numpy takes 64 bits.
    offset = max(-shape[0], min(checks.integer("offset", offset, op), shape[1]))
    find = np.tril_indices if lower else np.triu_indices
    try:
        found = find(shape[0], offset, shape[1])
    except (MemoryError, ValueError, OverflowError):
        raise located(
            RuntimeError, f"For '{op}', there is no memory for a matrix of the shape {shape}."
        ) from None
    return Handle.tensor_class._from_array(np.stack(found).astype(as_dtype(dtype).np))


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Tensor:
    """Give rows and columns of the elements of a lower triangle (``ops.tril_indices``).

    Args:
        row: number of rows.
        col: number of columns.
        offset: diagonal that bounds the triangle; above the main one if positive.
        dtype: integer type of the result.

    Returns:
        Tensor (2, number of elements).

    Raises:
        TypeError: a size or ``offset`` is no integer.
        ValueError: a size is negative.
    """
    return _indices("tril_indices", row, col, offset, dtype, True)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Tensor:
    """Give rows and columns of the elements of an upper triangle (``ops.triu_indices``).

    Args:
        row: number of rows.
        col: number of columns.
        offset: diagonal that bounds the triangle; above the main one if positive.
        dtype: integer type of the result.

    Returns:
        Tensor (2, number of elements).

    Raises:
        TypeError: a size or ``offset`` is no integer.
        ValueError: a size is negative.
    """
    return _indices("triu_indices", row, col, offset, dtype, False)


class Diag(Primitive):
    """A matrix, or higher Tensor, with the input on its diagonal."""

    def compute(self, x: Array) -> Array:
        """Make ``out[i..., i...] = x[i...]``."""
        flat = _diagonal_matrix(x.reshape(-1), 0)
        return flat.reshape(x.shape + x.shape)


def _diagonal_matrix(x: Array, offset: int) -> Array:
    """Put the last axis on a diagonal of new matrices."""
    size = x.shape[-1]
    full = size + abs(offset)
    rows, columns = (lax.broadcasted_iota(np.int32, (full, full), i) for i in (0, 1))
    before = max(offset, 0)
    widths = [(0, 0, 0)] * (x.ndim - 1) + [(before, full - size - before, 0)]
    wide = lax.pad(x, jnp.zeros((), x.dtype), widths)
    spread = jnp.broadcast_to(wide[..., None, :], (*x.shape[:-1], full, full))
    return jnp.where(columns - rows == offset, spread, jnp.zeros((), x.dtype))


def diag(input: Tensor) -> Tensor:
    """Make a Tensor with the input on its diagonal (MindSpore: ``ops.diag``).

    Args:
        input: Tensor of shape S with at least one axis.

    Returns:
        Tensor of shape S + S, zero off the diagonal.
    """
    return Diag()(input)


class _DiagEmbed(Primitive, register=False):
    """The last axis on a diagonal of new matrices at two axes."""

    offset: int
    dim1: int
    dim2: int

    def compute(self, x: Array) -> Array:
        ndim = x.ndim + 1
        places = checks.axes_in_rank((self.dim1, self.dim2), ndim, "diag_embed")
        return jnp.moveaxis(_diagonal_matrix(x, self.offset), (-2, -1), places)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Put the last axis on a diagonal of new matrices.

    Args:
        input: Tensor with at least one axis.
        offset: diagonal; positive is above the main one.
        dim1: first axis of the matrices in the result.
        dim2: second axis of the matrices in the result.

    Returns:
        Tensor with one axis more.

    Raises:
        ValueError: an axis is out of range, or both are the same.
    """
    return _DiagEmbed(offset, dim1, dim2)(input)


class _Diagonal(Primitive, register=False):
    """A diagonal of the matrices at two axes, as the last axis."""

    offset: int
    dim1: int
    dim2: int
    view: ClassVar[bool | str] = True

    def compute(self, x: Array) -> Array:
        if x.ndim < 2:
            raise located(
                ValueError,
                f"For 'diagonal', the input must have at least 2 axes, but got {x.ndim}.",
            )
        axes = checks.axes_in_rank((self.dim1, self.dim2), x.ndim, "diagonal")
        x = jnp.moveaxis(x, axes, (-2, -1))
        rows, columns = x.shape[-2:]
        first = max(self.offset, 0) if self.offset >= 0 else -self.offset * columns
        size = max(0, min(rows + min(self.offset, 0), columns - max(self.offset, 0)))
        flat = x.reshape((*x.shape[:-2], rows * columns))
        step = columns + 1
        stop = first + (size - 1) * step + 1 if size else first
        if not size:
            return flat[..., :0]
        return lax.slice_in_dim(flat, first, stop, stride=step, axis=flat.ndim - 1)


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Give a diagonal of the matrices at two axes (MindSpore: ``ops.diagonal``).

    Args:
        input: Tensor with at least two axes.
        offset: diagonal; positive is above the main one.
        dim1: first axis of the matrices.
        dim2: second axis of the matrices.

    Returns:
        Tensor whose last axis is the diagonal; in PYNATIVE it aliases ``input``.

    Raises:
        ValueError: an axis is out of range, both are the same, or there is one axis only.
    """
    return _Diagonal(*(checks.integer("axis", v, "diagonal") for v in (offset, dim1, dim2)))(input)


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Put all elements on a diagonal of one matrix (MindSpore: ``ops.diagflat``).

    Args:
        input: Tensor of any shape, n elements.
        offset: diagonal; above the main one if positive.

    Returns:
        Tensor (n + abs(offset), n + abs(offset)).

    Raises:
        TypeError: ``offset`` is no integer.
    """
    return _DiagEmbed(checks.integer("offset", offset, "diagflat"), -2, -1)(reshape(input, (-1,)))


def matrix_diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Make a matrix of a vector's elements, or take a diagonal of a matrix (``mint.diag``).

    Args:
        input: Tensor with one or two axes.
        diagonal: which diagonal; positive is above the main one.

    Returns:
        Matrix or vector.

    Raises:
        ValueError: ``input`` has another number of axes.
    """
    ndim = len(shape_of(input))
    if ndim == 1:
        return diag_embed(input, diagonal)
    if ndim == 2:
        return _Diagonal(checks.integer("diagonal", diagonal, "diag"), 0, 1)(input)
    raise located(ValueError, f"For 'diag', the input must have 1 or 2 dimensions, but got {ndim}.")


class ReverseSequence(Primitive):
    """The first elements of each sequence in reverse order."""

    seq_dim: int
    batch_dim: int = 0

    def compute(self, x: Array, lengths: Array) -> Array:
        """Gather positions that run backwards up to each length."""
        seq, batch = (
            checks.axis_in_rank(a, x.ndim, "ReverseSequence")
            for a in (self.seq_dim, self.batch_dim)
        )
        position = lax.broadcasted_iota(np.int32, x.shape, seq)
        shape = [1] * x.ndim
        shape[batch] = lengths.size
        limit = jnp.broadcast_to(lengths.astype(np.int32).reshape(shape), x.shape)
        source = jnp.where(position < limit, limit - 1 - position, position)
        return jnp.take_along_axis(x, source, axis=seq, mode="clip")


def reverse_sequence(x: Tensor, seq_lengths: Any, seq_dim: int, batch_dim: int = 0) -> Tensor:
    """Reverse the first ``seq_lengths[i]`` elements of each sequence, the rest as it is.

    Args:
        x: Tensor.
        seq_lengths: Int32 or Int64 Tensor, one length a batch entry.
        seq_dim: axis of the sequence.
        batch_dim: axis of the batch.

    Returns:
        Tensor of the same shape.
    """
    return ReverseSequence(seq_dim, batch_dim)(x, seq_lengths)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Make a matrix whose columns are falling powers of a vector.

    Args:
        x: vector of n elements.
        N: number of columns, n by default.

    Returns:
        Matrix of shape (n, N).
    """
    checks.tensors("vander", x=x)
    if len(shape_of(x)) != 1:
        raise located(
            ValueError, f"For 'vander', 'x' must have 1 axis, but got {len(shape_of(x))}."
        )
    (n,) = shape_of(x)
    return _Vander(n if N is None else checks.integer("N", N, "vander"))(x)


class _Vander(Primitive, register=False):
    """Falling powers of a vector as columns."""

    columns: int

    def compute(self, x: Array) -> Array:
        ones = jnp.ones((x.shape[0], 1), x.dtype)
        powers = [ones]
        for _ in range(self.columns - 1):
            powers.append(powers[-1] * x[:, None])
        return lax.concatenate(powers[::-1], 1) if self.columns > 0 else ones[:, :0]
