"""The real MindSpore goes on from checkpoints that MindJAX writes while it trains."""

import json
import os
import subprocess

import pytest

import mindjax as ms

ms.install()

from tests.train import scenarios as s  # noqa: E402
from tests.train.compare import close  # noqa: E402

pytestmark = pytest.mark.oracle

RESUME = """
import json, sys
sys.path.insert(0, sys.argv[1])
import scenarios
found = {}
for pair in sys.argv[2:]:
    name, path = pair.split("=")
    found[name] = scenarios.resumed(name, path)
print("JSON" + json.dumps(found))
"""


def test_the_original_resumes_ours(tmp_path, mode):
    """Optimizer state included: both print the same losses from the same file on."""
    paths, expected = {}, {}
    for name in s.OPTIMIZERS:
        paths[name] = str(tmp_path / f"{name}.ckpt")
        model = s.with_optimizer(name)
        model.train(1, s.data())
        ms.save_checkpoint(model.train_network, paths[name], crc_check=True)
        expected[name] = s.resumed(name, paths[name])
    arguments = [f"{name}={path}" for name, path in paths.items()]
    done = subprocess.run(
        [
            os.environ["MINDJAX_ORACLE_PYTHON"],
            "-c",
            RESUME,
            os.path.dirname(s.__file__),
            *arguments,
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("JSON"))
    assert close(json.loads(line[4:]), expected)
