"""How a record is run: as one program, each op as its own, with what ends it or before that."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import jax

from mindjax.core import fused, jax_private
from mindjax.core.executable import alone, execute
from mindjax.core.interrupts import Shield
from mindjax.core.pending import Failed, Pending
from mindjax.core.trie import BITS, MASK, Structure, leaf_place

if TYPE_CHECKING:
    from mindjax.core.recording import Ending, Recording

# So many new structures in a row, and ops are run at once until as many reads as the second number;
# twice as many the next time, up to the third. A program's first step alone may have as many.
_STRANGE, PAUSE, _MOST_PAUSE = 8, 2, 64
# Bytes of a record's results up to which none is freed before the record has run.
_SMALL_RECORD = 1 << 25


def end(recording: Recording, ending: Ending) -> None:
    """Run the record and its ending; the caller holds the locks."""
    guard = nullcontext() if jax_private.untraced() else jax.ensure_compile_time_eval()
    with Shield(), guard:
        try:
            values = with_ending(recording, ending)
        except Exception:
            # Without the ending the error is found and named, or there is none.
            values = None
        try:
            if values is None:
                apart(recording, ending)
        finally:
            recording.alone = recording.unread = 0
            recording.begin()


def with_ending(recording: Recording, ending: Ending) -> Any:
    """Run the record and its ending as one program, if the two have been met together."""
    live = recording.live()
    # What the ending reads, and somebody else too, comes from it: it may write over its inputs.
    passed = ending.passed
    places = (*[passed.get(place, place) for place in live], *ending.places)
    dead = recording.dead(live, ending.outputs)
    values = fused.run(ending.step.structure(), recording.leaves, places, dead, recording.layout)
    if values is None:
        return None
    _give(recording, live, values)
    last = len(values) - len(ending.outputs)
    for new, value in zip(ending.results, values[len(live) : last], strict=True):
        new.value = value
    for handle, new, value in zip(ending.written, ending.outputs, values[last:], strict=True):
        new.value = value
        if handle._value is new:
            handle._value = value
    return values


def apart(recording: Recording, ending: Ending) -> None:
    """Run the record, and then its ending on what it gave."""
    leaves = recording.leaves
    for handle, new, reference in zip(ending.written, ending.outputs, ending.first, strict=True):
        if handle._value is new:
            handle._value = leaves[leaf_place(reference)]
    needed = [r for r in ending.arguments if r >= 0]
    run(recording, tuple(dict.fromkeys([*recording.live(), *needed])))
    arguments = [
        leaves[leaf_place(r)] if r < 0 else recording.output(r).value for r in ending.arguments
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


def _give(recording: Recording, live: Sequence[int], values: Sequence[Any]) -> None:
    """Note the values of what has run as one program, which may give more."""
    recording.strange, recording.pause = 0, PAUSE
    outputs = recording.outputs
    for place, value in zip(live, values, strict=False):
        out = outputs[place & ~MASK]
        (out if type(out) is Pending else out[place & MASK]).value = value


def run(recording: Recording, live: tuple[int, ...]) -> None:
    """Run the ops of a record, and give the values at the places that are asked for."""
    leaves, count = recording.leaves, recording.step.number
    if count == 1 and type(recording.outputs[0]) is Pending:
        # A lone op with one output is run as the plain engine runs it.
        op = recording.step.op
        if tuple not in map(type, op):
            arrays = [None if r is None else leaves[leaf_place(r)] for r in op[1:]]
            try:
                recording.outputs[0].value = execute(op[0], tuple(arrays), arrays, False)
            except Exception as error:
                recording.outputs[0].value = Failed(error)
            return
    structure = recording.step.structure()
    if count > 1:
        dead = recording.dead(live)
        if not dead:
            done = _together(recording, structure, live, dead)
        else:
            # What is given away must not be lost to Ctrl-C before the results have its place.
            with Shield():
                done = _together(recording, structure, live, dead)
        if done:
            return
        recording.strange += 1
        if recording.strange >= _STRANGE:
            recording.at_once = recording.pause
            recording.pause = min(2 * recording.pause, _MOST_PAUSE)
            # What is met twice in a row after the pause is compiled.
            recording.strange = _STRANGE - 2
    _apiece(recording, structure, live)


def _together(
    recording: Recording, structure: Structure, live: tuple[int, ...], dead: list[int]
) -> bool:
    """Run the record as one program; tell whether it was."""
    try:
        values = fused.run(structure, recording.leaves, live, dead, recording.layout)
    except Exception:
        # Op by op the error is found and named; the other values are still given.
        return False
    if values is None:
        return False
    _give(recording, live, values)
    return True


def _apiece(recording: Recording, structure: Structure, live: tuple[int, ...]) -> None:
    """Run the ops of the record, each as its own program."""
    leaves = recording.leaves
    if recording.size() < _SMALL_RECORD:
        try:
            for place, value in zip(live, quickly(structure.ops, leaves, live), strict=True):
                recording.output(place).value = value
            return
        except Exception:
            # Found again below, where it is named.
            pass
    results, errors = one_by_one(structure.ops, leaves, live)
    for place in live:
        if place >> BITS in errors:
            recording.output(place).value = Failed(errors[place >> BITS])
        else:
            recording.output(place).value = results[place]


def quickly(ops: Sequence[Any], leaves: list[Any], live: Sequence[int]) -> list[Any]:
    """Run the ops that live values need, each as its own program, and keep all until the end.

    Args:
        ops: as in `recording.Recording`.
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
                results[number] = alone(op[0])(*arrays)
    finally:
        jax_private.set_x64(old)
    return [fused.value_of(place, results, leaves) for place in live]


def one_by_one(
    ops: Sequence[Any], leaves: list[Any], live: Sequence[int]
) -> tuple[dict[int, Any], dict[int, Exception]]:
    """Run the ops that live values need, each as its own program.

    Args:
        ops: as in `recording.Recording`.
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
