"""What the journal says of compilations: reasons, seconds, the announcement, the files."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn, ops
from mindjax.graph import journal
from mindjax.graph.journal import Compilation


def f(x: Any, n: Any = 2, *, k: Any = None) -> Any:
    return x[0] * n if isinstance(x, list | dict) else x * (n if k is None else k)


def ones(*shape: int, dtype: Any = None) -> Any:
    return ops.ones(shape, ms.float32 if dtype is None else dtype)


# Calls before, the call, the reason.
REASONS: dict[str, tuple[list[Callable[[Any], Any]], str]] = {
    "first": ([lambda g: g(ones(2))], ""),
    "shape": (
        [lambda g: g(ones(2)), lambda g: g(ones(3))],
        "the shape of argument 'x' changed from (2,) to (3,)",
    ),
    "dtype": (
        [lambda g: g(ones(2)), lambda g: g(ones(2, dtype=ms.int32))],
        "the dtype of argument 'x' changed from float32 to int32",
    ),
    "both": (
        [lambda g: g(ones(2)), lambda g: g(ones(3, dtype=ms.int32))],
        "the shape of argument 'x' changed from (2,) to (3,); "
        "the dtype of argument 'x' changed from float32 to int32",
    ),
    "number": (
        [lambda g: g(ones(2), 2.5), lambda g: g(ones(2), 3.5)],
        "the value of argument 'n' changed from 2.5 to 3.5",
    ),
    "keyword": (
        [lambda g: g(ones(2), k=2), lambda g: g(ones(2), k=3)],
        "the value of argument 'k' changed from 2 to 3",
    ),
    "kind": (
        [lambda g: g(ones(2), 2), lambda g: g(ones(2), ones(1))],
        "argument 'n' changed its kind",
    ),
    "count": ([lambda g: g(ones(2)), lambda g: g(ones(2), 2)], "1 argument became 2 arguments"),
    "element": (
        [lambda g: g([ones(2), ones(3)]), lambda g: g([ones(2), ones(4)])],
        "the shape of argument 'x[1]' changed from (3,) to (4,)",
    ),
    "in a dict": (
        [lambda g: g({0: ones(2)}), lambda g: g({0: ones(3)})],
        "the shape of argument 'x[0]' changed from (2,) to (3,)",
    ),
    "nearest": (
        [lambda g: g(ones(2), 2), lambda g: g(ones(3), 7), lambda g: g(ones(2), 7)],
        "the shape of argument 'x' changed from (3,) to (2,)",
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_reasons(name: str) -> None:
    calls, want = REASONS[name]
    jitted = ms.jit(f)
    for call in calls:
        call(jitted)
    entry = journal.entries()[-1]
    assert (entry.name, entry.number, entry.reason) == ("f", len(calls), want)
    assert entry.place == f"{__file__}:{f.__code__.co_firstlineno}"


def test_reasons_that_are_no_arguments() -> None:
    net = nn.Dense(2, 2)
    ms.set_context(mode=ms.GRAPH_MODE)
    net(ones(1, 2))
    net.set_train()
    net(ones(1, 2))
    first, second = journal.entries()[-2:]
    assert first.place.endswith(f":{nn.Dense.construct.__code__.co_firstlineno}")
    assert second.reason == "an attribute or the training mode of Dense changed"


def test_seconds_by_phase() -> None:
    jitted = ms.jit(lambda x: ops.exp(x) @ x)
    jitted(ones(2, 2))
    count = len(journal.entries())
    jitted(ones(2, 2))
    assert len(journal.entries()) == count, "one trace a signature"
    assert all(journal.entries()[-1].seconds[phase] > 0 for phase in journal.PHASES)


def test_an_executable_that_serves_again_is_not_compiled() -> None:
    jitted = ms.jit(f)
    for n in (1.5, 2.5, 3.5):
        jitted(ones(2), n)
    compiled = [e.seconds["compile"] > 0 for e in journal.entries()[-3:]]
    assert compiled == [True, True, False]


def test_the_announcement_comes_once(caplog: pytest.LogCaptureFixture) -> None:
    jitted = ms.jit(f)
    with caplog.at_level(logging.WARNING, "mindjax"):
        for n in range(12):
            jitted(ones(1), n / 2)
        assert not caplog.records, "numbers share an executable"
        for size in range(2, 10):
            jitted(ones(size))
    (record,) = caplog.records
    assert "f (" in record.message and "the shape of argument 'x' changed from" in record.message


def test_a_long_compilation_is_mentioned(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MINDJAX_COMPILE_NOTICE", "0.05")
    entry = Compilation(f, 1, "")
    with entry.phase("trace"):
        pass
    assert capfd.readouterr().err == ""
    with entry.phase("compile"):
        time.sleep(0.3)
    begun, done = capfd.readouterr().err.splitlines()
    assert begun.startswith("mindjax: compiling f (") and "compile phase" in begun
    assert "done in 0.3 s" in done
    monkeypatch.setenv("MINDJAX_COMPILE_NOTICE", "0")
    with Compilation(f, 1, "").phase("trace"):
        time.sleep(0.1)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("level", "endings"),
    [
        (0, []),
        (1, ["hlo.txt", "stablehlo.mlir"]),
        (True, ["hlo.txt", "jaxpr.txt", "stablehlo.mlir"]),
    ],
)
def test_saved_graphs(level: Any, endings: list[str], tmp_path: Any) -> None:
    ms.set_context(save_graphs=level, save_graphs_path=str(tmp_path))
    try:
        ms.jit(lambda x: ops.exp(x) * 2)(ones(3))
    finally:
        ms.set_context(save_graphs=False, save_graphs_path=".")
    files = {p.name.split(".", 1)[1]: p.read_text() for p in tmp_path.glob("rank_0/*lambda*")}
    assert sorted(files) == endings
    if endings:
        assert "stablehlo.exponential" in files["stablehlo.mlir"]
        assert "ENTRY" in files["hlo.txt"]


def test_wrong_settings() -> None:
    with pytest.raises(ValueError, match="'save_graphs' must be"):
        ms.set_context(save_graphs=7)
    with pytest.raises(TypeError, match="'enable_compile_cache' must be bool"):
        ms.set_context(enable_compile_cache=1)


def test_precompile_only() -> None:
    jitted = ms.jit(f)
    ms.set_context(precompile_only=True)
    try:
        assert jitted(ones(2)) is None
    finally:
        ms.set_context(precompile_only=False)
    count = len(journal.entries())
    np.testing.assert_array_equal(jitted(ones(2)).asnumpy(), [2, 2])
    assert len(journal.entries()) == count
