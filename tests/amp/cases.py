"""Networks and training runs in mixed precision, which the original and MindJAX run alike."""

from __future__ import annotations

import zlib
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, amp, mint, nn, ops

X = np.random.RandomState(3).randn(4, 1, 8, 8).astype(np.float32)
LABELS = np.array([0, 2, 1, 1], np.int32)
LEVELS = ("O0", "O1", "O2", "O3", "auto")


class Image(nn.Cell):
    """Layers of every kind, and operators that are attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, pad_mode="valid", has_bias=True)
        self.norm = nn.BatchNorm2d(3)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.dense = nn.Dense(27, 6)
        self.rest = nn.SequentialCell(nn.Dense(6, 4), nn.LayerNorm((4,)), nn.Tanh())
        self.kept = nn.Dense(4, 4).to_float(ms.float32)
        self.matmul = ops.MatMul(transpose_b=True)
        self.relu_op = ops.ReLU()
        self.weight = Parameter(Tensor(np.ones((3, 4)), ms.float32), name="weight")

    def construct(self, x: Any) -> Any:
        x = self.pool(self.relu(self.norm(self.conv(x))))
        x = self.kept(self.rest(self.dense(self.flatten(x))))
        return self.matmul(self.relu_op(x) + x, self.weight)


class Line(nn.Cell):
    """A sequence: 1-D convolution, activation, normalization without statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(8, 4, 3, has_bias=True)
        self.prelu = nn.PReLU()
        self.norm = nn.GroupNorm(2, 4)
        self.head = nn.Dense(32, 3, activation="sigmoid")
        self.plain = nn.Conv2d(1, 1, 1)

    def construct(self, x: Any) -> Any:
        x = self.prelu(self.conv(self.plain(x).reshape(4, 8, 8)))
        x = self.norm(x.expand_dims(-1)).reshape(4, -1)
        return self.head(x)


NETWORKS = {"Image": Image, "Line": Line}


def made(name: str) -> Any:
    """Make a network with Parameters that a rule gives."""
    network = NETWORKS[name]()
    for full, p in network.parameters_and_names():
        draw = np.random.RandomState(zlib.crc32(full.encode()) % 2**31)
        value = draw.randn(*p.shape) * 0.3 + ("variance" in full or "gamma" in full)
        p.set_data(Tensor(np.abs(value) if "variance" in full else value, ms.float32))
    return network


def layers(name: str, level: str, dtype: Any) -> dict[str, Any]:
    """Give the dtype of each Cell's output and the network's output."""
    network = amp.auto_mixed_precision(made(name), level, dtype)
    seen: dict[str, str] = {}

    def watch(path: str) -> Any:
        def hook(cell: Any, inputs: Any, output: Any) -> None:
            seen[path] = str(output.dtype)

        return hook

    for path, cell in network.cells_and_names():
        cell.register_forward_hook(watch(path))
    out = network(Tensor(X))
    return {"dtypes": seen, "out": out.astype(ms.float32).asnumpy().tolist()}


def trained(name: str, level: str) -> list[float]:
    """Give the losses of some steps."""
    network = made(name)
    optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    manager = amp.FixedLossScaleManager(8.0, False) if level == "O3" else None
    step = amp.build_train_network(network, optimizer, loss, level, loss_scale_manager=manager)
    return [float(step(Tensor(X), Tensor(LABELS)).asnumpy()) for _ in range(6)]


def custom(kind: str) -> dict[str, Any]:
    """Give the dtypes with a list of one's own."""
    lists: dict[str, Any] = {
        "white": {"white_list": [*amp.get_white_list(), nn.Tanh, nn.SequentialCell, ops.Tanh]},
        "only relu": {"white_list": [ops.ReLU]},
        "black": {"black_list": [nn.Dense, nn.BatchNorm2d]},
    }
    network = amp.custom_mixed_precision(made("Image"), **lists[kind])
    seen: dict[str, str] = {}
    for path, cell in network.cells_and_names():
        cell.register_forward_hook(lambda c, i, o, path=path: seen.__setitem__(path, str(o.dtype)))
    out = network(Tensor(X))
    return {"dtypes": seen, "out": out.astype(ms.float32).asnumpy().tolist()}


OPERATORS = {
    "matmul": lambda a, b: ops.matmul(a, b),
    "MatMul": lambda a, b: ops.MatMul()(a, b),
    "pow": lambda a, b: ops.pow(a, b),
    "exp": lambda a, b: ops.exp(a),
    "softmax": lambda a, b: ops.softmax(a),
    "addn": lambda a, b: ops.addn([a, b]),
    "concat": lambda a, b: ops.concat([a, b]),
    "add": lambda a, b: a + b,
    "dot": lambda a, b: ops.dot(a, b),
    "sum": lambda a, b: a.sum(),
    "mean": lambda a, b: ops.mean(a),
    "mint.sum": lambda a, b: mint.sum(a),
    "dense": lambda a, b: ops.dense(a, b),
    "mint.matmul": lambda a, b: mint.matmul(a, b),
    "@": lambda a, b: a @ b,
    "log": lambda a, b: ops.log(a),
    "**": lambda a, b: a**2,
    "cumsum": lambda a, b: ops.cumsum(a, 0),
    "log_softmax": lambda a, b: ops.log_softmax(a),
    "bias_add": lambda a, b: ops.bias_add(a, b[0]),
    "addcmul": lambda a, b: ops.addcmul(a, b, b, Tensor(1.0)),
    "layer_norm": lambda a, b: ops.layer_norm(a, (2,), b[0], b[0]),
    "cross_entropy": lambda a, b: ops.cross_entropy(a, Tensor([0, 1], ms.int32)),
    "prod": lambda a, b: ops.prod(a),
    "norm": lambda a, b: ops.norm(a),
    "rsqrt": lambda a, b: ops.rsqrt(a),
    "gelu": lambda a, b: ops.gelu(a),
    "sigmoid": lambda a, b: ops.sigmoid(a),
    "tan": lambda a, b: ops.tan(a),
    "bmm": lambda a, b: ops.bmm(a[None], b[None]),
    "stack": lambda a, b: ops.stack([a, b]),
    "softplus": lambda a, b: ops.softplus(a),
    "kl_div": lambda a, b: ops.kl_div(a, b),
    "mv": lambda a, b: ops.mv(a, b[0]),
    "baddbmm": lambda a, b: ops.baddbmm(a[None], a[None], b[None]),
}
PAIRS = (("float32", "float32"), ("float16", "float32"), ("float16", "float16"))


def operator(name: str) -> dict[str, str]:
    """Give the dtype of an operator's result at the level auto."""
    function = amp.auto_mixed_precision(lambda a, b: OPERATORS[name](a, b), "auto", ms.float16)
    found = {}
    for first, second in PAIRS:
        a, b = (Tensor(np.ones((2, 2)), getattr(ms, d)) for d in (first, second))
        try:
            found[f"{first} {second}"] = str(function(a, b).dtype)
        except (RuntimeError, TypeError):
            continue
    return found


# Where the gradients of a step are made to overflow.
OVERFLOWS = (False, True, False, False, True, True, False, False, False, False)


class Quadratic(nn.Cell):
    """A loss whose gradient overflows on demand."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(Tensor([1.0, -2.0], ms.float32), name="weight")

    def construct(self, x: Any) -> Any:
        return (self.weight * self.weight * x).sum()


def rows() -> list[Tensor]:
    """Give the inputs of the steps."""
    return [Tensor([np.inf if over else 1.0, 2.0], ms.float32) for over in OVERFLOWS]


def overflowed(gradients: Any) -> Tensor:
    """Tell whether gradients overflow, with operators that every device has."""
    return ops.logical_not(amp.all_finite(gradients)).reshape(())


def scaled_steps(kind: str, watch: Any = None) -> list[list[float]]:
    """Give what some steps with a loss scale return, and the weight after each."""

    class Step(nn.TrainOneStepWithLossScaleCell):
        """The step with a check of overflows that runs on a CPU."""

        def get_overflow_status(self, status: Any, compute_output: Any) -> Any:
            return overflowed(compute_output)

    network = Quadratic()
    optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
    if kind == "dynamic":
        scale: Any = nn.DynamicLossScaleUpdateCell(1024.0, 2, 2)
    elif kind == "fixed":
        scale = nn.FixedLossScaleUpdateCell(64.0)
    else:
        scale = Tensor([32.0], ms.float32)
    step = (watch or Step)(network, optimizer, scale)
    found = []
    for i, row in enumerate(rows()):
        if kind == "set" and i == 4:
            step.set_sense_scale(Tensor([2.0], ms.float32))
        loss, over, now = step(row)
        state = [loss, over.astype(ms.float32), now, network.weight]
        found.append([float(v) for s in state for v in s.asnumpy().reshape(-1)])
        if kind == "dynamic":
            counts = (scale.cur_iter, scale.last_overflow_iter)
            found[-1].extend(float(c.asnumpy()) for c in counts)
    return found


def scaler_steps() -> list[list[float]]:
    """Give the scale and the counter of a dynamic scaler."""
    scaler = amp.DynamicLossScaler(1024, 2, 2)
    found = []
    for row in rows():
        finite = amp.all_finite((row, Tensor([1.0], ms.float16)))
        scaler.adjust(finite)
        found.append([float(scaler.scale_value.asnumpy()), float(scaler.counter.asnumpy())])
    return found


def manager_steps() -> list[float]:
    """Give the scales of a manager on the host."""
    manager = amp.DynamicLossScaleManager(16, 2, 2)
    found = []
    for over in OVERFLOWS:
        manager.update_loss_scale(over)
        found.append(float(manager.get_loss_scale()))
    return found
