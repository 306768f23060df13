"""Values that statements read and write: names with their scopes, and constants."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import Enum
from typing import Any

from mindjax.core.errors import located


class ValueType(Enum):
    """What a `ScopedValue` is (MindSpore: ``rewrite.ValueType``)."""

    ConstantValue = 0
    TupleValue = 20
    ListValue = 21
    DictValue = 22
    NamingValue = 40
    CustomObjValue = 41
    UnsupportedValue = 50


class ScopedValue:
    """A name with the scope it lives in, or a constant (MindSpore: ``rewrite.ScopedValue``).

    Args:
        arg_type: what it is.
        scope: what stands before the last dot: ``"self"`` for ``self.conv``.
        value: the name or the constant; the source text of an expression that is neither.
    """

    def __init__(self, arg_type: ValueType, scope: str = "", value: Any = None) -> None:
        require("ScopedValue", "arg_type", arg_type, ValueType)
        require("ScopedValue", "scope", scope, str)
        self.type, self.scope, self.value = arg_type, scope, value

    @classmethod
    def create_variable_value(cls, value: Any) -> ScopedValue:
        """Make a value of a Python object.

        Args:
            value: number, string, bool, None, tuple, list, dict or another object.
        """
        if value is None or isinstance(value, bool | int | float | str):
            return cls(ValueType.ConstantValue, "", value)
        made = cls.create_variable_value
        if type(value) is tuple:
            return cls(ValueType.TupleValue, "", tuple(made(v) for v in value))
        if type(value) is list:
            return cls(ValueType.ListValue, "", [made(v) for v in value])
        if type(value) is dict:
            return cls(ValueType.DictValue, "", {made(k): made(v) for k, v in value.items()})
        if isinstance(value, ScopedValue):
            return value
        return cls(ValueType.CustomObjValue, "", value)

    @classmethod
    def create_naming_value(cls, name: str, scope: str = "") -> ScopedValue:
        """Make a reference to a variable.

        Args:
            name: the variable.
            scope: what it belongs to, such as ``"self"``.

        Raises:
            TypeError: an argument is not a str.
        """
        require("ScopedValue", "name", name, str)
        require("ScopedValue", "scope", scope, str)
        return cls(ValueType.NamingValue, scope, name)

    @staticmethod
    def create_name_values(
        names: list[str] | tuple[str], scopes: list[str] | tuple[str] | None = None
    ) -> list[ScopedValue]:
        """Make references to variables.

        Args:
            names: the variables.
            scopes: what each belongs to.

        Raises:
            TypeError: an argument is not a list or tuple of str.
            ValueError: the lengths differ.
        """
        require_each("ScopedValue", "names", names, str)
        if scopes is None:
            scopes = [""] * len(names)
        require_each("ScopedValue", "scopes", scopes, str)
        if len(names) != len(scopes):
            raise located(
                ValueError,
                f"For 'ScopedValue', the length of 'names' should be equal to that of 'scopes', "
                f"but got {len(names)} and {len(scopes)}.",
            )
        pairs = zip(names, scopes, strict=True)
        return [ScopedValue.create_naming_value(name, scope) for name, scope in pairs]

    def __str__(self) -> str:
        if self.type is ValueType.CustomObjValue:
            return f"CustomObj: {self.value}"
        return f"{self.scope}.{self.value}" if self.scope else str(self.value)

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScopedValue):
            return NotImplemented
        return (self.type, self.scope, self.value) == (other.type, other.scope, other.value)

    def __hash__(self) -> int:
        return hash((self.type, self.scope, str(self.value)))


def value_of(code: ast.expr) -> ScopedValue:
    """Read an expression."""
    if isinstance(code, ast.Name):
        return ScopedValue(ValueType.NamingValue, "", code.id)
    if isinstance(code, ast.Constant):
        return ScopedValue(ValueType.ConstantValue, "", code.value)
    if isinstance(code, ast.Attribute) and dotted(code):
        return ScopedValue(ValueType.NamingValue, ast.unparse(code.value), code.attr)
    if isinstance(code, ast.Tuple | ast.List):
        kind = ValueType.TupleValue if isinstance(code, ast.Tuple) else ValueType.ListValue
        parts = [value_of(e) for e in code.elts]
        return ScopedValue(kind, "", tuple(parts) if isinstance(code, ast.Tuple) else parts)
    return ScopedValue(ValueType.UnsupportedValue, "", ast.unparse(code))


def code_of(value: ScopedValue | str, owner: str) -> ast.expr:
    """Write a value as an expression.

    Args:
        value: what to write; a str is a name, with dots before it where it has a scope.
        owner: function named in the error.

    Raises:
        ValueError: it is no name.
        NotImplementedError: an object cannot be written as source code.
    """
    if isinstance(value, ScopedValue) and value.type is ValueType.ConstantValue:
        return ast.Constant(value.value)
    if isinstance(value, ScopedValue) and value.type is ValueType.CustomObjValue:
        raise located(
            NotImplementedError,
            f"For '{owner}', an object of type '{type(value.value).__name__}' cannot be written as "
            "source code: keep it in an attribute of the network and name that.",
        )
    if isinstance(value, ScopedValue) and isinstance(value.value, tuple | list):
        parts = [code_of(v, owner) for v in value.value]
        made = ast.Tuple if value.type is ValueType.TupleValue else ast.List
        return made(parts, ast.Load())
    if isinstance(value, ScopedValue) and value.type is ValueType.DictValue:
        pairs = [(code_of(k, owner), code_of(v, owner)) for k, v in value.value.items()]
        return ast.Dict([k for k, _ in pairs], [v for _, v in pairs])
    text = str(value)
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        raise located(
            ValueError, f"For '{owner}', a name is wanted as in source code, but got '{text}'."
        ) from None


def dotted(code: ast.expr) -> bool:
    """Tell whether an expression is names with dots between them."""
    while isinstance(code, ast.Attribute):
        code = code.value
    return isinstance(code, ast.Name)


def require(owner: str, name: str, value: Any, *kinds: type) -> None:
    """Check the type of an argument.

    Raises:
        TypeError: it is of none of the types; a bool is no int.
    """
    if isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)):
        return
    names = [k.__name__ for k in kinds]
    wanted = f"'{names[0]}'" if len(names) == 1 else f"one of '{names}'"
    raise located(
        TypeError,
        f"For '{owner}', the type of '{name}' should be {wanted}, but got type "
        f"'{type(value).__name__}'.",
    )


def require_each(owner: str, name: str, values: Any, *kinds: type) -> None:
    """Check that an argument is a list or tuple of values of some types.

    Raises:
        TypeError: it is not.
    """
    require(owner, name, values, list, tuple)
    wanted: Sequence[str] | str = [k.__name__ for k in kinds]
    wanted = wanted[0] if len(wanted) == 1 else f"one of {wanted}"
    for value in values:
        if not isinstance(value, kinds):
            raise located(
                TypeError,
                f"For '{owner}', the type of '{name}' should be {wanted}, but got '{value}' with "
                f"type '{type(value).__name__}'.",
            )
