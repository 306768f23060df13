"""Networks read as statements, changed and made again (MindSpore: ``mindspore.rewrite``)."""

from mindjax.rewrite.node import Node as Node
from mindjax.rewrite.scoped_value import ScopedValue as ScopedValue
from mindjax.rewrite.scoped_value import ValueType as ValueType
from mindjax.rewrite.statement import NodeType as NodeType
from mindjax.rewrite.symbol_tree import SymbolTree as SymbolTree

__all__ = ["Node", "NodeType", "ScopedValue", "SymbolTree", "ValueType"]
