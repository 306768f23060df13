"""What a training was made of: network, loss, optimizer, data, checkpoint, results."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mindjax.nn.cell import Cell
from mindjax.nn.loss.loss import LossBase
from mindjax.nn.optim.optimizer import Optimizer
from mindjax.tensor import Parameter
from mindjax.train.callback.checkpoint import ModelCheckpoint

# Attributes of datasets that name their files.
_PATHS = ("dataset_dir", "dataset_file", "dataset_files")


def train_lineage(params: Mapping[str, Any], loss: float | None) -> dict[str, Any]:
    """Describe a training that has ended.

    Args:
        params: what callbacks see.
        loss: the last loss.

    Returns:
        The original's names, and numbers or strings; what is not known is left out.
    """
    optimizer = optimizer_of(params)
    loss_fn = _loss_of(params)
    checkpoint = _checkpoint_of(params)
    found = {
        "train_network": type(params["network"]).__name__,
        "loss_function": type(loss_fn).__name__ if loss_fn is not None else None,
        "optimizer": type(optimizer).__name__ if optimizer is not None else None,
        "learning_rate": _learning_rate(optimizer),
        "epoch": params["epoch_num"],
        "step_num": params["cur_step_num"],
        "parallel_mode": params.get("parallel_mode"),
        "device_num": params.get("device_number"),
        "model_path": checkpoint,
        "model_size": os.path.getsize(checkpoint) if checkpoint else 0,
        "loss": loss,
        **_data("train", params.get("train_dataset")),
    }
    return {name: value for name, value in found.items() if value is not None}


def eval_lineage(params: Mapping[str, Any]) -> dict[str, Any]:
    """Describe an evaluation that has ended: its metrics and its data."""
    metrics = {f"metrics/{k}": v for k, v in numbers(params.get("metrics") or {}).items()}
    data = _data("valid", params.get("valid_dataset"))
    return {**metrics, **{k: v for k, v in data.items() if k != "batch_size" and v is not None}}


def numbers(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Choose the metrics that are one number each."""
    found: dict[str, float] = {}
    for name, value in metrics.items():
        array = np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)
        if array.size == 1 and array.dtype.kind in "bifu":
            found[name] = float(array.reshape(-1)[0])
    return found


def dataset_graph(dataset: Any) -> dict[str, Any]:
    """Describe a pipeline, from its last operation to its sources."""
    return {f"{i} {name}": settings for i, (name, settings) in enumerate(_nodes(dataset))}


def _nodes(dataset: Any) -> Iterator[tuple[str, str]]:
    settings = {
        name: value
        for name, value in vars(dataset).items()
        if not name.startswith("_") and isinstance(value, bool | int | float | str)
    }
    yield type(dataset).__name__, ", ".join(f"{k}={v}" for k, v in settings.items())
    for child in getattr(dataset, "children", ()):
        yield from _nodes(child)


def optimizer_of(params: Mapping[str, Any]) -> Optimizer | None:
    """Find the optimizer: the model's, or the one within the network."""
    optimizer = params.get("optimizer")
    if optimizer is None:
        found = (c for c in _cells(params) if isinstance(c, Optimizer))
        optimizer = next(found, None)
    return optimizer if isinstance(optimizer, Optimizer) else None


def _cells(params: Mapping[str, Any]) -> Iterator[Cell]:
    name = "eval_network" if params.get("mode") == "eval" else "train_network"
    network = params.get(name)
    if isinstance(network, Cell):
        yield from (cell for _, cell in network.cells_and_names())


def _loss_of(params: Mapping[str, Any]) -> Any:
    if params.get("loss_fn") is not None:
        return params["loss_fn"]
    return next((c for c in _cells(params) if isinstance(c, LossBase)), None)


def _learning_rate(optimizer: Optimizer | None) -> float | None:
    rate = getattr(optimizer, "learning_rate", None)
    return float(rate.asnumpy().reshape(-1)[0]) if isinstance(rate, Parameter) else None


def _checkpoint_of(params: Mapping[str, Any]) -> str | None:
    names = [
        callback.latest_ckpt_file_name
        for callback in params.get("list_callback") or ()
        if isinstance(callback, ModelCheckpoint)
    ]
    return os.path.realpath(names[-1]) if names and names[-1] else None


def _data(kind: str, dataset: Any) -> dict[str, Any]:
    batch = getattr(dataset, "get_batch_size", lambda: None)()
    count = getattr(dataset, "get_dataset_size", lambda: None)()
    return {
        f"{kind}_dataset_path": _path(dataset),
        f"{kind}_dataset_size": count * batch if batch and count else None,
        "batch_size": batch,
    }


def _path(dataset: Any) -> str | None:
    for name in _PATHS:
        value = getattr(dataset, name, None)
        if isinstance(value, list | tuple) and value:
            value = value[0]
        if isinstance(value, str | os.PathLike):
            path = os.fspath(value)
            return os.path.dirname(path) if os.path.isfile(path) else path
    for child in getattr(dataset, "children", ()):
        if (found := _path(child)) is not None:
            return found
    return None
