"""Trains networks of the benchmarks on Ascend and then on CPU; prints what each gives as JSON.

Arguments: ``small`` or ``whole``, the number of steps, and the networks' names.
"""

import json
import pathlib
import sys

import numpy as np

import mindjax as ms

ms.install()
sys.path.append(str(pathlib.Path(__file__).parents[2] / "benchmarks"))
import networks  # noqa: E402

BATCHES = {"lenet5": 16, "resnet18": 8, "encoder": 2, "decoder": 2, "lstm": 4}


def batch(name, small):
    """Give inputs and labels that a network learns in few steps."""
    random, count = np.random.default_rng(0), BATCHES[name] // (2 if small else 1)
    if name in ("lenet5", "resnet18"):
        shape = (count, 1, 32, 32) if name == "lenet5" else (count, 3, 32, 32)
        return random.standard_normal(shape).astype("f"), random.integers(0, 10, count).astype("i")
    tokens = random.integers(0, 1000, (count, 128)).astype("i")
    return tokens, tokens[:, 0] % 10 if name == "lstm" else tokens.reshape(-1)


def train(target, name, small, steps):
    """Give losses of training steps, and what the trained network gives in a forward pass."""
    ms.set_device(target)
    cell = networks.training_cell(name, graph=True)
    # A step that is too long makes of the last bits of a normalization's sums another network.
    cell.optimizer.learning_rate.set_data(ms.Tensor(1e-4, ms.float32))
    x, y = (ms.Tensor(a) for a in batch(name, small))
    losses = [float(cell(x, y).asnumpy()) for _ in range(steps)]
    network = cell.network.backbone_network.set_train(False)
    given = network(x).asnumpy()
    parameter = network.trainable_params()[0].value().__jax_array__()
    return {
        "losses": losses,
        "forward": given.ravel()[:1000].tolist(),
        "platform": {d.platform for d in parameter.devices()}.pop(),
    }


def main(size, steps, names):
    """Print the results of both for each network, and what the delegate ran."""
    from mindjax_ascend import plugin
    from mindjax_ascend.compiler import compile as compiler

    small = size == "small"
    if small:
        networks.LAYERS, networks.STAGES = 1, ((32, 2),)
    for name in names:
        ours = train("Ascend", name, small, steps)
        ours["executions"] = plugin.executions()
        ours["delegated"] = [f"{c.name}: {c.delegated}" for c in compiler.compiled if c.delegated]
        print(json.dumps([name, ours, train("CPU", name, small, steps)]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
