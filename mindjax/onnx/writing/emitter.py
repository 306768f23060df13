"""A growing ONNX graph: nodes, the graphs inside them, and the constants of all."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mindjax.mindir.lowering import UnknownOperation
from mindjax.onnx.package import package


class Ref(NamedTuple):
    """A value of the ONNX graph.

    Attributes:
        name: its name.
        shape: sizes, None for one that may change.
        dtype: numpy dtype.
    """

    name: str
    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def is_real(self) -> bool:
        """Whether it holds floating-point numbers."""
        return np.issubdtype(self.dtype, np.floating) or self.dtype.name == "bfloat16"

    def size(self, axis: int) -> int:
        """Give the size of an axis that must not change."""
        size = self.shape[axis]
        if size is None:
            raise UnknownOperation("an operation depends on an open size")
        return size


Operand = Any
"""A `Ref`, an array, or None for an input that is left out."""


class Emitter:
    """One graph of a model.

    Args:
        opset: version of ONNX's operators.
        outer: the graph that this one stands in.
    """

    def __init__(self, opset: int, outer: Emitter | None = None) -> None:
        self.opset = opset
        self.onnx = package()
        self.nodes: list[Any] = []
        self._numbers: Any = itertools.count() if outer is None else outer._numbers
        self._constants: dict[Any, str] = {} if outer is None else outer._constants
        self.initializers: dict[str, Any] = {} if outer is None else outer.initializers
        self.parameters: dict[str, np.ndarray] = {} if outer is None else outer.parameters

    def inner(self) -> Emitter:
        """Begin a graph inside this one; it sees all values of this one."""
        return Emitter(self.opset, self)

    def name(self, kind: str) -> str:
        """Make a name that nothing else has."""
        return f"/{kind}_{next(self._numbers)}"

    def type_code(self, dtype: Any) -> int:
        """Give ONNX's number of a dtype.

        Raises:
            UnknownOperation: ONNX has none.
        """
        try:
            return self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        except (KeyError, ValueError):
            raise UnknownOperation(f"ONNX has no dtype {np.dtype(dtype).name}") from None

    def constant(self, value: Any) -> Ref:
        """Give an array as a value, kept once in the model."""
        array = np.ascontiguousarray(value).reshape(np.shape(value))
        key = (array.shape, array.dtype.name, array.tobytes())
        found = self._constants.get(key)
        if found is None:
            found = self.name("constant")
            self._constants[key] = found
            self.type_code(array.dtype)
            self.initializers[found] = self.onnx.numpy_helper.from_array(array, found)
        return Ref(found, array.shape, array.dtype)

    def ref(self, value: Operand) -> Ref:
        """Give an operand as a value of the graph."""
        return value if isinstance(value, Ref) else self.constant(value)

    def op(
        self,
        kind: str,
        *inputs: Operand,
        count: int = 1,
        dtype: Any = None,
        shape: Sequence[int | None] | None = None,
        **attributes: Any,
    ) -> Any:
        """Add a node.

        Args:
            kind: ONNX's name of the operator.
            *inputs: its inputs.
            count: number of outputs.
            dtype: of the first output; by default that of the first input.
            shape: of the first output; by default that of the first input.
            **attributes: of the node; those that are None are left out.

        Returns:
            The output, or a list of several.
        """
        refs = [None if v is None else self.ref(v) for v in inputs]
        first = next((r for r in refs if r is not None), None)
        outputs = [self.name(kind) for _ in range(count)]
        given = {k: v for k, v in attributes.items() if v is not None}
        names = ["" if r is None else r.name for r in refs]
        while names and not names[-1]:
            names.pop()
        self.nodes.append(
            self.onnx.helper.make_node(kind, names, outputs, name=outputs[0], **given)
        )
        if dtype is None:
            dtype = first.dtype if first is not None else np.dtype(np.float32)
        if shape is None:
            shape = first.shape if first is not None else ()
        results = [Ref(o, tuple(shape), np.dtype(dtype)) for o in outputs]
        return results[0] if count == 1 else results

    # -- what many operators need --

    def cast(self, x: Operand, dtype: Any) -> Any:
        """Bring a value to a dtype."""
        if not isinstance(x, Ref):
            return np.asarray(x).astype(dtype)
        if x.dtype == np.dtype(dtype):
            return x
        return self.op("Cast", x, to=self.type_code(dtype), dtype=dtype)

    def vector(self, values: Any) -> Operand:
        """Give sizes, of which some may be scalars of the graph, as a vector of Int64."""
        if isinstance(values, Ref):
            return values
        values = list(values) if isinstance(values, tuple | list) else [values]
        if not any(isinstance(v, Ref) for v in values):
            return np.array([int(v) for v in values], np.int64)
        parts = [
            self.op("Unsqueeze", self.cast(v, np.int64), np.array([0], np.int64), shape=(1,))
            if isinstance(v, Ref)
            else np.array([int(v)], np.int64)
            for v in values
        ]
        return self.op("Concat", *parts, axis=0, dtype=np.int64, shape=(len(parts),))

    def reduce(self, kind: str, x: Operand, axes: Sequence[int], keep: bool) -> Ref:
        """Reduce over axes, which stand in an attribute or in an input."""
        keepdims = int(keep)
        if kind == "ReduceSum" or self.opset >= 18:
            return self.op(kind, x, np.array(list(axes), np.int64), keepdims=keepdims)
        return self.op(kind, x, axes=list(axes), keepdims=keepdims)
