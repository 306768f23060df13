"""``msrun``: starts the processes of a world on this host and watches them."""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import socket
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from mindjax.core import failure, world
from mindjax_parallel.supervise import Worker, run_to_the_end
from mindjax_parallel.watch import LIMIT

_INTERPRETERS = ("python", "python3", "pytest")
# Options of Python that take no word of their own.
_FLAGS = re.compile(r"-[bBdEiIOPqsSuvx]+")


class LaunchError(ValueError):
    """A launch that cannot be."""


def _join(text: str) -> bool:
    value = ast.literal_eval(text)
    if value not in (True, False):
        raise ValueError(text)
    return bool(value)


def _cores(text: str) -> Any:
    """Read ``--bind_core``: True, False, or ranges of cores by device."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise argparse.ArgumentTypeError(
            f"must be True, False or a JSON dictionary, but got {text!r}"
        )
    for device, ranges in given.items():
        if not re.fullmatch(r"device\d+|scheduler", device):
            raise argparse.ArgumentTypeError(
                f"key {device!r} must be 'deviceX', X a number, or 'scheduler'"
            )
        for item in ranges if isinstance(ranges, list) else [None]:
            if not isinstance(item, str) or not re.fullmatch(r"\d+-\d+|\d+(,\d+)*", item.strip()):
                raise argparse.ArgumentTypeError(
                    f"the cores of {device} must be a list of '0', '0,1' or '0-3', but got {ranges}"
                )
    return given


def build_parser() -> argparse.ArgumentParser:
    """Describe the options, which have the original's names and defaults."""
    parser = argparse.ArgumentParser(
        prog="msrun",
        description="Start a program in several processes that work together.",
        # The program's own options would be taken for shortened ones.
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--worker_num", type=int, default=8, help="number of processes on all hosts")
    add("--local_worker_num", type=int, default=8, help="number of processes on this host")
    add("--master_addr", default="127.0.0.1", help="address of the host of rank 0")
    add("--master_port", type=int, default=8118, help="free port of that host, 1024 to 65535")
    add("--node_rank", type=int, default=-1, help="number of this host, if there are several")
    add("--log_dir", default="", help="folder of the log files")
    add("--join", type=_join, default=False, help="True: wait for the end and give its exit status")
    add(
        "--cluster_time_out", type=int, default=600,
        help="seconds in which the processes must find each other; negative: for ever",
    )  # fmt: skip
    add("--bind_core", type=_cores, default=False, help="True, or the cores of each device as JSON")
    add("--bind_numa", default="False", help="only False: use --bind_core")
    add("--sim_level", type=int, default=-1, choices=(0, 1, 2, 3), help="not supported")
    add("--sim_rank_id", type=int, default=-1, help="not supported")
    add("--rank_table_file", default="", help="exported as RANK_TABLE_FILE")
    add("--worker_log_name", default="", help="name of the log files; {ip} and {hostname} stand in")
    add("--tail_worker_log", default="-1", help="ranks whose logs are shown; -1 is all")
    add(
        "--collective_time_out", type=float, default=None, metavar="SECONDS",
        help=f"how long a rank waits for others in a collective; 600, or {LIMIT}",
    )  # fmt: skip
    add("task_script", help="the program")
    add("task_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def command(script: str, arguments: Sequence[str]) -> list[str]:
    """Give the command line that runs a program with ``import mindspore`` answered.

    Args:
        script: a Python file, or ``python``, ``python3`` or ``pytest``.
        arguments: what follows it.

    Raises:
        LaunchError: Python is to run no file and no module.
    """
    here = [sys.executable]
    words = [script, *arguments]
    if script == "pytest":
        words = ["-m", *words]
    elif script in _INTERPRETERS:
        words = words[1:]
        while words and _FLAGS.fullmatch(words[0]):
            here.append(words.pop(0))
        if not words or (words[0].startswith("-") and words[0] != "-m"):
            raise LaunchError(
                f"'{script} {' '.join(arguments)}' runs no file and no module: give a script."
            )
    return [*here, "-m", "mindjax", "run", *words]


def _addresses(host: str) -> set[str]:
    try:
        return {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except OSError as error:
        raise LaunchError(f"--master_addr {host}: {error.strerror or error}.") from None


def is_here(host: str) -> bool:
    """Tell whether a host's address is one of this host's.

    Args:
        host: name or address.

    Raises:
        LaunchError: there is no such host.
    """
    for address in _addresses(host):
        if address.startswith("127.") or address == "::1":
            return True
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            try:
                probe.bind((address, 0))
            except OSError:
                continue
        return True
    return False


# Ports of this host that a launcher has taken for its ranks, who listen on them later.
_held: list[socket.socket] = []


def _hold(port: int) -> bool:
    """Take a port until this process ends, so that no other launcher takes it; tell if that is so.

    Args:
        port: nobody listens on it yet.
    """
    if not sys.platform.startswith("linux"):
        return True
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        # A name without a file: the kernel forgets it with the process.
        claim.bind(f"\0msrun-{port}")
    except OSError:
        claim.close()
        return False
    _held.append(claim)
    return True


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return _hold(port)


def _free_port() -> int:
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.bind(("", 0))
            port = int(probe.getsockname()[1])
        if _hold(port):
            return port


def check(options: argparse.Namespace) -> None:
    """Refuse options that cannot be.

    Args:
        options: what the parser gave.

    Raises:
        LaunchError: an option cannot be.
        NotImplementedError: an option is not supported.
    """
    total, here, node = options.worker_num, options.local_worker_num, options.node_rank
    for name, value in (("worker_num", total), ("local_worker_num", here)):
        if value < 1:
            raise LaunchError(f"--{name} must be greater than 0, but got {value}.")
    if here > total:
        raise LaunchError(
            f"Total worker number is {total}, but got exceeded local worker number: {here}."
        )
    if here < total and node < 0:
        raise LaunchError(
            f"--local_worker_num {here} of --worker_num {total}: on several hosts each needs its "
            "--node_rank, 0 on the host of --master_addr."
        )
    if here < total and node * here >= total:
        raise LaunchError(f"--node_rank {node} with {here} workers a host: no rank under {total}.")
    if not 1024 <= options.master_port <= 65535:
        raise LaunchError(
            f"--master_port must be in the range of 1024 to 65535, but got {options.master_port}."
        )
    if options.sim_level != -1 or options.sim_rank_id != -1:
        raise NotImplementedError(
            "--sim_level and --sim_rank_id are not supported: there is no simulation of a cluster."
        )
    if options.bind_numa.lower() != "false":
        raise NotImplementedError("--bind_numa is not supported: use --bind_core, or numactl.")
    if not re.fullmatch(r"-1|\d+(,\d+)*", options.tail_worker_log):
        raise LaunchError(
            f"--tail_worker_log must be ranks such as 0,1, or -1, but got "
            f"{options.tail_worker_log!r}."
        )
    if options.collective_time_out is not None and options.collective_time_out <= 0:
        raise LaunchError(
            f"--collective_time_out must be greater than 0, but got {options.collective_time_out}."
        )
    words = command(options.task_script, options.task_script_args)
    script = words[words.index("run") + 1]
    if script != "-m" and not os.path.isfile(script):
        raise LaunchError(f"There is no file {script!r} to run.")
    if not is_here(options.master_addr) and here == total:
        raise LaunchError(
            f"--master_addr {options.master_addr} is not this host, on which all ranks run."
        )
    if options.log_dir and os.path.exists(options.log_dir) and not os.path.isdir(options.log_dir):
        raise LaunchError(f"--log_dir {options.log_dir} is no folder.")


def take_port(options: argparse.Namespace) -> None:
    """Put a free port for ``--master_port`` where this host's is taken and all ranks run here.

    Args:
        options: what the parser gave; its ``master_port`` may be changed, which is printed.

    Raises:
        LaunchError: the port is taken, and other hosts would have to know of another.
    """
    total, here = options.worker_num, options.local_worker_num
    first = here == total or options.node_rank == 0
    if not (first and is_here(options.master_addr)) or _is_free(options.master_port):
        return
    if here < total:
        raise LaunchError(
            f"--master_port {options.master_port} of this host is taken: choose another, the "
            "same on all hosts."
        )
    port = _free_port()
    print(f"msrun: port {options.master_port} is taken, {port} is used.", flush=True)
    options.master_port = port


def _log_name(options: argparse.Namespace) -> str:
    name = options.worker_log_name or "worker"
    if "{ip}" in name:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            # Nothing is sent: the kernel says which of its addresses it would use.
            probe.connect((options.master_addr, options.master_port))
            name = name.replace("{ip}", str(probe.getsockname()[0]))
    return name.replace("{hostname}", socket.gethostname())


def _numbers(ranges: Sequence[str]) -> set[int]:
    cores: set[int] = set()
    for item in ranges:
        for part in item.replace(" ", "").split(","):
            first, _, last = part.partition("-")
            cores.update(range(int(first), int(last or first) + 1))
    return cores


def _cores_of(options: argparse.Namespace, number: int) -> set[int] | None:
    bind = options.bind_core
    if not bind or not hasattr(os, "sched_getaffinity"):
        return None
    if isinstance(bind, dict):
        ranges = bind.get(f"device{number}")
        return _numbers(ranges) if ranges else None
    cores, count = sorted(os.sched_getaffinity(0)), options.local_worker_num
    share = max(1, len(cores) // count)
    first = number * share % len(cores)
    return set(cores[first : first + share])


def workers(options: argparse.Namespace, notes: str) -> list[Worker]:
    """Plan the processes of this host.

    Args:
        options: what the parser gave.
        notes: folder in which a process says why it ends.
    """
    first = 0
    if options.local_worker_num < options.worker_num:
        first = options.node_rank * options.local_worker_num
    name, shown = _log_name(options), options.tail_worker_log.split(",")
    words = command(options.task_script, options.task_script_args)
    planned = []
    for number in range(options.local_worker_num):
        rank = first + number
        environment = {
            "MS_ROLE": "MS_WORKER",
            "MS_WORKER_NUM": str(options.worker_num),
            "MS_SCHED_HOST": options.master_addr,
            "MS_SCHED_PORT": str(options.master_port),
            "MS_TOPO_TIMEOUT": str(options.cluster_time_out),
            "MS_NODE_ID": str(rank),
            "RANK_ID": str(rank),
            "RANK_SIZE": str(options.worker_num),
            "DEVICE_ID": str(number),
            "LOCAL_RANK": str(number),
            "LOCAL_RANK_SIZE": str(options.local_worker_num),
            "PYTHONUNBUFFERED": "1",
            world.PROCESS: "",
            failure.VARIABLE: os.path.join(notes, f"rank_{rank}.json"),
        }
        if options.rank_table_file:
            environment["RANK_TABLE_FILE"] = options.rank_table_file
        if options.collective_time_out is not None:
            environment[LIMIT] = str(options.collective_time_out)
        log = os.path.join(options.log_dir, f"{name}_{rank}.log")
        show = options.join and ("-1" in shown or str(rank) in shown)
        planned.append(Worker(rank, words, environment, log, _cores_of(options, number), show))
    return planned


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``msrun``.

    Args:
        argv: the words after the program's name; None takes them from ``sys.argv``.

    Returns:
        0 if all processes of this host have ended well, or without ``--join`` once they are
        started; 130 or 143 after a signal; else 1.
    """
    options = build_parser().parse_args(argv)
    try:
        check(options)
        if options.log_dir:
            os.makedirs(options.log_dir, exist_ok=True)
        take_port(options)
    except (LaunchError, NotImplementedError, OSError) as error:
        kind = "ValueError" if isinstance(error, LaunchError) else type(error).__name__
        print(f"msrun: {kind}: {error}", file=sys.stderr)
        return 1
    if not options.join:
        return _in_the_background(options)
    return _supervise(options)


def _supervise(options: argparse.Namespace, started: int | None = None) -> int:
    with tempfile.TemporaryDirectory(prefix="msrun-") as notes:
        return run_to_the_end(workers(options, notes), started)


def _in_the_background(options: argparse.Namespace) -> int:
    """Leave the watching to a process of its own, and end when all ranks are started."""
    read, write = os.pipe()
    if os.fork():
        os.close(write)
        with os.fdopen(read) as lines:
            for line in lines:
                print(line, end="", flush=True)
        return 0
    os.close(read)
    os.setsid()
    log = os.open(
        os.path.join(options.log_dir, "msrun.log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644
    )
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    status = 1
    try:
        status = _supervise(options, write)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
