"""Records files of torch with what its networks compute.

Run ``$MINDJAX_TORCH_PYTHON tests/checkpoint/record_weights.py`` with torch 2: it rewrites
``tests/goldens/torch``. Every network is small; the names are those of the real ones.
"""

import os
import sys
import warnings
from collections import OrderedDict

import numpy as np
import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(os.path.dirname(HERE), "goldens", "torch")


class LeNet(nn.Module):
    """LeNet-5 with fewer channels."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 3, 5), nn.Conv2d(3, 4, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(64, 12), nn.Linear(12, 10), nn.Linear(10, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = nn.functional.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x.flatten(1))))))


class Block(nn.Module):
    """torchvision's BasicBlock, by its names."""

    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.downsample = None
        if stride > 1 or inner != outer:
            conv = nn.Conv2d(inner, outer, 1, stride, bias=False)
            self.downsample = nn.Sequential(conv, nn.BatchNorm2d(outer))

    def forward(self, x):
        out = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Module):
    """torchvision's ResNet-18, by its names, with 2 channels where that has 64."""

    def __init__(self, width=2):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        inner = width
        for index in range(4):
            outer = width << index
            first = Block(inner, outer, 1 if index == 0 else 2)
            setattr(self, f"layer{index + 1}", nn.Sequential(first, Block(outer, outer, 1)))
            inner = outer
        self.fc = nn.Linear(inner, 5)

    def forward(self, x):
        x = self.maxpool(torch.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class Recurrent(nn.Module):
    """An embedding, a two-layer bidirectional LSTM and a GRU."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 5)
        self.lstm = nn.LSTM(5, 4, 2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(8, 3, batch_first=True)

    def forward(self, x):
        return self.gru(self.lstm(self.embedding(x))[0])[0]


class Encoder(nn.Module):
    """BERT-like: embedding, attention with fused projections, norms, and a Conv1d."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(13, 8)
        self.conv = nn.Conv1d(8, 8, 3, padding=1)
        self.norm = nn.LayerNorm(8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", batch_first=True)
        self.act = nn.PReLU()

    def forward(self, x):
        x = self.embedding(x)
        x = x + self.conv(x.transpose(1, 2)).transpose(1, 2)
        return self.act(self.layer(self.norm(x)))


def perturb(net):
    """Give statistics and norms values that are not their first ones."""
    with torch.no_grad():
        for name, value in net.state_dict().items():
            if value.dtype.is_floating_point and ("running" in name or value.ndim == 1):
                value += torch.rand_like(value)


def networks():
    """Save state_dicts, and what the networks compute."""
    image = torch.randn(2, 3, 32, 32)
    words = torch.randint(0, 11, (2, 6))
    cases = {
        "lenet": (LeNet(), torch.randn(2, 1, 28, 28)),
        "resnet18": (ResNet18(), image),
        "recurrent": (Recurrent(), words),
        "encoder": (Encoder(), words),
    }
    out = {}
    for name, (net, x) in cases.items():
        perturb(net)
        net.eval()
        with torch.no_grad():
            out[f"{name}_x"], out[f"{name}_y"] = x.numpy(), net(x).numpy()
        torch.save(net.state_dict(), os.path.join(FOLDER, f"{name}.pth"))
        if name == "lenet":
            old = os.path.join(FOLDER, "lenet_legacy.pth")
            torch.save(net.state_dict(), old, _use_new_zipfile_serialization=False)
            parallel = OrderedDict((f"module.{k}", v) for k, v in net.state_dict().items())
            training = {"epoch": 3, "state_dict": parallel, "optimizer": {"state": {}}}
            torch.save(training, os.path.join(FOLDER, "lenet_training.pth"))
    np.savez(os.path.join(FOLDER, "outputs.npz"), **out)


def tensors():
    """Save tensors of every dtype, views, Parameters and nested dictionaries, in both forms."""
    base = torch.arange(24).reshape(4, 6)
    kinds = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8"]
    kinds += ["uint8", "bool", "complex64", "complex128"]
    table = {kind: base.to(getattr(torch, kind)) for kind in kinds}
    table |= {
        "transposed": base.float().t(),
        "slice": base[1:3, ::2],
        "scalar": torch.tensor(7.5),
        "empty": torch.zeros(0, 3),
        "parameter": nn.Parameter(torch.ones(2)),
        "inner": {"a": torch.ones(1), "b": [1, 2]},
    }
    torch.save(table, os.path.join(FOLDER, "dtypes.pth"))
    old = os.path.join(FOLDER, "dtypes_legacy.pth")
    torch.save(table, old, _use_new_zipfile_serialization=False)
    table = {"u16": base.to(torch.uint16), "f8": base.float().to(torch.float8_e4m3fn)}
    torch.save(table, os.path.join(FOLDER, "dtypes_new.pth"))
    torch.save(LeNet(), os.path.join(FOLDER, "module.pth"))


def main():
    """Record everything."""
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    os.makedirs(FOLDER, exist_ok=True)
    networks()
    tensors()
    sys.stdout.write(f"torch {torch.__version__}\n")


if __name__ == "__main__":
    main()
