"""Damaged MindIR files: an error of the documented class, soon, or a network that is whole."""

import random
import time
import tracemalloc
from pathlib import Path

import pytest

import mindjax as ms
from mindjax import nn
from mindjax.mindir import FuncGraph, MindIRError

FOLDER = Path(__file__).parents[1] / "goldens" / "mindir"
NAMES = ("mlp", "if", "while", "dyn", "lstm", "trans", "enc_none")
# Far above what a file of 90 kB needs, far below what its numbers could ask for.
MOST_SECONDS, MOST_BYTES = 5.0, 64 << 20


def mutated(content, generator):
    """Damage a file in one to four places."""
    data = bytearray(content)
    for _ in range(generator.randint(1, 4)):
        place = generator.randrange(len(data))
        kind = generator.randrange(7)
        if kind == 0:
            data[place] ^= 1 << generator.randrange(8)
        elif kind == 1:
            data[place] = generator.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif kind == 2:
            del data[generator.randrange(min(1, len(data) - 1), len(data)) :]
        elif kind == 3:
            end = min(len(data), place + generator.randint(1, 300))
            data[place:place] = data[place:end]
        elif kind == 4:
            del data[place : place + generator.randint(1, 40)]
        elif kind == 5:
            # The largest integer of ten bytes: a length, a dimension or an offset.
            data[place:place] = b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
        else:
            other = generator.randrange(len(data))
            size = generator.randint(1, 60)
            data[place : place + size] = data[other : other + size]
        if not data:
            break
    return bytes(data)


def check(path, content, limited):
    path.write_bytes(content)
    before = time.monotonic()
    if limited:
        tracemalloc.start()
    try:
        graph = ms.load(str(path))
        assert isinstance(graph, FuncGraph)
        net = nn.GraphCell(graph)
        assert [p.name for p in net.get_parameters()] == list(graph.parameters)
    except (MindIRError, NotImplementedError) as error:
        assert str(path) in str(error)
    finally:
        if limited:
            used = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert used < MOST_BYTES
    assert time.monotonic() - before < MOST_SECONDS


def attack(folder, count, seed):
    contents = [(FOLDER / f"{name}.mindir").read_bytes() for name in NAMES]
    path = folder / "net.mindir"
    for number in range(count):
        generator = random.Random(f"{seed}/{number}")
        content = contents[number % len(contents)]
        try:
            check(path, mutated(content, generator), number % 10 == 0)
        except BaseException as error:
            error.add_note(f"file {NAMES[number % len(contents)]}, seed {seed}/{number}")
            raise
    assert [p.name for p in folder.iterdir()] == ["net.mindir"]


def test_damaged_files(tmp_path):
    attack(tmp_path, 350, "few")


@pytest.mark.slow
def test_many_damaged_files(tmp_path):
    attack(tmp_path, 20_000, "many")
