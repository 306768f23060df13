"""`jit_class`: plain objects whose attributes are state of the programs that write them."""

from __future__ import annotations

import dis
import functools
from typing import Any

from mindjax.core.errors import located
from mindjax.core.handle import Handle, current
from mindjax.tensor.parameter import changed

_PLAIN = (bool, int, float, str, type(None))
_OWN = ("_made_in_graph", "_pending", "_set_aside")
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__", "__setstate__")


def jit_class(cls: type) -> type:
    """Make the attributes of a class's objects state (MindSpore: ``jit_class``).

    An int, float or Tensor that a method writes is an input and an output of the compiled function
    that calls the method; other attributes are constants of it, and a change is seen.

    Args:
        cls: a class whose objects have a ``__dict__``.

    Returns:
        The class itself.

    Raises:
        TypeError: ``cls`` is not a class.
    """
    if not isinstance(cls, type):
        raise located(
            TypeError, f"Decorator jit_class can only be used for class type, but got {cls}."
        )
    cls.__ms_class__ = True  # type: ignore[attr-defined]
    if hasattr(cls, "_enter_graph"):
        return cls  # a Cell's attributes are state already
    get, put, make = cls.__getattribute__, cls.__setattr__, cls.__init__

    @functools.wraps(make)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        own = getattr(self, "__dict__", None)
        if own is not None and "_made_in_graph" not in own:
            # What is made while a graph is traced is the trace's own, not state.
            own["_made_in_graph"] = current.frame is not None
        make(self, *args, **kwargs)

    def __getattribute__(self: Any, name: str) -> Any:
        if name.startswith("__") or name in _OWN:
            return get(self, name)
        own = getattr(self, "__dict__", None)
        if own is None or own.get("_made_in_graph", True):
            return get(self, name)
        return _read(self, own, name, get)

    def __setattr__(self: Any, name: str, value: Any) -> None:
        own = getattr(self, "__dict__", None)
        if own is None or own.get("_made_in_graph", True):
            put(self, name, value)
        elif current.frame is not None:
            current.frame.write_attribute(self, name, value)
        else:
            own.get("_pending", {}).pop(name, None)
            put(self, name, value)
            changed()

    cls.__init__ = __init__
    cls.__getattribute__ = __getattribute__
    cls.__setattr__ = __setattr__
    return cls


def _read(owner: Any, own: dict[str, Any], name: str, get: Any) -> Any:
    """Read an attribute as the active frame sees it."""
    frame = current.frame
    pending = own.get("_pending", {})
    if frame is not None:
        found, value = frame.read_attribute(owner, name)
        if found:
            return value
        root = frame.root_frame()
        root.guards[_Guard(owner)] = None
        value = own.get(name)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        state = number or isinstance(value, Handle) or name in pending
        if root.root and state and name in _written(type(owner)):
            root.expect_attribute(owner, name)
            return frame.read_attribute(owner, name)[1]
    elif name in pending:
        own[name] = pending.pop(name).read()
    aside = own.get("_set_aside", {})
    return aside[name] if name in aside else get(owner, name)


@functools.cache
def _written(cls: type) -> frozenset[str]:
    """Find the attributes that methods write, constructors left out."""
    names: set[str] = set()
    for base in cls.__mro__:
        for method, function in vars(base).items():
            code = getattr(function, "__code__", None)
            if code is not None and method not in _CONSTRUCTORS:
                stores = (i for i in dis.get_instructions(code) if i.opname == "STORE_ATTR")
                names.update(i.argval for i in stores)
    return frozenset(names)


class _Guard:
    """What a program takes as constant from an object; equal for one object."""

    __slots__ = ("owner",)

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Guard) and self.owner is other.owner

    def __hash__(self) -> int:
        return id(self.owner)

    def guard(self) -> Any:
        """Give a snapshot of the attributes that no method writes."""
        written = _written(type(self.owner))
        return {
            name: (type(value), value)
            for name, value in self.owner.__dict__.items()
            if isinstance(value, _PLAIN)
            and name not in _OWN
            and (name not in written or isinstance(value, bool | str | type(None)))
        }
