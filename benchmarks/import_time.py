"""Time `import mindjax` against `import jax, flax, optax`, interleaved, each in a fresh process."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

STATEMENTS = {
    "jax, flax, optax": "import jax, jax.numpy, flax.nnx, optax",
    "mindjax": "import mindjax as ms; from mindjax import nn, ops, Tensor, Model",
}


def main() -> None:
    """Measure, print a table and write a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--out", default=str(here / "results" / "import_time.json"))
    args = parser.parse_args()
    environment = os.environ | {"PYTHONPATH": f"{here.parent}:{here.parent / 'parallel'}"}
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(args.rounds + 1):
        for name, statement in STATEMENTS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
            times[name].append(time.perf_counter() - start)
    base = times["jax, flax, optax"][1:]
    report = {}
    for name, values in times.items():
        ratios = sorted(a / b for a, b in zip(values[1:], base, strict=True))
        report[name] = {
            "seconds": statistics.median(values[1:]),
            "ratio": statistics.median(ratios),
            "quartiles": statistics.quantiles(ratios, n=4)[::2],
            "n": len(ratios),
        }
        print(f"{name:18} {report[name]['seconds']:.2f} s, ratio {report[name]['ratio']:.2f}")
    path = pathlib.Path(args.out)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
