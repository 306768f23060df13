"""Record the rates of the original's ``experimental.optim.lr_scheduler``, and what it refuses.

Run with the oracle's python, never with the project's:
``python tests/oracle/record_schedulers.py``.
Writes ``tests/goldens/optim/schedulers.json``.
"""

import json
import os
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDENS = ROOT / "tests" / "goldens" / "optim"
sys.path.insert(0, str(ROOT))

from tests.nn import scheduler_cases as cases  # noqa: E402


def evaluate(expression):
    import mindspore as ms
    from mindspore.experimental import optim as xo

    p = [ms.Parameter(ms.Tensor(np.ones(2, np.float32)), name=n) for n in "ab"]
    o = xo.SGD([{"params": p[:1]}, {"params": p[1:], "lr": 0.5}], 0.1)
    names = {"ms": ms, "np": np, "xo": xo, "S": xo.lr_scheduler, "o": o}
    return eval(expression, names), o


def rates(optimizer):
    return [float(group["lr"].asnumpy()) for group in optimizer.param_groups]


def follow(expression, steps):
    schedule, optimizer = evaluate(expression)
    found = [rates(optimizer)]
    for arguments in steps:
        schedule.step(*arguments)
        found.append(rates(optimizer))
    return found


def error(expression):
    try:
        evaluate(expression)
    except Exception as caught:
        text = str(caught.args[0] if isinstance(caught, KeyError) else caught)
        return [type(caught).__name__, (text.strip() or "-").splitlines()[0].strip()]
    return None


def main():
    import mindspore as ms

    recorded = {
        "mindspore": ms.__version__,
        "steps": {n: follow(e, [()] * cases.STEPS) for n, e in cases.SCHEDULERS.items()},
        "epochs": {
            n: follow(cases.SCHEDULERS[n], [(e,) for e in cases.EPOCHS]) for n in cases.CLOSED
        },
        "plateaus": {
            n: follow(e, [(v,) for v in cases.WATCHED]) for n, e in cases.PLATEAUS.items()
        },
        "errors": {e: error(e) for e in cases.ERRORS.values()},
    }
    lines = [f' "{key}": {json.dumps(value)}' for key, value in recorded.items()]
    (GOLDENS / "schedulers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        main()
