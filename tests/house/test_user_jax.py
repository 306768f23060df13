"""A user's JAX stays as it was, and nothing starts a backend before a value is used."""

import subprocess
import sys
import textwrap

import pytest

from tests.house.source import ROOT

CONFIG = """
    import os
    for name in ("JAX_COMPILATION_CACHE_DIR", "JAX_PLATFORMS"):
        os.environ.pop(name, None)
    import jax, jax.numpy as jnp
    before = dict(jax.config.values)
    import mindjax
    mindjax.install()
    import mindspore as ms, numpy as np
    from mindspore import nn
    {train}
    after = dict(jax.config.values)
    changed = {{k: (before.get(k), after[k]) for k in after if after[k] != before.get(k)}}
    assert not changed, changed
    assert jnp.ones(3).dtype == jnp.float32 and jnp.arange(3).dtype == jnp.int32
    assert jax.jit(lambda x: x + jnp.ones(3))(1.0).dtype == jnp.float32
    assert not jax.config.jax_enable_x64
"""
TRAIN = """
    ms.set_context(mode=ms.{mode}_MODE)
    ms.set_seed(1)
    net = nn.Dense(4, 3)
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer).set_train()
    x, y = ms.Tensor(np.ones((2, 4), np.float32)), ms.Tensor(np.array([0, 2], np.int64))
    losses = [float(step(x, y).asnumpy()) for _ in range(3)]
    assert losses[2] < losses[0]
"""
NO_BACKEND = """
    import threading
    import mindjax
    mindjax.install()
    import mindspore
    from mindspore import nn
    from jax._src import xla_bridge
    for statement in {statements!r}:
        exec(statement)
        assert not xla_bridge._backends, statement
        assert threading.active_count() == 1, (statement, threading.enumerate())
"""
STATEMENTS = [
    "pass",
    "mindspore.set_seed(1)",
    "mindspore.set_context(mode=mindspore.GRAPH_MODE)",
    "nn.Dense(2, 2)",
    "nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Dropout(p=0.5))",
    "nn.Momentum(nn.Dense(2, 2).trainable_params(), 0.1, 0.9)",
    "mindspore.Tensor([1.0, 2.0])",
    "mindspore.Parameter(mindspore.Tensor([1.0, 2.0]), name='w')",
    "mindspore.set_context(mode=mindspore.PYNATIVE_MODE); nn.Dense(2, 2)",
]


def run(program):
    """Run a program in a process of its own."""
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("mode", ["GRAPH", "PYNATIVE"])
def test_config_is_untouched_by_training(mode):
    run(CONFIG.format(train=TRAIN.format(mode=mode)))


def test_nothing_starts_a_backend():
    run(NO_BACKEND.format(statements=STATEMENTS))
