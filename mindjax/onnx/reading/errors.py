"""What can be wrong with an ONNX file."""

from __future__ import annotations


class OnnxError(RuntimeError):
    """An ONNX file is damaged, or a network out of it does not fit what it is called with."""


class UnknownOperator(NotImplementedError):
    """A node needs an operator, or a form of one, that MindJAX does not have."""


class Undecided(Exception):
    """A shape or a choice depends on values that are not known while a graph is traced."""
