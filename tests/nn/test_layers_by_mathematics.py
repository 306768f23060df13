"""Layers for which the original's CPU has no kernels, or wrong ones: float64 mathematics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn

RANDOM = np.random.default_rng(3)
X3, X4, X5 = (RANDOM.random(s) for s in ((2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 3, 2)))
SQUARE = RANDOM.random((2, 3, 3))
POSITIVE = SQUARE @ SQUARE.transpose(0, 2, 1) + np.eye(3)


def tensor(array: np.ndarray) -> ms.Tensor:
    """Make a Float32 Tensor."""
    return ms.Tensor(array.astype(np.float32))


@pytest.mark.parametrize(
    ("layer", "x"),
    [(nn.InstanceNorm1d, X3), (nn.InstanceNorm2d, X4), (nn.InstanceNorm3d, X5)],
    ids=["1d", "2d", "3d"],
)
def test_instance_norm(layer: Any, x: np.ndarray, mode: int) -> None:
    cell = layer(3, 1e-3, 0.3, gamma_init=2.0, beta_init=0.5)
    axes = tuple(range(2, x.ndim))
    center, spread = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    want = (x - center) / np.sqrt(spread + 1e-3) * 2 + 0.5
    count = x[0, 0].size
    mean, variance = np.zeros(3), np.ones(3)
    for _ in range(3):
        np.testing.assert_allclose(cell(tensor(x)).asnumpy(), want, 1e-4, 1e-5)
        mean = 0.7 * mean + 0.3 * center.reshape(2, 3).mean(0)
        variance = 0.7 * variance + 0.3 * spread.reshape(2, 3).mean(0) * count / (count - 1)
    np.testing.assert_allclose(cell.moving_mean.asnumpy(), mean, 1e-4, 1e-5)
    np.testing.assert_allclose(cell.moving_variance.asnumpy(), variance, 1e-4, 1e-5)
    names = [(n, p.requires_grad) for n, p in cell.parameters_and_names()]
    moved = [("moving_mean", False), ("moving_variance", False)]
    assert names == [*moved, ("gamma", True), ("beta", True)]
    assert not any(p.requires_grad for p in layer(3, affine=False).get_parameters())


CASES = [
    (nn.MatInverse(), (POSITIVE,), np.linalg.inv),
    (nn.MatDet(), (POSITIVE,), np.linalg.det),
    (nn.MatrixDiag(), (X3,), lambda x: x[..., None] * np.eye(4)),
    (nn.MatrixDiagPart(), (X4,), lambda x: np.diagonal(x, axis1=-2, axis2=-1)),
    (
        nn.MatrixSetDiag(),
        (SQUARE, np.ones((2, 3))),
        lambda x, d: x * (1 - np.eye(3)) + d[..., None] * np.eye(3),
    ),
    (nn.Roll(1, 0), (X3,), lambda x: np.roll(x, 1, 0)),
    (nn.Roll([1, -2], [0, 2]), (X3,), lambda x: np.roll(x, (1, -2), (0, 2))),
    (nn.Roll((3,), (-1,)), (X3,), lambda x: np.roll(x, 3, -1)),
    (
        nn.ClipByNorm(-1),
        (X3, np.array(0.5)),
        lambda x, c: x * c / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), c),
    ),
    (
        nn.ClipByNorm((0, 1)),
        (X3, np.array(2.5)),
        lambda x, c: x * c / np.maximum(np.sqrt((x**2).sum((0, 1), keepdims=True)), c),
    ),
    (nn.layer.CosineSimilarity(), (X3, X3 + 1), lambda x, y: cosine(x, y, 1)),
    (nn.layer.CosineSimilarity(-1, 0.1), (X3, X3 + 1), lambda x, y: cosine(x, y, -1)),
]


def cosine(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    """Give the cosine of the angle."""
    return (x * y).sum(axis) / np.linalg.norm(x, axis=axis) / np.linalg.norm(y, axis=axis)


@pytest.mark.parametrize(
    ("layer", "inputs", "want"), CASES, ids=lambda v: getattr(v, "cls_name", "")
)
def test_values(layer: Any, inputs: Any, want: Any) -> None:
    got = layer(*[tensor(x) for x in inputs]).asnumpy()
    np.testing.assert_allclose(got, want(*inputs), 1e-4, 1e-5)


def test_rows_are_clipped_to_their_norm() -> None:
    table = tensor(np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]]))
    cell = nn.EmbeddingLookup(3, 2, table, max_norm=1.0)
    want = [[0.6, 0.8], [0.3, 0.4], [0.0, 0.0], [0.0, 0.0]]
    ids = ms.Tensor([0, 1, 2, 7], ms.int32)
    np.testing.assert_allclose(cell(ids).asnumpy(), want, 1e-6)
    slopes = ms.grad(lambda i: cell(i).sum(), None, cell.trainable_params())(ids)
    assert np.isfinite((slopes[0] if isinstance(slopes, tuple) else slopes).asnumpy()).all()


def test_device_table_raises_out_of_range() -> None:
    cell = nn.EmbeddingLookup(3, 2, target="DEVICE")
    assert cell(ms.Tensor([0, 2], ms.int32)).shape == (2, 2)


def test_sync_batch_norm_of_one_process(mode: int) -> None:
    sync, plain = nn.SyncBatchNorm(3).set_train(), nn.BatchNorm2d(3).set_train()
    for cell in (sync, plain):
        out = cell(tensor(X4))
    np.testing.assert_array_equal(sync(tensor(X4)).asnumpy(), out.asnumpy())
    np.testing.assert_array_equal(sync.moving_mean.asnumpy(), sync.moving_mean.asnumpy())
    with pytest.raises(ValueError, match="duplicated"):
        nn.SyncBatchNorm(3, process_groups=[[0, 0]])


def test_sync_batch_norm_with_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    # The path of several processes, with a sum over one.
    sync, plain = nn.SyncBatchNorm(3).set_train(), nn.BatchNorm2d(3).set_train()
    sync._sum = lambda x: x
    for _ in range(2):
        got, want = sync(tensor(X4)), plain(tensor(X4))
    np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), 1e-4, 1e-5)
    for name in ("moving_mean", "moving_variance"):
        one, two = getattr(sync, name).asnumpy(), getattr(plain, name).asnumpy()
        np.testing.assert_allclose(one, two, 1e-4, 1e-5)
