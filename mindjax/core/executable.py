"""Compiled programs of single ops: an executable a record, and how it is run."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import allocator, codegen, jax_private, simulation, world
from mindjax.core.caches import Cache, Room, count_compilation
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.core.primitive import Primitive, computation
from mindjax.core.tape import Backward
from mindjax.core.translate import translate

_swap_x64, _set_x64 = jax_private.swap_x64, jax_private.set_x64

# XLA keeps 1.5 MB for the smallest program, and jax's own caches let an op whose shapes change have
# 8192 of them.
_PROGRAMS = Room("op programs", 2048)


class Executable:
    """A record's compiled programs, one a signature inside jax's own cache.

    Attributes:
        record: what they compute.
        call: runs the op.
        alone: runs it outside other programs.
        vjp: runs it and keeps what its backward needs.
        direct: calls of the op that look at no array, by the identities of jax's objects for the
            inputs' shapes and dtypes; None where there can be none.
        met: those objects, and how often they were met.
        defers: whether the op may wait to be run with others.
        avals: what the outputs are for inputs that have been seen; None for those that never wait.
        view: whether the outputs alias the first input.
    """

    __slots__ = (
        "__weakref__",
        "alone",
        "avals",
        "call",
        "defers",
        "direct",
        "met",
        "record",
        "view",
        "vjp",
    )

    def __init__(self, record: Primitive) -> None:
        self.record = record
        self.avals: dict[Any, Any] = {}
        self.view = bool(record.view)
        owner = _owner(record)
        # An op with an effect of its own runs in its place in the program.
        effect = owner.effect and not owner.writes_result
        self.defers = not (owner.concrete or effect or owner.own_executable)
        self.renew()

    def renew(self) -> None:
        """Make the programs anew."""
        world.join()
        allocator.prepare()
        _PROGRAMS.left(self)
        record, owner = self.record, _owner(self.record)
        function = computation(record)
        kind = "backward" if isinstance(record, Backward) else "op"
        # Its programs do not keep it.
        holder = weakref.ref(self)

        def traced(*arrays: Any) -> Any:
            if not record.concrete:
                count_compilation(kind)
                _PROGRAMS.add(holder())
            return function(*arrays)

        traced.__name__ = traced.__qualname__ = f"ms_{record.name}"
        # What may call collectives is one program of all ranks that run it.
        spread = owner.collective or owner.own_executable
        program = world.transport.program if spread else jax.jit
        self.call: Callable[..., Any] = traced if record.concrete else program(traced)
        plain = not (record.concrete or spread)
        call = self.call

        def first(*arrays: Any) -> Any:
            made = codegen.program(traced, call, arrays)
            found = holder()
            # One that was made anew has a program of its own.
            if found is not None and found.call is call:
                found.alone = made
            return made(*arrays)

        self.alone: Callable[..., Any] = first if plain else call
        self.direct: dict[Any, Callable[..., Any]] | None = {} if plain else None
        self.met: dict[Any, list[Any]] = {}

        def with_residuals(*arrays: Any) -> Any:
            count_compilation(kind)
            _PROGRAMS.add(holder())
            return jax.vjp(function, *arrays)

        self.vjp: Callable[..., Any] = program(with_residuals)


# So often an op is met before it is called directly: to prepare that takes as long as 1,000 calls.
_OFTEN = 8
_MOST_DIRECT = 256


@functools.cache
def _one_device() -> bool:
    """Tell whether there is but one place where arrays can lie."""
    return jax.device_count() == 1 and jax.default_backend() == "cpu"


def note_direct(
    found: Executable, key: tuple[int, ...], inputs: list[Any], arrays: list[Any], out: Any
) -> None:
    """Note a call of an op; when it comes often, the next ones look at no array.

    Args:
        found: its executable.
        key: identities of the arrays' avals, and what tells how the inputs nest them.
        inputs: of the op: arrays, None, and tuples of arrays.
        arrays: all arrays among them.
        out: what it gave.
    """
    assert found.direct is not None
    entry = found.met.get(key)
    if entry is None:
        if len(found.met) >= _MOST_DIRECT:
            found.met.clear()
            found.direct.clear()
        found.met[key] = [1, [a.aval for a in arrays]]
        return
    entry[0] += 1
    if entry[0] != _OFTEN:
        return
    call = None
    if _one_device() and type(out) is jax_private.ArrayImpl:
        old = _swap_x64(True)
        try:
            # Jax has compiled this, and knows it.
            lowered = found.alone.lower(*inputs)  # type: ignore[attr-defined]
            call = jax_private.unchecked_call(lowered.compile())
        finally:
            _set_x64(old)
    if call is None:
        found.direct = None
    else:
        found.direct[key] = call


class Deferrable(Protocol):
    """What a record of the deferred engine holds: an op's executable, or what stands for several.

    Attributes:
        record: names it in errors.
        call: computes its outputs.
        defers: whether it may wait.
        avals: what the outputs are for inputs that have been seen.
    """

    record: Primitive
    call: Callable[..., Any]
    defers: bool
    avals: dict[Any, Any]

    def renew(self) -> None:
        """Make the programs anew."""


_EXECUTABLES: Cache[Executable] = Cache("op executables", 4096)


class _KeptBackward:
    """The program that runs kept vjps, made when it is first needed."""

    def __init__(self) -> None:
        self._program: Callable[..., Any] | None = None

    @property
    def program(self) -> Callable[..., Any]:
        """It."""
        if self._program is None:

            def backward(vjp: Any, given: Any) -> Any:
                _PROGRAMS.add(self)
                return vjp(given)

            self._program = world.transport.program(backward)
        return self._program

    def renew(self) -> None:
        """Make the program anew when it is needed again."""
        self._program = None


_kept_backward = _KeptBackward()


def executable(record: Primitive) -> Executable:
    """Look up, or make, the programs of a record."""
    found = record._executable
    if found is not None:
        return found
    if _owner(record).own_executable:
        found = Executable(record)
    else:
        key = record.key
        found = _EXECUTABLES.get(key)
        if found is None:
            found = _EXECUTABLES.put(key, Executable(record))
    record.__dict__["_executable"] = found
    return found


def _owner(record: Primitive) -> Primitive:
    """Give the record that a backward, perhaps of a backward, belongs to."""
    while isinstance(record, Backward):
        record = record.record
    return record


def run_backward(vjp: Any, cotangents: list[Any]) -> Any:
    """Run a kept vjp; missing cotangents are zeros."""
    residual, outputs, nested = vjp
    full = [
        np.zeros(o.shape, o.dtype if jnp.issubdtype(o.dtype, jnp.inexact) else jax.dtypes.float0)
        if c is None
        else c
        for c, o in zip(cotangents, outputs, strict=True)
    ]
    old = _swap_x64(True)
    try:
        given = residual, tuple(full) if nested else full[0]
        if simulation.active():
            return jax.tree.leaves(simulation.run(_kept_backward.program, given))
        gradients = _kept_backward.program(*given)
    finally:
        _set_x64(old)
    return jax.tree.leaves(gradients)


def alone(found: Any) -> Callable[..., Any]:
    """Give what runs a record here, be it an op's executable or stand for several.

    Args:
        found: `Deferrable`.
    """
    if type(found) is Executable and jax_private.untraced():
        return found.alone
    return found.call


def execute(
    found: Any,
    inputs: tuple[Any, ...],
    arrays: list[Any],
    traced: bool,
    program: Callable[..., Any] | None = None,
) -> Any:
    """Run a record's program, or another of its programs, with 64-bit types."""
    if current.recorder is not None:
        program = current.recorder.program(found.record, arrays, program)
    old = _swap_x64(True)
    try:
        if simulation.active():
            return simulation.run(program or found.call, arrays)
        return (program or alone(found))(*arrays)
    except Exception as error:
        return refuse(error, found, inputs, arrays, traced, program)
    finally:
        _set_x64(old)


def refuse(
    error: Exception,
    found: Any,
    inputs: tuple[Any, ...],
    arrays: list[Any],
    traced: bool = False,
    program: Callable[..., Any] | None = None,
) -> Any:
    """Raise what an error of a program means to the user; give its result if it was but disturbed.

    Args:
        error: what it raised.
        found: the record's executable.
        inputs: of the op.
        arrays: that the program got.
        traced: whether one is being traced.
        program: what ran, if not the executable's first.
    """
    if isinstance(error, RecursionError):
        # Ctrl-C in the middle of jax's tracing leaves its cache entry as if it still ran.
        if not str(error).startswith("Recursively calling"):
            raise error
        found.renew()
        return (found.vjp if program else found.call)(*arrays)
    # Another thread's step may have donated a buffer between our reading it and using it.
    # The call that looks at no array says something else of one that is gone.
    gone = any(type(a) is jax_private.ArrayImpl and a.is_deleted() for a in jax.tree.leaves(arrays))
    if isinstance(error, RuntimeError) and (gone or "deleted" in str(error)) and not traced:
        raise located(
            RuntimeError,
            f"For '{found.record.name}', an input was replaced by another thread while it was "
            "read: take a copy of the Tensor first.",
        ) from None
    _raise_translated(error, found.record, inputs, arrays)


def _raise_translated(
    error: Exception, record: Primitive, inputs: tuple[Any, ...], arrays: list[Any]
) -> NoReturn:
    made = translate(error, record, inputs, tuple(arrays))
    if made is error:
        raise error
    raise made from error
