"""Let the original save optimizers after ten steps, or resume ours for ten more.

Run with the oracle's python: ``resume_optimizers.py save FOLDER`` writes NAME.ckpt for each case;
``resume_optimizers.py resume FOLDER`` reads them and writes ``resumed.npz`` there. The goldens in
``tests/goldens/optim/halfway`` come from ``save``.
"""

import os
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests.nn import optimizer_cases as cases
from tests.oracle.record_optimizers import evaluate, states


def train(optimizer, gradients):
    import mindspore as ms

    for each in gradients:
        optimizer(tuple(ms.Tensor(g) for g in each))


def main(what, folder):
    import mindspore as ms

    ms.set_context(mode=ms.PYNATIVE_MODE)
    arrays = {}
    for name in cases.RESUMED:
        optimizer = evaluate(cases.UPDATES[name])
        path = str(folder / f"{name}.ckpt")
        if what == "save":
            train(optimizer, cases.gradients()[: cases.HALF])
            ms.save_checkpoint(optimizer, path)
        else:
            ms.load_param_into_net(optimizer, ms.load_checkpoint(path))
            train(optimizer, cases.gradients()[cases.HALF :])
            arrays.update({f"{name}/{k}": v for k, v in states(optimizer).items()})
    if what == "resume":
        np.savez(folder / "resumed.npz", **arrays)


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        main(sys.argv[1], target)
