"""Kernels of mindjax_ascend against jax.numpy under XLA's CPU backend, in turns in one process.

    PYTHONPATH=.:backends/ascend_xla python benchmarks/kernels.py [--rounds n] [--cases name ...]

Printed are medians of milliseconds, of the wall's clock or with ``--clock cpu`` of the process's
threads together, which other programs on the machine disturb less; and the ratio plain / kernel:
its median and quartiles over the rounds, forward, and forward with backward where there is one.
``--memory`` measures attention over 4096 tokens instead, each form in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from mindjax_ascend.kernels import (
    adamw,
    convolution,
    flash_attention,
    grouped_matmul,
    layer_norm,
    lstm,
    moe,
    onednn_convolution,
    paged_attention,
    quant_matmul,
    rms_norm,
    rotary,
    softmax,
    swiglu,
)

HERE = pathlib.Path(__file__).parent
GOAL = 1.2
RNG = np.random.default_rng(0)


class Case(NamedTuple):
    """Two forms of one function.

    Attributes:
        kernel: the form with the kernel.
        plain: the form in jax.numpy.
        inputs: makes the arguments.
        differentiated: arguments of the gradient; none for what is used for inference alone.
        donated: how many first arguments are given up to be the results.
    """

    kernel: Callable[..., Any]
    plain: Callable[..., Any]
    inputs: Callable[[], list[Any]]
    differentiated: tuple[int, ...] = (0,)
    donated: int = 0


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.normal(size=shape).astype("f")


def ints(high: int, *shape: int) -> np.ndarray[Any, Any]:
    return RNG.integers(0, high, shape).astype(np.int32)


def int8(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.integers(-128, 128, shape).astype(np.int8)


def attention(b: int, s: int, n: int, m: int, d: int, causal: bool) -> Case:
    options = {"scale": d**-0.5, "after": 0 if causal else flash_attention.UNBOUNDED}
    forms = (flash_attention.flash_attention, flash_attention.reference)
    kernel, plain = (lambda *a, f=f: f(*a, **options)[0] for f in forms)
    inputs = lambda: [normal(b, s, n, d), normal(b, s, m, d), normal(b, s, m, d)]  # noqa: E731
    return Case(kernel, plain, inputs, (0, 1, 2))


def pair(module: Any, name: str, inputs: Callable[[], list[Any]], *places: int, **kw: Any) -> Case:
    kernel, plain = partial(getattr(module, name), **kw), partial(module.reference, **kw)
    return Case(kernel, plain, inputs, places)


def adam_case(count: int, size: int) -> Case:
    numbers = np.asarray([0.1, 0.001, 1e-3, 1e-8, 0.99, 1.0], "f")

    def of(form: Any) -> Any:
        def step(lists: Any, gradients: Any) -> Any:
            return form(*lists, gradients, numbers)

        return step

    def inputs() -> list[Any]:
        lists = tuple([jnp.asarray(normal(size)) ** 2 for _ in range(count)] for _ in range(3))
        return [lists, [normal(size) for _ in range(count)]]

    return Case(of(adamw.adamw), of(adamw.reference), inputs, (), 1)


def conv(x: tuple[int, ...], w: tuple[int, ...], step: int = 1, **options: Any) -> Case:
    """Make a case of oneDNN's convolution, with edges that keep sizes where the step is 1.

    That of a network's first layer, with few channels, has no gradient of the image.
    """
    last = options.get("last", False)
    window = w[1:-1] if last else w[2:]
    spread = options.pop("dilation", 1)
    edges = tuple((((k - 1) * spread) // 2,) * 2 for k in window)
    numbers = onednn_convolution.Numbers(
        (step,) * len(window), edges, (spread,) * len(window), **options
    )
    forms = (onednn_convolution.convolution, onednn_convolution.reference)
    kernel, plain = (partial(f, numbers=numbers) for f in forms)
    few = x[-1 if last else 1] < 4
    return Case(kernel, plain, lambda: [normal(*x), normal(*w)], (1,) if few else (0, 1))


def conv_transposed(x: tuple[int, ...], w: tuple[int, ...], step: int) -> Case:
    """Make a case of a transposed convolution that multiplies the sizes by the step."""
    edge = (w[2] - step) // 2
    numbers = onednn_convolution.Numbers((step, step), ((edge, edge),) * 2, (1, 1))
    sizes = tuple(n * step for n in x[2:])
    shape = (x[0], w[1], *sizes)
    plain = partial(onednn_convolution.plain, role=onednn_convolution.IMAGE, shape=shape)
    return Case(
        partial(onednn_convolution.transposed, numbers=numbers, sizes=sizes),
        partial(plain, numbers=numbers),
        lambda: [normal(*x), normal(*w)],
        (0, 1),
    )


CASES: dict[str, Case] = {
    "FlashAttentionScore 1x512 8 heads of 64, causal": attention(1, 512, 8, 8, 64, True),
    "FlashAttentionScore 8x128 8 heads of 64": attention(8, 128, 8, 8, 64, False),
    "FlashAttentionScore 1x1024 8 heads on 2 of 64, causal": attention(1, 1024, 8, 2, 64, True),
    "RmsNorm 512x1024": pair(rms_norm, "rms_norm", lambda: [normal(512, 1024), normal(1024)], 0, 1),
    "RmsNorm 128x256": pair(rms_norm, "rms_norm", lambda: [normal(128, 256), normal(256)], 0, 1),
    "AddRmsNorm 512x1024": Case(
        rms_norm.add_rms_norm,
        rms_norm.add_reference,
        lambda: [normal(512, 1024), normal(512, 1024), normal(1024)],
        (0, 1, 2),
    ),
    "LayerNorm 1024x512": pair(
        layer_norm,
        "layer_norm",
        lambda: [normal(1024, 512), normal(512), normal(512)],
        *(0, 1, 2),
    ),
    "Softmax 8192x128": pair(softmax, "softmax", lambda: [normal(8192, 128)], 0),
    "SwiGlu 512x2752": pair(swiglu, "swiglu", lambda: [normal(512, 2752)], 0),
    "RotaryPositionEmbedding 4x8x128x64": pair(
        rotary,
        "rotary",
        lambda: [normal(4, 8, 128, 64), normal(1, 1, 128, 64), normal(1, 1, 128, 64)],
        0,
    ),
    "MoeGatingTopKSoftmax 4096x64, 2": Case(
        partial(moe.gating_top_k, k=2),
        partial(moe.gating_reference, k=2),
        lambda: [normal(4096, 64)],
    ),
    "MoeTokenPermute 2048x512, 2 of 8": Case(
        partial(moe.permute, kept=4096),
        partial(moe.permute_reference, kept=4096),
        lambda: [normal(2048, 512), ints(8, 2048, 2)],
    ),
    "MoeTokenUnpermute 2048x512, 2": Case(
        moe.unpermute,
        moe.unpermute_reference,
        lambda: [normal(4096, 512), RNG.permutation(4096).astype("i"), normal(2048, 2)],
        (0, 2),
    ),
    "GroupedMatmul 1024x256x512 by 8": pair(
        grouped_matmul,
        "grouped_matmul",
        lambda: [normal(1024, 256), normal(8, 256, 512), np.sort(ints(1024, 8))],
        *(0, 1),
    ),
    "WeightQuantBatchMatmul 1x2048x2048, channels": Case(
        partial(quant_matmul.weight_quant_matmul, group=2048),
        partial(quant_matmul.weight_reference, group=2048),
        lambda: [normal(1, 2048), int8(2048, 2048), normal(1, 2048), normal(1, 2048)],
        (),
    ),
    "WeightQuantBatchMatmul 16x2048x2048, groups of 128": Case(
        partial(quant_matmul.weight_quant_matmul, group=128),
        partial(quant_matmul.weight_reference, group=128),
        lambda: [normal(16, 2048), int8(2048, 2048), normal(16, 2048), normal(16, 2048)],
        (),
    ),
    "QuantBatchMatmul 64x1024x1024": pair(
        quant_matmul, "quant_matmul", lambda: [int8(64, 1024), int8(1024, 1024)]
    ),
    "QuantBatchMatmul 8x2048x2048, turned": pair(
        quant_matmul, "quant_matmul", lambda: [int8(8, 2048), int8(2048, 2048)], turned=True
    ),
    "PagedAttention 8 of 1024 tokens, 16 heads on 4 of 64": pair(
        paged_attention,
        "paged_attention",
        lambda: [
            *(normal(8, 16, 64), normal(512, 16, 4, 64), normal(512, 16, 4, 64)),
            *(RNG.permutation(512).reshape(8, 64).astype("i"), ints(1024, 8)),
        ],
    ),
    "ReshapeAndCache 64 tokens into 512x16x8x64": Case(
        lambda cache, *a: paged_attention.reshape_and_cache(cache, *a),
        lambda cache, *a: paged_attention.cache_reference(cache, *a),
        lambda: [
            *(jnp.asarray(normal(512, 16, 8, 64)), normal(64, 512)),
            RNG.permutation(8192)[:64].astype("i"),
        ],
        (),
        1,
    ),
    "AdamW of 40 x 65536": adam_case(40, 65536),
    "LSTM 64 steps, batch 32, hidden 256": pair(
        lstm,
        "lstm",
        lambda: [normal(64, 32, 1024), normal(1024, 256) / 16, normal(32, 256), normal(32, 256)],
        *(0, 1, 2, 3),
    ),
    "Convolution 32x28x28x1 to 6, 5x5": pair(
        convolution, "convolution", lambda: [normal(32, 28, 28, 1), normal(5, 5, 1, 6)], 0, 1
    ),
    "Convolution 8x32x32x64 to 64, 3x3": pair(
        convolution,
        "convolution",
        lambda: [normal(8, 32, 32, 64), normal(3, 3, 64, 64)],
        *(0, 1),
        edges=((1, 1), (1, 1)),
    ),
    "oneDNN 16x64x32x32 to 64, 3x3": conv((16, 64, 32, 32), (64, 64, 3, 3)),
    "oneDNN 16x128x16x16 to 256, 3x3, step 2": conv((16, 128, 16, 16), (256, 128, 3, 3), 2),
    "oneDNN 16x512x4x4 to 512, 3x3": conv((16, 512, 4, 4), (512, 512, 3, 3)),
    "oneDNN 16x3x64x64 to 64, 7x7, step 2": conv((16, 3, 64, 64), (64, 3, 7, 7), 2),
    "oneDNN 64x1x32x32 to 6, 5x5": conv((64, 1, 32, 32), (6, 1, 5, 5)),
    "oneDNN 16x128x16x16 to 256, 1x1": conv((16, 128, 16, 16), (256, 128, 1, 1)),
    "oneDNN 1x128x16x16 to 256, 3x3": conv((1, 128, 16, 16), (256, 128, 3, 3)),
    "oneDNN 16x64x32x32 to 64, 3x3, dilation 2": conv((16, 64, 32, 32), (64, 64, 3, 3), dilation=2),
    "oneDNN 16x64x32x32, 64 groups, 3x3": conv((16, 64, 32, 32), (64, 1, 3, 3), groups=64),
    "oneDNN 16x128x16x16, 8 groups, 3x3": conv((16, 128, 16, 16), (128, 16, 3, 3), groups=8),
    "oneDNN 16x32x32x64 to 64, 3x3, channels last": conv(
        (16, 32, 32, 64), (64, 3, 3, 64), last=True
    ),
    "oneDNN 16x64x64x3 to 64, 7x7, step 2, channels last": conv(
        (16, 64, 64, 3), (64, 7, 7, 3), 2, last=True
    ),
    "oneDNN 16x32x32x64, 64 groups, 3x3, channels last": conv(
        (16, 32, 32, 64), (64, 3, 3, 1), groups=64, last=True
    ),
    "oneDNN 16x64x512 to 64, 5": conv((16, 64, 512), (64, 64, 5)),
    "oneDNN 4x32x16x16x16 to 32, 3x3x3": conv((4, 32, 16, 16, 16), (32, 32, 3, 3, 3)),
    "oneDNN 16x128x8x8 to 64, 4x4, transposed by 2": conv_transposed(
        (16, 128, 8, 8), (128, 64, 4, 4), 2
    ),
}


def loss(function: Callable[..., Any]) -> Callable[..., Any]:
    """Sum the first result by weights that the compiler cannot fold."""

    def of(weights: Any, *arrays: Any) -> Any:
        return (jax.tree.leaves(function(*arrays))[0] * weights).sum()

    return of


def runner(case: Case, function: Callable[..., Any], backward: bool) -> Callable[[], None]:
    """Give a call that runs once; what is donated goes from one call to the next."""
    inputs = [jax.tree.map(jnp.asarray, x) for x in case.inputs()]
    if case.donated:
        step = jax.jit(function, donate_argnums=0)
        state = [inputs[0]]

        def run() -> None:
            state[0] = jax.block_until_ready(step(state[0], *inputs[1:]))

        return run
    if backward:
        shape = jax.tree.leaves(jax.eval_shape(function, *inputs))[0].shape
        inputs = [jnp.asarray(normal(*shape)), *inputs]
        places = tuple(i + 1 for i in case.differentiated)
        compiled = jax.jit(jax.value_and_grad(loss(function), places))
    else:
        compiled = jax.jit(function)
    return lambda: jax.block_until_ready(compiled(*inputs))


def measure(
    case: Case, backward: bool, rounds: int, clock: Callable[[], float]
) -> tuple[list[float], list[float]]:
    """Run both forms in turns; give milliseconds of kernel and plain form."""
    forms = [runner(case, f, backward) for f in (case.kernel, case.plain)]
    for run in forms:
        run()
        run()
    begin = clock()
    forms[0]()
    each = max(1, min(100, int(0.005 / max(clock() - begin, 1e-6))))
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        order = (0, 1) if number % 2 else (1, 0)
        for which in order:
            begin = clock()
            for _ in range(each):
                forms[which]()
            times[which].append((clock() - begin) / each * 1e3)
    return times


def row(times: tuple[list[float], list[float]]) -> str:
    low, middle, high = statistics.quantiles([p / k for k, p in zip(*times, strict=True)], n=4)
    kernel, plain = (statistics.median(t) for t in times)
    return f"{kernel:9.3f} {plain:9.3f} {middle:6.2f} ({low:.2f}-{high:.2f})"


def table(names: list[str], rounds: int, clock: Callable[[], float]) -> dict[str, Any]:
    """Measure and print; give all times."""
    kept: dict[str, Any] = {}
    print(f"{'':55} {'kernel':>9} {'plain':>9}  ratio (quartiles of {rounds})")
    for name in names:
        case = CASES[name]
        for backward in (False, True):
            if backward and (not case.differentiated or case.donated):
                continue
            times = measure(case, backward, rounds, clock)
            label = f"{name}{' + backward' if backward else ''}"
            kept[label] = times
            print(f"{label:55}", row(times), flush=True)
    return kept


def peak(form: str) -> None:
    """Print the peak of memory over what was held before, in MiB, forward and with backward."""
    status = pathlib.Path("/proc/self/status")

    def now(key: str) -> int:
        return next(int(x.split()[1]) for x in status.read_text().splitlines() if key in x)

    case = attention(1, 4096, 4, 4, 64, True)
    function = case.kernel if form == "kernel" else case.plain
    inputs = [jnp.asarray(x) for x in case.inputs()]
    gradient = jax.grad(lambda *a: function(*a).sum(), (0, 1, 2))
    found = []
    for compiled in (jax.jit(function), jax.jit(gradient)):
        executable = compiled.lower(*inputs).compile()
        before = now("VmRSS")
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        jax.block_until_ready(executable(*inputs))
        found.append((now("VmHWM") - before) / 1024)
    print(json.dumps(found))


def memory() -> None:
    """Compare the forms' peaks of memory."""
    found = {}
    for form in ("kernel", "plain"):
        command = [sys.executable, __file__, "--peak", form]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[form] = json.loads(done.stdout.splitlines()[-1])
    for i, label in enumerate(("forward", "forward and backward")):
        kernel, plain = found["kernel"][i], found["plain"][i]
        print(
            f"attention 1x4096, 4 heads of 64, {label}: kernel {kernel:.1f} MiB, plain "
            f"{plain:.1f} MiB: {kernel / plain:.1%}"
        )


def main() -> None:
    """Measure, print a table and write a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--cases", nargs="+", default=[], help="words that the names hold")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--peak", choices=["kernel", "plain"], help=argparse.SUPPRESS)
    parser.add_argument("--out", default=str(HERE / "results" / "kernels.json"))
    args = parser.parse_args()
    if args.peak:
        peak(args.peak)
        return
    if args.memory:
        memory()
        return
    names = [n for n in CASES if not args.cases or any(w in n for w in args.cases)]
    clock = time.process_time if args.clock == "cpu" else time.perf_counter
    times = table(names, args.rounds, clock)
    path = pathlib.Path(args.out)
    path.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "load": os.getloadavg(),
        "rounds": args.rounds,
        "clock": args.clock,
        "milliseconds": times,
    }
    path.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
