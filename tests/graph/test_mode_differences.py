"""What compiled functions do where the original's two modes differ, and what ends a graph."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn, ops

_LIST = [1, 2]
_COUNT = 5


def t(*values: float) -> Any:
    return ms.Tensor(list(values), ms.float32)


def n(value: float) -> Any:
    return ms.Tensor(value, ms.float32)


class Net(nn.Cell):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.p = ms.Parameter(t(1, 2), name="p")
        self.items = [1, 2]
        self.count = 0
        self.function = function

    def construct(self, *args):
        return self.function(self, *args)


def logic(net, x, y):
    return x > 0 and y > 0, not (x > 0)


def list_argument(net, items):
    items.append(1)
    return len(items)


def list_attribute(net, x):
    net.items.append(3)
    return x


def global_list(net, x):
    _LIST[0] = 50
    return x


def list_alias(net, x):
    a = [1, 2]
    b = a
    b[0] = 9
    return a, b


def dict_views(net, x):
    return {"a": 1, "b": 2}.keys()


def dict_argument(net, d):
    d["n"] = d["x"] + 1
    return d["x"] * d["n"]


def text_of_a_shape(net, x):
    return f"{x.shape}"


def global_name(net, x):
    global _COUNT
    _COUNT = _COUNT + 1
    return x + _COUNT


def augmented(net, x):
    y = x
    y += 1
    return x, y


def parameter_attribute(net, x):
    net.p = net.p + x
    return net.p


def parameter_in_place(net, x):
    net.p += x
    net.p[0] = 9
    return net.p


def returned_then_assigned(net, x):
    a = net.p
    ops.assign(net.p, x)
    return a


def assigned_in_a_loop(net, x):
    k = n(0)
    while k < 3:
        ops.assign_add(net.p, x)
        k = k + 1
    return net.p


def integers_assigned(net, x):
    ops.assign(net.p, x)
    return net.p


def written_argument(net, x):
    x[0] = 100
    return x


def written_slice(net, x):
    y = x[0:1]
    y[0] = 99
    return x, y


def in_place_method(net, x):
    x.add_(5)
    return x * 1


def argmax(net, x):
    return x.argmax()


def power(net, x):
    return 2**-1


def strict(net, x):
    return {"a": x}


def plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value.asnumpy().tolist() if isinstance(value, ms.Tensor) else value


# Program, its arguments, the result, and the arguments after it where they are Tensors or dicts.
DECIDED: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]], Any, Any]] = {
    "logic": (logic, lambda: (n(1), n(-1)), [False, False], None),
    "list_argument": (list_argument, lambda: ([1, 2],), 3, [[1, 2]]),
    "list_alias": (list_alias, lambda: (n(1),), [[9, 2], [9, 2]], None),
    "dict_views": (dict_views, lambda: (n(1),), ["a", "b"], None),
    "dict_argument": (dict_argument, lambda: ({"x": n(3)},), 12, [{"x": 3, "n": 4}]),
    "text_of_a_shape": (text_of_a_shape, lambda: (t(1, 2),), "(2,)", None),
    "augmented": (augmented, lambda: (t(1, 2),), [[1, 2], [2, 3]], [[1, 2]]),
    "parameter_attribute": (parameter_attribute, lambda: (t(1, 1),), [2, 3], None),
    "parameter_in_place": (parameter_in_place, lambda: (t(1, 1),), [9, 3], None),
    "returned_then_assigned": (returned_then_assigned, lambda: (t(5, 6),), [5, 6], None),
    "assigned_in_a_loop": (assigned_in_a_loop, lambda: (t(1, 1),), [4, 5], None),
    "integers_assigned": (
        integers_assigned,
        lambda: (ms.Tensor([1, 2], ms.int32),),
        [1.0, 2.0],
        None,
    ),
    "written_argument": (written_argument, lambda: (t(1, 2),), [100, 2], [[1, 2]]),
    "written_slice": (written_slice, lambda: (t(1, 2),), [[1, 2], [99]], [[1, 2]]),
    "in_place_method": (in_place_method, lambda: (t(1, 2),), [6, 7], [[6, 7]]),
    "argmax": (argmax, lambda: (ms.Tensor([[1.0, 2.0], [4.0, 3.0]]),), 2, None),
    "power": (power, lambda: (n(1),), 0.5, None),
    "strict": (strict, lambda: (n(1),), {"a": 1}, None),
}


@pytest.fixture
def graph():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("name", DECIDED)
def test_decided(name, graph):
    function, arguments, wanted, after = DECIDED[name]
    given = arguments()
    net = Net(function)
    assert plain(net(*given)) == wanted
    if after is not None:
        assert plain(list(given)) == after


def test_python_objects_change_when_a_function_is_compiled(graph):
    net = Net(list_attribute)
    assert [net(n(1)), net(n(1)), net.items][2] == [1, 2, 3]
    Net(global_list)(n(1))
    assert _LIST == [50, 2]
    before = _COUNT
    assert plain(Net(global_name)(n(1))) == before + 2
    assert before + 1 == _COUNT


def test_changes_from_outside_are_seen(graph):
    net = Net(lambda net, x: net.p + x + net.count)
    assert plain(net(t(0, 0))) == [1, 2]
    net.count = 5
    assert plain(net(t(0, 0))) == [6, 7]
    net.p = ms.Parameter(t(9, 9), name="p")
    assert plain(net(t(0, 0))) == [14, 14]


VALUES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "asnumpy": (lambda x: ms.Tensor(x.asnumpy() * 2) + x, [3, -6]),
    "text": (lambda x: f"{x}", "[ 1. -2.]"),
    "mask": (lambda x: x[x > 0], [1]),
    "nonzero": (lambda x: ops.nonzero(x > 0), [[0]]),
    "a size": (lambda x: ops.zeros(x[:1].astype(ms.int32)), [0]),
    "a size of a Primitive": (
        lambda x: ops.ResizeBicubic()(ops.ones((1, 1, 2, 2)), (x * x).astype(ms.int32)),
        [[[[1, 1, 1, 1]]]],
    ),
    "sorted": (lambda x: sorted([x[0], x[1]]), [-2, 1]),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_end_a_graph(name):
    function, wanted = VALUES[name]
    compiled = ms.jit(function)
    for _ in range(2):
        assert plain(compiled(t(1, -2))) == wanted
    assert compiled._programs.eager


PRINTS = """
import mindjax as ms
@ms.jit
def f(x):
    print("start", x, 3)
    k = 0
    while x < 10:
        print("turn", k)
        x = x * 2
        k += 1
        if x > 5:
            print("big", x)
    return x
f(ms.Tensor(3.0))
print("between")
f(ms.Tensor(6.0))
"""


def test_prints_come_in_order(tmp_path):
    (tmp_path / "prints.py").write_text(PRINTS)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "prints.py")], capture_output=True, text=True
    )
    lines = ["start 3.0 3", "turn 0", "big 6.0", "turn 1", "big 12.0"]
    lines += ["between", "start 6.0 3", "turn 0", "big 12.0"]
    assert done.stdout.splitlines() == lines, json.dumps(done.stderr[-500:])


def test_what_stands_after_an_error_is_not_written(graph):
    class Checked(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = ms.Parameter(n(1), name="first")
            self.second = ms.Parameter(n(1), name="second")

        def checked(self, x):
            if x > 3:
                raise ValueError("too big", x)
            return x

        def construct(self, x):
            ops.assign(self.first, x)
            y = self.checked(x)
            ops.assign(self.second, y)
            return y

    net = Checked()
    assert plain(net(n(2))) == 2
    with pytest.raises(ValueError, match="too big"):
        net(n(5))
    assert (plain(net.first), plain(net.second)) == (5, 2)
    assert plain(net(n(1))) == 1


def test_errors_and_branches_under_vmap():
    def f(x):
        if x < 0:
            raise ValueError("negative")
        while x < 20:
            x = x * 2
        return x

    mapped = ms.jit(ms.vmap(f))
    np.testing.assert_array_equal(mapped(t(3, 8)).asnumpy(), [24, 32])
    with pytest.raises(ValueError, match="negative"):
        mapped(t(3, -1))


def test_ten_thousand_turns_are_one_loop():
    def counted(x):
        for k in range(10000):
            x = x + k * 0.5
        k = 0
        while k < 10000:
            x = x + 1
            k += 1
        return x

    program = ms.jit(counted)._programs.prepare((n(0),), {})
    assert len(program.jaxpr.eqns) < 100
