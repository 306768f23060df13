"""Primitives that are called with sizes, axes or dtypes: these become fields of a bound record."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from mindjax.core import checks
from mindjax.core.caches import Cache
from mindjax.core.dtype import Type
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive, typed_key

Bound = TypeVar("Bound", bound="BoundPrimitive")

# Records that one operator keeps for the static values that it was called with.
_MOST_BOUND = 256
_PLAIN = (int, bool, str, type(None))

_RECORDS: Cache[Any] = Cache("bound records", 4096)


def set_fields(record: Primitive, **values: Any) -> None:
    """Write attributes of a record that is being made, in the form that its program needs.

    Args:
        record: the primitive, in its ``__post_init__``.
        values: new values.
    """
    for name, value in values.items():
        object.__setattr__(record, name, value)


def _plain(values: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Give a key for static values of the plainest kinds, None for others."""
    parts: list[Any] = []
    for value in (*values, *named.values()) if named else values:
        kind = type(value)
        if kind is tuple:
            if any(type(v) is not int for v in value):
                return None
        elif kind not in _PLAIN and not isinstance(value, Type):
            return None
        parts += kind, value
    return (*parts, *named) if named else tuple(parts)


class BoundPrimitive(Primitive, register=False):
    """Base of primitives that are called with static values after their arrays.

    The static values are keyword-only fields, so that a record with them is a whole program:
    ``Reshape()(x, (2, 3))`` runs ``Reshape(shape=(2, 3))`` on ``x``.

    - ``arrays``: number of inputs that are arrays.
    - ``statics``: names of the fields that the further inputs fill, by position or by name.
    """

    arrays: ClassVar[int] = 1
    statics: ClassVar[tuple[str, ...]] = ()

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Run the operator; what stands after the arrays is bound first.

        Raises:
            TypeError: there are more inputs than the operator has, or one is unknown.
        """
        count = self.arrays
        if len(inputs) == count and not named:
            return self._dispatch(*inputs)
        key = _plain(inputs[count:], named)
        bound = self.__dict__.setdefault("_bound", {}).get(key)
        if bound is None:
            bound = self._bind_call(inputs, named)
            if key is not None:
                kept = self.__dict__["_bound"]
                if len(kept) >= _MOST_BOUND:
                    kept.clear()
                kept[key] = bound
        if type(self).__call__ is BoundPrimitive.__call__:
            return bound._dispatch(*inputs[:count])
        return bound(*inputs[:count])

    def _bind_call(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Give the record that a call binds."""
        count, statics = self.arrays, self.statics
        given = dict(zip(statics, inputs[count:], strict=False))
        if len(inputs) > count + len(statics) or not named.keys() <= set(statics) - given.keys():
            raise located(
                TypeError,
                f"For '{self.name}', the inputs after {count} Tensors must be {list(statics)}, but "
                f"got {len(inputs)} inputs and {list(named)}.",
            )
        given.update(named)
        checked = self.bind(**{k: checks.python_value(v) for k, v in given.items()})
        return self.with_statics(**checked)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check and normalise the static values of a call; subclasses extend it."""
        return statics

    def with_statics(self: Bound, **statics: Any) -> Bound:
        """Copy the record with other static values, which are checked already."""
        fresh = object.__new__(type(self))
        fields = self.__dict__
        fresh.__dict__.update({f: fields[f] for f in type(self)._fields})
        fresh.__dict__.update(statics)
        if "_strategy" in fields:
            fresh.__dict__["_strategy"] = fields["_strategy"]
        return fresh

    @classmethod
    def of(cls: type[Bound], *values: Any) -> Bound:
        """Give the shared record with these static values, made once."""
        key = (cls, *(typed_key(cls, f, v) for f, v in zip(cls.statics, values, strict=True)))
        found = _RECORDS.get(key)
        if found is None:
            found = _RECORDS.put(key, cls(**dict(zip(cls.statics, values, strict=True))))
        return found
