"""Losses with torch's arguments."""

from __future__ import annotations

from typing import Any

from mindjax.mint.nn import functional
from mindjax.nn.cell import Cell


class _Loss(Cell):
    """A loss with a reduction.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class MSELoss(_Loss):
    """Squared difference (MindSpore: ``mint.nn.MSELoss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def construct(self, input: Any, target: Any) -> Any:
        """Compare two Tensors that broadcast."""
        return functional.mse_loss(input, target, self.reduction)


class L1Loss(_Loss):
    """Absolute difference (MindSpore: ``mint.nn.L1Loss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare two Tensors that broadcast."""
        return functional.l1_loss(logits, labels, self.reduction)


class SmoothL1Loss(_Loss):
    """Absolute difference, squared below beta (MindSpore: ``mint.nn.SmoothL1Loss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        beta: where the square goes over into the absolute value.
    """

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction)
        self.beta = beta

    def construct(self, input: Any, target: Any) -> Any:
        """Compare two Tensors of one shape."""
        return functional.smooth_l1_loss(input, target, self.reduction, self.beta)


class CrossEntropyLoss(_Loss):
    """Cross entropy of logits (MindSpore: ``mint.nn.CrossEntropyLoss``).

    Args:
        weight: weight of every class, Tensor (C,), or None.
        ignore_index: class that does not count.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        label_smoothing: share of the uniform distribution in the target, in [0, 1].
    """

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction)
        self.weight, self.ignore_index = weight, ignore_index
        self.label_smoothing = label_smoothing

    def construct(self, input: Any, target: Any) -> Any:
        """Compare logits (N, C, ...) with classes (N, ...) or probabilities (N, C, ...)."""
        options = (self.weight, self.ignore_index, self.reduction, self.label_smoothing)
        return functional.cross_entropy(input, target, *options)


class NLLLoss(_Loss):
    """Negative log-likelihood of classes (MindSpore: ``mint.nn.NLLLoss``).

    Args:
        weight: weight of every class, Tensor (C,), or None.
        ignore_index: class that does not count.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        self.weight, self.ignore_index = weight, ignore_index

    def construct(self, input: Any, target: Any) -> Any:
        """Compare log-probabilities (N, C, ...) with classes (N, ...)."""
        options = (self.weight, self.ignore_index, self.reduction)
        return functional.nll_loss(input, target, *options)


class BCELoss(_Loss):
    """Cross entropy of probabilities of two classes (MindSpore: ``mint.nn.BCELoss``).

    Args:
        weight: Tensor that broadcasts to the losses, or None.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, input: Any, target: Any) -> Any:
        """Compare probabilities with labels of one shape."""
        return functional.binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Cross entropy of logits of two classes (MindSpore: ``mint.nn.BCEWithLogitsLoss``).

    Args:
        weight: Tensor that broadcasts to the losses, or None.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        pos_weight: weight of positive labels, Tensor that broadcasts, or None.
    """

    def __init__(self, weight: Any = None, reduction: str = "mean", pos_weight: Any = None) -> None:
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, input: Any, target: Any) -> Any:
        """Compare logits with labels of one shape."""
        options = (self.weight, self.reduction, self.pos_weight)
        return functional.binary_cross_entropy_with_logits(input, target, *options)


class KLDivLoss(_Loss):
    """Divergence of log-probabilities (MindSpore: ``mint.nn.KLDivLoss``).

    Args:
        reduction: ``"mean"``, ``"batchmean"``, ``"sum"`` or ``"none"``.
        log_target: whether the target is log-probabilities.
    """

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction)
        self.log_target = log_target

    def construct(self, input: Any, target: Any) -> Any:
        """Compare two Tensors of one shape."""
        return functional.kl_div(input, target, self.reduction, self.log_target)


class CosineEmbeddingLoss(_Loss):
    """Pairs brought together or apart (MindSpore: ``mint.nn.CosineEmbeddingLoss``).

    Args:
        margin: cosine up to which pairs are apart enough, in [-1, 1].
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1: Any, input2: Any, target: Any) -> Any:
        """Compare (N, D) pairs; the target is 1 for together, -1 for apart."""
        options = (self.margin, self.reduction)
        return functional.cosine_embedding_loss(input1, input2, target, *options)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-labels * logits)) (MindSpore: ``mint.nn.SoftMarginLoss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare; labels are 1 or -1."""
        return functional.soft_margin_loss(logits, labels, self.reduction)
