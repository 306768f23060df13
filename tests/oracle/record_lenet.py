"""Record what the real MindSpore makes of examples/lenet5_mnist.py.

Run with the oracle's python, never with the project's:

    mindjax demo-data /tmp/mnist
    /path/to/oracle/bin/python tests/oracle/record_lenet.py losses /tmp/mnist
    /path/to/oracle/bin/python tests/oracle/record_lenet.py accuracy /tmp/mnist --seeds 5

Writes into tests/goldens/lenet: ``initial.ckpt`` (a checkpoint made by the original),
``losses.json`` (60 losses from it with unshuffled batches, and the norm of every weight and moment
afterwards) and ``accuracy.json`` (test accuracy of each seed after 10 epochs).
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/lenet5_mnist.py"
GOLDENS = ROOT / "tests/goldens/lenet"
STEPS = 60


def record_losses(data):
    import mindspore as ms
    import numpy as np
    from mindspore import nn

    sys.path.insert(0, str(EXAMPLE.parent))
    import lenet5_mnist

    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
    ms.set_seed(1)
    network = lenet5_mnist.LeNet5()
    initial = GOLDENS / "initial.ckpt"
    ms.save_checkpoint(network, str(initial))
    initial.chmod(0o644)
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.01, momentum=0.9)
    train_one_step = nn.TrainOneStepCell(nn.WithLossCell(network, loss_fn), optimizer).set_train()
    batches = lenet5_mnist.create_dataset(data, "train", shuffle=False).take(STEPS)
    losses = [float(train_one_step(*batch).asnumpy()) for batch in batches.create_tuple_iterator()]
    norms = {
        name: float(np.linalg.norm(value.asnumpy().astype(np.float64)))
        for name, value in train_one_step.parameters_dict().items()
    }
    return {"mindspore": ms.__version__, "mode": "GRAPH", "losses": losses, "norms": norms}


def record_accuracy(data, mode, seeds):
    import mindspore

    accuracies = {}
    for seed in range(1, seeds + 1):
        with tempfile.TemporaryDirectory() as scratch:
            command = [sys.executable, str(EXAMPLE), "--mode", mode, "--data", data]
            command += ["--seed", str(seed), "--ckpt", scratch]
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        accuracies[seed] = float(re.search(r"test accuracy: ([\d.]+)", out)[1])
        print(seed, accuracies[seed], flush=True)
    mean = sum(accuracies.values()) / len(accuracies)
    return {"mindspore": mindspore.__version__, "mode": mode, "seeds": accuracies, "mean": mean}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["losses", "accuracy"])
    parser.add_argument("data", help="folder made by mindjax demo-data")
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    GOLDENS.mkdir(parents=True, exist_ok=True)
    if args.what == "losses":
        record = record_losses(args.data)
    else:
        record = record_accuracy(args.data, args.mode, args.seeds)
    (GOLDENS / f"{args.what}.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
