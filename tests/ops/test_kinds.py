"""Any op with an argument of a wrong kind gives a value or one clear line that names the op."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import jax
import pytest

from tests.ops.calls import Call, table_calls
from tests.ops.test_fuzz import LOOPS, SECONDS, complaint, read, time_limit

CALLS = table_calls()
PATHS = sorted(CALLS)
PARTS = 24
KINDS: tuple[Any, ...] = ([[1.0]], "text", None, {"a": 1}, 1.5, object())


def with_wrong_kind(call: Call, place: int, value: Any) -> tuple[Any, list[Any], dict[str, Any]]:
    """Give what is called and its arguments, one of which is another object.

    Raises:
        IndexError: there are fewer arguments.
    """
    target: Any = call.target()
    args, kwargs = list(call.values()[0]), dict(call.values()[1])
    fields, named = list(call.attributes()[0]), dict(call.attributes()[1])
    slots = [(g, k) for g in (args, fields) for k in range(len(g))]
    slots += [(g, k) for g in (kwargs, named) for k in g]
    group, key = slots[place]
    group[key] = value
    if call.constructor is not None:
        target = target(*fields, **named)
    return target, args, kwargs


def fault(call: Call, place: int, value: Any) -> str:
    """Say what is wrong with the error of a call; nothing if it gives a value or a clear line."""
    compiled = contextlib.nullcontext() if call.path in LOOPS else jax.disable_jit()
    name = call.path.rpartition(".")[2]
    with warnings.catch_warnings(), compiled, time_limit(SECONDS):
        warnings.simplefilter("ignore")
        try:
            target, args, kwargs = with_wrong_kind(call, place, value)
            read(target(*args, **kwargs))
        except Exception as error:
            found = complaint(error, name)
            return found and f"{call.path} {place} {value!r:.20}: {found}: {error!r:.200}"
    return ""


def size(call: Call) -> int:
    """Count the arguments of a call and of its constructor."""
    return sum(map(len, (*call.values(), *call.attributes())))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_wrong_kinds(part: int) -> None:
    faults = [
        found
        for path in PATHS[part::PARTS]
        for place in range(size(CALLS[path][0]))
        for value in KINDS
        if (found := fault(CALLS[path][0], place, value))
    ]
    assert not faults, "\n".join(faults)
