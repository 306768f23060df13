"""Records, with the original's interpreter, what tables of small programs give.

Run ``$MINDJAX_ORACLE_PYTHON tests/oracle/record_cases.py tests/train/metric_cases.py ...``: each
table's ``CASES`` (name -> function) is run in PYNATIVE, and the outcomes are written to
``tests/goldens/<table's name>.json``. ``TABLE::BEGINNING`` runs the programs whose names begin so,
and keeps what is recorded of the others.
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
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    # The original's compiler imports the modules of what it parses.
    sys.path.insert(0, os.path.dirname(path))
    spec.loader.exec_module(module)
    return name, module


def record(path, beginning):
    """Run one table and write its goldens."""
    name, table = load(path)
    golden = os.path.join(TESTS, "goldens", f"{name.removesuffix('_cases')}.json")
    known = {}
    if beginning and os.path.exists(golden):
        with open(golden, encoding="utf-8") as file:
            known = json.load(file)["pynative"]
    ms.set_context(mode=ms.PYNATIVE_MODE)
    found = {
        key: outcome(case) if key.startswith(beginning) or key not in known else known[key]
        for key, case in table.CASES.items()
    }
    with open(golden, "w", encoding="utf-8") as file:
        out = {"version": ms.__version__, "pynative": found}
        file.write(json.dumps(out, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    tables = [argument.partition("::") for argument in sys.argv[1:]]
    tables = [(os.path.abspath(path), beginning) for path, _, beginning in tables]
    os.chdir(tempfile.mkdtemp())
    for path, beginning in tables:
        record(path, beginning)
