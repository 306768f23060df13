"""What the tape must not lose: outputs and weights given twice, views written since."""

import subprocess
import sys

import jax
import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, nn, ops


def t(*values):
    return Tensor(np.array(values, np.float32))


# MindSpore 2.10.0 (PYNATIVE) gives the same numbers.
def test_one_output_twice_gets_both_cotangents(mode):
    def twice(x):
        y = x * 2
        return y, y

    gradient = ops.GradOperation(sens_param=True)(twice)
    assert gradient(t(1), (t(1), t(10))).asnumpy().tolist() == [22]


def test_one_weight_twice_gets_its_gradient_twice(mode):
    weight = Parameter(t(3), name="weight")
    grads = ms.grad(lambda x: weight * x, None, [weight, weight])(t(2))
    assert [g.asnumpy().tolist() for g in grads] == [[2], [2]]


def test_a_view_that_is_returned_has_the_gradient_of_what_was_written():
    def write(x):
        y = x * 2
        view = y[0]
        y[0] = x[1] * 5
        return view

    out, gradient = ms.value_and_grad(write)(t(1, 2))
    assert out.asnumpy() == 10 and gradient.asnumpy().tolist() == [0, 5]


def test_optimizers_and_flags_as_pytrees():
    net = nn.Dense(2, 2)
    optimizer = ms.mint.optim.AdamW(net.trainable_params())
    assert len(jax.tree.leaves(optimizer)) == len(list(optimizer.get_parameters()))
    net.flag = 1
    before = jax.tree.structure(net)
    net.flag = True
    assert jax.tree.structure(net) != before


FIRST_DRAW = """
import jax, jax.numpy as jnp
from mindjax import nn
net = nn.Dropout(p=0.5).set_train()
try:
    jax.jit(lambda x: net(x))(jnp.ones(4))
except RuntimeError as error:
    print("interop.functional" in str(error))
"""


def test_the_first_draw_inside_a_users_jit_is_no_constant():
    done = subprocess.run([sys.executable, "-c", FIRST_DRAW], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr[-500:]


WEIGHTS = np.array([1, 2, 3], np.float32)


# MindSpore 2.10.0 gives the same numbers.
@pytest.mark.parametrize(
    ("function", "gradient"),
    [
        (lambda x: ops.gather(Tensor(WEIGHTS), ops.argmax(x, 1), 0), [[0, 0, 0]]),
        (lambda x: ops.gather(x, ops.argmax(x, 0), 0) ** 2, [[1.5, 9, 16.5]]),
        (lambda x: ops.gather_elements(x, 1, ops.topk(x, 2)[1]), [[0, 1, 1]]),
        (lambda x: ops.one_hot(ops.argmax(x, 1), 3, Tensor(1.0), Tensor(0.0)), [[0, 0, 0]]),
        (lambda x: x[0, ops.argmax(x, 1)], [[0, 0, 1]]),
    ],
)
def test_positions_found_from_what_is_differentiated(mode, function, gradient):
    x = t([0.25, 1.5, 2.75])
    assert ms.grad(lambda x: function(x).sum())(x).asnumpy().tolist() == gradient


def test_indices_that_are_differentiated_get_zeros(mode):
    by_index = ms.grad(lambda i: ops.gather(Tensor(WEIGHTS), i, 0).sum())
    assert by_index(Tensor([0, 1])).asnumpy().tolist() == [0, 0]
