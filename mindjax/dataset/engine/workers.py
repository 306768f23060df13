"""Worker threads and processes that apply a function to a stream and keep its order.

Processes are forked from the caller when a pipeline starts, so that lambdas, closures and data in
memory need neither pickling nor a ``__main__`` guard; only rows travel, through pipes.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import multiprocessing
import os
import pickle
import queue
import random
import signal
import sys
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset import config
from mindjax.dataset.engine.failures import failure, failure_of, raised_at

_clamp_warned = False
_in_worker = ""
_worker_start_hooks: list[Callable[[str], None]] = []
_pools: weakref.WeakSet[ProcessPool] = weakref.WeakSet()


def on_worker_start(hook: Callable[[str], None]) -> None:
    """Register what each new worker process runs first.

    Args:
        hook: function of one string, the operation that the worker serves.
    """
    _worker_start_hooks.append(hook)


def in_worker() -> str:
    """Name the operation that this process serves as a worker; empty in the main process."""
    return _in_worker


def clamp_workers(count: int) -> int:
    """Reduce a number of workers to the machine's processors, with one warning a process."""
    global _clamp_warned
    limit = max(config.cpu_count(), 1)
    if count > limit and not _clamp_warned:
        _clamp_warned = True
        warnings.warn(
            f"num_parallel_workers={count} is more than this machine's {limit} processors: "
            f"{limit} workers are used.",
            UserWarning,
            stacklevel=2,
        )
    return min(count, limit)


def can_fork() -> bool:
    """Tell whether this system forks; worker threads stand in where it does not."""
    return hasattr(os, "fork") and sys.platform != "win32"


def _stream_lock() -> Any:
    """Give the lock of numpy's global random stream."""
    return np.random.get_bit_generator().lock  # pyright: ignore[reportAttributeAccessIssue]


class ThreadPool:
    """Threads that serve one operation of one running pipeline."""

    def __init__(self, function: Callable[[Any], Any], workers: int, what: str) -> None:
        self._function = function
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="mindjax-dataset")
        self._ahead = max(workers, config.get_prefetch_size())

    def map(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield ``function(item)`` for each item, in order."""
        pending: deque[Future[Any]] = deque()
        try:
            for item in items:
                pending.append(self._executor.submit(self._function, item))
                if len(pending) >= self._ahead:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()

    def close(self) -> None:
        """Stop the threads; a call that runs is not waited for."""
        self._executor.shutdown(wait=False, cancel_futures=True)


class ProcessPool:
    """Forked processes that serve one operation of one running pipeline.

    Row ``i`` goes to worker ``i % n``: which worker sees which row, and so what its random numbers
    do, depends on the seed alone.
    """

    def __init__(self, function: Callable[[Any], Any], workers: int, what: str, seed: int) -> None:
        self._what = what
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        context = multiprocessing.get_context("fork")
        if "jax" in sys.modules:
            # Not in the worker: another thread may hold an import lock when it is forked.
            importlib.import_module("jax.extend.core")
        sys.stdout.flush()
        sys.stderr.flush()
        for index in range(workers):
            ours, theirs = multiprocessing.Pipe()
            self._pipes.append(ours)
            others = [pipe for pool in _pools for pipe in pool._pipes if not pipe.closed]
            arguments = (theirs, [*others, *self._pipes], function, what, seed + index)
            process = context.Process(
                target=_serve, args=arguments, daemon=True, name=f"mindjax-dataset-{index}"
            )
            with warnings.catch_warnings():
                # jax and Python warn about any fork beside threads; a worker touches none of them.
                warnings.simplefilter("ignore")
                # Another thread may draw from numpy's global stream: its lock must be ours when
                # the process is copied, or the copy could never seed it.
                with _stream_lock():
                    process.start()
            theirs.close()
            self._processes.append(process)
        self._ahead = max(1, config.get_prefetch_size() // workers)
        _pools.add(self)

    def map(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield ``function(item)`` for each item, in order."""
        count = len(self._pipes)
        sent = received = 0
        try:
            for item in items:
                self._send(sent % count, item)
                sent += 1
                if sent - received >= self._ahead * count:
                    received += 1
                    yield self._receive((received - 1) % count)
            while received < sent:
                received += 1
                yield self._receive((received - 1) % count)
        finally:
            # A consumer that stops early (take, zip) leaves answers in the pipes.
            while received < sent and self._pipes:
                received += 1
                try:
                    self._answer((received - 1) % count)
                except (EOFError, OSError, RuntimeError):
                    break

    def _send(self, worker: int, item: Any) -> None:
        try:
            self._pipes[worker].send(item)
        except (BrokenPipeError, ConnectionResetError):
            raise self._lost(worker) from None

    def _receive(self, worker: int) -> Any:
        good, value, place = self._answer(worker)
        if good:
            return value
        if isinstance(value, tuple):
            kind, message = value
            raise failure_of(kind, message, self._what, place)
        raise failure(value, self._what, place) from value

    def _answer(self, worker: int) -> tuple[bool, Any, str]:
        pipe = self._pipes[worker]
        limit = config.get_multiprocessing_timeout_interval()
        while not wait([pipe], timeout=limit):
            if config.get_enable_watchdog():
                warnings.warn(
                    f"{self._what}: worker process {self._processes[worker].pid} has not answered "
                    f"for {limit} s.",
                    UserWarning,
                    stacklevel=2,
                )
        try:
            return pipe.recv()
        except (EOFError, ConnectionResetError):
            raise self._lost(worker) from None

    def _lost(self, worker: int) -> RuntimeError:
        process = self._processes[worker]
        process.join(1)
        return located(
            RuntimeError,
            f"{self._what} failed. The worker process {process.pid} ended unexpectedly with exit "
            f"code {process.exitcode}.",
        )

    def close(self) -> None:
        """End the processes and wait for them."""
        pipes, self._pipes = self._pipes, []
        for pipe in pipes:
            pipe.close()
        for process in self._processes:
            if process._parent_pid == os.getpid():
                process.terminate()
        for process in self._processes:
            if process._parent_pid == os.getpid():
                process.join(2)
                if process.is_alive():
                    process.kill()
                    process.join()
        self._processes = []


def _serve(
    pipe: Connection,
    inherited: list[Connection],
    function: Callable[[Any], Any],
    what: str,
    seed: int,
) -> None:
    """Answer rows until the pipe or the parent ends; the body of a worker process."""
    global _in_worker
    _in_worker = what
    _stream_lock().release()
    # What was inherited is never collected here: its owners' finalisers belong to the parent.
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in inherited:
        other.close()
    np.random.seed(seed % 2**32)
    random.seed(seed)
    _forbid_jax(what)
    for hook in _worker_start_hooks:
        hook(what)
    # The reader keeps the pipe empty, so that the parent's send never waits for our answer.
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    parent = os.getppid()

    def read() -> None:
        try:
            while True:
                while not pipe.poll(1.0):
                    if os.getppid() != parent:
                        os._exit(0)
                tasks.put(pipe.recv())
        except (EOFError, OSError):
            os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        item = tasks.get()
        try:
            answer: tuple[bool, Any, str] = (True, function(item), "")
            data = pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            data = _pickled_error(error)
        with contextlib.suppress(OSError):
            pipe.send_bytes(data)


def _pickled_error(error: Exception) -> bytes:
    cause = error.__cause__ if getattr(error, "_from_pipeline", False) else None
    error = cause if isinstance(cause, Exception) else error
    place = raised_at(error)
    try:
        data = pickle.dumps((False, error, place))
        pickle.loads(data)
        return data
    except Exception:
        # It does not travel: its class does, if it has a name in a module.
        try:
            return pickle.dumps((False, (type(error), str(error)), place))
        except Exception:
            text = f"{type(error).__name__}: {error}"
            return pickle.dumps((False, (RuntimeError, text), place))


def _forbid_jax(what: str) -> None:
    """Make every operation of JAX raise in this process: its threads were not forked."""
    jax = sys.modules.get("jax")
    if jax is None:
        return
    import jax.extend.core as extend

    def refuse(*_: Any, **__: Any) -> Any:
        raise RuntimeError(
            f"{what} runs in a worker process, where JAX and Tensor operations cannot run: use "
            "numpy there, or python_multiprocessing=False."
        )

    extend.Primitive.bind = refuse  # type: ignore[method-assign]
    # A changed trace setting makes compiled functions miss their caches, so that bind is reached.
    jax.config.update("jax_numpy_rank_promotion", "raise")
    jax.config.update("jax_default_matmul_precision", "float32")
