"""The onnx package's own models of single operators, with inputs and results."""

import warnings

import numpy as np

import mindjax as ms
from mindjax.onnx.package import package
from mindjax.onnx.reading.cell import OnnxCell
from mindjax.onnx.reading.graph import read_model

REAL = {1, 10, 11, 16}
KNOWN = {*range(1, 8), 9, *range(10, 14)} | REAL
# Their results are drawn at random.
RANDOM = ("bernoulli", "randomuniform", "randomnormal", "training_dropout", "dropout_random")


def element_types(kind):
    """Name the dtypes in a value's type."""
    if kind.HasField("tensor_type"):
        return {kind.tensor_type.elem_type}
    if kind.HasField("sequence_type"):
        return element_types(kind.sequence_type.elem_type)
    if kind.HasField("optional_type"):
        return element_types(kind.optional_type.elem_type)
    return {0}


def is_float(model):
    """Tell whether a model takes or gives floating-point numbers, and no strange ones."""
    values = [*model.graph.input, *model.graph.output]
    found = set().union(*(element_types(v.type) for v in values))
    return bool(found & REAL) and found <= KNOWN


def cases():
    """List the float models of ONNX's own domain by name."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    return {
        case.name.removeprefix("test_"): case
        for case in found
        if is_float(case.model) and {o.domain for o in case.model.opset_import} <= {""}
    }


def arrays(value):
    """List the arrays of a result, from left to right."""
    if isinstance(value, tuple | list):
        return [a for v in value for a in arrays(v)]
    return [] if value is None else [value if isinstance(value, np.ndarray) else value.asnumpy()]


def run(case):
    """Run a model on its inputs and compare; give the number of compared arrays."""
    cell = OnnxCell(read_model(case.model.SerializeToString(), None, package()))
    count = 0
    for inputs, outputs in case.data_sets:
        found = cell(*(_given(x) for x in inputs))
        found = found if isinstance(found, tuple) and len(outputs) > 1 else (found,)
        for value, wanted in zip(found, outputs, strict=True):
            pairs = zip(arrays(value), arrays(_plain(wanted)), strict=True)
            for array, expected in pairs:
                assert array.shape == expected.shape, (array.shape, expected.shape)
                assert array.dtype == expected.dtype, (array.dtype, expected.dtype)
                if not any(name in case.name for name in RANDOM):
                    compare(array, expected, case)
                count += 1
    assert count
    return count


def compare(array, expected, case):
    rtol, atol = max(case.rtol, 1e-3), max(case.atol or 0, 1e-5)
    if expected.dtype.itemsize < 4 and expected.dtype.kind in "fV":
        rtol, atol = 2e-2 if expected.dtype.kind == "V" else 5e-3, 5e-3
    if expected.dtype.kind == "V":
        array, expected = array.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_allclose(array, expected, rtol=rtol, atol=atol)


def _plain(value):
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if hasattr(value, "data_type"):
        return package().numpy_helper.to_array(value)
    return None if value is None else np.asarray(value)


def _given(value):
    value = _plain(value)
    if value is None:
        return None
    return [_given(v) for v in value] if isinstance(value, list) else ms.Tensor(np.array(value))
