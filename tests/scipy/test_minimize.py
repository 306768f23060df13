"""Minimisers find known minima; where the path is the original's own, its numbers are named."""

import numpy as np
import pytest
from scipy import optimize as reference

import mindjax as ms
from mindjax import Tensor, ops
from mindjax.scipy.optimize import line_search, minimize


def valley(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def double(*values):
    return Tensor(np.array(values, np.float64))


@pytest.mark.parametrize("method", ["BFGS", "LBFGS", "lbfgs"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_valley(method, dtype):
    found = minimize(valley, Tensor(np.array([-1.2, 1], dtype)), method=method)
    assert found.success and found.status == 0
    assert found.x.dtype == (ms.float32 if dtype is np.float32 else ms.float64)
    np.testing.assert_allclose(found.x.asnumpy(), [1, 1], rtol=1e-3)
    assert found.fun < 1e-6 and found.nfev >= found.nit


def test_two_unknowns_by_iteration():
    def himmelblau(p):
        x, y = p
        return (x**2 + y - 11.0) ** 2 + (x + y**2 - 7.0) ** 2

    for method in ("BFGS", "LBFGS"):
        options = {"maxiter": None, "gtol": 1e-6}
        found = minimize(himmelblau, double(0, 0), method=method, options=options)
        np.testing.assert_allclose(found.x.asnumpy(), [3, 2], rtol=1e-6)


def test_many_unknowns():
    rng = np.random.Generator(np.random.PCG64(0))
    a = rng.random((20, 20))
    matrix, right = Tensor(a @ a.T + np.eye(20)), Tensor(rng.random(20))

    def quadratic(x, matrix, right):
        return 0.5 * (x * ops.matmul(matrix, x)).sum() - (right * x).sum()

    want = np.linalg.solve(matrix.asnumpy(), right.asnumpy())
    for method in ("BFGS", "LBFGS"):
        found = minimize(quadratic, Tensor(np.zeros(20)), (matrix, right), method)
        np.testing.assert_allclose(found.x.asnumpy(), want, atol=1e-4)
    hessian = minimize(quadratic, Tensor(np.zeros(20)), (matrix, right), "BFGS").hess_inv
    assert hessian.shape == (20, 20)


def test_gradient_of_the_user():
    calls = []

    def slope(x):
        calls.append(1)
        return 2 * (x - 3)

    found = minimize(lambda x: ((x - 3) ** 2).sum(), double(0, 1), method="BFGS", jac=slope)
    np.testing.assert_allclose(found.x.asnumpy(), [3, 3], rtol=1e-6)
    assert len(calls) == found.njev


def test_options_and_tolerance():
    short = minimize(valley, double(-1.2, 1), method="BFGS", options={"maxiter": 2})
    assert (short.success, short.status, short.nit) == (False, 1, 2)
    loose = minimize(valley, double(-1.2, 1), method="LBFGS", tol=1.0)
    tight = minimize(valley, double(-1.2, 1), method="LBFGS", options={"history_size": 3})
    assert loose.nit < tight.nit and tight.success
    short_memory = minimize(valley, double(-1.2, 1), method="LBFGS", options={"norm": 2})
    assert short_memory.success


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (ValueError, {}),
        (ValueError, {"method": "Newton"}),
        (TypeError, {"method": "BFGS", "args": 3}),
        (TypeError, {"method": "BFGS", "options": {"history_size": 3}}),
        (NotImplementedError, {"method": "BFGS", "bounds": [(0, 1)]}),
        (NotImplementedError, {"method": "BFGS", "callback": print}),
        (NotImplementedError, {"method": "BFGS", "constraints": (valley,)}),
        (ValueError, {"method": "LAGRANGE", "constraints": (valley,), "tol": [1, 2]}),
        (TypeError, {"method": "LAGRANGE", "constraints": (1,)}),
    ],
)
def test_arguments(error, arguments):
    with pytest.raises(error):
        minimize(valley, double(0, 0), **arguments)


def test_inequality():
    found = minimize(
        lambda x: ((x - 2) ** 2).sum(),
        double(0.5, 0.5),
        method="LAGRANGE",
        constraints=[lambda x: x[0] + x[1] - 2],
        tol=[1e-3],
        options={"rounds": 6, "steps": 60, "learning_rate": 0.05},
    )
    assert found.succeeded and found.loss_value.asnumpy()[0] < 1e-3
    np.testing.assert_allclose(found.best_value.asnumpy(), [1, 1], atol=2e-2)
    assert abs(found.object_value - 2) < 0.1


def test_bounds():
    found = minimize(
        lambda x: (x - 5).sum() ** 2,
        double(0),
        method="LAGRANGE",
        constraints=[lambda x: x[0] - 10],
        options={"rounds": 2, "steps": 60, "lower": double(0), "upper": double(2)},
    )
    assert 0 <= found.best_value.asnumpy()[0] <= 2
    assert found.object_value < 25


def test_line_search_takes_the_full_step():
    # The original's own numbers, of its docstring's example.
    found = line_search(lambda x: x[0] ** 2 - x[1] ** 3, Tensor([1.0, 1]), Tensor([-1.0, -1]))
    assert (found.failed, found.nit, found.k, found.nfev, found.a_k) == (True, 1, 2, 12, 1.0)
    assert (found.f_k, found.status) == (0.0, 1)


def test_line_search_conditions():
    x, direction = double(-1.2, 1), double(215.6, 88)
    found = line_search(valley, x, direction)
    step = reference.line_search(
        lambda p: reference.rosen(p), reference.rosen_der, x.asnumpy(), direction.asnumpy()
    )
    slope = reference.rosen_der(x.asnumpy()) @ direction.asnumpy()
    there = x.asnumpy() + found.a_k * direction.asnumpy()
    assert not found.failed and found.status == 0 and step[0] is not None
    assert reference.rosen(there) <= reference.rosen(x.asnumpy()) + 1e-4 * found.a_k * slope
    assert abs(reference.rosen_der(there) @ direction.asnumpy()) <= 0.9 * abs(slope)
    known = line_search(
        valley, x, direction, gfk=Tensor(reference.rosen_der(x.asnumpy())), old_fval=double(24.2)
    )
    assert known.nfev == found.nfev - 1
    np.testing.assert_allclose(known.a_k, found.a_k, rtol=1e-6)
