"""Tensor methods of indexing: gather, scatter, masks, and ``x[...]`` itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.ops import select as choose
from mindjax.ops.distributions import random_categorical
from mindjax.ops.gather import (
    clip_indices,
    gather,
    gather_elements,
    gather_nd,
    index_select,
    wrap_indices,
)
from mindjax.ops.masking import argwhere, masked_fill, masked_select, nonzero, unique_sorted
from mindjax.ops.sampling import bernoulli_by, multinomial
from mindjax.ops.scatter import (
    index_fill,
    index_sum,
    masked_scatter,
    scatter,
    scatter_along_add,
    tensor_scatter_add,
    tensor_scatter_div,
    tensor_scatter_max,
    tensor_scatter_min,
    tensor_scatter_mul,
    tensor_scatter_sub,
)
from mindjax.ops.shape import reshape, shape_of
from mindjax.ops.slicing import select
from mindjax.tensor.indexing import getitem, index_put, setitem

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


class IndexingMethods:
    """Methods that read or write by index."""

    __slots__ = ()

    gather_elements = gather_elements
    gather_nd = gather_nd
    index_select = index_select
    masked_fill = masked_fill
    masked_select = masked_select
    masked_scatter = masked_scatter
    nonzero = nonzero
    argwhere = argwhere
    index_fill = index_fill
    scatter_sub = tensor_scatter_sub
    scatter_mul = tensor_scatter_mul
    scatter_div = tensor_scatter_div
    scatter_max = tensor_scatter_max
    scatter_min = tensor_scatter_min
    random_categorical = random_categorical
    multinomial = multinomial
    bernoulli = bernoulli_by

    def __getitem__(self: Any, index: Any) -> Tensor:
        return getitem(self, index)

    def __setitem__(self: Any, index: Any, value: Any) -> None:
        setitem(self, index, value)

    def gather(self: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Take by index: ``gather(input_indices, axis, batch_dims=0)``, or ``gather(dim, index)``.

        The second form takes one element for each index, as ``ops.gather_elements``.
        """
        if "dim" in kwargs or "index" in kwargs or (args and isinstance(args[0], int)):
            return gather_elements(self, *args, **kwargs)
        return gather(self, *args, **kwargs)

    def take(
        self: Any, indices: Any, axis: int | None = None, mode: str = "clip", batch_dims: int = 0
    ) -> Tensor:
        """Take elements along an axis, or of the flattened Tensor (MindSpore: ``Tensor.take``).

        Args:
            indices: integer Tensor.
            axis: the axis; None for the flattened Tensor.
            mode: ``"clip"`` or ``"wrap"`` indices that are out of range, or ``"raise"``.
            batch_dims: number of leading axes that both share.

        Returns:
            Tensor.

        Raises:
            ValueError: ``mode`` is unknown.
        """
        x, place = (reshape(self, (-1,)), 0) if axis is None else (self, axis)
        indices = indices if isinstance(indices, Handle) else Handle.tensor_class(indices)
        size = shape_of(x)[checks.axis_in_rank(place, len(shape_of(x)), "take")]
        if mode == "clip":
            indices = clip_indices(indices, size, -size)
        elif mode == "wrap":
            indices = wrap_indices(indices, size)
        elif mode != "raise":
            raise located(
                ValueError,
                f"For 'Tensor.take', the argument 'mode' should be one of in ['raise', 'wrap', "
                f"'clip'], but got {mode!r}.",
            )
        return gather(x, indices, place, batch_dims)

    def select(self: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Take one index of an axis, or choose: ``select(axis, index)``, ``select(cond, y)``."""
        axis = args[0] if args else kwargs.get("axis", kwargs.get("dim"))
        if isinstance(axis, int):
            index = args[1] if len(args) > 1 else kwargs["index"]
            return select(self, axis, index)
        condition, other = (*args, *kwargs.values())
        return choose(condition, self, other)

    def scatter(
        self: Any,
        axis: Any = None,
        index: Any = None,
        src: Any = None,
        *,
        dim: Any = None,
        value: Any = None,
        reduce: str | None = None,
    ) -> Tensor:
        """Write single elements along an axis, in a copy; as ``ops.scatter``.

        Args:
            axis: the axis; also called ``dim``.
            index: integer Tensor of the same rank.
            src: Tensor not smaller than ``index``, or a number; a number is also called ``value``.
            reduce: ``None`` or ``"none"`` replaces, ``"add"`` adds, ``"multiply"`` multiplies.

        Returns:
            Tensor.
        """
        axis, src = axis if dim is None else dim, src if value is None else value
        if reduce in (None, "none"):
            return scatter(self, axis, index, src)
        return self.copy().scatter_(axis, index, src, reduce=reduce)

    def scatter_add(self: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Add by index: ``scatter_add(indices, updates)``, or ``scatter_add(dim, index, src)``."""
        if len(args) + len(kwargs) == 3:
            return scatter_along_add(self, *args, **kwargs)
        return tensor_scatter_add(self, *args, **kwargs)

    def index_add(self: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Add slices of an axis, in a copy.

        Args:
            args: ``(dim, index, source)``, or the original's ``(indices, y, axis)``.
            kwargs: the same by name; ``alpha`` multiplies ``source``.

        Returns:
            Tensor.
        """
        if (args and not isinstance(args[0], int)) or "indices" in kwargs:
            names = ("indices", "y", "axis")
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            return index_sum(self, given["axis"], given["indices"], given["y"])
        return index_sum(self, *args, **kwargs)

    def index_put(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
        """Write by index Tensors, one an axis, in a copy.

        Args:
            indices: tuple or list of integer or Bool Tensors.
            values: Tensor that broadcasts to the elements.
            accumulate: whether to add instead of replacing.

        Returns:
            Tensor.
        """
        return index_put(self, indices, values, accumulate)

    def unique(
        self: Any,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any:
        """Find the distinct elements; as ``mint.unique``."""
        return unique_sorted(self, sorted, return_inverse, return_counts, dim)

    def itemset(self: Any, *args: Any) -> Tensor:
        """Copy the Tensor with one element replaced: ``itemset(index, value)``.

        Args:
            args: flat index or tuple, unless there is one element; then the value.

        Returns:
            Tensor.

        Raises:
            TypeError: the number of arguments fits neither.
        """
        if not 1 <= len(args) <= 2:
            raise located(TypeError, f"Tensor.itemset takes 1 or 2 arguments, but got {len(args)}.")
        copy = self.copy()
        if len(args) == 1:
            copy[...] = args[0]
        elif isinstance(args[0], tuple):
            copy[args[0]] = args[1]
        else:
            flat = copy.reshape(-1)
            flat[args[0]] = args[1]
            copy = flat.reshape(self.shape)
        return copy
