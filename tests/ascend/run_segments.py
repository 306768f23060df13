"""Runs programs whose segments are kernels of the vendor's compiler, and the same on cpu.

Writes a JSON object for each: the largest difference, the operators by kernel, and what was left.
"""

import json

import jax
import jax.numpy as jnp
import numpy as np
from mindjax_ascend.compiler import compile as compiler


def block(x, g, w):
    normed = x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g
    return jax.nn.softmax(normed @ w), jax.nn.silu(normed)


def loss(x, g, w):
    chosen, gated = block(x, g, w)
    return (chosen * chosen).sum() + gated.mean()


def looped(x, g, w):
    return jax.lax.fori_loop(0, 3, lambda _, y: jnp.tanh(y * g) + 1, x)


def truths(x, g, w):
    # Positions are no segment's: the comparison's result leaves the segment.
    return jnp.cumsum(x * g > x + g, axis=1)


def main():
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(s).astype("float32") for s in [(64, 256), (256,), (256, 32)]]
    for function in (block, jax.grad(loss, (0, 1, 2)), looped, truths):
        ours = jax.jit(function)(*arrays)
        record = compiler.compiled[-1]
        with jax.default_device(jax.devices("cpu")[0]):
            theirs = jax.jit(function)(*arrays)
        pairs = zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True)
        worst = max(float(np.abs(np.asarray(a) - np.asarray(b)).max()) for a, b in pairs)
        operators = sorted(f"{op} {kernel}" for op, kernel in record.operators)
        print(json.dumps({"worst": worst, "operators": operators, "left": dict(record.left),
                          "delegated": record.delegated}))  # fmt: skip


if __name__ == "__main__":
    main()
