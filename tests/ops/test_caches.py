"""What is an operand compiles once; what is an attribute is told apart by type and bits."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, ops
from mindjax.core import caches, executable
from mindjax.core.engine import ENGINES
from mindjax.core.primitive import Primitive

COUNT = 1000
VARYING: list[tuple[str, Callable[[Any, int], Any]]] = [
    ("float scalars", lambda x, k: x * (k + 0.5)),
    ("int scalars", lambda x, k: x + k),
    ("scalar on the left", lambda x, k: (k + 0.5) - x),
    ("comparison", lambda x, k: x > k),
    ("power", lambda x, k: ops.pow(x, k + 0.25)),
    ("index", lambda x, k: x[k]),
    ("negative index", lambda x, k: x[-k - 1]),
    ("slice start", lambda x, k: x[k : k + 5]),
    ("index of second axis", lambda x, k: x[:, k % 4]),
    ("masked_fill", lambda x, k: ops.masked_fill(x, x > 0, k + 0.5)),
    ("clip", lambda x, k: ops.clip_by_value(x, -float(k), float(k))),
    ("set item", lambda x, k: x.__setitem__(k, k + 0.5)),
    ("set slice", lambda x, k: x.__setitem__(slice(k, k + 3), k + 0.5)),
]


def programs() -> int:
    """Give the number of programs traced so far."""
    return sum(caches.compilations().values())


@pytest.mark.parametrize(("name", "run"), VARYING, ids=[n for n, _ in VARYING])
def test_pynative_compiles_once(name: str, run: Any) -> None:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    x = ops.ones((1100, 4)) + 0
    before = programs()
    for k in range(COUNT):
        run(x, k)
    assert programs() - before <= 10


def test_graph_takes_tensors_as_operands() -> None:
    @ms.jit
    def f(x: Tensor, k: Tensor) -> Tensor:
        return x[k] * 2 + k

    x = ops.ones((1100, 4))
    before = programs()
    for k in range(COUNT):
        f(x, Tensor(k, ms.int32))
    assert programs() - before <= 10


def test_values_of_varying_operands() -> None:
    x = Tensor(np.arange(20, dtype=np.float32).reshape(10, 2))
    for k in (0, 3, 9, -1, -10):
        assert x[k].asnumpy().tolist() == x.asnumpy()[k].tolist()
    for start, stop in ((0, 2), (4, 6), (8, 10), (-2, None)):
        assert x[start:stop].asnumpy().tolist() == x.asnumpy()[start:stop].tolist()
    for k in (0.0, -0.0, 1.5, -2.5):
        want = x.asnumpy() * np.float32(k)
        assert np.array_equal((x * k).asnumpy(), want)
        assert np.array_equal(np.signbit((x * k).asnumpy()), np.signbit(want))


class Keyed(Primitive, register=False):
    """A record with one attribute."""

    value: Any = None

    def compute(self, x: Any) -> Any:
        """Give the input."""
        return x


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (1, True),
        (0, False),
        (1.0, True),
        (0.0, -0.0),
        ("1", 1),
        ((1, 2), (1.0, 2.0)),
        ((1,), (True,)),
        (np.float32(1), 1.0),
        (np.float32(1), np.float64(1)),
        (None, 0),
        (1 + 0j, 1.0),
        (ms.float32, ms.float16),
        (b"a", "a"),
        ((1, (2,)), (1, 2)),
    ],
    ids=repr,
)
def test_attributes_that_are_equal_in_python_are_told_apart(a: Any, b: Any) -> None:
    assert Keyed(a) != Keyed(b)
    assert len({Keyed(a): 1, Keyed(b): 2}) == 2


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (float("nan"), float("nan")),
        ([1, 2], (1, 2)),
        ({"a": 1}, {"a": 1}),
        (ms.float32, ms.float32),
    ],
    ids=repr,
)
def test_attributes_that_are_the_same_share_a_program(a: Any, b: Any) -> None:
    assert Keyed(a) == Keyed(b)
    assert len({Keyed(a): 1, Keyed(b): 2}) == 1


@pytest.mark.parametrize("bad", [np.ones(2), "tensor"])
def test_an_array_is_never_an_attribute(bad: Any) -> None:
    value = Tensor([1.0]) if isinstance(bad, str) else bad
    with pytest.raises(TypeError, match="value"):
        hash(Keyed(value))


@pytest.mark.parametrize(
    ("fill", "dtype"),
    [(1, "Int64"), (1.0, "Float32"), (True, "Bool")],
    ids=["int", "float", "bool"],
)
def test_numbers_of_three_types_make_three_dtypes(fill: Any, dtype: str) -> None:
    for other in (1, 1.0, True):
        Tensor(other)
    assert str(Tensor(fill).dtype) == dtype


def test_caches_are_bounded_and_counted() -> None:
    x = ops.ones((2, 2))
    (x + 1).asnumpy()
    report = caches.report()
    assert report
    for name, (entries, limit, hits, misses) in report.items():
        assert 0 <= entries <= limit, name
        assert hits >= 0 <= misses
    before = sum(hits for _, _, hits, _ in report.values())
    for _ in range(5):
        ops.ReduceSum()(x)
    assert sum(hits for _, _, hits, _ in caches.report().values()) > before


@pytest.mark.parametrize("engine", ENGINES)
def test_an_op_whose_shapes_change_keeps_few_programs(engine: str, monkeypatch: Any) -> None:
    room = caches.Room("tests only", 6)
    monkeypatch.setattr(executable, "_PROGRAMS", room)
    found, other = (executable.Executable(op) for op in (ops.Erf(), ops.Erfc()))
    for record in (found, other):
        record.record.__dict__["_executable"] = record
    kept, used = [], other.call
    with ms.eager(engine):
        other.record(Tensor(np.ones(3, np.float32)))
        for size in range(1, 15):
            if not kept or kept[-1]() is not found.call:
                kept.append(weakref.ref(found.call))
            y = found.record(Tensor(np.ones(size, np.float32)))
            np.testing.assert_allclose(y.asnumpy(), math.erf(1), 1e-6)
            assert sum(room.held.values()) <= room.limit
    # What it let go is gone from jax's caches too; an op that holds less keeps what it has.
    gc.collect()
    assert len(kept) > 1 and all(k() is None for k in kept[:-1])
    assert other.call is used and room.held[other] == 1


def test_a_full_cache_drops_the_oldest() -> None:
    cache: caches.Cache[int] = caches.Cache("tests only", 8)
    for k in range(20):
        cache.put(k, k)
    assert len(cache.entries) <= 8
    assert cache.get(19) == 19
    assert cache.get(0) is None
