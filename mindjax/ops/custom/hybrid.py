"""Kernels written as Python loops (MindSpore's Hybrid DSL): run with numpy's meaning."""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.special

from mindjax.core.errors import located


def _allocate(shape: Any, dtype: Any = "float32", scope: str = "global") -> np.ndarray[Any, Any]:
    """Make a buffer; ``scope`` says where a compiler would put it."""
    return np.zeros((shape,) if isinstance(shape, int) else tuple(shape), dtype)


def _grid(extents: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """Give every index of nested loops."""
    return itertools.product(*(range(e) for e in extents))


class _Region:
    """A ``with`` block that only tells a compiler something."""

    def __call__(self, *_: Any, **__: Any) -> _Region:
        return self

    def __enter__(self) -> _Region:
        return self

    def __exit__(self, *_: object) -> None:
        pass


_NUMPY = """
    abs ceil cos exp expm1 float16 float32 float64 floor int16 int32 int64 int8 isfinite isinf isnan
    log power round sign sin sqrt tanh trunc
"""
NAMES: dict[str, Any] = {
    "allocate": _allocate,
    "output_tensor": _allocate,
    "grid": _grid,
    **dict.fromkeys(("serial", "vectorize", "parallel", "reduce"), range),
    "attr": _Region(),
    "block_realize": _Region(),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": scipy.special.erf,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "ceil_div": lambda a, b: (a + b - 1) // b,
    **{name: getattr(np, name) for name in _NUMPY.split()},
}
"""What a kernel may call beside Python's own."""


def with_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a copy of a function that knows the names of the DSL."""
    original = getattr(function, "__wrapped_kernel__", function)
    known = {**NAMES, **original.__globals__}
    copy = types.FunctionType(
        original.__code__, known, original.__name__, original.__defaults__, original.__closure__
    )
    return functools.wraps(original)(copy)


def kernel(
    fn: Callable[..., Any] | None = None, reg_info: Any = None, compile_attrs: Any = None
) -> Any:
    """Make a kernel of a function of loops on arrays (MindSpore: ``ops.kernel``).

    Args:
        fn: the function; it may call `output_tensor`, `allocate`, `grid` and the other names of
            the DSL. None gives a decorator.
        reg_info: record of a `CustomRegOp`, or several.
        compile_attrs: dict of options of the original's compiler, which are kept.

    Returns:
        A function of numpy arrays, which `Custom` takes too; or the decorator.

    Raises:
        TypeError: ``compile_attrs`` is no dict, or what is decorated is no function.
    """
    if compile_attrs is not None and not isinstance(compile_attrs, dict):
        raise located(
            TypeError,
            f"For 'kernel', the 'compile_attrs' must be a dict, but got "
            f"{type(compile_attrs).__name__}.",
        )

    def decorate(function: Any) -> Callable[..., Any]:
        if not isinstance(function, types.FunctionType):
            raise located(
                TypeError, f"For 'kernel', a function is needed, but got {type(function).__name__}."
            )

        @functools.wraps(function)
        def run(*args: Any) -> Any:
            # Names that the module defines later are looked up at the call.
            return with_names(function)(*args)

        run.__wrapped_kernel__ = function  # type: ignore[attr-defined]
        run.reg_info = reg_info  # type: ignore[attr-defined]
        run.compile_attrs = compile_attrs or {}  # type: ignore[attr-defined]
        return run

    return decorate if fn is None else decorate(fn)


def ms_kernel(
    fn: Callable[..., Any] | None = None, reg_info: Any = None, compile_attrs: Any = None
) -> Any:
    """Do what `kernel` does, under its older name (MindSpore: ``ops.ms_kernel``).

    Args:
        fn: as in `kernel`.
        reg_info: as in `kernel`.
        compile_attrs: as in `kernel`.
    """
    return kernel(fn, reg_info, compile_attrs)
