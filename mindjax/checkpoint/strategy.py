"""``strategy.ckpt`` and ``group_info.pb``: how Parameters were sharded over devices."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindjax.checkpoint import wire
from mindjax.core.atomic import replacing
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


class OperatorStrategy(NamedTuple):
    """How one operator of the program was divided.

    Attributes:
        name: its full name.
        stage: the pipeline stage that it belongs to.
        strategies: for each input into how many parts each dimension was divided.
    """

    name: str
    stage: int
    strategies: tuple[Dims, ...]


class StrategyFile(NamedTuple):
    """The content of a strategy file.

    Attributes:
        current_stage: a number that the original counts up with every writing.
        operators: what the operators did.
        layouts: names of Parameters and their layouts.
    """

    current_stage: int
    operators: list[OperatorStrategy]
    layouts: dict[str, ParallelLayouts]


def build_searched_strategy(strategy_filename: str | None) -> dict[str, ParallelLayouts] | None:
    """Read a strategy file.

    Args:
        strategy_filename: path of a strategy file, which is JSON if it ends with ``.json``; None
            gives None.

    Returns:
        Names of Parameters and their layouts, in the file's order.

    Raises:
        TypeError: the argument is no string, or the content no strategy.
        ValueError: the file is missing or empty.

    MindSpore: ``mindspore.build_searched_strategy``.
    """
    if strategy_filename is None:
        return None
    return read_strategy(strategy_filename).layouts


def read_strategy(path: str) -> StrategyFile:
    """Read a strategy file with what the operators of the program did.

    Args:
        path: path of a strategy file, which is JSON if it ends with ``.json``.

    Returns:
        The content.

    Raises:
        TypeError: the argument is no string, or the content no strategy.
        ValueError: the file is missing or empty.
    """
    content = _content(path, "build_searched_strategy", "strategy_filename", "strategy")
    try:
        return _of_json(content) if path.endswith(".json") else _of_message(content)
    except (wire.WireError, UnicodeDecodeError) as error:
        raise located(
            TypeError,
            "The strategy file type should be one of json or protobuf, but "
            f"{path} cannot be parsed: {error}.",
        ) from error


def write_strategy(path: str, content: StrategyFile) -> None:
    """Replace a file by a strategy file, which is JSON if its name ends with ``.json``.

    Args:
        path: the file; its folder exists.
        content: what it will hold.

    Raises:
        OSError: the file cannot be written.
    """
    raw = _json(content) if path.endswith(".json") else _message(content)
    with replacing(path, 0o600) as file:
        file.write(raw)


def write_group_info(path: str, ranks: Sequence[int]) -> None:
    """Replace a file by one that says which ranks hold the same checkpoint.

    Args:
        path: the file; its folder exists.
        ranks: the ranks.

    Raises:
        OSError: the file cannot be written.
    """
    with replacing(path, 0o600) as file:
        file.write(_field(2, _plain_dims(Dims(tuple(ranks)))))


def merge_pipeline_strategys(src_strategy_dirs: str, dst_strategy_file: str) -> None:
    """Put the strategy files of all pipeline stages into one.

    Args:
        src_strategy_dirs: folder of the files, all ``.ckpt`` or all ``.json``; of several of one
            stage the first by name counts.
        dst_strategy_file: the file to write, of the same kind as the others.

    Raises:
        NotADirectoryError: ``src_strategy_dirs`` is no folder.
        ValueError: the folder holds both kinds or none, or a file is without layouts.
        TypeError: a file is damaged.

    MindSpore: ``mindspore.merge_pipeline_strategys``.
    """
    if not os.path.isdir(src_strategy_dirs):
        raise located(
            NotADirectoryError, f"src_strategy_dirs {src_strategy_dirs} is not a directory."
        )
    names = sorted(os.listdir(src_strategy_dirs))
    kinds = {kind: [n for n in names if n.endswith(kind)] for kind in (".ckpt", ".json")}
    if all(kinds.values()):
        raise located(ValueError, "The strategys format should be all '.ckpt' or all '.json'")
    found = kinds[".ckpt"] or kinds[".json"]
    if not found:
        raise located(
            ValueError, f"The folder {src_strategy_dirs} has no '.ckpt' and no '.json' file."
        )
    merged = StrategyFile(1, [], {})
    stages: set[int] = set()
    for name in found:
        path = os.path.join(src_strategy_dirs, name)
        one = read_strategy(path)
        if not one.operators or not one.layouts:
            raise located(ValueError, f"The strategy file {path} is empty")
        stage = one.operators[0].stage
        if stage not in stages:
            stages.add(stage)
            merged.operators.extend(one.operators)
            merged.layouts.update((f"{stage}-{key}", value) for key, value in one.layouts.items())
    target = os.path.abspath(dst_strategy_file)
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    raw = _message(merged) if kinds[".ckpt"] else _json(merged)
    with replacing(target, 0o600) as file:
        file.write(raw)


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


def _of_message(content: memoryview) -> StrategyFile:
    found = StrategyFile(0, [], {})
    for number, value in wire.fields(content):
        if number == 1 and isinstance(value, int):
            found = found._replace(current_stage=wire.signed(value))
        elif number == 2:
            found.operators.append(_operator(_view(value)))
        elif number == 3:
            name, layout = _item(_view(value))
            found.layouts[name] = layout
    return found


def _operator(message: memoryview) -> OperatorStrategy:
    found = OperatorStrategy("", 0, ())
    for number, value in wire.fields(message):
        if number == 1:
            found = found._replace(name=bytes(_view(value)).decode())
        elif number == 2:
            for inner, part in wire.fields(_view(value)):
                if inner == 1 and isinstance(part, int):
                    found = found._replace(stage=wire.signed(part))
                elif inner == 2:
                    one = _dims(_view(part))
                    found = found._replace(strategies=(*found.strategies, one))
    return found


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


def _message(content: StrategyFile) -> bytes:
    """Encode as the original's serializer does: every number, 0 too, and lists unpacked."""
    out = wire.integer(1, content.current_stage)
    for operator in content.operators:
        inner = wire.integer(1, operator.stage)
        inner += b"".join(_field(2, _plain_dims(one)) for one in operator.strategies)
        out += _field(2, _field(1, operator.name.encode()) + _field(2, inner))
    for name, layout in content.layouts.items():
        inner = b"".join(
            _field(number, _plain_dims(one))
            for number, lists in enumerate(layout[:4], 1)
            for one in lists
        )
        inner += b"".join(wire.integer(number, value) for number, value in enumerate(layout[4:], 5))
        out += _field(3, _field(1, name.encode()) + _field(2, inner))
    return out


def _field(number: int, content: bytes) -> bytes:
    return wire.prefix(number, len(content)) + content


def _plain_dims(dims: Dims) -> bytes:
    return b"".join(wire.integer(1, value) for value in dims.dim)


def _of_json(content: memoryview) -> StrategyFile:
    try:
        table = json.loads(bytes(content))
        operators = [
            OperatorStrategy(name, int(entry["stage"]), _lists(entry.get("parallel_strategy", [])))
            for name, entry in table.get("parallel_strategy_item", {}).items()
        ]
        layouts = {
            name: _json_layout(entry)
            for name, entry in table.get("parallel_layout_item", {}).items()
        }
        return StrategyFile(int(table.get("current_stage", 0)), operators, layouts)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        problem = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise wire.WireError(problem) from None


def _json_layout(entry: Any) -> ParallelLayouts:
    maps = entry["tensor_map"]
    nested = any(isinstance(one, list) for one in maps)
    return ParallelLayouts(
        (_list(entry["dev_matrix"]),),
        _lists(maps) if nested else (_list(maps),),
        (_list(entry.get("param_split_shape", [])),),
        (_list(entry.get("indices_offset", [])),),
        int(entry["field"]),
        int(entry["opt_weight_shard_step"]),
        int(entry["opt_weight_shard_size"]),
    )


def _lists(values: Any) -> tuple[Dims, ...]:
    return tuple(_list(value if isinstance(value, list) else [value]) for value in values)


def _list(values: Any) -> Dims:
    if not all(type(value) is int and -(1 << 63) <= value < 1 << 63 for value in values):
        raise TypeError(f"{values!r} is no list of integers")
    return Dims(tuple(values))


def _json(content: StrategyFile) -> bytes:
    operators = {
        one.name: {
            "parallel_strategy": [list(dims.dim) for dims in one.strategies],
            "stage": one.stage,
        }
        for one in content.operators
    }
    layouts = {}
    for name, layout in content.layouts.items():
        maps = [list(one.dim) for one in layout.tensor_map]
        entry: dict[str, Any] = {
            "dev_matrix": [size for one in layout.dev_matrix for size in one.dim],
            "field": layout.field,
            "opt_weight_shard_size": layout.opt_weight_shard_size,
            "opt_weight_shard_step": layout.opt_weight_shard_step,
            "tensor_map": maps if len(maps) > 1 else [axis for one in maps for axis in one],
        }
        for key in ("param_split_shape", "indices_offset"):
            numbers = [number for one in getattr(layout, key) for number in one.dim]
            if numbers:
                entry[key] = numbers
        layouts[name] = entry
    table = {
        "current_stage": content.current_stage,
        "parallel_layout_item": layouts,
        "parallel_strategy_item": operators,
    }
    return json.dumps(table).encode()
