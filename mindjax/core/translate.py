"""Errors of a `compute`, put into a user's words: op, shapes, dtypes, the user's file and line."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any

import jax

from mindjax.core import jax_private
from mindjax.core.checks import not_a_tensor
from mindjax.core.errors import drop_jax_notes, is_located, located

_OWN_WORDS = re.compile(r"\b(?:jax\.(?:\w+\.)*|jnp\.|lax\.|np\.)(?=\w)")
_INTERNAL_WORDS = re.compile(
    r"jax|lax\b|XLA|Xla|mlir|hlo|Tracer|Traced|ShapedArray|aval|dot_general|conv_general|"
    r"reduce_window|_p\b|jit|pytree|weak_type|<function|0x[0-9a-f]{6}|object at|custom_vjp"
)
_ABOUT_SHAPES = re.compile(r"shape|dimension|broadcast|\brank\b|\bndim\b|\bsize", re.IGNORECASE)
_ABOUT_DTYPES = re.compile(r"dtype|\btypes?\b|Tensor\[", re.IGNORECASE)
_KINDS = {"tuple": tuple, "list": tuple, "NoneType": type(None)}
_NOT_A_TENSOR = re.compile(r"'(\w+)' object (?:has no attribute|is not (?:subscriptable|iterable))")


def translate(error: Exception, record: Any, inputs: Sequence[Any], arrays: Any) -> Exception:
    """Put an exception that came out of a `compute` into a user's words.

    Args:
        error: what was raised.
        record: the op.
        inputs: what it was called with.
        arrays: the same as arrays, nested.

    Returns:
        The exception to raise: ``error`` itself if it is in good form, or one of TypeError,
        ValueError, IndexError, RuntimeError, NotImplementedError and FloatingPointError on one
        line.
    """
    drop_jax_notes(error)
    text = " ".join(str(error).split())
    name = record.name.lstrip("_")
    place = _no_tensor(error, text, arrays)
    if place is not None:
        return not_a_tensor(inputs[place], name, _parameter(record, place))
    if is_located(error) or isinstance(error, jax.errors.JAXTypeError):
        return error
    # What `jax.debug_nans` found keeps its class.
    kind = FloatingPointError if type(error) is FloatingPointError else _kind(error, text)
    if kind is None:
        return error
    said = (apart(arrays) if isinstance(error, ValueError) else "") or _said(text)
    return located(kind, f"For '{name}', with inputs {described(arrays)}: {said}.")


def apart(arrays: Any) -> str:
    """Say that arrays lie on different devices, and what to do; nothing where one can hold all."""
    places = [
        frozenset(a.sharding.device_set)
        for a in jax.tree.leaves(arrays)
        if type(a) is jax_private.ArrayImpl and a.committed
    ]
    if len(set(places)) < 2:
        return ""
    named = sorted({", ".join(sorted(map(str, place))) for place in places})
    return (
        f"the inputs and Parameters lie on different devices, {' and '.join(named)}: move them to "
        "one by Tensor.move_to, or by jax.device_put for arrays of jax"
    )


def _no_tensor(error: Exception, text: str, arrays: Any) -> int | None:
    """Find the input that is a sequence or None where the error says that an array is needed."""
    if is_located(error):
        kinds: Any = (tuple,) if "Tracer" in text else ()
    elif isinstance(error, AttributeError | TypeError):
        kinds = tuple(k for n, k in _KINDS.items() if re.search(rf"\b{n}\b", text))
    else:
        kinds = ()
    return next((i for i, a in enumerate(arrays) if isinstance(a, kinds)), None)


def _parameter(record: Any, place: int) -> str:
    """Give the name that `compute` has for an input."""
    named = [
        p.name
        for p in inspect.signature(record.compute).parameters.values()
        if p.kind == p.POSITIONAL_OR_KEYWORD
    ]
    return named[place] if place < len(named) else ""


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
    if isinstance(error, AttributeError):
        return TypeError
    return ValueError if type(error).__module__.startswith("jax") else None


def out_of_memory(error: Exception, shape: tuple[int, ...]) -> Exception:
    """Translate that a device lacked memory, which shows only when a value is read.

    Args:
        error: what jax raised.
        shape: of the Tensor that was read.

    Returns:
        A RuntimeError of one line; ``error`` itself if it is about something else.
    """
    said = _said(str(error))
    if "not enough memory" not in said:
        return error
    return located(RuntimeError, f"For the Tensor of shape {shape} that is read, {said}.")


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
