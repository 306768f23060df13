"""Time PYNATIVE's engines on small programs and training steps, interleaved, with torch as peer.

`python benchmarks/eager.py --torch PYTHON` runs every contestant in a process of its own, pinned to
one core, and prints CPU microseconds a call: median, quartiles, and the ratio to each other
contestant as the median of the ratios of neighbours in time. `train_step.py` times whole networks.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
# Calls a round, and operations a call.
CASES = {
    "add, read": (300, 1),
    "chain of 10, read": (100, 10),
    "chain of 100, read": (20, 100),
    "x[2:4], read": (300, 1),
    "x.sum(), read": (300, 1),
    "relu, read": (300, 1),
    "reshape, read": (300, 1),
    "concat, read": (300, 1),
    "mlp value_and_grad": (60, 1),
    "mlp step": (60, 1),
    "mlp second order": (20, 1),
}


def ours(engine: str) -> dict[str, Callable[[], Any]]:
    """Build the cases for one engine, ``"graph"`` for one program a call."""
    import numpy as np

    import mindjax as ms
    from mindjax import nn, ops

    if engine == "graph":
        ms.set_context(mode=ms.GRAPH_MODE)
    else:
        ms.eager(engine)
    rng = np.random.default_rng(0)
    x, y = (ms.Tensor(rng.normal(size=(8, 8)).astype(np.float32)) for _ in "xy")
    inputs = ms.Tensor(rng.normal(size=(32, 64)).astype(np.float32))
    labels = ms.Tensor(rng.integers(0, 10, 32).astype(np.int32))
    layers = [nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 10)]
    net, loss = nn.SequentialCell(*layers), nn.CrossEntropyLoss()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    forward = lambda a, b: loss(net(a), b)  # noqa: E731
    gradient = ms.value_and_grad(forward, None, optimizer.parameters)
    twice = ms.grad(lambda a, b: (ms.grad(forward)(a, b) ** 2).sum(), None, optimizer.parameters)

    def chain(length: int) -> Any:
        z = x
        for _ in range(length // 2):
            z = (z * y) + x
        return z.asnumpy()

    def value_and_gradients() -> Any:
        # All are kept until they are there: what nobody keeps is not computed.
        found = gradient(inputs, labels)
        return found[0].asnumpy(), found

    def step() -> Any:
        value, gradients = gradient(inputs, labels)
        optimizer(gradients)
        return value.asnumpy()

    def second() -> Any:
        found = twice(inputs, labels)
        return found[0].asnumpy(), found

    return {
        "add, read": lambda: (x + y).asnumpy(),
        "chain of 10, read": lambda: chain(10),
        "chain of 100, read": lambda: chain(100),
        "x[2:4], read": lambda: x[2:4].asnumpy(),
        "x.sum(), read": lambda: x.sum().asnumpy(),
        "relu, read": lambda: ops.relu(x).asnumpy(),
        "reshape, read": lambda: x.reshape(4, 16).asnumpy(),
        "concat, read": lambda: ops.concat((x, y)).asnumpy(),
        "mlp value_and_grad": value_and_gradients,
        "mlp step": step,
        "mlp second order": second,
    }


def torchs() -> dict[str, Callable[[], Any]]:
    """Build the cases for torch."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, y, inputs = torch.randn(8, 8), torch.randn(8, 8), torch.randn(32, 64)
    labels = torch.randint(0, 10, (32,))
    layers = [nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)]
    net, loss = nn.Sequential(*layers), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)

    def chain(length: int) -> Any:
        z = x
        for _ in range(length // 2):
            z = (z * y) + x
        return z.numpy()

    def gradient() -> Any:
        optimizer.zero_grad()
        value = loss(net(inputs), labels)
        value.backward()
        return value.item()

    def step() -> Any:
        value = gradient()
        optimizer.step()
        return value

    def twice() -> Any:
        a = inputs.clone().requires_grad_()
        (first,) = torch.autograd.grad(loss(net(a), labels), a, create_graph=True)
        return torch.autograd.grad((first**2).sum(), list(net.parameters()), allow_unused=True)

    return {
        "add, read": lambda: (x + y).numpy(),
        "chain of 10, read": lambda: chain(10),
        "chain of 100, read": lambda: chain(100),
        "x[2:4], read": lambda: x[2:4].numpy(),
        "x.sum(), read": lambda: x.sum().numpy(),
        "relu, read": lambda: torch.relu(x).numpy(),
        "reshape, read": lambda: x.reshape(4, 16).numpy(),
        "concat, read": lambda: torch.cat((x, y)).numpy(),
        "mlp value_and_grad": gradient,
        "mlp step": step,
        "mlp second order": twice,
    }


def serve(contestant: str) -> None:
    """Answer each line, the name of a case, with CPU seconds a call."""
    answer = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    cases = torchs() if contestant == "torch" else ours(contestant)
    for line in sys.stdin:
        name = line.strip()
        call, count = cases[name], CASES[name][0]
        for _ in range(5):
            call()
        begin = time.process_time()
        for _ in range(count):
            call()
        print((time.process_time() - begin) / count, file=answer)


def start(contestant: str, python: str, core: int) -> subprocess.Popen[str]:
    """Start a contestant."""
    command = ["taskset", "-c", str(core), python, str(HERE / "eager.py"), "--serve", contestant]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": f"{HERE.parent}"}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


def measure(
    contestants: dict[str, subprocess.Popen[str]], names: list[str], rounds: int
) -> dict[str, dict[str, list[float]]]:
    """Run every case of every contestant in turn; give seconds a call by case and contestant."""
    times: dict[str, dict[str, list[float]]] = {n: {c: [] for c in contestants} for n in names}
    for number in range(-1, rounds):
        for name in names:
            order = list(contestants.items())
            for contestant, process in order if number % 2 else order[::-1]:
                assert process.stdin is not None and process.stdout is not None
                process.stdin.write(name + "\n")
                process.stdin.flush()
                seconds = float(process.stdout.readline())
                if number >= 0:
                    times[name][contestant].append(seconds)
        print(f"\rround {number + 1}/{rounds}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return times


def main() -> None:
    """Measure, print a table and write a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--torch", metavar="PYTHON", default=os.environ.get("MINDJAX_TORCH_PYTHON"))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--out", default=str(HERE / "results" / "eager.json"))
    args = parser.parse_args()
    if args.serve:
        serve(args.serve)
        return
    pythons = dict.fromkeys(("deferred", "op_by_op", "graph"), sys.executable)
    if args.torch:
        pythons["torch"] = args.torch
    contestants = {name: start(name, p, args.core) for name, p in pythons.items()}
    times = measure(contestants, args.cases, args.rounds)
    for process in contestants.values():
        process.kill()
    print(f"{'case':20} {'contestant':10} {'us':>8} {'an op':>7} {'quartiles':>17}  deferred/it")
    for name, rows in times.items():
        for contestant, seconds in rows.items():
            low, _, high = statistics.quantiles(seconds, n=4)
            middle = statistics.median(seconds)
            pairs = zip(rows["deferred"], seconds, strict=True)
            ratio = statistics.median(a / b for a, b in pairs)
            one = middle / CASES[name][1]
            print(
                f"{name:20} {contestant:10} {middle * 1e6:8.1f} {one * 1e6:7.2f}"
                f" {low * 1e6:8.1f}-{high * 1e6:<8.1f}  {ratio:6.2f}"
            )
    path = pathlib.Path(args.out)
    path.parent.mkdir(parents=True, exist_ok=True)
    report = {"load": os.getloadavg()[0], "rounds": args.rounds, "seconds": times}
    path.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
