"""A callback that profiles the steps which a file names while the training runs."""

from __future__ import annotations

import json
import logging
import os
import time
from pathlib import Path
from typing import Any

from mindjax.core import world
from mindjax.core.checks import of_type
from mindjax.profiler.config import (
    AicoreMetrics,
    ExperimentalConfig,
    ExportType,
    ProfilerActivity,
    ProfilerLevel,
    tensorboard_trace_handler,
)
from mindjax.profiler.profile import Profile
from mindjax.profiler.schedule import Schedule
from mindjax.train.callback import Callback, RunContext

logger = logging.getLogger("mindjax")

_LEVELS = {-1: "LevelNone", 0: "Level0", 1: "Level1", 2: "Level2"}
_METRICS = [
    "PipeUtilization",
    "ArithmeticUtilization",
    "Memory",
    "MemoryL0",
    "MemoryUB",
    "ResourceConflictRatio",
    "L2Cache",
    "MemoryAccess",
]
_ACTIVITIES = {0: ["CPU", "NPU"], 1: ["CPU"], 2: ["NPU"]}
_EXPORTS = {0: ["text"], 1: ["db"], 2: ["text", "db"]}
_DEFAULTS: dict[str, Any] = {
    "start_step": -1,
    "stop_step": -1,
    "aic_metrics": "AiCoreNone",
    "profiler_level": "Level0",
    "activities": ["CPU", "NPU"],
    "export_type": ["text"],
    "profile_memory": False,
    "mstx": False,
    "analyse": False,
    "analyse_mode": -1,
    "parallel_strategy": False,
    "with_stack": False,
    "data_simplification": True,
    "record_shapes": False,
    "mstx_domain_include": [],
    "mstx_domain_exclude": [],
    "prof_path": "./",
}


class DynamicProfilerMonitor(Callback):
    """Profiles the steps from ``start_step`` to ``stop_step`` of ``profiler_config.json``.

    The file may be changed while the training runs; it is written with ``-1`` for both if it is
    missing. Its other keys are the settings of `profile`, and ``analyse``.

    Args:
        cfg_path: folder of ``profiler_config.json``.
        output_path: folder of the traces, if the file's ``prof_path`` names none.
        poll_interval: seconds between two looks at the file, 1 or more.
        **kwargs: kept, as by the original.

    Raises:
        TypeError: ``cfg_path`` is no path.

    MindSpore: ``mindspore.profiler.DynamicProfilerMonitor``.
    """

    NPU_MONITOR_START = "NPU_MONITOR_START"

    def __init__(
        self,
        cfg_path: str | None = None,
        output_path: str = "./dyn_profile_data",
        poll_interval: int = 2,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        of_type("cfg_path", cfg_path, (str, os.PathLike), "DynamicProfilerMonitor")
        if not isinstance(poll_interval, int) or poll_interval < 1:
            logger.error("Poll interval must be an integer of at least 1, reset to 2.")
            poll_interval = 2
        self._kwargs = kwargs
        self._config = Path(str(cfg_path)).resolve() / "profiler_config.json"
        self._output_path, self._poll_interval = output_path or "dyn_profile_data", poll_interval
        self._rank = world.environment("RANK_ID", 0)
        self._looked, self._seen = float("-inf"), -1.0
        self._wanted: dict[str, Any] = dict(_DEFAULTS)
        self._profile: Profile | None = None
        self._last_start = self._last_stop = -1
        self._step = 0
        if not self._config.exists():
            self._config.parent.mkdir(parents=True, exist_ok=True)
            self._config.write_text(json.dumps(_DEFAULTS, indent=4))

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Begin to profile if it is time."""
        self._begin(run_context.original_args().cur_step_num)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """End a step, and the profile after its last one."""
        self._end(run_context.original_args().cur_step_num)

    def on_train_end(self, run_context: RunContext) -> None:
        """End a profile that is not complete."""
        self._finish()

    def step(self) -> None:
        """Say, in a loop of one's own, that a step has ended and the next one begins."""
        if self._step:
            self._end(self._step)
        self._step += 1
        self._begin(self._step)

    def _look(self) -> dict[str, Any]:
        """Read the file if it is time and it has changed."""
        now = time.monotonic()
        changed = -1.0
        if now - self._looked >= self._poll_interval or self._looked < 0:
            self._looked = now
            try:
                changed = self._config.stat().st_mtime_ns
                if changed != self._seen:
                    self._wanted = {**_DEFAULTS, **json.loads(self._config.read_text())}
                    self._seen = changed
            except (OSError, ValueError) as error:
                # It may be written at this moment.
                logger.error("Dynamic profiler json is not valid: %s", error)
        return self._wanted

    def _begin(self, number: int) -> None:
        wanted = self._look()
        start, stop = wanted["start_step"], wanted["stop_step"]
        if self._profile is not None or start != number or start <= self._last_stop:
            return
        if not isinstance(stop, int) or stop < start:
            logger.error("The stop_step %r must not be before the start_step %r.", stop, start)
            return
        base = wanted["prof_path"] if wanted["prof_path"] != "./" else self._output_path
        folder = Path(base) / f"rank{self._rank}_start{start}_stop{stop}"
        self._profile = _profile(wanted, str(folder), stop - start + 1)
        self._last_start, self._last_stop = start, stop
        print(f"Rank {self._rank} Dynamic profiler start at step {start}, will stop at step {stop}")

    def _end(self, number: int) -> None:
        if self._profile is not None:
            self._profile.step()
            if number >= self._last_stop:
                self._finish()

    def _finish(self) -> None:
        profile, self._profile = self._profile, None
        if profile is not None:
            profile.stop()
            print(f"Rank {self._rank} Dynamic profiler stop at step {self._last_stop}")


def _profile(wanted: dict[str, Any], folder: str, steps: int) -> Profile:
    """Make the profiler that the file describes."""
    metric, level = wanted["aic_metrics"], wanted["profiler_level"]
    activities, export = wanted["activities"], wanted["export_type"]
    if isinstance(metric, int):
        metric = _METRICS[metric] if 0 <= metric < len(_METRICS) else "AiCoreNone"
    if isinstance(activities, int):
        activities = _ACTIVITIES[activities]
    if isinstance(export, int):
        export = _EXPORTS[export]
    config = ExperimentalConfig(
        profiler_level=ProfilerLevel(_LEVELS.get(level, level)),
        aic_metrics=AicoreMetrics[metric],
        mstx=wanted["mstx"],
        data_simplification=wanted["data_simplification"],
        export_type=[ExportType(item) for item in export],
        mstx_domain_include=wanted["mstx_domain_include"],
        mstx_domain_exclude=wanted["mstx_domain_exclude"],
    )
    analyses = bool(wanted["analyse"]) or wanted["analyse_mode"] in (0, 1)
    return Profile(
        activities=[ProfilerActivity(item) for item in activities],
        with_stack=wanted["with_stack"],
        profile_memory=wanted["profile_memory"],
        parallel_strategy=wanted["parallel_strategy"],
        record_shapes=wanted["record_shapes"],
        schedule=Schedule(wait=0, warmup=0, active=steps, repeat=1),
        on_trace_ready=tensorboard_trace_handler(
            folder, analyse_flag=analyses, async_mode=wanted["analyse_mode"] == 1
        ),
        experimental_config=config,
    )
