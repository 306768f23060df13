"""A network in as many stages as there are processes; each holds its own stage's state."""

import itertools
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.communication import get_group_size, get_rank, init

init()
RANK, SIZE = get_rank(), get_group_size()
ms.set_context(mode=ms.GRAPH_MODE)
SCHEDULE = sys.argv[1] if len(sys.argv) > 1 else "1f1b"


class Network(nn.Cell):
    """Two layers a stage, with normalization and dropout in the first."""

    def __init__(self):
        super().__init__()
        widths = [5, *[8 + i for i in range(2 * SIZE - 1)], 2]
        self.layers = nn.CellList(
            [nn.Dense(a, b, activation="tanh") for a, b in itertools.pairwise(widths)]
        )
        self.norm, self.drop, self.loss = nn.BatchNorm1d(8), nn.Dropout(p=0.2), nn.MSELoss()

    def construct(self, x, y):
        """Give the loss."""
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i == 0:
                x = self.drop(self.norm(x))
        return self.loss(x, y)


def train(**settings):
    """Give the losses, and the norm of the Parameters."""
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(**settings)
    ms.set_seed(3)
    network = Network()
    stages = {f"layers.{i}": i // 2 for i in range(2 * SIZE)}
    pipelined = nn.PipelineCell(network, 2 * SIZE, stage_config=stages)
    optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
    step = nn.TrainOneStepCell(pipelined, optimizer)
    step.set_train()
    random = np.random.RandomState(1)
    losses = []
    for _ in range(6):
        x, y = random.randn(8 * SIZE, 5), random.randn(8 * SIZE, 2)
        loss = step(Tensor(x.astype(np.float32)), Tensor(y.astype(np.float32)))
        losses.append(float(loss.asnumpy()))
    return losses, [p.asnumpy() for p in network.get_parameters()]


losses, parameters = train(
    parallel_mode="semi_auto_parallel",
    pipeline_stages=SIZE,
    dataset_strategy="full_batch",
    pipeline_config={"pipeline_interleave": SCHEDULE != "1f1b", "pipeline_scheduler": SCHEDULE},
)
expected, alone = train(parallel_mode="stand_alone")
np.testing.assert_allclose(losses, expected, rtol=1e-5)
for a, b in zip(parameters, alone, strict=True):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
print(f"rank {RANK} of {SIZE} is through", flush=True)
