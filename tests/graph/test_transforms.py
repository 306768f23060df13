"""Forward mode, second order and `vmap` through control flow on traced values, by float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor


def doubled(x: Any) -> Any:
    """As many turns as it takes."""
    y = x
    while (y * y).sum() < 40:
        y = y * y + 1.25 * x
    return (y * x).sum()


def newton(x: Any) -> Any:
    """A condition that reads what the turns compute."""
    root, k = x * 0 + 1, 0
    while abs(root * root - x).max() > 1e-4 and k < 30:
        root = 0.5 * (root + x / root)
        k += 1
    return (root * root * root).sum()


def stopped(x: Any) -> Any:
    """A loop that is left early."""
    total = x.sum() * 0
    for k in range(12):
        total = total + (x * x * x).sum() * (k + 1)
        if total > 20:
            break
    else:
        total = total * 2
    return total


def skipped(x: Any) -> Any:
    """Turns that are cut short."""
    y, k = x, 0
    while k < 6:
        k += 1
        if (y * k).sum() > 5:
            y = y * 0.5
            continue
        y = y * y + 0.5 * x
    return (y * y).sum()


def early(x: Any) -> Any:
    """A return from inside a loop inside a branch."""
    if x.sum() > 1:
        y = x
        while (y * y).sum() < 100:
            y = y * 1.5
            if y[0] > 4:
                return (y * y * x).sum()
        return (y * y * y).sum()
    return (x * x * x * x).sum()


def nested(x: Any) -> Any:
    """A loop of unknown length in another."""
    y, outer = x, 0
    while outer < 3 and (y * y).sum() < 1000:
        z = y
        while (z * z).sum() < 4 * (outer + 1):
            z = z * 1.25 + 0.1 * x
        y = y + z * x
        outer += 1
    return (y * y).sum()


def chosen(x: Any) -> Any:
    """Conditions without statements."""
    scale = x[0] if x[0] > x[1] or x[1] > 3 else x[1] * x[1]
    top = max(x[0] * x[1], x[0] + x[1])
    return scale * top * (2 if 0 < x[0] < 1 else 3)


def collected(x: Any) -> Any:
    """A list that is filled under conditions of Python's, and read under traced ones."""
    parts = [x * x]
    for k in range(3):
        parts.append(parts[-1] * x if k % 2 else parts[-1] + x)
    best = parts[0]
    for part in parts[1:]:
        if part.sum() > best.sum():
            best = part
    return (best * best).sum()


FUNCTIONS = (doubled, newton, stopped, skipped, early, nested, chosen, collected)
POINTS = np.array([[0.75, 1.5], [2.5, 0.4], [0.3, 0.2], [1.25, 1.75]])
ALONG = np.array([0.5, -1.25])
V = Tensor(ALONG, ms.float32)

# The transformation here, and the same in jax, on values that Python sees.
Transform = tuple[Callable[..., Any], Callable[..., Any]]
TRANSFORMS: dict[str, Transform] = {
    "jvp": (
        lambda f: lambda x: ms.jvp(f, x, V)[1],
        lambda f: lambda x: jax.jvp(f, (x,), (ALONG,))[1],
    ),
    "jacfwd": (lambda f: ms.jacfwd(f), lambda f: jax.jacrev(f)),
    "grad": (lambda f: ms.grad(f), jax.grad),
    "grad of grad": (
        lambda f: ms.grad(lambda x: (ms.grad(f)(x) * V).sum()),
        lambda f: jax.grad(lambda x: (jax.grad(f)(x) * ALONG).sum()),
    ),
    "jvp of grad": (
        lambda f: lambda x: ms.jvp(ms.grad(f), x, V)[1],
        lambda f: jax.grad(lambda x: (jax.grad(f)(x) * ALONG).sum()),
    ),
    "grad of jvp": (
        lambda f: ms.grad(lambda x: ms.jvp(f, x, V)[1]),
        lambda f: jax.grad(lambda x: (jax.grad(f)(x) * ALONG).sum()),
    ),
    "jacrev of jacrev": (lambda f: ms.jacrev(ms.jacrev(f)), lambda f: jax.jacrev(jax.jacrev(f))),
}


def truth(transform: Callable[..., Any], function: Callable[..., Any]) -> np.ndarray:
    """Give the values at all points in float64, each by Python's own control flow."""
    with jax.enable_x64(True), jax.disable_jit():
        return np.stack([np.asarray(transform(function)(jnp.asarray(p))) for p in POINTS])


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, 2e-4, 2e-4 * np.abs(wanted).max())


QUICK = [
    *((early, name) for name in ("jvp", "jacfwd", "grad of grad", "jvp of grad")),
    *((function, "jvp") for function in (nested, chosen, collected)),
]


@pytest.mark.parametrize(
    ("function", "name"),
    [
        pytest.param(
            f, n, marks=[] if (f, n) in QUICK else pytest.mark.slow, id=f"{f.__name__}-{n}"
        )
        for f in FUNCTIONS
        for n in TRANSFORMS
    ],
)
def test_derivatives(function: Callable[..., Any], name: str) -> None:
    ours, jaxs = TRANSFORMS[name]
    run = ms.jit(ours(function))
    found = [run(Tensor(p, ms.float32)).asnumpy() for p in POINTS]
    assert not run._programs.eager
    close(np.stack(found), truth(jaxs, function))


@pytest.mark.parametrize(
    "function",
    [pytest.param(f, marks=[] if f in (early, chosen) else pytest.mark.slow) for f in FUNCTIONS],
    ids=lambda f: f.__name__,
)
def test_vmap(function: Callable[..., Any]) -> None:
    rows = Tensor(POINTS, ms.float32)
    mapped = ms.jit(ms.vmap(function))
    close(mapped(rows).asnumpy(), truth(lambda f: f, function))
    each = ms.jit(ms.vmap(ms.grad(function)))
    close(each(rows).asnumpy(), truth(jax.grad, function))
    assert not mapped._programs.eager and not each._programs.eager


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jvp", "jacfwd", "grad of grad", "jvp of grad"])
def test_derivatives_in_pynative(name: str) -> None:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ours, jaxs = TRANSFORMS[name]
    for function in (doubled, early):
        found = [ours(ms.jit(function))(Tensor(p, ms.float32)).asnumpy() for p in POINTS]
        close(np.stack(found), truth(jaxs, function))
