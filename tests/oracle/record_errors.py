"""Record what MindSpore says to the mistakes of `tests/ops/mistakes.py`.

Runs in the environment of the original: ``PYTHON tests/oracle/record_errors.py``. Its PYNATIVE is
asynchronous, so an error counts when the value is read.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.ops.mistakes import MISTAKES, names  # noqa: E402

GOLDEN = ROOT / "tests/goldens/errors.json"


def read(ms: Any, value: Any) -> None:
    """Wait for every Tensor of a result, and for what is still pending."""
    for x in value if isinstance(value, (tuple, list)) else (value,):
        if isinstance(x, ms.Tensor):
            x.asnumpy()
    (ms.Tensor([1.0]) + 1).asnumpy()


def drain(ms: Any) -> None:
    """Take away errors that come late."""
    for _ in range(5):
        try:
            return read(ms, None)
        except Exception:
            continue
    return None


def main() -> None:
    """Record the class and the first line of every mistake; none where it is accepted."""
    import mindspore as ms

    found: dict[str, Any] = {"mindspore": ms.__version__}
    for name, expression, _ in MISTAKES:
        ms.set_context(mode=ms.PYNATIVE_MODE)
        try:
            read(ms, eval(expression, names(ms)))
            found[name] = None
        except BaseException as error:
            line = str(error).strip().split("\n")[0]
            mro = [c.__name__ for c in type(error).__mro__]
            found[name] = [mro[: mro.index("Exception")], line[:400]]
        drain(ms)
    text = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
    GOLDEN.write_text("{" + text + "}\n")


if __name__ == "__main__":
    main()
