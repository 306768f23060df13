"""Time the simulated platform ascend against XLA:CPU, interleaved in one process.

`python benchmarks/ascend.py` prints, for each case, the median and quartiles of both in
microseconds a call, and the ratio ascend/cpu as the median of the ratios of neighbours in time. It
says what the plugin's host costs; no NPU takes part.
"""

from __future__ import annotations

import os
import pathlib
import statistics
import sys
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "backends/ascend_xla"), str(ROOT), str(ROOT / "parallel")]
os.environ["JAX_PLATFORMS"] = "ascend,cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

ROUNDS = 40
Case = Callable[[], None]


def cases(device: jax.Device) -> dict[str, tuple[Case, int]]:
    """Build the cases for a device: a function, and how many calls it makes."""
    add = jax.jit(lambda a: a + 1)
    small = jax.device_put(np.ones((8, 8), np.float32), device)
    random = np.random.default_rng(0)
    large = jax.device_put(random.standard_normal((512, 512)).astype("f"), device)
    product = jax.jit(lambda a: a @ a)
    chain = jax.jit(lambda a: jnp.exp(jnp.tanh(a)) * a + 1)
    wide = jax.device_put(random.standard_normal(1 << 20).astype("f"), device)

    def dispatch() -> None:
        for _ in range(100):
            add(small).block_until_ready()

    def asynchronous() -> None:
        y = small
        for _ in range(200):
            y = add(y)
        y.block_until_ready()

    return {
        "x+1, waited for": (dispatch, 100),
        "x+1, a chain of 200": (asynchronous, 200),
        "512 x 512 product": (lambda: product(large).block_until_ready(), 1),
        "elementwise, 2^20": (lambda: chain(wide).block_until_ready(), 1),
        "LeNet-5 step, batch 32": (lenet5(device), 1),
    }


def lenet5(device: jax.Device) -> Case:
    """Build a training step of LeNet-5 as MindJAX compiles it."""
    import mindjax as ms
    from mindjax import nn
    from tests.ascend.train_lenet5 import LeNet5

    ms.set_context(mode=ms.GRAPH_MODE)
    target = "Ascend" if device.platform == "ascend" else "CPU"
    ms.set_device(target)
    network = LeNet5()
    optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.CrossEntropyLoss()), optimizer)
    step.set_train()
    random = np.random.default_rng(0)
    images = ms.Tensor(random.standard_normal((32, 1, 32, 32)).astype("f"))
    labels = ms.Tensor(random.integers(0, 10, 32).astype("i"))

    def run() -> None:
        ms.set_device(target)
        step(images, labels).asnumpy()

    return run


def main() -> None:
    """Time all cases and print the table."""
    both = {p: cases(jax.devices(p)[0]) for p in ("ascend", "cpu")}
    print(f"{'case':<26}{'ascend us':>24}{'cpu us':>24}{'ratio':>8}   n={ROUNDS}")
    for name in both["cpu"]:
        times: dict[str, list[float]] = {"ascend": [], "cpu": []}
        for platform in times:
            both[platform][name][0]()
        for _ in range(ROUNDS):
            for platform, seen in times.items():
                run, calls = both[platform][name]
                begin = time.perf_counter()
                run()
                seen.append((time.perf_counter() - begin) / calls * 1e6)
        ratio = statistics.median(a / c for a, c in zip(times["ascend"], times["cpu"], strict=True))
        shown = []
        for seen in times.values():
            low, middle, high = statistics.quantiles(seen, n=4)
            shown.append(f"{middle:.1f} [{low:.1f}, {high:.1f}]")
        print(f"{name:<26}{shown[0]:>24}{shown[1]:>24}{ratio:>8.2f}")


if __name__ == "__main__":
    main()
