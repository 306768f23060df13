"""Two threads call one net while a third saves it: `python -m tests.graph.threads SECONDS`."""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mindjax as ms
from mindjax import nn, ops

RATE = 2.0**-20
"""Of the steps: every weight that they make is exact."""


class Net(nn.Cell):
    """Counts its calls up and down, and doubles its argument until it is large."""

    def __init__(self) -> None:
        super().__init__()
        self.up = ms.Parameter(ms.Tensor(0, ms.int32), name="up", requires_grad=False)
        self.down = ms.Parameter(ms.Tensor(0, ms.int32), name="down", requires_grad=False)
        self.dense = nn.Dense(4, 2)
        self.weight = ms.Parameter(ms.Tensor(np.zeros(3), ms.float32), name="weight")

    def construct(self, x: Any, limit: Any) -> Any:
        self.up += 1
        self.down -= 1
        turns = 0
        while ops.abs(x).max() < limit:
            x = x * 2
            turns += 1
        return self.dense(x), turns, self.up + 0


def stress(seconds: float, folder: str, say: Callable[[str], None] = lambda text: None) -> Any:
    """Call, step and save for some time.

    Args:
        seconds: how long.
        folder: where checkpoints go.
        say: what progress is told to.

    Returns:
        The numbers of calls, steps and saved checkpoints.

    Raises:
        AssertionError: a value was wrong, or a thread failed.
    """
    net = Net()
    optimizer = nn.SGD([net.weight], RATE)
    dense, bias = net.dense.weight.asnumpy(), net.dense.bias.asnumpy()
    gradient = ms.value_and_grad(lambda: (net.weight * 4.0).sum(), None, optimizer.parameters)

    @ms.jit
    def step() -> Any:
        loss, gradients = gradient()
        optimizer(gradients)
        return loss

    end, stop = time.monotonic() + seconds, threading.Event()
    failed: list[BaseException] = []
    counts = {"calls": 0, "steps": 0, "saved": 0}
    seen: list[list[int]] = [[], []]
    lock = threading.Lock()

    def call(number: int) -> None:
        stream = np.random.default_rng(number)
        rows = 1
        while not stop.is_set():
            # A row more now and then: that is traced and compiled beside the other's calls.
            rows = 1 + int(stream.integers(2 + min(counts["calls"] // 500, 40)))
            x = stream.uniform(0.5, 1, (rows, 4)).astype(np.float32)
            limit = float(2.0 ** stream.integers(1, 12))
            found, turns, up = net(ms.Tensor(x), ms.Tensor(limit, ms.float32))
            large = x
            wanted = 0
            while np.abs(large).max() < limit:
                large, wanted = large * 2, wanted + 1
            assert turns == wanted
            np.testing.assert_allclose(found.asnumpy(), large @ dense.T + bias, 1e-4, 1e-3)
            seen[number].append(int(up.asnumpy()))
            with lock:
                counts["calls"] += 1
            if stream.integers(4) == 0:
                step()
                with lock:
                    counts["steps"] += 1

    def save() -> None:
        last = 0
        path = os.path.join(folder, "net.ckpt")
        while not stop.is_set():
            ms.save_checkpoint(net, path)
            read = ms.load_checkpoint(path)
            up = int(read["up"].asnumpy())
            assert up == -int(read["down"].asnumpy()) and up >= last
            weight = read["weight"].asnumpy()
            assert (weight == weight[0]).all() and (weight[0] / (4 * RATE)).is_integer()
            last = up
            counts["saved"] += 1

    def guarded(function: Callable[..., None], *args: Any) -> None:
        try:
            function(*args)
        except BaseException as error:
            failed.append(error)
            stop.set()

    jobs = [(call, 0), (call, 1), (save,)]
    threads = [threading.Thread(target=guarded, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    told = time.monotonic()
    latest = end + 60
    while not stop.wait(0.1):
        now = time.monotonic()
        if now > latest or (now > end and all(counts.values())):
            break
        if time.monotonic() - told > 30:
            told = time.monotonic()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            say(f"{counts}, {peak} MiB at most, {end - told:.0f} s to go")
    stop.set()
    for thread in threads:
        thread.join()
    if failed:
        raise AssertionError(f"a thread failed after {counts}") from failed[0]
    assert sorted(seen[0] + seen[1]) == list(range(1, counts["calls"] + 1))
    assert seen[0] == sorted(seen[0]) and seen[1] == sorted(seen[1])
    np.testing.assert_array_equal(net.weight.asnumpy(), [-4 * RATE * counts["steps"]] * 3)
    return counts


def main() -> None:
    """Run in GRAPH_MODE for the seconds that are asked for."""
    ms.set_context(mode=ms.GRAPH_MODE)
    with tempfile.TemporaryDirectory() as folder:
        print(stress(float(sys.argv[1]), folder, lambda text: print(text, flush=True)), flush=True)


if __name__ == "__main__":
    main()
