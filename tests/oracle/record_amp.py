"""Ask the original for its mixed precision: run with the oracle's python from the root."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import mindspore as ms
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.amp import cases as c  # noqa: E402


def attempt(function: Any, *args: Any) -> Any:
    """Run a case; what the CPU cannot run is None."""
    try:
        return function(*args)
    except (TypeError, RuntimeError) as error:
        print(args, type(error).__name__, str(error)[:200].replace("\n", " "), file=sys.stderr)
        return None


def main() -> None:
    """Record every case."""
    found: dict[str, Any] = {"about": {"mindspore": ms.__version__, "numpy": np.__version__}}
    ms.set_context(mode=ms.PYNATIVE_MODE)
    found["layers"] = {
        f"{n} {level}": attempt(c.layers, n, level, ms.float16)
        for n in c.NETWORKS
        for level in c.LEVELS
    }
    found["custom"] = {k: attempt(c.custom, k) for k in ("white", "only relu", "black")}
    found["trained"] = {
        f"{n} {level}": attempt(c.trained, n, level) for n in c.NETWORKS for level in c.LEVELS
    }
    found["operators"] = {n: c.operator(n) for n in c.OPERATORS}
    found["scaler"] = c.scaler_steps()
    found["manager"] = c.manager_steps()
    for mode, name in ((ms.PYNATIVE_MODE, "pynative"), (ms.GRAPH_MODE, "graph")):
        ms.set_context(mode=mode)
        found[f"steps {name}"] = {
            k: attempt(c.scaled_steps, k) for k in ("dynamic", "fixed", "set")
        }
    path = ROOT / "tests" / "goldens" / "amp.json"
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
