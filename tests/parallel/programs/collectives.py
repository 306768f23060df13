"""Every collective operator with its gradient, in both modes, against numpy."""

import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import create_group, get_group_size, get_rank, init

init()
RANK, SIZE = get_rank(), get_group_size()
RANKS = range(SIZE)
ROWS = 6 // SIZE * SIZE


def t(array, dtype=np.float32):
    return Tensor(np.asarray(array, dtype))


def value(rank):
    return np.arange(12, dtype=np.float32).reshape(6, 2) + 100 * rank


ALL = [value(i) for i in RANKS]
EVEN = [a[:ROWS] for a in ALL]
X, XE = t(ALL[RANK]), t(EVEN[RANK])


def check(name, got, expected):
    expected = np.asarray(expected)
    assert got.shape == expected.shape, (name, got.shape, expected.shape)
    np.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-6, err_msg=name)


class Net(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *inputs):
        return self.function(*inputs)


def run(function, *inputs):
    return Net(function)(*inputs)


def part(array):
    return np.split(array, SIZE)[RANK]


def reductions():
    check("sum", run(ops.AllReduce(), X), sum(ALL))
    for op, f in (("max", np.max), ("min", np.min), ("prod", np.prod), ("avg", np.mean)):
        check(op, run(ops.AllReduce(op), X), f(np.stack(ALL), 0))
        check("scatter " + op, run(ops.ReduceScatter(op), XE), part(f(np.stack(EVEN), 0)))
    check("scatter sum", run(ops.ReduceScatter(), XE), part(sum(EVEN)))
    check("gather", run(ops.AllGather(), X), np.concatenate(ALL))
    for dtype in (np.float16, np.float64, np.int8, np.int32, np.int64, np.uint8):
        total = run(ops.AllReduce(), t(np.arange(3) + RANK, dtype))
        assert total.asnumpy().dtype == dtype
        check(dtype.__name__, total, (np.arange(3) * SIZE + sum(RANKS)).astype(dtype))
    check(
        "bfloat16",
        run(ops.AllReduce(), X.astype(ms.bfloat16)).astype(ms.float32),
        sum(t(a).astype(ms.bfloat16).astype(ms.float32).asnumpy() for a in ALL),
    ) if SIZE == 2 else None


def one_rank():
    for root in RANKS:
        mine = root == RANK
        check("broadcast", run(ops.Broadcast(root), (X,))[0], value(root))
        check("reduce", run(ops.Reduce(root), X), sum(ALL) if mine else [0])
        check("to one", run(ops.CollectiveGather(root), X), np.concatenate(ALL) if mine else [0])
        check("from one", run(ops.CollectiveScatter(root), XE), part(value(root)[:ROWS]))
    # Bits that a sum in Float32 would not keep.
    odd = np.array([-0.0, np.nan, np.inf, 1e-45], np.float32)
    sent = run(ops.Broadcast(1), (t(odd if RANK == 1 else np.ones(4)),))[0].asnumpy()
    assert sent.tobytes() == odd.tobytes()
    truth = run(ops.Broadcast(0), (Tensor(np.array([RANK == 0, False])),))[0].asnumpy()
    assert truth.tolist() == [True, False]


def exchanges():
    blocks = [np.split(a, SIZE)[RANK] for a in EVEN]
    check("all to all", run(ops.AlltoAll(SIZE, 0, 1), XE), np.concatenate(blocks, 1))
    counts = [[(i + 2 * j) % 3 + 1 for j in RANKS] for i in RANKS]

    def piece(i, j):
        start = sum(counts[i][:j])
        return np.arange(start, start + counts[i][j]) + 100 * i

    flat = t(np.arange(sum(counts[RANK])) + 100 * RANK)
    expected = np.concatenate([piece(i, RANK) for i in RANKS])
    receive = [counts[i][RANK] for i in RANKS]
    check("uneven", run(lambda x: ops.AlltoAllV()(x, counts[RANK], receive), flat), expected)
    check("matrix", run(lambda x: ops.AlltoAllVC()(x, counts), flat), expected)
    sizes = [i + 1 for i in RANKS]
    mine = t(np.arange(RANK + 1) + 10 * RANK)
    whole = np.concatenate([np.arange(i + 1) + 10 * i for i in RANKS])
    check("gather v", run(lambda x: ops.AllGatherV()(x, sizes), mine), whole)
    total, first = sum(sizes), sum(sizes[:RANK])
    summed = np.arange(total) * SIZE + 10 * sum(RANKS)
    got = run(lambda x: ops.ReduceScatterV()(x, sizes), t(np.arange(total) + 10 * RANK))
    check("scatter v", got, summed[first : first + sizes[RANK]])


NEXT, BEFORE = (RANK + 1) % SIZE, (RANK - 1) % SIZE
ring = ops.NeighborExchange([NEXT], [BEFORE], [[6, 2]], [[6, 2]], ms.float32)


def neighbours():
    check("ring", run(lambda x: ring((x,)), X)[0], value(BEFORE))
    if RANK == 0:
        run(ops.Send(0, 1), X)
        check("back", run(lambda: ops.Receive(1, 1, [3], ms.int32)()), [1, 2, 3])
    elif RANK == 1:
        check("received", run(lambda: ops.Receive(0, 0, [6, 2], ms.float32)()), value(0))
        run(ops.Send(1, 0), t([1, 2, 3], np.int32))
    # Above and below one another: each lays the others' nearest row round its own image.
    up = RANK - 1 if RANK else -1
    down = RANK + 1 if RANK + 1 < SIZE else -1
    around = [up, -1, -1, -1, down, -1, -1, -1]
    top, bottom = int(up != -1), int(down != -1)
    lengths = [top, bottom, 0, 0]
    edges = ops.NeighborExchangeV2(around, lengths, around, lengths, "NCHW")
    image = run(edges, X.reshape(1, 1, 6, 2))
    rows = [value(up)[-1:]] * top + [value(RANK)] + [value(down)[:1]] * bottom
    check("edges", image, np.concatenate(rows)[None, None])


class Unread(nn.Cell):
    """Ranks that use different results of the same collectives."""

    def construct(self, x):
        total, most = ops.AllReduce()(x), ops.AllReduce("max")(x + 1)
        return total if RANK == 0 else (x, most)


def programs():
    Unread()(X)
    check("after", run(ops.AllReduce(), X), sum(ALL))
    run(ops.Barrier())


def groups():
    create_group("ends", [0, SIZE - 1])
    if RANK not in (0, SIZE - 1):
        return
    members = [ALL[0], ALL[-1]]
    place = int(RANK > 0)
    check("group sum", run(ops.AllReduce("sum", "ends"), X), sum(members))
    check("group max", run(ops.AllReduce("max", "ends"), X), np.max(members, 0))
    check("group gather", run(ops.AllGather("ends"), X), np.concatenate(members))
    halves = np.split(sum(members), 2)
    check("group scatter", run(ops.ReduceScatter("sum", "ends"), X), halves[place])
    check("group root", run(ops.Broadcast(1, "ends"), (X,))[0], members[1])
    blocks = [np.split(m, 2)[place] for m in members]
    check("group all to all", run(ops.AlltoAll(2, 0, 1, "ends"), X), np.concatenate(blocks, 1))


def gradients():
    def weights(rank, shape):
        return np.random.RandomState(rank).rand(*shape).astype(np.float32)

    def gradient(function, shape, x=X):
        w = t(weights(RANK, shape))
        return ms.grad(lambda x: (function(x) * w).sum())(x)

    def every(shape):
        return [weights(i, shape) for i in RANKS]

    full, long = (6, 2), (6 * SIZE, 2)
    check("d sum", gradient(ops.AllReduce(), full), sum(every(full)))
    own = slice(6 * RANK, 6 * RANK + 6)
    check("d gather", gradient(ops.AllGather(), long), sum(every(long))[own])
    short = (ROWS // SIZE, 2)
    check("d scatter", gradient(ops.ReduceScatter(), short, XE), np.concatenate(every(short)))
    check("d max", gradient(ops.AllReduce("max"), full), sum(every(full)) * (RANK == SIZE - 1))
    out = np.prod(ALL, 0)
    with np.errstate(all="ignore"):
        expected = sum(w * out for w in every(full)) / ALL[RANK]
    got = gradient(ops.AllReduce("prod"), full).asnumpy()
    np.testing.assert_allclose(got[1:], expected[1:], rtol=1e-5)
    check("d ring", gradient(lambda x: ring((x,))[0], full), weights(NEXT, full))
    root = gradient(lambda x: ops.Broadcast(1)((x,))[0], full)
    check("d broadcast", root, weights(RANK, full))
    blocks = (ROWS // SIZE, 2 * SIZE)
    expected = np.concatenate([np.split(w, SIZE, 1)[RANK] for w in every(blocks)])
    check("d all to all", gradient(ops.AlltoAll(SIZE, 0, 1), blocks, XE), expected)


PARTS = (reductions, one_rank, exchanges, neighbours, programs, groups, gradients)
QUICK = {
    ms.PYNATIVE_MODE: (one_rank, exchanges, groups),
    ms.GRAPH_MODE: (neighbours, programs, gradients),
}
for mode, quick in QUICK.items():
    ms.set_context(mode=mode)
    for part_of_it in quick if "quick" in sys.argv else PARTS:
        part_of_it()
        print(f"rank {RANK} mode {mode}: {part_of_it.__name__}", flush=True)
print(f"rank {RANK} of {SIZE} is through", flush=True)
