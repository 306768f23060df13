"""State under GRAPH: aliases, failures, interrupts, threads and copies never lose a Parameter."""

import copy
import signal
import threading

import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, nn, ops
from mindjax.core import caches
from mindjax.core.engine import engine

STEPS = 200


class Net(nn.Cell):
    """One weight, one counter, one moving value."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(np.ones((4, 3), np.float32), name="weight")
        self.moving = Parameter(np.zeros(3, np.float32), name="moving", requires_grad=False)
        self.calls = 0

    def construct(self, x):
        self.calls += 1
        y = ops.matmul(x, self.weight)
        ops.assign(self.moving, self.moving * 0.5 + y.mean(0))
        return y


class Step(nn.Cell):
    """Adds 1 to every element of the weight at each call."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x):
        y = self.net(x)
        ops.assign_add(self.net.weight, ops.ones_like(self.net.weight))
        return y.sum()


@pytest.fixture(autouse=True)
def graph():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def make():
    net = Net()
    return net, Step(net), Tensor(np.ones((2, 4), np.float32))


def check(net, steps):
    np.testing.assert_array_equal(net.weight.asnumpy(), np.full((4, 3), 1.0 + steps))
    assert net.calls == steps and type(net.calls) is int


def test_aliases_follow_and_copies_keep_the_old_value():
    net, step, x = make()
    aliases = []
    for i in range(STEPS):
        if i % 20 == 0:
            aliases.append((i, Tensor(net.weight), net.weight.array, net.weight.clone()))
        step(x)
    check(net, STEPS)
    for i, tensor, array, clone in aliases:
        np.testing.assert_array_equal(tensor.asnumpy(), net.weight.asnumpy())
        for value in (np.asarray(array), clone.asnumpy()):
            np.testing.assert_array_equal(value, np.full((4, 3), 1.0 + i))


def test_one_buffer_as_two_parameters_and_as_input():
    net, _, _ = make()
    twin = Parameter(net.weight, name="twin")

    class Both(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net, self.twin = net, twin

        def construct(self, x):
            ops.assign_add(self.net.weight, x)
            ops.assign_add(self.twin, 2 * x)
            return self.net.weight + self.twin

    both = Both()
    for _ in range(STEPS):
        x = Tensor(net.weight.array)
        before = x.asnumpy()
        twin.set_data(net.weight)
        both(x)
        np.testing.assert_array_equal(x.asnumpy(), before)
        np.testing.assert_array_equal(net.weight.asnumpy(), before * 2)
        np.testing.assert_array_equal(twin.asnumpy(), before * 3)
        net.weight.set_data(Tensor(np.ones((4, 3), np.float32)))


def test_set_data_between_steps_is_seen():
    net, step, x = make()
    for i in range(STEPS):
        net.weight.set_data(Tensor(np.full((4, 3), float(i), np.float32)))
        assert step(x).asnumpy() == 2 * 3 * 4 * i
        np.testing.assert_array_equal(net.weight.asnumpy(), np.full((4, 3), i + 1.0))


def test_raise_inside_a_step_changes_nothing():
    net, step, x = make()

    class Faulty(nn.Cell):
        def __init__(self):
            super().__init__()
            self.step = step

        def construct(self, x, flag):
            out = self.step(x)
            if flag:
                raise ValueError("on purpose")
            return out

    faulty = Faulty()
    done = 0
    for i in range(STEPS):
        if i % 10 == 3:
            with pytest.raises(ValueError, match="on purpose"):
                faulty(x, True)
        else:
            faulty(x, False)
            done += 1
    check(net, done)


# An interrupt that lands in a garbage collector's callback is dropped by Python itself.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_keyboard_interrupt_inside_a_step_loses_nothing():
    net, step, x = make()
    step(x)
    finished, interrupts = 1, 0
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    for i in range(STEPS):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0002 * (i % 7) + 1e-5)
            # Longer than the alarm takes, which must not ring outside of here.
            for _ in range(300):
                step(x)
                finished += 1
        except KeyboardInterrupt:
            interrupts += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        # The interrupt may come after the step and before the count.
        steps = int(net.weight.asnumpy()[0, 0]) - 1
        assert steps - finished in (0, 1)
        finished = steps
        np.testing.assert_array_equal(net.weight.asnumpy(), np.full((4, 3), 1.0 + steps))
    signal.signal(signal.SIGALRM, before)
    assert interrupts > 0


class TimeIsUp(Exception):
    pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_handler_that_raises_inside_a_step_loses_nothing():
    net, step, x = make()
    step(x)

    def stop(*_):
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, stop)
    stopped = 0
    try:
        for i in range(STEPS // 5):
            start = int(net.weight.asnumpy()[0, 0])
            finished = 0
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0002 * (i % 7) + 1e-5)
                for _ in range(300):
                    step(x)
                    finished += 1
            except TimeIsUp:
                stopped += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            steps = int(net.weight.asnumpy()[0, 0])
            assert steps - start - finished in (0, 1)
            np.testing.assert_array_equal(net.weight.asnumpy(), np.full((4, 3), float(steps)))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert stopped > 0


def test_a_thread_saves_while_training(tmp_path):
    net, step, x = make()
    stop, errors, saved = threading.Event(), [], []

    def save():
        while not stop.is_set():
            try:
                ms.save_checkpoint(net, str(tmp_path / "net.ckpt"))
                saved.append(ms.load_checkpoint(str(tmp_path / "net.ckpt"))["net.weight"].asnumpy())
            except Exception as error:
                errors.append(error)
                return

    thread = threading.Thread(target=save)
    thread.start()
    while len(saved) < 5 and not errors:
        step(x)
    for _ in range(STEPS):
        step(x)
    stop.set()
    thread.join()
    assert not errors
    assert all(len(np.unique(value)) == 1 for value in saved)


def test_two_threads_step_one_net():
    net, step, x = make()
    step(x)
    threads = [threading.Thread(target=lambda: [step(x) for _ in range(STEPS)]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(net.weight.asnumpy(), np.full((4, 3), 2.0 + 2 * STEPS))


def test_deepcopy_of_tied_weights_in_the_middle():
    class Tied(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = nn.Dense(3, 3)
            self.second = nn.Dense(3, 3)
            self.second.weight = self.first.weight

        def construct(self, x):
            return self.second(self.first(x))

    net = Tied()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    step = nn.TrainOneStepCell(net, optimizer)
    x = Tensor(np.ones((2, 3), np.float32))
    for i in range(STEPS):
        step(x)
        if i == STEPS // 2:
            twin = copy.deepcopy(net)
            kept = twin.first.weight.asnumpy()
    assert twin.first.weight is twin.second.weight
    np.testing.assert_array_equal(twin.first.weight.asnumpy(), kept)
    assert np.isfinite(net.first.weight.asnumpy()).all()
    assert not np.array_equal(net.first.weight.asnumpy(), kept)


def test_python_side_effects_happen_once_a_compilation():
    log = []

    class Noisy(nn.Cell):
        def construct(self, x):
            log.append(x.shape)
            return x + 1

    net = Noisy()
    for size in (2, 3, 2, 3, 2):
        net(Tensor(np.ones(size, np.float32)))
    assert log == [(2,), (3,)]


class Modes(nn.Cell):
    """Shows each mode in its output."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
        self.scale = 1.0

    def construct(self, x):
        y = self.dense(x) * self.scale
        return y + 100 if self.training else y


SWITCHES = [
    ("set_train", lambda net: net.set_train(True), 102.0, np.float32),
    ("set_train back", lambda net: net.set_train(False), 2.0, np.float32),
    ("attribute", lambda net: setattr(net, "scale", 3.0), 6.0, np.float32),
    ("to_float", lambda net: net.to_float(ms.float16), 6.0, np.float16),
    ("to_float of a cell", lambda net: net.dense.to_float(ms.float32), 6.0, np.float32),
    ("weight", lambda net: net.dense.weight.set_data(ops.zeros((2, 2))), 0.0, np.float32),
    ("replaced cell", lambda net: setattr(net, "dense", nn.Flatten()), 3.0, np.float16),
]


@pytest.mark.parametrize("mode_value", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_switches_between_calls_take_effect(mode_value):
    ms.set_context(mode=mode_value)
    net = Modes()
    x = Tensor(np.ones((1, 2), np.float32))
    assert net(x).asnumpy()[0, 0] == 2.0
    for name, switch, value, dtype in SWITCHES:
        switch(net)
        out = net(x).asnumpy()
        assert (float(out[0, 0]), out.dtype) == (value, dtype), name


def test_requires_grad_between_calls_takes_effect():
    net = Modes()
    x = Tensor(np.ones((1, 2), np.float32))

    def step():
        return ms.value_and_grad(net, None, net.trainable_params())(x)[1]

    assert len(step()) == 2
    net.dense.bias.requires_grad = False
    assert len(step()) == 1


def test_same_seed_gives_bit_equal_runs(mode):
    def run():
        ms.set_seed(3)
        net = nn.SequentialCell(nn.Dense(4, 4), nn.Dropout(p=0.5), nn.Dense(4, 2)).set_train()
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        step = nn.TrainOneStepCell(net, optimizer)
        x = Tensor(np.arange(8, dtype=np.float32).reshape(2, 4))
        return [step(x).asnumpy().tobytes() for _ in range(20)]

    if engine() == "deferred":
        # What is met for the first time runs op by op, and rounds as such.
        run()
    assert run() == run()


NUMBERS = [
    ("float argument", lambda x, k: x * k, lambda i: i * 0.37),
    ("int argument", lambda x, k: x + k, lambda i: i),
    ("index", lambda x, k: x[k], lambda i: i % 64),
    ("slice start", lambda x, k: x[k : k + 3], lambda i: i % 61),
]


@pytest.mark.parametrize(("name", "function", "number"), NUMBERS, ids=[n[0] for n in NUMBERS])
def test_numbers_share_programs(name, function, number):
    x = Tensor(np.arange(64, dtype=np.float32))
    compiled = ms.jit(function)
    before = sum(caches.compilations().values())
    for i in range(200):
        out = compiled(x, number(i))
        expected = function(np.arange(64, dtype=np.float32), number(i))
        np.testing.assert_allclose(out.asnumpy(), np.asarray(expected, np.float32), rtol=1e-6)
    assert sum(caches.compilations().values()) - before <= 10


def test_attribute_of_tensor_kind_is_state():
    class Recurrent(nn.Cell):
        def __init__(self):
            super().__init__()
            self.hidden = Tensor(np.zeros(2, np.float32))
            self.last = None

        def construct(self, x):
            self.hidden = self.hidden * 0.5 + x
            self.last = self.hidden * 2
            return self.hidden

    outs = {}
    for mode_value in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode_value)
        net = Recurrent()
        x = Tensor(np.ones(2, np.float32))
        outs[mode_value] = [net(x).asnumpy() for _ in range(4)] + [net.last.asnumpy()]
    np.testing.assert_array_equal(outs[0], outs[1])


def test_condition_on_a_traced_value_names_the_line():
    class Branch(nn.Cell):
        def construct(self, x):
            return x if x > 0 else -x

    with pytest.raises(Exception, match=r"test_state\.py:\d+") as caught:
        Branch()(Tensor(np.ones(2, np.float32)))
    assert "\n" not in str(caught.value)


def test_a_jitted_method_sees_attributes_and_modes():
    class Method(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scale = 2.0

        @ms.jit
        def scaled(self, x):
            return x * self.scale + (10 if self.training else 0)

    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = Method()
    x = Tensor(np.ones(1, np.float32))
    assert net.scaled(x).asnumpy() == 2
    net.scale = 3.0
    assert net.scaled(x).asnumpy() == 3
    net.set_train()
    assert net.scaled(x).asnumpy() == 13


def momentum_step(x):
    weight = ops.zeros((2,))
    return ops.ApplyMomentum()(weight, x, 0.1, ops.ones((2,)), 0.5)


IN_PLACE = [
    ("add_", lambda x: x.add_(5.0), [6.0, 7.0]),
    ("mul_ of a local alias", lambda x: (lambda y: y.mul_(3.0))(x), [3.0, 6.0]),
    ("setitem stays inside", lambda x: x.__setitem__(0, 9.0), [1.0, 2.0]),
    ("a new Tensor stays inside", lambda x: (x * 1).add_(5.0), [1.0, 2.0]),
    ("zero_", lambda x: x.zero_(), [0.0, 0.0]),
    ("fill_", lambda x: x.fill_(3.0), [3.0, 3.0]),
    ("assign", lambda x: ops.assign(x, x + 1), [2.0, 3.0]),
    ("assign_add", lambda x: ops.assign_add(x, x), [2.0, 4.0]),
    ("scatter_add", lambda x: ops.scatter_add(x, Tensor([1]), Tensor([4.0])), [1.0, 6.0]),
    ("the accumulation of Momentum", momentum_step, [1.5, 2.0]),
]


@pytest.mark.parametrize(("name", "function", "after"), IN_PLACE, ids=[n[0] for n in IN_PLACE])
def test_in_place_methods_reach_the_callers_argument(name, function, after):
    compiled = ms.jit(lambda x: (function(x), x * 2)[1])
    for _ in range(2):
        x = Tensor([1.0, 2.0])
        compiled(x)
        np.testing.assert_array_equal(x.asnumpy(), after)


def test_in_place_argument_under_a_gradient():
    ms.set_context(mode=ms.PYNATIVE_MODE)

    @ms.jit
    def double(x):
        x.mul_(2.0)
        return x * x

    gradient = ms.grad(lambda t: double(t * 1.0).sum())(Tensor([1.0, 3.0]))
    np.testing.assert_array_equal(gradient.asnumpy(), [8.0, 24.0])


@ms.jit_class
class Tally:
    """A plain object with state: a Tensor, a number, and a constant."""

    def __init__(self):
        self.total = Tensor(np.zeros((), np.float32))
        self._calls = 0
        self.scale = 1.0

    def add(self, x):
        self.total = self.total + x * self.scale
        self._calls += 1
        return self.total + self._calls


@pytest.mark.parametrize("mode_value", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_attributes_of_a_jit_class_are_state(mode_value):
    ms.set_context(mode=mode_value)
    tally = Tally()
    run = ms.jit(lambda x: tally.add(x))
    x = Tensor(np.float32(1.0))
    assert [float(run(x).asnumpy()) for _ in range(3)] == [2.0, 4.0, 6.0]
    assert float(tally.total.asnumpy()) == 3.0 and tally._calls == 3
    tally.scale = 10.0
    assert float(run(x).asnumpy()) == 17.0
    inside = ms.jit(lambda x: (lambda t: (t.add(x), t.add(x))[1])(Tally()))
    assert [float(inside(x).asnumpy()) for _ in range(2)] == [4.0, 4.0]
