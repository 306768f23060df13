"""Losses of sequences and of several labels."""

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.neural.alignment import ctc_loss
from mindjax.ops.neural.margins import MultilabelMarginLoss as _MultilabelMargin
from mindjax.ops.shape import expand_dims, squeeze


class CTCLoss(Cell):
    """Loss of unaligned sequences (Graves 2006; MindSpore: ``nn.CTCLoss``).

    Args:
        blank: class of no label.
        reduction: ``"mean"`` of the losses divided by their targets' lengths, ``"sum"`` or
            ``"none"``.
        zero_infinity: 0 in place of an infinite loss, and of its gradient.
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity

    def construct(
        self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any
    ) -> Any:
        """Compare logarithms of probabilities (T, N, C) or (T, C) with targets (N, S) or (S,).

        Raises:
            TypeError: a dtype is not supported.
            ValueError: the shapes, ``blank`` or the reduction do not fit.
        """
        options = (self.blank, self.reduction, self.zero_infinity)
        single = len(log_probs.shape) == 2
        if single:
            if len(targets.shape) not in (1, 2) or (
                len(targets.shape) == 2 and targets.shape[0] != 1
            ):
                raise located(
                    ValueError,
                    f"For '{self.cls_name}', the 'targets' of one sequence must be (S,) or (1, S), "
                    f"but got shape {tuple(targets.shape)}.",
                )
            targets = expand_dims(targets, 0) if len(targets.shape) == 1 else targets
            log_probs = expand_dims(log_probs, -2)
        loss = ctc_loss(log_probs, targets, input_lengths, target_lengths, *options)[0]
        return squeeze(loss, 0) if single and len(loss.shape) else loss


class MultilabelMarginLoss(Cell):
    """Every right class raised above all others by 1 (MindSpore: ``nn.MultilabelMarginLoss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = checks.reduction(reduction, self.cls_name)
        self.multilabel_margin_loss = _MultilabelMargin(reduction)

    def construct(self, x: Any, target: Any) -> Any:
        """Compare (N, C) or (C,) with the indices of right classes, padded with -1, Int32."""
        return self.multilabel_margin_loss(x, target)[0]
