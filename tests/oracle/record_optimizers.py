"""Record twenty steps of the original's optimizers, and what they refuse.

Run with the oracle's python, never with the project's: ``python tests/oracle/record_optimizers.py``
and optionally names of cases. Writes ``tests/goldens/optim/twenty.npz`` and ``twenty.json``.
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

from tests.nn import optimizer_cases as cases  # noqa: E402


def evaluate(expression):
    import mindspore as ms
    from mindspore import nn
    from mindspore.experimental import optim as xo

    p = [ms.Parameter(ms.Tensor(v), name=n) for n, v in cases.values().items()]
    return eval(expression, {"ms": ms, "nn": nn, "np": np, "xo": xo, "p": p})


def states(optimizer):
    return {n: p.asnumpy().copy() for n, p in optimizer.parameters_dict().items()}


def train(expression):
    import mindspore as ms

    optimizer = evaluate(expression)
    for gradients in cases.gradients():
        optimizer(tuple(ms.Tensor(g) for g in gradients))
    return states(optimizer)


def train_sparse(expression):
    import mindspore as ms
    from mindspore.common.sparse_tensor import RowTensorInner

    optimizer = evaluate(expression)

    class Step(ms.nn.Cell):
        def __init__(self):
            super().__init__(auto_prefix=False)
            self.optimizer = optimizer

        def construct(self, indices, values):
            return self.optimizer((RowTensorInner(indices, values, (4, 16)),))

    step = Step()
    for indices, values in cases.rows():
        step(ms.Tensor(indices), ms.Tensor(values))
    return states(optimizer)


def error(expression):
    try:
        result = evaluate(expression)
        if isinstance(result, tuple):
            [r.asnumpy() for r in result if hasattr(r, "asnumpy")]
    except Exception as caught:
        text = str(caught.args[0] if isinstance(caught, KeyError) else caught)
        return [type(caught).__name__, (text.strip() or "-").splitlines()[0].strip()]
    return None


def main(names):
    import mindspore as ms

    arrays, orders, missing = {}, {}, {}
    for kind, table, run in (("", cases.UPDATES, train), ("sparse_", cases.SPARSE, train_sparse)):
        ms.set_context(mode=ms.GRAPH_MODE if kind else ms.PYNATIVE_MODE)
        for name, expression in table.items():
            if names and kind + name not in names:
                continue
            try:
                found = run(expression)
            except Exception as caught:
                missing[kind + name] = f"{type(caught).__name__}: {str(caught).strip()[:160]}"
                print("!", kind + name, missing[kind + name], flush=True)
                continue
            orders[kind + name] = list(found)
            arrays.update({f"{kind}{name}/{key}": value for key, value in found.items()})
            print(kind + name, list(found)[:9], flush=True)
    if names:
        return
    ms.set_context(mode=ms.PYNATIVE_MODE)
    recorded = {
        "mindspore": ms.__version__,
        "orders": orders,
        "missing": missing,
        "errors": {e: error(e) for e in cases.ERRORS.values()},
    }
    lines = [f' "{key}": {json.dumps(value)}' for key, value in recorded.items()]
    (GOLDENS / "twenty.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    np.savez_compressed(GOLDENS / "twenty.npz", **arrays)


if __name__ == "__main__":
    GOLDENS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        # A failed compilation leaves a dump in the working directory.
        os.chdir(scratch)
        main(sys.argv[1:])
