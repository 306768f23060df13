"""Line search for the strong Wolfe conditions.

The search itself runs on the host in Python numbers; only the user's function runs on the device.
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mindjax.autodiff import value_and_grad
from mindjax.tensor import Tensor

Vector = np.ndarray[Any, Any]
Evaluate = Callable[[Vector], tuple[float, Vector]]

# Steps of the bracket's narrowing, as the original has it.
_ZOOMS = 10


# What a line search found.
# - failed: whether no step satisfies the conditions.
# - nit: number of steps that were tried before a bracket was found.
# - nfev: number of evaluations of the function.
# - ngev: number of evaluations of its gradient.
# - k: the same and 1.
# - a_k: length of the step, in units of the direction.
# - f_k: value there.
# - g_k: gradient there.
# - status: 0 for success, 1 for a failed narrowing, 3 for too many iterations.
LineSearchResults = namedtuple("LineSearchResults", "failed nit nfev ngev k a_k f_k g_k status")


def evaluator(f: Callable[..., Any], jac: Any, args: tuple[Any, ...] = ()) -> Evaluate:
    """Make a function of numpy vectors that gives value and gradient.

    Args:
        f: function of a Tensor that gives a number.
        jac: function that gives its gradient; None to differentiate ``f``.
        args: further arguments of both.

    Returns:
        A function that gives a Python float and a vector.
    """

    def separately(*point: Any) -> tuple[Any, Any]:
        return f(*point), jac(*point)

    both: Callable[..., Any] = value_and_grad(f) if jac is None else separately

    def evaluate(x: Vector) -> tuple[float, Vector]:
        value, slope = both(Tensor(x), *args)
        return float(_array(value).reshape(())), _array(slope).astype(x.dtype)

    return evaluate


def _array(value: Any) -> Vector:
    return value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)


class Step(NamedTuple):
    """A point on the line: its place, value, slope along the line, and gradient."""

    at: float
    value: float
    slope: float
    gradient: Vector


class Search(NamedTuple):
    """Outcome of `search`."""

    step: Step
    status: int
    tried: int
    evaluations: int


def _divided(a: float, b: float) -> float:
    """Divide as IEEE numbers do."""
    return a / b if b else math.nan


def _cubic(low: Step, high: Step, third: tuple[float, float]) -> float:
    """Place the minimum of the cubic through three points, with the slope at the first."""
    db, dc = high.at - low.at, third[0] - low.at
    scale = (db * dc) ** 2 * (db - dc)
    rb = high.value - low.value - low.slope * db
    rc = third[1] - low.value - low.slope * dc
    a = _divided(dc**2 * rb - db**2 * rc, scale)
    b = _divided(-(dc**3) * rb + db**3 * rc, scale)
    radical = b * b - 3 * a * low.slope
    root = math.sqrt(radical) if radical >= 0 else math.nan
    return low.at + _divided(root - b, 3 * a)


def _parabola(low: Step, high: Step) -> float:
    """Place the minimum of the parabola through two points, with the slope at the first."""
    d = high.at - low.at
    curve = _divided(high.value - low.value - low.slope * d, d * d)
    return low.at - _divided(low.slope, 2 * curve)


def _between(a: float, low: float, high: float, margin: float) -> bool:
    # The margin has the sign of the bracket, as in the original.
    return math.isfinite(a) and low + margin < a < high - margin


def _narrow(
    along: Callable[[float], Step], low: Step, high: Step, start: Step, c1: float, c2: float
) -> tuple[Step, bool, int]:
    """Narrow a bracket until a point satisfies the conditions (Nocedal and Wright, 3.6)."""
    third = ((low.at + high.at) / 2, (low.value + high.value) / 2)
    first = low.value
    for j in range(_ZOOMS):
        width = high.at - low.at
        ends = min(low.at, high.at), max(low.at, high.at)
        at = (low.at + high.at) / 2
        cubic, parabola = _cubic(low, high, third), _parabola(low, high)
        if j > 0 and _between(cubic, *ends, 0.2 * width):
            at = cubic
        elif _between(parabola, *ends, 0.1 * width):
            at = parabola
        step = along(at)
        if step.value > start.value + c1 * at * start.slope or step.value >= low.value:
            third, high = (high.at, high.value), step
            continue
        if abs(step.slope) <= -c2 * start.slope:
            return step, True, j + 1
        if step.slope * (high.at - low.at) >= 0:
            third, high = (high.at, high.value), low
        else:
            third = (low.at, low.value)
        low = step
    # What the original answers then: the full step, with values of the bracket and the start.
    return start._replace(at=1.0, value=first), False, _ZOOMS


def search(
    evaluate: Evaluate,
    x: Vector,
    direction: Vector,
    start: tuple[float, Vector],
    first: float = 1.0,
    c1: float = 1e-4,
    c2: float = 0.9,
    maxiter: int = 20,
) -> Search:
    """Find a step that satisfies the strong Wolfe conditions (Nocedal and Wright, 3.5).

    Args:
        evaluate: gives value and gradient.
        x: point to start from.
        direction: direction of descent.
        start: value and gradient at ``x``.
        first: first step to try.
        c1: share of the descent that the slope promises.
        c2: share of the slope that may be left.
        maxiter: number of steps to try before a bracket is found.

    Returns:
        The step and how it was found.
    """

    def along(at: float) -> Step:
        value, gradient = evaluate((x + x.dtype.type(at) * direction).astype(x.dtype))
        return Step(at, value, float(gradient @ direction), gradient)

    origin = Step(0.0, start[0], float(start[1] @ direction), start[1])
    previous, count = origin, 0
    for i in range(1, maxiter + 1):
        step = along(first if i == 1 else previous.at * 2)
        count += 1
        bracket = None
        if step.value > origin.value + c1 * step.at * origin.slope or (
            step.value >= previous.value and i > 1
        ):
            bracket = previous, step
        elif abs(step.slope) <= -c2 * origin.slope:
            return Search(_not_too_small(step, x), 0, i + 1, count)
        elif step.slope >= 0:
            bracket = step, previous
        if bracket is not None:
            found, good, more = _narrow(along, *bracket, origin, c1, c2)
            return Search(_not_too_small(found, x), 0 if good else 1, i + 1, count + more)
        previous = step
    return Search(origin, 3, maxiter + 1, count)


def _not_too_small(step: Step, x: Vector) -> Step:
    """Keep a step at a length that single precision sees."""
    if x.dtype != np.float64 and 0 < abs(step.at) < 1e-8:
        return step._replace(at=math.copysign(1e-8, step.at))
    return step


def line_search(
    f: Callable[..., Any],
    xk: Tensor,
    pk: Tensor,
    jac: Any = None,
    gfk: Any = None,
    old_fval: Any = None,
    old_old_fval: Any = None,
    c1: float = 1e-4,
    c2: float = 0.9,
    maxiter: int = 20,
) -> LineSearchResults:
    """Search along a line for the strong Wolfe conditions (``scipy.optimize.line_search``).

    Args:
        f: function of a Tensor of shape (n,) that gives a number.
        xk: Tensor of shape (n,), the point to start from.
        pk: Tensor of shape (n,), a direction of descent.
        jac: function that gives the gradient; None to differentiate ``f``.
        gfk: gradient at ``xk``, if it is known with ``old_fval``.
        old_fval: value at ``xk``.
        old_old_fval: value at the point before, from which the first step is guessed.
        c1: share of the descent that the slope promises.
        c2: share of the slope that may be left.
        maxiter: number of steps to try.

    Returns:
        The result, a named tuple.
    """
    x, direction = _array(xk), _array(pk)
    evaluate = evaluator(f, jac)
    counted = 0
    if old_fval is None or gfk is None:
        start = evaluate(x)
        counted = 1
    else:
        start = float(_array(old_fval).reshape(())), _array(gfk)
    first = 1.0
    if old_old_fval is not None:
        first = first_step(start, direction, float(_array(old_old_fval).reshape(())))
    found = search(evaluate, x, direction, start, first, c1, c2, maxiter)
    step, number = found.step, found.evaluations + counted
    return LineSearchResults(
        failed=found.status != 0,
        nit=found.tried - 1,
        nfev=number,
        ngev=number,
        k=found.tried,
        a_k=step.at,
        f_k=step.value,
        g_k=Tensor(step.gradient),
        status=found.status,
    )


def first_step(start: tuple[float, Vector], direction: Vector, before: float) -> float:
    """Guess the first step from the last decrease, 1 at most.

    Args:
        start: value and gradient at the point.
        direction: direction of descent.
        before: value at the point before.

    Returns:
        The step.
    """
    guess = _divided(1.01 * 2 * (start[0] - before), float(start[1] @ direction))
    return min(guess, 1.0) if math.isfinite(guess) else 1.0
