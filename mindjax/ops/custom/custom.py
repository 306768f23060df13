"""Operators that users write: `Custom`, `PyFunc`."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

import jax
import numpy as np

from mindjax.core.caches import Cache
from mindjax.core.dtype import as_dtype, from_np
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import set_fields
from mindjax.ops.custom.host import HostCall, host_call, host_calls
from mindjax.ops.custom.hybrid import with_names
from mindjax.ops.custom.native import aot_function

_KINDS = ["hybrid", "akg", "tbe", "aicpu", "aot", "pyfunc", "julia"]
_ELSEWHERE = {
    "tbe": "it runs on Ascend devices only: write the operator with func_type 'pyfunc' or 'aot'",
    "aicpu": "it runs on Ascend devices only: write the operator with func_type 'pyfunc' or 'aot'",
    "julia": "write the operator with func_type 'pyfunc' or 'aot'",
}


class Custom(Primitive):
    """An operator that the user writes (MindSpore: ``ops.Custom``).

    The function runs on the host; on accelerators its arrays are copied there and back.

    Args:
        func: for ``"pyfunc"`` a function of numpy arrays, for ``"hybrid"`` and ``"akg"`` one of
            `kernel`'s DSL, for ``"aot"`` ``"file:function"``: a shared library, or a C++ source
            that is compiled with g++, and a function of the interface that the original documents.
        out_shape: shape of the output, tuple of shapes for several, or a function of the inputs'
            shapes (and of attributes) that gives these; None with ``"hybrid"``: as the kernel makes
            them.
        out_dtype: likewise of dtypes.
        func_type: ``"pyfunc"``, ``"hybrid"``, ``"akg"`` or ``"aot"``.
        bprop: ``bprop(*inputs, out, dout)`` gives the inputs' gradients.
        reg_info: record of a `CustomRegOp`; its attributes come behind the Tensors in a call.

    Raises:
        TypeError: ``func`` or ``reg_info`` has the wrong type, or a shape or dtype is missing.
        ValueError: ``func_type`` is unknown.
        NotImplementedError: ``func_type`` is one of a device's or language's own.
    """

    func: ClassVar[Any]
    func_type: ClassVar[str]
    user_bprop: ClassVar[Any]
    reg_info: ClassVar[Any]
    out_shape: ClassVar[Any]
    out_dtype: ClassVar[Any]
    _label: ClassVar[str]
    _attributes: ClassVar[list[tuple[str, Any]]]
    _host: ClassVar[Callable[..., Any]]
    _records: ClassVar[Cache[dict[bool, HostCall]]]

    def __init__(
        self,
        func: Any,
        out_shape: Any = None,
        out_dtype: Any = None,
        func_type: str = "pyfunc",
        bprop: Any = None,
        reg_info: Any = None,
    ) -> None:
        if not callable(func) and not isinstance(func, str):
            raise located(
                TypeError,
                f"For 'Custom', 'func' must be of type function or str, but got {type(func)}",
            )
        shown = f"For 'Custom', 'func_type': {func_type}, 'func': {func}"
        if func_type not in _KINDS:
            raise located(
                ValueError, f"{shown}, 'func_type' must be one of {_KINDS}, but got {func_type}"
            )
        if func_type in _ELSEWHERE:
            raise located(NotImplementedError, f"{shown}: {_ELSEWHERE[func_type]}.")
        wanted = str if func_type == "aot" else object
        if not isinstance(func, wanted) or (func_type != "aot" and not callable(func)):
            kind = "str" if func_type == "aot" else "function"
            raise located(
                TypeError, f"{shown}, 'func' must be of type {kind}, but got {type(func)}"
            )
        inferred = func_type in ("hybrid", "akg")
        for name, value in (("out_shape", out_shape), ("out_dtype", out_dtype)):
            if value is None and not inferred:
                raise located(
                    TypeError,
                    f"{shown}, '{name}' must be one of [tuple, list, function], but got "
                    f"{type(value)}",
                )
        info = getattr(func, "reg_info", None) if reg_info is None else reg_info
        label = func if isinstance(func, str) else getattr(func, "__name__", "a function")
        set_fields(self, func=func, func_type=func_type, user_bprop=bprop, reg_info=info)
        set_fields(self, out_shape=out_shape, out_dtype=out_dtype, _label=label)
        set_fields(self, _attributes=_attributes(info), _host=self._make())
        set_fields(self, _records=Cache(f"calls of {label} at {id(self):#x}", 64))

    def _make(self) -> Callable[..., Any]:
        """Give the function of numpy arrays; an 'aot' one takes its outputs too."""
        if self.func_type != "aot":
            return with_names(self.func) if self.func_type in ("hybrid", "akg") else self.func
        path, _, name = self.func.rpartition(":")
        if not path:
            raise located(
                TypeError,
                f"For 'Custom', 'func_type': aot, 'func': {self.func}, 'func' should be like "
                f"'file_name:func_name', but got {self.func}",
            )
        kept: list[Any] = []

        def call(inputs: Any, outputs: Any) -> None:
            if not kept:
                kept.append(aot_function(os.path.expanduser(path), name))
            kept[0](inputs, outputs)

        return call

    def __call__(self, *inputs: Any) -> Any:
        """Run the operator.

        Args:
            inputs: Tensors, then attributes.

        Returns:
            A Tensor, or a tuple of Tensors.
        """
        count = len(inputs) - len(self._attributes)
        if any(isinstance(v, Handle | jax.Array) for v in inputs[count:]):
            count = len(inputs)
        arrays = [v if isinstance(v, Handle | jax.Array) else _tensor(v) for v in inputs[:count]]
        values = list(inputs[count:])
        if count == len(inputs):
            values = [default for _, default in self._attributes]
        outputs, several = self._outputs(arrays, values)
        calls = self._calls(values, outputs, several)
        if self.user_bprop is None:
            return host_call(calls, *arrays)
        with_bprop = import_module("mindjax.autodiff.custom").with_bprop

        def bprop(*given: Any) -> Any:
            return self.user_bprop(*given[:count], *values, *given[count:])

        return with_bprop(
            lambda *a: host_call(calls, *a), bprop, tuple(arrays), (), f"Custom {self._label}"
        )

    def _calls(self, values: list[Any], outputs: Any, several: bool) -> dict[bool, HostCall]:
        """Give the ops for these attributes and outputs: the same ones again, with programs."""
        key = outputs, several, repr(values)
        found = self._records.get(key)
        if found is None:
            function = _Bound(self, values, outputs)
            found = host_calls(function, outputs, several, f"Custom {self._label}")
            self._records.put(key, found)
        return found

    def _outputs(self, arrays: list[Any], values: list[Any]) -> Any:
        """Infer shapes and dtypes of the outputs, and whether they come as a tuple."""
        shapes = [tuple(a.shape) for a in arrays]
        dtypes = [from_np(a.value_dtype if isinstance(a, Handle) else a.dtype) for a in arrays]
        if self.out_shape is None or self.out_dtype is None:
            sample = self._host(*(np.ones(s, d.np) for s, d in zip(shapes, dtypes, strict=True)))
            several = isinstance(sample, tuple | list)
            made = [np.asarray(s) for s in (sample if several else [sample])]
            return tuple((m.shape, m.dtype) for m in made), several
        shape: Any = self.out_shape
        dtype: Any = self.out_dtype
        shape = shape(*shapes, *values) if callable(shape) else shape
        dtype = dtype(*dtypes, *values) if callable(dtype) else dtype
        several = isinstance(dtype, tuple | list)
        if not several:
            return ((tuple(shape), as_dtype(dtype).np),), False
        if len(shape) != len(dtype):
            raise located(
                ValueError,
                f"For 'Custom', 'out_shape' and 'out_dtype' must describe as many outputs, but got "
                f"{shape} and {dtype}.",
            )
        pairs = zip(shape, dtype, strict=True)
        return tuple((tuple(s), as_dtype(d).np) for s, d in pairs), True

    def __repr__(self) -> str:
        return f"Custom({self._label}, func_type={self.func_type!r})"


class _Bound:
    """A `Custom` operator's function with the attributes of a call."""

    def __init__(self, custom: Custom, values: list[Any], outputs: Any) -> None:
        self.custom, self.values, self.outputs = custom, values, outputs

    def __call__(self, *arrays: Any) -> Any:
        if self.custom.func_type != "aot":
            # The function may write to its arguments.
            return self.custom._host(*(np.array(a) for a in arrays), *self.values)
        made = [np.zeros(shape, dtype) for shape, dtype in self.outputs]
        extra = [np.asarray(v) for v in self.values]
        self.custom._host([*arrays, *extra], made)
        return made if len(made) > 1 else made[0]


def _attributes(reg_info: Any) -> list[tuple[str, Any]]:
    """List names and defaults of the attributes in a record."""
    from mindjax.ops.custom.registration import _record

    if reg_info is None:
        return []
    first = reg_info[0] if isinstance(reg_info, tuple | list) else reg_info
    if first is None:
        return []
    found = _record(first, "Custom").get("attr", [])
    return [(entry["name"], entry.get("defaultValue", entry.get("value"))) for entry in found]


def _tensor(value: Any) -> Any:
    """Make a Tensor of a number or of a numpy array among the inputs."""
    if isinstance(value, bool | int | float | np.ndarray | np.generic):
        return Handle.tensor_class(value)
    raise located(
        TypeError, f"For 'Custom', the inputs must be Tensors, but got '{type(value).__name__}'."
    )


class PyFunc(Primitive):
    """A function of numpy arrays as an operator (MindSpore: ``ops.PyFunc``).

    Args:
        fn: the function.
        in_types: dtypes of the inputs.
        in_shapes: their shapes.
        out_types: dtypes of the outputs.
        out_shapes: their shapes.
        stateful: whether calls happen in program order and none is left out.

    Raises:
        TypeError: ``fn`` is not callable.
        ValueError: types and shapes differ in number.
    """

    fn: ClassVar[Callable[..., Any]]
    stateful: ClassVar[bool]
    in_types: ClassVar[list[Any]]
    in_shapes: ClassVar[list[Any]]
    _host_run: ClassVar[Callable[..., Any]]
    _calls: ClassVar[dict[bool, HostCall]]

    def __init__(
        self,
        fn: Callable[..., Any],
        in_types: Any,
        in_shapes: Any,
        out_types: Any,
        out_shapes: Any,
        stateful: bool = True,
    ) -> None:
        if not callable(fn):
            raise located(
                TypeError, f"For 'PyFunc', the 'fn' must be callable, but got {type(fn).__name__}."
            )
        if len(in_types) != len(in_shapes) or len(out_types) != len(out_shapes):
            raise located(
                ValueError,
                "For 'PyFunc', types and shapes must be equal in number, but got "
                f"{len(in_types)}, {len(in_shapes)} and {len(out_types)}, {len(out_shapes)}.",
            )
        pairs = zip(out_shapes, out_types, strict=True)
        outputs = tuple((tuple(s), as_dtype(d).np) for s, d in pairs)
        set_fields(self, fn=fn, stateful=stateful, in_types=list(in_types))
        set_fields(self, in_shapes=[tuple(s) for s in in_shapes])
        set_fields(self, _host_run=self._run)
        set_fields(self, _calls=host_calls(self._host_run, outputs, True, "PyFunc", stateful))

    def _run(self, *arrays: Any) -> Any:
        result = self.fn(*(np.array(a) for a in arrays))
        return result if isinstance(result, tuple | list) else (result,)

    def __call__(self, *inputs: Any) -> Any:
        """Run the operator.

        Args:
            inputs: Tensors, or one tuple or list of them, of the declared shapes and dtypes.

        Returns:
            Tuple of Tensors.

        Raises:
            TypeError: the inputs are not as declared.
        """
        given = (
            list(inputs[0]) if len(inputs) == 1 and isinstance(inputs[0], tuple | list) else inputs
        )
        kinds = [(tuple(x.shape), x.dtype) for x in given]
        wanted = list(zip(self.in_shapes, self.in_types, strict=True))
        if kinds != wanted:
            raise located(
                TypeError, f"For 'PyFunc', the inputs were declared as {wanted}, but got {kinds}."
            )
        return host_call(self._calls, *given)

    def __repr__(self) -> str:
        return f"PyFunc({getattr(self.fn, '__name__', self.fn)})"
