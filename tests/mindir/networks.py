"""Small networks that are exported: name -> (network, inputs); the original runs them too."""

import importlib
import sys

import numpy as np

# Under the original, and where MindJAX stands for it, `mindspore` is imported already.
ms = sys.modules.get("mindspore") or importlib.import_module("mindjax")
nn, ops, Tensor = ms.nn, ms.ops, ms.Tensor

STATE = np.random.RandomState(3)


def floats(*shape):
    return STATE.randn(*shape).astype(np.float32)


def integers(most, *shape):
    return STATE.randint(0, most, shape).astype(np.int32)


class Mlp(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(4, 8), nn.Dense(8, 3)

    def construct(self, x):
        return self.second(ops.relu(self.first(x)))


class Convolutions(nn.Cell):
    """Padded, strided, dilated, grouped, one-dimensional; batch normalization and both poolings."""

    def __init__(self):
        super().__init__()
        self.padded = nn.Conv2d(2, 4, 3, 2, pad_mode="pad", padding=1, has_bias=True)
        self.same = nn.Conv2d(4, 4, 3, pad_mode="same", group=2, dilation=2)
        self.norm = nn.BatchNorm2d(4)
        self.line = nn.Conv1d(4, 3, 2, pad_mode="valid")
        self.most, self.mean = nn.MaxPool2d(2, 1, pad_mode="same"), nn.AvgPool2d(2, 2)

    def construct(self, x):
        x = self.mean(self.most(self.norm(self.same(self.padded(x)))))
        return self.line(x.reshape((x.shape[0], 4, -1)))


class Volumes(nn.Cell):
    """Three-dimensional convolutions and poolings, padded in every way."""

    def __init__(self):
        super().__init__()
        padding = (1, 0, 1, 1, 2, 0)
        self.padded = nn.Conv3d(2, 4, (2, 3, 3), (1, 2, 1), "pad", padding, has_bias=True)
        self.same = nn.Conv3d(4, 3, 3, pad_mode="same")
        self.most, self.most_padded = (
            ops.MaxPool3D(2, 1, "same"),
            ops.MaxPool3D(2, 2, "pad", 1, True),
        )
        self.mean = ops.AvgPool3D(2, 1, "valid")
        self.mean_padded = ops.AvgPool3D(2, 2, "pad", 1, True, False)

    def construct(self, x):
        x = self.same(self.padded(x))
        return self.mean(self.most(x)), self.most_padded(x), self.mean_padded(x)


class Condition(nn.Cell):
    """``if`` over a Tensor, with a weight in one branch."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3)

    def construct(self, x, y):
        if ops.ReduceSum()(x) > 0:  # noqa: SIM108
            z = self.dense(x) + y
        else:
            z = x * 2 - y
        return ops.relu(z)


class Loop(nn.Cell):
    """``while`` over Tensors, with a weight and a condition in its body."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)

    def construct(self, x, n):
        i = Tensor(0, ms.int32)
        while i < n:
            if i % 2 == 0:  # noqa: SIM108
                x = ops.tanh(self.dense(x)) + x
            else:
                x = x - 0.1
            i = i + 1
        return x, i


class Left(nn.Cell):
    """A loop that ``break`` leaves, and a result that is returned early."""

    def construct(self, x, n):
        i = Tensor(0, ms.int32)
        while i < n:
            x = x * 1.5
            if x.max() > 10:
                break
            i = i + 1
        if i > 3:
            return x, i
        return x - 1, i


class Rows(nn.Cell):
    """``for`` over the rows of a Tensor."""

    def construct(self, x, rows):
        for row in rows:
            x = x * 0.9 + row
        return x


class Scanned(nn.Cell):
    """A loop of three hundred turns, each with an output."""

    def construct(self, x):
        def turn(carry, _):
            after = ops.sin(carry) * 2
            return after, ops.ReduceSum()(after)

        last, sums = ops.Scan()(turn, x, None, 300, unroll=False)
        return last, sums[-1], sums[100]


class Counter(nn.Cell):
    """State that the network writes."""

    def __init__(self):
        super().__init__()
        self.total = ms.Parameter(Tensor(np.zeros(3, np.float32)), name="total")

    def construct(self, x):
        self.total += x
        return self.total * 2


class Indexing(nn.Cell):
    def construct(self, x, places):
        a = x[1:, ::2] + x[:-1, 1::2]
        b = ops.gather(x, places, 0)
        c = ops.gather_elements(x, 1, ops.cast(places.reshape((-1, 1)), ms.int64))
        return a, b, c, x[0, -1], ops.flip(x, (1,)), ops.pad(x, (1, 2, 0, 1), value=3.0)


class Several(nn.Cell):
    """Inputs in a tuple, outputs in a tuple of tuples."""

    def construct(self, pair, scale):
        a, b = pair
        return a * scale, (a + b, ops.matmul(a, b.T))


class Reductions(nn.Cell):
    def construct(self, x):
        return (
            x.sum(), x.mean(0), x.max(1), x.min(), ops.prod(x, 1), ops.argmax(x, 1),
            ops.cumsum(x, 1), ops.std(x), ops.logsumexp(x, 1), ops.norm(x), ops.topk(x, 2)[0],
        )  # fmt: skip


class Functions(nn.Cell):
    def construct(self, x, n):
        y = ops.abs(x) + 1
        return (
            ops.gelu(x), ops.silu(x), ops.log_softmax(x, -1), ops.leaky_relu(x, 0.1), ops.elu(x),
            ops.exp(x) / y, y**1.5, ops.clamp(x, -1, 1), ops.where(x > 0, x, y), ops.rsqrt(y),
            ops.sin(x) * ops.cos(x), ops.erf(x), ops.one_hot(n, 5, ops.ones(()), ops.zeros(())),
            ops.floor(x), ops.cast(x, ms.float16), n // 2, n % 3, n * 2.5, ops.softplus(x),
            ops.logical_and(x > 0, n.reshape((-1, 1)) > 1), ops.sort(x)[0],
            ops.tril(ops.ones((3, 3))),
        )  # fmt: skip


class Attention(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm((8,))

    def construct(self, tokens):
        x = self.embedding(tokens)
        return self.norm(x + self.attention(x, x, x, need_weights=False)[0])


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(8, 4, batch_first=True)

    def construct(self, x):
        return self.gru(self.lstm(x)[0])[0]


def train_step(network, optimizer, classes=3):
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    cell = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer(network))
    return cell.set_train()


def adam(network):
    return nn.Adam(network.trainable_params(), 0.01)


def momentum(network):
    return nn.Momentum(network.trainable_params(), 0.1, 0.9)


NETWORKS = {
    "mlp": lambda: (Mlp(), [floats(5, 4)]),
    "convolutions": lambda: (Convolutions().set_train(False), [floats(2, 2, 12, 12)]),
    "volumes": lambda: (Volumes(), [floats(2, 2, 5, 9, 7)]),
    "condition": lambda: (Condition(), [floats(2, 3), floats(2, 3)]),
    "loop": lambda: (Loop(), [floats(2, 4), np.array(5, np.int32)]),
    "left": lambda: (Left(), [floats(2, 4), np.array(50, np.int32)]),
    "rows": lambda: (Rows(), [floats(3), floats(70, 3)]),
    "scanned": lambda: (Scanned(), [floats(3)]),
    "counter": lambda: (Counter(), [floats(3)]),
    "indexing": lambda: (Indexing(), [floats(4, 6), integers(4, 4)]),
    "several": lambda: (Several(), [(floats(2, 3), floats(2, 3)), floats(3)]),
    "reductions": lambda: (Reductions(), [floats(3, 4)]),
    "functions": lambda: (Functions(), [floats(3, 4), integers(5, 3)]),
    "attention": lambda: (Attention().set_train(False), [integers(11, 2, 5)]),
    "recurrent": lambda: (Recurrent(), [floats(2, 4, 3)]),
    "step_adam": lambda: (train_step(Mlp(), adam), [floats(5, 4), integers(3, 5)]),
    "step_momentum": lambda: (train_step(Mlp(), momentum), [floats(5, 4), integers(3, 5)]),
}


def tensors(inputs):
    """Make Tensors of arrays, in tuples too."""
    return [tuple(map(Tensor, x)) if isinstance(x, tuple) else Tensor(x) for x in inputs]


def flat(value):
    """List the arrays of a result, from left to right."""
    if isinstance(value, tuple | list):
        return [a for v in value for a in flat(v)]
    return [value.asnumpy()]
