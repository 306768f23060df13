"""Process groups in torch's manner: joining the world, and asking who is in a group."""

from __future__ import annotations

import hashlib
import socket
from datetime import timedelta
from typing import Any

from mindjax.core import world
from mindjax.core.errors import located
from mindjax.ops.collective.store import TCPStore, address


def is_available() -> bool:
    """Tell whether there is a communication module, which is always so (``is_available``)."""
    return True


def is_initialized() -> bool:
    """Tell whether this process has joined the world (MindSpore: ``is_initialized``)."""
    return world.GlobalComm.INITED


def _of_type(name: str, value: Any, kind: type, default: Any = None) -> None:
    if value is not default and not isinstance(value, kind):
        raise located(
            TypeError,
            f"For 'init_process_group', the argument '{name}' must be {kind.__name__}, but got "
            f"{type(value).__name__}.",
        )


def init_process_group(
    backend: str = "hccl",
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: TCPStore | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: int | None = None,
) -> None:
    """Join the world (MindSpore: ``mint.distributed.init_process_group``).

    Args:
        backend: only ``"hccl"``, the name that the original takes; it runs on every device.
        init_method: ``"tcp://IP:PORT"`` of the store; needs ``world_size`` and ``rank``.
        timeout: of the store.
        world_size: number of processes; -1 takes what there are.
        rank: of this process; -1 takes its own.
        store: `TCPStore` instead of ``init_method``.
        group_name: name of the group of all ranks.
        pg_options: kept for the original's signature, which ignores it too.
        device_id: kept for the original's signature, which ignores it too.

    Raises:
        ValueError: another backend, both ways to meet, or sizes that do not fit the world.
        TypeError: an argument is of another type.
        RuntimeError: the other processes do not come.
    """
    _of_type("init_method", init_method, str)
    _of_type("timeout", timeout, timedelta)
    _of_type("world_size", world_size, int)
    _of_type("rank", rank, int)
    _of_type("store", store, TCPStore)
    _of_type("group_name", group_name, str)
    if backend != "hccl":
        raise located(
            ValueError,
            "Only support hccl now, please setting backend to hccl or using default value, but got "
            f"{backend}.",
        )
    if init_method is not None and store is not None:
        raise located(ValueError, "Only one of init_method and store is supported.")
    meets = init_method is not None or store is not None
    if meets and world_size <= 0:
        raise located(
            ValueError, f"Specified world_size must be a positive integer, but got {world_size}."
        )
    if meets and rank < 0:
        raise located(ValueError, f"Specified rank must be a non-negative integer, but got {rank}.")
    if init_method is not None:
        address(init_method)
    if world_size == 0 or (meets and rank >= world_size):
        raise located(
            ValueError,
            f"For 'init_process_group', 'world_size' {world_size} and 'rank' {rank} do not fit.",
        )
    if meets and world_size > 1:
        _meet(init_method, store, world_size, rank)
    elif world_size > 1 and world_size != world.launched_size():
        raise located(
            ValueError,
            f"For 'init_process_group', a 'world_size' of {world_size} needs 'init_method' or "
            f"'store': {world.launched_size()} processes are announced.",
        )
    world.init(backend, group_name if meets else "")


def _meet(init_method: str | None, store: TCPStore | None, size: int, rank: int) -> None:
    """Say where the processes meet, unless a launcher has done so.

    Raises:
        ValueError: a launcher has announced another size or rank.
    """
    if world.launched_size() > 1:
        launched = world.environment("RANK_ID", rank)
        if (world.launched_size(), launched) != (size, rank):
            raise located(
                ValueError,
                f"For 'init_process_group', 'world_size' {size} and 'rank' {rank} are not the "
                f"launcher's, {world.launched_size()} and {launched}.",
            )
        return
    if init_method is not None:
        host, port = address(init_method)
    else:
        assert store is not None
        host, key = store.host, "mindjax/meeting"
        if rank == 0:
            with socket.create_server((host, 0)) as probe:
                store.set(key, str(probe.getsockname()[1]))
        port = int(store.get(key))
    world.announce(host, port, size, rank)


def destroy_process_group(group: str | None = None) -> None:
    """Leave a group, or the world (MindSpore: ``mint.distributed.destroy_process_group``).

    Args:
        group: name of a group; None, or the world's name, leaves the world.

    Raises:
        TypeError: ``group`` is no string.
        RuntimeError: there is no such group.
    """
    name = world.named(group, owner="destroy_group")
    if world.is_world(name):
        world.release()
        return
    world.destroy(name)


def get_rank(group: str | None = None) -> int:
    """Give this process's rank in a group, -1 if it is not in it.

    Args:
        group: name of the group; None is the world.

    Returns:
        The rank; before `init_process_group` what the launcher exports, or 0.

    Raises:
        TypeError: ``group`` is no string.
    """
    name = world.named(group, owner="get_rank")
    if not is_initialized():
        return world.environment("RANK_ID", 0)
    try:
        return world.find(name).rank
    except RuntimeError:
        return -1


def get_world_size(group: str | None = None) -> int:
    """Give the number of ranks of a group, -1 if this process is not in it.

    Args:
        group: name of the group; None is the world.

    Returns:
        The size; before `init_process_group` what the launcher exports, or 1.

    Raises:
        TypeError: ``group`` is no string.
    """
    name = world.named(group, owner="get_world_size")
    if not is_initialized():
        return world.environment("RANK_SIZE", 1)
    try:
        return world.find(name).size
    except RuntimeError:
        return -1


def new_group(
    ranks: list[int] | None = None,
    timeout: Any = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
) -> str:
    """Make a group of ranks (MindSpore: ``mint.distributed.new_group``).

    Args:
        ranks: list of ranks in the world; None is the world.
        timeout: kept for the original's signature, as are the last two.
        backend: ``"hccl"`` or ``"mccl"``, part of the group's name.
        pg_options: `GroupOptions`, which tune the vendor's library and are kept only.
        use_local_synchronization: see ``timeout``.
        group_desc: see ``timeout``.

    Returns:
        The group's name; empty if it cannot be made.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a rank stands twice, or none.
    """
    if ranks is None:
        return world.GlobalComm.WORLD_COMM_GROUP
    if not isinstance(ranks, list):
        raise located(TypeError, f"ranks must be list, but got {type(ranks)}")
    ranks = sorted(ranks)
    kind = "hccl" if backend is None else backend
    if kind not in ("hccl", "mccl"):
        raise located(TypeError, f"the input backend must be hccl or mccl, but got {backend}")
    if pg_options is not None and not isinstance(pg_options, world.GroupOptions):
        raise located(
            TypeError, f"pg_options must be type GroupOptions, but got {type(pg_options)}"
        )
    # The name is the original's: programs compare and log it.
    digest = hashlib.sha1("_".join(map(str, ranks)).encode()).hexdigest()
    name = f"{kind}_{len(ranks)}_{digest}"
    try:
        world.create(name, ranks, pg_options)
    except RuntimeError:
        return ""
    return name


def get_backend(group: str | None = None) -> str:
    """Name the communication backend of a group (MindSpore: ``mint.distributed.get_backend``).

    Args:
        group: name of the group; None is the world.

    Raises:
        TypeError: ``group`` is no string.
    """
    if group is None:
        return "hccl"
    name = world.named(group, owner="get_backend")
    return next((kind for kind in ("hccl", "mccl") if kind in name), world.GlobalComm.BACKEND)


def get_global_rank(group: str | None, group_rank: int) -> int:
    """Give the rank in the world of a group's rank (``mint.distributed.get_global_rank``).

    Args:
        group: name of the group; None is the world.
        group_rank: rank in the group.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: there is no such group or rank.
    """
    if not isinstance(group_rank, int):
        raise located(
            TypeError, f"The group_rank argument must be integer, but got {type(group_rank)}."
        )
    name = world.named(group, owner="get_global_rank")
    if group is None or name == world.GlobalComm.WORLD_COMM_GROUP:
        return group_rank
    return world.find(name).world_rank(group_rank)


def get_group_rank(group: str | None, global_rank: int) -> int:
    """Give the rank in a group of a rank of the world (``mint.distributed.get_group_rank``).

    Args:
        group: name of the group; None is the world.
        global_rank: rank in the world.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: `init_process_group` has not run.
        KeyError: there is no such group, or the rank is not in it.
    """
    if not isinstance(global_rank, int):
        raise located(
            TypeError, f"The global_rank argument must be integer, but got {type(global_rank)}."
        )
    name = world.named(group, owner="get_group_rank_from_world_rank")
    world.require("get_group_rank")
    if world.is_world(name):
        return global_rank
    try:
        return world.find(name).group_rank(global_rank)
    except RuntimeError:
        raise located(
            KeyError, f"'group' : {name}, 'world_rank_id' : {global_rank} is not found."
        ) from None


def get_process_group_ranks(group: str | None = None) -> list[int]:
    """List the ranks in the world of a group (``mint.distributed.get_process_group_ranks``).

    Args:
        group: name of the group; None is the world.

    Raises:
        TypeError: ``group`` is no string.
        RuntimeError: `init_process_group` has not run, or there is no such group.
    """
    return list(world.find(world.named(group, owner="get_process_group_ranks")).ranks)
