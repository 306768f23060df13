"""Pipelines of four stages on eight devices, as JSON: ``python -m tests.parallel.pipelines``.

Eight virtual devices must be asked for before jax starts: the cases run in a process of their own.
"""

import collections
import functools
import json
import math
import os
import re
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import numpy as np

import mindjax as ms
from mindjax import Tensor, nn
from mindjax.communication import init
from mindjax.parallel.auto_parallel import AutoParallel
from tests.parallel.pipeline_cases import CASES, MICROS, ROWS, STEPS, Case
from tests.parallel.pipeline_networks import batches
from tests.parallel.traffic import sums_in_loops


def stages_of(schedule):
    """Give the settings of stages and segments for eight blocks."""
    stage = {
        "interleaved": [0, 1, 2, 3, 0, 1, 2, 3],
        "zero_bubble_v": [0, 1, 2, 3, 3, 2, 1, 0],
    }.get(schedule, [0, 0, 1, 1, 2, 2, 3, 3])
    stages = {f"blocks.{i}": s for i, s in enumerate(stage)}
    if schedule != "zero_bubble_v":
        return {"stage_config": stages}
    return {"stage_config": stages, "segment_config": {f"blocks.{i}": i // 4 for i in range(8)}}


def train(case, alone):
    """Train, and give the losses and the training step."""
    ms.reset_auto_parallel_context()
    ms.set_seed(5)
    interleave = case.schedule != "1f1b"
    scheduler = "1f1b" if case.schedule == "interleaved" else case.schedule
    data = "full_batch" if case.mp > 1 else "data_parallel"
    if not alone and not case.wrapped:
        ms.set_auto_parallel_context(
            parallel_mode="semi_auto_parallel",
            pipeline_stages=4,
            pipeline_config={"pipeline_interleave": interleave, "pipeline_scheduler": scheduler},
            dataset_strategy=data,
        )
    network = case.network(np.random.RandomState(3), 1, 1 if alone else case.mp)
    if case.again:
        for block in network.blocks:
            block.recompute()
    # Adam's first steps turn rounding into whole steps: small ones keep two runs together.
    extra = (0.01, 0.9) if case.optimizer is nn.Momentum else (0.002,)
    optimizer = case.optimizer(network.trainable_params(), *extra)
    pipelined = nn.PipelineCell(network, MICROS, **stages_of(case.schedule))
    step = nn.TrainOneStepCell(pipelined, optimizer)
    step.set_train()
    if case.wrapped and not alone:
        step = AutoParallel(step)
        step.dataset_strategy(data)
        if case.shared:
            step.hsdp(threshold=0)
        step.pipeline(4, interleave=interleave, scheduler=scheduler)
    given = batches(case.network, ROWS, STEPS)
    losses = [float(step(*map(Tensor, batch)).asnumpy()) for batch in given]
    return losses, step, network


@functools.cache
def alone(network, optimizer):
    """Give the losses on one device."""
    return train(Case(network, "1f1b", optimizer=optimizer), alone=True)[0]


def transfers(text):
    """Count the collectives of a program, and the most bytes that one gives."""
    count, most = collections.Counter(), collections.Counter()
    text = re.sub(r"/\*.*?\*/", "", text)
    kinds = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
    for shape, kind in re.findall(rf"= ([^=]*?) ({kinds})\(", text):
        count[kind] += 1
        size = sum(
            int(bits or 8) // 8 * math.prod(int(d) for d in dims.split(",") if d)
            for bits, dims in re.findall(r"(?:[fsu](\d+)|pred)\[([\d,]*)\]", shape)
        )
        most[kind] = max(most[kind], size)
    return dict(count), dict(most)


def run(name):
    """Run a case and give what a test looks at."""
    case = CASES[name]
    expected = alone(case.network, case.optimizer)
    losses, step, network = train(case, alone=False)
    (program,) = [p for found in step._programs.programs.entries.values() for p in found]
    pack = program._compiled.pack
    kept = program._compiled.steps.kept
    held = collections.Counter()
    for buffer in pack.buffers:
        for shard in buffer.addressable_shards:
            held[shard.device.id] += shard.data.nbytes
    count, most = transfers(program.hlo)
    packed = {id(h) for h in pack.handles}
    first = min(network.trainable_params(), key=lambda p: p.name)
    return {
        "case": name,
        "expected": expected,
        "losses": losses,
        "held": max(held.values()),
        "stages": [pack.packing.stage_bytes(s) for s in range(4)],
        "whole": [
            sum(
                m.dtype.itemsize * math.prod(m.shape) for m in pack.packing.members if s in m.stages
            )
            for s in range(4)
        ],
        "unpacked": [p.name for p in network.get_parameters() if id(p) not in packed],
        "transfers": count,
        "most": most,
        "sums": sums_in_loops(program.hlo),
        "masks": [
            placement.cut
            for values, placements in zip(kept._members, kept._layouts, strict=True)
            for value, placement in zip(values, placements, strict=True)
            if value.dtype == np.bool_
        ],
        "largest": max(p.nbytes for p in network.trainable_params()),
        "state": len(packed),
        "read": bool(np.isfinite(first.asnumpy()).all()),
        "report": program._compiled.steps.schedule.report(),
    }


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    for chosen in sys.argv[1:] or CASES:
        print(json.dumps(run(chosen)), flush=True)
