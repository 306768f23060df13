"""Minimisation under inequalities: the augmented Lagrangian, descended by Adam."""

from __future__ import annotations

import logging
import sys
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindjax.autodiff import value_and_grad
from mindjax.core.errors import located
from mindjax.ops.activation import relu, sigmoid
from mindjax.ops.cast import cast
from mindjax.tensor import Tensor

_LOG = logging.getLogger(__name__)

_OPTIONS = frozenset(
    ["save_tol", "obj_weight", "lower", "upper", "learning_rate", "coincide_fun"]
) | {"coincide_func", "rounds", "steps", "log_sw"}


# What a minimisation under inequalities found.
# - succeeded: whether a point satisfies all inequalities.
# - best_value: the best such point.
# - object_value: value there.
# - loss_value: values of the constraints there.
LagrangeResults = namedtuple("LagrangeResults", "succeeded best_value object_value loss_value")


class _Multipliers:
    """Weights of the constraints and of their violation."""

    def __init__(self, count: int) -> None:
        self.weights = np.ones(count)
        self.sigma = 1.0
        self.epsilon = 1.0

    def update(self, losses: np.ndarray[Any, Any]) -> None:
        """Raise the weights where constraints are nearly met, else the penalty."""
        violation = np.linalg.norm(np.maximum(losses, -self.weights / self.sigma))
        if violation <= self.epsilon:
            self.weights = np.maximum(self.weights + self.sigma * losses, 0)
            self.epsilon = min(self.epsilon / self.sigma**0.9, sys.float_info.max)
        else:
            self.sigma *= 1.1
            self.epsilon = self.sigma**-0.1


def minimize_lagrange(
    func: Callable[..., Any],
    x0: Tensor,
    constraints: Sequence[Callable[..., Any]],
    tol: Any,
    options: dict[str, Any],
) -> LagrangeResults:
    """Minimise a function where constraints are negative.

    Args:
        func: function of ``x`` (and of what ``coincide_fun`` gives, if it is there).
        x0: Tensor, the point to start from.
        constraints: functions of the same that shall be negative.
        tol: what each constraint may exceed 0 by; 1 by default.
        options: as `minimize` describes them.

    Returns:
        The best point among all steps.

    Raises:
        TypeError: an option is unknown, or a function is not callable.
        ValueError: there is not one tolerance for each constraint.
    """
    for name, f in (("func", func), *(("constraint", c) for c in constraints)):
        if not callable(f):
            raise located(TypeError, f"For 'minimize', '{name}' must be callable, but got {f!r}.")
    if unknown := options.keys() - _OPTIONS:
        raise located(TypeError, f"For 'minimize', LAGRANGE has no options {sorted(unknown)}.")
    shared = options.get("coincide_fun", options.get("coincide_func"))
    if shared is not None and not callable(shared):
        raise located(
            TypeError, f"For 'minimize', 'coincide_fun' must be callable, but got {shared!r}."
        )
    tol = options.get("save_tol") if tol is None else tol
    if tol is not None and len(tol) != len(constraints):
        raise located(
            ValueError,
            f"For 'minimize', 'tol' must have {len(constraints)} numbers, but got {len(tol)}.",
        )
    allowed = np.ones(len(constraints)) if tol is None else np.asarray(tol, np.float64)
    lower, upper = (
        None if options.get(k) is None else cast(_tensor(options[k]), x0.dtype)
        for k in ("lower", "upper")
    )
    weight = float(options.get("obj_weight", 1.0))
    state = _Multipliers(len(constraints))

    def lagrangian(x: Tensor, scaled: list[Tensor], half: Tensor) -> Any:
        x = _within(x, lower, upper)
        more = () if shared is None else (shared(x),)
        losses = [c(x, *more) for c in constraints]
        objective = func(x, *more)
        total = weight * objective
        for loss, shift in zip(losses, scaled, strict=True):
            total = total + half * (relu(shift + loss) ** 2 - shift**2)
        return total, objective, losses, x

    descend = value_and_grad(lagrangian, has_aux=True)
    x = x0.asnumpy()
    best, best_losses, least, succeeded = x, np.ones(len(constraints)), 0.0, False
    first, second, t = np.zeros_like(x), np.zeros_like(x), 0
    losses = best_losses
    for j in range(int(options.get("rounds", 10))):
        for i in range(int(options.get("steps", 1000))):
            scaled = [Tensor(v, x0.dtype) for v in state.weights / state.sigma]
            half = Tensor(state.sigma / 2, x0.dtype)
            (total, objective, values, point), slope = descend(Tensor(x), scaled, half)
            reached = float(objective.asnumpy().reshape(()))
            losses = np.array([float(v.asnumpy().reshape(())) for v in values])
            if options.get("log_sw"):
                _LOG.info("round %d, step %d: %g, %s, %s", j, i, reached, losses, total)
            if i == j == 0:
                least = reached
            if reached < least and (losses < allowed).all():
                succeeded, least = True, reached
                best, best_losses = point.asnumpy(), losses
            t += 1
            gradient = slope.asnumpy()
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            rate = options.get("learning_rate", 0.1) * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            x = (x - rate * first / (np.sqrt(second) + 1e-8)).astype(x.dtype)
        state.update(losses)
    return LagrangeResults(succeeded, Tensor(best), least, Tensor(best_losses.astype(np.float32)))


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor(np.asarray(value))


def _within(x: Tensor, lower: Tensor | None, upper: Tensor | None) -> Tensor:
    """Map all numbers to those between the bounds."""
    if lower is None and upper is None:
        return x
    if lower is None:
        return upper - x * x
    if upper is None:
        return lower + x * x
    return (upper - lower) * sigmoid(x) + lower
