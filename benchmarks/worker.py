"""One contestant in a process of its own: it trains steps when told to and reports their times."""

from __future__ import annotations

import os
import sys
import time


def build(contestant: str, workload: str) -> object:
    """Build a contestant's training step.

    Args:
        contestant: ``jax``, ``mindjax-graph``, ``mindjax-pynative`` (with the default engine),
            ``mindjax-deferred``, ``mindjax-op_by_op``, ``mindspore-graph``, ``mindspore-pynative``
            or ``torch``.
        workload: name of the network.

    Returns:
        A function that trains one step and gives the loss.
    """
    if contestant == "jax":
        from handwritten import train_step

        return train_step(workload)
    if contestant == "torch":
        import torch

        torch.set_num_threads(int(os.environ["BENCH_THREADS"]))
        from torch_networks import train_step

        return train_step(workload)
    if contestant.startswith("mindjax"):
        import mindjax

        mindjax.install()
        engine = contestant.removeprefix("mindjax-")
        if engine in ("deferred", "op_by_op"):
            mindjax.eager(engine)
    if workload == "decode":
        from decoding import decode

        return decode(contestant.endswith("graph"))
    from networks import train_step

    return train_step(workload, contestant.endswith("graph"))


def end(contestant: str) -> None:
    """Wait for what a contestant's last step has left running behind its loss."""
    if contestant.startswith("mindjax") or contestant == "mindspore-pynative":
        import mindspore

        mindspore.runtime.synchronize()


def main() -> None:
    """Serve: a line with a number trains that many steps and answers with seconds a step.

    A step ends with its loss, the last one when nothing of it runs any more: the loss may be there
    before the weights are, and else the rest would run in the time of the next contestant.
    """
    contestant, workload = sys.argv[1:3]
    answer = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    clock = time.process_time if os.environ.get("BENCH_CLOCK") == "cpu" else time.perf_counter
    start = time.perf_counter()
    step = build(contestant, workload)
    loss = step()  # type: ignore[operator]
    end(contestant)
    print(f"ready {time.perf_counter() - start} {loss}", file=answer)
    for line in sys.stdin:
        times, steps = [], int(line)
        for number in range(steps):
            begin = clock()
            loss = step()  # type: ignore[operator]
            if number == steps - 1:
                end(contestant)
            times.append(clock() - begin)
        print(" ".join(f"{t:.9f}" for t in times), file=answer)


if __name__ == "__main__":
    main()
