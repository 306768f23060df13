"""Calls of kernels in C++, their gradients, and what an aclnn operator takes in their place."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Array = jax.Array
PLATFORMS = ("cpu", "ascend")

# Vectors of the processor that compiles; what it can is part of what a cached library is known by.
_FLAGS = ("-march=native", "-fopenmp-simd", "-ffp-contract=fast", "-fvisibility=hidden")


@dataclasses.dataclass(frozen=True)
class Operator:
    """An operator of the vendor's library, which takes a kernel's place on hardware.

    Attributes:
        name: of the call that executes; its twin with ``GetWorkspaceSize`` takes the arguments.
        arguments: their names in order, ``kind:name``: kinds are ``in``, ``optional``, ``out``,
            ``inout``, ``list`` (several arrays), and of attributes ``double``, ``float``, ``int``,
            ``bool``, ``ints``, ``bools`` and ``text``.
    """

    name: str
    arguments: tuple[str, ...]


def operator(name: str, arguments: str) -> Operator:
    """Make an `Operator` of a text of arguments with blanks between."""
    return Operator(name, tuple(arguments.split()))


@functools.cache
def _abilities() -> str:
    """Give the line in which Linux lists what the processor can; nothing elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((x for x in lines if x.startswith(("flags", "Features"))), "")


def processor_has(ability: str) -> bool:
    """Tell whether the processor has an ability, by Linux's name as in ``avx512f``."""
    return ability in _abilities().split()


@functools.cache
def _processor() -> str:
    return hashlib.sha256(_abilities().encode()).hexdigest()[:16]


@functools.cache
def library(source: str) -> ctypes.CDLL | None:
    """Give the library of a source, compiled when it is first asked for.

    Args:
        source: of the file in ``src`` without its suffix.

    Returns:
        The library; None where there is no g++, or mindjax, which compiles it, is not installed.
    """
    try:
        from mindjax.ops.kernels.handlers import library
    except ImportError:
        return None
    path = Path(__file__).parent / "src" / f"{source}.cc"
    return library(path, (*_FLAGS, f"-DPROCESSOR_{_processor()}"))


@functools.cache
def target(source: str, name: str) -> str | None:
    """Give the registered name of a handler of a source; None where its library cannot be had."""
    found = library(source)
    if found is None:
        return None
    from mindjax.ops.kernels.handlers import register

    return register(found, name, PLATFORMS)


def available(source: str, *names: str) -> bool:
    """Tell whether the handlers of a source can be had, and the program runs on one device."""
    if jax.default_backend() not in PLATFORMS or jax.device_count() > 1:
        return False
    return all(target(source, name) is not None for name in names)


def call(
    source: str,
    name: str,
    outputs: Sequence[tuple[Sequence[int], Any]],
    *arrays: Any,
    aliases: dict[int, int] | None = None,
    batched: str = "broadcast_all",
    **numbers: float,
) -> list[Array]:
    """Call a handler.

    Args:
        source: its file.
        name: its name.
        outputs: shape and dtype of each result.
        arrays: its arguments.
        aliases: arguments that become results, where nobody else needs them.
        batched: rule of batching: handlers take leading axes themselves (``broadcast_all``), or
            are called for each (``sequential``).
        numbers: its attributes; floats go as double, ints and bools as int64.

    Returns:
        The results.
    """
    shapes = [jax.ShapeDtypeStruct(tuple(s), d) for s, d in outputs]
    made = jax.ffi.ffi_call(
        target(source, name) or "",
        shapes,
        input_output_aliases=aliases,
        vmap_method=batched,
    )
    attributes = {
        k: np.float64(v) if isinstance(v, float) else np.int64(v) for k, v in numbers.items()
    }
    return list(made(*arrays, **attributes))


def with_gradient(
    forward: Callable[..., tuple[Any, Any]],
    backward: Callable[[Any, Any], tuple[Any, ...]],
    reference: Callable[..., Any],
) -> Callable[..., Any]:
    """Make a function with a kernel for its gradient too; higher orders are those of the reference.

    Args:
        forward: from the arrays to the result and what `backward` needs.
        backward: from that and the result's gradient to one gradient an array.
        reference: the function in jax.numpy.
    """

    @jax.custom_vjp
    def both(*arrays: Any) -> Any:
        return forward(*arrays)

    # The kernel of the gradient is a function of the arrays and the gradient, whose own derivative
    # is that of the reference. The rules call what they are rules of, so that they have rules too.
    @jax.custom_vjp
    def pulled(arrays: Any, kept: Any, dout: Any) -> Any:
        del arrays
        return backward(kept, dout)

    def pulled_forward(arrays: Any, kept: Any, dout: Any) -> Any:
        return pulled(arrays, kept, dout), (arrays, kept, dout)

    def pulled_backward(saved: Any, cotangents: Any) -> Any:
        arrays, kept, dout = saved

        def plain(arrays: Any, dout: Any) -> Any:
            return jax.vjp(reference, *arrays)[1](dout)

        _, again = jax.vjp(plain, arrays, dout)
        of_arrays, of_dout = again(cotangents)
        return of_arrays, jax.tree.map(_nothing, kept), of_dout

    pulled.defvjp(pulled_forward, pulled_backward)

    def run(*arrays: Any) -> Any:
        out, kept = both(*arrays)
        return (out, kept), (arrays, kept)

    def pull(saved: Any, cotangents: Any) -> Any:
        return pulled(*saved, cotangents[0])

    both.defvjp(run, pull)
    return lambda *arrays: both(*arrays)[0]


def _nothing(x: Any) -> Any:
    """Give the gradient of what has none: its part is in the gradient of the arrays."""
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return jnp.zeros_like(x)
    return np.zeros(x.shape, jax.dtypes.float0)


def narrow_or_float32(*arrays: Any) -> bool:
    """Tell whether arrays are float32, float16 or bfloat16, which kernels take."""
    return all(x.dtype.name in ("float32", "float16", "bfloat16") for x in arrays)
