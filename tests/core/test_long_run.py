"""Long runs in PYNATIVE: memory and step time stay flat, also where no step is like another."""

import gc
import resource
import time

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn, ops
from mindjax.core import caches, executable
from mindjax.core.engine import ENGINES


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_ten_thousand_steps(engine):
    """With hooks, a print every 100 steps and a validation pass every 1,000."""
    rng, seen = np.random.default_rng(0), []
    before = caches.compilations().get("deferred", 0)
    with ms.eager(engine):
        ms.set_seed(1)
        net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 4))
        net[2].register_backward_hook(lambda cell, grads, outs: seen.append(1))
        loss, optimizer = nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.01, 0.9)
        step = ms.value_and_grad(lambda a, b: loss(net(a), b), None, optimizer.parameters)
        held, times, texts = [], [], []
        for number in range(10_000):
            begin = time.process_time()
            x = ms.Tensor(rng.normal(size=(16, 8)).astype(np.float32))
            y = ms.Tensor(rng.integers(0, 4, 16).astype(np.int32))
            value, grads = step(x, y)
            optimizer(grads)
            if number % 100 == 0:
                texts.append(f"{number} {value}")
            if number % 1000 == 999:
                net.set_train(False)
                right = sum(int((net(x).argmax(1) == y).sum()) for _ in range(10))
                assert 0 <= right <= 160
                net.set_train(True)
                gc.collect()
                held.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
            times.append(time.process_time() - begin)
        assert len(seen) == 10_000 and len(texts) == 100
        assert np.isfinite(ops.stack([p.sum() for p in optimizer.parameters]).asnumpy()).all()
    # Kilobytes: a Tensor that a step leaves behind would be a hundred times this.
    assert held[-1] - held[2] < 20_000, held
    early, late = np.median(times[2000:4000]), np.median(times[8000:])
    assert late < 1.5 * early, (early, late)
    assert caches.compilations().get("deferred", 0) - before < 40


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("changes", "count"), [("branches", 2000), ("shapes", 300)])
def test_two_thousand_traces(engine, changes, count, monkeypatch):
    """No two steps have the same ops, or the same shapes, which compile two programs each."""
    # Of each program XLA keeps 1.5 MB.
    monkeypatch.setattr(executable._PROGRAMS, "limit", 128)
    before = caches.compilations().get("deferred", 0)
    held = []
    with ms.eager(engine):
        ms.set_seed(1)
        net = nn.Dense(4, 4)

        def branching(a, number):
            b = net(a)
            for k in range(11):
                b = b * 1.5 if number >> k & 1 else ops.tanh(b + 0.5)
            return (b * b).mean()

        step = ms.value_and_grad(branching, None, net.trainable_params())
        for number in range(count):
            if changes == "branches":
                value, grads = step(ms.Tensor(np.ones((2, 4), np.float32)), number)
                assert np.isfinite(float(value)) and np.isfinite(grads[0].asnumpy()).all()
            else:
                x = ms.Tensor(np.full(1 + number, 3, np.float32))
                assert float((x * 2.0).sum()) == 6 * (1 + number)
            if number % (count // 10) == count // 10 - 1:
                gc.collect()
                held.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    # Kilobytes; a program that each step leaves behind would be a hundred times this.
    assert held[-1] - held[2] < 30_000, held
    assert caches.compilations().get("deferred", 0) - before < 20
    for name, (entries, limit, *_) in caches.report().items():
        assert entries <= limit, name
