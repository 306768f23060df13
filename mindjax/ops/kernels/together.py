"""Arrays that are used when all of them are there.

XLA's CPU backend copies a weight that a program both uses and writes, unless what it writes is made
of what it made with the weight: else the order of the two is open until the program runs. Gradients
that stand together are made of every use of every weight, so the updates of the weights write them
in their places. An optimization barrier does not do: XLA takes it out before it looks for copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from mindjax.core.primitive import is_portable
from mindjax.ops.kernels.handlers import handler

Array = jax.Array


def wanted(arrays: Sequence[Any]) -> bool:
    """Tell whether arrays are worth to be kept together here."""
    return len(arrays) > 1 and not is_portable() and handler("together") is not None


@jax.custom_jvp
def together(*arrays: Array) -> tuple[Array, ...]:
    """Give arrays as they are, in their own buffers, when all of them are computed.

    Args:
        *arrays: of any shape and dtype.
    """
    call = jax.ffi.ffi_call(
        handler("together") or "",
        tuple(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays),
        input_output_aliases={i: i for i in range(len(arrays))},
        vmap_method="broadcast_all",
    )
    return tuple(call(*arrays))


@together.defjvp
def _together_jvp(primals: Any, tangents: Any) -> Any:
    return together(*primals), tangents
