"""Worker threads and processes: order, errors, endings, and what they must not touch."""

import contextlib
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mindjax.dataset as ds
from mindjax.dataset.engine import workers
from tests.dataset import programs

KINDS = [(False, 1), (False, 2), (True, 1), (True, 2)]


def values(dataset, **kwargs):
    rows = dataset.create_tuple_iterator(num_epochs=1, output_numpy=True, **kwargs)
    return [row[0].tolist() for row in rows]


def slices(n):
    return ds.NumpySlicesDataset(np.arange(n), shuffle=False)


def run(program, **kwargs):
    """Run a program; give what it printed, once it has ended."""
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, **kwargs
    )


def gone(pid):
    """Tell whether a process has ended; an unreaped one has."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def eventually(condition, seconds=5):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return file.read().split()


def uneven(x):
    time.sleep(0.002 * (int(x) % 3 == 0))
    return x * 2


@pytest.mark.parametrize(("processes", "count"), KINDS)
def test_order(processes, count):
    data = slices(40).map(uneven, num_parallel_workers=count, python_multiprocessing=processes)
    assert values(data) == [2 * i for i in range(40)]
    assert values(data.batch(16).repeat(2))[-1] == [2 * i for i in range(32, 40)]


@pytest.mark.parametrize(("processes", "count"), KINDS)
def test_random_access_source(processes, count):
    class Rows:
        def __getitem__(self, index):
            return uneven(np.int64(index)), np.full((300, 300), index)

        def __len__(self):
            return 9

    data = ds.GeneratorDataset(
        Rows(), ["a", "b"], None, None, None, count, False, python_multiprocessing=processes
    )
    assert values(data) == [2 * i for i in range(9)]


@pytest.mark.parametrize(("processes", "count"), KINDS)
def test_per_batch_map(processes, count):
    data = slices(10).batch(
        3,
        per_batch_map=lambda column, info: (np.stack(column) + 100 * info.get_batch_num(),),
        num_parallel_workers=count,
        python_multiprocessing=processes,
    )
    assert values(data) == [[0, 1, 2], [103, 104, 105], [206, 207, 208], [309]]


@pytest.mark.parametrize(("processes", "count"), KINDS)
def test_epochs_share_the_workers(processes, count):
    data = slices(5).map(uneven, num_parallel_workers=count, python_multiprocessing=processes)
    iterator = data.take(3).create_tuple_iterator(output_numpy=True)
    for _ in range(3):
        assert [row[0].tolist() for row in iterator] == [0, 2, 4]


class OddError(Exception):
    """An error whose construction needs two arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


class UnpicklableError(ValueError):
    """An error that cannot travel."""

    def __init__(self, text):
        super().__init__(text)
        self.lock = threading.Lock()


ERRORS = [
    (ValueError("bad value"), ValueError),
    (KeyError("key"), KeyError),
    (ZeroDivisionError("division"), ZeroDivisionError),
    (FileNotFoundError(2, "No such file"), FileNotFoundError),
    (UnicodeDecodeError("utf8", b"x", 0, 1, "why"), UnicodeDecodeError),
    (OddError(1, 2), OddError),
    (StopIteration(3), RuntimeError),
    (UnpicklableError("lock"), UnpicklableError),
]


@pytest.mark.parametrize(("processes", "count"), KINDS)
@pytest.mark.parametrize(("error", "kind"), ERRORS, ids=lambda e: getattr(e, "__name__", ""))
def test_error_keeps_its_class(error, kind, processes, count):
    def load(x):
        if x == 3:
            raise error
        return x

    data = ds.NumpySlicesDataset({"image": np.arange(6)}, shuffle=False)
    data = data.map(load, "image", num_parallel_workers=count, python_multiprocessing=processes)
    iterator = data.create_tuple_iterator(output_numpy=True)
    with pytest.raises(kind) as caught:
        list(iterator)
    text = str(caught.value)
    assert isinstance(caught.value, RuntimeError)
    assert "map operation: [load] on column 'image' failed at" in text and "\n" not in text
    assert type(error).__name__ in text and text.count("test_workers.py:") == 2
    assert eventually(lambda: not children() and not worker_threads())


def worker_threads():
    return [t for t in threading.enumerate() if t.name.startswith("mindjax-dataset")]


def test_worker_that_dies():
    def die(x):
        if x == 2:
            os._exit(7)
        return x

    data = slices(8).map(die, num_parallel_workers=2, python_multiprocessing=True)
    with pytest.raises(RuntimeError, match=r"\[die\].*ended unexpectedly with exit code 7"):
        values(data)
    assert eventually(lambda: not children())


@pytest.mark.parametrize(("processes", "count"), KINDS)
def test_loop_left_early(processes, count):
    data = slices(500).map(uneven, num_parallel_workers=count, python_multiprocessing=processes)
    for row in data.create_tuple_iterator(output_numpy=True):
        assert row[0] == 0
        break
    assert eventually(lambda: not children() and not worker_threads())


def test_a_dictionary_of_iterators_does_not_deadlock():
    data = slices(50).map(
        lambda x: np.full(40_000, x), num_parallel_workers=2, python_multiprocessing=True
    )
    twins = [iter(data.create_tuple_iterator(output_numpy=True)) for _ in range(2)]
    for first, second in zip(*twins, strict=True):
        assert first[0][0] == second[0][0]


@pytest.mark.parametrize("count", [1, 2, 3, 64, 1000])
def test_any_number_of_workers(count, monkeypatch):
    monkeypatch.setattr(workers, "_clamp_warned", False)
    limit = ds.config.cpu_count()
    expected = pytest.warns(UserWarning, match=f"num_parallel_workers={count} is more")
    with expected if count > limit else contextlib.nullcontext():
        data = slices(4).map(lambda x: x + 1, num_parallel_workers=count)
        assert values(data) == [1, 2, 3, 4]


def test_same_seed_same_rows_in_processes():
    def noisy(x):
        return x + np.random.rand()

    def epochs():
        ds.config.set_seed(11)
        data = slices(6).map(noisy, num_parallel_workers=2, python_multiprocessing=True)
        iterator = data.create_tuple_iterator(output_numpy=True)
        return [[row[0].tolist() for row in iterator] for _ in range(2)]

    try:
        first, again = epochs(), epochs()
    finally:
        ds.config.set_seed(5489)
    assert first == again and first[0] != first[1]


def test_forks_beside_threads_that_draw():
    """A worker seeds numpy's global stream, whose lock a thread may hold while it is forked."""
    done = threading.Event()

    def draw():
        while not done.is_set():
            np.random.rand(20_000)

    threads = [threading.Thread(target=draw) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            data = slices(4).map(
                lambda x: x + 1, num_parallel_workers=2, python_multiprocessing=True
            )
            assert values(data) == [1, 2, 3, 4]
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_lambdas_without_main_guard():
    done = run(programs.LAMBDAS)
    assert done.returncode == 0, done.stderr
    rows = [[10.0 + i, True, i // 2] for i in range(6)]
    assert eval(done.stdout) == rows
    assert done.stderr == ""


def test_jax_in_a_worker_is_refused():
    done = run(programs.TOUCHES_JAX)
    assert done.returncode == 0, done.stderr
    *refusals, after = done.stdout.strip().split("\n")
    assert len(refusals) == 6
    for text in refusals:
        assert "map operation: [augment] on column 'column_0'" in text
        assert "JAX and Tensor operations cannot run" in text
    assert after == "[0.0, 2.0, 4.0]"


ENDINGS = {
    "end of the script": "",
    "an error": "raise SystemExit(3)",
    "Ctrl-C": "os.kill(os.getpid(), signal.SIGINT); time.sleep(20)",
    "Ctrl-C in the loop": (
        "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start(); list(iterator)"
    ),
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM); time.sleep(20)",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_orphans(ending):
    done = run(programs.INTERRUPTED.format(ending=ENDINGS[ending]))
    pids = done.stdout.split()
    assert len(pids) == 2, done.stderr
    assert eventually(lambda: all(gone(pid) for pid in pids))


def test_dataset_loads_neither_jax_nor_tensors():
    done = run(programs.NO_JAX)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"
