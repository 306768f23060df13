"""Giving all ranks the Parameters of one of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindjax.core import world
from mindjax.ops.collective.operators import Broadcast

# Parameters that one program brings over.
_AT_ONCE = 64


def broadcast_from(rank: int, parameters: Iterable[Any], group: str | None = None) -> None:
    """Write one rank's Parameters into those of every rank of a group.

    Args:
        rank: whose they are, in the group.
        parameters: the Parameters, in the same order on every rank.
        group: name of the group; None is the world.

    Raises:
        RuntimeError: nobody has joined the world, or there is no such group.
        ValueError: the group has no such rank.
    """
    members = world.find(group, "parameter_broadcast")
    every = list(parameters)
    for first in range(0, len(every), _AT_ONCE):
        some = every[first : first + _AT_ONCE]
        for parameter, fresh in zip(some, Broadcast(rank, members.name)(tuple(some)), strict=True):
            parameter.set_data(fresh)
