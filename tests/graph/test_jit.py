"""The arguments of `jit` and of what goes with it: honoured, refused, or ignored with a word."""

from __future__ import annotations

from collections import deque
from typing import Any

import jax
import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, log, nn, ops
from mindjax.graph import JitConfig, journal, row_wise


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is warned of."""
    said: list[str] = []
    monkeypatch.setattr(
        log, "warning", lambda text, *args: said.append(text % args if args else text)
    )
    return said


def ones(*shape: int) -> Any:
    return ops.ones(shape, ms.float32)


def mean_of_values(x: Any) -> Any:
    return x + float(x.asnumpy().sum())


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
def test_without_fullgraph_a_function_that_needs_values_runs_op_by_op(
    mode: str, words: list[str]
) -> None:
    run = ms.jit(mean_of_values, capture_mode=mode)
    for scale in (1, 2):
        np.testing.assert_array_equal(run(ones(2) * scale).asnumpy(), [3 * scale] * 2)
    (said,) = words
    assert "runs op by op" in said and "test_jit.py" in said


def test_fullgraph_refuses_it(words: list[str]) -> None:
    with pytest.raises(RuntimeError, match=r"values are asked for[\s\S]*test_jit.py"):
        ms.jit(mean_of_values, fullgraph=True)(ones(2))
    assert not words


class Plain:
    """Has attributes of all kinds."""

    __slots__ = ("__dict__", "slot")
    shared = 0

    @property
    def doubled(self) -> int:
        """Twice what was put."""
        return 2 * self.slot

    @doubled.setter
    def doubled(self, value: int) -> None:
        self.slot = value // 2


COUNT = 0


def test_a_trace_that_is_given_up_leaves_nothing(words: list[str]) -> None:
    items: list[Any] = []
    names: dict[str, int] = {}
    kinds: set[int] = set()
    queue: deque[int] = deque()
    array, plain = np.zeros(2), Plain()
    plain.slot, Plain.shared = 0, 0
    count = 0

    @ms.jit
    def run(x: Any) -> Any:
        nonlocal count
        global COUNT
        count, COUNT = count + 1, COUNT + 1
        items.append(x.shape)
        names["calls"] = names.get("calls", 0) + 1
        kinds.add(len(kinds))
        queue.append(len(queue))
        array[0] += 1
        plain.first = getattr(plain, "first", 0) + 1
        setattr(plain, "second", getattr(plain, "second", 0) + 1)  # noqa: B010
        Plain.shared += 1
        plain.slot += 1
        plain.doubled += 2
        return mean_of_values(x)

    for calls in (1, 2, 3):
        np.testing.assert_array_equal(run(ones(2)).asnumpy(), [3, 3])
        assert [count, COUNT, len(items), names["calls"], len(kinds)] == [calls] * 5
        assert list(queue) == list(range(calls)) and array.tolist() == [calls, 0]
        assert vars(plain) == {"first": calls, "second": calls}
        assert Plain.shared == calls and plain.slot == 2 * calls
    assert len(words) == 1


class Holder:
    """Has a method under jit."""

    factor = 3

    @ms.jit
    def run(self, x: Any) -> Any:
        return x * self.factor


@ms.jit
def plus_one(x: Any) -> Any:
    return x + 1


def double_while_small(x: Any) -> Any:
    while x.sum() < 20:
        x = x * 2
    return x


ARRAY = np.array([1, 2], np.float32)
ARRAYS: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "operators": (lambda x: x * x + 1, (ARRAY,), np.array([2, 5], np.float32)),
    "methods": (lambda x: x.astype(np.int32).sum(), (ARRAY,), np.int64(3)),
    "numpy's functions": (lambda x: np.sqrt(x * x), (ARRAY,), ARRAY),
    "methods that Tensors lack": (lambda x: x.dumps() and x.tobytes(), (ARRAY,), ARRAY.tobytes()),
    "inside a list": (lambda pair: pair[0] + pair[1]["k"], ([ARRAY, {"k": ARRAY}],), 2 * ARRAY),
    "a loop": (double_while_small, (ARRAY,), 8 * ARRAY),
    "of a compiled function": (lambda x: plus_one(x), (ARRAY,), 1 + ARRAY),
    "of a method": (Holder().run, (ARRAY,), 3 * ARRAY),
    "a Tensor made of it": (lambda x: Tensor(x) + 1, (ARRAY,), Tensor(1 + ARRAY)),
    "an op": (lambda x: ops.relu(x), (ARRAY,), Tensor(ARRAY)),
    "a method of Tensors": (lambda x: x.abs(), (ARRAY,), Tensor(ARRAY)),
    "a layer": (lambda x: nn.ReLU()(x), (ARRAY,), Tensor(ARRAY)),
    "beside a Tensor": (lambda x, y: x + y, (ARRAY, Tensor(ARRAY)), Tensor(2 * ARRAY)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_numpy_arrays_stay_numpy_in_functions_without_ops(name: str, words: list[str]) -> None:
    function, args, wanted = ARRAYS[name]
    run = ms.jit(function)
    for _ in range(2):
        found = run(*args)
        assert type(found) is type(wanted)
        if not isinstance(wanted, bytes):
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
    assert not words


class Net(nn.Cell):
    """Asks for values."""

    def construct(self, x: Any) -> Any:
        return mean_of_values(x)


def test_strict_levels_refuse_it(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    net.set_jit_config(JitConfig(jit_syntax_level="STRICT"))
    with pytest.raises(RuntimeError, match="values are asked for"):
        net(ones(2))
    ms.set_context(jit_syntax_level=ms.STRICT)
    try:
        with pytest.raises(RuntimeError, match="values are asked for"):
            Net()(ones(2))
        lax = Net()
        lax.set_jit_config(JitConfig(jit_syntax_level="LAX"))
        np.testing.assert_array_equal(lax(ones(2)).asnumpy(), [3, 3])
    finally:
        ms.set_context(jit_syntax_level=ms.LAX)
    monkeypatch.setenv("MS_DEV_JIT_SYNTAX_LEVEL", "0")
    with pytest.raises(RuntimeError, match="values are asked for"):
        Net()(ones(2))


def test_a_jit_config_is_set_once(words: list[str]) -> None:
    net = Net()
    for level in ("O0", "O1"):
        net.set_jit_config(JitConfig(jit_level=level))
    assert net.jit_config_dict["jit_level"] == "O0" and "only be set once" in words[0]
    with pytest.raises(TypeError, match="must be a JitConfig"):
        net.set_jit_config({"jit_level": "O0"})


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"capture_mode": "eager"}, ValueError),
        ({"jit_level": "O2"}, ValueError),
        ({"dynamic": 2}, ValueError),
        ({"fullgraph": 1}, TypeError),
        ({"backend": "xla"}, RuntimeError),
        ({"exec_order": "random"}, ValueError),
        ({"exec_order": 1}, TypeError),
        ({"infer_boost": "maybe"}, ValueError),
        ({"auto_offload": "disk"}, ValueError),
        ({"disable_format_transform": 1}, TypeError),
        ({"ge_options": {"other": {}}}, ValueError),
        ({"ge_options": {"global": {"a": 1}}}, TypeError),
    ],
    ids=str,
)
def test_wrong_options(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        ms.jit(lambda x: x, **options)


def test_an_unknown_backend_has_the_originals_message() -> None:
    with pytest.raises(RuntimeError, match=r"^Invalid backend name: xla, you should register"):
        ms.jit(lambda x: x, backend="xla")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"exec_order": "bfs"}, "'exec_order' is ignored"),
        ({"ge_options": {"global": {"a": "b"}}}, "'ge_options' is ignored"),
        ({"unheard": 1}, "'unheard' is not recognized"),
        ({"input_signature": ()}, "'input_signature' has been deprecated"),
    ],
    ids=str,
)
def test_options_that_change_nothing_say_so(
    options: dict[str, Any], said: str, words: list[str]
) -> None:
    assert plain(ms.jit(lambda x: x * 2, **options)(ones(1))) == [2]
    assert len(words) == 1 and said in words[0]


def plain(value: Any) -> Any:
    return value.asnumpy().tolist()


def test_a_class_of_cells() -> None:
    @ms.jit
    class Scale(nn.Cell):
        """Scales by its own factor."""

        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = factor

        def construct(self, x: Any) -> Any:
            return x * self.factor

    count = len(journal.entries())
    assert plain(Scale(2.0)(ones(1))) == [2] and plain(Scale(3.0)(ones(1))) == [3]
    assert len(journal.entries()) > count


def test_the_variable_that_switches_jit_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MS_JIT", "0")
    assert plain(ms.jit(mean_of_values, fullgraph=True)(ones(1))) == [2]


# Declared inputs.


class Rows(nn.Cell):
    """Two outputs of one row for each row."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(2, 3)

    def construct(self, x: Any) -> Any:
        return self.dense(x), x.sum(1)


def declared(shape: Any) -> Any:
    return Tensor(shape=shape, dtype=ms.float32)


def test_declared_inputs_are_checked() -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Rows()
    net.set_inputs(declared([None, 2]))
    assert net(ones(4, 2))[0].shape == (4, 3)
    for wrong in (ones(4, 3), ones(2), ops.ones((4, 2), ms.float16)):
        with pytest.raises(ValueError, match=r"For set_inputs and tuple\(list\) in set_inputs"):
            net(wrong)
    with pytest.raises(ValueError, match="the length of 'inputs' must be 2"):
        net(ones(4, 2), ones(4, 2))
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net(ones(4, 2))


def test_rows_are_padded_to_buckets() -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    net = row_wise(Rows())
    net.set_inputs(declared([None, 2]))
    count = len(journal.entries())
    for rows in (1, 3, 7, 8, 9, 16):
        x = Tensor(np.arange(2.0 * rows, dtype=np.float32).reshape(rows, 2))
        dense, total = net(x)
        want = x.asnumpy() @ net.dense.weight.asnumpy().T + net.dense.bias.asnumpy()
        np.testing.assert_allclose(dense.asnumpy(), want, 1e-5, 1e-5)
        np.testing.assert_array_equal(total.asnumpy(), x.asnumpy().sum(1))
    assert sum(e.name == "Rows" for e in journal.entries()[count:]) == 2


def test_rows_of_functions_are_padded_and_differentiate() -> None:
    @ms.enable_dynamic(x=declared([None]))
    @row_wise
    @ms.jit
    def square(x: Any, n: int = 1) -> Any:
        return x * x * n

    for rows in (3, 5):
        x = Tensor(np.arange(rows, dtype=np.float32))
        assert plain(square(x)) == [i * i for i in range(rows)]
        assert plain(ms.grad(lambda v: square(v).sum())(x)) == [2 * i for i in range(rows)]


def test_an_output_without_rows_is_refused() -> None:
    @ms.enable_dynamic(x=declared([None]))
    @row_wise
    def total(x: Any) -> Any:
        return x.sum()

    with pytest.raises(ValueError, match="'row_wise' was promised of what gives an output"):
        total(ones(3))


# Switches of the user's jax.


def test_disable_jit(mode: int) -> None:
    run = ms.jit(lambda x: ops.exp(x) * 2)
    gradient = ms.jit(ms.grad(lambda x: run(x).sum()))
    run(ones(2))
    count = len(journal.entries())
    with jax.disable_jit():
        np.testing.assert_allclose(run(ones(2)).asnumpy(), [2 * np.e] * 2, 1e-6)
        np.testing.assert_allclose(gradient(ones(2)).asnumpy(), [2 * np.e] * 2, 1e-6)
        assert nn.Dense(3, 2)(ones(2, 3)).shape == (2, 2)
    assert len(journal.entries()) == count


def test_debug_nans_names_the_program_and_keeps_the_state() -> None:
    w = ms.Parameter(ones(2), name="w")

    def take_away(x: Any) -> Any:
        ops.assign(w, w - x)
        return ops.log(w)

    run = ms.jit(take_away)
    run(ones(2) * 0.5)
    with (
        jax.debug_nans(True),
        pytest.raises(FloatingPointError, match=r"take_away.*nan"),
    ):
        run(ones(2))
    assert plain(w) == [0.5, 0.5]


@pytest.mark.parametrize("target", [3, "text", Tensor(1.0).sum, len])
def test_row_wise_of_what_cannot_be_promised(target: Any) -> None:
    with pytest.raises(TypeError, match="For 'row_wise'"):
        row_wise(target)
