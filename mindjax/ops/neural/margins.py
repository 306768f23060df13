"""Margin losses by their class names, and the margin loss of several labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.loss import reduced
from mindjax.ops.margin import multi_margin_loss, triplet_losses

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class MultiMarginLoss(Primitive):
    """The right class raised above the others by a margin (MindSpore: ``ops.MultiMarginLoss``).

    Args:
        p: exponent, 1 or 2.
        margin: difference that is enough.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    p: int = 1
    margin: float = 1.0
    reduction: str = "mean"

    def __post_init__(self) -> None:
        if checks.of_type("p", self.p, int, "MultiMarginLoss") not in (1, 2):
            raise located(
                ValueError, f"For 'MultiMarginLoss', the 'p' must be in {{1, 2}}, but got {self.p}."
            )
        checks.of_type("margin", self.margin, (float, int), "MultiMarginLoss")
        checks.reduction(self.reduction, "MultiMarginLoss")

    def __call__(self, x: Any, target: Any, weight: Any = None) -> Any:
        """Compare (N, C) with integers (N,), every class weighted by (C,) if that is given."""
        return multi_margin_loss(x, target, self.p, self.margin, weight, self.reduction)


class TripletMarginLoss(Primitive):
    """Anchors brought nearer to positives than to negatives (MindSpore: ``ops.TripletMarginLoss``).

    Args:
        p: exponent of the norm.
        swap: take the smaller of the negative's distances to anchor and positive.
        eps: added to every difference.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    p: int = 2
    swap: bool = False
    eps: float = 1e-6
    reduction: str = "mean"

    def __post_init__(self) -> None:
        checks.of_type("p", self.p, int, "TripletMarginLoss")
        checks.boolean("swap", self.swap, "TripletMarginLoss")
        checks.of_type("eps", self.eps, float, "TripletMarginLoss")
        checks.reduction(self.reduction, "TripletMarginLoss")

    def compute(self, x: Array, positive: Array, negative: Array, margin: Array) -> Array:
        """Compare (N, D, ...) that broadcast together, with a 0-d margin."""
        if margin.ndim:
            raise located(
                ValueError,
                f"For 'TripletMarginLoss', the rank of 'margin' must be 0, but got {margin.ndim}.",
            )
        checks.same_dtype("TripletMarginLoss", x=x.dtype, positive=positive.dtype)
        checks.same_dtype("TripletMarginLoss", x=x.dtype, negative=negative.dtype)
        wide = x.dtype if from_np(x.dtype).kind in ("float", "complex") else np.dtype(np.float32)
        inputs = jnp.broadcast_arrays(x, positive, negative)
        if inputs[0].ndim < 2:
            raise located(
                ValueError,
                "For 'TripletMarginLoss', the inputs must have at least 2 dims, but got shape "
                f"{inputs[0].shape}.",
            )
        anchor, near, far = (a.astype(wide) for a in inputs)
        losses = triplet_losses(
            anchor, near, far, margin.astype(wide), float(self.p), self.eps, self.swap
        )
        return reduced(losses, self.reduction)


class MultilabelMarginLoss(Primitive):
    """Every right class raised above all others by 1 (MindSpore: ``ops.MultilabelMarginLoss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    reduction: str = "mean"

    def __post_init__(self) -> None:
        checks.reduction(self.reduction, "MultilabelMarginLoss")

    def compute(self, x: Array, target: Array) -> tuple[Array, Array]:
        """Compare (N, C) or (C,) with the indices of right classes, padded with -1, Int32.

        Returns:
            The loss, and which classes are right, Int32 of the shape of ``target``.
        """
        owner = "MultilabelMarginLoss"
        checks.floating("x", x.dtype, owner)
        if target.dtype != np.int32:
            raise located(
                TypeError,
                f"For primitive[{owner}], the input argument[target] must be a type of "
                f"{{Tensor[Int32]}}, but got Tensor[{from_np(target.dtype)}].",
            )
        if x.ndim not in (1, 2) or x.shape != target.shape:
            raise located(
                ValueError,
                f"For {owner}, x and target must be of one shape, (N, C) or (C,), but got "
                f"{x.shape} and {target.shape}.",
            )
        single = x.ndim == 1
        rows, labels = (x[None], target[None]) if single else (x, target)
        classes = rows.shape[1]
        # Only what stands before the first -1 counts.
        valid = jnp.cumsum(labels < 0, 1) == 0
        hot = (labels[..., None] == jnp.arange(classes, dtype=np.int32)) & valid[..., None]
        right = hot.any(1)
        chosen = jnp.take_along_axis(rows, jnp.clip(labels, 0, classes - 1), 1)
        gaps = jnp.maximum(1 - (chosen[:, :, None] - rows[:, None]), 0)
        terms = jnp.where(valid[..., None] & ~right[:, None], gaps, 0)
        losses = terms.sum((1, 2)) / classes
        is_target = right.astype(np.int32)
        if single:
            return reduced(losses[0], self.reduction), is_target[0]
        return reduced(losses, self.reduction), is_target


def multilabel_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Raise every right class above all others by 1 (MindSpore: ``ops.multilabel_margin_loss``).

    Args:
        input: (N, C) or (C,), float.
        target: indices of the right classes, padded with -1, Int32, of the same shape.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or (N,) for ``"none"``.

    Raises:
        TypeError: a dtype is not supported.
        ValueError: the shapes or the reduction do not fit.
    """
    return MultilabelMarginLoss(reduction)(input, target)[0]
