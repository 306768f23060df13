"""The syntax tree of a function, found in its file by where its code object says it stands."""

from __future__ import annotations

import ast
import linecache
import types
from typing import NamedTuple

Function = ast.FunctionDef | ast.Lambda


class Source(NamedTuple):
    """A function's tree.

    Attributes:
        node: the function.
        owner: name of the class that the function stands in, for private names, or None.
        lines: the lines of the file.
    """

    node: Function
    owner: str | None
    lines: list[str]


class _File:
    """The functions of a file by the line and name that their code objects have."""

    def __init__(self, tree: ast.Module, lines: list[str]) -> None:
        self.lines = lines
        self.functions: dict[tuple[int, str], list[tuple[Function, str | None]]] = {}
        self._visit(tree, None)

    def _visit(self, node: ast.AST, owner: str | None) -> None:
        for child in ast.iter_child_nodes(node):
            inner = owner
            if isinstance(child, ast.ClassDef):
                inner = child.name
            elif isinstance(child, ast.FunctionDef):
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                self.functions.setdefault((first, child.name), []).append((child, owner))
            elif isinstance(child, ast.Lambda):
                self.functions.setdefault((child.lineno, "<lambda>"), []).append((child, owner))
            self._visit(child, inner)


_files: dict[str, tuple[tuple[str, ...], _File | None]] = {}


def _file(path: str, module: dict[str, object]) -> _File | None:
    lines = linecache.getlines(path, module)
    found = _files.get(path)
    if found is not None and len(found[0]) == len(lines) and found[0] == tuple(lines):
        return found[1]
    try:
        made = _File(ast.parse("".join(lines)), lines) if lines else None
    except SyntaxError:
        made = None
    if len(_files) > 256:
        _files.clear()
    _files[path] = tuple(lines), made
    return made


def source_of(function: types.FunctionType) -> Source | None:
    """Find the tree of a function.

    Args:
        function: Python function or lambda.

    Returns:
        Its tree, or None where there is no source, or where it is not this function's.
    """
    code = function.__code__
    file = _file(code.co_filename, function.__globals__)
    if file is None:
        return None
    found = file.functions.get((code.co_firstlineno, code.co_name), [])
    fitting = [(n, owner) for n, owner in found if _arguments(n) == _names(code)]
    if len(fitting) > 1:
        # Lambdas of one line: the innermost whose columns hold the code's.
        fitting = [(n, owner) for n, owner in fitting if _holds(n, code)]
        fitting.sort(key=lambda pair: _extent(pair[0]))
        fitting = fitting[:1]
    if not fitting:
        return None
    return Source(fitting[0][0], fitting[0][1], file.lines)


def _names(code: types.CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return tuple(n.rpartition("__")[2] if "__" in n else n for n in code.co_varnames[:count])


def _arguments(node: Function) -> tuple[str, ...]:
    a = node.args
    names = [*a.posonlyargs, *a.args, *a.kwonlyargs]
    names += [x for x in (a.vararg, a.kwarg) if x is not None]
    # A class's private names carry the class in the code object.
    return tuple(n.arg.rpartition("__")[2] if "__" in n.arg else n.arg for n in names)


def _holds(node: Function, code: types.CodeType) -> bool:
    """Tell whether a code object's columns lie in a function's body."""
    body = node.body
    if isinstance(body, list):
        return True
    start = body.lineno, body.col_offset
    end = body.end_lineno or 0, body.end_col_offset or 0
    places = [(p[0], p[2], p[3]) for p in code.co_positions()]
    columns = [(line, first) for line, first, last in places if line and first is not None and last]
    return bool(columns) and all(start <= c <= end for c in columns)


def _extent(node: Function) -> tuple[int, int]:
    lines = (node.end_lineno or 0) - node.lineno
    return lines, (node.end_col_offset or 0) - node.col_offset
