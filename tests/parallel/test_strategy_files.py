"""Strategy files: what they hold, and that a program without strategies takes them from there."""

import json
import os
import subprocess
import sys

import pytest

from mindjax import dtype, nn
from mindjax.checkpoint.strategy import Dims, ParallelLayouts
from mindjax.parallel import strategy
from mindjax_parallel.strategy_metadata import layout_from
from tests.house.source import ROOT
from tests.parallel.launching import on_eight_devices

RECORDED = json.loads((ROOT / "tests/goldens/strategy_metadata.json").read_text())
CUT = {"w1": [1, 4], "w2": [4, 1]}
PLACED = {f"blocks.{i}.{n}": p for i in range(2) for n, p in {**CUT, "scale": [1]}.items()}
WHOLE = {name: [1] * len(parts) for name, parts in PLACED.items()}
TRAINED = {"w1": [[2, 4], [-1, 0]], "w2": [[2, 4], [0, -1]]}
OPERATORS = {
    f"Net/blocks/{i}/MatMul-op{j}": strategies
    for i in range(2)
    for j, strategies in enumerate(([[2, 1], [1, 4]], [[2, 4], [4, 1]]))
}
EXPECTED = {
    "placed": PLACED,
    "ckpt layouts": {f"blocks.{i}.{n}": v for i in range(2) for n, v in TRAINED.items()},
    "json layouts": {f"blocks.{i}.{n}": v for i in range(2) for n, v in TRAINED.items()},
    "ckpt operators": OPERATORS,
    "json operators": OPERATORS,
    "ckpt loaded": PLACED,
    "json loaded": PLACED,
    "all names": sorted(PLACED),
    # The ranks 0 and 4 are those of the first axis, along which no Parameter is cut.
    "group": [0, 4],
    "operators": list(OPERATORS),
    "operators loaded": PLACED,
    "after a reset": WHOLE,
    "wrapped names": sorted(PLACED),
    "wrapped loaded": PLACED,
}


@pytest.fixture(scope="module")
def found():
    """Run the programs in a process with eight virtual devices."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.parallel.strategy_files"],
        capture_output=True,
        text=True,
        timeout=200,
        env={k: v for k, v in os.environ.items() if k != "XLA_FLAGS"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_found(name, found):
    assert found[name] == EXPECTED[name]


# The original's own records, and those whose optimizer's state it shares out over more axes.
@pytest.mark.parametrize("case", RECORDED["layouts"], ids=str)
def test_layout_of_a_record(case):
    """A `Layout` is what the original makes of the same record."""
    matrix, maps, optimizer, expected, kind, _ = case
    if optimizer:
        # Ours are records of where Parameters lie at rest, which name all axes.
        maps = [m if isinstance(m, list) else [m] for m in expected["tensor_map"]]
    flat = all(len(m) == 1 for m in maps)
    lists = (
        [Dims(tuple(m[0] for m in maps))] if flat else [*(Dims(tuple(m)) for m in maps), Dims(())]
    )
    record = ParallelLayouts((Dims(tuple(matrix)),), tuple(lists), (), (), 0, 0, 0)
    found = layout_from(record, expected["rank_list"]).to_dict()
    assert json.loads(json.dumps(found)) == expected
    assert repr(dtype.float32) == kind


def test_metadata_of_nothing():
    """Without a program the answers are the original's."""
    assert {n for n in dir(strategy) if not n.startswith("_")} == set(RECORDED["names"])
    cell = nn.Dense(2, 2)
    answers = [
        strategy.enable_save_strategy_online(),
        strategy.clear_strategy_metadata(),
        strategy.get_strategy_metadata(cell),
        strategy.get_strategy_metadata(cell, 7),
        strategy.get_current_strategy_metadata(cell),
    ]
    assert answers == RECORDED["nothing"]
    for wrong, name in zip((1, "x", None), RECORDED["errors"], strict=True):
        for ask in (strategy.get_strategy_metadata, strategy.get_current_strategy_metadata):
            with pytest.raises(AttributeError, match="must be a Cell") as caught:
                ask(wrong)
            assert type(caught.value).__name__ == name
    types = (dtype.float16, dtype.bfloat16, dtype.int32, dtype.bool_)
    assert list(map(repr, types)) == RECORDED["types"]


def entry(matrix, places, shape, ranks=range(8), kind="mindspore.float32"):
    """Give the metadata of a Parameter."""
    layout = {
        "device_matrix": matrix,
        "tensor_map": places,
        "interleaved_parallel": False,
        "alias_name": list("abc"[: len(matrix)]),
        "rank_list": list(ranks),
    }
    return [layout, kind, shape]


def test_metadata_of_programs():
    """Layouts of programs that are compiled once it is enabled, on every rank."""
    (found,) = on_eight_devices("tests.parallel.strategy_metadata", limit=200)
    expected = {}
    for i in range(2):
        expected[f"blocks.{i}.scale"] = entry([8], [-1], [8])
        expected[f"blocks.{i}.w1"] = entry([2, 4], [-1, 0], [8, 16])
        expected[f"blocks.{i}.w2"] = entry([2, 4], [0, -1], [16, 8])
    nothing = [None, None]
    assert found == {
        "before it is enabled": nothing,
        "before it is compiled": nothing,
        "here": {"0": expected},
        "rank 5": {"5": expected},
        "of a block": {"5": expected},
        "ranks": list(range(8)),
        "compiled before": nothing,
        "of the same Parameters": nothing,
        "not compiled around it": nothing,
        "compiled around it": {"0": {f"0.{name}": one for name, one in expected.items()}},
        "no rank": found["no rank"],
        "cleared": nothing,
        "data parallel": nothing,
    }
    assert "no rank 8" in found["no rank"]


@pytest.mark.slow
def test_metadata_of_what_is_shared():
    """Optimizer parallelism cuts over all ranks of a stage; a rank has its stage's Parameters."""
    (found,) = on_eight_devices("tests.parallel.strategy_metadata", "shared", limit=200)
    for rank in (0, 7):
        for stages in (1, 2):
            ranks = range(8) if stages == 1 else range(4) if rank < 4 else range(4, 8)
            (entries,) = found[f"{stages}, rank {rank}"].values()
            names = ["first.w", "second.w"] if stages == 1 else [("first.w", "second.w")[rank // 4]]
            cut = {n for n in entries if n.endswith(".w")}
            assert cut == {f"{kind}{n}" for n in names for kind in ("", "moments.")}
            # The contracted dimension is cut by neighbours, then by those that share.
            shared = entry([len(ranks) // 2, 2], [[0, 1], -1], [16, 16], ranks)
            assert all(entries[n] == shared for n in cut)
            whole = entry([len(ranks)], [-1], [1], ranks, "mindspore.int32")
            assert entries["global_step"] == whole
