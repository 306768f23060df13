"""``SummaryLandscape``: how the loss looks around the path that a training has taken."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindjax.checkpoint.load import load_checkpoint, load_param_into_net
from mindjax.core.checks import of_type
from mindjax.core.errors import located
from mindjax.tensor import Parameter, Tensor
from mindjax.train.dataset_helper import DatasetHelper
from mindjax.train.metrics import get_metrics
from mindjax.train.summary.record import SummaryRecord, make_folder

INTERVALS = [list(range(1, 10)), list(range(10, 20))]
"""The original's default: the steps of two landscapes."""

_KEYS = ("landscape_size", "unit", "num_samples", "create_landscape", "intervals")
_META = ("epoch_group", "model_params_file_map", "step_per_epoch", *_KEYS[:4])
# Share of the path's extent that is shown beyond it.
_MARGIN = 0.2
# Half the extent around a result, in lengths of the weights.
_AROUND = 1.0

Weights = dict[str, np.ndarray[Any, Any]]


class SummaryLandscape:
    """Makes landscapes of the loss from the checkpoints that `SummaryCollector` kept.

    The plane of a training's landscape is spanned by the two principal components of its
    checkpoints, that of its result by two random directions; both have each weight's own length.

    Args:
        summary_dir: folder that was `SummaryCollector`'s.

    MindSpore: ``mindspore.SummaryLandscape``. Source: H. Li and others, Visualizing the Loss
    Landscape of Neural Nets, arXiv 1712.09913.
    """

    def __init__(self, summary_dir: str) -> None:
        self._summary_dir = make_folder("summary_dir", summary_dir)
        self._checkpoints = make_folder("path", os.path.join(summary_dir, "ckpt_dir"))

    def clean_ckpt(self) -> None:
        """Delete the checkpoints."""
        shutil.rmtree(self._checkpoints, ignore_errors=True)

    def gen_landscapes_with_multi_process(
        self,
        callback_fn: Callable[[], tuple[Any, Any, Any, Any]],
        collect_landscape: dict[str, Any] | None = None,
        device_ids: list[int] | None = None,
        output: str | None = None,
    ) -> None:
        """Compute the landscapes and write them to a file of events.

        Args:
            callback_fn: gives the model, its network, a dataset with ``get_batch_size`` and
                ``take``, and the metrics, one of which is called ``"Loss"``.
            collect_landscape: what differs from `SummaryCollector`'s ``collect_landscape``.
            device_ids: devices of the original's processes, 0 to 7; here one process computes.
            output: folder of the file; None for the summary's.

        Raises:
            TypeError: an argument has the wrong type.
            ValueError: an argument has the wrong value.
            FileNotFoundError: `SummaryCollector` has written no ``train_metadata.json`` there.
        """
        _check_devices(device_ids)
        if collect_landscape is not None:
            check_landscape(collect_landscape, "SummaryLandscape")
        settings = self._settings(collect_landscape or {})
        around = _Surroundings(callback_fn, settings["num_samples"], settings["landscape_size"])
        groups = list(settings["epoch_group"].values())
        with SummaryRecord(output if output is not None else str(self._summary_dir)) as record:
            if settings["create_landscape"]["train"]:
                for group in groups:
                    weights = [self._weights(settings, number) for number in group]
                    record.add_value(
                        "landscape", f"landscape_{[group[0], group[-1]]}", around.path(weights)
                    )
                    record.record(0)
                    record.flush()
            if settings["create_landscape"]["result"]:
                last = groups[-1][-1]
                value = around.result(self._weights(settings, last))
                record.add_value("landscape", f"landscape_{[last]}", value)
                record.record(0)

    def _weights(self, settings: Mapping[str, Any], number: int) -> Weights:
        loaded = load_checkpoint(settings["model_params_file_map"][str(number)])
        return {name: parameter.asnumpy() for name, parameter in loaded.items()}

    def _settings(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Read what the collector wrote, and write it back with changes."""
        path = self._checkpoints / "train_metadata.json"
        if not path.exists():
            raise located(
                FileNotFoundError,
                f"For 'SummaryLandscape', train_metadata.json file path of {path} not exists: "
                "train with a SummaryCollector whose 'collect_landscape' is set.",
            )
        data = json.loads(path.read_text())
        data.update({key: value for key, value in changes.items() if key in data})
        if "intervals" in changes:
            data["epoch_group"] = {str(i): g for i, g in enumerate(changes["intervals"])}
        _check_metadata(data)
        if changes:
            _rewrite(path, data)
        return data


def _rewrite(path: Path, data: dict[str, Any]) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(data))
    new.chmod(0o400)
    new.replace(path)


class _Surroundings:
    """Computes the loss at points of a plane of weights."""

    def __init__(self, callback_fn: Callable[[], Any], samples: int, size: int) -> None:
        self._model, self._network, dataset, metrics = callback_fn()
        self._metrics = get_metrics(metrics) or {}
        if "Loss" not in self._metrics:
            raise located(
                ValueError,
                "For 'SummaryLandscape', the metrics that 'callback_fn' gives must have 'Loss', "
                f"but got {list(self._metrics)}.",
            )
        self._dataset = dataset.take(max(1, samples // dataset.get_batch_size()))
        self._size = size

    def path(self, weights: Sequence[Weights]) -> dict[str, Any]:
        """Show the surroundings of a training's path."""
        last = weights[-1]
        flat = np.stack([_flat(w) for w in weights]).astype(np.float64)
        steps = (flat[:-1] - flat[-1]).T
        left, lengths, _ = np.linalg.svd(steps - steps.mean(axis=0), full_matrices=False)
        directions = left[:, :2] * np.maximum(lengths[:2], 1e-19)
        # The sign of a component is free: its largest element is positive.
        largest = np.abs(directions).argmax(axis=0)
        directions *= np.sign(directions[largest, np.arange(directions.shape[1])])
        first = _scaled(last, _unflat(last, directions[:, 0]))
        second = _scaled(last, _unflat(last, directions[:, -1]))
        plane = np.stack([_flat(first), _flat(second)], axis=1)
        places = np.linalg.lstsq(plane, (flat - flat[-1]).T, rcond=None)[0]
        axes = []
        for place in places:
            margin = _MARGIN * (place.max() - place.min())
            axes.append(np.linspace(place.min() - margin, place.max() + margin, self._size))
        z = np.array([self._loss(last, first, second, *place) for place in places.T])
        found = self._grid(last, first, second, *axes)
        found.update(path_x=places[0], path_y=places[1], path_z=z)
        found.update(convergence=np.array([0.0, 0.0, z[-1]]))
        return found

    def result(self, weights: Weights) -> dict[str, Any]:
        """Show the surroundings of a training's result."""
        first, second = (
            _scaled(weights, {n: np.random.normal(size=w.shape) for n, w in weights.items()})
            for _ in range(2)
        )
        axis = np.linspace(-_AROUND, _AROUND, self._size)
        found = self._grid(weights, first, second, axis, axis)
        middle = self._size // 2
        found["convergence"] = np.array([axis[middle], axis[middle], found["z"][middle, middle]])
        return found

    def _grid(self, last: Weights, first: Weights, second: Weights, x: Any, y: Any) -> Any:
        z = [[self._loss(last, first, second, a, b) for a in x] for b in y]
        return {"x": x, "y": y, "z": np.array(z)}

    def _loss(self, last: Weights, first: Weights, second: Weights, a: float, b: float) -> float:
        changed = {
            name: Parameter(
                Tensor((value + a * first[name] + b * second[name]).astype(value.dtype)), name=name
            )
            for name, value in last.items()
            if name in first
        }
        load_param_into_net(self._network, changed)
        network, metric = self._model.train_network, self._metrics["Loss"]
        metric.clear()
        network.set_train(True)
        for row in DatasetHelper(self._dataset, False):
            output = network(*row)
            metric.update(output[0] if isinstance(output, tuple) else output)
        return float(metric.eval())


def _counts(name: str) -> bool:
    """Tell whether a Parameter belongs to the landscape's plane."""
    return ("weight" in name or "bias" in name) and "moment" not in name


def _flat(weights: Weights) -> np.ndarray[Any, Any]:
    return np.concatenate([w.reshape(-1) for n, w in weights.items() if _counts(n)])


def _unflat(like: Weights, vector: np.ndarray[Any, Any]) -> Weights:
    found, at = {}, 0
    for name, value in like.items():
        if _counts(name):
            found[name] = vector[at : at + value.size].reshape(value.shape)
            at += value.size
    return found


def _scaled(like: Weights, direction: Weights) -> Weights:
    """Give each weight's part of a direction the length of the weight."""
    found = {}
    for name, part in direction.items():
        if _counts(name):
            length = float(np.linalg.norm(part))
            found[name] = part * (np.linalg.norm(like[name]) / length if length else 0.0)
    return found


def check_landscape(data: Mapping[str, Any], owner: str) -> None:
    """Check a dict ``collect_landscape``.

    Raises:
        TypeError: a value has the wrong type.
        ValueError: a key or a value is wrong.
    """
    for key in data:
        if key not in _KEYS:
            raise located(
                ValueError,
                f'For "{owner}", the keys {{{key!r}}} of `collect_landscape` are unsupported, '
                f"expect the follow keys: {list(_KEYS)}",
            )
    if "intervals" in data:
        _check_intervals(data["intervals"], owner)
    elif owner == "SummaryCollector":
        raise located(
            TypeError, f"For '{owner}', the 'intervals' of 'collect_landscape' must be a list."
        )
    size = of_type("landscape_size", data.get("landscape_size", 40), int, owner)
    if not 3 <= size <= 256:
        raise located(
            ValueError,
            f'For "{owner}", the "landscape_size" should be between 3 and 256, but got the: {size}',
        )
    unit = of_type("unit", data.get("unit", "step"), str, owner)
    if unit not in ("step", "epoch"):
        raise located(
            ValueError, f'For "{owner}", the "unit" should be step or epoch, but got the: {unit}.'
        )
    of_type("num_samples", data.get("num_samples", 2048), int, owner)
    create = data.get("create_landscape", {"train": True, "result": True})
    for key, value in of_type("create_landscape", create, dict, owner).items():
        if key not in ("train", "result"):
            raise located(
                ValueError,
                f'For "{owner}", the key of "create_landscape" should be in ["train", "result"], '
                f"but got the: {key}.",
            )
        of_type(key, value, bool, owner)


def _check_intervals(intervals: Any, owner: str) -> None:
    for interval in of_type("intervals", intervals, list, owner):
        of_type("each interval in intervals", interval, list, owner)
        if len(interval) < 3:
            raise located(
                ValueError,
                f'For "{owner}", the length of each list in "intervals" should not be less than '
                f"three, but got the: {interval}",
            )
        for number in interval:
            of_type("each value in intervals", number, int, owner)


def _check_metadata(data: Mapping[str, Any]) -> None:
    owner = "SummaryLandscape"
    missing = [key for key in _META if key not in data]
    if missing:
        raise located(ValueError, f'"train_metadata" json file must have the keys {missing}.')
    check_landscape({k: data[k] for k in _KEYS[:4]}, owner)
    for group in data["epoch_group"].values():
        _check_intervals([group], owner)
        for number in group:
            if str(number) not in data["model_params_file_map"]:
                raise located(
                    ValueError,
                    f'For "{owner}", the "model_params_file_map" in train_metadata.json does not '
                    f"exist {number}th checkpoint in intervals.",
                )
    create = data["create_landscape"]
    for key in ("train", "result"):
        if key not in create:
            raise located(
                ValueError,
                f'For "{owner}", the key of "create_landscape" should be train and result, but '
                f"only got the: {list(create)}",
            )


def _check_devices(device_ids: Any) -> None:
    owner = "SummaryLandscape.gen_landscapes_with_multi_process"
    for number in of_type("device_ids", [] if device_ids is None else device_ids, list, owner):
        of_type("device_ids", number, int, owner)
        if not 0 <= number <= 7:
            raise located(
                ValueError,
                f'For "{owner}", the parameter "device_ids" should be between 0 and 7, but got '
                f"{number}.",
            )
