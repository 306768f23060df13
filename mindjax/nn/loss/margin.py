"""Losses with margins and of distributions as Cells."""

# The inputs of `construct` have the original's names, which differ from loss to loss.
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.nn.loss.loss import LossBase, check_tensors
from mindjax.ops import margin as ops


class CosineEmbeddingLoss(LossBase):
    """Pairs brought together or apart by their cosine (MindSpore: ``nn.CosineEmbeddingLoss``).

    Args:
        margin: cosine up to which pairs are apart enough, in [-1, 1].
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        checks.of_type("margin", margin, float, self.cls_name)
        self.margin = checks.float_in_range("margin", margin, -1, 1, self.cls_name)

    def construct(self, logits_x1: Any, logits_x2: Any, labels: Any) -> Any:
        """Compare (N, D) pairs; labels are 1 for together, -1 for apart."""
        check_tensors(self.cls_name, logits_x1=logits_x1, logits_x2=logits_x2, labels=labels)
        options = (self.margin, self.reduction)
        return ops.cosine_embedding_loss(logits_x1, logits_x2, labels, *options)


class MarginRankingLoss(LossBase):
    """One input ranked above another (MindSpore: ``nn.MarginRankingLoss``).

    Args:
        margin: difference that is enough.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = checks.of_type("margin", margin, (float, int), self.cls_name)

    def construct(self, input1: Any, input2: Any, target: Any) -> Any:
        """Compare; the target is 1 for above, -1 for below."""
        check_tensors(self.cls_name, input1=input1, input2=input2, target=target)
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class SoftMarginLoss(LossBase):
    """log(1 + exp(-labels * logits)) (MindSpore: ``nn.SoftMarginLoss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare; labels are 1 or -1."""
        return ops.soft_margin_loss(logits, labels, self.reduction)


class HingeEmbeddingLoss(LossBase):
    """Distances made small or large (MindSpore: ``nn.HingeEmbeddingLoss``).

    Args:
        margin: distance that is enough.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = checks.of_type("margin", margin, (float, int), self.cls_name)

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare; labels are 1 for small, -1 for large."""
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class TripletMarginLoss(LossBase):
    """Anchors nearer to positives than to negatives (MindSpore: ``nn.TripletMarginLoss``).

    Args:
        p: exponent of the norm.
        swap: take the smaller of the negative's distances to anchor and positive.
        eps: added to every difference.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        margin: difference of distances that is enough.
    """

    def __init__(
        self,
        p: int = 2,
        swap: bool = False,
        eps: float = 1e-6,
        reduction: str = "mean",
        margin: float = 1.0,
    ) -> None:
        super().__init__(reduction)
        self.p, self.swap, self.eps, self.margin = p, swap, eps, margin

    def construct(self, x: Any, positive: Any, negative: Any, margin: float | None = None) -> Any:
        """Compare triplets (N, D, ...)."""
        margin = self.margin if margin is None else margin
        options = (margin, self.p, self.eps, self.swap, self.reduction)
        return ops.triplet_margin_loss(x, positive, negative, *options)


class GaussianNLLLoss(LossBase):
    """Likelihood under normal distributions (MindSpore: ``nn.GaussianNLLLoss``).

    Args:
        full: add the constant term.
        eps: smallest variance.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.full = checks.boolean("full", full, self.cls_name)
        self.eps = checks.float_in_range("eps", eps, 0, float("inf"), self.cls_name, "()")

    def construct(self, logits: Any, labels: Any, var: Any) -> Any:
        """Compare means, targets and variances."""
        return ops.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class PoissonNLLLoss(LossBase):
    """Likelihood of counts under Poisson distributions (MindSpore: ``nn.PoissonNLLLoss``).

    Args:
        log_input: the input is logarithms of rates.
        full: add Stirling's term.
        eps: added to rates before their logarithm.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        eps: float = 1e-8,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction)
        self.log_input = checks.boolean("log_input", log_input, self.cls_name)
        self.full = checks.boolean("full", full, self.cls_name)
        self.eps = eps

    def construct(self, input: Any, target: Any) -> Any:
        """Compare rates and counts of one shape."""
        check_tensors(self.cls_name, input=input, target=target)
        options = (self.log_input, self.full, self.eps, self.reduction)
        return ops.poisson_nll_loss(input, target, *options)


class MultiMarginLoss(LossBase):
    """The right class raised above the others by a margin (MindSpore: ``nn.MultiMarginLoss``).

    Args:
        p: exponent, 1 or 2.
        margin: difference that is enough.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        weight: weight of every class, Tensor (C,), or None.
    """

    def __init__(
        self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Any = None
    ) -> None:
        super().__init__(reduction)
        self.p, self.margin, self.weight = p, margin, weight

    def construct(self, x: Any, target: Any, weight: Any = None) -> Any:
        """Compare scores (N, C) with classes (N,)."""
        weight = self.weight if weight is None else weight
        return ops.multi_margin_loss(x, target, self.p, self.margin, weight, self.reduction)


class MultiLabelSoftMarginLoss(LossBase):
    """Logits compared with several truths a sample (MindSpore: ``nn.MultiLabelSoftMarginLoss``).

    Args:
        weight: weight of every class, Tensor (C,), or None.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x: Any, target: Any) -> Any:
        """Compare logits (N, C) with truths (N, C)."""
        return ops.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)
