"""Common mistakes: the original's class and key phrase, on one line, with the user's file and line.

Classes and phrases were recorded from MindSpore 2.10.0.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, mint, ops


def x23() -> Tensor:
    """Make ones of shape (2, 3)."""
    return Tensor(np.ones((2, 3), np.float32))


def x34() -> Tensor:
    """Make ones of shape (3, 4)."""
    return Tensor(np.ones((3, 4), np.float32))


def v(*values: float) -> Tensor:
    """Make a Float32 vector."""
    return Tensor(np.array(values, np.float32))


def p(*values: float) -> Parameter:
    """Make a Parameter."""
    return Parameter(v(*values), name="w")


Mistake = tuple[str, Callable[[], Any], type[Exception], str]
MISTAKES: list[Mistake] = [
    ("matmul_shape", lambda: ops.matmul(x23(), x23()), RuntimeError, "3 and 2"),
    ("matmul_op_shape", lambda: x23() @ x23(), RuntimeError, "3 and 2"),
    ("mint_matmul_shape", lambda: mint.matmul(x23(), x23()), RuntimeError, "3 and 2"),
    ("matmul_dtypes", lambda: ops.matmul(x23(), x34().astype(ms.float16)), TypeError, "Float16"),
    ("matmul_scalar", lambda: ops.matmul(Tensor(1.0), x23()), ValueError, "rank"),
    ("add_broadcast", lambda: x23() + x34(), ValueError, "need to broadcast"),
    ("ops_add_broadcast", lambda: ops.add(x23(), x34()), ValueError, "For 'Add'"),
    ("mint_add_broadcast", lambda: mint.add(x23(), x34()), ValueError, "need to broadcast"),
    ("add_str", lambda: x23() + "a", TypeError, "Add"),
    ("add_none", lambda: x23() + None, TypeError, "(?i)add"),
    ("add_dict", lambda: x23() + {}, TypeError, "Add"),
    ("reshape_bad", lambda: x23().reshape(4, 2), ValueError, "invalid for input of size 6"),
    ("reshape_two_negative", lambda: x23().reshape(-1, -1), ValueError, "only one dimension"),
    ("view_bad", lambda: x23().view(5), ValueError, "invalid for input of size 6"),
    ("transpose_perm", lambda: ops.transpose(x23(), (0, 0)), ValueError, "unique"),
    ("transpose_axis", lambda: mint.transpose(x23(), 0, 5), ValueError, "range"),
    ("permute_length", lambda: mint.permute(x23(), (0,)), ValueError, "1 and 2"),
    ("expand_dims_axis", lambda: ops.expand_dims(x23(), 7), ValueError, "7"),
    ("concat_shape", lambda: ops.concat((x23(), x34())), ValueError, "Concat"),
    ("concat_empty", lambda: ops.concat(()), ValueError, "greater than 0"),
    ("concat_numbers", lambda: ops.concat((1, 2)), TypeError, "Concat"),
    ("stack_shape", lambda: ops.stack((x23(), x34())), ValueError, "same"),
    ("split_axis", lambda: ops.split(x23(), 5, axis=3), ValueError, "axis 3"),
    ("sum_axis", lambda: x23().sum(5), ValueError, r"\[-2,2\), but got 5"),
    ("mean_axis_type", lambda: x23().mean("a"), TypeError, "(?i)mean"),
    ("softmax_axis", lambda: ops.softmax(x23(), 5), ValueError, r"\[-2,2\), but got 5"),
    ("argmax_axis", lambda: x23().argmax(4), ValueError, r"\[-2,2\), but got 4"),
    ("index", lambda: x23()[5], IndexError, "index 5 is out of bounds for dimension with size 2"),
    ("index_negative", lambda: x23()[-9], IndexError, "index -9 is out of bounds"),
    ("index_too_many", lambda: x23()[0, 0, 0], IndexError, "too many indices"),
    ("index_str", lambda: x23()["a"], IndexError, "<class 'str'>"),
    ("index_float", lambda: x23()[1.5], IndexError, "but got 1.5"),
    ("index_tensor", lambda: x23()[Tensor([7])], RuntimeError, "but got 7"),
    ("index_mask", lambda: x23()[Tensor([True, False, True])], ValueError, "does not match"),
    ("index_step", lambda: x23()[::0], ValueError, "cannot contain 0"),
    ("setitem_index", lambda: x23().__setitem__(5, 1), IndexError, "out of bounds"),
    ("setitem_shape", lambda: x23().__setitem__(0, v(1, 2)), ValueError, "broadcast"),
    ("setitem_str", lambda: x23().__setitem__(0, "a"), IndexError, "<class 'str'>"),
    ("gather_index", lambda: ops.gather(x23(), Tensor([9]), 0), RuntimeError, "but got 9"),
    ("gather_float", lambda: ops.gather(x23(), v(0), 0), TypeError, "Float32"),
    ("onehot_float", lambda: ops.one_hot(v(1), 3), TypeError, "Float32"),
    ("item", lambda: x23().item(), ValueError, "one element"),
    ("bool", lambda: bool(x23()), ValueError, "one element"),
    ("int", lambda: int(x23()), ValueError, "element"),
    ("tensor_str", lambda: Tensor("abc", ms.float32), TypeError, "input_data"),
    ("tensor_none", lambda: Tensor(None), TypeError, "input_data"),
    ("tensor_object", lambda: Tensor(object()), TypeError, "input_data"),
    ("tensor_ragged", lambda: Tensor([[1, 2], [3]]), TypeError, "unsupported element"),
    ("tensor_dtype", lambda: Tensor([1], dtype="floaty"), TypeError, "floaty|dtype"),
    ("astype", lambda: x23().astype("nope"), TypeError, "nope"),
    ("cast", lambda: ops.cast(x23(), 5), TypeError, "but got 5"),
    ("attribute", lambda: x23().does_not_exist, AttributeError, "does_not_exist"),
    ("ops_missing", lambda: ops.does_not_exist, AttributeError, "does_not_exist"),
    ("mint_missing", lambda: mint.does_not_exist, AttributeError, "does_not_exist"),
    ("prim_missing", lambda: ops.Add()(x23()), TypeError, "Add"),
    ("prim_extra", lambda: ops.ReLU()(x23(), x23()), TypeError, "ReLU"),
    ("prim_type", lambda: ops.ReLU()("a"), TypeError, "ReLU"),
    ("relu_str", lambda: ops.relu("a"), TypeError, "ReLU"),
    ("pow_str", lambda: ops.pow(x23(), "a"), TypeError, "Pow"),
    ("arange_step", lambda: ops.arange(0, 5, 0), ValueError, "zero"),
    ("linspace_num", lambda: ops.linspace(0, 1, -2), ValueError, "greater than 0, but got -2"),
    ("topk", lambda: ops.topk(x23(), 9), ValueError, "but got 9"),
    ("mint_topk", lambda: mint.topk(x23(), 9), ValueError, "but got 9"),
    ("clip_none", lambda: ops.clip(x23()), ValueError, "at least one of"),
    ("where_shape", lambda: ops.where(x23() > 0, x34(), x23()), ValueError, "broadcast"),
    ("set_data_str", lambda: p(1).set_data("a"), TypeError, "<class 'str'>"),
    ("assign_shape", lambda: ops.assign(p(1), v(1, 2)), ValueError, "same shape"),
    ("parameter_str", lambda: Parameter("a", name="w"), TypeError, "input_data"),
    ("parameter_name", lambda: Parameter(v(1), name=5), ValueError, "int"),
    ("grad_position", lambda: ms.grad(lambda x: x, 3)(v(1)), RuntimeError, "osition.* 3"),
    ("grad_weights", lambda: ms.grad(lambda x: x, 0, "w")(v(1)), TypeError, "but got w"),
    ("grad_none", lambda: ms.grad(lambda x: x, None, None)(v(1)), ValueError, "the same time"),
    ("mode", lambda: ms.set_context(mode=9), ValueError, "but got 9"),
    ("target", lambda: ms.set_context(device_target="TPU!"), ValueError, "but got .?TPU!"),
    ("context_key", lambda: ms.set_context(foo=1), ValueError, "foo"),
    ("seed", lambda: ms.set_seed(-1), ValueError, "-1"),
    ("seed_str", lambda: ms.set_seed("a"), TypeError, "must be type of int"),
    ("conv_channels", lambda: ops.conv2d(x4(2), x4(3)), RuntimeError, "For 'Conv2D'"),
    ("conv_rank", lambda: ops.conv2d(x23(), x4(3)), ValueError, "Conv2D"),
    ("u16", lambda: Tensor([1], ms.uint16) + Tensor([1]), TypeError, "UInt16"),
]
# Python's own machinery raises these: no place to add the line.
UNPLACED = {"attribute", "ops_missing", "mint_missing", "prim_missing", "prim_extra"}


def x4(channels: int) -> Tensor:
    """Make ones with four dimensions."""
    return Tensor(np.ones((2, channels, 3, 3), np.float32))


@pytest.mark.parametrize(("name", "run", "error", "phrase"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_mistake(name: str, run: Callable[[], Any], error: type[Exception], phrase: str) -> None:
    with pytest.raises(error, match=phrase) as caught:
        run()
    text = str(caught.value)
    assert "\n" not in text
    if name not in UNPLACED:
        assert re.search(rf"\[{re.escape(__file__)}:\d+\]$", text), text


ACCEPTED: list[tuple[str, Callable[[], Any]]] = [
    ("add_list", lambda: operator.add(x23(), [1, 2, 3])),
    ("view_of_transposed", lambda: x23().T.view(6)),
    ("squeeze_long_axis", lambda: ops.squeeze(x23(), 0)),
    ("parameter_of_int", lambda: Parameter(1, name="w")),
    ("set_data_shape", lambda: p(1).set_data(v(1, 2))),
    ("assign_tensor", lambda: ops.assign(v(1), v(2))),
    ("sqrt_int", lambda: ops.sqrt(Tensor([4]))),
    ("relu_bool", lambda: ops.relu(Tensor([True]))),
]


@pytest.mark.parametrize(("name", "run"), ACCEPTED, ids=[a[0] for a in ACCEPTED])
def test_accepted_as_by_the_original(name: str, run: Callable[[], Any]) -> None:
    assert isinstance(run(), Tensor)


def test_the_line_is_the_users() -> None:
    with pytest.raises(ValueError) as caught:
        x23() + x34()
    line = int(re.findall(r":(\d+)\]$", str(caught.value))[0])
    with open(__file__) as source:
        assert source.readlines()[line - 1].strip() == "x23() + x34()"


def test_the_line_is_the_users_in_graph() -> None:
    @ms.jit
    def f(x: Tensor, y: Tensor) -> Tensor:
        z = x * 2
        return z + y

    with pytest.raises(ValueError, match="broadcast") as caught:
        f(x23(), x34())
    line = int(re.findall(r"test_errors.py:(\d+)\]$", str(caught.value))[0])
    with open(__file__) as source:
        assert source.readlines()[line - 1].strip() == "return z + y"
