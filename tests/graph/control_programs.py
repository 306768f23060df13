"""Branches and loops: what they give is recorded from the original's PYNATIVE mode.

The file runs beside MindJAX and beside the original: `tests/oracle/record_control.py` runs it.
Each program is a function with the arguments of its runs.
"""

from __future__ import annotations

# ruff: noqa: B007, B905, F841, SIM108
# Programs are written as users write them.
from collections.abc import Callable
from typing import Any

try:
    import mindjax as ms
    from mindjax import ops
except ImportError:
    import mindspore as ms
    from mindspore import ops

PROGRAMS: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {}


def t(*values: float) -> Any:
    return ms.Tensor(list(values), ms.float32)


def n(value: float) -> Any:
    return ms.Tensor(value, ms.float32)


def i(value: int) -> Any:
    return ms.Tensor(value, ms.int32)


def runs(*arguments: Any) -> Any:
    """Register a program with the arguments of its runs."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        given = [a if isinstance(a, tuple) else (a,) for a in arguments]
        PROGRAMS[function.__name__] = function, given
        return function

    return decorate


# -- branches --


@runs(n(5), n(2), n(0.5))
def elif_chain(x):
    if x > 3:
        r = x - 3
    elif x > 1:
        r = x * 2
    else:
        r = -x
    return r


@runs((n(1), n(2)), (n(1), n(0)), (n(1), n(-1)), (n(-1), n(2)))
def returns_in_nested_branches(x, y):
    if x > 0:
        if y > 0:
            return x + y
        elif y == 0:
            return x * 10
    return -x


@runs((n(1), n(2)), (n(1), n(-2)), (n(-1), n(2)), (n(-1), n(-2)))
def return_under_one_of_two_conditions(x, y):
    z = x * 2
    if x > 0:
        z = z + 1
        if y > 0:
            return z * 100
        z = z + 2
    z = z + 4
    if y < 0:
        z = z * 3
    return z


@runs(t(1, 2), t(-1, -2), t(1, -3))
def two_early_returns(x):
    if (x > 0).all():
        return x * 2
    if (x > 0).any():
        return x * 3
    return x


@runs(n(3), n(-3))
def number_from_a_branch(x):
    k = 1
    if x > 0:
        k = 2
    else:
        k = k + 4
    return x * k


@runs(n(3), n(-3))
def several_names(x):
    a, b = x, x + 1
    if x > 0:
        a, b = b, a
        c = a * b
    else:
        c = a - b
    return a, b, c


@runs(n(3), n(-3))
def containers_in_branches(x):
    pair = (x, x)
    items = [x]
    table = {"k": x}
    if x > 0:
        pair = (x + 1, x + 2)
        items[0] = x * 3
        table["k"] = x * 4
    else:
        pair = (pair[1] - 1, pair[0])
        items = [x - 5]
    return pair, items[0], table["k"]


@runs(n(3), n(-3))
def a_list_that_another_name_has(x):
    items = [x, x]
    alias = items
    if x > 0:
        items[1] = x * 2
    return alias[1] + items[0]


@runs(n(3), n(-3))
def appends_on_both_paths(x):
    out = []
    if x > 0:
        out.append(x * 2)
    else:
        out.append(x * 3)
    out.append(x)
    return out[0] + out[1], len(out)


@runs(t(2), t(0))
def condition_of_shape_1(x):
    if x:
        return x + 1
    return x - 1


@runs((n(1), n(-1)), (n(-1), n(1)), (n(1), n(1)))
def logic(x, y):
    if x > 0 and y > 0:
        r = 1
    elif x > 0 or y > 0:
        r = 2
    else:
        r = 3
    if not (x > 0):
        r = r + 10
    return x * r


@runs(n(3), n(6), n(-1))
def chain(x):
    if 0 < x < 5:
        return x * 2
    return x * 3


@runs(n(2), n(-2))
def conditional_expression(x):
    y = x * 2 if x > 0 else x - 100
    return y + (1 if x > 1 else 2)


@runs((n(4), n(0)), (n(4), n(2)))
def short_circuit(x, y):
    if y != 0 and x / y > 1:
        return x / y
    return x


@runs(n(2), n(-2))
def default_before_branch(x):
    scale = None
    if x > 0:
        scale = x
    else:
        scale = -x
    return scale * 2


@runs((n(1), None), (n(1), n(2)))
def constant_condition(x, y):
    if y is None:
        return x
    if y > 1:
        x = x + y
    return x


@runs((n(2), True), (n(2), False), (n(-2), True))
def constant_and_traced(x, flag):
    if flag and x > 0:
        return x * 10
    return x


# -- while --


@runs(n(3))
def while_counts(x):
    k = 0
    while x < 100:
        x = x * 2
        k = k + 1
    return x, k


@runs((n(1), i(50)), (n(30), i(50)), (n(1), i(0)))
def while_with_break_and_continue(x, m):
    k = i(0)
    s = x
    while k < m:
        k += 1
        if k % 2 == 0:
            continue
        if s > 20:
            break
        s = s + k
    return s, k


@runs(n(1), n(200))
def while_returns(x):
    while x < 100:
        x = x * 3
        if x > 20:
            return x * 1000
    return x


@runs(n(1), n(7))
def while_true(x):
    while True:
        x = x + 1
        if x > 5:
            break
    return x


@runs(i(6))
def nested_while(m):
    k, total = i(0), i(0)
    while k < m:
        j = i(0)
        while j < k:
            total = total + j
            j = j + 1
        k = k + 1
    return total


@runs((n(1), n(9)), (n(3), n(9)))
def break_of_the_inner_loop(x, limit):
    total = x * 0
    k = 0
    while total < limit:
        k = k + 1
        for j in range(4):
            if j > x:
                break
            total = total + 1
        if k > 5:
            break
    return total, k


@runs(n(1), n(90))
def while_else(x):
    while x < 50:
        x = x * 2
        if x > 30:
            break
    else:
        x = x + 1000
    return x


@runs(n(2))
def while_of_two_conditions(x):
    k = 0
    while k < 10 and x < 50:
        x = x * 2
        k += 1
    return x, k


@runs(n(3))
def while_carries_a_tuple(x):
    pair = (x, x * 2)
    while pair[0] < 20:
        pair = (pair[0] + pair[1], pair[1])
    return pair


@runs(n(3))
def name_made_in_a_loop(x):
    while x < 20:
        last = x
        x = x * 2
    return x


@runs(n(3), n(30))
def flag_of_a_loop(x):
    done = False
    k = 0
    while not done:
        x = x + 7
        k = k + 1
        done = x > 20
    return x, k


# -- for --


@runs(n(1), n(60))
def for_with_break(x):
    c = 0
    for _ in range(10):
        if x > 50:
            break
        x = x * 3
        c = c + 1
    return x, c


@runs(n(1), n(0))
def for_returns(x):
    for k in range(5):
        x = x * 2
        if x > 6:
            return x, k
    return x, -1


@runs(n(1))
def for_with_continue(x):
    for k in range(6):
        if x > 5:
            x = x - 3
            continue
        x = x + k
    return x


@runs(n(1), n(30))
def for_else(x):
    for k in range(4):
        if x + k > 20:
            break
    else:
        x = x * 100
    return x


@runs(ms.Tensor([[1.0, 2.0], [3.0, 4.0]], ms.float32))
def for_over_rows(x):
    s = 0
    for row in x:
        s = s + row.sum() * row
    return s


@runs(t(*range(100)))
def for_over_many_rows(x):
    s = 0
    k = 0
    for v in x:
        s = s + v * 2
        k += 1
    return s, k


@runs(n(0))
def many_turns(x):
    for k in range(1000):
        x = x + k * 0.5
    return x


@runs(n(1), n(-500))
def many_turns_with_a_break(x):
    for k in range(1000):
        if x > 100:
            break
        x = x + 2
    return x, k


@runs(n(0))
def many_turns_with_a_branch(x):
    y = x
    for k in range(300):
        if k % 3 == 0:
            x = x + 1
        else:
            y = y + k
    return x, y


@runs((t(1, 2, 3), (n(1), n(2))))
def enumerate_and_zip(x, ys):
    out = []
    for k, (a, b) in enumerate(zip([1, 2], ys)):
        out.append(x * a + b + k)
    return out


@runs(t(3, 1, 2))
def for_of_a_dict(x):
    d = {"a": 1, "b": 2}
    for _, v in d.items():
        x = x + v
    for k in d:
        if x.sum() > 8:
            x = x * d[k]
    return x


@runs(n(2))
def for_of_functions(x):
    for f in (lambda v: v + 1, lambda v: v * 5):
        if x > 0:
            x = f(x)
    return x


@runs(ms.Tensor([4.0, -1.0, 7.0, 2.0], ms.float32))
def maximum_by_hand(x):
    best = x[0]
    where = 0
    for k in range(1, 4):
        if x[k] > best:
            best = x[k]
            where = k
    return best, where


@runs(n(27))
def collatz(x):
    steps = 0
    while x != 1:
        if x % 2 == 0:
            x = x / 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps


@runs((i(48), i(18)), (i(7), i(5)))
def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@runs(n(2))
def newton(x):
    y = x
    while (y * y - x).abs() > 1e-4:
        y = 0.5 * (y + x / y)
    return y


@runs(t(1, 2, 3, 4))
def ops_in_branches(x):
    if ops.reduce_sum(x) > 5:
        y = ops.softmax(x)
    else:
        y = ops.relu(x)
    while y.max() > 0.1:
        y = y * 0.5
    return y


@runs((n(1), i(4)), (n(1), i(0)))
def traced_range(x, m):
    total = x
    for k in range(m):
        total = total + k
    for k in range(1, m, 2):
        if k > 2:
            break
        total = total * 2
    return total


def plain(value: Any) -> Any:
    """Turn a result into what JSON holds."""
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, ms.Tensor):
        return {"dtype": str(value.dtype), "value": value.asnumpy().tolist()}
    return value
