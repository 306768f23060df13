"""Split a Llama with 70 billion numbers into the stages of a pipeline, under a memory limit.

    python examples/planner.py --memory 40

Each matrix is cut over ``--tensor`` devices. Seconds and bytes of a layer follow from its shapes;
the embedding and the last product are layers too, so an even split is not the best one. An integer
program chooses the first layer of each stage, and the layers whose inner values are computed again
in the backward pass, for the least time of a step.
"""

import argparse

from mindjax_parallel.planner import LayerCost, evaluate, plan_stages

WIDTH, KEYS, INNER, WORDS, LENGTH, LAYERS = 8192, 1024, 28672, 32000, 2048, 80
# Bytes of a Parameter in bfloat16, its gradient in float32, and Adam's state with a copy of it.
STATE = 2 + 4 + 12
FLOPS = 2e14


def layer(weights, products, values, tensor):
    """Give the cost of a layer for one sequence on one of the devices that cut its matrices."""
    seconds = 2 * products * LENGTH / tensor / FLOPS
    return LayerCost(
        forward=seconds,
        backward=2 * seconds,
        state=STATE * weights / tensor,
        values=2 * LENGTH * values,
        input=2 * LENGTH * WIDTH,
    )


def network(tensor):
    """List the layers: the embedding, the blocks, the last product."""
    matrices = 2 * WIDTH * WIDTH + 2 * WIDTH * KEYS + 3 * WIDTH * INNER
    # Whole on each device: two inputs of norms, their results, two sums; cut: the rest.
    cut = 4 * WIDTH + 4 * INNER + 64 * LENGTH * 2
    block = layer(matrices, matrices + 2 * LENGTH * WIDTH, 6 * WIDTH + cut / tensor, tensor)
    first = layer(WORDS * WIDTH, 0, WIDTH, tensor)
    last = layer(WORDS * WIDTH, WORDS * WIDTH, WIDTH + 3 * WORDS / tensor, tensor)
    return [first, *[block] * LAYERS, last]


def show(name, plan, memory):
    """Print a plan, a line a stage."""
    fits = "" if max(plan.stage_bytes) <= memory else ", which does not fit"
    print(f"{name}: {plan.seconds:.3f} s a step, {plan.bubble:.1%} of it waiting{fits}")
    ends = [*plan.first[1:], len(plan.again)]
    for stage, (begin, end) in enumerate(zip(plan.first, ends, strict=True)):
        print(
            f"  stage {stage}: layers {begin:2} to {end - 1:2}, {sum(plan.again[begin:end]):2} "
            f"computed again, {plan.stage_seconds[stage] * 1e3:6.2f} ms, "
            f"{plan.stage_bytes[stage] / 1e9:5.1f} GB"
        )


def main():
    """Plan, and compare with an even split."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stages", type=int, default=8)
    parser.add_argument("--tensor", type=int, default=8, help="devices that cut a matrix")
    parser.add_argument("--micro-batches", type=int, default=32)
    parser.add_argument("--memory", type=float, default=40, help="GB that a device has")
    given = parser.parse_args()
    layers, memory = network(given.tensor), given.memory * 1e9
    first = [len(layers) * s // given.stages for s in range(given.stages)]
    for name, again in (("even, all kept", False), ("even, all computed again", True)):
        plan = evaluate(layers, first, [again] * len(layers), given.micro_batches)
        show(name, plan, memory)
    show("planned", plan_stages(layers, given.stages, memory, given.micro_batches), memory)


if __name__ == "__main__":
    main()
