"""What was compiled, how long it took, and why again; a line where it takes long."""

from __future__ import annotations

import collections
import contextlib
import inspect
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

logger = logging.getLogger("mindjax")

AGAIN = 5
"""Compilations of one function after the first, from which on the next one is announced."""

PHASES = ("trace", "lower", "compile")


class Compilation:
    """One program of a function, as the journal keeps it.

    Args:
        function: the function that is compiled.
        number: how many programs of the function there are with it.
        reason: why those there were did not do; empty for the first.
    """

    def __init__(self, function: Any, number: int, reason: str) -> None:
        self.name, self.place = name_of(function), place_of(function)
        self.number, self.reason = number, reason
        self.seconds: dict[str, float] = dict.fromkeys(PHASES, 0.0)
        """Seconds by phase; ``compile`` stays 0 where an earlier executable serves."""
        self._noted = False

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure a phase, and say so on standard error where the whole takes long."""
        begin, limit = time.perf_counter(), _patience()
        timer = None
        if limit is not None and not self._noted:
            spent = sum(self.seconds.values())
            timer = threading.Timer(max(limit - spent, 0), self._note, (name, begin))
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
            self.seconds[name] += time.perf_counter() - begin
        if self._noted and name == "compile":
            self._say(f"done in {sum(self.seconds.values()):.1f} s ({self.summary()})")

    def summary(self) -> str:
        """List the seconds by phase."""
        return ", ".join(f"{name} {self.seconds[name]:.2f} s" for name in PHASES)

    def _note(self, phase: str, begin: float) -> None:
        self._noted = True
        spent = sum(self.seconds.values()) + time.perf_counter() - begin
        self._say(f"{phase} phase, {spent:.0f} s so far")

    def _say(self, text: str) -> None:
        # A whole line at once: notebooks and log files show it as terminals do.
        print(f"mindjax: compiling {self.name} ({self.place}): {text}", file=sys.stderr, flush=True)


_kept: collections.deque[Compilation] = collections.deque(maxlen=4096)


def record(compilation: Compilation) -> Compilation:
    """Keep a compilation; the oldest of 4,096 gives way."""
    _kept.append(compilation)
    return compilation


def entries() -> list[Compilation]:
    """List what was compiled in this process, oldest first."""
    return list(_kept)


def _patience() -> float | None:
    """Seconds after which a compilation is mentioned; None never."""
    text = os.environ.get("MINDJAX_COMPILE_NOTICE", "5")
    try:
        seconds = float(text)
    except ValueError:
        return 5.0
    return seconds if seconds > 0 else None


def name_of(function: Any) -> str:
    """Name a function, or the class of a Cell."""
    return getattr(function, "__qualname__", type(function).__name__)


def place_of(function: Any) -> str:
    """Give ``file:line`` of a function's source, or of a Cell's ``construct``."""
    cell = getattr(function, "_cell", None)
    function = type(cell).construct if cell is not None else function
    code = getattr(inspect.unwrap(function), "__code__", None)
    return "?" if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def why_again(function: Any, known: Sequence[Hashable], key: Hashable) -> str:
    """Say how a call's signature differs from the nearest one that has a program.

    Args:
        function: the function that is called.
        known: keys of the signatures that have programs.
        key: the key of the call.

    Returns:
        The differences in words; empty if there is no program yet.
    """
    names = _argument_names(function)
    found = [_differences(old, key, names) for old in reversed(known)]
    # The latest of those that differ least.
    return "; ".join(filter(None, min(found, key=len))) if found else ""


def why_stale(program: Any) -> str:
    """Say why a program with the same signature does not serve any more."""
    for cell, before in program._guards:
        if cell.guard() != before:
            return f"an attribute or the training mode of {type(cell).__name__} changed"
    for parameter, before in program._flags:
        if parameter.requires_grad != before:
            return f"requires_grad of Parameter '{parameter.name}' changed"
    if not program.matches():
        return "the shape or dtype of a Parameter changed"
    return "a value that was read while tracing changed"


def announce(compilation: Compilation) -> None:
    """Say once that a function is compiled again and again, and what changes."""
    logger.warning(
        "%s (%s) was compiled %d times, the last time because of this: %s. Pad what changes to a "
        "few sizes (Cell.set_inputs with None, enable_dynamic with buckets), or pass numbers as "
        "Tensors.",
        compilation.name,
        compilation.place,
        compilation.number,
        compilation.reason,
    )


def _argument_names(function: Any) -> list[str]:
    cell = getattr(function, "_cell", None)
    target: Callable[..., Any] = function if cell is None else cell.construct
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return []
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in plain]


def _differences(old: Any, new: Any, names: list[str]) -> list[str]:
    old_wide, old_mixed, old_spread, *before = old
    new_wide, new_mixed, new_spread, *after = new
    found = []
    if old_wide != new_wide:
        found.append(f"jax_enable_x64 changed from {old_wide} to {new_wide}")
    if old_mixed != new_mixed:
        found.append("the mixed precision changed")
    if old_spread != new_spread:
        found.append("how programs are spread over devices changed")
    if len(before) != len(after):
        found.append(f"{_count(before)} became {_count(after)}")
        # A call with as many arguments is nearer, whatever they are.
        return [*found, *[""] * max(len(before), len(after))]
    for i, (a, b) in enumerate(zip(before, after, strict=True)):
        found += _difference(names[i] if i < len(names) else str(i), a, b)
    return found


def _count(parts: Sequence[Any]) -> str:
    return f"{len(parts)} argument" if len(parts) == 1 else f"{len(parts)} arguments"


def _difference(name: str, old: Any, new: Any) -> list[str]:
    if old == new:
        return []
    first, second = _tensor(old), _tensor(new)
    if first and second:
        found = []
        for what, a, b in zip(("shape", "dtype"), first, second, strict=True):
            if a != b:
                found.append(f"the {what} of argument '{name}' changed from {a} to {b}")
        return found
    if _container(old) and _container(new):
        if len(old) != len(new):
            return [f"argument '{name}' has {len(new) - 1} elements instead of {len(old) - 1}"]
        return [
            text
            for i, (a, b) in enumerate(zip(old[1:], new[1:], strict=True))
            for text in _difference(f"{name}[{i}]", a, b)
        ]
    fields, others = _named(old), _named(new)
    if fields is not None and others is not None:
        if list(fields) != list(others):
            return [f"the names {list(fields)} became {list(others)}"]
        own = isinstance(old, tuple) and bool(old) and old[0] is dict
        return [
            text
            for key in fields
            for text in _difference(f"{name}[{key!r}]" if own else key, fields[key], others[key])
        ]
    if all(isinstance(part, tuple) and part and isinstance(part[0], type) for part in (old, new)):
        return [f"the value of argument '{name}' changed from {_value(old)} to {_value(new)}"]
    return [f"argument '{name}' changed its kind"]


def _tensor(part: Any) -> tuple[Any, Any] | None:
    """Give shape and dtype if a part of a key stands for a Tensor or an array."""
    if isinstance(part, tuple) and part and part[0] == "array":
        part = part[1:]
    if not isinstance(part, tuple) or len(part) != 2 or not isinstance(part[0], tuple):
        return None
    shape, dtype = part
    return (shape, dtype) if all(isinstance(size, int) for size in shape) else None


def _container(part: Any) -> bool:
    return isinstance(part, tuple) and bool(part) and part[0] in (tuple, list)


def _named(part: Any) -> dict[Any, Any] | None:
    """Give parts by name if a part stands for a dict, or for keyword arguments."""
    if isinstance(part, tuple) and part and part[0] is dict:
        return dict(part[1:])
    pairs = isinstance(part, tuple) and all(
        isinstance(p, tuple) and len(p) == 2 and isinstance(p[0], str) for p in part
    )
    return dict(part) if pairs else None


def _value(part: Any) -> str:
    value = part[1] if len(part) == 2 else part[1:]
    return repr(float.fromhex(value) if part[0] is float else value)
