"""Meeting the other processes that a launcher has announced, and leaving them."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import secrets
import socket
import sys
import threading
from types import TracebackType

import jax

from mindjax.core import failure, jax_private, world
from mindjax.core.errors import located
from mindjax_parallel.mailbox import SECRET_BYTES, Mailbox
from mindjax_parallel.spread import RankMesh
from mindjax_parallel.transport import ProcessTransport
from mindjax_parallel.watch import Watch, limit

_PREEMPTION = "jax_enable_preemption_service"
# Where the launcher says which process this is.
_RANKS = ("RANK_ID", "MS_NODE_ID", "OMPI_COMM_WORLD_RANK")
# Seconds after which a process that gives no sign of life is taken for dead.
HEARTBEAT = "MINDJAX_HEARTBEAT"
_HEARTBEAT = 10
# Seconds that a process waits for the others to appear.
MEETING_TIME = "MS_TOPO_TIMEOUT"
_MEETING_TIME = 600
# Ranks that have ended well wait as long as the others work: a dead one is found by its heartbeat.
_LEAVING_TIME = 7 * 24 * 3600


def _number(name: str, default: int, lowest: int = 0) -> int:
    text = os.environ.get(name, "")
    if not text:
        return default
    if not text.lstrip("-").isdigit() or int(text) < lowest:
        raise located(
            ValueError, f"The environment variable {name} must be a number >= {lowest}: {text!r}."
        )
    return int(text)


def rank_of_environment(size: int) -> int:
    """Give the rank that the launcher exports.

    Args:
        size: number of processes.

    Raises:
        RuntimeError: it exports none, or one that the world does not have.
        ValueError: it exports no number.
    """
    name = next((n for n in _RANKS if os.environ.get(n)), None)
    if name is None:
        raise located(
            RuntimeError,
            f"{size} processes are announced, but none of {list(_RANKS)} says which this one is: "
            "start the program with msrun.",
        )
    rank = world.environment(name, 0)
    if rank >= size:
        raise located(
            RuntimeError,
            f"{name}={rank} is no rank of a world of {size} processes, 0 to {size - 1}.",
        )
    return rank


def connect(size: int) -> ProcessTransport:
    """Meet the other processes and give the transport between them.

    Args:
        size: number of processes.

    Raises:
        RuntimeError: this process uses a backend already, or the others do not come in time.
    """
    rank = rank_of_environment(size)
    host, port = (os.environ[name] for name in world.MEETING)
    where = f"{host}:{port}"
    if not port.isdigit() or not 0 < int(port) < 65536:
        raise located(
            ValueError,
            f"The environment variable {world.MEETING[1]} must be a port, 1 to 65535: {port!r}.",
        )
    if jax_private.started_backends():
        raise located(
            RuntimeError,
            f"Rank {rank} cannot meet the other {size - 1} at {where}, because jax computes "
            "already: call init() before the first use of jax.",
        )
    loopback = host in ("localhost", "::1") or host.startswith("127.")
    if rank == 0:
        _check_port("127.0.0.1" if loopback and host != "::1" else "", int(port))
    wait = _number(MEETING_TIME, _MEETING_TIME, -_LEAVING_TIME)
    text = (
        f"Rank {rank} did not meet the other {size - 1} of {size} processes at {where} within "
        f"{wait} s: see that all are started, or set {MEETING_TIME}."
    )
    # jax would end the process with the stack of its own functions.
    timer = threading.Timer(wait, _give_up, [text])
    timer.daemon = True
    if wait > 0:
        timer.start()
    try:
        _initialize(where, loopback, size, rank)
        _leave_at_the_end()
        return _transport(host, int(port), size, rank)
    except jax.errors.JaxRuntimeError as error:
        raise located(RuntimeError, f"{text} ({str(error).splitlines()[0]})") from None
    finally:
        timer.cancel()


def _give_up(text: str) -> None:
    failure.note(f"RuntimeError: {text}")
    print(f"mindjax: RuntimeError: {text}", file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(1)


def _check_port(address: str, port: int) -> None:
    """Refuse a port on which somebody listens, with which jax would end the process badly.

    Args:
        address: that rank 0 listens on; "" for all.
        port: of it.

    Raises:
        RuntimeError: the port is taken.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise located(
                RuntimeError,
                f"Rank 0 cannot listen on port {port} ({error.strerror or error}): set "
                f"{world.MEETING[1]}, or msrun's --master_port, to a free port on all ranks.",
            ) from None


def _initialize(where: str, loopback: bool, size: int, rank: int) -> None:
    """Begin jax's own connection."""
    # Of several GPUs each process takes its own; on a CPU the number has no effect.
    number = os.environ.get("DEVICE_ID", "")
    own = [int(number)] if number.isdigit() else None
    # jax would catch SIGTERM, with which a launcher ends a rank.
    preemption = getattr(jax.config, _PREEMPTION)
    jax.config.update(_PREEMPTION, False)
    try:
        jax.distributed.initialize(
            where,
            size,
            rank,
            own,
            cluster_detection_method="deactivate",
            initialization_timeout=_LEAVING_TIME,
            heartbeat_timeout_seconds=_number(HEARTBEAT, _HEARTBEAT, 1),
            shutdown_timeout_seconds=_LEAVING_TIME,
            coordinator_bind_address=where if loopback else None,
        )
    finally:
        jax.config.update(_PREEMPTION, preemption)


def _transport(host: str, port: int, size: int, rank: int) -> ProcessTransport:
    ranks = RankMesh(rank, size, Watch(rank))
    local_rank = _number("LOCAL_RANK", _number("DEVICE_ID", rank))
    mailbox = Mailbox(rank, _own_address(host, port), limit())
    made = ProcessTransport(ranks, mailbox, local_rank, _number("LOCAL_RANK_SIZE", size))
    # XLA's messages between two ranks go over connections that all ranks make together, now.
    everybody = world.Group("world", tuple(range(size)))
    card = {"address": mailbox.address, "secret": secrets.token_hex(SECRET_BYTES)}
    cards = [json.loads(c) for c in made.all_gather_bytes(everybody, json.dumps(card).encode())]
    secret = bytes.fromhex(cards[0]["secret"])
    mailbox.open([(str(c["address"][0]), int(c["address"][1])) for c in cards], secret)
    return made


def _own_address(host: str, port: int) -> str:
    """Give the address of this host that the host of rank 0 would be reached from."""
    family, _, _, _, there = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        # Nothing is sent: the kernel says which of its addresses it would use.
        probe.connect(there)
        return str(probe.getsockname()[0])


def _leave_at_the_end() -> None:
    """Leave the others when the interpreter ends: with them if all is well, else at once."""
    show = sys.excepthook

    def note(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        world.transport.failed = 1
        show(kind, error, trace)

    sys.excepthook = note
    atexit.register(_leave)


def _leave() -> None:
    if world.transport.failed:
        # jax would wait for ranks that may be waiting for this one.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(world.transport.failed & 0xFF)
    transport = world.transport
    if isinstance(transport, ProcessTransport):
        transport.ranks.watch.close()
    with contextlib.suppress(Exception):
        jax.distributed.shutdown()
