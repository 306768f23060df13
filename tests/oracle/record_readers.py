"""Record what the original's readers of public sets give.

Run with the oracle's python, never with the project's: ``python tests/oracle/record_readers.py``.
Writes tests/goldens/dataset/readers.json: rows, sizes, names and dtypes of the sets that
tests/dataset/reader_files.py writes, and classes of errors; their words are checked here.
"""

import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "goldens" / "dataset" / "readers.json"
sys.path.insert(0, str(ROOT))

from tests.dataset import reader_cases, reader_files  # noqa: E402


def main():
    import mindspore as ms
    import mindspore.dataset as ds

    rows, refused = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        reader_files.write_sets(pathlib.Path(folder))
        names = {"ds": ds, "R": folder}
        for expression in reader_cases.READ:
            rows[expression] = reader_cases.describe(eval(expression, names))
        for expression, words in reader_cases.REFUSED.items():
            try:
                reader_cases.consume(eval(expression, names))
            except Exception as error:
                assert words in str(error), f"{expression}: {error}"
                refused[expression] = type(error).__name__
            else:
                raise AssertionError(f"{expression} is not refused")
    content = {"mindspore": ms.__version__, "rows": rows, "refused": refused}
    GOLDEN.write_text(json.dumps(content, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
