"""``mindjax info``: versions, settings and caches, without starting a device."""

from __future__ import annotations

import os
import platform
from importlib import metadata

from mindjax import version
from mindjax.core import caches

PACKAGES = (
    *("jax", "jaxlib", "flax", "optax", "numpy", "scipy", "protobuf", "safetensors"),
    *("mindjax-ascend-xla", "onednn-cpu-gomp"),
)
VARIABLES = ("JAX_PLATFORMS", "JAX_ENABLE_X64", "JAX_COMPILATION_CACHE_DIR", "XLA_FLAGS")


def info() -> int:
    """Print one table of versions, one of environment variables and one of caches.

    Returns:
        The process's exit status.
    """
    rows = [("mindjax", version.mindjax), ("MindSpore API", version.__version__)]
    rows.append(("python", f"{platform.python_version()} on {platform.platform()}"))
    for package in PACKAGES:
        try:
            rows.append((package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            rows.append((package, "not installed"))
    rows += [(name, os.environ[name]) for name in VARIABLES if name in os.environ]
    for name, value in rows:
        print(f"{name:<26}{value}")
    print(f"\n{'cache':<26}{'size':>8}{'limit':>8}{'hits':>10}{'misses':>10}")
    for name, (size, limit, hits, misses) in sorted(caches.report().items()):
        print(f"{name:<26}{size:>8}{limit:>8}{hits:>10}{misses:>10}")
    return 0
