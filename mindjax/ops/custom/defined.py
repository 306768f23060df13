"""Operators that users define as Primitive classes with inference and implementation in Python."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from mindjax.core import jax_private
from mindjax.core import primitive as core
from mindjax.core.dtype import TensorType, as_dtype
from mindjax.core.errors import located
from mindjax.core.handle import Handle, current
from mindjax.ops.custom.host import host_call, host_calls


class VmImplRegistry(dict[str, Any]):
    """Implementations in Python by the operator's name (MindSpore: ``vm_impl_registry``)."""

    def register(self, prim: Any) -> Callable[[Any], Any]:
        """Make a decorator that registers what makes an implementation.

        Args:
            prim: the Primitive class or its name.

        Returns:
            A decorator for a function that gets the operator and gives its implementation.
        """

        def decorate(generator: Any) -> Any:
            self[prim if isinstance(prim, str) else prim.__name__] = generator
            return generator

        return decorate


vm_impl_registry = VmImplRegistry()


def get_vm_impl_fn(prim: Any) -> Any:
    """Give an operator's registered implementation (MindSpore: ``ops.get_vm_impl_fn``).

    Args:
        prim: the operator or its name.

    Returns:
        The function, None if there is none.
    """
    generator = vm_impl_registry.get(prim if isinstance(prim, str) else prim.name)
    return None if generator is None else generator(prim)


class _Every(type):
    """Makes every operator an instance of `Primitive`, the base that users write classes on."""

    def __instancecheck__(cls, value: Any) -> bool:
        base = core.Primitive if cls.__dict__.get("_is_base") else None
        return isinstance(value, base) if base is not None else type.__instancecheck__(cls, value)

    def __subclasscheck__(cls, other: type) -> bool:
        base = core.Primitive if cls.__dict__.get("_is_base") else None
        return issubclass(other, base) if base is not None else type.__subclasscheck__(cls, other)


class Primitive(core.Primitive, register=False, metaclass=_Every):
    """Base of users' operators (MindSpore: ``ops.Primitive``).

    A subclass defines ``compute(*jax arrays)``, or ``vm_impl(*Tensors)``, which runs on the host;
    without them `vm_impl_registry` and the built-in operator of the same name are asked. Its
    gradient is jax's of ``compute``, or ``bprop(*jax arrays, out, dout)`` beside it; an operator on
    the host has the one of Tensors that ``get_bprop()`` gives.

    Args:
        name: the operator's name.
    """

    _is_base: ClassVar[bool] = True

    def __init__(self, name: str) -> None:
        vars(self)["_defined_name"] = name

    def __init_subclass__(cls, register: bool = True) -> None:
        super().__init_subclass__(register)
        cls._is_base = False
        if not cls._fields:
            cls.__setattr__ = object.__setattr__  # type: ignore[method-assign]

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.__dict__.get("_defined_name", type(self).__name__)

    def __call__(self, *inputs: Any) -> Any:
        """Run the operator."""
        return run_defined(self, inputs)

    def __repr__(self) -> str:
        hidden = ("input_names", "output_names")
        shown = ", ".join(f"{k}={v}" for k, v in self.attrs.items() if k not in hidden)
        return f"Prim[{self.name}]" + (f"<{shown}>" if shown else "")


class PrimitiveWithInfer(Primitive, register=False):
    """Base of users' operators that infer shapes and dtypes (MindSpore: ``PrimitiveWithInfer``).

    A subclass defines ``__infer__(*described)`` or ``infer_shape(*shapes)`` and
    ``infer_dtype(*dtypes)``, and an implementation as `Primitive` says.

    Args:
        name: the operator's name.
    """


class PrimitiveWithCheck(PrimitiveWithInfer, register=False):
    """Base of users' operators that check arguments (MindSpore: ``PrimitiveWithCheck``).

    A subclass defines ``__check__(*described)`` or ``check_shape(*shapes)`` and
    ``check_dtype(*dtypes)``; it runs as `PrimitiveWithInfer` does.

    Args:
        name: the operator's name.
    """


def prim_attr_register(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Note the arguments of a Primitive's ``__init__`` as its attributes.

    MindSpore: ``prim_attr_register``.

    Args:
        fn: the ``__init__``.

    Returns:
        The ``__init__`` that does so first.
    """

    @functools.wraps(fn)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        name = getattr(type(self), "substitute_name", type(self).__name__)
        self.__dict__.setdefault("_defined_name", name)
        bound = inspect.signature(fn).bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = {k: v for k, v in bound.arguments.items() if k != "self"}
        self.__dict__["init_attrs"] = dict(given)
        for key, value in given.items():
            self.add_prim_attr(key, value)
        fn(self, *args, **kwargs)

    init.decorated_func = fn  # type: ignore[attr-defined]
    return init


def prim_arg_register(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Note the arguments of a Primitive's ``__init__``, as `prim_attr_register` does.

    MindSpore: ``prim_arg_register``.

    Args:
        fn: the ``__init__``.
    """
    return prim_attr_register(fn)


def _described(inputs: tuple[Any, ...]) -> list[dict[str, Any]]:
    out = []
    for x in inputs:
        if isinstance(x, Handle):
            dtype = TensorType(x.dtype)  # type: ignore[attr-defined]
            out.append({"shape": list(x.value_shape), "dtype": dtype, "value": None})
        else:
            out.append({"shape": None, "dtype": type(x), "value": x})
    return out


def _infer(record: Any, inputs: tuple[Any, ...]) -> Any:
    """Give (shape, dtype) of each output and whether they are several; None without inference."""
    described = _described(inputs)
    if hasattr(record, "__infer__"):
        found = record.__infer__(*described)
        shape, dtype = found["shape"], found["dtype"]
    elif hasattr(record, "infer_shape") and hasattr(record, "infer_dtype"):
        shape = record.infer_shape(*(d["shape"] for d in described))
        dtype = record.infer_dtype(*(d["dtype"] for d in described))
    else:
        return None
    several = isinstance(dtype, tuple | list)
    shapes, dtypes = (shape, dtype) if several else ([shape], [dtype])
    kinds = [t.element_type() if isinstance(t, TensorType) else t for t in dtypes]
    outputs = tuple((tuple(s), as_dtype(t).np) for s, t in zip(shapes, kinds, strict=True))
    return outputs, several


def run_defined(record: Any, inputs: tuple[Any, ...]) -> Any:
    """Run an operator that a user defined.

    Args:
        record: the operator.
        inputs: of the call.

    Returns:
        What its implementation gives.

    Raises:
        NotImplementedError: it has none.
    """
    _check(record, inputs)
    if hasattr(type(record), "compute"):
        return record._dispatch(*inputs)
    implementation = getattr(record, "vm_impl", None) or get_vm_impl_fn(record)
    if implementation is not None:
        backward = getattr(record, "get_bprop", None)
        if backward is None:
            return _on_host(record, implementation, inputs)
        with_bprop = import_module("mindjax.autodiff.custom").with_bprop
        return with_bprop(
            lambda *given: _on_host(record, implementation, given),
            backward(),
            inputs,
            (),
            record.name,
        )
    builtin = core.PRIMITIVES.get(record.name)
    if builtin is None or builtin is type(record):
        builtin = getattr(import_module("mindjax.ops"), record.name, None)
    if (
        isinstance(builtin, type)
        and issubclass(builtin, core.Primitive)
        and builtin is not type(record)
    ):
        fields = {k: v for k, v in record.attrs.items() if k in builtin._fields}
        return builtin(**fields)(*inputs)
    raise located(
        NotImplementedError,
        f"For '{record.name}', there is no implementation: define 'vm_impl', register one with "
        "'vm_impl_registry', or use 'ops.Custom'.",
    )


def _check(record: Any, inputs: tuple[Any, ...]) -> None:
    described = _described(inputs)
    if hasattr(record, "__check__"):
        record.__check__(*described)
        return
    if hasattr(record, "check_shape"):
        record.check_shape(*(d["shape"] for d in described))
    if hasattr(record, "check_dtype"):
        record.check_dtype(*(d["dtype"] for d in described))


def _on_host(record: Any, implementation: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
    inferred = _infer(record, inputs)
    if inferred is None:
        if current.frame is not None or jax_private.tracing():
            raise located(
                NotImplementedError,
                f"For '{record.name}', a graph needs 'infer_shape' and 'infer_dtype'.",
            )
        return implementation(*inputs)
    places = [i for i, x in enumerate(inputs) if isinstance(x, Handle)]

    # Programs keep the function, and must not keep what was traced.
    template = [None if i in places else x for i, x in enumerate(inputs)]

    def run(*arrays: np.ndarray[Any, Any]) -> Any:
        given = list(template)
        for i, array in zip(places, arrays, strict=True):
            given[i] = Handle.tensor_class(array)
        out = implementation(*given)
        if isinstance(out, tuple | list):
            return tuple(o.asnumpy() if isinstance(o, Handle) else o for o in out)  # type: ignore[attr-defined]
        return out.asnumpy() if isinstance(out, Handle) else out  # type: ignore[attr-defined]

    # The record's values are part of the function, so that each call has its own op.
    return host_call(host_calls(run, *inferred, record.name), *(inputs[i] for i in places))


array_reduce = Primitive("array_reduce")
"""A name that the original lists without an implementation; `vm_impl_registry` may give it one."""
