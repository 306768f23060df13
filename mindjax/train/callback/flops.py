"""How many operations a training takes, and how many of those that a device could do."""

from __future__ import annotations

import math
import os
import time
import weakref
from typing import Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.train.callback.base import Callback, RunContext

_LATEST: dict[str, weakref.ref[Any]] = {}


def note_network(phase: str, network: Any) -> None:
    """Note which network is trained or evaluated.

    Args:
        phase: ``"train"`` or ``"eval"``.
        network: the Cell of a step.
    """
    _LATEST[phase] = weakref.ref(network)


def flops_of(network: Any) -> float | None:
    """Give the floating-point operations of a network's latest program, as XLA counts them.

    Args:
        network: Cell that has run in GRAPH_MODE.

    Returns:
        None if it has no program.
    """
    programs = network.__dict__.get("_programs")
    found = None if programs is None else list(programs.programs.entries.values())
    costs = [p.cost for variants in found or () for p in variants if p.cost]
    return float(costs[-1].get("flops", 0.0)) if costs else None


def flops_collection(phase: str = "train") -> tuple[float, float, float, float, bool]:
    """Give the floating-point operations of the latest training or evaluation by a `Model`.

    Args:
        phase: ``"train"`` or ``"eval"``.

    Returns:
        Operations of the model, of the hardware, of this process's part of each, and whether
        shapes are unknown. One process runs everything: the four numbers are XLA's one count of a
        step's program, zero before the first step in GRAPH_MODE.

    MindSpore: ``mindspore.flops_collection``.
    """
    reference = _LATEST.get(phase)
    network = None if reference is None else reference()
    flops = 0.0 if network is None else flops_of(network) or 0.0
    return flops, flops, flops, flops, False


class FlopsUtilizationCollector(Callback):
    """Print which part of a device's peak a step uses, in GRAPH_MODE.

    All operations that XLA counts in a step's program count; there is one process, so model and
    hardware, whole and part are the same.

    Args:
        data_size: steps between two lines.
        computility: peak of the device, operations a second.
        full_flops: whether the whole model counts, not this process's part.
        enable_ma_collector: whether the numbers are written to files in the folder of the variable
            MA_LOG_DIR, which defaults to the current one.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: ``data_size`` is below 1.

    MindSpore: ``mindspore.train.FlopsUtilizationCollector``, which counts matrix products,
    convolutions and attention only.
    """

    def __init__(
        self,
        data_size: int,
        computility: float = 1,
        full_flops: bool = True,
        enable_ma_collector: bool = False,
    ) -> None:
        super().__init__()
        owner = "FlopsUtilizationCollector"
        self.full_flops = checks.boolean("full_flops", full_flops, owner)
        self.ma = checks.boolean("enable_ma_collector", enable_ma_collector, owner)
        self.data_size = checks.positive_int("data_size", data_size, owner)
        self.computility = computility
        self.verbose = not (computility == 1 and enable_ma_collector)
        self.flops = 0.0
        self.step_time = time.time()

    def step_begin(self, run_context: RunContext) -> None:
        """Start the clock."""
        self.step_time = time.time()

    def step_end(self, run_context: RunContext) -> None:
        """Wait for the step, and print its time and the part of the peak.

        Raises:
            ValueError: the network has no program: the mode is not GRAPH_MODE.
        """
        params = run_context.original_args()
        _wait(params.net_outputs)
        milliseconds = (time.time() - self.step_time) * 1000
        if not self.flops and not self._count(params):
            return
        if params.dataset_sink_mode and params.batch_num > 0:
            milliseconds /= params.batch_num
        if self.ma:
            labels = f'{{type="per_step_time", rank_id="0"}} {milliseconds} {_now()}'
            self._write("time_step_rank_0.txt", f"time_monitor{labels}")
        if self.verbose and params.cur_step_num % self.data_size == 0:
            part = _percent(1000 * self.flops / self.computility / milliseconds)
            print(
                f"{params.mode.title()} per step time: {milliseconds:5.3f} ms mfu:{part} "
                f"hfu:{part}",
                flush=True,
            )

    def _count(self, params: Any) -> bool:
        network = params.train_network if params.mode == "train" else params.eval_network
        flops = flops_of(network)
        if not flops:
            if self.verbose:
                raise located(ValueError, "FlopsUtilizationCollector now only support graph mode.")
            return False
        self.flops = flops
        if self.ma:
            for kind in ("model_flops", "hardware_flops"):
                line = f'flops{{type="{kind}", rank_id="0"}} {flops} {_now()}'
                self._write("flops_rank_0.txt", line)
        if self.verbose:
            whole = f"Full model flops is {flops}, Full hardware flops is {flops}, "
            print(
                f"{whole if self.full_flops else ''}Shard model flops is {flops}, "
                f"Shard hardware flops is {flops}.",
                flush=True,
            )
        return True

    def _write(self, name: str, line: str) -> None:
        path = os.path.join(os.path.realpath(os.getenv("MA_LOG_DIR", "./")), name)
        with open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")


def _wait(outputs: Any) -> None:
    for value in outputs if isinstance(outputs, tuple | list) else (outputs,):
        if hasattr(value, "asnumpy"):
            value.asnumpy()


def _now() -> int:
    return round(time.time() * 1000)


def _percent(part: float) -> str:
    return f"{math.floor(part * 1e4) / 100:.2f}%"
