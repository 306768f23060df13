"""Checks of matrices, and of factorisations that can fail; used by the rest of the family."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.handle import current, is_traced, unwrap
from mindjax.ops.promotion import convert

Array = jax.Array

REAL = ("Float32", "Float64")
COMPLEX = ("Complex64", "Complex128")
HALF = ("Float16", "BFloat16")


def accept(op: str, kinds: tuple[str, ...], **arrays: Any) -> None:
    """Check the dtypes of inputs.

    Args:
        op: name of the op, for the message.
        kinds: names of dtypes.
        arrays: inputs by argument name.

    Raises:
        TypeError: one is no array, or of another dtype.
    """
    for argument, x in arrays.items():
        if not hasattr(x, "dtype"):
            raise located(
                TypeError, f"For '{op}', the '{argument}' must be a Tensor, but got {x!r}."
            )
        name = from_np(x.dtype).name
        if name not in kinds:
            shown = ", ".join(f"Tensor[{kind}]" for kind in kinds)
            raise located(
                TypeError,
                f"For primitive[{op}], the input argument[{argument}] must be a type of "
                f"{{{shown}}}, but got Tensor[{name}].",
            )


def same(op: str, **arrays: Any) -> None:
    """Check that inputs have one dtype; TypeError otherwise."""
    names = {k: from_np(x.dtype).name for k, x in arrays.items()}
    if len(set(names.values())) > 1:
        shown = ", ".join(f"'{k}': {v}" for k, v in names.items())
        raise located(TypeError, f"For '{op}', the inputs must have one dtype, but got {shown}.")


def matrices(op: str, x: Array, argument: str = "input") -> None:
    """Check that an array has at least two axes; ValueError otherwise."""
    if x.ndim < 2:
        raise located(
            ValueError,
            f"For '{op}', the rank of '{argument}' must be greater than or equal to 2, but got "
            f"shape {x.shape}.",
        )


def square(op: str, x: Array, argument: str = "input") -> None:
    """Check that an array holds square matrices.

    Args:
        op: name of the op, for the message.
        x: array.
        argument: its name.

    Raises:
        ValueError: it has fewer than two axes, or the last two differ in size.
    """
    matrices(op, x, argument)
    if x.shape[-1] != x.shape[-2]:
        raise located(
            ValueError,
            f"For '{op}', the '{argument}' must hold square matrices, but got shape {x.shape}.",
        )


def widened(x: Array) -> Array:
    """Convert half precision to Float32, for algorithms that have no half version."""
    return convert(x, np.float32) if from_np(x.dtype).name in HALF else x


def adjoint_of(x: Array) -> Array:
    """Give the conjugate transpose of the matrices in the last two axes."""
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def known(value: Any) -> np.ndarray | None:
    """Give a Tensor's values where that needs no waiting for a device: in PYNATIVE on the CPU.

    Args:
        value: Tensor or array.

    Returns:
        The values; None in a compiled program, under a transformation, and on other devices.
    """
    if current.frame is not None:
        return None
    checks.tensors("", input=value)
    array = unwrap(value)
    if is_traced(array):
        return None
    if isinstance(array, jax.Array) and next(iter(array.devices())).platform != "cpu":
        return None
    return np.asarray(array)


def refuse_failure(error: type[Exception], message: str, result: Any, *inputs: Any) -> None:
    """Raise if finite inputs gave a result that is not finite, where that can be known.

    A compiled program, and a device other than the CPU, give the NaN or infinity instead.

    Args:
        error: class to raise.
        message: one line.
        result: Tensor of floating-point or complex numbers.
        inputs: Tensors that it was made from.

    Raises:
        Exception: of the class ``error``.
    """
    out = known(result)
    if out is None or np.isfinite(out).all():
        return
    for x in inputs:
        values = known(x)
        if values is None or not np.isfinite(values).all():
            return
    raise located(error, message)
