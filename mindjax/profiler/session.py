"""One trace of jax's profiler, with what is written beside it."""

from __future__ import annotations

import json
import logging
import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import jax

from mindjax.profiler import tables
from mindjax.profiler.config import ProfilerActivity, ProfilerLevel, Settings

logger = logging.getLogger("mindjax")

SUFFIX = "_ascend_ms"
"""End of the name of a trace's folder, the original's: tools look for it."""


class Session:
    """A trace from its start to its tables.

    Args:
        settings: what is collected, and where it is written.
    """

    active: ClassVar[Session | None] = None

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        now = time.time()
        stamp = time.strftime("%Y%m%d%H%M%S", time.localtime(now)) + f"{int(now * 1000) % 1000:03}"
        worker = settings.worker_name or f"{os.uname().nodename}_{os.getpid()}"
        self.folder = Path(settings.output_path).resolve() / f"{worker}_{stamp}{SUFFIX}"
        self.metadata: dict[str, Any] = {}
        self._memory: list[tuple[int, int, int]] = []
        self._thread: threading.Thread | None = None
        self._step: Any = None

    def start(self) -> None:
        """Begin to trace.

        Raises:
            RuntimeError: jax is tracing already.
        """
        settings, options = self.settings, jax.profiler.ProfileOptions()
        operators = settings.profiler_level is not ProfilerLevel.LevelNone
        host = ProfilerActivity.CPU in settings.activities
        most = 3 if settings.profiler_level is ProfilerLevel.Level2 else 2
        # Level 1 holds steps and marks, level 2 operators on the host, level 3 runtime calls.
        options.host_tracer_level = most if host and operators else 1
        options.python_tracer_level = int(settings.with_stack)
        jax.profiler.start_trace(str(self.folder), profiler_options=options)
        self.folder.mkdir(parents=True, exist_ok=True)
        Session.active = self
        self.note_memory(0)

    def begin_step(self, number: int) -> None:
        """Mark where a step begins."""
        name = f"{tables.STEP}{number}"
        self._step = jax.profiler.StepTraceAnnotation(name, step_num=number)
        self._step.__enter__()

    def end_step(self, number: int) -> None:
        """Mark where a step ends."""
        if self._step is not None:
            step, self._step = self._step, None
            step.__exit__(None, None, None)
            self.note_memory(number)

    def stop(self) -> None:
        """End the trace and write it."""
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None
        self.note_memory(-1)
        Session.active = None
        jax.profiler.stop_trace()
        if self.settings.profile_memory:
            (self.folder / "memory.prof").write_bytes(jax.profiler.device_memory_profile())
            rows = [(s, t, used / 1024, peak / 1024) for s, t, used, peak in self._rows()]
            tables.write(
                self.folder / tables.OUTPUT,
                "memory_record",
                ("Step", "Timestamp(us)", "Total Allocated(KB)", "Peak Allocated(KB)"),
                rows,
                self.settings.export_type,
            )
        info = {"jax": jax.__version__, "settings": self.settings.record()}
        (self.folder / "profiler_info.json").write_text(json.dumps(info, indent=1))
        if self.metadata:
            text = json.dumps(self.metadata, indent=1)
            (self.folder / "profiler_metadata.json").write_text(text)

    def _rows(self) -> list[tuple[int, int, int, int]]:
        peak, found = 0, []
        for step, moment, used in self._memory:
            peak = max(peak, used)
            found.append((step, moment, used, peak))
        return found

    def note_memory(self, step: int) -> None:
        """Note how much the device's arrays take, if that is asked for."""
        if self.settings.profile_memory:
            self._memory.append((step, time.time_ns() // 1000, allocated_bytes()))

    def analyse(
        self,
        async_mode: bool = False,
        pretty: bool = False,
        step_list: list[int] | None = None,
    ) -> None:
        """Make tables of the trace.

        Args:
            async_mode: whether a thread makes them.
            pretty: whether the timeline's JSON is indented.
            step_list: numbers of the steps that count; None for all.
        """
        export = self.settings.export_type
        if async_mode:
            self._thread = threading.Thread(
                target=tables.analyse, args=(self.folder, pretty, step_list, export)
            )
            self._thread.start()
        else:
            tables.analyse(self.folder, pretty, step_list, export)

    def discard(self) -> None:
        """End the trace and delete it."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def allocated_bytes() -> int:
    """Count the bytes of arrays on this process's devices."""
    found = [device.memory_stats() for device in jax.local_devices()]
    if all(found):
        return sum(int(stats["bytes_in_use"]) for stats in found if stats)
    # A CPU keeps no count.
    return sum(array.nbytes for array in jax.live_arrays())
