"""Programs that are called again without jax's look at each array of the state."""

import jax
import numpy as np
import pytest
from jax.experimental.layout import Format, Layout

import mindjax as ms
from mindjax import Parameter, Tensor, interop, nn, ops
from mindjax.graph.direct_call import DirectCall


class Count(nn.Cell):
    """Adds the input to one Parameter and scales the result by another."""

    def __init__(self):
        super().__init__()
        self.total = Parameter(np.zeros(4, np.float32), name="total")
        self.scale = Parameter(np.full(4, 2.0, np.float32), name="scale")

    def construct(self, x):
        ops.assign(self.total, self.total + x)
        return self.total * self.scale


@pytest.fixture
def direct(monkeypatch):
    ms.set_context(mode=ms.GRAPH_MODE)
    ran = []
    call = DirectCall.__call__

    def noted(self, arguments):
        outputs = call(self, arguments)
        ran.append(outputs is not None)
        return outputs

    monkeypatch.setattr(DirectCall, "__call__", noted)
    yield ran
    ms.set_context(mode=ms.PYNATIVE_MODE)


def longer(net):
    for p in (net.total, net.scale):
        p.set_data(Tensor(np.ones(8, np.float32)), slice_shape=True)


def swapped(net):
    other = Parameter(np.ones(8, np.float32), name="other")
    other._version = net.total._version - 1
    ms.swap_tensors(net.total, other)
    net.scale.set_data(Tensor(np.ones(8, np.float32)), slice_shape=True)


def wider(net):
    net.total.set_dtype(ms.float64)


def held(net):
    net.__dict__["held"] = net.total.array


def other_program(net):
    double = ms.jit(lambda: ops.assign(net.total, net.total * 2.0))
    net.__dict__.setdefault("double", double)()


# What happens before each of three further calls; whether the last of them was direct.
BETWEEN = [
    ("nothing", lambda net: None, True),
    ("written by hand", lambda net: net.total.set_data(Tensor([1, 2, 3, 4.0])), False),
    ("one array for two", lambda net: net.scale.set_data(net.total), True),
    ("another program", other_program, True),
    ("an array that is held", held, True),
    ("read", lambda net: net.total.asnumpy(), True),
    ("another shape", longer, False),
    ("exchanged", swapped, False),
    ("another dtype", wider, True),
]


@pytest.mark.parametrize(("what", "between", "expected"), BETWEEN, ids=[b[0] for b in BETWEEN])
def test_state_that_has_changed_is_looked_at(direct, what, between, expected):
    net = Count()
    x = Tensor(np.ones(4, np.float32))
    for _ in range(2):
        net(x)
    direct.clear()
    for _ in range(3):
        between(net)
        # In case the shape is another one.
        x = Tensor(np.ones(net.total.shape, np.float32))
        total = net.total.asnumpy() + 1
        scale = net.scale.asnumpy()
        out = net(x)
        np.testing.assert_array_equal(out.asnumpy(), total * scale)
        np.testing.assert_array_equal(net.total.asnumpy(), total)
        if "held" in net.__dict__:
            np.testing.assert_array_equal(net.held, total - 1)
    assert direct[-1] == expected


def test_arguments_are_looked_at(direct):
    net = Count()
    x = Tensor(np.ones(4, np.float32))
    for _ in range(3):
        net(x)
    assert direct[-1]
    with jax.debug_nans(True), pytest.raises(FloatingPointError, match="nan"):
        net(Tensor(np.full(4, np.nan, np.float32)))
    net.total.set_data(Tensor(np.zeros(4, np.float32)))
    assert net(x).asnumpy().tolist() == [2.0] * 4
    assert net(x).asnumpy().tolist() == [4.0] * 4 and direct[-1]


def test_arrays_that_are_gone_are_named(direct):
    net, x = Count(), Tensor(np.ones(4, np.float32))
    for _ in range(3):
        net(x)
    gone = Tensor(np.ones(4, np.float32))
    gone.array.delete()
    lost = jax.device_put(np.ones((2, 3)))
    lost.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        Tensor(lost).asnumpy()
    with pytest.raises(RuntimeError, match="deleted"):
        net(gone)
    assert net(x).asnumpy().tolist() == [8.0] * 4
    ms.set_context(mode=ms.PYNATIVE_MODE)
    with ms.eager("op_by_op"):
        for _ in range(10):
            x + x
        with pytest.raises(RuntimeError, match="was replaced by another thread"):
            x + gone


def test_outputs_stand_in_their_places(direct):
    """Results, state and written arguments each get their own."""
    p = Parameter(np.zeros(2, np.float32), name="p")

    @ms.jit
    def step(x):
        x.add_(1.0)
        ops.assign_add(p, x)
        return x * 10

    for i in range(1, 5):
        x = Tensor(np.full(2, float(i), np.float32))
        assert step(x).asnumpy().tolist() == [10.0 * (i + 1)] * 2
        assert x.asnumpy().tolist() == [i + 1.0] * 2
    assert p.asnumpy().tolist() == [14.0] * 2 and direct[-1]


def applied(pair, *arrays):
    apply, state = pair
    return apply(state, *arrays)


ENTRIES = {
    "Tensor": lambda net, array, x: net(Tensor(array), x),
    "a Cell on arrays": lambda net, array, x: Tensor(net(array, x.array)),
    "state": lambda net, array, x: (net.p.set_data(Tensor(array)), net(net.p, x))[1],
    "an op": lambda net, array, x: net(ops.add(x, array) - x, x),
    "functional": lambda net, array, x: Tensor(applied(interop.functional(net), array, x.array)),
}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
@pytest.mark.parametrize("way", ["graph", "op_by_op", "deferred"])
def test_arrays_whose_axes_lie_in_another_order(entry, way):
    """Calls without a look at the arrays take them as they lie."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(np.zeros((2, 3), np.float32), name="p")

        def construct(self, a, x):
            return a * x + x

    net, x = Net(), Tensor(np.full((2, 3), 2.0, np.float32))
    plain = np.arange(6, dtype=np.float32).reshape(2, 3)
    usual = jax.device_put(plain)
    turned = jax.device_put(usual, Format(Layout((1, 0)), usual.sharding))
    ms.set_context(mode=ms.GRAPH_MODE if way == "graph" else ms.PYNATIVE_MODE)
    try:
        with ms.eager(way if way != "graph" else "op_by_op"):
            for array in [usual] * 10 + [turned] * 3:
                got = entry(net, array, x).asnumpy()
                np.testing.assert_array_equal(got, plain * 2 + 2)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
