"""Compile the benchmarked training steps, ours and hand-written jax, and print what is in them.

Run with the folder of the benchmarks and the names of the workloads. It prints a JSON object: for
each workload, of both programs, how often each op of the optimised HLO occurs, and the bytes of
their buffers.
"""

import collections
import json
import re
import sys

import jax.numpy as jnp

import mindjax

mindjax.install()
sys.path.insert(0, sys.argv[1])
import batches  # noqa: E402
import handwritten  # noqa: E402
import networks  # noqa: E402

# What deeper networks repeat is compiled once.
for module in (networks, handwritten):
    module.LAYERS, module.STAGES = 1, ((64, 2),)
handwritten.moments = handwritten.two_passes

OP = re.compile(r"= (?:\([^=]*?\)|\S+) ([a-z][\w-]*)\(")


def described(hlo: str, temporary: int, peak: int) -> dict:
    """Count a program's ops."""
    return {"ops": collections.Counter(OP.findall(hlo)), "temporary": temporary, "peak": peak}


def ours(workload: str) -> dict:
    """Compile MindJAX's step, and run it."""
    step = networks.training_cell(workload, graph=True)
    x, y = (mindjax.Tensor(a) for a in batches.batch(workload))
    step(x, y)
    (program,) = [p for found in step._programs.programs.entries.values() for p in found]
    return described(program.hlo, program.temporary_bytes, program.peak_bytes)


def peer(workload: str) -> dict:
    """Compile the hand-written step."""
    jitted, state = handwritten.compiled_step(workload)
    x, y = (jnp.asarray(a) for a in batches.batch(workload))
    compiled = jitted.lower(*state, x, y).compile()
    sizes = compiled.memory_analysis()
    temporary = sizes.temp_size_in_bytes
    kept = sizes.output_size_in_bytes - sizes.alias_size_in_bytes
    return described(compiled.as_text(), temporary, sizes.argument_size_in_bytes + kept + temporary)


print(json.dumps({name: {"ours": ours(name), "peer": peer(name)} for name in sys.argv[2:]}))
