"""Early exits: what follows a branch that ends its block moves into the other branch.

``if c: return a`` with statements after it becomes ``if c: return a`` else those statements, so
that the two branches of a traced condition give one value each, and nothing has to be skipped.
"""

from __future__ import annotations

import ast

from mindjax.graph.syntax.analysis import escapes, terminates


def settle_exits(node: ast.FunctionDef) -> None:
    """Rearrange a function in place, so that branches with exits stand at the end of their blocks.

    Args:
        node: function; it gets an explicit return at its end where an inner statement may return.
    """
    returns = any(not isinstance(s, ast.Return) and escapes(s, True) for s in node.body)
    if returns and not terminates(node.body):
        end = ast.Return(value=ast.Constant(value=None))
        node.body.append(_placed(end, node.body[-1]))
    node.body = _settled(node.body)


def _placed(fresh: ast.stmt, old: ast.stmt) -> ast.stmt:
    line = old.end_lineno or old.lineno
    fresh.lineno = fresh.end_lineno = line
    fresh.col_offset = fresh.end_col_offset = old.col_offset
    ast.fix_missing_locations(fresh)
    return fresh


def _settled(statements: list[ast.stmt]) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for place, statement in enumerate(statements):
        rest = statements[place + 1 :]
        if isinstance(statement, ast.If) and escapes(statement) and rest:
            first, second = terminates(statement.body), terminates(statement.orelse)
            if first and not second:
                statement.orelse = [*statement.orelse, *rest]
                rest = []
            elif second and not first:
                statement.body = [*statement.body, *rest]
                rest = []
            elif first and second:
                rest = []
            _settle_within(statement)
            out.append(statement)
            if not rest:
                return out
            continue
        _settle_within(statement)
        out.append(statement)
        if isinstance(statement, ast.Return | ast.Break | ast.Continue):
            return out
    return out


def _settle_within(statement: ast.stmt) -> None:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        inner = getattr(statement, name, None)
        if inner:
            setattr(statement, name, _settled(inner))
    for handler in getattr(statement, "handlers", ()):
        handler.body = _settled(handler.body)
    for case in getattr(statement, "cases", ()):
        case.body = _settled(case.body)
