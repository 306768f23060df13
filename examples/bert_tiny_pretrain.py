"""Pretrain a tiny BERT as a masked language model: it guesses characters that are hidden from it.

It reads Python's own documentation of its language, which every Python carries
(`pydoc_data.topics`), or the `*.txt` files of the folder that `--data` names. Of every piece of
text 15 % of the characters are to be guessed; of these 80 % are masked, 10 % replaced by another
one and 10 % left as they are (Devlin et al., 2018).
"""

import argparse
from pathlib import Path

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal
from mindspore.nn.learning_rate_schedule import LearningRateSchedule
from mindspore.train import LossMonitor, Model, SummaryCollector, TimeMonitor

MASK, FIRST = 0, 1  # the mask's id, and that of the first character


class TinyBert(nn.Cell):
    """Encoder of characters; gives logits at the positions to guess, (batch, places, vocab_size).

    The last layer's weights are those of the embedding. The embedding of places starts as the sines
    and cosines of Vaswani et al., which lets so small a net find neighbours early.
    """

    def __init__(self, vocab_size, length, width, layers, heads):
        super().__init__()
        self.letters = nn.Embedding(vocab_size, width, embedding_table=Normal(0.1))
        self.places = nn.Embedding(length, width, embedding_table=waves(length, width))
        layer = nn.TransformerEncoderLayer(
            width,
            heads,
            4 * width,
            dropout=0.0,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.transform = nn.Dense(width, width, activation="gelu")
        self.transform_norm = nn.LayerNorm((width,))
        self.bias = ms.Parameter(ops.zeros((vocab_size,), ms.float32), name="bias")
        self.range = Tensor(np.arange(length), ms.int32)

    def construct(self, ids, places):
        x = self.encoder(self.letters(ids) + self.places(self.range))
        x = ops.gather_elements(x, 1, ops.tile(ops.expand_dims(places, -1), (1, 1, x.shape[-1])))
        x = self.transform_norm(self.transform(x))
        return ops.matmul(x, self.letters.embedding_table.transpose((1, 0))) + self.bias


def waves(length, width):
    """Sines and cosines of places, (length, width), as large as the embeddings of letters."""
    angles = np.outer(np.arange(length), 10000.0 ** (-np.arange(0, width, 2) / width))
    return Tensor(0.1 * np.concatenate([np.sin(angles), np.cos(angles)], axis=1), ms.float32)


class MaskedLoss(nn.Cell):
    """Cross entropy of the characters at the positions to guess."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def construct(self, ids, places, answers):
        logits = self.network(ids, places)
        return ops.cross_entropy(logits.reshape((-1, logits.shape[-1])), answers.reshape((-1,)))


class Guesses(nn.Cell):
    """What evaluation compares: loss, logits (N, vocab_size) and answers (N,)."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def construct(self, ids, places, answers):
        logits = self.network(ids, places)
        logits, answers = logits.reshape((-1, logits.shape[-1])), answers.reshape((-1,))
        return ops.cross_entropy(logits, answers), logits, answers


class WarmUpAndDecay(LearningRateSchedule):
    """A rate that grows for a tenth of the steps and then falls to nothing."""

    def __init__(self, rate, steps):
        super().__init__()
        self.warm_steps = max(1, steps // 10)
        self.warm_up = nn.WarmUpLR(rate, self.warm_steps)
        self.decay = nn.PolynomialDecayLR(rate, 0.0, steps, 1.0)

    def construct(self, global_step):
        warm = ops.cast(global_step < self.warm_steps, ms.float32)
        return warm * self.warm_up(global_step) + (1.0 - warm) * self.decay(global_step)


def read_text(folder):
    """Read the folder's texts, or Python's documentation of its language."""
    if folder:
        return "\n".join(p.read_text("utf-8") for p in sorted(Path(folder).glob("*.txt")))
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics))


class MaskedPieces:
    """Pieces of the text, masked anew every time that one is read.

    A row: ids (length,), positions to guess (places,), their characters (places,), all int32.
    """

    def __init__(self, ids, length, vocab_size, count, seed):
        self.ids, self.length, self.vocab_size, self.count = ids, length, vocab_size, count
        self.rng = np.random.RandomState(seed)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        start = self.rng.randint(len(self.ids) - self.length)
        piece = self.ids[start : start + self.length].copy()
        places = self.rng.permutation(self.length)[: max(1, round(0.15 * self.length))]
        places = np.sort(places).astype(np.int32)
        answers = piece[places]
        fate = self.rng.rand(len(places))
        other = self.rng.randint(FIRST, self.vocab_size, len(places))
        piece[places] = np.where(fate < 0.8, MASK, np.where(fate < 0.9, other, answers))
        return piece, places, answers


def create_dataset(pieces, batch_size):
    names = ["ids", "places", "answers"]
    dataset = ds.GeneratorDataset(pieces, names, shuffle=False)
    return dataset.batch(batch_size, drop_remainder=True)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--data", help="folder of *.txt files, in place of Python's documentation")
    parser.add_argument("--epochs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=100, help="steps of an epoch")
    parser.add_argument("--batch_size", type=int, default=128)
    parser.add_argument("--length", type=int, default=32, help="characters of a sample")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device_target", choices=["CPU", "GPU", "Ascend"], default="CPU")
    parser.add_argument("--summary", help="folder for TensorBoard's curves")
    return parser.parse_args()


def main():
    args = parse_args()
    mode = ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE
    ms.set_context(mode=mode, device_target=args.device_target)
    ms.set_seed(args.seed)

    text = read_text(args.data)
    letters = sorted(set(text))
    number = {letter: i for i, letter in enumerate(letters, FIRST)}
    vocab_size = FIRST + len(letters)
    ids = np.array([number[letter] for letter in text], np.int32)
    train, test = ids[: len(ids) * 9 // 10], ids[len(ids) * 9 // 10 :]
    print(f"{len(train)} characters to train on, {len(test)} to test, {len(letters)} different")
    rows = args.steps * args.batch_size
    train_pieces = MaskedPieces(train, args.length, vocab_size, rows, args.seed)
    train_set = create_dataset(train_pieces, args.batch_size)
    test_pieces = MaskedPieces(test, args.length, vocab_size, 8 * args.batch_size, 0)
    test_set = create_dataset(test_pieces, args.batch_size)

    network = TinyBert(vocab_size, args.length, args.width, args.layers, args.heads)
    rate = WarmUpAndDecay(2e-3, args.epochs * args.steps)
    no_decay = [p for p in network.trainable_params() if "norm" in p.name or "bias" in p.name]
    decay = [p for p in network.trainable_params() if not ("norm" in p.name or "bias" in p.name)]
    groups = [
        {"params": decay, "weight_decay": 0.01},
        {"params": no_decay, "weight_decay": 0.0},
        {"order_params": network.trainable_params()},
    ]
    optimizer = nn.AdamWeightDecay(groups, rate)
    model = Model(
        MaskedLoss(network),
        optimizer=optimizer,
        eval_network=Guesses(network),
        eval_indexes=[0, 1, 2],
        metrics={"accuracy", "loss"},
    )
    callbacks = [LossMonitor(args.steps), TimeMonitor(args.steps)]
    if args.summary:
        chosen = {"collect_landscape": None}
        callbacks.append(SummaryCollector(args.summary, 10, collect_specified_data=chosen))
    model.train(args.epochs, train_set, callbacks=callbacks)
    result = model.eval(test_set)
    most_frequent = np.bincount(train).argmax()
    print(f"accuracy of a guess: {(test == most_frequent).mean():.4f}")
    print(f"test accuracy: {result['accuracy']:.4f}")
    print(f"test perplexity: {np.exp(result['loss']):.2f}")


if __name__ == "__main__":
    main()
