"""The rewrite of statements: blocks become local functions that the run time calls or traces.

A block returns a signal: None where its end is reached, else `Return(value)`, `BREAK` or `CONTINUE`
of the run time. What stands after a statement that may give a traced signal is a block of its own,
so that the run time can make it conditional.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from mindjax.graph.syntax.analysis import (
    Liveness,
    Names,
    assigned,
    escapes,
    own_nodes,
    repeats,
)
from mindjax.graph.syntax.escape import settle_exits
from mindjax.graph.syntax.expressions import (
    Expressions,
    augmented,
    call,
    constant,
    is_static,
    later,
    runtime,
)

PREFIX = "_mindjax_"
"""How the names of blocks begin."""

_VALUE = f"{PREFIX}value"


def needs_rewriting(node: ast.FunctionDef) -> bool:
    """Tell whether a function holds anything that a traced value could change."""
    kinds = (
        *(ast.If, ast.While, ast.For, ast.IfExp, ast.BoolOp, ast.Assert, ast.Raise, ast.Call),
        *(ast.AugAssign, ast.Subscript, ast.Global, ast.Nonlocal),
    )
    for inner in own_nodes(node):
        if isinstance(inner, kinds):
            return True
        if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            return True
        if isinstance(inner, ast.Attribute) and not isinstance(inner.ctx, ast.Load):
            return True
        if isinstance(inner, ast.Compare) and (
            len(inner.ops) > 1 or isinstance(inner.ops[0], ast.In | ast.NotIn)
        ):
            return True
    return False


def can_rewrite(node: ast.FunctionDef) -> bool:
    """Tell whether a function's blocks can become functions: generators' cannot."""
    no = ast.Yield | ast.YieldFrom | ast.Await | ast.AsyncFor | ast.AsyncWith | ast.TryStar
    return not any(isinstance(n, no) for n in own_nodes(node))


def rewrite(function: ast.FunctionDef) -> ast.FunctionDef:
    """Rewrite a function.

    Args:
        function: its tree, which stays as it is.

    Returns:
        A function of the same arguments, without defaults, annotations and decorators.
    """
    node = copy.deepcopy(function)
    settle_exits(node)
    return _Rewriter(node).run()


class _Rewriter:
    def __init__(self, node: ast.FunctionDef) -> None:
        self.node = node
        a = node.args
        arguments = [*a.posonlyargs, *a.args, *a.kwonlyargs]
        arguments += [x for x in (a.vararg, a.kwarg) if x is not None]
        self.arguments = frozenset(x.arg for x in arguments)
        own = list(own_nodes(node))
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        for inner in own_nodes(node):
            if isinstance(inner, ast.Global):
                self.globals.update(inner.names)
            elif isinstance(inner, ast.Nonlocal):
                self.nonlocals.update(inner.names)
        self.bound = assigned(node.body)
        # Functions within write these names wherever they are called.
        self.shared = self.bound & frozenset(
            name
            for inner in ast.walk(node)
            if isinstance(inner, ast.Nonlocal) and inner not in own
            for name in inner.names
        )
        self.live = Liveness(node)
        self.count = 0
        positional = [*a.posonlyargs, *a.args]
        receiver = positional[0].arg if positional else None
        self.expressions = Expressions(self._checked(), receiver)

    def _checked(self) -> Names:
        """Find the names that are bound in branches or loops."""
        names: set[str] = set()
        for inner in own_nodes(self.node):
            if isinstance(inner, ast.If) and not is_static(inner.test):
                names |= assigned([*inner.body, *inner.orelse])
            elif isinstance(inner, ast.While | ast.For):
                names |= assigned([inner])
        return frozenset(names)

    def run(self) -> ast.FunctionDef:
        node = self.node
        node.decorator_list, node.returns = [], None
        a = node.args
        a.defaults, a.kw_defaults = [], [None] * len(a.kwonlyargs)
        for x in ast.walk(a):
            if isinstance(x, ast.arg):
                x.annotation = None
        body = self._block(node.body, True)
        head: list[ast.stmt] = []
        if self.globals:
            head.append(ast.Global(names=sorted(self.globals)))
        if self.nonlocals:
            head.append(ast.Nonlocal(names=sorted(self.nonlocals)))
        # Names that only blocks bind have to be this function's.
        own = self.bound - self.arguments - self.globals - self.nonlocals
        head += [
            ast.AnnAssign(
                target=ast.Name(id=n, ctx=ast.Store()),
                annotation=ast.Constant(value=None),
                simple=1,
            )
            for n in sorted(own)
        ]
        outer = sorted(self.globals | self.nonlocals)
        if outer:
            read = ast.Tuple([ast.Name(n, ast.Load()) for n in outer], ast.Load())
            head.append(ast.Expr(value=call("names", later(read))))
        node.body = [*head, *(body or [ast.Pass()])]
        for statement in head:
            ast.copy_location(statement, node)
        ast.fix_missing_locations(node)
        return node

    # -- blocks --

    def _name(self, kind: str) -> str:
        self.count += 1
        return f"{PREFIX}{kind}_{self.count}"

    def _function(
        self,
        kind: str,
        statements: list[ast.stmt],
        place: ast.AST,
        value: bool = False,
        first: list[ast.stmt] | None = None,
    ) -> tuple[ast.stmt, ast.expr]:
        """Make a block a function; gives its definition and its name."""
        name = self._name(kind)
        names = assigned([*(first or []), *statements]) | self.shared
        body = [*(first or []), *self._block(statements, False)]
        return self._define(name, body, names, place, value), ast.Name(name, ast.Load())

    def _define(
        self, name: str, body: list[ast.stmt], names: Names, place: ast.AST, value: bool = False
    ) -> ast.stmt:
        head: list[ast.stmt] = []
        shared = sorted((names & (self.bound | self.arguments)) - self.globals)
        if shared:
            head.append(ast.Nonlocal(names=shared))
        outer = sorted(names & self.globals)
        if outer:
            head.append(ast.Global(names=outer))
        args = [ast.arg(arg=_VALUE)] if value else []
        made = ast.FunctionDef(
            name=name,
            args=ast.arguments(
                posonlyargs=[], args=args, kwonlyargs=[], kw_defaults=[], defaults=[]
            ),
            body=[*head, *(body or [ast.Pass()])],
            decorator_list=[],
            returns=None,
            type_comment=None,
        )
        if hasattr(made, "type_params") or "type_params" in ast.FunctionDef._fields:
            made.type_params = []  # type: ignore[attr-defined]
        ast.copy_location(made, place)
        ast.fix_missing_locations(made)
        return made

    def _block(self, statements: list[ast.stmt], top: bool) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for place, statement in enumerate(statements):
            if not self._may_signal(statement):
                out += self._statement(statement, top)
                continue
            definitions, signal = self._signalling(statement)
            out += definitions
            rest = statements[place + 1 :]
            if rest:
                define, name = self._function("rest", rest, rest[0])
                live, dead = self._names(rest, self.live.after.get(id(rest[-1]), frozenset()))
                out.append(define)
                signal = call("then", signal, name, constant(live), constant(dead))
            end: ast.stmt = ast.Return(value=call("end", signal) if top else signal)
            out.append(ast.copy_location(end, statement))
            ast.fix_missing_locations(out[-1])
            return out
        return out

    def _names(self, statements: list[Any], live: Names) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Sort what statements bind into names that are read later, and the others."""
        names = assigned(statements) | self.shared
        return tuple(sorted(names & live)), tuple(sorted(names - live))

    def _may_signal(self, node: ast.stmt) -> bool:
        """Tell whether a statement gives a signal that may be traced."""
        if isinstance(node, ast.If):
            return escapes(node) and (not is_static(node.test) or self._within(node))
        if isinstance(node, ast.While | ast.For):
            return escapes(node)
        return isinstance(node, ast.Try | ast.With | ast.Match) and self._within(node)

    def _within(self, node: ast.stmt) -> bool:
        """Tell whether a statement within a statement may signal."""
        inner = [
            *getattr(node, "body", ()),
            *getattr(node, "orelse", ()),
            *getattr(node, "finalbody", ()),
        ]
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            inner += part.body
        return any(self._may_signal(s) for s in inner)

    def _signalling(self, node: ast.stmt) -> tuple[list[ast.stmt], ast.expr]:
        """Rewrite a statement that gives a signal: what comes before, and the signal."""
        if isinstance(node, ast.If):
            return self._if(node)
        if isinstance(node, ast.While):
            return self._while(node)
        if isinstance(node, ast.For):
            return self._for(node)
        return self._blocks_of(node)

    def _blocks_of(self, node: Any) -> tuple[list[ast.stmt], ast.expr]:
        """Make every block of a try, with or match a function that gives the signal."""
        signal = self._name("signal")
        out: list[ast.stmt] = [_assign(signal, ast.Constant(value=None), node)]

        def turned(statements: list[ast.stmt]) -> list[ast.stmt]:
            if not statements:
                return []
            define, name = self._function("block", statements, statements[0])
            out.append(define)
            return [_assign(signal, ast.Call(func=name, args=[], keywords=[]), statements[0])]

        if isinstance(node, ast.Try):
            made: Any = self._try(node, turned, signal)
        elif isinstance(node, ast.With):
            made = ast.With(items=[self.expressions.visit(i) for i in node.items], body=[])
            made.body = turned(node.body)
        else:
            made = ast.Match(subject=self.expressions.visit(node.subject), cases=[])
            for case in node.cases:
                guard = case.guard and self.expressions.visit(case.guard)
                made.cases.append(ast.match_case(case.pattern, guard, turned(case.body)))
        out.append(ast.fix_missing_locations(ast.copy_location(made, node)))
        return out, ast.Name(id=signal, ctx=ast.Load())

    def _try(self, node: ast.Try, turned: Any, signal: str = "") -> ast.Try:
        """Rewrite a try: what the run time raises passes by the user's handlers."""
        body: list[ast.stmt] = turned(node.body)
        orelse: list[ast.stmt] = turned(node.orelse)
        final: list[ast.stmt] = turned(node.finalbody)
        if signal and orelse:
            # An exit of the body passes by the `else`.
            test = ast.Compare(ast.Name(signal, ast.Load()), [ast.Is()], [ast.Constant(None)])
            orelse = [ast.copy_location(ast.If(test=test, body=orelse, orelse=[]), node)]
        handlers: list[ast.ExceptHandler] = []
        if node.handlers:
            passing: list[ast.stmt] = [ast.Raise(exc=None, cause=None)]
            handlers.append(ast.ExceptHandler(type=runtime("Passing"), name=None, body=passing))
            item = ast.withitem(context_expr=call("trying"), optional_vars=None)
            body = [ast.copy_location(ast.With(items=[item], body=body), node)]
        for h in node.handlers:
            kind = h.type and self.expressions.visit(h.type)
            made = ast.ExceptHandler(type=kind, name=h.name, body=turned(h.body))
            handlers.append(ast.copy_location(made, h))
        return ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final)

    # -- statements that are traced --

    def _if(self, node: ast.If) -> tuple[list[ast.stmt], ast.expr]:
        first, first_name = self._function("branch", node.body, node)
        out = [first]
        second_name: ast.expr = ast.Constant(value=None)
        if node.orelse:
            second, second_name = self._function("branch", node.orelse, node.orelse[0])
            out.append(second)
        live, dead = self._names([*node.body, *node.orelse], self.live.after[id(node)])
        test = self.expressions.visit(node.test)
        made = call("if_", test, first_name, second_name, constant(live), constant(dead))
        return out, _placed(made, node)

    def _while(self, node: ast.While) -> tuple[list[ast.stmt], ast.expr]:
        same = self._repeating(node)
        test_name = self._name("test")
        test = ast.copy_location(ast.Return(value=self.expressions.visit(node.test)), node.test)
        out = [self._define(test_name, [test], assigned([node.test]), node.test)]
        return self._loop("while_", [ast.Name(test_name, ast.Load()), same], node, out, False)

    def _repeating(self, node: ast.For | ast.While) -> ast.expr:
        names = repeats(node)
        return constant(None if names is None else tuple(sorted(names)))

    def _for(self, node: ast.For) -> tuple[list[ast.stmt], ast.expr]:
        same = self._repeating(node)
        iterable = self.expressions.visit(node.iter)
        return self._loop("for_", [iterable, same], node, [], True)

    def _loop(
        self, kind: str, given: list[ast.expr], node: Any, out: list[ast.stmt], value: bool
    ) -> tuple[list[ast.stmt], ast.expr]:
        first: list[ast.stmt] = []
        if value:
            target = self.expressions.visit(node.target)
            source = ast.Name(id=_VALUE, ctx=ast.Load())
            first = [ast.copy_location(ast.Assign(targets=[target], value=source), node)]
        body, body_name = self._function("turn", node.body, node, value, first)
        out.append(body)
        else_name: ast.expr = ast.Constant(value=None)
        if node.orelse:
            orelse, else_name = self._function("else", node.orelse, node.orelse[0])
            out.append(orelse)
        after = self.live.after[id(node)] | self.live.head[id(node)]
        bound = [*node.body, node.target if value else node.test]
        live, dead = self._names(bound, after)
        out_names = tuple(sorted(assigned(node.orelse)))
        made = call(
            kind, *given, body_name, else_name, constant(live), constant(dead), constant(out_names)
        )
        return out, _placed(made, node)

    # -- other statements --

    def _statement(self, node: ast.stmt, top: bool) -> list[ast.stmt]:
        if isinstance(node, ast.If) and not is_static(node.test):
            return self._discarded(*self._if(node), node)
        if isinstance(node, ast.While):
            return self._discarded(*self._while(node), node)
        if isinstance(node, ast.For):
            return self._discarded(*self._for(node), node)
        made = self._plain(node, top)
        for statement in made:
            if statement is not node:
                ast.copy_location(statement, node)
            ast.fix_missing_locations(statement)
        return made

    def _discarded(self, out: list[ast.stmt], signal: ast.expr, node: ast.stmt) -> list[ast.stmt]:
        out.append(ast.copy_location(ast.Expr(value=signal), node))
        ast.fix_missing_locations(out[-1])
        return out

    def _plain(self, node: Any, top: bool) -> list[ast.stmt]:
        visit = self.expressions.visit
        if isinstance(node, ast.Return):
            value: ast.expr = ast.Constant(value=None)
            if node.value:
                value = self.expressions.handed_on(node.value)
            return [ast.Return(value=value if top else call("Return", value))]
        if isinstance(node, ast.Break | ast.Continue):
            return [ast.Return(value=runtime(type(node).__name__.upper()))]
        if isinstance(node, ast.Raise):
            if node.exc is not None:
                node.exc = _placed(call("error", visit(node.exc)), node.exc)
            return [node]
        if isinstance(node, ast.Assert):
            message = visit(node.msg) if node.msg else ast.Constant(value=None)
            return [ast.Expr(call("check", visit(node.test), later(message)))]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            old = visit(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
            value = _placed(augmented(node, visit(node.value), old), node)
            return [ast.Assign(targets=[node.target], value=value)]
        if isinstance(node, ast.AnnAssign):
            if node.value is None:
                return [ast.Pass()]
            return [ast.Assign(targets=[visit(node.target)], value=visit(node.value))]
        if isinstance(node, ast.Global | ast.Nonlocal):
            return [ast.Pass()]
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            return [node]
        return self._compound(node, top)

    def _compound(self, node: Any, top: bool) -> list[ast.stmt]:
        def turned(statements: list[ast.stmt]) -> list[ast.stmt]:
            return self._block(statements, top)

        if isinstance(node, ast.If):
            node.test = self.expressions.visit(node.test)
            node.body, node.orelse = turned(node.body) or [ast.Pass()], turned(node.orelse)
            return [node]
        if isinstance(node, ast.Try):
            return [self._try(node, turned)]
        if isinstance(node, ast.With):
            node.items = [self.expressions.visit(i) for i in node.items]
            node.body = turned(node.body)
            return [node]
        if isinstance(node, ast.Match):
            node.subject = self.expressions.visit(node.subject)
            for case in node.cases:
                case.guard = case.guard and self.expressions.visit(case.guard)
                case.body = turned(case.body)
            return [node]
        return [self.expressions.visit(node)]


def _assign(name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
    made = ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value)
    return ast.fix_missing_locations(ast.copy_location(made, place))


def _placed(made: ast.expr, place: Any) -> ast.expr:
    """Put an expression on the first line of a statement, whose end may be far below."""
    made.lineno = place.lineno
    made.col_offset = place.col_offset
    test = getattr(place, "test", None) or getattr(place, "iter", None) or place
    made.end_lineno = test.end_lineno
    made.end_col_offset = test.end_col_offset
    return ast.fix_missing_locations(made)
