"""Minimisation: BFGS, limited-memory BFGS, and the augmented Lagrangian.

The vectors live on the host; only the user's functions run on the device.
"""

from __future__ import annotations

import math
from collections import deque, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.scipy.optimize.lagrange import minimize_lagrange
from mindjax.scipy.optimize.search import Vector, evaluator, first_step, search
from mindjax.tensor import Tensor

# What a minimisation found.
# - x: the point.
# - success: whether the gradient is below the tolerance.
# - status: 0 for success, 1 for too many iterations, 2 and more for a failed line search.
# - fun: value there.
# - jac: gradient there.
# - hess_inv: estimate of the inverse Hessian (BFGS).
# - nfev: number of evaluations of the function.
# - njev: number of evaluations of its gradient.
# - nit: number of iterations.
OptimizeResults = namedtuple("OptimizeResults", "x success status fun jac hess_inv nfev njev nit")


class _Dense:
    """The inverse Hessian as a matrix."""

    def __init__(self, x: Vector) -> None:
        self.inverse = np.eye(x.size, dtype=x.dtype)

    def direction(self, gradient: Vector) -> Vector:
        """Give the step that the quadratic model asks for."""
        return -self.inverse @ gradient

    def update(self, s: Vector, y: Vector) -> None:
        """Learn from a step and the change of the gradient over it."""
        with np.errstate(all="ignore"):
            rho = 1 / (y @ s)
            left = np.eye(s.size, dtype=s.dtype) - rho * np.outer(s, y)
            self.inverse = left @ self.inverse @ left.T + rho * np.outer(s, s)

    def result(self) -> Tensor | None:
        """Give the matrix."""
        return Tensor(self.inverse)


class _Recent:
    """The inverse Hessian as the last steps."""

    def __init__(self, size: int) -> None:
        self.steps: deque[tuple[Vector, Vector, Any]] = deque(maxlen=size)
        self.usable = False

    def direction(self, gradient: Vector) -> Vector:
        """Give the step that the quadratic model asks for (two loops)."""
        if not self.usable:
            return -gradient
        q, weights = gradient, []
        for s, y, rho in reversed(self.steps):
            weight = rho * (s @ q)
            weights.append(weight)
            q = q - weight * y
        s, y, rho = self.steps[-1]
        q = q / (rho * (y @ y))
        for (s, y, rho), weight in zip(self.steps, reversed(weights), strict=True):
            q = q + s * (weight - rho * (y @ q))
        return -q

    def update(self, s: Vector, y: Vector) -> None:
        """Learn from a step, unless the gradient hardly changed over it."""
        curvature = y @ s
        self.usable = bool(curvature > 1e-10)
        if self.usable:
            self.steps.append((s, y, 1 / curvature))

    def result(self) -> Tensor | None:
        """Give nothing: there is no matrix."""
        return None


def _descend(
    model: Any,
    x: Vector,
    func: Callable[..., Any],
    jac: Any,
    args: tuple[Any, ...],
    maxiter: int | None = None,
    norm: float = math.inf,
    gtol: float = 1e-5,
    line_search_maxiter: int = 10,
) -> OptimizeResults:
    """Search along the directions of a model of the function until the gradient is small."""
    evaluate = evaluator(func, jac, args)
    maxiter = x.size * 200 if maxiter is None else maxiter
    value, gradient = evaluate(x)
    before = value + float(np.linalg.norm(gradient)) / 2
    converged = bool(np.linalg.norm(gradient, np.inf) < gtol)
    failed, reason, evaluations, k = False, 0, 1, 0
    while k < maxiter:
        direction = model.direction(gradient).astype(x.dtype)
        start = value, gradient
        first = first_step(start, direction, before)
        found = search(evaluate, x, direction, start, first, maxiter=line_search_maxiter)
        evaluations += found.evaluations
        failed, reason = found.status != 0, found.status
        if failed:
            break
        step = (found.step.at * direction).astype(x.dtype)
        change = found.step.gradient - gradient
        before, x = value, x + step
        value, gradient = found.step.value, found.step.gradient
        converged = bool(np.linalg.norm(gradient, norm) < gtol)
        if converged:
            break
        model.update(step, change)
        k += 1
    status = 0 if converged else 1 if k == maxiter else 2 + reason
    return OptimizeResults(
        x=Tensor(x),
        success=converged and not failed,
        status=status,
        fun=value,
        jac=Tensor(gradient),
        hess_inv=model.result(),
        nfev=evaluations,
        njev=evaluations,
        nit=k,
    )


_OPTIONS = {
    "bfgs": {"maxiter", "norm", "gtol", "line_search_maxiter"},
    "lbfgs": {"history_size", "maxiter", "norm", "gtol", "line_search_maxiter"},
}


def minimize(
    func: Callable[..., Any],
    x0: Tensor,
    args: Any = (),
    method: str | None = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: Any = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """Minimise a function of a Tensor (MindSpore: ``scipy.optimize.minimize``).

    Args:
        func: function ``func(x, *args)`` that gives a number.
        x0: Tensor of shape (n,), the point to start from.
        args: tuple of further arguments.
        method: ``"BFGS"``, ``"LBFGS"`` or ``"LAGRANGE"``.
        jac: function ``jac(x, *args)`` that gives the gradient; None to differentiate ``func``.
        hess: must be None.
        hessp: must be None.
        bounds: must be None; ``"LAGRANGE"`` has the options ``lower`` and ``upper``.
        constraints: functions of ``x`` that shall be negative, for ``"LAGRANGE"``.
        tol: greatest gradient, as the option ``gtol``; for ``"LAGRANGE"`` what each constraint may
            exceed 0 by.
        callback: must be None.
        options: dict. BFGS and LBFGS: ``maxiter`` (200 n), ``gtol`` (1e-5), ``norm`` (order of the
            gradient's norm, inf), ``line_search_maxiter`` (10); LBFGS: ``history_size`` (20).
            LAGRANGE: ``obj_weight``, ``lower``, ``upper``, ``learning_rate``, ``coincide_fun``,
            ``rounds``, ``steps``, ``log_sw``, ``save_tol``.

    Returns:
        A named tuple with ``x``, ``success``, ``status``, ``fun``, ``jac``, ``hess_inv``, ``nfev``,
        ``njev`` and ``nit``; for ``"LAGRANGE"`` with ``succeeded``, ``best_value``,
        ``object_value`` and ``loss_value``.

    Raises:
        NotImplementedError: an argument that must be None is given.
        TypeError: ``args`` is no tuple, or an option is unknown.
        ValueError: there is no such ``method``.
    """
    if method is None:
        raise located(ValueError, "For 'minimize', the 'method' must be a solver, but got None.")
    if not isinstance(args, tuple):
        raise located(TypeError, f"For 'minimize', the 'args' must be a tuple, but got {args!r}.")
    unused = {"hess": hess, "hessp": hessp, "bounds": bounds, "callback": callback}
    for name, value in unused.items():
        if value is not None:
            raise located(
                NotImplementedError,
                f"For 'minimize', the '{name}' must be None, but got {value!r}.",
            )
    given = dict(options or {})
    solver = checks.of_type("method", method, str, "minimize").lower()
    if solver == "lagrange":
        if args or jac is not None:
            raise located(
                NotImplementedError, "For 'minimize', 'LAGRANGE' takes neither 'args' nor 'jac'."
            )
        return minimize_lagrange(func, x0, constraints, tol, given)
    if solver not in _OPTIONS:
        raise located(
            ValueError,
            f"For 'minimize', 'method' must be 'BFGS', 'LBFGS' or 'LAGRANGE', but got {method!r}.",
        )
    if constraints:
        raise located(
            NotImplementedError, f"For 'minimize', {method} has no 'constraints': use 'LAGRANGE'."
        )
    unknown = given.keys() - _OPTIONS[solver]
    if unknown:
        raise located(
            TypeError, f"For 'minimize', {method} has no options {sorted(unknown)}, but got them."
        )
    if tol is not None:
        given.setdefault("gtol", tol)
    x = x0.asnumpy()
    model = _Recent(given.pop("history_size", 20)) if solver == "lbfgs" else _Dense(x)
    return _descend(model, x, func, jac, args, **given)
