"""`mindjax export` and `mindjax inspect`, run as a user runs them."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from mindjax.__main__ import main
from mindjax.mindrecord import FileWriter
from tests.cli.test_commands import mindjax
from tests.house.source import ROOT

GOLDENS = ROOT / "tests" / "goldens"
NETS = '''
import mindspore as ms
from mindspore import nn


class Net(nn.Cell):
    """One layer."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)

    def construct(self, x):
        return self.dense(x)


def make():
    return Net()


number = 3
'''


def status(*words):
    """Run a command in this process and give its exit status."""
    try:
        return main(words)
    except SystemExit as left:
        return left.code


INSPECTED = {
    "mindir/while.mindir": ["MindIR", "made by MindSpore, dialect 3", "graphs: 4, 1 of them loops",
                            "MatMul", "fc.weight", "parameters: 20 numbers in 80 bytes"],
    "ckpt/net-2_4.ckpt": ["checkpoint", "fc1.weight", "245 numbers"],
    "ckpt/crc.ckpt": ["check sum: yes"],
    "ckpt/sf-2_4.safetensors": ["safetensors", "metadata format: ms", "242 numbers"],
}  # fmt: skip


@pytest.mark.parametrize("name", INSPECTED)
def test_inspect(name):
    done = mindjax("inspect", GOLDENS / name)
    assert done.returncode == 0, done.stderr
    for text in INSPECTED[name]:
        assert text in done.stdout


@pytest.mark.slow
def test_inspect_mindrecord(tmp_path):
    """A file whose name says nothing, one that is cut off, and one that is encrypted."""
    path = tmp_path / "rows"
    writer = FileWriter(str(path))
    writer.add_schema({"n": {"type": "int32"}, "x": {"type": "float32", "shape": [-1, 2]}}, "what")
    writer.write_raw_data([{"n": n, "x": np.zeros((n, 2), np.float32)} for n in range(1, 4)])
    writer.commit()
    shown = mindjax("inspect", path).stdout
    for words in ("MindRecord", "rows: 3", "description: what", "float32  ?x2", "index fields: n"):
        assert words in shown
    (tmp_path / "rows.db").unlink()
    assert "its index is missing" in mindjax("inspect", path).stdout
    path.write_bytes(path.read_bytes()[:100])
    assert status("inspect", str(path)) == 2


def test_inspect_draws(tmp_path):
    picture = tmp_path / "net.svg"
    done = mindjax("inspect", GOLDENS / "mindir/if.mindir", "--graph", picture)
    assert done.returncode == 0, done.stderr
    root = ET.parse(picture).getroot()
    labels = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"ReLU", "Switch", "MatMul", "Load fc.weight"} & set(labels) >= {"ReLU", "Switch"}
    assert len(list(root.iter("{http://www.w3.org/2000/svg}line"))) > 10


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", []),
        (b"plain text that is nothing else", []),
        (b"\x0a\x03" + bytes(50), []),
        (None, []),
        ((GOLDENS / "ckpt/crc.ckpt").read_bytes(), ["--graph", "out.svg"]),
    ],
)
def test_inspect_refuses(content, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / ("file.ckpt" if words else "file.bin")
    if content is not None:
        path.write_bytes(content)
    assert status("inspect", str(path), *words) == 2
    said = capsys.readouterr().err
    assert said.startswith("mindjax: ")
    assert "Traceback" not in said
    assert not (tmp_path / "out.svg").exists()


@pytest.mark.slow
def test_export_of_a_script_and_of_a_file(tmp_path):
    (tmp_path / "nets.py").write_text(NETS)
    first = mindjax("export", "nets.py:Net", "--input", "2x4", "--out", "net.mindir", cwd=tmp_path)
    assert (first.returncode, first.stdout) == (0, "nets.py:Net exported to net.mindir\n")
    second = mindjax("export", "net.mindir", cwd=tmp_path)
    assert (second.returncode, second.stdout) == (0, "net.mindir exported to net.stablehlo\n")
    shown = mindjax("inspect", "net.stablehlo", cwd=tmp_path).stdout
    assert "StableHLO artifact" in shown
    assert "dot_general" in shown
    import mindjax as ms

    x = ms.Tensor(np.ones((2, 4), np.float32))
    net = ms.nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
    found = ms.load_stablehlo(str(tmp_path / "net.stablehlo"))(x)
    np.testing.assert_allclose(found.asnumpy(), net(x).asnumpy(), atol=1e-6)


def test_export_to_onnx_and_back(tmp_path, monkeypatch, capsys):
    pytest.importorskip("onnx")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets.py").write_text(NETS)
    assert status("export", "nets.py:Net", "--input", "2x4", "--out", "net.onnx") == 0
    assert status("export", "net.onnx", "--out", "net.mindir") == 0
    assert status("inspect", "net.onnx", "--graph", "net.svg") == 0
    said = capsys.readouterr().out
    for text in ("made by MindJAX", "opset 17", "x  2x4  float32", "MatMul", "dense.weight"):
        assert text in said
    assert "MatMul" in (tmp_path / "net.svg").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ["nets.py", "--input", "2x4"],
        ["nets.py:number", "--input", "2x4"],
        ["nets.py:make", "--input", "2x?"],
        ["nets.py:make", "--input", "2x4", "--ckpt", "missing.ckpt"],
        ["missing.mindir"],
        ["missing.py:Net"],
    ],
)
def test_export_refuses(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets.py").write_text(NETS)
    assert status("export", *words, "--out", "out.stablehlo") == 2
    assert "Traceback" not in capsys.readouterr().err
    assert not (tmp_path / "out.stablehlo").exists()
