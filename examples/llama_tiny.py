"""Train a small Llama on text, character by character, and decode greedily with a KV cache.

The net is Llama's (Touvron et al., 2023): RMSNorm, rotary positions, grouped-query attention,
SwiGLU. It reads Python's own documentation of its language, which every Python carries
(`pydoc_data.topics`), or the `*.txt` files of the folder that `--data` names. What is decoded with
the cache must be what is decoded without: the script asserts it.
"""

import argparse
from pathlib import Path

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal


class RMSNorm(nn.Cell):
    """Scale by the root of the mean square, without a shift."""

    def __init__(self, width, epsilon=1e-5):
        super().__init__()
        self.weight = Parameter(ops.ones((width,), ms.float32), name="weight")
        self.epsilon = epsilon

    def construct(self, x):
        return x * ops.rsqrt(ops.square(x).mean(-1, keep_dims=True) + self.epsilon) * self.weight


class Attention(nn.Cell):
    """Grouped-query attention: `heads` of queries share `kv_heads` of keys and values."""

    def __init__(self, width, heads, kv_heads, max_length):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, width // heads
        self.wq = nn.Dense(width, width, has_bias=False)
        self.wk = nn.Dense(width, kv_heads * self.size, has_bias=False)
        self.wv = nn.Dense(width, kv_heads * self.size, has_bias=False)
        self.wo = nn.Dense(width, width, has_bias=False)
        # The cache holds every position of one text; it is no weight.
        shape = (1, kv_heads, max_length, self.size)
        self.key_cache = cache(shape, "key_cache")
        self.value_cache = cache(shape, "value_cache")

    def construct(self, x, cos, sin, mask):
        query, key, value = self.project(x, cos, sin)
        return self.attend(query, key, value, mask)

    def step(self, x, cos, sin, mask, here):
        """Attend from one position; `here` is 1 at it and 0 elsewhere, (max_length, 1)."""
        query, key, value = self.project(x, cos, sin)
        keys = self.key_cache * (1 - here) + key * here
        values = self.value_cache * (1 - here) + value * here
        ops.assign(self.key_cache, keys)
        ops.assign(self.value_cache, values)
        return self.attend(query, keys, values, mask)

    def project(self, x, cos, sin):
        query = rotate(self.split(self.wq(x), self.heads), cos, sin)
        key = rotate(self.split(self.wk(x), self.kv_heads), cos, sin)
        return query, key, self.split(self.wv(x), self.kv_heads)

    def split(self, x, heads):
        batch, length, _ = x.shape
        return x.reshape((batch, length, heads, self.size)).transpose((0, 2, 1, 3))

    def attend(self, query, key, value, mask):
        batch, _, length, _ = query.shape
        key = ops.repeat_interleave(key, self.heads // self.kv_heads, 1)
        value = ops.repeat_interleave(value, self.heads // self.kv_heads, 1)
        scores = ops.matmul(query, key.transpose((0, 1, 3, 2))) * self.size**-0.5 + mask
        out = ops.matmul(ops.softmax(scores, -1), value)
        return self.wo(out.transpose((0, 2, 1, 3)).reshape((batch, length, -1)))


class Layer(nn.Cell):
    """Attention and SwiGLU, each behind its norm and beside the identity."""

    def __init__(self, width, heads, kv_heads, inner, max_length):
        super().__init__()
        self.attention_norm = RMSNorm(width)
        self.attention = Attention(width, heads, kv_heads, max_length)
        self.ffn_norm = RMSNorm(width)
        self.w1 = nn.Dense(width, inner, has_bias=False)
        self.w2 = nn.Dense(inner, width, has_bias=False)
        self.w3 = nn.Dense(width, inner, has_bias=False)

    def construct(self, x, cos, sin, mask):
        x = x + self.attention(self.attention_norm(x), cos, sin, mask)
        return x + self.feed(self.ffn_norm(x))

    def step(self, x, cos, sin, mask, here):
        x = x + self.attention.step(self.attention_norm(x), cos, sin, mask, here)
        return x + self.feed(self.ffn_norm(x))

    def feed(self, x):
        return self.w2(ops.silu(self.w1(x)) * self.w3(x))


class Llama(nn.Cell):
    """Decoder over characters: ids (batch, length) give logits (batch, length, vocab_size)."""

    def __init__(self, vocab_size, width, layers, heads, kv_heads, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, width, embedding_table=Normal(0.02))
        self.layers = nn.CellList(
            [Layer(width, heads, kv_heads, width * 8 // 3, max_length) for _ in range(layers)]
        )
        self.norm = RMSNorm(width)
        self.head = nn.Dense(width, vocab_size, has_bias=False)
        size = width // heads
        angles = np.outer(np.arange(max_length), 10000.0 ** (-np.arange(0, size, 2) / size))
        angles = np.concatenate([angles, angles], axis=1)
        self.cos = Tensor(np.cos(angles), ms.float32)
        self.sin = Tensor(np.sin(angles), ms.float32)
        future = np.triu(np.ones((max_length, max_length)), 1)
        self.mask = Tensor(future * -1e9, ms.float32)
        self.positions = Tensor(np.arange(max_length).reshape(-1, 1), ms.int32)

    def construct(self, ids):
        length = ids.shape[1]
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, self.cos[:length], self.sin[:length], self.mask[:length, :length])
        return self.head(self.norm(x))


class Decoder(nn.Cell):
    """One character of one text goes in with its position, the most likely next one comes out."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def construct(self, ids, position):
        net = self.network
        here = ops.cast(net.positions == position, ms.float32)
        cos, sin = (net.cos * here).sum(0, keepdims=True), (net.sin * here).sum(0, keepdims=True)
        mask = (net.mask * here).sum(0, keepdims=True)
        x = net.embedding(ids)
        for layer in net.layers:
            x = layer.step(x, cos, sin, mask, here)
        return ops.argmax(net.head(net.norm(x)), -1)


def cache(shape, name):
    return Parameter(ops.zeros(shape, ms.float32), name=name, requires_grad=False)


def rotate(x, cos, sin):
    """Turn the pairs (x[i], x[i + size / 2]) by their position's angles."""
    half = x.shape[-1] // 2
    turned = ops.cat((-x[..., half:], x[..., :half]), -1)
    return x * cos + turned * sin


def read_text(folder):
    """Read the folder's texts, or Python's documentation of its language."""
    if folder:
        return "\n".join(p.read_text("utf-8") for p in sorted(Path(folder).glob("*.txt")))
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics))


class Pieces:
    """Pieces of the text from random places, other ones in every epoch: (length + 1,) int32."""

    def __init__(self, ids, length, count, seed):
        self.ids, self.length, self.count = ids, length, count
        self.rng = np.random.RandomState(seed)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        start = self.rng.randint(len(self.ids) - self.length)
        return (self.ids[start : start + self.length + 1],)


def create_dataset(pieces, batch_size):
    return ds.GeneratorDataset(pieces, ["ids"], shuffle=False).batch(batch_size, True)


def decode_with_cache(network, prompt, count):
    """Continue a prompt of ids by `count` characters; every character is computed once."""
    decoder = Decoder(network).set_train(False)
    ids = list(prompt)
    for position in range(len(prompt) + count - 1):
        token = Tensor([[ids[position]]], ms.int32)
        following = decoder(token, Tensor(position, ms.int32))
        if position >= len(prompt) - 1:
            ids.append(int(following.asnumpy()[0, 0]))
    return ids


def decode_without_cache(network, prompt, count, max_length):
    """Continue it by computing the whole text for every character."""
    network.set_train(False)
    ids = list(prompt)
    for _ in range(count):
        # What follows a position does not touch it, so the text may be padded to one shape.
        padded = np.zeros((1, max_length), np.int32)
        padded[0, : len(ids)] = ids
        logits = network(Tensor(padded))[0, len(ids) - 1]
        ids.append(int(logits.asnumpy().argmax()))
    return ids


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--data", help="folder of *.txt files, in place of Python's documentation")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=100, help="steps of an epoch")
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--length", type=int, default=96, help="characters of a sample")
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--kv_heads", type=int, default=2)
    parser.add_argument("--prompt", default="The class ")
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
    ids = np.array([letters.index(char) for char in text], np.int32)
    train, test = ids[: len(ids) * 9 // 10], ids[len(ids) * 9 // 10 :]
    print(f"{len(train)} characters to train on, {len(test)} to test, {len(letters)} different")

    network = Llama(len(letters), args.width, args.layers, args.heads, args.kv_heads, args.length)
    total = args.epochs * args.steps
    rates = nn.cosine_decay_lr(0.0, 3e-3, total, 1, total)
    optimizer = nn.AdamWeightDecay(network.trainable_params(), rates, beta2=0.95, weight_decay=0.1)

    def forward(batch):
        logits = network(batch[:, :-1])
        return ops.cross_entropy(logits.reshape((-1, len(letters))), batch[:, 1:].reshape((-1,)))

    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def train_step(batch):
        loss, grads = value_and_grad(batch)
        optimizer(ops.clip_by_global_norm(grads, 1.0))
        return loss

    train_pieces = Pieces(train, args.length, args.steps * args.batch_size, args.seed)
    train_set = create_dataset(train_pieces, args.batch_size)
    record = ms.SummaryRecord(args.summary) if args.summary else None
    step = 0
    for epoch in range(args.epochs):
        network.set_train(True)
        for (batch,) in train_set.create_tuple_iterator():
            loss = train_step(batch)
            step += 1
            if record and step % 10 == 0:
                record.add_value("scalar", "loss", loss)
                record.record(step)
        if record:
            record.flush()
        print(f"epoch {epoch + 1}: loss {float(loss.asnumpy()):.4f}")
    if record:
        record.close()

    network.set_train(False)
    test_pieces = Pieces(test, args.length, 8 * args.batch_size, 0)
    test_set = create_dataset(test_pieces, args.batch_size)
    losses = [float(forward(batch).asnumpy()) for (batch,) in test_set.create_tuple_iterator()]
    counts = np.bincount(train, minlength=len(letters)) + 1
    guess = -np.log(counts / counts.sum())[test].mean()
    print(f"perplexity of guesses by frequency: {np.exp(guess):.2f}")
    print(f"test perplexity: {np.exp(np.mean(losses)):.2f}")

    prompt = [letters.index(char) for char in args.prompt]
    count = args.length - len(prompt)
    cached = decode_with_cache(network, prompt, count)
    plain = decode_without_cache(network, prompt, count, args.length)
    print("greedy: " + "".join(letters[i] for i in cached).replace("\n", " "))
    assert cached == plain, "the cache changes what is decoded"
    print(f"{count} characters decoded with the cache and without: the same")


if __name__ == "__main__":
    main()
