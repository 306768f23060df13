"""Cells around networks against what the original recorded, in both modes."""

import json
import pathlib

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn
from tests.nn import optim_cases as cases

GOLDENS = pathlib.Path(__file__).resolve().parent.parent / "goldens" / "optim"
RECORDED = json.loads((GOLDENS / "recorded.json").read_text())
CELLS = dict(np.load(GOLDENS / "cells.npz"))


def with_loss():
    backbone = cases.network(ms, nn)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    network = nn.WithLossCell(backbone, loss)
    return {"ms": ms, "nn": nn, "np": np} | {
        "backbone": backbone,
        "loss": loss,
        "network": network,
        "optimizer": nn.Momentum(network.trainable_params(), 0.1, 0.9),
    }


def flat(value):
    if isinstance(value, dict):
        return [a for v in value.values() for a in flat(v)]
    if isinstance(value, tuple | list):
        return [a for v in value for a in flat(v)]
    return [value.asnumpy()]


def batches():
    return [tuple(ms.Tensor(b) for b in batch) for batch in cases.batches()]


@pytest.mark.parametrize("name", cases.TRAINERS)
def test_training_equals_the_originals(name, mode):
    trainer = eval(cases.TRAINERS[name], with_loss())
    for i, batch in enumerate(batches()):
        for j, array in enumerate(flat(trainer(*batch))):
            np.testing.assert_allclose(array, CELLS[f"{name}/{i}/{j}"], 1e-5, 1e-6)
    assert list(trainer.parameters_dict()) == RECORDED["trainers"][name]
    for key, value in trainer.parameters_dict().items():
        np.testing.assert_allclose(value.asnumpy(), CELLS[f"{name}/{key}"], 1e-5, 1e-6)


@pytest.mark.parametrize("name", cases.WRAPPERS)
def test_cells_around_a_network_equal_the_originals(name, mode):
    cell = eval(cases.WRAPPERS[name], with_loss())
    for j, array in enumerate(flat(cell(*batches()[0]))):
        np.testing.assert_allclose(array, CELLS[f"{name}/{j}"], 1e-5, 1e-6)


def test_a_step_of_a_users_own(mode):
    class Doubled(nn.TrainOneStepCell):
        def construct(self, *inputs):
            loss = self.network(*inputs)
            sens = ms.ops.fill(loss.dtype, loss.shape, self.sens)
            grads = self.grad_reducer(self.grad(self.network, self.weights)(*inputs, sens))
            return ms.ops.depend(loss, self.optimizer(grads))

    names = with_loss()
    trainer = Doubled(names["network"], names["optimizer"], sens=3.0)
    for i, batch in enumerate(batches()):
        np.testing.assert_allclose(trainer(*batch).asnumpy(), CELLS[f"sens/{i}/0"], 1e-5)


def test_an_unbound_optimizer_takes_the_networks_parameters(mode):
    names = with_loss()
    optimizer = nn.Momentum(learning_rate=0.1, momentum=0.9)
    trainer = nn.TrainOneStepCell(names["network"], optimizer)
    assert list(optimizer.parameters) == names["network"].trainable_params()
    for i, batch in enumerate(batches()):
        np.testing.assert_allclose(trainer(*batch).asnumpy(), CELLS[f"plain/{i}/0"], 1e-5)


def test_the_network_is_reached():
    names = with_loss()
    assert names["network"].backbone_network is names["backbone"]
    trainer = nn.TrainOneStepCell(names["network"], names["optimizer"])
    assert trainer.weights == names["optimizer"].parameters
    assert (trainer.sens, trainer.sense_flag, trainer.reducer_flag) == (1.0, False, False)
