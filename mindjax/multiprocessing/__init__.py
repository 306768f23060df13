"""Python's ``multiprocessing`` (MindSpore: ``mindspore.multiprocessing``).

A forked process must not use jax that runs already: start methods ``spawn`` and ``forkserver`` are
safe. Tensors are pickled by their values.
"""

import multiprocessing as _python
from multiprocessing import *  # noqa: F403
from multiprocessing.pool import Pool as Pool

__all__ = list(_python.__all__)
