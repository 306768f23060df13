"""Records, with the original's interpreter, what tables of small programs give.

Run ``$MINDJAX_ORACLE_PYTHON tests/oracle/record_cases.py tests/train/metric_cases.py ...``: each
table's ``CASES`` (name -> function) is run, in both modes if it says ``BOTH_MODES``, and the
outcomes are written to ``tests/goldens/<table's name>.json``.
"""

import importlib.util
import json
import os
import sys
import tempfile

import mindspore as ms

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def outcome(case):
    """Run a program and describe its result or its error."""
    try:
        return {"ok": case()}
    except BaseException as error:
        text = [line for line in str(error).splitlines() if line.strip()]
        return {"error": type(error).__name__, "message": text[0] if text else ""}


def load(path):
    """Import a table from its file."""
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return name, module


def record(path):
    """Run one table and write its goldens."""
    name, table = load(path)
    out = {"version": ms.__version__}
    modes = {"pynative": ms.PYNATIVE_MODE}
    if getattr(table, "BOTH_MODES", False):
        modes["graph"] = ms.GRAPH_MODE
    for mode, number in modes.items():
        ms.set_context(mode=number)
        out[mode] = {key: outcome(case) for key, case in table.CASES.items()}
    for key in list(out.get("graph", ())):
        if out["graph"][key] == out["pynative"][key]:
            del out["graph"][key]
    name = name.removesuffix("_cases")
    with open(os.path.join(TESTS, "goldens", f"{name}.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(out, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    paths = [os.path.abspath(path) for path in sys.argv[1:]]
    os.chdir(tempfile.mkdtemp())
    for path in paths:
        record(path)
