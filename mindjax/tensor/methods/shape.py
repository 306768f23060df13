"""Tensor methods of shape: views, joins, repeats and rearrangements; aliases of ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core.dtype import Number, as_dtype
from mindjax.core.errors import located
from mindjax.ops.cast import SameBits
from mindjax.ops.creation import full, full_like, need_no_device, ones, zeros
from mindjax.ops.rearrange import (
    diagflat,
    diagonal,
    flip,
    fliplr,
    flipud,
    matrix_diag,
    reverse,
    reverse_sequence,
    roll,
    rot90,
    tril,
    triu,
)
from mindjax.ops.sequence import (
    chunk,
    dsplit,
    hsplit,
    repeat_interleave,
    split,
    tensor_split,
    tile,
    unbind,
    vsplit,
)
from mindjax.ops.shape import (
    adjoint_axes,
    broadcast_to,
    expand_as,
    expand_dims,
    flatten,
    moveaxis,
    movedim,
    ravel,
    reshape,
    reshape_as,
    spread,
    squeeze,
    swapaxes,
    swapdims,
    t,
    transpose,
    unsqueeze,
    view,
    view_as,
)
from mindjax.ops.slicing import diagonal_scatter, narrow, select_scatter, slice_scatter
from mindjax.ops.state import identity, stop_gradient

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


class ShapeMethods:
    """Methods that ask for, or change, shape and arrangement."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def ndim(self) -> int: ...  # noqa: D102

        @property
        def size(self) -> int: ...  # noqa: D102

        @property
        def dtype(self) -> Any: ...  # noqa: D102

        @property
        def strides(self) -> tuple[int, ...]: ...  # noqa: D102

        @property
        def itemsize(self) -> int: ...  # noqa: D102

    swapaxes = swapaxes
    swapdims = swapdims
    movedim = movedim
    moveaxis = moveaxis
    squeeze = squeeze
    unsqueeze = unsqueeze
    expand_as = expand_as
    view_as = view_as
    reshape_as = reshape_as
    ravel = ravel
    t = t
    chunk = chunk
    tensor_split = tensor_split
    unbind = unbind
    hsplit = hsplit
    vsplit = vsplit
    dsplit = dsplit
    repeat_interleave = repeat_interleave
    diagonal_scatter = diagonal_scatter
    select_scatter = select_scatter
    slice_scatter = slice_scatter
    narrow = narrow
    tril = tril
    triu = triu
    diagflat = diagflat
    roll = roll
    rot90 = rot90
    flipud = flipud
    fliplr = fliplr
    reverse = reverse

    def reshape(self: Any, *shape: Any) -> Tensor:
        """Give another shape, as integers or one sequence; as ``ops.reshape``."""
        return reshape(self, shape) if len(shape) > 1 else view(self, *shape)

    def view(self: Any, *shape: Any) -> Tensor:
        """Give another shape, as integers or one sequence, or the same bits in another dtype."""
        if len(shape) == 1 and isinstance(shape[0], Number):
            return SameBits(shape[0])(self)
        return view(self, *shape)

    def transpose(self: Any, *axes: Any) -> Tensor:
        """Put the axes in another order.

        Args:
            axes: none to reverse all, two to exchange them, else the order.

        Returns:
            Tensor; in PYNATIVE it aliases this one.
        """
        if not axes or axes == (None,):
            return adjoint_axes(self)
        order = spread(axes)
        if order is axes and len(axes) == 2:
            return swapaxes(self, *axes)
        return transpose(self, order)

    def permute(self: Any, *axis: Any) -> Tensor:
        """Put the axes in another order, as integers or one sequence."""
        return transpose(self, spread(axis))

    def expand_dims(self: Any, axis: int) -> Tensor:
        """Insert an axis of size 1; as ``ops.expand_dims``."""
        return expand_dims(self, axis)

    def flatten(
        self: Any, *args: Any, order: str = "C", start_dim: int = 0, end_dim: int = -1
    ) -> Tensor:
        """Merge neighbouring axes, by default all; as ``ops.flatten``.

        Args:
            args: ``(start_dim, end_dim)``, or ``(order,)``.
            order: ``"C"`` or ``"F"``.
            start_dim: first axis to merge.
            end_dim: last axis to merge.

        Returns:
            Tensor.
        """
        if args and isinstance(args[0], str):
            order, *args = args  # type: ignore[assignment]
        if len(args) > 2:
            raise located(
                TypeError,
                f"For 'Tensor.flatten', the arguments are (start_dim, end_dim), but got {args}.",
            )
        start_dim, end_dim = (*args, *(start_dim, end_dim)[len(args) :])
        return flatten(self, order, start_dim=start_dim, end_dim=end_dim)

    def broadcast_to(self: Any, shape: Any) -> Tensor:
        """Broadcast to a shape; as ``ops.broadcast_to``."""
        return broadcast_to(self, shape)

    def expand(self: Any, *size: Any) -> Tensor:
        """Broadcast to a shape, as integers or one sequence; -1 keeps a size."""
        return broadcast_to(self, spread(size))

    def split(self: Any, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
        """Cut along an axis; as ``ops.split``."""
        return split(self, split_size_or_sections, axis)

    def tile(self: Any, *dims: Any) -> Tensor:
        """Repeat along each axis, as integers or one sequence; as ``ops.tile``."""
        return tile(self, spread(dims))

    def repeat(self: Any, *args: Any, axis: int | None = None, repeats: Any = None) -> Tensor:
        """Repeat along each axis (MindSpore: ``Tensor.repeat``).

        Args:
            args: repetitions of each axis, as integers or one sequence, aligned at the last.
            repeats: the same, as one sequence.
            axis: axis along which each element is repeated in place instead, as numpy does.

        Returns:
            Tensor.

        Raises:
            RuntimeError: there are fewer repetitions than axes, or one is negative.
        """
        counts = spread(args if repeats is None else (repeats,))
        if axis is not None:
            return repeat_interleave(self, counts[0] if len(counts) == 1 else counts, axis)
        if len(counts) < self.ndim or any(isinstance(n, int) and n < 0 for n in counts):
            raise located(
                RuntimeError,
                f"For 'Tensor.repeat', 'repeats' must hold at least {self.ndim} numbers, none "
                f"negative, but got {counts!r}.",
            )
        return tile(self, counts)

    def flip(self: Any, *dims: Any) -> Tensor:
        """Reverse the order of elements along axes."""
        return flip(self, spread(dims))

    def diag(self: Any, diagonal: int = 0) -> Tensor:
        """Make a matrix of a vector's elements, or take a diagonal of a matrix."""
        return matrix_diag(self, diagonal)

    def diagonal(self: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """Give a diagonal of the matrices at two axes; as ``ops.diagonal``."""
        return diagonal(self, offset, axis1, axis2)

    def reverse_sequence(
        self: Any, seq_lengths: Any, seq_dim: int = 0, batch_dim: int = 0
    ) -> Tensor:
        """Reverse the first elements of each sequence; as ``ops.reverse_sequence``."""
        return reverse_sequence(self, seq_lengths, seq_dim, batch_dim)

    @property
    def T(self: Any) -> Tensor:
        """The Tensor with its axes in reverse order."""
        return adjoint_axes(self)

    @property
    def mT(self: Any) -> Tensor:
        """The Tensor with its last two axes exchanged."""
        return swapaxes(self, -2, -1)

    def dim(self) -> int:
        """Give the number of axes."""
        return self.ndim

    def ndimension(self) -> int:
        """Give the number of axes."""
        return self.ndim

    def numel(self) -> int:
        """Give the number of elements."""
        return self.size

    def nelement(self) -> int:
        """Give the number of elements."""
        return self.size

    def stride(self, dim: int | None = None) -> Any:
        """Give the elements to step along each axis, or along one, of a contiguous array."""
        steps = [s // self.itemsize for s in self.strides]
        return steps if dim is None else steps[dim]

    def contiguous(self: Any) -> Tensor:
        """Give the Tensor itself: every array is contiguous."""
        return self

    def is_contiguous(self) -> bool:
        """Tell whether the elements lie in order; they always do."""
        return True

    def copy(self: Any) -> Tensor:
        """Copy the Tensor; gradients flow through."""
        return identity(self)

    def clone(self: Any) -> Tensor:
        """Copy the Tensor; gradients flow through."""
        return identity(self)

    def detach(self: Any) -> Tensor:
        """Give the Tensor as a constant for gradients; in PYNATIVE it aliases this one."""
        return stop_gradient(self)

    def fill(self: Any, value: Any) -> Tensor:
        """Give a Tensor of the same shape and dtype, filled with one value."""
        return full_like(self, value)

    fills = fill

    def new_zeros(self: Any, size: Any, *, dtype: Any = None) -> Tensor:
        """Make zeros of a shape, by default of this dtype."""
        return zeros(size, self.dtype if dtype is None else dtype)

    def new_ones(self: Any, size: Any, *, dtype: Any = None) -> Tensor:
        """Make ones of a shape, by default of this dtype."""
        return ones(size, self.dtype if dtype is None else dtype)

    def new_full(self: Any, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
        """Fill a shape with one value, by default of this dtype."""
        kind = self.dtype if dtype is None else as_dtype(dtype)
        return full(size, fill_value, dtype=kind)

    def new_empty(self: Any, size: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
        """Make a Tensor of a shape, by default of this dtype; its values are zeros."""
        need_no_device("new_empty", device)
        return zeros(size, self.dtype if dtype is None else dtype)
