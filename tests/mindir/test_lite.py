"""Networks in the older dialect, converted and run by the real MindSpore Lite 2.0."""

import os
import subprocess

import numpy as np
import pytest

import mindjax as ms
from tests.mindir.networks import NETWORKS, flat, tensors
from tests.mindir.test_oracle import ours, results

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("MINDJAX_LITE_PYTHON" not in os.environ, reason="MINDJAX_LITE_PYTHON"),
]

# Lite's LayerNorm leaves half of its result out on two threads; its inputs are NHWC if not told.
LITE = """
import os
import sys
import mindspore_lite as lite
import numpy as np
path = sys.argv[1]
converter = lite.Converter()
converter.save_type, converter.input_format = lite.ModelType.MINDIR_LITE, lite.Format.NCHW
converter.convert(lite.FmkType.MINDIR, path + ".mindir", path)
context = lite.Context()
context.target, context.cpu.thread_num = ["cpu"], 1
model = lite.Model()
model.build_from_file(path + ".ms", lite.ModelType.MINDIR_LITE, context)
given, inputs = np.load(path + ".npz"), model.get_inputs()
for number, tensor in enumerate(inputs):
    tensor.set_data_from_numpy(np.ascontiguousarray(given["i%d" % number]))
outputs = [t.get_data_to_numpy() for t in model.predict(inputs)]
np.savez(path + "_lite.npz", **{"o%d" % k: v for k, v in enumerate(outputs)})
sys.stdout.flush()
os._exit(0)
"""
SMALL = ("mlp", "convolutions", "condition", "rows", "recurrent", "attention")
# Lite computes GeLU by erf, whatever the network says.
LARGE = {"lenet5": 1e-5, "resnet18": 1e-5, "encoder": 1e-3, "bert_tiny": 1e-5}


def run_in_lite(path, tolerance=1e-5):
    done = subprocess.run(
        [os.environ["MINDJAX_LITE_PYTHON"], "-c", LITE, str(path)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-2000:]
    found = results(f"{path}_lite.npz")
    assert found
    # The file of what is expected may hold a second call's results behind those of the first.
    for value, expected in zip(found, results(f"{path}.npz")[: len(found)], strict=True):
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(
            value.reshape(expected.shape), expected, rtol=0, atol=tolerance * scale
        )


@pytest.mark.parametrize("name", SMALL)
def test_small_networks(name, tmp_path):
    ms.set_seed(1)
    network, inputs = NETWORKS[name]()
    ms.export(
        network, *tensors(inputs), file_name=str(tmp_path / name), file_format="MINDIR", dialect=1
    )
    arrays = [a for x in inputs for a in (x if isinstance(x, tuple) else [x])]
    given = {f"i{k}": a for k, a in enumerate(arrays)}
    expected = flat(network(*tensors(inputs)))
    np.savez(tmp_path / f"{name}.npz", **given, **{f"o{k}": a for k, a in enumerate(expected)})
    run_in_lite(tmp_path / name)


@pytest.mark.parametrize("name", LARGE)
def test_large_networks(name, tmp_path, monkeypatch):
    monkeypatch.setenv("DIALECT", "1")
    ours("make", tmp_path, name, cwd=tmp_path)
    run_in_lite(tmp_path / name, LARGE[name])
