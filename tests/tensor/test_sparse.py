"""Sparse tensors against scipy's, in both modes, with gradients."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.special

import mindjax as ms
from mindjax import COOTensor, CSRTensor, RowTensor, SparseTensor, Tensor, nn, ops
from mindjax.core.errors import is_located

DENSE = np.array([[0, 2, 0, -1], [0, 0, 0, 0], [3, 0, 0.5, 4]], np.float32)
OTHER = np.array([[1, -2, 0, 0], [0, 5, 0, 0], [0, 0, 0, 6]], np.float32)
MODES = (ms.PYNATIVE_MODE, ms.GRAPH_MODE)


def coo(array: np.ndarray = DENSE, kind: Any = np.int32) -> COOTensor:
    m = sp.coo_array(array)
    indices = np.stack([m.row, m.col], 1).astype(kind)
    return COOTensor(Tensor(indices), Tensor(m.data), array.shape)


def csr(array: np.ndarray = DENSE) -> CSRTensor:
    m = sp.csr_array(array)
    parts = (Tensor(m.indptr.astype(np.int32)), Tensor(m.indices.astype(np.int32)), Tensor(m.data))
    return CSRTensor(*parts, array.shape)


def whole(x: Any) -> np.ndarray:
    return x.to_dense().asnumpy()


def run(function: Any, mode: int, *args: Any) -> Any:
    """Run a function as it is, or compiled."""
    return (ms.jit(function) if mode == ms.GRAPH_MODE else function)(*args)


@pytest.mark.parametrize("mode", MODES)
def test_forms(mode: int) -> None:
    for x in (coo(), csr(), coo().to_csr(), csr().to_coo()):
        np.testing.assert_array_equal(run(lambda a: a.to_dense(), mode, x).asnumpy(), DENSE)
    back = run(lambda a: a.to_csr(), mode, coo())
    np.testing.assert_array_equal(back.indptr.asnumpy(), sp.csr_array(DENSE).indptr)
    assert (type(back), back.shape, back.dtype, back.ndim, back.size) == (
        CSRTensor,
        (3, 4),
        ms.float32,
        2,
        5,
    )
    assert csr().itemsize == 4 and len(csr().to_tuple()) == 4
    assert type(csr().to_tuple()) is tuple


def test_from_dense() -> None:
    for x in (Tensor(DENSE).to_coo(), Tensor(DENSE).to_csr()):
        np.testing.assert_array_equal(whole(x), DENSE)
        assert x.indices.dtype is ms.int32
    with pytest.raises(ValueError, match="2-D"):
        ops.dense_to_sparse_csr(Tensor([1.0]))
    with pytest.raises(TypeError):
        ops.dense_to_sparse_coo(DENSE)
    # The shape of the result is not known while it is compiled: it runs op by op.
    values = ms.jit(lambda a: ops.dense_to_sparse_coo(a).values)(Tensor(DENSE))
    np.testing.assert_array_equal(values.asnumpy(), DENSE[DENSE != 0])


def test_text() -> None:
    x = CSRTensor(Tensor([0, 1, 2], ms.int32), Tensor([0, 1], ms.int32), Tensor([1.0, 2.0]), (2, 4))
    assert str(x) == (
        "CSRTensor(shape=[2, 4], dtype=Float32, indptr=Tensor(shape=[3], dtype=Int32, "
        "value=[0 1 2]), indices=Tensor(shape=[2], dtype=Int32, value=[0 1]), "
        "values=Tensor(shape=[2], dtype=Float32, value=[ 1.00000000e+00  2.00000000e+00]))"
    )
    assert "indices=Tensor(shape=[2, 2], dtype=Int32, value=\n[[0 0]\n [1 1]])" in repr(x.to_coo())


@pytest.mark.parametrize("mode", MODES)
def test_products(mode: int) -> None:
    matrix = np.arange(8, dtype=np.float32).reshape(4, 2)
    column, vector = matrix[:, :1], matrix[:, 1]
    for function, b in (
        (lambda a, b: a.mm(b), matrix),
        (ops.csr_mm, matrix),
        (lambda a, b: a.mv(b), column),
        (ops.csr_mv, vector),
    ):
        got = run(lambda a, b, f=function: f(a, b), mode, csr(), Tensor(b))
        np.testing.assert_allclose(got.asnumpy(), DENSE @ b)


@pytest.mark.parametrize("mode", MODES)
def test_transposed_products(mode: int) -> None:
    b = np.arange(6, dtype=np.float32).reshape(2, 3)
    got = run(lambda x, y: ops.csr_mm(x, y, trans_a=True, trans_b=True), mode, csr(), Tensor(b))
    np.testing.assert_allclose(got.asnumpy(), DENSE.T @ b.T)
    indices, values, shape = coo().to_tuple()
    for st, dt in ((False, False), (True, False), (False, True), (True, True)):
        op, cell = ops.SparseTensorDenseMatmul(st, dt), nn.SparseTensorDenseMatmul(st, dt)
        left = DENSE.T if st else DENSE
        right = np.arange(left.shape[1] * 2, dtype=np.float32).reshape(-1, 2)
        given = Tensor(right.T.copy() if dt else right)
        for call in (op, cell):
            got = run(lambda i, v, d, c=call, s=shape: c(i, v, s, d), mode, indices, values, given)
            np.testing.assert_allclose(got.asnumpy(), left @ right)


def test_sparse_times_sparse() -> None:
    for turn_a, turn_b, b in (
        (False, False, OTHER.T),
        (False, True, OTHER),
        (True, False, OTHER),
    ):
        got = ops.csr_mm(csr(), csr(np.ascontiguousarray(b)), trans_a=turn_a, trans_b=turn_b)
        want = (DENSE.T if turn_a else DENSE) @ (b.T if turn_b else b)
        assert isinstance(got, CSRTensor)
        np.testing.assert_allclose(whole(got), want)
    first = CSRTensor(
        Tensor([0, 1, 1, 3, 4], ms.int32),
        Tensor([0, 3, 4, 0], ms.int32),
        Tensor([1.0, 5.0, -1.0, -2.0]),
        (4, 5),
    )
    second = CSRTensor(
        Tensor([0, 1, 1, 3, 3, 3], ms.int32),
        Tensor([0, 0, 1], ms.int32),
        Tensor([2.0, 7.0, 8.0]),
        (5, 3),
    )
    product = ops.csr_mm(first, second)
    assert product.indptr.asnumpy().tolist() == [0, 1, 1, 1, 2]
    assert product.values.asnumpy().tolist() == [2, -4]


@pytest.mark.parametrize("mode", MODES)
def test_gradients_of_products(mode: int) -> None:
    b = Tensor(np.arange(8, dtype=np.float32).reshape(4, 2))
    weight = Tensor(np.arange(6, dtype=np.float32).reshape(3, 2) + 1)
    indptr, indices, values, shape = csr()

    def loss(values: Tensor, b: Tensor) -> Tensor:
        return (CSRTensor(indptr, indices, values, shape).mm(b) * weight).sum()

    of_values, of_b = run(ms.grad(loss, (0, 1)), mode, values, b)
    full = weight.asnumpy() @ b.asnumpy().T
    np.testing.assert_allclose(of_values.asnumpy(), full[np.nonzero(DENSE)])
    np.testing.assert_allclose(of_b.asnumpy(), DENSE.T @ weight.asnumpy())


@pytest.mark.parametrize("mode", MODES)
def test_arithmetic_with_dense(mode: int) -> None:
    d = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
    t = Tensor(d)
    pairs = (
        (lambda a, y: a + y, coo(), DENSE + d),
        (lambda a, y: a - y, coo(), DENSE - d),
        (lambda a, y: (a * y).to_dense(), coo(), DENSE * d),
        (lambda a, y: (a / y).to_dense(), coo(), DENSE / d),
        (lambda a, y: (a * y).to_dense(), csr(), DENSE * d),
        (lambda a, y: (a / y).to_dense(), csr(), DENSE / d),
        (lambda a, y: ops.csr_mul(a, y[:1]).to_dense(), csr(), DENSE * d[:1]),
        (lambda a, y: ops.csr_mul(a, y[:, :1]).to_dense(), csr(), DENSE * d[:, :1]),
        (lambda a, y: (a * 2.0).to_dense(), csr(), DENSE * 2),
        (lambda a, y: (-a).to_dense(), coo(), -DENSE),
        (lambda a, y: a.abs().to_dense(), csr(), abs(DENSE)),
        (lambda a, y: a.astype(ms.int32).to_dense(), coo(), DENSE.astype(np.int32)),
        (lambda a, y: ops.csr_div(a, y), csr(), (DENSE / d)[np.nonzero(DENSE)]),
        (lambda a, y: ops.csr_reduce_sum(a, 1), csr(), DENSE.sum(1, keepdims=True)),
        (lambda a, y: a.sum(-1), csr(), DENSE.sum(1, keepdims=True)),
        (lambda a, y: ops.csr_gather(a.indptr, a.indices, y, a.shape), csr(), d[np.nonzero(DENSE)]),
    )

    def together(y: Tensor, *sparse: Any) -> list[Tensor]:
        return [pair[0](x, y) for pair, x in zip(pairs, sparse, strict=True)]

    results = run(together, mode, t, *(x for _, x, _ in pairs))
    for got, (_, _, want) in zip(results, pairs, strict=True):
        np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)
        assert got.asnumpy().dtype == want.dtype


def test_sums_of_sparse() -> None:
    for make in (coo, csr):
        np.testing.assert_array_equal(whole(make() + make(OTHER)), DENSE + OTHER)
        np.testing.assert_array_equal(whole(make() - make(OTHER)), DENSE - OTHER)
    linear = ops.csr_add(csr(), csr(OTHER), Tensor(2.0), Tensor(-3.0))
    np.testing.assert_allclose(whole(linear), 2 * DENSE - 3 * OTHER)
    kept = coo().add(coo(OTHER), Tensor(2.0))
    total = DENSE + OTHER
    np.testing.assert_array_equal(whole(kept), np.where(abs(total) >= 2, total, 0))
    twice = COOTensor(Tensor([[1, 2], [0, 1], [1, 2]], ms.int64), Tensor([1.0, 5.0, 4.0]), (3, 3))
    merged = twice.coalesce()
    assert merged.indices.asnumpy().tolist() == [[0, 1], [1, 2]]
    assert merged.values.asnumpy().tolist() == [5, 5]
    indices, values, shape = ops.coalesce(twice.indices.T, twice.values, Tensor([3, 3]))
    assert indices.asnumpy().tolist() == [[0, 1], [1, 2]] and shape.asnumpy().tolist() == [3, 3]
    assert values.asnumpy().tolist() == [5, 5]


@pytest.mark.parametrize("mode", MODES)
def test_concat(mode: int) -> None:
    for axis in (0, 1, -1):
        got = run(lambda a, b, n=axis: ops.coo_concat((a, b), n), mode, coo(), coo(OTHER))
        want = np.concatenate([DENSE, OTHER], axis)
        assert got.shape == want.shape
        np.testing.assert_array_equal(whole(got), want)
        assert got.indices.asnumpy().tolist() == np.argwhere(want).tolist()


@pytest.mark.parametrize("mode", MODES)
def test_softmax(mode: int) -> None:
    got = run(lambda a: ops.csr_softmax(a, ms.float32), mode, csr())
    dense = np.where(DENSE != 0, DENSE, -np.inf)
    with np.errstate(invalid="ignore"):
        want = np.nan_to_num(scipy.special.softmax(dense, 1))
    np.testing.assert_allclose(whole(got), want, rtol=1e-6)
    half = ops.csr_softmax(csr(), dtype=ms.float16)
    assert half.dtype is ms.float16


UNARY = {
    "abs": abs,
    "ceil": np.ceil,
    "cos": np.cos,
    "exp": np.exp,
    "inv": lambda v: 1 / v,
    "isnan": np.isnan,
    "neg": np.negative,
    "relu6": lambda v: np.clip(v, 0, 6),
    "round": np.round,
    "sigmoid": scipy.special.expit,
    "softsign": lambda v: v / (1 + abs(v)),
    "tanh": np.tanh,
}


@pytest.mark.parametrize("mode", MODES)
def test_functions_of_values(mode: int) -> None:
    def together(a: COOTensor, b: CSRTensor) -> list[Any]:
        return [(getattr(ops, f"coo_{n}")(a), getattr(ops, f"csr_{n}")(b)) for n in UNARY]

    values = coo().values.asnumpy()
    results = run(together, mode, coo(), csr())
    for (name, want), (first, second) in zip(UNARY.items(), results, strict=True):
        assert (type(first), type(second)) == (COOTensor, CSRTensor)
        for got in (first, second):
            np.testing.assert_allclose(got.values.asnumpy(), want(values), rtol=1e-5)
        with pytest.raises(TypeError, match=f"coo_{name}"):
            getattr(ops, f"coo_{name}")(Tensor([1.0]))


@pytest.mark.parametrize("mode", MODES)
def test_dense_of_parts(mode: int) -> None:
    indices, values, shape = coo().to_tuple()
    for op in (ops.SparseToDense(), lambda i, v, s: nn.SparseToDense()(COOTensor(i, v, s))):
        got = run(lambda i, v, f=op: f(i, v, shape), mode, indices, values)
        np.testing.assert_array_equal(got.asnumpy(), DENSE)
    add = run(
        lambda i, v, y: ops.SparseTensorDenseAdd()(i, v, shape, y),
        mode,
        indices,
        values,
        Tensor(OTHER),
    )
    np.testing.assert_array_equal(add.asnumpy(), DENSE + OTHER)


def test_slice() -> None:
    where, values, size = ops.SparseSlice()(
        Tensor([[0, 1], [1, 2], [1, 3], [2, 2]]),
        Tensor([1, 2, 3, 4]),
        Tensor([3, 4]),
        Tensor([0, 1]),
        Tensor([2, 3]),
    )
    assert where.asnumpy().tolist() == [[0, 0], [1, 1], [1, 2]]
    assert values.asnumpy().tolist() == [1, 2, 3] and size.asnumpy().tolist() == [2, 3]


def test_rows() -> None:
    x = RowTensor(Tensor([2, 0]), Tensor([[1.0, 2.0], [3.0, 4.0]]), (3, 2))
    assert x.dense_shape == (3, 2) and ops.row_tensor_get_values(x).shape == (2, 2)
    both = ops.row_tensor_add(x, ops.make_row_tensor(x.indices, x.values, (3, 2)))
    assert both.indices.asnumpy().tolist() == [2, 0, 2, 0]
    total = ops.row_tensor_add(x, Tensor(np.ones((3, 2), np.float32)))
    assert total.asnumpy().tolist() == [[4, 5], [1, 1], [2, 3]]
    made = ms.jit(lambda i, v: ops.make_row_tensor(i, v, (3, 2)))(x.indices, x.values)
    assert isinstance(made, RowTensor) and made.values.asnumpy().tolist() == [[1, 2], [3, 4]]
    assert SparseTensor(Tensor([[0, 1, 2]]), Tensor([1.0]), (2, 3, 4)).shape == (2, 3, 4)
    assert ops.make_coo_tensor(*coo().to_tuple()).shape == (3, 4)
    assert ops.csr_tensor_get_indptr(ops.make_csr_tensor(*csr().to_tuple())).shape == (4,)


def test_trees_and_copies() -> None:
    x = csr()
    leaves, tree = jax.tree.flatten(x)
    assert len(leaves) == 3
    assert jax.tree.unflatten(tree, leaves).shape == (3, 4)
    doubled = jax.jit(lambda a: a.with_values(a.values * 2))(x)
    np.testing.assert_array_equal(whole(doubled), DENSE * 2)
    np.testing.assert_array_equal(whole(CSRTensor(csr_tensor=x)), DENSE)
    np.testing.assert_array_equal(whole(COOTensor(coo_tensor=coo())), DENSE)
    assert x == x and x != csr() and hash(x) == hash(x)
    many = jax.vmap(lambda v: x.with_values(v).mv(Tensor(np.ones(4, np.float32))))(
        jax.numpy.stack([x.values.asnumpy()] * 2)
    )
    np.testing.assert_allclose(np.asarray(many), np.stack([DENSE.sum(1)] * 2))


class Net(nn.Cell):
    """Takes and gives sparse tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = ms.Parameter(Tensor(2.0), name="scale")

    def construct(self, x: COOTensor, y: Tensor) -> Any:
        return x.with_values(x.values * self.scale), x.to_csr().mm(y)


@pytest.mark.parametrize("mode", MODES)
def test_cell(mode: int) -> None:
    ms.set_context(mode=mode)
    try:
        scaled, product = Net()(coo(), Tensor(DENSE.T.copy()))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert type(scaled) is COOTensor
    np.testing.assert_array_equal(whole(scaled), DENSE * 2)
    np.testing.assert_allclose(product.asnumpy(), DENSE @ DENSE.T)


I2, V2 = Tensor([[0, 1], [1, 2]], ms.int32), Tensor([1.0, 2.0])
P3, I1 = Tensor([0, 1, 2], ms.int32), Tensor([0, 1], ms.int32)


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (ValueError, lambda: COOTensor(I2, Tensor([1.0]), (3, 4))),
        (ValueError, lambda: COOTensor(I1, V2, (3, 4))),
        (TypeError, lambda: COOTensor(I2.astype(ms.float32), V2, (3, 4))),
        (TypeError, lambda: COOTensor(I2, V2, [3, 4])),
        (ValueError, lambda: COOTensor(I2, V2, (3, 4, 5))),
        (ValueError, lambda: COOTensor(I2, V2, (3, -4))),
        (TypeError, lambda: COOTensor(1, V2, (3, 4))),
        (TypeError, lambda: COOTensor(coo_tensor=3)),
        (ValueError, lambda: CSRTensor(P3, I1, V2, (3, 4))),
        (ValueError, lambda: CSRTensor(P3, I1, Tensor([1.0]), (2, 4))),
        (TypeError, lambda: CSRTensor(P3.astype(ms.float32), I1, V2, (2, 4))),
        (ValueError, lambda: coo() * Tensor([[1.0]])),
        (TypeError, lambda: coo() * coo()),
        (ValueError, lambda: ops.coo_concat((coo(),))),
        (ValueError, lambda: csr().sum(0)),
        (ValueError, lambda: csr().mm(Tensor([[1.0]]))),
        (TypeError, lambda: ops.csr_to_coo(coo())),
        (ValueError, lambda: ops.SparseToDense()(Tensor([[0, 1], [0, 9]]), V2, (3, 4))),
        (ValueError, lambda: ops.csr_mul(csr(), Tensor(np.ones((1, 1, 1), np.float32)))),
    ],
)
def test_mistakes(error: type[Exception], make: Any) -> None:
    with pytest.raises(error) as caught:
        make()
    assert is_located(caught.value)
