"""The world of processes: its groups of ranks, and the transport that collectives go through.

One process is a world of one rank, 0. Where a launcher has announced several, the package
`mindjax_parallel` puts its own transport in `transport`'s place when `join` is called; everything
above (the collective operators, `communication`, `mint.distributed`) asks here and holds no state
of its own.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from mindjax.core import jax_private
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
# What must be known to find the other processes.
MEETING = ("MS_SCHED_HOST", "MS_SCHED_PORT")
# The process that is this rank.
PROCESS = "MINDJAX_RANK_PROCESS"
# The module with `connect`, which gives a transport between processes: core imports nothing above.
_BACKEND = "mindjax_parallel.connect"
# The one with the transport of a process that stands for a rank a device.
_VIRTUAL_RANKS = "mindjax_parallel.virtual"


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

    Attributes:
        rank: of this process in the world.
        size: number of processes.
        local_rank: of this process among those of its host.
        local_size: number of processes of this host.
        failed: exit status with which this process ends without waiting for the others, or 0.
        axes: named axes, with their sizes, that collectives use in a traced function.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1
    failed: int = 0
    axes: tuple[tuple[str, int], ...] = ()

    def program(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Compile a function of arrays that may call collectives."""
        return jax.jit(function)

    def spreads(self, jaxpr: Any) -> bool:
        """Tell whether a traced function calls collectives between processes."""
        return False

    def compile(self, function: Callable[..., Any], arrays: Any, donated: Sequence[int]) -> Any:
        """Compile a function for which `spreads` is true.

        Args:
            function: of as many arrays as ``arrays``; it gives a list of arrays.
            arrays: what it is called with first.
            donated: which of them it may overwrite.

        Returns:
            A callable with the methods of `jax.stages.Compiled`, and ``lowered``.
        """
        raise NotImplementedError

    def all_reduce(self, group: Group, x: Array, op: str) -> Array:
        """Combine the ranks' arrays: ``op`` is sum, prod, max, min or avg."""
        return x

    def all_gather(self, group: Group, x: Array) -> list[Array]:
        """Give every rank's array, in the group's order."""
        return [x]

    def reduce_scatter(self, group: Group, pieces: Sequence[Array], op: str) -> Array:
        """Combine the ranks' pieces for this rank."""
        return pieces[0]

    def gather_uneven(self, group: Group, x: Array, sizes: Sequence[int]) -> list[Array]:
        """Give every rank's array, whose first axes have a size each."""
        return [x]

    def broadcast(self, group: Group, x: Array, root: int) -> Array:
        """Give the array of a rank of the group."""
        return x

    def all_to_all(
        self,
        group: Group,
        pieces: Sequence[Array],
        shapes: Sequence[tuple[int, ...]],
        even: bool = False,
    ) -> list[Array]:
        """Send ``pieces[i]`` to rank i, and give what each rank sent here, of ``shapes[i]``.

        ``even`` says that all pieces of all ranks have one shape.
        """
        return list(pieces)

    def exchange(
        self,
        group: Group,
        sent: Sequence[tuple[int, Array]],
        received: Sequence[tuple[int, Any]],
    ) -> list[Array]:
        """Send arrays to ranks of the group, and give those that come from ranks of it.

        One more array comes last, which needs what was sent.

        Args:
            group: the group.
            sent: pairs of a rank and an array.
            received: pairs of a rank and the shape and dtype of its array.
        """
        return [*(x for _, x in sent), jnp.zeros(1, "uint8")]

    def send(self, group: Group, target: int, x: Array) -> Array:
        """Send an array to another rank, and give it; its gradient is received from there."""
        raise NotImplementedError

    def receive(self, group: Group, source: int, kind: Any, anchor: Array) -> Array:
        """Receive an array of a shape and dtype; its gradient is sent where it came from.

        ``anchor`` is an array that gives the call its place; its gradient is 0.
        """
        raise NotImplementedError

    def all_gather_bytes(self, group: Group, data: bytes) -> list[bytes]:
        """Give every rank's bytes, in the group's order; outside of any program."""
        return [data]

    def post(self, target: int, tag: int, data: bytes) -> None:
        """Send bytes to a rank of the world, outside of any program; it may take them later."""
        raise NotImplementedError

    def take(self, source: int, tag: int) -> Callable[[], bytes]:
        """Ask for a rank's next bytes with a tag; what is given waits for them."""
        raise NotImplementedError

    def barrier(self, group: Group) -> None:
        """Wait for every rank of the group."""

    @contextlib.contextmanager
    def waiting(self, name: str) -> Iterator[None]:
        """Let the time limit on collectives hold for what waits for other ranks within.

        Args:
            name: what it is called in the message.
        """
        del name
        yield

    def devices(self) -> list[Any]:
        """List the devices of all processes; starts the backend.

        Raises:
            RuntimeError: there are fewer than `use_devices` has asked for.
        """
        found, asked = jax.local_devices(), asked_devices()
        if asked is None:
            return found
        if asked > len(found):
            raise located(
                RuntimeError,
                f"{asked} devices are asked for, but jax finds {len(found)} of the platform "
                f"{found[0].platform}.",
            )
        return found[:asked]


transport: Transport = Transport()
_groups: dict[str, Group] = {}


class _Generation:
    """Counts the times that a name of a group may have got another meaning."""

    count = 0


def generation() -> int:
    """Give a number that changes when a known group's name may mean other ranks."""
    return _Generation.count


def launched_size() -> int:
    """Give the number of processes that the environment announces, 1 without a launcher.

    Raises:
        ValueError: it announces no number.
    """
    return max([1, *(environment(n, 1) for n in _SIZES if os.environ.get(n))])


def announce(host: str, port: int, size: int, rank: int) -> None:
    """Say where the processes of a world meet, as a launcher does.

    Args:
        host: of rank 0.
        port: free port of it.
        size: number of processes.
        rank: of this process.
    """
    variables = (*MEETING, "RANK_SIZE", "RANK_ID")
    values = (host, port, size, rank)
    os.environ.update({n: str(v) for n, v in zip(variables, values, strict=True)})


class _Joined:
    """Whether this process has looked for others."""

    looked = False


def join(again: bool = False) -> None:
    """Meet the processes that a launcher has announced, before this one first uses a backend.

    Nothing happens without a launcher. Other processes are waited for.

    Args:
        again: whether the environment is read again if it announced none before.

    Raises:
        RuntimeError: they do not come in time, or this process uses a backend already.
    """
    global transport
    if _Joined.looked and not (again and transport.size == 1):
        return
    # A process that a rank has started is no rank, though it has the rank's environment.
    here = os.environ.get(PROCESS) in (None, "", str(os.getpid()))
    if here and launched_size() > 1 and all(os.environ.get(n) for n in MEETING):
        os.environ[PROCESS] = str(os.getpid())
        transport = importlib.import_module(_BACKEND).connect(launched_size())
    _Joined.looked = True


# How many devices `mindjax run --devices` has asked for, for the processes that the program starts.
_DEVICES = "MINDJAX_DEVICES"
_VIRTUAL = "--xla_force_host_platform_device_count"


def use_devices(count: int) -> None:
    """Ask for a number of devices in this process; a CPU becomes as many virtual ones.

    Args:
        count: number of devices.

    Raises:
        ValueError: it is no number of devices.
        RuntimeError: a backend runs already.
    """
    if count < 1:
        raise located(ValueError, f"The number of devices must be greater than 0, but got {count}.")
    if jax_private.started_backends():
        raise located(RuntimeError, f"{count} devices must be asked for before jax first computes.")
    flags = [f for f in os.environ.get("XLA_FLAGS", "").split() if not f.startswith(_VIRTUAL)]
    os.environ["XLA_FLAGS"] = " ".join([*flags, f"{_VIRTUAL}={count}"])
    os.environ[_DEVICES] = str(count)


def asked_devices() -> int | None:
    """Give the number of devices that `use_devices` asked for, None if it was not called."""
    return environment(_DEVICES, 0) or None


def devices() -> list[Any]:
    """List the devices that programs are spread over, of all processes. Starts the backend.

    Raises:
        RuntimeError: there are fewer than `use_devices` has asked for.
    """
    join()
    return transport.devices()


def device_count() -> int:
    """Count the devices that programs are spread over, of all processes. Starts the backend."""
    return len(devices())


def init(backend: str, group_name: str = "") -> None:
    """Join the world.

    Args:
        backend: ``"hccl"``, ``"nccl"`` or ``"mccl"``; the same transport here, the name decides
            what the group of all ranks is called.
        group_name: other name of the group of all ranks.

    Raises:
        RuntimeError: several processes are announced, but not where they meet, or they do not.
    """
    global transport
    join(again=True)
    count = launched_size()
    virtual = asked_devices() or 1
    if count == 1 and virtual > 1 and transport.size == 1:
        transport = importlib.import_module(_VIRTUAL_RANKS).VirtualRanks(virtual)
    if count > 1 and transport.size == 1:
        raise located(
            RuntimeError,
            f"For 'init', one of {list(_SIZES)} announces {count} processes, but {list(MEETING)} "
            "do not say where they meet: start the program with msrun.",
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
    _Generation.count += 1
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
    _Generation.count += 1


def environment(variable: str, default: int) -> int:
    """Read a number that a launcher exports, as is asked before `init`.

    Raises:
        ValueError: it exports something else.
    """
    text = os.environ.get(variable, "") or str(default)
    if not text.isdigit():
        raise located(
            ValueError, f"The environment variable {variable} must be a number >= 0: {text!r}."
        )
    return int(text)
