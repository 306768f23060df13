"""A user's mistakes end in the original's error class, in one line with the user's file and line.

The classes and phrases are those of MindSpore 2.10.0 in both of its modes. `# here` marks the line
that the message must name: the original's traceback shows the same one, but for `batch(-1)`, which
the original accepts until its first row.
"""

import builtins
import os
import pickle
import struct
import subprocess
import sys
import traceback

import numpy as np
import pytest

from tests.examples.run import ENVIRONMENT

IMPORTS = """\
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops, Tensor

def ones(*shape, dtype=np.float32):
    return Tensor(np.ones(shape, dtype))

def rows(labels, size=4):
    data = ds.NumpySlicesDataset((np.ones((8, 4), np.float32), labels), ["x", "y"])
    return data.batch(size)

def train(net, loss, data, **words):
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return ms.Model(net, loss, optimizer, **words).train(1, data)
"""

# name, class, a phrase of the original's message, script
MISTAKES = [
    (
        "channels",
        "RuntimeError",
        "For 'Conv2D', 'C_in' of input 'x' shape divide by parameter 'group' must be equal to",
        'nn.Conv2d(1, 6, 5, pad_mode="valid")(ones(2, 3, 28, 28))  # here',
    ),
    (
        "channels in a net",
        "RuntimeError",
        "but got 'C_in' of input 'x' shape: 3, and 'group': 1",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.relu = nn.ReLU()

    def construct(self, x):
        x = self.conv(x)  # here
        return self.relu(x)

Net()(ones(2, 3, 28, 28))
""",
    ),
    (
        "features of Dense",
        "ValueError",
        "For 'MatMul' the input dimensions must be equal, but got 'x1_col': 3 and 'x2_row': 4",
        "nn.Dense(4, 2)(ones(2, 3))  # here",
    ),
    (
        "channels of BatchNorm",
        "ValueError",
        "scale.shape[0] should be equal to input_x's channel dimension: 3",
        "nn.BatchNorm2d(4).set_train()(ones(2, 3, 5, 5))  # here",
    ),
    (
        "dtype of the input",
        "TypeError",
        "got 'x1' with type Tensor[Int32] and 'x2' with type Tensor[Float32]",
        "nn.Dense(4, 2)(ones(2, 4, dtype=np.int32))  # here",
    ),
    (
        "label dtype",
        "TypeError",
        "must be a type of {Tensor[Int32], Tensor[Int64]}, but got Tensor[Float32]",
        "nn.SoftmaxCrossEntropyWithLogits(sparse=True)(ones(2, 3), ones(2))  # here",
    ),
    (
        "label dtype in training",
        "TypeError",
        "must be a type of {Tensor[Int32], Tensor[Int64]}, but got Tensor[Float32]",
        """
data = rows(np.ones(8, np.float32))
train(nn.Dense(4, 3), nn.SoftmaxCrossEntropyWithLogits(sparse=True), data)  # not here
""".replace("  # not here", "")
        + "",
    ),
    (
        "label dtype of CrossEntropyLoss",
        "TypeError",
        "For 'CrossEntropyLoss', the 'labels' should be Int32",
        "nn.CrossEntropyLoss()(ones(2, 3), ones(2))  # here",
    ),
    (
        "label shape",
        "ValueError",
        "but got 'label' shape: (2, 4), 'logits' shape: (2, 3)",
        "nn.SoftmaxCrossEntropyWithLogits()(ones(2, 3), ones(2, 4))  # here",
    ),
]
