"""What programs over several devices go by: the settings of `set_auto_parallel_context`."""

from __future__ import annotations

import dataclasses
from typing import Any

from mindjax.core.errors import located
from mindjax.core.parallel_context import (
    ParallelMode,
    get_auto_parallel_context,
    operator_files,
    parallel_optimizer_config,
)
from mindjax_parallel.pipeline import Pipeline
from mindjax_parallel.schedule import NAMES
from mindjax_parallel.strategy_file import NO_FILES, Files


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a partitioner goes by.

    Attributes:
        mode: one of `ParallelMode`'s names.
        dataset: ``"data_parallel"``, ``"full_batch"``, or a strategy or Layout an argument.
        optimizer: optimizer parallelism, 0 for none, else its level.
        shard_size: most parts of a Parameter there; -1 for as many as there are devices.
        threshold: KiB that a Parameter must have to be cut.
        searches: whether what has no strategy is searched for, not only propagated.
        files: strategy files.
        pipeline: settings of the pipeline, None for no pipeline.
        wide: whether 16-bit numbers are added up over devices in Float32.
    """

    mode: str
    dataset: Any = "data_parallel"
    optimizer: int = 0
    shard_size: int = -1
    threshold: int = 64
    searches: bool = False
    files: Files = NO_FILES
    pipeline: Pipeline | None = None
    wide: bool = False


def settings_of_context(mode: str) -> Settings:
    """Read the settings of `set_auto_parallel_context`.

    Raises:
        NotImplementedError: the pipeline has no such schedule.
    """
    config = get_auto_parallel_context
    optimizer = config("enable_parallel_optimizer")
    level = 0
    if optimizer:
        named = parallel_optimizer_config("optimizer_level")
        shares = parallel_optimizer_config("gradient_accumulation_shard")
        level = int(named.removeprefix("level")) if named else 2 if shares else 1
    stages = config("pipeline_stages")
    return Settings(
        mode,
        config("dataset_strategy"),
        level,
        parallel_optimizer_config("optimizer_weight_shard_size")
        if config("optimizer_weight_shard_size") == -1
        else config("optimizer_weight_shard_size"),
        parallel_optimizer_config("parallel_optimizer_threshold"),
        mode == ParallelMode.AUTO_PARALLEL
        and config("search_mode") != "sharding_propagation"
        and not config("sharding_propagation"),
        _files_of_context(),
        pipeline_of(
            stages,
            config("pipeline_interleave"),
            config("pipeline_scheduler"),
            config("pipeline_result_broadcast"),
        ),
        config("force_fp32_communication"),
    )


def _files_of_context() -> Files:
    """Read where strategies are kept: the dictionary's paths, or the older settings'."""
    config = get_auto_parallel_context
    files = config("strategy_ckpt_config")
    return Files(
        files["load_file"] or config("strategy_ckpt_load_file"),
        files["save_file"] or config("strategy_ckpt_save_file"),
        config("group_ckpt_save_file"),
        files["only_trainable_params"],
        operator_files.get("LOAD", ""),
        operator_files.get("SAVE", ""),
    )


def pipeline_of(stages: int, interleave: bool, scheduler: str, broadcast: bool) -> Pipeline | None:
    """Give the settings of a pipeline by their names in `set_auto_parallel_context`.

    Args:
        stages: number of stages; 1 is no pipeline.
        interleave: whether a stage may have several positions.
        scheduler: name of the schedule.
        broadcast: whether every stage gets the result.

    Raises:
        NotImplementedError: there is no such schedule here.
    """
    if stages == 1:
        return None
    name = "interleaved" if interleave and scheduler == "1f1b" else scheduler
    if name not in NAMES:
        raise located(
            NotImplementedError,
            f"The 'pipeline_scheduler' {scheduler!r} is not supported: use one of "
            "'1f1b', 'gpipe', 'zero_bubble_v'.",
        )
    return Pipeline(stages, name, broadcast)
