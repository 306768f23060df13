"""What a function's statements read and write, and which names are live after them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

Names = frozenset[str]
_NONE: Names = frozenset()
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

MUTATORS = frozenset(
    (
        *("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update"),
        *("setdefault", "popitem", "add", "discard", "appendleft", "popleft"),
    )
)
"""Methods that change a container of Python's."""


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree without what stands in functions and classes within."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _SCOPES):
            yield from own_nodes(child)
        else:
            yield child


def assigned(statements: Iterable[ast.AST]) -> Names:
    """Find the names that statements bind in their function's scope."""
    names: set[str] = set()
    for statement in statements:
        _bound(statement, names, False)
    return frozenset(names)


def _bound(node: ast.AST, names: set[str], inside: bool) -> None:
    """Collect bound names; ``inside`` a comprehension only ``:=`` binds outside of it."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        names.add(node.name)
        return
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del) and not inside:
        names.add(node.id)
    elif isinstance(node, ast.NamedExpr) and isinstance(node.target, ast.Name):
        names.add(node.target.id)
    elif isinstance(node, ast.alias):
        names.add((node.asname or node.name).partition(".")[0])
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        names.add(node.name)
    elif isinstance(node, ast.MatchMapping) and node.rest:
        names.add(node.rest)
    inside = inside or isinstance(node, _COMPREHENSIONS)
    for child in ast.iter_child_nodes(node):
        _bound(child, names, inside)


def loaded(node: ast.AST | None) -> Names:
    """Find the names that a tree reads, functions within included."""
    if node is None:
        return _NONE
    return frozenset(
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    )


def captured(node: ast.FunctionDef) -> Names:
    """Find the names that functions and classes within a function read or bind."""
    names: set[str] = set()
    for child in own_nodes(node):
        if isinstance(child, _SCOPES) and child is not node:
            names.update(n.id for n in ast.walk(child) if isinstance(n, ast.Name))
            for inner in ast.walk(child):
                if isinstance(inner, ast.Nonlocal | ast.Global):
                    names.update(inner.names)
    return frozenset(names)


def escapes(node: ast.AST, in_loop: bool = False) -> bool:
    """Tell whether a statement holds a return, or a break or continue of a loop around it."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.Break | ast.Continue):
        return not in_loop
    if isinstance(node, _SCOPES):
        return False
    if isinstance(node, ast.For | ast.While):
        inner = any(escapes(s, True) for s in node.body)
        return inner or any(escapes(s, in_loop) for s in node.orelse)
    return any(
        escapes(child, in_loop)
        for child in ast.iter_child_nodes(node)
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
    )


def terminates(statements: list[ast.stmt]) -> bool:
    """Tell whether the end of statements is never reached."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.Return | ast.Break | ast.Continue | ast.Raise):
        return True
    return isinstance(last, ast.If) and terminates(last.body) and terminates(last.orelse)


class Liveness:
    """Which names may still be read after each compound statement of a function.

    Attributes:
        after: by the statement's id, the names live after it.
        head: by the loop's id, the names live before each turn.
        always: names that functions within may read at any time.
    """

    def __init__(self, node: ast.FunctionDef) -> None:
        self.after: dict[int, Names] = {}
        self.head: dict[int, Names] = {}
        outside: set[str] = set()
        for child in own_nodes(node):
            if isinstance(child, ast.Global | ast.Nonlocal):
                outside.update(child.names)
        self.always = captured(node) | frozenset(outside)
        self._handlers: Names = _NONE
        self._block(node.body, self.always, _NONE, _NONE)

    def _block(
        self, statements: Iterable[ast.stmt], out: Names, at_break: Names, at_continue: Names
    ) -> Names:
        for statement in reversed(list(statements)):
            out = self._statement(statement, out, at_break, at_continue)
            out |= self.always | self._handlers
        return out

    def _statement(self, node: ast.stmt, out: Names, at_break: Names, at_continue: Names) -> Names:
        def block(statements: Iterable[ast.stmt], after: Names = out) -> Names:
            return self._block(statements, after, at_break, at_continue)

        self.after[id(node)] = self.after.get(id(node), _NONE) | out
        if isinstance(node, ast.If):
            return loaded(node.test) | block(node.body) | block(node.orelse)
        if isinstance(node, ast.While):
            return self._loop(node, loaded(node.test), _NONE, out, block(node.orelse))
        if isinstance(node, ast.For):
            targets = assigned([node.target])
            reads = loaded(node.target)
            head = self._loop(node, reads, targets, out, block(node.orelse))
            return loaded(node.iter) | head
        if isinstance(node, ast.Break):
            return at_break
        if isinstance(node, ast.Continue):
            return at_continue
        if isinstance(node, ast.Return):
            return loaded(node.value) | self.always
        if isinstance(node, ast.Raise):
            return loaded(node) | self._handlers
        if isinstance(node, ast.Try):
            final = block(node.finalbody)
            handlers: Names = final
            for handler in node.handlers:
                handlers |= loaded(handler.type) | block(handler.body, final)
            before, self._handlers = self._handlers, self._handlers | handlers
            body = block(node.body, block(node.orelse, final))
            self._handlers = before
            return body | handlers
        if isinstance(node, ast.With):
            inner = block(node.body)
            for item in reversed(node.items):
                if item.optional_vars is not None:
                    inner -= assigned([item.optional_vars])
                    inner |= loaded(item.optional_vars)
                inner |= loaded(item.context_expr)
            return inner
        if isinstance(node, ast.Match):
            inner = out | loaded(node.subject)
            for case in node.cases:
                inner |= block(case.body) | loaded(case.guard) | loaded(case.pattern)
            return inner
        return self._simple(node, out)

    def _simple(self, node: ast.stmt, out: Names) -> Names:
        if isinstance(node, ast.AugAssign):
            also = frozenset([node.target.id]) if isinstance(node.target, ast.Name) else _NONE
            return out | loaded(node) | also
        if isinstance(node, ast.Delete):
            return out | loaded(node) | assigned([node])
        if isinstance(node, ast.Assign | ast.AnnAssign):
            if isinstance(node, ast.AnnAssign) and node.value is None:
                return out
            return (out - assigned([node])) | loaded(node)
        return out | loaded(node)

    def _loop(
        self, node: ast.While | ast.For, reads: Names, kills: Names, out: Names, end: Names
    ) -> Names:
        head = reads | end | self.always
        while True:
            body = self._block(node.body, head, out, head)
            grown = head | (body - kills) | reads
            if grown == head:
                break
            head = grown
        self.head[id(node)] = head
        return head


def repeats(node: ast.For | ast.While) -> Names | None:
    """Find which names a loop may compute in the program, where it would repeat in Python.

    A turn must change no container of Python's. A name may then become a number of the program if
    it is only computed with, compared, or an index.

    Args:
        node: the loop.

    Returns:
        Those of the names that a turn binds; None where turns differ.
    """
    top = list(node.body) if isinstance(node, ast.For) else [*node.body, node.test]
    bound = assigned([*node.body, node.target] if isinstance(node, ast.For) else top)
    parents = {id(c): p for b in top for p in ast.walk(b) for c in ast.iter_child_nodes(p)}
    good = set(bound)
    for inner in (n for b in top for n in ast.walk(b)):
        if isinstance(inner, (*_SCOPES, *_COMPREHENSIONS, ast.Global, ast.Try, ast.Delete)):
            return None
        method = isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute)
        if method and inner.func.attr in MUTATORS:  # type: ignore[attr-defined]
            return None
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in bound:
            parent = parents.get(id(inner))
            index = isinstance(parent, ast.Subscript) and parent.slice is inner
            kinds = ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare | ast.AugAssign
            if not index and not isinstance(parent, kinds):
                good.discard(inner.id)
    return frozenset(good)
