"""What transforms of functions do to state, to gradients around them and to custom backwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn, ops

BOTH = pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])


def vector(*values: float) -> Any:
    return ms.Tensor(list(values), ms.float32)


@pytest.fixture(autouse=True)
def _pynative() -> Any:
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


class Counting(nn.Cell):
    """Counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = ms.Parameter(vector(0.0), requires_grad=False)
        self.w = ms.Parameter(vector(2.0, 3.0))

    def construct(self, x: Any) -> Any:
        ops.assign_add(self.calls, vector(1.0))
        return x * self.w


class Summing(nn.Cell):
    """Adds up what it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.total = ms.Parameter(vector(0.0), requires_grad=False)

    def construct(self, x: Any) -> Any:
        ops.assign_add(self.total, x.sum().reshape(1))
        return x


class Squared(nn.Cell):
    """A square with a backward pass of its own, which is three times too large."""

    def construct(self, x: Any) -> Any:
        return x * x

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (6 * x * dout,)


@BOTH
@pytest.mark.parametrize("transform", ["vmap", "jvp", "jacfwd", "jacrev"])
def test_writes_of_the_function_arrive_once(mode: int, transform: str) -> None:
    ms.set_context(mode=mode)
    net = Counting()
    x = ms.Tensor(np.ones((3, 2), np.float32))
    run = {
        "vmap": lambda: ms.vmap(net)(x),
        "jvp": lambda: ms.jvp(net, x, x),
        "jacfwd": lambda: ms.jacfwd(net)(x),
        "jacrev": lambda: ms.jacrev(net)(x),
    }[transform]
    run()
    assert net.calls.asnumpy() == [1]
    run()
    assert net.calls.asnumpy() == [2]


@BOTH
def test_a_shared_parameter_cannot_take_one_value_a_slice(mode: int) -> None:
    ms.set_context(mode=mode)
    net = Summing()
    with pytest.raises(RuntimeError, match="For 'vmap', the function writes"):
        ms.vmap(net)(ms.Tensor(np.ones((3, 2), np.float32)))
    assert net.total.asnumpy() == [0]


@BOTH
def test_each_member_of_an_ensemble_keeps_its_own_state(mode: int) -> None:
    ms.set_context(mode=mode)
    nets = nn.CellList([Summing(), Summing()])
    ms.vmap(nets)(ms.Tensor([[1, 2], [3, 4]], ms.float32))
    assert [float(n.total.asnumpy()[0]) for n in nets] == [3, 7]


@BOTH
def test_gradients_of_an_ensemble_by_its_weights(mode: int) -> None:
    ms.set_context(mode=mode)
    nets = nn.CellList([Counting(), Counting()])
    weights = ms.ParameterTuple([n.w for n in nets])

    def loss(x: Any) -> Any:
        return (ms.vmap(nets, in_axes=0)(x) ** 2).sum()

    x = ms.Tensor([[1, 2], [3, 4]], ms.float32)
    first, second = ms.grad(loss, None, weights)(x)
    np.testing.assert_allclose(first.asnumpy(), [4, 24])
    np.testing.assert_allclose(second.asnumpy(), [36, 96])


@BOTH
def test_gradients_reach_parameters_read_under_vmap(mode: int) -> None:
    ms.set_context(mode=mode)
    net = Counting()

    def loss(x: Any) -> Any:
        return ms.vmap(net)(x).sum()

    (gradient,) = ms.grad(loss, None, [net.w])(ms.Tensor([[1, 2], [3, 4]], ms.float32))
    np.testing.assert_allclose(gradient.asnumpy(), [4, 6])


@BOTH
def test_gradient_of_a_derivative(mode: int) -> None:
    ms.set_context(mode=mode)

    def slope(x: Any) -> Any:
        return ms.jvp(ops.sin, x, vector(1.0, 1.0))[1].sum()

    x = vector(0.5, 1.0)
    np.testing.assert_allclose(ms.grad(slope)(x).asnumpy(), -np.sin([0.5, 1.0]), rtol=1e-6)


@BOTH
def test_forward_mode_uses_the_users_own_backward(mode: int) -> None:
    ms.set_context(mode=mode)
    x, v = vector(1.0, 2.0), vector(1.0, 10.0)
    out, slope = ms.jvp(Squared(), x, v)
    np.testing.assert_allclose(out.asnumpy(), [1, 4])
    np.testing.assert_allclose(slope.asnumpy(), [6, 120])
    np.testing.assert_allclose(ms.jacfwd(Squared())(x).asnumpy(), [[6, 0], [0, 12]])


@BOTH
def test_inside_a_compiled_function(mode: int) -> None:
    ms.set_context(mode=mode)
    net = Counting()

    @ms.jit
    def run(x: Any) -> Any:
        out, pull = ms.vjp(net, x)
        return ms.vmap(net)(x), ms.jacfwd(ops.exp)(x[0]), out, pull(x)

    x = ms.Tensor([[1, 2], [3, 4]], ms.float32)
    mapped, jacobian, out, (pulled,) = run(x)
    np.testing.assert_allclose(mapped.asnumpy(), [[2, 6], [6, 12]])
    np.testing.assert_allclose(jacobian.asnumpy(), np.diag(np.exp([1, 2])), rtol=1e-6)
    np.testing.assert_allclose(out.asnumpy(), mapped.asnumpy())
    np.testing.assert_allclose(pulled.asnumpy(), [[2, 6], [6, 12]])


@BOTH
def test_random_numbers_are_the_same_in_every_slice(mode: int) -> None:
    ms.set_context(mode=mode)

    def noisy(x: Any) -> Any:
        return x + ops.rand(2)

    out = ms.vmap(noisy)(ms.Tensor(np.zeros((3, 2), np.float32))).asnumpy()
    again = ms.vmap(noisy)(ms.Tensor(np.zeros((3, 2), np.float32))).asnumpy()
    assert (out == out[0]).all()
    assert not (again == out).any()


@BOTH
def test_values_around_the_function_are_those_of_now(mode: int) -> None:
    ms.set_context(mode=mode)
    factor = 2.0

    def scaled(x: Any) -> Any:
        return x * factor

    x = vector(1.0, 2.0)
    np.testing.assert_allclose(ms.jvp(scaled, x, x)[1].asnumpy(), [2, 4])
    factor = 3.0
    np.testing.assert_allclose(ms.jvp(scaled, x, x)[1].asnumpy(), [3, 6])


def test_transforms_of_one_function_compile_once() -> None:
    from mindjax.core.caches import compilations

    x = vector(1.0, 2.0)
    ms.jvp(ops.tanh, x, x)
    before = compilations()["graph"]
    for _ in range(3):
        ms.jvp(ops.tanh, x, x)
    assert compilations()["graph"] == before


@BOTH
def test_derivatives_of_high_order(mode: int) -> None:
    ms.set_context(mode=mode)
    out, fifth = ops.derivative(lambda x: ops.exp(2 * x), ms.Tensor(0.0, ms.float32), 5)
    assert float(out) == 1
    np.testing.assert_allclose(float(fifth), 32, rtol=1e-5)


@BOTH
def test_integers_and_float64_pass_through(mode: int) -> None:
    ms.set_context(mode=mode)

    def function(x: Any, i: Any) -> Any:
        return x * i, i + 1

    x, i = ms.Tensor([1.0, 2.0], ms.float64), ms.Tensor([3, 4], ms.int32)
    out, slope = ms.jvp(function, (x, i), (x, i))
    assert out[0].dtype == ms.float64 and slope[1].dtype == ms.int32
    np.testing.assert_allclose(slope[0].asnumpy(), [3, 8])
    np.testing.assert_allclose(slope[1].asnumpy(), [0, 0])
    with pytest.raises(TypeError, match="must be a float Tensor"):
        ms.jacfwd(function, 1)(x, i)
