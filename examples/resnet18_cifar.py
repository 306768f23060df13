"""Train ResNet-18 on CIFAR-10's binary files, evaluate it, and write its curve for TensorBoard.

`--data` names the folder of `data_batch_1.bin` to `data_batch_5.bin` and `test_batch.bin`. Where
CIFAR-10 itself cannot be had, `demo-data --color` writes two files of that format with other
images: 10,000 to train on and 10,000 to test, MNIST's digits over pieces of two photographs. The
accuracy printed is that of the folder's images. The defaults fit these: 16 channels where the
paper's net has 64, and no mirrored images. For CIFAR-10: `--width 64 --flip --epochs 100`.
"""

import argparse

import mindspore as ms
import mindspore.dataset as ds
import mindspore.dataset.transforms as transforms
import mindspore.dataset.vision as vision
from mindspore import nn, ops
from mindspore.train import LossMonitor, Model, SummaryCollector, TimeMonitor


class Block(nn.Cell):
    """Two 3 x 3 convolutions and the identity beside them (He et al., 2015)."""

    def __init__(self, in_channels, out_channels, stride):
        super().__init__()
        self.conv1 = conv(in_channels, out_channels, 3, stride)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.conv2 = conv(out_channels, out_channels, 3, 1)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU()
        self.down_sample = None
        if stride != 1 or in_channels != out_channels:
            self.down_sample = nn.SequentialCell(
                conv(in_channels, out_channels, 1, stride), nn.BatchNorm2d(out_channels)
            )

    def construct(self, x):
        identity = x
        if self.down_sample is not None:
            identity = self.down_sample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(x)) + identity)


class ResNet18(nn.Cell):
    """ResNet-18 for 32 x 32 images: the first convolution keeps their size."""

    def __init__(self, num_classes=10, width=64):
        super().__init__()
        self.conv1 = conv(3, width, 3, 1)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        blocks = []
        channels = width
        for stage in range(4):
            for index in range(2):
                stride = 2 if stage > 0 and index == 0 else 1
                blocks.append(Block(channels, width * 2**stage, stride))
                channels = width * 2**stage
        self.blocks = nn.SequentialCell(*blocks)
        self.fc = nn.Dense(channels, num_classes)

    def construct(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.blocks(x)
        return self.fc(ops.mean(x, (2, 3)))


def conv(in_channels, out_channels, kernel_size, stride):
    return nn.Conv2d(
        in_channels, out_channels, kernel_size, stride, pad_mode="same", weight_init="HeNormal"
    )


def create_dataset(data_dir, usage, batch_size, flip=False, num_samples=None):
    """Read images as normalized (N, 3, 32, 32) float32 and their labels as (N,) int32."""
    train = usage == "train"
    dataset = ds.Cifar10Dataset(data_dir, usage=usage, shuffle=train, num_samples=num_samples)
    image_ops = [vision.RandomCrop((32, 32), (4, 4, 4, 4))] if train else []
    if train and flip:
        image_ops.append(vision.RandomHorizontalFlip())
    image_ops += [
        vision.Rescale(1.0 / 255.0, 0.0),
        vision.Normalize([0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]),
        vision.HWC2CHW(),
    ]
    dataset = dataset.map(image_ops, input_columns="image")
    dataset = dataset.map(transforms.TypeCast(ms.int32), input_columns="label")
    return dataset.batch(batch_size, drop_remainder=train)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--data", default=".data/color-digits", help="folder of CIFAR-10's files")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--width", type=int, default=16, help="channels of the first stage")
    parser.add_argument("--flip", action="store_true", help="mirror half of the training images")
    parser.add_argument("--num_samples", type=int, help="train on so many images only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device_target", choices=["CPU", "GPU", "Ascend"], default="CPU")
    parser.add_argument("--summary", help="folder for TensorBoard's curves")
    return parser.parse_args()


def main():
    args = parse_args()
    mode = ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE
    ms.set_context(mode=mode, device_target=args.device_target)
    ms.set_seed(args.seed)

    train_set = create_dataset(args.data, "train", args.batch_size, args.flip, args.num_samples)
    test_set = create_dataset(args.data, "test", 250, num_samples=args.num_samples)
    steps = train_set.get_dataset_size()

    network = ResNet18(width=args.width)
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    rates = nn.cosine_decay_lr(0.0, 0.1, steps * args.epochs, steps, args.epochs)
    optimizer = nn.Momentum(
        network.trainable_params(), rates, momentum=0.9, weight_decay=5e-4, use_nesterov=True
    )
    model = Model(network, loss_fn, optimizer, metrics={"accuracy"})
    callbacks = [LossMonitor(steps), TimeMonitor(steps)]
    if args.summary:
        chosen = {"collect_landscape": None}
        callbacks.append(SummaryCollector(args.summary, 10, collect_specified_data=chosen))
    model.train(args.epochs, train_set, callbacks=callbacks)
    result = model.eval(test_set)
    print("accuracy of a guess: 0.1000")
    print(f"test accuracy: {result['accuracy']:.4f}")


if __name__ == "__main__":
    main()
