"""A network in stages over processes; those of one stage share each batch."""

import itertools
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.communication import get_group_size, get_rank, init

init()
RANK, SIZE = get_rank(), get_group_size()
ms.set_context(mode=ms.GRAPH_MODE)
SCHEDULE, STAGES = sys.argv[1], int(sys.argv[2])
PARTS = SIZE // STAGES


class Network(nn.Cell):
    """Four layers, with normalization and dropout in the first."""

    def __init__(self):
        super().__init__()
        widths = [5, 8, 9, 10, 2]
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


def train(part, parts, **settings):
    """Train on a part of each batch; give the losses, and the norm of the Parameters."""
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(**settings)
    ms.set_seed(3)
    network = Network()
    stages = {f"layers.{i}": i * STAGES // 4 for i in range(4)}
    pipelined = nn.PipelineCell(network, 4, stage_config=stages)
    optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
    step = nn.TrainOneStepCell(pipelined, optimizer)
    step.set_train()
    random = np.random.RandomState(1)
    losses = []
    for _ in range(6):
        x, y = random.randn(8 * SIZE, 5), random.randn(8 * SIZE, 2)
        x, y = (np.split(a.astype(np.float32), parts)[part] for a in (x, y))
        loss = step(Tensor(x), Tensor(y))
        losses.append(float(loss.asnumpy()))
    return losses, [p.asnumpy() for p in network.get_parameters()]


losses, parameters = train(
    RANK % PARTS,
    PARTS,
    parallel_mode="semi_auto_parallel",
    pipeline_stages=STAGES,
    dataset_strategy="data_parallel",
    pipeline_config={"pipeline_interleave": SCHEDULE != "1f1b", "pipeline_scheduler": SCHEDULE},
)
expected, alone = train(0, 1, parallel_mode="stand_alone")
np.testing.assert_allclose(losses, expected, rtol=1e-5)
for a, b in zip(parameters, alone, strict=True):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
print(f"rank {RANK} of {SIZE} is through", flush=True)
