"""Operators that look: dumps, summaries, gradients on their way, functions in a graph."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

import jax
import numpy as np

from mindjax.core.checks import of_type, one_of
from mindjax.core.errors import located
from mindjax.core.handle import Handle, is_traced, unwrap
from mindjax.core.observed import observe
from mindjax.core.primitive import Primitive


def _seen(function: Callable[[np.ndarray[Any, Any]], None], tensor: Any) -> None:
    """Call a function with a Tensor's values, of a traced one whenever the program runs."""
    array = unwrap(tensor)
    if is_traced(array):
        jax.debug.callback(lambda value: function(np.asarray(value)), array, ordered=True)
    else:
        function(np.asarray(array))


def _tensor(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, Handle | jax.Array):
        raise located(
            TypeError,
            f"For '{owner}', the '{name}' must be a Tensor, but got {type(value).__name__}.",
        )


class _Summary(Primitive, register=False):
    """Base of the summaries: a name and a Tensor for whoever collects them."""

    kind: ClassVar[str] = ""
    ranks: ClassVar[tuple[int, int]] = (0, 99)
    effect: ClassVar[bool] = True

    def __call__(self, *inputs: Any) -> None:
        """Hand a value on to the `SummaryRecord` that is open: ``(name, value)``.

        Raises:
            TypeError: the name is no string or the value is no Tensor.
            ValueError: the name is empty, or the value has another number of axes than it must.
        """
        name, value = inputs
        of_type("name", name, str, self.name)
        _tensor(self.name, "value", value)
        if not name:
            raise located(ValueError, f"For '{self.name}', the 'name' must not be empty.")
        low, high = self.ranks
        rank = len(unwrap(value).shape)
        if not low <= rank <= high:
            raise located(
                ValueError,
                f"For '{self.name}', the 'value' must have from {low} to {high} axes, but got "
                f"{rank}.",
            )

        observe(self.kind, name, unwrap(value))


class ScalarSummary(_Summary):
    """A number for the summary file (MindSpore: ``ops.ScalarSummary``)."""

    kind: ClassVar[str] = "scalar"
    ranks: ClassVar[tuple[int, int]] = (0, 1)


class ImageSummary(_Summary):
    """Images (N, C, H, W) for the summary file (MindSpore: ``ops.ImageSummary``)."""

    kind: ClassVar[str] = "image"
    ranks: ClassVar[tuple[int, int]] = (4, 4)


class TensorSummary(_Summary):
    """A Tensor for the summary file (MindSpore: ``ops.TensorSummary``)."""

    kind: ClassVar[str] = "tensor"
    ranks: ClassVar[tuple[int, int]] = (1, 99)


class HistogramSummary(_Summary):
    """A Tensor whose histogram goes to the summary file (MindSpore: ``ops.HistogramSummary``)."""

    kind: ClassVar[str] = "histogram"
    ranks: ClassVar[tuple[int, int]] = (1, 99)


_numbers = itertools.count()


def _save(path: str, array: np.ndarray[Any, Any]) -> None:
    # A file of numpy's has no bfloat16.
    np.save(path, array.astype(np.float32) if array.dtype.kind == "V" else array)


class TensorDump(Primitive):
    """Save Tensors as files of numpy's (MindSpore: ``ops.TensorDump``).

    Call: ``TensorDump()(file, x)`` writes ``file_dtype_number.npy``, with ``input_output="in"``
    ``file_in_dtype_number.npy``.

    Args:
        input_output: ``"out"`` or ``"in"``: which of two layouts parallel training saves; here
            there is one.
    """

    input_output: str = "out"
    effect: ClassVar[bool] = True

    def __post_init__(self) -> None:
        one_of("input_output", self.input_output, ["in", "out", "all"], self.name)

    def __call__(self, *inputs: Any) -> None:
        """Save.

        Raises:
            TypeError: the file is no string, or the value no Tensor.
        """
        file, value = inputs
        of_type("file", file, str, self.name)
        _tensor(self.name, "input_x", value)
        base = file.removesuffix(".npy")
        os.makedirs(os.path.dirname(os.path.abspath(base)), exist_ok=True)
        mode = "_in" if self.input_output == "in" else ""

        def save(array: np.ndarray[Any, Any]) -> None:
            _save(f"{base}{mode}_{array.dtype.name}_{next(_numbers)}.npy", array)

        _seen(save, value)


def tensordump(file_name: str, tensor: Any, mode: str = "out") -> None:
    """Save a Tensor as a file of numpy's (MindSpore: ``ops.tensordump``).

    Args:
        file_name: path without the ending; dtype and a number are added.
        tensor: the Tensor.
        mode: as in `TensorDump`.

    Raises:
        TypeError: ``file_name`` is no string, or ``tensor`` no Tensor.
        ValueError: ``mode`` is unknown.
    """
    TensorDump(mode)(file_name, tensor)


class DumpGradient(Primitive):
    """Save the gradient that reaches a Tensor (MindSpore: ``ops.DumpGradient``).

    Call: ``DumpGradient()(path, x, "out")`` gives ``x``.
    """

    def __call__(self, *inputs: Any) -> Any:
        """Give the Tensor; its gradient is saved to the path when it is computed."""
        path, value, mode = inputs
        of_type("path", path, str, self.name)
        one_of("input_output", mode, ["in", "out"], self.name)

        def save(gradients: list[Any]) -> None:
            _seen(lambda array: _save(path, array), gradients[0])

        return import_module("mindjax.autodiff.custom").watch_gradient(value, save)


class InsertGradientOf(Primitive):
    """Change the gradient that reaches a value (MindSpore: ``ops.InsertGradientOf``).

    Args:
        f: gets the gradient and gives another one.
    """

    f: Any

    def __post_init__(self) -> None:
        if not callable(self.f):
            raise located(
                TypeError,
                f"For 'InsertGradientOf', the 'f' must be a function, but got "
                f"{type(self.f).__name__}.",
            )

    def __call__(self, *inputs: Any) -> Any:
        """Give the value as it is."""
        watch = import_module("mindjax.autodiff.custom").watch_gradient
        return watch(inputs[0], lambda gradients: [self.f(g) for g in gradients])


class Reusing(Primitive):
    """Mark a function whose graph is not inlined; XLA decides that (MindSpore: ``ops.Reusing``)."""

    def __call__(self, *inputs: Any) -> Any:
        """Give the function as it is."""
        return inputs[0]


class UpdateState(Primitive):
    """Order effects (MindSpore: ``ops.UpdateState``); programs keep their order by themselves."""

    def __call__(self, *inputs: Any) -> Any:
        """Give the state, the first of the two inputs."""
        return inputs[0]


class MoveTo(Primitive):
    """Copy to a device; call: ``MoveTo()(x, to="CPU", blocking=True)`` (MindSpore: ``ops.MoveTo``).

    In a graph XLA places values, so that only the copy is made there.
    """

    def __call__(self, *inputs: Any) -> Any:
        """Copy."""
        return move_to(*inputs)


def move_to(input: Any, to: str = "CPU", blocking: bool = True) -> Any:
    """Copy a Tensor to a device (MindSpore: ``ops.move_to``).

    Args:
        input: Tensor, or list or tuple of ints.
        to: ``"Ascend"`` or ``"CPU"``; also ``"GPU"`` here.
        blocking: whether to wait for the copy.

    Returns:
        Tensor of the same values. In a graph XLA places it.

    Raises:
        ValueError: ``to`` is unknown, or ``blocking`` is no bool.
        RuntimeError: outside of a graph: there is no such device.
    """
    tensor: Any = input if isinstance(input, Handle) else Handle.tensor_class(input)
    if is_traced(unwrap(tensor)):
        one_of("to", to, ["Ascend", "GPU", "CPU"], "MoveTo")
        return tensor.copy()
    return tensor.move_to(to, blocking)


class Morph(Primitive):
    """A function as an operator of a graph (MindSpore: ``ops.Morph``); here in PYNATIVE too.

    Args:
        fn: the function.
        infer_shape: gives the outputs' shapes; the function itself tells them here.
        infer_dtype: gives the outputs' dtypes; the function itself tells them here.
        bprop_fn: ``bprop_fn(*inputs, out, dout)`` gives the inputs' gradients.
    """

    fn: Any
    infer_shape: Any
    infer_dtype: Any
    bprop_fn: Any = None

    def __post_init__(self) -> None:
        for name in ("fn", "infer_shape", "infer_dtype"):
            if not callable(getattr(self, name)):
                raise located(TypeError, f"For 'Morph', the '{name}' must be a function.")

    def __call__(self, *inputs: Any) -> Any:
        """Call the function."""
        if self.bprop_fn is None:
            return self.fn(*inputs)
        with_bprop = import_module("mindjax.autodiff.custom").with_bprop
        return with_bprop(self.fn, self.bprop_fn, inputs, (), "Morph")


class PyExecute(Primitive):
    """Evaluate a Python expression (MindSpore: ``ops.PyExecute``).

    Call: ``PyExecute()(expression, names, values)``.
    """

    def __call__(self, *inputs: Any) -> Any:
        """Evaluate the expression, which knows the values by their names.

        Raises:
            TypeError: the expression is no string.
        """
        expression, names, values = inputs
        of_type("expression", expression, str, self.name)
        return eval(expression, {}, dict(zip(names, values, strict=True)))
