"""Losses that are loaded late, which the original and MindJAX run alike."""

from __future__ import annotations

from tests.nn.layer_cases import Layer
from tests.ops.table import Arr, f32, lit, unit

LOGITS = f32(4, 5)
CLASSES = lit([[1], [0], [4], [2]], "i32")
VALUES = (
    "(ms.Tensor([1, 3, 5], ms.int32), ms.Tensor(np.full((4, 1), 0.4), ms.float32), "
    "ms.Tensor([0.3, 0.5, 0.2], ms.float32))"
)
SAMPLED = (f32(7, 3), f32(7), lit([[0], [2], [4], [6]], "i32"), f32(4, 3))
TRIPLE = (f32(4, 3), f32(4, 3), f32(4, 3))
ONEHOT = Arr((4, 5), "f32", 0.0, 1.0)

LAYERS = [
    Layer("nn.FocalLoss()", (LOGITS, CLASSES)),
    Layer("nn.FocalLoss(gamma=1.5, reduction='sum')", (LOGITS, ONEHOT)),
    Layer("nn.FocalLoss(ms.Tensor([1., 2., 3., 4., 5.]), 2.0, 'none')", (LOGITS, CLASSES)),
    Layer(
        "nn.FocalLoss(ms.Tensor([1., 2., 3., 4., 5.]), 3.0)",
        (f32(2, 5, 3, 2), lit([[[[1, 0], [2, 3], [4, 4]]], [[[0, 1], [1, 2], [3, 0]]]], "i32")),
    ),
    Layer("nn.FocalLoss(gamma=2.5)", (f32(2, 5, 3), unit(2, 5, 3))),
    Layer("nn.MultiClassDiceLoss()", (LOGITS, unit(4, 5))),
    Layer("nn.MultiClassDiceLoss(ignore_indiex=1, activation='sigmoid')", (LOGITS, unit(4, 5))),
    Layer("nn.MultiClassDiceLoss(activation='relu')", (f32(2, 3, 4), unit(2, 3, 4))),
    Layer(
        "nn.MultiClassDiceLoss(ms.Tensor([[1.], [2.], [0.5]]), None, 'tanh')",
        (f32(2, 3, 4), unit(2, 3, 4)),
    ),
    Layer(f"nn.SampledSoftmaxLoss(3, 7, 1, {VALUES})", SAMPLED),
    Layer(f"nn.SampledSoftmaxLoss(3, 7, 1, {VALUES}, False, 3, 'mean')", SAMPLED),
    Layer("nn.TripletMarginWithDistanceLoss()", TRIPLE),
    Layer("nn.TripletMarginWithDistanceLoss(swap=True, margin=2.0)", TRIPLE),
    Layer("nn.TripletMarginWithDistanceLoss(reduction='none', margin=0.5)", TRIPLE),
    Layer(
        "nn.TripletMarginWithDistanceLoss(lambda a, b: (a - b).abs().sum(1), True, 'sum')", TRIPLE
    ),
]
CALLS: dict[str, str] = {}
ERRORS = [
    "nn.FocalLoss(gamma=2)(1, 2)",
    "nn.FocalLoss(weight=1)",
    "nn.FocalLoss(ms.Tensor([[1.0]]))",
    "nn.FocalLoss()(ms.Tensor([[1.0]]), ms.Tensor([[1]]))",
    "nn.FocalLoss()(ms.Tensor([1.0]), ms.Tensor([1]))",
    "nn.FocalLoss()(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[[1]]]))",
    "nn.FocalLoss()(ms.Tensor([[1.0, 2.0, 3.0]]), ms.Tensor([[1, 2]]))",
    "nn.MultiClassDiceLoss(activation='x')",
    "nn.MultiClassDiceLoss(activation=1)",
    "nn.MultiClassDiceLoss(ms.Tensor([1.0]))",
    "nn.MultiClassDiceLoss(ignore_indiex=1.0)",
    "nn.MultiClassDiceLoss()(ms.Tensor([1.0]), ms.Tensor([1.0]))",
    "nn.SampledSoftmaxLoss(8, 7)",
    "nn.SampledSoftmaxLoss(3, 7, 0)",
    "nn.SampledSoftmaxLoss(3, 7, seed=-1)",
    "nn.SampledSoftmaxLoss(3, 7, sampled_values=1)",
    "nn.SampledSoftmaxLoss(3, 7, sampled_values=(1, 2))",
    "nn.TripletMarginWithDistanceLoss(margin=1)",
    "nn.TripletMarginWithDistanceLoss(swap=1)",
    "nn.TripletMarginWithDistanceLoss()(1, 2, 3)",
    "nn.L1LossExt('x')",
    "nn.CrossEntropyLoss()(ops.ones((3, 4)), ops.ones(2))",
    "nn.CrossEntropyLoss()(ops.ones((3, 4)), ops.ones(3))",
    "nn.CrossEntropyLoss()(ops.ones((3, 4)), ops.ones((3, 4), ms.int32))",
    "nn.CrossEntropyLoss()(ops.ones((3, 4)), ops.ones((3, 5), ms.int32))",
    "nn.CrossEntropyLoss()(ops.ones((3, 4)), ops.ones((3, 5)))",
    "nn.CrossEntropyLoss()(ops.ones((3, 4)), ops.ones((3, 4, 1), ms.int32))",
    "nn.CrossEntropyLoss()(ops.ones((3, 4, 5)), ops.ones((3, 4)))",
    "nn.CrossEntropyLoss()(ops.ones((3, 4)), ops.ones((3,), ms.bool_))",
    "nn.NLLLoss()(ops.ones((3, 4)), ops.ones(3))",
    "nn.NLLLoss()(ops.ones((3, 4)), ops.ones((3, 4)))",
    "nn.SoftmaxCrossEntropyWithLogits(sparse=True)(ops.ones((3, 4)), ops.ones(2))",
    "nn.SoftmaxCrossEntropyWithLogits()(ops.ones((3, 4)), ops.ones(3, ms.int32))",
    "ops.cross_entropy(ops.ones((3, 4)), ops.ones(3, ms.bool_))",
    "ops.nll_loss(ops.ones((3, 4)), ops.ones(3))",
]
