"""LeNet-5 against the original: the same losses, and the demo's accuracy."""

import importlib.util
import json
import re

import numpy as np
import pytest

from tests.examples.run import run_example
from tests.house.source import ROOT

GOLDENS = ROOT / "tests/goldens/lenet"


@pytest.fixture(scope="module")
def example():
    """Import the example as the module that it is, `import mindspore` answered."""
    import mindjax

    mindjax.install()
    spec = importlib.util.spec_from_file_location("lenet5_mnist", ROOT / "examples/lenet5_mnist.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_losses_are_the_originals(example, mode, digits):
    """From the original's checkpoint, in the original's order of batches (record_lenet.py)."""
    import mindjax as ms
    from mindjax import nn

    golden = json.loads((GOLDENS / "losses.json").read_text())
    network = example.LeNet5()
    left_over = ms.load_param_into_net(network, ms.load_checkpoint(str(GOLDENS / "initial.ckpt")))
    assert left_over == ([], [])
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.01, momentum=0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss_fn), optimizer).set_train()
    batches = example.create_dataset(str(digits), "train", shuffle=False).take(60)
    losses = [float(step(*batch).asnumpy()) for batch in batches.create_tuple_iterator()]
    np.testing.assert_allclose(losses, golden["losses"], rtol=1e-4)
    values = step.parameters_dict()
    assert list(values) == list(golden["norms"])
    norms = [np.linalg.norm(v.asnumpy().astype(np.float64)) for v in values.values()]
    np.testing.assert_allclose(norms, list(golden["norms"].values()), rtol=1e-4)


def accuracy(*words):
    """Train the example and read the accuracy that it prints."""
    return float(re.search(r"test accuracy: ([\d.]+)", run_example("lenet5_mnist.py", *words))[1])


@pytest.mark.slow
@pytest.mark.parametrize("mode_name", ["graph", "pynative"])
def test_demo_reaches_its_accuracy(mode_name, digits, tmp_path):
    words = ["--mode", mode_name, "--data", digits]
    reached = [accuracy(*words, "--seed", s, "--ckpt", tmp_path / str(s)) for s in range(1, 6)]
    assert min(reached) >= 0.95
    assert np.mean(reached) >= 0.96


@pytest.mark.slow
def test_one_epoch_leaves_a_checkpoint(digits, tmp_path):
    reached = accuracy("--data", digits, "--epochs", 2, "--ckpt", tmp_path)
    assert reached > 0.5
    assert sorted(p.name for p in tmp_path.glob("*.ckpt")) == [
        "lenet-1_125.ckpt",
        "lenet-2_125.ckpt",
    ]
