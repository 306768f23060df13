"""Record what the original's pipelines and transforms do.

Run with the oracle's python, never with the project's: ``python tests/oracle/record_dataset.py``.
Writes into tests/goldens/dataset: ``transforms.npz`` (results of transforms), ``pipelines.json``
(rows, sizes, names, dtypes) and ``errors.json`` (classes of errors; their words are checked here).
"""

import json
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDENS = ROOT / "tests" / "goldens" / "dataset"
sys.path.insert(0, str(ROOT))

from tests.dataset import cases  # noqa: E402


def record_transforms(names):
    arrays = {}
    for expression in cases.TRANSFORMS:
        result = eval(expression, names)
        columns = result if isinstance(result, tuple) else (result,)
        for place, column in enumerate(columns):
            arrays[f"{expression}|{place}"] = np.asarray(column)
    return arrays


def record_pipelines(names):
    found = {}
    for expression in cases.PIPELINES:
        print(expression, flush=True)
        found[expression] = cases.describe(eval(expression, names))
    return found


def record_errors(names):
    found = {}
    for expression, words in cases.ERRORS.items():
        print(expression, flush=True)
        try:
            cases.consume(eval(expression, names))
        except Exception as error:
            assert words is None or words in str(error), f"{expression}: {error}"
            found[expression] = type(error).__name__
        else:
            raise AssertionError(f"{expression} is not refused")
    return found


def main():
    import mindspore as ms
    import mindspore.dataset as ds
    from mindspore.dataset import transforms, vision

    with tempfile.TemporaryDirectory() as folder:
        cases.write_folders(pathlib.Path(folder))
        names = cases.scope(ds, vision, transforms, ms, folder)
        arrays = record_transforms(names)
        pipelines = record_pipelines(names)
        errors = record_errors(names)
    GOLDENS.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(GOLDENS / "transforms.npz", **arrays)
    for name, value in (("pipelines", pipelines), ("errors", errors)):
        text = json.dumps({"mindspore": ms.__version__, name: value}, separators=(",", ":"))
        (GOLDENS / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
