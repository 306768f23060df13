"""Programs whose batched solvers and Fourier transforms run one after the other on the CPU.

XLA:CPU runs independent operations of a program at once, in one pool of threads. A LAPACK call of
jaxlib before 0.11.2 on a batch, and a Fourier transform, share their work out to that same pool and
wait for it: as many of them at once as the pool has threads wait for ever. In a program with
several, each here waits for the one before by an input that depends on its result. Devices of one
process share the pool too: a program for several takes the matrices of a batch one by one, which
jaxlib does in the calling thread.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import eval_jaxpr
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from mindjax.core import jax_private
from mindjax.core.device import target
from mindjax.core.jaxprs import within

_LAPACK_NAMES = """
    cholesky eig eigh geqp3 geqrf hessenberg householder_product lu ormqr qr schur svd
    triangular_solve tridiagonal tridiagonal_solve"""
_LAPACK = frozenset(_LAPACK_NAMES.split())
_WITHOUT_POOL = (0, 11, 2)
# Equations with functions that may be put in order by themselves; and those that are another
# function in the same place.
_BODIES = ("scan", "while", "cond", "checkpoint", "remat2")
_CALLS = (
    "jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call",
    "custom_linear_solve",
)  # fmt: skip


def evaluation(jaxpr: Any, several: bool = False) -> Callable[..., list[Any]]:
    """Choose how a traced function is evaluated when it is compiled.

    Args:
        jaxpr: the function.
        several: whether it runs on several devices at once.

    Returns:
        A function of jaxpr, constants and arguments, like jax's own ``eval_jaxpr``; that itself
        where no two operations can wait for each other.
    """
    if target() != "CPU" or _count(jaxpr) < (1 if several else 2):
        return eval_jaxpr
    return one_by_one if several else in_turn


def ordered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function of arrays, to be compiled, whose operations do not wait for each other.

    Args:
        function: of arrays, which gives a list of arrays.
    """

    @functools.wraps(function)
    def run(*arrays: Any) -> Any:
        closed = jax.make_jaxpr(function)(*arrays)
        return evaluation(closed.jaxpr)(closed.jaxpr, closed.consts, *arrays)

    return run


def in_turn(jaxpr: Any, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Evaluate a function; what waits for the pool of threads runs in the order of the program.

    Args:
        jaxpr: the function.
        consts: arrays for its constants.
        args: arrays for its inputs.

    Returns:
        Its outputs.
    """
    return _evaluate(jaxpr, consts, args, [], False)


def one_by_one(jaxpr: Any, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Evaluate a function as `in_turn` does, and batches matrix by matrix.

    Args:
        jaxpr: the function.
        consts: arrays for its constants.
        args: arrays for its inputs.

    Returns:
        Its outputs.
    """
    return _evaluate(jaxpr, consts, args, [], True)


def _evaluate(
    jaxpr: Any, consts: Sequence[Any], args: Iterable[Any], last: list[Any], single: bool
) -> list[Any]:
    """Evaluate; ``last`` holds a result of what must have run before, or nothing."""
    values: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    values.update(zip(jaxpr.invars, args, strict=True))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else values[atom]

    for equation in jaxpr.eqns:
        waits = _waits(equation)
        if waits and equation.primitive.name in _CALLS:
            inner, inputs = _called(equation, [read(a) for a in equation.invars])
            outputs = _evaluate(inner.jaxpr, inner.consts, inputs, last, single)
        else:
            if waits and equation.primitive.name in _BODIES:
                parameters = {k: _within(v, single) for k, v in equation.params.items()}
                equation = equation.replace(params=parameters)
            names = list(dict.fromkeys(a for a in equation.invars if not isinstance(a, Literal)))
            inputs = [values[name] for name in names]
            if waits and last:
                inputs = _after(inputs, last[0])
            alone = jaxpr.replace(
                constvars=[], invars=names, outvars=list(equation.outvars), eqns=[equation]
            )
            run = functools.partial(eval_jaxpr, alone, [])
            apart = single and waits and equation.primitive.name in _LAPACK
            outputs = _matrix_by_matrix(run, inputs) if apart else run(*inputs)
            if waits:
                last[:] = [v for v in outputs if _tells(v)][:1] or last
        values.update(zip(equation.outvars, outputs, strict=True))
    return [read(v) for v in jaxpr.outvars]


def _called(equation: Any, inputs: list[Any]) -> tuple[ClosedJaxpr, list[Any]]:
    """Give the function that an equation stands for, and its inputs."""
    parameters = equation.params
    if equation.primitive.name == "custom_linear_solve":
        lengths, functions = parameters["const_lengths"], parameters["jaxprs"]
        first = lengths.matvec + lengths.vecmat
        return functions.solve, inputs[first : first + lengths.solve] + inputs[sum(lengths) :]
    inner = parameters["jaxpr" if "jaxpr" in parameters else "call_jaxpr"]
    return inner if isinstance(inner, ClosedJaxpr) else ClosedJaxpr(inner, []), inputs


def _count(jaxpr: Any, known: dict[int, int] | None = None) -> int:
    """Count the equations that wait for the pool, those of inner functions too.

    Args:
        jaxpr: closed or not.
        known: counts of functions by their ids: many equations share one.
    """
    known = {} if known is None else known
    found = known.get(id(jaxpr))
    if found is None:
        found = sum(_own(e) + sum(_count(j, known) for j in within(e)) for e in jaxpr.eqns)
        known[id(jaxpr)] = found
    return found


def _own(equation: Any) -> bool:
    """Tell whether an equation by itself waits for the pool."""
    name = equation.primitive.name
    if name == "fft":
        return True
    if name not in _LAPACK or jax_private.jaxlib_version >= _WITHOUT_POOL:
        return False
    return math.prod(equation.invars[0].aval.shape[:-2]) > 1


def _waits(equation: Any) -> bool:
    return _own(equation) or any(map(_count, within(equation)))


def _within(value: Any, single: bool) -> Any:
    """Order a parameter that is a function, or holds functions."""
    if isinstance(value, tuple | list):
        return type(value)(_within(v, single) for v in value)
    closed = ClosedJaxpr(value, []) if isinstance(value, Jaxpr) else value
    if not isinstance(closed, ClosedJaxpr) or _count(closed.jaxpr) < (1 if single else 2):
        return value
    run = one_by_one if single else in_turn
    avals = [v.aval for v in closed.jaxpr.invars]
    made = jax.make_jaxpr(lambda *args: run(closed.jaxpr, closed.consts, *args))(*avals)
    if isinstance(value, ClosedJaxpr):
        return made
    return value if made.consts else made.jaxpr


def _matrix_by_matrix(run: Callable[..., list[Any]], inputs: list[Any]) -> list[Any]:
    """Run an operation on batches for each of their members, one after the other."""
    batch = inputs[0].shape[:-2]
    flat = [x.reshape(-1, *x.shape[len(batch) :]) for x in inputs]
    outputs = jax.lax.map(lambda members: run(*members), flat)
    return [y.reshape(*batch, *y.shape[1:]) for y in outputs]


def _tells(value: Any) -> bool:
    """Tell whether another operation can be made to wait for a value."""
    return bool(math.prod(value.shape)) and jnp.issubdtype(value.dtype, jnp.inexact)


def _after(inputs: list[Any], last: Any) -> list[Any]:
    """Let the first input that can depend on a value without being changed by it."""
    place = next((i for i, x in enumerate(inputs) if _tells(x)), None)
    if place is None:
        return inputs
    first = jnp.real(last.ravel()[0])
    # No number is both: XLA does not know, and has to wait for it.
    never = jnp.isnan(first) & jnp.isinf(first)
    x = inputs[place]
    waiting = jnp.where(never, jnp.zeros((), x.dtype), x)
    return [*inputs[:place], waiting, *inputs[place + 1 :]]
