"""``merge_sliced_parameter``, and the files of all ranks of a training into one network."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from mindjax.checkpoint import unify
from mindjax.checkpoint.layouts import Layout, LayoutError, layout_of, placements, undivided
from mindjax.checkpoint.load import load_checkpoint, load_param_into_net
from mindjax.checkpoint.redistribute import assemble
from mindjax.checkpoint.save import FORMATS, check_instance, to_numpy
from mindjax.checkpoint.strategy import ParallelLayouts, build_searched_strategy
from mindjax.core import world
from mindjax.core.errors import located
from mindjax.core.parallel_context import get_auto_parallel_context
from mindjax.nn.cell import Cell
from mindjax.tensor import Parameter, Tensor

logger = logging.getLogger("mindjax")


def merge_sliced_parameter(
    sliced_parameters: list[Parameter], strategy: Mapping[str, Any] | None = None
) -> Parameter:
    """Put the slices of a Parameter together.

    Args:
        sliced_parameters: the slices, in the order of the ranks.
        strategy: names and layouts, as `build_searched_strategy` gives them; None joins the slices
            along their first axis.

    Returns:
        A Parameter of the same name with the whole value.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: the slices do not fit each other or the layout.
        KeyError: the layout of the Parameter is missing.

    MindSpore: ``mindspore.merge_sliced_parameter``.
    """
    where = "For 'merge_sliced_parameter'"
    if not isinstance(sliced_parameters, list):
        raise located(
            TypeError,
            f"{where}, the argument 'sliced_parameters' should be list, but got "
            f"{type(sliced_parameters)}.",
        )
    if not sliced_parameters:
        raise located(ValueError, f"{where}, the argument 'sliced_parameters' should not be empty.")
    if strategy and not isinstance(strategy, dict):
        raise located(
            TypeError,
            f"{where}, the argument 'strategy' should be dict, but got {type(strategy)}.",
        )
    first = sliced_parameters[0]
    for index, parameter in enumerate(sliced_parameters):
        if not isinstance(parameter, Parameter):
            raise located(
                TypeError,
                f"{where}, the element in 'sliced_parameters' should be 'Parameter', but got "
                f"{type(parameter)} at index {index}.",
            )
        if _kind(parameter) != _kind(first):
            raise located(
                ValueError,
                f"{where}, please make sure that the elements in 'slice_parameters' have the same "
                "name, dimension length and shape except 0 axis. The name, dimension length, shape "
                f"except 0 axis should be {first.name}, {first.ndim}, {tuple(first.shape[1:])}, "
                f"but got name: {parameter.name}, dimension length: {parameter.ndim}, shape except "
                f"0 axis: {tuple(parameter.shape[1:])} at index {index}.",
            )
    slices = [to_numpy(parameter) for parameter in sliced_parameters]
    if not strategy:
        merged = _joined(slices)
    elif first.name not in strategy:
        raise located(
            KeyError,
            f"{where}, the parameter name {first.name} should be a key in the 'strategy'. Please "
            "check 'sliced_parameter' and 'strategy'.",
        )
    else:
        try:
            merged = merge_slices(slices, strategy[first.name])
        except LayoutError as error:
            raise located(ValueError, f"{where}, {error}.") from None
    value = Tensor.from_numpy(np.ascontiguousarray(merged))
    return Parameter(value, first.name, first.requires_grad, first.layerwise_parallel)


def _kind(parameter: Parameter) -> tuple[str, int, tuple[int, ...]]:
    return parameter.name, parameter.ndim, tuple(parameter.shape[1:])


def _joined(slices: list[np.ndarray]) -> np.ndarray:
    try:
        return np.concatenate(slices)
    except ValueError as error:
        raise located(ValueError, f"For 'merge_sliced_parameter', {error}.") from None


def merge_slices(slices: list[np.ndarray], record: Any) -> np.ndarray:
    """Put the slices of all ranks together, as a strategy file's record says.

    Args:
        slices: one slice a rank.
        record: record with the attributes of `strategy.ParallelLayouts`; that the optimizer's
            state is divided further is not regarded.

    Raises:
        LayoutError: the record is wrong, or the slices do not fit it.
    """
    layout = _of_slices(record)
    try:
        sizes = [int(size) for size in record.param_split_shape[0].dim]
        fields = int(record.field)
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise LayoutError(f"please make sure that 'strategy' is correct: {error}") from None
    if len(slices) != layout.ranks:
        raise LayoutError(
            "the length of 'sliced_parameters' should be equal to device_count. The length of "
            f"'sliced_parameters' is {len(slices)}, but device_count is {layout.ranks}"
        )
    if sizes:
        return _uneven(slices, layout, sizes)
    if len({one.shape for one in slices}) > 1:
        raise LayoutError(
            "the shape of every parameter in 'sliced_parameters' should be the same when slice "
            "manner is even"
        )
    if fields > 0:
        return _by_fields(slices, fields)
    return assemble(dict(enumerate(slices)), layout, undivided(slices[0].ndim), 0)


def _of_slices(record: Any) -> Layout:
    plain = {"opt_weight_shard_step": 0, "opt_weight_shard_size": 0}
    try:
        parts = {"dev_matrix": record.dev_matrix, "tensor_map": record.tensor_map}
    except AttributeError as error:
        raise LayoutError(f"please make sure that 'strategy' is correct: {error}") from None
    return layout_of(SimpleNamespace(**parts, **plain))


def _by_fields(slices: list[np.ndarray], fields: int) -> np.ndarray:
    """Join the slices of an embedding, each of which holds rows of every field."""
    if slices[0].ndim != 2 or len(slices[0]) % fields:
        raise LayoutError(f"slices of shape {slices[0].shape} do not have {fields} fields")
    width = slices[0].shape[1]
    parts = [one.reshape(fields, -1, width) for one in slices]
    return np.concatenate(parts, axis=1).reshape(-1, width)


def _uneven(slices: list[np.ndarray], layout: Layout, sizes: list[int]) -> np.ndarray:
    counts = layout.counts()
    if len(sizes) != int(np.prod(counts)):
        raise LayoutError(
            f"the param_split_shape length in 'strategy' should be {int(np.prod(counts))}, but got "
            f"{len(sizes)}"
        )
    found: list[Any] = [None] * len(sizes)
    for rank, one in enumerate(slices):
        places = tuple(side.start for side in layout.part(rank, counts))
        index = int(np.ravel_multi_index(places, counts))
        if one.shape[0] != sizes[index]:
            raise LayoutError(
                f"the slice {index} should be {sizes[index]} in 0 axis, but got {one.shape[0]}"
            )
        found[index] = one
    for axis in reversed(range(len(counts))):
        step = counts[axis]
        try:
            found = [
                np.concatenate(found[at : at + step], axis) for at in range(0, len(found), step)
            ]
        except ValueError as error:
            raise LayoutError(f"the slices do not fit each other: {error}") from None
    return found[0]


def load_distributed_checkpoint(
    network: Cell | None,
    checkpoint_filenames: list[str] | None = None,
    predict_strategy: dict[str, Any] | str | None = None,
    train_strategy_filename: str | None = None,
    strict_load: bool = False,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    format: str = "ckpt",
    unified_safetensors_dir: str | None = None,
    dst_safetensors_dir: str | None = None,
    rank_id: int | None = None,
    output_format: str = "safetensors",
    name_map: dict[str, str] | None = None,
    max_process_num: int = 64,
    return_param_dict: bool = False,
) -> Any:
    """Load what the ranks of a training saved, as this process needs it.

    Args:
        network: Cell that takes the values; None with ``format="safetensors"`` writes files.
        checkpoint_filenames: ckpt files in the order of their ranks.
        predict_strategy: for ckpt a dict of names and lists that begin with device matrix, tensor
            map, slice sizes and 0; for safetensors the path of a strategy file. None for whole
            values.
        train_strategy_filename: strategy with which the ckpt files were written; the setting
            ``strategy_ckpt_load_file`` by default.
        strict_load: see `load_param_into_net`; only for ckpt.
        dec_key: key with which the ckpt files were encrypted.
        dec_mode: ``"AES-GCM"``, ``"AES-CBC"`` or ``"SM4-CBC"``.
        format: ``"ckpt"``, or ``"safetensors"`` for a folder that `unified_safetensors` wrote.
        unified_safetensors_dir: that folder.
        dst_safetensors_dir: folder of the files, ``rank_<n>/net.<output_format>``.
        rank_id: the one rank whose file is written; all of the strategy by default.
        output_format: ``"ckpt"`` or ``"safetensors"``.
        name_map: names of the strategy and those in the files that differ; for safetensors.
        max_process_num: how many files are written at once, in threads.
        return_param_dict: whether the Parameters are returned and not loaded; for safetensors.

    Returns:
        True, or for a network from safetensors what `load_param_into_net` gives, or the Parameters.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument has the wrong value, or files, strategies and shapes do not fit.

    MindSpore: ``mindspore.load_distributed_checkpoint``.
    """
    where = "load_distributed_checkpoint"
    if format not in FORMATS or output_format not in FORMATS:
        raise located(
            ValueError,
            f"For '{where}', 'format' and 'output_format' must be 'ckpt' or 'safetensors', but got "
            f"{format}.",
        )
    if format == "safetensors":
        for value in (checkpoint_filenames, train_strategy_filename, dec_key):
            if value is not None:
                raise located(
                    ValueError,
                    f"For '{where}', {value} must be None when format is 'safetensors'.",
                )
        if strict_load or dec_mode != "AES-GCM":
            raise located(
                ValueError,
                f"For '{where}', strict_load and dec_mode must be default when format is "
                "'safetensors'.",
            )
        if unified_safetensors_dir is None:
            raise located(
                ValueError,
                f"For '{where}', 'unified_safetensors_dir' can not be None when format is "
                "'safetensors'.",
            )
        source = unify.Source(unified_safetensors_dir, predict_strategy, name_map)  # type: ignore[arg-type]
        if network is not None:
            found = source.parameters(_rank())
            return found if return_param_dict else load_param_into_net(network, found)
        if dst_safetensors_dir is None:
            raise located(
                ValueError,
                f"For '{where}', 'dst_safetensors_dir' can not be None when network is None.",
            )
        source.write(dst_safetensors_dir, rank_id, output_format, max_process_num)
        return True
    if not isinstance(network, Cell):
        raise located(
            TypeError, f"For '{where}', 'network' must be a Cell, but got {type(network)}."
        )
    _check_files(checkpoint_filenames)
    _check_predict(predict_strategy)
    check_instance("dec_key", dec_key, (type(None), bytes))
    check_instance("dec_mode", dec_mode, str)
    if train_strategy_filename is None:
        train_strategy_filename = get_auto_parallel_context("strategy_ckpt_load_file")
    strategy = build_searched_strategy(train_strategy_filename)
    if strategy:
        try:
            found = _merged(
                network, checkpoint_filenames or [], strategy, predict_strategy, dec_key, dec_mode
            )
        except LayoutError as error:
            raise located(ValueError, f"For '{where}', {error}.") from None
        load_param_into_net(network, found, strict_load)
    return True


def _rank() -> int:
    if world.GlobalComm.INITED:
        return world.transport.rank
    return world.environment("RANK_ID", 0)


def _check_files(names: Any) -> None:
    for index, name in enumerate(names if isinstance(names, list | tuple) else [names]):
        if not isinstance(name, str) or not name.endswith(".ckpt") or not os.path.isfile(name):
            raise located(
                ValueError,
                "For 'load_distributed_checkpoint', please check 'checkpoint_filenames', and make "
                f"sure the {name} at index {index} is a valid checkpoint file, it must be a string "
                "ending with '.ckpt', and the checkpoint file it represents must be exist and not "
                "empty.",
            )


def _check_predict(strategy: Any) -> None:
    if strategy is None:
        return
    check_instance("predict_strategy", strategy, dict)

    def numbers(value: Any) -> bool:
        return isinstance(value, list) and all(type(one) is int for one in value)

    for name, value in strategy.items():
        parts: list[Any] = list(value) if isinstance(value, list | tuple) else []
        fits = isinstance(name, str) and len(parts) >= 4
        if not fits or not (
            numbers(parts[0])
            and numbers(parts[1])
            and (not parts[2] or numbers(parts[2]))
            and type(parts[3]) is int
            and parts[3] == 0
        ):
            raise located(
                ValueError,
                "For 'load_distributed_checkpoint', the argument 'predict_strategy' is dict, the "
                "key of it must be string, and the value of it must be list or tuple that the "
                "first four elements must be dev_matrix (list[int]), tensor_map (list[int]), "
                "param_split_shape (list[int]) and field_size (int, which value is 0), but got "
                f"{value!r} for {name!r}.",
            )


def _merged(
    network: Cell,
    files: list[str],
    strategy: dict[str, ParallelLayouts],
    predict: Any,
    key: bytes | None,
    mode: str,
) -> dict[str, Parameter]:
    """Build the Parameters of a network from the files of all ranks."""
    placed = placements(strategy)
    count = next(iter(placed.values())).layout.ranks
    if count != len(files):
        raise LayoutError(
            "the length of 'checkpoint_filenames' should be equal to the device count of training "
            f"process. But got the length of 'checkpoint_filenames' is {len(files)} and the device "
            f"count is {count}"
        )
    wanted = {p.name for _, p in network.parameters_and_names()} & set(placed)
    held: dict[str, dict[int, np.ndarray]] = {}
    for rank, path in enumerate(files):
        found = load_checkpoint(path, dec_key=key, dec_mode=mode, choice_func=wanted.__contains__)
        for name, value in found.items():
            if isinstance(value, Parameter):
                held.setdefault(name, {})[rank] = to_numpy(value)
    result: dict[str, Parameter] = {}
    for name, parts in held.items():
        if predict is not None and name not in predict:
            logger.warning("predict_map does not contain %s", name)
            continue
        record, layout = strategy.get(name), placed[name].layout
        target = undivided(len(layout.spans)) if predict is None else _of_list(predict[name])
        if record is not None and (record.field > 0 or any(one.dim for one in _sizes(record))):
            whole = merge_slices([parts[rank] for rank in sorted(parts)], record)
            value = np.ascontiguousarray(whole[target.part(_rank(), whole.shape)])
        else:
            try:
                value = assemble(parts, layout, target, _rank())
            except LayoutError as error:
                raise LayoutError(f"for the parameter '{name}', {error}") from None
        group = predict[name][5] if predict is not None and len(predict[name]) > 5 else None
        if isinstance(group, str) and group:
            value = _group_share(name, value, group)
        result[name] = Parameter(Tensor.from_numpy(value), name=name)
    for missing, message in (
        (sorted(_names(network) - set(placed)), "are not in the slice strategy"),
        (sorted(wanted - set(held)), "are not in the checkpoint file"),
    ):
        if missing:
            logger.warning(
                "For 'load_distributed_checkpoint', %s parameters in network %s, you can check "
                "whether 'train_strategy_filename' and 'checkpoint_filenames' are correct.",
                missing,
                message,
            )
    return result


def _names(network: Cell) -> set[str]:
    return {parameter.name for _, parameter in network.parameters_and_names()}


def _sizes(record: ParallelLayouts) -> tuple[Any, ...]:
    return record.param_split_shape


def _of_list(entry: Any) -> Layout:
    """Read a layout of a ``predict_strategy``."""
    lists = {"dev_matrix": entry[0], "tensor_map": entry[1]}
    return _of_slices(
        SimpleNamespace(**{key: [SimpleNamespace(dim=value)] for key, value in lists.items()})
    )


def _group_share(name: str, value: np.ndarray, group: str) -> np.ndarray:
    """Take this process's share of a value that the optimizers of a group divide."""
    found = world.find(group)
    if value.ndim == 0 or value.shape[0] % found.size:
        raise located(
            RuntimeError,
            "For 'load_distributed_checkpoint', failed to load opt shard slice in load distributed "
            f"checkpoint for {name}. Data shape is {value.shape} and group is {group}.",
        )
    return np.ascontiguousarray(np.split(value, found.size)[found.rank])
