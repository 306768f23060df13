"""Names of graph code that take functions, Parameters or no Tensor at all."""

from __future__ import annotations

import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, ops


def test_numbers_of_compiled_functions() -> None:
    @ms.jit
    def f(x: Tensor) -> tuple[Tensor, ...]:
        n = x.sum()
        return (
            ops.scalar_add(n, 1),
            ops.scalar_max(n, 2),
            ops.scalar_log(n),
            ops.bool_not(n > 1),
            ops.array_to_scalar(n),
            ops.scalar_cast(n, ms.int32),
            ops.switch(n > 2, n, -n),
        )

    got = [v.asnumpy().item() for v in f(Tensor([1.0, 2.0]))]
    assert got == [4, 3, pytest.approx(np.log(3)), False, 3, 3, 3]


def test_numbers_and_arrays() -> None:
    assert ops.array_to_scalar(Tensor(3)) == 3 and type(ops.array_to_scalar(Tensor([2.5]))) is float
    for make in (ops.scalar_to_array, ops.ScalarToArray()):
        made = [make(v) for v in (3, 2.5, True)]
        assert [x.dtype for x in made] == [ms.int64, ms.float32, ms.bool_]
        assert [x.shape for x in made] == [()] * 3
    with pytest.raises(ValueError, match="one element"):
        ops.array_to_scalar(Tensor([1, 2]))
    with pytest.raises(TypeError):
        ops.scalar_to_array("a")
    assert ops.bool_and(True, False) is False and ops.bool_or(True, False) is True
    assert ops.bool_not(True) is False and ops.bool_eq(True, True) is True
    assert ops.scalar_ne(1, 2) and ops.string_eq("a", "a") and ops.string_concat("a", "b") == "ab"
    assert ops.make_dict(("a", "b"), (1, 2)) == {"a": 1, "b": 2}
    assert ops.dict_setitem({"a": 1}, "b", 2) == {"a": 1, "b": 2}


def test_choices() -> None:
    assert ops.switch(Tensor(False), "a", "b") == "b"
    assert ops.switch_layer(Tensor(1), (ops.exp, ops.log)) is ops.log
    with pytest.raises(IndexError):
        ops.switch_layer(2, (ops.exp, ops.log))
    x = Tensor([1.0])
    no, yes = ops.GeSwitch()(x, Tensor(True))
    assert no is None and yes is x
    value, place = ops.Merge()((no, yes))
    assert value is x and place == 1
    assert ops.merge(ops.geswitch(x, False)) == (x, 0)
    with pytest.raises(ValueError, match="one and only one"):
        ops.Merge()((x, x))
    # A graph does not know the condition: it is left.
    assert ms.jit(lambda c: ops.switch(c.sum() > 0, 1, 2))(x) == 1


def test_environments() -> None:
    p, q = Parameter(Tensor([1.0]), name="p"), Parameter(Tensor([2.0]), name="q")
    empty = ops.environ_create()
    env = ops.environ_set(empty, ops.ref_to_embed(p), Tensor([3.0]))
    assert not empty
    total = ops.environ_add(env, env)
    assert ops.env_get(total, p).asnumpy().tolist() == [6]
    assert ops.env_get(total, q).asnumpy().tolist() == [0]
    assert ops.environ_get(env, ops.embed(q), None) is None


def test_pullback() -> None:
    value, pull = ops.J(lambda x, y: x * y)(Tensor([2.0]), Tensor([3.0]))
    assert value.asnumpy().tolist() == [6]
    assert [g.asnumpy().tolist() for g in pull(Tensor([1.0]))] == [[3], [2]]
    assert ops.J(3) == 3


def test_iteration() -> None:
    assert ops.iter_converter({"a": 1, "b": 2}) == ("a", "b")
    rest, seen = ops.iter_converter(range(3)), []
    while ops.ms_hasnext(rest):
        first, rest = ops.ms_next(rest)
        seen.append(first)
    assert seen == [0, 1, 2]
    assert ops.zip_operation((1, 2, 3), "ab") == ((1, "a"), (2, "b"))
    with pytest.raises(TypeError):
        ops.iter_converter(3)
    rows = ops.hyper_add(
        ops.make_row_tensor(Tensor([0]), Tensor([[1.0]]), (2, 1)), Tensor([[1.0], [2.0]])
    )
    assert rows.asnumpy().tolist() == [[2], [2]]


def test_stop_gradient_in_place() -> None:
    def f(x: Tensor) -> Tensor:
        y = x * x
        ops.stop_gradient_(y)
        return (y * x).sum()

    assert ms.grad(f)(Tensor([3.0])).asnumpy().tolist() == [9]


def test_known_and_traced() -> None:
    known = []

    @ms.jit
    def f(x: Tensor) -> Tensor:
        known.append((ops.isconstant(x), ops.is_sequence_value_unknown((1, x))))
        return x

    f(Tensor([1.0]))
    assert known == [(False, True)]
    assert not ops.is_dynamic_sequence_element_unknown((1,))


@pytest.mark.parametrize(
    ("call", "way_out"),
    [
        (lambda: ops.GetNext([ms.float32], [(1,)], 1, "queue")(), "create_tuple_iterator"),
        (lambda: ops.distribute(1), "leave the call out"),
        (lambda: ops.make_map_parameter(), r"nn\.Embedding"),
        (lambda: ops.Push()((), ()), "optimizers"),
        (lambda: ops.Pull()(Tensor(1), Tensor(1)), "optimizers"),
    ],
)
def test_what_is_refused_names_a_way_out(call: object, way_out: str) -> None:
    with pytest.raises(NotImplementedError, match=way_out):
        call()  # type: ignore[operator]
    with pytest.raises(ValueError, match="output_num"):
        ops.GetNext([ms.float32], [(1,)], 2, "queue")
