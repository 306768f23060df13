"""Loops: turns of Python's while they are constant, else one loop of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core.errors import located
from mindjax.core.handle import Handle, Tracer, current, wrap
from mindjax.core.number import TracedNumber, kind_of
from mindjax.core.state import Wide
from mindjax.core.values import in_graph, need_values
from mindjax.graph.checkpointed import checkpointed_while
from mindjax.graph.control import raising
from mindjax.graph.control.blocks import (
    NONE,
    Key,
    Outcome,
    Scope,
    Signal,
    as_user,
    deliver,
    here,
    present,
    read,
    rebuilt,
    signal_of,
    signal_values,
    trace,
    write,
)
from mindjax.graph.control.branches import after_loop, after_turn, then, truth
from mindjax.graph.control.joining import (
    UNDEFINED,
    Const,
    Either,
    Number,
    adapt,
    is_traced_value,
    join,
    size,
    take,
    text,
    zeros,
)

UNROLLED = 64
"""Turns up to which a loop of constant bounds is unrolled."""

_NAMES = tuple[str, ...]
_TRIES = 8


class TracedRange:
    """A ``range`` whose bounds the program computes.

    Args:
        start: first index, number.
        stop: end.
        step: distance.
    """

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step

    def __iter__(self) -> Any:
        raise need_values("the length of a range")

    def __len__(self) -> int:
        raise need_values("the length of a range")

    def arrays(self) -> tuple[Any, Any, Any]:
        """Give the bounds as int64 arrays of shape ()."""
        return _whole(self.start), _whole(self.stop), _whole(self.step)


def _whole(value: Any) -> Any:
    array = value.array if isinstance(value, Handle | TracedNumber) else np.asarray(value)
    return jnp.asarray(array).reshape(()).astype(np.int64)


def range_(*bounds: Any) -> Any:
    """Make a range, of traced bounds too."""
    if not any(map(is_traced_value, bounds)):
        return range(*bounds)
    for bound in bounds:
        if isinstance(bound, Handle) and (
            bound.size != 1 or bound.value_dtype.kind not in "iu"  # type: ignore[attr-defined]
        ):
            raise located(
                TypeError,
                f"'range' takes integers of one element, but got a Tensor of shape "
                f"{bound.value_shape} and {bound.value_dtype}: cast it with astype(ms.int32).",
                named=False,
            )
    start, stop, step = 0, bounds[0], 1
    if len(bounds) > 1:
        start, stop = bounds[:2]
        step = bounds[2] if len(bounds) > 2 else 1
    return TracedRange(start, stop, step)


# -- while --


def while_(
    test: Callable[[], Any],
    same: _NAMES | None,
    body: Callable[[], Any],
    orelse: Callable[[], Any] | None,
    live: _NAMES,
    dead: _NAMES,
    else_names: _NAMES,
) -> Any:
    """Run a ``while``.

    Args:
        test: gives the condition.
        same: names that may become numbers of the program; None where turns surely differ.
        body: one turn.
        orelse: block after a loop that was not left.
        live: names that a turn binds and that are read later, or in the next turn.
        dead: other names that it binds.
        else_names: names that the ``orelse`` binds.

    Returns:
        The loop's signal.
    """
    signal: Any = None
    turns = 0
    while True:
        flag = truth(test())
        left = signal is not None
        if not left and isinstance(flag, bool):
            if not flag:
                break
            turns += 1
            if turns > UNROLLED and _may_repeat(same, Scope((body, test), live, dead)):
                with Wide():
                    flag = jnp.asarray(True)
        if not left and isinstance(flag, bool):
            signal = after_turn(body())
            if signal is not None and isinstance(signal.code, int):
                break
            continue
        # From here on the program decides whether there is a turn.
        if left:
            with Wide():
                going = signal.code.array == NONE  # type: ignore[union-attr]
                flag = jnp.logical_and(flag, going)

        def turn(index: Any) -> tuple[Any, Any]:
            found = after_turn(as_user(body))
            return found, lambda: truth(as_user(test))

        scope = Scope((body, test), live, dead)
        signal = _Loop(scope, turn, here()).run_while(flag, signal, None)
        break
    return _finished(signal, orelse, else_names)


def _finished(signal: Any, orelse: Callable[[], Any] | None, names: _NAMES) -> Any:
    if orelse is not None:
        done = then(signal, orelse, names, ())
        return after_loop(done)
    return after_loop(signal)


# -- for --


def for_(
    iterable: Any,
    same: _NAMES | None,
    body: Callable[[Any], Any],
    orelse: Callable[[], Any] | None,
    live: _NAMES,
    dead: _NAMES,
    else_names: _NAMES,
) -> Any:
    """Run a ``for``.

    Args:
        iterable: what it runs over; also a traced Tensor or range.
        same: names that may become numbers of the program; None where turns surely differ.
        body: one turn, takes the element.
        orelse: block after a loop that was not left.
        live: names that a turn binds and that are read later, or in the next turn.
        dead: other names that it binds.
        else_names: names that the ``orelse`` binds.

    Returns:
        The loop's signal.
    """
    if isinstance(iterable, TracedRange):
        signal = _over_range(iterable, body, live, dead)
    elif same is not None and _many(iterable):
        signal = _over_many(iterable, same, body, live, dead)
    else:
        signal = _one_by_one(iterable, body, live, dead)
    return _finished(signal, orelse, else_names)


def _many(iterable: Any) -> bool:
    if isinstance(iterable, Handle):
        shape = iterable.value_shape
        traced = iterable.is_parameter or isinstance(iterable.array, Tracer)
        return traced and bool(shape) and shape[0] > UNROLLED
    return isinstance(iterable, range) and len(iterable) > UNROLLED and current.tape is None


def _one_by_one(
    items: Iterable[Any],
    body: Callable[[Any], Any],
    live: _NAMES,
    dead: _NAMES,
    signal: Any = None,
) -> Any:
    for item in items:
        if signal is None:
            signal = after_turn(body(item))
        elif isinstance(signal.code, int):
            return signal
        else:
            signal = after_turn(_guarded(signal, body, item, live, dead))
    return signal


def _guarded(signal: Signal, body: Any, item: Any, live: _NAMES, dead: _NAMES) -> Any:
    """Run a turn if no turn before it left the loop."""

    return then(signal, _Turn(body, item), live, dead)


class _Turn:
    """A turn for one element, with the names that its block shares."""

    def __init__(self, body: Any, item: Any) -> None:
        self.body, self.item = body, item
        self.__closure__, self.__code__ = body.__closure__, body.__code__

    def __call__(self) -> Any:
        return self.body(self.item)


def _over_range(bounds: TracedRange, body: Any, live: _NAMES, dead: _NAMES) -> Any:
    with Wide():
        start, stop, step = bounds.arrays()

        def within(index: Any) -> Any:
            return jnp.where(step > 0, index < stop, index > stop)

        first = within(start)

    def turn(index: Any) -> tuple[Any, Any]:
        found = after_turn(as_user(body, TracedNumber(index, int)))
        with Wide():
            following = index + step
        return found, lambda: within(following)

    scope = Scope((body,), live, dead)
    return _Loop(scope, turn, here()).run_while(first, None, (start, lambda i: i + step))


def _may_repeat(same: _NAMES | None, scope: Scope) -> bool:
    """Tell whether the names that hold numbers may become numbers of the program."""
    if same is None or current.tape is not None or not in_graph():
        return False
    numbers = [n for n, v in scope.before.items() if kind_of(v) is not None]
    return set(numbers) <= set(same)


def _over_many(items: Any, same: _NAMES, body: Any, live: _NAMES, dead: _NAMES) -> Any:
    """Run a loop of known length: one turn in Python, so that kinds settle, then one loop."""
    signal = after_turn(body(items[0]))
    if signal is not None and isinstance(signal.code, int):
        return signal
    rest = items[1:]
    scope = Scope((body,), live, dead)
    if not _may_repeat(same, scope):
        return _one_by_one(rest, body, live, dead, signal)
    if isinstance(items, Handle):
        with Wide():
            rows, count = rest.array, items.value_shape[0] - 1

        def element(index: Any) -> Any:
            with Wide():
                return wrap(lax.dynamic_index_in_dim(rows, index, 0, False))

        start, step = 0, 1
        stop = count
    else:
        start, stop, step = rest.start, rest.stop, rest.step

        def element(index: Any) -> Any:
            return TracedNumber(index, int)

    def turn(index: Any) -> tuple[Any, Any]:
        found = after_turn(as_user(body, element(index)))
        with Wide():
            following = index + step
            more = following < stop if step > 0 else following > stop
        return found, lambda: more

    with Wide():
        first = jnp.asarray(True)
        if signal is not None:
            first = signal.code.array == NONE
    loop = _Loop(scope, turn, here())
    loop.length = len(rest)
    counter = np.int64(start), (lambda i: i + step)
    return loop.run_while(first, signal, counter)


# -- one loop of the program --


class _Loop:
    """A loop of the program: finds what a turn carries, and runs it.

    Args:
        scope: names that a turn binds.
        turn: ``turn(index) -> (signal, more)``; ``more()`` gives whether another turn follows.
        place: where the loop is.

    Attributes:
        length: number of turns if it is known and no turn leaves the loop.
    """

    def __init__(self, scope: Scope, turn: Callable[[Any], tuple[Any, Any]], place: str) -> None:
        self.scope, self.turn, self.place = scope, turn, place
        self.length: int | None = None
        self.kinds: dict[Key, Any] = {}
        self.owners: dict[Key, Any] = {}
        self.states: list[Any] = []

    def run_while(self, first: Any, signal: Any, counter: Any) -> Any:
        """Run the loop.

        Args:
            first: traced Bool array: whether there is a first turn.
            signal: how an earlier turn may have left the loop.
            counter: the first index and the function that gives the next one, or None.

        Returns:
            How the loop was left.
        """
        with Wide():
            frame = current.frame
            errors = frame.root_frame().errors if frame is not None else None
            if frame is not None and errors:
                # After an error no condition is what it would be: the loop might never end.
                first = jnp.logical_and(first, frame.read(errors[0].state) == 0)
            begin, arrays = self._begin(signal)
            outcome = self._settle(begin, counter)
            last = self._run(outcome, begin, arrays, first, counter)
        values, states = last
        for handle, value in zip(self.states, states, strict=True):
            handle.assign_value(value)
        self.scope.restore()
        for key, value in values.items():
            if key[0] not in ("code", "value", "more"):
                deliver(key, self.owners.get(key), value, self.scope)
        if any(isinstance(h, raising.ErrorState) for h in self.states):
            raising.mark()
        return signal_of(values["code",], values["value",])

    def _begin(self, signal: Any) -> tuple[dict[Key, Any], dict[Key, list[Any]]]:
        values: dict[Key, Any] = {("name", n): self.scope.before[n] for n in self.scope.live}
        values.update(signal_values(signal))
        arrays: dict[Key, list[Any]] = {k: [] for k in values}
        return {k: take(v, arrays[k]) for k, v in values.items()}, arrays

    def _settle(self, begin: dict[Key, Any], counter: Any) -> Outcome:
        """Trace turns until one gives what it takes."""
        self.kinds = dict(begin)
        # A loop that goes on was not left: a turn begins without a signal.
        self.kinds["code",] = Const(NONE)
        for _ in range(_TRIES):
            outcome = self._traced(counter)
            grown = dict(self.kinds)
            for key, kind in outcome.kinds.items():
                if key[0] == "more":
                    continue
                old = grown.get(key)
                if old is None:
                    self.owners[key] = outcome.owners[key]
                    old = take(present(key, self.owners[key], self.scope), [])
                never_read = key[0] in ("code", "value")
                grown[key] = join(old, kind, never_read, True)
            fresh = [h for h in outcome.written if h not in set(self.states)]
            if grown == self.kinds and not fresh:
                return outcome
            self.kinds = grown
            self.states += fresh
        changing = [k[1] for k, v in self.kinds.items() if isinstance(v, Either)]
        names = [n for n in changing if isinstance(n, str)] or ["a value"]
        kinds = next((text(v) for v in self.kinds.values() if isinstance(v, Either)), "")
        raise located(
            ValueError,
            f"The loop {self.place} changes the kind of '{names[0]}' in every turn ({kinds}): a "
            "compiled loop carries one shape, dtype and length. Pad it to its largest size, or run "
            "this part in PYNATIVE_MODE.",
            named=False,
        )

    def _inputs(self) -> list[Any]:
        shapes: list[Any] = []
        for key, kind in self.kinds.items():
            if key[0] != "code":
                shapes += _avals(kind)
        return shapes

    def _traced(self, counter: Any) -> Outcome:
        kinds = {k: v for k, v in self.kinds.items() if k[0] != "code"}
        count = sum(map(size, kinds.values()))
        states = list(self.states)

        def run(*arrays: Any) -> dict[Key, Any]:
            frame = current.frame
            assert frame is not None
            for handle, array in zip(states, arrays[count : count + len(states)], strict=True):
                frame.values[handle] = array
            values = rebuilt(kinds, arrays[:count], self.place)
            before = values.pop(("value",))
            for key, value in values.items():
                if key[0] == "name":
                    write(self.scope.cells[key[1]], value)
                else:
                    deliver(key, self.owners[key], value, self.scope)
            index = arrays[-1] if counter is not None else None
            signal, more = self.turn(index)
            parts = signal_values(signal)
            if parts["value",] is UNDEFINED:
                parts["value",] = before
            with Wide():
                going = self._more(signal, more, frame)
            out: dict[Key, Any] = {("name", n): read(c) for n, c in self.scope.live.items()}
            return {**out, **parts, ("more",): going}

        inputs = [*self._inputs(), *(_typeof(h.array) for h in states)]
        if counter is not None:
            inputs.append(_typeof(counter[0]))
        try:
            return trace(run, inputs, self.place)
        finally:
            self.scope.restore()

    def _more(self, signal: Any, more: Any, frame: Any) -> Any:
        """Tell whether another turn follows: not after an exit or an error."""
        if signal is not None and isinstance(signal.code, int):
            return jnp.asarray(False)
        going = more()
        if signal is not None:
            going = jnp.logical_and(going, signal.code.array == NONE)
        errors = frame.root_frame().errors
        if errors and errors[0].state in frame.written:
            going = jnp.logical_and(going, frame.values[errors[0].state] == 0)
        return jnp.asarray(going)

    def _run(
        self,
        outcome: Outcome,
        begin: dict[Key, Any],
        arrays: dict[Key, list[Any]],
        first: Any,
        counter: Any,
    ) -> tuple[dict[Key, Any], list[Any]]:
        if outcome.raised:
            return self._raising(outcome, first, counter)
        keys = [k for k in self.kinds if k[0] != "code"]
        leaves = "code" in {k[0] for k in outcome.kinds} and outcome.kinds["code",] != Const(NONE)
        start: list[Any] = []
        for key in keys:
            kind, own = begin.get(key), arrays.get(key)
            if kind is None:
                own = []
                kind = take(present(key, self.owners[key], self.scope), own)
            assert own is not None
            start += adapt(kind, iter(own), self.kinds[key])
        count = len(start)
        states = [h.array for h in self.states]
        code = np.int32(NONE)
        if begin["code",] != Const(NONE):
            code = arrays["code",][0].astype(np.int32)
        index = [] if counter is None else [jnp.asarray(counter[0])]
        carry = [first, jnp.asarray(code), *start, *states, *index]
        places = {h: i for i, h in enumerate(outcome.written)}

        def body(carry: list[Any]) -> list[Any]:
            values, writes = outcome.call(outcome.reads, carry[2:])
            flat: list[Any] = []
            for key in keys:
                flat += adapt(outcome.kinds[key], iter(values[key]), self.kinds[key])
            old = carry[2 + count : 2 + count + len(states)]
            new = [
                writes[places[h]] if h in places else o
                for h, o in zip(self.states, old, strict=True)
            ]
            self._check(old, new)
            now = carry[1]
            if leaves:
                now = adapt(outcome.kinds["code",], iter(values["code",]), _CODE)[0]
            following = [] if counter is None else [counter[1](carry[-1])]
            return [values["more",][0], now.astype(np.int32), *flat, *new, *following]

        last = _iterate(body, carry, self._length(outcome, leaves))
        values = rebuilt({k: self.kinds[k] for k in keys}, last[2 : 2 + count], self.place)
        left = leaves or begin["code",] != Const(NONE)
        values["code",] = TracedNumber(last[1], int) if left else NONE
        return values, list(last[2 + count : 2 + count + len(states)])

    def _length(self, outcome: Outcome, leaves: bool) -> int | None:
        raises = any(isinstance(h, raising.ErrorState) for h in outcome.written)
        return None if leaves or raises else self.length

    def _raising(self, outcome: Outcome, first: Any, counter: Any) -> Any:
        """Run a loop whose first turn always raises: a branch."""
        index = [] if counter is None else [jnp.asarray(counter[0])]
        start: list[Any] = []
        for key, kind in self.kinds.items():
            if key[0] == "name":
                own: list[Any] = []
                value = take(self.scope.before[key[1]], own)
                start += adapt(value, iter(own), kind)
        states = [h.array for h in self.states]
        inputs = [*start, *states, *index]
        new = lax.cond(
            first,
            lambda given: outcome.call(outcome.reads, given)[1],
            lambda given: [h.array for h in outcome.written],
            inputs,
        )
        for handle, value in zip(outcome.written, new, strict=True):
            handle.assign_value(value)
        values: dict[Key, Any] = {("name", n): self.scope.before[n] for n in self.scope.live}
        values["code",], values["value",] = NONE, UNDEFINED
        return values, [h.array for h in self.states]

    def _check(self, old: Sequence[Any], new: Sequence[Any]) -> None:
        for handle, before, after in zip(self.states, old, new, strict=True):
            if before.shape != after.shape or before.dtype != after.dtype:
                name = getattr(handle, "name", None) or "a Tensor"
                raise located(
                    ValueError,
                    f"The loop {self.place} changes the shape or dtype of '{name}' from "
                    f"{before.shape}, {before.dtype} to {after.shape}, {after.dtype}: a compiled "
                    "loop carries one shape and dtype.",
                    named=False,
                )


_CODE = Number(int)


def _avals(kind: Any) -> list[Any]:
    return [_typeof(a) for a in zeros(kind)]


def _typeof(array: Any) -> Any:
    return jax.ShapeDtypeStruct(jnp.shape(array), array.dtype)


def _iterate(body: Callable[[list[Any]], list[Any]], carry: list[Any], length: int | None) -> Any:
    """Repeat a body of which the first array tells whether to go on."""
    if length is not None:
        return lax.scan(lambda c, _: (body(c), None), carry, length=length)[0]
    return checkpointed_while(lambda c: c[0], body, carry)
