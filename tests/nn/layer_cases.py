"""The rows of the layer tables; they run under the original (numpy 1.26) and MindJAX alike.

A layer's Parameters get numbers made from the case's and the Parameter's name, so both frameworks
have the same ones.
"""

from __future__ import annotations

import dataclasses
import zlib

import numpy as np

from tests.ops.table import Arr, f32, i32, lit, pos, unit

X = f32(2, 3)
IMG = f32(2, 3, 7, 6)
SEQ = f32(2, 3, 8)
LOGITS = f32(4, 5)
CLASSES = lit([1, 0, 4, 2], "i32")
SIGNS = lit([1, -1, 1, 1], "i32")
PROBS = unit(4, 5)
AB = (f32(4, 5), f32(4, 5))


# The original's tanh is off by up to 6e-5, its exponential by 2e-5, and their gradients by more:
# greatest differences of these rows. Each is compared with its own float64 form as well.
ROUGH = {
    "nn.Dense(3, 4, activation='tanh')": 5e-4,
    "nn.Tanh()  # 2": 6e-5,
    "mint.nn.Tanh()  # 2": 3e-5,
    "nn.Tanhshrink()  # 2": 3e-5,
    "nn.Mish()  # 2": 6e-5,
    "nn.MultiClassDiceLoss()": 4e-5,
    "nn.MultiClassDiceLoss(ignore_indiex=1, activation='sigmoid')": 2e-5,
    "nn.MSSSIM(1.0, [0.5], 3, 1.5, 0.02, 0.01)": 4e-5,
    "nn.Transformer(8, 2, 2, 1, 4, activation='gelu', batch_first=True)": 3e-5,
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 4, 0.0), 2)": 2e-5,
    # Their gradients lose two digits more than their outputs, on some processors' vectors.
    "nn.TransformerDecoderLayer(8, 4, 4, 0.0)": 2e-5,
    "nn.Transformer(8, 2, 1, 1, 4, 0.0)": 5e-5,
    "nn.MultiheadAttention(8, 2, 0.0, False, kdim=5, vdim=6)": 3e-5,
}
ROUGH_KINDS = ("nn.RNN", "nn.GRU", "nn.LSTM")


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer, its inputs and whether it trains.

    Attributes:
        make: expression with ``nn``, ``ms`` and ``np`` that makes the Cell.
        inputs: described arrays.
        train: run it with ``set_train()``.
        grad: compare gradients of Float32 inputs and trainable Parameters.
        call: expression of a function of the Cell and the inputs; None calls the Cell with them.
        eager: compare gradients in PYNATIVE too.
        graph: the original runs it in GRAPH only; it has one output.
    """

    make: str
    inputs: tuple[Arr, ...]
    train: bool = False
    grad: bool = True
    call: str | None = None
    eager: bool = False
    graph: bool = False

    @property
    def name(self) -> str:
        """Give the key in the goldens."""
        call = f" by {self.call}" if self.call else ""
        return self.make + (" train" if self.train else "") + call

    def arrays(self) -> list[np.ndarray]:
        """Make the inputs."""
        return [a.make(zlib.crc32(f"{self.name}/{i}".encode())) for i, a in enumerate(self.inputs)]

    def parameter(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Make a Parameter's value; variances are above 0."""
        kind = pos if "var" in name else f32
        return kind(*shape).make(zlib.crc32(f"{self.name}/{name}".encode()))

    @property
    def rel(self) -> float:
        """Give the greatest difference relative to a tensor's greatest element."""
        kind = 1e-3 if self.make.startswith(ROUGH_KINDS) else 1e-5
        return ROUGH.get(self.make, kind)

    def bound(self, want: np.ndarray) -> float:
        """Give the greatest difference from a golden array; 5e-7 where terms of size 1 cancel."""
        largest = float(np.abs(want[np.isfinite(want)]).max(initial=0))
        return max(self.rel * largest, 5e-7) if want.dtype.kind == "f" else 0.0

    def sens(self, shape: tuple[int, ...]) -> np.ndarray:
        """Make the weights of the output in the loss."""
        return Arr(shape, "f32", 0.5, 1.5).make(zlib.crc32(f"{self.name}/sens".encode()))


LAYERS = [
    Layer("nn.Dense(3, 4)", (X,)),
    Layer("nn.Dense(3, 4, has_bias=False)", (f32(2, 5, 3),)),
    Layer("nn.Dense(3, 4, activation='tanh')", (f32(3),)),
    Layer("nn.Dense(3, 4, activation=nn.ReLU())", (X,)),
    Layer("nn.Conv1d(3, 4, 3)", (SEQ,)),
    Layer("nn.Conv1d(3, 4, 3, 2, 'pad', 1, has_bias=True)", (SEQ,)),
    Layer("nn.Conv1d(3, 6, 2, pad_mode='valid', dilation=2, group=3)", (SEQ,)),
    Layer("nn.Conv2d(3, 4, 3)", (IMG,)),
    Layer("nn.Conv2d(3, 4, (3, 2), (2, 1), 'valid', has_bias=True)", (IMG,)),
    Layer("nn.Conv2d(3, 4, 3, 2, 'pad', (1, 0, 2, 1))", (IMG,)),
    Layer("nn.Conv2d(3, 6, 3, pad_mode='same', dilation=2, group=3)", (IMG,)),
    Layer("nn.Conv2dTranspose(3, 4, 3)", (f32(2, 3, 4, 3),)),
    Layer("nn.Conv2dTranspose(3, 4, 3, 2, has_bias=True)", (f32(2, 3, 4, 3),)),
    Layer("nn.Conv2dTranspose(3, 4, 2, 3, 'valid')", (f32(2, 3, 4, 3),)),
    Layer("nn.Conv2dTranspose(3, 4, 3, 2, 'pad', 1, 1)", (f32(2, 3, 4, 3),)),
    Layer("nn.Conv3d(2, 3, 2, pad_mode='valid')", (f32(1, 2, 3, 4, 3),)),
    Layer("nn.MaxPool2d(2, 2)", (IMG,)),
    Layer("nn.MaxPool2d(3, 2, 'same')", (IMG,)),
    Layer("nn.MaxPool2d(3, 2, 'pad', 1, ceil_mode=True)", (IMG,)),
    Layer("nn.MaxPool2d((2, 3), (1, 2))", (f32(3, 7, 6),)),
    Layer("nn.MaxPool1d(2, 2)", (SEQ,)),
    Layer("nn.MaxPool1d(3, 2, 'pad', 1)", (SEQ,)),
    Layer("nn.AvgPool2d(2, 2)", (IMG,)),
    Layer("nn.AvgPool2d(3, 2, 'same')", (IMG,)),
    Layer("nn.AvgPool2d(3, 2, 'pad', 1)", (IMG,)),
    Layer("nn.AvgPool2d(3, 2, 'pad', 1, count_include_pad=False)", (IMG,)),
    Layer("nn.AvgPool2d(3, 2, ceil_mode=True)", (IMG,), grad=False),
    Layer("nn.AvgPool2d(2, 2, divisor_override=3)", (IMG,)),
    Layer("nn.AvgPool1d(3, 2)", (SEQ,)),
    Layer("nn.AvgPool1d(3, 2, 'same')", (SEQ,)),
    Layer("nn.AdaptiveAvgPool1d(4)", (SEQ,)),
    Layer("nn.AdaptiveAvgPool2d(3)", (IMG,)),
    Layer("nn.AdaptiveAvgPool2d((None, 2))", (IMG,)),
    Layer("nn.AdaptiveMaxPool1d(4)", (SEQ,)),
    Layer("nn.AdaptiveMaxPool2d(2)", (f32(2, 3, 6, 4),)),
    Layer("nn.PixelShuffle(2)", (f32(2, 4, 3, 2),)),
    Layer("nn.PixelUnshuffle(2)", (f32(2, 1, 4, 6),)),
    Layer("nn.ChannelShuffle(3)", (f32(2, 6, 3, 2),), grad=False),
    Layer("nn.Upsample((6, 5), mode='bilinear')", (IMG,)),
    Layer("nn.MaxPool3d(2, 2)", (f32(1, 2, 4, 5, 4),)),
    Layer("nn.MaxPool3d(2, 1, 'pad', 1, return_indices=True)", (f32(2, 3, 4, 4),), grad=False),
    Layer("nn.AvgPool3d(2, 2, 'same')", (f32(1, 2, 4, 5, 4),)),
    Layer("nn.AvgPool3d((1, 2, 2), 2, 'pad', (0, 1, 0), True, False)", (f32(2, 3, 4, 4),)),
    Layer("nn.AdaptiveAvgPool3d((2, None, 2))", (f32(1, 2, 4, 5, 4),)),
    Layer("nn.AdaptiveMaxPool3d(2)", (f32(1, 2, 4, 5, 4),)),
    Layer("nn.LPPool1d(2, 3, 2)", (pos(2, 3, 8),)),
    Layer("nn.LPPool2d(2, (2, 3))", (pos(2, 3, 7, 6),)),
    Layer("nn.MaxUnpool1d(2)", (f32(1, 1, 3), lit([[[1, 3, 4]]], "i64"))),
    Layer("nn.MaxUnpool2d(2)", (f32(1, 1, 1, 2), lit([[[[1, 6]]]], "i64"))),
    Layer("nn.MaxUnpool3d(2)", (f32(1, 1, 1, 1, 2), lit([[[[[1, 14]]]]], "i64"))),
    Layer("nn.ConstantPad1d((1, 2), 0.5)", (SEQ,)),
    Layer("nn.ConstantPad2d((1, 2, 0, 1), 2.0)", (IMG,)),
    Layer("nn.ConstantPad3d(1, 1.5)", (f32(1, 2, 2, 3, 2),)),
    Layer("nn.ReflectionPad1d((2, 1))", (SEQ,)),
    Layer("nn.ReflectionPad2d((2, 1, 0, 3))", (IMG,)),
    Layer("nn.ReflectionPad3d(1)", (f32(1, 2, 2, 3, 2),)),
    Layer("nn.ReplicationPad1d((2, 1))", (SEQ,)),
    Layer("nn.ReplicationPad2d((2, 1, 0, 3))", (IMG,)),
    Layer("nn.ReplicationPad3d(1)", (f32(1, 2, 2, 3, 2),)),
    Layer("nn.ZeroPad2d((1, -1, 2, 0))", (IMG,)),
    Layer("nn.BatchNorm1d(3)", (f32(4, 3),)),
    Layer("nn.BatchNorm1d(3)", (f32(4, 3),), train=True),
    Layer("nn.BatchNorm2d(3)", (IMG,)),
    Layer("nn.BatchNorm2d(3)", (IMG,), train=True),
    Layer("nn.BatchNorm2d(3, eps=0.01, momentum=0.6, affine=False)", (IMG,), train=True),
    Layer("nn.BatchNorm2d(3, use_batch_statistics=True)", (IMG,)),
    Layer("nn.BatchNorm2d(3, use_batch_statistics=False)", (IMG,), train=True),
    Layer("nn.LayerNorm((4,))", (f32(2, 3, 4),)),
    Layer("nn.LayerNorm([3, 4], 1, 1, epsilon=0.01)", (f32(2, 3, 4),)),
    Layer("nn.GroupNorm(2, 4)", (f32(2, 4, 3, 3),)),
    Layer("nn.Dropout(p=0.4)", (X,)),
    Layer("nn.Dropout(keep_prob=1.0)", (X,), train=True),
    Layer("nn.Dropout2d(p=0.4)", (IMG,)),
    Layer("nn.Embedding(5, 3)", (i32(2, 4, lo=0, hi=5),)),
    Layer("nn.Embedding(5, 3, True)", (i32(2, 4, lo=0, hi=5),)),
    Layer("nn.Flatten()", (IMG,)),
    Layer("nn.Flatten(1, 2)", (IMG,)),
    Layer("nn.Identity()", (X,)),
    Layer("nn.OneHot(depth=4)", (i32(3, lo=0, hi=4),), grad=False),
    Layer("nn.ReLU()", (X,)),
    Layer("nn.ReLU6()", (f32(3, 4, lo=-8, hi=8),)),
    Layer("nn.LeakyReLU()", (X,)),
    Layer("nn.PReLU(3)", (IMG,)),
    Layer("nn.ELU()", (X,)),
    Layer("nn.CELU(2.0)", (X,)),
    # The original's gradient below 0 is not that of the function.
    Layer("nn.SeLU()", (X,), grad=False),
    Layer("nn.GELU()", (X,)),
    Layer("nn.GELU(approximate=False)", (X,)),
    Layer("nn.FastGelu()", (X,)),
    Layer("nn.SiLU()", (X,)),
    Layer("nn.Sigmoid()", (X,)),
    Layer("nn.LogSigmoid()", (X,)),
    Layer("nn.HSigmoid()", (f32(3, 4, lo=-4, hi=4),)),
    Layer("nn.HSwish()", (f32(3, 4, lo=-4, hi=4),)),
    Layer("nn.Softmax(0)", (X,)),
    Layer("nn.LogSoftmax()", (X,)),
    Layer("nn.Softmin()", (X,)),
    Layer("nn.Softmax2d()", (IMG,)),
    Layer("nn.Softsign()", (X,)),
    Layer("nn.Mish()", (X,)),
    Layer("nn.Tanh()", (X,)),
    Layer("nn.Tanhshrink()", (X,)),
    Layer("nn.Hardtanh(-0.5, 1)", (X,)),
    Layer("nn.HShrink()", (X,)),
    Layer("nn.SoftShrink()", (X,)),
    Layer("nn.Threshold(0.1, 20.0)", (X,)),
    Layer("nn.GLU()", (f32(2, 4),)),
    Layer("nn.get_activation('relu6')", (X,)),
    Layer("nn.MSELoss()", AB),
    Layer("nn.MSELoss('sum')", (f32(4, 5), f32(5))),
    Layer("nn.L1Loss('none')", AB),
    Layer("nn.RMSELoss()", AB),
    Layer("nn.MAELoss()", AB),
    Layer("nn.SmoothL1Loss()", AB),
    Layer("nn.SmoothL1Loss(0.5, 'mean')", AB),
    Layer("nn.HuberLoss(delta=0.5)", AB),
    Layer("nn.SoftmaxCrossEntropyWithLogits(True, 'mean')", (LOGITS, CLASSES)),
    Layer("nn.SoftmaxCrossEntropyWithLogits(True, 'sum')", (LOGITS, CLASSES)),
    Layer("nn.SoftmaxCrossEntropyWithLogits(True)", (LOGITS, CLASSES)),
    Layer("nn.SoftmaxCrossEntropyWithLogits(reduction='mean')", (LOGITS, PROBS)),
    Layer("nn.CrossEntropyLoss()", (LOGITS, CLASSES)),
    Layer("nn.CrossEntropyLoss(ignore_index=4, label_smoothing=0.1)", (LOGITS, CLASSES)),
    Layer("nn.CrossEntropyLoss(reduction='sum')", (f32(2, 5, 3), i32(2, 3, lo=0, hi=5))),
    Layer("nn.CrossEntropyLoss()", (LOGITS, CLASSES), train=True),
    Layer("nn.NLLLoss()", (LOGITS, CLASSES)),
    Layer("nn.BCELoss()", (PROBS, PROBS), grad=False),
    Layer("nn.BCEWithLogitsLoss()", (LOGITS, PROBS), grad=False),
    Layer("nn.KLDivLoss()", (LOGITS, PROBS), grad=False),
    Layer("nn.KLDivLoss('batchmean')", (LOGITS, PROBS), grad=False),
    Layer("nn.DiceLoss()", (PROBS, PROBS)),
    Layer("nn.CosineEmbeddingLoss(0.2)", (f32(4, 5), f32(4, 5), SIGNS), grad=False),
    Layer("nn.MarginRankingLoss(0.3)", (f32(4), f32(4), f32(4)), grad=False),
    Layer("nn.HingeEmbeddingLoss()", (f32(4), lit([1.0, -1.0, 1.0, 1.0])), grad=False),
    Layer("nn.GaussianNLLLoss(full=True)", (f32(4), f32(4), pos(4)), grad=False),
    Layer("nn.PoissonNLLLoss()", AB, grad=False),
    Layer("nn.MultiLabelSoftMarginLoss()", (LOGITS, PROBS), grad=False),
    Layer("nn.MultiheadAttention(8, 2)", (f32(4, 2, 8), f32(5, 2, 8), f32(5, 2, 8))),
    Layer("nn.MultiheadAttention(8, 2, batch_first=True)", (f32(2, 4, 8),) * 3),
    Layer("nn.TransformerEncoderLayer(8, 2, 16, 0.0)", (f32(4, 2, 8),)),
    Layer("nn.TransformerEncoderLayer(8, 2, 16, 0.0, 'gelu', norm_first=True)", (f32(4, 2, 8),)),
]

MINT = [
    Layer("mint.nn.Linear(3, 4)", (X,)),
    Layer("mint.nn.GroupNorm(2, 4)", (f32(2, 4, 3, 3),)),
    Layer("mint.nn.SiLU()", (X,)),
    Layer("mint.nn.Softmax()", (X,)),
    Layer("mint.nn.NLLLoss()", (LOGITS, lit([1, 0, 4, 2], "i64"))),
    Layer("mint.nn.SmoothL1Loss()", AB),
    Layer("mint.nn.BCEWithLogitsLoss()", (LOGITS, PROBS), grad=False),
]

CALLS = {
    "x22": "ms.Tensor(np.ones((2, 2), np.float32))",
    "img": "ms.Tensor(np.ones((2, 3, 5, 5), np.float32))",
    "labels3": "ms.Tensor(np.ones(3, np.int32))",
    "labels2": "ms.Tensor(np.ones(2, np.float32))",
}

ERRORS = [
    "nn.Dense(0, 3)",
    "nn.Dense(-1, 3)",
    "nn.Dense(3.0, 3)",
    "nn.Dense(True, 3)",
    "nn.Dense(3, 'a')",
    "nn.Dense(3, 3, has_bias=1)",
    "nn.Dense(3, 3, activation=3)",
    "nn.Dense(3, 3, activation='nope')",
    "nn.Dense(3, 3, weight_init=ms.Tensor(np.ones((4, 3), np.float32)))",
    "nn.Dense(3, 3, bias_init=ms.Tensor(np.ones(4, np.float32)))",
    "nn.Dense(4, 3)(x22)",
    "nn.Dense(2, 3)(x22.astype(ms.float16))",
    "nn.Conv2d(-1, 4, 3)",
    "nn.Conv2d(3, 0, 3)",
    "nn.Conv2d(3, 4, 0)",
    "nn.Conv2d(3, 4, 'a')",
    "nn.Conv2d(3, 4, (3, 3, 3))",
    "nn.Conv2d(3, 4, 3, stride=0)",
    "nn.Conv2d(3, 4, 3, pad_mode='nope')",
    "nn.Conv2d(3, 4, 3, padding=1)",
    "nn.Conv2d(3, 4, 3, padding=-1, pad_mode='pad')",
    "nn.Conv2d(3, 4, 3, padding=(1, 1), pad_mode='pad')",
    "nn.Conv2d(3, 4, 3, padding='a', pad_mode='pad')",
    "nn.Conv2d(3, 4, 3, dilation=0)",
    "nn.Conv2d(3, 4, 3, group=2)",
    "nn.Conv2d(3, 4, 3, group=0)",
    "nn.Conv2d(3, 4, 3, data_format='NCDHW')",
    "nn.Conv2d(3, 4, 3, has_bias=1)",
    "nn.Conv2d(3, 4, 3, weight_init='nope')",
    "nn.Conv2d(2, 4, 3)(img)",
    "nn.Conv2d(3, 4, 3)(x22)",
    "nn.Conv2d(3, 4, 3)(img.astype(ms.float16))",
    "nn.Conv2d(3, 4, 7, pad_mode='valid')(img)",
    "nn.Conv1d(3, 4, (3,))",
    "nn.Conv2dTranspose(3, 4, 3, padding=1)",
    "nn.MaxPool2d(0)",
    "nn.MaxPool2d('a')",
    "nn.MaxPool2d((2, 2, 2))",
    "nn.MaxPool2d(2, 0)",
    "nn.MaxPool2d(2, pad_mode='nope')",
    "nn.MaxPool2d(2, padding=1)",
    "nn.MaxPool2d(2, ceil_mode=True)",
    "nn.MaxPool2d(2)(x22)",
    "nn.MaxPool2d(7)(img)",
    "nn.AvgPool2d(0)",
    "nn.AdaptiveAvgPool2d('a')",
    "nn.AdaptiveAvgPool2d(-1)",
    "nn.BatchNorm2d(0)",
    "nn.BatchNorm2d(3.0)",
    "nn.BatchNorm2d(3, momentum=-1)",
    "nn.BatchNorm2d(3, data_format='X')",
    "nn.BatchNorm2d(3, use_batch_statistics=3)",
    "nn.BatchNorm2d(3)(x22)",
    "nn.BatchNorm2d(5)(img)",
    "nn.BatchNorm1d(3)(img)",
    "nn.LayerNorm(3)",
    "nn.LayerNorm((4,))(x22)",
    "nn.GroupNorm(3, 4)",
    "nn.GroupNorm(0, 4)",
    "nn.GroupNorm(2, 4, eps=-1)",
    "nn.GroupNorm(2, 4)(img)",
    "nn.Dropout(keep_prob=0)",
    "nn.Dropout(p=1.0)",
    "nn.Dropout(p='a')",
    "nn.Dropout2d(p=2)",
    "nn.Embedding(0, 3)",
    "nn.Embedding(4, 3, padding_idx=9)",
    "nn.Embedding(4, 3, use_one_hot=1)",
    "nn.Embedding(4, 3)(x22)",
    "nn.Softmax('a')",
    "nn.Softmax(5)(x22)",
    "nn.GELU(approximate=3)",
    "nn.PReLU(0)",
    "nn.PReLU(1, w='a')",
    "nn.HShrink('a')",
    "nn.Hardtanh(2, 1)",
    "nn.get_activation('nope')",
    "nn.SoftmaxCrossEntropyWithLogits(sparse=1)",
    "nn.SoftmaxCrossEntropyWithLogits(reduction='x')",
    "nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')(x22, labels3)",
    "nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')(x22, labels2)",
    "nn.SoftmaxCrossEntropyWithLogits(sparse=True)(x22, 3)",
    "nn.CrossEntropyLoss(label_smoothing=2)",
    "nn.CrossEntropyLoss(weight=3)",
    "nn.CrossEntropyLoss(ignore_index='a')",
    "nn.CrossEntropyLoss(reduction='a')",
    "nn.CrossEntropyLoss()(x22, labels3)",
    "nn.CrossEntropyLoss()(x22, labels2)",
    "nn.MSELoss('x')",
    "nn.MSELoss('none')(x22, 3.0)",
    "nn.L1Loss()(x22, img)",
    "nn.BCELoss(reduction='x')",
    "nn.NLLLoss(reduction='x')",
    "nn.HuberLoss('x')",
    "nn.CosineEmbeddingLoss(margin='a')",
    "nn.MultiheadAttention(8, 3)",
    "mint.nn.Linear(0, 4)",
    "mint.nn.Conv2d(3, 4, 3, padding='x')",
    "mint.nn.BatchNorm2d(3)(x22)",
]
