"""Makes and runs MindIR files; under the original's Python, and under ours with MindJAX installed.

PYTHON exchange.py make FOLDER [NAME ...]     exports networks, with their inputs and outputs
PYTHON exchange.py run FOLDER OUT [NAME ...]  loads them, writes outputs, exports them again
"""

import os
import sys
import traceback
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "examples")]
sys.path.append(str(ROOT))
if "--mindjax" in sys.argv:
    sys.argv.remove("--mindjax")
    import mindjax

    mindjax.install()

import mindspore as ms  # noqa: E402
import networks  # noqa: E402
import numpy as np  # noqa: E402
from bert_tiny_pretrain import TinyBert  # noqa: E402
from llama_tiny import Decoder, Llama  # noqa: E402
from mindspore import Tensor, nn  # noqa: E402

from tests.mindir.networks import Condition, Loop, Volumes  # noqa: E402

STEPS = 2
# Ours alone writes the older dialect.
OPTIONS = {"dialect": int(os.environ["DIALECT"])} if "DIALECT" in os.environ else {}


def step(network, adam=False):
    weights = network.trainable_params()
    optimizer = nn.Adam(weights, 0.01) if adam else nn.Momentum(weights, 0.1, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer).set_train()


RANDOM = np.random.RandomState(0)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def integers(most, *shape):
    return RANDOM.randint(0, most, shape).astype(np.int32)


def network(name):
    return networks.NETWORKS[name]()


CASES = {
    "lenet5": lambda: (network("lenet5"), [floats(2, 1, 32, 32)]),
    "resnet18": lambda: (network("resnet18").set_train(False), [floats(2, 3, 32, 32)]),
    "encoder": lambda: (network("encoder"), [integers(1000, 2, 8)]),
    "decoder": lambda: (network("decoder"), [integers(1000, 1, 128)]),
    "volumes": lambda: (Volumes(), [floats(2, 2, 5, 9, 7)]),
    "lstm": lambda: (network("lstm"), [integers(1000, 2, 6)]),
    "branch": lambda: (Condition(), [floats(2, 3) + 1, floats(2, 3)]),
    "while": lambda: (Loop(), [floats(2, 4), np.array(5, np.int32)]),
    "bert_tiny": lambda: (TinyBert(50, 12, 16, 2, 2), [integers(50, 2, 12), integers(12, 2, 3)]),
    "llama_tiny": lambda: (Llama(50, 16, 2, 4, 2, 12), [integers(50, 2, 10)]),
    "llama_cached": lambda: (
        Decoder(Llama(50, 16, 2, 4, 2, 12)),
        [integers(50, 1, 1), np.array(3, np.int32)],
    ),
    "lenet5_step": lambda: (
        step(network("lenet5")),
        [floats(2, 1, 32, 32), integers(10, 2)],
    ),
    "lenet5_adam": lambda: (
        step(network("lenet5"), True),
        [floats(2, 1, 32, 32), integers(10, 2)],
    ),
}


def flat(value):
    if isinstance(value, tuple | list):
        return [a for v in value for a in flat(v)]
    return [value.asnumpy()]


def outputs(net, inputs):
    return [a for _ in range(STEPS) for a in flat(net(*map(Tensor, inputs)))]


def save(path, inputs, values):
    arrays = {f"i{k}": a for k, a in enumerate(inputs)}
    np.savez(path, **arrays, **{f"o{k}": a for k, a in enumerate(values)})


def make(folder, names):
    """Export networks with fixed weights."""
    for name in names or CASES:
        net, inputs = CASES[name]()
        weights = np.random.RandomState(1)
        for parameter in net.get_parameters():
            if not parameter.name.startswith(("global_step", "beta", "learning", "mom")):
                noise = weights.standard_normal(parameter.shape).astype(np.float32) * 0.05
                base = 1.0 if "gamma" in parameter.name or "variance" in parameter.name else 0.0
                parameter.set_data(Tensor(np.abs(noise) + base if base else noise))
        try:
            path = os.path.join(folder, name)
            ms.export(net, *map(Tensor, inputs), file_name=path, file_format="MINDIR", **OPTIONS)
            save(path + ".npz", inputs, outputs(net, inputs))
        except Exception:
            traceback.print_exc(limit=-2)


def run(folder, out, names):
    """Load files, write what they compute, and export them again."""
    for path in sorted(Path(folder).glob("*.mindir")):
        if names and path.stem not in names:
            continue
        with np.load(path.with_suffix(".npz")) as file:
            inputs = [file[f"i{k}"] for k in range(sum(f[0] == "i" for f in file.files))]
        target = os.path.join(out, path.stem)
        try:
            net = nn.GraphCell(ms.load(str(path)))
            ms.export(net, *map(Tensor, inputs), file_name=target, file_format="MINDIR")
        except Exception as error:
            print(path.stem, "is not exported again:", str(error)[:200])
        try:
            net = nn.GraphCell(ms.load(str(path)))
            save(target + ".npz", inputs, outputs(net, inputs))
        except Exception:
            traceback.print_exc(limit=-2)


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    command, *rest = sys.argv[1:]
    if command == "make":
        make(rest[0], rest[1:])
    else:
        run(rest[0], rest[1], rest[2:])
