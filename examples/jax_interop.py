"""MindJAX and JAX in one program: transformations of a Cell, a flax module, an optax optimizer."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

import mindjax as ms
import mindjax.dataset as ds
from mindjax import interop, nn
from mindjax.train import LossMonitor, Model


def cell_under_jax():
    """A Cell is a pytree of its Parameters, and takes jax arrays."""
    net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 1))
    x = jnp.linspace(-1, 1, 12).reshape(3, 4)

    outside = jax.jit(lambda net, x: net(x))(net, x)
    each = jax.vmap(net)(x)
    print("jit and vmap agree:", bool(jnp.allclose(outside, each, atol=1e-6)))

    pure, params = interop.functional(net)

    def loss(params):
        return jnp.mean(pure(params, x) ** 2)

    by_jax = jax.jit(jax.grad(loss))(params)
    weights = net.trainable_params()
    by_mindjax = ms.grad(lambda x: (net(x) ** 2).mean(), None, weights)(ms.Tensor(x))
    agree = [
        bool(jnp.allclose(by_jax[weight.name], jnp.asarray(grad), atol=1e-6))
        for weight, grad in zip(weights, by_mindjax, strict=True)
    ]
    print("jax.grad and ms.grad agree:", all(agree))


class Block(nnx.Module):
    """A flax module: layer normalization and a dense layer, with a residual connection."""

    def __init__(self, features, rngs):
        self.norm = nnx.LayerNorm(features, rngs=rngs)
        self.dense = nnx.Linear(features, features, rngs=rngs)

    def __call__(self, x):
        return x + nnx.gelu(self.dense(self.norm(x)))


def flax_and_optax_in_a_model():
    """A flax module becomes a Cell, an optax transformation becomes an Optimizer."""
    rng = np.random.RandomState(0)
    inputs = rng.randn(256, 8).astype(np.float32)
    labels = (inputs[:, 0] * inputs[:, 1] > 0).astype(np.int32)
    dataset = ds.NumpySlicesDataset((inputs, labels), ["x", "y"]).batch(32)

    block = interop.as_cell(Block(8, nnx.Rngs(0)))
    net = nn.SequentialCell(nn.Dense(8, 8), block, nn.ReLU(), nn.Dense(8, 2))
    schedule = optax.cosine_decay_schedule(0.02, decay_steps=240)
    optimizer = interop.optimizer(optax.adamw(schedule), net.trainable_params())
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    model = Model(net, loss_fn, optimizer, metrics={"accuracy"})
    model.train(30, dataset, callbacks=LossMonitor(80))
    print(f"training accuracy: {model.eval(dataset)['accuracy']:.3f}")


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(0)
    cell_under_jax()
    flax_and_optax_in_a_model()
