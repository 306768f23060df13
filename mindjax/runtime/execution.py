"""How programs are started: most of it tunes the original's runtime, which XLA replaces."""

from __future__ import annotations

import os
from typing import Any

from mindjax.core import checks, jax_private
from mindjax.core.context import set_context
from mindjax.core.device import target
from mindjax.core.errors import located
from mindjax.runtime.once import Once

_threads = Once("dispatch_threads_num")
_group = Once("kernel_launch_group")
_capture = Once("kernel_launch_capture")
_affinity = Once("mindspore.runtime.set_cpu_affinity")


def launch_blocking() -> None:
    """Start kernels one after the other, so that an error shows at its op.

    In PYNATIVE every op's errors are raised at its line anyway. On GPUs the variable
    ``CUDA_LAUNCH_BLOCKING`` is set, which CUDA reads when it starts.

    Raises:
        RuntimeError: a GPU runs already.
    """
    if target() == "GPU" and jax_private.started_backends():
        raise located(
            RuntimeError,
            "For 'launch_blocking', the GPU runs already: call it before the first Tensor is used.",
        )
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
    set_context(pynative_synchronize=True)


def dispatch_threads_num(threads_num: int) -> None:
    """Keep the number of the original's dispatching threads: device tuning, XLA has its own.

    Args:
        threads_num: above 0.

    Raises:
        TypeError: it is no int.
        ValueError: it is not above 0.
        RuntimeError: it was called before.
    """
    _threads.check()
    _threads.keep(checks.positive_int("threads_num", threads_num, "dispatch_threads_num"))


def set_kernel_launch_group(thread_num: int = 2, kernel_group_num: int = 8) -> None:
    """Keep how the original groups kernels: device tuning, XLA launches whole programs.

    Args:
        thread_num: threads, above 0.
        kernel_group_num: groups, a multiple of ``thread_num``.

    Raises:
        TypeError: an argument is no int.
        ValueError: it is out of range.
        RuntimeError: it was called before, or after `set_kernel_launch_capture`.
    """
    owner = "set_kernel_launch_group"
    checks.of_type("thread_num", thread_num, int, owner)
    checks.of_type("kernel_group_num", kernel_group_num, int, owner)
    _group.check()
    if _capture.value is not None and _capture.value[0]:
        raise _both(owner)
    checks.positive_int("thread_num", thread_num, owner)
    checks.positive_int("kernel_group_num", kernel_group_num, owner)
    if kernel_group_num % thread_num:
        raise located(
            ValueError,
            f"For '{owner}', invalid parameter value, kernel_group_num: {kernel_group_num} cannot "
            f"be evenly divisible by thread_num: {thread_num}",
        )
    _group.keep((thread_num, kernel_group_num))


def _both(owner: str) -> RuntimeError:
    return located(
        RuntimeError,
        f"For '{owner}', the kernel launch group and kernel launch capture can not be set together",
    )


def set_kernel_launch_capture(
    enable_capture_graph: bool, op_capture_skip: list[str] | None = None
) -> None:
    """Keep whether kernels are captured as a graph: device tuning, XLA launches whole programs.

    Args:
        enable_capture_graph: whether.
        op_capture_skip: ops that are left out.

    Raises:
        TypeError: an argument has the wrong type.
        RuntimeError: it was called after `set_kernel_launch_group`.
    """
    owner = "set_kernel_launch_capture"
    checks.boolean("enable_capture_graph", enable_capture_graph, owner)
    if _group.value is not None:
        raise _both(owner)
    if op_capture_skip is not None:
        checks.of_type("op_capture_skip", op_capture_skip, list, owner)
    _capture.keep((enable_capture_graph, op_capture_skip or []))


def set_cpu_affinity(
    enable_affinity: bool,
    affinity_cpu_list: Any = None,
    module_to_cpu_dict: Any = None,
    bind_file: str | None = None,
) -> None:
    """Run the process on some CPUs only; threads of XLA that start later inherit it.

    Args:
        enable_affinity: False changes nothing.
        affinity_cpu_list: ``{"device0": ["0-3", "8-9"]}``: CPUs by device, those of this process's
            device count; None for all that the process may use.
        module_to_cpu_dict: ``{"main": [0, 1], "runtime": [2]}``: which of those CPUs, by position;
            XLA's threads cannot be told apart, so the process gets all that are named.
        bind_file: refused; name the CPUs.

    Raises:
        ValueError: a CPU is none of the machine's, or a position none of the list's.
        NotImplementedError: ``bind_file`` is given, or the system has no affinities.
        RuntimeError: it was called before.
    """
    owner = "set_cpu_affinity"
    _affinity.check()
    if bind_file is not None:
        raise located(
            NotImplementedError,
            f"For '{owner}', the 'bind_file' {bind_file} is not read: give 'affinity_cpu_list'.",
        )
    if not enable_affinity:
        _affinity.keep([])
        return
    if not hasattr(os, "sched_setaffinity"):
        raise located(NotImplementedError, f"For '{owner}', the system has no affinities of CPUs.")
    allowed = sorted(os.sched_getaffinity(0))
    cpus = allowed if affinity_cpu_list is None else _listed(owner, affinity_cpu_list)
    if module_to_cpu_dict is not None:
        places = sorted({int(i) for part in dict(module_to_cpu_dict).values() for i in part})
        if any(not 0 <= i < len(cpus) for i in places):
            raise located(
                ValueError,
                f"For '{owner}', the 'module_to_cpu_dict' names positions {places} of {len(cpus)} "
                "CPUs.",
            )
        cpus = [cpus[i] for i in places]
    if not cpus or not set(cpus) <= set(allowed):
        raise located(
            ValueError, f"For '{owner}', the CPUs must be among {allowed}, but got {cpus}."
        )
    os.sched_setaffinity(0, cpus)
    _affinity.keep(cpus)


def _listed(owner: str, given: Any) -> list[int]:
    """Read the CPUs of this process's device."""
    if isinstance(given, dict):
        key = f"device{os.environ.get('DEVICE_ID', '0')}"
        if key not in given:
            raise located(
                ValueError,
                f"For '{owner}', the 'affinity_cpu_list' has no '{key}', but {list(given)}.",
            )
        given = given[key]
    cpus: list[int] = []
    for part in given:
        first, _, last = str(part).partition("-")
        if not first.isdigit() or not (last or first).isdigit():
            raise located(
                ValueError,
                f"For '{owner}', the 'affinity_cpu_list' must hold texts such as '0-3', but got "
                f"{part!r}.",
            )
        cpus += range(int(first), int(last or first) + 1)
    return cpus
