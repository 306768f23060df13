"""Statements with nested expressions made into several, each with one operation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from mindjax.rewrite.scoped_value import dotted

_OPERATIONS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mult", ast.Div: "div", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmult", ast.LShift: "lshift",
    ast.RShift: "rshift", ast.BitOr: "bitor", ast.BitXor: "bitxor", ast.BitAnd: "bitand",
    ast.Not: "not", ast.USub: "usub", ast.UAdd: "uadd", ast.Invert: "invert",
    ast.And: "and", ast.Or: "or",
    ast.Eq: "eq", ast.NotEq: "noteq", ast.Lt: "lt", ast.LtE: "lte", ast.Gt: "gt", ast.GtE: "gte",
    ast.Is: "is", ast.IsNot: "isnot", ast.In: "in", ast.NotIn: "notin",
}  # fmt: skip


def operation(code: ast.expr) -> str | None:
    """Name an operation on values, as ``binop_add``; None for another expression."""
    if isinstance(code, ast.BinOp):
        return f"binop_{_OPERATIONS[type(code.op)]}"
    if isinstance(code, ast.UnaryOp):
        return f"unaryop_{_OPERATIONS[type(code.op)]}"
    if isinstance(code, ast.BoolOp):
        return f"boolop_{_OPERATIONS[type(code.op)]}"
    if isinstance(code, ast.Compare):
        return "_".join(["compare", *(_OPERATIONS[type(op)] for op in code.ops)])
    return None


def names_in(code: ast.AST) -> set[str]:
    """Give all names that stand in a piece of code."""
    found = {n.id for n in ast.walk(code) if isinstance(n, ast.Name)}
    found |= {n.arg for n in ast.walk(code) if isinstance(n, ast.arg)}
    return found


def unique(name: str, taken: set[str]) -> str:
    """Give a name with the smallest number behind it that is free, and take it."""
    made, count = name, 0
    while made in taken:
        count += 1
        made = f"{name}_{count}"
    taken.add(made)
    return made


def flatten(statements: list[ast.stmt], taken: set[str]) -> list[ast.stmt]:
    """Make statements of one operation each; conditions of ``while`` stay as they are.

    What Python computes only sometimes stays where it is: operands of ``and``, ``or``, chained
    comparisons and conditional expressions.

    Args:
        statements: body of a function or of a branch or loop in it.
        taken: names of the function; new ones join them.
    """
    out: list[ast.stmt] = []
    # The original counts the new names from the end.
    for statement in reversed(statements):
        group = [statement]
        at = 0
        while at >= 0:
            before = _split(group[at], taken)
            group[at:at] = before
            at += len(before) - 1
        out[:0] = [one for s in group for one in _chain(s)]
    for statement in out:
        if isinstance(statement, ast.If | ast.For | ast.While):
            statement.body = flatten(statement.body, taken)
            statement.orelse = flatten(statement.orelse, taken)
    return out


def _chain(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Give ``a = b = c`` as two assignments."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) == 1:
        yield statement
        return
    *targets, last = statement.targets
    if not isinstance(last, ast.Name):
        yield statement
        return
    yield ast.copy_location(ast.Assign([last], statement.value), statement)
    for target in reversed(targets):
        value = ast.Name(last.id, ast.Load())
        yield ast.copy_location(ast.Assign([target], value), statement)


def _split(statement: ast.stmt, taken: set[str]) -> list[ast.stmt]:
    """Move the nested operations of a statement before it, one level deep."""
    before: list[ast.stmt] = []

    def moved(code: ast.expr) -> ast.expr:
        name = _name_of(code)
        if name is None:
            return code
        name = unique(name, taken)
        made = ast.Assign([ast.Name(name, ast.Store())], code)
        before.append(ast.copy_location(made, statement))
        return ast.copy_location(ast.Name(name, ast.Load()), code)

    match statement:
        case ast.Assign(value=value):
            _split_inside(value, moved)
        case ast.Return(value=ast.expr() as value):
            statement.value = moved(value)
        case ast.Expr(value=ast.Call() as value):
            _split_inside(value, moved)
        case ast.If():
            statement.test = moved(statement.test)
        case ast.For():
            if isinstance(statement.iter, ast.Attribute) and dotted(statement.iter):
                name = unique(ast.unparse(statement.iter).replace(".", "_"), taken)
                made = ast.Assign([ast.Name(name, ast.Store())], statement.iter)
                before.append(ast.copy_location(made, statement))
                statement.iter = ast.copy_location(ast.Name(name, ast.Load()), statement)
            else:
                statement.iter = moved(statement.iter)
    return before


def _split_inside(code: ast.expr, moved: Callable[[ast.expr], ast.expr]) -> None:
    match code:
        case ast.Call():
            if isinstance(code.func, ast.Attribute):
                code.func.value = moved(code.func.value)
            else:
                code.func = moved(code.func)
            code.args = [moved(a) for a in code.args]
            for keyword in code.keywords:
                keyword.value = moved(keyword.value)
        case ast.BinOp():
            code.left, code.right = moved(code.left), moved(code.right)
        case ast.UnaryOp():
            code.operand = moved(code.operand)
        case ast.Compare() if len(code.comparators) == 1:
            code.left, code.comparators = moved(code.left), [moved(code.comparators[0])]
        case ast.Tuple() | ast.List():
            code.elts = [moved(e) for e in code.elts]
        case ast.Dict():
            code.values = [moved(v) for v in code.values]


def _name_of(code: ast.expr) -> str | None:
    """Name the variable for a nested operation; None for what stays where it is."""
    match code:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return f"{name}_var"
        case ast.Call():
            return "function_var"
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant()):
            return None
        case ast.BinOp(op=op) | ast.UnaryOp(op=op) | ast.BoolOp(op=op):
            return f"{_OPERATIONS[type(op)]}_var"
        case ast.Compare():
            return "compare_var"
        case ast.Tuple():
            return "tuple_var"
        case ast.List():
            return "list_var"
        case ast.Dict():
            return "dict_var"
        case ast.Subscript():
            return "subscript_var"
    return None
