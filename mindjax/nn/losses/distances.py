"""Losses of distances."""

# The inputs of `construct` have the original's names, which differ from loss to loss.
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.nn.loss.loss import LossBase, check_tensors


class L1LossExt(LossBase):
    """Mean distance between predictions and targets (MindSpore: ``nn.L1LossExt``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        ValueError: the reduction is unknown.
    """

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare Tensors that broadcast to each other."""
        return ops.l1_loss(logits, labels, self.reduction)


class TripletMarginWithDistanceLoss(LossBase):
    """The positive nearer than the negative by a margin, in a distance of one's own.

    The swap is that of Balntas and others, "Learning local feature descriptors with triplets"
    (2016).

    Args:
        distance_function: maps two Tensors (N, D) to distances (N,); None for the Euclidean one.
        swap: whether the negative's distance to the positive counts if it is smaller.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        margin: the margin.

    Raises:
        TypeError: ``margin`` is no float or ``swap`` no bool.
        ValueError: the reduction is unknown.

    MindSpore: ``nn.TripletMarginWithDistanceLoss``.
    """

    def __init__(
        self,
        distance_function: Callable[[Any, Any], Any] | None = None,
        swap: bool = False,
        reduction: str = "mean",
        margin: float = 1.0,
    ) -> None:
        super().__init__(reduction)
        self.margin = checks.of_type("margin", margin, float, self.cls_name)
        self.swap = checks.boolean("swap", swap, self.cls_name)
        self.distance_function = distance_function or _euclidean

    def construct(self, x: Any, positive: Any, negative: Any) -> Any:
        """Compare anchors with positives and negatives, all (N, D)."""
        check_tensors(self.cls_name, x=x, positive=positive, negative=negative)
        near = self.distance_function(x, positive)
        far = self.distance_function(x, negative)
        if self.swap:
            far = ops.minimum(far, self.distance_function(positive, negative))
        return self.get_loss(ops.maximum(near - far + self.margin, 0))


def _euclidean(x: Any, y: Any) -> Any:
    apart = ops.abs(x - y)
    if len(apart.shape) == 0:
        raise located(
            ValueError,
            "For 'pairwise_distance' in 'TripletMarginWithDistanceLoss', 'ndim' of the input must "
            "be positive, but got 0",
        )
    return ops.LpNorm(axis=1, p=2)(apart)
