"""Record what the original's MindRecord files hold, and what its readers give.

Run with the oracle's python, never with the project's:
``python tests/oracle/record_mindrecord.py``.
Writes tests/goldens/mindrecord/files.json: digests of files, what reading them gives, values of
expressions, and classes of errors (their words are checked here).
"""

import json
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDENS = ROOT / "tests" / "goldens" / "mindrecord"
sys.path.insert(0, str(ROOT))

from tests.mindrecord import cases  # noqa: E402


def main():
    import mindspore as ms
    import mindspore.dataset as ds
    import mindspore.mindrecord as mr

    found = {"mindspore": ms.__version__, "files": {}, "read": {}, "values": {}, "errors": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name in cases.FILES:
            paths = cases.write(mr, folder, name)
            found["files"][name] = cases.digests(paths)
            if name in cases.READ:
                found["read"][name] = cases.plain(cases.rows(mr.FileReader(paths)))
        cases.write_sources(mr, folder)
        scope = cases.scope(mr, ds, folder)
        for expression in cases.VALUES:
            print(expression, flush=True)
            found["values"][expression] = cases.plain(eval(expression, scope))
        for expression, words in cases.ERRORS.items():
            print(expression, flush=True)
            try:
                eval(expression, scope)
            except Exception as error:
                assert words in str(error), f"{expression}: {error}"
                found["errors"][expression] = type(error).__name__
            else:
                raise AssertionError(f"{expression} is not refused")
    GOLDENS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, separators=(",", ":"), sort_keys=True)
    (GOLDENS / "files.json").write_text(text + "\n")
    os._exit(0)


if __name__ == "__main__":
    main()
