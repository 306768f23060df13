"""Tensor methods that numpy's arrays have: choose, ptp and others, made of ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.core.dtype import as_dtype
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.ops.arithmetic import sub
from mindjax.ops.cast import cast
from mindjax.ops.gather import clip_indices, gather_elements, wrap_indices
from mindjax.ops.promotion import broadcast_shape
from mindjax.ops.reduction import amax, amin
from mindjax.ops.sequence import stack
from mindjax.ops.shape import broadcast_to, expand_dims, reshape, shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


class ArrayMethods:
    """Methods of numpy's arrays."""

    __slots__ = ()

    def choose(self: Any, choices: Any, mode: str = "clip") -> Tensor:
        """Take each element from the choice that an index names (MindSpore: ``Tensor.choose``).

        Args:
            choices: tuple or list of Tensors and numbers, or a Tensor whose first axis counts them.
            mode: ``"clip"`` or ``"wrap"`` indices that are out of range.

        Returns:
            Tensor of the broadcast shape.

        Raises:
            NotImplementedError: ``mode`` is ``"raise"``.
            ValueError: ``mode`` is unknown, a Tensor has no axis, or the shapes do not broadcast.
        """
        if mode not in ("clip", "wrap"):
            kind = NotImplementedError if mode == "raise" else ValueError
            raise located(
                kind, f"For 'choose', the 'mode' must be 'wrap' or 'clip', but got {mode!r}."
            )
        if isinstance(choices, tuple | list):
            parts = [_choice(x) for x in choices]
            shape = broadcast_shape("choose", self.shape, *(shape_of(x) for x in parts))
            pool = stack([broadcast_to(x, shape) for x in parts])
        else:
            shape = broadcast_shape("choose", self.shape, choices.shape[1:])
            lead = (1,) * (len(shape) + 1 - len(choices.shape))
            pool = reshape(choices, (choices.shape[0], *lead, *choices.shape[1:]))
            pool = broadcast_to(pool, (choices.shape[0], *shape))
        if not shape or not self.shape:
            raise located(ValueError, "For 'choose', the input must not be a scalar.")
        bring = clip_indices if mode == "clip" else wrap_indices
        index = bring(broadcast_to(self, shape), shape_of(pool)[0])
        return reshape(gather_elements(pool, 0, expand_dims(index, 0)), shape)

    def ptp(self: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Take the largest less the smallest element over axes (MindSpore: ``Tensor.ptp``).

        Args:
            axis: axes to reduce, all by default.
            keepdims: whether reduced axes stay, with size 1.

        Returns:
            Tensor without the axes.

        Raises:
            TypeError: ``keepdims`` is no bool, or an axis no integer.
            ValueError: there is no such axis.
        """
        checks.boolean("keepdims", keepdims, "ptp")
        return sub(amax(self, axis, keepdims), amin(self, axis, keepdims))


def _choice(value: Any) -> Any:
    """Make a choice a Tensor, narrow like the original's conversions."""
    made = value if isinstance(value, Handle) else Handle.tensor_class(value)
    narrow = {"Int64": "Int32", "Float64": "Float32"}.get(str(made.dtype))
    return made if made is value or narrow is None else cast(made, as_dtype(narrow))
