"""Every example runs and reaches what it is there to show."""

import json
import re
import subprocess
import sys

import pytest

from tests.examples.run import ENVIRONMENT, run_example
from tests.house.source import ROOT


@pytest.mark.parametrize("mode_name", ["graph", pytest.param("pynative", marks=pytest.mark.slow)])
def test_functional_loop(mode_name, digits):
    printed = run_example(
        "lenet5_functional.py", "--mode", mode_name, "--data", digits, "--epochs", 2
    )
    assert float(re.search(r"test accuracy: ([\d.]+)", printed)[1]) > 0.5


def test_jax_interop():
    printed = run_example("jax_interop.py")
    assert "jit and vmap agree: True" in printed
    assert "jax.grad and ms.grad agree: True" in printed
    assert float(re.search(r"training accuracy: ([\d.]+)", printed)[1]) > 0.9


def test_snippet_transforms_from_one_module():
    """The mean is that of ((image / 255) - 0.1307) / 0.3081 over uniform bytes: about 1.2."""
    lines = run_example("snippets/transforms_from_one_module.py").splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("(4, 1, 28, 28) Float32 mean ")
        assert float(line.split()[-1]) == pytest.approx((0.5 - 0.1307) / 0.3081, abs=0.05)


@pytest.mark.parametrize("name", ["optimizer_without_parameters", "fit_with_epochs"])
def test_snippet_trains(name):
    printed = run_example(f"snippets/{name}.py")
    losses = [float(loss) for loss in re.findall(r"loss is ([\d.]+)", printed)]
    assert losses[-1] < losses[0]
    assert float(re.search(r"accuracy: ([\d.]+)", printed)[1]) > 0.7


@pytest.mark.slow
@pytest.mark.parametrize("words", ["ring_attention.py", "ring_attention.py --plain", "moe.py"])
def test_on_eight_devices_as_on_one(words):
    printed = run_example(*words.split(), devices=8)
    first, last = re.findall(r"loss ([\d.]+) to ([\d.]+)", printed)[1]
    assert float(last) < float(first)
    assert float(re.search(r"difference of a loss: ([\de.-]+)", printed)[1]) < 1e-5


def test_examples_for_mindspore_do_not_name_us():
    for path in ["lenet5_mnist.py", "lenet5_functional.py", "snippets/fit_with_epochs.py"]:
        assert "mindjax" not in (ROOT / "examples" / path).read_text()


def test_notebook_is_committed_without_outputs():
    notebook = json.loads((ROOT / "examples/quickstart.ipynb").read_text())
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook["cells"])


def test_notebook_runs(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(ROOT / "examples/quickstart.ipynb", as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    text = "".join(o.get("text", "") for o in outputs if o.output_type == "stream")
    assert float(re.search(r"test accuracy: ([\d.]+)", text)[1]) >= 0.95
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    assert len(pictures) == 2


@pytest.mark.slow
@pytest.mark.parametrize("memory", [40, 32])
def test_planner(memory):
    """The plan fits, and takes less than computing all again; keeping all does not fit."""
    printed = run_example("planner.py", "--memory", memory)
    seconds = [float(x) for x in re.findall(r": ([\d.]+) s a step", printed)]
    kept, _, planned = printed.split(" s a step")[1:]
    assert "does not fit" in kept and "does not fit" not in planned
    assert seconds[0] < seconds[2] < seconds[1]
    assert max(float(x) for x in re.findall(r"([\d.]+) GB", planned)) <= memory


@pytest.mark.slow
def test_llama_of_the_dry_run_trains():
    environment = {k: v for k, v in ENVIRONMENT.items() if k != "XLA_FLAGS"}
    command = [sys.executable, "-m", "mindjax", "run", "--devices", "8"]
    words = ["--size", "tiny", "--tensor", "2", "--shares", "2", "--steps", "4"]
    example = str(ROOT / "examples" / "llama_dryrun.py")
    done = subprocess.run(
        [*command, example, *words], env=environment, capture_output=True, text=True
    )
    losses = [float(x) for x in re.findall(r"loss ([\d.]+)", done.stdout)]
    assert len(losses) == 4 and losses[-1] < losses[0], done.stderr
