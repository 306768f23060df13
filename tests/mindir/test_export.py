"""Networks that are exported give, loaded again, what they gave before."""

import os
from pathlib import Path

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn, ops
from mindjax.mindir import MindIRError, export
from tests.mindir.networks import NETWORKS, adam, flat, tensors, train_step

KEY = b"0123456789abcdef"


def exported(name, folder, **options):
    """Export a network and give the file, the inputs, and what the network then computes."""
    ms.set_seed(1)
    network, inputs = NETWORKS[name]()
    path = str(Path(folder) / name)
    ms.export(network, *tensors(inputs), file_name=path, file_format="MINDIR", **options)
    ms.set_context(mode=ms.GRAPH_MODE)
    expected = [flat(network(*tensors(inputs))) for _ in range(2)]
    return f"{path}.mindir", inputs, expected


def assert_same(path, inputs, expected, **options):
    net = nn.GraphCell(ms.load(path, **options))
    flat_inputs = [t for x in tensors(inputs) for t in (x if isinstance(x, tuple) else [x])]
    for values in expected:
        found = flat(net(*flat_inputs))
        assert len(found) == len(values)
        for value, wanted in zip(found, values, strict=True):
            assert value.dtype == wanted.dtype
            assert value.shape == wanted.shape
            np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-5)


# What takes seconds to compile; `test_oracle.py` exports these too.
SLOW = {"recurrent", "attention", "functions", "step_adam", "reductions"}
ALL = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in NETWORKS]


@pytest.mark.parametrize("name", ALL)
def test_exported_and_loaded(name, tmp_path):
    assert_same(*exported(name, tmp_path))


@pytest.mark.parametrize("name", ["mlp", "convolutions", "condition", "loop", "counter"])
def test_the_older_dialect(name, tmp_path):
    path, *rest = exported(name, tmp_path, dialect=1)
    model = ms.load_mindir(path)
    assert model.mind_ir_version == 1
    assert {p.prim_type for p in model.primitives} == {1}
    assert_same(path, *rest)


class Sizes(nn.Cell):
    """Sizes that are computed of an open one."""

    def construct(self, x, y):
        size = x.shape[0]
        both = ops.concat((x, y), 0).reshape((2 * size, -1))
        return ops.softmax(both, -1), x.reshape((size * 2, 2)), ops.broadcast_to(y.sum(), (size, 3))


class Product(nn.Cell):
    def construct(self, x, y):
        return ops.matmul(x, y.T)


@pytest.mark.parametrize(
    ("make", "rest", "sizes"),
    [
        (lambda: NETWORKS["mlp"]()[0], [(4,)], [(3,), (6,)]),
        (lambda: NETWORKS["convolutions"]()[0], [(2, 12, 12)], [(1,), (3,)]),
        (Sizes, [(4,), (4,)], [(3, 3), (5, 5)]),
        (Product, [(4,), (4,)], [(3, 5), (1, 2)]),
    ],
)
def test_open_sizes(make, rest, sizes, tmp_path):
    network, path = make(), str(tmp_path / "n.mindir")
    declared = [ms.Tensor(shape=[None, *shape], dtype=ms.float32) for shape in rest]
    ms.export(network, *declared, file_name=path, file_format="MINDIR")
    graph = ms.load(path)
    assert [i.shape for i in graph.inputs] == [(-1, *shape) for shape in rest]
    for firsts in sizes:
        inputs = [
            np.random.RandomState(4).randn(n, *shape).astype(np.float32)
            for n, shape in zip(firsts, rest, strict=True)
        ]
        assert_same(path, inputs, [flat(network(*tensors(inputs)))])


def squared(x):
    return ops.zeros((x.shape[0] * x.shape[0], 3), ms.float32) + x.sum()


@pytest.mark.parametrize("function", [squared, lambda x: x + ops.arange(x.shape[0])])
def test_open_sizes_without_a_form(function, tmp_path):
    declared = ms.Tensor(shape=[None], dtype=ms.float32)
    with pytest.raises(NotImplementedError, match="open size"):
        export(function, declared, file_name=str(tmp_path / "n"), file_format="MINDIR")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["condition", "loop", "left", "counter"])
def test_the_original_can_export_it_once_more(name, tmp_path):
    """What `test_oracle.py` found: inputs without a use and lone tokens stop the original."""
    model = ms.load_mindir(exported(name, tmp_path)[0])
    kinds = {p.name: p.op_type for p in model.primitives}
    for graph in (model.graph, *model.functions):
        used = {name for node in graph.node for name in node.input}
        used |= {value.name for value in graph.output}
        assert not [value.name for value in graph.input if value.name not in used]
        computed = [node for node in graph.node if node.op_type != "Constant"]
        inputs = [value.name for value in graph.input]
        assert len(computed) > 1 or list(computed[0].input) != inputs
        for node in computed:
            if kinds.get(node.op_type.removeprefix("REF::")) == "Assign":
                readers = [n for n in computed if node.output[0] in n.input]
                assert {kinds[n.op_type.removeprefix("REF::")] for n in readers} & {"Depend"}


def test_a_step_that_has_a_kernel_on_this_platform(tmp_path):
    """A file holds what runs everywhere; the sizes are those from which on the kernel is called."""
    network = train_step(nn.Dense(64, 64), adam, 64)
    inputs = tensors([np.ones((2, 64), np.float32), np.array([1, 2], np.int32)])
    path = str(tmp_path / "net")
    ms.export(network, *inputs, file_name=path, file_format="MINDIR")
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.GraphCell(ms.load(f"{path}.mindir"))
    for _ in range(3):
        np.testing.assert_allclose(net(*inputs).asnumpy(), network(*inputs).asnumpy(), rtol=1e-5)


def test_a_broadcast_of_many_axes(tmp_path):
    """The original takes eight."""

    def many(x):
        return ops.tile(x.reshape((1, 2, 1, 3, 1)), (2, 1, 4, 1, 5))

    x, path = ms.Tensor(np.arange(6, dtype=np.float32)), str(tmp_path / "net.mindir")
    ms.export(many, x, file_name=path, file_format="MINDIR")
    model = ms.load_mindir(path)
    kinds = {f"REF::{p.name}": p.op_type for p in model.primitives}
    nodes = {node.output[0]: node for node in model.graph.node}
    shapes = [
        nodes[node.input[1]].attribute[0].values
        for node in model.graph.node
        if kinds.get(node.op_type) == "BroadcastTo"
    ]
    assert shapes and max(map(len, shapes)) <= 8
    np.testing.assert_array_equal(nn.GraphCell(ms.load(path))(x).asnumpy(), many(x).asnumpy())


def test_a_file_is_replaced_and_protected(tmp_path):
    for _ in range(2):
        path, inputs, expected = exported("mlp", tmp_path)
        assert os.stat(path).st_mode & 0o777 == 0o400
    assert_same(path, inputs, expected)
    assert [p.name for p in tmp_path.iterdir()] == ["mlp.mindir"]


@pytest.mark.parametrize("mode_of_cipher", ["AES-GCM", "AES-CBC", "SM4-CBC"])
def test_encrypted(mode_of_cipher, tmp_path):
    path, inputs, expected = exported("mlp", tmp_path, enc_key=KEY, enc_mode=mode_of_cipher)
    assert_same(path, inputs, expected, dec_key=KEY, dec_mode=mode_of_cipher)
    with pytest.raises(MindIRError):
        ms.load(path)
    with pytest.raises(MindIRError):
        ms.load(path, dec_key=KEY[::-1], dec_mode=mode_of_cipher)


def test_own_encryption(tmp_path):
    path, inputs, expected = exported(
        "mlp", tmp_path, enc_key=b"k", enc_mode=lambda content, key: key + content
    )
    assert_same(
        path, inputs, expected, dec_key=b"k", dec_mode=lambda p, key: Path(p).read_bytes()[1:]
    )


@pytest.mark.parametrize("options", [{}, {"enc_key": KEY, "enc_mode": "AES-CBC"}])
def test_parameters_in_files_of_their_own(options, tmp_path, monkeypatch):
    monkeypatch.setattr("mindjax.mindir.write.TOGETHER_BYTES", 0)
    monkeypatch.setattr("mindjax.mindir.write._DATA_BYTES", 300)
    _, inputs, expected = exported("mlp", tmp_path, **options)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mlp_graph.mindir", "mlp_variables"]
    assert len(list((tmp_path / "mlp_variables").iterdir())) > 1
    given = {k.replace("enc", "dec"): v for k, v in options.items()}
    assert_same(str(tmp_path / "mlp_graph.mindir"), inputs, expected, **given)


def test_custom_func(tmp_path):
    def name(model):
        model.producer_version = "11.0"
        model.user_info["version"] = "11.0"

    path, *_ = exported("mlp", tmp_path, custom_func=name)
    model = ms.load_mindir(path)
    assert (model.producer_version, model.user_info["version"]) == ("11.0", "11.0")


def test_a_function(tmp_path):
    path = str(tmp_path / "f.mindir")
    x = ms.Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    ms.export(lambda x: ops.softmax(x), x, file_name=path, file_format="MINDIR")
    np.testing.assert_allclose(
        nn.GraphCell(ms.load(path))(x).asnumpy(), ops.softmax(x).asnumpy(), atol=1e-6
    )


def test_names_of_parameters_and_inputs(tmp_path):
    path, *_ = exported("mlp", tmp_path)
    graph = ms.load(path)
    assert list(graph.parameters) == [
        "first.weight", "first.bias", "second.weight", "second.bias",
    ]  # fmt: skip
    assert [tuple(i) for i in graph.inputs] == [("x", (5, 4), "float32")]


def test_an_exported_network_is_unchanged(tmp_path):
    network, inputs = NETWORKS["counter"]()
    export(network, *tensors(inputs), file_name=str(tmp_path / "n"), file_format="MINDIR")
    assert not network.total.asnumpy().any()


NET = nn.ReLU()
X = ms.Tensor(np.ones(3, np.float32))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"file_format": "PNG"}, ValueError),
        ({"file_format": "AIR"}, ValueError),
        ({"file_name": 3}, ValueError),
        ({"file_name": ""}, ValueError),
        ({"net": 3}, TypeError),
        ({"other": 1}, TypeError),
        ({"obf_func": 1}, NotImplementedError),
        ({"enc_key": "text"}, ValueError),
        ({"enc_key": b"short"}, ValueError),
        ({"enc_key": KEY, "enc_mode": "X"}, ValueError),
        ({"dialect": 2}, ValueError),
        ({"incremental": True}, NotImplementedError),
    ],
)
def test_errors(arguments, error, tmp_path):
    given = {"net": NET, "file_name": str(tmp_path / "n"), "file_format": "MINDIR", **arguments}
    with pytest.raises(error):
        export(given.pop("net"), X, **given)
    assert not list(tmp_path.iterdir())


def test_an_operation_without_a_form_is_named(tmp_path):
    def eigenvalues(x):
        return ops.svd(x)

    with pytest.raises(NotImplementedError, match="svd"):
        export(
            eigenvalues, ms.Tensor(np.eye(3, dtype=np.float32)),
            file_name=str(tmp_path / "n"), file_format="MINDIR",
        )  # fmt: skip
    assert not list(tmp_path.iterdir())
