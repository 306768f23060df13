"""Whether the ranks of a program over all their devices are about to compile the same one.

XLA takes that for granted: of batches of other sizes each rank would make a program of its own,
whose losses differ, or which wait for one another for ever.
"""

from __future__ import annotations

import json
from typing import Any

import jax

from mindjax.core.errors import located
from mindjax_parallel.transport import ProcessTransport
from mindjax_parallel.watch import LIMIT, limit

# Of the messages: no user's tag is negative.
_TAG = -8


def check_agreement(transport: ProcessTransport, lowered: Any, name: str, how: str) -> None:
    """Refuse to compile a program that the other ranks do not compile.

    Args:
        transport: to them.
        lowered: jax's lowered program.
        name: what it is called in messages.
        how: how it is spread, in words.

    Raises:
        RuntimeError: the ranks' inputs differ in number, shape or dtype, or they spread it
            otherwise.
    """
    avals = jax.tree.leaves(lowered.in_avals)
    own = json.dumps([name, how, *(f"{a.dtype}{list(a.shape)}" for a in avals)]).encode()
    if transport.rank:
        transport.post(0, _TAG, own)
        text = _taken(transport, 0, name).decode()
    else:
        others = [_taken(transport, rank, name) for rank in range(1, transport.size)]
        text = next((_difference(own, o, rank) for rank, o in enumerate(others, 1) if o != own), "")
        for rank in range(1, transport.size):
            transport.post(rank, _TAG, text.encode())
    if text:
        raise located(RuntimeError, f"For '{name.removeprefix('ms_')}', {text}")


def _taken(transport: ProcessTransport, source: int, name: str) -> bytes:
    """Wait for the message of a rank, no longer than for a collective."""
    try:
        return transport.take(source, _TAG)()
    except RuntimeError:
        raise located(
            RuntimeError,
            f"Rank {transport.rank} has waited {limit():g} s for the other ranks in "
            f"'{name.removeprefix('ms_')}': rank {source} does not call it, is stuck, or has "
            f"ended. {LIMIT} sets the limit in seconds.",
        ) from None


def _difference(first: bytes, other: bytes, rank: int) -> str:
    """Say in what the programs of rank 0 and of another differ."""
    (name, how, *own), (called, another, *there) = json.loads(first), json.loads(other)
    end = "every rank must call it, with as much of each batch."
    if name != called:
        return f"rank 0 compiles '{name}' where rank {rank} compiles '{called}': {end}"
    if how != another:
        return (
            f"rank 0 spreads it over {how}, but rank {rank} over {another}: the ranks must have "
            "the same settings."
        )
    if len(own) != len(there):
        return (
            f"rank 0 has {len(own)} inputs and Parameters, but rank {rank} has {len(there)}: the "
            "ranks must build the same network."
        )
    place = next(i for i, (a, b) in enumerate(zip(own, there, strict=True)) if a != b)
    return (
        f"the ranks compile programs that differ: input {place}, with all ranks' parts, is "
        f"{own[place]} on rank 0, but {there[place]} on rank {rank}: {end}"
    )
