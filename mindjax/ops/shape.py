"""Views and questions of shape: reshape, transpose, squeeze, broadcast and their relatives."""

from __future__ import annotations

import functools
import math
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def shape_of(x: Any) -> tuple[int, ...]:
    """Give the shape of a Tensor, an array or a number, without touching a device."""
    if isinstance(x, Handle):
        return x.value_shape
    if x is None or isinstance(x, str | dict) or type(x) is object:
        raise checks.not_a_tensor(x)
    return np.shape(x)


def laid_along(vector: Array, x: Array, axis: int) -> Array:
    """Lay a vector along an axis of an array, so that it broadcasts.

    Args:
        vector: (x.shape[axis],).
        x: any shape.
        axis: the axis.

    Returns:
        The vector with size 1 along all other axes.
    """
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    return vector.reshape(shape)


class Reshape(BoundPrimitive):
    """The same elements in another shape; call: ``Reshape()(input, shape)``."""

    view: ClassVar[bool | str] = True
    statics: ClassVar[tuple[str, ...]] = ("shape",)
    shape: tuple[int, ...] = field(default=(), kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the shape's type."""
        return {"shape": checks.integers("shape", statics["shape"], "Reshape")}

    def compute(self, x: Array) -> Array:
        """Reshape, with one -1 filled in."""
        return x.reshape(_filled_in(self.shape, x.size))


def _filled_in(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    if shape.count(-1) > 1:
        raise located(
            ValueError, f"For 'Reshape', only one dimension can be inferred, got {shape}."
        )
    if any(s < -1 for s in shape):
        raise located(ValueError, f"For 'Reshape', invalid proposed_shape dimension in {shape}.")
    known = math.prod(s for s in shape if s != -1)
    if -1 in shape and known and size % known == 0:
        return tuple(size // known if s == -1 else s for s in shape)
    if -1 in shape and not size:
        return tuple(max(s, 0) for s in shape)
    if -1 in shape or known != size:
        raise located(
            ValueError,
            f"For 'Reshape', proposed_shape '{list(shape)}' is invalid for input of size {size}",
        )
    return shape


def reshape(input: Tensor, shape: Any) -> Tensor:
    """Give the same elements another shape (MindSpore: ``ops.reshape``).

    Args:
        input: Tensor of any shape.
        shape: sizes; one may be -1 and is then inferred.

    Returns:
        Tensor of that shape; in PYNATIVE it aliases ``input``.

    Raises:
        TypeError: ``shape`` is no sequence of integers.
        ValueError: the sizes do not fit the number of elements.
    """
    return _reshape_record(checks.integers("shape", shape, "Reshape"))._dispatch(input)


_reshape_record = functools.lru_cache(maxsize=4096)(Reshape.of)


def view(input: Tensor, *shape: Any) -> Tensor:
    """Give the same elements another shape, given as one sequence or as integers."""
    return reshape(input, spread(shape))


def spread(values: tuple[Any, ...]) -> Any:
    """Give what a method got as ``*values``: one sequence or several integers."""
    if len(values) == 1 and (
        isinstance(values[0], tuple | list | np.ndarray)
        or (isinstance(values[0], Handle) and len(values[0].value_shape) == 1)
    ):
        return values[0]
    return values


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Give a Tensor the shape of another (MindSpore: ``ops.view_as``).

    Args:
        input: Tensor.
        other: Tensor of as many elements.

    Returns:
        Tensor; in PYNATIVE a view of ``input``.

    Raises:
        ValueError: the numbers of elements differ.
    """
    return reshape(input, shape_of(other))


reshape_as = view_as


class Transpose(BoundPrimitive):
    """Axes in another order; call: ``Transpose()(input, dims)``."""

    view: ClassVar[bool | str] = True
    statics: ClassVar[tuple[str, ...]] = ("dims",)
    dims: tuple[int, ...] = field(default=(), kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the type of the axes."""
        return {"dims": checks.integers("dims", statics["dims"], "Transpose")}

    def compute(self, x: Array) -> Array:
        """Permute the axes."""
        if len(self.dims) != x.ndim:
            raise located(
                ValueError,
                f"For 'Transpose', size of perm should equal to rank of x, but got "
                f"{len(self.dims)} and {x.ndim}!",
            )
        perm = tuple(checks.axis_in_rank(d, x.ndim) for d in self.dims)
        for i, d in enumerate(perm):
            if d in perm[:i]:
                raise located(
                    ValueError,
                    f"For 'Transpose' perms should all be unique dim, but {d} is not unique!",
                )
        return lax.transpose(x, perm)


def transpose(input: Tensor, dims: Any) -> Tensor:
    """Put the axes in another order (MindSpore: ``ops.transpose``).

    Args:
        input: Tensor of any shape.
        dims: for each axis of the result, the axis of ``input`` that it is.

    Returns:
        Tensor; in PYNATIVE it aliases ``input``.

    Raises:
        ValueError: ``dims`` is no permutation of the axes.
    """
    return Transpose.of(checks.integers("dims", dims, "Transpose"))(input)


def permute(input: Tensor, axis: Any) -> Tensor:
    """Put the axes in another order (MindSpore: ``ops.permute``).

    Args:
        input: Tensor.
        axis: every axis once, in the new order.

    Returns:
        Tensor; in PYNATIVE a view of ``input``.

    Raises:
        ValueError: ``axis`` is no order of the axes.
    """
    return transpose(input, axis)


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Exchange two axes (MindSpore: ``ops.swapaxes``).

    Args:
        input: Tensor.
        axis0: an axis.
        axis1: the other.

    Returns:
        Tensor; in PYNATIVE a view of ``input``.

    Raises:
        TypeError: an axis is no integer.
        ValueError: an axis is out of range.
    """
    ndim = len(shape_of(input))
    perm = list(range(ndim))
    i, j = (_range_axis(a, ndim) for a in (axis0, axis1))
    perm[i], perm[j] = perm[j], perm[i]
    return transpose(input, tuple(perm))


def _range_axis(axis: Any, ndim: int) -> int:
    axis = checks.integer("axis", axis, "swapaxes")
    if not -ndim <= axis < ndim:
        raise located(
            ValueError, f"The 'axis' must be in the range of [{-ndim}, {ndim}), but got {axis}."
        )
    return axis % ndim


def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two axes (MindSpore: ``ops.swapdims``).

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


def movedim(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Move axes to other places, the others keeping their order.

    Args:
        x: Tensor.
        source: axis or axes.
        destination: where each goes.

    Returns:
        Tensor; in PYNATIVE it aliases ``x``.

    Raises:
        ValueError: the numbers of axes differ, or one is out of range or repeats.
    """
    ndim = len(shape_of(x))
    source, destination = checks.python_value(source), checks.python_value(destination)
    from_ = checks.axes_in_rank(source if isinstance(source, tuple) else (source,), ndim, "movedim")
    to = checks.axes_in_rank(
        destination if isinstance(destination, tuple) else (destination,), ndim, "movedim"
    )
    if len(from_) != len(to):
        raise located(
            ValueError,
            "For `source` and `destination` arguments, the number of elements must be equal, but "
            f"got 'source': {len(from_)}, 'destination': {len(to)}.",
        )
    perm = [a for a in range(ndim) if a not in from_]
    for place, axis in sorted(zip(to, from_, strict=True)):
        perm.insert(place, axis)
    return transpose(x, tuple(perm))


moveaxis = movedim


def t(input: Tensor) -> Tensor:
    """Transpose a matrix (MindSpore: ``ops.t``).

    Args:
        input: Tensor; one that is no matrix comes back as it is.

    Returns:
        Tensor; in PYNATIVE a view of ``input``.
    """
    return transpose(input, (1, 0)) if len(shape_of(input)) == 2 else input


def adjoint_axes(input: Tensor) -> Tensor:
    """Reverse the order of all axes (MindSpore: ``Tensor.T``)."""
    return transpose(input, tuple(reversed(range(len(shape_of(input))))))


class Squeeze(Primitive):
    """Drop axes of size 1; axes of other sizes stay."""

    axis: Any = ()
    view: ClassVar[bool | str] = True

    def compute(self, x: Array) -> Array:
        """Drop the axes."""
        axes = self.axis if isinstance(self.axis, tuple | list) else (self.axis,)
        chosen = [checks.axis_in_rank(a, x.ndim) for a in axes] if len(axes) else range(x.ndim)
        return x.reshape([s for i, s in enumerate(x.shape) if i not in chosen or s != 1])


def squeeze(input: Tensor, axis: Any = None) -> Tensor:
    """Drop axes of size 1 (MindSpore: ``ops.squeeze``).

    Args:
        input: Tensor.
        axis: axis or axes, None for all of size 1; axes of other sizes stay.

    Returns:
        Tensor; in PYNATIVE it aliases ``input``.

    Raises:
        ValueError: an axis is out of range.
    """
    return Squeeze(() if axis is None else checks.python_value(axis))(input)


class ExpandDims(BoundPrimitive):
    """A new axis of size 1; call: ``ExpandDims()(input_x, axis)``."""

    view: ClassVar[bool | str] = True
    statics: ClassVar[tuple[str, ...]] = ("axis",)
    axis: int = field(default=0, kw_only=True)

    def compute(self, x: Array) -> Array:
        """Insert the axis."""
        return lax.expand_dims(x, [checks.axis_in_rank(self.axis, x.ndim + 1)])


def expand_dims(input_x: Tensor, axis: int) -> Tensor:
    """Insert an axis of size 1 (MindSpore: ``ops.expand_dims``).

    Args:
        input_x: Tensor.
        axis: place of the new axis, from ``-ndim - 1`` to ``ndim``.

    Returns:
        Tensor; in PYNATIVE it aliases ``input_x``.

    Raises:
        TypeError: ``axis`` is no integer.
        ValueError: ``axis`` is out of range.
    """
    return ExpandDims.of(checks.integer("axis", axis, "ExpandDims"))(input_x)


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Insert an axis of size 1 (MindSpore: ``ops.unsqueeze``).

    Args:
        input: Tensor.
        dim: where, from ``-input.ndim - 1`` to ``input.ndim``.

    Returns:
        Tensor; in PYNATIVE a view of ``input``.

    Raises:
        TypeError: ``dim`` is no integer.
        ValueError: it is out of range.
    """
    return expand_dims(input, dim)


class Flatten(Primitive):
    """All axes but the first in one."""

    view: ClassVar[bool | str] = True

    def compute(self, x: Array) -> Array:
        """Flatten."""
        return x.reshape((x.shape[0] if x.ndim else 1, -1 if x.size else math.prod(x.shape[1:])))


def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Merge neighbouring axes (MindSpore: ``ops.flatten``).

    Args:
        input: Tensor.
        order: ``"C"`` (last axis fastest) or ``"F"`` (first axis fastest).
        start_dim: first axis to merge.
        end_dim: last axis to merge.

    Returns:
        Tensor; in PYNATIVE it aliases ``input`` when ``order`` is ``"C"``.

    Raises:
        ValueError: an axis is out of range, or the last comes before the first.
    """
    if order not in ("C", "F"):
        raise located(
            ValueError if isinstance(order, str) else TypeError,
            f"For 'flatten', the argument 'order' must be 'C' or 'F', but got {order!r}.",
        )
    shape = shape_of(input)
    if order == "F":
        input = adjoint_axes(input)
        shape = shape_of(input)
    if len(shape) < 2:
        return reshape(input, (-1,)) if not shape else input
    plain = type(start_dim) is int and type(end_dim) is int
    merged = _merged if plain else _merged.__wrapped__
    return reshape(input, merged(shape, start_dim, end_dim))


@functools.lru_cache(maxsize=1024)
def _merged(shape: tuple[int, ...], start_dim: int, end_dim: int) -> tuple[int, ...]:
    """Give a shape with the axes from one to another as one."""
    first = checks.axis_in_rank(start_dim, len(shape), "flatten", "start_dim")
    last = checks.axis_in_rank(end_dim, len(shape), "flatten", "end_dim")
    if first > last:
        raise located(ValueError, "For 'flatten', 'start_dim' cannot come after 'end_dim'.")
    return (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])


def ravel(input: Tensor) -> Tensor:
    """Give all elements in one axis (MindSpore: ``ops.ravel``).

    Args:
        input: Tensor of any shape.

    Returns:
        1-d Tensor; in PYNATIVE a view of ``input``.
    """
    return reshape(input, (-1,))


class BroadcastTo(Primitive):
    """Repeat axes of size 1, and add leading ones, up to a shape."""

    shape: tuple[int, ...]
    view: ClassVar[bool | str] = True

    def compute(self, x: Array) -> Array:
        """Broadcast; -1 keeps a size."""
        return broadcast(x, self.shape)


def broadcast(x: Array, shape: tuple[int, ...]) -> Array:
    """Broadcast an array, in the words of the original when it does not fit.

    Args:
        x: array.
        shape: sizes, where -1 keeps that of ``x``.

    Returns:
        Array of the shape.

    Raises:
        ValueError: a size of ``x`` is neither 1 nor that of ``shape``.
    """
    if x.ndim > len(shape):
        raise located(
            ValueError,
            "For primitive [BroadcastTo]: input's rank should be less equal to the number of "
            f"proposed_shape, but got {x.ndim} and {len(shape)}",
        )
    lead = len(shape) - x.ndim
    full = tuple(x.shape[i - lead] if s == -1 and i >= lead else s for i, s in enumerate(shape))
    for i, s in enumerate(full):
        if s < 0 or (i >= lead and x.shape[i - lead] not in (1, s)):
            raise located(
                ValueError,
                "For 'BroadcastTo', in order to broadcast, each dimension pair must be equal or "
                "input dimension is 1 or target dimension is -1. But got x_shape: "
                f"{x.shape}, target shape: {shape}.",
            )
    return lax.broadcast_in_dim(x, full, tuple(range(lead, len(full))))


def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    """Broadcast to a shape (MindSpore: ``ops.broadcast_to``).

    Args:
        input: Tensor.
        shape: sizes; -1 keeps that of ``input``.

    Returns:
        Tensor of the shape.

    Raises:
        ValueError: the shapes do not fit.
    """
    return BroadcastTo(checks.integers("shape", shape, "BroadcastTo"))(input)


def expand(input_x: Tensor, size: Any) -> Tensor:
    """Broadcast to a shape (MindSpore: ``ops.expand``).

    Args:
        input_x: Tensor.
        size: sizes; -1 keeps a size.

    Returns:
        Tensor; in PYNATIVE a view of ``input_x``.

    Raises:
        ValueError: the shapes do not fit.
    """
    return broadcast_to(input_x, size)


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Broadcast to the shape of another Tensor (MindSpore: ``ops.expand_as``).

    Args:
        input: Tensor.
        other: Tensor whose shape is wanted.

    Returns:
        Tensor; in PYNATIVE a view of ``input``.

    Raises:
        ValueError: the shapes do not fit.
    """
    return broadcast_to(input, shape_of(other))


def _need_tensor(op: str, x: Any) -> None:
    if not isinstance(x, Handle | jax.Array | np.ndarray):
        raise located(
            TypeError,
            f"For primitive[{op}], the input argument must be Tensor, but got {type(x)}.",
        )


class Shape(Primitive):
    """Sizes of the axes, as a tuple."""

    def __call__(self, *inputs: Any) -> tuple[int, ...]:
        """Give the shape of the one input."""
        (x,) = inputs
        _need_tensor("Shape", x)
        return shape_of(x)


def shape(input_x: Tensor) -> tuple[int, ...]:
    """Give the sizes of the axes (MindSpore: ``ops.shape``).

    Args:
        input_x: Tensor.

    Returns:
        Tuple of ints.

    Raises:
        TypeError: ``input_x`` is no Tensor.
    """
    return Shape()(input_x)


class TensorShape(Primitive):
    """Sizes of the axes, as an Int64 Tensor."""

    def compute(self, x: Array) -> Array:
        """Give the shape as an array."""
        return jnp.asarray(x.shape, np.int64)


def dyn_shape(input_x: Tensor) -> Tensor:
    """Give the sizes of the axes (MindSpore: ``ops.dyn_shape``).

    Args:
        input_x: Tensor.

    Returns:
        1-d Int64 Tensor.
    """
    return TensorShape()(input_x)


class Rank(Primitive):
    """Number of axes, as a Python integer."""

    def __call__(self, *inputs: Any) -> int:
        """Give the rank of the one input."""
        (x,) = inputs
        _need_tensor("Rank", x)
        return len(shape_of(x))


def rank(input_x: Tensor) -> int:
    """Give the number of axes (MindSpore: ``ops.rank``).

    Args:
        input_x: Tensor.

    Returns:
        The int.

    Raises:
        TypeError: ``input_x`` is no Tensor.
    """
    return Rank()(input_x)


class Size(Primitive):
    """Number of elements, as a Python integer."""

    def __call__(self, *inputs: Any) -> int:
        """Give the size of the one input."""
        (x,) = inputs
        _need_tensor("Size", x)
        return math.prod(shape_of(x))


def size(input_x: Tensor) -> int:
    """Give the number of elements (MindSpore: ``ops.size``).

    Args:
        input_x: Tensor.

    Returns:
        The int.

    Raises:
        TypeError: ``input_x`` is no Tensor.
    """
    return Size()(input_x)


def numel(input: Tensor) -> int:
    """Give the number of elements (MindSpore: ``ops.numel``).

    Args:
        input: Tensor.

    Returns:
        The int.

    Raises:
        TypeError: ``input`` is no Tensor.
    """
    return Size()(input)


def atleast_nd(op: str, inputs: Any, ndim: int, place: Any) -> Any:
    """Bring a Tensor, or each of several, to at least ``ndim`` axes with ``place(x)``."""
    if isinstance(inputs, tuple | list):
        return tuple(atleast_nd(op, x, ndim, place) for x in inputs)
    _need_tensor(op, inputs)
    return inputs if len(shape_of(inputs)) >= ndim else place(inputs)


def atleast_1d(inputs: Any) -> Any:
    """Give each Tensor at least one axis (MindSpore: ``ops.atleast_1d``).

    Args:
        inputs: Tensor, or tuple or list of Tensors.

    Returns:
        Tensor, or a tuple of them.
    """
    return atleast_nd("atleast_1d", inputs, 1, lambda x: reshape(x, (1,)))


def atleast_2d(inputs: Any) -> Any:
    """Give each Tensor at least two axes, new ones in front (MindSpore: ``ops.atleast_2d``).

    Args:
        inputs: Tensor, or tuple or list of Tensors.

    Returns:
        Tensor, or a tuple of them.
    """
    return atleast_nd("atleast_2d", inputs, 2, lambda x: reshape(x, (1, -1)))


def atleast_3d(inputs: Any) -> Any:
    """Give each Tensor at least three axes, as numpy does (MindSpore: ``ops.atleast_3d``).

    Args:
        inputs: Tensor, or tuple or list of Tensors.

    Returns:
        Tensor, or a tuple of them.
    """

    def place(x: Tensor) -> Tensor:
        shape = shape_of(x)
        return reshape(x, (*shape, 1) if len(shape) == 2 else (1, math.prod(shape), 1))

    return atleast_nd("atleast_3d", inputs, 3, place)
