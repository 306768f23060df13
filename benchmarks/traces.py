"""Time steps whose ops differ from every other step's, under both engines of PYNATIVE.

`python benchmarks/traces.py` runs each engine in a process of its own, a block of steps of each in
turn, and prints processor time a step with quartiles over the blocks, and the ratio of deferred to
op_by_op as the median of the blocks' ratios. A step is `value_and_grad` of a layer and eleven
branches; no two take the same ones.
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

HERE = pathlib.Path(__file__).resolve().parent
ENGINES = ("deferred", "op_by_op")
# Every step takes its branches by the bits of its number.
BRANCHES = 11


def serve(engine: str) -> None:
    """Answer each line, the first step and the end, with processor seconds a step."""
    import numpy as np

    import mindjax as ms
    from mindjax import nn, ops

    answer = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    ms.eager(engine)
    net = nn.Dense(4, 4)

    def branching(a: ms.Tensor, number: int) -> ms.Tensor:
        b = net(a)
        for k in range(BRANCHES):
            b = b * 1.5 if number >> k & 1 else ops.tanh(b + 0.5)
        return (b * b).mean()

    step = ms.value_and_grad(branching, None, net.trainable_params())
    x = ms.Tensor(np.ones((2, 4), np.float32))
    for line in sys.stdin:
        first, end = map(int, line.split())
        begin = time.process_time()
        for number in range(first, end):
            value, grads = step(x, number)
            assert np.isfinite(float(value)) and np.isfinite(grads[0].asnumpy()).all()
        print((time.process_time() - begin) / (end - first), file=answer)


def main() -> None:
    """Measure, print a table and write a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--steps", type=int, default=2000, help=f"at most {1 << BRANCHES}")
    parser.add_argument("--block", type=int, default=100)
    parser.add_argument("--out", default=str(HERE / "results" / "traces.json"))
    args = parser.parse_args()
    if args.serve:
        serve(args.serve)
        return
    environment = os.environ | {"PYTHONPATH": f"{HERE.parent}:{HERE.parent / 'parallel'}"}
    servers = {
        engine: subprocess.Popen(
            [sys.executable, str(HERE / "traces.py"), "--serve", engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for engine in ENGINES
    }
    seconds: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    for number, first in enumerate(range(0, args.steps, args.block)):
        for engine in ENGINES[:: -1 if number % 2 else 1]:
            server = servers[engine]
            assert server.stdin is not None and server.stdout is not None
            server.stdin.write(f"{first} {min(first + args.block, args.steps)}\n")
            server.stdin.flush()
            seconds[engine].append(float(server.stdout.readline()))
        print(f"{first:5} " + str({e: f"{s[-1]:.5f}" for e, s in seconds.items()}), file=sys.stderr)
    for server in servers.values():
        server.kill()
    # The first block compiles the ops.
    for engine, all_of in seconds.items():
        low, middle, high = statistics.quantiles(all_of[1:], n=4)
        print(
            f"{engine:10} {middle * 1e3:7.2f} ms a step [{low * 1e3:.2f}, {high * 1e3:.2f}],"
            f" first block {all_of[0] * 1e3:.2f}, sum of the block means {sum(all_of):.3f} s"
        )
    ratios = [a / b for a, b in zip(seconds["deferred"], seconds["op_by_op"], strict=True)]
    whole = sum(seconds["deferred"]) / sum(seconds["op_by_op"])
    print(f"deferred / op_by_op {statistics.median(ratios):.3f}, of the whole {whole:.3f}")
    path = pathlib.Path(args.out)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"load": os.getloadavg()[0], "seconds": seconds}, indent=1))


if __name__ == "__main__":
    main()
