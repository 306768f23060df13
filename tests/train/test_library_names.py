"""Private names of the original that libraries use: what they give."""

import numpy as np
import pytest

from mindjax import GRAPH_MODE, PYNATIVE_MODE, Tensor, context, nn, ops
from mindjax.checkpoint import build_searched_strategy
from mindjax.train.callback import checkpoint_cb_for_save_op, set_cur_net


def test_a_strategy_written_as_messages_is_read_by_us(tmp_path):
    from mindjax.train.node_strategy_pb2 import ParallelStrategyMap

    whole = ParallelStrategyMap(current_stage=1)
    item = whole.parallel_layout_item.add(param_name="w")
    layout = item.parallel_layouts
    layout.field, layout.opt_weight_shard_step, layout.opt_weight_shard_size = 3, 4, -1
    layout.dev_matrix.add(dim=[2, 4])
    layout.tensor_map.add(dim=[1, -1])
    path = tmp_path / "strategy.ckpt"
    path.write_bytes(whole.SerializeToString())
    read = build_searched_strategy(str(path))["w"]
    assert (read.dev_matrix[0].dim, read.tensor_map[0].dim) == ((2, 4), (1, -1))
    assert (read.field, read.opt_weight_shard_step, read.opt_weight_shard_size) == (3, 4, -1)
    assert ParallelStrategyMap.FromString(path.read_bytes()) == whole


def test_a_message_without_its_required_fields_is_refused():
    from google.protobuf.message import EncodeError

    from mindjax.train.node_strategy_pb2 import ParallelStrategyItem

    with pytest.raises(EncodeError):
        ParallelStrategyItem(node_name="a").SerializeToString()


def test_the_chosen_network_is_filled_once():
    net = nn.Dense(2, 1)
    values = {"weight": np.ones((1, 2), np.float32), "bias": np.full(1, 3, np.float32)}
    parts = [{"name": name, "data": Tensor(value)} for name, value in values.items()]
    set_cur_net(net)
    assert checkpoint_cb_for_save_op(parts)
    assert parts == []
    for name, value in values.items():
        np.testing.assert_array_equal(getattr(net, name).asnumpy(), value)
    assert not checkpoint_cb_for_save_op([{"name": "weight", "data": Tensor([1.0])}])


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GRAPH_MODE, PYNATIVE_MODE])
def test_what_summary_ops_saw_is_given_without_a_record(mode):
    from mindjax.core import observed
    from mindjax.train.summary import record

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.see = ops.TensorSummary()

        def construct(self, x):
            self.see("twice", x * 2)
            return x

    context.set_context(mode=mode)
    take = record._get_summary_tensor_data
    try:
        net = Net()
        for start in (1.0, 5.0):
            net(Tensor([start, 2.0]))
            seen = take()
            assert list(seen) == ["twice[:Tensor]"]
            np.testing.assert_array_equal(seen["twice[:Tensor]"].asnumpy(), [2 * start, 4.0])
            assert take() == {}
    finally:
        observed.stop()
        record._begun.cache_clear()


@pytest.mark.slow
def test_an_optimizer_of_a_library_asks_its_base():
    class Plain(nn.Optimizer):
        @property
        def target(self):
            return "CPU"

        @target.setter
        def target(self, value):
            self._set_base_target(value)

        def construct(self, gradients):
            gradients = self._grad_sparse_indices_deduplicate(gradients)
            rate = self.get_lr()
            if self._is_dynamic_lr_or_weight_decay():
                self.assignadd(self.global_step, self.global_step_increase_tensor)

            def update(parameter, gradient, asked):
                return ops.assign_sub(parameter, rate * gradient) if asked else parameter

            self.hyper_map(update, self.parameters, gradients, self.optim_filter)
            return not self.use_parallel

    for rate, steps, left in ((0.5, 0, 0.0), ([0.5, 0.25], 2, 0.25)):
        net = nn.Dense(1, 1, weight_init="ones", has_bias=False)
        optimizer = Plain(rate, net.trainable_params())
        assert optimizer._is_dynamic_lr_or_weight_decay() == (steps == 2)
        for _ in range(2):
            optimizer((Tensor([[1.0]]),))
        assert int(optimizer.global_step.asnumpy()[0]) == steps
        assert float(net.weight.asnumpy()[0, 0]) == left
        optimizer.target = "CPU"
        for value, error in ((3, TypeError), ("TPU", ValueError)):
            with pytest.raises(error, match="'target'"):
                optimizer.target = value


@pytest.mark.slow
def test_a_step_of_a_library_maps_over_gradients():
    class Halved(nn.TrainOneStepWithLossScaleCell):
        def construct(self, *inputs):
            loss = self.network(*inputs)
            sens = ops.ones_like(loss) * self.scale_sense
            gradients = self.grad(self.network, self.weights)(*inputs, sens)
            gradients = self.hyper_map(lambda g: g * 0.5 / self.scale_sense, gradients)
            size = self.reduce_sum(gradients[0]) * self.base
            if self.logic_not(self.less_equal(self.base, 0)):
                loss = ops.depend(loss, self.optimizer(self.grad_reducer(gradients)))
            return loss, size

    class Twice(nn.LossBase):
        def construct(self, out, label):
            return self.reduce_sum(self.mul(self.cast(out, label.dtype), label)) * 2

    net = nn.Dense(1, 1, weight_init="ones", has_bias=False)
    step = Halved(nn.WithLossCell(net, Twice()), nn.SGD(net.trainable_params(), 0.25), Tensor(4.0))
    loss, size = step(Tensor([[3.0]]), Tensor([[1.0]]))
    # The loss is 2 * w * 3, half its gradient is 3 and the step takes 0.25 * 3 off.
    assert (float(loss.asnumpy()), float(size.asnumpy())) == (6.0, 3.0)
    assert float(net.weight.asnumpy()[0, 0]) == 0.25
