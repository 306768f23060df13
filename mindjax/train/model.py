"""``Model``: a network, its loss and optimizer, trained, evaluated and asked for predictions."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from mindjax.core import checks, world
from mindjax.core.context import get_context, graph_mode
from mindjax.core.errors import located
from mindjax.core.parallel_context import ParallelMode, get_auto_parallel_context
from mindjax.nn.cell import Cell
from mindjax.nn.training.spreading import broadcast_from
from mindjax.tensor import Tensor
from mindjax.train.arguments import (
    OWN_CALLBACKS,
    check_arguments,
    check_methods,
    check_train,
    size_of,
)
from mindjax.train.callback.base import (
    Callback,
    CallbackManager,
    InternalCallbackParam,
    RunContext,
    as_list,
)
from mindjax.train.callback.checkpoint import ModelCheckpoint
from mindjax.train.callback.flops import note_network
from mindjax.train.callback.monitors import LossMonitor, TimeMonitor
from mindjax.train.dataset_helper import DatasetHelper
from mindjax.train.metrics import Loss, Metric, get_metrics
from mindjax.train.networks import boosted, build_eval_network, build_train_network, spread
from mindjax.train.progress import Progress
from mindjax.train.sinking import Outputs, SunkSteps, watches_steps

Callbacks = Callback | list[Callback] | None

# What an evaluation within the training changes of what callbacks see.
_SHARED = ("cur_step_num", "batch_num", "dataset_sink_mode", "dataset_helper", "net_outputs")


class _Validation(NamedTuple):
    """When and on what ``fit`` evaluates."""

    dataset: Any
    frequency: int | list[int]

    def due(self, epoch: int) -> bool:
        if not self.dataset:
            return False
        if isinstance(self.frequency, int):
            return epoch % self.frequency == 0
        return epoch in self.frequency


def _dataset_first(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let ``fit(train_dataset, epochs=5)``, which the original refuses, mean what it says."""

    @functools.wraps(method)
    def fit(self: Model, *args: Any, **kwargs: Any) -> Any:
        if "epochs" in kwargs and "epoch" not in kwargs:
            args = (kwargs.pop("epochs"), *args)
        return method(self, *args, **kwargs)

    return fit


class Model:
    """A network with what its training needs.

    Args:
        network: Cell; it computes the loss itself if ``loss_fn`` is None.
        loss_fn: Cell that takes the network's output and the label.
        optimizer: optimizer. One that was made without Parameters gets the network's trainable
            ones.
        metrics: set of names, or dict of names and metrics, for evaluation.
        eval_network: Cell that returns what the metrics take; by default loss, output and label.
        eval_indexes: positions of loss, prediction and label among the outputs of
            ``eval_network``.
        amp_level: as in `amp.build_train_network`: ``"O0"`` is the network's own precision.
        boost_level: of `boost.AutoBoost`: ``"O0"`` changes nothing.
        **kwargs: ``loss_scale_manager`` (manager or None) and ``keep_batchnorm_fp32`` (bool),
            instead of what the level says; ``boost_config_dict`` of `boost.AutoBoost`;
            ``acc_level``, the old name of ``boost_level``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument has the wrong value.
        NotImplementedError: an argument's value is not supported.

    MindSpore: ``mindspore.train.Model``.
    """

    def __init__(
        self,
        network: Cell,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        eval_network: Cell | None = None,
        eval_indexes: list[int] | None = None,
        amp_level: str = "O0",
        boost_level: str = "O0",
        **kwargs: Any,
    ) -> None:
        check_arguments(network, optimizer, amp_level, boost_level, kwargs)
        if optimizer is not None and getattr(optimizer, "is_bound", True) is False:
            optimizer.bind(network.trainable_params())
        self._network = network
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._loss_scale_manager = kwargs.get("loss_scale_manager")
        self._metric_fns: dict[str, Metric] = get_metrics(metrics) or {}
        self._amp_level, self._boost_level = amp_level, kwargs.get("acc_level", boost_level)
        network, optimizer, eval_network = boosted(
            network, optimizer, eval_network, self._boost_level, kwargs.get("boost_config_dict")
        )
        self._network, self._optimizer = network, optimizer
        self._train_network = spread(
            build_train_network(network, loss_fn, optimizer, amp_level, self._boost_level, kwargs)
        )
        self._eval_network, self._eval_indexes = eval_network, eval_indexes
        if self._metric_fns:
            self._eval_network, self._eval_indexes = build_eval_network(
                network, loss_fn, eval_network, eval_indexes, amp_level in ("O2", "O3", "auto")
            )
        self._eval_network = spread(self._eval_network)
        self._in_training: bool | None = None
        self._sunk: SunkSteps | None = None
        self._sinks = False
        self._current_epoch_num = 0
        self._current_step_num = 0

    @property
    def train_network(self) -> Cell:
        """The Cell that one training step calls."""
        return self._train_network

    @property
    def eval_network(self) -> Cell | None:
        """The Cell that one evaluation step calls."""
        return self._eval_network

    @property
    def predict_network(self) -> Cell:
        """The Cell that ``predict`` calls."""
        return self._network

    def train(
        self,
        epoch: int,
        train_dataset: Any,
        callbacks: Callbacks = None,
        dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train the network.

        Args:
            epoch: number of the last epoch.
            train_dataset: dataset; its rows are (data, label) if there is a ``loss_fn``.
            callbacks: callback or list of callbacks.
            dataset_sink_mode: whether, in GRAPH_MODE, several steps are one program on the device.
                On a CPU callbacks see every step, and one that may change something between steps
                keeps them apart; so does a network that convolves, which loops would slow down.
                Elsewhere an epoch is ``sink_size`` steps, of which callbacks see only the last.
            sink_size: steps of an epoch in sink mode; -1 for the whole dataset.
            initial_epoch: epochs that are done already.

        Raises:
            TypeError: an argument has the wrong type.
            ValueError: an argument has the wrong value, or the dataset is empty.

        MindSpore: ``mindspore.train.Model.train``.
        """
        sink_size = check_train(
            "train", epoch, train_dataset, dataset_sink_mode, sink_size, initial_epoch
        )
        check_methods(callbacks, "train")
        validation = _Validation(None, 1)
        self._run(
            epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch, validation
        )

    @_dataset_first
    def fit(
        self,
        epoch: int,
        train_dataset: Any,
        valid_dataset: Any = None,
        valid_frequency: int | list[int] = 1,
        callbacks: Callbacks = None,
        dataset_sink_mode: bool = False,
        valid_dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train the network and evaluate it after epochs.

        Args:
            epoch: number of the last epoch; ``fit(train_dataset, epochs=5)`` works as well.
            train_dataset: dataset; its rows are (data, label) if there is a ``loss_fn``.
            valid_dataset: dataset for evaluation.
            valid_frequency: epochs between evaluations, or a list of epochs.
            callbacks: callback or list of callbacks.
            dataset_sink_mode: see :meth:`train`.
            valid_dataset_sink_mode: accepted; the results are the same.
            sink_size: see :meth:`train`.
            initial_epoch: epochs that are done already.

        Raises:
            TypeError: an argument has the wrong type.
            ValueError: an argument has the wrong value, or the dataset is empty.

        MindSpore: ``mindspore.train.Model.fit``.
        """
        sink_size = check_train(
            "fit", epoch, train_dataset, dataset_sink_mode, sink_size, initial_epoch
        )
        checks.boolean("valid_dataset_sink_mode", valid_dataset_sink_mode, "Model.fit")
        if not isinstance(valid_frequency, int | list):
            raise located(
                TypeError,
                "For 'Model.fit', the type of 'valid_frequency' must be a list or an integer, but "
                f"got type {type(valid_frequency)}.",
            )
        if valid_dataset and not self._metric_fns:
            raise located(
                ValueError,
                "For 'Model.fit', if valid_dataset is not None, the model argument 'metrics' can "
                "not be None or empty, you should set the argument 'metrics' for model.",
            )
        check_methods(callbacks, "fit")
        validation = _Validation(valid_dataset, valid_frequency)
        self._run(
            epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch, validation
        )

    def eval(
        self, valid_dataset: Any, callbacks: Callbacks = None, dataset_sink_mode: bool = False
    ) -> dict[str, Any]:
        """Compute the metrics over a dataset.

        Args:
            valid_dataset: dataset.
            callbacks: callback or list of callbacks.
            dataset_sink_mode: accepted; the results are the same.

        Returns:
            Names and values of the metrics.

        Raises:
            TypeError: an argument has the wrong type.
            ValueError: the model has no metrics.

        MindSpore: ``mindspore.train.Model.eval``.
        """
        checks.boolean("dataset_sink_mode", dataset_sink_mode, "Model.eval")
        if not self._metric_fns:
            raise located(
                ValueError,
                "For Model.eval, the model argument 'metrics' can not be None or empty, you should "
                "set the argument 'metrics' for model.",
            )
        check_methods(callbacks, "eval")
        params = InternalCallbackParam()
        params.list_callback = as_list(callbacks)
        params.network = self._network
        return self._evaluate(valid_dataset, callbacks, params, with_loss=False)

    def predict(self, *predict_data: Any, backend: str | None = None, config: Any = None) -> Any:
        """Call the network on data, out of training.

        Args:
            *predict_data: the network's inputs: Tensors, or None, int, float, str.
            backend: must be None.
            config: must be None.

        Returns:
            The network's output.

        Raises:
            TypeError: an input has another type.
            ValueError: an input is empty, or ``backend`` is unknown.
            NotImplementedError: ``backend`` is ``"lite"``, or ``config`` is given.

        MindSpore: ``mindspore.train.Model.predict``.
        """
        if backend not in ("lite", None):
            raise located(
                ValueError,
                f"For Model.predict, `backend` should be 'lite' or None, but got {backend}",
            )
        for name, value in (("backend", backend), ("config", config)):
            if value is not None:
                raise located(
                    NotImplementedError,
                    f"For Model.predict, the argument '{name}' is not supported: leave it out.",
                )
        for item in predict_data:
            if isinstance(item, Tensor):
                if item.size == 0:
                    raise located(ValueError, "The input data can not be empty.")
            elif item is not None and not isinstance(item, int | float | str):
                raise located(
                    TypeError,
                    "The types of input data must be in the Union(Tensor, None, int, float, str), "
                    f"but got type {type(item).__name__}.",
                )
        self._set_phase(self._network, train=False)
        return self._network(*predict_data)

    def infer_train_layout(
        self, train_dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1
    ) -> dict[str, Any]:
        """Refuse: layouts belong to parallel modes of several devices.

        Args:
            train_dataset: dataset.
            dataset_sink_mode: whether data sinks.
            sink_size: steps of a sink.

        Raises:
            RuntimeError: always: one process holds every Parameter whole.

        MindSpore: ``mindspore.train.Model.infer_train_layout``.
        """
        raise _no_layout("infer_train_layout")

    def infer_predict_layout(
        self, *predict_data: Any, skip_backend_compile: bool = False
    ) -> dict[str, Any]:
        """Refuse: layouts belong to parallel modes of several devices.

        Args:
            *predict_data: inputs of the network.
            skip_backend_compile: whether only the graph is made.

        Raises:
            RuntimeError: always: one process holds every Parameter whole.

        MindSpore: ``mindspore.train.Model.infer_predict_layout``.
        """
        raise _no_layout("infer_predict_layout")

    def build(
        self,
        train_dataset: Any = None,
        valid_dataset: Any = None,
        sink_size: int = -1,
        epoch: int = 1,
        sink_mode: bool = True,
    ) -> None:
        """Compile the networks for the datasets' rows, so that the first step need not.

        Args:
            train_dataset: dataset whose first row the training network is compiled for.
            valid_dataset: dataset whose first row the evaluation network is compiled for.
            sink_size: accepted; programs are for one step.
            epoch: accepted; programs are for one step.
            sink_mode: accepted; programs are for one step.

        Raises:
            ValueError: both datasets are None.
            RuntimeError: a ``valid_dataset`` is given, but no metrics, or the mode is not
                GRAPH_MODE.

        MindSpore: ``mindspore.train.Model.build``.
        """
        checks.positive_int("epoch", epoch, "Model.build")
        checks.int_at_least("sink_size", sink_size, -1, "Model.build")
        checks.boolean("sink_mode", sink_mode, "Model.build")
        if not graph_mode():
            raise located(
                RuntimeError, "Model.build compiles graphs: set mode=GRAPH_MODE, or leave it out."
            )
        if not train_dataset and not valid_dataset:
            raise located(
                ValueError,
                "The argument 'train_dataset' and 'valid_dataset' can not both be None or empty.",
            )
        if valid_dataset and not self._metric_fns:
            raise located(
                RuntimeError,
                "If define `valid_dataset`, metric fn can not be None or empty, you should set the "
                "argument 'metrics' for model.",
            )
        for network, dataset, train in (
            (self._train_network, train_dataset, True),
            (self._eval_network, valid_dataset, False),
        ):
            if dataset and network is not None:
                helper = DatasetHelper(dataset, False)
                self._set_phase(network, train)
                network.compile(*next(iter(helper)))
                helper.release()

    def _run(
        self,
        epoch: int,
        dataset: Any,
        callbacks: Callbacks,
        sink_mode: bool,
        sink_size: int,
        initial_epoch: int,
        validation: _Validation,
    ) -> None:
        """Train; an error leaves the network after its last whole step."""
        params = InternalCallbackParam(
            cur_step_num=0,
            train_network=self._train_network,
            epoch_num=epoch - initial_epoch,
            batch_num=sink_size if sink_mode and sink_size > 0 else dataset.get_dataset_size(),
            mode="train",
            loss_fn=self._loss_fn,
            optimizer=self._optimizer,
            parallel_mode=get_auto_parallel_context("parallel_mode"),
            device_number=world.transport.size,
            train_dataset=dataset,
            list_callback=as_list(callbacks),
            train_dataset_element=None,
            network=self._network,
            last_save_ckpt_step=None,
            latest_ckpt_file=None,
            # MindSpore: the key is written so.
            loss_scale_mananger=self._loss_scale_manager,
        )
        # MindSpore: the CPU has no queue to sink into; only batch_num follows sink_size
        # (test_model[trained_sink_2]).
        sinks = sink_mode and get_context("device_target") != "CPU"
        params.dataset_sink_mode = sinks
        self._current_epoch_num = self._current_step_num = 0
        progress = Progress(
            epoch, params.batch_num, initial_epoch, _prints_loss(params.list_callback)
        )
        helper = DatasetHelper(dataset, sinks, sink_size, epoch - initial_epoch)
        params.dataset_helper = helper
        note_network("train", self._train_network)
        if get_auto_parallel_context("parameter_broadcast"):
            self._broadcast_parameters()
        self._sinks = sink_mode and graph_mode()
        if self._sinks:
            self._sunk = self._sunk or SunkSteps(self._train_network)
            self._sunk.begin(helper.sink_size(), sink_size)
        try:
            with CallbackManager(callbacks) as manager:
                self._epochs(manager, params, helper, progress, validation, epoch, initial_epoch)
            progress.close()
        except BaseException:
            progress.abandon()
            self._save_breakpoint(params.list_callback)
            raise
        finally:
            helper.release()

    def _broadcast_parameters(self) -> None:
        """Give every rank the Parameters of rank 0, as the context asks.

        Raises:
            ValueError: the parallel mode is another than data parallel.
        """
        mode = get_auto_parallel_context("parallel_mode")
        if mode not in (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL):
            raise located(
                ValueError,
                "stand_alone, semi_auto_parallel and auto_parallel do not support parameter "
                f"broadcast, parallel_mode: {mode}, parameter_broadcast:True",
            )
        broadcast_from(0, self._train_network.get_parameters())

    def _epochs(
        self,
        manager: CallbackManager,
        params: Any,
        helper: DatasetHelper,
        progress: Progress,
        validation: _Validation,
        epoch: int,
        initial_epoch: int,
    ) -> None:
        run_context = RunContext(params)
        manager.call("on_train_begin", run_context)
        for number in range(initial_epoch + 1, epoch + 1):
            params.cur_epoch_num = self._current_epoch_num = number
            self._current_step_num = 0
            manager.call("on_train_epoch_begin", run_context)
            if params.dataset_sink_mode and graph_mode():
                self._sunk_epoch(manager, run_context, params, helper, progress)
            else:
                self._epoch(manager, run_context, params, helper, progress)
            progress.epoch_end()
            if validation.due(number):
                self._validate(validation.dataset, manager, params)
            manager.call("on_train_epoch_end", run_context)
            params.pop("metrics", None)
            params.pop("eval_results", None)
            if run_context.get_stop_requested():
                break
        manager.call("on_train_end", run_context)

    def _epoch(
        self,
        manager: CallbackManager,
        run_context: RunContext,
        params: Any,
        helper: DatasetHelper,
        progress: Progress,
    ) -> None:
        for block, outputs in self._blocks(manager, params, helper):
            shown = None if outputs is None else outputs.last()
            for index, row in enumerate(block):
                self._next_step(params, row)
                manager.call("on_train_step_begin", run_context)
                if outputs is None:
                    shown = params.net_outputs = self._step(row)
                elif manager.callbacks:
                    params.net_outputs = outputs.row(index)
                else:
                    params.net_outputs = shown
                manager.call("on_train_step_end", run_context)
                progress.step(params.cur_epoch_num, self._current_step_num, row, shown)
                if run_context.get_stop_requested():
                    return

    def _sunk_epoch(
        self,
        manager: CallbackManager,
        run_context: RunContext,
        params: Any,
        helper: DatasetHelper,
        progress: Progress,
    ) -> None:
        """Run an epoch's steps without a stop: callbacks see the first's begin, the last's end."""
        begun = False
        for block, outputs in self._blocks(manager, params, helper):
            shown = None if outputs is None else outputs.last()
            for row in block:
                self._next_step(params, row)
                if not begun:
                    manager.call("on_train_step_begin", run_context)
                    begun = True
                if outputs is None:
                    shown = self._step(row)
                params.net_outputs = shown
                progress.step(params.cur_epoch_num, self._current_step_num, row, shown)
        if begun:
            manager.call("on_train_step_end", run_context)

    def _blocks(self, manager: CallbackManager, params: Any, helper: DatasetHelper) -> Any:
        """Give rows in blocks; those that are one program are run with their outputs."""
        watched = not params.dataset_sink_mode and any(map(watches_steps, manager.callbacks))
        if self._sunk is None or watched or not self._sinks:
            yield from (([tuple(row)], None) for row in helper)
            return
        self._set_phase(self._train_network, train=True)
        for block, outputs in self._sunk.blocks(self._checked(map(tuple, helper))):
            yield block, None if outputs is None else Outputs(outputs)

    def _checked(self, rows: Any) -> Any:
        for row in rows:
            self._check_row(row)
            # A callback may have evaluated or predicted in between.
            self._set_phase(self._train_network, train=True)
            yield row

    def _next_step(self, params: Any, row: tuple[Any, ...]) -> None:
        self._check_row(row)
        params.cur_step_num += 1
        self._current_step_num = (params.cur_step_num - 1) % params.batch_num + 1
        params.train_dataset_element = row

    def _check_row(self, row: tuple[Any, ...]) -> None:
        if self._loss_fn is not None and len(row) != 2:
            raise located(
                ValueError,
                "When 'loss_fn' is not None, 'train_dataset' should return two elements, but got "
                f"{len(row)}, please check the number of elements returned by 'train_dataset'",
            )

    def _step(self, row: tuple[Any, ...]) -> Any:
        # A callback may have evaluated or predicted in between.
        self._set_phase(self._train_network, train=True)
        return self._train_network(*row)

    def _set_phase(self, network: Cell, train: bool) -> None:
        if self._in_training is not train:
            network.set_train(train)
            self._in_training = train

    def _validate(self, dataset: Any, manager: CallbackManager, params: Any) -> None:
        """Evaluate within ``fit``, and put back what callbacks see of the training."""
        kept = {key: params[key] for key in _SHARED if key in params}
        callbacks = [
            callback
            for callback in manager.callbacks
            if type(callback) not in OWN_CALLBACKS or isinstance(callback, TimeMonitor)
        ]
        self._evaluate(dataset, callbacks, params, with_loss=True)
        params.update(kept, mode="train")

    def _evaluate(
        self, dataset: Any, callbacks: Callbacks, params: Any, with_loss: bool
    ) -> dict[str, Any]:
        network = self._eval_network
        params.eval_network = network
        note_network("eval", network)
        params.valid_dataset = dataset
        params.batch_num = size_of(dataset, "Model.eval")
        params.mode = "eval"
        params.cur_step_num = 0
        params.dataset_sink_mode = False
        for metric in self._metric_fns.values():
            metric.clear()
        helper = params.dataset_helper = DatasetHelper(dataset, False)
        run_context = RunContext(params)
        outputs: Any = None
        try:
            with CallbackManager(callbacks) as manager:
                manager.call("on_eval_begin", run_context)
                manager.call("on_eval_epoch_begin", run_context)
                for row in map(tuple, helper):
                    params.cur_step_num += 1
                    params.eval_dataset_element = row
                    manager.call("on_eval_step_begin", run_context)
                    self._set_phase(network, train=False)  # type: ignore[arg-type]
                    outputs = params.net_outputs = network(*row)  # type: ignore[misc]
                    manager.call("on_eval_step_end", run_context)
                    self._update_metrics(outputs)
                    if run_context.get_stop_requested():
                        break
                manager.call("on_eval_epoch_end", run_context)
                values = {name: metric.eval() for name, metric in self._metric_fns.items()}
                params.metrics = values
                if with_loss:
                    params.eval_results = {**copy.deepcopy(values), **self._eval_loss(outputs)}
                manager.call("on_eval_end", run_context)
        finally:
            helper.release()
        return values

    def _eval_loss(self, outputs: Any) -> dict[str, Any]:
        """Give ``eval_loss``. MindSpore: it is the last batch's (test_callback[eval_results])."""
        if outputs is None or self._eval_indexes is None:
            return {}
        loss = Loss()
        loss.update(outputs[self._eval_indexes[0]])
        return {"eval_loss": loss.eval()}

    def _update_metrics(self, outputs: Any) -> None:
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        if not isinstance(outputs, tuple):
            raise located(
                ValueError, f"The argument 'outputs' should be tuple, but got {type(outputs)}."
            )
        indexes = self._eval_indexes
        if indexes is not None and len(outputs) < 3:
            raise located(
                ValueError, f"The length of 'outputs' must be >= 3, but got {len(outputs)}"
            )
        for metric in self._metric_fns.values():
            if indexes is None:
                metric.update(*outputs)
            elif isinstance(metric, Loss):
                metric.update(outputs[indexes[0]])
            else:
                metric.update(outputs[indexes[1]], outputs[indexes[2]])

    def _save_breakpoint(self, callbacks: list[Callback]) -> None:
        for callback in callbacks:
            if isinstance(callback, ModelCheckpoint) and callback.exception_save:
                callback.save_breakpoint(
                    self._train_network, self._current_epoch_num, self._current_step_num
                )


def _no_layout(name: str) -> RuntimeError:
    return located(
        RuntimeError,
        f"'{name}' only supports 'semi_auto_parallel' and 'auto_parallel' mode, but got "
        f"{get_auto_parallel_context('parallel_mode')}.",
    )


def _prints_loss(callbacks: list[Callback]) -> bool:
    return any(isinstance(c, LossMonitor) and c.prints for c in callbacks)
