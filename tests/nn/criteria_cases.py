"""Rows of the losses of `nn`: every reduction, weights, masks and margins."""

from __future__ import annotations

from typing import Any

from tests.nn.layer_cases import Layer
from tests.nn.mint_cases import rows
from tests.ops.table import Arr, f32, lit, pos, unit

ONES = "ms.Tensor(np.arange(1, 6, dtype=np.float32))"
LOGITS, PROBS, TARGET = f32(4, 5), unit(4, 5), f32(4, 5)
PAIR = (f32(4, 5), f32(4, 5))
CLASSES = lit([1, 0, 4, 2], "i32")
HINGED = (f32(2, 2), lit([[1.0, -1.0], [1.0, 1.0]]))
SIGNS = lit([1, -1, 1, 1], "i32")
HALVES = (unit(4, 5), unit(4, 5))
SIGNED = (f32(4, 5), Arr((4, 5), "f32", 0.0, 1.0))


def reductions(head: str, of: tuple[Arr, ...], **options: Any) -> list[Layer]:
    """Make a row for each reduction."""
    makes = [f"{head}reduction='{r}')" for r in ("mean", "sum", "none")]
    return rows(*makes, of=of, **options)


LAYERS = [
    *reductions("nn.L1Loss(", PAIR),
    *rows("nn.L1Loss()", of=(f32(3), f32(2, 3))),
    *reductions("nn.MSELoss(", (f32(2, 3), f32(3))),
    *rows("nn.RMSELoss()", of=PAIR),
    *rows("nn.RMSELoss()  # 1", of=(f32(3), f32(3))),
    *rows("nn.RMSELoss()  # 2", of=(f32(2, 1, 3), f32(2, 4, 3))),
    *reductions("nn.MAELoss(", PAIR),
    *reductions("nn.SmoothL1Loss(0.5, ", PAIR),
    *reductions("nn.HuberLoss(delta=0.7, ", PAIR),
    *rows("nn.HuberLoss('sum', 2.0)", of=(f32(3), f32(2, 3))),
    *reductions("nn.BCELoss(", HALVES),
    *rows(f"nn.BCELoss({ONES}.broadcast_to((4, 5)), 'sum')", of=HALVES),
    *reductions("nn.BCEWithLogitsLoss(", SIGNED),
    *rows(f"nn.BCEWithLogitsLoss('sum', {ONES}, {ONES})", of=SIGNED),
    # The original's gradient by the target is 0.
    *reductions("nn.KLDivLoss(", (f32(4, 5), unit(4, 5)), grad=False),
    *rows("nn.KLDivLoss('batchmean')", of=(f32(4, 5), unit(4, 5)), grad=False),
    *reductions("nn.NLLLoss(ignore_index=4, ", (LOGITS, CLASSES)),
    *rows(f"nn.NLLLoss({ONES})", of=(LOGITS, CLASSES)),
    *reductions("nn.CrossEntropyLoss(label_smoothing=0.2, ", (LOGITS, CLASSES)),
    *rows(f"nn.CrossEntropyLoss({ONES}, -100, 'sum')", of=(LOGITS, unit(4, 5))),
    *reductions("nn.CosineEmbeddingLoss(0.2, ", (*PAIR, SIGNS)),
    *rows("nn.CosineEmbeddingLoss(-0.3)", of=(*PAIR, SIGNS)),
    *reductions("nn.HingeEmbeddingLoss(", HINGED, grad=False),
    *rows("nn.HingeEmbeddingLoss(2.0)", of=HINGED, grad=False),
    *reductions("nn.MarginRankingLoss(0.3, ", (f32(4), f32(4), lit([1.0, -1.0, 1.0, 1.0]))),
    *rows("nn.MarginRankingLoss()", of=(f32(4), f32(4), lit([1.0, -1.0, -1.0, 1.0]))),
    *reductions("nn.MultiLabelSoftMarginLoss(", SIGNED),
    *rows(f"nn.MultiLabelSoftMarginLoss({ONES}, 'sum')", of=SIGNED),
    *reductions("nn.MultiMarginLoss(", (LOGITS, lit([1, 0, 4, 2], "i64"))),
    *rows("nn.MultiMarginLoss(2, 0.5)", of=(LOGITS, lit([1, 0, 4, 2], "i64"))),
    *reductions("nn.PoissonNLLLoss(full=True, ", (f32(4, 5), pos(4, 5))),
    *rows("nn.PoissonNLLLoss(False, False, 1e-4)", of=(pos(4, 5), pos(4, 5))),
    *reductions("nn.GaussianNLLLoss(full=True, ", (*PAIR, pos(4, 5))),
    *rows("nn.GaussianNLLLoss(eps=0.5)", of=(*PAIR, pos(4, 1))),
    *rows("nn.DiceLoss()", "nn.DiceLoss(0.5)", "nn.DiceLoss(smooth=1.0)", of=HALVES),
    *rows("nn.DiceLoss()  # 3", of=(unit(2, 3, 4), unit(2, 3, 4))),
    *rows("nn.SoftmaxCrossEntropyWithLogits()",
          "nn.SoftmaxCrossEntropyWithLogits(reduction='mean')", of=(LOGITS, unit(4, 5))),
    *rows("nn.SoftmaxCrossEntropyWithLogits(True, 'sum')",
          "nn.SoftmaxCrossEntropyWithLogits(True)", of=(LOGITS, CLASSES)),
]  # fmt: skip
