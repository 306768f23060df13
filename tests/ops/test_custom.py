"""Operators that users write: Python functions, kernels of loops, C and C++."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn, ops

BOTH = pytest.mark.parametrize("graph", [False, True])
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")


def in_mode(graph: bool, function: Callable[..., Any]) -> Callable[..., Any]:
    return ms.jit(function) if graph else function


def vector(*values: float) -> Any:
    return ms.Tensor(list(values), ms.float32)


def plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return value.asnumpy().tolist()


X, Y = (1.0, 2.0), (3.0, 4.0)


def add(a: Any, b: Any) -> Any:
    assert isinstance(a, np.ndarray)
    return a + b


def both(a: Any, b: Any) -> Any:
    return a + b, a * b


def first(*known: Any) -> Any:
    return known[0]


def pair(a: Any, b: Any) -> Any:
    return a, b


# -- functions of numpy arrays --


PYFUNC: dict[str, tuple[Callable[[], Any], Any]] = {
    "inferred": (lambda: ops.Custom(add, first, first, "pyfunc"), [4, 6]),
    "declared": (lambda: ops.Custom(add, (2,), ms.float32), [4, 6]),
    "two outputs": (lambda: ops.Custom(both, pair, pair), [[4, 6], [3, 8]]),
    "two declared": (
        lambda: ops.Custom(both, ((2,), (2,)), (ms.float32, ms.int32)),
        [[4, 6], [3, 8]],
    ),
}


@BOTH
@pytest.mark.parametrize("name", PYFUNC)
def test_python_functions(name: str, graph: bool) -> None:
    make, want = PYFUNC[name]
    op = make()
    assert plain(in_mode(graph, lambda a, b: op(a, b))(vector(*X), vector(*Y))) == want


@BOTH
def test_backward_of_the_user(graph: bool) -> None:
    def bprop(a: Any, b: Any, out: Any, dout: Any) -> Any:
        return dout * 10, dout * b

    op = ops.Custom(add, first, first, "pyfunc", bprop)
    gradient = in_mode(graph, ms.grad(lambda a, b: op(a, b), (0, 1)))
    assert plain(gradient(vector(*X), vector(*Y))) == [[10, 10], [3, 4]]


@BOTH
def test_no_backward(graph: bool) -> None:
    op = ops.Custom(add, first, first)
    run = in_mode(graph, ms.grad(lambda a, b: (op(a, b) * a).sum()))
    with pytest.raises(RuntimeError, match="no backward pass is defined"):
        run(vector(*X), vector(*Y))
    stopped = ms.grad(lambda a, b: (op(ops.stop_gradient(a), b) * a).sum())
    assert plain(in_mode(graph, stopped)(vector(*X), vector(*Y))) == [4, 6]


@BOTH
def test_errors_inside_pass(graph: bool) -> None:
    def bad(a: Any) -> Any:
        raise KeyError("inside")

    op = ops.Custom(bad, first, first)
    with pytest.raises(KeyError, match="inside"):
        in_mode(graph, lambda a: op(a))(vector(*X))
    small = ops.Custom(lambda a: a[:1], first, first)
    with pytest.raises(ValueError, match="the function gave"):
        in_mode(graph, lambda a: small(a))(vector(*X))


@BOTH
def test_large_arrays_and_mapped_functions(graph: bool) -> None:
    op = ops.Custom(lambda a: a + 1, first, first)
    x = ms.Tensor(np.ones((1024, 1024), np.float32))
    assert in_mode(graph, lambda a: op(a * 2))(x).asnumpy().sum() == 3 * 1024 * 1024
    mapped = in_mode(graph, ms.vmap(lambda a: op(a)))
    assert plain(mapped(ms.Tensor([[1, 2], [3, 4]], ms.float32))) == [[2, 3], [4, 5]]


@BOTH
def test_attributes_come_behind_the_tensors(graph: bool) -> None:
    info = (
        ops.CustomRegOp()
        .input(0, "a")
        .output(0, "y")
        .dtype_format(ops.DataType.F32_None, ops.DataType.F32_None)
        .attr("k", "required", "all")
        .attr("m", "optional", "all", default_value=1)
        .target("CPU")
        .get_op_info()
    )

    @ops.custom_info_register(info)
    def scaled(a: Any, k: Any, m: Any) -> Any:
        return a * k + m

    op = ops.Custom(scaled, lambda a, k, m: a, lambda a, k, m: a)
    assert plain(in_mode(graph, lambda a: op(a, 3, 2))(vector(*X))) == [5, 8]
    assert plain(in_mode(graph, lambda a: op(a, 5, 0))(vector(*X))) == [5, 10]


@BOTH
def test_pyfunc(graph: bool) -> None:
    x = vector(*X)
    seen: list[float] = []

    def note(a: Any) -> Any:
        seen.append(float(a.sum()))
        return a.sum()

    op = ops.PyFunc(note, [x.dtype], [x.shape], [x.dtype], [()])
    assert plain(in_mode(graph, lambda a: op((a,)))(x)) == [3]
    assert seen == [3]
    with pytest.raises(TypeError, match="the inputs were declared as"):
        op((vector(1.0),))


ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "func": (lambda: ops.Custom(3), TypeError, "must be of type function or str"),
    "kind": (lambda: ops.Custom(add, (2,), ms.float32, "no"), ValueError, "must be one of"),
    "julia": (lambda: ops.Custom("a.jl:f", (2,), ms.float32, "julia"), NotImplementedError, "jl"),
    "tbe": (lambda: ops.Custom(add, (2,), ms.float32, "tbe"), NotImplementedError, "Ascend"),
    "aot": (lambda: ops.Custom(add, (2,), ms.float32, "aot"), TypeError, "must be of type str"),
    "name": (lambda: ops.Custom("a.so", (2,), ms.float32, "aot"), TypeError, "should be like"),
    "shape": (lambda: ops.Custom(add), TypeError, "'out_shape' must be one of"),
    "file": (
        lambda: ops.Custom("no.so:f", (2,), ms.float32, "aot")(vector(*X)),
        FileNotFoundError,
        "there is no library 'no.so'",
    ),
    "record": (lambda: ops.Custom(add, (2,), ms.float32, reg_info=3), TypeError, "the record"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    call, error, text = ERRORS[name]
    with pytest.raises(error, match=text):
        call()


# -- kernels of loops --


@ops.kernel
def outer_product(a, b):
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)  # noqa: F821
    with block_realize(c):  # noqa: F821
        for i0 in range(a.shape[0]):
            for i1 in serial(b.shape[1]):  # noqa: F821
                c[i0, i1] = 0.0
                for i2 in reduce(a.shape[1]):  # noqa: F821
                    c[i0, i1] = c[i0, i1] + (a[i0, i2] * b[i2, i1])
    return c


@ops.kernel(compile_attrs={"note": 1})
def shifted(a):
    c, d = output_tensor(a.shape, a.dtype), allocate((1,), "float32")  # noqa: F821
    d[0] = 1.0
    for (i,) in grid(a.shape):  # noqa: F821
        c[i] = exp(a[i]) + d[0]  # noqa: F821
    return c


@BOTH
def test_kernels(graph: bool) -> None:
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 2), np.float32)
    np.testing.assert_allclose(outer_product(a, b), a @ b)
    op = ops.Custom(outer_product, func_type="hybrid")
    run = in_mode(graph, lambda x, y: op(x, y))
    np.testing.assert_allclose(run(ms.Tensor(a), ms.Tensor(b)).asnumpy(), a @ b)
    other = ops.Custom(shifted, first, first, "akg")
    np.testing.assert_allclose(
        in_mode(graph, lambda x: other(x))(vector(*X)).asnumpy(), np.exp(X) + 1, rtol=1e-6
    )
    assert shifted.compile_attrs == {"note": 1}


# -- C and C++ --

SOURCE = """
    #include <cstdint>
    #include <cstring>
    extern "C" int add_scaled(int nparam, void **params, int *ndims, int64_t **shapes,
                              const char **dtypes, void *stream, void *extra) {
      if (nparam != 3 || ndims[2] != 1 || strcmp(dtypes[0], "float32")) return 1;
      float *a = (float *)params[0], *b = (float *)params[1], *y = (float *)params[2];
      for (int64_t i = 0; i < shapes[2][0]; i++) y[i] = a[i] + 2 * b[i];
      return 0;
    }
"""


@needs_compiler
@BOTH
def test_c_functions(graph: bool, tmp_path: Path) -> None:
    source = tmp_path / "add.cc"
    source.write_text(textwrap.dedent(SOURCE))
    op = ops.Custom(f"{source}:add_scaled", first, first, "aot")
    assert plain(in_mode(graph, lambda a, b: op(a, b))(vector(*X), vector(*Y))) == [7, 10]
    with pytest.raises(RuntimeError, match=r"'add_scaled' of .* returned 1"):
        ops.Custom(f"{source}:add_scaled", first, first, "aot")(vector(*X))
    with pytest.raises(ValueError, match="has no function 'other'"):
        ops.Custom(f"{source}:other", first, first, "aot")(vector(*X))


HANDLER = """
    #include "xla/ffi/api/ffi.h"
    namespace ffi = xla::ffi;
    static ffi::Error Scale(ffi::Buffer<ffi::F32> x, float k, ffi::ResultBuffer<ffi::F32> y) {
      for (size_t i = 0; i < x.element_count(); i++) y->typed_data()[i] = k * x.typed_data()[i];
      return ffi::Error::Success();
    }
    XLA_FFI_DEFINE_HANDLER_SYMBOL(scale, Scale, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>()
        .Attr<float>("k").Ret<ffi::Buffer<ffi::F32>>());
"""


@needs_compiler
def test_op_builder(tmp_path: Path) -> None:
    source = tmp_path / "scale.cc"
    source.write_text(textwrap.dedent(HANDLER))
    builder = ops.CustomOpBuilder("scales", str(source), backend="CPU", build_dir=str(tmp_path))
    loaded = builder.load()
    for graph in (False, True):
        assert plain(in_mode(graph, lambda a: loaded.scale(a, k=3.0))(vector(*X))) == [3, 6]
    with pytest.raises(AttributeError, match="defines no handler 'other'"):
        loaded.other  # noqa: B018
    source.write_text('#include "ms_extension/api.h"')
    with pytest.raises(NotImplementedError, match="includes the original's C\\+\\+ headers"):
        builder.build()
    source.write_text("not C++")
    with pytest.raises(RuntimeError, match="g\\+\\+ could not compile"):
        builder.build()
    with pytest.raises(ValueError, match="'backend'"):
        ops.CustomOpBuilder("scales", str(source), backend="X")


# -- records --


def test_records() -> None:
    info = (
        ops.TBERegOp("Abs")
        .fusion_type("ELEMWISE")
        .binfile_name("abs.so")
        .kernel_name("abs")
        .dynamic_shape(True)
        .attr("a", "required", "int", "all")
        .input(0, "x", None, "required", None)
        .output(0, "y", True, "required", "all")
        .dtype_format(ops.DataType.F16_5HD, ops.DataType.F16_FracZ)
        .get_op_info()
    )
    # Recorded from the original.
    assert {k: info[k] for k in ("inputs", "outputs", "attr", "dtype_format", "binfile")} == {
        "inputs": [{"index": 0, "name": "x", "paramType": "required"}],
        "outputs": [
            {"index": 0, "name": "y", "need_compile": True, "paramType": "required", "shape": "all"}
        ],
        "attr": [{"name": "a", "paramType": "required", "type": "int", "value": "all"}],
        "dtype_format": [(("float16", "NC1HWC0"), ("float16", "FRACTAL_Z"))],
        "binfile": "abs.so",
    }
    assert info["dynamicShapeSupport"] is True and info["compute_cost"] == 10
    for cls, kind in ((ops.AiCPURegOp, "AiCPU"), (ops.CpuRegOp, "CPU"), (ops.AkgGpuRegOp, "AKG")):
        assert cls("Add").get_op_info()["imply_type"] == kind
    assert len(dir(ops.DataType)) == 204
    assert ops.DataType.BF16_Default_List == ("bfloat16", "DefaultFormat", "list")
    decorated = ops.op_info_register(info)(first)
    assert decorated(3) == 3
    with pytest.raises(ValueError, match="but got 1 vs 2"):
        ops.CustomRegOp().input(0, "x").output(0, "y").dtype_format(ops.DataType.F32_None)
    with pytest.raises(ValueError, match="op name value must be string"):
        ops.CustomRegOp(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'name' must be str"):
        ops.CustomRegOp().input(0, 1)


def test_in_a_cell() -> None:
    class Net(nn.Cell):
        """Holds an operator."""

        def __init__(self) -> None:
            super().__init__()
            self.op = ops.Custom(add, first, first)

        def construct(self, a: Any, b: Any) -> Any:
            return self.op(a, b)

    assert plain(Net()(vector(*X), vector(*Y))) == [4, 6]
    assert "func_type='pyfunc'" in repr(Net().op)
