"""Watching the processes of a world: the first that fails ends the others, and is shown."""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mindjax.core import failure

# Seconds: between looks at ranks that give no sign of life; in which the deaths that follow from
# one are collected; that a rank gets to end by itself; that it gets after it has failed.
_LOOK, _GATHER, _GRACE, _LAST = 10.0, 1.0, 3.0, 20.0
_KILLED_WITH_PARENT = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
# What a rank says, and how it ends, when another one has gone.
_AFTER_ANOTHER = ("cannot reach another rank", "Gloo", "coordination service", "heartbeat")

# What the collectives' library says before it ends a process, and what it means.
_MISMATCH = "collective mismatch"
_MISMATCHED = "the ranks have called different collectives, or one with other shapes or dtypes."


@dataclass
class Worker:
    """A process of a world.

    Attributes:
        rank: in the world.
        words: its command line.
        environment: variables of its own.
        log: file of its output.
        cores: that it may use; None for all.
        shown: whether its output is shown too.
        stopped: whether it was found stopped.
        ended: when it ended.
        began: when it was made.
    """

    rank: int
    words: list[str]
    environment: dict[str, str]
    log: str
    cores: set[int] | None = None
    shown: bool = False
    process: Any = None
    ended: float = 0.0
    stopped: bool = False
    began: float = field(default_factory=time.time)

    def start(self, before: Callable[[], None] | None = None) -> None:
        """Start the process.

        Args:
            before: what the process does first.
        """
        cores = self.cores

        def prepare() -> None:
            if before is not None:
                before()
            if cores:
                os.sched_setaffinity(0, cores)

        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                self.words,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=prepare,
            )

    def signal(self, number: int) -> None:
        """Send a signal to the process and to those that it has started."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            return

    @property
    def note(self) -> tuple[float, str] | None:
        """When and why the process fails, as it said; None if it said nothing."""
        try:
            with open(self.environment[failure.VARIABLE], encoding="utf-8") as file:
                note = json.load(file)
            return float(note["time"]), str(note["text"])
        except (OSError, ValueError, KeyError):
            return None

    @property
    def reason(self) -> tuple[float, str]:
        """When and why the process ended, as far as it said; else what its exit status says."""
        if (note := self.note) is not None:
            return note
        status = self.process.returncode
        if self._lost_others:
            return self.ended, "It lost another rank, which has ended or gives no sign of life."
        if status < 0:
            name = signal.Signals(-status).name
            if status == -signal.SIGABRT and _MISMATCH in self._last():
                return self.ended, f"killed by {name}: {_MISMATCHED}"
            return self.ended, f"killed by {name}"
        return self.ended, f"exit status {status}; the last lines of {self.log}:\n{self._last()}"

    def _last(self) -> str:
        try:
            text = Path(self.log).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return "\n".join(f"  {line}" for line in text.splitlines()[-8:])

    @property
    def follows(self) -> bool:
        """Whether the process ended because another one had."""
        text = self.reason[1]
        return self._lost_others or any(sign in text for sign in _AFTER_ANOTHER)

    @property
    def _lost_others(self) -> bool:
        if self.process.returncode != -signal.SIGABRT:
            return False
        return "distributed service detected fatal errors" in self._last()


def _end_with(parent: int) -> Callable[[], None] | None:
    """Give what lets a process end with its parent, where the kernel can do that."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)

    def before() -> None:
        library.prctl(_KILLED_WITH_PARENT, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return before


def run_to_the_end(workers: Sequence[Worker], started: int | None = None) -> int:
    """Start processes, and wait for all of them, or for the first that fails.

    Args:
        workers: the processes.
        started: file descriptor that gets the messages of the start and is closed then.

    Returns:
        0, or 1 if one has failed; 130 or 143 after SIGINT or SIGTERM.
    """
    stopped: list[int] = []
    events: queue.SimpleQueue[Worker | None] = queue.SimpleQueue()

    def stop(number: int, _: Any) -> None:
        stopped.append(number)
        events.put(None)

    before = {n: signal.signal(n, stop) for n in (signal.SIGINT, signal.SIGTERM)}
    running: list[Worker] = []
    tails: list[_Tail] = []
    try:
        for worker in workers:
            worker.start(_end_with(os.getpid()))
            running.append(worker)
            _say(
                f"Start worker process with rank id:{worker.rank}, log file:{worker.log}. "
                f"Environment variable [RANK_ID={worker.rank}] is exported. Execute command: "
                f"{' '.join(worker.words)}",
                started,
            )
            threading.Thread(target=_wait, args=(worker, events), daemon=True).start()
            if worker.shown:
                tails.append(_Tail(worker.log))
        if started is not None:
            os.close(started)
        failed = _watch(running, events, stopped)
    finally:
        _end(running)
        for tail in tails:
            tail.close()
        for number, handler in before.items():
            signal.signal(number, handler)
    if stopped:
        print(f"msrun: {signal.Signals(stopped[0]).name}: all ranks are ended.", file=sys.stderr)
        return 128 + stopped[0]
    if failed:
        print(_summary(failed, workers), file=sys.stderr, flush=True)
        return 1
    return 0


def _say(text: str, descriptor: int | None) -> None:
    if descriptor is None:
        print(text, flush=True)
    else:
        os.write(descriptor, (text + "\n").encode())


def _wait(worker: Worker, events: queue.SimpleQueue[Worker | None]) -> None:
    worker.process.wait()
    worker.ended = time.time()
    events.put(worker)


def _watch(
    running: Sequence[Worker], events: queue.SimpleQueue[Worker | None], stopped: list[int]
) -> list[Worker]:
    """Wait until all have ended well, one has failed, or a signal has come; give the failed."""
    left = set(range(len(running)))
    places = {id(w): i for i, w in enumerate(running)}
    while left and not stopped:
        try:
            worker = events.get(timeout=_LOOK)
        except queue.Empty:
            failed = _look(running)
            if failed:
                return failed
            continue
        if worker is None:
            break
        left.discard(places[id(worker)])
        if worker.process.returncode:
            failed, until = [worker], time.monotonic() + _GATHER
            while time.monotonic() < until:
                try:
                    more = events.get(timeout=max(0.01, until - time.monotonic()))
                except queue.Empty:
                    break
                if more is not None and more.process.returncode:
                    failed.append(more)
            # One that was stopped a moment ago may be what the failed rank waited for.
            for other in running:
                other.stopped = other.stopped or _is_stopped(other)
            return failed
    return []


def _look(running: Sequence[Worker]) -> list[Worker]:
    """Name ranks that somebody has stopped: they live, but the others wait for them.

    Returns:
        Ranks that have failed some time ago, and do not end: a thread of theirs goes on.
    """
    failed = []
    for worker in running:
        note = worker.note
        if worker.process.poll() is None and note and time.time() - note[0] > _LAST:
            failed.append(worker)
        if _is_stopped(worker):
            worker.stopped = True
            print(
                f"msrun: rank {worker.rank} (process {worker.process.pid}) is stopped by a signal "
                "or a debugger.",
                file=sys.stderr,
                flush=True,
            )
    return failed


def _is_stopped(worker: Worker) -> bool:
    try:
        text = Path(f"/proc/{worker.process.pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[:1] in (["T"], ["t"])


def _end(running: Sequence[Worker]) -> None:
    """End the processes that still run, with what they have started."""
    alive = [w for w in running if w.process.poll() is None]
    for worker in alive:
        worker.signal(signal.SIGTERM)
        worker.signal(signal.SIGCONT)
    until = time.monotonic() + _GRACE
    for worker in alive:
        try:
            worker.process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            worker.signal(signal.SIGKILL)
    for worker in running:
        # What a rank has started, such as loaders of data, ends with it.
        worker.signal(signal.SIGKILL)


def _summary(failed: Sequence[Worker], workers: Sequence[Worker]) -> str:
    """Say which rank failed first, and why."""
    own = [w for w in failed if not w.follows] or list(failed)
    first = min(own, key=lambda w: w.reason[0])
    when, why = first.reason
    lines = [
        f"msrun: rank {first.rank} of {len(workers)} on this host failed first, "
        f"{max(0.0, when - first.began):.1f} s after the start; its log: {first.log}",
    ]
    lines += why.rstrip().splitlines()
    lines += [
        f"msrun: rank {w.rank} was stopped by a signal or a debugger." for w in workers if w.stopped
    ]
    others = [str(w.rank) for w in workers if w is not first]
    if others:
        lines.append(f"msrun: the other ranks ({', '.join(others)}) are ended.")
    return "\n".join(lines)


class _Tail:
    """Shows what is written into a file, whole lines at a time.

    Args:
        path: the file.
    """

    def __init__(self, path: str) -> None:
        self._file = open(path, encoding="utf-8", errors="replace")  # noqa: SIM115 closed below
        self._rest = ""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._closing.wait(0.1):
            self._show()
        self._show()
        if self._rest:
            sys.stdout.write(self._rest + "\n")
        sys.stdout.flush()

    def _show(self) -> None:
        text = self._rest + self._file.read()
        whole, line_end, self._rest = text.rpartition("\n")
        if line_end:
            sys.stdout.write(whole + "\n")
            sys.stdout.flush()

    def close(self) -> None:
        """Show the rest and stop."""
        self._closing.set()
        self._thread.join()
        self._file.close()
