"""The table of operators: ONNX's name -> what computes it.

Most are functions of arrays, for numpy where all values are known ahead, and for jax elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from mindjax.core.primitive import Primitive
from mindjax.onnx.reading.errors import UnknownOperator


class Attributes(dict[str, Any]):
    """The attributes of a node.

    Args:
        values: attributes by name.
        kind: name of the operator.
        opset: version of ONNX's operators.
        outputs: how many outputs the node has.
    """

    def __init__(self, values: Any, kind: str, opset: int, outputs: int) -> None:
        super().__init__(values)
        self.kind, self.opset, self.outputs = kind, opset, outputs


class Entry(NamedTuple):
    """How an operator is computed.

    Attributes:
        function: of (attributes, inputs): arrays, and None for inputs that are left out.
        static: positions of inputs whose values decide shapes; negative ones are "from there on".
        folds: whether numpy computes it where all values are known.
        concrete: whether all values have to be known, since they decide the result's shape.
        blind: whether only the shapes of its inputs matter.
        special: function of (run, node, values, environment) on Tensors, in place of `function`.
    """

    function: Callable[..., Any] | None
    static: tuple[int, ...] = ()
    folds: bool = False
    concrete: bool = False
    blind: bool = False
    special: Callable[..., Any] | None = None

    def is_static(self, position: int) -> bool:
        """Tell whether the values of an input decide shapes."""
        return position in self.static or any(s < 0 and position >= -s for s in self.static)


OPERATORS: dict[str, Entry] = {}
"""ONNX's name of an operator -> how it is computed."""


def operator(*names: str, **how: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of arrays (see `Entry`)."""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        OPERATORS.update(dict.fromkeys(names, Entry(function, **how)))
        return function

    return keep


def special(*names: str, **how: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of Tensors (see `Entry`)."""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        OPERATORS.update(dict.fromkeys(names, Entry(None, special=function, **how)))
        return function

    return keep


def entry_of(kind: str, name: str) -> Entry:
    """Find an operator.

    Raises:
        UnknownOperator: MindJAX does not have it.
    """
    found = OPERATORS.get(kind)
    if found is None:
        raise UnknownOperator(
            f"the node '{name}' needs ONNX's '{kind[:80]}', which MindJAX has not"
        )
    return found


def space(*arrays: Any) -> Any:
    """Give the module that computes with arrays: numpy for numpy's, else jax.numpy."""
    plain = all(a is None or isinstance(a, np.ndarray | np.generic) for a in arrays)
    return np if plain else jnp


class OnnxOperator(Primitive, register=False):
    """An operator of ONNX as one of ours.

    Args:
        kind: name of the operator.
        opset: version of ONNX's operators.
        outputs: number of outputs of the node.
        given: names and values of attributes.
        places: positions of the arrays among the inputs.
        static: for each other input, position, dtype, shape and values.
    """

    kind: str
    opset: int
    outputs: int
    given: tuple[Any, ...]
    places: tuple[int, ...]
    static: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The name in errors, which is no primitive's."""
        return f"onnx.{self.kind}"

    def compute(self, *arrays: Any) -> Any:
        """Compute the outputs."""
        positions = [*self.places, *(s[0] for s in self.static)]
        values: list[Any] = [None] * (max(positions, default=-1) + 1)
        for place, array in zip(self.places, arrays, strict=True):
            values[place] = array
        for place, dtype, shape, content in self.static:
            values[place] = np.array(content, dtype).reshape(shape)
        attributes = {k: list(v) if isinstance(v, tuple) else v for k, v in self.given}
        function = OPERATORS[self.kind].function
        assert function is not None
        return function(Attributes(attributes, self.kind, self.opset, self.outputs), *values)


def apply(attributes: Attributes, values: list[Any]) -> Any:
    """Run an operator on Tensors.

    Args:
        attributes: the node's.
        values: its inputs: Tensors, numpy arrays for static ones, None for what is left out.

    Returns:
        Tensor, or a tuple of Tensors.
    """
    given = tuple(
        (k, tuple(v) if isinstance(v, list) else v) for k, v in sorted(attributes.items())
    )
    places = tuple(
        i for i, v in enumerate(values) if v is not None and not isinstance(v, np.ndarray)
    )
    static = tuple(
        (i, v.dtype.name, v.shape, tuple(v.reshape(-1).tolist()))
        for i, v in enumerate(values)
        if isinstance(v, np.ndarray)
    )
    record = OnnxOperator(
        attributes.kind, attributes.opset, attributes.outputs, given, places, static
    )
    return record(*(values[i] for i in places))
