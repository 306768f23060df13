"""Record the gradient programs under the original: ``/tmp/oracle/bin/python``, no arguments."""

from __future__ import annotations

import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ["LIBRARY"] = "mindspore"

import tests.autodiff.transform_programs  # noqa: E402, F401
from tests.autodiff.programs import PROGRAMS, PYNATIVE_ONLY, ms, run  # noqa: E402


def main() -> None:
    """Write ``tests/goldens/autodiff.json``; name the programs that fail."""
    found: dict[str, dict[str, object]] = {"about": {"mindspore": ms.__version__}}
    for name in PROGRAMS:
        found[name] = {}
        for mode in ("PYNATIVE", "GRAPH"):
            if mode == "GRAPH" and name in PYNATIVE_ONLY:
                continue
            try:
                found[name][mode] = run(name, mode == "GRAPH")
            except Exception as error:
                line = str(error).strip().split("\n")[0][:160]
                found[name][mode] = ["error", type(error).__name__, line]
                print(name, mode, type(error).__name__, line)
        if found[name].get("GRAPH") == found[name]["PYNATIVE"]:
            found[name] = {"both": found[name]["PYNATIVE"]}
        elif "GRAPH" in found[name]:
            print("DIFFERENT", name, found[name])
    lines = [f' "{name}": {json.dumps(entry)}' for name, entry in found.items()]
    path = ROOT / "tests" / "goldens" / "autodiff.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
