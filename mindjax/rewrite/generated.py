"""Source code and classes of changed networks."""

from __future__ import annotations

import ast
import copy
import hashlib
import os
import tempfile
import types
from typing import Any

from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.rewrite.flatten import names_in, unique
from mindjax.rewrite.statement import Block, NodeType, Statement
from mindjax.rewrite.tree import Source, Tree, members
from mindjax.tensor.parameter import changed

FOLDER = "rewritten_network"
# What code of generated classes calls; the names are no one else's.
_TAKE, _PUT, _COPY, _HOLD = "take_over_", "put_", "copied_", "holding_"


class Writer:
    """Writes a tree as source code, and makes its network.

    Args:
        tree: the tree.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.names: dict[str, Any] = {
            _TAKE: take_over,
            _PUT: put,
            _COPY: copied,
            _HOLD: holding,
        }
        self._used: set[str] = set()
        self._classes: dict[int, str] = {}
        self._parts: list[str] = []
        self.name = self._class(tree)

    def text(self) -> str:
        """Give the source code."""
        origin = type(self.tree.network)
        head = (
            f"# {self.name}: the network {origin.__qualname__} of {origin.__module__}, changed by\n"
            "# mindjax.rewrite. Other names mean what they mean there.\n"
        )
        return "\n\n".join([head, *self._parts]) + "\n"

    def network(self) -> Cell:
        """Write the source to a file and make the network of it.

        Raises:
            OSError: the file cannot be written.
        """
        text = self.text()
        # Another source needs another file: tracebacks and GRAPH_MODE read it.
        number = hashlib.sha256(text.encode()).hexdigest()[:12]
        module = types.ModuleType(f"{self.name}_{number}")
        path = os.path.abspath(os.path.join(FOLDER, f"{module.__name__}.py"))
        _write(path, text)
        module.__dict__.update(self.names)
        module.__dict__.update(__name__=f"{self.name}_{number}", __file__=path)
        exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
        return getattr(module, self.name)(self.tree.network)

    @staticmethod
    def line(code: ast.AST) -> str:
        """Give a statement's code; of a branch or loop, the first line."""
        return ast.unparse(code).partition("\n")[0]

    def _class(self, tree: Tree) -> str:
        """Write the class of a tree after those of the trees below it; give its name."""
        origin = type(tree.network)
        name = self._name(f"{origin.__name__}Opt")
        self._classes[id(tree)] = name
        for below in tree.subtrees():
            if id(below) not in self._classes and below.is_changed():
                self._class(below)
        base = self._called(origin.__name__, origin)
        self._keep(tree.body.source, names_in(tree.body.source.definition))
        for function, value in tree.functions.items():
            self._set(function, value)
        methods = []
        for block in tree.changed_functions():
            if block.source.me:
                self._keep(block.source, names_in(block.source.definition))
                methods.append(self._definition(block))
            else:
                self._function(tree, block)
        # After the functions, whose calls have new names now.
        body = [self._init(tree, name), self._definition(tree.body), *methods]
        text = "\n\n".join("    " + m.replace("\n", "\n    ") for m in body)
        self._parts.append(f"class {name}({base}):\n\n{text}")
        return name

    def _function(self, tree: Tree, block: Block) -> None:
        """Write a changed function outside classes, under a new name for those who call it."""
        function = block.source.function
        self._keep(block.source, names_in(block.source.definition))
        name = self._name(f"{function.__name__}_opt")
        for statement in tree.statements():
            call = statement.code.value if isinstance(statement.code, ast.Assign) else None
            if statement.instance is function and isinstance(call, ast.Call):
                call.func = ast.Name(name, ast.Load())
        definition = copy.copy(self._rebuilt(block))
        definition.name = name
        self._parts.append(ast.unparse(definition))

    def _definition(self, block: Block) -> str:
        return ast.unparse(ast.fix_missing_locations(self._rebuilt(block)))

    def _rebuilt(self, block: Block) -> ast.FunctionDef:
        assert block.function is not None
        made = copy.copy(block.function)
        made.body = _code(block)
        return made

    def _init(self, tree: Tree, name: str) -> str:
        lines = ["def __init__(self, obj):", f"    {_TAKE}(self, obj)"]
        added = f"{name}_cells"
        self.names[added] = dict(tree.cells)
        for attribute in tree.cells:
            if attribute.isidentifier():
                lines.append(f"    {_PUT}(self, {attribute!r}, {added}[{attribute!r}])")
        made: dict[str, str] = {}
        for statement in tree.statements():
            if not statement.path:
                continue
            owner = statement.block.scope().source.me if statement.block is not None else ""
            root, _, rest = statement.path.partition(".")
            if not rest or root != owner:
                continue
            expression = self._expression(tree, statement, f"self.{rest}")
            if expression is not None:
                made.setdefault(rest, expression)
        copied_paths: set[str] = set()
        for path, expression in made.items():
            *holders, last = path.split(".")
            for i in range(len(holders)):
                # The Cells between are the old network's too.
                prefix = ".".join(holders[: i + 1])
                if prefix not in copied_paths:
                    copied_paths.add(prefix)
                    *above, attribute = prefix.split(".")
                    holder = ".".join(["self", *above])
                    lines.append(f"    {_PUT}({holder}, {attribute!r}, {_COPY}(self.{prefix}))")
            lines.append(f"    {_PUT}({'.'.join(['self', *holders])}, {last!r}, {expression})")
        return "\n".join(lines)

    def _expression(self, tree: Tree, statement: Statement, path: str) -> str | None:
        """Give code for a changed network or container at a path, None where it is as before."""
        if statement.subtree is not None and statement.subtree.is_changed():
            return f"{self._classes[id(statement.subtree)]}({path})"
        if statement.kind is not NodeType.CellContainer or statement.body is None:
            return None
        inside = statement.instance
        before = members(inside)
        parts, is_changed = [], len(before) != len(statement.body.statements)
        for place, member in enumerate(statement.body.statements):
            at = next((key for key, cell in before if cell is member.instance), None)
            if at is None:
                named = next(n for n, c in tree.cells.items() if c is member.cell)
                own = f"{self._classes[id(tree)]}_cells[{named!r}]"
            else:
                own = f"{path}[{at!r}]"
            new = self._expression(tree, member, own)
            is_changed |= new is not None or at is None
            key = at if isinstance(at, str) else str(place)
            parts.append(f"({key!r}, {new or own})")
        if not is_changed:
            return None
        return f"{_HOLD}({path}, [{', '.join(parts)}])"

    # -- names --

    def _name(self, wanted: str) -> str:
        return unique(wanted, self._used)

    def _called(self, wanted: str, value: Any) -> str:
        """Give a name that means an object."""
        name = wanted if self.names.get(wanted, value) is value else self._name(f"{wanted}_base")
        self.names[name] = value
        return name

    def _set(self, name: str, value: Any) -> None:
        if name in self.names and self.names[name] is not value:
            raise located(
                NotImplementedError,
                f"For 'SymbolTree', the name '{name}' means two things in the functions of "
                f"'{type(self.tree.network).__name__}': "
                "rename one of them in the network's file.",
            )
        self.names[name] = value

    def _keep(self, source: Source, used: set[str]) -> None:
        """Let the names that a function uses mean what they mean to it."""
        for name, value in source.names().items():
            if name in used:
                self._set(name, value)
            else:
                self.names.setdefault(name, value)


def _code(block: Block) -> list[ast.stmt]:
    """Give the source of a block's statements as they are now."""
    out: list[ast.stmt] = []
    for statement in block.statements:
        code = statement.code
        if not isinstance(code, ast.stmt) or statement.head is not None:
            continue
        if statement.kind is NodeType.ControlFlow:
            assert isinstance(code, ast.If | ast.For | ast.While) and statement.body is not None
            code.body = _code(statement.body) or [ast.Pass()]
            others = [s for s in block.statements if s.head is statement]
            code.orelse = _code(others[0].body) if others and others[0].body is not None else []
        out.append(code)
    return out or [ast.Pass()]


def take_over(new: Cell, old: Cell) -> None:
    """Let a Cell have the attributes of another: the same Parameters, but registers of its own."""
    Cell.__init__(new)
    for name, value in vars(old).items():
        if name == "_programs" or name.startswith("_jit_") or name == "_create_time":
            continue
        new.__dict__[name] = copy.copy(value) if isinstance(value, dict) else value
    changed()


def put(cell: Cell, name: str, value: Any) -> None:
    """Put a Cell or Primitive into an attribute; Parameters keep their names."""
    if isinstance(value, Cell):
        cell._cells[name] = value
    cell.__dict__[name] = value
    changed()


def copied(cell: Cell) -> Cell:
    """Give a Cell like another, with the same Parameters."""
    made = object.__new__(type(cell))
    take_over(made, cell)
    return made


def holding(container: Cell, cells: list[tuple[str, Any]]) -> Cell:
    """Give a container like another that holds other Cells."""
    made = copied(container)
    for name in list(made._cells):
        del made._cells[name]
        made.__dict__.pop(name, None)
    for name, cell in cells:
        put(made, name, cell)
    return made


def _write(path: str, text: str) -> None:
    """Write a file whole, or leave what was there."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise
