"""Small programs about gradients; they run under the original, to be recorded, and under MindJAX.

``LIBRARY`` in the environment names the package; each program returns tensors and Python values.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

LIBRARY = os.environ.get("LIBRARY", "mindjax")
ms: Any = importlib.import_module(LIBRARY)
nn: Any = importlib.import_module(f"{LIBRARY}.nn")
ops: Any = importlib.import_module(f"{LIBRARY}.ops")
Tensor, Parameter, ParameterTuple = ms.Tensor, ms.Parameter, ms.ParameterTuple

PROGRAMS: dict[str, Callable[[], Any]] = {}
PYNATIVE_ONLY: set[str] = set()


def program(function: Callable[[], Any]) -> Callable[[], Any]:
    """Add a program to the table."""
    PROGRAMS[function.__name__] = function
    return function


def pynative(function: Callable[[], Any]) -> Callable[[], Any]:
    """Add a program that only PYNATIVE can run (hooks on tensors, Python lists outside)."""
    PYNATIVE_ONLY.add(function.__name__)
    return program(function)


def t(values: Any, dtype: Any = None) -> Any:
    """Make a tensor, Float32 unless told otherwise."""
    return Tensor(values, ms.float32 if dtype is None else dtype)


class Scale(nn.Cell):
    """Multiplies by two weights, one of them frozen."""

    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(t([2.0, 3.0]), name="w")
        self.frozen = Parameter(t([4.0, 5.0]), name="frozen", requires_grad=False)

    def construct(self, x: Any) -> Any:
        """Give ``w * frozen * x``."""
        return self.w * self.frozen * x


class TwoInputs(nn.Cell):
    """A weighted product of two inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(t([2.0, 3.0]), name="w")
        self.b = Parameter(t([1.0, 1.0]), name="b")

    def construct(self, x: Any, y: Any) -> Any:
        """Give ``w * x * y + b``."""
        return self.w * x * y + self.b


class Scaled(nn.Cell):
    """A product whose gradient is not its own."""

    def construct(self, x: Any, y: Any) -> Any:
        """Give ``x * y``."""
        return x * y

    def bprop(self, x: Any, y: Any, out: Any, dout: Any) -> Any:
        """Give gradients that tell which arguments came."""
        return dout * 100 + x, dout * 200 + out


class ScaledOuter(nn.Cell):
    """Uses a Cell with its own gradient inside."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Scaled()
        self.w = Parameter(t(3.0), name="w")

    def construct(self, x: Any) -> Any:
        """Give ``w * inner(x, 2 x)``."""
        return self.w * self.inner(x, x * 2)


class Counter(nn.Cell):
    """Writes a state while it computes."""

    def __init__(self) -> None:
        super().__init__()
        self.state = Parameter(t(1.0), name="state", requires_grad=False)

    def construct(self, x: Any) -> Any:
        """Give ``state * x`` with the state written first."""
        ops.assign(self.state, x * 2)
        return self.state * x


class GradInside(nn.Cell):
    """Differentiates another Cell inside construct."""

    def __init__(self, net: Any) -> None:
        super().__init__()
        self.net = net
        self.grad = ops.GradOperation()

    def construct(self, x: Any) -> Any:
        """Give the gradient of the inner Cell."""
        return self.grad(self.net)(x)


class Cube(nn.Cell):
    """The third power."""

    def construct(self, x: Any) -> Any:
        """Give ``x ** 3``."""
        return x**3


def square(x: Any) -> Any:
    """Give ``x * x``."""
    return x * x


def product(x: Any, y: Any) -> Any:
    """Give ``x * y``."""
    return x * y


def polynomial(x: Any, y: Any, z: Any) -> Any:
    """Give a sum of products of three inputs."""
    return x * y + y * z + z * x * 2


@program
def grad_first() -> Any:
    return ms.grad(product)(t(2.0), t(5.0))


@program
def grad_second() -> Any:
    return ms.grad(product, 1)(t(2.0), t(5.0))


@program
def grad_tuple_of_positions() -> Any:
    return ms.grad(polynomial, (0, 2))(t(2.0), t(3.0), t(5.0))


@program
def grad_tuple_of_one() -> Any:
    return ms.grad(polynomial, (1,))(t(2.0), t(3.0), t(5.0))


@program
def grad_none_position_weights() -> Any:
    net = Scale()
    return ms.grad(net, None, net.trainable_params())(t([1.0, 10.0]))


@program
def grad_weights_and_inputs() -> Any:
    net = TwoInputs()
    return ms.grad(net, (0, 1), net.trainable_params())(t([1.0, 2.0]), t([3.0, 4.0]))


@program
def grad_weights_and_one_input() -> Any:
    net = TwoInputs()
    return ms.grad(net, 0, net.trainable_params())(t([1.0, 2.0]), t([3.0, 4.0]))


@program
def grad_one_weight() -> Any:
    net = TwoInputs()
    return ms.grad(net, None, net.w)(t([1.0, 2.0]), t([3.0, 4.0]))


@program
def grad_parameter_tuple() -> Any:
    net = TwoInputs()
    return ms.grad(net, None, ParameterTuple(net.trainable_params()))(t([1.0, 2.0]), t([3.0, 4.0]))


@program
def grad_frozen_weight_is_zero() -> Any:
    net = Scale()
    return ms.grad(net, None, list(net.get_parameters()))(t([1.0, 10.0]))


@program
def grad_unused_weight_is_zero() -> Any:
    net = Scale()
    other = Parameter(t([1.0]), name="other")
    return ms.grad(net, None, [net.w, other])(t([1.0, 10.0]))


@program
def grad_unused_input_is_zero() -> Any:
    def f(x: Any, y: Any) -> Any:
        return x * 2

    return ms.grad(f, (0, 1))(t([1.0]), t([1.0, 2.0]))


@program
def grad_of_vector_output() -> Any:
    return ms.grad(square)(t([1.0, 2.0]))


@program
def grad_of_several_outputs() -> Any:
    def f(x: Any) -> Any:
        return x * 2, x * 3

    return ms.grad(f)(t([1.0, 1.0]))


@program
def grad_has_aux() -> Any:
    def f(x: Any) -> Any:
        return x * x, x * 7, x + 1

    return ms.grad(f, has_aux=True)(t(3.0))


@program
def value_and_grad_plain() -> Any:
    return ms.value_and_grad(product, (0, 1))(t(2.0), t(5.0))


@program
def value_and_grad_default_position() -> Any:
    return ms.value_and_grad(product)(t(2.0), t(5.0))


@program
def value_and_grad_aux() -> Any:
    def f(x: Any) -> Any:
        return x * x, x + 1

    return ms.value_and_grad(f, has_aux=True)(t(3.0))


@program
def value_and_grad_several_outputs() -> Any:
    def f(x: Any) -> Any:
        return x * x, x + 1

    return ms.value_and_grad(f)(t(3.0))


@program
def value_and_grad_weights_only() -> Any:
    net = TwoInputs()

    def forward(x: Any, y: Any) -> Any:
        return net(x, y).sum()

    step = ms.value_and_grad(forward, None, net.trainable_params())
    return step(t([1.0, 2.0]), t([3.0, 4.0]))


@program
def value_and_grad_weights_aux() -> Any:
    net = TwoInputs()

    def forward(x: Any, y: Any) -> Any:
        out = net(x, y)
        return out.sum(), out

    step = ms.value_and_grad(forward, None, net.trainable_params(), has_aux=True)
    return step(t([1.0, 2.0]), t([3.0, 4.0]))


@program
def value_and_grad_weights_and_inputs() -> Any:
    net = TwoInputs()
    step = ms.value_and_grad(net, 0, net.trainable_params())
    return step(t([1.0, 2.0]), t([3.0, 4.0]))


@program
def grad_int_input() -> Any:
    return ms.grad(square)(t(3, ms.int32))


@program
def grad_int_and_float() -> Any:
    return ms.grad(product, (0, 1))(t(3, ms.int32), t(2.5))


@program
def grad_half() -> Any:
    return ms.grad(square)(t([3.0], ms.float16))


@program
def grad_double() -> Any:
    return ms.grad(square)(t([3.0], ms.float64))


@program
def grad_python_number_argument() -> Any:
    return ms.grad(product)(t([3.0]), 4)


@program
def grad_second_order() -> Any:
    def f(x: Any) -> Any:
        return x**3

    return ms.grad(ms.grad(f))(t(2.0))


@program
def grad_third_order() -> Any:
    def f(x: Any) -> Any:
        return ops.sin(x) * x

    return ms.grad(ms.grad(ms.grad(f)))(t(0.5))


@program
def grad_mixed_second_order() -> Any:
    def f(x: Any, y: Any) -> Any:
        return x * x * y * y * y

    return ms.grad(ms.grad(f, 0), 1)(t(2.0), t(3.0))


@program
def grad_second_order_vector() -> Any:
    def f(x: Any) -> Any:
        return (x**3).sum()

    return ms.grad(ms.grad(f))(t([1.0, 2.0]))


@program
def grad_inside_construct() -> Any:
    return GradInside(Cube())(t(2.0))


@program
def grad_operation_default() -> Any:
    return ops.GradOperation()(product)(t(2.0), t(5.0))


@program
def grad_operation_all() -> Any:
    return ops.GradOperation(get_all=True)(product)(t(2.0), t(5.0))


@program
def grad_operation_sens() -> Any:
    return ops.GradOperation(sens_param=True)(square)(t([1.0, 2.0]), t([10.0, 100.0]))


@program
def grad_operation_all_sens() -> Any:
    grad = ops.GradOperation(get_all=True, sens_param=True)
    return grad(product)(t([1.0, 2.0]), t([3.0, 4.0]), t([10.0, 100.0]))


@program
def grad_operation_by_list() -> Any:
    net = TwoInputs()
    grad = ops.GradOperation(get_by_list=True)
    return grad(net, ParameterTuple(net.trainable_params()))(t([1.0, 2.0]), t([3.0, 4.0]))


@program
def grad_operation_all_by_list_sens() -> Any:
    net = TwoInputs()
    grad = ops.GradOperation(get_all=True, get_by_list=True, sens_param=True)
    run = grad(net, net.trainable_params())
    return run(t([1.0, 2.0]), t([3.0, 4.0]), t([10.0, 100.0]))


@program
def grad_operation_sens_of_several_outputs() -> Any:
    def f(x: Any) -> Any:
        return x * 2, x * 3

    return ops.GradOperation(sens_param=True)(f)(t([1.0]), (t([10.0]), t([100.0])))


@program
def stop_gradient_value() -> Any:
    def f(x: Any) -> Any:
        return ops.stop_gradient(x * x) * x

    return ms.value_and_grad(f)(t(3.0))


@program
def stop_gradient_all() -> Any:
    def f(x: Any) -> Any:
        return ops.stop_gradient(x * x)

    return ms.grad(f)(t(3.0))


@program
def bprop_of_cell() -> Any:
    return ms.grad(Scaled(), (0, 1))(t(2.0), t(3.0))


@program
def bprop_inside_cell_with_weights() -> Any:
    net = ScaledOuter()
    return ms.value_and_grad(net, 0, net.trainable_params())(t(2.0))


@program
def bprop_called_plainly() -> Any:
    return Scaled()(t(2.0), t(3.0))


@program
def grad_through_assign() -> Any:
    net = Counter()
    return ms.grad(net)(t(3.0)), net.state.value()


@program
def state_written_in_value_and_grad() -> Any:
    net = Counter()
    first = ms.value_and_grad(net)(t(3.0))
    second = ms.value_and_grad(net)(t(4.0))
    return first, second, net.state.value()


@program
def grad_setitem_number() -> Any:
    def f(x: Any) -> Any:
        y = x * 1
        y[0] = 0
        return (y * y).sum()

    return ms.grad(f)(t([3.0, 4.0]))


@program
def grad_setitem_tensor() -> Any:
    def f(x: Any, v: Any) -> Any:
        y = x * 1
        y[1:] = v * v
        return (y * y).sum()

    return ms.grad(f, (0, 1))(t([3.0, 4.0, 5.0]), t([2.0, 1.0]))


@program
def grad_setitem_of_itself() -> Any:
    def f(x: Any) -> Any:
        y = x * 1
        y[0] = y[1] * y[2]
        return (y * y).sum()

    return ms.grad(f)(t([3.0, 4.0, 5.0]))


@program
def grad_getitem() -> Any:
    def f(x: Any) -> Any:
        return x[0] * x[1] + x[1:].sum() * 2

    return ms.grad(f)(t([3.0, 4.0, 5.0]))


@program
def grad_through_python_if() -> Any:
    def f(x: Any, flag: bool) -> Any:
        if flag:
            return x * x
        return x * 3

    return ms.grad(f)(t(2.0), True), ms.grad(f)(t(2.0), False)


@program
def grad_through_loop() -> Any:
    def f(x: Any) -> Any:
        y = x
        for _ in range(3):
            y = y * x
        return y

    return ms.grad(f)(t(2.0))


@program
def grad_reused_input() -> Any:
    x = t([2.0, 3.0])
    return ms.grad(product, (0, 1))(x, x)


@program
def grad_of_reduction_and_broadcast() -> Any:
    def f(x: Any, y: Any) -> Any:
        return ((x + y) ** 2).mean()

    return ms.grad(f, (0, 1))(t([[1.0, 2.0], [3.0, 4.0]]), t([10.0, 20.0]))


@program
def grad_does_not_change_parameters() -> Any:
    net = TwoInputs()
    ms.grad(net, None, net.trainable_params())(t([1.0, 2.0]), t([3.0, 4.0]))
    return net.w.value(), net.b.value()


@program
def grad_keyword_argument() -> Any:
    def f(x: Any, scale: Any = 2.0) -> Any:
        return x * x * scale

    return ms.grad(f)(t(3.0))


@program
def grad_ids() -> Any:
    w = Parameter(t(2.0), name="w")

    def f(x: Any) -> Any:
        return w * x

    return ms.get_grad(ms.grad(f, 0, w, return_ids=True)(t(3.0)), 0)


@program
def grad_requires_grad_switched() -> Any:
    net = TwoInputs()
    net.w.requires_grad = False
    names = [p.name for p in net.trainable_params()]
    return names, ms.grad(net, None, net.trainable_params())(t([1.0, 2.0]), t([3.0, 4.0]))


@program
def grad_list_argument() -> Any:
    def f(x: Any, pair: Any) -> Any:
        return x * pair[0] * pair[1]

    return ms.grad(f)(t(2.0), (t(3.0), t(4.0)))


@pynative
def hook_order() -> Any:
    log = []

    def f(x: Any) -> Any:
        y = x * 2
        y.register_hook(lambda grad: log.append("a"))
        y.register_hook(lambda grad: grad * 10)
        z = y * 3
        z.register_hook(lambda grad: log.append("z"))
        return z

    return ms.grad(f)(t([1.0])), log


@pynative
def hook_removed() -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        handle = y.register_hook(lambda grad: grad * 10)
        handle.remove()
        return y

    return ms.grad(f)(t([1.0]))


@pynative
def hook_backward_op() -> Any:
    hook = ops.HookBackward(lambda grad: (grad[0] * 2,))

    def f(x: Any) -> Any:
        return hook(x * 3)

    return ms.grad(f)(t(1.0))


@pynative
def cell_hooks() -> Any:
    log = []
    net = nn.ReLU()
    net.register_forward_pre_hook(lambda cell, args: log.append(("pre", len(args))))
    net.register_forward_hook(lambda cell, args, out: log.append(("fwd", type(out).__name__)))
    net.register_backward_pre_hook(lambda cell, grad: log.append(("bpre", type(grad).__name__)))
    net.register_backward_hook(lambda cell, gi, go: log.append(("bwd", type(gi).__name__)))
    return ms.grad(net)(t([1.0])), log


@pynative
def cell_backward_hook_replaces() -> Any:
    net = nn.ReLU()
    net.register_backward_hook(lambda cell, gi, go: (gi[0] * 7,))
    return ms.grad(net)(t([1.0]))


@pynative
def cell_forward_hooks_replace() -> Any:
    net = nn.ReLU()
    net.register_forward_pre_hook(lambda cell, args: (args[0] + 5,))
    net.register_forward_hook(lambda cell, args, out: out * 10)
    return net(t([1.0])), ms.grad(net)(t([1.0]))


@pynative
def values_are_readable_inside() -> Any:
    seen = []

    def f(x: Any) -> Any:
        y = x * x
        seen.append(y.asnumpy().tolist())
        if y[0] > 1:
            return y * 3
        return y

    return ms.grad(f)(t([2.0])), seen


@pynative
def number_of_calls() -> Any:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x * x

    ms.grad(f)(t([2.0]))
    return len(calls)


@pynative
def error_inside_leaves_nothing() -> Any:
    def f(x: Any) -> Any:
        y = x * x
        if float(y) > 0:
            raise ValueError("on purpose")
        return y

    try:
        ms.grad(f)(t(2.0))
    except ValueError as error:
        text = str(error)
    return text, ms.grad(square)(t(3.0))


def run(name: str, graph: bool) -> Any:
    """Run a program in a mode."""
    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
    try:
        return describe(PROGRAMS[name]())
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def describe(value: Any) -> Any:
    """Turn a result into plain data."""
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, [describe(v) for v in value]]
    if isinstance(value, Tensor):
        array = np.asarray(value.asnumpy())
        return ["Tensor", str(value.dtype), list(array.shape), array.ravel().tolist()]
    return [type(value).__name__, value]
