"""Time the first training step of GRAPH mode and of hand-written JAX, each in a fresh process.

From the call to the loss: tracing, lowering, compiling and running. `--warm` adds a first step
whose compiled programs lie on disk, as `ms.compile_cache` and ``mindjax run`` keep them.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
WORKLOADS = (
    "lenet5",
    "resnet18",
    "encoder",
    "decoder",
    "lstm",
    "wide_deep",
    "wide_deep_sparse",
)
CONTESTANTS = ("jax", "mindjax-graph")
PHASES = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}


def child(contestant: str, workload: str, folder: str) -> None:
    """Measure one first step, and print it as a line of JSON.

    Args:
        contestant: ``jax`` or ``mindjax-graph``.
        workload: name of the network.
        folder: of compiled programs; empty for none.
    """
    import jax
    from worker import build

    spent = dict.fromkeys(PHASES.values(), 0.0)

    def note(event: str, duration_secs: float, **_: Any) -> None:
        if event in PHASES:
            spent[PHASES[event]] += duration_secs

    if contestant == "jax":
        if folder:
            jax.config.update("jax_compilation_cache_dir", folder)
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_enable_compilation_cache", bool(folder))
    else:
        import mindjax as ms

        if folder:
            ms.set_context(enable_compile_cache=True, compile_cache_path=folder)
    step: Any = build(contestant, workload)
    # MindJAX starts a backend when it is first needed, hand-written jax has started it by now.
    jax.devices()
    jax.monitoring.register_event_duration_secs_listener(note)
    wall, cpu = time.perf_counter(), time.process_time()
    loss = step()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"wall": wall, "cpu": cpu, "loss": loss, **spent}))


def measured(contestant: str, workload: str, folder: str = "") -> dict[str, float]:
    """Measure one first step in a process of its own."""
    paths = [HERE.parent, HERE.parent / "parallel", os.environ.get("PYTHONPATH", "")]
    out = subprocess.run(
        [sys.executable, __file__, "--child", contestant, workload, folder],
        env=os.environ | {"PYTHONPATH": ":".join(map(str, paths))},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(out.stdout.splitlines()[-1])


def summary(runs: list[dict[str, float]], base: list[dict[str, float]]) -> dict[str, Any]:
    """Give medians, and the ratio to neighbours in time with its quartiles."""
    out: dict[str, Any] = {"n": len(runs)}
    for name in ("cpu", "wall"):
        ratios = [a[name] / b[name] for a, b in zip(runs, base, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        out[f"{name}_ratio"], out[f"{name}_quartiles"] = middle, [low, high]
    return out | {k: statistics.median(r[k] for r in runs) for k in runs[0]}


def measure(workload: str, rounds: int, warm: bool) -> dict[str, Any]:
    """Measure one workload: all contestants in turn, so many rounds.

    Args:
        workload: name of the network.
        rounds: how often each runs.
        warm: whether first steps with programs on disk are measured too.
    """
    cold: dict[str, list[Any]] = {c: [] for c in CONTESTANTS}
    with tempfile.TemporaryDirectory() as root:
        kept: dict[str, list[Any]] = {c: [] for c in CONTESTANTS} if warm else {}
        for contestant in kept:
            measured(contestant, workload, f"{root}/{contestant}")
        for number in range(rounds):
            for contestant in CONTESTANTS if number % 2 == 0 else CONTESTANTS[::-1]:
                cold[contestant].append(measured(contestant, workload))
                if warm:
                    folder = f"{root}/{contestant}"
                    kept[contestant].append(measured(contestant, workload, folder))
            print(f"\r{workload}: round {number + 1}/{rounds}", end="", file=sys.stderr)
    print(file=sys.stderr)
    # Cold first steps as ratios to jax's, warm ones as ratios to the same contestant's cold ones.
    out = {c: summary(runs, cold["jax"]) for c, runs in cold.items()}
    return out | {f"{c}, warm": summary(runs, cold[c]) for c, runs in kept.items()}


def main() -> None:
    """Measure, print a table and write a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS), choices=WORKLOADS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--warm", action="store_true", help="with programs on disk too")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--out", default=str(HERE / "results" / "first_step.json"))
    args = parser.parse_args()
    if args.child:
        child(*args.child)
        return
    for contestant in CONTESTANTS:
        # What is built once a machine, such as kernels, is there before the clock runs.
        for workload in args.workloads:
            measured(contestant, workload)
    results = {w: measure(w, args.rounds, args.warm) for w in args.workloads}
    path = pathlib.Path(args.out)
    path.parent.mkdir(parents=True, exist_ok=True)
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    report = {"machine": machine, "load": os.getloadavg()[0], "results": results}
    path.write_text(json.dumps(report, indent=1))
    print(
        f"{'workload':16} {'contestant':20} {'cpu s':>6} {'ratio':>6} {'quartiles':>11} "
        f"{'wall s':>6} {'ratio':>6} {'trace':>6} {'lower':>6} {'compile':>7} {'n':>3}"
    )
    for workload, rows in results.items():
        for name, r in rows.items():
            low, high = r["cpu_quartiles"]
            print(
                f"{workload:16} {name:20} {r['cpu']:6.2f} {r['cpu_ratio']:6.2f} "
                f"{low:5.2f}-{high:.2f} {r['wall']:6.2f} {r['wall_ratio']:6.2f} "
                f"{r['trace']:6.2f} {r['lower']:6.2f} {r['compile']:7.2f} {r['n']:3d}"
            )


if __name__ == "__main__":
    main()
