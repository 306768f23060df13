"""`AutoParallel`: a network whose graph is spread over devices, with settings of its own."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.core.parallel_context import (
    ParallelMode,
    get_auto_parallel_context,
    set_auto_parallel_context,
)
from mindjax.core.partition import using
from mindjax.core.world import GlobalComm
from mindjax.nn.cell import Cell
from mindjax_parallel.layout import Layout
from mindjax_parallel.partition import MeshPartitioner, partitioner_of
from mindjax_parallel.pipeline import Pipeline
from mindjax_parallel.settings import Settings, pipeline_of
from mindjax_parallel.strategy_file import NO_FILES

_MODES = {
    "semi_auto": ParallelMode.SEMI_AUTO_PARALLEL,
    "sharding_propagation": ParallelMode.AUTO_PARALLEL,
    "recursive_programming": ParallelMode.AUTO_PARALLEL,
}
_SCHEDULERS = ("1f1b", "gpipe", "seqpipe", "seqvpp", "seqsmartvpp", "zero_bubble_v")
_LEVELS = ("level1", "level2", "level3")


def _refuse(what: str, way_out: str) -> NotImplementedError:
    return located(
        NotImplementedError, f"For 'AutoParallel.{what}', it is not supported yet: {way_out}."
    )


def _check_path(file_path: Any) -> None:
    if not isinstance(file_path, str):
        raise located(
            TypeError,
            f"the argument 'file_path' must be str, but got the type : {type(file_path)} .",
        )


def _check_json(file_path: Any) -> None:
    _check_path(file_path)
    if not os.path.isabs(file_path):
        raise located(KeyError, "the argument 'file_path' must be an absolute path.")
    if not file_path.endswith(".json"):
        raise located(KeyError, "File type must be .json")


class AutoParallel(Cell):
    """Spread a network's graph over the devices (MindSpore: ``AutoParallel``).

    The call runs as one program, in PYNATIVE_MODE too.

    Args:
        network: the network, with loss, gradients and optimizer if it trains.
        parallel_mode: ``"semi_auto"``: operators with strategies are laid out by them, the rest
            follows; ``"sharding_propagation"``: the same, from few strategies;
        ``"recursive_programming"``: what has no strategy is searched for.

    Raises:
        ValueError: another ``parallel_mode``.
        RuntimeError: `init` has not run.
    """

    def __init__(self, network: Cell, parallel_mode: str = "semi_auto") -> None:
        super().__init__(auto_prefix=False)
        if parallel_mode not in _MODES:
            raise located(
                ValueError,
                f"the argument 'parallel_mode' must be one of {list(_MODES)}, but got the value : "
                f"{parallel_mode} .",
            )
        if not GlobalComm.INITED:
            raise located(
                RuntimeError,
                "For 'AutoParallel': Distributed Communication has not been inited. Please call "
                "`init()` method first.",
            )
        self.network = network
        self._parallel_mode = parallel_mode
        self._dataset: Any = "data_parallel"
        self._optimizer = (0, -1, 64)
        self._files = NO_FILES
        self._pipeline: Pipeline | None = None
        self._wide = False

    # -- what has an effect --

    def dataset_strategy(self, config: Any) -> None:
        """Say how the network's inputs are cut.

        Args:
            config: ``"data_parallel"``: along the first dimension; ``"full_batch"``: not; or a
                tuple with a tuple of numbers of parts, or a Layout, an input.

        Raises:
            ValueError: None, or another string.
            TypeError: anything else.
        """
        if config is None:
            raise located(ValueError, "dataset_strategy is none in config!")
        if isinstance(config, str):
            if config not in ("full_batch", "data_parallel"):
                raise located(
                    ValueError,
                    "For 'AutoParallel.dataset_strategy', the argument 'config' must be "
                    f"'full_batch' or 'data_parallel', but got the value : {config}.",
                )
        elif not isinstance(config, tuple):
            raise located(
                TypeError,
                "For 'AutoParallel.dataset_strategy', the argument 'config' must be str or tuple "
                f"type, but got the type : {type(config)}.",
            )
        else:
            for entry in config:
                if isinstance(entry, Layout):
                    continue
                if not isinstance(entry, tuple) or not all(type(v) is int for v in entry):
                    raise located(
                        TypeError,
                        "For 'AutoParallel.dataset_strategy', the element of argument 'config' "
                        f"must be tuple of int or Layout, but got : {entry!r}.",
                    )
        self._dataset = config

    def hsdp(
        self, shard_size: int = -1, threshold: int = 64, optimizer_level: str = "level1"
    ) -> None:
        """Share Parameters and optimizer state out over the devices that would hold copies.

        Args:
            shard_size: most parts of a Parameter; -1 for as many as there are copies.
            threshold: KiB that a Parameter must have to be cut.
            optimizer_level: ``"level1"``: Parameters and optimizer state; ``"level2"``: gradients
                too; ``"level3"``: and the backward pass gathers Parameters again.

        Raises:
            ValueError: an argument has another value.
        """
        if type(shard_size) is not int or (shard_size <= 0 and shard_size != -1):
            raise located(
                ValueError, f"shard_size must be a positive integer or -1, but got {shard_size}."
            )
        if type(threshold) is not int or threshold < 0:
            raise located(
                ValueError, f"threshold must be a positive integer or 0, but got {threshold}."
            )
        if optimizer_level not in _LEVELS:
            raise located(
                ValueError,
                f"Optimizer level should in {list(_LEVELS)}, but got {optimizer_level}",
            )
        self._optimizer = (_LEVELS.index(optimizer_level) + 1, shard_size, threshold)

    # -- what tunes transfers that XLA arranges by itself --

    def comm_fusion(self, config: dict[str, Any]) -> None:
        """Check how the original would join transfers; XLA joins them by itself.

        Args:
            config: as of `set_auto_parallel_context`.

        Raises:
            TypeError: it is no dict.
            KeyError: it has an unknown key.
        """
        if not isinstance(config, dict):
            raise located(
                TypeError, f"The parameter '{config}' must be {dict}, but got {type(config)}."
            )
        before = get_auto_parallel_context("comm_fusion")
        set_auto_parallel_context(comm_fusion=config)
        set_auto_parallel_context(comm_fusion=before)

    def enable_fp32_communication(self) -> None:
        """Add 16-bit numbers up over devices in Float32."""
        self._wide = True

    def enable_gradients_mean(self) -> None:
        """Accept it: gradients are those of the loss of the whole batch, whatever it says."""

    def disable_gradient_fp32_sync(self) -> None:
        """Accept it: sums between devices are in the dtype of the gradients."""

    def disable_loss_repeated_mean(self) -> None:
        """Accept it: a loss that every device computes counts once, whatever it says."""

    def no_init_parameters_in_compile(self) -> None:
        """Accept it: Parameters have their values before they are compiled."""

    def pipeline(
        self,
        stages: int = 1,
        output_broadcast: bool = False,
        interleave: bool = False,
        scheduler: str = "1f1b",
    ) -> None:
        """Cut the network into stages.

        Args:
            stages: number of stages.
            output_broadcast: whether every stage gets the result.
            interleave: whether a device has several stages.
            scheduler: order of the micro batches.

        Raises:
            TypeError: an argument has another type, or a ``scheduler`` other than ``"1f1b"`` goes
                without ``interleave``.
            ValueError: ``stages`` is below 1, or there is no such ``scheduler``.
            NotImplementedError: the ``scheduler`` is not supported.
        """
        for name, value, kind in (
            ("stages", stages, int),
            ("output_broadcast", output_broadcast, bool),
            ("interleave", interleave, bool),
            ("scheduler", scheduler, str),
        ):
            if type(value) is not kind:
                raise located(
                    TypeError,
                    f"For 'AutoParallel.pipeline', the argument '{name}' must be {kind.__name__} "
                    f"type, but got the type : {type(value)}.",
                )
        if stages <= 0:
            raise located(
                ValueError,
                "For 'AutoParallel.pipeline', the argument 'stages' must be larger than zero, but "
                f"got value: {stages}.",
            )
        if scheduler not in _SCHEDULERS:
            raise located(
                ValueError,
                f"For 'AutoParallel.pipeline', the argument 'scheduler' must be one of "
                f"{list(_SCHEDULERS)}, but got the value : {scheduler}.",
            )
        if scheduler != "1f1b" and not interleave:
            raise located(
                TypeError,
                f"When pipeline_interleave is False, {scheduler!r} is not supported, only '1f1b' "
                "is allowed.",
            )
        self._pipeline = pipeline_of(stages, interleave, scheduler, output_broadcast)

    def get_pipeline_stages(self) -> int:
        """Give the number of stages."""
        return 1 if self._pipeline is None else self._pipeline.stages

    # -- what is not there yet --

    def load_param_strategy_file(self, file_path: str) -> None:
        """Take Parameters' layouts from a file.

        Args:
            file_path: the file.

        Raises:
            TypeError: it is no str.
        """
        _check_path(file_path)
        self._files = self._files._replace(load=file_path)

    def save_param_strategy_file(self, file_path: str) -> None:
        """Write Parameters' layouts to a file.

        Args:
            file_path: the file.

        Raises:
            TypeError: it is no str.
        """
        _check_path(file_path)
        self._files = self._files._replace(save=file_path)

    def disable_strategy_file_only_for_trainable_params(self) -> None:
        """Write the layouts of all Parameters, not only of those that are trained."""
        self._files = self._files._replace(trainable=False)

    def save_operator_strategy_file(self, file_path: str) -> None:
        """Write the strategies that operators have to a file.

        Args:
            file_path: absolute path that ends in ``.json``.

        Raises:
            TypeError: it is no str.
            KeyError: it is another path.
        """
        _check_json(file_path)
        self._files = self._files._replace(operators_save=file_path)

    def load_operator_strategy_file(self, file_path: str) -> None:
        """Take strategies of operators that have none from a file.

        Args:
            file_path: absolute path that ends in ``.json``.

        Raises:
            TypeError: it is no str.
            KeyError: it is another path.
        """
        _check_json(file_path)
        self._files = self._files._replace(operators_load=file_path)

    def set_group_ckpt_save_file(self, file_path: str) -> None:
        """Write the ranks that hold the same parts of all Parameters as this one to a file.

        Args:
            file_path: the file.

        Raises:
            TypeError: it is no str.
        """
        _check_path(file_path)
        self._files = self._files._replace(group=file_path)

    def print_local_norm(self) -> None:
        """Print the norms of the gradients of each device."""
        raise _refuse("print_local_norm", "compute the norm of the gradients with ops")

    def dump_local_norm(self, file_path: str) -> None:
        """Write the norms of the gradients of each device to files.

        Args:
            file_path: the folder.

        Raises:
            TypeError: it is no str.
        """
        _check_path(file_path)
        raise _refuse("dump_local_norm", "compute the norm of the gradients with ops")

    def enable_device_local_norm(self) -> None:
        """Print the norm of all gradients of each device."""
        raise _refuse("enable_device_local_norm", "compute the norm of the gradients with ops")

    def transformer_opt(self, file_path: str | None) -> None:
        """Tune the overlap of transfers and computation on the vendor's device.

        Args:
            file_path: a JSON file; None for no tuning.

        Raises:
            TypeError: it is no str.
        """
        if file_path is None:
            return
        _check_path(file_path)
        raise _refuse("transformer_opt", "pass None: XLA overlaps transfers by itself")

    # -- running --

    def around(self, network: Cell) -> AutoParallel:
        """Give a Cell that spreads another network with the same settings.

        Args:
            network: it holds this Cell: a training step, or what evaluates.
        """
        fresh = AutoParallel(network, self._parallel_mode)
        fresh._dataset, fresh._optimizer = self._dataset, self._optimizer
        fresh._files = self._files
        fresh._pipeline, fresh._wide = self._pipeline, self._wide
        return fresh

    def _partitioner(self) -> MeshPartitioner | None:
        level, shard_size, threshold = self._optimizer
        mode = _MODES[self._parallel_mode]
        searches = self._parallel_mode == "recursive_programming"
        given = Settings(mode, self._dataset, level, shard_size, threshold, searches, self._files)
        return partitioner_of(dataclasses.replace(given, pipeline=self._pipeline, wide=self._wide))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the network as one program over the devices."""
        if current.frame is not None:
            return super().__call__(*args, **kwargs)
        with using(self._partitioner()):
            return self._call_graph(args, kwargs)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Run the network."""
        return self.network(*args, **kwargs)
