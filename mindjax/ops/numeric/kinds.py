"""The dtypes that an input may have."""

from __future__ import annotations

from typing import Any

from mindjax.core.dtype import from_np
from mindjax.core.errors import located

REAL = ("Float32", "Float64")
SIGNED = ("Int16", "Int32", "Int64")
INTEGERS = ("Int8", *SIGNED, "UInt8", "UInt16", "UInt32", "UInt64")
FLOATS = ("Float16", "BFloat16", *REAL)


def accept(op: str, name: str, x: Any, kinds: tuple[str, ...]) -> None:
    """Check the dtype of an input.

    Args:
        op: operator named in the error.
        name: of the input.
        x: array.
        kinds: names of the dtypes that it may have.

    Raises:
        TypeError: it has another.
    """
    found = from_np(x.dtype).name
    if found not in kinds:
        raise located(
            TypeError,
            f"For primitive[{op}], the input argument[{name}] must be a type of "
            f"{{{', '.join(f'Tensor[{k}]' for k in kinds)}}}, but got Tensor[{found}].",
        )


def accept_alike(op: str, kinds: tuple[str, ...], **inputs: Any) -> None:
    """Check that inputs have one dtype, and which.

    Args:
        op: operator named in the error.
        kinds: names of the dtypes that they may have.
        inputs: arrays by the name of the input.

    Raises:
        TypeError: a dtype is not among ``kinds``, or two differ.
    """
    for name, x in inputs.items():
        accept(op, name, x, kinds)
    if len({x.dtype for x in inputs.values()}) > 1:
        found = ", ".join(f"[{k}]: Tensor[{from_np(x.dtype).name}]" for k, x in inputs.items())
        raise located(TypeError, f"For primitive[{op}], the input type must be same, but {found}.")
