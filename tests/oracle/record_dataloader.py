"""Record what the original's ``dataset.dataloader`` gives.

Run with the oracle's python: ``python tests/oracle/record_dataloader.py``.
Writes tests/goldens/dataset/dataloader.json.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.dataset import loader_cases  # noqa: E402


def main():
    import mindspore as ms
    from mindspore.dataset import dataloader

    found = {"mindspore": ms.__version__, "results": loader_cases.run(dataloader, ms)}
    text = json.dumps(found, separators=(",", ":"))
    (ROOT / "tests" / "goldens" / "dataset" / "dataloader.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
