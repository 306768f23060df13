"""A training that is killed goes on from its last checkpoint with fewer processes or devices."""

import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor
from mindjax.checkpoint import load_newest_of_ranks
from mindjax.checkpoint.layouts import layout_of
from mindjax_parallel.mesh import Placement, mesh_of
from mindjax_parallel.strategy_file import placement_from, record_of
from tests.parallel.launching import ENVIRONMENT, PROGRAMS, msrun

STEPS, KILLED = 8, 4
PROGRAM = PROGRAMS / "resuming.py"


def losses(text):
    """Give the losses by the number of their step."""
    found = re.findall(r"^step (\d+): loss (\S+)$", text, re.MULTILINE)
    return {int(step): float(loss) for step, loss in found}


def run(tmp_path, *words, devices=None):
    """Run the program in one process."""
    command = [sys.executable, "-m", "mindjax", "run"]
    command += ["--devices", str(devices)] if devices else []
    return subprocess.run(
        [*command, PROGRAM, *map(str, words)],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def whole(folder, mode):
    """Give the losses of one device, never interrupted."""
    done = run(folder, "one", "-", 0, mode, "alone")
    found = losses(done.stdout)
    assert len(found) == STEPS, done.stderr[-3000:]
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return whole(tmp_path_factory.mktemp("alone"), "semi")


def check(expected, before, after):
    """Compare the two halves of a training with one that went on."""
    assert sorted(before) == list(range(KILLED))
    assert sorted(after) == list(range(KILLED, STEPS))
    for step, loss in {**before, **after}.items():
        assert loss == pytest.approx(expected[step], rel=1e-5), step


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "first", "second"),
    [("semi", 4, 2), ("semi", 2, 4), ("data", 4, 2), ("stages", 4, 2), ("stages", 2, 4)],
)
def test_other_number_of_processes(mode, first, second, alone, tmp_path):
    expected = whole(tmp_path, mode) if mode == "stages" else alone
    killed = msrun(first, PROGRAM.name, "a", "-", KILLED, mode, cwd=tmp_path)
    assert killed.status != 0
    assert f"rank {first - 1} of {first} on this host failed first" in killed.err + killed.out
    resumed = msrun(second, PROGRAM.name, "b", "a", 0, mode, cwd=tmp_path)
    assert resumed.status == 0, resumed
    check(expected, losses(killed.out), losses(resumed.out))


@pytest.mark.slow
def test_other_number_of_devices(alone, tmp_path):
    killed = run(tmp_path, "a", "-", KILLED, "semi", devices=8)
    assert killed.returncode == -signal.SIGKILL
    resumed = run(tmp_path, "b", "a", 0, "semi", devices=4)
    assert resumed.returncode == 0, resumed.stderr[-3000:]
    check(alone, losses(killed.stdout), losses(resumed.stdout))


MESH = mesh_of(tuple(range(8)))
ODD = mesh_of(tuple(range(12)))
PLACEMENTS = [
    (MESH, (), (8,), ()),
    (MESH, ((), ()), (8,), (-1, -1)),
    (MESH, (("d0", "d1", "d2"),), (8,), (0,)),
    (MESH, (("d0",), ("d1", "d2")), (2, 4), (1, 0)),
    (MESH, (("d1",), ("d0",)), (2, 2, 2), (1, 2)),
    (MESH, ((), ("d2",)), (4, 2), (-1, 0)),
    (MESH, (("d0", "d2"),), (2, 2, 2), None),
    (MESH, (("d2", "d0"), ("d1",)), (2, 2, 2), None),
    (ODD, (("d0", "d1"), ("d2",)), (4, 3), (1, 0)),
    (ODD, (("d2",), ("d0",)), (2, 2, 3), (0, 2)),
]


@pytest.mark.parametrize(("mesh", "dims", "matrix", "places"), PLACEMENTS)
def test_record_of_a_placement(mesh, dims, matrix, places):
    """A record has few axes, gives the placement back, and divides as jax does."""
    placement = Placement(dims)
    record = record_of(placement, mesh)
    assert record.dev_matrix[0].dim == matrix
    if places is not None:
        assert [one.dim for one in record.tensor_map] == [places]
    assert placement_from(record, "w", mesh) == placement
    shape = tuple(2 * n for n in placement.parts(mesh))
    layout = layout_of(record)
    sizes = list(mesh.shape.values())
    for rank in range(mesh.size):
        place = dict(zip(mesh.axis_names, np.unravel_index(rank, sizes), strict=True))
        for side, axes in zip(layout.part(rank, shape), dims, strict=True):
            index = 0
            for axis in axes:
                index = index * mesh.shape[axis] + int(place[axis])
            assert (side.start, side.stop) == (2 * index, 2 * index + 2)


def write(folder, rank, name, value):
    """Save a Parameter as a rank does."""
    path = folder / f"rank_{rank}"
    path.mkdir(exist_ok=True)
    ms.save_checkpoint([Parameter(Tensor(value), name="w")], str(path / name))


def test_save_that_broke_off_is_passed_over(tmp_path):
    for step in (1, 2):
        write(tmp_path, 0, f"net-{step}.ckpt", np.full(2, step, np.float32))
    write(tmp_path, 1, "net-1.ckpt", np.full(2, 1, np.float32))
    assert load_newest_of_ranks(str(tmp_path))["w"].asnumpy().tolist() == [1, 1]
    (tmp_path / "rank_1" / "net-1.ckpt").chmod(0o600)
    (tmp_path / "rank_1" / "net-1.ckpt").write_bytes(b"\x0a\xff")
    assert load_newest_of_ranks(str(tmp_path)) is None


def test_ranks_that_are_missing(tmp_path):
    write(tmp_path, 1, "net-1.ckpt", np.ones(2, np.float32))
    with pytest.raises(ValueError, match="folders of the ranks \\[1\\]"):
        load_newest_of_ranks(str(tmp_path))
    with pytest.raises(NotADirectoryError, match="is no folder"):
        load_newest_of_ranks(str(tmp_path / "none"))
