"""Networks exported to ONNX: onnxruntime computes what they compute here."""

import os
from pathlib import Path

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn, ops
from mindjax.mindir import export
from tests.mindir.networks import NETWORKS, flat, floats, integers, tensors

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")


def run(path, inputs):
    """Run a file with onnxruntime on arrays, in the order of its inputs."""
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    given = [a for x in inputs for a in (x if isinstance(x, tuple) else [x])]
    names = [i.name for i in session.get_inputs()]
    return session.run(None, dict(zip(names, given, strict=True)))


def assert_same(path, network, inputs, tolerance=1e-5):
    expected = flat(network(*tensors(inputs)))
    found = run(path, inputs)
    assert len(found) == len(expected)
    for value, wanted in zip(found, expected, strict=True):
        assert value.dtype == wanted.dtype
        assert value.shape == wanted.shape
        np.testing.assert_allclose(value, wanted, rtol=tolerance, atol=tolerance)


def exported(network, inputs, path, **options):
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.export(network, *tensors(inputs), file_name=str(path), file_format="ONNX", **options)
    if isinstance(network, nn.Cell):
        network.set_train(False)
    onnx.checker.check_model(onnx.load(str(path)), full_check=True)


class LeNet5(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool, self.relu = nn.MaxPool2d(kernel_size=2, stride=2), nn.ReLU()
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x.reshape((x.shape[0], -1)))))))


class Block(nn.Cell):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, pad_mode="pad", padding=1)
        self.conv2 = nn.Conv2d(cout, cout, 3, pad_mode="pad", padding=1)
        self.norm1, self.norm2 = nn.BatchNorm2d(cout), nn.BatchNorm2d(cout)
        self.short = None
        if stride != 1 or cin != cout:
            self.short = nn.SequentialCell(nn.Conv2d(cin, cout, 1, stride), nn.BatchNorm2d(cout))

    def construct(self, x):
        out = self.norm2(self.conv2(ops.relu(self.norm1(self.conv1(x)))))
        return ops.relu(out + (x if self.short is None else self.short(x)))


def resnet18():
    sizes = [(16, 16, 1), (16, 16, 1), (16, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1),
             (64, 128, 2), (128, 128, 1)]  # fmt: skip
    return nn.SequentialCell(
        nn.Conv2d(3, 16, 7, 2, pad_mode="same"), nn.BatchNorm2d(16), nn.ReLU(),
        nn.MaxPool2d(3, 2, pad_mode="same"), *[Block(*s) for s in sizes],
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dense(128, 10),
    )  # fmt: skip


class Bert(nn.Cell):
    """Two encoder layers over tokens, segments and positions, with a pooler."""

    def __init__(self):
        super().__init__()
        self.tokens, self.segments = nn.Embedding(50, 16), nn.Embedding(2, 16)
        self.places = ms.Parameter(ms.Tensor(floats(6, 16)), name="places")
        self.norm = nn.LayerNorm((16,), epsilon=1e-12)
        layer = nn.TransformerEncoderLayer(16, 2, 32, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.pooler = nn.Dense(16, 16, activation="tanh")

    def construct(self, tokens, segments):
        x = self.norm(self.tokens(tokens) + self.segments(segments) + self.places)
        x = self.encoder(x)
        return x, self.pooler(x[:, 0])


class Llama(nn.Cell):
    """RMSNorm, rotary embedding, attention with a mask, SwiGLU."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Dense(8, 24, has_bias=False), nn.Dense(8, 8, has_bias=False)
        self.gate, self.up, self.down = nn.Dense(8, 12), nn.Dense(8, 12), nn.Dense(12, 8)
        self.gain = ms.Parameter(ms.Tensor(floats(8)), name="gain")
        angles = np.outer(np.arange(5), 10000.0 ** -np.array([0.0, 0.5]))
        self.cos, self.sin = (ms.Tensor(f(angles).astype("f")) for f in (np.cos, np.sin))

    def rotate(self, x):
        a, b = ops.split(x, 2, -1)
        return ops.concat((a * self.cos - b * self.sin, b * self.cos + a * self.sin), -1)

    def construct(self, x):
        q, k, v = ops.unstack(
            self.qkv(ops.rms_norm(x, self.gain)[0])
            .reshape((2, 5, 3, 2, 4))
            .transpose(2, 0, 3, 1, 4)
        )
        mask = ops.triu(ops.full((5, 5), -1e9, dtype=ms.float32), 1)
        scores = ops.matmul(self.rotate(q), self.rotate(k).swapaxes(-1, -2)) * 0.5 + mask
        mixed = ops.matmul(ops.softmax(scores, -1), v).transpose(0, 2, 1, 3).reshape((2, 5, 8))
        x = x + self.out(mixed)
        return x + self.down(ops.silu(self.gate(x)) * self.up(x))


class More(nn.Cell):
    """Operations that the other networks do not have."""

    def construct(self, x, n):
        y = ops.abs(x) + 0.25
        return (
            ops.atan2(x, y - 1), ops.log1p(y * 1e-5), ops.expm1(x * 1e-4), ops.erfc(x),
            ops.floor_div(n, 3), ops.floor_mod(-n, 3), ops.fmod(x, 0.7), ops.isfinite(x / (x - x)),
            ops.cumprod(y, 1), ops.cummax(x, 1)[0], ops.cummin(x, 0)[0], ops.mish(x),
            ops.hardswish(x), ops.hardsigmoid(x), ops.relu6(x * 4), ops.softsign(x), ops.GeLU()(x),
            ops.erfinv(x * 0.1), ops.stack((x, y), 1), ops.tile(x, (2, 1, 2)), (x > 0).any(1),
            (x > 0).all(), ops.tensor_scatter_add(x, n.reshape((-1, 1)) % 3, y), ops.round(x),
            ops.sign(x), ops.logical_xor(x > 0, y > 1), x.astype(ms.float16) * 2,
            ops.bmm(x[None], y.T[None]),
        )  # fmt: skip


OWN = {
    "lenet5": lambda: (LeNet5(), [floats(2, 1, 32, 32)]),
    "resnet18": lambda: (resnet18(), [floats(2, 3, 32, 32)]),
    "bert": lambda: (Bert(), [integers(50, 2, 6), integers(2, 2, 6)]),
    "lstm": lambda: (nn.LSTM(3, 4, batch_first=True), [floats(2, 90, 3)]),
    "llama": lambda: (Llama(), [floats(2, 5, 8)]),
    "more": lambda: (More(), [floats(3, 4), integers(9, 3)]),
}
STATELESS = {n: m for n, m in NETWORKS.items() if n != "counter" and not n.startswith("step")}
ALL = {**STATELESS, **OWN}
SLOW = {"recurrent", "several", "rows", "resnet18", "reductions", "bert", "functions", "attention",
        "scanned", "mlp"}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in ALL]
)
def test_onnxruntime_agrees(name, tmp_path):
    ms.set_seed(1)
    network, inputs = ALL[name]()
    exported(network, inputs, tmp_path / "net.onnx")
    assert_same(tmp_path / "net.onnx", network, inputs)


@pytest.mark.slow
@pytest.mark.parametrize("opset", [18, 19, 20, 21, 22, 23])
@pytest.mark.parametrize("name", ["more", "functions", "reductions", "convolutions", "loop"])
def test_opsets(name, opset, tmp_path):
    network, inputs = ALL[name]()
    exported(network, inputs, tmp_path / "net.onnx", opset=opset)
    model = onnx.load(str(tmp_path / "net.onnx"))
    assert [o.version for o in model.opset_import] == [opset]
    assert_same(tmp_path / "net.onnx", network, inputs)


class Sizes(nn.Cell):
    """Sizes that are computed of an open one."""

    def construct(self, x, y):
        size = x.shape[0]
        both = ops.concat((x, y), 0).reshape((2 * size, -1))
        return ops.softmax(both, -1), x.reshape((size * 2, 2)), ops.broadcast_to(y.sum(), (size, 3))


@pytest.mark.parametrize(
    ("make", "rest", "sizes"),
    [
        (LeNet5, [(1, 32, 32)], [(1,), (3,)]),
        (Sizes, [(4,), (4,)], [(3, 3), (5, 5)]),
        (lambda: lambda x, y: ops.matmul(x, y.T), [(4,), (4,)], [(3, 5), (1, 2)]),
    ],
)
def test_open_sizes(make, rest, sizes, tmp_path):
    network, path = make(), tmp_path / "n.onnx"
    declared = [ms.Tensor(shape=[None, *shape], dtype=ms.float32) for shape in rest]
    ms.export(network, *declared, file_name=str(path), file_format="ONNX")
    ms.set_context(mode=ms.GRAPH_MODE)
    for firsts in sizes:
        assert_same(path, network, [floats(n, *s) for n, s in zip(firsts, rest, strict=True)])


def test_names(tmp_path):
    network = nn.Dense(4, 3)
    path = tmp_path / "net"
    ms.onnx.export(
        network, ms.Tensor(floats(2, 4)), file_name=str(path), input_names=["rows"],
        output_names=["scores"], dynamic_axes={"rows": {0: "batch"}},
    )  # fmt: skip
    graph = onnx.load(f"{path}.onnx").graph
    assert [i.name for i in graph.input] == ["rows"]
    assert [o.name for o in graph.output] == ["scores"]
    assert [d.dim_param or d.dim_value for d in graph.input[0].type.tensor_type.shape.dim] == [
        "batch",
        4,
    ]
    assert {t.name for t in graph.initializer} >= {"weight", "bias"}
    assert_same(f"{path}.onnx", network, [floats(7, 4)])


@pytest.mark.parametrize(
    ("options", "inputs", "values"),
    [
        ({"export_params": False}, {"x", "weight", "bias"}, set()),
        ({"keep_initializers_as_inputs": True}, {"x", "weight", "bias"}, {"weight", "bias"}),
    ],
)
def test_parameters_as_inputs(options, inputs, values, tmp_path):
    network, x = nn.Dense(4, 3), floats(2, 4)
    path = str(tmp_path / "net.onnx")
    ms.onnx.export(network, ms.Tensor(x), file_name=path, **options)
    graph = onnx.load(path).graph
    assert {i.name for i in graph.input} == inputs
    assert {t.name for t in graph.initializer if not t.name.startswith("/")} == values
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    given = {"x": x, "weight": 2 * network.weight.asnumpy(), "bias": network.bias.asnumpy()}
    wanted = x @ given["weight"].T + given["bias"]
    np.testing.assert_allclose(session.run(None, given)[0], wanted, atol=1e-5)


def test_large_parameters_lie_apart(tmp_path, monkeypatch):
    monkeypatch.setattr("mindjax.onnx.writing.model.TOGETHER_BYTES", 100)
    monkeypatch.setattr("mindjax.onnx.writing.model._SMALL", 64)
    path, x = tmp_path / "net.onnx", floats(2, 40)
    for _ in range(2):
        network = nn.Dense(40, 16)
        network.bias.set_data(ms.Tensor(floats(16)))
        exported(network, [x], path)
        assert_same(path, network, [x])
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names[0] == "net.onnx"
    assert len(names) == 2
    assert names[1].endswith(".data")
    model = onnx.load(str(path), load_external_data=False)
    assert {t.name for t in model.graph.initializer if t.data_location} == {"weight"}


def test_training_is_as_before(tmp_path):
    network = nn.SequentialCell(nn.Dense(4, 4), nn.Dropout(p=0.5), nn.BatchNorm1d(4))
    network.set_train()
    network[2].set_train(False)
    path = tmp_path / "net.onnx"
    ms.export(network, ms.Tensor(floats(2, 4)), file_name=str(path), file_format="ONNX")
    assert [c.training for c in network] == [True, True, False]
    assert_same(path, network.set_train(False), [floats(2, 4)])


class Watching(nn.Cell):
    """Notes a mean that its result does not need."""

    def __init__(self):
        super().__init__()
        self.mean = ms.Parameter(ms.Tensor(np.zeros(4, np.float32)), name="mean")

    def construct(self, x):
        self.mean += x.mean(0)
        return ops.tanh(x)


def test_state_that_no_result_needs(tmp_path):
    path, network, x = tmp_path / "net.onnx", Watching(), floats(2, 4)
    ms.export(network, ms.Tensor(x), file_name=str(path), file_format="ONNX")
    assert not network.mean.asnumpy().any()
    np.testing.assert_allclose(run(path, [x])[0], np.tanh(x), atol=1e-6)


def complex_numbers(x):
    return ops.fft(x).abs()


def digamma(x):
    return ops.digamma(x)


@pytest.mark.parametrize(
    ("make", "inputs", "named"),
    [
        (lambda: digamma, [floats(3)], "'Digamma'.*MINDIR"),
        (lambda: complex_numbers, [floats(4)], "fft.*STABLEHLO"),
        (lambda: NETWORKS["counter"]()[0], [floats(3)], "writes 'total'"),
        (lambda: lambda x: ops.bitwise_and(x, 3), [integers(9, 3)], "opset=18"),
    ],
)
def test_no_form(make, inputs, named, tmp_path):
    with pytest.raises(NotImplementedError, match=named) as raised:
        export(make(), *tensors(inputs), file_name=str(tmp_path / "n"), file_format="ONNX")
    assert len(str(raised.value).splitlines()) <= 2
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"opset": 11}, ValueError),
        ({"input_names": "x"}, ValueError),
        ({"output_names": [1]}, ValueError),
        ({"output_names": ["a", "b"]}, ValueError),
        ({"input_names": ["a", "b"]}, ValueError),
        ({"dynamic_axes": [0]}, ValueError),
        ({"dynamic_axes": {"y": {0: "n"}}}, ValueError),
        ({"dynamic_axes": {"x": {2: "n"}}}, ValueError),
        ({"output_names": ["x"]}, ValueError),
        ({"unknown": 1}, TypeError),
        ({"enc_key": b"k", "enc_mode": "AES-GCM"}, ValueError),
        ({"sealed": bytes}, TypeError),
    ],
)
def test_wrong_arguments(options, error, tmp_path):
    with pytest.raises(error):
        export(
            nn.Dense(4, 3), ms.Tensor(floats(2, 4)), file_name=str(tmp_path / "n"),
            file_format="ONNX", **options,
        )  # fmt: skip
    assert os.listdir(tmp_path) == []


def test_own_encryption(tmp_path):
    path, network, x = tmp_path / "net.onnx", nn.Dense(4, 3), floats(2, 4)
    export(
        network, ms.Tensor(x), file_name=str(path), file_format="ONNX", enc_key=b"key",
        enc_mode=lambda content, key: key + content,
    )  # fmt: skip
    content = path.read_bytes()
    assert content.startswith(b"key")
    path.write_bytes(content[3:])
    assert_same(path, network, [x])


def test_without_the_package(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "mindjax\[onnx\]"'):
        ms.onnx.export(nn.Dense(4, 3), ms.Tensor(floats(2, 4)), file_name=str(tmp_path / "n"))
    assert not list(Path(tmp_path).iterdir())
