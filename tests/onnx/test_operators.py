"""ONNX's operators, a family in one program, against onnxruntime; all models of onnx when slow."""

import numpy as np
import pytest

import mindjax as ms
from tests.mindir.networks import flat

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
from onnx import helper  # noqa: E402

from tests.onnx.cases.operators import FAMILIES, OTHER_FORMS  # noqa: E402
from tests.onnx.models import cases, run  # noqa: E402


def family(rows, opset=17):
    """Make one model of all rows, and the inputs that it takes."""
    nodes, inputs, outputs, constants, given = [], [], [], [], {}
    for number, (kind, values, attributes) in enumerate(rows):
        attributes, names = dict(attributes), []
        for place, array in enumerate(values):
            name = "" if array is None else f"{kind}{number}_{place}"
            names.append(name)
            if array is None:
                continue
            if array.dtype == np.float32 and array.ndim:
                code = helper.np_dtype_to_tensor_dtype(array.dtype)
                inputs.append(helper.make_tensor_value_info(name, code, array.shape))
                given[name] = array
            else:
                constants.append(onnx.numpy_helper.from_array(array, name))
        results = [f"{kind}{number}_out{i}" for i in range(attributes.pop("outputs", 1))]
        nodes.append(helper.make_node(kind, names, results, **attributes))
        outputs += [onnx.ValueInfoProto(name=r) for r in results]
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    inferred = onnx.shape_inference.infer_shapes(proto)
    kinds = {v.name: v for v in [*inferred.graph.value_info, *inferred.graph.output]}
    del proto.graph.output[:]
    proto.graph.output.extend(kinds[o.name] for o in outputs)
    return proto, given


def assert_same(proto, given, path):
    onnx.save(proto, path)
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    cell = ms.onnx.load(path)
    found = flat(cell(*map(ms.Tensor, given.values())))
    names = [o.name for o in proto.graph.output]
    for output, array, wanted in zip(names, found, session.run(None, given), strict=True):
        assert array.dtype == wanted.dtype, output
        assert array.shape == wanted.shape, output
        np.testing.assert_allclose(array, wanted, rtol=1e-4, atol=1e-5, err_msg=output)


@pytest.mark.parametrize("name", FAMILIES)
def test_family(name, tmp_path):
    assert_same(*family(FAMILIES[name]), str(tmp_path / "net.onnx"))


def runs(row, opset, path):
    """Tell whether onnxruntime runs a row's form of an operator in a version."""
    try:
        proto, _ = family([row], opset)
        onnx.checker.check_model(proto)
        onnx.save(proto, path)
        runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    except Exception:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("opset", range(11, 24))
def test_every_version(opset, tmp_path):
    path = str(tmp_path / "net.onnx")
    rows = [r for rows in [*FAMILIES.values(), OTHER_FORMS] for r in rows if runs(r, opset, path)]
    assert len(rows) > 60
    assert_same(*family(rows, opset), path)


# Operators that came after opset 23, or that work on words; and Scan as it was before opset 9.
GAPS = ("causal_conv", "linear_attention", "swiglu", "tfidfvectorizer", "scan_sum")


@pytest.mark.slow
def test_all_models_of_onnx():
    known, failed = cases(), {}
    for name, case in known.items():
        try:
            run(case)
        except (AssertionError, RuntimeError, NotImplementedError, ValueError, TypeError) as error:
            failed[name] = str(error)[:200]
    ratio = 1 - len(failed) / len(known)
    print(f"{len(known) - len(failed)} of {len(known)} models, {ratio:.1%}")
    assert {n: e for n, e in failed.items() if not any(g in n for g in GAPS)} == {}
    assert ratio >= 0.9
