"""Networks exchanged with the real MindSpore: each side runs what the other one wrote."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mindjax as ms
from tests.house.source import ROOT
from tests.mindir.networks import NETWORKS, flat, tensors
from tests.mindir.test_load import FOLDER

pytestmark = [pytest.mark.oracle, pytest.mark.slow]

SCRIPT = str(Path(__file__).with_name("exchange.py"))
CASES = (
    "lenet5", "resnet18", "encoder", "decoder", "volumes", "lstm", "branch", "while", "bert_tiny",
    "llama_tiny", "llama_cached", "lenet5_step", "lenet5_adam",
)  # fmt: skip
GOLDENS = ("mlp", "lenet", "trans", "lstm", "if", "while", "dyn")


def original(*words, cwd):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"GLOG_v": "3"}
    done = subprocess.run(
        [os.environ["MINDJAX_ORACLE_PYTHON"], SCRIPT, *map(str, words)],
        cwd=cwd, env=environment, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


def ours(*words, cwd):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'parallel'}"}
    done = subprocess.run(
        [sys.executable, SCRIPT, "--mindjax", *map(str, words)],
        cwd=cwd, env=environment, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


def results(path):
    with np.load(path) as file:
        names = sorted((f for f in file.files if f[0] == "o"), key=lambda f: int(f[1:]))
        return [file[f] for f in names]


def assert_same(first, second, names):
    for name in names:
        pairs = zip(results(first / f"{name}.npz"), results(second / f"{name}.npz"), strict=True)
        for value, expected in pairs:
            assert value.shape == expected.shape
            scale = max(1.0, float(np.abs(expected.astype(np.float64)).max(initial=0)))
            np.testing.assert_allclose(value, expected, rtol=0, atol=1e-5 * scale, err_msg=name)


def folders(tmp_path, *names):
    made = [tmp_path / name for name in names]
    for folder in made:
        folder.mkdir()
    return made


def test_original_to_us_to_original(tmp_path):
    theirs, here, back = folders(tmp_path, "theirs", "here", "back")
    original("make", theirs, cwd=tmp_path)
    ours("run", theirs, here, cwd=tmp_path)
    assert_same(here, theirs, CASES)
    original("run", here, back, cwd=tmp_path)
    assert_same(back, theirs, CASES)


def test_us_to_original_to_us(tmp_path):
    own, theirs, back = folders(tmp_path, "own", "theirs", "back")
    ours("make", own, cwd=tmp_path)
    original("run", own, theirs, cwd=tmp_path)
    assert_same(theirs, own, CASES)
    assert {path.stem for path in theirs.glob("*.mindir")} == set(CASES)
    ours("run", theirs, back, cwd=tmp_path)
    assert_same(back, own, CASES)


@pytest.mark.parametrize("dialect", [1, 3])
def test_small_networks(dialect, tmp_path):
    own, theirs = folders(tmp_path, "own", "theirs")
    for name, make in NETWORKS.items():
        ms.set_seed(1)
        network, inputs = make()
        ms.export(
            network, *tensors(inputs), file_name=str(own / name), file_format="MINDIR",
            dialect=dialect,
        )  # fmt: skip
        ms.set_context(mode=ms.GRAPH_MODE)
        arrays = [a for x in inputs for a in (x if isinstance(x, tuple) else [x])]
        values = [a for _ in range(2) for a in flat(network(*tensors(inputs)))]
        save(own / f"{name}.npz", arrays, values)
    original("run", own, theirs, cwd=tmp_path)
    assert_same(theirs, own, NETWORKS)


def save(path, inputs, values):
    np.savez(
        path, **{f"i{k}": a for k, a in enumerate(inputs)},
        **{f"o{k}": a for k, a in enumerate(values)},
    )  # fmt: skip


@pytest.mark.parametrize("options", ["plain", "AES-GCM", "AES-CBC", "SM4-CBC"])
def test_goldens_exported_again(options, tmp_path, monkeypatch):
    """What the original exported, exported from here in one file and in several, encrypted."""
    monkeypatch.setattr("mindjax.mindir.write.TOGETHER_BYTES", 0)
    sealed = {} if options == "plain" else {"enc_key": b"0123456789abcdef", "enc_mode": options}
    opened = {k.replace("enc", "dec"): v for k, v in sealed.items()}
    program = ["import sys, numpy as np, mindspore as ms", "from mindspore import nn"]
    for name in GOLDENS:
        with np.load(FOLDER / f"{name}_io.npz") as file:
            inputs = [file[f"i{k}"] for k in range(sum(f[0] == "i" for f in file.files))]
        net = ms.nn.GraphCell(ms.load(str(FOLDER / f"{name}.mindir")))
        path = str(tmp_path / name)
        ms.export(net, *map(ms.Tensor, inputs), file_name=path, file_format="MINDIR", **sealed)
        single = not ms.load(str(FOLDER / f"{name}.mindir")).parameters
        path += ".mindir" if single else "_graph.mindir"
        program += [
            f"z = np.load({str(FOLDER / f'{name}_io.npz')!r})",
            f"net = nn.GraphCell(ms.load({path!r}, **{opened!r}))",
            f"out = net(*[ms.Tensor(z[f'i{{k}}']) for k in range({len(inputs)})])",
            "out = out if isinstance(out, tuple) else (out,)",
            "for k, o in enumerate(out):",
            f"    assert np.abs(o.asnumpy() - z[f'o{{k}}']).max() < 1e-5, {name!r}",
        ]
    done = subprocess.run(
        [os.environ["MINDJAX_ORACLE_PYTHON"], "-c", "\n".join(program)],
        cwd=tmp_path, env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
