"""``strategy.ckpt`` and ``group_info.pb``: how Parameters were sharded over devices."""

from __future__ import annotations

import os
from typing import NamedTuple

from mindjax.checkpoint import wire
from mindjax.core.errors import located


class Dims(NamedTuple):
    """One list of numbers of a strategy file."""

    dim: tuple[int, ...]


class ParallelLayouts(NamedTuple):
    """How one Parameter is sharded, with the original's attribute names.

    Attributes:
        dev_matrix: one list, the devices' arrangement.
        tensor_map: for each dimension the axis of ``dev_matrix``, counted from the right, or -1.
        param_split_shape: sizes of uneven slices.
        indices_offset: first indices of uneven slices.
        field: number of fields of an embedding.
        opt_weight_shard_step: distance of the ranks that share an optimizer's state.
        opt_weight_shard_size: how many share it; -1 for all that hold the same slice.
    """

    dev_matrix: tuple[Dims, ...]
    tensor_map: tuple[Dims, ...]
    param_split_shape: tuple[Dims, ...]
    indices_offset: tuple[Dims, ...]
    field: int
    opt_weight_shard_step: int
    opt_weight_shard_size: int


def build_searched_strategy(strategy_filename: str | None) -> dict[str, ParallelLayouts] | None:
    """Read a strategy file.

    Args:
        strategy_filename: path of a protocol-buffer strategy file; None gives None.

    Returns:
        Names of Parameters and their layouts, in the file's order.

    Raises:
        TypeError: the argument is no string, or the content no strategy.
        ValueError: the file is missing or empty.
        NotImplementedError: the file is a JSON one.

    MindSpore: ``mindspore.build_searched_strategy``.
    """
    if strategy_filename is None:
        return None
    content = _content(
        strategy_filename, "build_searched_strategy", "strategy_filename", "strategy"
    )
    if strategy_filename.endswith(".json"):
        raise located(
            NotImplementedError,
            f"For 'build_searched_strategy', the JSON file {strategy_filename} is not supported: "
            "save the strategy as a .ckpt file.",
        )
    try:
        items = [value for number, value in wire.fields(content) if number == 3]
        return dict(_item(_view(item)) for item in items)
    except (wire.WireError, UnicodeDecodeError) as error:
        raise located(
            TypeError,
            "The strategy file type should be one of json or protobuf, but "
            f"{strategy_filename} cannot be parsed: {error}.",
        ) from error


def restore_group_info_list(group_info_file_name: str) -> list[int]:
    """Read which ranks hold the same checkpoint from a group information file.

    Args:
        group_info_file_name: path of the file.

    Returns:
        The ranks.

    Raises:
        TypeError: the argument is no string.
        ValueError: the file is missing, empty, damaged or without ranks.

    MindSpore: ``mindspore.restore_group_info_list``.
    """
    where = "restore_group_info_list"
    content = _content(group_info_file_name, where, "group_info_file_name", "group information")
    try:
        ranks = [r for n, part in wire.fields(content) if n == 2 for r in _dims(_view(part)).dim]
    except wire.WireError as error:
        raise located(
            ValueError, f"For '{where}', {group_info_file_name} cannot be parsed: {error}."
        ) from error
    if not ranks:
        raise located(
            ValueError, f"For '{where}', the group information file has no restore rank list."
        )
    return ranks


def _content(path: str, where: str, argument: str, kind: str) -> memoryview:
    if not isinstance(path, str):
        raise located(
            TypeError,
            f"For '{where}', the argument '{argument}' should be string, but got {type(path)}.",
        )
    if not os.path.isfile(path):
        raise located(ValueError, f"For '{where}', no such {kind} file: {path}.")
    with open(path, "rb") as file:
        content = file.read()
    if not content:
        raise located(ValueError, f"For '{where}', the {kind} file {path} should not be empty.")
    return memoryview(content)


def _item(message: memoryview) -> tuple[str, ParallelLayouts]:
    name = ""
    lists: dict[int, list[Dims]] = {1: [], 2: [], 3: [], 4: []}
    numbers = {5: 0, 6: 0, 7: 0}
    for number, value in wire.fields(message):
        if number == 1:
            name = bytes(_view(value)).decode()
        elif number == 2:
            for inner, part in wire.fields(_view(value)):
                if inner in lists:
                    lists[inner].append(_dims(_view(part)))
                elif inner in numbers and isinstance(part, int):
                    numbers[inner] = wire.signed(part)
    layout = ParallelLayouts(*(tuple(found) for found in lists.values()), *numbers.values())  # type: ignore[arg-type]
    return name, layout


def _dims(message: memoryview) -> Dims:
    found: list[int] = []
    for number, value in wire.fields(message):
        if number != 1:
            continue
        if isinstance(value, int):
            found.append(wire.signed(value))
            continue
        at = 0
        while at < len(value):
            one, at = wire.read_varint(value, at, len(value))
            found.append(wire.signed(one))
    return Dims(tuple(found))


def _view(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise wire.WireError("a field has the wrong kind")
    return value
