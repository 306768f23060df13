"""Distributions, bijectors and Bayesian layers against goldens/probability.json and scipy."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import mindjax as ms

ms.install()

import mindjax.nn.probability.bijector as msb  # noqa: E402
import mindjax.nn.probability.distribution as msd  # noqa: E402
from mindjax import Tensor, nn, ops  # noqa: E402
from mindjax.core.caches import compilations  # noqa: E402
from mindjax.nn.probability import bnn_layers  # noqa: E402
from tests.nn import probability_cases as table  # noqa: E402

GOLDEN = Path(__file__).parents[1] / "goldens/probability.json"
RECORDED = json.loads(GOLDEN.read_text())["pynative"]
tensor = table.tensor
# What the default run looks at; `make test-all` looks at everything in both modes.
FIRST = [n for n in table.CASES if n.endswith("_2") and n.split("_")[0] in table.KINDS]
FIRST += ["bijector_power_batch", "divergence_dense", "dense_activation", "loss"]


def numbers(value):
    """Flatten nested lists, dicts and texts."""
    if isinstance(value, dict):
        value = [value[k] for k in sorted(value)]
    if isinstance(value, list):
        return [n for v in value for n in numbers(v)]
    return [value]


def compare(found, wanted, finite=False, rtol=1e-5):
    """Compare two answers, NaN with NaN or, for gradients, with any number."""
    found, wanted = numbers(found), numbers(wanted)
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted, strict=True):
        if isinstance(w, str | bool):
            assert f == w
        elif finite and np.isnan(w):
            assert np.isfinite(f)
        else:
            assert np.isclose(f, w, rtol=rtol, atol=2e-6, equal_nan=True), f"{f} instead of {w}"


EVERY = [pytest.param(n, marks=() if n in FIRST else pytest.mark.slow) for n in table.CASES]


@pytest.mark.parametrize("name", EVERY)
def test_values(name, mode):
    found, wanted = table.CASES[name](), RECORDED[name]["ok"]
    if name.startswith(("Normal", "LogNormal", "transformed")):
        # The original's logarithms of tails are those of a float32 difference.
        found, wanted = tails(found), tails(wanted)
    # The original's softmax has fewer digits; gradients through its branches can be NaN.
    rtol = 3e-5 if name.startswith("Categorical") else 1e-5
    compare(found, wanted, name.startswith(("gradient", "bijector")), rtol)


def tails(answer):
    """Undo the logarithms of probabilities of intervals."""
    if isinstance(answer, list):
        places = {3, 5}
        parts = enumerate(answer[0])
        return [[np.exp(v).tolist() if i in places else v for i, v in parts], answer[1]]
    names = ("log_cdf", "log_survival")
    return {k: np.exp(v).tolist() if k in names else v for k, v in answer.items()}


def test_every_case_is_recorded():
    assert RECORDED.keys() == table.CASES.keys()


def test_tails_of_the_normal_distribution():
    value = np.array([-8.0, -5.0, 5.0, 8.0])
    dist = msd.Normal(0.5, 1.5)
    exact = stats.norm(0.5, 1.5)
    assert np.allclose(dist.log_cdf(tensor(value)).asnumpy(), exact.logcdf(value), 1e-4, 1e-6)
    assert np.allclose(dist.log_survival(tensor(value)).asnumpy(), exact.logsf(value), 1e-4, 1e-6)


def test_gradients_that_the_original_misses():
    """Its branches that are not taken give NaN."""
    grad = ms.grad(lambda x: msb.Exp().forward(x).sum())
    assert np.allclose(grad(tensor(table.REALS)).asnumpy(), np.exp(table.REALS), 1e-5)
    value, a, b = np.array([0.5]), np.array([2.0]), np.array([0.6])
    found = ms.grad(lambda *x: msd.Beta().log_prob(*x).sum(), 1)(*map(tensor, (value, a, b)))
    wanted = np.log(value) - special.digamma(a) + special.digamma(a + b)
    assert np.allclose(found.asnumpy(), wanted, 1e-4)


EXACT = {
    "Normal": ((0.5, 2.0), stats.norm(0.5, 2)),
    "Cauchy": ((0.5, 2.0), stats.cauchy(0.5, 2)),
    "Logistic": ((0.5, 2.0), stats.logistic(0.5, 2)),
    "Gumbel": ((0.5, 2.0), stats.gumbel_r(0.5, 2)),
    "LogNormal": ((0.5, 0.8), stats.lognorm(0.8, scale=np.exp(0.5))),
    "Uniform": ((0.5, 2.0), stats.uniform(0.5, 1.5)),
    "Gamma": (([1.7], [2.0]), stats.gamma(1.7, scale=0.5)),
    "Beta": (([1.7], [2.5]), stats.beta(1.7, 2.5)),
    "Exponential": ((1.7,), stats.expon(scale=1 / 1.7)),
    "Poisson": (([2.3],), stats.poisson(2.3)),
    "Bernoulli": ((0.3,), stats.bernoulli(0.3)),
    "Geometric": ((0.3,), stats.geom(0.3, loc=-1)),
}


_LONG = ("Beta", "Gamma", "Poisson")  # to compile


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=pytest.mark.slow if k in _LONG else ()) for k in EXACT]
)
def test_samples(kind):
    """Deciles of 4,000 samples lie where the distribution has them, within five deviations."""
    parameters, exact = EXACT[kind]
    drawn = getattr(msd, kind)(*parameters, seed=5).sample((4000,)).asnumpy().reshape(-1)
    assert drawn.shape == (4000,)
    for q in np.linspace(0.1, 0.9, 9):
        at = exact.ppf(q)
        share, wanted = (drawn <= at + 1e-6).mean(), exact.cdf(at)
        assert abs(share - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / 4000 + 1e-9)


def test_samples_of_categories():
    drawn = msd.Categorical(tensor(table.ROWS), seed=2).sample((3000,)).asnumpy()
    assert drawn.shape == (3000, 2)
    counts = np.stack([(drawn == c).mean(0) for c in range(3)], 1)
    assert np.allclose(counts, table.ROWS, atol=0.04)


def test_seeds(mode):
    def draws(seed):
        dist = msd.Gumbel(0.5, 2.0, seed=seed)
        return [dist("sample", (3,)).asnumpy().tolist() for _ in range(2)]

    first = draws(7)
    assert first == draws(7)
    assert first[0] != first[1]
    assert draws(8) != first
    ms.set_seed(3)
    first = draws(0)
    ms.set_seed(3)
    assert first == draws(0) != draws(0)


def test_a_transformed_distribution_has_its_own_stream():
    base = msd.Normal(0.0, 1.0)
    drawn = [
        msd.TransformedDistribution(msb.Exp(), base, seed=4).sample((3,)).asnumpy().tolist()
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]


def test_gradients_of_samples(mode):
    def mean(loc, scale):
        return msd.Normal(seed=3).sample((500,), loc, scale).mean()

    loc, scale = ms.grad(mean, (0, 1))(tensor(1.0), tensor(2.0))
    assert np.isclose(loc.asnumpy(), 1)
    assert abs(scale.asnumpy()) < 0.2
    rate = ms.grad(lambda r: msd.Exponential(seed=3).sample((2000,), r).mean())(tensor(2.0))
    assert np.isclose(rate.asnumpy(), -0.25, rtol=0.15)


@pytest.mark.slow
def test_gradients_of_samples_by_a_concentration():
    """The original has none: the mean of gamma variables grows by 1 / rate."""
    grad = ms.grad(lambda a: msd.Gamma(seed=3).sample((2000,), a, tensor([2.0])).mean())
    assert np.isclose(grad(tensor([1.5])).asnumpy(), 0.5, rtol=0.15)


def test_probabilities_of_gamma_and_poisson():
    """The original has no kernel of Igamma for CPUs."""
    found = msd.Gamma([1.7], [2.0]).cdf(tensor(table.POSITIVE)).asnumpy()
    assert np.allclose(found, stats.gamma(1.7, scale=0.5).cdf(table.POSITIVE), 1e-5)
    found = msd.Poisson([2.3]).cdf(tensor([-1.0, 0.0, 3.0])).asnumpy()
    assert np.allclose(found, stats.poisson(2.3).cdf([-1, 0, 3]), 1e-5)


def test_modes_of_bernoulli():
    assert msd.Bernoulli(tensor(table.PROBS)).mode().asnumpy().tolist() == [0, 0, 1]


def test_a_users_distribution():
    class Triangle(msd.Distribution):
        def __init__(self, width=None, seed=None, dtype=ms.float32, name="Triangle"):
            param = dict(locals())
            param["param_dict"] = {"width": width}
            super().__init__(seed, dtype, name, param)
            self._width = self._add_parameter(width, "width")

        def _cdf(self, value, width=None):
            value = self.cast_base(self._check_value(value, "value"), self.dtype)
            return self.sq_base(value / self._check_param_type(width))

    dist = Triangle(2.0)
    assert np.isclose(dist("survival_function", tensor(1.0)).asnumpy(), 0.75)
    assert np.isclose(dist.log_cdf(tensor(1.0), tensor(4.0)).asnumpy(), np.log(1 / 16))
    assert dist.parameters["param_dict"] == {"width": 2.0}
    with pytest.raises(NotImplementedError, match="prob is not implemented for Triangle"):
        dist.prob(tensor(1.0))


def test_a_parameter_is_trained(mode):
    scale = ms.Parameter(tensor(2.0), name="scale")
    dist = msd.Normal(0.0, scale)
    assert [p.name for p in dist.trainable_params()] == ["scale"]
    grad = ms.value_and_grad(lambda x: -dist.log_prob(x).mean(), None, dist.trainable_params())
    value, gradients = grad(tensor([1.0, 3.0]))
    assert np.isclose(value.asnumpy(), np.log(2) + 0.5 * np.log(2 * np.pi) + 5 / 8)
    assert np.isclose(gradients[0].asnumpy(), 0.5 - 5 / 8)


@pytest.mark.parametrize(
    "mode", ["GRAPH", pytest.param("PYNATIVE", marks=pytest.mark.slow)], indirect=True
)
def test_a_bayesian_network_learns(mode):
    ms.set_seed(1)
    net = bnn_layers.DenseReparam(2, 1)
    with_loss = bnn_layers.WithBNNLossCell(net, nn.MSELoss(), 60.0, 0.01)
    step = nn.TrainOneStepCell(with_loss, nn.Adam(with_loss.trainable_params(), 0.05))
    x = np.random.default_rng(1).normal(size=(32, 2)).astype(np.float32)
    y = Tensor(x @ np.array([[1.0], [-2.0]], np.float32))
    losses = [float(step(Tensor(x), y))]
    count = compilations()
    losses += [float(step(Tensor(x), y)) for _ in range(59)]
    assert compilations() == count
    assert np.mean(losses[-10:]) < 0.3 * np.mean(losses[:5])


ERRORS = {
    "dtype": (TypeError, lambda: msd.Normal(0.0, 1.0, dtype=ms.int32)),
    "seed": (ValueError, lambda: msd.Normal(0.0, 1.0, seed=-1)),
    "seed_type": (TypeError, lambda: msd.Normal(0.0, 1.0, seed=1.5)),
    "name": (TypeError, lambda: msd.Normal(0.0, 1.0, name=3)),
    "bool": (TypeError, lambda: msd.Normal(True, 1.0)),
    "text": (TypeError, lambda: msd.Normal("a", 1.0)),
    "sd": (ValueError, lambda: msd.Normal(0.0, -1.0)),
    "bounds": (ValueError, lambda: msd.Uniform(2.0, 1.0)),
    "probs": (ValueError, lambda: msd.Bernoulli(1.5)),
    "sum": (ValueError, lambda: msd.Categorical(tensor([0.2, 0.2]))),
    "rank": (ValueError, lambda: msd.Categorical(tensor(0.2))),
    "scalar": (TypeError, lambda: msd.Gamma(1.0, 2.0)),
    "scalar_beta": (TypeError, lambda: msd.Beta(1.0, 2.0)),
    "scalar_rate": (TypeError, lambda: msd.Poisson(1.0)),
    "mixed": (TypeError, lambda: msd.Normal(np.array([1.0]), tensor([1.0]))),
    "value": (TypeError, lambda: msd.Normal(0.0, 1.0).prob(1.0)),
    "argument": (TypeError, lambda: msd.Normal(0.0, 1.0).prob(tensor(1.0), 1.0)),
    "absent": (TypeError, lambda: msd.Normal().prob(tensor(1.0))),
    "kinds": (TypeError, lambda: msd.Normal(0.0, 1.0).mean(tensor(1.0, ms.float16))),
    "function": (NotImplementedError, lambda: msd.Normal(0.0, 1.0)("zz", tensor(1.0))),
    "missing": (NotImplementedError, lambda: msd.Laplace(0.0, 1.0).mean()),
    "undefined": (ValueError, lambda: msd.Cauchy(0.0, 1.0).mean()),
    "shape": (TypeError, lambda: msd.Normal(0.0, 1.0).sample([2])),
    "other": (
        ValueError,
        lambda: msd.Normal(0.0, 1.0).kl_loss("Uniform", tensor(1.0), tensor(2.0)),
    ),
    "nonlinear": (
        ValueError,
        lambda: msd.TransformedDistribution(msb.Exp(), msd.Normal(0.0, 1.0)).mean(),
    ),
    "bijector": (TypeError, lambda: msd.TransformedDistribution(3, msd.Normal(0.0, 1.0))),
    "integers": (TypeError, lambda: msd.Gumbel(1, 2)),
    "instruction": (Exception, lambda: msb.Exp()("zz", tensor(1.0))),
    "integer_value": (TypeError, lambda: msb.Exp().forward(Tensor([1]))),
    "power": (ValueError, lambda: msb.PowerTransform(-1.0)),
    "power_none": (TypeError, lambda: msb.PowerTransform(None)),
    "invert": (TypeError, lambda: msb.Invert(3)),
    "prior": (
        TypeError,
        lambda: bnn_layers.DenseReparam(
            3, 2, weight_prior_fn=lambda: bnn_layers.NormalPosterior("a", [2])
        ),
    ),
    "posterior": (TypeError, lambda: bnn_layers.DenseReparam(3, 2, weight_posterior_fn=nn.ReLU)),
    "activation": (ValueError, lambda: bnn_layers.DenseReparam(3, 2, activation=3)),
    "factor": (ValueError, lambda: bnn_layers.WithBNNLossCell(nn.ReLU(), nn.MSELoss(), -1)),
    "factor_type": (TypeError, lambda: bnn_layers.WithBNNLossCell(nn.ReLU(), nn.MSELoss(), True)),
    "shape_type": (TypeError, lambda: bnn_layers.NormalPosterior("a", 3)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    error, case = ERRORS[name]
    with pytest.raises(error, match=r"\[.*test_probability.py:\d+\]$") as caught:
        case()
    assert caught.type is error


def test_dtypes():
    half = msd.Normal(tensor([1.0], ms.float16), tensor([2.0], ms.float16), dtype=ms.float16)
    assert half.log_prob(tensor([1.0])).dtype == ms.float16
    assert half.sample((2,)).dtype == ms.float16
    assert msd.Bernoulli(0.5, dtype=ms.float32).sample((2,)).dtype == ms.float32
    assert ops.is_tensor(msd.Normal([1, 2], [1, 2]).mean())


def test_texts():
    assert str(msd.Normal(0.0, 1.0)) == "Normal(mean = 0.0, standard deviation = 1.0)"
    assert str(msd.Normal(tensor([1.0, 2.0]), 1.0)) == "Normal(batch_shape = (2,))"
    assert "(_bijector): GumbelCDF(loc = 1.0, scale = 2.0)" in str(msd.Gumbel(1.0, 2.0))
