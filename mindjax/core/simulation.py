"""Programs that are compiled and not run: arrays that have a shape and a dtype, and no values."""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import jax
import numpy as np
from jax.core import Tracer

from mindjax.core.engine import set_plain

LEVEL = "MS_SIMULATION_LEVEL"
"""The variable with which the original asks for a simulation."""
_LEAST = 1024
"""Elements from which an array has no values: smaller ones may be looked at by the program."""


class Blank(np.ndarray[Any, Any]):
    """An array of zeros that takes no memory, in place of values that are never computed."""


class _State:
    """Whether programs are simulated, who hears of them, and what has no values."""

    active = False
    observer: Callable[..., None] | None = None
    handles: ClassVar[weakref.WeakSet[Any]] = weakref.WeakSet()
    count = 0


def active() -> bool:
    """Tell whether programs are compiled and not run."""
    return _State.active


def start(observer: Callable[..., None] | None = None) -> None:
    """Compile what is called from here on, without running it.

    Args:
        observer: is called with what was lowered; see `report`.
    """
    os.environ[LEVEL] = "1"
    _State.active, _State.observer = True, observer
    # Every op goes the way on which it is looked at.
    set_plain(synchronous=True)


def stop() -> None:
    """Run programs again; what was made without values stays so."""
    os.environ.pop(LEVEL, None)
    _State.active, _State.observer = False, None
    set_plain(synchronous=False)


def report(**lowered: Any) -> None:
    """Tell the observer of a program.

    Args:
        **lowered: ``name``, ``function`` (the program on flat arrays), ``lowered`` (jax's form of
            it), ``arrays`` (its inputs), ``state`` (Handles of the first of them), ``ties`` (output
            -> input of the same state) and ``partitioner``.
    """
    if _State.observer is not None:
        _State.observer(**lowered)


def blank(shape: Iterable[int], dtype: Any) -> Blank:
    """Make an array without values.

    Args:
        shape: of it.
        dtype: numpy's.
    """
    return np.broadcast_to(np.zeros((), dtype), tuple(shape)).view(Blank)


def is_large(shape: Iterable[int]) -> bool:
    """Tell whether an array of a shape has no values in a simulation."""
    return _State.active and math.prod(shape) >= _LEAST


def note(handle: Any) -> None:
    """Take a Parameter's values away, if it is large and programs are simulated."""
    if not _State.active:
        return
    value = handle._value
    if not isinstance(value, Blank) and is_large(value.shape):
        handle._value = blank(value.shape, value.dtype)
    handle.__dict__["_simulated"] = _State.count
    _State.count += 1
    _State.handles.add(handle)


def blanks() -> tuple[Any, ...]:
    """List the Parameters without values, in the order in which they were made."""
    if not _State.active:
        return ()
    found = [h for h in _State.handles if isinstance(h._value, Blank)]
    return tuple(sorted(found, key=lambda h: h.__dict__["_simulated"]))


def run(function: Callable[..., Any], arrays: Any) -> Any:
    """Give what a function of arrays would, without values where it would be large.

    Args:
        function: compiled.
        arrays: its arguments, trees of arrays.
    """
    leaves = jax.tree.leaves(arrays)
    if any(isinstance(x, Tracer) for x in leaves):
        return function(*arrays)
    shapes = jax.eval_shape(function, *jax.tree.map(_struct, arrays))
    if not any(isinstance(x, Blank) for x in leaves) and not any(
        is_large(s.shape) for s in jax.tree.leaves(shapes)
    ):
        return function(*arrays)
    return jax.tree.map(lambda s: blank(s.shape, s.dtype), shapes)


def _struct(x: Any) -> Any:
    return jax.ShapeDtypeStruct(x.shape, x.dtype) if isinstance(x, Blank) else x


def prune(jaxpr: Any, count: int) -> tuple[Any, list[int]]:
    """Drop those of a jaxpr's first inputs that nothing uses.

    Args:
        jaxpr: the program.
        count: how many inputs may go.

    Returns:
        The program, and the places of those that stay.
    """
    used = {id(a) for e in jaxpr.eqns for a in e.invars} | {id(a) for a in jaxpr.outvars}
    kept = [i for i in range(count) if id(jaxpr.invars[i]) in used]
    invars = [*(jaxpr.invars[i] for i in kept), *jaxpr.invars[count:]]
    debug = jaxpr.debug_info._replace(arg_names=None)
    return jaxpr.replace(invars=invars, debug_info=debug), kept
