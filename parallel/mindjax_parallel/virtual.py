"""One process that stands for a rank a device: every rank would do the same.

A script that was written for a process a device runs in one process over all of them: its programs
see the whole batch, and XLA spreads them. What its ranks would add up with collectives is alike on
each, so a sum over ranks is a multiple.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from mindjax.core.errors import located
from mindjax.core.world import Group, Transport
from mindjax.dataset.engine import samplers

Array = jax.Array


class VirtualRanks(Transport):
    """Collectives between ranks that hold the same arrays.

    Args:
        size: number of ranks; this process is rank 0 to the program.
    """

    def __init__(self, size: int) -> None:
        self.size = self.local_size = size
        # The shards of all ranks are read here, as one batch.
        samplers.stand_for(size)

    def all_reduce(self, group: Group, x: Array, op: str) -> Array:
        """Combine as many equal arrays as the group has ranks."""
        if op == "sum":
            return x * jnp.asarray(group.size, x.dtype)
        return x**group.size if op == "prod" else x

    def all_gather(self, group: Group, x: Array) -> list[Array]:
        """Give the array once a rank."""
        return [x] * group.size

    def reduce_scatter(self, group: Group, pieces: Sequence[Array], op: str) -> Array:
        """Combine the ranks' first pieces."""
        return self.all_reduce(group, pieces[0], op)

    def gather_uneven(self, group: Group, x: Array, sizes: Sequence[int]) -> list[Array]:
        """Give the array once a rank."""
        return [x] * group.size

    def all_to_all(
        self,
        group: Group,
        pieces: Sequence[Array],
        shapes: Sequence[tuple[int, ...]],
        even: bool = False,
    ) -> list[Array]:
        """Give what each rank would send to the first."""
        del shapes, even
        return [pieces[0]] * group.size

    def exchange(self, group: Group, sent: Any, received: Any) -> list[Array]:
        """Refuse: what ranks send to one another differs."""
        raise _refuse("exchange")

    def send(self, group: Group, target: int, x: Array) -> Array:
        """Refuse: what ranks send to one another differs."""
        raise _refuse("send")

    def receive(self, group: Group, source: int, kind: Any, anchor: Array) -> Array:
        """Refuse: what ranks send to one another differs."""
        raise _refuse("receive")

    def all_gather_bytes(self, group: Group, data: bytes) -> list[bytes]:
        """Give the bytes once a rank."""
        return [data] * group.size


def _refuse(what: str) -> NotImplementedError:
    return located(
        NotImplementedError,
        f"A program that lets single ranks {what} needs a process a rank: start it with msrun in "
        "place of 'mindjax run --devices'.",
    )
