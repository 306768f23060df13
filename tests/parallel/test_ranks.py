"""Semi-auto training under msrun: several processes run one program over all their devices."""

import subprocess
import sys

import numpy as np
import pytest

SCRIPT = """
import sys
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

data, optimizer = sys.argv[1:3]
ms.set_context(mode=ms.GRAPH_MODE)
init()
size, rank = get_group_size(), get_rank()
dp, mp = max(1, size // 2), min(2, size)
ms.set_auto_parallel_context(
    parallel_mode="semi_auto_parallel",
    dataset_strategy=((dp, 1), (dp,)) if data == "tuple" else data,
    enable_parallel_optimizer=optimizer == "shared",
    parallel_optimizer_config={"parallel_optimizer_threshold": 0},
)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        rng = np.random.RandomState(0)
        self.w1 = Parameter(Tensor(rng.randn(64, 128).astype(np.float32) * 0.1), name="w1")
        self.w2 = Parameter(Tensor(rng.randn(128, 8).astype(np.float32) * 0.1), name="w2")
        self.first = ops.MatMul().shard(((dp, 1), (1, mp)))
        self.second = ops.MatMul().shard(((dp, mp), (mp, 1)))

    def construct(self, x):
        return self.second(ops.relu(self.first(x, self.w1)), self.w2)


net = Net()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Adam(net.trainable_params(), 0.01))
rng, losses = np.random.RandomState(1), []
parts = {"full_batch": 1, "data_parallel": size, "tuple": dp}[data]
for _ in range(5):
    x = rng.randn(16, 64).astype(np.float32)
    y = rng.randint(0, 8, 16).astype(np.int32)
    mine = slice(rank * parts // size * 16 // parts, (rank * parts // size + 1) * 16 // parts)
    losses.append(float(step(Tensor(x[mine]), Tensor(y[mine])).asnumpy()))
held = net.w1.value().array.addressable_shards[0].data.nbytes
ms.save_checkpoint(net, f"{sys.argv[3]}/{rank}.ckpt")
saved = ms.load_checkpoint(f"{sys.argv[3]}/{rank}.ckpt")["w2"].asnumpy()
print("found", held, *losses, *saved[0], flush=True)
"""


def run(tmp_path, ranks, data, optimizer="whole"):
    """Give what each rank found: bytes of a Parameter, losses and a row of the checkpoint."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    arguments = [str(script), data, optimizer, str(tmp_path)]
    command = [sys.executable, "-m", "mindjax", "run"]
    logs = tmp_path / "logs"
    if ranks > 1:
        command = [sys.executable, "-m", "mindjax_parallel.launch", "--join", "True"]
        command += [f"--worker_num={ranks}", f"--local_worker_num={ranks}", f"--log_dir={logs}"]
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    texts = [done.stdout] if ranks == 1 else [p.read_text() for p in sorted(logs.glob("*worker*"))]
    lines = [line for text in texts for line in text.splitlines() if line.startswith("found")]
    assert len(lines) == ranks
    return [[float(n) for n in line.split()[1:]] for line in lines]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return run(tmp_path_factory.mktemp("alone"), 1, "full_batch")[0]


def check(alone, found, share):
    for held, *numbers in found:
        assert held == alone[0] / share
        np.testing.assert_allclose(numbers, alone[1:], rtol=1e-5, atol=1e-6)


def test_two_ranks(tmp_path, alone):
    check(alone, run(tmp_path, 2, "data_parallel"), 2)


@pytest.mark.slow
@pytest.mark.parametrize("data", ["full_batch", "data_parallel", "tuple"])
def test_four_ranks(tmp_path, alone, data):
    check(alone, run(tmp_path, 4, data), 2)


@pytest.mark.slow
def test_four_ranks_share_parameters_out(tmp_path, alone):
    check(alone, run(tmp_path, 4, "tuple", "shared"), 4)
