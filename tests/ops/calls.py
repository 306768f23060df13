"""Base calls of public functions and Primitives, read from the faces of the op tables."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

from tests.ops.compare import NAMES, inputs, present
from tests.ops.table import VARIABLES, Case, families


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of a public name within a face of a case.

    Args:
        path: the name, as ``ops.add`` or ``ops.Add``.
        case: where it stands; gives the inputs.
        arguments: its arguments.
        constructor: the arguments of the class, where it is one.
    """

    path: str
    case: Case
    arguments: ast.Call
    constructor: ast.Call | None

    def target(self) -> Any:
        """Find the function or class."""
        return functools.reduce(getattr, self.path.split(".")[1:], NAMES[self.path.split(".")[0]])

    def values(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Evaluate the arguments of the call."""
        return captured(self.arguments, self.case)

    def attributes(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Evaluate the arguments of the constructor."""
        return ((), {}) if self.constructor is None else captured(self.constructor, self.case)


def captured(call: ast.Call, case: Case) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Evaluate the arguments of a call."""
    names = {**NAMES, **dict(zip(VARIABLES, inputs(case), strict=False))}
    names["_capture"] = lambda *args, **kwargs: (args, kwargs)
    made = ast.Call(ast.Name("_capture", ast.Load()), call.args, call.keywords)
    tree = ast.fix_missing_locations(ast.Expression(made))
    return eval(compile(tree, f"<{case.name}>", "eval"), names)


def dotted(node: ast.expr) -> str:
    """Write a public name, or nothing."""
    text = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
    return text if re.fullmatch(r"(ops|mint|ms\.numpy)(\.\w+)+", text) else ""


def calls_of(case: Case) -> Iterator[Call]:
    """Find the calls of public names in the faces of a case."""
    for index in present(case):
        body = "\n".join(case.body(case.faces[index]))
        if ";" in case.faces[index] or "lambda" in body or " for " in body:
            continue  # statements: what a name holds is known only when they run
        for node in ast.walk(ast.parse(body.replace("return ", ""))):
            if not isinstance(node, ast.Call):
                continue
            path = dotted(node.func)
            if path and not path.rpartition(".")[2][0].isupper():
                yield Call(path, case, node, None)
            elif isinstance(node.func, ast.Call) and dotted(node.func.func):
                yield Call(dotted(node.func.func), case, node, node.func)


@functools.cache
def table_calls() -> dict[str, list[Call]]:
    """Give the calls of every public name, in the order of the tables."""
    found: dict[str, list[Call]] = {}
    for cases in families().values():
        for case in cases:
            if not case.raises:
                for call in calls_of(case):
                    found.setdefault(call.path, []).append(call)
    return found


def public_functions(module: types.ModuleType) -> dict[str, Callable[..., Any]]:
    """Give the public functions of a namespace."""
    names = set(dir(module)) | set(getattr(module, "__all__", ()))
    found = {n: getattr(module, n, None) for n in sorted(names) if not n.startswith("_")}
    return {n: f for n, f in found.items() if isinstance(f, types.FunctionType)}
