"""The rewrite of expressions: what asks for a truth value, an index or a call."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

RUNTIME = "_mindjax_graph"
"""Name of the run time in rewritten functions."""

_PLAIN_CALLS = frozenset(
    ("locals", "globals", "vars", "dir", "eval", "exec", "breakpoint", "super")
)
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_AUGMENTED: dict[type[ast.operator], str] = {
    ast.Add: "iadd",
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.Div: "itruediv",
    ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.MatMult: "imatmul",
    ast.BitAnd: "iand",
    ast.BitOr: "ior",
    ast.BitXor: "ixor",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
}


def runtime(name: str) -> ast.expr:
    """Give the expression of a member of the run time."""
    return ast.Attribute(value=ast.Name(id=RUNTIME, ctx=ast.Load()), attr=name, ctx=ast.Load())


def call(name: str, *args: ast.expr) -> ast.Call:
    """Give a call of a member of the run time."""
    return ast.Call(func=runtime(name), args=list(args), keywords=[])


def later(body: ast.expr) -> ast.expr:
    """Give a function of no arguments that evaluates an expression."""
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=empty, body=body)


def constant(value: Any) -> ast.expr:
    """Give a constant, also of tuples."""
    if isinstance(value, tuple):
        return ast.Tuple(elts=[constant(v) for v in value], ctx=ast.Load())
    return ast.Constant(value=value)


def is_static(test: ast.expr) -> bool:
    """Tell whether a condition surely is Python's: a constant, an identity, an isinstance."""
    if isinstance(test, ast.Constant):
        return True
    if isinstance(test, ast.Compare):
        return all(isinstance(op, ast.Is | ast.IsNot) for op in test.ops)
    if isinstance(test, ast.BoolOp):
        return all(map(is_static, test.values))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_static(test.operand)
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
        return test.func.id in ("isinstance", "hasattr", "callable", "issubclass")
    return False


def _is_simple(node: ast.expr) -> bool:
    """Tell whether an expression can be evaluated without harm where Python would skip it."""
    kinds = (
        *(ast.Name, ast.Constant, ast.Attribute, ast.Compare, ast.BinOp, ast.UnaryOp, ast.BoolOp),
        *(ast.operator, ast.cmpop, ast.unaryop, ast.boolop, ast.expr_context),
    )
    return all(isinstance(n, kinds) for n in ast.walk(node))


class Expressions(ast.NodeTransformer):
    """Rewrites the expressions of one function; functions within stay as they are.

    Args:
        checked: names that may hold nothing, or no one value, when they are read.
        receiver: name of the first argument, for ``super()``.
    """

    def __init__(self, checked: frozenset[str], receiver: str | None) -> None:
        self.checked, self.receiver = checked, receiver

    def visit(self, node: ast.AST) -> Any:
        """Rewrite a tree; what is made stands where the old one stood."""
        made = super().visit(node)
        if made is not node and isinstance(made, ast.expr) and isinstance(node, ast.expr):
            ast.copy_location(made, node)
            ast.fix_missing_locations(made)
        return made

    def handed_on(self, node: ast.expr) -> ast.expr:
        """Rewrite an expression whose names are handed on as they are, not computed with."""
        if isinstance(node, ast.Name) and node.id in self.checked:
            made = call("given", node, ast.Constant(value=node.id))
            return ast.fix_missing_locations(ast.copy_location(made, node))
        if isinstance(node, ast.Tuple | ast.List):
            node.elts = [self.handed_on(e) for e in node.elts]
            return node
        return self.visit(node)

    def _untouched(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _untouched

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Check a name that may hold nothing."""
        if isinstance(node.ctx, ast.Load) and node.id in self.checked:
            return call("use", node, ast.Constant(value=node.id))
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Let the run time choose what is called."""
        plain = isinstance(node.func, ast.Name) and node.func.id in _PLAIN_CALLS
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "super" and not node.args and self.receiver is not None:
            names = ast.Name(id="__class__", ctx=ast.Load()), ast.Name(self.receiver, ast.Load())
            node.args = list(names)
            return node
        node = self.generic_visit(node)  # type: ignore[assignment]
        if not plain:
            node.func = ast.copy_location(call("fn", node.func), node.func)
        return node

    def _lazy(self, node: ast.BoolOp) -> bool:
        return not any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Make `and` and `or` calls with operands that are evaluated when needed."""
        if is_static(node) or not self._lazy(node):
            return self.generic_visit(node)  # type: ignore[return-value]
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        simple = [_is_simple(v) for v in node.values]
        values = [self.visit(v) for v in node.values]
        out, easy = values[-1], simple[-1]
        for value, is_simple in zip(values[-2::-1], simple[-2::-1], strict=True):
            out = call(name, value, later(out), ast.Constant(value=easy))
            easy = easy and is_simple
        return out

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Make `not` a call."""
        if not isinstance(node.op, ast.Not) or is_static(node):
            return self.generic_visit(node)  # type: ignore[return-value]
        return call("not_", self.visit(node.operand))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Make a conditional expression a call."""
        walrus = any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))
        if is_static(node.test) or walrus:
            return self.generic_visit(node)  # type: ignore[return-value]
        test, first, second = map(self.visit, (node.test, node.body, node.orelse))
        return call("choose", test, later(first), later(second))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Make chains and memberships calls."""
        ops = [_OPERATORS[type(op)] for op in node.ops]
        walrus = any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))
        if walrus or (len(ops) == 1 and ops[0] not in ("in", "not in")):
            return self.generic_visit(node)  # type: ignore[return-value]
        operands = [self.visit(v) for v in (node.left, *node.comparators)]
        pairs: list[ast.expr] = []
        for op, operand in zip(ops, operands[1:], strict=True):
            pairs += [ast.Constant(value=op), later(operand)]
        return call("compare", operands[0], *pairs)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Let the run time look up indices that may be traced, and note changes of containers."""
        fixed = all(
            isinstance(
                n, (ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp, ast.USub, ast.expr_context)
            )
            for n in ast.walk(node.slice)
        )
        node = self.generic_visit(node)  # type: ignore[assignment]
        if not isinstance(node.ctx, ast.Load):
            node.value = ast.copy_location(call("changing", node.value), node.value)
            if not fixed:
                node.slice = ast.copy_location(call("index", _sliced(node.slice)), node.slice)
            return node
        return node if fixed else call("item", node.value, _sliced(node.slice))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Note writes of attributes."""
        node = self.generic_visit(node)  # type: ignore[assignment]
        if not isinstance(node.ctx, ast.Load):
            owner = call("owner", node.value, ast.Constant(value=node.attr))
            node.value = ast.copy_location(owner, node.value)
        return node


def _sliced(index: ast.expr) -> ast.expr:
    """Write an index with slices as an expression."""
    if isinstance(index, ast.Slice):
        parts = [p or ast.Constant(value=None) for p in (index.lower, index.upper, index.step)]
        return call("slice_", *parts)
    if isinstance(index, ast.Tuple) and any(isinstance(e, ast.Slice) for e in index.elts):
        return ast.Tuple(elts=[_sliced(e) for e in index.elts], ctx=ast.Load())
    return index


def augmented(node: ast.AugAssign, value: ast.expr, old: ast.expr) -> ast.expr:
    """Write ``x += value`` as the value that x gets."""
    return call("augment", ast.Constant(value=_AUGMENTED[type(node.op)]), old, value)


Visit = Callable[[ast.AST], Any]
