"""An article's Model: the optimizer is given no parameters and trains those of the network."""

import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import LossMonitor, Model

rng = np.random.RandomState(0)
inputs = rng.randn(64, 8).astype(np.float32)
labels = (inputs.sum(axis=1) > 0).astype(np.int32)
dataset = ds.NumpySlicesDataset((inputs, labels), ["x", "y"], shuffle=False).batch(16)

network = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 2))
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(network, loss_fn, nn.Adam(), metrics={"accuracy"})
model.train(40, dataset, callbacks=LossMonitor(40))
print(f"accuracy: {model.eval(dataset)['accuracy']:.3f}")
