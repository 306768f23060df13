"""Small programs as MindSpore users write them; each gives numbers and names.

A program sees what IMPORTS brings, `fill` (gives a net's Parameters fixed values), `numbers` (takes
a Tensor's values), `names` (takes anything that JSON holds) and `Losses`, a callback that takes
every step's loss.
"""

from __future__ import annotations

import importlib.util
import json
import pathlib
import sys
from typing import Any

import numpy as np

IMPORTS = """\
import copy
import os
import pickle
from collections import OrderedDict

import numpy as np

import mindspore as ms
import mindspore.dataset as ds
import mindspore.dataset.transforms as transforms
import mindspore.dataset.vision as vision
from mindspore import Parameter, Tensor, mint, nn, ops
from mindspore.train import (
    Accuracy, Callback, CheckpointConfig, EarlyStopping, Loss, LossMonitor, Model, ModelCheckpoint
)

rng = np.random.RandomState(0)
X = rng.randn(32, 8).astype(np.float32)
Y = rng.randint(0, 3, 32).astype(np.int32)
IMAGES = rng.randn(16, 3, 8, 8).astype(np.float32)


def rows():
    return ds.NumpySlicesDataset((X, Y), ["x", "y"], shuffle=False).batch(8)


class Losses(Callback):
    def on_train_step_end(self, run_context):
        numbers(run_context.original_args().net_outputs)
"""

SCRIPTS = {
    "mlp_dropout": """
class MLP(nn.Cell):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.layers = nn.SequentialCell(
            nn.Dense(8, 16), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(16, 3)
        )

    def construct(self, x):
        return self.layers(self.flatten(x))

net = fill(MLP())
loss_fn = nn.CrossEntropyLoss()
net.set_train(False)
numbers(loss_fn(net(Tensor(X)), Tensor(Y)))
net.set_train(True)
first, second = (float(loss_fn(net(Tensor(X)), Tensor(Y)).asnumpy()) for _ in range(2))
names(first != second)
""",
    "resnet_block": """
class Block(nn.Cell):
    def __init__(self, inner, outer, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride=stride, weight_init="HeNormal")
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, padding=1, pad_mode="pad")
        self.bn2 = nn.BatchNorm2d(outer, momentum=0.95)
        self.relu = nn.ReLU()
        self.down = None
        if stride != 1 or inner != outer:
            self.down = nn.SequentialCell(
                [nn.Conv2d(inner, outer, 1, stride=stride), nn.BatchNorm2d(outer)]
            )

    def construct(self, x):
        identity = x if self.down is None else self.down(x)
        out = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(out)) + identity)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.SequentialCell([Block(3, 4, 2), Block(4, 4)])
        self.pool = ops.ReduceMean(keep_dims=True)
        self.fc = nn.Dense(4, 3)

    def construct(self, x):
        x = self.pool(self.layer(x), (2, 3))
        return self.fc(x.view(x.shape[0], -1))

net = fill(Net())
optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9, weight_decay=1e-4)
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer).set_train()
for _ in range(5):
    numbers(step(Tensor(IMAGES), Tensor(Y[:16])))
net.set_train(False)
numbers(net(Tensor(IMAGES[:2])))
numbers(net.layer[0].bn1.moving_mean)
""",
    "encoder": """
class Attention(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.width, self.heads = width, heads
        self.q, self.k, self.v = (nn.Dense(width, width) for _ in range(3))
        self.out = nn.Dense(width, width)
        self.softmax = nn.Softmax(axis=-1)
        self.matmul = ops.BatchMatMul()
        self.scale = Tensor((width // heads) ** -0.5, ms.float32)

    def split(self, x):
        b, s, _ = x.shape
        return x.reshape((b, s, self.heads, self.width // self.heads)).transpose(0, 2, 1, 3)

    def construct(self, x, mask=None):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        score = self.matmul(q, k.transpose(0, 1, 3, 2)) * self.scale
        if mask is not None:
            score = score + (1 - mask) * -1e9
        out = self.matmul(self.softmax(score), v)
        return self.out(out.transpose(0, 2, 1, 3).reshape(x.shape))

class Layer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.attention = Attention(8, 2)
        self.norm1, self.norm2 = nn.LayerNorm((8,)), nn.LayerNorm([8], epsilon=1e-5)
        self.feed = nn.SequentialCell(nn.Dense(8, 16, activation="gelu"), nn.Dense(16, 8))

    def construct(self, x, mask):
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.feed(x))

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.layers = nn.CellList([Layer() for _ in range(2)])
        self.head = nn.Dense(8, 20)

    def construct(self, ids):
        x = self.embedding(ids)
        mask = ops.tril(ops.ones((ids.shape[1], ids.shape[1]), ms.float32))
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(x)

net = fill(Net())

def forward(ids):
    logits = net(ids[:, :-1])
    return ops.cross_entropy(logits.reshape(-1, 20), ids[:, 1:].reshape(-1))

optimizer = nn.Adam(net.trainable_params(), 1e-2)
grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
ids = Tensor(rng.randint(0, 20, (4, 6)), ms.int32)
for _ in range(5):
    loss, grads = grad_fn(ids)
    optimizer(grads)
    numbers(loss)
""",
    "functional_loop": """
net = fill(nn.SequentialCell(nn.Dense(8, 16), nn.Tanh(), nn.Dense(16, 3)))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), 1e-1)

def forward_fn(data, label):
    logits = net(data)
    return loss_fn(logits, label), logits

grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)

def train_step(data, label):
    (loss, _), grads = grad_fn(data, label)
    optimizer(grads)
    return loss

source = list(zip(X, Y))
dataset = ds.GeneratorDataset(source, ["data", "label"], shuffle=False).batch(8, True)
for epoch in range(2):
    net.set_train()
    for data, label in dataset.create_tuple_iterator():
        numbers(train_step(data, label))
right = 0
for data, label in dataset.create_tuple_iterator():
    right += (net(data).argmax(1) == label).asnumpy().sum()
names(int(right))
""",
    "custom_loss": """
class Focal(nn.LossBase):
    def __init__(self, gamma=2.0):
        super().__init__("mean")
        self.gamma = gamma
        self.onehot = ops.OneHot()
        self.on, self.off = Tensor(1.0, ms.float32), Tensor(0.0, ms.float32)

    def construct(self, logits, label):
        p = ops.softmax(logits, axis=1)
        pt = (p * self.onehot(label, 3, self.on, self.off)).sum(axis=1)
        return self.get_loss(-ops.pow(1 - pt, self.gamma) * ops.log(pt + 1e-7))

class WithLoss(nn.Cell):
    def __init__(self, net, loss):
        super().__init__(auto_prefix=False)
        self.net, self.loss = net, loss

    def construct(self, x, y):
        return self.loss(self.net(x), y)

net = fill(nn.SequentialCell([nn.Dense(8, 16), nn.Sigmoid(), nn.Dense(16, 3)]))
optimizer = nn.AdamWeightDecay(net.trainable_params(), 1e-2)
step = nn.TrainOneStepCell(WithLoss(net, Focal()), optimizer).set_train()
for row in rows().create_dict_iterator():
    numbers(step(row["x"], row["y"]))
Model(step).train(2, rows(), callbacks=[Losses()], dataset_sink_mode=False)
""",
    "grad_operation": """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.z = Parameter(Tensor(np.array([2.0], np.float32)), name="z")
        self.matmul = ops.MatMul()

    def construct(self, x, y):
        return self.matmul(x * self.z, y)

class OfWeights(nn.Cell):
    def __init__(self, net, **words):
        super().__init__()
        self.net = net
        self.params = ms.ParameterTuple(net.trainable_params())
        self.grad = ops.GradOperation(get_by_list=True, **words)

    def construct(self, x, y):
        return self.grad(self.net, self.params)(x, y)

class OfInputs(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.grad = ops.GradOperation(get_all=True, sens_param=True)

    def construct(self, x, y, sens):
        return self.grad(self.net)(x, y, sens)

class Tenfold(nn.Cell):
    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (dout * 10 * x,)

def sine(a):
    return (ops.sin(a) * a).sum()

def second(a):
    return ms.grad(sine)(a).sum()

x, y, net = Tensor(X[:2, :3]), Tensor(X[:3, :2]), Net()
for value in OfWeights(net)(x, y) + OfInputs(net)(x, y, Tensor(X[:2, :2])):
    numbers(value)
inputs, weights = OfWeights(net, get_all=True)(x, y)
for value in inputs + weights:
    numbers(value)
numbers(ms.grad(second)(Tensor(X[0])))
numbers(ms.grad(Tenfold())(Tensor(X[0])))
""",
    "callbacks": """
class Watch(Callback):
    def on_train_begin(self, run_context):
        names("begin")

    def on_train_step_end(self, run_context):
        now = run_context.original_args()
        names(now.cur_step_num)
        numbers(now.net_outputs)
        if now.cur_step_num >= 10:
            run_context.request_stop()

    def on_train_epoch_end(self, run_context):
        names(["epoch", run_context.original_args().cur_epoch_num])

net = fill(nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3)))
rate = nn.ExponentialDecayLR(0.01, 0.9, 4)
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(net, loss_fn, nn.Adam(net.trainable_params(), rate), {"acc": Accuracy(), "l": Loss()})
config = CheckpointConfig(save_checkpoint_steps=4, keep_checkpoint_max=2)
saver = ModelCheckpoint("mlp", "kept", config)
model.train(5, rows(), callbacks=[LossMonitor(4), Watch(), saver], dataset_sink_mode=False)
names(sorted(name for name in os.listdir("kept") if name.endswith(".ckpt")))
found = model.eval(rows(), dataset_sink_mode=False)
names(found["acc"])
numbers(Tensor(found["l"], ms.float32))
model = Model(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.01), metrics={"loss"})
stop = EarlyStopping(monitor="eval_loss", patience=1, min_delta=10.0, mode="min")
model.fit(6, rows(), rows(), callbacks=[stop, Losses()], dataset_sink_mode=False)
""",
    "predict": """
net = fill(nn.SequentialCell(nn.Dense(8, 4), nn.Softmax()))
found = Model(net).predict(Tensor(X[:3]))
numbers(found)
names(found.asnumpy().argmax(1).tolist())
numbers(ops.ArgMaxWithValue(axis=1)(found)[1])
numbers(ops.TopK(sorted=True)(found, 2)[0])
""",
    "save_load": """
class Net(nn.Cell):
    def __init__(self, head, width):
        super().__init__()
        self.backbone = nn.SequentialCell(nn.Dense(8, 4), nn.BatchNorm1d(4))
        setattr(self, head, nn.Dense(4, width))
        self.head = head

    def construct(self, x):
        return getattr(self, self.head)(self.backbone(x))

ms.save_checkpoint(fill(Net("first", 2)), "first.ckpt")
net = Net("second", 5)
for parameter in net.get_parameters():
    parameter.set_data(ops.zeros(parameter.shape, parameter.dtype) + 0.1)
values = ms.load_checkpoint("first.ckpt")
values = {name: value for name, value in values.items() if not name.startswith("first")}
names([sorted(left) for left in ms.load_param_into_net(net, values)])
for parameter in net.backbone.get_parameters():
    parameter.requires_grad = False
names([parameter.name for parameter in net.trainable_params()])
numbers(net(Tensor(X[:2])))

def forward(x):
    return (net(x) ** 2).mean()

optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
for _ in range(3):
    loss, grads = grad_fn(Tensor(X[:2]))
    optimizer(grads)
    numbers(loss)
extra = {"epoch": 3, "lr": 0.1, "ok": True}
ms.save_checkpoint([{"name": "w", "data": Tensor(X[0])}], "list.ckpt", append_dict=extra)
values = ms.load_checkpoint("list.ckpt")
names({name: type(value).__name__ for name, value in values.items()})
numbers(values["w"])
""",
    "jit": """
w = Parameter(Tensor(X[:4, :4]), name="w")

@ms.jit
def run(x, n):
    for i in range(n):
        x = ops.tanh(ops.matmul(x, w)) + i
    if x.shape[0] > 2:
        x = x * 2
    return x, x.sum()

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(8, 3)

    @ms.jit
    def construct(self, x):
        return self.fc(x)

for value in run(Tensor(X[:4, :4]), 3):
    numbers(value)
w.set_data(Tensor(X[4:8, :4]))
numbers(run(Tensor(X[:4, :4]), 2)[1])
numbers(fill(Net())(Tensor(X[:2])))
""",
    "ops_in_a_net": """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.concat, self.split, self.cast = ops.Concat(axis=1), ops.Split(1, 2), ops.Cast()
        self.sum, self.gather, self.select = ops.ReduceSum(), ops.Gather(), ops.Select()
        self.stack, self.expand, self.squeeze = ops.Stack(), ops.ExpandDims(), ops.Squeeze(1)
        self.pad, self.shape, self.tile = ops.Pad(((0, 0), (1, 1))), ops.Shape(), ops.Tile()

    def construct(self, x):
        a, b = self.split(x)
        c = self.gather(self.concat((a, b, a)), Tensor([0, 2], ms.int32), 1)
        d = self.select(c > 0, c, ops.zeros_like(c))
        e = self.squeeze(self.expand(self.sum(self.stack([d, d + 1]), 0), 1))
        f = self.tile(self.pad(e), (1, 2))
        g = self.cast(self.cast(f, ms.int32), ms.float32)
        h = ops.clip_by_value(ops.where(g > 1, f, ops.full_like(f, 0.5)), -1, 1.5)
        o = ops.arange(0, self.shape(h)[1]).astype(ms.float32)
        q = h[:, 1:-1] * o[1:-1] + h[..., :1]
        r, at = ops.topk(q, 2)
        y = ops.zeros((h.shape[0], 4), ms.float32)
        y[:, 0] = r[:, 0]
        y[1] = 7
        return y, at, ops.log_softmax(q, -1), ops.norm(q, dim=1), q.max(), q.mean(axis=0), q.std()

for value in Net()(Tensor(X[:4])):
    numbers(value)
""",
    "deepcopy": """
net = fill(nn.SequentialCell(nn.Dense(8, 4), nn.ReLU(), nn.Dense(4, 2)))
average = copy.deepcopy(net)

def forward(x):
    return (net(x) ** 2).mean()

optimizer = nn.Adam(net.trainable_params(), 0.01)
grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
for _ in range(4):
    loss, grads = grad_fn(Tensor(X))
    optimizer(grads)
    numbers(loss)
    for old, new in zip(average.get_parameters(), net.get_parameters()):
        ops.assign(old, old * 0.9 + new * 0.1)
numbers(average(Tensor(X[:3])))
numbers(net(Tensor(X[:3])))
names([parameter.name for parameter in average.get_parameters()])
""",
    "pickling": """
tensor = Tensor(X[:2])
numbers(pickle.loads(pickle.dumps(tensor)))
frozen = Parameter(Tensor(X[0]), name="p", requires_grad=False)
again = pickle.loads(pickle.dumps(frozen))
numbers(again)
names([again.name, again.requires_grad, type(again).__name__])
names([str(tensor.dtype), tensor.shape, tensor.ndim, tensor.size, tensor.itemsize, tensor.nbytes])
numbers(copy.deepcopy({"a": tensor, "b": [1, tensor]})["b"][1])
""",
    "ordered_dict": """
layers = [("fc1", nn.Dense(8, 4)), ("act", nn.LeakyReLU(0.1)), ("fc2", nn.Dense(4, 2))]
net = fill(nn.SequentialCell(OrderedDict(layers)))
names([name for name, _ in net.parameters_and_names()])
names([name for name, _ in net.cells_and_names()])
names([len(net), type(net.fc1).__name__, str(net)])
numbers(net(Tensor(X[:2])))
numbers(net[:2](Tensor(X[:2])))
net.append(nn.Dense(2, 2))
names([name for name, _ in net.parameters_and_names()])
""",
    "cell_list": """
def show(net):
    names([parameter.name for parameter in net.get_parameters()])

net = nn.CellList([nn.Dense(8, 8), nn.Dense(8, 8)])
net.insert(1, nn.ReLU())
show(net)
net = nn.CellList([nn.Dense(8, 8) for _ in range(3)])
del net[0]
show(net)
net.extend([nn.Dense(2, 2)])
net[0] = nn.Dense(3, 3)
show(net)
net = nn.SequentialCell([nn.Dense(8, 8) for _ in range(3)])
del net[1]
show(net)
""",
    "to_float": """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Dense(8, 16).to_float(ms.float16)
        self.b = nn.Dense(16, 3)

    def construct(self, x):
        return self.b(ops.relu(self.a(x)).astype(ms.float32))

net = fill(Net())
names([str(value.dtype) for value in (net.a(Tensor(X[:2])), net.a.weight, net(Tensor(X)))])
optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer).set_train()
for _ in range(4):
    numbers(step(Tensor(X), Tensor(Y)))
""",
    "groups": """
net = fill(nn.SequentialCell(nn.Dense(8, 4), nn.ReLU(), nn.Dense(4, 3)))
biases = [p for p in net.trainable_params() if "bias" in p.name]
weights = [p for p in net.trainable_params() if "bias" not in p.name]
groups = [
    {"params": weights, "weight_decay": 0.01, "lr": 0.05},
    {"params": biases},
    {"order_params": net.trainable_params()},
]
rates = nn.cosine_decay_lr(0.0, 0.1, 8, 4, 2)
optimizer = nn.Momentum(groups, rates, 0.9)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer, sens=8.0)
for _ in range(5):
    numbers(step(Tensor(X), Tensor(Y)))
numbers(Tensor(rates))
names(int(optimizer.global_step.asnumpy()[0]))
""",
    "recurrent": """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.input, self.state = nn.Dense(4, 6), nn.Dense(6, 6, has_bias=False)
        self.output = nn.Dense(6, 1)

    def construct(self, x):
        state = ops.zeros((x.shape[0], 6), x.dtype)
        states = []
        for t in range(x.shape[1]):
            state = ops.tanh(self.input(x[:, t]) + self.state(state))
            states.append(state)
        return self.output(ops.stack(states, axis=1)).squeeze(-1)

net = fill(Net())
optimizer = nn.RMSProp(net.trainable_params(), 0.01)
loss_fn = nn.MSELoss()

def forward(x, y):
    return loss_fn(net(x), y)

grad_fn = ops.value_and_grad(forward, None, optimizer.parameters)

@ms.jit
def train_step(x, y):
    loss, grads = grad_fn(x, y)
    grads = ops.clip_by_global_norm(grads, 1.0)
    return ops.depend(loss, optimizer(grads))

for _ in range(5):
    numbers(train_step(Tensor(X[:8].reshape(8, 2, 4)), Tensor(X[:8, :2])))
""",
    "adversaries": """
maker = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 8))
judge = nn.SequentialCell(nn.Dense(8, 8), nn.LeakyReLU(0.2), nn.Dense(8, 1))
maker.update_parameters_name("maker.")
judge.update_parameters_name("judge.")
fill(nn.CellList([maker, judge]))
names([parameter.name for parameter in judge.get_parameters()])
entropy = nn.BCEWithLogitsLoss()
of_maker = nn.Adam(maker.trainable_params(), 1e-3, beta1=0.5)
of_judge = nn.Adam(judge.trainable_params(), 1e-3, beta1=0.5)

def maker_loss(z):
    return entropy(judge(maker(z)), ops.ones((z.shape[0], 1), ms.float32))

def judge_loss(x, z):
    made = ops.stop_gradient(maker(z))
    true = entropy(judge(x), ops.ones((x.shape[0], 1), ms.float32))
    return true + entropy(judge(made), ops.zeros((x.shape[0], 1), ms.float32))

maker_grad = ms.value_and_grad(maker_loss, None, of_maker.parameters)
judge_grad = ms.value_and_grad(judge_loss, None, of_judge.parameters)
for i in range(3):
    z = Tensor(X[i * 4 : i * 4 + 4, :4])
    loss, grads = judge_grad(Tensor(X[:4]), z)
    of_judge(grads)
    numbers(loss)
    loss, grads = maker_grad(z)
    of_maker(grads)
    numbers(loss)
""",
    "convolutions": """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.wide = nn.Conv2d(3, 8, 3, dilation=2, pad_mode="pad", padding=2, has_bias=True)
        self.depthwise, self.norm = nn.Conv2d(8, 8, 3, group=8), nn.GroupNorm(2, 8)
        self.largest, self.mean = nn.MaxPool2d(2, 2), nn.AvgPool2d(kernel_size=2, stride=2)
        self.up, self.all = nn.Conv2dTranspose(8, 4, 2, stride=2), nn.AdaptiveAvgPool2d(1)
        self.prelu, self.hswish, self.fc = nn.PReLU(8), nn.HSwish(), nn.Dense(4, 3)

    def construct(self, x):
        x = self.prelu(self.norm(self.wide(x)))
        x = self.up(self.mean(self.hswish(self.depthwise(self.largest(x)))))
        return self.fc(self.all(x).flatten(start_dim=1))

net = fill(Net())
optimizer = nn.Adam(net.trainable_params(), 0.01, weight_decay=0.01)
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer).set_train()
for _ in range(4):
    numbers(step(Tensor(IMAGES), Tensor(Y[:16])))
""",
    "loss_scale": """
net = fill(nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3)))
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9, loss_scale=128.0)
manager = ms.FixedLossScaleManager(128.0, False)
model = Model(net, loss_fn, optimizer, loss_scale_manager=manager, amp_level="O0")
model.train(2, rows(), callbacks=[Losses()], dataset_sink_mode=False)
""",
    "images": """
class Source:
    def __len__(self):
        return 12

    def __getitem__(self, i):
        return pictures[i], np.array(i % 3, np.int64)

pictures = rng.randint(0, 255, (12, 10, 10, 3)).astype(np.uint8)
data = ds.GeneratorDataset(Source(), ["image", "label"], shuffle=False)
steps = [vision.Resize((8, 8)), vision.Rescale(1 / 255.0, 0.0)]
steps += [vision.Normalize([0.5] * 3, [0.2] * 3), vision.HWC2CHW()]
data = data.map(steps, "image").map(transforms.TypeCast(ms.int32), "label").batch(4).repeat(2)
names([data.get_dataset_size(), data.get_col_names()])
for image, label in data.create_tuple_iterator():
    numbers(image.mean())
    names([str(image.dtype), image.shape, label.asnumpy().tolist()])
""",
    "state_in_a_net": """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.calls = Parameter(Tensor(0, ms.int32), requires_grad=False)
        self.mean = Parameter(ops.zeros((4,), ms.float32), name="mean", requires_grad=False)
        self.add = ops.AssignAdd()
        self.layers = nn.CellDict({"a": nn.Dense(8, 4), "b": nn.ReLU()})
        self.scales = [1.0, 2.0]

    def construct(self, x):
        self.add(self.calls, Tensor(1, ms.int32))
        ops.assign(self.mean, self.mean + x.mean(0)[:4])
        for key in self.layers.keys():
            x = self.layers[key](x)
        for scale in self.scales:
            x = x * scale
        return {"y": x, "calls": self.calls + 0}

net = Net()
fill(net.layers)
for _ in range(3):
    found = net(Tensor(X[:2]))
names([type(found).__name__, int(found["calls"].asnumpy()), int(net.calls.asnumpy())])
numbers(found["y"])
numbers(net.mean)
names([parameter.name for parameter in net.untrainable_params()])
names(list(net.parameters_dict()))
""",
}


def run(name: str, graph: bool, folder: pathlib.Path) -> dict[str, Any]:
    """Run a program as a module of its own, in the current folder.

    Args:
        name: key of SCRIPTS.
        graph: GRAPH mode, not PYNATIVE.
        folder: where its file is written: GRAPH of the original reads sources.

    Returns:
        what it gave to `numbers` and to `names`, as plain data.
    """
    import mindspore as ms

    found: dict[str, Any] = {"numbers": [], "names": []}
    values = np.random.RandomState(7)

    def fill(net: Any) -> Any:
        for parameter in net.get_parameters():
            value = values.uniform(-0.5, 0.5, parameter.shape)
            if "moving_variance" in parameter.name or "gamma" in parameter.name:
                value = value + 1
            parameter.set_data(ms.Tensor(value.astype(np.float32)))
        return net

    path = folder / f"script_{name}.py"
    path.write_text(IMPORTS + SCRIPTS[name])
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(
        fill=fill,
        numbers=lambda x: found["numbers"].extend(x.asnumpy().astype(np.float64).ravel().tolist()),
        names=found["names"].append,
    )
    sys.modules[path.stem] = module
    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
    try:
        spec.loader.exec_module(module)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
        del sys.modules[path.stem]
    return json.loads(json.dumps(found))
