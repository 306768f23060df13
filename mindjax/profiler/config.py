"""What a profiler is asked to collect, and where it writes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

logger = logging.getLogger("mindjax")


class ProfilerLevel(Enum):
    """How much is collected: no operators (None), operators (0, 1), or runtime calls too (2)."""

    LevelNone = "LevelNone"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class ProfilerActivity(Enum):
    """What is watched: the host (CPU) or the device (GPU, NPU)."""

    NPU = "NPU"
    GPU = "GPU"
    CPU = "CPU"


class AicoreMetrics(Enum):
    """Counters of an Ascend core; jax's profiler has none of them."""

    PipeUtilization = "PipeUtilization"
    ArithmeticUtilization = "ArithmeticUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    ResourceConflictRatio = "ResourceConflictRatio"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"
    AiCoreNone = "None"


class ExportType(Enum):
    """What tables are written as: CSV files, or one SQLite database."""

    Db = "db"
    Text = "text"


class HostSystem(Enum):
    """Figures of the host's system that Ascend's tools collect."""

    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"


@dataclass
class ExperimentalConfig:
    """Further settings of a profiler.

    Args:
        profiler_level: see `ProfilerLevel`.
        aic_metrics: counters of an Ascend core: kept, jax's profiler has none.
        l2_cache: Ascend's cache counters: kept, jax's profiler has none.
        mstx: whether the marks and ranges of `mstx` are put into the trace.
        data_simplification: whether the original deletes its raw data: kept, jax's trace stays.
        export_type: list of `ExportType`; None for text.
        mstx_domain_include: domains whose marks are kept; none for all.
        mstx_domain_exclude: domains whose marks are dropped, if none is included.
        sys_io: Ascend's network counters: kept, jax's profiler has none.
        sys_interconnection: Ascend's link counters: kept, jax's profiler has none.
        host_sys: list of `HostSystem`: kept, jax's profiler has none.

    MindSpore: ``mindspore.profiler._ExperimentalConfig``.
    """

    profiler_level: ProfilerLevel = ProfilerLevel.Level0
    aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone
    l2_cache: bool = False
    mstx: bool = False
    data_simplification: bool = True
    export_type: list[ExportType] | None = None
    mstx_domain_include: list[str] | None = None
    mstx_domain_exclude: list[str] | None = None
    sys_io: bool = False
    sys_interconnection: bool = False
    host_sys: list[HostSystem] | None = None


@dataclass
class Settings:
    """The settings of one profiler, checked; a wrong one is named in a warning and left out."""

    output_path: str = "./data"
    worker_name: str | None = None
    profiler_level: ProfilerLevel = ProfilerLevel.Level0
    activities: list[ProfilerActivity] = field(
        default_factory=lambda: [ProfilerActivity.CPU, ProfilerActivity.NPU]
    )
    with_stack: bool = False
    profile_memory: bool = False
    export_type: list[ExportType] = field(default_factory=lambda: [ExportType.Text])
    mstx: bool = False
    mstx_domain_include: list[str] = field(default_factory=list)
    mstx_domain_exclude: list[str] = field(default_factory=list)
    # Kept for the record that is written beside the trace: jax's profiler has no such counters.
    aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone
    data_process: bool = False
    parallel_strategy: bool = False
    l2_cache: bool = False
    hbm_ddr: bool = False
    pcie: bool = False
    sys_io: bool = False
    sys_interconnection: bool = False
    host_sys: list[HostSystem] = field(default_factory=list)
    sync_enable: bool = True
    data_simplification: bool = True
    record_shapes: bool = False

    def take(self, name: str, value: Any) -> None:
        """Set one setting, if its value is of the right type.

        Args:
            name: the setting.
            value: its value; None leaves the default.
        """
        if value is None:
            return
        before = getattr(self, name)
        if name == "activities" and isinstance(value, Iterable):
            value = list(value)
        kinds = {
            "activities": ProfilerActivity,
            "export_type": ExportType,
            "host_sys": HostSystem,
            "mstx_domain_include": str,
            "mstx_domain_exclude": str,
        }
        wrong = not isinstance(value, str if name == "worker_name" else type(before))
        if not wrong and name in kinds:
            wrong = any(not isinstance(item, kinds[name]) or item == "" for item in value)
        if wrong:
            logger.warning("For Profiler, %s value is Invalid, reset to %s.", name, before)
            return
        setattr(self, name, value)

    def record(self) -> dict[str, Any]:
        """Describe the settings in JSON's types."""
        return {name: _plain(value) for name, value in vars(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return [_plain(item) for item in value] if isinstance(value, list) else value


def settings_of(given: dict[str, Any]) -> Settings:
    """Check the arguments of a profiler.

    Args:
        given: names and values; ``experimental_config`` is taken apart.

    Returns:
        The settings. A name that nothing is known of is warned of and left out, as in the original.
    """
    settings = Settings()
    given = dict(given)
    handler = given.pop("on_trace_ready", None)
    config = given.pop("experimental_config", None)
    if config is not None and not isinstance(config, ExperimentalConfig):
        logger.warning(
            "For Profiler, experimental_config value must be the "
            "'mindspore.profiler._ExperimentalConfig' class, reset to default value."
        )
        config = None
    given.update(vars(config) if config is not None else {})
    if isinstance(handler, TraceHandler):
        if "output_path" in given and handler.folder is not None:
            logger.warning("Both on_trace_ready path and output_path are given: the first counts.")
        if handler.folder is not None:
            given["output_path"] = handler.folder
        given["worker_name"] = handler.worker
    for name, value in given.items():
        if name in ("schedule", "start_profile"):
            continue
        if name not in vars(settings):
            logger.warning("For Profiler, there is no parameter '%s': it is left out.", name)
            continue
        settings.take(name, value)
    return settings


class TraceHandler:
    """Analyses what was collected, when it is."""

    def __init__(self, folder: str | None, worker: str | None, analyse: bool, later: bool) -> None:
        self.folder, self.worker = folder, worker
        self._analyse, self._later = analyse, later

    def __call__(self, session: Any) -> None:
        """Analyse a session of a profiler."""
        if self._analyse:
            session.analyse(async_mode=self._later)


def tensorboard_trace_handler(
    dir_name: str | None = None,
    worker_name: str | None = None,
    analyse_flag: bool = True,
    async_mode: bool = False,
) -> Callable[[Any], None]:
    """Make what a profiler calls when a trace is ready (MindSpore: the function of that name).

    Args:
        dir_name: folder of the traces, for TensorBoard with xprof; None for ``./data``.
        worker_name: beginning of a trace's folder; None for host and process.
        analyse_flag: whether tables of steps and operators are made too.
        async_mode: whether they are made in a thread.

    Returns:
        The argument ``on_trace_ready``.
    """
    if not isinstance(analyse_flag, bool):
        logger.warning("analyse_flag is not bool, set by default.")
        analyse_flag = True
    if not isinstance(async_mode, bool):
        logger.warning("async_mode is not bool, set by default.")
        async_mode = False
    return TraceHandler(dir_name, worker_name, analyse_flag, async_mode)
