"""Which functions are rewritten, and the rewritten functions, one a code object."""

from __future__ import annotations

import ast
import functools
import os
import sysconfig
import threading
import types
from collections.abc import Callable
from typing import Any

from mindjax.core.caches import Cache
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.core.state import _Rewriting
from mindjax.core.values import in_graph
from mindjax.graph import control
from mindjax.graph.control import calls
from mindjax.graph.syntax.expressions import RUNTIME
from mindjax.graph.syntax.rewrite import PREFIX, can_rewrite, needs_rewriting, rewrite
from mindjax.graph.syntax.source import source_of

_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_PATHS = sysconfig.get_paths()
_STANDARD = tuple({_PATHS["stdlib"] + os.sep, _PATHS["platstdlib"] + os.sep})
_INSTALLED = ("site-packages" + os.sep, "dist-packages" + os.sep)

_codes: Cache[Any] = Cache("rewritten functions", 4096)
_modules: dict[str, bool] = {}
_cell = types.CellType(control)
_ABSENT = object()
# Python 3.11 raises SystemError where two threads make trees or compile them.
_lock = threading.RLock()


def is_users(function: types.FunctionType) -> bool:
    """Tell whether a function is a user's: not MindJAX's, Python's, or of a library without it."""
    path = function.__code__.co_filename
    found = _modules.get(path)
    if found is None:
        found = _modules[path] = _is_users_file(path, function.__globals__)
    return found


def _is_users_file(path: str, names: dict[str, Any]) -> bool:
    if path.startswith(_OWN) or path.startswith("<frozen "):
        return False
    installed = any(part in path for part in _INSTALLED)
    if not installed:
        return not path.startswith(_STANDARD)
    # A library is a user's if it is written with MindSpore.
    for value in list(names.values()):
        home = value.__name__ if isinstance(value, types.ModuleType) else None
        home = home or getattr(value, "__module__", None)
        if isinstance(home, str) and home.partition(".")[0] in ("mindjax", "mindspore"):
            return True
    return False


def rewritten(function: types.FunctionType) -> Callable[..., Any]:
    """Give a function that does what ``function`` does and lets traced values decide.

    Args:
        function: Python function.

    Returns:
        A function with the same closure, defaults and names; ``function`` itself where nothing in
        its source needs it, or where it has no source.
    """
    code = function.__code__
    found = _codes.get(code)
    if found is None:
        with _lock:
            found = _codes.get(code) or _codes.put(code, _compiled(function) or _ABSENT)
            if found is not _ABSENT:
                # What was rewritten is not rewritten again.
                _codes.put(found, _ABSENT)
    if found is _ABSENT:
        return function
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells[RUNTIME] = _cell
    closure = tuple(cells[name] for name in found.co_freevars)
    made = types.FunctionType(
        found, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    made.__dict__.update(function.__dict__)
    made.__module__ = function.__module__
    return made


def _compiled(function: types.FunctionType) -> types.CodeType | None:
    """Compile the rewritten function; None if it stays as it is."""
    if not is_users(function):
        return None
    source = source_of(function)
    if source is None:
        return None
    node = source.node
    if isinstance(node, ast.Lambda):
        node = _as_function(node)
    if not needs_rewriting(node) or not can_rewrite(node):
        return None
    try:
        return _compile(rewrite(node), function.__code__, source.owner)
    except (SyntaxError, RecursionError):
        # Deeper than Python's compiler goes, as 20 blocks in each other: plain tracing is left.
        return None


def _as_function(node: ast.Lambda) -> ast.FunctionDef:
    body = ast.copy_location(ast.Return(value=node.body), node.body)
    made = ast.FunctionDef(
        name=f"{PREFIX}lambda",
        args=node.args,
        body=[body],
        decorator_list=[],
        returns=None,
        type_comment=None,
    )
    if "type_params" in ast.FunctionDef._fields:
        made.type_params = []  # type: ignore[attr-defined]
    return ast.copy_location(made, node)


def _compile(
    node: ast.FunctionDef, old: types.CodeType, owner: str | None
) -> types.CodeType | None:
    """Compile a tree in a scope that has the names which the old function closed over."""
    # Under another name: a function that calls itself finds itself where it did before.
    name = node.name = f"{PREFIX}function"
    body: ast.stmt = node
    if owner is not None:
        # Private names take the class's.
        body = ast.ClassDef(name=owner, bases=[], keywords=[], body=[node], decorator_list=[])
        if "type_params" in ast.ClassDef._fields:
            body.type_params = []  # type: ignore[attr-defined]
    free = [*old.co_freevars, RUNTIME]
    names = [ast.arg(arg=n) for n in free]
    scope = ast.FunctionDef(
        name=f"{PREFIX}scope",
        args=ast.arguments(posonlyargs=[], args=names, kwonlyargs=[], kw_defaults=[], defaults=[]),
        body=[body],
        decorator_list=[],
        returns=None,
        type_comment=None,
    )
    if "type_params" in ast.FunctionDef._fields:
        scope.type_params = []  # type: ignore[attr-defined]
    ast.copy_location(scope, node)
    module = ast.Module(body=[ast.fix_missing_locations(scope)], type_ignores=[])
    flags = old.co_flags & 0x1FF0000
    made = compile(module, old.co_filename, "exec", flags=flags, dont_inherit=True)
    found = _find(made, name)
    if found is None or not set(found.co_freevars) <= {*free}:
        return None
    # Not its first line, which a decorator moves: the other lines count from there.
    return _renamed(found, old.co_name, old.co_qualname).replace(
        co_name=old.co_name, co_qualname=old.co_qualname
    )


def _find(code: types.CodeType, name: str) -> types.CodeType | None:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if constant.co_name == name:
                return constant
            found = _find(constant, name)
            if found is not None:
                return found
    return None


def _renamed(code: types.CodeType, name: str, qualname: str) -> types.CodeType:
    """Give blocks the name of their function, as tracebacks show it."""
    constants = tuple(
        _renamed(c, name, qualname) if isinstance(c, types.CodeType) else c for c in code.co_consts
    )
    if code.co_name.startswith(PREFIX):
        return code.replace(co_consts=constants, co_name=name, co_qualname=qualname)
    return code.replace(co_consts=constants)


def converted(function: Any) -> Any:
    """Prepare what a graph calls.

    Args:
        function: anything callable.

    Returns:
        For a user's function, method, partial or object with ``__call__``, its rewritten twin while
        a program of MindJAX is traced; everything else as it is.
    """
    if not in_graph():
        return function
    return convert(function)


def convert(function: Any) -> Any:
    """Rewrite what `converted` rewrites, in whatever mode."""
    cls = type(function)
    if cls is types.FunctionType:
        return rewritten(function)
    if cls is types.MethodType:
        inner = function.__func__
        if type(inner) is types.FunctionType:
            made = rewritten(inner)
            return function if made is inner else types.MethodType(made, function.__self__)
        return function
    if cls is functools.partial:
        made = convert(function.func)
        same = made is function.func
        return function if same else functools.partial(made, *function.args, **function.keywords)
    if cls is types.BuiltinFunctionType or isinstance(function, type | Primitive | Handle):
        return function
    method = vars(cls).get("__call__") or getattr(cls, "__call__", None)  # noqa: B004
    if type(method) is types.FunctionType:
        made = rewritten(method)
        return function if made is method else types.MethodType(made, function)
    return function


_Rewriting.convert = staticmethod(converted)
calls.prepare = convert
