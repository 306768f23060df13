"""Strategy files: what they hold, and that a program without strategies takes them from there."""

import json
import os
import subprocess
import sys

import pytest

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
