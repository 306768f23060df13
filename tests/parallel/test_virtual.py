"""A script for a process a device gives the same in one process over several."""

import subprocess
import sys

import numpy as np
import pytest

SCRIPT = """
import sys
import numpy as np
import mindspore as ms
from mindspore import dataset as ds, nn, train
from mindspore.communication import get_group_size, get_rank, init

ms.set_context(mode=getattr(ms, sys.argv[1]))
ms.set_seed(1)
init()
size, rank = get_group_size(), get_rank()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, device_num=size)
x = np.random.RandomState(0).randn(256, 16).astype(np.float32)
rows = {"x": x, "y": x[:, :4].argmax(1).astype(np.int32)}
data = ds.NumpySlicesDataset(rows, shuffle=False, num_shards=size, shard_id=rank).batch(64 // size)
net = nn.SequentialCell(nn.Dense(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dense(32, 4))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = train.Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics={"acc"})
model.train(2, data, dataset_sink_mode=len(sys.argv) > 2)
print(size, data.get_dataset_size())
print(model.eval(data, dataset_sink_mode=False)["acc"], *net.trainable_params()[0].asnumpy()[0])
"""


def run(tmp_path, devices, *arguments):
    """Run the script over some devices, and give what it prints as numbers."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mindjax",
            "run",
            "--devices",
            str(devices),
            str(script),
            *arguments,
        ],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    first, second = done.stdout.splitlines()[-2:]
    return [float(n) for n in first.split()], [float(n) for n in second.split()]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return run(tmp_path_factory.mktemp("alone"), 1, "GRAPH_MODE")


@pytest.mark.parametrize("arguments", [("GRAPH_MODE", "sink"), ("PYNATIVE_MODE",)], ids="-".join)
def test_as_one_device(tmp_path, alone, arguments):
    (size, *steps), expected = alone
    assert size == 1
    (size, *found_steps), found = run(tmp_path, 4, *arguments)
    assert size == 4
    assert found_steps == steps
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
