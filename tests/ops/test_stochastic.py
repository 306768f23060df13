"""Random ops of the stochastic family: shapes, dtypes, distributions, seeds, both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import mindjax as ms
from mindjax import Tensor, ops

N = 3000
SHAPE = Tensor([N], ms.int32)
WIDE = ops.zeros((N,))

# name, draw, dtype, shape, the distribution
LAWS: list[tuple[str, Callable[[], Any], str, Any]] = [
    ("Cauchy", lambda: ops.Cauchy([N], 1.0, 2.0)(), "Float32", stats.cauchy(1, 2)),
    ("Tensor.cauchy", lambda: WIDE.cauchy(1.0, 2.0), "Float32", stats.cauchy(1, 2)),
    (
        "Gamma",
        lambda: ops.Gamma()((N,), Tensor(3.0), Tensor(2.0)),
        "Float32",
        stats.gamma(3, 0, 0.5),
    ),
    ("RandomGamma", lambda: ops.RandomGamma()(SHAPE, Tensor(3.0)), "Float32", stats.gamma(3)),
    ("random_gamma", lambda: ops.random_gamma(SHAPE, Tensor(0.5)), "Float32", stats.gamma(0.5)),
    (
        "LogNormal",
        lambda: ops.LogNormalReverse(1.0, 0.5)(WIDE),
        "Float32",
        stats.lognorm(0.5, 0, np.e),
    ),
    ("log_normal", lambda: WIDE.log_normal(1.0, 0.5), "Float32", stats.lognorm(0.5, 0, np.e)),
    ("Tensor.uniform", lambda: WIDE.uniform(1.0, 3.0), "Float32", stats.uniform(1, 2)),
    ("normal_", lambda: ops.normal_(ops.zeros((N,)), 2, 3), "Float32", stats.norm(2, 3)),
    ("uniform_", lambda: ops.uniform_(ops.zeros((N,)), -1, 3), "Float32", stats.uniform(-1, 4)),
    ("exponential_", lambda: ops.exponential_(ops.zeros((N,)), 2), "Float32", stats.expon(0, 0.5)),
    (
        "ParameterizedTruncatedNormal",
        lambda: ops.ParameterizedTruncatedNormal()(
            Tensor([2, N // 2], ms.int32), *(Tensor([v], ms.float32) for v in (1, 2, 0, 4))
        ),
        "Float32",
        stats.truncnorm(-0.5, 1.5, 1, 2),
    ),
]
# name, draw, dtype, probability of each value from 0 on
COUNTS: list[tuple[str, Callable[[], Any], str, Any]] = [
    ("Bernoulli", lambda: ops.Bernoulli()(WIDE, 0.3), "Float32", [0.7, 0.3]),
    ("bernoulli_", lambda: ops.bernoulli_(ops.zeros((N,), ms.int8), 0.3), "Int8", [0.7, 0.3]),
    ("bernoulli_ext", lambda: ops.bernoulli_ext(WIDE + 0.3), "Float32", [0.7, 0.3]),
    ("Poisson", lambda: ops.Poisson()((N,), Tensor(1.5)), "Int32", stats.poisson(1.5)),
    ("poisson", lambda: ops.poisson((N,), Tensor(1.5)), "Float32", stats.poisson(1.5)),
    ("RandomPoisson", lambda: ops.RandomPoisson()(SHAPE, Tensor(2.0)), "Int64", stats.poisson(2)),
    (
        "random_poisson",
        lambda: ops.random_poisson(SHAPE, Tensor(2, ms.int32)),
        "Float32",
        stats.poisson(2),
    ),
    ("random_", lambda: ops.random_(ops.zeros((N,), ms.int32), 0, 4), "Int32", [0.25] * 4),
    (
        "RandomCategorical",
        lambda: ops.RandomCategorical(ms.int16)(Tensor([[0.0, np.log(3.0)]], ms.float32), N, 0),
        "Int16",
        [0.25, 0.75],
    ),
    (
        "MultinomialWithReplacement",
        lambda: ops.MultinomialWithReplacement(N, True)(
            Tensor([1.0, 0.0, 3.0]), Tensor(0), Tensor(0)
        ),
        "Int64",
        [0.25, 0.0, 0.75],
    ),
    (
        "multinomial_with_replacement",
        lambda: ops.multinomial_with_replacement(Tensor([1.0, 3.0]), -1, 0, N, True),
        "Int64",
        [0.25, 0.75],
    ),
    (
        "log_uniform_candidate_sampler",
        lambda: ops.log_uniform_candidate_sampler(Tensor([[0]]), 1, N, False, 3)[0],
        "Int64",
        [np.log(2) / np.log(4), np.log(1.5) / np.log(4), np.log(4 / 3) / np.log(4)],
    ),
    (
        "uniform_candidate_sampler",
        lambda: ops.uniform_candidate_sampler(Tensor([[0]]), 1, N, False, 4)[0],
        "Int64",
        [0.25] * 4,
    ),
    (
        "uniform_candidate_sampler_without_hits",
        lambda: ops.uniform_candidate_sampler(
            Tensor([[1]], ms.int32), 1, N, False, 3, remove_accidental_hits=True
        )[0],
        "Int32",
        [0.5, 0.0, 0.5],
    ),
]


def label(value: Any) -> str:
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize(("name", "draw", "dtype", "law"), LAWS, ids=label)
def test_law(name: str, draw: Any, dtype: str, law: Any) -> None:
    ms.set_seed(5)
    x = draw()
    assert (str(x.dtype), x.size) == (dtype, N)
    assert stats.kstest(x.asnumpy().ravel(), law.cdf).pvalue > 1e-4


@pytest.mark.parametrize(("name", "draw", "dtype", "law"), COUNTS, ids=label)
def test_counts(name: str, draw: Any, dtype: str, law: Any) -> None:
    ms.set_seed(5)
    x = draw()
    assert (str(x.dtype), x.size) == (dtype, N)
    found = np.bincount(x.asnumpy().ravel().astype(int), minlength=4)
    if not isinstance(law, list):
        law = [law.pmf(k) for k in range(len(found))]
    wanted = np.zeros(len(found))
    wanted[: len(law)] = law
    assert np.abs(found / N - wanted).max() < 0.04


# They draw as another row does; each takes a compilation in each mode, so only test-all asks them.
DRAWN_ALIKE = {
    "RandomGamma",
    "random_gamma",
    "log_normal",
    "bernoulli_",
    "bernoulli_ext",
    "poisson",
    "RandomPoisson",
    "random_poisson",
    "multinomial_with_replacement",
    "uniform_candidate_sampler_without_hits",
}
SEEDED_ROWS = [
    pytest.param(*row[:2], marks=[pytest.mark.slow] if row[0] in DRAWN_ALIKE else [])
    for row in LAWS + COUNTS
]


@pytest.mark.optimized
@pytest.mark.parametrize(("name", "draw"), SEEDED_ROWS, ids=label)
def test_the_seed_gives_the_same_numbers_in_both_modes(name: str, draw: Any) -> None:
    ms.set_seed(3)
    first, second = draw().asnumpy(), draw().asnumpy()
    assert not np.array_equal(first, second)
    compiled = ms.jit(lambda: draw())
    ms.set_seed(3)
    again = [compiled().asnumpy(), compiled().asnumpy()]
    assert np.allclose(first, again[0], rtol=1e-4)
    assert np.allclose(second, again[1], rtol=1e-4)


# Those that draw as another row does are slow: each takes a compilation.
SEEDED: list[Any] = [
    ("Bernoulli", lambda s: ops.Bernoulli(s)(WIDE, 0.3)),
    ("Gamma", lambda s: ops.Gamma(s)((9,), Tensor(3.0), Tensor(2.0))),
    pytest.param(
        "RandomGamma",
        lambda s: ops.RandomGamma(s)(Tensor([9]), Tensor(3.0)),
        marks=pytest.mark.slow,
    ),
    ("random_gamma", lambda s: ops.random_gamma(Tensor([9]), Tensor(3.0), s)),
    pytest.param(
        "Poisson", lambda s: ops.Poisson(s, 1)((99,), Tensor(9.0)), marks=pytest.mark.slow
    ),
    ("poisson", lambda s: ops.poisson((99,), Tensor(9.0), s)),
    pytest.param(
        "RandomPoisson",
        lambda s: ops.RandomPoisson(s)(Tensor([99]), Tensor(9.0)),
        marks=pytest.mark.slow,
    ),
    ("random_poisson", lambda s: ops.random_poisson(Tensor([99]), Tensor(9.0), s)),
    ("RandomChoiceWithMask", lambda s: ops.RandomChoiceWithMask(9, s)(WIDE == 0)[0]),
    ("choice_with_mask", lambda s: ops.choice_with_mask(WIDE == 0, 9, s)[0]),
    ("RandpermV2", lambda s: ops.RandpermV2(s, 1)(50)),
    ("LogUniform", lambda s: ops.LogUniformCandidateSampler(1, 99, False, 99, s)(Tensor([[1]]))[0]),
    ("Uniform", lambda s: ops.UniformCandidateSampler(1, 50, True, 99, s)(Tensor([[1]]))[0]),
    ("multinomial", lambda s: ops.multinomial_with_replacement(WIDE[:99] + 1, s, 7, 50, False)),
]


@pytest.mark.parametrize(("name", "draw"), SEEDED, ids=label)
def test_own_seed(name: str, draw: Any) -> None:
    ms.set_seed(1)
    first = draw(4).asnumpy()
    ms.set_seed(2)
    assert np.array_equal(first, draw(4).asnumpy())
    assert not np.array_equal(first, draw(5).asnumpy())


@pytest.mark.parametrize("fill", ["normal_", "uniform_", "random_", "bernoulli_", "exponential_"])
def test_generator(fill: str) -> None:
    generator = ms.Generator().manual_seed(7)

    def run() -> np.ndarray:
        x = ops.zeros((64,))
        out = getattr(ops, fill)(x, generator=generator)
        assert out is x
        return x.asnumpy()

    first, second = run(), run()
    assert not np.array_equal(first, second)
    generator.manual_seed(7)
    assert np.array_equal(first, run())
    state = generator.get_state()
    assert state.dtype == ms.uint8 and state.shape == (16,) and state[0] == 7
    second_again = run()
    generator.set_state(state)
    assert np.array_equal(second, second_again)
    assert np.array_equal(second, run())


@pytest.mark.slow
def test_shapes_of_rates_and_alphas() -> None:
    rate = Tensor([[5.0, 10.0], [5.0, 1.0]])
    assert ops.random_poisson(Tensor([2, 3]), rate, dtype=ms.float64).shape == (2, 3, 2, 2)
    assert str(ops.random_gamma(Tensor([3]), Tensor([1.0, 2.0], ms.float64)).dtype) == "Float64"
    assert ops.RandomGamma()(Tensor([3]), Tensor([1.0], ms.float16)).shape == (3, 1)
    assert ops.poisson((4, 1), Tensor([5.0, 10.0])).shape == (4, 2)
    assert ops.Gamma()((3, 1, 2), Tensor([[3.0, 4], [5, 6]]), Tensor([1.0])).shape == (3, 2, 2)
    assert ops.random_poisson(Tensor([50]), Tensor([-1.0, 0.0])).asnumpy().max() == 0


def test_parameterized_rows() -> None:
    mean, std, low, high = (Tensor(v, ms.float64) for v in ([0, 10], [1, 1], [-1, 9], [1, 11]))
    x = ops.ParameterizedTruncatedNormal(1, 2)(Tensor([2, 500]), mean, std, low, high)
    assert (str(x.dtype), x.shape) == ("Float64", (2, 500))
    rows = x.asnumpy()
    assert np.abs(rows[0]).max() <= 1 and np.abs(rows[1] - 10).max() <= 1
    assert rows[0].std() > 0.4


def test_non_deterministic_ints() -> None:
    for dtype in (ms.int32, ms.int64, ms.uint32, ms.uint64):
        x = ops.NonDeterministicInts(dtype)(Tensor([40, 50]))
        assert x.dtype is dtype and x.shape == (40, 50)
        assert len(np.unique(x.asnumpy())) > 1990
    low = ops.NonDeterministicInts(ms.int64)(Tensor([40, 50])).asnumpy()
    assert low.min() < -(2**60) and low.max() > 2**60


def test_choice_with_mask() -> None:
    mask = Tensor([[True, False, True], [False, False, True]])
    index, valid = ops.choice_with_mask(mask, 5)
    assert (str(index.dtype), index.shape, str(valid.dtype)) == ("Int32", (5, 2), "Bool")
    assert valid.asnumpy().tolist() == [True] * 3 + [False] * 2
    assert sorted(map(tuple, index.asnumpy()[:3].tolist())) == [(0, 0), (0, 2), (1, 2)]
    assert not index.asnumpy()[3:].any()
    index, valid = ops.RandomChoiceWithMask(count=2)(mask)
    assert valid.asnumpy().all() and len(set(map(tuple, index.asnumpy().tolist()))) == 2


def test_candidates_are_distinct_and_counted() -> None:
    true = Tensor([[1, 7], [0, 4]])
    sampled, true_count, count = ops.log_uniform_candidate_sampler(true, 2, 5, True, 9, 3)
    assert len(set(sampled.asnumpy().tolist())) == 5
    assert (true_count.shape, count.shape, str(count.dtype)) == ((2, 2), (5,), "Float32")
    chance = np.log1p(1 / (sampled.asnumpy() + 1.0)) / np.log(10)
    tries = np.log1p(-count.asnumpy()) / np.log1p(-chance)
    assert np.allclose(tries, np.round(tries[0]), atol=1e-2) or np.allclose(
        count.asnumpy(), chance * 5
    )
    plain = ops.log_uniform_candidate_sampler(true, 2, 5, False, 9, 3)
    chance = np.log1p(1 / (true.asnumpy() + 1.0)) / np.log(10)
    assert np.allclose(plain[1].asnumpy(), 5 * chance, rtol=1e-5)
    free = ops.uniform_candidate_sampler(true, 2, 5, True, 9, 0, True)[0].asnumpy()
    assert sorted(free.tolist()) == [2, 3, 5, 6, 8]


def test_multinomial_without_replacement() -> None:
    x = ops.multinomial_with_replacement(Tensor([[1.0, 2.0, 0.5], [1.0, 1.0, 1.0]]), 3, 4, 3)
    assert x.shape == (2, 3) and np.array_equal(np.sort(x.asnumpy()), [[0, 1, 2]] * 2)


def test_randperm() -> None:
    x = ops.RandpermV2(1, 2, ms.float16)(5)
    assert str(x.dtype) == "Float16" and sorted(x.asnumpy().tolist()) == [0, 1, 2, 3, 4]


def test_in_place_functions() -> None:
    x = Tensor([0.1, -0.4, 0.9])
    assert ops.clamp_(x, -0.2, 0.5) is x
    assert np.allclose(x.asnumpy(), [0.1, -0.2, 0.5])
    ops.erfinv_(x)
    ops.tanh_(x)
    ops.inplace_sigmoid(x)
    assert np.allclose(x.asnumpy(), [0.522, 0.456, 0.609], atol=1e-3)
    ops.put_(x, Tensor([0, 2]), Tensor([5.0, 6.0]))
    assert np.allclose(x.asnumpy(), [5, 0.456, 6], atol=1e-3)
    ops.put_(x, Tensor([0]), Tensor([5.0]), True)
    assert x.asnumpy()[0] == 10
    assert ops.zero_(x) is x and not x.asnumpy().any()


@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_stop_gradient_in_place(mode: str) -> None:
    def f(x: Tensor) -> Tensor:
        y = x * 2
        ops.stop_gradient_(y)
        return (x * 3 + y).sum()

    grad = ms.grad(f)
    if mode == "graph":
        grad = ms.jit(grad)
    assert grad(Tensor([1.0, 2.0])).asnumpy().tolist() == [3.0, 3.0]


ERRORS: list[tuple[type[Exception], Callable[[], Any]]] = [
    (ValueError, lambda: ops.Bernoulli(-3)),
    (ValueError, lambda: ops.Bernoulli(3)(WIDE, 1.5)),
    (TypeError, lambda: ops.Cauchy((2,))),
    (ValueError, lambda: ops.Cauchy([])),
    (ValueError, lambda: ops.Cauchy([0])),
    (TypeError, lambda: ops.Cauchy([2], 1)),
    (TypeError, lambda: ops.Gamma()((2,), Tensor([1], ms.int32), Tensor(1.0))),
    (TypeError, lambda: ops.LogNormalReverse(1, 2)),
    (TypeError, lambda: ops.LogNormalReverse()(Tensor([1], ms.int32))),
    (TypeError, lambda: ops.random_gamma(Tensor([2]), Tensor([1], ms.int32))),
    (ValueError, lambda: ops.random_gamma(Tensor([2]), Tensor([1.0]), -3)),
    (TypeError, lambda: ops.random_poisson((2,), Tensor([1.0]))),
    (TypeError, lambda: ops.random_poisson(Tensor([2]), Tensor([1.0]), dtype=ms.bool_)),
    (TypeError, lambda: ops.RandomCategorical(ms.float32)),
    (TypeError, lambda: ops.NonDeterministicInts(ms.int16)),
    (ValueError, lambda: ops.NonDeterministicInts()(Tensor([2]))),
    (ValueError, lambda: ops.multinomial_with_replacement(Tensor([1.0]), 1, 2, 2)),
    (ValueError, lambda: ops.MultinomialWithReplacement(-2)),
    (ValueError, lambda: ops.choice_with_mask(WIDE == 0, 0)),
    (TypeError, lambda: ops.choice_with_mask(WIDE, 2)),
    (ValueError, lambda: ops.choice_with_mask(Tensor(True), 2)),
    (ValueError, lambda: ops.log_uniform_candidate_sampler(Tensor([[1]]), 1, 5, True, 3)),
    (ValueError, lambda: ops.log_uniform_candidate_sampler(Tensor([[1]]), 3, 5, True, 9)),
    (TypeError, lambda: ops.log_uniform_candidate_sampler(Tensor([[1]], ms.int32), 1, 5, True, 9)),
    (ValueError, lambda: ops.uniform_candidate_sampler(Tensor([[1]]), 0, 3, True, 4)),
    (ValueError, lambda: ops.uniform_candidate_sampler(Tensor([[1]]), 1, 3, True, 3, 1, True)),
    (TypeError, lambda: WIDE.uniform(2.0, 1.0)),
    (TypeError, lambda: ops.normal_(1.0)),
    (RuntimeError, lambda: ops.stop_gradient_(ops.zeros((2, 3))[0])),
]


@pytest.mark.parametrize(("error", "run"), ERRORS)
def test_errors(error: type[Exception], run: Any) -> None:
    with pytest.raises(error, match=r"test_stochastic\.py:\d+\]$") as caught:
        run()
    assert "\n" not in str(caught.value)
