"""Time and memory of large checkpoints against the disk's own copy, and what saving costs a step.

Every measurement of a file runs in a fresh process, on a file that is not in the system's cache,
before or after a copy of a file of that size by ``shutil`` in the same process, in turns; both end
with fsync where they write.
``memory`` is the most that the process held, less what it held before it had the values, divided
by the values' size. For ``step``, a training saves in the background every few steps, in turns
with one that does not.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
PIECES = 16


def copy(source: str, target: str) -> float:
    """Copy a file that is not cached, and wait for the disk."""
    forget(source)
    start = time.perf_counter()
    shutil.copyfile(source, target)
    with open(target, "rb+") as file:
        os.fsync(file.fileno())
    took = time.perf_counter() - start
    os.unlink(target)
    return took


def forget(path: str) -> None:
    """Drop a file from the system's cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def peak() -> int:
    """Give the most memory that this process has held since `forget_peak`, in bytes."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def forget_peak() -> None:
    """Let `peak` begin anew."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def held() -> int:
    """Give the memory that this process holds now, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def work(what: str, path: str, size: int, copies_first: bool) -> dict[str, float]:
    """Save or load in this process, and copy a file of the same size before or after it."""
    import numpy as np

    import mindjax as ms

    kind = path.rsplit(".", 1)[1]
    ms.save_checkpoint([ms.Parameter(ms.Tensor([1.0]), name="a")], f"{path}.warm", format=kind)
    before = held()
    if what == "save":
        shape = (size // PIECES // 4096, 1024)
        values = {}
        for index in range(PIECES):
            array = np.random.default_rng(index).random(shape, np.float32)
            values[f"p{index}"] = ms.Parameter(ms.Tensor.from_numpy(array), name=f"p{index}")
            values[f"p{index}"].local_value()
            del array
        copied = copy(path, f"{path}.copy") if copies_first else 0.0
        with contextlib.suppress(OSError):
            os.unlink(path)
        forget_peak()
        start = time.perf_counter()
        ms.save_checkpoint(values, path, format=kind)
    else:
        copied = copy(path, f"{path}.copy") if copies_first else 0.0
        forget(path)
        forget_peak()
        start = time.perf_counter()
        values = ms.load_checkpoint(path, format=kind)
    took = time.perf_counter() - start
    memory = max(peak() - before, 0) / size
    if not copies_first:
        copied = copy(path, f"{path}.copy")
    del values
    return {"seconds": took, "memory": memory, "copy": copied}


def step(rounds: int) -> dict[str, Any]:
    """Train with and without saving in the background, in turns."""
    import numpy as np

    import mindjax as ms
    from mindjax import nn

    layers = [nn.Dense(1024, 1024) for _ in range(8)]
    net = nn.SequentialCell(*layers, nn.Dense(1024, 10))
    loss = nn.WithLossCell(net, nn.CrossEntropyLoss())
    train = nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), 1e-4))
    train.set_train()
    ms.set_context(mode=ms.GRAPH_MODE)
    random = np.random.default_rng(0)
    x = ms.Tensor(random.random((512, 1024), np.float32))
    y = ms.Tensor(random.integers(0, 10, 512).astype(np.int32))
    for _ in range(3):
        train(x, y).asnumpy()
    every = 10
    plain: list[float] = []
    first: list[float] = []
    turns: dict[bool, list[float]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(2 * rounds):
            saves = bool(turn % 2)
            marks = [time.perf_counter()]
            if saves:
                ms.save_checkpoint(train, f"{folder}/net.ckpt", async_save=True)
            for _ in range(every):
                train(x, y).asnumpy()
                marks.append(time.perf_counter())
            steps = [b - a for a, b in itertools.pairwise(marks)]
            turns[saves].append(statistics.mean(steps))
            if saves:
                first.append(steps[0])
            else:
                plain += steps
            while ms.async_ckpt_thread_status():
                time.sleep(0.01)
        size = os.path.getsize(f"{folder}/net.ckpt")
    ratios = [a / b for a, b in zip(turns[True], turns[False], strict=True)]
    usual = statistics.median(plain)
    return {
        "seconds": usual,
        "ratio": statistics.median(ratios),
        "spread": [min(ratios), max(ratios)],
        "first": statistics.median(first) / usual,
        "first spread": [min(first) / usual, max(first) / usual],
        "plain spread": [min(plain) / usual, max(plain) / usual],
        "n": rounds,
        "bytes": size,
        "steps between saves": every,
    }


def child(*words: str) -> Any:
    """Run a part of the benchmark in a fresh process."""
    environment = os.environ | {"PYTHONPATH": f"{HERE.parent}:{HERE.parent / 'parallel'}"}
    command = [sys.executable, str(HERE / "checkpoint.py"), "--work", *words]
    done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def files(kind: str, size: int, rounds: int, folder: str) -> dict[str, Any]:
    """Save, load and copy one file in turns."""
    path = os.path.join(folder, f"big.{kind}")
    found: dict[str, list[dict[str, float]]] = {"save": [], "load": []}
    for turn in range(rounds):
        for what in found:
            found[what].append(child(what, path, str(size), str(turn % 2)))
    os.unlink(path)
    report = {}
    for what, runs in found.items():
        ratios = [run["seconds"] / run["copy"] for run in runs]
        report[what] = {
            "seconds": statistics.median(run["seconds"] for run in runs),
            "copy": statistics.median(run["copy"] for run in runs),
            "ratio": statistics.median(ratios),
            "spread": [min(ratios), max(ratios)],
            "memory": max(run["memory"] for run in runs),
            "n": rounds,
        }
    return report


def main() -> None:
    """Measure, print a table and write a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gib", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default=None, help="where the files are written")
    parser.add_argument("--kinds", nargs="*", default=["ckpt", "safetensors"])
    parser.add_argument("--no-step", action="store_true")
    parser.add_argument("--out", default=str(HERE / "results" / "checkpoint.json"))
    parser.add_argument("--work", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        what, *words = args.work
        if what == "step":
            print(json.dumps(step(int(words[0]))))
        else:
            print(json.dumps(work(what, words[0], int(words[1]), words[2] == "1")))
        return
    size = int(args.gib * (1 << 30)) // PIECES // 4096 * PIECES * 4096
    report: dict[str, Any] = {"bytes": size}
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for kind in args.kinds:
            report[kind] = files(kind, size, args.rounds, folder)
            for what, row in report[kind].items():
                print(
                    f"{kind:12} {what}: {row['seconds']:.2f} s, copy {row['copy']:.2f} s, ratio "
                    f"{row['ratio']:.2f} ({row['spread'][0]:.2f} to {row['spread'][1]:.2f}), "
                    f"memory {row['memory']:.2f}",
                    flush=True,
                )
    if not args.no_step:
        row = report["step"] = child("step", str(args.rounds * 2))
        print(
            f"a step {row['seconds']:.4f} s, saving {row['bytes'] >> 20} MiB every "
            f"{row['steps between saves']}: ratio {row['ratio']:.2f} "
            f"({row['spread'][0]:.2f} to {row['spread'][1]:.2f}); the step that saves: "
            f"{row['first']:.2f} ({row['first spread'][0]:.2f} to {row['first spread'][1]:.2f}), "
            f"others {row['plain spread'][0]:.2f} to {row['plain spread'][1]:.2f}"
        )
    path = pathlib.Path(args.out)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
