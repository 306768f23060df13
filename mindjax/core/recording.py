"""What a thread has recorded: ops, what they read from outside, and who still refers to results.

A record is a list of ops on earlier outputs and on arrays from outside. What a handle, a tape node
or anything else still refers to when the record is run is computed; the rest is not.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

import jax
import numpy as np

from mindjax.core import jax_private, running
from mindjax.core.executable import Deferrable
from mindjax.core.handle import Handle, state_lock, upload
from mindjax.core.layouts import layout_of
from mindjax.core.pending import Aval, Failed, Pending, pending
from mindjax.core.resident import INTERNED
from mindjax.core.trie import BITS, LEAF_BITS, MASK, ROOT, Step, leaf_place

ArrayImpl = jax_private.ArrayImpl

# Longer records are run: their programs would take long to compile.
MOST_OPS = 2048
# Bytes of arrays from outside that only the record still holds, above which it is run.
_MOST_BYTES = 1 << 28
# Larger numpy arrays are put on the device at once, smaller ones are copied.
_SMALL = 256
# So many records of one op in a row, and the next ops are run at once, until so many are unread.
_ALONE = 4
MOST_UNREAD = 2
# Bytes from which on it pays to give an array's memory to a result.
_LARGE = 1 << 16

# Jax's object for a shape and dtype, by identity: with what it is here.
_kinds: dict[int, tuple[Any, Aval]] = {}
_avals: dict[Any, Aval] = {}
# Of all threads.
RECORDINGS: weakref.WeakSet[Recording] = weakref.WeakSet()

NOT_DEFERRED: Any = object()
FOREIGN: Any = object()


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
        pause: how many reads the next time of that lasts.
        at_once: until how many reads ops are run at once because of that; -1 while each value is
            read at once.
        unread: how many ops have been run at once since a value was read.
        ending: what is run after the ops, as a part of their program if that can be.
        filling: how often the record was run; places mean something within one filling.
        held: whether an ending waits until `held` comes back.
        pressed: whether it must be looked at whether the record is too large.
    """

    __slots__ = (
        "__weakref__", "_checked", "_sharding", "alone", "at_once", "avals", "ending",
        "filling", "held", "layout", "leaves", "lock", "nbytes", "outputs", "pause", "places",
        "pressed", "several", "step", "strange", "unread",
    )  # fmt: skip

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.step: Step = ROOT
        self.pause = running.PAUSE
        self.outputs: dict[int, Any] = {}
        self.several: dict[int, None] = {}
        self.leaves: list[Any] = []
        self.avals: dict[int, Aval] = {}
        self.places: dict[int, int] = {}
        self.filling = self.alone = self.unread = self.strange = self.at_once = 0
        self.held = False
        self.begin()
        RECORDINGS.add(self)

    @property
    def ops(self) -> tuple[Any, ...]:
        """The ops so far."""
        return self.step.structure().ops

    def begin(self) -> None:
        """Begin anew: nothing is recorded."""
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
                    return FOREIGN
                avals.append(value.aval)
                return value.place
            value = value.value
            if type(value) is Failed:
                return FOREIGN
        elif value is None:
            avals.append(None)
            return None
        elif type(value) is tuple:
            inner: list[Any] = []
            references = []
            for v in value:
                reference = self.refer(v, inner)
                if reference is NOT_DEFERRED or reference is FOREIGN:
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
            NOT_DEFERRED if the op must be run now, FOREIGN if an input waits elsewhere.
        """
        avals: list[Any] = []
        key: list[Any] = [found]
        for value in arrays:
            if type(value) is Pending and value.recording is self and value.value is None:
                avals.append(value.aval)
                key.append(value.place)
                continue
            reference = self.refer(value, avals)
            if reference is NOT_DEFERRED or reference is FOREIGN:
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

    def dead(self, live: tuple[int, ...], more: Sequence[Pending] = ()) -> list[int]:
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

    def size(self) -> int:
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
                    running.end(self, self.ending)
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
                    running.run(self, live)
                else:
                    # What is recorded outside a trace must not become part of it.
                    with jax.ensure_compile_time_eval():
                        running.run(self, live)
            self.begin()
        finally:
            lock.release()
