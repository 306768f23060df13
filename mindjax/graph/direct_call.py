"""Calls of an executable on state that is known to fit it, without a check of each array."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from operator import add, attrgetter, is_
from typing import Any

import jax

from mindjax.core import jax_private
from mindjax.core.handle import ArrayImpl, Handle

_version, _aval, _sharding = map(attrgetter, ("_version", "aval", "sharding"))
# What getrefcount says, through `map`, of an array that a list and its handle's slot hold.
_ALONE = max(map(sys.getrefcount, [object()])) + 1


class DirectCall:
    """An executable that is called without a look at each array of the state.

    jax compares the type and the place of every array with what the executable was compiled for:
    for hundreds of Parameters that takes longer than to run a small program. Here an array is known
    by its Handle's version: nobody wrote it since the last run; or by its type's identity, which
    all results of one executable share: jax itself has looked at one of them.

    Args:
        execute: calls the executable on a list of arrays.
        copy: copies an array that others hold too and that the executable takes over.
        state: Handles of the first inputs: those that are taken over, then those that are read.
        donated: number of those that are taken over.
        written: Handles of the executable's last outputs.
        reached: number of outputs after those of `written`.
        fixed: further inputs, the same at every call: before the arguments, and after them.
        shapes: shape and dtype of each argument.
        sharding: place of every input.
    """

    def __init__(
        self,
        execute: Callable[[list[Any]], list[Any]],
        copy: Callable[[Any], Any],
        state: Sequence[Handle],
        donated: int,
        written: Sequence[Handle],
        reached: int,
        fixed: tuple[list[Any], list[Any]],
        shapes: Sequence[tuple[Any, Any]],
        sharding: Any,
    ) -> None:
        self._execute, self._copy = execute, copy
        self._state, self._donated = list(state), donated
        self._written, self._reached = list(written), reached
        self._fixed, self._shapes, self._sharding = fixed, shapes, sharding
        self._writes = [int(h in set(written)) for h in state]
        self._versions = [-1] * len(self._state)
        self._avals: list[Any] = []

    def trust(self, arrays: Sequence[Any]) -> None:
        """Know the types of the state that jax has just looked at.

        Args:
            arrays: the state's, as it was given to a call that succeeded.
        """
        known = all(type(a) is ArrayImpl and a.sharding == self._sharding for a in arrays)
        self._avals = list(map(_aval, arrays)) if known else []

    def _values(self) -> list[Any] | None:
        """Give the state's arrays if they are known to fit, and note its versions."""
        state, versions = self._state, self._versions
        values = [
            h._value
            for h, version in zip(state, versions, strict=True)
            if h._version == version and h._view is None
        ]
        if len(values) == len(state):
            return values
        if len(self._avals) != len(state):
            return None
        self._versions = list(map(_version, state))
        values = [h._value for h in state if type(h._value) is ArrayImpl and h._view is None]
        if (
            len(values) == len(state)
            and all(map(is_, map(_aval, values), self._avals))
            and all(s is self._sharding or s == self._sharding for s in map(_sharding, values))
        ):
            return values
        self._versions = [-1] * len(state)
        return None

    def __call__(self, arguments: Sequence[Any]) -> list[Any] | None:
        """Run on the state as it is, and write back; the caller holds the state's lock.

        Args:
            arguments: arrays.

        Returns:
            The outputs; None, with nothing done, where jax must look at the arrays.
        """
        for array, (shape, dtype) in zip(arguments, self._shapes, strict=True):
            if (
                type(array) is not ArrayImpl
                or array.shape != shape
                or array.dtype != dtype
                or array.sharding != self._sharding
            ):
                return None
        values = self._values()
        if values is None:
            return None
        versions = self._versions
        read = values[self._donated :]
        del values[self._donated :]
        counts = list(map(sys.getrefcount, values))
        if counts and max(counts) > _ALONE:
            values = [
                self._copy(v) if count > _ALONE else v
                for v, count in zip(values, counts, strict=True)
            ]
        first, last = self._fixed
        try:
            outputs = self._execute([*values, *read, *first, *arguments, *last])
        except jax.errors.JaxRuntimeError:
            if any(a.is_deleted() for a in (*read, *arguments)):
                # Refused before anything was done; jax's look tells which one is gone.
                return None
            raise
        end = len(outputs) - self._reached
        written = self._written
        for handle, value in zip(written, outputs[end - len(written) : end], strict=True):
            handle._version += 1
            handle._value, handle._node = value, None
        # Not read back: what another thread writes meanwhile must be looked at.
        self._versions = list(map(add, versions, self._writes))
        return outputs


def direct_call(
    compiled: Any,
    copy: Callable[[Any], Any],
    state: Sequence[Handle],
    donated: int,
    written: Sequence[Handle],
    reached: int,
    inputs: tuple[Sequence[Any], Sequence[Any], Sequence[Any]],
) -> DirectCall | None:
    """Prepare direct calls of an executable; None where jax must look at each call's arrays.

    Args:
        compiled: the executable.
        copy: copies an array.
        state: Handles of its first inputs.
        donated: number of those that it takes over.
        written: Handles of its outputs after the function's results.
        reached: number of outputs after those.
        inputs: its inputs after the state: constants, arguments of one call, numbers.
    """
    execute = jax_private.unchecked_call(compiled)
    shardings = set(compiled.input_shardings[0]) if execute is not None else ()
    handles = [*state, *written]
    if (
        execute is None
        or len(shardings) != 1
        or any(h.stores or h._view is not None or h._frame is not None for h in handles)
    ):
        return None
    sharding = next(iter(shardings))
    constants, arguments, numbers = inputs
    first, last = ([jax.device_put(a, sharding) for a in part] for part in (constants, numbers))
    shapes = [(tuple(a.shape), a.dtype) for a in arguments]
    return DirectCall(
        execute, copy, state, donated, written, reached, (first, last), shapes, sharding
    )
