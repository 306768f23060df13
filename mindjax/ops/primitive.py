"""The original's import path of the Primitive base class, and what binds or marks functions."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from mindjax.core.errors import located


class Partial:
    """Bind the first arguments of a function: ``Partial()(f, *args, **kwargs)``."""

    def __call__(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """Give the function with the arguments bound.

        Raises:
            TypeError: the first argument is no function.
        """
        if not args or not callable(args[0]):
            raise located(TypeError, "For 'Partial', the first argument must be a function.")
        return functools.partial(args[0], *args[1:], **kwargs)


def partial(*args: Any) -> Callable[..., Any]:
    """Bind the first arguments of a function (MindSpore: ``ops.partial``).

    Args:
        args: the function, then its first arguments.

    Returns:
        The function of the remaining arguments.

    Raises:
        TypeError: the first argument is no function.
    """
    return Partial()(*args)


def constexpr(
    fn: Callable[..., Any] | None = None,
    get_instance: bool = True,
    name: str | None = None,
    reuse_result: bool = True,
    check: bool = True,
) -> Callable[..., Any]:
    """Mark a function of constants; it runs in Python while a graph is compiled.

    Args:
        fn: the function; without it, a decorator is given.
        get_instance: kept for the original's signature, as are the following: a function of
            constants needs no instance, no name of its own and no cache here.
        name: see ``get_instance``.
        reuse_result: see ``get_instance``.
        check: see ``get_instance``.

    Returns:
        The function itself.
    """
    return fn if fn is not None else lambda function: function


def _primexpr(
    fn: Callable[..., Any] | None = None,
    get_instance: bool = True,
    name: str | None = None,
    reuse_result: bool = True,
) -> Callable[..., Any]:
    """Mark a function of shapes and numbers, as `constexpr` does (MindSpore: ``_primexpr``)."""
    return constexpr(fn, get_instance, name, reuse_result)


def __getattr__(name: str) -> Any:
    """Give what other modules define of the original's module."""
    if name in (
        "Primitive",
        "PrimitiveWithCheck",
        "PrimitiveWithInfer",
        "prim_arg_register",
        "prim_attr_register",
        "vm_impl_registry",
    ):
        return getattr(importlib.import_module("mindjax.ops.custom.defined"), name)
    raise AttributeError(f"module 'mindspore.ops.primitive' has no attribute '{name}'")
