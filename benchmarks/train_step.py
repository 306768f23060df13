"""Time training steps, and greedy decoding, of every contestant as ratios to hand-written JAX.

`python benchmarks/train_step.py` measures MindJAX in both modes against jax and optax, all
interleaved in one run; a step of `decode` is 96 tokens after one of one text. The
environments of PyTorch and of the original join with `--torch PYTHON` and `--mindspore PYTHON`.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
STEPS = {
    "lenet5": 5,
    "resnet18": 1,
    "encoder": 1,
    "decoder": 1,
    "lstm": 2,
    "wide_deep": 2,
    "wide_deep_sparse": 3,
    "decode": 1,
}


class Contestant:
    """A worker process.

    Args:
        name: contestant's name.
        python: interpreter to run it with.
        workload: name of the network.
        threads: threads that it may use.
    """

    def __init__(self, name: str, python: str, workload: str, threads: int) -> None:
        cores = ",".join(map(str, range(threads)))
        environment = os.environ | {
            "BENCH_THREADS": str(threads),
            "OMP_NUM_THREADS": str(threads),
            "PYTHONPATH": f"{HERE.parent}:{HERE.parent / 'parallel'}",
        }
        if "plain" in name:
            environment |= {"MINDJAX_CPU_FORMS": "0", "MINDJAX_MALLOC": "default"}
        self.name, self.times = name, []
        self.process = subprocess.Popen(
            ["taskset", "-c", cores, python, str(HERE / "worker.py"), name, workload],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        answer = self._read()
        self.first_step = float(answer[1])

    def _read(self) -> list[str]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"contestant {self.name} stopped: see the messages above")
        return line.split()

    def run(self, steps: int) -> None:
        """Train some steps and keep the median time."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        self.times.append(statistics.median(map(float, self._read())))

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


def measure(workload: str, rounds: int, threads: int, pythons: dict[str, str]) -> dict[str, Any]:
    """Run one workload.

    Args:
        workload: name of the network.
        rounds: how often each contestant runs.
        threads: threads (and cores) of each.
        pythons: interpreter by contestant.

    Returns:
        Per contestant: median step in ms, ratio to jax (median of the ratios of neighbours in
        time) with its quartiles and n, and the seconds to the end of the first step.
    """
    contestants = [Contestant(n, p, workload, threads) for n, p in pythons.items()]
    try:
        for contestant in contestants:
            contestant.run(4)
            contestant.times.clear()
        for number in range(rounds):
            order = contestants if number % 2 == 0 else contestants[::-1]
            for contestant in order:
                contestant.run(STEPS[workload])
            print(f"\r{workload}: round {number + 1}/{rounds}", end="", file=sys.stderr)
        print(file=sys.stderr)
    finally:
        for contestant in contestants:
            contestant.stop()
    base = next(c.times for c in contestants if c.name == "jax")
    out = {}
    for c in contestants:
        ratios = sorted(a / b for a, b in zip(c.times, base, strict=True))
        quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        out[c.name] = {
            "ms": statistics.median(c.times) * 1e3,
            "ratio": statistics.median(ratios),
            "quartiles": [quartiles[0], quartiles[2]],
            "n": len(ratios),
            "first_step_s": c.first_step,
        }
    return out


def main() -> None:
    """Measure, print a table and write a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", nargs="+", default=list(STEPS), choices=list(STEPS))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--mindspore",
        metavar="PYTHON",
        default=os.environ.get("MINDJAX_ORACLE_PYTHON"),
        help="interpreter with the original, by default $MINDJAX_ORACLE_PYTHON",
    )
    parser.add_argument(
        "--torch",
        metavar="PYTHON",
        default=os.environ.get("MINDJAX_TORCH_PYTHON"),
        help="interpreter with PyTorch, by default $MINDJAX_TORCH_PYTHON",
    )
    parser.add_argument(
        "--cpu", action="store_true", help="processor time instead of wall time: for a busy machine"
    )
    parser.add_argument(
        "--plain", action="store_true", help="add MindJAX's GRAPH without its forms for CPUs"
    )
    parser.add_argument(
        "--engines",
        nargs="+",
        default=["pynative"],
        help="engines of PYNATIVE: pynative, the default one; deferred; op_by_op",
    )
    parser.add_argument("--no-pynative", action="store_true", help="leave PYNATIVE out")
    parser.add_argument("--out", default=str(HERE / "results" / "train_step.json"))
    args = parser.parse_args()
    pythons = {"jax": sys.executable, "mindjax-graph": sys.executable}
    if args.plain:
        pythons["mindjax-plain-graph"] = sys.executable
    if args.cpu:
        os.environ["BENCH_CLOCK"] = "cpu"
    if not args.no_pynative:
        pythons |= {f"mindjax-{name}": sys.executable for name in args.engines}
    if args.mindspore:
        pythons["mindspore-graph"] = args.mindspore
        if not args.no_pynative:
            pythons["mindspore-pynative"] = args.mindspore
    if args.torch:
        pythons["torch"] = args.torch
    results = {w: measure(w, args.rounds, args.threads, pythons) for w in args.workloads}
    report = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {args.threads} threads used",
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "results": results,
    }
    path = pathlib.Path(args.out)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1))
    print(
        f"{'workload':16} {'contestant':20} {'ms':>9} {'ratio':>7} {'quartiles':>15} {'n':>3} first"
    )
    for workload, rows in results.items():
        for name, r in rows.items():
            low, high = r["quartiles"]
            print(
                f"{workload:16} {name:20} {r['ms']:9.2f} {r['ratio']:7.3f} "
                f"{low:7.3f}-{high:.3f} {r['n']:3d} {r['first_step_s']:.1f}s"
            )


if __name__ == "__main__":
    main()
