"""Reading the pickles in files of torch without running anything that they name.

Python's own unpickler calls what a file tells it to. Here the few operations that torch uses are
carried out on inert values: a global is a `Named`, a call of it a `Called`. What they mean, tensors
above all, is decided by whoever reads the result.
"""

from __future__ import annotations

import pickletools
from typing import Any, NamedTuple

# A file that asks for more is no checkpoint.
_MOST_OPERATIONS = 5_000_000
_CONTAINERS: dict[str, Any] = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_SET": set}
_CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_LITERALS = frozenset(
    (
        "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT",
        "STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8",
        "BYTEARRAY8", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8",
    )
)  # fmt: skip
_IGNORED = frozenset(["PROTO", "FRAME", "STOP"])


# What pickletools and the machine raise at bytes that are no pickle; Warning where warnings do.
_FAILURES = (ValueError, IndexError, KeyError, TypeError, OverflowError, MemoryError, Warning)


class PickleError(ValueError):
    """The bytes are no pickle that torch writes; the message says why."""


class Named(NamedTuple):
    """A global that the file names; it is never looked up."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class Called:
    """A call that the file asks for; it is never made.

    Args:
        function: what would be called.
        arguments: with what.
    """

    __slots__ = ("arguments", "function", "items", "state")

    def __init__(self, function: Any, arguments: Any) -> None:
        self.function, self.arguments = function, arguments
        self.items: dict[Any, Any] = {}
        self.state: Any = None


class Stored(NamedTuple):
    """A reference to a storage that lies outside the pickle."""

    key: Any


class _Mark:
    """The mark on the stack."""


class _Machine:
    """The stack and the memo of one pickle."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def since_mark(self) -> list[Any]:
        for at in range(len(self.stack) - 1, -1, -1):
            if type(self.stack[at]) is _Mark:
                found = self.stack[at + 1 :]
                del self.stack[at:]
                return found
        raise PickleError("it is out of order: a mark is missing")

    def pop(self) -> Any:
        value = self.stack.pop()
        if type(value) is _Mark:
            raise PickleError("it is out of order: a mark is in the way")
        return value

    def step(self, name: str, argument: Any) -> None:
        """Carry out one operation."""
        stack = self.stack
        if name in _LITERALS:
            stack.append(argument)
        elif name in _IGNORED:
            return
        elif name in _CONTAINERS:
            stack.append(_CONTAINERS[name]())
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name == "MARK":
            stack.append(_Mark())
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            self._name(argument)
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            self.memo[argument] = stack[-1]
        elif name == "MEMOIZE":
            self.memo[len(self.memo)] = stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(self.memo[argument])
        elif name in ("BINPERSID", "PERSID"):
            stack.append(Stored(self.pop() if argument is None else argument))
        elif name == "POP":
            stack.pop()
        elif name == "DUP":
            stack.append(stack[-1])
        elif name == "POP_MARK":
            self.since_mark()
        else:
            self._combine(name)

    def _name(self, argument: Any) -> None:
        if argument is None:
            name, module = self.pop(), self.pop()
        else:
            module, _, name = argument.partition(" ")
        if not isinstance(module, str) or not isinstance(name, str):
            raise PickleError("it names a global that is no text")
        self.stack.append(Named(module, name))

    def _combine(self, name: str) -> None:
        """Carry out an operation that puts values together."""
        stack = self.stack
        if name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            count = int(name[-1])
            values = [self.pop() for _ in range(count)]
            stack.append(tuple(values[::-1]))
        elif name in ("TUPLE", "LIST", "FROZENSET"):
            values = self.since_mark()
            stack.append(values if name == "LIST" else tuple(values))
        elif name == "DICT":
            values = self.since_mark()
            stack.append({})
            self._set(values)
        elif name == "APPEND":
            self._extend([self.pop()])
        elif name in ("APPENDS", "ADDITEMS"):
            self._extend(self.since_mark())
        elif name == "SETITEM":
            value, key = self.pop(), self.pop()
            self._set([key, value])
        elif name == "SETITEMS":
            self._set(self.since_mark())
        elif name in ("REDUCE", "NEWOBJ"):
            arguments, function = self.pop(), self.pop()
            stack.append(Called(function, arguments))
        elif name == "NEWOBJ_EX":
            self.pop()
            arguments, function = self.pop(), self.pop()
            stack.append(Called(function, arguments))
        elif name in ("INST", "OBJ"):
            raise PickleError("it builds objects of classes: save a state_dict")
        elif name == "BUILD":
            state = self.pop()
            if isinstance(stack[-1], Called):
                stack[-1].state = state
        else:
            raise PickleError(f"it has the operation {name}, which torch does not write")

    def _extend(self, values: list[Any]) -> None:
        target = self.stack[-1]
        if isinstance(target, list):
            target.extend(values)
        elif not isinstance(target, Called | set):
            raise PickleError("it appends to what is no list")

    def _set(self, values: list[Any]) -> None:
        target = self.stack[-1]
        items = target.items if isinstance(target, Called) else target
        if not isinstance(items, dict) or len(values) % 2:
            raise PickleError("it sets items of what is no dictionary")
        for key, value in zip(values[::2], values[1::2], strict=True):
            # Only these keys are of use; a tuple may nest deeply enough to overrun the hashing.
            if isinstance(key, str | int | float | bytes | None):
                items[key] = value


def read_pickle(file: Any) -> Any:
    """Read one pickle, and leave the file behind its end.

    Args:
        file: binary file, open for reading; it needs ``read``, ``readline`` and ``tell``.

    Returns:
        Numbers, texts, bytes, None, lists, tuples, dicts, and `Named`, `Called` and `Stored`.

    Raises:
        PickleError: the bytes are no pickle, or one that torch does not write.
    """
    machine = _Machine()
    try:
        for count, (operation, argument, _) in enumerate(pickletools.genops(file)):
            machine.step(operation.name, argument)
            if count > _MOST_OPERATIONS:
                raise PickleError("it has too many operations")
        result = machine.pop()
    except PickleError:
        raise
    except _FAILURES as error:
        problem = " ".join(str(error).split())[:80]
        raise PickleError(f"it is no whole pickle: {type(error).__name__}: {problem}") from None
    return result
