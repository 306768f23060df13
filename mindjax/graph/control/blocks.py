"""Blocks of a user's function, traced on their own: what they give, read and write."""

from __future__ import annotations

import linecache
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.core import eval_jaxpr

from mindjax.core import jax_private
from mindjax.core.errors import user_line
from mindjax.core.handle import Handle, current
from mindjax.core.state import StateFrame
from mindjax.core.values import Passing
from mindjax.graph.control import changes
from mindjax.graph.control.joining import UNDEFINED, Const, Late, put, size, take

Run = Callable[..., Any]
Key = tuple[Any, ...]

NONE, NEXT, STOP, GIVE = range(4)
"""Codes of signals: the end was reached, continue, break, return."""


class Signal:
    """How a block ended before its end.

    Args:
        code: one of the codes above, or a number that the program computes.
        value: what is returned.
    """

    __slots__ = ("code", "value")

    def __init__(self, code: Any, value: Any = UNDEFINED) -> None:
        self.code, self.value = code, value


BREAK, CONTINUE = Signal(STOP), Signal(NEXT)


def Return(value: Any) -> Signal:
    """Make the signal of a return."""
    return Signal(GIVE, value)


class Raised(Passing):
    """Ends the trace of a block that raises when the program runs."""


@dataclass
class Block:
    """What a block that is being traced has changed in objects of Python's.

    Attributes:
        boxes: by id, a container and its contents before.
        attributes: by id and name, an object and the attribute before.
        place: where the block is, with its source.
    """

    place: str
    boxes: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    attributes: dict[tuple[int, str], tuple[Any, Any]] = field(default_factory=dict)


class _Active(threading.local):
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.tries: list[int] = []
        self.calls: dict[Any, int] = {}


active = _Active()


def here() -> str:
    """Give the user's place in a form for messages: file, line and the source there."""
    line = user_line()
    path, _, number = line.rpartition(":")
    source = linecache.getline(path, int(number)).strip() if number.isdigit() else ""
    return f"`{source}` ({line})" if source else line


# -- changes of Python's objects --


def contents(box: Any) -> Any:
    """Copy a container's contents."""
    return dict(box) if isinstance(box, dict) else list(box) if isinstance(box, list) else set(box)


def refill(box: Any, items: Any) -> None:
    """Give a container other contents."""
    if isinstance(box, list):
        box[:] = items
    else:
        box.clear()
        box.update(items)


def note_change(box: Any) -> None:
    """Note that a container is about to be changed."""
    noted = changes.active.changes
    if noted is not None:
        noted.note_box(box)
    if active.blocks and isinstance(box, list | dict | set):
        active.blocks[-1].boxes.setdefault(id(box), (box, contents(box)))


def note_attribute(owner: Any, name: str) -> None:
    """Note that an attribute of a plain object is about to be written."""
    noted = changes.active.changes
    if noted is None and not active.blocks:
        return
    if not is_plain(owner):
        return
    if noted is not None:
        noted.note_attribute(owner, name)
    if active.blocks:
        written = active.blocks[-1].attributes
        if (id(owner), name) not in written:
            written[id(owner), name] = owner, changes.attribute(owner, name)


def is_plain(owner: Any) -> bool:
    """Tell whether an object's attributes are Python's alone, no state of programs."""
    managed = hasattr(owner, "_enter_graph") or getattr(type(owner), "__ms_class__", False)
    held = hasattr(owner, "__dict__") or hasattr(type(owner), "__slots__")
    return not managed and not isinstance(owner, Handle) and held


def write_attribute(owner: Any, name: str, value: Any) -> None:
    """Write an attribute as the user's code would."""
    if is_plain(owner):
        note_attribute(owner, name)
        if value is UNDEFINED:
            changes.put_attribute(owner, name, value)
        else:
            setattr(owner, name, value)
    elif current.frame is not None:
        current.frame.write_attribute(owner, name, value)


# -- local names --


def cells_of(*functions: Any) -> dict[str, Any]:
    """Give the cells of the names that blocks share with their function."""
    cells: dict[str, Any] = {}
    for function in functions:
        closure = getattr(function, "__closure__", None)
        if closure:
            cells.update(zip(function.__code__.co_freevars, closure, strict=True))
    return cells


def read(cell: Any) -> Any:
    """Read a name; `UNDEFINED` if it holds nothing."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNDEFINED


def write(cell: Any, value: Any) -> None:
    """Write a name."""
    if value is not UNDEFINED:
        cell.cell_contents = value
    elif read(cell) is not UNDEFINED:
        del cell.cell_contents


class Scope:
    """The names that a construct binds.

    Args:
        functions: its blocks.
        live: names that are read later.
        dead: names that are not.
    """

    def __init__(self, functions: Sequence[Any], live: Sequence[str], dead: Sequence[str]) -> None:
        cells = cells_of(*functions)
        self.live = {n: cells[n] for n in live if n in cells}
        self.cells = {**self.live, **{n: cells[n] for n in dead if n in cells}}
        self.before = {n: read(c) for n, c in self.cells.items()}

    def restore(self) -> None:
        """Give every name what it held before."""
        for name, cell in self.cells.items():
            write(cell, self.before[name])


# -- tracing --


@dataclass
class Outcome:
    """A block as a pure function.

    Attributes:
        kinds: by key, what the block gives: names, attributes, contents of containers, the signal.
        owners: by key, the object of an attribute or container.
        written: handles that the block writes.
        reads: arrays that it reads from around it.
        raised: whether it always raises.
        produced: by key, the kinds of its outputs; ``kinds`` may get more.
    """

    jaxpr: Any
    reads: list[Any]
    kinds: dict[Key, Any]
    owners: dict[Key, Any]
    written: list[Handle]
    raised: bool
    produced: dict[Key, Any]

    def call(self, reads: Sequence[Any], inputs: Sequence[Any]) -> tuple[dict[Key, Any], list[Any]]:
        """Map inputs to arrays by key and to the written arrays."""
        outs = iter(eval_jaxpr(self.jaxpr, reads, *inputs))
        values = {k: [next(outs) for _ in range(size(kind))] for k, kind in self.produced.items()}
        return values, list(outs)


def as_user(run: Run, *args: Any) -> Any:
    """Call a user's block with the user's setting of 64-bit types."""
    user = current.user_x64
    if user is None:
        return run(*args)
    old = jax_private.swap_x64(user)
    try:
        return run(*args)
    finally:
        jax_private.set_x64(old)


def trace(
    run: Callable[..., dict[Key, Any]],
    inputs: Sequence[Any],
    place: str,
    before: dict[Key, Any] | None = None,
) -> Outcome:
    """Trace a block.

    Args:
        run: gets arrays and gives values by key; what it writes besides is found.
        inputs: shapes of the arrays.
        place: where the block is.
        before: values by key that are left as they are where ``run`` gives the same object.

    Returns:
        The block as a pure function.
    """
    frame, block = StateFrame(), Block(place)
    kinds: dict[Key, Any] = {}
    owners: dict[Key, Any] = {}
    state = {"raised": False}
    before = before or {}

    def traced(*arrays: Any) -> list[Any]:
        taken: list[Any] = []
        with frame:
            active.blocks.append(block)
            try:
                values = run(*arrays)
            except Raised:
                state["raised"] = True
                values = {}
            finally:
                active.blocks.pop()
                found = _changes(block, frame, owners)
            if not state["raised"]:
                for key, value in (*values.items(), *found.items()):
                    old = before.get(key, UNDEFINED)
                    if isinstance(old, Handle) and old in frame.written:
                        old = UNDEFINED
                    kinds[key] = take(value, taken, old)
            return [*taken, *(frame.values[h] for h in frame.written)]

    old = jax_private.swap_x64(True)
    try:
        closed = jax.make_jaxpr(traced)(*inputs)
    finally:
        jax_private.set_x64(old)
    return Outcome(
        closed.jaxpr,
        list(closed.consts),
        kinds,
        owners,
        list(frame.written),
        state["raised"],
        dict(kinds),
    )


def _changes(block: Block, frame: StateFrame, owners: dict[Key, Any]) -> dict[Key, Any]:
    """Collect what a block has changed in objects, and put the plain ones back."""
    values: dict[Key, Any] = {}
    for (number, name), (owner, value) in frame.attributes.items():
        key = ("attribute", number, name)
        values[key], owners[key] = value, owner
    frame.attributes.clear()
    for (number, name), (owner, _) in block.attributes.items():
        key = ("attribute", number, name)
        values[key] = changes.attribute(owner, name)
        owners[key] = owner
    for (_, name), (owner, old) in reversed(block.attributes.items()):
        changes.put_attribute(owner, name, old)
    for number, (box, old) in block.boxes.items():
        key = ("contents", number)
        values[key], owners[key] = contents(box), box
        refill(box, old)
    return values


def present(key: Key, owner: Any, scope: Scope) -> Any:
    """Give the value that a key has where a block does not change it."""
    if key[0] == "name":
        return scope.before[key[1]]
    if key[0] == "attribute":
        return getattr(owner, key[2], UNDEFINED)
    if key[0] == "contents":
        return contents(owner)
    return NONE if key[0] == "code" else UNDEFINED


def deliver(key: Key, owner: Any, value: Any, scope: Scope) -> None:
    """Put a value where its key says."""
    if key[0] == "name":
        write(scope.cells[key[1]], value)
    elif key[0] == "attribute":
        write_attribute(owner, key[2], value)
    elif key[0] == "contents":
        if isinstance(value, Late):
            raise value.refused()
        note_change(owner)
        refill(owner, value)


def signal_values(signal: Any) -> dict[Key, Any]:
    """Give a signal's parts by key."""
    if signal is None:
        return {("code",): NONE, ("value",): UNDEFINED}
    return {("code",): signal.code, ("value",): signal.value}


def signal_of(code: Any, value: Any) -> Signal | None:
    """Put a signal together."""
    if isinstance(code, int):
        return None if code == NONE else Signal(code, value)
    return Signal(code, value)


def rebuilt(kinds: dict[Key, Any], arrays: Sequence[Any], place: str) -> dict[Key, Any]:
    """Put values together of their kinds and arrays."""
    following = iter(arrays)
    return {key: put(kind, following, place) for key, kind in kinds.items()}


def undefined() -> Any:
    """Give the kind of a name that holds nothing."""
    return Const(UNDEFINED)
