"""Gradients with a cotangent given at the call; the values are those of x * y by hand."""

import pytest

import mindjax as ms
from mindjax import Tensor


def product(x, y):
    return x * y


def product_and_sum(x, y):
    return x * y, x + y


def plain(value):
    return [plain(v) for v in value] if isinstance(value, tuple) else value.asnumpy().tolist()


X, Y, S = [1.0, 2.0], [-2.0, 3.0], [1.0, 2.0]
ROWS = [
    (ms.value_and_grad, product, {"grad_position": 1}, [[-2.0, 6.0], [1.0, 4.0]]),
    (ms.grad, product, {"grad_position": (0, 1)}, [[-2.0, 6.0], [1.0, 4.0]]),
    (ms.grad, product_and_sum, {"has_aux": True}, [[-2.0, 6.0], [[-1.0, 5.0]]]),
]


@pytest.mark.parametrize(("transform", "function", "options", "want"), ROWS)
@pytest.mark.usefixtures("mode")
def test_the_last_argument_is_the_cotangent(transform, function, options, want):
    gradient = transform(function, sens_param=True, **options)
    assert plain(gradient(Tensor(X), Tensor(Y), Tensor(S))) == want
    assert plain(gradient(Tensor(X), Tensor(Y), sens=Tensor(S))) == want


def test_a_missing_cotangent():
    with pytest.raises(TypeError, match="sens_param"):
        ms.grad(product, sens_param=True)()
