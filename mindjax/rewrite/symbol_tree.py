"""`SymbolTree`: a network's forward function as statements that can be changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.rewrite.flatten import unique
from mindjax.rewrite.generated import Writer
from mindjax.rewrite.node import Node
from mindjax.rewrite.scoped_value import require, require_each
from mindjax.rewrite.statement import NodeType, Statement
from mindjax.rewrite.tree import Tree


class Position:
    """A place before or after a statement, made by `SymbolTree.before` and `SymbolTree.after`.

    Args:
        tree: tree of the statement.
        statement: the statement.
        is_before: on which side.
    """

    def __init__(self, tree: Tree, statement: Statement, is_before: bool) -> None:
        self.tree, self.statement, self.is_before = tree, statement, is_before


class SymbolTree:
    """A network's forward function as statements (MindSpore: ``rewrite.SymbolTree``).

    Nested expressions are made into statements of one operation each. The network itself stays as
    it is; `get_network` gives the changed one, which shares its Parameters.

    Args:
        handler: the model; `create` makes it of a network.
    """

    def __init__(self, handler: Tree) -> None:
        require("SymbolTree", "handler", handler, Tree)
        self._tree = handler

    @classmethod
    def create(cls, network: Cell) -> SymbolTree:
        """Read a network.

        Args:
            network: a Cell whose class stands in a file.

        Raises:
            TypeError: it is not a Cell.
            RuntimeError: its source cannot be read.
        """
        require("SymbolTree", "network", network, Cell)
        return cls(Tree(network))

    def nodes(self, all_nodes: bool = False) -> Iterator[Node]:
        """Give the statements in order.

        Args:
            all_nodes: also those of branches, loops, containers, called functions and networks.

        Raises:
            TypeError: ``all_nodes`` is not a bool.
        """
        require("nodes", "all_nodes", all_nodes, bool)
        body = self._tree.body
        statements = body.walk() if all_nodes else iter(list(body.statements))
        return (Node(s) for s in statements)

    def get_node(self, node_name: str) -> Node | None:
        """Give the statement of a name, None where there is none.

        Raises:
            TypeError: ``node_name`` is not a str.
        """
        require("SymbolTree", "node_name", node_name, str)
        found = (s for s in self._tree.statements() if s.name == node_name)
        return next((Node(s) for s in found), None)

    def before(self, node: Node | str) -> Position:
        """Give the place before a statement, for `insert`.

        Args:
            node: the statement or its name.

        Raises:
            TypeError: ``node`` is neither.
            RuntimeError: it is not in this tree.
        """
        return Position(self._tree, self._own(node), True)

    def after(self, node: Node | str) -> Position:
        """Give the place after a statement, for `insert`.

        Args:
            node: the statement or its name.

        Raises:
            TypeError: ``node`` is neither.
            RuntimeError: it is not in this tree.
        """
        return Position(self._tree, self._own(node), False)

    def insert(self, position: Position, node: Node) -> Node:
        """Put a new statement at a place.

        Args:
            position: from `before` or `after`.
            node: a new statement.

        Returns:
            ``node``.

        Raises:
            TypeError: an argument is of another type.
            ValueError: the place is in another tree or gone, or the statement is in a tree already.
        """
        require("SymbolTree", "position", position, Position)
        require("SymbolTree", "node", node, Node)
        self._check_new(node)
        anchor = position.statement
        block = anchor.block
        if position.tree is not self._tree or block is None:
            raise located(
                ValueError,
                f"For 'insert', the 'position' at node '{anchor.name}' is not in the current "
                "SymbolTree.",
            )
        first = anchor.head if position.is_before and anchor.head is not None else anchor
        places = [
            i for i, s in enumerate(block.statements) if s is first or (s.head and s.head is first)
        ]
        at = places[0] if position.is_before else places[-1] + 1
        if at < sum(s.kind is NodeType.Input for s in block.statements):
            raise located(
                ValueError, f"For 'insert', no statement stands before the input '{anchor.name}'."
            )
        self._tree.insert(block, node._statement, at)
        return node

    def erase(self, node: Node | str) -> Node | None:
        """Take a statement out.

        Args:
            node: the statement or its name.

        Returns:
            The statement; None where it is not in this tree.

        Raises:
            TypeError: ``node`` is neither a Node nor a str.
            RuntimeError: no statement has the name.
            NotImplementedError: it is an input of the network.
        """
        require("SymbolTree", "node", node, Node, str)
        if isinstance(node, Node) and not self._has(node):
            return None
        statement = self._own(node)
        if statement.kind is NodeType.Input:
            raise located(
                NotImplementedError,
                f"For 'erase', the input '{statement.name}' cannot be taken from the network: "
                "let no statement use it.",
            )
        self._tree.erase(statement)
        return Node(statement)

    def replace(self, old_node: Node, new_nodes: list[Node]) -> Node:
        """Put new statements in the place of one.

        Args:
            old_node: a statement of the tree.
            new_nodes: new statements, in order.

        Returns:
            The last of them.

        Raises:
            TypeError: an argument is of another type.
            ValueError: a new statement is in a tree already.
            IndexError: there are none.
            RuntimeError: ``old_node`` is not in this tree.
        """
        require("SymbolTree", "old_node", old_node, Node)
        require_each("SymbolTree", "new_nodes", new_nodes, Node)
        if not new_nodes:
            raise located(IndexError, "For 'replace', the 'new_nodes' must not be empty.")
        for node in new_nodes:
            self._check_new(node)
        last = old_node
        for node in new_nodes:
            last = self.insert(self.after(last), node)
        self.erase(old_node)
        return last

    def unique_name(self, name: str = "output") -> str:
        """Give a name that no variable of the forward function has.

        Args:
            name: what it begins with; a number follows where it is taken.

        Raises:
            TypeError: ``name`` is not a str.
        """
        require("SymbolTree", "name", name, str)
        return unique(name, self._tree.variables)

    def get_code(self) -> str:
        """Give the source code of the changed network."""
        return Writer(self._tree).text()

    def get_network(self) -> Cell:
        """Make the changed network; its source is written to the folder ``rewritten_network``.

        Returns:
            A Cell of a new class below that of the network read; Parameters are shared.
        """
        return Writer(self._tree).network()

    def print_node_tabulate(self, all_nodes: bool = False) -> None:
        """Print a table of the statements: kind, name, code, where arguments come from, users.

        Args:
            all_nodes: also those of branches, loops, containers, called functions and networks.

        Raises:
            TypeError: ``all_nodes`` is not a bool.
        """
        require("print_node_tabulate", "all_nodes", all_nodes, bool)
        rows = [("node type", "name", "codes", "arg providers", "target users")]
        rows += [_row(node) for node in self.nodes(all_nodes)]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        rows.insert(1, tuple("=" * w for w in widths))  # type: ignore[arg-type]
        for row in rows:
            cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
            print("  ".join(cells).rstrip())

    def _check_new(self, node: Node) -> None:
        if node._statement.block is not None:
            raise located(
                ValueError,
                f"For 'SymbolTree', node '{node.get_name()}' is in a SymbolTree and cannot be "
                "inserted again.",
            )

    def _has(self, node: Node) -> bool:
        block = node._statement.block
        return block is not None and block.tree is self._tree

    def _own(self, node: Any) -> Statement:
        require("SymbolTree", "node", node, Node, str)
        found = self.get_node(node) if isinstance(node, str) else node
        if found is None or not self._has(found):
            name = node if isinstance(node, str) else node.get_name()
            raise located(
                RuntimeError, f"For 'SymbolTree', node '{name}' is not in the current SymbolTree."
            )
        return found._statement


def _row(node: Node) -> tuple[str, str, str, str, str]:
    statement = node._statement
    code = statement.code
    providers = {
        i: (found[0].name, found[1])
        for i, found in enumerate(statement.providers())
        if found is not None
    }
    users: dict[int, list[tuple[str, int]]] = {}
    for user in node.get_users():
        for i, found in enumerate(user._statement.providers()):
            if found is not None and found[0] is statement:
                users.setdefault(found[1], []).append((user.get_name(), i))
    lines = "" if code is None else Writer.line(code)
    return str(node.get_node_type()), node.get_name(), lines, str(providers), str(users)
