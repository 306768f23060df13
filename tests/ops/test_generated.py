"""Operators of ``ops.auto_generate`` are the functions they stand for, in both modes."""

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, nn, ops
from mindjax.ops import auto_generate as generated

X = np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::-1].copy()
ROWS = np.array([2, 0])


def sigmoid(x):
    return 1 / (1 + np.exp(-x.astype(np.float64)))


# Name -> what it is made with, its inputs, and the first result by numpy.
CASES = {
    "AddExt": ((), (X, X, 2), X * 3),
    "Arange": ((), (0, 5, 2, ms.int32), np.array([0, 2, 4], np.int32)),
    "BatchMatMulExt": ((), (X[None], X.T[None]), (X @ X.T)[None]),
    "Chunk": ((), (X, 2, 1), X[:, :2]),
    "ClampScalar": ((), (X, 2, 7), X.clip(2, 7)),
    "CumsumExt": ((), (X, 0, None), X.cumsum(0)),
    "FmodScalar": ((), (X, 4), np.fmod(X, 4)),
    "IndexSelect": ((), (X, 0, ROWS), X[ROWS]),
    "InplaceCopy": ((), (X, X + 1), X + 1),
    "MeanExt": ((), (X, (0,), False), X.mean(0)),
    "Muls": ((), (X, 3), X * 3),
    "OneHotExt": ((-1,), (ROWS, 3, np.array(1), np.array(0)), np.eye(3, dtype=np.int64)[ROWS]),
    "Outer": ((), (X[0], X[1]), np.outer(X[0], X[1])),
    "RepeatInterleaveInt": ((), (X, 2, 1), X.repeat(2, 1)),
    "RepeatInterleaveTensor": ((), (X, np.array([1, 2, 0]), 0, None), X.repeat([1, 2, 0], 0)),
    "SiLU": ((), (X,), (X * sigmoid(X)).astype(np.float32)),
    "SliceExt": ((), (X, 1, 1, 4, 2), X[:, 1:4:2]),
    "SortExt": ((), (X, 1, False, True), np.sort(X, 1)),
    "SplitWithSize": ((), (X, (1, 3), 1), X[:, :1]),
    "StackExt": ((1,), ((X, X),), np.stack((X, X), 1)),
    "SubExt": ((), (X, X, 3), X * -2),
    "SumExt": ((), (X, 1, True, None), X.sum(1, keepdims=True)),
    "SwigluGrad": (
        (),
        (X[:, :2], X, -1),
        np.concatenate(
            [
                X[:, :2] * X[:, 2:] * sigmoid(X[:, :2]) * (1 + X[:, :2] * (1 - sigmoid(X[:, :2]))),
                X[:, :2] * X[:, :2] * sigmoid(X[:, :2]),
            ],
            1,
        ).astype(np.float32),
    ),
    "TopkExt": ((), (X, 2, -1, True, True), X[:, :2]),
    "TrilExt": ((), (X, -1), np.tril(X, -1)),
    "ZerosLikeExt": ((), (X, ms.int32), np.zeros(X.shape, np.int32)),
}


class Called(nn.Cell):
    """Makes an operator as libraries do, and calls it with what is no array fixed."""

    def __init__(self, name, made_with, others):
        super().__init__()
        self.op = getattr(generated, name)(*made_with).add_prim_attr("skip_redistribution", True)
        self.others = others

    def construct(self, *arrays):
        arrays = list(arrays)
        inputs = [arrays.pop(0) if o is Ellipsis else o for o in self.others]
        return self.op(*inputs)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("name", CASES)
def test_generated(name, mode):
    made_with, inputs, expected = CASES[name]
    ms.set_context(mode=mode)
    arrays = [Tensor(x) for x in inputs if isinstance(x, np.ndarray)]
    others = [... if isinstance(x, np.ndarray) else x for x in inputs]
    if name == "StackExt":
        others = [(Tensor(X), Tensor(X))]
    out = Called(name, made_with, others)(*arrays)
    first = (out[0] if isinstance(out, tuple | list) else out).asnumpy()
    assert first.dtype == expected.dtype and first.shape == expected.shape
    np.testing.assert_allclose(first, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["AdamW", "DropoutExt", "Scatter"])
def test_refused_with_a_way_out(name):
    with pytest.raises(NotImplementedError, match=f"For '{name}', .* use "):
        getattr(generated, name)()(Tensor(X))


def test_made_with_too_much():
    with pytest.raises(TypeError, match="For 'Outer'"):
        generated.Outer(3)


def test_a_format_is_none():
    x = Tensor(X)
    assert generated.format_cast(x, 29) is x


def test_equal_tells_of_all_elements():
    x = Tensor(X)
    assert bool(ms.mint.equal(x, x)) and not bool(ms.mint.equal(x, x + 1))
    assert not bool(ms.mint.equal(x, x[:2]))


def test_steps_of_accumulation():
    total = ms.Parameter(Tensor([1.0, 2.0]), name="total")
    from mindjax.boost.grad_accumulation import gradient_accumulation_op, gradient_clear_op

    ops.HyperMap()(ops.partial(gradient_accumulation_op, 4), (total,), (Tensor([4.0, 8.0]),))
    assert total.asnumpy().tolist() == [2.0, 4.0]
    ops.HyperMap()(ops.partial(gradient_clear_op), (total,))
    assert total.asnumpy().tolist() == [0.0, 0.0]


def test_what_an_optimizer_is_made_with():
    from mindjax.nn.optim.optimizer import opt_init_args_register

    class Own(nn.Optimizer):
        @opt_init_args_register
        def __init__(self, params, learning_rate=0.1, momentum=3):
            super().__init__(learning_rate, params)

    weight = ms.Parameter(Tensor([1.0]), name="w")
    own = Own([weight], Tensor(0.5), momentum=5)
    assert own.init_params == {"params": [weight]}
    assert (own.init_learning_rate, own.init_args) == (0.5, {"momentum": 5})
