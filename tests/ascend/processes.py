"""Starts Python with the platform ascend: a process has one set of platforms for its life."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def environment(**settings):
    """Give the environment of a process that has the platforms ascend and cpu."""
    paths = (ROOT / "backends/ascend_xla", ROOT, ROOT / "parallel")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("MINDJAX_ASCEND_")}
    for kept in ("CACHE", "FLAGS", "DRIVER", "ACL", "OPAPI"):
        if f"MINDJAX_ASCEND_{kept}" in os.environ:
            inherited[f"MINDJAX_ASCEND_{kept}"] = os.environ[f"MINDJAX_ASCEND_{kept}"]
    return {
        **inherited,
        "JAX_PLATFORMS": "ascend,cpu",
        "PYTHONPATH": os.pathsep.join(str(p) for p in paths),
        "JAX_ENABLE_COMPILATION_CACHE": "0",
        **settings,
    }


def run_python(*arguments, text="", timeout=300, check=True, **settings):
    """Run Python to its end; a failure shows what it wrote, or adds it where nothing checks."""
    done = subprocess.run(
        [sys.executable, *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=ROOT,
        env=environment(**settings),
    )
    if done.returncode == 0:
        return done.stdout
    assert not check, (done.stdout + done.stderr)[-3000:]
    return f"{done.stdout}\nfailed: {done.stderr[-3000:]}"
