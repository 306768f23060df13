"""A dry run says what a program needs on devices that are not there: checked against hand sums."""

import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

from mindjax_parallel.cost import inlined
from mindjax_parallel.dryrun import transfers_of
from mindjax_parallel.liveness import peak
from tests.house.source import ROOT
from tests.parallel.launching import ENVIRONMENT, PROGRAMS

EXAMPLE = ROOT / "examples" / "llama_dryrun.py"
MESH = AbstractMesh((2, 2), ("d0", "d1"))
N = 1 << 10
ONE = N * N * 4


def command(*words, cwd):
    """Run `mindjax` with some words."""
    environment = {k: v for k, v in ENVIRONMENT.items() if k not in ("XLA_FLAGS", "JAX_PLATFORMS")}
    return subprocess.run(
        [sys.executable, "-m", "mindjax", *map(str, words)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def chain(x, w):
    """Two products whose results are both needed."""
    y = x @ w
    return y @ w + y


def block(x, w):
    """A block with two inner values that its gradient needs."""
    return jnp.tanh(jnp.tanh(x @ w) @ w)


def deep(block):
    """Give the gradient of eight blocks."""

    def loss(x, w):
        for _ in range(8):
            x = block(x, w)
        return x.sum()

    return jax.grad(loss, 1)


def loop(x, w):
    """A loop that needs one value at a time."""
    return jax.lax.fori_loop(0, 5, lambda _, y: y @ w, x)


# The function, the axes along which rows and columns of the second input are cut, outputs that
# replace an input, and the most arrays of N x N at a time.
PEAKS = {
    "a product": (lambda x, w: x @ w, (), set(), 1),
    "elementwise operations are one": (lambda x, w: jnp.exp(x) * 2 + w, (), set(), 1),
    "in place of an input": (lambda x, w: x + w, (), {0}, 0),
    "two products": (chain, (), set(), 3),
    "cut by columns": (lambda x, w: x @ w, (None, "d0"), set(), 1 / 2),
    "cut in two ways": (lambda x, w: x @ w, ("d1", "d0"), set(), 1 / 2),
    "a reshape takes nothing": (lambda x, w: (x @ w).reshape(-1), (), set(), 1),
    "a value that is not needed any more": (lambda x, w: ((x @ w) @ w) @ w, (), set(), 2),
    "a loop": (loop, (), set(), 2),
}


def lowered(function, cut):
    """Lower a function of two matrices."""
    struct = jax.ShapeDtypeStruct((N, N), np.float32)
    shardings = tuple(NamedSharding(MESH, PartitionSpec(*c)) for c in ((), cut))
    jitted = jax.jit(inlined(jax.make_jaxpr(function)(struct, struct)), in_shardings=shardings)
    return jitted.trace(struct, struct).lower(lowering_platforms=("cpu",))


@pytest.mark.parametrize("name", PEAKS)
def test_bytes_of_values(name):
    function, cut, tied, arrays = PEAKS[name]
    found, held = peak(lowered(function, cut), MESH, tied)
    assert found == pytest.approx(arrays * ONE, rel=1e-3), held


def test_computing_again_saves_memory():
    kept, again = (
        peak(lowered(deep(f), ()), MESH, set())[0] for f in (block, jax.checkpoint(block))
    )
    # 16 inner values, or 8 inputs of blocks and what one block needs.
    assert kept >= 16 * ONE
    assert again <= 12 * ONE


HLO = """
  %a = f32[8,4]{1,0} all-reduce(%x), channel_id=1
  %b = (f32[2]{0}, bf16[4]{0}) all-reduce(%x, %y), channel_id=2
  %c = f32[16]{0} all-gather-start(%z), dimensions={0}
  %d = pred[3]{0} collective-permute(%p)
  %e = f32[9]{0} add(%q, %r)
"""


def test_transfers():
    assert transfers_of(HLO) == {
        "all-reduce": (2, 128 + 8 + 8),
        "all-gather": (1, 64),
        "collective-permute": (1, 3),
    }


def by_hand(layers, data, tensor, shares):
    """Work out the bytes of a device for the example, at one end of the backward pass.

    As it begins the inputs of all layers are there, as it ends all gradients, shared out.
    """
    width, keys, inner, words, length = 8192, 1024, 28672, 32000, 2048
    matrices = layers * (2 * width * width + 2 * width * keys + 3 * width * inner)
    numbers = matrices + 2 * words * width + (2 * layers + 1) * width
    state = 3 * numbers * 4 / (tensor * shares)
    mask = length * length * 4
    # A sequence a device: inputs of layers, cut by columns as the table of words is; of the last
    # layer the scores, in two forms, other inner values, three of them whole, its matrices, and
    # gradients before they are shared out; the gradient of the words.
    kept = (layers + 1) * length * width * 4 / tensor
    scores = 2 * 64 // tensor * length * length * 4
    others = (3 * width + 4 * inner // tensor) * length * 4
    gathered = (2 * width * width + 2 * width * keys + 3 * width * inner) * 4 / tensor
    gradients = (2 * width * inner + words * width) * 4 / tensor
    kept = max(kept, state / 3)
    return numbers, state + mask + kept + scores + others + gathered + gradients


def figures(tmp_path, *words):
    """Run the example dry, and give the figures of its program."""
    done = command("dryrun", "--out", "f.json", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    (found,) = json.loads((tmp_path / "f.json").read_text())
    assert "bytes a device" in done.stderr
    return found


@pytest.mark.parametrize("layers", [2])
def test_llama(layers, tmp_path):
    words = ("--no-compile", "--devices", 512, EXAMPLE, "--layers", layers)
    found = figures(tmp_path, *words)
    numbers, expected = by_hand(layers, 64, 8, 8)
    assert found["devices"] == 512
    assert found["elements"] == pytest.approx(numbers, abs=8)
    state = 4 * numbers / 64
    assert found["optimizer"] == pytest.approx(2 * state, rel=1e-3)
    assert found["parameters"] == pytest.approx(state + 2048 * 2048 * 4, rel=1e-3)
    assert found["total"] == pytest.approx(expected, rel=0.1)


def staged_by_hand(layers, data, tensor, stages):
    """Work out the bytes of a device of the first stage, of one sequence a device and micro batch.

    A device holds its part of its layers and of the table of words; as many gradients, and twice
    as much of Adam's state; and what a micro batch keeps, for each that is on its way, one a stage,
    and a place for what nobody reads. All stages make room for what any of them keeps: inputs of
    layers, computed again from there; of the last stage what its norm takes and what it scales, the
    head's input, which is whole, the logits and a mask of truth values.
    """
    width, keys, inner, words, length = 8192, 1024, 28672, 32000, 2048
    # Gains of norms lie in parts as the matrices do.
    layer = (2 * width * width + 2 * width * keys + 3 * width * inner + 2 * width) / tensor
    own = layers // stages
    numbers = own * layer + words * width / tensor
    row = 4 * length * width / tensor
    kept = (own + 2) * row + 4 * length * width + 5 * length * words / tensor
    return 4 * numbers, (stages + 1) * kept


def check_stages(found, layers):
    """Compare the figures of a pipeline of eight stages with the sum by hand."""
    numbers, kept = staged_by_hand(layers, 8, 8, 8)
    # The head, on the last stage, has a place on each.
    head = 4 * 32000 * 8192 / 8
    assert found["optimizer"] == pytest.approx(2 * numbers, rel=1e-3)
    for kind in ("parameters", "gradients"):
        assert numbers <= found[kind] <= numbers + head
    assert found["values"] == pytest.approx(kept, rel=0.1)
    assert found["total"] == pytest.approx(4 * numbers + kept, rel=0.1)


@pytest.mark.slow
def test_pipeline(tmp_path):
    """What the first of eight stages needs: two layers and the table of words."""
    words = ("--no-compile", "--devices", 512, EXAMPLE, "--layers", 16, "--stages", 8)
    check_stages(figures(tmp_path, *words), 16)


@pytest.mark.slow
def test_pipeline_of_70_billion_numbers(tmp_path):
    """8 parts of the batch, 8 of the matrices and 8 stages of ten layers."""
    found = figures(tmp_path, "--no-compile", "--devices", 512, EXAMPLE, "--stages", 8)
    numbers, kept = staged_by_hand(80, 8, 8, 8)
    for kind, times in (("parameters", 1), ("gradients", 1), ("optimizer", 2)):
        assert found[kind] == pytest.approx(times * numbers, rel=1e-3)
    assert found["values"] == pytest.approx(kept, rel=0.1)
    assert found["total"] == pytest.approx(4 * numbers + kept, rel=0.1)


@pytest.mark.slow
def test_llama_of_70_billion_numbers(tmp_path):
    found = figures(tmp_path, "--devices", 512, EXAMPLE)
    numbers, expected = by_hand(80, 64, 8, 8)
    assert found["elements"] == pytest.approx(numbers, abs=8)
    assert found["total"] == pytest.approx(expected, rel=0.1)
    assert found["transfers"]["all-reduce"][0] > 160


@pytest.mark.slow
def test_transfers_are_those_of_a_run(tmp_path):
    """The collectives that a dry run counts are in the program that runs."""
    words = (EXAMPLE, "--size", "tiny", "--tensor", 2, "--shares", 2)
    found = figures(tmp_path, "--devices", 8, *words)
    program = tmp_path / "shown.py"
    program.write_text(
        "import runpy, sys\n"
        "import mindjax.graph.program as p\n"
        "from mindjax_parallel.dryrun import transfers_of\n"
        "done = []\n"
        "run = p.Program._run\n"
        "def noted(self, *a):\n"
        "    out = run(self, *a)\n"
        "    done.append(self)\n"
        "    return out\n"
        "p.Program._run = noted\n"
        "sys.argv.pop(0)\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
        "print(transfers_of(done[-1].hlo))\n"
    )
    done = command("run", "--devices", 8, program, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    shown = eval(done.stdout.splitlines()[-1])
    assert {k: v[0] for k, v in shown.items()} == {k: v[0] for k, v in found["transfers"].items()}


def test_simulation(tmp_path):
    done = command("run", PROGRAMS / "simulated.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "through" in done.stdout
    assert "TrainOneStepCell: 1 devices, 1,073,741,82" in done.stderr


@pytest.mark.slow
def test_script_without_a_program(tmp_path):
    (tmp_path / "empty.py").write_text("print(1)\n")
    done = command("dryrun", "empty.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "1\n")
    assert "nothing was compiled" in done.stderr
    assert os.listdir(tmp_path) == ["empty.py"]
