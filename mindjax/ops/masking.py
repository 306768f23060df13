"""Masks, and results whose shape depends on values: masked_fill, nonzero, unique."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.handle import is_traced, unwrap
from mindjax.core.primitive import Primitive
from mindjax.core.values import can_leave
from mindjax.core.values import need_values as value_needed
from mindjax.ops.gather import Gather, broadcast_shape
from mindjax.ops.sequence import unstack
from mindjax.ops.shape import broadcast, reshape, shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class MaskedFill(Primitive):
    """One value where a mask is true; the mask broadcasts with the input."""

    promotes: ClassVar[tuple[int, ...]] = (0, 2)

    def compute(self, x: Array, mask: Array, value: Array) -> Array:
        """Fill; the value is cast to the dtype of ``x``."""
        if mask.dtype != np.bool_:
            raise located(
                TypeError,
                "For primitive[MaskedFill], the input argument[mask] must be a type of {Bool}, but "
                f"got {from_np(mask.dtype)}.",
            )
        if value.ndim:
            raise located(
                ValueError,
                "For 'MaskedFill', 'value' only supports a 0-dimensional value tensor or a float "
                f"number, but got tensor with {value.ndim} dimension(s).",
            )
        shape = broadcast_shape("MaskedFill", x.shape, mask.shape)
        x, mask = broadcast(x, shape), broadcast(mask, shape)
        return jnp.where(mask, value.astype(x.dtype), x)


def masked_fill(input_x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Put a value where a mask is true (MindSpore: ``ops.masked_fill``).

    Args:
        input_x: Tensor.
        mask: Bool Tensor; it broadcasts with ``input_x``.
        value: number or 0-d Tensor, cast to the dtype of ``input_x``.

    Returns:
        Tensor of the dtype of ``input_x``.

    Raises:
        TypeError: ``mask`` is not Bool.
        ValueError: ``value`` has axes, or the shapes do not broadcast.
    """
    return MaskedFill()(input_x, mask, value)


def need_values(op: str, instead: str, *arrays: Any) -> None:
    """Raise if an array has no values yet.

    Args:
        op: name for the error; empty for what the user called.
        instead: what to do about it.
        arrays: Tensors or arrays.

    Raises:
        RuntimeError: an array is being traced.
    """
    if any(is_traced(unwrap(a)) for a in arrays):
        if can_leave():
            raise value_needed("a result whose shape depends on values")
        subject = f"For '{op}', the" if op else "the"
        raise located(
            RuntimeError,
            f"{subject} shape of the result depends on values, which a compiled program does not "
            f"have: {instead}, or run this part in PYNATIVE_MODE.",
        )


class NonZero(Primitive):
    """Index tuples of the elements that are not zero, one a row."""

    concrete: ClassVar[bool] = True

    def compute(self, x: Array) -> Array:
        """Find them on the host."""
        need_values("", "use ops.where(condition, a, b) with a mask", x)
        return jnp.asarray(np.argwhere(np.asarray(x)), np.int64)


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Find the elements that are not zero (MindSpore: ``ops.nonzero``).

    Args:
        input: Tensor of rank r.
        as_tuple: whether to give one vector an axis.

    Returns:
        Int64 Tensor of shape (n, r), or a tuple of r Tensors of shape (n,).

    Raises:
        RuntimeError: a compiled program asks, which cannot know n.
    """
    found = NonZero()(input)
    if not as_tuple:
        return found
    return unstack(found, 1)


def argwhere(input: Tensor) -> Tensor:
    """Find the elements that are not zero (MindSpore: ``ops.argwhere``).

    Args:
        input: Tensor of any shape.

    Returns:
        Int64 Tensor (number of elements, rank of ``input``).

    Raises:
        RuntimeError: a compiled program asks, which cannot know how many there are.
    """
    return nonzero(input)


class _BroadcastBoth(Primitive, register=False):
    """Two arrays in their common shape."""

    def compute(self, x: Array, y: Array) -> tuple[Array, Array]:
        shape = broadcast_shape("MaskedSelect", x.shape, y.shape)
        return broadcast(x, shape), broadcast(y, shape)


class MaskedSelect(Primitive):
    """The elements where a mask is true, in one axis."""

    def __call__(self, *inputs: Any) -> Any:
        """Select; the positions are found first, the elements gathered by them."""
        x, mask = inputs
        if shape_of(x) != shape_of(mask):
            x, mask = _BroadcastBoth()(x, mask)
        flat = NonZero()(_Bool("MaskedSelect")(reshape(mask, (-1,))))
        return Gather.__call__(Gather(axis=0), reshape(x, (-1,)), reshape(flat, (-1,)))


class _Bool(Primitive, register=False):
    """A mask, checked."""

    op: str

    def compute(self, mask: Array) -> Array:
        if mask.dtype != np.bool_:
            raise located(
                TypeError,
                f"For primitive[{self.op}], the input argument[mask] must be a type of {{Bool}}, "
                f"but got {from_np(mask.dtype)}.",
            )
        return mask


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Take the elements where a mask is true (MindSpore: ``ops.masked_select``).

    Args:
        input: Tensor.
        mask: Bool Tensor; it broadcasts with ``input``.

    Returns:
        Tensor with one axis.

    Raises:
        TypeError: ``mask`` is not Bool.
        RuntimeError: a compiled program asks, which cannot know how many there are.
    """
    return MaskedSelect()(input, mask)


class Unique(Primitive):
    """Distinct elements in order of first appearance, and where each element went."""

    concrete: ClassVar[bool] = True

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Find them on the host."""
        need_values("", "sort and mask repeated elements instead", x)
        host = np.asarray(x)
        values, first, inverse = np.unique(host.ravel(), return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        dtype = np.int64 if x.dtype == np.int64 else np.int32
        return jnp.asarray(values[order]), jnp.asarray(rank[inverse].reshape(x.shape), dtype)


def unique(input: Tensor) -> tuple[Tensor, Tensor]:
    """Find the distinct elements in order of first appearance (MindSpore: ``ops.unique``).

    Args:
        input: Tensor.

    Returns:
        The distinct elements, and a Tensor of the input's shape with the index of each element's
        value, Int64 for an Int64 input, else Int32.

    Raises:
        RuntimeError: a compiled program asks, which cannot know how many there are.
    """
    return Unique()(input)


class UniqueExt(Primitive, register=False):
    """Distinct elements in rising order, with inverse and counts (``mint.unique``)."""

    axis: int | None
    concrete: ClassVar[bool] = True

    def compute(self, x: Array) -> tuple[Array, Array, Array]:
        """Find them on the host."""
        need_values("", "sort and mask repeated elements instead", x)
        host = np.asarray(x)
        values, inverse, counts = np.unique(
            host, return_inverse=True, return_counts=True, axis=self.axis
        )
        inverse = inverse.reshape(host.shape if self.axis is None else -1)
        return jnp.asarray(values), jnp.asarray(inverse, np.int64), jnp.asarray(counts, np.int64)


def unique_sorted(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Find the distinct elements in rising order (MindSpore: ``mint.unique``).

    Args:
        input: Tensor.
        sorted: kept for the original's signature: the elements always rise.
        return_inverse: whether to give the index of each element's value.
        return_counts: whether to give how often each value occurs.
        dim: axis whose slices are compared; None compares elements.

    Returns:
        Tensor, or a tuple with inverse and counts behind it.

    Raises:
        RuntimeError: a compiled program asks, which cannot know how many there are.
    """
    values, inverse, counts = UniqueExt(dim)(input)
    more = [t for t, wanted in ((inverse, return_inverse), (counts, return_counts)) if wanted]
    return (values, *more) if more else values
