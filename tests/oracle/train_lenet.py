"""Train LeNet-5 for some steps between two checkpoints; runs under either implementation.

    python -m mindjax run tests/oracle/train_lenet.py DATA BEFORE AFTER --skip 0 --steps 10
    /path/to/oracle/bin/python tests/oracle/train_lenet.py DATA AFTER LAST --skip 10 --steps 10

The checkpoints hold the weights and the optimizer's state. Prints the losses as JSON.
"""

import argparse
import json
import sys
from pathlib import Path

import mindspore as ms
from mindspore import nn

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from lenet5_mnist import LeNet5, create_dataset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--skip", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    args = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE)
    network = LeNet5()
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.01, momentum=0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss_fn), optimizer).set_train()
    ms.load_param_into_net(step, ms.load_checkpoint(args.before))
    batches = create_dataset(args.data, "train", shuffle=False).skip(args.skip).take(args.steps)
    losses = [float(step(*batch).asnumpy()) for batch in batches.create_tuple_iterator()]
    ms.save_checkpoint(step, args.after)
    print(json.dumps(losses))


if __name__ == "__main__":
    main()
