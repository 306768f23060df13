"""The data of the benchmarks: the same arrays for every contestant."""

from __future__ import annotations

from typing import Any

import numpy as np


def batch(workload: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Make one batch of inputs and labels.

    Args:
        workload: ``"lenet5"``, ``"resnet18"``, ``"encoder"``, ``"decoder"``, ``"lstm"``,
            ``"wide_deep"`` or ``"wide_deep_sparse"``.

    Returns:
        Inputs (Float32 images or Int32 tokens) and labels (Int32, Float32 for clicks).
    """
    rng = np.random.default_rng(0)
    if workload == "lenet5":
        return rng.normal(size=(64, 1, 32, 32)).astype("f"), rng.integers(0, 10, 64).astype("i4")
    if workload == "resnet18":
        return rng.normal(size=(16, 3, 32, 32)).astype("f"), rng.integers(0, 10, 16).astype("i4")
    if workload == "lstm":
        return rng.integers(0, 1000, (32, 64)).astype("i4"), rng.integers(0, 10, 32).astype("i4")
    if workload.startswith("wide_deep"):
        return (
            rng.integers(0, 1_000_000, (1024, 26)).astype("i4"),
            rng.integers(0, 2, (1024, 1)).astype("f"),
        )
    tokens = rng.integers(0, 1000, (8 if workload == "encoder" else 4, 128)).astype("i4")
    return tokens, tokens.reshape(-1)
