"""A profiler that the environment starts: ``MS_PROFILER_OPTIONS``."""

from __future__ import annotations

import atexit
import json
import logging
import os
from typing import Any, ClassVar

from mindjax.profiler.config import (
    AicoreMetrics,
    ExperimentalConfig,
    ExportType,
    HostSystem,
    ProfilerActivity,
    ProfilerLevel,
    tensorboard_trace_handler,
)
from mindjax.profiler.profile import Profile

logger = logging.getLogger("mindjax")

_VARIABLE = "MS_PROFILER_OPTIONS"
_KINDS: dict[str, Any] = {
    "activities": ProfilerActivity,
    "host_sys": HostSystem,
    "export_type": ExportType,
    "aic_metrics": AicoreMetrics,
    "profiler_level": ProfilerLevel,
}
_FURTHER = frozenset(vars(ExperimentalConfig()))
_PROFILE = [
    "activities",
    "with_stack",
    "profile_memory",
    "data_process",
    "parallel_strategy",
    "start_profile",
    "hbm_ddr",
    "pcie",
    "sync_enable",
    "record_shapes",
]


class EnvProfiler:
    """A profiler with the options, as JSON, of the variable ``MS_PROFILER_OPTIONS``.

    MindSpore: ``mindspore.profiler.EnvProfiler``.
    """

    NOT_SUPPORTED_PARAMS: ClassVar[list[str]] = ["schedule", "on_trace_ready"]
    profiler: ClassVar[Profile | None] = None

    @classmethod
    def init_profiler(cls) -> None:
        """Start the profiler if the variable says so: ``{"start": true, ...}``."""
        text = os.environ.get(_VARIABLE)
        if not text:
            return
        try:
            options = dict(json.loads(text))
        except ValueError:
            logger.error("Failed to load %s, json decode error.", _VARIABLE)
            return
        if not options.get("start", False):
            return
        values = {
            name: _converted(name, value)
            for name, value in options.items()
            if name not in cls.NOT_SUPPORTED_PARAMS
        }
        values = {name: value for name, value in values.items() if value is not None}
        config = ExperimentalConfig(**{k: v for k, v in values.items() if k in _FURTHER})
        cls.profiler = Profile(
            **{k: v for k, v in values.items() if k in _PROFILE},
            on_trace_ready=tensorboard_trace_handler(values.get("output_path")),
            experimental_config=config,
        )
        atexit.register(cls._stop)

    @classmethod
    def _stop(cls) -> None:
        profiler, cls.profiler = cls.profiler, None
        if profiler is not None:
            profiler.stop()

    def analyse(self) -> None:
        """Stop the profiler, which makes its tables."""
        self._stop()


def _converted(name: str, value: Any) -> Any:
    """Bring JSON's values to enumerations; a wrong one is warned of and left out."""
    kind = _KINDS.get(name)
    if kind is None:
        return value
    try:
        return [kind(item) for item in value] if isinstance(value, list) else kind(value)
    except ValueError:
        logger.warning(
            "The value %r of parameter '%s' is invalid: the default is used.", value, name
        )
        return None
