"""MindIR files that the original wrote: the outputs that it recorded, and errors."""

import os
from pathlib import Path

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn, ops
from mindjax.mindir import MindIRError
from mindjax.mindir.message import Message, parse, serialize
from mindjax.mindir.values import make_attribute, make_tensor, tensor_type

FOLDER = Path(__file__).parents[1] / "goldens" / "mindir"
NETWORKS = ("mlp", "lenet", "trans", "lstm", "if", "while", "dyn")
KEY = b"0123456789abcdef"


def recorded(name):
    """Give inputs and outputs that the original recorded."""
    with np.load(FOLDER / f"{name}_io.npz") as file:
        arrays = {k: file[k] for k in file.files}
    groups = {k: sorted((f for f in arrays if f[0] == k), key=lambda f: int(f[1:])) for k in "io"}
    return tuple([arrays[f] for f in groups[k]] for k in "io")


def run(net, inputs):
    out = net(*[ms.Tensor(x) for x in inputs])
    return [o.asnumpy() for o in (out if isinstance(out, tuple) else (out,))]


@pytest.mark.parametrize("name", NETWORKS)
def test_the_original_s_outputs(name, mode):
    inputs, outputs = recorded(name)
    found = run(nn.GraphCell(ms.load(str(FOLDER / f"{name}.mindir"))), inputs)
    assert len(found) == len(outputs)
    for value, expected in zip(found, outputs, strict=True):
        assert value.dtype == expected.dtype
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["break", "return", "nested_break", "writing_break", "in_place"])
def test_loops_that_are_left_and_tensors_that_change(name, mode):
    """Of four calls of one network, each output; ``in_place`` and ``writing_break`` keep state."""
    with np.load(FOLDER / f"{name}_io.npz") as file:
        arrays = {k: file[k] for k in file.files}
    net = nn.GraphCell(ms.load(str(FOLDER / f"{name}.mindir")))
    for call in range(4):
        found = run(net, [arrays[f"i{call}_{k}"] for k in range(2)])
        for place, value in enumerate(found):
            expected = arrays[f"o{call}_{place}"]
            assert value.dtype == expected.dtype
            np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["enc_none", *NETWORKS])
def test_files_keep_their_bytes(name):
    content = (FOLDER / f"{name}.mindir").read_bytes()
    assert serialize(parse("Model", content)) == content


@pytest.mark.parametrize("cipher", ["AES-CBC", "SM4-CBC"])
def test_encrypted(cipher):
    path = str(FOLDER / f"enc_{cipher}.mindir")
    net = nn.GraphCell(ms.load(path, dec_key=KEY, dec_mode=cipher))
    assert net(ms.ops.ones((2, 4))).shape == (2, 3)
    for wrong in ({}, {"dec_key": KEY[::-1], "dec_mode": cipher}, {"dec_key": KEY}):
        with pytest.raises(MindIRError):
            ms.load(path, **wrong)


def test_own_decryption():
    def plain(path, key):
        assert key == b"k"
        return Path(path).read_bytes()

    net = nn.GraphCell(ms.load(str(FOLDER / "enc_none.mindir"), dec_key=b"k", dec_mode=plain))
    assert net(ops.ones((2, 4))).shape == (2, 3)


@pytest.mark.parametrize("name", ["mlp", "if"])
def test_gradients(name, mode):
    """They are those of finite differences along one direction."""
    inputs, _ = recorded(name)
    net = nn.GraphCell(ms.load(str(FOLDER / f"{name}.mindir")))
    rest = [ms.Tensor(x) for x in inputs[1:]]

    def total(x):
        out = net(x, *rest)
        out = out if isinstance(out, tuple) else (out,)
        return sum(
            (ops.ReduceSum()(ops.tanh(o)) for o in out[1:]), ops.ReduceSum()(ops.tanh(out[0]))
        )

    x = ms.Tensor(inputs[0])
    weights = ms.ParameterTuple(net.trainable_params())
    by_input, by_weights = ms.grad(total, 0, weights)(x)
    direction = np.random.RandomState(0).randn(*x.shape).astype(np.float32)
    step = 1e-2
    difference = float(
        total(x + ms.Tensor(step * direction)) - total(x - ms.Tensor(step * direction))
    )
    expected = float((by_input.asnumpy() * direction).sum())
    assert abs(difference / (2 * step) - expected) < 2e-2 * max(1, abs(expected))
    assert len(by_weights) == len(net.trainable_params())
    assert name == "if" or any(float(g.abs().max()) > 0 for g in by_weights)


def test_parameters():
    file = str(FOLDER / "mlp.mindir")
    net = nn.GraphCell(ms.load(file))
    names = [p.name for p in net.get_parameters()]
    assert names == list(ms.load(file).parameters)
    zeros = {p.name: ops.zeros_like(p) for p in net.get_parameters()}
    again = nn.GraphCell(ms.load(file), params_init=zeros)
    assert not run(again, recorded("mlp")[0])[0].any()
    ms.load_param_into_net(again, {p.name: p for p in net.get_parameters()})
    np.testing.assert_allclose(run(again, recorded("mlp")[0])[0], recorded("mlp")[1][0], atol=1e-5)


def test_load_mindir_and_its_fields():
    model = ms.load_mindir(str(FOLDER / "mlp.mindir"))
    assert model.producer_name == "MindSpore"
    assert {p.op_type for p in model.primitives} >= {"MatMul", "BiasAdd"}
    model.user_info["version"] = "1"
    assert parse("Model", model.SerializeToString()).user_info == {"version": "1"}


def test_save_mindir(tmp_path):
    model = ms.load_mindir(str(FOLDER / "mlp.mindir"))
    model.user_info["version"] = "pangu"
    ms.save_mindir(model, str(tmp_path / "new"))
    path = str(tmp_path / "new.mindir")
    assert ms.load_mindir(path).user_info == {"version": "pangu"}
    inputs, outputs = recorded("mlp")
    np.testing.assert_allclose(run(nn.GraphCell(ms.load(path)), inputs)[0], outputs[0], atol=1e-5)
    assert ms.common.save_mindir is ms.save_mindir
    assert ms.train.load is ms.load


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: ms.load(3), ValueError),
        (lambda: ms.load("net.ckpt"), ValueError),
        (lambda: ms.load("missing.mindir"), ValueError),
        (lambda: ms.load(str(FOLDER / "mlp.mindir"), dec_key="text"), ValueError),
        (lambda: ms.load(str(FOLDER / "mlp.mindir"), dec_key=b"short"), ValueError),
        (lambda: ms.load(str(FOLDER / "mlp.mindir"), dec_key=KEY, dec_mode="X"), ValueError),
        (lambda: ms.load(str(FOLDER / "mlp.mindir"), other=1), TypeError),
        (lambda: ms.load(str(FOLDER / "mlp.mindir"), obf_func=1), NotImplementedError),
        (lambda: ms.export_split_mindir(3), ValueError),
        (lambda: ms.export_split_mindir("net.ckpt"), ValueError),
        (lambda: ms.export_split_mindir("missing.mindir"), ValueError),
        (lambda: ms.export_split_mindir(str(FOLDER / "mlp.mindir")), NotImplementedError),
        (lambda: ms.load_mindir("missing.mindir"), ValueError),
        (lambda: ms.save_mindir(3, "net"), TypeError),
        (lambda: ms.save_mindir(Message("Model"), ""), ValueError),
        (lambda: ms.save_mindir(Message("Model"), "/proc/nothing/net"), ValueError),
        (lambda: nn.GraphCell(3), TypeError),
        (lambda: nn.GraphCell(ms.load(str(FOLDER / "mlp.mindir")), [1]), TypeError),
        (lambda: nn.GraphCell(ms.load(str(FOLDER / "mlp.mindir")), {"a": 1}), TypeError),
        (
            lambda: nn.GraphCell(ms.load(str(FOLDER / "mlp.mindir")), obf_random_seed=1),
            NotImplementedError,
        ),
        (lambda: nn.GraphCell(ms.load(str(FOLDER / "mlp.mindir")))(), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call()


# -- files that no program writes --


def model(nodes, parameters=(), functions=(), outputs=("n",), **fields):
    graph = Message("Graph", name="g", node=list(nodes), parameter=list(parameters))
    graph.input = [Message("Value", name="g:x", tensor=[tensor_type((2,), "float32")])]
    graph.output = [Message("Value", name=name) for name in outputs]
    return Message(
        "Model", graph=graph, functions=list(functions), mind_ir_version=3, little_endian=True,
        primitives=[
            Message("Primitive", name="ReLU:1", op_type="ReLU", prim_type=2),
            Message("Primitive", name="Nothing:1", op_type="Nothing", prim_type=2),
            Message("Primitive", name="Private:1", op_type="_SearchSorted", prim_type=2),
        ],
        **fields,
    )  # fmt: skip


def node(op, *inputs, output="n"):
    return Message("Node", name=output, output=[output], input=list(inputs), op_type=op)


def parameter(**fields):
    tensor = make_tensor(np.ones(2, np.float32), "g:w", ref_key="w")
    for name, value in fields.items():
        setattr(tensor, name, value)
    return tensor


def external(location, offset=0, length=8):
    data = Message("External", location=location, offset=offset, length=length)
    tensor = tensor_type((2,), "float32", name="g:w", ref_key="w", external_data=data)
    return tensor


RELU = node("REF::ReLU:1", "g:x")


def constant(value):
    return Message(
        "Node",
        name="c",
        output=["c"],
        op_type="Constant",
        attribute=[make_attribute(value, "value")],
    )


def nested(depth):
    attribute = make_attribute(1)
    for _ in range(depth):
        attribute = Message("Attribute", type=20, values=[attribute])
    return attribute


def deep(depth):
    """Serialize by hand: the codec itself refuses such a message."""
    content = b""
    for _ in range(depth):
        size = len(content)
        head = bytearray()
        while size > 127:
            head.append(size & 127 | 128)
            size >>= 7
        head.append(size)
        content = b"\x8a\x01" + bytes(head) + content
    return content


HOSTILE = {
    "empty": b"",
    "text": b"hello, this is no protocol buffer",
    "cut": serialize(model([RELU]))[:-3],
    "no_graph": serialize(Message("Model", mind_ir_version=3)),
    "newer": serialize(model([RELU])).replace(b"\x68\x03", b"\x68\x63"),
    "cycle": model([node("REF::ReLU:1", "m"), node("REF::ReLU:1", "n", output="m")]),
    "self": model([node("REF::ReLU:1", "n")]),
    "missing_input": model([node("REF::ReLU:1", "nothing")]),
    "missing_output": model([RELU], outputs=("nothing",)),
    "no_output": model([RELU], outputs=()),
    "two_outputs": model([Message("Node", name="n", output=["a", "b"], op_type="REF::ReLU:1")]),
    "twice": model([RELU, RELU]),
    "huge_dims": model([RELU], [parameter(dims=[2**62, 2**62])]),
    "zero_times_huge": model([RELU], [parameter(dims=[2**62, 0])]),
    "negative_dims": model([RELU], [parameter(dims=[-2])]),
    "many_dims": model([RELU], [parameter(dims=[1] * 70)]),
    "wrong_size": model([RELU], [parameter(dims=[3])]),
    "unknown_dtype": model([RELU], [parameter(data_type=77)]),
    "quantized": model([RELU], [parameter(compression_type=3)]),
    "same_parameters": model([RELU], [parameter(), parameter()]),
    "escape": model([RELU], [external("../outside")]),
    "absolute": model([RELU], [external("/etc/hostname")]),
    "no_such_file": model([RELU], [external("nothing")]),
    "folder": model([RELU], [external(".")]),
    "null": model([RELU], [external("a\0b")]),
    "behind_the_end": model([RELU], [external("data", 0, 2**40)]),
    "negative_offset": model([RELU], [external("data", -8, 8)]),
    "map_parameter": model([RELU]),
    "constant_without_value": model([Message("Node", output=["n"], op_type="Constant")]),
    "strange_attribute": model([constant(1), node("REF::ReLU:1", "c")]),
    "big_endian": model([RELU]),
}  # fmt: skip
HOSTILE["map_parameter"].graph.map_parameter = [Message("MapTensor", name="m")]
HOSTILE["strange_attribute"].graph.node[0].attribute[0].type = 99
HOSTILE["big_endian"].little_endian = False


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name, tmp_path):
    content = HOSTILE[name]
    (tmp_path / "outside").write_bytes(bytes(8))
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "data").write_bytes(bytes(8))
    path = folder / "net.mindir"
    path.write_bytes(content if isinstance(content, bytes) else serialize(content))
    with pytest.raises(MindIRError):
        ms.load(str(path))


def test_deep_messages(tmp_path):
    path = tmp_path / "net.mindir"
    # A graph (field 7) of a node (1) with an attribute (5) of values (17), one in the other.
    for depth in (100, 20000):
        body = deep(depth)
        for tag in (b"\x2a", b"\x0a", b"\x3a"):
            size, head = len(body), bytearray()
            while size > 127:
                head.append(size & 127 | 128)
                size >>= 7
            head.append(size)
            body = tag + bytes(head) + body
        path.write_bytes(body)
        with pytest.raises(MindIRError, match="nest deeper"):
            ms.load(str(path))


def test_a_symbolic_link_out_of_the_folder(tmp_path):
    (tmp_path / "outside").write_bytes(bytes(8))
    folder = tmp_path / "inside"
    folder.mkdir()
    os.symlink(tmp_path / "outside", folder / "data")
    path = folder / "net.mindir"
    path.write_bytes(serialize(model([RELU], [external("data")])))
    with pytest.raises(MindIRError, match="no file beside"):
        ms.load(str(path))


@pytest.mark.parametrize("op", ["REF::Nothing:1", "REF::Private:1", "Nothing"])
def test_a_primitive_that_mindjax_does_not_have(op, tmp_path):
    path = tmp_path / "net.mindir"
    path.write_bytes(serialize(model([node(op, "g:x")])))
    with pytest.raises(NotImplementedError, match=r"n'.*no primitive"):
        ms.load(str(path))


def test_endless_recursion(tmp_path, mode):
    """Two graphs that call each other without a condition."""
    graphs = []
    for own, other in (("a", "b"), ("b", "a")):
        graphs.append(
            Message(
                "Graph", name=own, input=[Message("Value", name=f"{own}:x")],
                node=[node(f"REF::{other}", f"{own}:x", output=f"{own}:n"),
                      node("REF::ReLU:1", f"{own}:n", output=f"{own}:m")],
                output=[Message("Value", name=f"{own}:m")],
            )
        )  # fmt: skip
    path = tmp_path / "net.mindir"
    path.write_bytes(serialize(model([node("REF::a", "g:x")], functions=graphs)))
    net = nn.GraphCell(ms.load(str(path)))
    with pytest.raises((MindIRError, NotImplementedError)):
        net(ops.ones((2,)))
