"""Train LeNet-5 on handwritten digits, evaluate it, and keep checkpoints."""

import argparse

import mindspore as ms
import mindspore.dataset as ds
import mindspore.dataset.transforms as transforms
import mindspore.dataset.vision as vision
from mindspore import nn
from mindspore.train import CheckpointConfig, LossMonitor, Model, ModelCheckpoint, TimeMonitor


class LeNet5(nn.Cell):
    """LeNet-5 (LeCun et al., 1998) with ReLU and max pooling, for 32 x 32 images."""

    def __init__(self, num_class=10, num_channel=1):
        super().__init__()
        self.conv1 = nn.Conv2d(num_channel, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.max_pool2d = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 5 * 5, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, num_class)

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


def create_dataset(data_dir, usage, batch_size=32, shuffle=True, **shard):
    """Read digits as normalized (N, 1, 32, 32) float32 images and (N,) int32 labels."""
    dataset = ds.MnistDataset(data_dir, usage=usage, shuffle=shuffle, **shard)
    image_ops = [
        vision.Resize((32, 32), interpolation=vision.Inter.LINEAR),
        vision.Rescale(1.0 / 255.0, 0.0),
        vision.Rescale(1 / 0.3081, -0.1307 / 0.3081),
        vision.HWC2CHW(),
    ]
    dataset = dataset.map(operations=image_ops, input_columns="image")
    dataset = dataset.map(operations=transforms.TypeCast(ms.int32), input_columns="label")
    return dataset.batch(batch_size, drop_remainder=usage == "train")


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--data", default=".data/mnist", help="folder of the four IDX files")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device_target", choices=["CPU", "GPU", "Ascend"], default="CPU")
    parser.add_argument("--ckpt", default="checkpoints", help="folder for checkpoints")
    return parser.parse_args()


def main():
    args = parse_args()
    mode = ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE
    ms.set_context(mode=mode, device_target=args.device_target)
    ms.set_seed(args.seed)

    train_set = create_dataset(args.data, "train")
    test_set = create_dataset(args.data, "test")
    steps = train_set.get_dataset_size()

    network = LeNet5()
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.01, momentum=0.9)
    config = CheckpointConfig(save_checkpoint_steps=steps, keep_checkpoint_max=10)
    callbacks = [
        ModelCheckpoint(prefix="lenet", directory=args.ckpt, config=config),
        LossMonitor(steps),
        TimeMonitor(steps),
    ]

    model = Model(network, loss_fn, optimizer, metrics={"accuracy"})
    model.train(args.epochs, train_set, callbacks=callbacks)
    result = model.eval(test_set)
    print(f"test accuracy: {result['accuracy']:.4f}")


if __name__ == "__main__":
    main()
