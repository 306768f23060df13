"""msrun: what it refuses, what it starts, and how it ends when a rank does."""

import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from mindjax.cli.run import run
from mindjax.core import failure, world
from mindjax_parallel import connect, launch, watch
from tests.parallel.launching import ENVIRONMENT, PROGRAMS, msrun, msrun_alone

slow = pytest.mark.slow
DYING = str(PROGRAMS / "dying.py")
TWO = ("--worker_num", "2", "--local_worker_num", "2")


def planned(*words):
    """Check options and give the processes that would be started."""
    options = launch.build_parser().parse_args(words)
    launch.check(options)
    launch.take_port(options)
    return launch.workers(options, "notes")


# Words after msrun, and the error's one line.
WRONG = {
    "no worker": (["--worker_num", "0", DYING], "ValueError: --worker_num must be greater than 0"),
    "negative": (["--worker_num", "-2", DYING], "ValueError: --worker_num must be greater than 0"),
    "no local worker": (
        ["--local_worker_num", "0", DYING],
        "ValueError: --local_worker_num must be greater than 0",
    ),
    "more here than in all": (
        ["--worker_num", "2", "--local_worker_num", "4", DYING],
        "ValueError: Total worker number is 2, but got exceeded local worker number: 4.",
    ),
    "no node rank": (
        ["--worker_num", "8", "--local_worker_num", "4", DYING],
        "ValueError: --local_worker_num 4 of --worker_num 8: on several hosts each needs its",
    ),
    "node rank too high": (
        ["--worker_num", "8", "--local_worker_num", "4", "--node_rank", "2", DYING],
        "ValueError: --node_rank 2 with 4 workers a host: no rank under 8.",
    ),
    "low port": ([*TWO, "--master_port", "80", DYING], "ValueError: --master_port must be in the"),
    "high port": ([*TWO, "--master_port", "99999", DYING], "ValueError: --master_port must be in"),
    "no such host": (
        [*TWO, "--master_addr", "no-such-host.invalid", DYING],
        "ValueError: --master_addr no-such-host.invalid:",
    ),
    "another host": (
        [*TWO, "--master_addr", "192.0.2.1", DYING],
        "ValueError: --master_addr 192.0.2.1 is not this host, on which all ranks run.",
    ),
    "no such script": ([*TWO, "nothing.py"], "ValueError: There is no file 'nothing.py' to run."),
    "python without a script": ([*TWO, "python"], "ValueError: 'python ' runs no file and no"),
    "python with a command": (
        [*TWO, "python", "-c", "1"],
        "ValueError: 'python -c 1' runs no file",
    ),
    "simulation": ([*TWO, "--sim_level", "1", DYING], "NotImplementedError: --sim_level and"),
    "simulated rank": ([*TWO, "--sim_rank_id", "3", DYING], "NotImplementedError: --sim_level and"),
    "numa": ([*TWO, "--bind_numa", "True", DYING], "NotImplementedError: --bind_numa is not"),
    "tail": ([*TWO, "--tail_worker_log", "all", DYING], "ValueError: --tail_worker_log must be"),
    "time limit": (
        [*TWO, "--collective_time_out", "0", DYING],
        "ValueError: --collective_time_out",
    ),
    "a file of logs": ([*TWO, "--log_dir", DYING, DYING], "ValueError: --log_dir"),
}
# What the parser itself refuses, with the usage and exit status 2.
UNPARSED = {
    "no script": ([*TWO], "task_script"),
    "no such option": (["--workers", "2", DYING], "unrecognized|required"),
    "join": ([*TWO, "--join", "perhaps", DYING], "--join"),
    "port in words": ([*TWO, "--master_port", "ssh", DYING], "--master_port"),
    "number in words": (["--worker_num", "two", DYING], "--worker_num"),
    "level": ([*TWO, "--sim_level", "9", DYING], "--sim_level"),
    "cores": ([*TWO, "--bind_core", "some", DYING], "True, False or a JSON dictionary"),
    "device of cores": ([*TWO, "--bind_core", '{"gpu0": ["0"]}', DYING], "key 'gpu0' must be"),
    "range of cores": (
        [*TWO, "--bind_core", '{"device0": ["a-b"]}', DYING],
        "the cores of device0",
    ),
    "list of cores": ([*TWO, "--bind_core", '{"device0": "0"}', DYING], "the cores of device0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused(name, capsys, monkeypatch):
    words, line = WRONG[name]
    # What is refused is so before a port is looked for: another process's says nothing here.
    monkeypatch.setattr(launch, "_is_free", lambda port: False)
    assert launch.main(words) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith(f"msrun: {line}") and shown.err.count("\n") == 1
    assert not shown.out


@pytest.mark.parametrize("name", UNPARSED)
def test_not_understood(name, capsys):
    words, text = UNPARSED[name]
    with pytest.raises(SystemExit) as ended:
        launch.main(words)
    assert ended.value.code == 2
    assert re.search(text, capsys.readouterr().err)


# What a program meets that was started in another way: variables, error, text.
UNMET = {
    "nowhere to meet": ({"RANK_SIZE": "2"}, RuntimeError, "start the program with msrun"),
    "no rank": (
        {"RANK_SIZE": "2", "MS_SCHED_HOST": "127.0.0.1", "MS_SCHED_PORT": "8118"},
        RuntimeError,
        "none of .* says which this one is",
    ),
    "no such rank": (
        {
            "RANK_SIZE": "2",
            "RANK_ID": "2",
            "MS_SCHED_HOST": "127.0.0.1",
            "MS_SCHED_PORT": "8118",
        },
        RuntimeError,
        "RANK_ID=2 is no rank of a world of 2 processes, 0 to 1",
    ),
    "a size in words": ({"RANK_SIZE": "two"}, ValueError, "RANK_SIZE must be a number"),
    "a rank in words": (
        {
            "RANK_SIZE": "2",
            "RANK_ID": "one",
            "MS_SCHED_HOST": "127.0.0.1",
            "MS_SCHED_PORT": "8118",
        },
        ValueError,
        "RANK_ID must be a number",
    ),
    "a port in words": (
        {
            "RANK_SIZE": "2",
            "RANK_ID": "1",
            "MS_SCHED_HOST": "127.0.0.1",
            "MS_SCHED_PORT": "ssh",
        },
        ValueError,
        "MS_SCHED_PORT must be a port",
    ),
    "backend in use": (
        {
            "RANK_SIZE": "2",
            "RANK_ID": "1",
            "MS_SCHED_HOST": "127.0.0.1",
            "MS_SCHED_PORT": "8118",
        },
        RuntimeError,
        "jax computes already: call init",
    ),
}


@pytest.mark.parametrize("name", UNMET)
def test_init_without_a_launcher(name, monkeypatch):
    import jax

    from mindjax import communication

    jax.devices()
    variables, kind, text = UNMET[name]
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(kind, match=text):
        communication.init()
    assert world.transport.size == 1


def test_a_port_that_is_taken():
    """Rank 0 says so; jax would end its process by a signal."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(RuntimeError, match=f"cannot listen on port {port} .*free port"):
            connect._check_port("127.0.0.1", port)


@pytest.mark.parametrize("value", ["soon", "0", "-3", "nan"])
def test_time_limit_of_the_environment(value, monkeypatch):
    monkeypatch.setenv(watch.LIMIT, value)
    with pytest.raises(ValueError, match=f"{watch.LIMIT} must be a number > 0"):
        watch.limit()


def test_environment_of_a_rank():
    words = ["--worker_num", "8", "--local_worker_num", "4", "--node_rank", "1", "--log_dir", "l"]
    worker = planned(*words, "--master_port", "8123", DYING, "a", "--b")[2]
    assert worker.rank == 6 and worker.log == os.path.join("l", "worker_6.log")
    assert worker.words[1:] == ["-m", "mindjax", "run", DYING, "a", "--b"]
    expected = {
        "MS_ROLE": "MS_WORKER",
        "MS_WORKER_NUM": "8",
        "MS_SCHED_HOST": "127.0.0.1",
        "MS_SCHED_PORT": "8123",
        "MS_TOPO_TIMEOUT": "600",
        "MS_NODE_ID": "6",
        "RANK_ID": "6",
        "RANK_SIZE": "8",
        "DEVICE_ID": "2",
        "LOCAL_RANK": "2",
        "LOCAL_RANK_SIZE": "4",
    }
    assert worker.environment.items() >= expected.items()


PROGRAM_WORDS = {
    "script": ([DYING, "x"], ["run", DYING, "x"]),
    "python": (["python", "-u", DYING], ["run", DYING]),
    "python3": (["python3", DYING, "-m"], ["run", DYING, "-m"]),
    "module": (["python", "-m", "pytest", "-q"], ["run", "-m", "pytest", "-q"]),
    "pytest": (["pytest", "-s", "t.py"], ["run", "-m", "pytest", "-s", "t.py"]),
}


@pytest.mark.parametrize("name", PROGRAM_WORDS)
def test_command(name):
    given, expected = PROGRAM_WORDS[name]
    words = launch.command(given[0], given[1:])
    assert words[0] == sys.executable and words[words.index("run") :] == expected


def test_names_and_cores():
    cores = '{"device0": ["0-1", "3"], "device1": ["2"]}'
    first, second = planned(*TWO, "--bind_core", cores, "--worker_log_name", "w_{hostname}", DYING)
    assert (first.cores, second.cores) == ({0, 1, 3}, {2})
    assert first.log == f"w_{socket.gethostname()}_0.log"
    shares = [w.cores for w in planned(*TWO, "--bind_core", "True", DYING)]
    assert all(shares) and set().union(*shares) <= os.sched_getaffinity(0)
    assert all(w.cores is None for w in planned(*TWO, DYING))


def test_taken_port(capsys):
    with socket.create_server(("", 0)) as taken:
        port = taken.getsockname()[1]
        worker = planned(*TWO, "--master_port", str(port), DYING)[0]
        assert worker.environment["MS_SCHED_PORT"] != str(port)
        assert f"port {port} is taken" in capsys.readouterr().out
        several = ["--worker_num", "4", "--local_worker_num", "2", "--node_rank", "0"]
        with pytest.raises(ValueError, match=f"--master_port {port} of this host is taken"):
            planned(*several, "--master_port", str(port), DYING)


def test_two_launches_at_once():
    """The second takes another port although the first one's ranks do not listen yet."""
    ports = [
        planned(*TWO, "--master_port", "8765", DYING)[0].environment["MS_SCHED_PORT"]
        for _ in range(2)
    ]
    assert len(set(ports)) == 2


def test_reason_of_an_end(tmp_path, monkeypatch):
    monkeypatch.setenv(failure.VARIABLE, str(tmp_path / "why.json"))
    failure.note("first")
    failure.note("second")
    assert '"first"' in (tmp_path / "why.json").read_text()


# How rank 1 ends, options, and what msrun says of it.
DEATHS = {
    "kill": ([], r"rank 1 of 2 .*\nkilled by SIGKILL\n"),
    "raise": (
        [],
        r"rank 1 of 2 .*\nTraceback .*\n.*dying.py(.*\n)+?KeyError: 'no such weight'",
    ),
    "exit": ([], r"rank 1 of 2 .*\nSystemExit: 7\n"),
    "early": (
        [],
        r"rank [01] of 2 .*\nTraceback .*\n.*dying.py(.*\n)+?ImportError: nothing",
    ),
    "hang": (["--collective_time_out", "4"], r"rank 0 has waited 4 s for the other ranks in 'AllR"),
    "stop": (["--collective_time_out", "4"], r"rank 1 was stopped by a signal or a debugger"),
    "absent": (["--cluster_time_out", "5"], r"Rank 0 did not meet the other 1 of 2 processes at"),
    # Their losses would differ, or they would wait for one another.
    "apart": (
        [],
        r"rank [01] of 2 .*\n(.*\n)+?RuntimeError: .* input \d+, .*float32\[8, 3\]",
    ),
    "settings": ([], r"rank [01] of 2 .*\n(.*\n)+?RuntimeError: .* the same settings"),
    "facing": (["--collective_time_out", "4"], r"in 'Send' .* one has to receive first"),
    # It has failed, but a thread of it goes on.
    "thread": (
        [],
        r"rank [01] of 2 .*\nTraceback .*\n.*dying.py(.*\n)+?KeyError: 'no such weight'",
    ),
    "shape": ([], r"killed by SIGABRT: the ranks have called different collectives, or one with"),
}


@pytest.mark.parametrize(
    "how", [pytest.param(h, marks=() if h == "kill" else slow) for h in DEATHS]
)
def test_a_rank_ends(how, tmp_path):
    """The job ends with the error of the rank that ended first, and leaves nobody behind."""
    options, text = DEATHS[how]
    outcome = msrun(2, DYING, how, cwd=tmp_path, options=options)
    assert outcome.status == 1, outcome
    assert re.search(text, outcome.err), outcome
    assert "***" not in outcome.err and "@ 0x" not in outcome.err
    assert "the other ranks" in outcome.err
    assert not left_over(tmp_path)


def left_over(folder):
    """List processes that run in a folder."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{number}/cwd") == str(folder):
                found.append(number)
        except OSError:
            continue
    return found


@slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_all(number, status, tmp_path):
    command = [sys.executable, "-m", "mindjax", "msrun", *TWO, "--join", "True", DYING, "never"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    # What catches signals is there before the ranks are. A line of a taken port may come first:
    # a test of this process, or of another, may hold it.
    lines = iter(process.stdout.readline, b"")
    started = (line for line in lines if b"Start worker process" in line)
    assert len(list(itertools.islice(started, 2))) == 2
    process.send_signal(number)
    _, err = process.communicate(timeout=10)
    assert process.returncode == status
    assert f"msrun: {number.name}: all ranks are ended." in err.decode()
    assert not left_over(tmp_path)


@slow
def test_in_the_background(tmp_path):
    """Without --join msrun comes back at once, and the ranks are watched all the same."""
    result = msrun_alone(*TWO, "--log_dir", "logs", DYING, "raise", cwd=tmp_path)
    assert result.returncode == 0 and result.stdout.count("Start worker process") == 2
    until = time.monotonic() + 60
    while left_over(tmp_path) and time.monotonic() < until:
        time.sleep(0.2)
    text = (tmp_path / "logs" / "msrun.log").read_text()
    assert "msrun: rank 1 of 2 on this host failed first" in text and "no such weight" in text


def test_devices(tmp_path):
    program = tmp_path / "count.py"
    program.write_text(
        "import mindspore as ms\nfrom mindspore.communication import init, get_rank\n"
        "from mindjax.core import world\ninit()\n"
        "print(get_rank(), world.device_count(), ms.Tensor([1.0]) + 1)\n"
    )
    command = [sys.executable, "-m", "mindjax", "run", "--devices"]
    words = [*command, "3", str(program)]
    result = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True)
    assert result.stdout.split() == ["0", "3", "[2.]"], result.stderr


def test_no_devices(capsys):
    assert run("program.py", [], devices=0) == 2
    assert "must be greater than 0, but got 0" in capsys.readouterr().err
