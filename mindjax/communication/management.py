"""Joining the world and asking who is in a group (``mindspore.communication.management``)."""

from __future__ import annotations

from typing import Any

from mindjax.core import world
from mindjax.core.context import get_context
from mindjax.core.errors import located
from mindjax.core.world import HCCL_WORLD_COMM_GROUP as HCCL_WORLD_COMM_GROUP
from mindjax.core.world import MCCL_WORLD_COMM_GROUP as MCCL_WORLD_COMM_GROUP
from mindjax.core.world import NCCL_WORLD_COMM_GROUP as NCCL_WORLD_COMM_GROUP
from mindjax.core.world import GlobalComm as GlobalComm


def init(backend_name: str | None = None) -> None:
    """Join the world (MindSpore: ``communication.init``).

    Args:
        backend_name: ``"hccl"``, ``"nccl"`` or ``"mccl"``; they stand for one transport here and
            are accepted on every device. None takes the device's.

    Raises:
        TypeError: the name is no string.
        RuntimeError: it is another name.
        NotImplementedError: a launcher has announced more than one process.
    """
    name = backend_name
    if name is None:
        name = world.default_backend(get_context("device_target"))
    if not isinstance(name, str):
        raise located(
            TypeError,
            "For 'init', the argument 'backend_name' must be a string, but got the type : "
            f"{type(name)}",
        )
    if name not in world.WORLD_GROUPS:
        raise located(
            RuntimeError,
            "For 'init', the argument 'backend_name' must be one of 'hccl', 'nccl' and 'mccl', but "
            f"got 'backend_name' : {name}",
        )
    world.init(name)


def _is_initialized() -> bool:
    """Tell whether the world is joined (MindSpore: of ``communication._comm_helper``)."""
    return bool(GlobalComm.INITED)


def release() -> None:
    """Leave the world (MindSpore: ``communication.release``).

    Raises:
        RuntimeError: `init` has not run.
    """
    world.require("release")
    world.release()


def _name(group: Any, owner: str) -> str:
    if group is None:
        raise located(
            TypeError,
            f"For '{owner}', the argument 'group' must be type of string, but got 'group' type : "
            f"{type(group)}.",
        )
    return world.named(group, owner=owner)


def get_rank(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """Give this process's rank in a group (MindSpore: ``communication.get_rank``).

    Args:
        group: name of the group.

    Returns:
        The rank; before `init` what a launcher exports, or 0.

    Raises:
        TypeError: the name is no string.
        RuntimeError: there is no such group.
    """
    name = _name(group, "get_rank")
    if not GlobalComm.INITED:
        return world.environment("RANK_ID", 0)
    return world.find(name).rank


def get_local_rank(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """Give this process's rank among those of its host (``communication.get_local_rank``).

    Args:
        group: name of the group.

    Returns:
        The rank; before `init` what a launcher exports, or 0.

    Raises:
        TypeError: the name is no string.
        RuntimeError: there is no such group.
    """
    name = _name(group, "get_local_rank")
    if not GlobalComm.INITED:
        return world.environment("LOCAL_RANK", 0)
    world.find(name)
    return world.transport.local_rank


def get_group_size(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """Give the number of ranks of a group (MindSpore: ``communication.get_group_size``).

    Args:
        group: name of the group.

    Returns:
        The size; before `init` what a launcher exports, or 1.

    Raises:
        TypeError: the name is no string.
        RuntimeError: there is no such group.
    """
    name = _name(group, "get_group_size")
    if not GlobalComm.INITED:
        return world.environment("RANK_SIZE", 1)
    return world.find(name).size


def get_local_rank_size(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """Give the number of ranks on this host (MindSpore: ``communication.get_local_rank_size``).

    Args:
        group: name of the group.

    Returns:
        The number; before `init` what a launcher exports, or 1.

    Raises:
        TypeError: the name is no string.
        RuntimeError: there is no such group.
    """
    name = _name(group, "get_local_rank_size")
    if not GlobalComm.INITED:
        return world.environment("LOCAL_RANK_SIZE", 1)
    world.find(name)
    return world.transport.local_size


def _rank(value: Any, name: str, owner: str) -> int:
    if not isinstance(value, int):
        raise located(
            TypeError,
            f"For '{owner}', the argument '{name}' must be type of int, but got '{name}' type : "
            f"{type(value)}.",
        )
    return value


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """Give the rank in the world of a group's rank.

    Args:
        group: name of the group.
        group_rank_id: rank in it.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: `init` has not run, or there is no such group or rank.
    """
    owner = "get_world_rank_from_group_rank"
    members = world.find(_name(group, owner), owner)
    return members.world_rank(_rank(group_rank_id, "group_rank_id", owner))


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """Give the rank in a group of a rank of the world.

    Args:
        world_rank_id: rank in the world.
        group: name of the group.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: `init` has not run, or there is no such group or rank.
    """
    owner = "get_group_rank_from_world_rank"
    members = world.find(_name(group, owner), owner)
    return members.group_rank(_rank(world_rank_id, "world_rank_id", owner))


def create_group(group: str, rank_ids: list[int], options: Any = None) -> None:
    """Make a group of ranks (MindSpore: ``communication.create_group``).

    Args:
        group: its name.
        rank_ids: list of ranks in the world.
        options: settings of the vendor's library, kept only.

    Raises:
        TypeError: an argument is of another type.
        ValueError: no rank, a rank twice, or the group exists with other ranks.
        RuntimeError: `init` has not run, or a rank is not in the world.
    """
    world.create(_name(group, "create_group"), rank_ids, options)


def destroy_group(group: str) -> None:
    """Take a group away (MindSpore: ``communication.destroy_group``).

    Args:
        group: its name.

    Raises:
        TypeError: the name is no string.
        ValueError: it is the world.
        RuntimeError: `init` has not run, or there is no such group.
    """
    world.destroy(_name(group, "destroy_group"))


def get_comm_name(group: str = HCCL_WORLD_COMM_GROUP) -> str:
    """Give the transport's own name of a group (MindSpore: ``communication.get_comm_name``).

    Args:
        group: name of the group.

    Returns:
        The name, which is the group's.

    Raises:
        TypeError: the name is no string.
        RuntimeError: `init` has not run, or there is no such group.
    """
    return world.find(_name(group, "get_comm_name"), "get_comm_name").name


def get_process_group_ranks(group: str = HCCL_WORLD_COMM_GROUP) -> list[int]:
    """List the ranks in the world of a group (``communication.get_process_group_ranks``).

    Args:
        group: name of the group.

    Raises:
        TypeError: the name is no string.
        RuntimeError: `init` has not run, or there is no such group.
    """
    owner = "get_process_group_ranks"
    return list(world.find(_name(group, owner), owner).ranks)
