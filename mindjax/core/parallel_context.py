"""The settings of `set_auto_parallel_context`: how a program is spread over devices.

On one device most have no effect: they are checked, kept and given back.
"""

from __future__ import annotations

import copy
from typing import Any

from mindjax.core import world
from mindjax.core.errors import located


class ParallelMode:
    """Names of the ways to spread a program over devices (MindSpore: ``ParallelMode``)."""

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = [  # noqa: RUF012 a list in the original too
        STAND_ALONE,
        DATA_PARALLEL,
        HYBRID_PARALLEL,
        SEMI_AUTO_PARALLEL,
        AUTO_PARALLEL,
    ]


_SEARCH = ("recursive_programming", "dynamic_programming", "sharding_propagation")
_GROUPS = ("all_group_parallel", "same_server_group_parallel", "no_group_parallel")
_SCHEDULERS = ("gpipe", "1f1b", "seqpipe", "seqvpp", "seqsmartvpp", "zero_bubble_v")
_FUSION = {"mode": "auto", "config": None}

_DEFAULTS: dict[str, Any] = {
    "device_num": 1,
    "global_rank": 0,
    "gradients_mean": False,
    "gradient_fp32_sync": True,
    "loss_repeated_mean": True,
    "pipeline_stages": 1,
    "pipeline_result_broadcast": False,
    "pipeline_segments": 1,
    "parallel_mode": ParallelMode.STAND_ALONE,
    "search_mode": _SEARCH[0],
    "parameter_broadcast": False,
    "strategy_ckpt_load_file": "",
    "strategy_ckpt_save_file": "",
    "group_ckpt_save_file": "",
    "full_batch": False,
    "dataset_strategy": "data_parallel",
    "enable_parallel_optimizer": False,
    "force_fp32_communication": False,
    "grad_accumulation_step": 1,
    "all_reduce_fusion_config": [],
    "communi_parallel_mode": _GROUPS[0],
    "optimizer_weight_shard_size": -1,
    "optimizer_weight_shard_aggregated_save": False,
    "sharding_propagation": False,
    "enable_alltoall": False,
    "auto_pipeline": False,
    "dump_local_norm": False,
    "dump_local_norm_path": "",
    "dump_device_local_norm": False,
    "auto_parallel_new_interface": False,
    "init_param_in_compile": True,
    "comm_fusion": {
        "openstate": True,
        "allreduce": _FUSION,
        "allgather": _FUSION,
        "reducescatter": _FUSION,
    },
    "strategy_ckpt_config": {"load_file": "", "save_file": "", "only_trainable_params": True},
    "parallel_optimizer_config": {
        "gradient_accumulation_shard": False,
        "parallel_optimizer_threshold": 64,
        "optimizer_weight_shard_size": -1,
        "optimizer_level": "",
    },
    "pipeline_config": {"pipeline_interleave": False, "pipeline_scheduler": "1f1b"},
}
# Settings that can be set but not asked for, and those that can only be asked for.
_SET_ONLY = ("parallel_optimizer_config", "pipeline_config", "pipeline_segments")
_GET_ONLY = ("pipeline_interleave", "pipeline_scheduler", "full_batch_is_set")
_LEVELS = ("level1", "level2", "level3")
_settings: dict[str, Any] = {}

operator_files: dict[str, str] = {}
"""Where operators' strategies are written and read, by the modes of `set_op_strategy_config`."""


class Generation:
    """Counts changes of the settings."""

    count = 0


def _refuse(name: str, value: Any, why: str) -> NotImplementedError:
    return located(
        NotImplementedError,
        f"For 'set_auto_parallel_context', the argument '{name}' {value!r} is not supported yet: "
        f"{why}.",
    )


def _check_type(name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise located(
            TypeError, f"The parameter '{name}' must be {kind}, but got {type(value)}, {value!r}."
        )


def _one_of(name: str, value: str, choices: tuple[str, ...] | list[str]) -> None:
    if value not in choices:
        raise located(
            ValueError,
            f"The context configuration parameter '{name}' only support {list(choices)}, but got "
            f"the value : {value}.",
        )


def _check_numbers(name: str, value: int) -> None:
    low, high = (0, 4095) if name == "global_rank" else (1, 2**31)
    if name == "optimizer_weight_shard_size":
        low = -1
    if not low <= value <= high:
        raise located(
            ValueError,
            f"The context configuration parameter '{name}' must be in [{low}, {high}], but got the "
            f"value of {name} : {value}.",
        )
    size = world.launched_size()
    if name == "global_rank" and value >= size:
        raise _refuse(name, value, f"the ranks of this world are under {size}")
    if name == "grad_accumulation_step" and value > 1:
        raise located(
            ValueError,
            f"For 'set_auto_parallel_context', '{name}' {value}: The interface is deprecated. To "
            "use gradient accumulation, please use GradAccumulationCell in mindspore.nn.",
        )


def _merged(name: str, value: dict[str, Any]) -> dict[str, Any]:
    """Check the keys of a dictionary and lay it over the default."""
    known = _DEFAULTS[name]
    for key, item in value.items():
        if key not in known:
            if name == "comm_fusion":
                raise located(
                    KeyError,
                    "comm_fusion type must be openstate,allreduce, allgather or reducescatter, but "
                    f"got {key}",
                )
            raise located(ValueError, f"Unknown config: {[key]} of '{name}'.")
        _check_type(f"{name}['{key}']", item, type(known[key]))
    if name == "parallel_optimizer_config":
        _check_optimizer(value)
    if name == "pipeline_config" and "pipeline_scheduler" in value:
        scheduler = value["pipeline_scheduler"]
        _one_of("pipeline_scheduler", scheduler, _SCHEDULERS)
        if scheduler != "1f1b" and not value.get("pipeline_interleave", False):
            raise located(
                TypeError,
                f"When pipeline_interleave is False, {scheduler!r} is not supported, only '1f1b' "
                "is allowed.",
            )
    return copy.deepcopy({**known, **value})


def _check_optimizer(value: dict[str, Any]) -> None:
    """Check the numbers and the level of ``parallel_optimizer_config``."""
    for key, low in (("parallel_optimizer_threshold", 0), ("optimizer_weight_shard_size", 1)):
        number = value.get(key, low)
        if number < low and not (key == "optimizer_weight_shard_size" and number == -1):
            raise located(
                ValueError,
                f"For '{key}', the input value must be int and must >= {low}, but got '{number}' "
                "with type 'int'.",
            )
    level = value.get("optimizer_level")
    if level is None:
        return
    if level not in _LEVELS:
        raise located(ValueError, f"Optimizer level should in {list(_LEVELS)}, but got {level}")
    if value.get("gradient_accumulation_shard", False) and level != "level2":
        raise located(
            ValueError,
            f"The optimizer_level is set as {level}, thus cannot set grad_accumulation_shard as "
            "True.",
        )


def _check_dataset_strategy(value: Any) -> None:
    if isinstance(value, str):
        _one_of("dataset_strategy", value, ("full_batch", "data_parallel"))
    elif not isinstance(value, tuple):
        raise located(
            TypeError,
            "For 'set_auto_parallel_context', the argument 'dataset_strategy' must be str or tuple "
            f"type, but got the type : {type(value)}.",
        )


def _check_fusion(value: list[Any]) -> None:
    ints = all(isinstance(v, int) and not isinstance(v, bool) for v in value)
    if not ints:
        raise located(
            TypeError, f"The elements of 'all_reduce_fusion_config' must be int, but got {value}."
        )
    if value != sorted(value) or len(set(value)) != len(value):
        raise located(
            ValueError,
            "For 'set_auto_parallel_context', the elements in argument 'all_reduce_fusion_config' "
            f"must be sorted in ascending order, but got {value}.",
        )


def _checked(name: str, value: Any) -> Any:
    default = _DEFAULTS[name]
    if name == "dataset_strategy":
        _check_dataset_strategy(value)
        return value
    _check_type(name, value, type(default))
    if isinstance(default, dict):
        return _merged(name, value)
    if name == "parallel_mode":
        _one_of(name, value, ParallelMode.MODE_LIST)
        if value == ParallelMode.HYBRID_PARALLEL:
            raise _refuse(name, value, "start a process a device with msrun, in 'data_parallel'")
    elif name == "search_mode":
        _one_of("auto_parallel_search_mode", value, _SEARCH)
    elif name == "communi_parallel_mode":
        _one_of(name, value, _GROUPS)
    elif name == "all_reduce_fusion_config":
        _check_fusion(value)
    elif type(default) is int:
        _check_numbers(name, value)
    elif value and name in ("auto_pipeline", "dump_local_norm", "dump_device_local_norm"):
        raise _refuse(name, value, "it needs a pipeline or several devices")
    return value


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Choose how a program is spread over devices (MindSpore: ``set_auto_parallel_context``).

    Args:
        **kwargs: settings by name. On one device they are of no effect: they are checked, kept and
            given back. Those of transfers never have one: XLA arranges them.

    Raises:
        ValueError: no such setting, or a value out of range.
        TypeError: a value of the wrong type.
        NotImplementedError: the setting is not supported.
    """
    for given, value in kwargs.items():
        Generation.count += 1
        name = "search_mode" if given == "auto_parallel_search_mode" else given
        if name not in _DEFAULTS:
            raise located(ValueError, f"Set context keyword {given} is not recognized!")
        _settings[name] = _checked(name, value)
        if name == "full_batch":
            _settings["dataset_strategy"] = "full_batch" if value else "data_parallel"
        elif name == "dataset_strategy":
            _settings["full_batch"] = value == "full_batch"


def get_auto_parallel_context(attr_key: str) -> Any:
    """Give a setting of `set_auto_parallel_context` (``get_auto_parallel_context``).

    Args:
        attr_key: its name.

    Returns:
        Its value; the default if it was never set.

    Raises:
        ValueError: no such setting.
    """
    name = "search_mode" if attr_key == "auto_parallel_search_mode" else attr_key
    if name == "full_batch_is_set":
        return "full_batch" in _settings
    if name in _GET_ONLY:
        return _settings.get("pipeline_config", _DEFAULTS["pipeline_config"])[name]
    if name not in _DEFAULTS or name in _SET_ONLY:
        raise located(ValueError, f"Get context keyword {attr_key} is not recognized!")
    return copy.deepcopy(_settings.get(name, _DEFAULTS[name]))


def parallel_optimizer_config(name: str) -> Any:
    """Give one of the settings of ``parallel_optimizer_config``.

    Args:
        name: its name.
    """
    config = _settings.get("parallel_optimizer_config", _DEFAULTS["parallel_optimizer_config"])
    return config[name]


def reset_auto_parallel_context() -> None:
    """Put every setting back to its default (MindSpore: ``reset_auto_parallel_context``)."""
    Generation.count += 1
    _settings.clear()
    operator_files.clear()
