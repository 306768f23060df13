"""Record what the original's optimizers, schedules and initializers do.

Run with the oracle's python, never with the project's: ``python tests/oracle/record_optim.py``.
Writes into tests/goldens/optim: ``states.npz`` (every Parameter and state after one step and after
ten), ``cells.npz`` (what training steps and other Cells around a network give) and
``recorded.json`` (names in order, rates, moments, errors).
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

from tests.nn import optim_cases as cases  # noqa: E402


def parameters(ms):
    return [ms.Parameter(ms.Tensor(v), name=n) for n, v in cases.values().items()]


def evaluate(expression):
    import mindspore as ms
    from mindspore import nn
    from mindspore.common import initializer as init

    names = {"ms": ms, "nn": nn, "init": init, "np": np, "p": parameters(ms)}
    return eval(expression, names), names["p"]


def record_updates(arrays):
    import mindspore as ms

    orders = {}
    for name, expression in cases.UPDATES.items():
        optimizer, _ = evaluate(expression)
        steps = cases.gradients()
        for i, gradients in enumerate(steps):
            optimizer(tuple(ms.Tensor(g) for g in gradients))
            if i in (0, len(steps) - 1):
                for key, value in optimizer.parameters_dict().items():
                    arrays[f"{name}/{i + 1}/{key}"] = value.asnumpy().copy()
        orders[name] = list(optimizer.parameters_dict())
        print(name, flush=True)
    return orders


def with_loss():
    import mindspore as ms
    from mindspore import nn

    backbone = cases.network(ms, nn)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    network = nn.WithLossCell(backbone, loss)
    optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9)
    return {"ms": ms, "nn": nn, "np": np} | {
        "backbone": backbone,
        "loss": loss,
        "network": network,
        "optimizer": optimizer,
    }


def flat(value):
    if isinstance(value, dict):
        return [a for v in value.values() for a in flat(v)]
    if isinstance(value, (tuple, list)):
        return [a for v in value for a in flat(v)]
    return [value.asnumpy().copy()]


def record_cells(arrays):
    import mindspore as ms

    names = {}
    for name, expression in cases.TRAINERS.items():
        trainer = eval(expression, with_loss())
        for i, batch in enumerate(cases.batches()):
            for j, array in enumerate(flat(trainer(*(ms.Tensor(b) for b in batch)))):
                arrays[f"{name}/{i}/{j}"] = array
        for key, value in trainer.parameters_dict().items():
            arrays[f"{name}/{key}"] = value.asnumpy().copy()
        names[name] = list(trainer.parameters_dict())
    for name, expression in cases.WRAPPERS.items():
        cell = eval(expression, with_loss())
        out = cell(*(ms.Tensor(b) for b in cases.batches()[0]))
        for j, array in enumerate(flat(out)):
            arrays[f"{name}/{j}"] = array
    return names


def record_schedules():
    import mindspore as ms

    rates = {}
    for name, expression in cases.SCHEDULES.items():
        schedule, _ = evaluate(expression)
        steps = (ms.Tensor([i], ms.int32) for i in range(13))
        rates[name] = [float(schedule(step).asnumpy().reshape(())) for step in steps]
    return rates


def filled(expression):
    return evaluate(expression)[0].init_data().asnumpy()


def moments(array):
    array = array.astype(np.float64)
    return [array.mean(), array.std(), array.min(), array.max()]


def record_error(expression):
    try:
        result, p = evaluate(expression)
        if hasattr(result, "init_data"):
            result.init_data()
        for parameter in p:
            parameter.asnumpy()
    except Exception as error:
        text = str(error.args[0] if isinstance(error, KeyError) else error)
        return [type(error).__name__, text.strip().splitlines()[0].strip()]
    return None


def main():
    import mindspore as ms

    ms.set_seed(1)
    arrays = {}
    cells = {}
    errors = (cases.OPTIMIZER_ERRORS, cases.SCHEDULE_ERRORS, cases.INITIALIZER_ERRORS)
    recorded = {
        "mindspore": ms.__version__,
        "orders": record_updates(arrays),
        "trainers": record_cells(cells),
        "schedules": record_schedules(),
        "lists": {n: evaluate(e)[0] for n, e in cases.LISTS.items()},
        "moments": {n: moments(filled(e)) for n, e in cases.DISTRIBUTIONS.items()},
        "exact": {n: [str(filled(e).dtype), filled(e).tolist()] for n, e in cases.EXACT.items()},
        "errors": {e: record_error(e) for table in errors for e in table.values()},
    }
    lines = [f' "{key}": {json.dumps(value)}' for key, value in recorded.items()]
    (GOLDENS / "recorded.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    np.savez_compressed(GOLDENS / "states.npz", **arrays)
    np.savez_compressed(GOLDENS / "cells.npz", **cells)


if __name__ == "__main__":
    GOLDENS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        # A failed compilation leaves a dump in the working directory.
        os.chdir(scratch)
        main()
