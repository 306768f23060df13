"""``SummaryCollector``: loss, weights, images, graph and lineage of a training for TensorBoard."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mindjax.checkpoint.save import save_checkpoint
from mindjax.core.checks import of_type
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.tensor import Tensor
from mindjax.train.callback.base import Callback, RunContext
from mindjax.train.summary.landscape import INTERVALS, check_landscape
from mindjax.train.summary.lineage import (
    dataset_graph,
    eval_lineage,
    numbers,
    optimizer_of,
    train_lineage,
)
from mindjax.train.summary.record import SummaryRecord, check_export_options, make_folder

logger = logging.getLogger("mindjax")

_DEFAULTS: dict[str, Any] = {
    "collect_metric": True,
    "collect_graph": True,
    "collect_train_lineage": True,
    "collect_eval_lineage": True,
    "collect_input_data": True,
    "collect_dataset_graph": True,
    "histogram_regular": None,
    "collect_landscape": {
        "landscape_size": 40,
        "unit": "step",
        "num_samples": 2048,
        "create_landscape": {"train": True, "result": True},
        "intervals": INTERVALS,
    },
}
_HISTOGRAMS = 5
_TENSOR_STEPS = 20
_CONFIG = "MINDINSIGHT_HYPER_CONFIG"


class SummaryCollector(Callback):
    """Collects what is common to trainings, and what summary ops are given, for TensorBoard.

    Scalars are ``loss/auto`` and, of evaluations, ``metrics/NAME/auto``; histograms
    ``PARAMETER/auto``; images ``input_data/auto``. Steps that are not collected wait for nothing.

    Args:
        summary_dir: folder of the file of events.
        collect_freq: steps, with data sinking epochs, between two collections; the first step is
            always collected.
        num_process: processes of the original's; here one thread writes.
        collect_specified_data: what is collected, by name: ``collect_metric``, ``collect_graph``,
            ``collect_train_lineage``, ``collect_eval_lineage``, ``collect_input_data``,
            ``collect_dataset_graph`` (bools), ``histogram_regular`` (regular expression of
            Parameters' names; None for the optimizer's first five) and ``collect_landscape`` (see
            `SummaryLandscape`; None for no landscape. The default keeps checkpoints of the first 19
            steps in ``ckpt_dir``).
        keep_default_action: whether what is not specified is collected as by default.
        custom_lineage_data: names and numbers or strings, further hyper-parameters.
        collect_tensor_freq: the same as ``collect_freq`` for ``ops.TensorSummary``; None collects
            about 20 times.
        max_file_size: bytes that the file may have.
        export_options: see `SummaryRecord`.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument has the wrong value.

    MindSpore: ``mindspore.SummaryCollector``.
    """

    def __init__(
        self,
        summary_dir: str,
        collect_freq: int = 10,
        num_process: int = 32,
        collect_specified_data: dict[str, Any] | None = None,
        keep_default_action: bool = True,
        custom_lineage_data: dict[str, Any] | None = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
        export_options: dict[str, str | None] | None = None,
    ) -> None:
        super().__init__()
        self._summary_dir = make_folder("summary_dir", summary_dir)
        self._collect_freq = _positive("collect_freq", collect_freq)
        self._collect_tensor_freq = _positive("collect_tensor_freq", collect_tensor_freq, True)
        self._max_file_size = _positive("max_file_size", max_file_size, True)
        self._export_options = check_export_options(export_options)
        of_type("keep_default_action", keep_default_action, bool, "SummaryCollector")
        self._wanted = _specified(collect_specified_data, keep_default_action)
        landscape = self._wanted.get("collect_landscape")
        of_type("collect_landscape", landscape, (dict, type(None)), "SummaryCollector")
        self._landscape = {}
        if landscape:
            check_landscape(landscape, "SummaryCollector")
            self._landscape = {**_DEFAULTS["collect_landscape"], **landscape}
            make_folder("summary_dir", str(self._checkpoints))
        if custom_lineage_data is not None:
            _check_custom(custom_lineage_data)
        self._custom = {**_from_environment(), **(custom_lineage_data or {})}
        self._record: SummaryRecord | None = None
        self._sinks, self._first = True, True
        self._saved_graph = self._saved_custom = False
        self._tensor_steps: range | list[int] = range(0)
        self._checkpoint_files: dict[str, str] = {}
        self._last_step = 0

    @property
    def _checkpoints(self) -> Path:
        return self._summary_dir / "ckpt_dir"

    def __enter__(self) -> SummaryCollector:
        self._record = SummaryRecord(
            str(self._summary_dir),
            max_file_size=self._max_file_size,
            export_options=self._export_options or None,
        )
        self._first, self._sinks = True, True
        return self

    def __exit__(self, *error: Any) -> None:
        record, self._record = self._record, None
        if record is not None:
            record.close()

    @property
    def _open_record(self) -> SummaryRecord:
        if self._record is None:
            raise located(
                RuntimeError,
                "For 'SummaryCollector', no file is open: pass the callback to Model.train, or "
                "enter it with 'with'.",
            )
        return self._record

    def begin(self, run_context: RunContext) -> None:
        """Get ready for training or evaluation.

        Raises:
            ValueError: there is a second collector among the callbacks.
        """
        params = run_context.original_args()
        callbacks = params.get("list_callback") or []
        if sum(isinstance(c, SummaryCollector) for c in callbacks) > 1:
            raise located(
                ValueError,
                "There are more than one SummaryCollector instance in callback list, but expected "
                "only one SummaryCollector instance.",
            )
        self._open_record.set_mode(params.mode)
        self._sinks = bool(params.get("dataset_sink_mode"))

    def step_end(self, run_context: RunContext) -> None:
        """Collect if it is time."""
        params = run_context.original_args()
        if params.mode != "train":
            return
        record = self._open_record
        self._last_step = params.cur_step_num
        if not self._saved_graph:
            self._saved_graph = True
            self._collect_graphs(params)
        if self._custom and not self._saved_custom:
            self._saved_custom = True
            record.add_value("custom_lineage_data", "custom_lineage_data", self._custom)
            self._record_added(self._last_step)
        if not self._sinks:
            self._collect(params)
        if self._landscape.get("unit") == "step":
            self._keep_weights(params, params.cur_step_num)

    def epoch_end(self, run_context: RunContext) -> None:
        """Collect if it is time, and bring everything to the disk."""
        params = run_context.original_args()
        record = self._open_record
        if params.mode == "train":
            self._collect_metrics(params)
            if self._sinks:
                self._collect(params)
            if self._landscape.get("unit") == "epoch":
                self._keep_weights(params, params.cur_epoch_num)
        record.flush()

    def end(self, run_context: RunContext) -> None:
        """Write the lineage."""
        params = run_context.original_args()
        record = self._open_record
        if params.mode == "train":
            if self._wanted.get("collect_train_lineage"):
                loss = self._loss(params)
                value = None if loss is None else float(loss.asnumpy())
                record.add_value("train_lineage", "train_lineage", train_lineage(params, value))
        else:
            self._collect_metrics(params)
            if self._wanted.get("collect_eval_lineage"):
                record.add_value("eval_lineage", "eval_lineage", eval_lineage(params))
        # What summary ops were given since the last collection is no step's.
        record.set_mode("eval")
        record.record(self._last_step)
        if params.mode == "train" and self._landscape:
            self._save_metadata(params.batch_num)

    def _collect(self, params: Any) -> None:
        """Collect of this step what it is time for."""
        current = params.cur_epoch_num if self._sinks else params.cur_step_num
        if self._first:
            self._first = False
            self._tensor_steps = self._plan_tensors(params)
            self._collect_now(params, None)
            self._open_record.flush()
            return
        tensors = current in self._tensor_steps
        if current % self._collect_freq == 0:
            self._collect_now(params, None if tensors else _other_than_tensors)
        elif tensors:
            self._open_record.record(params.cur_step_num, plugin_filter=_tensors_only)

    def _plan_tensors(self, params: Any) -> range:
        total = params.epoch_num * (1 if self._sinks else params.batch_num)
        if self._collect_tensor_freq is not None:
            return range(0, total + 1, self._collect_tensor_freq)
        planned = range(0, total + 1, self._collect_freq)
        if len(planned) <= _TENSOR_STEPS:
            return planned
        every = total // (_TENSOR_STEPS - 1)
        if every > 1:
            return range(0, total + 1, every)[:_TENSOR_STEPS]
        return range(0, total + 1)[: _TENSOR_STEPS + 1]

    def _collect_now(self, params: Any, plugin_filter: Callable[[str], bool] | None) -> None:
        record = self._open_record
        self._collect_input(params)
        if self._wanted.get("collect_metric"):
            loss = self._loss(params)
            if loss is not None:
                record.add_value("scalar", "loss/auto", loss)
        self._collect_histograms(params)
        record.record(params.cur_step_num, plugin_filter=plugin_filter)

    def _collect_graphs(self, params: Any) -> None:
        record = self._open_record
        if self._wanted.get("collect_graph") and isinstance(params.train_network, Cell):
            record.add_value("graph", "train_network/auto", params.train_network)
        if self._wanted.get("collect_dataset_graph"):
            graph = dataset_graph(params.train_dataset)
            record.add_value("dataset_graph", "train_dataset", graph)
        # The step's own values come with its collection: nothing is taken here.
        self._record_added(params.cur_step_num)

    def _collect_input(self, params: Any) -> None:
        if not self._wanted.get("collect_input_data"):
            return
        element = params.get("train_dataset_element")
        if isinstance(element, list | tuple) and element:
            element = element[0]
        if not isinstance(element, Tensor) or element.ndim != 4 or element.shape[1] not in (1, 3):
            logger.warning("The input of the network is no image, so it is not collected.")
            self._wanted["collect_input_data"] = False
            return
        self._open_record.add_value("image", "input_data/auto", element)

    def _collect_metrics(self, params: Any) -> None:
        """Collect what an evaluation gave, in ``Model.fit`` or ``Model.eval``."""
        metrics = numbers(params.get("metrics") or {})
        if not metrics or not self._wanted.get("collect_metric"):
            return
        record = self._open_record
        for name, value in metrics.items():
            record.add_value("scalar", f"metrics/{name}/auto", Tensor(np.float32(value)))
        if params.mode == "train":
            self._record_added(self._last_step)

    def _record_added(self, step: int) -> None:
        """Write what was added, and leave what summary ops were given for later."""
        record = self._open_record
        record.set_mode("eval")
        record.record(step)
        record.set_mode("train")

    def _loss(self, params: Any) -> Tensor | None:
        """Give the mean of the network's first output."""
        output = params.get("net_outputs")
        if isinstance(output, list | tuple) and output:
            output = output[0]
        if not isinstance(output, int | float | Tensor):
            if self._wanted.get("collect_metric"):
                logger.warning("No loss is among the network's outputs, so it is not collected.")
                self._wanted["collect_metric"] = False
            return None
        array = output.asnumpy() if isinstance(output, Tensor) else np.asarray(output)
        return Tensor(np.mean(array, dtype=np.float32))

    def _collect_histograms(self, params: Any) -> None:
        if "histogram_regular" not in self._wanted:
            return
        optimizer = optimizer_of(params)
        if optimizer is None:
            logger.warning("No optimizer is found, so histograms of Parameters are not collected.")
            del self._wanted["histogram_regular"]
            return
        pattern = self._wanted["histogram_regular"]
        parameters = list(optimizer.parameters)
        if pattern is None:
            chosen = parameters[:_HISTOGRAMS]
        else:
            chosen = [p for p in parameters if re.match(pattern, p.name)]
        for parameter in chosen:
            if parameter.ndim:
                self._open_record.add_value("histogram", f"{parameter.name}/auto", parameter)

    def _keep_weights(self, params: Any, number: int) -> None:
        """Save the network's weights for a landscape."""
        if not any(number in interval for interval in self._landscape["intervals"]):
            return
        network = params.network
        path = self._checkpoints / f"{type(network).__name__}_{number}_{self._landscape['unit']}"
        save_checkpoint(network, f"{path}.ckpt")
        self._checkpoint_files[str(number)] = f"{path}.ckpt"

    def _save_metadata(self, steps: int) -> None:
        landscape = self._landscape
        groups = {str(i): list(group) for i, group in enumerate(landscape["intervals"])}
        data = {
            "epoch_group": groups,
            "model_params_file_map": self._checkpoint_files,
            "step_per_epoch": steps,
            **{k: landscape[k] for k in ("unit", "num_samples", "landscape_size")},
            "create_landscape": landscape["create_landscape"],
        }
        path = self._checkpoints / "train_metadata.json"
        path.unlink(missing_ok=True)
        path.write_text(json.dumps(data))
        path.chmod(0o400)


def _tensors_only(plugin: str) -> bool:
    return plugin == "tensor"


def _other_than_tensors(plugin: str) -> bool:
    return plugin != "tensor"


def _positive(name: str, value: Any, optional: bool = False) -> Any:
    if optional and value is None:
        return None
    of_type(name, value, int, "SummaryCollector")
    if value <= 0:
        raise located(
            ValueError,
            f'For "SummaryCollector", the value of `{name}` should be greater than 0, but got '
            f"`{value}`.",
        )
    return value


def _specified(data: Any, with_defaults: bool) -> dict[str, Any]:
    """Check ``collect_specified_data`` and complete it."""
    of_type("collect_specified_data", data, (dict, type(None)), "SummaryCollector")
    if data is None:
        return dict(_DEFAULTS) if with_defaults else {}
    for name, value in data.items():
        of_type(str(name), name, str, "SummaryCollector")
        if name not in _DEFAULTS:
            raise located(
                ValueError,
                f'For "SummaryCollector", the keys {{{name!r}}} of `collect_specified_data` are '
                f"unsupported, expect the follow keys: {list(_DEFAULTS)}",
            )
        if name == "histogram_regular":
            of_type(name, value, (str, type(None)), "SummaryCollector")
            _check_pattern(value)
        elif name != "collect_landscape":
            of_type(name, value, bool, "SummaryCollector")
    return {**_DEFAULTS, **data} if with_defaults else dict(data)


def _check_pattern(pattern: str | None) -> None:
    try:
        re.compile(pattern or "")
    except re.error as error:
        raise located(
            ValueError,
            "For `collect_specified_data`, the value of `histogram_regular` is not a valid regular "
            f"expression: {pattern!r}, {error}.",
        ) from error


def _check_custom(data: Any) -> None:
    of_type("custom_lineage_data", data, dict, "SummaryCollector")
    for key, value in data.items():
        of_type(f"custom_lineage_data -> {key}", key, str, "SummaryCollector")
        of_type(f"custom_lineage_data -> {key}", value, (int, str, float), "SummaryCollector")


def _from_environment() -> dict[str, Any]:
    """Read further hyper-parameters from the variable that the original's tuner sets."""
    text = os.environ.get(_CONFIG)
    try:
        found = json.loads(text).get("custom_lineage_data") if text else None
    except (ValueError, AttributeError) as error:
        logger.warning("The variable %s holds no dict as JSON: %s", _CONFIG, error)
        return {}
    return dict(found or {})
