"""Runs and compiles many programs on the platform ascend, and shows what stays allocated."""

import gc
import json
import resource

import jax
import jax.numpy as jnp
from mindjax_ascend import plugin
from mindjax_ascend.compiler import compile as compiler

EXECUTIONS, COMPILATIONS = 100_000, 1_000


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def execute(count):
    # Short programs run in the caller's thread, longer ones in the device's; both take arrays over.
    short, x = jax.jit(lambda a: a + 1, donate_argnums=0), jnp.zeros(16)
    long, y = jax.jit(lambda a: jnp.tanh(a @ a), donate_argnums=0), jnp.ones((96, 96))
    for i in range(count):
        x = short(x)
        if i % 20 == 0:
            y = long(y)
    assert float(x[0]) == count and float(y[0, 0]) == 1.0


def compile_programs(count):
    for i in range(count):
        f = jax.jit(lambda a, n=i: jnp.sin(a) * n + a.sum())
        f(jnp.ones(8)).block_until_ready()
        if i % 50 == 49:
            jax.clear_caches()
            compiler.compiled.clear()
            gc.collect()


def main():
    device = jax.devices()[0]
    execute(2000)
    compile_programs(100)
    grown = {}
    for name, work, count in (
        ("executions", execute, EXECUTIONS),
        ("compilations", compile_programs, COMPILATIONS),
    ):
        gc.collect()
        before, used = resident(), device.memory_stats()["bytes_in_use"]
        work(count)
        jax.clear_caches()
        gc.collect()
        stays = device.memory_stats()["bytes_in_use"] - used
        grown[name] = {"resident": resident() - before, "device": stays}
    print(json.dumps({"grown": grown, "runs": plugin.executions()}))


if __name__ == "__main__":
    main()
