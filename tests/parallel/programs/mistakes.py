"""Wrong uses of a world of two: the error's class and text, on both ranks, and nobody waits."""

import os
from datetime import timedelta

os.environ["MINDJAX_COLLECTIVE_TIMEOUT"] = "2"

import jax
import mindspore as ms
import mindspore.dataset as ds
import mindspore.mint.distributed as dist
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import create_group, destroy_group, get_rank, init
from mindspore.train import Model

init()
RANK, OTHER = get_rank(), 1 - get_rank()
x = Tensor(np.ones((3, 2), np.float32))
flat = Tensor(np.ones(3, np.float32))
create_group("first", [0])
create_group("second", [1])
THEIRS = ("first", "second")[OTHER]
float32 = ms.float32


def broadcast_alone():
    ms.set_auto_parallel_context(parallel_mode="stand_alone", parameter_broadcast=True)
    try:
        net = nn.Dense(2, 1)
        data = ds.NumpySlicesDataset((np.ones((4, 2), np.float32),) * 2, ["x", "y"]).batch(2)
        Model(net, nn.MSELoss(), nn.SGD(net.trainable_params())).train(1, data)
    finally:
        ms.reset_auto_parallel_context()


def under_a_trace_of_jax():
    jax.jit(lambda array: ops.AllReduce()(array))(jax.numpy.ones(3))


def graph_of_another_group():
    ms.jit(lambda x: ops.AllGather(THEIRS)(x))(x)


MISTAKES = [
    (RuntimeError, "does not belong to the group", lambda: ops.AllReduce("sum", THEIRS)(x)),
    (RuntimeError, "does not belong to the group", graph_of_another_group),
    (RuntimeError, "jax transformation that MindJAX did not start", under_a_trace_of_jax),
    (RuntimeError, "does not exist", lambda: ops.AllReduce("sum", "nobody")(x)),
    (ValueError, "'op' must be one of", lambda: ops.AllReduce("mean")(x)),
    (TypeError, "must not be of type", lambda: ops.AllReduce()(x > 0)),
    (ValueError, "must be divided by", lambda: ops.ReduceScatter()(x)),
    (ValueError, "must be divided by", lambda: ops.CollectiveScatter(0)(x)),
    (ValueError, "root_rank", lambda: ops.Broadcast(2)((x,))),
    (ValueError, "dest_rank", lambda: ops.Reduce(-1)(x)),
    (ValueError, "at least one dimension", lambda: ops.AllGather()(Tensor(1.0))),
    (ValueError, "'split_count' must be equal", lambda: ops.AlltoAll(3, 0, 1)(x)),
    (ValueError, "must be divided by 'split_count'", lambda: ops.AlltoAll(2, 0, 1)(x)),
    (ValueError, "add up to the length 3", lambda: ops.AlltoAllV()(flat, [1, 1], [1, 1])),
    (ValueError, "from this one", lambda: ops.AlltoAllV()(flat, [1, 2], [3, 3])),
    (ValueError, "'send_count_matrix' must hold", lambda: ops.AlltoAllVC()(flat, [[3]])),
    (ValueError, "3 for this one", lambda: ops.AllGatherV()(flat, [1, 1])),
    (ValueError, "add up to", lambda: ops.ReduceScatterV()(flat, [1, 1])),
    (ValueError, "should not be the same as", lambda: ops.Send(0, RANK)(x)),
    (ValueError, "src_rank", lambda: ops.Receive(0, 7, [2], float32)()),
    (
        ValueError,
        "'send_shapes'",
        lambda: ops.NeighborExchange([OTHER], [OTHER], [[1]], [[1]], float32)((x,)),
    ),
    (RuntimeError, "Failed to create", lambda: create_group("far", [0, 2])),
    (ValueError, "duplicate", lambda: create_group("twice", [1, 1])),
    (ValueError, "has been created", lambda: create_group("first", [1])),
    (ValueError, "does not support destruction", lambda: destroy_group("hccl_world_group")),
    (ValueError, "should not be the same", lambda: dist.send(x, RANK)),
    (RuntimeError, "doesn't contain", lambda: dist.recv(x, 5)),
    (RuntimeError, "has waited 2 s for a message", lambda: dist.recv(x, OTHER, tag=9)),
    (TypeError, "output shape should be", lambda: dist.all_gather_into_tensor(x, x)),
    (TypeError, "tensor len must be", lambda: dist.all_gather([x], x)),
    (TypeError, "must be equal to group rank size", lambda: dist.all_gather_object([None], 1)),
    (
        ValueError,
        "are not the launcher's",
        lambda: dist.init_process_group(init_method="tcp://127.0.0.1:9", world_size=3, rank=RANK),
    ),
    (ValueError, "needs 'init_method'", lambda: dist.init_process_group(world_size=3)),
    (
        RuntimeError,
        "no store answers",
        lambda: dist.TCPStore("127.0.0.1", 9, 2, False, timedelta(seconds=0.2)),
    ),
    (
        RuntimeError,
        "0 of 1 other processes have come",
        lambda: dist.TCPStore("127.0.0.1", 0, 2, True, timedelta(seconds=0.2)),
    ),
    (ValueError, "do not support parameter broadcast", broadcast_alone),
]
for number, (kind, text, call) in enumerate(MISTAKES):
    try:
        call()
    except Exception as error:
        assert type(error) is kind and text in str(error), (number, kind, text, error)
        assert "\n" not in str(error), error
    else:
        raise AssertionError(f"mistake {number} went through: {text}")
    # The world is as it was.
    if number % 9 == 0:
        assert ops.AllReduce()(x).asnumpy().max() == 2
assert len(MISTAKES) >= 30
print(f"rank {RANK} of 2 is through", flush=True)
