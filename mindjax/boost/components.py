"""The main directions in which weights moved, from checkpoints: the matrix of `DimReduce`."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from mindjax.checkpoint import load_checkpoint
from mindjax.core.errors import located
from mindjax.nn.cell import Cell

Array = np.ndarray[Any, Any]


def components(data: Array, count: int) -> Array:
    """Give the main directions of points, each with its greatest entry of the points positive.

    Args:
        data: points (samples, features).
        count: number of directions.

    Raises:
        ValueError: there are fewer points than directions.
    """
    if len(data) < count:
        raise located(ValueError, f"The samples: {len(data)} is less than: n_component {count}.")
    points = data - data.mean(0)
    _, _, directions = np.linalg.svd(points, full_matrices=False)
    directions = directions[:count]
    largest = np.abs(directions).argmax(1)
    signs = np.sign(directions[np.arange(count), largest])
    return directions * signs[:, None]


def load_weights(folder: str, network: Cell) -> Array:
    """Give the trainable weights of each checkpoint of a folder as a row.

    Args:
        folder: with files ``.ckpt``.
        network: names the weights.
    """
    names = {p.name for p in network.trainable_params()}
    rows = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".ckpt"):
            values = load_checkpoint(os.path.join(folder, name))
            rows.append(
                np.concatenate([v.asnumpy().reshape(-1) for k, v in values.items() if k in names])
            )
    return np.stack(rows)


def prepare_matrix(
    folder: str | None, path: str | None, count: int, network: Cell, rank: int, size: int
) -> str:
    """Make the file of the directions that a process computes with.

    Args:
        folder: with checkpoints.
        path: file ``.npy`` of the directions; None to find them from the checkpoints.
        count: number of directions.
        network: names the weights.
        rank: of this process.
        size: number of processes.

    Returns:
        Its name.

    Raises:
        ValueError: there is neither a file nor a folder.
    """
    if path is not None and path.endswith(".npy") and os.path.isfile(path):
        matrix = np.load(path)
    elif folder is None or not os.path.isdir(folder):
        raise located(
            ValueError, f"The weight_load_dir: {folder} is None / not exists / not directory."
        )
    else:
        path = os.path.join(folder, "pca_mat_temp.npy")
        matrix = components(load_weights(folder, network), count)
        np.save(path, matrix)
    own = count // size
    local = f"{path[:-4]}_rank_{rank}.npy"
    np.save(local, matrix[rank * own : (rank + 1) * own])
    return local


def load_matrix(path: str, timeout: float) -> Array:
    """Read a process's directions, waiting for the file.

    Args:
        path: of the file.
        timeout: seconds to wait.

    Raises:
        RuntimeError: the file does not come.
    """
    end = time.monotonic() + timeout
    while not os.path.exists(path):
        if time.monotonic() > end:
            raise located(
                RuntimeError,
                f"the time of waiting to load local pca mat is larger than {timeout} second.",
            )
        time.sleep(0.1)
    return np.load(path)
