"""The world of processes: its groups of ranks, and the transport that collectives go through.

One process is a world of one rank, 0. A backend of several processes takes `transport`'s place and
fills `_groups`; everything above (the collective operators, `communication`, `mint.distributed`)
asks here and holds no state of its own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax

from mindjax.core.errors import located

Array = jax.Array

HCCL_WORLD_COMM_GROUP = "hccl_world_group"
NCCL_WORLD_COMM_GROUP = "nccl_world_group"
MCCL_WORLD_COMM_GROUP = "mccl_world_group"
WORLD_GROUPS = {
    "hccl": HCCL_WORLD_COMM_GROUP,
    "nccl": NCCL_WORLD_COMM_GROUP,
    "mccl": MCCL_WORLD_COMM_GROUP,
}
# The backend that the original would choose for a device; here all three name the same transport.
_BACKENDS = {"CPU": "mccl", "GPU": "nccl"}
# What launchers of the original export: the number of processes.
_SIZES = ("RANK_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE")


class GlobalComm:
    """What is known of the world (MindSpore: ``communication.GlobalComm``).

    ``BACKEND`` is ``"hccl"``, ``"nccl"`` or ``"mccl"``, ``WORLD_COMM_GROUP`` the name of the group
    of all ranks, ``INITED`` whether `init` has run, ``CHECK_ENVS`` whether the original checks
    environment variables first (kept only).
    """

    BACKEND: str = "hccl"
    WORLD_COMM_GROUP: str = HCCL_WORLD_COMM_GROUP
    INITED: bool = False
    CHECK_ENVS: bool = True


class GroupOptions:
    """Settings of a group for the vendor's communication library: device tuning, kept only."""

    def __init__(self) -> None:
        self.hccl_config: dict[str, Any] = {}


@dataclass(frozen=True)
class Group:
    """A group of ranks; ``ranks`` are the ranks in the world, in the order of the group's own."""

    name: str
    ranks: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of ranks."""
        return len(self.ranks)

    @property
    def rank(self) -> int:
        """This process's rank in the group."""
        return self.group_rank(transport.rank)

    def group_rank(self, world_rank: int) -> int:
        """Give the group's own rank of a rank in the world.

        Raises:
            RuntimeError: it does not belong to the group.
        """
        if world_rank not in self.ranks:
            raise located(
                RuntimeError, f"Group {self.name} doesn't contain the global rank {world_rank}."
            )
        return self.ranks.index(world_rank)

    def world_rank(self, group_rank: int) -> int:
        """Give the rank in the world of a rank of the group.

        Raises:
            RuntimeError: the group is smaller.
        """
        if not 0 <= group_rank < self.size:
            raise located(
                RuntimeError, f"Group {self.name} doesn't contain the group rank {group_rank}."
            )
        return self.ranks[group_rank]


class Transport:
    """Collective operations on arrays; this class is a world of one rank.

    Every method is called on each rank of the group in the same order, inside `compute`, and may be
    traced and differentiated.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1

    def all_reduce(self, group: Group, x: Array, op: str) -> Array:
        """Combine the ranks' arrays: ``op`` is sum, prod, max, min or avg."""
        return x

    def all_gather(self, group: Group, x: Array) -> list[Array]:
        """Give every rank's array, in the group's order."""
        return [x]

    def reduce_scatter(self, group: Group, pieces: Sequence[Array], op: str) -> Array:
        """Combine the ranks' pieces for this rank."""
        return pieces[0]

    def broadcast(self, group: Group, x: Array, root: int) -> Array:
        """Give the array of a rank of the group."""
        return x

    def all_to_all(
        self, group: Group, pieces: Sequence[Array], shapes: Sequence[tuple[int, ...]]
    ) -> list[Array]:
        """Send ``pieces[i]`` to rank i, and give what each rank sent here, of ``shapes[i]``."""
        return list(pieces)

    def all_gather_bytes(self, group: Group, data: bytes) -> list[bytes]:
        """Give every rank's bytes, in the group's order; outside of any program."""
        return [data]

    def barrier(self, group: Group) -> None:
        """Wait for every rank of the group."""


transport: Transport = Transport()
_groups: dict[str, Group] = {}


def launched_size() -> int:
    """Give the number of processes that the environment announces, 1 without a launcher."""
    return max([1, *(int(os.environ[n]) for n in _SIZES if os.environ.get(n, "").isdigit())])


def init(backend: str, group_name: str = "") -> None:
    """Join the world.

    Args:
        backend: ``"hccl"``, ``"nccl"`` or ``"mccl"``; the same transport here, the name decides
            what the group of all ranks is called.
        group_name: other name of the group of all ranks.

    Raises:
        NotImplementedError: a launcher has announced more than one process.
    """
    count = launched_size()
    if count > 1:
        raise located(
            NotImplementedError,
            f"For 'init', a world of {count} processes, announced by one of {list(_SIZES)}, is not "
            "supported yet: start one process.",
        )
    GlobalComm.BACKEND = backend
    GlobalComm.WORLD_COMM_GROUP = group_name or WORLD_GROUPS[backend]
    GlobalComm.INITED = True
    # Programs name the world by the vendor's constant whatever the backend is.
    for name in (*WORLD_GROUPS.values(), GlobalComm.WORLD_COMM_GROUP):
        _groups[name] = Group(name, tuple(range(transport.size)))


def default_backend(device_target: str) -> str:
    """Name the backend that the original takes for a device."""
    return _BACKENDS.get(device_target, "hccl")


def release() -> None:
    """Leave the world; `init` may follow again."""
    _groups.clear()
    GlobalComm.INITED = False


def require(owner: str = "") -> None:
    """Raise RuntimeError unless `init` has run."""
    if not GlobalComm.INITED:
        raise located(
            RuntimeError,
            (f"For '{owner}': " if owner else "") + "Distributed Communication has not been "
            "inited. You can't invoke this interface yet. Please call `init()` method first.",
        )


def named(group: Any, argument: str = "group", owner: str = "") -> str:
    """Check the name of a group; None is the world.

    Raises:
        TypeError: it is no string.
    """
    if group is None:
        return GlobalComm.WORLD_COMM_GROUP
    if not isinstance(group, str):
        prefix = f"For '{owner}', the" if owner else "The"
        raise located(
            TypeError,
            f"{prefix} argument '{argument}' must be type of string, but got '{argument}' type : "
            f"{type(group)}.",
        )
    return group


def find(group: str | None, owner: str = "") -> Group:
    """Give a group by name.

    Args:
        group: its name; None is the world.
        owner: function named in the error.

    Raises:
        TypeError: the name is no string.
        RuntimeError: `init` has not run, or there is no such group.
    """
    require(owner)
    name = named(group, owner=owner)
    if name not in _groups:
        raise located(RuntimeError, f"The group {name} does not exist.")
    return _groups[name]


def is_world(name: str) -> bool:
    """Tell whether a name stands for the group of all ranks."""
    return name in (*WORLD_GROUPS.values(), GlobalComm.WORLD_COMM_GROUP)


def create(name: str, ranks: Any, options: Any = None) -> None:
    """Make a group of ranks of the world.

    Args:
        name: of the group.
        ranks: list of ranks in the world.
        options: None, or `GroupOptions`, which tune the vendor's library and are kept only.

    Raises:
        RuntimeError: `init` has not run, or a rank is not in the world.
        TypeError: ``ranks`` is no list, or ``options`` are of another type.
        ValueError: no rank, a rank twice, or the group exists with other ranks.
    """
    require("create_group")
    known = _groups.get(name)
    if known is not None and not is_world(name):
        if not isinstance(ranks, list) or tuple(sorted(ranks)) != known.ranks:
            raise located(
                ValueError,
                f"The group {name} has been created, the rank_list is {list(known.ranks)}, but "
                f"current rank_list for the group is {ranks}",
            )
        return
    if not isinstance(ranks, list):
        raise located(
            TypeError,
            "For 'create_group', the argument 'rank_ids' must be type of list, but got 'rank_ids' "
            f"type : {type(ranks)}.",
        )
    if not ranks:
        raise located(
            ValueError,
            "For 'create_group', the argument 'rank_ids' size should be greater than 1, but got "
            "'rank_ids' size : 0.",
        )
    if len(set(ranks)) != len(ranks):
        raise located(ValueError, f"List rank_ids in Group {name} has duplicate data!")
    if options is not None and not isinstance(options, GroupOptions):
        raise located(
            TypeError,
            "For 'create_group', the argument 'options' must be type of GroupOptions, but got "
            f"'options' type : {type(options)}.",
        )
    if not all(isinstance(r, int) and 0 <= r < transport.size for r in ranks):
        raise located(
            RuntimeError,
            f"Failed to create communication group for {name} with rank ids {ranks}: the world has "
            f"the ranks 0 to {transport.size - 1}.",
        )
    _groups[name] = Group(name, tuple(sorted(ranks)))


def destroy(name: str) -> None:
    """Take a group away.

    Raises:
        RuntimeError: `init` has not run, or there is no such group.
        ValueError: it is the world.
    """
    require("destroy_group")
    if is_world(name):
        raise located(ValueError, "The world_group does not support destruction.")
    find(name, "destroy_group")
    del _groups[name]


def environment(variable: str, default: int) -> int:
    """Read a number that a launcher exports, as is asked before `init`."""
    return int(os.environ.get(variable, default))
