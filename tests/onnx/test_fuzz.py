"""Damaged ONNX files: an error of the documented class, soon, or a network that is whole."""

import random
import time
import tracemalloc

import pytest

import mindjax as ms
from mindjax.onnx import OnnxCell, OnnxError
from tests.mindir.networks import NETWORKS, tensors
from tests.mindir.test_fuzz import MOST_BYTES, MOST_SECONDS, mutated

pytest.importorskip("onnx")


def contents(folder):
    found = {}
    for name in ("mlp", "convolutions", "loop", "condition", "indexing"):
        network, inputs = NETWORKS[name]()
        path = folder / f"{name}.onnx"
        ms.onnx.export(network, *tensors(inputs), file_name=str(path))
        found[name] = path.read_bytes()
        path.unlink()
    return found


def check(path, content, limited):
    path.write_bytes(content)
    before = time.monotonic()
    if limited:
        tracemalloc.start()
    try:
        cell = ms.onnx.load(str(path))
        assert isinstance(cell, OnnxCell)
        for parameter in cell.get_parameters():
            assert parameter.size * parameter.itemsize <= len(content)
    except (OnnxError, NotImplementedError) as error:
        assert str(path) in str(error)
    finally:
        if limited:
            used = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert used < MOST_BYTES
    assert time.monotonic() - before < MOST_SECONDS


def attack(folder, count, seed):
    known = contents(folder)
    path = folder / "net.onnx"
    for number in range(count):
        generator = random.Random(f"{seed}/{number}")
        name = list(known)[number % len(known)]
        try:
            check(path, mutated(known[name], generator), number % 10 == 0)
        except BaseException as error:
            error.add_note(f"file {name}, seed {seed}/{number}")
            raise
    assert [p.name for p in folder.iterdir()] == ["net.onnx"]


def test_damaged_files(tmp_path):
    attack(tmp_path, 300, "few")


@pytest.mark.slow
def test_many_damaged_files(tmp_path):
    attack(tmp_path, 20_000, "many")
