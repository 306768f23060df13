"""A while loop with a gradient: reverse mode by online checkpointing in a fixed number of slots.

The number of turns is not known beforehand. The forward pass keeps states by the algorithm of Wang,
Moin and Iaccarino, "Minimal repetition dynamic checkpointing algorithm for unsteady adjoint
calculation", SIAM J. Sci. Comput. 31 (2009); the reverse pass restores the last state kept, runs
forward to the one it needs, and keeps states on the way again. With s slots and n turns no turn is
run more than t + 1 times, where t is the least number with binomial(s + t, t) >= n.

The reverse pass is linear in its cotangent and is the transpose of the loop of tangents. Its own
derivative is therefore that of another while loop, over pairs of state and tangent, which has its
gradient from here too: every order of reverse mode works.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import eval_jaxpr
from jax.extend.core import ClosedJaxpr, Jaxpr

from mindjax.graph.forward_mode import directional

SLOTS = 64
"""States that are kept at most; binomial(64 + 3, 3) = 47,905 turns are run at most four times."""

FEWEST_SLOTS = 8
"""States that are kept however large they are."""

SLOT_BYTES = 1 << 30
"""What the slots may take before there are fewer of them."""

Arrays = list[Any]


def checkpointed_while(
    cond: Callable[[Arrays], Any],
    body: Callable[[Arrays], Sequence[Any]],
    init: Sequence[Any],
    slots: int | None = None,
) -> Arrays:
    """Repeat a body while a condition holds, differentiably.

    Without a gradient it is `jax.lax.while_loop`. Arrays that ``cond`` and ``body`` close over are
    differentiated too.

    Args:
        cond: pure function of the list of arrays that gives a Bool scalar.
        body: pure function of the list of arrays that gives the next list, of the same shapes and
            dtypes.
        init: first arrays, floating or not.
        slots: states that a gradient keeps; None chooses up to 64 by their size.

    Returns:
        The last arrays.

    Raises:
        TypeError: ``body`` changes a shape or a dtype, or ``cond`` gives no Bool scalar.
    """
    arrays = [lax.convert_element_type(a, jnp.asarray(a).dtype) for a in init]
    avals = [jax.ShapeDtypeStruct(jnp.shape(a), a.dtype) for a in arrays]
    test = jax.make_jaxpr(lambda *carry: cond(list(carry)))(*avals)
    turn = jax.make_jaxpr(lambda *carry: list(body(list(carry))))(*avals)
    _check(test, turn)
    # What a turn hands on as it is needs no slot and no cotangent a turn.
    moving = [
        before is not after
        for before, after in zip(turn.jaxpr.invars, turn.jaxpr.outvars, strict=True)
    ]
    tests, turns = len(test.consts), len(turn.consts)
    fixed = [a for a, moves in zip(arrays, moving, strict=True) if not moves]
    consts = [*map(jnp.asarray, [*test.consts, *turn.consts]), *fixed]

    def whole(consts: Arrays, carry: Arrays) -> Arrays:
        first, second = iter(carry), iter(consts[tests + turns :])
        return [next(first if moves else second) for moves in moving]

    def going(consts: Arrays, carry: Arrays) -> Any:
        return eval_jaxpr(test.jaxpr, consts[:tests], *whole(consts, carry))[0]

    def taking(jaxpr: Any) -> Callable[[Arrays, Arrays], Arrays]:
        def following(consts: Arrays, carry: Arrays) -> Arrays:
            outs = eval_jaxpr(jaxpr, consts[tests : tests + turns], *whole(consts, carry))
            return [o for o, moves in zip(outs, moving, strict=True) if moves]

        return following

    following, again = taking(turn.jaxpr), taking(_silent(turn.jaxpr))
    start = [a for a, moves in zip(arrays, moving, strict=True) if moves]
    last = _Loop(going, following, again, slots)(consts, start)
    return whole([*consts[: tests + turns], *fixed], last)


def _check(test: Any, turn: Any) -> None:
    if [(a.shape, a.dtype) for a in test.out_avals] != [((), jnp.dtype(bool))]:
        raise TypeError(f"The condition of a while loop is no Bool scalar but {test.out_avals}.")
    before = [(a.shape, a.dtype) for a in turn.in_avals]
    after = [(a.shape, a.dtype) for a in turn.out_avals]
    if before != after:
        raise TypeError(f"A turn of a while loop maps {turn.in_avals} to {turn.out_avals}.")


def _silent(jaxpr: Any) -> Any:
    """Drop what a jaxpr prints: a turn that is run again must not print again."""
    if not jaxpr.effects:
        return jaxpr
    equations, dropped = [], set()
    for equation in jaxpr.eqns:
        if equation.primitive.name == "debug_callback":
            dropped |= set(equation.effects)
            continue
        if equation.effects:
            params = {name: _silent_within(value) for name, value in equation.params.items()}
            effects = set().union(*(j.effects for v in params.values() for j in _jaxprs(v)))
            if any(_jaxprs(v) for v in params.values()):
                dropped |= set(equation.effects) - effects
                kept = set(equation.effects) & effects
                equation = equation.replace(params=params, effects=kept)
        equations.append(equation)
    left = set().union(*(e.effects for e in equations))
    return jaxpr.replace(eqns=equations, effects=jaxpr.effects - (dropped - left))


def _jaxprs(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [j for item in value for j in _jaxprs(item)]
    return [value] if isinstance(value, Jaxpr | ClosedJaxpr) else []


def _silent_within(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(map(_silent_within, value))
    if isinstance(value, ClosedJaxpr):
        return value.replace(jaxpr=_silent(value.jaxpr))
    return _silent(value) if isinstance(value, Jaxpr) else value


class _Split(NamedTuple):
    """Which of a list's arrays have a gradient."""

    real: tuple[bool, ...]

    @classmethod
    def of(cls, arrays: Arrays) -> _Split:
        return cls(tuple(jnp.issubdtype(a.dtype, jnp.inexact) for a in arrays))

    def reals(self, arrays: Sequence[Any]) -> Arrays:
        return [a for a, real in zip(arrays, self.real, strict=True) if real]

    def others(self, arrays: Sequence[Any]) -> Arrays:
        return [a for a, real in zip(arrays, self.real, strict=True) if not real]

    def merge(self, reals: Sequence[Any], others: Sequence[Any]) -> Arrays:
        first, second = iter(reals), iter(others)
        return [next(first if real else second) for real in self.real]

    def scatter(self, reals: Sequence[Any]) -> list[Any]:
        """Give cotangents: None where there is none."""
        values = iter(reals)
        return [next(values) if real else None for real in self.real]


class _Kept(NamedTuple):
    """States kept, and what decides which gives way.

    Attributes:
        states: arrays of one slot a row.
        turns: the turn before which a slot's state stands; -1 for a free slot.
        levels: how often a slot's place was found worth keeping.
        until: the later turn, kept at a higher level, that makes a slot dispensable; -1 for none.
    """

    states: Arrays
    turns: Any
    levels: Any
    until: Any

    @classmethod
    def empty(cls, state: Arrays, slots: int) -> _Kept:
        states = [lax.broadcast(a, (slots,)) for a in state]
        none = jnp.full(slots, -1, jnp.int32)
        return cls(states, none, jnp.zeros(slots, jnp.int32), none)

    def keep(self, turn: Any, state: Arrays) -> _Kept:
        """Keep the state before a turn in the place of the one that is needed least."""
        places = lax.iota(jnp.int32, self.turns.shape[0])
        # Free slots first, then the latest dispensable one, else the last state kept moves on.
        room = jnp.where(self.until < 0, -1, self.turns)
        room = jnp.where(self.turns < 0, _LATEST - places, room)
        most = jnp.max(room)
        moves = most < 0
        here = jnp.where(moves, self.turns == jnp.max(self.turns), room == most)
        slot = jnp.max(jnp.where(here, places, 0))
        level = jnp.where(moves, self.levels[slot] + 1, 0)
        states = [
            lax.dynamic_update_index_in_dim(kept, a, slot, 0)
            for kept, a in zip(self.states, state, strict=True)
        ]
        turns = jnp.where(here, turn, self.turns)
        levels = jnp.where(here, level, self.levels)
        until = jnp.where(here, -1, jnp.where(levels < level, turn, self.until))
        return _Kept(states, turns, levels, until)

    def before(self, turn: Any) -> _Kept:
        """Free the slots of a turn and of later ones."""
        turns = jnp.where(self.turns < turn, self.turns, -1)
        return self._replace(turns=turns, until=jnp.where(self.until < turn, self.until, -1))

    def last(self, start: Arrays) -> tuple[Any, Arrays]:
        """Give the last turn kept, and its state; those of the start if none is."""
        turn = jnp.max(self.turns)
        slot = jnp.argmax(self.turns)
        states = [
            jnp.where(turn < 0, first, lax.dynamic_index_in_dim(kept, slot, 0, False))
            for kept, first in zip(self.states, start, strict=True)
        ]
        return jnp.maximum(turn, 0), states


_LATEST = 2**31 - 1


class _Loop:
    """A while loop as a function of constants and of a carry, with its gradient.

    Args:
        going: maps constants and carry to a Bool scalar.
        following: maps constants and carry to the next carry.
        again: the same without what it prints, for turns that are run again.
        slots: states to keep; None chooses by their size.
    """

    def __init__(
        self,
        going: Callable[[Arrays, Arrays], Any],
        following: Callable[[Arrays, Arrays], Arrays],
        again: Callable[[Arrays, Arrays], Arrays],
        slots: int | None,
    ) -> None:
        self.going, self.following, self.again, self.slots = going, following, again, slots

    def __call__(self, consts: Arrays, start: Arrays) -> Arrays:
        """Run the loop."""

        @jax.custom_vjp
        def loop(consts: Arrays, start: Arrays) -> Arrays:
            return lax.while_loop(
                lambda carry: self.going(consts, carry),
                lambda carry: self.following(consts, carry),
                start,
            )

        def forward(consts: Arrays, start: Arrays) -> Any:
            last, trail = self._keeping(consts, start)
            return last, (consts, start, trail)

        def backward(residuals: Any, cotangents: Arrays) -> Any:
            consts, start, trail = residuals
            return self._backward(consts, start, trail, cotangents)

        loop.defvjp(forward, backward)
        return loop(consts, start)

    def _backward(self, consts: Arrays, start: Arrays, trail: Any, cotangents: Arrays) -> Any:
        shared, carried = _Split.of(consts), _Split.of(start)
        given = carried.reals(cotangents)
        to_consts, to_start = self._reversed(consts, start, trail, given)
        return shared.scatter(to_consts), carried.scatter(to_start)

    def _keeping(self, consts: Arrays, start: Arrays) -> tuple[Arrays, Any]:
        """Run the loop and keep states: gives the last carry, and (turns run, states kept)."""

        @jax.custom_vjp
        def run(consts: Arrays, start: Arrays) -> Any:
            def turn(state: Any) -> Any:
                carry, count, kept = state
                return self.following(consts, carry), count + 1, kept.keep(count, carry)

            first = start, jnp.int32(0), _Kept.empty(start, self._slots_for(start))
            last, count, kept = lax.while_loop(lambda s: self.going(consts, s[0]), turn, first)
            return last, (count, kept)

        def forward(consts: Arrays, start: Arrays) -> Any:
            last, trail = run(consts, start)
            return (last, trail), (consts, start, trail)

        def backward(residuals: Any, cotangents: Any) -> Any:
            # The states kept are a memory of the constants and the start: they carry no cotangent.
            consts, start, trail = residuals
            return self._backward(consts, start, trail, cotangents[0])

        run.defvjp(forward, backward)
        return run(consts, start)

    def _slots_for(self, start: Arrays) -> int:
        if self.slots is not None:
            return self.slots
        size = sum(math.prod(a.shape) * a.dtype.itemsize for a in start)
        return max(FEWEST_SLOTS, min(SLOTS, SLOT_BYTES // max(size, 1)))

    def _reversed(
        self, consts: Arrays, start: Arrays, trail: Any, cotangents: Arrays
    ) -> tuple[Arrays, Arrays]:
        """Map cotangents of the last carry to those of the constants and of the start."""
        shared, carried = _Split.of(consts), _Split.of(start)

        def pull_back_of(params: Arrays, fixed: Arrays, state: Arrays) -> Callable[[Arrays], Any]:
            """Differentiate one turn."""
            integers = carried.others(state)

            def turn(params: Arrays, reals: Arrays) -> Arrays:
                after = self.again(shared.merge(params, fixed), carried.merge(reals, integers))
                return carried.reals(after)

            return jax.vjp(turn, params, carried.reals(state))[1]

        # The integers are arguments too: what a rule closes over would be another trace's by then.
        @jax.custom_vjp
        def sweep(
            params: Arrays,
            reals: Arrays,
            cotangents: Arrays,
            fixed: Arrays,
            moved: Arrays,
            trail: Any,
        ) -> Any:
            first = carried.merge(reals, moved)
            constants = shared.merge(params, fixed)

            def forward(state: Any) -> Any:
                count, carry, kept = state
                count, carry = count + 1, self.again(constants, carry)
                return count, carry, kept.keep(count, carry)

            def back(state: Any) -> Any:
                count, kept, to_state, to_params = state
                kept = kept.before(count)
                place, carry = kept.last(first)
                wanted = count - 1
                _, carry, kept = lax.while_loop(
                    lambda s: s[0] < wanted, forward, (place, carry, kept)
                )
                more, to_state = pull_back_of(params, fixed, carry)(to_state)
                return wanted, kept, to_state, [a + b for a, b in zip(to_params, more, strict=True)]

            count, kept = trail
            zeros = [jnp.zeros_like(p) for p in params]
            last = lax.while_loop(lambda s: s[0] > 0, back, (count, kept, cotangents, zeros))
            return last[3], last[2]

        def sweep_forward(*given: Any) -> Any:
            return sweep(*given), given[:5]

        def sweep_backward(residuals: Any, directions: Any) -> Any:
            # <sweep(c), v> = <c, tangent of the loop along v>.
            params, reals, cotangents, fixed, moved = residuals
            to_params, to_reals = directions
            return (
                *self._transposed(
                    shared,
                    carried,
                    fixed,
                    moved,
                    (params, reals, cotangents),
                    (to_params, to_reals),
                ),
                None,
                None,
                None,
            )

        sweep.defvjp(sweep_forward, sweep_backward)
        return sweep(
            shared.reals(consts),
            carried.reals(start),
            cotangents,
            shared.others(consts),
            carried.others(start),
            trail,
        )

    def _transposed(
        self,
        shared: _Split,
        carried: _Split,
        fixed: Arrays,
        moved: Arrays,
        at: tuple[Arrays, Arrays, Arrays],
        directions: tuple[Arrays, Arrays],
    ) -> tuple[Arrays, Arrays, Arrays]:
        """Differentiate <cotangents, tangent of the loop along the directions>.

        Args:
            shared: which constants are floating.
            carried: which of the carry are.
            fixed: the other constants.
            moved: the others of the first carry.
            at: floating constants, floating part of the first carry, cotangents.
            directions: one of the constants, one of the first carry.

        Returns:
            The derivatives in each of ``at``.
        """
        params, reals, cotangents = at
        count, size = len(params), len(reals)

        def parts(consts: Arrays, carry: Arrays) -> Any:
            values = shared.merge(consts[:count], consts[2 * count :])
            state = carried.merge(carry[:size], carry[2 * size :])
            return values, state

        def going(consts: Arrays, carry: Arrays) -> Any:
            return self.going(*parts(consts, carry))

        def following(consts: Arrays, carry: Arrays) -> Arrays:
            others = carry[2 * size :]

            def turn(params: Arrays, reals: Arrays) -> Any:
                after = self.again(
                    shared.merge(params, consts[2 * count :]), carried.merge(reals, others)
                )
                return carried.reals(after), carried.others(after)

            after, tangents, others = directional(
                turn,
                (consts[:count], carry[:size]),
                (consts[count : 2 * count], carry[size : 2 * size]),
            )
            return [*after, *tangents, *others]

        def tangent(params: Arrays, reals: Arrays) -> Arrays:
            last = _Loop(going, following, following, self.slots)(
                [*params, *directions[0], *fixed], [*reals, *directions[1], *moved]
            )
            return last[size : 2 * size]

        along, pull_back = jax.vjp(tangent, params, reals)
        return (*pull_back(cotangents), along)
