"""Programs over distributions, bijectors and Bayesian layers.

They run on the original (tests/oracle/record_cases.py) and, in both modes, on MindJAX
(test_probability.py); each gives numbers.
"""

import mindspore as ms
import mindspore.nn.probability.bijector as msb
import mindspore.nn.probability.distribution as msd
import numpy as np
from mindspore import Tensor, nn
from mindspore.nn.probability import bnn_layers


def tensor(value, dtype=ms.float32):
    """Make a Float32 Tensor of nested lists."""
    return Tensor(np.asarray(value, np.float32), dtype)


def plain(value):
    """Bring Tensors in tuples to JSON."""
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return value.asnumpy().astype(np.float64).tolist() if isinstance(value, Tensor) else value


class Every(nn.Cell):
    """All functions of a distribution, one result after the other."""

    def __init__(self, dist, functions):
        super().__init__()
        self.dist = dist
        self.at_value = tuple(f for f in functions if f in AT_VALUE)
        self.alone = tuple(f for f in functions if f in ALONE)
        self.apart = tuple(f for f in functions if f in APART)
        self.kind = dist.get_dist_type() if self.apart else ""

    def construct(self, value, own, other):
        out = []
        for name in self.at_value:
            out.append(self.dist(name, value, *own))
        for name in self.alone:
            out.append(self.dist(name, *own))
        for name in self.apart:
            out.append(self.dist(name, self.kind, *other, *own))
        return tuple(out)


AT_VALUE = ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival")
ALONE = ("mean", "sd", "var", "mode", "entropy")
APART = ("kl_loss", "cross_entropy")
ALL = (*AT_VALUE, *ALONE, *APART)
DENSITY = ("prob", "log_prob")


def but(*names):
    """List all functions but some."""
    return tuple(f for f in ALL if f not in names)


REALS = [-1.5, 0.25, 3.0]
POSITIVE = [0.3, 1.0, 4.0]
INSIDE = [0.1, 0.5, 0.8]
COUNTS = [0.0, 1.0, 3.0]
LOC, SCALE = [0.5, -1.0, 2.0], [0.5, 1.0, 2.5]
COLUMN_LOC, COLUMN_SCALE = [[0.5], [-1.0]], [[2.0], [0.7]]
A, B = [0.8, 2.0, 3.5], [1.5, 0.6, 2.0]
PROBS = [0.2, 0.5, 0.7]
ROWS = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]


def two(value, first, second, scalars):
    """List settings of two parameters: own (as given), of the call, value, of another."""
    other = ([1.5, 0.5, 1.0], [0.8, 2.0, 1.25])
    column = ([[v] for v in first[:2]], [[v] for v in second[:2]])
    settings = [
        ((tensor(first), tensor(second)), (), value, other),
        ((first, second), (), value, other),
        ((None, None), (first, second), value, other),
        ((tensor(first), None), (None, second), value, other),
        ((tensor(first), tensor(second)), column, value, other),
        ((tensor(column[0]), tensor(second)), (), value, other),
    ]
    if scalars:
        settings.append((scalars, (), value, ([1.5], [0.8])))
    return settings


def one(value, first, scalar, other):
    """List settings of one parameter."""
    settings = [
        ((tensor(first),), (), value, (other,)),
        ((first,), (), value, (other,)),
        ((None,), (first,), value, (other,)),
        ((tensor(first),), ([[v] for v in first[:2]],), value, (other,)),
    ]
    if scalar:
        settings.append(((scalar,), (), value, (other,)))
    return settings


STUDENT = [
    ((tensor(A), tensor(LOC), tensor(SCALE)), (), REALS, ()),
    ((3.0, 0.0, 2.0), (), REALS, ()),
    ((None, None, None), (A, LOC, SCALE), REALS, ()),
    ((A, COLUMN_LOC, SCALE), (), REALS, ()),
]
UNIFORM = [
    ((tensor([0.0, 1.0, -2.0]), tensor([1.0, 3.0, 3.0])), (), REALS, ([-3.0], [4.0])),
    ((0.0, 2.0), (), REALS, ([0.5], [4.0])),
    ((None, None), ([0.0, 1.0, -2.0], [1.0, 3.0, 3.0]), REALS, ([-3.0], [4.0])),
    ((0.0, 2.0), ([[0.0], [1.0]], [1.5, 2.0, 5.0]), REALS, ([0.0], [5.0])),
]
CATEGORICAL = [
    ((tensor(ROWS),), (), [0.0, 2.0], (ROWS[::-1],)),
    ((tensor(ROWS[0]),), (), COUNTS, (ROWS[1],)),
    ((tensor(ROWS[0]),), (), 1.0, (ROWS[1],)),
    ((tensor(ROWS),), (), [[-0.5, 1.5], [5.0, -2.0]], (ROWS,)),
    ((None,), (ROWS,), [1.0, 2.0], (ROWS[0],)),
]
GUMBEL = [
    ((LOC, SCALE), (), REALS, ([0.0, 1.0, 2.0], [1.0, 1.0, 0.5])),
    ((0.5, 2.0), (), REALS, ([0.0], [1.0])),
    ((0.0, 1.0), (), 0.7, ([0.3], [1.5])),
    ((COLUMN_LOC, SCALE), (), REALS, ([0.0, 1.0, 2.0], [1.0, 1.0, 0.5])),
]
# Class, functions, settings.
KINDS = {
    "Normal": (ALL, two(REALS, LOC, SCALE, (0.5, 2.0))),
    "Cauchy": (but("mean", "sd", "var"), two(REALS, LOC, SCALE, (0.5, 2.0))),
    "Logistic": (but("kl_loss", "cross_entropy"), two(REALS, LOC, SCALE, (0.5, 2.0))),
    "LogNormal": (ALL, two(POSITIVE, LOC, SCALE, (0.5, 2.0))),
    "HalfNormal": (DENSITY, two(REALS, LOC, SCALE, (0.0, 2.0))),
    "Laplace": (DENSITY, two(REALS, LOC, SCALE, (0.5, 2.0))),
    "StudentT": (DENSITY, STUDENT),
    "Uniform": (but("mode"), UNIFORM),
    "Gamma": (but("cdf", "log_cdf", "survival_function", "log_survival"), two(POSITIVE, A, B, ())),
    "Beta": (but("cdf", "log_cdf", "survival_function", "log_survival"), two(INSIDE, A, B, ())),
    "Exponential": (ALL, one([-1.0, 0.4, 2.0], B, 1.5, [1.0, 2.0, 0.5])),
    "Poisson": ((*DENSITY, "mean", "sd", "var", "mode"), one(COUNTS, A, None, [1.0, 2.0, 0.5])),
    "Bernoulli": (but("mode"), one([0.0, 1.0, 1.0], PROBS, 0.3, [0.4, 0.1, 0.6])),
    "Geometric": (ALL, one(COUNTS, PROBS, 0.3, [0.4, 0.1, 0.6])),
    "Categorical": (ALL, CATEGORICAL),
    "Gumbel": (ALL, GUMBEL),
}
NEEDS_NO_CDF = {"HalfNormal", "Laplace", "StudentT"}


def distribution(kind, index):
    """Compute every function of a distribution."""
    functions, settings = KINDS[kind]
    own, call, value, other = settings[index]
    net = Every(getattr(msd, kind)(*own), functions)
    call, other = (tuple(None if v is None else tensor(v) for v in p) for p in (call, other))
    return dict(zip(functions, plain(net(tensor(value), call, other)), strict=True))


def gradients(kind):
    """Differentiate the logarithm of the density, summed up, by the value and the parameters."""
    own, call, value, _ = next(s for s in KINDS[kind][1] if s[1])
    dist = getattr(msd, kind)(*own)
    inputs = [tensor(value), *(tensor(v) for v in call)]
    if kind in ("Bernoulli", "Geometric", "Poisson", "Categorical"):
        positions = tuple(range(1, len(inputs)))
    else:
        positions = tuple(range(len(inputs)))
    return plain(ms.grad(lambda *x: dist.log_prob(*x).sum(), positions)(*inputs))


class Maps(nn.Cell):
    """All functions of a bijector."""

    def __init__(self, bijector):
        super().__init__()
        self.bijector = bijector

    def construct(self, x, y):
        return (
            self.bijector("forward", x),
            self.bijector("inverse", y),
            self.bijector("forward_log_jacobian", x),
            self.bijector("inverse_log_jacobian", y),
        )


BIJECTORS = {
    "exp": (lambda: msb.Exp(), REALS, POSITIVE),
    "power": (lambda: msb.PowerTransform(0.5), POSITIVE, POSITIVE),
    "power_zero": (lambda: msb.PowerTransform(), REALS, POSITIVE),
    "power_batch": (lambda: msb.PowerTransform(tensor([0.0, 0.5, 2.0])), POSITIVE, POSITIVE),
    "affine": (lambda: msb.ScalarAffine(2.0, -1.0), REALS, REALS),
    "affine_batch": (lambda: msb.ScalarAffine(tensor(SCALE), tensor(LOC)), REALS, REALS),
    "affine_negative": (lambda: msb.ScalarAffine(-3.0), REALS, REALS),
    "softplus": (lambda: msb.Softplus(), [-20.0, 0.5, 25.0], [1e-8, 0.5, 25.0]),
    "softplus_sharp": (lambda: msb.Softplus(2.5), REALS, POSITIVE),
    "softplus_batch": (lambda: msb.Softplus(tensor(SCALE)), REALS, POSITIVE),
    "gumbel": (lambda: msb.GumbelCDF(), REALS, INSIDE),
    "gumbel_batch": (lambda: msb.GumbelCDF(tensor(LOC), tensor(SCALE)), REALS, INSIDE),
    "invert": (lambda: msb.Invert(msb.Exp()), POSITIVE, REALS),
    "invert_gumbel": (lambda: msb.Invert(msb.GumbelCDF(1.0, 2.0)), INSIDE, REALS),
    "invert_twice": (lambda: msb.Invert(msb.Invert(msb.Softplus())), REALS, POSITIVE),
}


def bijector(name):
    """Compute every function of a bijector, and the gradient of its values."""
    make, x, y = BIJECTORS[name]
    made = make()
    return [
        *plain(Maps(made)(tensor(x), tensor(y))),
        plain(ms.grad(lambda v: made.forward(v).sum())(tensor(x))),
        plain(ms.grad(lambda v: made.inverse(v).sum())(tensor(y))),
    ]


TRANSFORMED = {
    "affine": (lambda: msb.ScalarAffine(2.0, 1.0), (*AT_VALUE, "mean"), REALS),
    "exp": (lambda: msb.Exp(), AT_VALUE, POSITIVE),
    "softplus": (lambda: msb.Softplus(), AT_VALUE, POSITIVE),
    "invert": (lambda: msb.Invert(msb.Exp()), AT_VALUE, REALS),
}


def transformed(name):
    """Compute the functions of a transformed normal distribution."""
    make, functions, value = TRANSFORMED[name]
    base = msd.Normal(tensor(LOC), tensor(SCALE))
    dist = msd.TransformedDistribution(make(), base)
    called = make()(base)
    return plain([Every(dist, functions)(tensor(value), (), ()), called("log_prob", tensor(value))])


class Drawn(nn.Cell):
    """Samples."""

    def __init__(self, dist):
        super().__init__()
        self.dist = dist

    def construct(self, own):
        return (
            self.dist("sample", (), *own),
            self.dist("sample", (4,), *own),
            self.dist("sample", (2, 4), *own),
        )


def samples(kind, index):
    """Give shapes and dtypes of samples."""
    own, call, _, _ = KINDS[kind][1][index]
    call = tuple(None if v is None else tensor(v) for v in call)
    drawn = Drawn(getattr(msd, kind)(*own, seed=3))(call)
    return [[list(x.shape), str(x.dtype)] for x in drawn]


def divergence(layer, **kw):
    """Give the divergence of a Bayesian layer whose Parameters are known."""
    net = getattr(bnn_layers, layer)(*((2, 4, 3) if layer == "ConvReparam" else (3, 4)), **kw)
    names = []
    for parameter in net.get_parameters():
        names.append([parameter.name, list(parameter.shape), parameter.requires_grad])
        values = np.sin(np.arange(parameter.size)).reshape(parameter.shape)
        parameter.set_data(Tensor(values.astype(np.float32) - 2 * ("std" in parameter.name)))
    return [names, plain(net.compute_kl_loss())]


class Same(nn.Cell):
    """A posterior that always draws its mean."""

    def __init__(self, name, shape):
        super().__init__()
        self.name_of, self.shape_of = name, shape
        values = np.cos(np.arange(np.prod(shape))).reshape(shape)
        self.mean = self.untransformed_std = 0
        self.normal = msd.Normal(Tensor(values.astype(np.float32)), tensor(1e-30))

    def construct(self, *inputs):
        return self.normal(*inputs)


def layer(name, *args, **kw):
    """Give what a Bayesian layer computes when its weights hardly vary."""
    given = {"weight_posterior_fn": Same, "bias_posterior_fn": Same, **kw}
    net = getattr(bnn_layers, name)(*args, **given)
    shape = (2, 2, 5, 5) if name == "ConvReparam" else (2, 3)
    x = np.sin(np.arange(np.prod(shape))).reshape(shape).astype(np.float32)
    return plain(net(Tensor(x)))


def loss_cell(**kw):
    """Give the loss of a Bayesian network whose weights hardly vary."""
    net = nn.SequentialCell(
        bnn_layers.DenseReparam(3, 4, weight_posterior_fn=Same, bias_posterior_fn=Same), nn.ReLU()
    )
    for parameter in net.get_parameters():
        parameter.set_data(tensor(np.zeros(parameter.shape)))
    with_loss = bnn_layers.WithBNNLossCell(net, nn.MSELoss(), **kw)
    return plain(with_loss(tensor(np.ones((2, 3))), tensor(np.ones((2, 4)))))


CASES = {
    **{
        f"{kind}_{i}": lambda k=kind, i=i: distribution(k, i)
        for kind, (_, settings) in KINDS.items()
        for i in range(len(settings))
    },
    **{f"gradient_{kind}": lambda k=kind: gradients(k) for kind in KINDS if kind != "Gumbel"},
    **{f"bijector_{name}": lambda n=name: bijector(n) for name in BIJECTORS},
    **{f"transformed_{name}": lambda n=name: transformed(n) for name in TRANSFORMED},
    **{
        f"sample_{kind}_{i}": lambda k=kind, i=i: samples(k, i)
        for kind in KINDS
        if kind not in NEEDS_NO_CDF and kind not in ("Gamma", "Beta", "Poisson")
        for i in (0, 2)
    },
    "divergence_dense": lambda: divergence("DenseReparam"),
    "divergence_no_bias": lambda: divergence("DenseReparam", has_bias=False),
    "divergence_local": lambda: divergence("DenseLocalReparam"),
    "divergence_conv": lambda: divergence("ConvReparam"),
    "divergence_conv_bias": lambda: divergence("ConvReparam", has_bias=True),
    "dense": lambda: layer("DenseReparam", 3, 4),
    "dense_activation": lambda: layer("DenseReparam", 3, 4, activation="relu"),
    "dense_no_bias": lambda: layer("DenseReparam", 3, 4, has_bias=False, activation=nn.Tanh()),
    "local": lambda: layer("DenseLocalReparam", 3, 4),
    "conv": lambda: layer("ConvReparam", 2, 4, 3),
    "conv_bias": lambda: layer("ConvReparam", 2, 4, 3, has_bias=True, stride=2),
    "conv_pad": lambda: layer("ConvReparam", 2, 4, (3, 2), pad_mode="pad", padding=1, dilation=2),
    "conv_group": lambda: layer("ConvReparam", 2, 4, 3, pad_mode="valid", group=2),
    "loss": loss_cell,
    "loss_factors": lambda: loss_cell(dnn_factor=0.5, bnn_factor=0),
}
