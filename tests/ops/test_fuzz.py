"""Any op on odd inputs gives a value or one clear line: no crash, no hang, no words of jax's.

The calls of the op tables are run with other shapes (0-d, empty, of other rank), dtypes, strides,
axes, sizes and indices.
"""

from __future__ import annotations

import contextlib
import re
import signal
import warnings
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mindjax as ms
from mindjax import Tensor
from tests.ops.calls import Call, table_calls
from tests.ops.test_errors import FOREIGN

CALLS = table_calls()
PATHS = sorted(CALLS)
PARTS = 8
SECONDS = 60
# Programs with loops, which run step by step where jit is off, take too long that way.
LOOPS = {"ops.CombinedNonMaxSuppression", "ops.MaxPool3DWithArgmax", "ops.fractional_max_pool3d"}
ALLOWED = (TypeError, ValueError, IndexError, RuntimeError, NotImplementedError)
SHAPES = [(), (0,), (1,), (3,), (0, 3), (2, 3), (2, 3, 4), (1, 2, 4, 4), (2, 1, 3, 4, 5)]
DTYPES = ["bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
# The largest ones name no index and no memory; sizes between would be tried in earnest.
NUMBERS = [-1, 0, 1, 2, -2, 3, -3, 7, -9, 10**13, -(10**13), 2**70]
FLOATS = [0.0, -1.0, 0.5, 1e38, float("nan"), float("inf"), -float("inf")]


def other_tensor(x: Tensor, kind: int, pick: int) -> Tensor:
    """Give a tensor that differs in shape, dtype, strides or values."""
    if kind == 0:
        shape = SHAPES[pick % len(SHAPES)]
        values = np.resize(np.arange(1, 8), shape)
        return Tensor(values.astype(np.float32)).astype(x.dtype)
    if kind == 1:
        return x.astype(getattr(ms, DTYPES[pick % len(DTYPES)]))
    if kind == 2:
        return x.T if pick % 2 or not x.shape else x[::2]
    if kind == 3 and x.dtype in (ms.int32, ms.int64):
        return x * 0 + [10**6, -(10**6), -1][pick % 3]
    if kind == 3 and x.dtype in (ms.float32, ms.float64):
        return x * FLOATS[pick % len(FLOATS)]
    return x[:0] if x.shape else x.reshape(1)


def other(value: Any, kind: int, pick: int) -> Any:
    """Give another value of the same type."""
    if isinstance(value, Tensor):
        return other_tensor(value, kind % 5, pick)
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return NUMBERS[pick % len(NUMBERS)]
    if isinstance(value, float):
        return FLOATS[pick % len(FLOATS)]
    if isinstance(value, tuple | list) and value:
        items = list(value)
        place = kind % len(items)
        items[place] = other(items[place], kind, pick)
        return type(value)(items[: len(items) - (pick % 5 == 4)])
    return value


Change = tuple[int, int, int]


def changed(call: Call, changes: list[Change]) -> tuple[Any, list[Any], dict[str, Any]]:
    """Give what is called and its arguments with some of them changed."""
    target: Any = call.target()
    args, kwargs = list(call.values()[0]), dict(call.values()[1])
    fields, named = (list(call.attributes()[0]), dict(call.attributes()[1]))
    slots = [(g, k) for g in (args, fields) for k in range(len(g))]
    slots += [(g, k) for g in (kwargs, named) for k in g]
    for place, kind, pick in changes:
        if slots:
            group, key = slots[place % len(slots)]
            group[key] = other(group[key], kind, pick)
    if call.constructor is not None:
        target = target(*fields, **named)
    return target, args, kwargs


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in what runs longer."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def read(value: Any) -> None:
    """Wait for the values of a result."""
    for x in value if isinstance(value, tuple | list) else (value,):
        if isinstance(x, tuple | list):
            read(x)
        elif isinstance(x, Tensor):
            x.asnumpy()


def complaint(error: Exception, name: str) -> str:
    """Say what is wrong with an error of an op."""
    text = str(error)
    if not isinstance(error, ALLOWED) or type(error).__module__ != "builtins":
        return f"of class {type(error).__name__}"
    if "\n" in text:
        return "of several lines"
    if FOREIGN.search(text):
        return "with words of jax's"
    # Python's own complaint of an argument list names the function.
    named = re.search(r"For '|For primitive|^For |\w+\(\) |\w+\.__\w+__\(\)", text)
    return "" if named or name in text else "without the op's name"


def fault(call: Call, changes: list[Change]) -> str:
    """Run a changed call and say what is wrong with its error; nothing if it gives a value."""
    compiled = contextlib.nullcontext() if call.path in LOOPS else jax.disable_jit()
    with warnings.catch_warnings(), compiled, time_limit(SECONDS):
        warnings.simplefilter("ignore")
        try:
            target, args, kwargs = changed(call, changes)
            read(target(*args, **kwargs))
        except Exception as error:
            found = complaint(error, call.path.rpartition(".")[2])
            return found and f"{call.path} {changes}: {found}: {type(error).__name__}: {error}"
    return ""


CHANGES = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 9), st.integers(0, 63)), min_size=1, max_size=3
)


def check(part: int, count: int) -> None:
    """Draw calls and changes."""
    paths = PATHS[part::PARTS]

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(st.sampled_from(paths), st.integers(0, 5), CHANGES)
    def run(path: str, which: int, changes: list[Change]) -> None:
        call = CALLS[path][which % len(CALLS[path])]
        assert not fault(call, changes)

    run()


@pytest.mark.parametrize("part", range(PARTS))
def test_few(part: int) -> None:
    check(part, 14)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_many(part: int) -> None:
    check(part, 2000)
