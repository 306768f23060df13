"""A user's `jax.disable_jit` and `jax.debug_nans` around programs of MindJAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, nn, ops

X = np.array([[0.5, 1.5], [2.0, -1.0]], np.float32)


class Net(nn.Cell):
    """Has Parameters that are read, written and counted under traced conditions."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
        self.count = ms.Parameter(Tensor(0, ms.int32), name="count", requires_grad=False)
        self.last = 0

    def construct(self, x: Any) -> Any:
        self.count += 1
        y = self.dense(x)
        while (y * y).sum() < 100:
            y = y * 2
            if y.max() > 6:
                break
        self.last = self.last + 1
        return y.sum()


def doubled(x: Any) -> Any:
    y = x
    while (y * y).sum() < 100:
        y = y * x + 1
    return y.sum()


def call() -> Any:
    net = Net()
    return [net(Tensor(X)), net(Tensor(X)), net.count, net.last]


def train() -> Any:
    net = Net()
    optimizer = nn.Momentum(net.trainable_params(), 0.125, 0.5)
    step = nn.TrainOneStepCell(net, optimizer)
    return [step(Tensor(X)), step(Tensor(X)), net.dense.weight, net.count]


def gradient() -> Any:
    return [ms.value_and_grad(doubled)(Tensor(X)), ms.jit(ms.grad(doubled))(Tensor(X))]


def second_order() -> Any:
    return ms.jit(ms.grad(lambda x: ms.grad(doubled)(x).sum()))(Tensor(X))


def forward() -> Any:
    return ms.jvp(doubled, Tensor(X), Tensor(X))


def mapped() -> Any:
    return ms.vmap(doubled)(Tensor(X)), ms.jit(ms.vmap(ms.grad(doubled)))(Tensor(X))


def written() -> Any:
    x = Tensor(X)
    ms.jit(lambda y: y.add_(1.0))(x)
    return x


def layers() -> Any:
    ms.set_seed(3)
    net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Dropout(p=0.5))
    net.set_train()
    return net(ops.ones((1, 1, 4, 4))), net[1].moving_mean


PROGRAMS = [
    *(call, train, forward, mapped, written),
    *(pytest.param(p, marks=pytest.mark.slow) for p in (gradient, second_order, layers)),
]


def plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return value.asnumpy() if isinstance(value, Tensor) else value


def same(found: Any, wanted: Any) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, 1e-5, 1e-6), found, wanted)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_values(program: Callable[[], Any]) -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    check(program)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_values_in_pynative(program: Callable[[], Any]) -> None:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    check(program)


def check(program: Callable[[], Any]) -> None:
    """Compare with what the program gives without a switch."""
    wanted = plain(program())
    with jax.debug_nans(True):
        same(plain(program()), wanted)
    with jax.disable_jit():
        same(plain(program()), wanted)
    same(plain(program()), wanted)


@pytest.mark.parametrize("under", [jax.disable_jit, lambda: jax.debug_nans(True)])
def test_programs_that_are_compiled_already(under: Any) -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    first = plain(net(Tensor(X)))
    with under():
        same(plain(net(Tensor(X))), first)
    same(plain(net(Tensor(X))), first)
    assert plain(net.count) == 3 and net.last == 3


def test_nans_are_found_where_they_are_made(mode: Any) -> None:
    class Root(nn.Cell):
        """Takes the root of what may be below 0."""

        def __init__(self) -> None:
            super().__init__()
            self.count = ms.Parameter(Tensor(0, ms.int32), name="count")

        def construct(self, x: Any) -> Any:
            self.count += 1
            while x.max() < 8:
                x = x * 4
            return ops.sqrt(x)

    net = Root()
    with jax.debug_nans(True):
        assert plain(net(Tensor([4.0]))) == [4.0]
        with pytest.raises(FloatingPointError, match="nan"):
            net(Tensor([4.0, -1.0])).asnumpy()
        assert plain(net(Tensor([4.0]))) == [4.0]
    assert np.isnan(plain(net(Tensor([4.0, -1.0])))[1])
