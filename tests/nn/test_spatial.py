"""The spatial layers of `mint.nn`, for which the original's CPU has no kernels: torch's meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import mint, nn, ops

RANDOM = np.random.default_rng(0)
IMG = RANDOM.random((2, 4, 5, 6)).astype(np.float32)
VOL = RANDOM.random((1, 2, 4, 5, 4)).astype(np.float32)
SEQ = RANDOM.random((2, 3, 8)).astype(np.float32)


def pad(x: np.ndarray, widths: list[tuple[int, int]], **how: Any) -> np.ndarray:
    """Pad the last axes."""
    return np.pad(x, [(0, 0)] * (x.ndim - len(widths)) + widths, **how)


CASES = [
    (mint.nn.AdaptiveAvgPool3d(2), VOL, lambda x: nn.AdaptiveAvgPool3d(2)(x)),
    (mint.nn.AdaptiveMaxPool1d(3), SEQ, lambda x: nn.AdaptiveMaxPool1d(3)(x)),
    (mint.nn.AvgPool3d(2), VOL, lambda x: nn.AvgPool3d(2, 2)(x)),
    (mint.nn.Fold((3, 3), 2), IMG[0, :, :4, :4], lambda x: ops.fold(x, ms.Tensor([3, 3]), 2)),
    (mint.nn.Unfold(2, padding=1), IMG, lambda x: ops.unfold(x, 2, 1, 1)),
    (mint.nn.PixelShuffle(2), IMG, lambda x: ops.pixel_shuffle(x, 2)),
    (mint.nn.Upsample((4, 9)), IMG, lambda x: ops.interpolate(x, (4, 9))),
    (mint.nn.UpsamplingNearest2d((3, 9)), IMG, lambda x: ops.interpolate(x, (3, 9))),
    (
        mint.nn.UpsamplingBilinear2d(scale_factor=2.0),
        IMG,
        lambda x: ops.interpolate(x, (10, 12), None, "bilinear", True),
    ),
    (mint.nn.ZeroPad1d((1, 2)), SEQ, lambda x: pad(x, [(1, 2)])),
    (mint.nn.ZeroPad3d(1), VOL, lambda x: pad(x, [(1, 1)] * 3)),
    (
        mint.nn.ConstantPad2d((1, 2, 0, 1), 3.5),
        IMG,
        lambda x: pad(x, [(0, 1), (1, 2)], constant_values=3.5),
    ),
    (mint.nn.ReflectionPad2d(2), IMG, lambda x: pad(x, [(2, 2)] * 2, mode="reflect")),
    (mint.nn.ReplicationPad3d(2), VOL, lambda x: pad(x, [(2, 2)] * 3, mode="edge")),
    (
        mint.nn.SyncBatchNorm(4).set_train(),
        IMG,
        lambda x: (
            (x - x.mean((0, 2, 3), keepdims=True)) / np.sqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)
        ),
    ),
]


@pytest.mark.parametrize(("layer", "x", "same"), CASES, ids=lambda v: getattr(v, "cls_name", ""))
def test_layer(layer: Any, x: np.ndarray, same: Any) -> None:
    got = layer(ms.Tensor(x)).asnumpy()
    try:
        want = same(x)
    except Exception:
        want = same(ms.Tensor(x)).asnumpy()
    np.testing.assert_allclose(got, want, 1e-4, 1e-5)


def test_unpool() -> None:
    out, places = mint.nn.functional.max_pool2d(ms.Tensor(IMG[:, :, :4]), 2, return_indices=True)
    back = mint.nn.MaxUnpool2d(2)(out, places).asnumpy()
    kept = back != 0
    assert kept.sum() == out.asnumpy().size
    np.testing.assert_array_equal(back[kept], IMG[:, :, :4][kept])


def test_bicubic_is_torchs() -> None:
    # Keys' kernel with a = -0.75 at the middle between two elements: 0.59375 twice, -0.09375 twice.
    x = np.asarray([[[[1.0, 2.0, 4.0, 8.0, 16.0]]]], np.float32)
    got = mint.nn.functional.interpolate(ms.Tensor(x), (1, 10), None, "bicubic", False).asnumpy()
    d, a = 0.25, -0.75
    near = [((a + 2) * t - (a + 3)) * t * t + 1 for t in (d, 1 - d)]
    far = [(((t - 5) * t + 8) * t - 4) * a for t in (1 + d, 2 - d)]
    want = far[0] * 2 + near[0] * 4 + near[1] * 8 + far[1] * 16
    np.testing.assert_allclose(got[0, 0, 0, 5], want, 1e-5)


def test_conv_tbc() -> None:
    x, w, b = (RANDOM.random(s).astype(np.float32) for s in ((6, 2, 3), (2, 3, 4), (4,)))
    got = mint.conv_tbc(ms.Tensor(x), ms.Tensor(w), ms.Tensor(b), 1).asnumpy()
    wide = np.pad(x, [(1, 1), (0, 0), (0, 0)])
    want = sum(wide[i : i + 7] @ w[i] for i in range(2)) + b
    np.testing.assert_allclose(got, want, 1e-3, 1e-3)


def test_one_dimension() -> None:
    out, places = mint.nn.AdaptiveMaxPool1d(3, True)(ms.Tensor(SEQ))
    np.testing.assert_array_equal(np.take_along_axis(SEQ, places.asnumpy(), 2), out.asnumpy())
    single = mint.nn.functional.unfold(ms.Tensor(IMG[0]), 2).asnumpy()
    np.testing.assert_array_equal(single, ops.unfold(ms.Tensor(IMG[:1]), 2).asnumpy()[0])


def test_process_group() -> None:
    with pytest.raises(NotImplementedError, match="process_group"):
        mint.nn.SyncBatchNorm(3, process_group="world")


def test_deprecated_unfold() -> None:
    x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    out = nn.Unfold([1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1])(ms.Tensor(x)).asnumpy()
    np.testing.assert_array_equal(out[0, :, 0, 0], [0, 1, 3, 4])


def test_ctc_layer() -> None:
    logits = np.log(np.full((3, 1, 3), 1 / 3, np.float32))
    arguments = (ms.Tensor([[1]], ms.int32), ms.Tensor([3], ms.int32), ms.Tensor([1], ms.int32))
    loss = nn.CTCLoss(reduction="none")(ms.Tensor(logits), *arguments).asnumpy()
    # Six of the 27 paths of three steps spell one label.
    np.testing.assert_allclose(loss, -np.log([6 / 27]), 1e-5)
