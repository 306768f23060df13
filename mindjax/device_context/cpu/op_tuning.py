"""Threads of ops on CPUs."""

from mindjax.core import checks
from mindjax.runtime.once import Once

_threads = Once("threads_num")


def threads_num(num: int) -> None:
    """Keep the number of threads of an op: device tuning, XLA's threads follow the CPUs.

    `mindspore.runtime.set_cpu_affinity` gives the process fewer CPUs.

    Args:
        num: above 0.

    Raises:
        TypeError: it is no int.
        ValueError: it is not above 0.
        RuntimeError: it was called before.
    """
    _threads.check()
    _threads.keep(checks.positive_int("num", num, "threads_num"))
