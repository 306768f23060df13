"""`Node`: a statement of a network's forward function."""

from __future__ import annotations

import ast
import types
from typing import TYPE_CHECKING, Any

from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.nn.cell import Cell
from mindjax.rewrite.scoped_value import ScopedValue, code_of, require, require_each
from mindjax.rewrite.statement import NodeType, Slot, Statement

if TYPE_CHECKING:
    from mindjax.rewrite.symbol_tree import SymbolTree

Targets = list[ScopedValue | str]


class Node:
    """A statement of a network's forward function (MindSpore: ``rewrite.Node``).

    Args:
        node: the statement; `create_call_cell` and `create_call_function` make new ones.
    """

    def __init__(self, node: Statement) -> None:
        require("Node", "node", node, Statement)
        self._statement = node

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        return self._statement is other._statement

    def __hash__(self) -> int:
        return id(self._statement)

    @staticmethod
    def create_call_cell(
        cell: Cell,
        targets: Targets,
        args: list[ScopedValue] | None = None,
        kwargs: dict[str, ScopedValue] | None = None,
        name: str = "",
        is_sub_net: bool = False,
    ) -> Node:
        """Make a statement ``targets = self.name(*args, **kwargs)``.

        Args:
            cell: Cell or Primitive to be called.
            targets: variables for its outputs.
            args: positional arguments.
            kwargs: arguments by name.
            name: attribute for the Cell, by default the name of its class.
            is_sub_net: whether the Cell is a user's network, to be read as a tree.

        Raises:
            TypeError: an argument is of another type.
        """
        require("Node", "cell", cell, Cell, Primitive)
        require("Node", "name", name, str)
        require("Node", "is_sub_net", is_sub_net, bool)
        code, call = _call("Node", targets, args, kwargs)
        kind = NodeType.CallCell if isinstance(cell, Cell) else NodeType.CallPrimitive
        kind = NodeType.Tree if is_sub_net and isinstance(cell, Cell) else kind
        made = Statement(kind, name or type(cell).__name__, code, *_slots(call))
        made.cell = made.instance = cell
        made.instance_type = type(cell)
        return Node(made)

    @staticmethod
    def create_call_function(
        function: Any,
        targets: Targets,
        args: list[ScopedValue] | None = None,
        kwargs: dict[str, ScopedValue] | None = None,
    ) -> Node:
        """Make a statement ``targets = function(*args, **kwargs)``; the function is not read.

        Args:
            function: function or class to be called.
            targets: variables for its outputs.
            args: positional arguments.
            kwargs: arguments by name.

        Raises:
            TypeError: an argument is of another type.
        """
        kinds = (types.FunctionType, type, types.BuiltinFunctionType)
        require("create_call_function", "function", function, *kinds)
        code, call = _call("create_call_function", targets, args, kwargs)
        made = Statement(NodeType.CallFunction, function.__name__, code, *_slots(call))
        made.function = made.instance = made.instance_type = function
        return Node(made)

    def get_name(self) -> str:
        """Give the name, which is unique in a tree."""
        return self._statement.name

    def get_node_type(self) -> NodeType:
        """Tell what the statement does."""
        return self._statement.kind

    def get_instance(self) -> Any:
        """Give the Cell, Primitive or function that is called, None for other statements."""
        return self._statement.instance

    def get_instance_type(self) -> Any:
        """Give the class of the Cell or Primitive that is called, or the function itself."""
        return self._statement.instance_type

    def get_args(self) -> list[ScopedValue]:
        """Give the positional arguments."""
        return [slot.read() for slot in self._statement.slots]

    def get_kwargs(self) -> dict[str, ScopedValue]:
        """Give the arguments with names."""
        return {name: slot.read() for name, slot in self._statement.keywords.items()}

    def get_targets(self) -> list[ScopedValue]:
        """Give the variables that the statement writes."""
        return self._statement.targets

    def get_inputs(self) -> list[Node]:
        """Give the statements that write the arguments, one for each argument that has one."""
        return [Node(found[0]) for found in self._statement.providers() if found is not None]

    def get_users(self) -> list[Node]:
        """Give the statements that take what this one writes."""
        block = self._statement.block
        if block is None:
            return []
        return [
            Node(other)
            for other in block.tree.statements()
            if any(p is not None and p[0] is self._statement for p in other.providers())
        ]

    def set_arg(self, index: int, arg: ScopedValue | str) -> None:
        """Put another positional argument.

        Args:
            index: its position.
            arg: a value, or a name as in source code.

        Raises:
            TypeError: an argument is of another type.
            ValueError: there is no such position, or the name is none.
        """
        require("Node", "index", index, int)
        require("Node", "arg", arg, ScopedValue, str)
        self._slot(index).write(arg)
        self._touch()

    def set_arg_by_node(self, arg_idx: int, src_node: Node, out_idx: int | None = None) -> None:
        """Put what another statement writes as a positional argument.

        Args:
            arg_idx: position of the argument.
            src_node: the other statement.
            out_idx: which of its targets; None for its only one.

        Raises:
            TypeError: an argument is of another type.
            ValueError: there is no such position or target, or there are several targets.
        """
        require("Node", "arg_idx", arg_idx, int)
        require("Node", "src_node", src_node, Node)
        if out_idx is not None:
            require("Node", "out_idx", out_idx, int)
        slot, targets = self._slot(arg_idx), src_node.get_targets()
        if out_idx is None and len(targets) > 1:
            raise located(
                ValueError,
                f"For 'set_arg_by_node', 'out_idx' must be given, because node "
                f"'{src_node.get_name()}' has {len(targets)} outputs.",
            )
        if not 0 <= (out_idx or 0) < len(targets):
            raise located(
                ValueError,
                f"For 'set_arg_by_node', 'out_idx' must be in range of [0, {len(targets)}), but "
                f"got {out_idx}.",
            )
        slot.write(targets[out_idx or 0])
        self._touch()

    def get_symbol_tree(self) -> SymbolTree | None:
        """Give the tree that the statement is in, None for a new one."""
        from mindjax.rewrite.symbol_tree import SymbolTree

        block = self._statement.block
        return None if block is None else SymbolTree(block.tree)

    def get_sub_tree(self) -> SymbolTree:
        """Give the tree of the network that the statement calls.

        Raises:
            TypeError: it calls none.
            AttributeError: it is not in a tree yet.
        """
        from mindjax.rewrite.symbol_tree import SymbolTree

        if self._statement.kind is not NodeType.Tree:
            raise located(
                TypeError,
                f"For 'get_sub_tree', the type of node should be 'NodeType.Tree', but got "
                f"{self._statement.kind}.",
            )
        if self._statement.subtree is None:
            raise located(
                AttributeError,
                f"For 'get_sub_tree', node '{self.get_name()}' has no tree before it is inserted.",
            )
        return SymbolTree(self._statement.subtree)

    def _slot(self, index: int) -> Slot:
        slots = self._statement.slots
        if not 0 <= index < len(slots):
            raise located(
                ValueError,
                f"For 'Node', the 'index' must be in range of [0, {len(slots)}), but got {index} "
                f"with type 'int'.",
            )
        return slots[index]

    def _touch(self) -> None:
        if self._statement.block is not None:
            self._statement.block.touch()


def _call(owner: str, targets: Any, args: Any, kwargs: Any) -> tuple[ast.Assign, ast.Call]:
    require_each(owner, "targets", targets, ScopedValue, str)
    require_each(owner, "args", args or [], ScopedValue)
    require(owner, "kwargs", kwargs or {}, dict)
    require_each(owner, "kwargs", list(kwargs or {}), str)
    require_each(owner, "kwargs", list((kwargs or {}).values()), ScopedValue)
    if not targets:
        raise located(ValueError, f"For '{owner}', the 'targets' must not be empty.")
    # The function's name is for the tree to write that takes the statement.
    call = ast.Call(
        ast.Name("", ast.Load()),
        [code_of(a, owner) for a in args or []],
        [ast.keyword(k, code_of(v, owner)) for k, v in (kwargs or {}).items()],
    )
    text = ", ".join(str(t) for t in targets)
    try:
        (made,) = ast.parse(f"{text} = 0").body
    except SyntaxError:
        raise located(
            ValueError, f"For '{owner}', the 'targets' must be names of variables, but got {text}."
        ) from None
    assert isinstance(made, ast.Assign)
    made.value = call
    return made, call


def _slots(call: ast.Call) -> tuple[list[Slot], dict[str, Slot]]:
    keywords = {k.arg or "**": Slot(k, "value") for k in call.keywords}
    return [Slot(call, "args", i) for i in range(len(call.args))], keywords
