"""Record the programs with control flow: ``/tmp/oracle/bin/python``, no arguments."""

from __future__ import annotations

import copy
import json
import os
import pathlib
import sys
import tempfile
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
OUT = ROOT / "tests/goldens/control.json"


def main() -> None:
    """Write ``tests/goldens/control.json`` from the original's PYNATIVE mode."""
    import mindspore as ms

    from tests.graph import python_programs as programs
    from tests.graph.control_programs import plain

    ms.set_context(mode=ms.PYNATIVE_MODE)
    found: dict[str, Any] = {"about": {"mindspore": ms.__version__, "mode": "PYNATIVE"}}

    def recorded(function: Any, arguments: Any) -> list[Any]:
        return [plain(function(*copy.copy(a))) for a in arguments]

    for name, (function, arguments) in programs.PROGRAMS.items():
        found[name] = recorded(function, arguments)
    for name, run in programs.NETS.items():
        found[name] = plain(run())
    for name in programs.GRADIENTS:
        function, arguments = programs.PROGRAMS[name]
        found[f"gradient of {name}"] = recorded(ms.grad(function, 0), arguments)
    lines = [f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in found.items()]
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
