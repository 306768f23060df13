"""Both ways with the real MindSpore: it loads what MindJAX writes."""

import json
import os
import subprocess

import ml_dtypes
import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor
from mindjax.checkpoint import ckpt

pytestmark = pytest.mark.oracle

READER = """
import json, sys
import mindspore as ms
out = {}
for path in sys.argv[1:]:
    kind = path.rsplit(".", 1)[1]
    found = ms.load_checkpoint(path, format=kind, crc_check=True)
    out[path] = {
        k: v if isinstance(v, str)
        else [str(v.dtype), list(v.shape), v.astype(ms.float32).asnumpy().ravel().tolist()]
        for k, v in found.items()
    }
print("JSON" + json.dumps(out))
"""
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64", ml_dtypes.bfloat16]


def ask(*paths):
    """Load files with the original."""
    done = subprocess.run(
        [os.environ["MINDJAX_ORACLE_PYTHON"], "-c", READER, *paths],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("JSON"))
    return json.loads(line[4:])


def test_the_original_loads_ours(tmp_path, monkeypatch):
    base = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
    parameters = [
        Parameter(Tensor(base.astype(dtype)), name=f"p{i}") for i, dtype in enumerate(DTYPES)
    ]
    parameters.append(Parameter(Tensor(np.array(7, np.int32)), name="scalar"))
    append = {"epoch_num": 3, "lr": 0.25, "done": True}
    paths = [str(tmp_path / name) for name in ("a.ckpt", "b.ckpt", "c.safetensors")]
    ms.save_checkpoint(parameters, paths[0], append_dict={**append, "who": "nä✓"}, crc_check=True)
    monkeypatch.setattr(ckpt, "SLICE_BYTES", 32)
    ms.save_checkpoint(parameters, paths[1], append_dict=append, crc_check=True)
    del parameters[DTYPES.index(ml_dtypes.bfloat16)]
    ms.save_checkpoint(
        parameters, paths[2], append_dict=append, crc_check=True, format="safetensors"
    )
    for path, found in ask(*paths).items():
        kind = path.rsplit(".", 1)[1]
        ours = ms.load_checkpoint(path, format=kind, crc_check=True)
        assert sorted(found) == sorted(ours)
        for name, value in ours.items():
            if isinstance(value, str):
                assert found[name] == value
                continue
            values = value.asnumpy().astype(np.float32).ravel().tolist()
            assert found[name] == [str(value.dtype), list(value.shape), values]
