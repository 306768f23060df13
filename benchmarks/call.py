"""Time calls of programs with many small Parameters against `jax.jit`, interleaved.

One program reads every Parameter, the other writes every one. Hand-written jax takes the same
arrays in a list, which it donates where it writes. The time is the calling thread's own.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import mindjax as ms
from mindjax import Parameter, Tensor, nn, ops

CALLS = 20


class Reads(nn.Cell):
    """Adds Parameters to its input.

    Args:
        count: number of Parameters.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self.state = ms.ParameterTuple(
            [Parameter(np.ones(4, np.float32), name=f"p{i}") for i in range(count)]
        )

    def construct(self, x: Any) -> Any:
        """Read each."""
        for p in self.state:
            x = x + p
        return x


class Writes(Reads):
    """Adds its input to Parameters."""

    def construct(self, x: Any) -> Any:
        """Write each."""
        for p in self.state:
            ops.assign(p, p + x)
        return x


def contestants(count: int) -> dict[str, dict[str, Callable[[], Any]]]:
    """Give what is called, by kind and name.

    Args:
        count: number of Parameters.
    """

    def reads(state: list[Any], x: Any) -> Any:
        for p in state:
            x = x + p
        return x

    x, given = jnp.ones(4), Tensor(np.ones(4, np.float32))
    state = [jnp.ones(4) for _ in range(count)]
    kept = {"written": [jnp.ones(4) for _ in range(count)]}
    read = jax.jit(reads)
    write = jax.jit(lambda state, x: ([p + x for p in state], x), donate_argnums=0)

    def written() -> None:
        kept["written"], _ = write(kept["written"], x)

    reader, writer = Reads(count), Writes(count)
    return {
        "reads": {"jax": lambda: read(state, x), "mindjax": lambda: reader(given)},
        "writes": {"jax": written, "mindjax": lambda: writer(given)},
    }


def main() -> None:
    """Measure, print a table and write a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parameters", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=40)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--out", default=str(here / "results" / "call.json"))
    args = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE)
    report: dict[str, dict[str, float]] = {}
    for kind, both in contestants(args.parameters).items():
        times: dict[str, list[float]] = {name: [] for name in both}
        for number in range(args.rounds + 3):
            for name, call in list(both.items())[:: -1 if number % 2 else 1]:
                begin = time.thread_time()
                for _ in range(CALLS):
                    call()
                if number >= 3:
                    times[name].append((time.thread_time() - begin) / CALLS * 1e6)
        more = [a - b for a, b in zip(times["mindjax"], times["jax"], strict=True)]
        low, _, high = statistics.quantiles(more, n=4)
        report[kind] = {name: statistics.median(values) for name, values in times.items()}
        report[kind] |= {"more": statistics.median(more), "low": low, "high": high}
        print(
            f"{kind:6} {args.parameters} Parameters: jax {report[kind]['jax']:.0f} us, "
            f"mindjax {report[kind]['mindjax']:.0f} us, more {report[kind]['more']:.0f} "
            f"[{low:.0f}, {high:.0f}] us, n = {len(more)}"
        )
    path = pathlib.Path(args.out)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
