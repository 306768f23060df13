"""DistributedDataParallel: averaged, accumulated and unused gradients, against one process."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.mint.distributed import get_rank, get_world_size, init_process_group
from mindspore.parallel.distributed import DistributedDataParallel

init_process_group()
RANK, SIZE = get_rank(), get_world_size()
ROWS = 12


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Dense(5, 8), nn.Dense(8, 2), nn.Dense(8, 2)

    def construct(self, x, other):
        x = ops.tanh(self.first(x))
        # Ranks that do not use the same Parameters.
        return self.third(x) if other else self.second(x)


def check(name, got, expected):
    for p, (a, b) in enumerate(zip(got, expected, strict=True)):
        np.testing.assert_allclose(
            a.asnumpy(), np.asarray(b), rtol=1e-5, atol=1e-6, err_msg=f"{name} {p}"
        )


def batch(seed):
    random = np.random.RandomState(seed)
    return random.randn(ROWS, 5).astype(np.float32), random.randn(ROWS, 2).astype(np.float32)


def gradients(net, x, y, other=False):
    def loss(x, y):
        return ops.square(net(x, other) - y).mean()

    weights = list(net.trainable_params())
    return ms.value_and_grad(loss, None, weights)(Tensor(x), Tensor(y))[1]


ms.set_seed(10 + RANK)
alone = Network()
for settings in ({}, {"average_in_collective": True, "bucket_cap_mb": 1, "static_graph": True}):
    net = DistributedDataParallel(Network(), **settings)
    for mine, shared in zip(alone.get_parameters(), net.module.get_parameters(), strict=True):
        mine.set_data(shared)
    share = slice(RANK * ROWS // SIZE, (RANK + 1) * ROWS // SIZE)
    (x, y), (u, v) = batch(1), batch(2)
    whole, more = gradients(alone, x, y), gradients(alone, u, v)
    check("mean", gradients(net, x[share], y[share]), whole)
    net.zero_grad()
    with net.no_sync():
        gradients(net, x[share], y[share])
    both = [a + b for a, b in zip(whole, more, strict=True)]
    check("accumulated", gradients(net, u[share], v[share]), both)
    net.zero_grad()
    expected = [
        sum(g.asnumpy() for g in parts) / SIZE
        for parts in zip(*(gradients(alone, x, y, i == 0) for i in range(SIZE)), strict=True)
    ]
    check("unused", gradients(net, x, y, RANK == 0), expected)
print(f"rank {RANK} of {SIZE} is through", flush=True)
