"""Initializers against the original's values, moments and errors."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mindjax as ms
import mindjax.common.initializer as init
from mindjax import nn
from tests.nn import optim_cases as cases

GOLDENS = pathlib.Path(__file__).resolve().parent.parent / "goldens" / "optim"
RECORDED = json.loads((GOLDENS / "recorded.json").read_text())


def evaluate(expression):
    return eval(expression, {"ms": ms, "init": init, "np": np})


@pytest.mark.parametrize("name", cases.EXACT)
def test_values_equal_the_originals(name):
    array = evaluate(cases.EXACT[name]).asnumpy()
    assert [str(array.dtype), array.tolist()] == RECORDED["exact"][name]


@pytest.mark.parametrize("name", cases.DISTRIBUTIONS)
def test_moments_equal_the_originals(name, seed):
    array = evaluate(cases.DISTRIBUTIONS[name]).asnumpy().astype(np.float64)
    mean, deviation, low, high = RECORDED["moments"][name]
    # Six standard errors of the difference of two samples' moments.
    slack = 6 * 2**0.5 / array.size**0.5 * deviation
    assert abs(array.mean() - mean) < slack
    assert abs(array.std() - deviation) < slack
    # A bounded distribution comes close to its bounds, a normal one's extremes scatter.
    bounded = deviation * 3 > max(-low, high) - abs(mean) or name == "truncated_normal_bounds"
    extremes = 0.01 if bounded else 0.35
    assert abs(array.min() - low) < extremes * (high - low)
    assert abs(array.max() - high) < extremes * (high - low)


def test_a_truncated_normal_far_out():
    high = init.initializer(init.TruncatedNormal(1.0, 0.0, 9.0, 10.0), [1000]).asnumpy()
    low = init.initializer(init.TruncatedNormal(1.0, 0.0, -10.0, -9.0), [1000]).asnumpy()
    assert high.min() >= 9 and high.max() <= 10 and abs(high.mean() - 9.109) < 0.02
    assert low.min() >= -10 and low.max() <= -9 and abs(low.mean() + 9.109) < 0.02


@pytest.mark.parametrize("shape", [[6, 8], [8, 6], [5, 2, 2, 2]])
def test_orthogonal_rows_or_columns(shape):
    matrix = init.initializer(init.Orthogonal(2.0), shape).asnumpy().reshape(shape[0], -1)
    product = matrix @ matrix.T if shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=2e-6)


def test_sparse_columns():
    zeros = init.initializer(init.Sparse(0.25), [10, 30]).asnumpy() == 0
    assert (zeros.sum(0) == 3).all()
    assert len({tuple(column) for column in zeros.T}) > 10


def test_the_same_seed_gives_the_same_values():
    drawn = []
    for _ in range(2):
        ms.set_seed(3)
        drawn.append([init.initializer(n, [4, 5]).asnumpy() for n in ("normal", "he_uniform")])
    np.testing.assert_array_equal(*drawn)
    assert (drawn[0][0] != init.initializer("normal", [4, 5]).asnumpy()).any()


def test_a_tensor_is_given_back():
    tensor = ms.Tensor([1.0, 2.0])
    assert init.initializer(tensor) is tensor
    assert init.initializer(tensor, [2]) is tensor


def test_a_users_initializer():
    class Ramp(init.Initializer):
        def _initialize(self, arr):
            init._assignment(arr, np.arange(arr.size).reshape(arr.shape))

    tensor = init.initializer(Ramp(), [2, 3], ms.float16)
    assert tensor.dtype is ms.float16
    np.testing.assert_array_equal(tensor.asnumpy(), [[0, 1, 2], [3, 4, 5]])
    assert ms.Parameter(tensor, name="w").clone(Ramp()).asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    "expression", cases.INITIALIZER_ERRORS.values(), ids=list(cases.INITIALIZER_ERRORS)
)
def test_bad_input_raises_the_originals_class_and_names_the_line(expression):
    kind, _ = RECORDED["errors"][expression]
    with pytest.raises(Exception) as caught:
        evaluate(compile(expression, "user_script.py", "eval"))
    assert type(caught.value).__name__ == kind
    assert "user_script.py:1]" in str(caught.value) and "\n" not in str(caught.value)


def test_filling_starts_no_backend():
    script = (
        "import mindjax as ms, jax\n"
        "from mindjax.common.initializer import initializer\n"
        "ms.set_seed(1)\n"
        "p = [ms.Parameter(initializer('he_uniform', [4, 5]), name='w')]\n"
        "ms.nn.Momentum(p, 0.1, 0.9, 0.1, 2.0)\n"
        "ms.nn.Adam(p, [0.1, 0.2])\n"
        "from jax._src import xla_bridge\n"
        "assert not xla_bridge._backends, xla_bridge._backends\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_seed_of_its_own():
    normal = init.Normal(1.0)
    assert normal.seed == (ms.get_seed() or 0, 0)
    normal.seed = 5
    assert normal.seed == (6, 0)
    first, second = (init.initializer(normal, [4]).asnumpy() for _ in range(2))
    np.testing.assert_array_equal(first, second)
    normal.seed = None
    assert (init.initializer(normal, [4]).asnumpy() != first).any()
    with pytest.raises(ValueError, match="seed"):
        normal.seed = -1


# Numbers of 32 bit that making a layer takes from numpy's global stream in MindSpore 2.10.0.
TAKEN = {
    "nn.Dense(8, 2)": 4,
    "nn.Dense(8, 2, 'ones', 'zeros')": 0,
    "nn.Conv2d(3, 4, 3)": 2,
    "nn.Conv3d(3, 4, 3, has_bias=True)": 4,
    "nn.Embedding(4, 2)": 2,
    "nn.BiDense(3, 4, 5)": 4,
    "nn.MultiheadAttention(4, 2)": 6,
    "nn.TransformerEncoderLayer(4, 2, 8)": 14,
    "nn.TransformerDecoderLayer(4, 2, 8)": 20,
    "nn.BatchNorm2d(3)": 0,
    "nn.LSTM(3, 4)": 288,
    "nn.GRU(3, 4)": 216,
    "nn.LSTMCell(3, 4)": 360,
    "mint.nn.Linear(3, 4)": 4,
}


@pytest.mark.parametrize("make", TAKEN)
def test_what_numpy_gives_after_a_layer_is_made(make: str) -> None:
    """Data that a script draws from numpy after it has made its network is the original's."""

    def place() -> int:
        return int(np.random.get_state()[2])

    np.random.seed(0)
    np.random.randint(5)
    before = place()
    eval(make, {"nn": nn, "mint": ms.mint})
    assert place() - before == TAKEN[make]


def test_weights_of_a_recurrent_layer_are_the_originals() -> None:
    """They are numpy's own numbers: MindSpore 2.10.0 has these after ``numpy.random.seed(1)``."""
    np.random.seed(1)
    first = next(iter(nn.LSTM(3, 4).get_parameters()))
    np.testing.assert_allclose(first.asnumpy().ravel()[:2], [-0.08298, 0.22032], atol=1e-5)


def test_numpys_seed_fixes_weights() -> None:
    made = []
    for _ in range(2):
        np.random.seed(3)
        made.append(nn.Dense(4, 3).weight.asnumpy())
    np.testing.assert_array_equal(*made)


# Drawn one after another after ``set_seed(3)`` by MindSpore 2.10.0: the first three numbers and the
# sum of the absolute values.
SEEDED = [
    ("nn.Dense(8, 5).weight", [-0.161317, -0.002141, -0.080089], 7.3611),
    ("nn.Conv2d(3, 4, 3).weight", [-0.005242, 0.108868, -0.151981], 9.9853),
    ("nn.Embedding(5, 4).embedding_table", [-0.005303, -0.010973, 0.001768], 0.148),
    (
        "of(init.Normal())",
        [-0.009505, 0.015607, 0.000273],
        0.2272,
    ),
    (
        "of(init.Uniform())",
        [-0.042401, -0.067126, -0.016778],
        1.1176,
    ),
    (
        "of(init.TruncatedNormal())",
        [-0.004531, -0.006187, 0.019327],
        0.1955,
    ),
    (
        "of(init.XavierUniform())",
        [-0.384129, -0.398258, -0.277582],
        10.7316,
    ),
    (
        "of(init.XavierNormal())",
        [-0.370093, 0.792244, -0.232301],
        11.612,
    ),
    (
        "of(init.HeUniform())",
        [1.0345, -0.719645, -0.465783],
        19.733,
    ),
    (
        "of(init.HeNormal())",
        [-1.197465, 0.074991, 0.107335],
        14.8622,
    ),
    (
        "of(init.Orthogonal())",
        [-0.128638, 0.122129, 0.0086],
        8.2107,
    ),
    (
        "of(init.VarianceScaling())",
        [0.563587, -0.368085, -0.250934],
        11.4323,
    ),
    (
        'of(init.VarianceScaling(1.0,"fan_in","untruncated_normal"))',
        [-0.104045, 0.998561, -0.285633],
        8.5971,
    ),
    (
        'of(init.VarianceScaling(1.0,"fan_in","uniform"))',
        [0.065744, -0.07771, 0.771368],
        10.7389,
    ),
    ("of(init.Sparse(0.2))", [0.0, -0.011245, 0.011378], 0.1209),
    (
        "of(init.TruncatedNormal(0.5,1.0,-3,1))",
        [0.942841, 0.632365, 0.910411],
        17.6866,
    ),
    ("nn.LSTMCell(3, 4).weight_ih", [0.068664, -0.398881, -0.325383], 10.9798),
    ("nn.MultiheadAttention(4, 2).in_proj_weight", [-0.018233, 0.280711, -0.26326], 14.0486),
    ("ms.mint.nn.Linear(3, 4).weight", [-0.059995, -0.299726, 0.275396], 3.6557),
]


def test_weights_are_the_originals() -> None:
    ms.set_seed(3)
    names = {"ms": ms, "nn": nn, "init": init, "of": lambda x: init.initializer(x, [6, 5])}
    for expression, first, total in SEEDED:
        weights = eval(expression, names).asnumpy().astype(np.float64)
        np.testing.assert_allclose(weights.ravel()[:3], first, atol=3e-6, err_msg=expression)
        np.testing.assert_allclose(np.abs(weights).sum(), total, 1e-5, 1e-4, err_msg=expression)
