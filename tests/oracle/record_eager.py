"""Record what the original's transforms of text, sound and images give when they are called.

Run with the oracle's python: ``python tests/oracle/record_eager.py [text] [audio] [vision]``.
Writes tests/goldens/dataset/NAME.npz (columns of results) and NAME_errors.json (error classes).
"""

import importlib
import json
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDENS = ROOT / "tests" / "goldens" / "dataset"
sys.path.insert(0, str(ROOT))


def main():
    import mindspore as ms
    import mindspore.dataset as ds
    from mindspore.dataset import transforms

    for name in sys.argv[1:] or ["text", "audio", "vision"]:
        cases = importlib.import_module(f"tests.dataset.{name}_cases")
        arrays, errors = {}, {}
        with tempfile.TemporaryDirectory() as folder:
            scope = {
                "X": importlib.import_module(f"mindspore.dataset.{name}"),
                "ds": ds,
                "T": transforms,
                "ms": ms,
                "np": np,
                "folder": folder,
            }
            exec(cases.HELPERS, scope)
            for expression in cases.TABLE:
                print(expression, flush=True)
                try:
                    result = eval(expression, scope)
                except Exception as error:
                    print("NOT RECORDED", expression, type(error).__name__, str(error)[-200:])
                    continue
                columns = result if isinstance(result, tuple) else (result,)
                for place, column in enumerate(columns):
                    arrays[f"{expression}|{place}"] = np.array(column)
            for expression in cases.REFUSED:
                print(expression, flush=True)
                try:
                    eval(expression, scope)
                except Exception as error:
                    errors[expression] = type(error).__name__
                else:
                    print("NOT REFUSED", expression)
        np.savez_compressed(GOLDENS / f"{name}.npz", **arrays)
        text = json.dumps({"mindspore": ms.__version__, "errors": errors}, separators=(",", ":"))
        (GOLDENS / f"{name}_errors.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
