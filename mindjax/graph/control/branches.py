"""Branches: `if`, conditional expressions, logic, comparisons, and what follows an exit."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core.errors import located
from mindjax.core.handle import Handle, Tracer, current, wrap
from mindjax.core.number import TracedNumber
from mindjax.core.state import Wide
from mindjax.graph.control import raising
from mindjax.graph.control.blocks import (
    GIVE,
    NEXT,
    NONE,
    Key,
    Outcome,
    Raised,
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
)
from mindjax.graph.control.joining import (
    UNDEFINED,
    Late,
    Same,
    adapt,
    is_traced_value,
    join,
    take,
    zeros,
)

Thunk = Callable[[], Any]
_NAMES = tuple[str, ...]


def truth(test: Any) -> Any:
    """Give a condition as a bool, or as a traced Bool array of shape ().

    Raises:
        ValueError: a Tensor has not one element.
    """
    if isinstance(test, Late):
        test = raising.use(test, "")
    if isinstance(test, TracedNumber):
        with Wide():
            return test.array != 0
    if isinstance(test, Handle):
        late = test.is_parameter and current.frame is not None
        if not late and not isinstance(test.array, Tracer):
            return bool(test)
        if test.size != 1:  # type: ignore[attr-defined]
            shape = ", ".join(map(str, test.value_shape))
            raise located(
                ValueError,
                "Only tensor which shape is () or (1,) can be converted to bool, but got tensor "
                f"shape is ({shape}): reduce it with all() or any(), or choose element by element "
                "with ops.where.",
                named=False,
            )
        with Wide():
            return test.array.reshape(()) != 0
    if isinstance(test, Tracer) and test.size == 1:
        return test.reshape(()) != 0
    return bool(test)


def if_(test: Any, first: Thunk, second: Thunk | None, live: _NAMES, dead: _NAMES) -> Any:
    """Run one of two blocks, or make a branch of the program.

    Args:
        test: condition.
        first: block where it is true.
        second: block where it is not, if there is one.
        live: names that the blocks bind and that are read later.
        dead: other names that they bind.

    Returns:
        The block's signal.
    """
    flag = truth(test)
    if isinstance(flag, bool):
        if flag:
            return first()
        return second() if second is not None else None
    scope = Scope((first, second), live, dead)
    return branch(flag, _block(first, scope), _block(second, scope), scope)


def _block(block: Thunk | None, scope: Scope) -> Callable[..., dict[Key, Any]]:
    def run() -> dict[Key, Any]:
        signal = as_user(block) if block is not None else None
        values: dict[Key, Any] = {("name", n): read(c) for n, c in scope.live.items()}
        return {**values, **signal_values(signal)}

    return run


def branch(
    flag: Any,
    first: Callable[..., dict[Key, Any]],
    second: Callable[..., dict[Key, Any]],
    scope: Scope,
) -> Any:
    """Make a conditional of two blocks and put its results where they belong.

    Args:
        flag: traced Bool array of shape ().
        first: block where it is true; gives values by key.
        second: block where it is false.
        scope: names that the blocks bind.

    Returns:
        The signal.
    """
    place = here()
    before: dict[Key, Any] = {("name", n): v for n, v in scope.before.items()}
    outcomes: list[Outcome] = []
    with Wide():
        for block in (first, second):
            try:
                outcomes.append(trace(block, [], place, before))
            finally:
                scope.restore()
        results = _conditional(flag, outcomes, scope, place)
    signal = _deliver_all(results, outcomes, scope)
    if any(o.raised for o in outcomes):
        raising.mark()
    if all(o.raised for o in outcomes):
        raise Raised
    return signal


def _deliver_all(results: dict[Key, Any], outcomes: list[Outcome], scope: Scope) -> Any:
    owners = {k: o for outcome in outcomes for k, o in outcome.owners.items()}
    signal = None
    for key, value in results.items():
        if key[0] == "value":
            signal = signal_of(results["code",], value)
        elif key[0] != "code":
            deliver(key, owners.get(key), value, scope)
    return signal


def _conditional(flag: Any, outcomes: list[Outcome], scope: Scope, place: str) -> dict[Key, Any]:
    """Write both outcomes as one kind and choose between them."""
    keys = list(dict.fromkeys(k for o in outcomes for k in o.kinds))
    owners = {k: o for outcome in outcomes for k, o in outcome.owners.items()}
    extras: list[dict[Key, list[Any]]] = [{}, {}]
    for outcome, extra in zip(outcomes, extras, strict=True):
        for key in keys:
            if key not in outcome.kinds and not outcome.raised:
                extra[key] = []
                value = present(key, owners.get(key), scope)
                outcome.kinds[key] = take(value, extra[key])
    alive = [o for o in outcomes if not o.raised]
    aliases = [_rebound(o, alive) for o in outcomes]
    joint: dict[Key, Any] = {}
    for key in keys:
        kinds = [o.kinds[key] for o in alive]
        never_read = key[0] in ("value", "code")
        joint[key] = kinds[0] if len(kinds) == 1 else join(kinds[0], kinds[1], never_read)
    written = list(dict.fromkeys(h for o in outcomes for h in o.written))
    olds = [h.array for h in written]

    def path(
        outcome: Outcome, extra: dict[Key, list[Any]], alias: dict[Key, Key]
    ) -> Callable[..., list[Any]]:
        def run(reads: Any, more: Any, olds: Any) -> list[Any]:
            values, writes = outcome.call(reads, [])
            new = dict(zip(outcome.written, writes, strict=True))
            old = dict(zip(written, olds, strict=True))
            flat: list[Any] = []
            for key in keys:
                if outcome.raised:
                    flat += zeros(joint[key])
                    continue
                arrays = (
                    more[list(extra).index(key)] if key in extra else values[alias.get(key, key)]
                )
                flat += adapt(outcome.kinds[key], iter(arrays), joint[key])
            states = [new.get(h, old[h]) for h in written]
            _check_states(written, states, olds, place)
            return [*flat, *states]

        return run

    runs = [path(o, e, a) for o, e, a in zip(outcomes, extras, aliases, strict=True)]
    operands = [(o.reads, list(e.values())) for o, e in zip(outcomes, extras, strict=True)]
    outs = lax.cond(
        flag,
        lambda a, b, olds: runs[0](*a, olds),
        lambda a, b, olds: runs[1](*b, olds),
        *operands,
        olds,
    )
    count = len(outs) - len(written)
    for handle, value in zip(written, outs[count:], strict=True):
        handle.assign_value(value)
    return rebuilt(joint, outs[:count], place)


def _rebound(outcome: Outcome, alive: list[Outcome]) -> dict[Key, Key]:
    """Find names of containers that one path changes in place where another binds them anew."""
    aliases: dict[Key, Key] = {}
    for key, kind in outcome.kinds.items():
        inside = ("contents", id(kind.value)) if isinstance(kind, Same) else None
        if inside in outcome.produced and any(o.kinds[key] != kind for o in alive):
            assert inside is not None
            outcome.kinds[key] = outcome.produced[inside]
            aliases[key] = inside
    return aliases


def _check_states(
    handles: Sequence[Any], new: Sequence[Any], old: Sequence[Any], place: str
) -> None:
    for handle, a, b in zip(handles, new, old, strict=True):
        if tuple(a.shape) != tuple(b.shape) or a.dtype != b.dtype:
            name = getattr(handle, "name", None) or "a Tensor"
            raise located(
                ValueError,
                f"'{name}' is written with shape {tuple(a.shape)} and {a.dtype} on one path only, "
                f"and has {tuple(b.shape)} and {b.dtype} on another, as {place} decides when the "
                "program runs: write the same shape and dtype on both.",
                named=False,
            )


# -- what follows an exit --


def then(signal: Any, rest: Thunk, live: _NAMES, dead: _NAMES) -> Any:
    """Run the rest of a block unless it was left.

    Args:
        signal: how what came before ended.
        rest: the rest of the block.
        live: names that it binds and that are read later.
        dead: other names that it binds.

    Returns:
        The signal of the whole.
    """
    if signal is None:
        return rest()
    if isinstance(signal.code, int):
        return signal
    with Wide():
        going = signal.code.array == NONE
    scope = Scope((rest,), live, dead)

    def left() -> dict[Key, Any]:
        names: dict[Key, Any] = {("name", n): v for n, v in scope.before.items() if n in scope.live}
        return {**names, **signal_values(signal)}

    return branch(going, _block(rest, scope), left, scope)


def end(signal: Any) -> Any:
    """Give a function's result of its last signal."""
    if signal is None:
        return None
    return None if signal.value is UNDEFINED else signal.value


def after_turn(signal: Any) -> Any:
    """Take a `continue` as the end of a turn."""
    if signal is None or isinstance(signal.code, int):
        return None if signal is None or signal.code == NEXT else signal
    with Wide():
        code = jnp.where(signal.code.array == NEXT, NONE, signal.code.array)
    return Signal(TracedNumber(code, int), signal.value)


def after_loop(signal: Any) -> Any:
    """Take a `break` as the end of a loop."""
    if signal is None or isinstance(signal.code, int):
        return signal if signal is not None and signal.code == GIVE else None
    with Wide():
        code = jnp.where(signal.code.array == GIVE, GIVE, NONE)
    return Signal(TracedNumber(code, int), signal.value)


# -- expressions --


def choose(test: Any, first: Thunk, second: Thunk) -> Any:
    """Give ``first if test else second``."""
    flag = truth(test)
    if isinstance(flag, bool):
        return first() if flag else second()
    return _chosen(flag, first, second)


def _chosen(flag: Any, first: Thunk, second: Thunk) -> Any:
    scope = Scope((), (), ())

    def block(thunk: Thunk) -> Callable[[], dict[Key, Any]]:
        return lambda: {("code",): GIVE, ("value",): as_user(thunk)}

    signal = branch(flag, block(first), block(second), scope)
    return signal.value


def and_(first: Any, second: Thunk, easy: bool) -> Any:
    """Give ``first and second``; ``easy`` if the second may be evaluated in any case."""
    flag = truth(first) if is_traced_value(first) else first
    if not is_traced_value(flag):
        return second() if flag else first
    return _logical(flag, first, second, easy, True)


def or_(first: Any, second: Thunk, easy: bool) -> Any:
    """Give ``first or second``; ``easy`` if the second may be evaluated in any case."""
    flag = truth(first) if is_traced_value(first) else first
    if not is_traced_value(flag):
        return first if flag else second()
    return _logical(flag, first, second, easy, False)


def _is_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return True
    if isinstance(value, TracedNumber):
        return value.kind is bool
    return isinstance(value, Handle) and value.size == 1 and value.value_dtype == np.bool_  # type: ignore[attr-defined]


def _logical(flag: Any, first: Any, second: Thunk, easy: bool, both: bool) -> Any:
    """Combine a traced condition with another one, or choose between two values by it."""
    if not _is_bool(first):
        return (
            _chosen(flag, second, lambda: first) if both else _chosen(flag, lambda: first, second)
        )
    if not easy:
        value = (
            _chosen(flag, second, lambda: False) if both else _chosen(flag, lambda: True, second)
        )
        return _as_truth(value)
    other = second()
    if not _is_bool(other):
        return (
            _chosen(flag, lambda: other, lambda: first)
            if both
            else _chosen(flag, lambda: first, lambda: other)
        )
    with Wide():
        right = truth(other)
        return wrap(jnp.logical_and(flag, right) if both else jnp.logical_or(flag, right))


def _as_truth(value: Any) -> Any:
    """Make a 0-d Tensor of a truth value."""
    if isinstance(value, TracedNumber) and value.kind is bool:
        return wrap(value.array)
    if isinstance(value, Late):
        # Its truth is all that is asked of `and` and `or` of unlike operands.
        return value
    return value


def not_(value: Any) -> Any:
    """Give ``not value``."""
    flag = truth(value) if is_traced_value(value) else not value
    if isinstance(flag, bool):
        return not flag if is_traced_value(value) else flag
    with Wide():
        return wrap(jnp.logical_not(flag))


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
}


def compare(left: Any, *pairs: Any) -> Any:
    """Give a chain of comparisons.

    Args:
        left: first operand.
        *pairs: operators and functions that give the further operands.
    """
    result: Any = True
    for op, operand in zip(pairs[::2], pairs[1::2], strict=True):
        right = operand()
        if op in ("in", "not in"):
            found = contains(right, left)
            found = not_(found) if op == "not in" else found
        else:
            found = _COMPARISONS[op](left, right)
        result = found if result is True else and_(result, lambda found=found: found, True)
        if not is_traced_value(result) and not result:
            return result
        left = right
    return result


def contains(container: Any, value: Any) -> Any:
    """Give ``value in container``, also of traced Tensors in a tuple or list."""
    if type(container) not in (tuple, list) or not (
        is_traced_value(value) or any(map(is_traced_value, container))
    ):
        if isinstance(container, Handle) and isinstance(container.array, Tracer):
            return (container == value).any()
        return value in container
    result: Any = False
    for item in container:
        if item is value:
            return True
        try:
            found = item == value
        except (TypeError, ValueError):
            continue
        result = or_(result, lambda found=found: found, True)
    return result
