"""Profiling on jax's profiler: traces for xprof and Perfetto, tables of steps, ops and memory."""

from mindjax.profiler.config import AicoreMetrics as AicoreMetrics
from mindjax.profiler.config import ExperimentalConfig as _ExperimentalConfig
from mindjax.profiler.config import ExportType as ExportType
from mindjax.profiler.config import HostSystem as HostSystem
from mindjax.profiler.config import ProfilerActivity as ProfilerActivity
from mindjax.profiler.config import ProfilerLevel as ProfilerLevel
from mindjax.profiler.config import tensorboard_trace_handler as tensorboard_trace_handler
from mindjax.profiler.dynamic import DynamicProfilerMonitor as DynamicProfilerMonitor
from mindjax.profiler.environment import EnvProfiler as EnvProfiler
from mindjax.profiler.marks import Mstx as mstx
from mindjax.profiler.profile import Profile as profile
from mindjax.profiler.profile import Profiler as Profiler
from mindjax.profiler.profile import analyse as analyse
from mindjax.profiler.schedule import Schedule as schedule

__all__ = [
    "AicoreMetrics",
    "DynamicProfilerMonitor",
    "EnvProfiler",
    "ExportType",
    "HostSystem",
    "Profiler",
    "ProfilerActivity",
    "ProfilerLevel",
    "_ExperimentalConfig",
    "mstx",
    "profile",
    "schedule",
    "tensorboard_trace_handler",
]
