"""The networks of ``record_weights.py``, as Cells."""

import mindjax as ms
from mindjax import nn, ops


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, 5, pad_mode="valid", has_bias=True)
        self.conv2 = nn.Conv2d(3, 4, 5, pad_mode="valid", has_bias=True)
        self.fc1, self.fc2, self.fc3 = nn.Dense(64, 12), nn.Dense(12, 10), nn.Dense(10, 10)
        self.pool = nn.MaxPool2d(2, 2)

    def construct(self, x):
        x = self.pool(ops.relu(self.conv2(self.pool(ops.relu(self.conv1(x))))))
        x = x.reshape(x.shape[0], -1)
        return self.fc3(ops.relu(self.fc2(ops.relu(self.fc1(x)))))


class Block(nn.Cell):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, "pad", 1)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, "pad", 1)
        self.bn2 = nn.BatchNorm2d(outer)
        self.downsample = None
        if stride > 1 or inner != outer:
            conv = nn.Conv2d(inner, outer, 1, stride, "valid")
            self.downsample = nn.SequentialCell(conv, nn.BatchNorm2d(outer))

    def construct(self, x):
        out = self.bn2(self.conv2(ops.relu(self.bn1(self.conv1(x)))))
        return ops.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Cell):
    def __init__(self, width=2):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, "pad", 3)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.MaxPool2d(3, 2, "pad", 1)
        inner = width
        for index in range(4):
            outer = width << index
            first = Block(inner, outer, 1 if index == 0 else 2)
            setattr(self, f"layer{index + 1}", nn.SequentialCell(first, Block(outer, outer, 1)))
            inner = outer
        self.fc = nn.Dense(inner, 5)

    def construct(self, x):
        x = self.maxpool(ops.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 5)
        self.lstm = nn.LSTM(5, 4, 2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(8, 3, batch_first=True)

    def construct(self, x):
        return self.gru(self.lstm(self.embedding(x))[0])[0]


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(13, 8)
        self.conv = nn.Conv1d(8, 8, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.LayerNorm((8,), epsilon=1e-5)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", batch_first=True)
        self.act = nn.PReLU()

    def construct(self, x):
        x = self.embedding(x)
        x = x + self.conv(x.swapaxes(1, 2)).swapaxes(1, 2)
        x = self.layer(self.norm(x))
        return self.act(x.swapaxes(1, 2)).swapaxes(1, 2)


NETWORKS = {
    "lenet": LeNet,
    "lenet_legacy": LeNet,
    "lenet_training": LeNet,
    "resnet18": ResNet18,
    "recurrent": Recurrent,
    "encoder": Encoder,
}


def run(net, x):
    """Give what a network computes for an array."""
    net.set_train(False)
    dtype = ms.int32 if x.dtype.kind == "i" else ms.float32
    return net(ms.Tensor(x, dtype)).asnumpy()
