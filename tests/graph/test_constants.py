"""What a compiled program takes as constant or as state: a change is seen at the next call."""

import copy
import dataclasses
import pickle
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, interop, nn, ops
from mindjax.core import handle as handles


@pytest.fixture(autouse=True)
def graph():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def t(*values):
    return Tensor(np.array(values, np.float32))


def value(tensor):
    return tensor.asnumpy().tolist()


class Attributes(nn.Cell):
    """``f(x) * k[0] + t * d['a']``."""

    def __init__(self):
        super().__init__()
        self.f, self.k, self.t, self.d = ops.relu, (1, 2), t(10), {"a": 1}

    def construct(self, x):
        return self.f(x) * self.k[0] + self.t * self.d["a"]


CHANGES = [
    ("tuple", "k", (3, 4), [10, 16]),
    ("function", "f", ops.abs, [11, 12]),
    ("tensor", "t", t(20), [20, 22]),
    ("dict", "d", {"a": 2}, [20, 22]),
]


@pytest.mark.parametrize(("kind", "name", "new", "want"), CHANGES, ids=[c[0] for c in CHANGES])
def test_a_changed_attribute_is_seen(kind, name, new, want):
    net = Attributes()
    assert value(net(t(-1, 2))) == [10, 12]
    setattr(net, name, new)
    assert value(net(t(-1, 2))) == want


def test_an_element_changed_in_place_is_seen_with_the_next_change():
    net = Attributes()
    net(t(-1, 2))
    net.d["a"] = 3
    net.set_train(False)
    assert value(net(t(-1, 2))) == [30, 32]


def test_changed_containers_are_seen():
    tanh, relu = nn.Tanh(), nn.ReLU()
    net = nn.SequentialCell(nn.Flatten())
    x = np.array([[-1, 2]], np.float32)
    net(Tensor(x))
    net.append(tanh)
    np.testing.assert_allclose(net(Tensor(x)).asnumpy(), np.tanh(x), rtol=1e-5)
    net[1] = relu
    np.testing.assert_array_equal(net(Tensor(x)).asnumpy(), np.maximum(x, 0))
    del net[1]
    np.testing.assert_array_equal(net(Tensor(x)).asnumpy(), x)


@dataclasses.dataclass
class Config:
    """Not hashable, and gone after each call: the next one may get its id."""

    scale: int


@pytest.mark.parametrize(
    ("make", "want"),
    [
        (lambda i: Config(i), [1, 2, 3, 4]),
        (lambda i: np.float32(-0.0 if i % 2 else 0.0), [-0.0, 0.0, -0.0, 0.0]),
    ],
    ids=["dataclass", "signed zero"],
)
def test_arguments_that_are_constants(make, want):
    @ms.jit
    def scaled(x, c):
        return x * (c.scale if isinstance(c, Config) else c)

    got = [np.real(scaled(t(1), make(i)).asnumpy()[0]) for i in range(1, 5)]
    assert [(g, np.signbit(g)) for g in got] == [(w, np.signbit(w)) for w in want]


class Memory(nn.Cell):
    """Keeps the sum of what it saw, from None on."""

    def __init__(self):
        super().__init__()
        self.sum = None

    def construct(self, x):
        self.sum = x if self.sum is None else self.sum + x
        return self.sum


def test_an_attribute_goes_from_none_to_a_tensor_and_back():
    net, got = Memory(), []
    for i in range(6):
        if i == 4:
            net.sum = None
        got += value(net(t(1)))
    assert got == [1, 2, 3, 4, 1, 2]


class Inner(nn.Cell):
    """A Cell with state that others write."""

    def __init__(self):
        super().__init__()
        self.t, self.n = t(1), 1

    def construct(self, x):
        return x * self.t


class Outer(nn.Cell):
    """Writes the inner Cell's attribute before, after or in a function within."""

    def __init__(self, place):
        super().__init__()
        self.inner, self.place = Inner(), place

    def construct(self, x):
        def write():
            self.inner.t = self.inner.t + 1

        if self.place == "after":
            y = self.inner(x)
            self.inner.t = self.inner.t + 1
            return y
        if self.place == "function":
            write()
        else:
            self.inner.t = self.inner.t + 1
        return self.inner(x)


@pytest.mark.parametrize(
    ("place", "want"),
    [("before", [2, 3, 4, 5]), ("after", [1, 2, 3, 4]), ("function", [2, 3, 4, 5])],
)
def test_attributes_written_from_outside_are_state(place, want):
    net = Outer(place)
    assert [net(t(1)).asnumpy()[0] for _ in range(4)] == want
    assert value(net.inner.t) == [5]


def test_an_attribute_written_by_a_function_on_a_cell_that_is_not_called():
    net = nn.Dense(2, 2)

    @ms.jit
    def keep(x):
        net.kept = x * 2
        return x

    for i in range(3):
        keep(t(i))
        assert value(net.kept) == [2 * i]


class Counter(nn.Cell):
    """Counts on demand."""

    def __init__(self):
        super().__init__()
        self.n = 1

    def construct(self, x, count):
        if count:
            self.n = self.n + 1
        return x * self.n


def test_a_cell_first_met_inside_a_gradient_keeps_its_state():
    net = Counter()
    gradient = ms.grad(lambda x: net(x, False))

    @ms.jit
    def step(x):
        return gradient(x), net(x, True)

    assert [[v.asnumpy()[0] for v in step(t(1))] for _ in range(4)] == [
        [1, 2], [2, 3], [3, 4], [4, 5],
    ]  # fmt: skip


class OwnBackward(nn.Cell):
    """Writes attributes in a construct that has a bprop."""

    def __init__(self):
        super().__init__()
        self.n, self.last = 0, t(0)

    def construct(self, x):
        self.n = self.n + 1
        self.last = x * 2
        return x * x

    def bprop(self, x, out, dout):
        return (2 * x * dout,)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_attributes_written_under_a_bprop_are_state(mode):
    ms.set_context(mode=mode)
    net = OwnBackward()
    gradient = ms.grad(net)
    for _ in range(3):
        net(t(3))
        gradient(t(4))
    assert net.n == 6 and value(net.last) == [8]


def test_threads_that_trace_one_cell_at_once_lose_no_write():
    class Slow(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n = 0

        def construct(self, x):
            self.n = self.n + 1
            time.sleep(0.02)
            return x + self.n

    net = Slow()
    threads = [threading.Thread(target=net, args=(t(1),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert net.n == 3


class Reads(nn.Cell):
    """Uses the values of a Tensor, or of a Parameter, while it is traced."""

    def __init__(self, held):
        super().__init__()
        self.held = held

    def construct(self, x):
        return x * float(self.held)


def test_values_that_were_read_while_tracing():
    net = Reads(Tensor(2.0))
    assert value(net(t(1))) == [2]
    net.held.add_(1)
    assert value(net(t(1))) == [3]
    # A number made of a Parameter is computed by the program.
    held = Parameter(Tensor(2.0), name="p")
    net = Reads(held)
    assert value(net(t(1))) == [2]
    held.set_data(Tensor(3.0))
    assert value(net(t(1))) == [3]


def test_a_stale_view_is_read_right_in_a_graph():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    base = t(1, 2)
    view = base[0]
    base[0] = 5
    add = ms.jit(lambda x: x + view)
    assert value(add(t(1))) == [6]
    base[0] = 7
    assert value(add(t(1))) == [8]
    base[0] = 9
    assert jax.jit(lambda x: x + view.array)(jnp.ones(1)).tolist() == [10]
    assert view.asnumpy() == 9


def test_state_inside_a_jax_jit_from_outside_stays_state():
    weight = Parameter(t(1), name="weight")
    inner = jax.jit(lambda a: a * weight.array)
    outer = interop.jit(lambda x, k: inner(x) + k)
    got = [outer(jnp.ones(1), 0)]
    for new in (5, 7):
        weight.set_data(t(new))
        got += [outer(jnp.ones(1), 0), outer(jnp.ones(1), 1)]
    assert [g.item() for g in got] == [1, 5, 6, 7, 8]


def test_the_users_x64_setting_is_part_of_the_key():
    ones = interop.jit(lambda x: jnp.ones(2) + unwrapped(x))
    assert ones(jnp.ones(2, jnp.float32)).dtype == np.float32
    with jax.enable_x64(True):
        assert ones(jnp.ones(2, jnp.float32)).dtype == np.float64


def unwrapped(x):
    return getattr(x, "array", x)


def test_a_parameter_of_another_shape_under_a_tape():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    weight = Parameter(t(1, 2), name="weight")
    loss = ms.jit(lambda x: (weight * x).sum())
    step = ms.value_and_grad(loss, None, [weight])
    assert value(step(t(1, 1))[1][0]) == [1, 1]
    weight.set_data(t(5), slice_shape=True)
    assert value(step(t(1, 1))[1][0]) == [2]


class Trainer(nn.Cell):
    """Holds a gradient function and a compiled one."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(t(3), name="weight")
        self.step = ms.value_and_grad(self.loss, None, [self.weight])
        self.fast = ms.jit(self.loss)

    def loss(self, x):
        return (x * self.weight).sum()

    def construct(self, x):
        loss, (gradient,) = self.step(x)
        self.weight.set_data(self.weight - gradient)
        return loss


@ms.jit
def doubled(x):
    return x * 2


@pytest.mark.parametrize(
    "clone", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))], ids=["deepcopy", "pickle"]
)
def test_copies_of_cells_that_hold_functions(clone):
    net = Trainer()
    net(t(1)), net.step(t(1)), net.fast(t(1))
    other = clone(net)
    assert [other(t(1)).item(), other(t(1)).item(), other.fast(t(1)).item()] == [2, 1, 0]
    assert value(net.weight) == [2] and net.fast(t(1)).item() == 2
    assert value(clone(doubled)(t(1))) == [2]


def test_nets_that_ran_as_programs_on_a_tape_are_freed():
    if not handles.TRACK:
        pytest.skip("handles are not counted")
    ms.set_context(mode=ms.PYNATIVE_MODE)

    def run():
        net = nn.Dense(2, 2)
        loss = ms.jit(lambda x: net(x).sum())
        ms.value_and_grad(loss, None, net.trainable_params())(Tensor(np.ones((1, 2), np.float32)))

    import gc

    counts = []
    for _ in range(4):
        run()
        gc.collect()
        counts.append(len(handles.live_handles()))
    assert counts[1] == counts[3]
