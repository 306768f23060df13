"""An article's call: fit takes the training set first and the number of epochs by name."""

import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import LossMonitor, Model

rng = np.random.RandomState(0)
inputs = rng.randn(64, 8).astype(np.float32)
labels = (inputs.sum(axis=1) > 0).astype(np.int32)
train_dataset = ds.NumpySlicesDataset((inputs, labels), ["x", "y"], shuffle=False).batch(16)

network = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 2))
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Adam(network.trainable_params(), learning_rate=0.01)
model = Model(network, loss_fn, optimizer, metrics={"accuracy"})
model.fit(train_dataset, epochs=5, callbacks=LossMonitor(4))
print(f"accuracy: {model.eval(train_dataset)['accuracy']:.3f}")
