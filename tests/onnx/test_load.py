"""Networks out of ONNX files: what they compute, their weights, and what they refuse."""

import copy
import os
from pathlib import Path

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn
from mindjax.onnx import OnnxCell, OnnxError
from tests.mindir.networks import NETWORKS, flat, floats, tensors

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper  # noqa: E402

FLOAT = TensorProto.FLOAT


def value(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs, outputs, initializers=(), opset=17, **fields):
    """Make a model of nodes."""
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, **fields)


def saved(proto, folder, name="net.onnx"):
    path = Path(folder) / name
    path.write_bytes(proto.SerializeToString())
    return str(path)


def expected(path, inputs):
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    return session.run(None, dict(zip(names, inputs, strict=True)))


@pytest.mark.parametrize("name", ["convolutions", "loop", "left"])
def test_what_was_exported_comes_back(name, mode, tmp_path):
    network, inputs = NETWORKS[name]()
    path = str(tmp_path / "net.onnx")
    ms.onnx.export(network, *tensors(inputs), file_name=path)
    cell = ms.onnx.load(path)
    wanted = flat(network(*tensors(inputs)))
    for found, array in zip(flat(cell(*tensors(inputs))), wanted, strict=True):
        np.testing.assert_allclose(found, array, rtol=1e-5, atol=1e-5)


def dense(folder):
    """Save y = relu(x w + b), with a moving mean that is no weight."""
    w, b = floats(4, 3), floats(3)
    statistics = [np.ones(3, np.float32), b, b * 0, b * 0 + 4]
    names = ["scale", "bias", "mean", "variance"]
    tensors_ = [onnx.numpy_helper.from_array(a, n) for a, n in zip(statistics, names, strict=True)]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("BatchNormalization", ["h", *names], ["n"]),
        helper.make_node("Relu", ["n"], ["y"]),
    ]
    proto = model(nodes, [value("x", ["n", 4])], [value("y", ["n", 3])],
                  [onnx.numpy_helper.from_array(w, "w"), *tensors_])  # fmt: skip
    return saved(proto, folder), w, b


def test_weights_are_parameters(mode, tmp_path):
    path, w, b = dense(tmp_path)
    cell, x = ms.onnx.load(path), floats(5, 4)
    assert [(p.name, p.requires_grad) for p in cell.get_parameters()] == [
        ("w", True), ("scale", True), ("bias", True), ("mean", False), ("variance", False),
    ]  # fmt: skip
    cell.w.set_data(ms.Tensor(2 * w))
    wanted = np.maximum(x @ (2 * w) / np.sqrt(4 + 1e-5) + b, 0)
    np.testing.assert_allclose(cell(ms.Tensor(x)).asnumpy(), wanted, atol=1e-5)
    gradient = ms.grad(lambda x: cell(x).sum(), None, cell.trainable_params())(ms.Tensor(x))
    slope = (wanted > 0) / np.sqrt(4 + 1e-5)
    np.testing.assert_allclose(gradient[0].asnumpy(), x.T @ slope, atol=1e-4)


def test_copies_are_networks_of_their_own(tmp_path):
    path, w, _ = dense(tmp_path)
    cell, x = ms.onnx.load(path), ms.Tensor(floats(5, 4))
    before = cell(x).asnumpy()
    other = copy.deepcopy(cell)
    other.w.set_data(ms.Tensor(0 * w))
    assert (other(x).asnumpy() == other(x).asnumpy()[0]).all()
    np.testing.assert_array_equal(cell(x).asnumpy(), before)
    ms.save_checkpoint(cell, str(tmp_path / "n.ckpt"))
    ms.load_checkpoint(str(tmp_path / "n.ckpt"), other)
    np.testing.assert_allclose(other(x).asnumpy(), before, atol=1e-6)


def test_training_a_loaded_network(tmp_path):
    path, _, _ = dense(tmp_path)
    cell = ms.onnx.load(path)
    step = nn.TrainOneStepCell(
        nn.WithLossCell(cell, nn.MSELoss()), nn.SGD(cell.trainable_params(), 0.1)
    )
    x, y = ms.Tensor(floats(8, 4)), ms.Tensor(floats(8, 3) ** 2)
    losses = [float(step(x, y)) for _ in range(5)]
    assert losses == sorted(losses, reverse=True)


def test_shapes_are_computed_ahead(mode, tmp_path):
    """x.reshape(x.shape[0], -1, 2) as exporters write it, and a loop over a condition."""
    ints = {"zero": [0], "minus": [-1], "two": [2], "index": 0}
    constants = [onnx.numpy_helper.from_array(np.array(v, np.int64), n) for n, v in ints.items()]
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "index"], ["n"], axis=0),
        helper.make_node("Unsqueeze", ["n", "zero"], ["u"]),
        helper.make_node("Concat", ["u", "minus", "two"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["y"]),
    ]
    path = saved(model(nodes, [value("x", ["a", "b"])], [value("y", None)], constants), tmp_path)
    cell = ms.onnx.load(path)
    for shape in ((3, 4), (5, 6)):
        x = floats(*shape)
        assert cell(ms.Tensor(x)).shape == expected(path, [x])[0].shape
    assert list(cell.get_parameters()) == []


def non_zero(folder):
    nodes = [
        helper.make_node("NonZero", ["x"], ["p"]),
        helper.make_node("Transpose", ["p"], ["t"]),
        helper.make_node("GatherND", ["x", "t"], ["y"]),
    ]
    return saved(model(nodes, [value("x", ["n", 3])], [value("y", ["m"])]), folder)


def test_shapes_that_depend_on_values(tmp_path):
    path = non_zero(tmp_path)
    cell, x = ms.onnx.load(path), np.maximum(floats(4, 3), 0)
    np.testing.assert_array_equal(cell(ms.Tensor(x)).asnumpy(), expected(path, [x])[0])
    ms.set_context(mode=ms.GRAPH_MODE)
    with pytest.raises(NotImplementedError, match=r"NonZero.*PYNATIVE_MODE"):
        ms.onnx.load(path)(ms.Tensor(x))


def branches(folder):
    """Halves of different sizes, by a number that is an input."""
    parts = []
    for name, size in (("then", 2), ("other", 3)):
        to = helper.make_tensor(f"{name}_to", TensorProto.INT64, [2], [size, -1])
        node = helper.make_node("Reshape", ["x", f"{name}_to"], [name])
        parts.append(helper.make_graph([node], name, [], [value(name, None)], [to]))
    rate = helper.make_tensor("rate", TensorProto.INT64, [], [8])
    nodes = [
        helper.make_node("Equal", ["r", "rate"], ["c"]),
        helper.make_node("If", ["c"], ["y"], then_branch=parts[0], else_branch=parts[1]),
    ]
    inputs = [value("x", [6]), value("r", [], TensorProto.INT64)]
    return saved(model(nodes, inputs, [value("y", None)], [rate]), folder)


def test_a_branch_that_is_chosen_by_a_constant(mode, tmp_path):
    cell, x = ms.onnx.load(branches(tmp_path)), ms.Tensor(floats(6))
    assert cell(x, 8).shape == (2, 3)
    assert cell(x, 16).shape == (3, 2)
    if mode == ms.PYNATIVE_MODE:
        assert cell(x, ms.Tensor(8)).shape == (2, 3)
    else:
        with pytest.raises(NotImplementedError, match="If"):
            cell(x, ms.Tensor(8))


def test_functions_of_the_file(tmp_path):
    twice = helper.make_function(
        "own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    nodes = [helper.make_node("Twice", ["x"], ["y"], domain="own")]
    proto = model(nodes, [value("x", [2])], [value("y", [2])], functions=[twice])
    proto.opset_import.append(helper.make_opsetid("own", 1))
    x = floats(2)
    found = ms.onnx.load(saved(proto, tmp_path))(ms.Tensor(x))
    np.testing.assert_allclose(found.asnumpy(), 2 * x)


@pytest.mark.parametrize(
    ("inputs", "error"),
    [
        ([], ValueError),
        ([floats(5, 4), floats(5, 4)], ValueError),
        ([floats(5, 3)], ValueError),
        ([floats(5)], ValueError),
        ([np.ones((5, 4), np.int32)], TypeError),
    ],
)
def test_wrong_inputs(inputs, error, tmp_path):
    path, _, _ = dense(tmp_path)
    with pytest.raises(error, match=r"For 'OnnxCell'"):
        ms.onnx.load(path)(*tensors(inputs))


def chain(name="Relu", **fields):
    return model([helper.make_node(name, ["x"], ["y"], **fields)], [value("x", [2])],
                 [value("y", [2])])  # fmt: skip


def with_tensor(**fields):
    proto = chain()
    tensor = proto.graph.initializer.add(name="w", data_type=FLOAT)
    for key, content in fields.items():
        if key == "dims":
            tensor.dims.extend(content)
        elif key == "external":
            tensor.data_location = TensorProto.EXTERNAL
            for name, text in content.items():
                tensor.external_data.add(key=name, value=text)
        else:
            setattr(tensor, key, content)
    return proto


def cyclic():
    nodes = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Neg", ["a"], ["b"])]
    return model(nodes, [value("x", [2])], [value("b", [2])])


def nested(depth):
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [value("y", [2])])
    for _ in range(depth):
        node = helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=graph)
        graph = helper.make_graph([node], "g", [], [value("y", [2])])
        if len(graph.SerializeToString()) > 1 << 22:
            break
    inputs = [value("x", [2]), value("c", [], TensorProto.BOOL)]
    return model(list(graph.node), inputs, [value("y", [2])])


def laughing():
    """Functions that call each other twice, thirty deep."""
    functions = []
    for i in range(23):
        kind = "Neg" if i == 0 else f"F{i - 1}"
        domain = "" if i == 0 else "own"
        body = [helper.make_node(kind, ["a"], ["t"], domain=domain),
                helper.make_node(kind, ["t"], ["b"], domain=domain)]  # fmt: skip
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
        functions.append(helper.make_function("own", f"F{i}", ["a"], ["b"], body, opsets))
    return model([helper.make_node("F22", ["x"], ["y"], domain="own")], [value("x", [2])],
                 [value("y", [2])], functions=functions)  # fmt: skip


REFUSED = {
    "empty": (b"", OnnxError),
    "text": (b"no protobuf at all", OnnxError),
    "truncated": (chain().SerializeToString()[:-7], OnnxError),
    "no UTF-8": (chain().SerializeToString().replace(b"\x01x", b"\x01\xff"), OnnxError),
    "cyclic": (cyclic(), OnnxError),
    "unknown name": (model([helper.make_node("Relu", ["z"], ["y"])], [value("x", [2])],
                           [value("y", [2])]), OnnxError),
    "given twice": (model([helper.make_node("Relu", ["x"], ["y"])] * 2, [value("x", [2])],
                          [value("y", [2])]), OnnxError),
    "no opset": (onnx.ModelProto(graph=chain().graph), OnnxError),
    "old opset": (model([helper.make_node("Relu", ["x"], ["y"])], [value("x", [2])],
                        [value("y", [2])], opset=6), NotImplementedError),
    "other domain": (chain("Scaler", domain="ai.onnx.ml"), NotImplementedError),
    "negative": (with_tensor(dims=[-3], raw_data=b""), OnnxError),
    "huge": (with_tensor(dims=[1 << 40, 1 << 40], raw_data=b""), OnnxError),
    "too few bytes": (with_tensor(dims=[1 << 30], raw_data=b"1234"), OnnxError),
    "axes": (with_tensor(dims=[1] * 40, raw_data=b"1234"), OnnxError),
    "strings": (with_tensor(dims=[0], data_type=8), NotImplementedError),
    "above": (with_tensor(dims=[4], external={"location": "../secret"}), OnnxError),
    "absolute": (with_tensor(dims=[4], external={"location": "/etc/passwd"}), OnnxError),
    "missing": (with_tensor(dims=[4], external={"location": "other"}), OnnxError),
    "link": (with_tensor(dims=[4], external={"location": "link"}), OnnxError),
    "offset": (with_tensor(dims=[4], external={"location": "data", "offset": "-8"}), OnnxError),
    "behind": (with_tensor(dims=[4], external={"location": "data", "offset": "60"}), OnnxError),
    "number": (with_tensor(dims=[4], external={"location": "data", "offset": "x"}), OnnxError),
    "nested": (nested(11).SerializeToString() + b"", None),
    "laughing": (laughing(), OnnxError),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    content, error = REFUSED[name]
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(64))
    (folder / "data").write_bytes(bytes(64))
    (folder / "link").symlink_to(tmp_path / "secret")
    path = folder / "net.onnx"
    path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
    if error is None:
        assert isinstance(ms.onnx.load(str(path)), OnnxCell)
        return
    with pytest.raises(error, match=r"For 'load'") as raised:
        ms.onnx.load(str(path))
    assert str(path) in str(raised.value)


def test_external_data(tmp_path):
    w = floats(4, 3)
    (tmp_path / "data").write_bytes(bytes(64) + w.tobytes())
    proto = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [value("x", [2, 4])],
                  [value("y", [2, 3])])  # fmt: skip
    given = with_tensor(dims=[4, 3], external={"location": "data", "offset": "64"})
    proto.graph.initializer.extend(given.graph.initializer)
    path, x = saved(proto, tmp_path), floats(2, 4)
    np.testing.assert_allclose(ms.onnx.load(path)(ms.Tensor(x)).asnumpy(), x @ w, atol=1e-5)


def test_the_same_bytes_again_and_again(tmp_path):
    (tmp_path / "data").write_bytes(bytes(1 << 21))
    proto = chain()
    for i in range(6):
        one = with_tensor(dims=[1 << 19], external={"location": "data"}).graph.initializer[0]
        one.name = f"w{i}"
        proto.graph.initializer.append(one)
    with pytest.raises(OnnxError, match="again and again"):
        ms.onnx.load(saved(proto, tmp_path))


def test_an_operator_that_is_not_there(tmp_path):
    cell = ms.onnx.load(saved(chain("StringNormalizer"), tmp_path))
    with pytest.raises(NotImplementedError, match=r"'y' needs ONNX's 'StringNormalizer'"):
        cell(ms.Tensor(floats(2)))


def test_a_node_that_fails_is_named(tmp_path):
    proto = model([helper.make_node("Reshape", ["x", "to"], ["y"], name="bend")], [value("x", [6])],
                  [value("y", None)],
                  [helper.make_tensor("to", TensorProto.INT64, [1], [4])])  # fmt: skip
    with pytest.raises(OnnxError, match="'bend'"):
        ms.onnx.load(saved(proto, tmp_path))(ms.Tensor(floats(6)))


def test_a_loaded_network_is_exported_again(tmp_path):
    path, _, _ = dense(tmp_path)
    cell, x = ms.onnx.load(path), floats(3, 4)
    again = str(tmp_path / "again.onnx")
    ms.onnx.export(cell, ms.Tensor(x), file_name=again, input_names=["x"])
    np.testing.assert_allclose(expected(again, [x])[0], expected(path, [x])[0], atol=1e-5)
    ms.export(cell, ms.Tensor(x), file_name=str(tmp_path / "n"), file_format="MINDIR")
    ms.set_context(mode=ms.GRAPH_MODE)
    found = nn.GraphCell(ms.load(str(tmp_path / "n.mindir")))(ms.Tensor(x))
    np.testing.assert_allclose(found.asnumpy(), expected(path, [x])[0], atol=1e-5)


FILES = os.environ.get("MINDJAX_ONNX_MODELS", "")
STATE = np.zeros((2, 1, 128), np.float32)
REAL = {
    "ch_PP-OCRv4_det_infer": [floats(1, 3, 64, 96)],
    "ch_PP-OCRv4_rec_infer": [floats(1, 3, 48, 96)],
    "ch_ppocr_mobile_v2.0_cls_infer": [floats(1, 3, 48, 96)],
    "silero_vad": [floats(1, 576) * 0.1, STATE, np.array(16000)],
    "silero_vad_op18_ifless": [floats(1, 576) * 0.1, np.array(16000), STATE],
    "silero_vad_16k_op15": [floats(1, 576) * 0.1, STATE, np.array(16000)],
}


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason="MINDJAX_ONNX_MODELS names no folder of models")
@pytest.mark.parametrize("name", REAL)
def test_real_networks(name, mode):
    path = str(next(Path(FILES).rglob(f"{name}.onnx")))
    cell = ms.onnx.load(path)
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    given = dict(zip(names, REAL[name], strict=True))
    values = [given[k.name] for k in cell.network.inputs if k.name in given]
    # A sampling rate is a constant: it chooses the branch.
    found = flat(cell(*(int(v) if v.ndim == 0 else ms.Tensor(v) for v in values)))
    for array, wanted in zip(found, session.run(None, given), strict=True):
        np.testing.assert_allclose(array, wanted, rtol=1e-4, atol=1e-4)
