"""Gradients of tables that are looked up in: those of the rows, as in the original's graphs."""

import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, nn, ops

TABLE = np.arange(12, dtype=np.float32).reshape(6, 2)
FIRST, LATER = np.array([[1, 3], [1, 2]], np.int32), np.array([[4, 3], [4, 4]], np.int32)


@pytest.fixture(autouse=True)
def graph():
    ms.set_context(mode=ms.GRAPH_MODE)


class Squares(nn.Cell):
    """The sum of the squares of rows; ``more`` of the whole table too."""

    def __init__(self, more=False):
        super().__init__()
        self.look_up = nn.EmbeddingLookup(6, 2, Tensor(TABLE))
        self.more = more

    def construct(self, indices):
        rows = self.look_up(indices)
        total = (rows * rows).sum()
        return total + self.look_up.embedding_table.sum() if self.more else total


class OwnStep(nn.Cell):
    """A step that differentiates by `GradOperation`, of an operator on a Parameter."""

    def __init__(self, optimizer):
        super().__init__(auto_prefix=False)
        self.table = Parameter(Tensor(TABLE), name="table")
        self.operator = ops.EmbeddingLookup()
        self.optimizer = optimizer([self.table])
        self.weights = self.optimizer.parameters
        self.gradient = ops.GradOperation(get_by_list=True)

    def loss(self, indices):
        rows = self.operator(self.table, indices, 0)
        return (rows * rows).sum()

    def construct(self, indices):
        gradients = self.gradient(self.loss, self.weights)(indices)
        return ops.depend(self.loss(indices), self.optimizer(gradients))


# What the original's GRAPH_MODE leaves after a step on FIRST and two on LATER.
LAZY = [[0, 1], [1.9, 2.9], [3.9, 4.9], [5.700176, 6.700149], [7.839763, 8.839761], [10, 11]]
FTRL = [
    [0, 1], [1.8210826, 2.8210051], [3.7420871, 4.7420149], [5.6164503, 6.6159945],
    [7.7772737, 8.7771950], [10, 11],
]  # fmt: skip
ADAM = [
    [0, 1], [1.7811990, 2.7811992], [3.7811992, 4.7811990], [5.7001758, 6.7001491],
    [7.8397627, 8.8397608], [10, 11],
]  # fmt: skip


def trained(step, table):
    for indices in (FIRST, LATER, LATER):
        step(Tensor(indices))
    return table.asnumpy()


@pytest.mark.parametrize(
    ("optimizer", "expected"),
    [
        (lambda p: nn.LazyAdam(p, 0.1), LAZY),
        (lambda p: nn.FTRL(p, learning_rate=0.1), FTRL),
        (lambda p: nn.Adam(p, 0.1), ADAM),
    ],
    ids=["LazyAdam", "FTRL", "Adam"],
)
def test_optimizers_leave_other_rows_alone(optimizer, expected):
    net = Squares()
    step = nn.TrainOneStepCell(net, optimizer(net.trainable_params()))
    np.testing.assert_allclose(trained(step, net.look_up.embedding_table), expected, rtol=2e-6)


def test_a_step_by_hand():
    step = OwnStep(lambda p: nn.LazyAdam(p, 0.1))
    np.testing.assert_allclose(trained(step, step.table), LAZY, rtol=2e-6)


def test_what_leaves_a_graph():
    net = Squares()
    ((indices, values, shape),) = ms.grad(net, None, net.trainable_params())(Tensor(FIRST))
    assert shape == (6, 2) and indices.dtype == ms.int32
    np.testing.assert_array_equal(indices.asnumpy(), FIRST.ravel())
    np.testing.assert_array_equal(values.asnumpy(), 2 * TABLE[FIRST.ravel()])


@pytest.mark.parametrize("more", [False, True])
def test_other_optimizers_and_other_uses_take_dense_gradients(more):
    net = Squares(more)
    step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.0))
    step(Tensor(np.array([[1, 3], [1, 9]], np.int32)))
    gradient = np.full((6, 2), float(more))
    for row in (1, 3, 1):
        gradient[row] += 2 * TABLE[row]
    np.testing.assert_allclose(
        net.look_up.embedding_table.asnumpy(), TABLE - 0.1 * gradient, rtol=1e-6
    )
