"""Views, aliasing, in-place writes, 0-d tensors, printing: PYNATIVE as the original's, or its docs.

Expected values were recorded from MindSpore 2.10.0; where its CPU wheel leaves an in-place method
without effect, its documentation (and Ascend) decide.
"""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, mint, nn, ops

A = np.arange(6, dtype=np.float32).reshape(2, 3)

VIEWS: dict[str, Callable[[Any], Any]] = {
    "x[0]": lambda x: x[0],
    "x[0:1]": lambda x: x[0:1],
    "x[:,1]": lambda x: x[:, 1],
    "x[::2]": lambda x: x[::2],
    "x[None]": lambda x: x[None],
    "view": lambda x: x.view(3, 2),
    "reshape": lambda x: x.reshape(3, 2),
    "ops.reshape": lambda x: ops.reshape(x, (3, 2)),
    "mint.reshape": lambda x: mint.reshape(x, (3, 2)),
    "T": lambda x: x.T,
    "transpose": lambda x: x.transpose(1, 0),
    "ops.transpose": lambda x: ops.transpose(x, (1, 0)),
    "mint.transpose": lambda x: mint.transpose(x, 0, 1),
    "mint.permute": lambda x: mint.permute(x, (1, 0)),
    "mint.t": lambda x: mint.t(x),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "movedim": lambda x: x.movedim(0, 1),
    "squeeze": lambda x: x.squeeze(),
    "ops.squeeze": ops.squeeze,
    "unsqueeze": lambda x: x.unsqueeze(0),
    "expand_dims": lambda x: x.expand_dims(0),
    "ops.expand_dims": lambda x: ops.expand_dims(x, 0),
    "mint.unsqueeze": lambda x: mint.unsqueeze(x, 0),
    "flatten": lambda x: x.flatten(),
    "mint.flatten": mint.flatten,
    "ravel": lambda x: x.ravel(),
    "split": lambda x: x.split(1)[0],
    "ops.split": lambda x: ops.split(x, 1)[0],
    "mint.split": lambda x: mint.split(x, 1)[0],
    "chunk": lambda x: x.chunk(2)[0],
    "mint.chunk": lambda x: mint.chunk(x, 2)[0],
    "unbind": lambda x: x.unbind(0)[0],
    "ops.unstack": lambda x: ops.unstack(x)[0],
    "narrow": lambda x: x.narrow(0, 0, 1),
    "mint.narrow": lambda x: mint.narrow(x, 0, 0, 1),
    "mint.select": lambda x: mint.select(x, 0, 0),
    "diagonal": lambda x: x.diagonal(),
    "broadcast_to": lambda x: x.broadcast_to((2, 3)),
    "expand_as": lambda x: x.expand_as(x),
    "view_as": lambda x: x.view_as(x),
    "ops.strided_slice": lambda x: ops.strided_slice(x, (0, 0), (1, 2), (1, 1)),
    "Tensor(x)": Tensor,
    "stop_gradient": ops.stop_gradient,
}
SAME: dict[str, Callable[[Any], Any]] = {
    "x[...]": lambda x: x[...],
    "contiguous": lambda x: x.contiguous(),
    "value": lambda x: x.value(),
    "type_as": lambda x: x.type_as(x),
    "nn.Identity": lambda x: nn.Identity()(x),
    "astype": lambda x: x.astype(ms.float32),
    "to": lambda x: x.to(ms.float32),
    "float": lambda x: x.float(),
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": lambda x: x.copy(),
    "x+0": lambda x: x + 0,
    "real": ops.real,
    "tile": lambda x: x.tile((1, 1)),
    "nn.Flatten": lambda x: nn.Flatten()(x),
}
# Advanced indexing copies, but what is written into the result is written back.
BACK: dict[str, Callable[[Any], Any]] = {
    "x[[0]]": lambda x: x[[0]],
    "x[Tensor]": lambda x: x[Tensor([0])],
    "x[mask]": lambda x: x[x > -1],
}


@pytest.fixture(autouse=True)
def _pynative() -> None:
    ms.set_context(mode=ms.PYNATIVE_MODE)


def base() -> Tensor:
    """Make the tensor that the views are of."""
    return Tensor(A.copy()) + 0


def seen(make: Callable[[Any], Any], write: Callable[[Any], Any]) -> tuple[bool, bool]:
    """Tell whether a write into the derived tensor is seen in the base, and the reverse."""
    x = base()
    y = make(x)
    before = x.asnumpy().copy()
    write(y)
    forward = bool((x.asnumpy() != before).any())
    x = base()
    y = make(x)
    before = y.asnumpy().copy()
    write(x)
    return forward, bool((y.asnumpy() != before).any())


def set_first(tensor: Tensor) -> None:
    """Write into the first row or element."""
    tensor[0] = 100.0


def add_in_place(tensor: Tensor) -> None:
    """Add to every element in place."""
    tensor.add_(100.0)


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_aliases_both_ways(name: str) -> None:
    assert seen(VIEWS[name], set_first) == (True, True)


@pytest.mark.parametrize("name", ["x[0]", "x[:,1]", "view", "T", "split", "squeeze", "diagonal"])
def test_in_place_methods_go_through_views(name: str) -> None:
    assert seen(VIEWS[name], add_in_place) == (True, True)


@pytest.mark.parametrize("name", SAME)
def test_the_same_storage(name: str) -> None:
    assert seen(SAME[name], set_first) == (True, True)


@pytest.mark.parametrize("name", ["x[...]", "contiguous", "value", "type_as", "nn.Identity"])
def test_the_same_object(name: str) -> None:
    x = base()
    assert SAME[name](x) is x


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_apart(name: str) -> None:
    assert seen(COPIES[name], set_first) == (False, False)


@pytest.mark.parametrize("name", BACK)
def test_advanced_indexing_writes_back(name: str) -> None:
    assert seen(BACK[name], set_first) == (True, False)


def test_values_written_through_views() -> None:
    x = base()
    x.T[1] = Tensor([7.0, 8.0])
    assert x.asnumpy().tolist() == [[0, 7, 2], [3, 8, 5]]
    x[:, ::2][1][0] = -1.0
    assert x.asnumpy().tolist() == [[0, 7, 2], [-1, 8, 5]]
    x.reshape(3, 2)[2, 1] = 9.0
    assert x.asnumpy().tolist() == [[0, 7, 2], [-1, 8, 9]]
    x.view(6)[::5] = 4.0
    assert x.asnumpy().tolist() == [[4, 7, 2], [-1, 8, 4]]


def test_two_views_of_one_base_see_each_other() -> None:
    x = base()
    first, second = x[0], x.view(6)
    first[1] = 50.0
    assert second.asnumpy()[1] == 50.0
    second[2] = 60.0
    assert first.asnumpy().tolist() == [0.0, 50.0, 60.0]


IN_PLACE: list[tuple[str, tuple[Any, ...], list[float]]] = [
    ("add_", (5,), [6.0, 7.0]),
    ("sub_", (1,), [0.0, 1.0]),
    ("mul_", (5,), [5.0, 10.0]),
    ("div_", (2,), [0.5, 1.0]),
    ("copy_", ([9.0, 8.0],), [9.0, 8.0]),
    ("zero_", (), [0.0, 0.0]),
    ("fill_", (3.0,), [3.0, 3.0]),
    ("clamp_", (1.5, 1.8), [1.5, 1.8]),
    ("exp_", (), [2.7182817, 7.389056]),
    ("log_", (), [0.0, 0.6931472]),
    ("sigmoid_", (), [0.7310586, 0.880797]),
    ("floor_", (), [1.0, 2.0]),
    ("masked_fill_", ([True, False], 8.0), [8.0, 2.0]),
    ("remainder_", (2,), [1.0, 0.0]),
    ("floor_divide_", (2,), [0.0, 1.0]),
]


@pytest.mark.parametrize(("name", "args", "want"), IN_PLACE, ids=[n for n, _, _ in IN_PLACE])
def test_in_place_methods_write_and_return_the_tensor(
    name: str, args: tuple[Any, ...], want: list[float]
) -> None:
    if not hasattr(Tensor, name):
        pytest.skip(f"Tensor.{name} is of a later issue")
    x = Tensor([1.0, 2.0])
    out = getattr(x, name)(*(Tensor(a) if isinstance(a, list) else a for a in args))
    assert out is x
    assert x.asnumpy().tolist() == pytest.approx(want, rel=1e-5)


def test_setitem_keeps_the_object() -> None:
    x = Tensor(A.copy())
    y = x
    x[0] = 9
    assert y is x
    assert x.asnumpy().tolist() == [[9, 9, 9], [3, 4, 5]]


def test_augmented_assignment_makes_a_new_tensor() -> None:
    x = Tensor([1.0, 2.0])
    y = x
    y += 1
    assert (x.asnumpy().tolist(), y.asnumpy().tolist()) == ([1.0, 2.0], [2.0, 3.0])
    x = base()
    y = x[0]
    y += 10
    assert x.asnumpy().tolist() == A.tolist()
    x[0] += 10
    assert x.asnumpy().tolist() == [[10, 11, 12], [3, 4, 5]]


@pytest.mark.parametrize(
    ("change", "values", "dtype"),
    [
        (lambda x: operator.iadd(x, 1.5), [2.5, 3.5], "Float32"),
        (lambda x: operator.imul(x, 2.0), [2.0, 4.0], "Float32"),
        (lambda x: operator.iadd(x, 1), [2, 3], "Int32"),
    ],
)
def test_augmented_assignment_promotes(change: Any, values: Any, dtype: str) -> None:
    out = change(Tensor([1, 2], ms.int32))
    assert (out.asnumpy().tolist(), str(out.dtype)) == (values, dtype)


def test_asnumpy_is_a_writable_copy() -> None:
    x = Tensor([1.0, 2.0])
    array = x.asnumpy()
    array[0] = 50.0
    assert array.flags.writeable
    assert x.asnumpy().tolist() == [1.0, 2.0]
    x[1] = 44.0
    assert array.tolist() == [50.0, 2.0]


@pytest.mark.parametrize("make", [Tensor, Tensor.from_numpy])
def test_a_tensor_used_does_not_follow_its_array(make: Any) -> None:
    array = np.array([1.0, 2.0], np.float32)
    x = make(array)
    used = x + 0
    array[0] = 9.0
    assert used.asnumpy().tolist() == [1.0, 2.0]
    assert x.asnumpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("make", [Tensor, lambda a: ms.tensor(a)], ids=["Tensor", "tensor"])
def test_a_tensor_copies_its_array_at_once(make: Any) -> None:
    array = np.array([1.0, 2.0], np.float32)
    x = make(array)
    array[0] = 9.0
    assert x.asnumpy().tolist() == [1.0, 2.0]


def test_set_data_keeps_identity_and_dtype() -> None:
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    q = p
    p.set_data(Tensor([5, 6], ms.int32))
    assert q is p
    assert (q.asnumpy().tolist(), str(q.dtype)) == ([5.0, 6.0], "Float32")


def test_assign_value_and_parameter_copies() -> None:
    p, v = Parameter(Tensor([1.0, 2.0]), name="p"), Tensor([5.0, 6.0])
    ops.assign(p, v)
    v.add_(100)
    assert p.asnumpy().tolist() == [5.0, 6.0]
    t = Tensor([1.0, 2.0])
    q = Parameter(t, name="q")
    t.add_(10)
    assert q.asnumpy().tolist() == [1.0, 2.0]
    t.assign_value(Tensor([3.0, 4.0]))
    assert t.asnumpy().tolist() == [3.0, 4.0]


def test_parameter_setitem_and_arithmetic() -> None:
    p = Parameter(Tensor(A.copy()), name="p")
    p[0] = 7
    assert type(p) is Parameter
    assert p.asnumpy().tolist() == [[7, 7, 7], [3, 4, 5]]
    kinds = [type(x).__name__ for x in (p + 1, p * 1, p[0], p.value(), -p)]
    assert kinds == ["Tensor"] * 5
    assert isinstance(p, Tensor)


def test_attributes_that_exist() -> None:
    absent = ["__torch_function__", "grad_fn", "is_leaf", "cuda", "npu", "retain_grad"]
    present = ["register_hook", "data", "data_ptr", "numpy", "tolist", "__array__", "device"]
    assert [n for n in absent if hasattr(Tensor, n)] == []
    assert [n for n in present if not hasattr(Tensor, n)] == []
    assert Parameter(Tensor([1.0]), name="p").requires_grad is True


def test_zero_dimensions() -> None:
    x = Tensor(3.0)
    assert (x.shape, x.ndim, float(x), int(x), bool(x), x.item(), x.size) == (
        (),
        0,
        3,
        3,
        True,
        3,
        1,
    )
    for run, text in (
        (lambda: x[0], "scalar tensor"),
        (lambda: len(x), "0-D tensor"),
        (lambda: list(x), "0-[dD] tensor"),
    ):
        with pytest.raises(TypeError, match=text):
            run()


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (lambda: bool(Tensor([1.0, 2.0])), "only one element"),
        (lambda: float(Tensor([1.0, 2.0])), "element"),
        (lambda: int(Tensor([1.0, 2.0])), "element"),
    ],
)
def test_numbers_of_several_elements(run: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        run()


def test_a_tensor_as_an_index() -> None:
    assert [10, 20, 30][Tensor(1)] == 20


def test_hash_is_identity_and_equality_elementwise() -> None:
    a, b = Tensor([1.0]), Tensor([1.0])
    assert hash(a) == hash(a)
    assert {a: 1}[a] == 1
    assert len({a: 1, b: 2}) == 2
    assert (a == b).asnumpy().tolist() == [True]
    assert a in [a]


@pytest.mark.parametrize(
    ("make", "want"),
    [
        (
            lambda: repr(Tensor([1.5, 2])),
            "Tensor(shape=[2], dtype=Float32, value= [ 1.50000000e+00,  2.00000000e+00])",
        ),
        (lambda: str(Tensor([1.5, 2])), "[1.5 2. ]"),
        (lambda: repr(Tensor(True)), "Tensor(shape=[], dtype=Bool, value= True)"),
        (lambda: repr(Tensor(0.0)), "Tensor(shape=[], dtype=Float32, value= 0)"),
        (lambda: repr(Tensor(-1e-7, ms.float64)), "Tensor(shape=[], dtype=Float64, value= -1e-07)"),
        (
            lambda: repr(Tensor(123456789.0)),
            "Tensor(shape=[], dtype=Float32, value= 1.23457e+08)",
        ),
        (lambda: repr(Tensor(1.5, ms.bfloat16)), "Tensor(shape=[], dtype=BFloat16, value= 1.5)"),
        (
            lambda: repr(Parameter(Tensor([1.0]), name="w")),
            "Parameter (name=w, shape=(1,), dtype=Float32, requires_grad=True)",
        ),
        (lambda: str(Tensor(np.zeros((0, 2), np.float32))), "[]"),
        (lambda: repr(ms.float32), "mindspore.float32"),
        (lambda: repr(Tensor([1, 2])), "Tensor(shape=[2], dtype=Int64, value= [1, 2])"),
        (
            lambda: repr(Tensor([[1, 2], [3, 4]], ms.int32)),
            "Tensor(shape=[2, 2], dtype=Int32, value=\n[[1, 2],\n [3, 4]])",
        ),
        (lambda: f"{Tensor(2.5)}", "2.5"),
    ],
)
def test_printing(make: Any, want: str) -> None:
    assert make() == want


@pytest.mark.parametrize(
    "copied",
    [lambda t: pickle.loads(pickle.dumps(t)), copy.deepcopy, copy.copy],
    ids=["pickle", "deepcopy", "copy"],
)
def test_copies_of_a_tensor(copied: Any) -> None:
    t = Tensor([1.0, 2.0], ms.float16)
    other = copied(t)
    assert other is not t
    assert (other.asnumpy().tolist(), other.dtype) == ([1.0, 2.0], ms.float16)


def test_numpy_reads_a_tensor() -> None:
    t = Tensor([1.0, 2.0])
    assert np.asarray(t).tolist() == [1.0, 2.0]
    assert np.sin(t).tolist() == pytest.approx(np.sin([1.0, 2.0]), rel=1e-6)
    assert [v.asnumpy().tolist() for v in Tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]


def test_empty_tensors() -> None:
    e = Tensor(np.zeros((0, 3), np.float32))
    assert (e + 1).shape == (0, 3)
    assert e.sum(0).asnumpy().tolist() == [0, 0, 0]
    assert ops.matmul(e, Tensor(np.ones((3, 2), np.float32))).shape == (0, 2)
    assert Tensor([1, 2, 3])[5:9].shape == (0,)
    assert Tensor([1, 2, 3])[::-1].asnumpy().tolist() == [3, 2, 1]


def test_graph_does_not_alias() -> None:
    def f(x: Any) -> Any:
        y = x[0]
        y[0] = 100.0
        return x, y

    x = base()
    whole, row = ms.jit(f)(x)
    assert whole.asnumpy().tolist() == A.tolist()
    assert row.asnumpy().tolist() == [100.0, 1.0, 2.0]
    assert x.asnumpy().tolist() == A.tolist()


@pytest.mark.parametrize(
    ("made", "digits"),
    [
        (lambda: Tensor(1 / 3, ms.float64), 1 / 3),
        (lambda: Tensor([1 / 3], ms.float64), 1 / 3),
        (lambda: Tensor([Tensor(1.0), 1 / 3], ms.float64)[1], 1 / 3),
        (lambda: Tensor([1e300], ms.float64), 1e300),
        (lambda: Tensor(1 / 3, ms.complex128), 1 / 3),
        (lambda: Tensor(16777217.0, ms.int32), 16777217),
        (lambda: ms.ops.full((1,), 1 / 3, dtype=ms.float64), 1 / 3),
        (lambda: ms.ops.full_like(Tensor([1.0], ms.float64), 1 / 3), 1 / 3),
        (lambda: ms.ops.fill(ms.float64, (1,), 1 / 3), 1 / 3),
        (lambda: ms.ops.pad(Tensor([[1.0]], ms.float64), (1, 0), value=1 / 3)[0, 0], 1 / 3),
        (lambda: ms.numpy.array([1 / 3], ms.float64), 1 / 3),
        (lambda: ms.numpy.array([2**40 + 1], ms.int64), 2**40 + 1),
        (lambda: ms.numpy.full((1,), 1 / 3, ms.float64), 1 / 3),
    ],
)
def test_numbers_keep_their_digits(made: Any, digits: float) -> None:
    """MindSpore 2.10.0 gives the same."""
    assert made().asnumpy().reshape(()).item() == digits
