"""The model behind `SymbolTree`: a network's forward function and the functions it calls, read."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import textwrap
import types
from collections.abc import Iterator
from typing import Any

from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.nn.cell import Cell
from mindjax.nn.containers import CellDict, CellList, SequentialCell
from mindjax.rewrite.flatten import flatten, names_in, operation, unique
from mindjax.rewrite.scoped_value import dotted
from mindjax.rewrite.statement import Block, NodeType, Slot, Statement

_OWN = __name__.partition(".")[0]
_UNKNOWN = object()
CONTAINERS = (SequentialCell, CellList, CellDict)


class Source:
    """A function's source and what the names in it mean.

    Args:
        function: function of Python.
        owner: class that defines it, None for one outside classes.

    Raises:
        RuntimeError: its source cannot be read.
    """

    def __init__(self, function: types.FunctionType, owner: type | None) -> None:
        self.function, self.owner = function, owner
        try:
            lines, first = inspect.getsourcelines(function)
            module = ast.parse(textwrap.dedent("".join(lines)))
        except (OSError, TypeError, SyntaxError):
            raise located(
                RuntimeError,
                f"For 'SymbolTree', the source code of '{function.__qualname__}' cannot be read: "
                "write it into a file and import it from there.",
            ) from None
        definition = module.body[0]
        if not isinstance(definition, ast.FunctionDef):
            raise located(
                RuntimeError,
                f"For 'SymbolTree', '{function.__qualname__}' must be defined by 'def'.",
            )
        ast.increment_lineno(definition, first - 1)
        self.me = ""
        if owner is not None:
            arguments = definition.args
            self.me = [*arguments.posonlyargs, *arguments.args][0].arg
            definition = _Moved(owner.__name__, self.me).visit(definition)
        self.definition: ast.FunctionDef = definition

    def names(self) -> dict[str, Any]:
        """Give the variables outside the function that it can see."""
        code, found = self.function.__code__, dict(self.function.__globals__)
        for name, cell in zip(code.co_freevars, self.function.__closure__ or (), strict=True):
            try:
                found[name] = cell.cell_contents
            except ValueError:
                continue
        found.pop("__class__", None)
        if self.owner is not None:
            found[self.owner.__name__] = self.owner
        return found


class _Moved(ast.NodeTransformer):
    """Let a method mean in a subclass what it meant in its class."""

    def __init__(self, owner: str, me: str) -> None:
        self.owner, self.me = owner, me

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            node.args = [ast.Name(self.owner, ast.Load()), ast.Name(self.me, ast.Load())]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr.startswith("__") and not node.attr.endswith("__"):
            node.attr = f"_{self.owner.lstrip('_')}{node.attr}"
        return node


class Tree:
    """A network's forward function as statements.

    Args:
        network: the network.
        known: trees of this and other Cells, by identity.
        prefix: of the names of its Parameters in the whole network.

    Raises:
        RuntimeError: the source of its class cannot be read.
    """

    def __init__(
        self, network: Cell, known: dict[int, Tree] | None = None, prefix: str = ""
    ) -> None:
        self.network, self.prefix = network, prefix
        self.known = {} if known is None else known
        self.known[id(network)] = self
        self.node_names: set[str] = set()
        self.variables: set[str] = set()
        # What inserted statements bring along, by the names they use.
        self.cells: dict[str, Cell] = {}
        self.functions: dict[str, Any] = {}
        self._bodies: dict[Any, Block] = {}
        function, owner = _method(type(network), "construct")
        self.body = self._read(Source(function, owner), None)

    def statements(self) -> Iterator[Statement]:
        """Give every statement of the tree, without those of trees below it."""
        return (s for s in self.body.walk() if s.block is not None and s.block.tree is self)

    def subtrees(self) -> list[Tree]:
        """Give the trees of the networks that this one calls, each once."""
        found = {id(s.subtree): s.subtree for s in self.statements() if s.subtree is not None}
        return list(found.values())

    def is_changed(self) -> bool:
        """Tell whether this tree or one below it is another than the network."""
        return self._is_changed(set())

    def _is_changed(self, seen: set[int]) -> bool:
        if id(self) in seen:
            return False
        seen.add(id(self))
        blocks = [self.body, *(s.body for s in self.statements() if s.body is not None)]
        return any(b.changed for b in blocks) or any(t._is_changed(seen) for t in self.subtrees())

    def changed_functions(self) -> list[Block]:
        """Give the bodies of called functions that were changed."""
        return [b for b in self._bodies.values() if b.changed and b is not self.body]

    # -- changing --

    def insert(self, block: Block, statement: Statement, at: int) -> None:
        """Take a new statement in; its Cell becomes an attribute, its function a name.

        Raises:
            ValueError: a function outside the network has no attributes of it.
            NotImplementedError: only Cells stand in containers, and only in those by number.
        """
        holder = block.owner
        if holder is not None and holder.kind is NodeType.CellContainer:
            self._insert_member(block, holder, statement, at)
            return
        call = statement.code.value if isinstance(statement.code, ast.Assign) else None
        assert isinstance(call, ast.Call)
        source = block.scope().source
        if statement.cell is not None:
            if not source.me:
                raise located(
                    ValueError,
                    f"For 'insert', the function '{source.function.__name__}' is not a method of "
                    f"the network and cannot call the Cell '{statement.name}'.",
                )
            taken = self.node_names | set(dir(self.network)) | set(self.cells)
            statement.name = unique(statement.name, taken)
            self.cells[statement.name] = statement.cell
            statement.path = f"{source.me}.{statement.name}"
            self._name_parameters(statement.cell, statement.name)
            call.func = ast.parse(statement.path, mode="eval").body
        elif statement.function is not None:
            call.func = ast.Name(self._name_function(statement.function, source), ast.Load())
        self.variables |= names_in(statement.code) if statement.code is not None else set()
        block.take(statement, at)
        if statement.kind is NodeType.Tree:
            statement.subtree = self.subtree(statement)
        block.touch()

    def _name_parameters(self, cell: Any, place: str) -> None:
        """Name the Parameters of a new Cell after its place in the whole network."""
        if isinstance(cell, Cell):
            cell.update_parameters_name(f"{self.prefix}{place}.")

    def _insert_member(self, block: Block, holder: Statement, new: Statement, at: int) -> None:
        if not isinstance(new.cell, Cell) or isinstance(holder.instance, CellDict):
            raise located(
                NotImplementedError,
                f"For 'insert', node '{new.name}' cannot stand in the container '{holder.name}': a "
                "SequentialCell or CellList takes Cells.",
            )
        member = unique(f"{_place(holder)}.{new.name}", set(self.cells))
        self.cells[member] = new.cell
        self._name_parameters(new.cell, member)
        new.slots, new.keywords, new.code = [], {}, None
        block.take(new, at)
        new.path = f"{holder.path}[{new.name!r}]"
        if new.kind is NodeType.Tree:
            new.subtree = self.subtree(new)
        block.touch()

    def _name_function(self, function: Any, source: Source) -> str:
        """Give a name that means a function in a source."""
        wanted = function.__name__ if function.__name__.isidentifier() else "function"
        names = source.names() | self.functions
        for name in (wanted, *(f"{wanted}_{i}" for i in range(1, len(names) + 2))):
            is_local = name in source.function.__code__.co_varnames or name in self.variables
            if names.get(name) is function and not is_local:
                return name
            if name not in names and not is_local:
                # A name of Python's own, such as abs, may stand for another function here.
                self.functions[name] = function
                return name
        raise AssertionError

    def erase(self, statement: Statement) -> None:
        """Take a statement out, with what it brought along."""
        assert statement.block is not None
        statement.block.remove(statement)
        for name in [n for n, c in self.cells.items() if c is statement.cell]:
            del self.cells[name]

    # -- reading --

    def _read(self, source: Source, owner: Statement | None) -> Block:
        definition = source.definition
        block = Block(self, owner)
        block.function, block.source = definition, source
        self._bodies.setdefault(source.function, block)
        arguments = definition.args
        every = [*arguments.posonlyargs, *arguments.args, arguments.vararg]
        every += [*arguments.kwonlyargs, arguments.kwarg]
        is_method = source.owner is not None
        for argument in [a for a in every if a is not None][is_method:]:
            block.take(Statement(NodeType.Input, f"input_{argument.arg}", argument))
        body = definition.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        taken = names_in(definition)
        names = source.names() | dict.fromkeys(source.function.__code__.co_varnames, _UNKNOWN)
        if is_method:
            names[source.me] = self.network
        self._fill(block, flatten(body, taken), names)
        self.variables |= taken
        return block

    def _fill(self, block: Block, body: list[ast.stmt], names: dict[str, Any]) -> None:
        for code in body:
            for statement in self._statements(code, names):
                block.take(statement)
                self._descend(statement, block, names)

    def _descend(self, statement: Statement, block: Block, names: dict[str, Any]) -> None:
        """Read what a statement holds or calls."""
        code = statement.code
        if statement.kind is NodeType.ControlFlow:
            assert isinstance(code, ast.If | ast.For | ast.While)
            statement.body = Block(self, statement)
            self._fill(statement.body, code.orelse if statement.head else code.body, names)
        elif statement.kind is NodeType.CellContainer:
            self.read_members(statement)
        elif statement.kind is NodeType.Tree:
            statement.subtree = self.subtree(statement)
        elif statement.kind is NodeType.CallFunction:
            self._read_called(statement)

    def _read_called(self, statement: Statement) -> None:
        called = statement.instance
        owner, function = None, getattr(called, "__func__", called)
        if not isinstance(function, types.FunctionType) or _is_own(function):
            return
        if isinstance(called, types.MethodType):
            if called.__self__ is not self.network:
                return
            function, owner = _method(type(self.network), function.__name__)
        if function in self._bodies:
            # Called before, or calling itself: its statements have a place already.
            return
        try:
            source = Source(function, owner)
        except RuntimeError:
            return
        statement.body = self._read(source, statement)

    def read_members(self, statement: Statement) -> None:
        """Make statements of the Cells in a container."""
        statement.body = block = Block(self, statement)
        for key, cell in members(statement.instance):
            member = Statement(kind_of_cell(cell), type(cell).__name__)
            member.instance, member.instance_type = cell, type(cell)
            member.path = f"{statement.path}[{key!r}]"
            block.take(member)
            if member.kind is NodeType.CellContainer:
                self.read_members(member)
            elif member.kind is NodeType.Tree:
                member.subtree = self.subtree(member)

    def subtree(self, statement: Statement) -> Tree:
        """Give the tree of the Cell that a statement calls, one wherever the Cell is called."""
        cell = statement.instance
        found = self.known.get(id(cell))
        return found or Tree(cell, self.known, f"{self.prefix}{_place(statement)}.")

    def _statements(self, code: ast.stmt, names: dict[str, Any]) -> list[Statement]:
        flow = NodeType.ControlFlow
        match code:
            case ast.Assign():
                return [self._assignment(code, names)]
            case ast.Return():
                slots = [Slot(code, "value")] if code.value is not None else []
                return [Statement(NodeType.Output, "return", code, slots)]
            case ast.If() | ast.While():
                word = "if" if isinstance(code, ast.If) else "while"
                made = [Statement(flow, f"{word}_node", code, [Slot(code, "test")])]
            case ast.For():
                word = "for"
                made = [Statement(flow, "for_node", code, [Slot(code, "iter")])]
            case _:
                return [Statement(NodeType.Python, type(code).__name__, code)]
        if code.orelse:
            name = "else_node" if word == "if" else f"{word}_else_node"
            made.append(Statement(flow, name, code, made[0].slots))
            made[1].head = made[0]
        return made

    def _assignment(self, code: ast.Assign, names: dict[str, Any]) -> Statement:
        value = code.value
        if isinstance(value, ast.Call):
            return self._call(code, value, names)
        name = operation(value)
        if name is not None:
            return Statement(NodeType.MathOps, name, code, _operands(value))
        method = NodeType.CallMethod
        match value:
            case ast.Tuple() | ast.List():
                name = "tuple" if isinstance(value, ast.Tuple) else "list"
                slots = [Slot(value, "elts", i) for i in range(len(value.elts))]
                return Statement(method, name, code, slots)
            case ast.Dict() if all(isinstance(k, ast.Constant) for k in value.keys):
                keys = [str(k.value) for k in value.keys if isinstance(k, ast.Constant)]
                slots = {k: Slot(value, "values", i) for i, k in enumerate(keys)}
                return Statement(method, "dict", code, keywords=slots)
            case ast.Subscript():
                return Statement(method, "subscript_var", code, [Slot(code, "value")])
            case ast.Name():
                return Statement(method, "name_assign", code, [Slot(code, "value")])
            case ast.Constant():
                return Statement(method, "constant_assign", code, [Slot(code, "value")])
            case ast.Attribute() if dotted(value):
                return self._attribute(code, value, names)
        return Statement(NodeType.Python, type(code).__name__, code)

    def _attribute(self, code: ast.Assign, value: ast.expr, names: dict[str, Any]) -> Statement:
        found = self._meaning(value, names)
        if not isinstance(found, CONTAINERS):
            return Statement(NodeType.CallMethod, "attribute_assign", code, [Slot(code, "value")])
        made = Statement(NodeType.CellContainer, ast.unparse(value), code)
        made.instance, made.instance_type, made.path = found, type(found), ast.unparse(value)
        return made

    def _call(self, code: ast.Assign, call: ast.Call, names: dict[str, Any]) -> Statement:
        slots = [Slot(call, "args", i) for i in range(len(call.args))]
        keywords = {k.arg or "**": Slot(k, "value") for k in call.keywords}
        found = self._meaning(call.func, names)
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
        made = Statement(NodeType.CallFunction, name, code, slots, keywords)
        if isinstance(found, Cell):
            made.kind = kind_of_cell(found)
            made.path = ast.unparse(call.func)
        elif isinstance(found, Primitive):
            made.kind = NodeType.CallPrimitive
        if isinstance(found, Cell | Primitive):
            made.instance, made.instance_type = found, type(found)
        elif found is not _UNKNOWN and not isinstance(found, type):
            made.instance = found
            made.instance_type = type(found) if isinstance(found, types.MethodType) else found
        return made

    def _meaning(self, code: ast.expr, names: dict[str, Any]) -> Any:
        """Find what a name in source code stands for before any statement has run."""
        if not dotted(code):
            return _UNKNOWN
        root, *rest = ast.unparse(code).split(".")
        found: Any = names.get(root, getattr(builtins, root, _UNKNOWN))
        for name in rest:
            # Attributes of other objects may run code of theirs.
            if not isinstance(found, types.ModuleType | Cell | type):
                return _UNKNOWN
            found = getattr(found, name, _UNKNOWN)
        return found


def members(container: Any) -> list[tuple[Any, Any]]:
    """Give the Cells in a container with what indexes them."""
    if isinstance(container, CellDict):
        return list(container.items())
    return list(enumerate(container))


def _place(statement: Statement) -> str:
    """Give where a statement's Cell is, as names of Parameters say it."""
    place = statement.path.partition(".")[2]
    return re.sub(r"\[\W?(\w+)\W?\]", r".\1", place)


def kind_of_cell(cell: Any) -> NodeType:
    """Tell what calling a Cell is: a container, a layer of the library, or a user's network."""
    if isinstance(cell, CONTAINERS):
        return NodeType.CellContainer
    if not isinstance(cell, Cell):
        return NodeType.CallPrimitive
    if type(cell).__module__.partition(".")[0] == _OWN:
        return NodeType.CallCell
    try:
        inspect.getsourcelines(_method(type(cell), "construct")[0])
    except (OSError, TypeError):
        return NodeType.CallCell
    return NodeType.Tree


def _operands(value: ast.expr) -> list[Slot]:
    match value:
        case ast.BinOp():
            return [Slot(value, "left"), Slot(value, "right")]
        case ast.UnaryOp():
            return [Slot(value, "operand")]
        case ast.BoolOp():
            return [Slot(value, "values", i) for i in range(len(value.values))]
        case ast.Compare():
            rest = [Slot(value, "comparators", i) for i in range(len(value.comparators))]
            return [Slot(value, "left"), *rest]
    return []


def _method(cls: type, name: str) -> tuple[types.FunctionType, type]:
    """Find a method and the class that defines it."""
    for owner in cls.__mro__:
        found = owner.__dict__.get(name)
        found = inspect.unwrap(found) if callable(found) else found
        if isinstance(found, types.FunctionType):
            return found, owner
    raise located(
        RuntimeError, f"For 'SymbolTree', the class '{cls.__name__}' has no method '{name}'."
    )


def _is_own(function: types.FunctionType) -> bool:
    return function.__module__.partition(".")[0] == _OWN
