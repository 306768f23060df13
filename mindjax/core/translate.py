"""Errors of a `compute`, put into a user's words: op, shapes, dtypes, the user's file and line."""

from __future__ import annotations

import re
from typing import Any

import jax

from mindjax.core.errors import drop_jax_notes, is_located, located

_OWN_WORDS = re.compile(r"\b(?:jax\.(?:\w+\.)*|jnp\.|lax\.|np\.)(?=\w)")
_INTERNAL_WORDS = re.compile(
    r"jax|lax\b|XLA|Xla|mlir|hlo|Tracer|Traced|ShapedArray|aval|dot_general|conv_general|"
    r"reduce_window|_p\b|jit|pytree|weak_type|<function|0x[0-9a-f]{6}|object at|custom_vjp"
)
_ABOUT_SHAPES = re.compile(r"shape|dimension|broadcast|\brank\b|\bndim\b|\bsize", re.IGNORECASE)
_ABOUT_DTYPES = re.compile(r"dtype|\btypes?\b|Tensor\[", re.IGNORECASE)
_NOT_A_TENSOR = re.compile(r"'(\w+)' object (?:has no attribute|is not (?:subscriptable|iterable))")


def translate(error: Exception, name: str, arrays: Any) -> Exception:
    """Put an exception that came out of a `compute` into a user's words.

    Args:
        error: what was raised.
        name: of the op.
        arrays: the inputs, nested.

    Returns:
        The exception to raise: ``error`` itself if it is in good form, or one of TypeError,
        ValueError, IndexError, RuntimeError and NotImplementedError on one line.
    """
    drop_jax_notes(error)
    if is_located(error) or isinstance(error, jax.errors.JAXTypeError):
        return error
    text = " ".join(str(error).split())
    kind = _kind(error, text)
    if kind is None:
        return error
    return located(
        kind, f"For '{name.lstrip('_')}', with inputs {described(arrays)}: {_said(text)}."
    )


def described(arrays: Any) -> str:
    """Write the shapes and dtypes of nested inputs."""
    if isinstance(arrays, tuple | list):
        return f"({', '.join(described(a) for a in arrays)})"
    if hasattr(arrays, "shape"):
        return f"{arrays.dtype}{list(arrays.shape)}"
    return repr(arrays)[:60]


def _kind(error: Exception, text: str) -> type[Exception] | None:
    """Choose the class: the original has ValueError for shapes and TypeError for dtypes."""
    if isinstance(error, jax.errors.JaxRuntimeError | MemoryError):
        return RuntimeError
    if isinstance(error, NotImplementedError):
        return NotImplementedError
    if isinstance(error, IndexError):
        return IndexError
    if isinstance(error, ValueError | AssertionError | ArithmeticError | KeyError):
        return ValueError
    if isinstance(error, TypeError):
        shapes = _ABOUT_SHAPES.search(text) and not _ABOUT_DTYPES.search(text)
        return ValueError if shapes else TypeError
    return TypeError if isinstance(error, AttributeError) else None


def _said(text: str) -> str:
    """Keep what a user can use of a message."""
    found = _NOT_A_TENSOR.search(text)
    if found:
        what = {"NoneType": "None", "tuple": "a tuple or list", "list": "a tuple or list"}
        return f"an input is {what.get(found[1], found[1])} where another kind is needed"
    if "RESOURCE_EXHAUSTED" in text or "Out of memory" in text:
        size = re.search(r"allocating ([\d.]+\w*)", text)
        return f"the device has not enough memory{f' for {size[1]} bytes' if size else ''}"
    plain = _OWN_WORDS.sub("", text).rstrip(". ")
    if not plain or _INTERNAL_WORDS.search(plain):
        return "they do not fit together in shape or dtype, or are larger than the device can hold"
    return plain[:300]
