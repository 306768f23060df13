"""Losses that the original's CPU cannot run, or that draw."""

from __future__ import annotations

import numpy as np

import mindjax as ms
from mindjax import nn, ops


def test_l1_loss_ext(mode: int) -> None:
    # The original's CPU has no kernel: its documentation's examples.
    x = ms.Tensor(np.array([1, 2, 3]), ms.float32)
    y = ms.Tensor(np.array([[1, 1, 1], [1, 2, 2]]), ms.float32)
    assert abs(float(nn.L1LossExt()(x, y[1]).asnumpy()) - 1 / 3) < 1e-6
    assert nn.L1LossExt("none")(x, y).asnumpy().tolist() == [[0, 1, 2], [0, 0, 1]]


def test_sampled_softmax_draws_others(mode: int) -> None:
    rng = np.random.RandomState(0)
    weights, biases, logits = (
        ms.Tensor(rng.randn(*shape), ms.float32) for shape in ((7, 3), (7,), (4, 3))
    )
    labels = ms.Tensor([[0], [0], [1], [1]], ms.int32)
    loss = nn.SampledSoftmaxLoss(5, 7, seed=3)(weights, biases, labels, logits).asnumpy()
    assert loss.shape == (4,)
    assert (loss > 0).all()
    # Every other class is drawn: the loss is the softmax's with the sample's corrections.
    full = nn.SampledSoftmaxLoss(5, 7, seed=9)(weights, biases, labels, logits).asnumpy()
    np.testing.assert_allclose(loss, full, rtol=1e-5)


def test_a_variance_without_the_last_axis_is_that_of_a_row():
    rng = np.random.default_rng(0)
    x, target = rng.normal(size=(2, 4, 4))
    var = np.array([1.0, 2.0, 3.0, 4.0])
    # Of a square, so that it could be that of a column too; the original takes it so (2.10, CPU).
    wanted = (np.log(var)[:, None] + (x - target) ** 2 / var[:, None]) / 2
    arguments = [ms.Tensor(a.astype(np.float32)) for a in (x, target, var)]
    out = ops.gaussian_nll_loss(*arguments, reduction="none").asnumpy()
    np.testing.assert_allclose(out, wanted, 1e-5, 1e-6)
