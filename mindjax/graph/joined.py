"""A small program on what is recorded, as the record's last op: one program for a training step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from jax.core import eval_jaxpr

from mindjax.core import jax_private
from mindjax.core.engine import settings
from mindjax.core.handle import ArrayImpl, Handle, arrays_of, current
from mindjax.core.interrupts import Shield
from mindjax.core.pending import Aval, Pending, pending
from mindjax.core.primitive import Primitive
from mindjax.core.recording import Ending, Recording, aval_of
from mindjax.core.trie import MASK, Step, leaf_place
from mindjax.ops.update import Together

_version = attrgetter("_version")
# Bytes of all inputs up to which a program joins: a larger one takes so long that its own launch
# does not count, and what it reads is held no longer than it must be.
_MOST_BYTES = 1 << 23


class Joined:
    """A program, in the form of an op's executable; it holds none of the program's state.

    Args:
        jaxpr: the traced function.
        order: where each of its constants is among the first inputs.
        first: arrays like these inputs.
        ties: which of them each of its last outputs takes the place of.
    """

    def __init__(
        self, jaxpr: Any, order: Sequence[int], first: Sequence[Any], ties: Sequence[int]
    ) -> None:
        self.jaxpr, self.order, self.ties = jaxpr, list(order), list(ties)
        self.record: Primitive = _Update()
        # The arguments are outputs too: who asks for them gets them as they are after use.
        outputs = [*jaxpr.outvars, *jaxpr.invars]
        self.made = tuple([aval_of(v.aval) for v in outputs])
        self.inputs = [aval_of(a) for a in first]
        self.nbytes = sum(a.nbytes for a in self.inputs)
        self.nbytes += sum(aval_of(v.aval).nbytes for v in jaxpr.invars)
        self.plan: _Plan | None = None
        self.avals: dict[Any, Any] = {}
        self.defers = True
        self.call: Callable[..., Any] = self._call

    def renew(self) -> None:
        """Nothing: it is a part of other programs only."""

    def _call(self, *arrays: Any) -> tuple[Any, ...]:
        first, arguments = arrays[: len(self.order)], arrays[len(self.order) :]
        # As for an update in a GRAPH: it uses the weights too.
        arguments = Together().compute(*arguments)
        outputs = eval_jaxpr(self.jaxpr, [first[i] for i in self.order], *arguments)
        return (*outputs, *arguments)


class _Plan:
    """How a program ends a record of certain ops; the next such record need not be looked at.

    Attributes:
        before: the ops.
        step: the ops and the program.
        arguments: as in `Ending`.
        first: as in `Ending`.
        passed: as in `Ending`.
        places: as in `Ending`.
        known: what stands for the state and the constants before, None for what is added.
        added: which of them are.
        avals: of what is added, by its numbers among the leaves.
        count: number of leaves before.
        nbytes: of what is added.
        layout: how the leaves lie.
        versions: of the state's Handles since.
    """

    __slots__ = (
        "added", "arguments", "avals", "before", "count", "first", "known", "layout", "nbytes",
        "passed", "places", "step", "versions",
    )  # fmt: skip

    before: Step
    step: Step
    arguments: list[int]
    first: list[int]
    passed: dict[int, int]
    places: tuple[int, ...]
    known: list[int | None]
    added: list[int]
    avals: dict[int, Aval]
    count: int
    nbytes: int
    layout: int
    versions: list[int]

    def add(self, recording: Recording, state: Sequence[Handle], values: list[Any]) -> bool:
        """Add what the program reads to a record of the same ops; tell whether it is one."""
        if (
            self.count != len(recording.leaves)
            or self.layout != recording.layout
            or self.versions != list(map(_version, state))
            or self.known != list(map(recording.places.get, map(id, values)))
        ):
            return False
        recording.avals.update(self.avals)
        recording.leaves += [values[i] for i in self.added]
        recording.nbytes += self.nbytes
        return True


def _plan(
    found: Joined, recording: Recording, values: list[Any], arguments: list[int]
) -> _Plan | None:
    """Work out how a program ends a record, and add what it reads; None if it cannot."""
    known = list(map(recording.places.get, map(id, values)))
    count, nbytes = len(recording.leaves), recording.nbytes
    references: list[int] = []
    if not recording.refer_all(values, references):
        return None
    op = (found, *references, *arguments)
    avals = [recording.avals[leaf_place(r)] for r in references]
    if op not in recording.step.next and avals != found.inputs:
        return None
    plan = _Plan()
    plan.before, plan.step = recording.step, recording.step.grow(op, found.made)
    plan.arguments, plan.known, plan.count, plan.layout = arguments, known, count, recording.layout
    plan.first = [references[i] for i in found.ties]
    places = [leaf_place(r) for r in references]
    plan.added = [places.index(p) for p in range(count, len(recording.leaves))]
    plan.avals = {p: recording.avals[p] for p in range(count, len(recording.leaves))}
    plan.nbytes = recording.nbytes - nbytes
    last = len(found.made) - len(arguments)
    plan.places = tuple([plan.step.place | i for i in range(last)])
    plan.passed = {p: plan.step.place | last + i for i, p in enumerate(arguments) if p >= 0}
    return plan


class _Update(Primitive, register=False):
    """Stands for a program in error messages."""

    def compute(self, *arrays: Any) -> Any:
        """Not run: it is a part of a record's program."""
        raise NotImplementedError


def join(
    found: Joined,
    state: Sequence[Handle],
    written: Sequence[Handle],
    handles: Sequence[Any],
    constants: Sequence[Any],
    run: Callable[[list[Any]], Sequence[Any]],
) -> list[Any] | None:
    """Let a program end what is recorded.

    The caller holds the state's lock.

    Args:
        found: the program.
        state: Handles of its first inputs.
        written: Handles of its last outputs.
        handles: Tensors that it is called with.
        constants: arrays among its inputs, after the state.
        run: as in `Ending`.

    Returns:
        What stands for its outputs, without the written state; None, with nothing done, where it
        must run by itself: nothing that it is called with waits.
    """
    recording = current.recording
    if recording is None or not settings.deferred or not recording.step.number:
        return None
    if recording.at_once or recording.pressed or current.special or jax_private.nans_debugged():
        return None
    # What is not there yet is computed here, and then nothing waits any more.
    values = [*arrays_of(state), *constants]
    with recording.lock:
        arguments = _arguments(recording, handles)
        if arguments is None:
            return None
        plan = found.plan
        if (
            plan is None
            or plan.before is not recording.step
            or plan.arguments != arguments
            or not plan.add(recording, state, values)
        ):
            plan = found.plan = _plan(found, recording, values, arguments)
            if plan is None:
                return None
        del values
        ending = Ending()
        ending.run, ending.step, ending.places = run, plan.step, plan.places
        ending.written, ending.first = written, plan.first
        ending.arguments, ending.passed = arguments, plan.passed
        count = len(plan.places) - len(written)
        waiting = [
            pending(aval, recording, place)
            for aval, place in zip(found.made, plan.places, strict=False)
        ]
        ending.results, ending.outputs = waiting[:count], waiting[count:]
        with Shield():
            for handle, new in zip(written, ending.outputs, strict=True):
                handle._version += 1
                handle._value, handle._node = new, None
            recording.ending, recording.pressed = ending, True
            plan.versions = list(map(_version, state))
        del waiting
    if not recording.held:
        recording.flush()
    return list(ending.results)


def _arguments(recording: Recording, handles: Sequence[Any]) -> list[int] | None:
    """Give what stands for what Tensors hold, None where none waits or one lies elsewhere."""
    found: list[int] = []
    waiting = False
    for handle in handles:
        value = handle._value
        if handle._view is not None or handle._frame is not None:
            return None
        if type(value) is Pending and value.value is None:
            if value.recording is not recording:
                return None
            waiting = True
            found.append(value.place)
        elif type(value) is not ArrayImpl or not recording.refer_all([value], found):
            return None
    return found if waiting else None


def joined(
    jaxpr: Any, order: Sequence[int], first: Sequence[Any], ties: Sequence[int]
) -> Joined | None:
    """Make the form in which a program joins what is recorded; None if it is too large."""
    found = Joined(jaxpr, order, first, ties)
    if found.nbytes > _MOST_BYTES or len(found.made) > MASK:
        return None
    return found
