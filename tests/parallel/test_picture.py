"""The picture of devices and parts: what is drawn, from strategy files and from placements."""

import re
import xml.etree.ElementTree as ET

import pytest

from mindjax.__main__ import main
from mindjax.checkpoint.layouts import layout_of
from mindjax.checkpoint.strategy import StrategyFile, write_strategy
from mindjax_parallel.mesh import Placement, mesh_of
from mindjax_parallel.picture import Row, _ranks, _size, alike, draw_placements, picture
from mindjax_parallel.strategy_file import record_of

MESH = mesh_of(tuple(range(8)))
BIG = mesh_of(tuple(range(512)))


def row(name, dims, shape=None, mesh=MESH):
    """Give a row of a placement."""
    size = 4 if shape else 0
    for n in shape or ():
        size *= n
    return Row(name, layout_of(record_of(Placement(dims), mesh)), shape, size)


# Dimensions' axes, the number of parts, the ranks of the first and the last part, what is said.
DRAWN = {
    "whole": (((), ()), 1, "0-7", "whole, 8 copies of each part"),
    "columns": (((), ("d1", "d2")), 4, "0-4/4", "cut into 1 x 4, 2 copies"),
    "rows": ((("d0",), ()), 2, "0-3", "cut into 2 x 1, 4 copies"),
    "both": ((("d0",), ("d1", "d2")), 8, "0", "cut into 2 x 4, 1 copy"),
    "axes that are apart": ((("d0", "d2"), ()), 4, "0-2/2", "cut into 4 x 1, 2 copies"),
    "a vector": ((("d2",),), 2, "0-6/2", "cut into 2, 4 copies"),
    "a number": ((), 1, "0-7", "whole, 8 copies"),
    "three dimensions": ((("d0",), (), ("d1",)), 4, "0-1", "cut into 2 x 1 x 2, 2 copies"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_parameter(name):
    dims, parts, ranks, text = DRAWN[name]
    shape = (16,) * len(dims)
    found = picture([row("w", dims, shape)])
    root = ET.fromstring(found)
    rectangles = root.findall("{http://www.w3.org/2000/svg}rect")
    # White, the devices, the parts.
    assert len(rectangles) == 1 + 8 + parts
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "8 devices"
    assert ranks in texts
    assert any(text in (t or "") for t in texts)
    if shape:
        size = 4 * 16 ** len(dims)
        assert f"{_size(size / parts)} of {_size(size)} on each device" in texts


def test_like_parameters_are_drawn_once():
    rows = [row(f"layers.{i}.w", ((), ("d0",)), (4, 4)) for i in range(5)]
    rows.append(row("layers.5.w", ((), ()), (4, 4)))
    assert [(r.name, r.count) for r in alike(rows)] == [("layers.#.w", 5), ("layers.5.w", 1)]


def test_many_devices():
    axes = BIG.axis_names
    found = picture([row("a<b>&c", (axes[:6], axes[6:]), (1 << 10, 1 << 10), BIG)])
    ET.fromstring(found)
    assert "a&lt;b&gt;&amp;c" in found
    assert found.count("<rect") == 1 + 512 + 16 * 8


RANKS = {"3": [3], "0-3": [0, 1, 2, 3], "0-6/2": [0, 2, 4, 6], "0,1,4": [0, 1, 4]}
RANKS["0.. (6)"] = [0, 1, 4, 5, 8, 9]


@pytest.mark.parametrize("text", RANKS)
def test_ranks(text):
    assert _ranks(RANKS[text]) == text


SIZES = {"12 B": 12, "1.5 kB": 1500, "2 MB": 2e6, "3.25 GB": 3.25e9}


@pytest.mark.parametrize("text", SIZES)
def test_sizes(text):
    assert _size(SIZES[text]) == text


def test_command(tmp_path):
    path, out = str(tmp_path / "strategy.json"), tmp_path / "placements.svg"
    record = record_of(Placement((("d0",), ("d1", "d2"))), MESH)
    write_strategy(path, StrategyFile(1, [], {"w1": record}))
    assert main(["placements", path, str(out)]) == 0
    assert re.search("w1.*cut into 2 x 4", out.read_text(), re.DOTALL)


WRONG = {
    "no file": ("{}/none.ckpt", "no such strategy file"),
    "an empty file": ("{}/empty.ckpt", "should not be empty"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name, tmp_path):
    (tmp_path / "empty.ckpt").write_bytes(b"")
    path, text = WRONG[name]
    with pytest.raises(ValueError, match=text):
        draw_placements(path.format(tmp_path), str(tmp_path / "a.svg"))
    assert not (tmp_path / "a.svg").exists()


def test_command_without_a_file(tmp_path, capsys):
    assert main(["placements", str(tmp_path / "none.ckpt"), str(tmp_path / "a.svg")]) == 2
    assert "no such strategy file" in capsys.readouterr().err
