"""`mint` gives what torch gives, where torch has the call: values, dtypes and gradients."""

from __future__ import annotations

import json
from typing import Any

import pytest

import mindjax as ms
from tests.ops.compare import NAMES, differences, float_places, inputs, present, short, weighted
from tests.ops.table import Case, families
from tests.oracle.golden import Reader, stem

RECORDED = json.loads(stem("mint/torch").with_suffix(".json").read_text())
# The original's own meaning, which its goldens show.
OTHERWISE = {
    "abs@c64 [mint.abs]",  # keeps the dtype of complex numbers
    "mse_loss_none [mint.nn.functional.mse_loss(a, b, 'none')]",  # torch's third is `size_average`
}
TABLES = families()
PARTS = 16


def rows() -> list[tuple[Case, int, str]]:
    """List the recorded faces: case, place of the face, key."""
    return [
        (case, index, key)
        for table in TABLES.values()
        for case in table
        for index in present(case)
        for key in [f"{case.name} [{case.faces[index]}]"]
        if key in RECORDED and key not in OTHERWISE
    ]


ROWS = rows()


def gradients(case: Case, face: Any) -> Any:
    """Differentiate a face with respect to its float inputs."""
    found = ms.grad(weighted(face, case), float_places(case))(*inputs(case))
    return found if isinstance(found, tuple) else (found,)


def problems(case: Case, index: int, key: str, reader: Reader) -> list[str]:
    """List in words what differs from torch."""
    entry = reader.index[key]
    face = case.function(index, NAMES)
    found = []
    runs = {"value": lambda: face(*inputs(case)), "gradient": lambda: gradients(case, face)}
    for kind, want in entry.items():
        try:
            found += [f"{key} {kind}: {x}" for x in differences(runs[kind](), want, reader, case)]
        except Exception as error:
            found.append(f"{key} {kind}: {short(error)}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_as_torch(part: int) -> None:
    reader = Reader("mint/torch")
    found = [text for row in ROWS[part::PARTS] for text in problems(*row, reader)]
    assert not found, "\n".join(found)
