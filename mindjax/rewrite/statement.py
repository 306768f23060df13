"""The model behind `Node`: statements, and the blocks that hold them in order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

from mindjax.rewrite.flatten import unique
from mindjax.rewrite.scoped_value import ScopedValue, ValueType, code_of, value_of

if TYPE_CHECKING:
    from mindjax.rewrite.tree import Tree


class NodeType(Enum):
    """What a statement does (MindSpore: ``rewrite.NodeType``)."""

    Unknown = 0
    CallCell = 1
    CallPrimitive = 2
    CallModule = 3
    CallFunction = 4
    CallMethod = 5
    Python = 6
    Input = 7
    Output = 8
    Tree = 9
    CellContainer = 10
    MathOps = 11
    ControlFlow = 12


class Slot:
    """A place in source code that holds an argument.

    Args:
        owner: syntax node that holds it.
        field: its field.
        index: position, where the field is a list.
    """

    def __init__(self, owner: ast.AST, field: str, index: int | None = None) -> None:
        self.owner, self.field, self.index = owner, field, index

    def read(self) -> ScopedValue:
        """Give the argument."""
        held = getattr(self.owner, self.field)
        return value_of(held if self.index is None else held[self.index])

    def write(self, value: ScopedValue | str) -> None:
        """Put another argument there."""
        code = code_of(value, "Node")
        if self.index is None:
            setattr(self.owner, self.field, code)
        else:
            getattr(self.owner, self.field)[self.index] = code


class Statement:
    """A statement of a function, an argument of it, or a Cell in a container.

    Args:
        kind: what it does.
        name: what it is called after; made unique when a block takes it.
        code: its source; None for a Cell in a container.
        slots: places of its positional arguments.
        keywords: places of its arguments with names.
    """

    def __init__(
        self,
        kind: NodeType,
        name: str,
        code: ast.stmt | ast.arg | None = None,
        slots: list[Slot] | None = None,
        keywords: dict[str, Slot] | None = None,
    ) -> None:
        self.kind, self.name, self.code = kind, name, code
        self.slots, self.keywords = slots or [], keywords or {}
        self.block: Block | None = None
        self.instance: Any = None
        self.instance_type: Any = type(None)
        # A branch or loop has a block, so have a call of a user's function and a container.
        self.body: Block | None = None
        # The condition that an "else" belongs to.
        self.head: Statement | None = None
        self.subtree: Tree | None = None
        # What a new statement brings along: a Cell for an attribute, or a function.
        self.cell: Any = None
        self.function: Any = None
        # Where the Cell of a tree or container is: a path such as "self.blocks".
        self.path = ""

    @property
    def targets(self) -> list[ScopedValue]:
        """What the statement writes."""
        if isinstance(self.code, ast.arg):
            return [ScopedValue(ValueType.NamingValue, "", self.code.arg)]
        if not isinstance(self.code, ast.Assign):
            return []
        (target,) = self.code.targets[-1:]
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        return [value_of(p) for p in parts]

    def providers(self) -> list[tuple[Statement, int] | None]:
        """Find, for each argument, the statement before that writes it and which target of it."""
        slots = [*self.slots, *self.keywords.values()]
        if self.block is None:
            return [None] * len(slots)
        return [self.block.writer(slot.read(), self) for slot in slots]


class Block:
    """Statements in order: the body of a function, a branch or a loop, or a container's Cells.

    Args:
        tree: tree it belongs to.
        owner: statement whose body it is; None for a tree's own function.
    """

    def __init__(self, tree: Tree, owner: Statement | None = None) -> None:
        self.tree, self.owner = tree, owner
        self.statements: list[Statement] = []
        self.changed = False
        # The function that the block is the body of, with what its names mean.
        self.function: ast.FunctionDef | None = None
        self.source: Any = None

    def take(self, statement: Statement, at: int | None = None) -> None:
        """Put a statement in, under a name of its own."""
        statement.name = unique(statement.name, self.tree.node_names)
        statement.block = self
        self.statements.insert(len(self.statements) if at is None else at, statement)

    def remove(self, statement: Statement) -> None:
        """Take a statement out; an "else" goes with its condition."""
        gone = [s for s in self.statements if s is statement or s.head is statement]
        self.statements = [s for s in self.statements if all(s is not g for g in gone)]
        for one in gone:
            one.block = None
            self.tree.node_names.discard(one.name)
        self.touch()

    def touch(self) -> None:
        """Note that the source is another than that of the network."""
        block: Block | None = self
        while block is not None:
            block.changed = True
            block = block.owner.block if block.owner is not None else None

    def scope(self) -> Block:
        """Give the block of the function that this one is in."""
        block = self
        while block.function is None and block.owner is not None and block.owner.block is not None:
            block = block.owner.block
        return block

    def writer(self, value: ScopedValue, before: Statement) -> tuple[Statement, int] | None:
        """Find the last statement before another that writes a variable, and the target it is."""
        if value.type is not ValueType.NamingValue:
            return None
        at = next(i for i, s in enumerate(self.statements) if s is before)
        for statement in reversed(self.statements[:at]):
            for index, target in enumerate(statement.targets):
                if target == value:
                    return statement, index
        owner = self.owner
        if owner is None or owner.block is None or self.function is not None:
            return None
        return owner.block.writer(value, owner)

    def walk(self, seen: set[int] | None = None) -> Iterator[Statement]:
        """Give the statements, then those of the bodies and trees below, each block once."""
        seen = set() if seen is None else seen
        if id(self) in seen:
            return
        seen.add(id(self))
        yield from list(self.statements)
        for statement in list(self.statements):
            if statement.body is not None:
                yield from statement.body.walk(seen)
            if statement.subtree is not None:
                yield from statement.subtree.body.walk(seen)
