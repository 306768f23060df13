"""The functions of mint.distributed between processes: Tensors, objects, messages, the store."""

import sys
from datetime import timedelta

import mindspore.mint.distributed as dist
import numpy as np
from mindspore import Tensor
from mindspore.communication import comm_func

if sys.argv[1:2] == ["tcp"]:
    dist.init_process_group(
        init_method=f"tcp://127.0.0.1:{sys.argv[2]}", world_size=2, rank=int(sys.argv[3])
    )
else:
    dist.init_process_group()
RANK, SIZE = dist.get_rank(), dist.get_world_size()
RANKS = range(SIZE)
NEXT, BEFORE = (RANK + 1) % SIZE, (RANK - 1) % SIZE


def t(array):
    return Tensor(np.asarray(array, np.float32))


def value(rank):
    return np.arange(4) + 10 * rank


def check(name, got, expected):
    assert got.shape == np.shape(expected), (name, got.shape, np.shape(expected))
    np.testing.assert_allclose(got.asnumpy(), expected, err_msg=name)


X, EMPTY = t(value(RANK)), np.zeros(4)
TOTAL = sum(value(i) for i in RANKS)


def messages():
    # Larger than any buffer: all send first.
    size = 1_000_000
    sent, got = t(np.full(size, RANK)), t(np.zeros(size))
    handles = [dist.isend(sent, NEXT), dist.irecv(got, BEFORE)]
    for handle in handles:
        handle.wait()
    check("large", got, np.full(size, BEFORE))
    dist.isend(X, NEXT, tag=1)
    dist.isend(X * 2, NEXT, tag=2)
    first, second = t(EMPTY), t(EMPTY)
    assert dist.recv(second, BEFORE, tag=2) == 0
    dist.recv(first, BEFORE, tag=1)
    check("tag 1", first, value(BEFORE))
    check("tag 2", second, 2 * value(BEFORE))
    got = t(EMPTY)
    both = [dist.P2POp("isend", X, NEXT), dist.P2POp("irecv", got, BEFORE)]
    for handle in dist.batch_isend_irecv(both):
        handle.wait()
    check("batch", got, value(BEFORE))
    comm_func.send(X, NEXT)
    check("comm_func", comm_func.recv(t(EMPTY), BEFORE), value(BEFORE))
    got, handle = comm_func.irecv(t(EMPTY), BEFORE)
    comm_func.isend(X, NEXT)
    handle.wait()
    check("comm_func irecv", got, value(BEFORE))
    dist.send(t([1.0, 2.0]), NEXT)
    try:
        dist.recv(t(EMPTY), BEFORE)
    except ValueError as error:
        assert "Float32 2, but got Float32 4" in str(error)
    else:
        raise AssertionError("a message of another shape was taken")


def objects():
    every = [None] * SIZE
    dist.all_gather_object(every, {"rank": RANK})
    assert every == [{"rank": i} for i in RANKS]
    some = [RANK, "x" * RANK]
    dist.broadcast_object_list(some, 1)
    assert some == [1, "x"]
    gathered = [None] * SIZE if RANK == 0 else None
    dist.gather_object(RANK**2, gathered, 0)
    assert RANK or gathered == [i**2 for i in RANKS]
    got = [None]
    dist.scatter_object_list(got, [f"for {i}" for i in RANKS] if RANK == 1 else None, 1)
    assert got == [f"for {RANK}"]
    dist.send_object_list([RANK, {"x": 2}], NEXT)
    got = [None, None]
    dist.recv_object_list(got, BEFORE)
    assert got == [BEFORE, {"x": 2}]


def tensors():
    y = t(value(RANK))
    dist.all_reduce(y, async_op=True).wait()
    check("all_reduce", y, TOTAL)
    outs = [t(EMPTY) for _ in RANKS]
    dist.all_gather(outs, X)
    for i in RANKS:
        check("all_gather", outs[i], value(i))
    y = t(np.zeros(4 * SIZE))
    dist.all_gather_into_tensor(y, X)
    check("into", y, np.concatenate([value(i) for i in RANKS]))
    sizes = [i + 1 for i in RANKS]
    y = t(np.zeros((sum(sizes), 2)))
    dist.all_gather_into_tensor_uneven(y, t(np.full((RANK + 1, 2), RANK)), sizes)
    check("uneven", y, np.concatenate([np.full((i + 1, 2), i) for i in RANKS]))
    y, first = t(np.zeros(RANK + 1)), sum(sizes[:RANK])
    dist.reduce_scatter_tensor_uneven(y, t(np.arange(sum(sizes))), sizes)
    check("scattered", y, SIZE * np.arange(first, first + RANK + 1))
    y = t(value(RANK))
    dist.broadcast(y, 1)
    check("broadcast", y, value(1))
    y = t(value(RANK))
    dist.reduce(y, 1)
    check("reduce", y, TOTAL if RANK == 1 else value(RANK))
    outs = [t(EMPTY) for _ in RANKS]
    dist.gather(X, outs, 0)
    for i in RANKS if RANK == 0 else ():
        check("gather", outs[i], value(i))
    y = t(EMPTY)
    dist.scatter(y, [t(value(i)) for i in RANKS], 0)
    check("scatter", y, value(RANK))
    dist.reduce_scatter(y, [X] * SIZE)
    check("reduce_scatter", y, TOTAL)
    y = t(np.zeros(2))
    dist.reduce_scatter_tensor(y, t(np.arange(2 * SIZE)))
    check("reduce_scatter_tensor", y, SIZE * np.arange(2 * RANK, 2 * RANK + 2))
    outs = [t(np.zeros(i + 1)) for i in RANKS]
    dist.all_to_all(outs, [t(np.full(RANK + 1, 10 * RANK + i)) for i in RANKS])
    for i in RANKS:
        check("all_to_all", outs[i], np.full(i + 1, 10 * i + RANK))
    y = t(np.zeros(2 * SIZE))
    dist.all_to_all_single(y, t(np.repeat(np.arange(SIZE), 2) + 10 * RANK))
    check("single", y, np.repeat([10 * i + RANK for i in RANKS], 2))
    dist.barrier()


def groups():
    name = dist.new_group([0, 1])
    if RANK < 2:
        y = t(value(RANK))
        dist.all_reduce(y, group=name)
        check("group", y, value(0) + value(1))
        assert (dist.get_rank(name), dist.get_world_size(name)) == (RANK, 2)
    assert dist.get_process_group_ranks() == list(RANKS)
    assert (dist.get_global_rank(name, 1), dist.get_group_rank(name, 1)) == (1, 1)
    dist.destroy_process_group(name)


def store():
    kept = [0]
    if RANK == 0:
        kept = [dist.TCPStore("127.0.0.1", 0, wait_for_workers=False, world_size=SIZE,
                              is_master=True)]  # fmt: skip
    port = [kept[0].port if RANK == 0 else 0]
    dist.broadcast_object_list(port, 0)
    if RANK:
        soon = timedelta(seconds=20)
        kept = [dist.TCPStore("127.0.0.1", port[0], SIZE, False, timeout=soon)]
    kept[0].set(f"key {RANK}", str(RANK))
    assert kept[0].get(f"key {NEXT}") == str(NEXT).encode()
    kept[0].add("count", 1)
    dist.barrier()
    assert kept[0].add("count", 0) == SIZE
    assert kept[0].delete_key("nothing") is False
    dist.barrier()


for part in (messages, objects, tensors, groups, store):
    part()
    print(f"rank {RANK}: {part.__name__}", flush=True)
dist.destroy_process_group()
print(f"rank {RANK} of {SIZE} is through", flush=True)
