"""Random Tensors: shapes, dtypes, distributions, seeds, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import mindjax as ms
from mindjax import numpy as mnp


@pytest.mark.parametrize(("draw", "law"), [(mnp.rand, stats.uniform), (mnp.randn, stats.norm)])
def test_distribution(draw: Any, law: Any) -> None:
    ms.set_seed(3)
    sample = draw(4000).asnumpy()
    assert stats.kstest(sample, law().cdf).pvalue > 1e-3


def test_integers() -> None:
    ms.set_seed(3)
    sample = mnp.randint(2, 7, (4000,)).asnumpy()
    counts = np.bincount(sample)
    assert counts[:2].sum() == 0 and len(counts) == 7
    assert stats.chisquare(counts[2:]).pvalue > 1e-3


@pytest.mark.parametrize("draw", [mnp.rand, mnp.randn, lambda *s: mnp.randint(9, shape=s or None)])
def test_shapes(draw: Any) -> None:
    assert draw().shape == (1,)
    assert draw(2, 3).shape == (2, 3)


def test_sequences_as_shapes() -> None:
    assert mnp.rand((2, 3)).shape == mnp.randn([2, 3]).shape == (2, 3)


def test_dtypes() -> None:
    assert mnp.rand(2).dtype == mnp.rand(2, dtype="float").dtype == ms.float32
    assert mnp.rand([2], dtype="float16").dtype == ms.float16
    assert mnp.randn(2, dtype=ms.float64).dtype == ms.float64
    assert mnp.randint(3).dtype == ms.int32
    assert mnp.randint(1, 3, (2,), "int64").dtype == ms.int64


def test_a_seed_gives_the_same_numbers() -> None:
    draws = []
    for _ in range(2):
        ms.set_seed(5)
        draws.append(np.concatenate([mnp.rand(3).asnumpy(), mnp.randn(3).asnumpy()]))
    assert (draws[0] == draws[1]).all()
    assert not (mnp.rand(3).asnumpy() == draws[0][:3]).any()


@pytest.mark.parametrize(
    ("run", "error"),
    [
        (lambda: mnp.rand(2, dtype=ms.int32), ValueError),
        (lambda: mnp.rand(2.0), TypeError),
        (lambda: mnp.randn(2, "a"), TypeError),
        (lambda: mnp.randint(3, 1), ValueError),
        (lambda: mnp.randint(-1), ValueError),
        (lambda: mnp.randint(2.0), TypeError),
        (lambda: mnp.randint(1, 2.0), TypeError),
        (lambda: mnp.randint(1, 3, (2,), ms.float32), ValueError),
    ],
)
def test_errors(run: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        run()


def test_compiled_draws_differ() -> None:
    draw = ms.jit(lambda: mnp.rand(4))
    assert not (draw().asnumpy() == draw().asnumpy()).all()
