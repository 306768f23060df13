"""The deferred engine: ops of a thread are recorded, and run as one program when a value is read.

A record is a list of ops on earlier outputs and on arrays from outside. What a handle, a tape node
or anything else still refers to when the record is run is computed; the rest is not.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import compress
from typing import Any

import jax
import numpy as np

from mindjax.core import fused, jax_private
from mindjax.core.executable import Deferrable, execute
from mindjax.core.handle import Handle, current, state_lock, upload
from mindjax.core.interrupts import Shield
from mindjax.core.layouts import layout_of
from mindjax.core.pending import Aval, Failed, Pending, pending
from mindjax.core.resident import INTERNED
from mindjax.core.trie import BITS, LEAF_BITS, MASK, ROOT, Step, Structure, leaf_place

ArrayImpl = jax_private.ArrayImpl

# Longer records are run: their programs would take long to compile.
MOST_OPS = 2048
# Bytes of arrays from outside that only the record still holds, above which it is run.
_MOST_BYTES = 1 << 28
# Larger numpy arrays are put on the device at once, smaller ones are copied.
_SMALL = 256
# So many records of one op in a row, and the next ops are run at once, until so many are unread.
_ALONE = 4
# So many new structures in a row, and ops are run at once until as many reads as the second number;
# twice as many the next time, up to the third.
_STRANGE, _PAUSE, _MOST_PAUSE = 8, 16, 64
MOST_UNREAD = 2
# Bytes of a record's results up to which none is freed before the record has run.
_SMALL_RECORD = 1 << 25
# Bytes from which on it pays to give an array's memory to a result.
_LARGE = 1 << 16

# Jax's object for a shape and dtype, by identity: with what it is here.
_kinds: dict[int, tuple[Any, Aval]] = {}
_avals: dict[Any, Aval] = {}
_recordings: weakref.WeakSet[Recording] = weakref.WeakSet()

NOT_DEFERRED: Any = object()
_FOREIGN: Any = object()


def aval_of(value: Any) -> Aval:
    """Give the one object that stands for an array's shape and dtype."""
    if type(value) is not ArrayImpl:
        return _aval(value.shape, value.dtype, False)
    theirs = value.aval
    found = _kinds.get(id(theirs))
    if found is None:
        if len(_kinds) > 1 << 14:
            _kinds.clear()
        ours = _aval(theirs.shape, theirs.dtype, theirs.weak_type)
        found = _kinds[id(theirs)] = theirs, ours
    return found[1]


def _aval(shape: tuple[int, ...], dtype: Any, weak: bool) -> Aval:
    key = shape, dtype, weak
    found = _avals.get(key)
    if found is None:
        if len(_avals) > 1 << 16:
            # Programs compare them by identity: those in use are made anew and seen anew.
            _avals.clear()
            _kinds.clear()
        found = _avals[key] = Aval(*key)
    return found


def _references(values: list[Any]) -> int:
    """Count what refers to an object that a list and a loop over its places hold."""
    value = values[0]
    return sys.getrefcount(value)


_UNUSED = _references([object()])
# What counts where a dict alone holds an object and `map` hands it over.
_UNREAD = next(map(sys.getrefcount, {0: object()}.values()))
_is_read = _UNREAD.__lt__


class Ending:
    """A program with state that is run at the end of a record.

    Attributes:
        step: the ops and the program, as their last op.
        results: what stands for its outputs but the state, which come first.
        written: Handles of its state.
        outputs: what stands for what it writes there: they hold it already.
        first: what stands for what they held before.
        places: of the results and the written state.
        arguments: what stands for its arguments, as in `Recording.step`.
        passed: places of outputs that are the arguments again, by the arguments' places.
        run: runs it by itself on its arguments' arrays: it writes its state, and gives its outputs.
    """

    __slots__ = (
        "arguments", "first", "outputs", "passed", "places", "results", "run", "step", "written",
    )  # fmt: skip

    step: Step
    results: list[Pending]
    written: Sequence[Handle]
    outputs: list[Pending]
    first: Sequence[int]
    places: tuple[int, ...]
    arguments: Sequence[int]
    passed: dict[int, int]
    run: Callable[[list[Any]], Sequence[Any]]


class Recording:
    """The ops of one thread that wait.

    Attributes:
        step: the ops so far, (executable, inputs): an input is the place of an earlier output,
            a negative number for an array from outside, None, or a tuple of these.
        outputs: what stands for each op's results, by the place of the first.
        several: the places of those that are tuples.
        layout: how those of the leaves that lie on a device do, -1 if none does.
        leaves: arrays from outside; numpy arrays are numbers, which seldom change.
        nbytes: of the leaves.
        avals: of the leaves, by their numbers.
        places: what stands for the leaves, by the arrays' identities.
        alone: how many records in a row held one op, whose value was read.
        strange: how many records in a row had a structure that was met for the first time.
        at_once: until how many reads ops are run at once because of that; -1 while each value is
            read at once.
        unread: how many ops have been run at once since a value was read.
        ending: what is run after the ops, as a part of their program if that can be.
        filling: how often the record was run; places mean something within one filling.
        held: whether an ending waits until `held` comes back.
        pressed: whether it must be looked at whether the record is too large.
    """

    __slots__ = (
        "__weakref__", "_checked", "_pause", "_sharding", "alone", "at_once", "avals", "ending",
        "filling", "held", "layout", "leaves", "lock", "nbytes", "outputs", "places", "pressed",
        "several", "step", "strange", "unread",
    )  # fmt: skip

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.step: Step = ROOT
        self._pause = _PAUSE
        self.outputs: dict[int, Any] = {}
        self.several: dict[int, None] = {}
        self.leaves: list[Any] = []
        self.avals: dict[int, Aval] = {}
        self.places: dict[int, int] = {}
        self.filling = self.alone = self.unread = self.strange = self.at_once = 0
        self.held = False
        self._begin()
        _recordings.add(self)

    @property
    def ops(self) -> tuple[Any, ...]:
        """The ops so far."""
        return self.step.structure().ops

    def _begin(self) -> None:
        self.step = ROOT
        self.outputs.clear()
        self.several.clear()
        self.leaves.clear()
        self.avals.clear()
        self.places.clear()
        self.filling += 1
        self.layout, self._sharding, self.pressed = -1, None, False
        self.ending: Ending | None = None
        self.nbytes, self._checked = 0, _MOST_BYTES

    def leaf(self, array: Any) -> int:
        """Add an array from outside; give what stands for it, 0 if it lies elsewhere."""
        if type(array) is ArrayImpl:
            sharding = array.sharding
            if sharding is not self._sharding:
                layout = layout_of(array)
                if layout != self.layout:
                    if self.layout >= 0:
                        return 0
                    self.layout = layout
                self._sharding = sharding
            kind = _kinds.get(id(array.aval))
            aval = kind[1] if kind is not None else aval_of(array)
        elif array.size > _SMALL:
            array = upload(array)
            return self.leaf(array)
        else:
            if id(array) not in INTERNED:
                array = array.copy()
            aval = _aval(array.shape, array.dtype, False)
        self.nbytes += aval.nbytes
        if self.nbytes > self._checked:
            self.pressed = True
        place = len(self.leaves)
        # In this order an interrupt leaves at most a leaf that nothing uses.
        self.avals[place] = aval
        self.leaves.append(array)
        # `leaf_place` finds the place in it.
        reference = ~(place | aval.number << LEAF_BITS)
        if type(array) is ArrayImpl:
            # Numbers that happen to be equal do not make another structure.
            self.places[id(array)] = reference
        return reference

    def refer(self, value: Any, avals: list[Any]) -> Any:
        """Give what stands for an input, and add its aval; NOT_DEFERRED if it cannot wait."""
        if type(value) is Pending:
            if value.value is None:
                if value.recording is not self:
                    return _FOREIGN
                avals.append(value.aval)
                return value.place
            value = value.value
            if type(value) is Failed:
                return _FOREIGN
        elif value is None:
            avals.append(None)
            return None
        elif type(value) is tuple:
            inner: list[Any] = []
            references = []
            for v in value:
                reference = self.refer(v, inner)
                if reference is NOT_DEFERRED or reference is _FOREIGN:
                    return reference
                references.append(reference)
            avals.append(tuple(inner))
            return tuple(references)
        elif isinstance(value, np.generic):
            value = np.asarray(value)
        reference = self.places.get(id(value)) or self.leaf(value)
        if not reference:
            return NOT_DEFERRED
        avals.append(self.avals[leaf_place(reference)])
        return reference

    def refer_all(self, arrays: list[Any], references: list[Any]) -> bool:
        """Add what stands for arrays to a list; tell whether they all lie with the others."""
        places = self.places
        for array in arrays:
            reference = places.get(id(array)) or self.leaf(array)
            if not reference:
                return False
            references.append(reference)
        return True

    def add(self, found: Deferrable, arrays: list[Any]) -> Any:
        """Record an op; give what stands for its outputs.

        Returns:
            NOT_DEFERRED if the op must be run now, _FOREIGN if an input waits elsewhere.
        """
        avals: list[Any] = []
        key: list[Any] = [found]
        for value in arrays:
            if type(value) is Pending and value.recording is self and value.value is None:
                avals.append(value.aval)
                key.append(value.place)
                continue
            reference = self.refer(value, avals)
            if reference is NOT_DEFERRED or reference is _FOREIGN:
                return reference
            key.append(reference)
        made = found.avals.get(tuple(avals))
        if made is None:
            return NOT_DEFERRED
        return self.append(made, key)

    def append(self, made: Any, key: list[Any]) -> Any:
        """Record an op whose inputs are told already; give what stands for its outputs."""
        return self.advance(self.step.grow(tuple(key), made))

    def follow(self, op: tuple[Any, ...]) -> Any:
        """Record an op that follows here for the first time; NOT_DEFERRED if it cannot wait."""
        made = op[0].avals.get(tuple([self._aval_at(r) for r in op[1:]]))
        return NOT_DEFERRED if made is None else self.advance(self.step.grow(op, made))

    def _aval_at(self, reference: Any) -> Any:
        if type(reference) is tuple:
            return tuple([self._aval_at(r) for r in reference])
        if reference is None:
            return None
        if reference < 0:
            return self.avals[leaf_place(reference)]
        return self.output(reference).aval

    def advance(self, step: Step) -> Any:
        """Record the op that leads to a step; give what stands for its outputs."""
        made, place = step.made, step.place
        if type(made) is Aval:
            out: Any = pending(made, self, place)
        else:
            self.several[place] = None
            out = tuple([pending(a, self, place | i) for i, a in enumerate(made)])
        self.outputs[place] = out
        # From here on the op counts: an interrupt before leaves the record as it was.
        self.step = step
        if step.number >= MOST_OPS:
            self.pressed = True
        return out

    def full(self) -> bool:
        """Tell whether the record must be run before it grows."""
        if self.step.number >= MOST_OPS or self.ending is not None:
            return True
        if self.nbytes <= self._checked:
            return False
        leaves = self.leaves
        held = 0
        for i in range(len(leaves)):
            leaf = leaves[i]
            if sys.getrefcount(leaf) <= _UNUSED and type(leaf) is ArrayImpl:
                held += leaf.nbytes
        self._checked = self.nbytes + _MOST_BYTES
        self.pressed = False
        return held > _MOST_BYTES

    def live(self) -> tuple[int, ...]:
        """List the places that something outside the record refers to."""
        outputs, several = self.outputs, self.several
        places = list(compress(outputs, map(_is_read, map(sys.getrefcount, outputs.values()))))
        end = self.step.number << BITS
        if several or len(outputs) != self.step.number:
            # An interrupt may have left an output of an op that does not count.
            places = [p for p in places if p not in several and p < end]
            for first in several:
                if first < end:
                    out = outputs[first]
                    for i in range(len(out)):
                        one = out[i]
                        if sys.getrefcount(one) > _UNUSED:
                            places.append(one.place)
        return tuple(places)

    def _dead(self, live: tuple[int, ...], more: Sequence[Pending] = ()) -> list[int]:
        """List large arrays that nobody else holds and whose memory a result may take.

        Args:
            live: places of results.
            more: what stands for further ones.
        """
        found: list[int] = []
        leaves, avals = self.leaves, self.avals
        wanted: list[Aval] | None = None
        if self.nbytes < _LARGE:
            return found
        for i in range(len(leaves)):
            if avals[i].nbytes < _LARGE:
                continue
            leaf = leaves[i]
            if sys.getrefcount(leaf) > _UNUSED or type(leaf) is not ArrayImpl:
                continue
            if wanted is None:
                wanted = [*[self.output(p).aval for p in live], *[m.aval for m in more]]
            if avals[i] in wanted:
                wanted.remove(avals[i])
                found.append(i)
        return found

    def _size(self) -> int:
        """Count the bytes of all results."""
        total = 0
        for out in self.outputs.values():
            for one in out if type(out) is tuple else (out,):
                total += one.aval.nbytes
        return total

    def output(self, place: int) -> Pending:
        """Give what stands for a place."""
        out = self.outputs[place & ~MASK]
        return out if type(out) is Pending else out[place & MASK]

    def stays_at_once(self) -> bool:
        """Tell whether the next op should be run at once too."""
        self.unread += 1
        if self.unread > (MOST_UNREAD if self.at_once < 0 else MOST_OPS):
            self.alone = self.at_once = self.unread = 0
            return False
        return True

    def note_read(self) -> None:
        """Note that a value was read: here a pause may end, so that the next record is whole."""
        if self.unread:
            self.unread = 0
            if self.at_once > 0:
                self.at_once -= 1

    def flush(self) -> None:
        """Run the record and give every value that is referred to.

        An interrupt leaves the record as it was, so that the next read runs it.
        """
        if self.ending is not None:
            # The state that it writes has its lock, which is taken before this one's.
            with state_lock, self.lock:
                if self.ending is not None:
                    self._end(self.ending)
            return
        lock = self.lock
        lock.acquire()
        try:
            count = self.step.number
            if not count:
                return
            if self.ending is not None:
                # Another thread's, since the look above.
                lock.release()
                try:
                    self.flush()
                finally:
                    lock.acquire()
                return
            self.alone = self.alone + 1 if count == 1 else 0
            self.unread = 0
            if self.alone >= _ALONE:
                self.at_once = -1
            live = self.live()
            if live:
                if jax_private.untraced():
                    self._run(live)
                else:
                    # What is recorded outside a trace must not become part of it.
                    with jax.ensure_compile_time_eval():
                        self._run(live)
            self._begin()
        finally:
            lock.release()

    def _end(self, ending: Ending) -> None:
        """Run the record and its ending; the caller holds the locks."""
        guard = nullcontext() if jax_private.untraced() else jax.ensure_compile_time_eval()
        with Shield(), guard:
            try:
                values = self._with_ending(ending)
            except Exception:
                # Without the ending the error is found and named, or there is none.
                values = None
            try:
                if values is None:
                    self._apart(ending)
            finally:
                self.alone = self.unread = 0
                self._begin()

    def _with_ending(self, ending: Ending) -> Any:
        """Run the record and its ending as one program, if the two have been met together."""
        live = self.live()
        # What the ending reads, and somebody else too, comes from it: it may write over its inputs.
        passed = ending.passed
        places = (*[passed.get(place, place) for place in live], *ending.places)
        dead = self._dead(live, ending.outputs)
        values = fused.run(ending.step.structure(), self.leaves, places, dead, self.layout)
        if values is None:
            return None
        self._give(live, values)
        last = len(values) - len(ending.outputs)
        for new, value in zip(ending.results, values[len(live) : last], strict=True):
            new.value = value
        for handle, new, value in zip(ending.written, ending.outputs, values[last:], strict=True):
            new.value = value
            if handle._value is new:
                handle._value = value
        return values

    def _apart(self, ending: Ending) -> None:
        """Run the record, and then its ending on what it gave."""
        leaves = self.leaves
        for handle, new, reference in zip(
            ending.written, ending.outputs, ending.first, strict=True
        ):
            if handle._value is new:
                handle._value = leaves[leaf_place(reference)]
        needed = [r for r in ending.arguments if r >= 0]
        self._run(tuple(dict.fromkeys([*self.live(), *needed])))
        arguments = [
            leaves[leaf_place(r)] if r < 0 else self.output(r).value for r in ending.arguments
        ]
        # It takes over the state that nobody else holds.
        leaves.clear()
        failed = [a for a in arguments if type(a) is Failed]
        try:
            if failed:
                raise failed[0].error
            outputs = ending.run(arguments)
            for new, value in zip(ending.results, outputs, strict=False):
                new.value = value
        except Exception as error:
            for new in ending.results:
                new.value = Failed(error)
            raise
        finally:
            for handle, new in zip(ending.written, ending.outputs, strict=True):
                new.value = handle._value

    def _give(self, live: Sequence[int], values: Sequence[Any]) -> None:
        """Note the values of what has run as one program, which may give more."""
        self.strange, self._pause = 0, _PAUSE
        outputs = self.outputs
        for place, value in zip(live, values, strict=False):
            out = outputs[place & ~MASK]
            (out if type(out) is Pending else out[place & MASK]).value = value

    def _run(self, live: tuple[int, ...]) -> None:
        leaves, count = self.leaves, self.step.number
        if count == 1 and type(self.outputs[0]) is Pending:
            # A lone op with one output is run as the plain engine runs it.
            op = self.step.op
            if tuple not in map(type, op):
                arrays = [None if r is None else leaves[leaf_place(r)] for r in op[1:]]
                try:
                    self.outputs[0].value = execute(op[0], tuple(arrays), arrays, False)
                except Exception as error:
                    self.outputs[0].value = Failed(error)
                return
        structure = self.step.structure()
        if count > 1:
            dead = self._dead(live)
            if not dead:
                done = self._together(structure, live, dead)
            else:
                # What is given away must not be lost to Ctrl-C before the results have its place.
                with Shield():
                    done = self._together(structure, live, dead)
            if done:
                return
            self.strange += 1
            if self.strange >= _STRANGE:
                self.at_once = self._pause
                self._pause = min(2 * self._pause, _MOST_PAUSE)
        self._one_by_one(structure, live)

    def _together(self, structure: Structure, live: tuple[int, ...], dead: list[int]) -> bool:
        """Run the record as one program; tell whether it was."""
        try:
            values = fused.run(structure, self.leaves, live, dead, self.layout)
        except Exception:
            # Op by op the error is found and named; the other values are still given.
            return False
        if values is None:
            return False
        self._give(live, values)
        return True

    def _one_by_one(self, structure: Structure, live: tuple[int, ...]) -> None:
        """Run the ops of the record, each as its own program."""
        leaves = self.leaves
        if self._size() < _SMALL_RECORD:
            try:
                for place, value in zip(live, quickly(structure.ops, leaves, live), strict=True):
                    self.output(place).value = value
                return
            except Exception:
                # Found again below, where it is named.
                pass
        results, errors = one_by_one(structure.ops, leaves, live)
        for place in live:
            if place >> BITS in errors:
                self.output(place).value = Failed(errors[place >> BITS])
            else:
                self.output(place).value = results[place]


def quickly(ops: Sequence[Any], leaves: list[Any], live: Sequence[int]) -> list[Any]:
    """Run the ops that live values need, each as its own program, and keep all until the end.

    Args:
        ops: as in `Recording`.
        leaves: arrays from outside.
        live: places whose values are asked for.

    Returns:
        Their values.
    """
    needed = [False] * len(ops)
    for place in live:
        needed[place >> BITS] = True
    for number in range(len(ops) - 1, -1, -1):
        if needed[number]:
            for reference in fused.flat(ops[number]):
                if reference >= 0:
                    needed[reference >> BITS] = True
    results: list[Any] = [None] * len(ops)
    old = jax_private.swap_x64(True)
    try:
        for number, op in enumerate(ops):
            if needed[number]:
                arrays = [fused.value_of(r, results, leaves) for r in op[1:]]
                results[number] = op[0].call(*arrays)
    finally:
        jax_private.set_x64(old)
    return [fused.value_of(place, results, leaves) for place in live]


def one_by_one(
    ops: Sequence[Any], leaves: list[Any], live: Sequence[int]
) -> tuple[dict[int, Any], dict[int, Exception]]:
    """Run the ops that live values need, each as its own program.

    Args:
        ops: as in `Recording`.
        leaves: arrays from outside.
        live: places whose values are asked for.

    Returns:
        Values by place; errors by the number of the op, also of those that use a failed one.
    """
    kept = {place >> BITS for place in live}
    needed, last = fused.uses(ops, set(live))
    results: list[Any] = [None] * len(ops)
    errors: dict[int, Exception] = {}

    for number, op in enumerate(ops):
        if not needed[number]:
            continue
        failed = [r >> BITS for r in fused.flat(op) if r >> BITS in errors]
        if failed:
            errors[number] = errors[failed[0]]
            continue
        try:
            arrays = [fused.value_of(r, results, leaves) for r in op[1:]]
            results[number] = execute(op[0], tuple(arrays), arrays, False)
        except Exception as error:
            errors[number] = error
            continue
        del arrays
        for dead in last.get(number, ()):
            if dead not in kept:
                results[dead] = None
    return {
        place: fused.value_of(place, results, leaves)
        for place in live
        if place >> BITS not in errors
    }, errors


def defer(found: Deferrable, arrays: list[Any]) -> Any:
    """Record an op in this thread's record.

    Args:
        found: its executable.
        arrays: inputs, some of which may be pending.

    Returns:
        What stands for its output, or a tuple of these; NOT_DEFERRED if it must be run now: its
        inputs are of kinds that it has not had before, or lie on several devices.
    """
    recording: Recording | None = current.recording
    if recording is None:
        recording = current.recording = Recording()
    elif recording.pressed and recording.full():
        recording.flush()
    with recording.lock:
        out = recording.add(found, arrays)
    if out is _FOREIGN:
        # Outside the lock of this one's record, so that two threads never wait for each other.
        arrays[:] = [_settle_foreign(a, recording) for a in arrays]
        return defer(found, arrays)
    return out


def _settle_foreign(value: Any, recording: Recording) -> Any:
    """Compute what other threads have recorded, and raise the errors of what could not be."""
    if type(value) is tuple:
        return tuple(_settle_foreign(v, recording) for v in value)
    if type(value) is Pending and (value.recording is not recording or value.value is not None):
        return value.concrete()
    return value


def learn(found: Deferrable, arrays: list[Any], out: Any) -> None:
    """Note what an op gives for inputs of these kinds, so that it may wait the next time."""
    key = tuple(kind_of(a) for a in arrays)
    single = isinstance(out, jax.Array)
    if not single and not (
        isinstance(out, tuple | list)
        and 0 < len(out) < 1 << BITS
        and all(isinstance(o, jax.Array) for o in out)
    ):
        found.defers = False
        return
    if _calls_back(found, arrays):
        # Its errors belong to the user's line.
        found.defers = False
        return
    if len(found.avals) > 4096:
        found.avals.clear()
    found.avals[key] = aval_of(out) if single else tuple(aval_of(o) for o in out)


def kind_of(value: Any) -> Any:
    """Give the aval of an input of an op, nested as it is."""
    if type(value) is Pending:
        return value.aval
    if value is None:
        return None
    if type(value) is tuple:
        return tuple(kind_of(v) for v in value)
    return aval_of(value)


def _calls_back(found: Deferrable, arrays: list[Any]) -> bool:
    old = jax_private.swap_x64(True)
    try:
        jaxpr = found.call.trace(*arrays).jaxpr  # type: ignore[attr-defined]
    finally:
        jax_private.set_x64(old)
    return bool(jaxpr.effects) or fused.calls_back(jaxpr.jaxpr)


def settled(value: Any) -> Any:
    """Give an array in place of what is pending, inside tuples too."""
    if type(value) is Pending:
        return value.concrete()
    if type(value) is tuple:
        return tuple(settled(v) for v in value)
    return value


def held(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function; a step of an optimizer within it is run when it has come back.

    What it alone held, as the gradients, is gone then: nobody asks for it.

    Args:
        function: to call.
        *args: its arguments.
    """
    recording = current.recording
    if recording is None or recording.held:
        return function(*args)
    recording.held = True
    try:
        return function(*args)
    finally:
        recording.held = False
        if recording.ending is not None:
            recording.flush()


def flush() -> None:
    """Run what this thread has recorded."""
    recording = current.recording
    if recording is not None:
        recording.flush()


def flush_all() -> None:
    """Run what every thread has recorded."""
    flush()
    for recording in list(_recordings):
        recording.flush()


def _after_fork() -> None:
    """Begin without a record: a lock may be held by a thread that the child does not have."""
    current.recording = None
    for recording in list(_recordings):
        recording.lock = threading.RLock()


os.register_at_fork(before=flush, after_in_child=_after_fork)
