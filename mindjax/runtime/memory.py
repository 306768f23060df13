"""Memory of devices, by what XLA's allocators say."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import re
from collections.abc import Iterator
from typing import Any

from mindjax.core import checks, queue
from mindjax.core.allocator import give_back
from mindjax.core.errors import located
from mindjax.runtime.once import Once

_SIZE = re.compile(r"([1-9][0-9]*\.?[0-9]*|0\.[0-9]*[1-9][0-9]*)GB")
_RESERVE = re.compile(r"[0-9]+\.?[0-9]*GB")


class Peaks:
    """Peaks since the last reset: XLA's own peaks cannot be reset.

    Args:
        now: name of the statistic.
        peak: name of its peak.
    """

    def __init__(self, now: tuple[str, ...], peak: tuple[str, ...]) -> None:
        self.now, self.peak = now, peak
        self._before: dict[Any, int] = {}
        self._seen: dict[Any, int] = {}

    def current(self, stats: dict[str, int]) -> int:
        """Give the statistic."""
        return next((stats[n] for n in self.now if n in stats), 0)

    def largest(self, stats: dict[str, int], device: Any) -> int:
        """Give the peak; after a reset a new overall peak, or the largest value that was read."""
        current = self.current(stats)
        overall = next((stats[n] for n in self.peak if n in stats), current)
        if device not in self._before:
            return max(overall, current)
        found = overall if overall > self._before[device] else current
        self._seen[device] = max(found, self._seen.get(device, 0))
        return self._seen[device]

    def reset(self, stats: dict[str, int], device: Any) -> None:
        """Forget the peak."""
        self._before[device] = next((stats[n] for n in self.peak if n in stats), 0)
        self._seen[device] = self.current(stats)


ALLOCATED = Peaks(("bytes_in_use",), ("peak_bytes_in_use",))
RESERVED = Peaks(
    ("pool_bytes", "bytes_reserved", "bytes_in_use"),
    ("peak_pool_bytes", "peak_bytes_reserved", "peak_bytes_in_use"),
)


def statistics(target: str | None = None) -> dict[str, Any]:
    """Give the statistics of a target's device by the original's names, in bytes."""
    stats, device = queue.memory(target), queue.chosen(target)
    reserved, allocated = RESERVED.current(stats), ALLOCATED.current(stats)
    pool: dict[str, Any] = {"block_unit_size": 0, "block_counts": 0, "blocks_info": {}}
    return {
        "total_reserved_memory": reserved,
        "total_allocated_memory": allocated,
        "total_idle_memory": max(reserved - allocated, 0),
        "total_eager_free_memory": 0,
        "max_reserved_memory": RESERVED.largest(stats, device),
        "max_allocated_memory": ALLOCATED.largest(stats, device),
        "common_mem_pool_stats": pool,
        "persistent_mem_pool_stats": dict(pool),
    }


def summary(target: str | None = None) -> str:
    """Write the statistics of a target's device as a table."""
    stats = statistics(target)
    line, rule = "| {:<20} | {:<20} |", "|" + "-" * 45 + "|"
    frame = "|" + "=" * 45 + "|"
    rows = [frame, f"|{'Memory summary':^45}|", frame, line.format("Metric", "Data")]
    for name in ("reserved", "allocated", "idle", "eager free", "max reserved", "max allocated"):
        key = f"{name.replace(' ', '_')}_memory"
        size = stats[key] if name.startswith("max") else stats[f"total_{key}"]
        rows += [rule, line.format(f"{name.capitalize()} memory", _readable(size))]
    return "\n".join([*rows, frame]) + "\n"


def _readable(size: int) -> str:
    units = iter(("B  ", "KB", "MB", "GB", "TB", "PB"))
    unit = next(units)
    while size >= 768 * 1024:
        size, unit = size // 1024, next(units)
    return f"{size:6d} {unit}"


def memory_stats() -> dict[str, Any]:
    """Give the device's memory statistics in bytes; zeros on CPUs, which keep none."""
    return statistics()


def memory_summary() -> str:
    """Write the device's memory statistics as a table."""
    return summary()


def memory_allocated() -> int:
    """Give the bytes of live arrays on the device."""
    return statistics()["total_allocated_memory"]


def memory_reserved() -> int:
    """Give the bytes that XLA holds on the device."""
    return statistics()["total_reserved_memory"]


def max_memory_allocated() -> int:
    """Give the peak of `memory_allocated` since the start or the last reset."""
    return statistics()["max_allocated_memory"]


def max_memory_reserved() -> int:
    """Give the peak of `memory_reserved` since the start or the last reset."""
    return statistics()["max_reserved_memory"]


def reset_max_memory_allocated() -> None:
    """Start the peak of `max_memory_allocated` again.

    XLA keeps its own: below that, the peak is the largest value that is read from then on.
    """
    ALLOCATED.reset(queue.memory(), queue.chosen())


def reset_max_memory_reserved() -> None:
    """Start the peak of `max_memory_reserved` again, as `reset_max_memory_allocated`."""
    RESERVED.reset(queue.memory(), queue.chosen())


def reset_peak_memory_stats() -> None:
    """Start both peaks again."""
    reset_max_memory_allocated()
    reset_max_memory_reserved()


def empty_cache() -> None:
    """Free the arrays that only reference cycles keep, and give free memory to the system."""
    gc.collect()
    give_back()


_configured = Once("set_memory")


def set_memory(
    init_size: str = "2GB",
    increase_size: str = "2GB",
    max_size: str = "1024GB",
    optimize_level: str = "O0",
    huge_page_reserve_size: str = "0GB",
) -> None:
    """Size the original's memory pool, which is device tuning.

    XLA's pool is set by the variables ``XLA_PYTHON_CLIENT_PREALLOCATE``,
    ``XLA_PYTHON_CLIENT_MEM_FRACTION`` and ``XLA_PYTHON_CLIENT_ALLOCATOR`` alone: the sizes are
    checked and kept.

    Args:
        init_size: first size, such as ``"2GB"``.
        increase_size: by which the pool grows.
        max_size: the largest.
        optimize_level: ``"O0"`` or ``"O1"``.
        huge_page_reserve_size: of huge pages.

    Raises:
        TypeError: an argument is no string.
        ValueError: it is no size, or ``optimize_level`` is none of these.
        RuntimeError: it was called before.
    """
    sizes = {"init_size": init_size, "increase_size": increase_size, "max_size": max_size}
    every = {**sizes, "huge_page_reserve_size": huge_page_reserve_size}
    for name, value in {**every, "optimize_level": optimize_level}.items():
        checks.of_type(name, value, str, "set_memory")
    _configured.check()
    for name, value in every.items():
        if not (_SIZE if name in sizes else _RESERVE).fullmatch(value):
            raise located(
                ValueError,
                f"For 'set_memory', the '{name}' must be a number above 0 with 'GB' behind it, "
                f'such as "5GB" or "3.5GB", but got {value}.',
            )
    checks.one_of("optimize_level", optimize_level, ["O0", "O1"], "set_memory")
    _configured.keep({**every, "optimize_level": optimize_level})


def memory_replay(file_path: str) -> None:
    """Refuse: a trace of the original's memory pool means nothing to XLA's.

    Args:
        file_path: the trace.

    Raises:
        NotImplementedError: always; jax.profiler.device_memory_profile shows XLA's memory.
    """
    raise located(
        NotImplementedError,
        f"For 'memory_replay', the 'file_path' {file_path} is a trace of a memory pool that XLA "
        "does not have: jax.profiler.device_memory_profile() shows XLA's memory.",
    )


class PluggableAllocator:
    """Functions of a shared library that allocate and free (MindSpore: ``PluggableAllocator``).

    Args:
        path_to_so_file: the library.
        alloc_fn_name: its function that allocates.
        free_fn_name: its function that frees.

    Raises:
        OSError: there is no such library.
        AttributeError: it has no such function.
    """

    def __init__(self, path_to_so_file: str, alloc_fn_name: str, free_fn_name: str) -> None:
        library = ctypes.CDLL(path_to_so_file)
        self._alloc, self._free = (
            ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
            for name in (alloc_fn_name, free_fn_name)
        )

    @property
    def alloc_fn_ptr(self) -> int:
        """Address of the function that allocates."""
        return self._alloc

    @property
    def free_fn_ptr(self) -> int:
        """Address of the function that frees."""
        return self._free


class MemPool:
    """A pool that an allocator fills (MindSpore: ``mindspore.runtime.MemPool``).

    Args:
        allocator: the allocator.
    """

    def __init__(self, allocator: PluggableAllocator) -> None:
        self._allocator = allocator

    @property
    def allocator(self) -> PluggableAllocator:
        """The allocator."""
        return self._allocator


@contextlib.contextmanager
def use_mem_pool(pool: MemPool) -> Iterator[None]:
    """Refuse: XLA allocates by itself.

    Args:
        pool: the pool.

    Raises:
        NotImplementedError: always; XLA_PYTHON_CLIENT_ALLOCATOR chooses among XLA's allocators.
    """
    raise located(
        NotImplementedError,
        f"For 'use_mem_pool', the 'pool' {pool} cannot be used: XLA allocates by itself; the "
        "variable XLA_PYTHON_CLIENT_ALLOCATOR chooses among its allocators.",
    )
    yield
