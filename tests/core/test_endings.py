"""A step of an optimizer as the end of a record: one program, and a consistent state."""

import gc
import threading
import weakref

import jax
import numpy as np
import pytest

import mindjax as ms
from mindjax import nn
from mindjax.core import deferred, fused, recording, running
from mindjax.core.engine import engine
from mindjax.core.handle import current
from mindjax.core.pending import Pending

RATE, MOMENTUM = 0.125, 0.5
X = np.linspace(-1, 1, 24).reshape(4, 6)
Y = np.linspace(0, 1, 8).reshape(4, 2)


@pytest.fixture(autouse=True)
def deferred_engine():
    """Run the test with the deferred engine, and count how endings were run."""
    before, current.recording = engine(), None
    with ms.eager("deferred"):
        yield
    ms.eager(before)


@pytest.fixture
def ways(monkeypatch):
    """List how each ending was run: within the record's program, or after it."""
    found = []
    together, apart = running.with_ending, running.apart

    def with_ending(recording, ending):
        values = together(recording, ending)
        found.extend(["together"] if values is not None else [])
        return values

    def after(recording, ending):
        found.append("apart")
        return apart(recording, ending)

    monkeypatch.setattr(running, "with_ending", with_ending)
    monkeypatch.setattr(running, "apart", after)
    return found


def built():
    """Build a linear layer with its optimizer, and its step as two functions."""
    net = nn.Dense(6, 2, weight_init="ones", has_bias=False)
    loss = nn.MSELoss()
    optimizer = nn.Momentum(net.trainable_params(), RATE, MOMENTUM)
    gradient = ms.value_and_grad(lambda a, b: loss(net(a), b), None, optimizer.parameters)
    cell = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
    return net, optimizer, gradient, cell


def batch():
    return ms.Tensor(X, ms.float32), ms.Tensor(Y, ms.float32)


def by_mathematics(steps):
    """Give the losses, and the weights and gradients after each step, in float64."""
    w, moment, found = np.ones((2, 6)), np.zeros((2, 6)), []
    for _ in range(steps):
        error = X @ w.T - Y
        gradient = 2 * error.T @ X / error.size
        moment = MOMENTUM * moment + gradient
        w = w - RATE * moment
        found.append(((error**2).mean(), gradient, w))
    return found


def test_a_step_is_one_program(ways):
    net, _, _, cell = built()
    for value, _, weight in by_mathematics(6):
        assert float(cell(*batch()).asnumpy()) == pytest.approx(value, rel=1e-5)
        np.testing.assert_allclose(net.weight.asnumpy(), weight, 1e-5, 1e-6)
    assert ways[-2:] == ["together"] * 2 and "apart" in ways


def test_gradients_that_somebody_keeps_are_given(ways):
    net, optimizer, gradient, _ = built()
    kept = []
    for _ in range(6):
        value, gradients = gradient(*batch())
        optimizer(gradients)
        kept.append((value, gradients, net.weight.clone()))
    for (value, gradients, weight), expected in zip(kept, by_mathematics(6), strict=True):
        np.testing.assert_allclose(value.asnumpy(), expected[0], 1e-5)
        np.testing.assert_allclose(gradients[0].asnumpy(), expected[1], 1e-5, 1e-6)
        np.testing.assert_allclose(weight.asnumpy(), expected[2], 1e-5, 1e-6)
    assert ways[-2:] == ["together"] * 2


def test_what_else_holds_a_weight_keeps_its_values(monkeypatch):
    monkeypatch.setattr(recording, "_LARGE", 0)
    net, _, _, cell = built()
    given = 0
    for _ in range(6):
        before, array, copied = net.weight.asnumpy(), net.weight.array, net.weight.clone()
        cell(*batch())
        np.testing.assert_array_equal(np.asarray(array), before)
        np.testing.assert_array_equal(copied.asnumpy(), before)
        assert not np.array_equal(net.weight.asnumpy(), before)
        moment = cell.optimizer.moments[0]
        old = [moment.array.unsafe_buffer_pointer()]
        cell(*batch())
        given += moment.array.unsafe_buffer_pointer() in old
    # What nobody else holds is written over.
    assert given


def test_a_step_whose_loss_nobody_reads_trains():
    net, _, _, cell = built()
    for _ in range(6):
        cell(*batch())
        assert not current.recording.step.number
    np.testing.assert_allclose(net.weight.asnumpy(), by_mathematics(6)[-1][2], 1e-5, 1e-6)


def test_another_thread_reads_what_a_step_has_written():
    net, optimizer, gradient, _ = built()
    found = []

    def step():
        _, gradients = gradient(*batch())
        optimizer(gradients)
        waits = type(net.weight._value) is Pending
        reader = threading.Thread(target=lambda: found.append(net.weight.asnumpy()))
        reader.start()
        reader.join(60)
        return waits

    waits = [deferred.held(step) for _ in range(6)]
    assert waits[-2:] == [True, True]
    for weight, (_, _, expected) in zip(found, by_mathematics(6), strict=True):
        np.testing.assert_allclose(weight, expected, 1e-5, 1e-6)


def test_an_op_after_a_step_uses_its_weights():
    net, optimizer, gradient, _ = built()

    def step():
        _, gradients = gradient(*batch())
        optimizer(gradients)
        return net.weight * 2.0

    for _, _, weight in by_mathematics(6):
        np.testing.assert_allclose(deferred.held(step).asnumpy(), 2 * weight, 1e-5, 1e-6)


def test_a_program_that_cannot_run_leaves_the_step_to_its_parts(monkeypatch, ways):
    net, _, _, cell = built()
    for _ in range(4):
        cell(*batch())

    def refuse(*arguments):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")

    run = fused.run
    monkeypatch.setattr(fused, "run", refuse)
    value = cell(*batch())
    assert ways[-1] == "apart"
    monkeypatch.setattr(fused, "run", run)
    cell(*batch())
    assert ways[-1] == "together"
    expected = by_mathematics(6)
    np.testing.assert_allclose(value.asnumpy(), expected[4][0], 1e-5)
    np.testing.assert_allclose(net.weight.asnumpy(), expected[5][2], 1e-5, 1e-6)


def test_a_step_whose_gradients_fail_changes_nothing(monkeypatch):
    net, _, _, cell = built()
    for _ in range(4):
        cell(*batch())

    def refuse(*arguments):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")

    with monkeypatch.context() as patched:
        patched.setattr(fused, "run", refuse)
        patched.setattr(running, "quickly", refuse)
        patched.setattr(running, "execute", refuse)
        with pytest.raises(jax.errors.JaxRuntimeError, match="out of memory"):
            cell(*batch())
    expected = by_mathematics(5)
    np.testing.assert_allclose(net.weight.asnumpy(), expected[3][2], 1e-5, 1e-6)
    assert float(cell(*batch()).asnumpy()) == pytest.approx(expected[4][0], rel=1e-5)
    np.testing.assert_allclose(net.weight.asnumpy(), expected[4][2], 1e-5, 1e-6)


def test_no_program_keeps_a_network():
    net, optimizer, gradient, cell = built()
    for _ in range(5):
        cell(*batch())
    gone = weakref.ref(net.weight)
    del net, optimizer, gradient, cell
    gc.collect()
    assert gone() is None
