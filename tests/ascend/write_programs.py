"""Compiles programs for simulated devices and writes them for `threads.cc`.

Argument: a folder, which gets a file a program and ``list``, that names them.
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from mindjax_ascend import plugin

ONE = {
    "short": (lambda x: x + 1, [(8, 8)]),
    "wide": (lambda x: jnp.exp(jnp.tanh(x)) * x + 1, [(1 << 18,)]),
    "product": (lambda x, y: jnp.tanh(x @ y), [(96, 160), (160, 128)]),
    "sums": (lambda x: (x.sum(0), jnp.cumsum(x, 1), x.argmax(1)), [(300, 400)]),
    "sort": (lambda x: jnp.sort(x, 0), [(500, 8)]),
    "loop": (lambda x: lax.fori_loop(0, 20, lambda i, a: jnp.sin(a) + i, x), [(64, 64)]),
    "network": (
        jax.grad(
            lambda w, x: lax.reduce_window(
                lax.conv(x, w, (1, 1), "SAME"),
                -jnp.inf,
                lax.max,
                (1, 1, 2, 2),
                (1, 1, 2, 2),
                "VALID",
            ).sum()
        ),
        [(8, 3, 3, 3), (4, 3, 16, 16)],
    ),
    "scatter": (lambda x: x.at[jnp.array([1, 5, 1])].add(2.0)[::2].T, [(64, 32)]),
}
SEVERAL = {
    "psum": (lambda x: lax.psum(x * 2, "x"), [(4, 64, 64)]),
    "turns": (
        lambda x: lax.fori_loop(
            0, 6, lambda i, a: lax.ppermute(a, "x", [(0, 1), (1, 2), (2, 3), (3, 0)]) + i, x
        ),
        [(4, 50, 20)],
    ),
    "everything": (
        lambda x: lax.all_to_all(lax.all_gather(x, "x", tiled=True) @ x[0], "x", 1, 0, tiled=True),
        [(4, 32, 32)],
    ),
}


def main(folder):
    """Write all programs."""
    written, original = [], plugin.compiler.compile
    compiled = []

    def keep(*arguments):
        compiled.append(original(*arguments))
        return compiled[-1]

    plugin.compiler.compile = keep
    mesh = Mesh(np.array(jax.devices()[:4]), ("x",))
    for table, count in ((ONE, 1), (SEVERAL, 4)):
        for name, (function, shapes) in table.items():
            here = jax.devices()[0] if count == 1 else NamedSharding(mesh, P("x"))
            if count > 1:
                function = jax.shard_map(
                    function, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False
                )
            arguments = [jax.device_put(np.ones(s, np.float32), here) for s in shapes]
            compiled.clear()
            jax.jit(function).lower(*arguments).compile()
            (program,) = compiled
            path = pathlib.Path(folder, name)
            path.write_bytes(program)
            each = [(s[0] // count, *s[1:]) for s in shapes]
            words = ["x".join(map(str, s)) for s in each]
            written.append(" ".join([str(path), str(count), *words]))
    pathlib.Path(folder, "list").write_text("\n".join(written) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
