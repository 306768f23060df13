"""Record what the original reads from files of public formats.

Run with the oracle's python, never with the project's: ``python tests/oracle/record_files.py``.
Writes tests/goldens/dataset/files.json: what can be asked of data sets, values of expressions, and
classes of errors (their words are checked here).
"""

import json
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDENS = ROOT / "tests" / "goldens" / "dataset"
sys.path.insert(0, str(ROOT))

from tests.dataset import cases, file_cases, text_sets  # noqa: E402


def main():
    import mindspore as ms
    import mindspore.dataset as ds

    found = {"mindspore": ms.__version__, "pipelines": {}, "values": {}, "pieces": {}, "errors": {}}
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        file_cases.write(folder)
        names = file_cases.scope(ds, ms, folder)
        for expression in file_cases.PIPELINES:
            print(expression, flush=True)
            found["pipelines"][expression] = cases.describe(eval(expression, names))
        for expression in file_cases.VALUES:
            print(expression, flush=True)
            found["values"][expression] = eval(expression, names)
        for expression in text_sets.PIECES:
            found["pieces"][expression] = eval(expression, names)
        for expression, words in file_cases.ERRORS.items():
            print(expression, flush=True)
            try:
                cases.consume(eval(expression, names))
            except Exception as error:
                if words not in str(error):
                    wrong.append(f"{expression}: {error}")
                found["errors"][expression] = type(error).__name__
            else:
                wrong.append(f"{expression} is not refused")
    assert not wrong, "\n".join(wrong)
    text = json.dumps(found, separators=(",", ":"))
    (GOLDENS / "files.json").write_text(text + "\n")
    os._exit(0)


if __name__ == "__main__":
    main()
