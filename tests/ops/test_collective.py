"""Collectives in a world of one process: values, gradients, errors, outputs written in place.

What the original answers was seen under its own launcher with one worker; where its CPU has no
kernel the documentation says what one rank gets.
"""

import os
import subprocess
import sys
from datetime import timedelta

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, communication, mint, ops
from mindjax.communication import GlobalComm, comm_func
from mindjax.mint import distributed as dist
from mindjax.ops import communication as switched

X = np.arange(8, dtype=np.float32).reshape(4, 2)


@pytest.fixture
def joined():
    communication.init()
    yield
    communication.release()


@pytest.fixture
def alone():
    yield
    GlobalComm.INITED = False


def tensor(values=X):
    return Tensor(np.asarray(values))


SAME = [ops.AllReduce(op) for op in ("sum", "max", "min", "prod", "avg")] + [
    ops.AllGather(),
    ops.ReduceScatter(),
    ops.CollectiveScatter(0),
    ops.CollectiveGather(0),
    ops.Reduce(0),
    ops.AlltoAll(1, 0, 1),
]


@pytest.mark.parametrize("operator", SAME, ids=repr)
def test_operators_give_the_only_ranks_array(joined, mode, operator):
    def forward(x):
        return operator(x * 2)

    np.testing.assert_array_equal(forward(tensor()).asnumpy(), X * 2)
    compiled = ms.jit(forward)
    np.testing.assert_array_equal(compiled(tensor()).asnumpy(), X * 2)
    gradient = ms.grad(lambda x: (forward(x) * x).sum())(tensor())
    np.testing.assert_allclose(gradient.asnumpy(), X * 4)


FLAT = X.reshape(-1)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.Broadcast(0)((x,))[0],
        lambda x: ops.AllGatherV()(x, [8]),
        lambda x: ops.ReduceScatterV()(x, Tensor([8])),
        lambda x: ops.AlltoAllV()(x, [8], (8,)),
        lambda x: ops.AlltoAllV(block_size=4)(x, [2], [2]),
        lambda x: ops.AlltoAllVC()(x, Tensor([[8]])),
        lambda x: ops.AlltoAllVC(transpose=True)(x, [8]),
        lambda x: ops.NeighborExchange([0], [0], [[8]], [[8]], ms.float32)((x,))[0],
        lambda x: ops.BatchISendIRecv(["isend", "irecv"], [0, 0], [[8]], [ms.float32])([x])[1],
        lambda x: ops._AllSwap()(x.reshape(4, 2), Tensor([8]), Tensor([8])).reshape(-1),
    ],
)
def test_operators_on_tuples_and_flat_arrays(joined, mode, call):
    np.testing.assert_array_equal(call(tensor(FLAT)).asnumpy(), FLAT)


def test_empty_exchange_is_a_scalar(joined):
    assert ops.AlltoAllV()(tensor(np.zeros(0, np.float32)), [0], [0]).shape == ()


def test_neighbours_edges(joined):
    x = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
    out = ops.NeighborExchangeV2([0] * 8, [1, 1, 2, 1], [0] * 8, [1, 1, 1, 2], "NCHW")(tensor(x))
    np.testing.assert_array_equal(out.asnumpy()[0, 0], np.pad(x[0, 0], ((1, 1), (1, 2)), "wrap"))
    none = ops.NeighborExchangeV2([-1] * 8, [0] * 4, [-1] * 8, [1, 0, 0, 0], "NCHW")(tensor(x))
    assert none.shape == (1, 1, 3, 3)


def filled(function, *args, **kwargs):
    """Call a function on an output of zeros, and give what it wrote."""
    out = tensor(np.zeros_like(X))
    assert function(out, *args, **kwargs) is None
    return out.asnumpy()


def gathered(function):
    return lambda out: function([out], tensor())


OUTPUTS = {
    "all_gather_into_tensor": lambda out: dist.all_gather_into_tensor(out, tensor()),
    "all_gather_into_tensor_uneven": lambda out: dist.all_gather_into_tensor_uneven(
        out, tensor(), [4]
    ),
    "all_gather": gathered(dist.all_gather),
    "gather": lambda out: dist.gather(tensor(), [out], 0),
    "scatter": lambda out: dist.scatter(out, [tensor()], 0),
    "reduce_scatter": lambda out: dist.reduce_scatter(out, [tensor()], "max"),
    "reduce_scatter_tensor": lambda out: dist.reduce_scatter_tensor(out, tensor()),
    "reduce_scatter_tensor_uneven": lambda out: dist.reduce_scatter_tensor_uneven(
        out, tensor(), [4]
    ),
    "all_to_all": lambda out: dist.all_to_all([out], [tensor()]),
    "all_to_all_single": lambda out: dist.all_to_all_single(out, tensor(), [4], [4]),
    "scatter_tensor": lambda out: switched.scatter_tensor(out, tensor()),
    "gather_into_tensor": lambda out: switched.gather_into_tensor(out, tensor()),
    "all_to_all_v_c": lambda out: switched.all_to_all_v_c(out, tensor(), [4]),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_written(joined, mode, name):
    np.testing.assert_array_equal(filled(OUTPUTS[name]), X)


@pytest.mark.parametrize("call", [dist.all_reduce, lambda x: dist.broadcast(x, 0)])
def test_in_place(joined, mode, call):
    x = tensor()
    assert call(x) is None
    np.testing.assert_array_equal(x.asnumpy(), X)
    np.testing.assert_allclose(ms.grad(lambda y: (y * y).sum())(x).asnumpy(), 2 * X)


def test_output_of_a_compiled_function(joined):
    out = tensor(np.zeros_like(X))

    @ms.jit
    def step(x, y):
        dist.all_gather_into_tensor(y, x * 3)
        return y + 1

    np.testing.assert_array_equal(step(tensor(), out).asnumpy(), X * 3 + 1)
    np.testing.assert_array_equal(out.asnumpy(), X * 3)


def test_handles(joined):
    x = tensor()
    dist.all_reduce(x, async_op=True).wait()
    dist.barrier(async_op=True).wait()
    y, handle = comm_func.all_reduce(x, async_op=True)
    handle.wait()
    assert dist.barrier() is None
    np.testing.assert_array_equal(y.asnumpy(), X)


def test_peers_of_one_process(joined):
    x, out = tensor(), tensor(np.zeros_like(X))
    handles = dist.batch_isend_irecv([dist.P2POp(dist.isend, x, 0), dist.P2POp("irecv", out, 0)])
    handles[0].wait()
    np.testing.assert_array_equal(out.asnumpy(), X)
    pair = [
        comm_func.P2POp("isend", x, 0),
        comm_func.P2POp("irecv", (4, 2), 0, None, 0, ms.float32),
    ]
    np.testing.assert_array_equal(comm_func.batch_isend_irecv(pair)[1].asnumpy(), X)
    for call in (dist.send, dist.isend, dist.recv, dist.irecv):
        with pytest.raises(ValueError, match="current process"):
            call(x, 0)
        with pytest.raises(RuntimeError, match="global rank 3"):
            call(x, 3)


def test_objects(joined):
    places = [None]
    dist.all_gather_object(places, {"a": 1})
    assert places == [{"a": 1}]
    dist.gather_object((1, 2), places)
    assert places == [(1, 2)]
    dist.scatter_object_list(places, ["b"])
    assert places == ["b"]
    dist.broadcast_object_list(places)
    assert places == ["b"]
    with pytest.raises(TypeError, match="must be equal to group rank size 1"):
        dist.all_gather_object([None, None], 1)


def test_results_instead_of_writing(joined):
    switched.set_comm_ops_inplace(False)
    try:
        for result, handle in (
            switched.all_reduce(tensor()),
            switched.all_gather_into_tensor(None, tensor()),
            switched.reduce_scatter_tensor(None, tensor()),
            switched.all_to_all_single(None, tensor()),
        ):
            np.testing.assert_array_equal(result.asnumpy(), X)
            assert handle is None
        results, _ = switched.all_to_all([(4, 2)], [tensor()])
        np.testing.assert_array_equal(results[0].asnumpy(), X)
        with pytest.raises(ValueError, match="Non-inplace mode"):
            switched.broadcast(tensor(), 0)
    finally:
        switched.set_comm_ops_inplace(True)
    with pytest.raises(ValueError, match="function name"):
        switched.set_comm_ops_inplace(False, ["foo"])


def test_older_functions(joined):
    x = tensor()
    for result in (
        comm_func.all_reduce(x)[0],
        comm_func.all_gather_into_tensor(x)[0],
        comm_func.reduce_scatter_tensor(x)[0],
        comm_func.reduce(x, 0),
        comm_func.broadcast(x),
        comm_func.scatter_tensor(x),
        comm_func.gather_into_tensor(x),
        comm_func.all_to_all_with_output_shape([x], [x])[0][0],
        comm_func.all_to_all_single_with_output_shape((4, 2), x)[0],
    ):
        np.testing.assert_array_equal(result.asnumpy(), X)
    assert comm_func.barrier() is None


def test_groups(joined):
    assert (communication.get_rank(), communication.get_group_size()) == (0, 1)
    assert (communication.get_local_rank(), communication.get_local_rank_size()) == (0, 1)
    communication.create_group("pair", [0])
    communication.create_group("pair", [0])
    assert communication.get_rank("pair") == communication.get_world_rank_from_group_rank("pair", 0)
    assert communication.get_group_rank_from_world_rank(0, "pair") == 0
    assert communication.get_process_group_ranks("pair") == [0]
    assert communication.get_comm_name("pair") == "pair"
    np.testing.assert_array_equal(ops.AllReduce(group="pair")(tensor()).asnumpy(), X)
    communication.destroy_group("pair")
    with pytest.raises(RuntimeError, match="pair does not exist"):
        communication.get_group_size("pair")
    name = mint.distributed.new_group([0], backend="mccl")
    assert name == "mccl_1_b6589fc6ab0dc82cf12099d1c2d40ab994e8410c"
    assert (dist.get_rank(name), dist.get_world_size(name), dist.get_backend(name)) == (
        0,
        1,
        "mccl",
    )
    assert (dist.get_rank("nope"), dist.get_world_size("nope")) == (-1, -1)
    assert dist.new_group([0, 1]) == ""
    assert (dist.get_global_rank(None, 3), dist.get_group_rank(name, 0)) == (3, 0)
    assert dist.get_process_group_ranks() == [0]


ERRORS = [
    (ValueError, lambda: communication.create_group("g", [0, 0])),
    (ValueError, lambda: communication.create_group("g", [])),
    (TypeError, lambda: communication.create_group("g", (0,))),
    (TypeError, lambda: communication.create_group("g", [0], options=3)),
    (RuntimeError, lambda: communication.create_group("g", [0, 1])),
    (ValueError, lambda: communication.destroy_group("hccl_world_group")),
    (TypeError, lambda: communication.get_rank(3)),
    (RuntimeError, lambda: communication.get_world_rank_from_group_rank("mccl_world_group", 5)),
    (RuntimeError, lambda: communication.get_group_rank_from_world_rank(5, "mccl_world_group")),
    (RuntimeError, lambda: communication.init("foo")),
    (TypeError, lambda: communication.init(3)),
    (TypeError, lambda: ops.AllReduce(3)),
    (ValueError, lambda: ops.AllReduce("foo")),
    (TypeError, lambda: ops.AllReduce("sum", 3)),
    (TypeError, lambda: ops.AllReduce()(tensor(X > 1))),
    (RuntimeError, lambda: ops.AllReduce(group="nope")(tensor())),
    (ValueError, lambda: ops.AllGather()(Tensor(1.0))),
    (ValueError, lambda: ops.Broadcast(5)((tensor(),))),
    (TypeError, lambda: ops.Broadcast("a")),
    (ValueError, lambda: ops.Reduce(1)(tensor())),
    (ValueError, lambda: ops.AlltoAll(2, 0, 1)(tensor())),
    (ValueError, lambda: ops.AlltoAllV()(tensor(FLAT), [4], [4])),
    (ValueError, lambda: ops.AllGatherV()(tensor(), [4])),
    (ValueError, lambda: ops.Send(0, 0)(tensor())),
    (ValueError, lambda: ops.Receive(0, 0, [2], ms.float32)()),
    (ValueError, lambda: ops.BatchISendIRecv(["isend"], [0, 1])),
    (TypeError, lambda: ops.NeighborExchange(0, [0], [[8]], [[8]], ms.float32)),
    (TypeError, lambda: dist.all_reduce(X)),
    (TypeError, lambda: dist.all_reduce(tensor(), "foo")),
    (TypeError, lambda: dist.all_reduce(tensor(), group=3)),
    (TypeError, lambda: dist.all_reduce(tensor(), async_op=1)),
    (TypeError, lambda: dist.all_gather([tensor(), tensor()], tensor())),
    (TypeError, lambda: dist.all_gather_into_tensor(tensor(FLAT), tensor())),
    (TypeError, lambda: dist.all_gather_into_tensor(tensor(X.astype(np.float16)), tensor())),
    (RuntimeError, lambda: dist.broadcast(tensor(), 5)),
    (KeyError, lambda: dist.get_group_rank("nope", 0)),
    (TypeError, lambda: dist.P2POp("foo", tensor(), 0)),
    (NotImplementedError, lambda: dist.P2POp("isend", tensor(), 0, tag=1)),
    (TypeError, lambda: dist.batch_isend_irecv([])),
    (ValueError, lambda: dist.init_process_group("nccl")),
    (ValueError, lambda: dist.init_process_group(init_method="tcp://127.0.0.1:9")),
    (ValueError, lambda: dist.init_process_group(world_size=2)),
    (TypeError, lambda: dist.init_process_group(world_size="a")),
    (TypeError, lambda: switched.TCPStore(3, 1)),
    (ValueError, lambda: switched.TCPStore("localhost", 70000)),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(joined, number):
    error, call = ERRORS[number]
    with pytest.raises(error) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.AllReduce()(tensor()),
        lambda: ops.AllGatherV()(tensor(FLAT), [8]),
        lambda: dist.all_reduce(tensor()),
        lambda: comm_func.barrier(),
        lambda: communication.create_group("g", [0]),
        lambda: communication.get_comm_name(),
        lambda: communication.release(),
    ],
)
def test_before_init(call):
    with pytest.raises(RuntimeError, match="has not been inited"):
        call()


def test_asked_before_init(monkeypatch):
    assert (communication.get_rank(), communication.get_group_size()) == (0, 1)
    monkeypatch.setenv("RANK_ID", "3")
    monkeypatch.setenv("RANK_SIZE", "8")
    assert (communication.get_rank(), communication.get_group_size()) == (3, 8)
    assert (dist.get_rank(), dist.is_initialized(), dist.is_available()) == (3, False, True)
    with pytest.raises(RuntimeError, match="start the program with msrun"):
        communication.init()


def test_process_group(alone):
    store = switched.TCPStore("127.0.0.1", 8123, timeout=timedelta(seconds=0.01))
    dist.init_process_group(store=store, world_size=1, rank=0)
    assert (dist.is_initialized(), GlobalComm.BACKEND) == (True, "hccl")
    store.set("a", "1")
    assert (store.add("a", 4), store.get("a"), store.delete_key("a")) == (5, b"5", True)
    with pytest.raises(RuntimeError, match="was not set"):
        store.get("a")
    dist.destroy_process_group()
    assert not dist.is_initialized()


@pytest.fixture
def parallel():
    yield ms.set_auto_parallel_context
    ms.reset_auto_parallel_context()


def test_parallel_context(parallel):
    parallel(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True, device_num=1)
    assert ms.context.get_auto_parallel_context("parallel_mode") == "data_parallel"
    assert ms.get_auto_parallel_context("gradients_mean") is True
    parallel(full_batch=True, strategy_ckpt_config={"load_file": "a"})
    assert ms.get_auto_parallel_context("dataset_strategy") == "full_batch"
    assert ms.get_auto_parallel_context("strategy_ckpt_config")["save_file"] == ""
    parallel(pipeline_config={"pipeline_interleave": True, "pipeline_scheduler": "gpipe"})
    assert ms.get_auto_parallel_context("pipeline_scheduler") == "gpipe"
    ms.reset_auto_parallel_context()
    assert ms.get_auto_parallel_context("parallel_mode") == "stand_alone"


PARALLEL_ERRORS = [
    (ValueError, {"foo": 1}),
    (ValueError, {"device_num": 0}),
    (TypeError, {"device_num": 1.5}),
    (ValueError, {"global_rank": -1}),
    (TypeError, {"gradients_mean": 1}),
    (ValueError, {"parallel_mode": "x"}),
    (TypeError, {"parallel_mode": 3}),
    (ValueError, {"search_mode": "x"}),
    (ValueError, {"pipeline_stages": 0}),
    (TypeError, {"pipeline_stages": True}),
    (ValueError, {"dataset_strategy": "x"}),
    (TypeError, {"all_reduce_fusion_config": "a"}),
    (ValueError, {"all_reduce_fusion_config": [2, 1]}),
    (KeyError, {"comm_fusion": {"x": {}}}),
    (ValueError, {"parallel_optimizer_config": {"x": True}}),
    (ValueError, {"grad_accumulation_step": 2}),
    (NotImplementedError, {"parallel_mode": "hybrid_parallel"}),
    (NotImplementedError, {"auto_pipeline": True}),
]


@pytest.mark.parametrize(("error", "settings"), PARALLEL_ERRORS, ids=str)
def test_parallel_context_errors(parallel, error, settings):
    with pytest.raises(error, match=next(iter(settings))):
        parallel(**settings)


def test_a_users_script():
    program = """
import mindjax; mindjax.install()
import mindspore as ms
from mindspore import context
from mindspore.communication.management import init, get_rank, get_group_size
from mindspore.context import ParallelMode
from mindspore.parallel._utils import _get_device_num, _get_gradients_mean, _get_parallel_mode
init()
context.set_auto_parallel_context(
    device_num=get_group_size(), global_rank=get_rank(),
    parallel_mode=ParallelMode.DATA_PARALLEL, gradients_mean=True)
import jax._src.xla_bridge as bridge
assert not bridge.backends_are_initialized()
print(get_rank(), _get_device_num(), _get_gradients_mean(), _get_parallel_mode())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ)
    )
    assert done.stdout.split() == ["0", "1", "True", "data_parallel"], done.stderr
