"""A compiled program as one op of the deferred engine's record."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.core import Tracer, eval_jaxpr

from mindjax.core import deferred
from mindjax.core.handle import Handle
from mindjax.core.pending import Pending
from mindjax.core.primitive import Primitive
from mindjax.core.trie import MASK


class _Whole(Primitive, register=False):
    """Stands for a program in error messages."""

    def compute(self, *arrays: Any) -> Any:
        """Not run: the program runs itself."""
        raise NotImplementedError


class WaitingCall:
    """A program in the form of an executable; it holds none of the state that it is called with.

    Args:
        evaluate: maps the program's arrays to its results, where they are traced.
        run: runs the program on arrays that it may destroy.
        donated: how many of the first arrays it destroys.
    """

    __slots__ = ("_donated", "_evaluate", "_run", "avals", "defers", "record")

    def __init__(self, evaluate: Callable[..., Any], run: Callable[..., Any], donated: int) -> None:
        self._evaluate, self._run, self._donated = evaluate, run, donated
        self.record: Primitive = _Whole()
        self.avals: dict[Any, Any] = {}
        self.defers = True

    def call(self, *arrays: Any) -> tuple[Any, ...]:
        """Compute the results, within another program or by itself."""
        if any(isinstance(a, Tracer) for a in arrays):
            return tuple(self._evaluate(*arrays))
        count = self._donated
        return tuple(self._run(*map(_copy, arrays[:count]), *arrays[count:]))

    def renew(self) -> None:
        """Keep the program: it is compiled ahead."""

    def learn(self, arrays: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Note what the program gives for arrays of these kinds, so that it may wait."""
        if 0 < len(outputs) <= MASK and not self.avals:
            kinds = tuple([deferred.kind_of(a) for a in arrays])
            self.avals[kinds] = tuple([deferred.aval_of(o) for o in outputs])


def waits_on(handles: Sequence[Any]) -> bool:
    """Tell whether a Tensor's value is recorded and not computed yet."""
    for handle in handles:
        value = handle._value
        if type(value) is Pending and value.value is None:
            return True
    return False


def store_pending(handles: Sequence[Handle], values: Sequence[Any]) -> None:
    """Replace the values of state, as `Handle.store` does, all of them or none.

    Args:
        handles: they view nothing.
        values: one for each.
    """
    for handle in handles:
        handle._version += 1
        handle._node = None
    # No Ctrl-C comes while this runs, since none of it is Python's own code.
    collections.deque(map(_set_value, handles, values), maxlen=0)


def evaluation(jaxpr: Any, order: Sequence[tuple[int, int]], counts: Sequence[int]) -> Any:
    """Give the function on arrays of a traced function.

    Args:
        jaxpr: the function.
        order: group and place of each of its constants.
        counts: sizes of the groups that the arrays begin with.

    Returns:
        A function of the arrays of all groups, then the arguments.
    """

    def evaluate(*flat: Any) -> Any:
        groups, begin = [], 0
        for count in counts:
            groups.append(flat[begin : begin + count])
            begin += count
        return eval_jaxpr(jaxpr, [groups[g][i] for g, i in order], *flat[begin:])

    return evaluate


_set_value = Handle.__dict__["_value"].__set__
_copy = jax.jit(lambda x: x.copy())
