"""Operators that users define as classes, and operators that look."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import mindjax as ms
from mindjax import ops
from mindjax.core import observed
from mindjax.graph.branch import run_if

BOTH = pytest.mark.parametrize("graph", [False, True])


def in_mode(graph: bool, function: Callable[..., Any]) -> Callable[..., Any]:
    return ms.jit(function) if graph else function


def vector(*values: float) -> Any:
    return ms.Tensor(list(values), ms.float32)


def plain(value: Any) -> Any:
    return value.asnumpy().tolist()


class ScaledAdd(ops.PrimitiveWithInfer):
    """Adds a multiple."""

    @ops.prim_attr_register
    def __init__(self, k: int = 3) -> None:
        self.init_prim_io_names(inputs=["a", "b"], outputs=["c"])
        self.twice = 2 * k

    def infer_shape(self, a: Any, b: Any) -> Any:
        return a

    def infer_dtype(self, a: Any, b: Any) -> Any:
        return a

    def vm_impl(self, a: Any, b: Any) -> Any:
        return ms.Tensor(a.asnumpy() + b.asnumpy() * self.k)


class Checked(ops.PrimitiveWithCheck):
    """The built-in ReLU, of vectors only."""

    @ops.prim_attr_register
    def __init__(self) -> None:
        super().__init__("ReLU")

    def check_shape(self, x: Any) -> None:
        if len(x) != 1:
            raise ValueError("vectors only")

    def check_dtype(self, x: Any) -> None:
        assert x == ms.TensorType(ms.float32)


class ReLU(ops.Primitive):
    """The built-in operator of that name."""

    @ops.prim_attr_register
    def __init__(self) -> None:
        pass


class Registered(ops.Primitive):
    """Implemented elsewhere."""

    @ops.prim_attr_register
    def __init__(self) -> None:
        pass


@ops.vm_impl_registry.register("Registered")
def _registered(self: Any) -> Any:
    return lambda x: ms.Tensor(x.asnumpy() + 100)


@BOTH
def test_classes(graph: bool) -> None:
    x = vector(-1.0, 2.0)
    assert plain(in_mode(graph, lambda a: ScaledAdd(2)(a, a))(x)) == [-3, 6]
    assert plain(in_mode(graph, lambda a: Checked()(a))(x)) == [0, 2]
    assert plain(in_mode(graph, lambda a: ReLU()(a))(x)) == [0, 2]
    assert plain(in_mode(graph, lambda a: ops.Primitive("Add")(a, a))(x)) == [-2, 4]
    with pytest.raises(ValueError, match="vectors only"):
        Checked()(ms.Tensor([[1.0]], ms.float32))


def test_attributes() -> None:
    op = ScaledAdd()
    assert (op.name, op.k, op.twice) == ("ScaledAdd", 3, 6)
    assert op.attrs == {"k": 3, "input_names": ["a", "b"], "output_names": ["c"]}
    assert repr(op) == "Prim[ScaledAdd]<k=3>" and repr(ops.Primitive("x")) == "Prim[x]"
    assert isinstance(op, ops.Primitive) and isinstance(ops.Add(), ops.Primitive)
    assert issubclass(ops.Add, ops.Primitive) and not isinstance(3, ops.Primitive)
    assert not isinstance(ops.Add(), ops.PrimitiveWithInfer)
    assert ops.ReLU()(vector(-1.0)).asnumpy() == [0]
    add = ops.Add().shard(((1,), (1,))).set_device("CPU").set_stage(0).recompute()
    assert add.get_attr_dict() == {
        "in_strategy": ((1,), (1,)),
        "primitive_target": "CPU",
        "stage": 0,
        "recompute": True,
    }
    assert add.add_prim_attr("q", 1).q == 1 and not hasattr(add.del_prim_attr("q"), "q")
    assert plain(add(vector(1.0), vector(2.0))) == [3] and add == ops.Add()
    with pytest.raises(TypeError, match="in_strategy must be tuple type"):
        ops.Add().shard([1])


def test_the_table_of_tensor_functions() -> None:
    registry = ops.tensor_operator_registry
    assert registry.get("add") is ops.add
    registry.register("mine", plain)
    assert registry.get("mine") is plain
    with pytest.raises(ValueError, match="there is no function"):
        registry.get("nothing_of_that_name")


def test_implementations() -> None:
    assert plain(Registered()(vector(1.0))) == [101]
    assert plain(ops.get_vm_impl_fn("Registered")(vector(1.0))) == [101]
    assert ops.get_vm_impl_fn("Nothing") is None
    with pytest.raises(NotImplementedError, match="there is no implementation"):
        ops.Primitive("Nothing")(vector(1.0))
    with pytest.raises(NotImplementedError, match="a graph needs 'infer_shape'"):
        ms.jit(lambda x: Registered()(x))(vector(1.0))


# -- operators that look --


@BOTH
def test_gradients_on_their_way(graph: bool, tmp_path: Path) -> None:
    path = str(tmp_path / "gradient.npy")
    clip, dump = ops.InsertGradientOf(lambda g: g * 3), ops.DumpGradient()

    def loss(x: Any) -> Any:
        return (clip(dump(path, x, "out")) ** 2).sum()

    assert plain(in_mode(graph, ms.grad(loss))(vector(1.0, 2.0))) == [6, 12]
    np.testing.assert_allclose(np.load(path), [6, 12])
    with pytest.raises(TypeError, match="'f' must be a function"):
        ops.InsertGradientOf(3)


@BOTH
def test_dumps(graph: bool, tmp_path: Path) -> None:
    def run(x: Any) -> Any:
        ops.tensordump(str(tmp_path / "a"), x)
        ops.TensorDump("in")(str(tmp_path / "b.npy"), x * 2)
        return x

    in_mode(graph, run)(vector(1.0, 2.0)).asnumpy()
    ms.common.api._pynative_executor.sync()
    (first,), (second,) = tmp_path.glob("a_float32_*.npy"), tmp_path.glob("b_in_float32_*.npy")
    assert np.load(first).tolist() == [1, 2] and np.load(second).tolist() == [2, 4]
    with pytest.raises(TypeError, match="'file' should be 'str'"):
        ops.tensordump(3, vector(1.0))  # type: ignore[arg-type]


@BOTH
def test_summaries_are_kept_while_somebody_records(graph: bool) -> None:
    def run(x: Any) -> Any:
        ops.ScalarSummary()("loss", x.sum())
        ops.TensorSummary()("x", x)
        ops.HistogramSummary()("h", x)
        ops.ImageSummary()("i", x.reshape(1, 1, 1, 2))
        return x * 2

    call = in_mode(graph, run)
    assert plain(call(vector(1.0, 2.0))) == [2, 4] and not list(observed.take())
    observed.start()
    try:
        call(vector(0.0, 9.0))
        assert plain(call(vector(1.0, 2.0))) == [2, 4]
        seen = {(kind, name): np.asarray(value).tolist() for kind, name, value in observed.take()}
        assert not list(observed.take())
    finally:
        observed.stop()
    assert list(seen) == [("scalar", "loss"), ("tensor", "x"), ("histogram", "h"), ("image", "i")]
    assert seen["scalar", "loss"] == 3 and seen["tensor", "x"] == [1, 2]
    call(vector(1.0, 2.0))
    assert not list(observed.take())


@BOTH
def test_summaries_inside_gradients_branches_loops_and_jax(graph: bool) -> None:
    def loss(x: Any) -> Any:
        ops.TensorSummary()("inner", x * 3)
        return (x * x).sum()

    def run(x: Any, flag: Any) -> Any:
        gradient = ms.grad(loss)(x)
        run_if(flag, lambda: ops.ScalarSummary()("rare", x.sum()))

        def turn(i: Any, y: Any) -> Any:
            ops.ScalarSummary()("last", y)
            return y + 1

        ops.ForiLoop()(0, 70, turn, x, False)
        return gradient

    call = in_mode(graph, run)
    observed.start()
    try:
        found = []
        for value, flag in ((1.0, False), (2.0, True), (3.0, False)):
            call(vector(value), ms.Tensor(flag)).asnumpy()
            found.append({n: float(np.asarray(v).sum()) for _, n, v in observed.take()})
        jax.jit(lambda x: (ops.ScalarSummary()("own", x), x)[1])(jax.numpy.ones(()))
        found.append({n: float(np.asarray(v)) for _, n, v in observed.take()})
    finally:
        observed.stop()
    assert found == [
        {"inner": 3, "last": 70},
        {"inner": 6, "rare": 2, "last": 71},
        {"inner": 9, "last": 72},
        {"own": 1},
    ]


def test_summaries_that_are_wrong() -> None:
    for call, error in (
        (lambda: ops.ScalarSummary()(3, vector(1.0)), TypeError),
        (lambda: ops.ScalarSummary()("a", 3), TypeError),
        (lambda: ops.ScalarSummary()("", vector(1.0)), ValueError),
        (lambda: ops.ImageSummary()("a", vector(1.0)), ValueError),
        (lambda: ops.TensorSummary()("a", vector(1.0).sum()), ValueError),
    ):
        with pytest.raises(error, match="Summary"):
            call()


@BOTH
def test_the_others(graph: bool) -> None:
    x = vector(1.0, 2.0)
    doubled = ops.Morph(lambda a: a * 2, lambda s: s, lambda t: t, lambda a, out, dout: dout * 9)
    assert plain(in_mode(graph, lambda a: doubled(a))(x)) == [2, 4]
    assert plain(in_mode(graph, ms.grad(lambda a: doubled(a)))(x)) == [9, 9]
    assert plain(in_mode(graph, lambda a: ops.move_to(a, "CPU"))(x)) == [1, 2]
    assert plain(in_mode(graph, lambda a: ops.MoveTo()(a, "CPU", True))(x)) == [1, 2]
    assert ops.PyExecute()("a + b", ("a", "b"), (1, 2)) == 3
    assert ops.Reusing()(plain) is plain and ops.UpdateState()(1, 2) == 1


@BOTH
def test_print(graph: bool, capfd: pytest.CaptureFixture[str]) -> None:
    """Tensors are shown with shape and dtype, when the program runs."""

    def shown(x: ms.Tensor) -> ms.Tensor:
        ops.Print()("x:", x, 3)
        return x + 1

    run = in_mode(graph, shown)
    for value in (1, 2):
        run(ms.Tensor([[value]], ms.int32)).asnumpy()
    jax.effects_barrier()
    line = "x:\nTensor(shape=[1, 1], dtype=Int32, value=\n[[{}]])\n3\n"
    assert capfd.readouterr().out == line.format(1) + line.format(2)


class Tripled(ops.Primitive):
    """Twice the first input, with a gradient of its own and none for the second."""

    def __init__(self, factor: float) -> None:
        super().__init__("Tripled")
        self.factor = factor

    def compute(self, x: Any, count: Any) -> Any:
        return x * 2

    def bprop(self, x: Any, count: Any, out: Any, dout: Any) -> Any:
        return dout * self.factor * x, None


class Short(ops.Primitive):
    """A gradient of a wrong shape."""

    def compute(self, x: Any) -> Any:
        return x

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return dout[:1]


class SquareOnHost(ops.PrimitiveWithInfer):
    """A square on the host, with a gradient of Tensors."""

    def infer_shape(self, x: Any) -> Any:
        return x

    def infer_dtype(self, x: Any) -> Any:
        return x

    def vm_impl(self, x: Any) -> Any:
        return ms.Tensor(x.asnumpy() ** 2)

    def get_bprop(self) -> Any:
        def bprop(x: Any, out: Any, dout: Any) -> Any:
            return (dout * 5 * x,)

        return bprop


@BOTH
def test_gradients_of_their_own(graph: bool) -> None:
    op, count = Tripled(7.0), ms.Tensor([1, 2])
    loss = in_mode(graph, lambda x: op(x, count).sum())
    assert plain(loss(vector(1, 2))) == 6
    assert plain(ms.grad(loss)(vector(1, 2))) == [7, 14]
    assert plain(ms.grad(lambda x: ms.grad(loss)(x).sum())(vector(1, 2))) == [7, 7]
    square = SquareOnHost("SquareOnHost")
    assert plain(ms.grad(in_mode(graph, lambda x: square(x).sum()))(vector(1, 2))) == [5, 10]


def test_gradient_of_a_wrong_shape() -> None:
    with pytest.raises(ValueError, match=r"For 'Short', 'bprop' must return .* \(2,\), but got"):
        ms.grad(lambda x: Short("Short")(x).sum())(vector(1, 2))
