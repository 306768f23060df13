"""``profile`` and ``Profiler``: start, steps and stop of traces, by hand or by a schedule."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mindjax.core.errors import located
from mindjax.profiler import tables
from mindjax.profiler.config import ExperimentalConfig, ProfilerActivity, settings_of
from mindjax.profiler.schedule import ProfilerAction, Schedule, always
from mindjax.profiler.session import SUFFIX, Session

logger = logging.getLogger("mindjax")

_RECORDS = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
_MOST_METADATA = 50 * 1024 * 1024


class _Recorder:
    """What both profilers do: traces that follow the actions of steps."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._started = False
        self._settings = settings_of(given)
        handler = given.get("on_trace_ready")
        if handler is not None and not callable(handler):
            logger.warning("For Profiler, on_trace_ready value is Invalid, reset to None.")
            handler = None
        self._on_trace_ready: Callable[..., Any] | None = handler
        schedule: Any = given.get("schedule")
        if schedule is not None and not callable(schedule):
            logger.warning("schedule is not Callable, set by default.")
            schedule = None
        self.schedule: Callable[[int], Any] = schedule or always
        self._has_schedule = schedule is not None
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._metadata: dict[str, Any] = {}
        self._session: Session | None = None
        self._last: Session | None = None
        if given.get("start_profile", True) is not False:
            self.start()

    def start(self) -> None:
        """Begin to record what the schedule says, or everything.

        Raises:
            RuntimeError: jax is tracing already.
        """
        if self._started:
            logger.warning("The profiler has already started. Do not turn on again.")
            return
        self._transit(ProfilerAction.NONE, self.current_action)
        self._started = True
        self._begin_step()

    def step(self) -> None:
        """Say that a step has ended and the next one begins."""
        if not self._started:
            logger.error("The profiler is stopped, step takes no effect!")
            return
        if self._session is not None:
            self._session.end_step(self.step_num)
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._transit(before, self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """End recording; the trace is handed to ``on_trace_ready``."""
        if not self._started:
            logger.error("The profiler has not started. Do not turn off again.")
            return
        self._started = False
        if self._session is not None and self._has_schedule:
            logger.warning(
                "The profiler is stopped in the middle of a cycle of its schedule: the data may be "
                "incomplete."
            )
        self._finish(ready=True)

    def _begin_step(self) -> None:
        if self._session is not None:
            self._session.begin_step(self.step_num)

    def _transit(self, before: ProfilerAction, after: ProfilerAction) -> None:
        """Start and stop traces between two steps."""
        saves = before is ProfilerAction.RECORD_AND_SAVE
        if before in _RECORDS and (saves or after not in _RECORDS):
            if not saves:
                logger.warning("Incorrect schedule: %s followed by %s.", before, after)
            self._finish(ready=saves)
        if after in _RECORDS and self._session is None:
            session = Session(self._settings)
            session.start()
            self._session = session

    def _finish(self, ready: bool) -> None:
        session, self._session = self._session, None
        if session is None:
            return
        session.metadata = dict(self._metadata)
        session.stop()
        self._last = session
        if ready and self._on_trace_ready is not None:
            self._on_trace_ready(session)

    def add_metadata(self, key: str, value: str) -> None:
        """Add a text to the file ``profiler_metadata.json`` of the trace.

        Args:
            key: its name.
            value: the text. What is no text is warned of and left out, as in the original.
        """
        if self._fits(key, value):
            self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a value to the file ``profiler_metadata.json`` of the trace.

        Args:
            key: its name.
            value: the value as JSON. What is none is warned of and left out, as in the original.
        """
        if not self._fits(key, value):
            return
        try:
            self._metadata[key] = json.loads(value)
        except ValueError:
            logger.warning("The metadata value must be json format string. Skip this metadata")

    def _fits(self, key: Any, value: Any) -> bool:
        if not isinstance(key, str) or not isinstance(value, str):
            logger.warning("The key and value of metadata must be string. Skip this metadata.")
            return False
        if sum(len(str(v)) for v in self._metadata.values()) + len(value) > _MOST_METADATA:
            logger.warning("Too many metadata added. Skip this metadata")
            return False
        return True

    def __enter__(self) -> Any:
        if not self._started:
            self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._started:
            self.stop()

    def __del__(self) -> None:
        if getattr(self, "_started", False) and not sys.is_finalizing():
            logger.warning("A profiler is dropped before it is stopped: it is stopped now.")
            self.stop()


class Profile(_Recorder):
    """Records a trace with jax's profiler, for xprof (TensorBoard) and Perfetto.

    A trace's folder ``..._ascend_ms`` holds jax's trace, and after an analysis the folder
    ``ASCEND_PROFILER_OUTPUT``: the timeline ``trace_view.json`` and tables of steps, operators,
    programs and memory.

    Args:
        activities: what is watched: without ``ProfilerActivity.CPU`` only steps and marks of the
            host; the device is watched if there is one.
        with_stack: whether Python's calls are put into the timeline.
        profile_memory: whether the bytes on the device are noted at each step, and a profile of
            them is written when the trace ends (``memory.prof``, for pprof).
        data_process: the original's switch for data sets: kept.
        parallel_strategy: the original's switch for parallel strategies: kept.
        start_profile: whether recording begins at once.
        hbm_ddr: Ascend's memory counters: kept, jax's profiler has none.
        pcie: Ascend's bus counters: kept, jax's profiler has none.
        sync_enable: how the original times a GPU's kernels: kept, XLA's times are the device's.
        record_shapes: kept: shapes stand in the programs that xprof shows.
        schedule: gives the `ProfilerAction` of a step; None records everything.
        on_trace_ready: called with each trace; see `tensorboard_trace_handler`.
        experimental_config: further settings.

    Raises:
        RuntimeError: jax is tracing already.

    MindSpore: ``mindspore.profiler.profile``.
    """

    def __init__(
        self,
        activities: Iterable[ProfilerActivity] | None = None,
        with_stack: bool = False,
        profile_memory: bool = False,
        data_process: bool = False,
        parallel_strategy: bool = False,
        start_profile: bool = True,
        hbm_ddr: bool = False,
        pcie: bool = False,
        sync_enable: bool = True,
        record_shapes: bool = False,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        experimental_config: ExperimentalConfig | None = None,
    ) -> None:
        given = dict(locals())
        super().__init__({k: v for k, v in given.items() if k not in ("self", "__class__")})


class Profiler(_Recorder):
    """The older interface of `profile`.

    Args:
        **kwargs: ``start_profile``, ``output_path`` (``"./data"``), ``profiler_level``,
            ``activities``, ``schedule``, ``on_trace_ready``, ``profile_memory``, ``with_stack`` and
            the other settings of `profile` and its ``experimental_config``.

    MindSpore: ``mindspore.Profiler``.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(kwargs)

    def step(self) -> None:
        """Say that a step has ended and the next one begins; needs a schedule."""
        if not self._has_schedule:
            logger.error("With no schedule in the Profiler, step takes no effect!")
            return
        super().step()

    def analyse(
        self,
        offline_path: str | None = None,
        pretty: bool = False,
        step_list: list[int] | None = None,
        mode: str = "sync",
    ) -> None:
        """Stop, and make the tables of the trace.

        Args:
            offline_path: must be None: see `offline_analyse`.
            pretty: whether the timeline's JSON is indented.
            step_list: numbers of the steps that count; None for all.
            mode: ``"sync"``, or ``"async"`` for a thread.

        Raises:
            ValueError: ``mode`` is neither.
        """
        if mode not in ("sync", "async"):
            raise located(
                ValueError,
                f"For 'Profiler.analyse', the 'mode' must be 'sync' or 'async', but got {mode!r}.",
            )
        if self._started:
            self.stop()
        if self._has_schedule:
            logger.warning(
                "The profiler has schedule. Please use 'on_trace_ready' to analyse data."
            )
            return
        if offline_path:
            logger.warning("For another trace call Profiler.offline_analyse().")
        if self._last is not None:
            self._last.analyse(mode == "async", pretty, step_list)

    @classmethod
    def offline_analyse(
        cls,
        path: str,
        pretty: bool = False,
        step_list: list[int] | None = None,
        data_simplification: bool = True,
    ) -> None:
        """Make the tables of traces that were recorded before.

        Args:
            path: folder of a trace, or of several.
            pretty: whether the timeline's JSON is indented.
            step_list: numbers of the steps that count; None for all.
            data_simplification: kept: jax's trace stays.
        """
        analyse(path, pretty=pretty, step_list=step_list, data_simplification=data_simplification)

    def op_analyse(self, op_name: str | list[str], device_id: int | None = None) -> str:
        """Give the times of operators in the last trace.

        Args:
            op_name: name or names: of XLA's operators, or, in PYNATIVE_MODE, where each is a
                program of its own, of the original's.
            device_id: number of the device; None for all.

        Returns:
            JSON: for each name what was run, how often and for how many microseconds.

        Raises:
            TypeError: an argument has the wrong type.
            RuntimeError: there is no trace.
        """
        owner = "Profiler.op_analyse()"
        if device_id is not None and (
            isinstance(device_id, bool) or not isinstance(device_id, int)
        ):
            raise located(
                TypeError,
                f"For '{owner}', the parameter device_id must be int, but got type "
                f"{type(device_id)}",
            )
        if not isinstance(op_name, str | list) or not op_name:
            raise located(
                TypeError,
                f"For '{owner}', the parameter op_name must be str or list, but got {op_name!r}",
            )
        if self._last is None:
            raise located(RuntimeError, f"For '{owner}', nothing is recorded: stop it first.")
        operations = tables.Trace(self._last.folder).operations
        if device_id is not None:
            operations = [o for o in operations if _on_device(o.device, device_id)]
        found: dict[str, Any] = {}
        for name in [op_name] if isinstance(op_name, str) else op_name:
            own = [o for o in operations if _named(o, str(name))]
            found[str(name)] = [
                {
                    "op_side": "cpu" if row[0].startswith("/host") else "device",
                    "op_name": row[0].split(" ", 1)[1],
                    "op_occurrences": row[1],
                    "op_total_time(us)": round(row[2], 3),
                    "op_avg_time(us)": round(row[4], 3),
                }
                for row in tables.statistics(own, lambda o: f"{o.device} {o.module}/{o.name}")
            ]
        found["device_id"] = str(device_id or 0)
        return json.dumps(found)


def _on_device(plane: str, number: int) -> bool:
    return plane.endswith(f":{number}") or (plane == "/host:CPU" and number == 0)


def _named(operation: tables.Operation, name: str) -> bool:
    module = operation.module.removeprefix("jit_").removeprefix("ms_").split("(")[0]
    own = operation.name, operation.kind, module, module.removesuffix("Ext")
    return name.lower() in [word.lower() for word in own]


def analyse(
    profiler_path: str,
    max_process_number: int = (os.cpu_count() or 2) // 2,
    pretty: bool = False,
    step_list: list[int] | None = None,
    data_simplification: bool = True,
) -> None:
    """Make the tables of traces (MindSpore: ``mindspore.profiler.profiler.analyse``).

    Args:
        profiler_path: folder of a trace, or of several.
        max_process_number: processes of the original's; here one after the other is analysed.
        pretty: whether the timeline's JSON is indented.
        step_list: numbers of the steps that count; None for all.
        data_simplification: kept: jax's trace stays.
    """
    path = Path(profiler_path).resolve()
    found = [path] if path.name.endswith(SUFFIX) else sorted(path.glob(f"*{SUFFIX}"))
    if not found:
        logger.error(
            "Invalid path: %s. Expected a *%s directory or a parent directory of several.",
            path,
            SUFFIX,
        )
    for folder in found:
        tables.analyse(folder, pretty, step_list)


__all__ = ["Profile", "Profiler", "Schedule", "analyse"]
