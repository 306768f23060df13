"""Record the users' programs under the original: ``/tmp/oracle/bin/python``, no arguments."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402

from tests.examples.scripts import SCRIPTS, run  # noqa: E402


def main() -> None:
    """Write ``tests/goldens/scripts.json`` from PYNATIVE; tell where GRAPH differs from it."""
    found: dict[str, object] = {"about": {"mindspore": ms.__version__}}
    for name in SCRIPTS:
        both = []
        for graph in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                both.append(run(name, graph, pathlib.Path(folder)))
                os.chdir(ROOT)
        eager, graph_found = both
        close = np.shape(eager["numbers"]) == np.shape(graph_found["numbers"]) and np.allclose(
            eager["numbers"], graph_found["numbers"], rtol=1e-4, atol=1e-6
        )
        if not close or eager["names"] != graph_found["names"]:
            print("DIFFERENT", name, both)
        eager["numbers"] = [float(f"{number:.8g}") for number in eager["numbers"]]
        found[name] = eager
    lines = [f' "{name}": {json.dumps(entry)}' for name, entry in found.items()]
    (ROOT / "tests/goldens/scripts.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
