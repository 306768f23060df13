"""Train LeNet-5 with a loop of one's own: value_and_grad, a step function, an evaluation."""

import argparse

import mindspore as ms
from lenet5_mnist import LeNet5, create_dataset
from mindspore import nn


def evaluate(network, dataset):
    """Count the share of images whose largest logit is the label's."""
    network.set_train(False)
    correct = total = 0
    for images, labels in dataset.create_tuple_iterator():
        predicted = network(images).argmax(axis=1).astype(ms.int32)
        correct += int((predicted == labels).astype(ms.int32).sum())
        total += labels.shape[0]
    return correct / total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--data", default=".data/mnist", help="folder of the four IDX files")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(args.seed)

    network = LeNet5()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.01, momentum=0.9)

    def forward(images, labels):
        logits = network(images)
        return loss_fn(logits, labels), logits

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)

    @ms.jit
    def train_step(images, labels):
        (loss, _), grads = grad_fn(images, labels)
        optimizer(grads)
        return loss

    train_set = create_dataset(args.data, "train")
    test_set = create_dataset(args.data, "test")
    for epoch in range(1, args.epochs + 1):
        network.set_train()
        for images, labels in train_set.create_tuple_iterator():
            loss = train_step(images, labels)
        print(f"epoch {epoch}: loss {float(loss.asnumpy()):.4f}")
    print(f"test accuracy: {evaluate(network, test_set):.4f}")


if __name__ == "__main__":
    main()
