"""``transform_checkpoints`` and its kin: the files of all ranks for another strategy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mindjax.checkpoint.layouts import LayoutError, Placements, needed_ranks, placements, undivided
from mindjax.checkpoint.load import read_file
from mindjax.checkpoint.redistribute import Held, redistribute
from mindjax.checkpoint.save import FORMATS, write_file
from mindjax.checkpoint.strategy import build_searched_strategy, read_strategy
from mindjax.core import checks
from mindjax.core.errors import located

_OPTIMIZER = ("accu_grads", "adam_v", "adam_m")


def rank_list_for_transform(
    rank_id: int, src_strategy_file: str | None = None, dst_strategy_file: str | None = None
) -> list[int]:
    """Tell whose files a rank's new file is made of.

    Args:
        rank_id: rank that the new file is for.
        src_strategy_file: strategy with which the files were written; None if they are whole.
        dst_strategy_file: strategy for which the new file is made; None for a whole one.

    Returns:
        Ranks, the highest first.

    Raises:
        ValueError: a strategy file is missing, empty, wrong, or the two do not fit each other.
        TypeError: an argument has the wrong type, or a file is damaged.

    MindSpore: ``mindspore.rank_list_for_transform``.
    """
    if not isinstance(rank_id, int):
        raise located(TypeError, "The rank_id should be a int.")
    if src_strategy_file is None:
        return [0]
    try:
        return _rank_list(rank_id, *_local(rank_id, src_strategy_file, dst_strategy_file))
    except LayoutError as error:
        raise located(ValueError, f"For 'rank_list_for_transform', {error}.") from None


def transform_checkpoint_by_rank(
    rank_id: int,
    checkpoint_files_map: dict[int, str],
    save_checkpoint_file_name: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
) -> None:
    """Make one rank's new file.

    Args:
        rank_id: rank that the new file is for.
        checkpoint_files_map: the ranks that `rank_list_for_transform` gives, and their files.
        save_checkpoint_file_name: path of the new file, which ends with ``.ckpt``.
        src_strategy_file: strategy with which the files were written; None if they are whole.
        dst_strategy_file: strategy for which the new file is made; None for a whole one.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a file is missing or damaged, or strategies and shapes do not fit.

    MindSpore: ``mindspore.transform_checkpoint_by_rank``.
    """
    where = "transform_checkpoint_by_rank"
    if not isinstance(checkpoint_files_map, dict):
        raise located(TypeError, "The checkpoint_files_map should be a dict.")
    if not isinstance(rank_id, int):
        raise located(TypeError, "The rank_id should be a int.")
    if not isinstance(save_checkpoint_file_name, str):
        raise located(TypeError, "The save_checkpoint_file_name should be a str.")
    if not save_checkpoint_file_name.endswith(".ckpt"):
        raise located(
            ValueError,
            f"The save_checkpoint_file_name {save_checkpoint_file_name} should end with .ckpt",
        )
    _check_folder("dst_strategy_file", dst_strategy_file)
    for rank, path in checkpoint_files_map.items():
        if not os.path.exists(path):
            raise located(ValueError, f"Checkpoint file {path} in rank {rank} not exits: ")
    try:
        source, target = _local(rank_id, src_strategy_file, dst_strategy_file)
        everywhere = _placements(src_strategy_file), _placements(dst_strategy_file)
        held = _held(checkpoint_files_map, "ckpt", _stage_ranks(source))
        held = _of_stage(held, everywhere, (source, target))
        found = redistribute(rank_id % _stage_ranks(target), held, source, target)
    except LayoutError as error:
        raise located(ValueError, f"For '{where}', {error}.") from None
    write_file(os.path.realpath(save_checkpoint_file_name), found, "ckpt")


def transform_checkpoints(
    src_checkpoints_dir: str,
    dst_checkpoints_dir: str,
    ckpt_prefix: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
    process_num: int = 1,
    output_format: str = "ckpt",
) -> None:
    """Make every rank's new file.

    Args:
        src_checkpoints_dir: folder whose folders ``rank_0``, ``rank_1`` ... hold the old files, all
            ``.ckpt`` or all ``.safetensors``; of several in one folder the last by name counts.
        dst_checkpoints_dir: folder of the new ones, ``rank_<n>/<prefix><n>.<format>``.
        ckpt_prefix: how the names of the new files begin.
        src_strategy_file: strategy with which the files were written; None if they are whole.
        dst_strategy_file: strategy for which the new files are made; None for a whole one.
        process_num: how many new files are made at once, in threads; only for safetensors.
        output_format: ``"ckpt"``, or ``"safetensors"`` where the old files are such.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a file is missing or damaged, or strategies and shapes do not fit.
        NotADirectoryError: ``dst_checkpoints_dir`` is a file.

    MindSpore: ``mindspore.transform_checkpoints``.
    """
    where = "transform_checkpoints"
    files = {kind: rank_files(src_checkpoints_dir, kind) for kind in FORMATS}
    if all(files.values()):
        raise located(
            ValueError,
            f"For '{where}', the 'src_checkpoints_dir' cannot contain both ckpt file and "
            "safetensors file simultaneously",
        )
    if not any(files.values()):
        raise located(ValueError, f"For '{where}', the 'src_checkpoints_dir' can not be empty.")
    kind = "safetensors" if files["safetensors"] else "ckpt"
    if output_format not in FORMATS:
        raise located(
            ValueError,
            f"For '{where}', the output_format must be 'safetensors' or 'ckpt', but got "
            f"{output_format}.",
        )
    if (kind, output_format) == ("ckpt", "safetensors"):
        raise located(
            ValueError,
            f"For '{where}', 'output_format' can not be 'safetensors' when 'src_checkpoints_dir' "
            "only contains ckpt file.",
        )
    if not isinstance(ckpt_prefix, str):
        raise located(TypeError, "The ckpt_prefix should be a str.")
    checks.positive_int("process_num", process_num, where)
    make_folder(dst_checkpoints_dir)
    for argument, path in (("src", src_strategy_file), ("dst", dst_strategy_file)):
        _check_folder(f"{argument}_strategy_file", path)
    try:
        everywhere = _placements(src_strategy_file), _placements(dst_strategy_file)
        stages = [_stage_count(one) for one in everywhere]
        if kind == "ckpt" and stages == [1, 1] and _is_one_stage(*everywhere):
            _of_one_stage(
                files[kind], dst_checkpoints_dir, ckpt_prefix, str(src_strategy_file), *everywhere
            )
            return
        groups = _groups(files[kind], everywhere, src_strategy_file, dst_strategy_file, stages[1])
        count = process_num if kind == "safetensors" else 1
        with ThreadPoolExecutor(count) as pool:
            jobs = []
            for needed, ranks in groups.items():
                paths = {rank: files[kind][rank] for rank in needed}
                local = {rank: _local(rank, src_strategy_file, dst_strategy_file) for rank in ranks}
                jobs.append(
                    pool.submit(
                        _transform_group,
                        paths,
                        local,
                        everywhere,
                        os.path.realpath(dst_checkpoints_dir),
                        ckpt_prefix,
                        (kind, output_format),
                    )
                )
            for job in jobs:
                job.result()
    except LayoutError as error:
        raise located(ValueError, f"For '{where}', {error}.") from None


def rank_list_for_convert(
    rank_id: int, src_strategy_file: str | None = None, dst_strategy_file: str | None = None
) -> list[int]:
    """Do as `rank_list_for_transform` (MindSpore: ``parallel.rank_list_for_convert``)."""
    return rank_list_for_transform(rank_id, src_strategy_file, dst_strategy_file)


def convert_checkpoint_by_rank(
    rank_id: int,
    checkpoint_files_map: dict[int, str],
    save_checkpoint_file_name: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
) -> None:
    """Do as `transform_checkpoint_by_rank` (``parallel.convert_checkpoint_by_rank``)."""
    transform_checkpoint_by_rank(
        rank_id,
        checkpoint_files_map,
        save_checkpoint_file_name,
        src_strategy_file,
        dst_strategy_file,
    )


def convert_checkpoints(
    src_checkpoints_dir: str,
    dst_checkpoints_dir: str,
    ckpt_prefix: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
    process_num: int = 1,
    output_format: str = "ckpt",
) -> None:
    """Do as `transform_checkpoints` (MindSpore: ``parallel.convert_checkpoints``)."""
    transform_checkpoints(
        src_checkpoints_dir,
        dst_checkpoints_dir,
        ckpt_prefix,
        src_strategy_file,
        dst_strategy_file,
        process_num,
        output_format,
    )


def rank_files(folder: str, kind: str, suffix: str | None = None) -> dict[int, str]:
    """Find the file of each rank.

    Args:
        folder: folder with the folders ``rank_0``, ``rank_1`` ...; for safetensors also one file.
        kind: ``"ckpt"`` or ``"safetensors"``.
        suffix: how the names of the files end before the dot; any way by default.

    Returns:
        Ranks and paths. Of several files the one whose last two numbers are highest counts, or with
        a suffix the one with the shortest name.

    Raises:
        ValueError: a suffix is given and a rank has no file, or several, that ends so.
    """
    if kind == "safetensors" and os.path.isfile(folder) and folder.endswith(kind):
        return {0: folder}
    found: dict[int, str] = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        match = re.fullmatch(r"rank_(\d+)", name)
        path = os.path.join(folder, name)
        if match is None or not os.path.isdir(path):
            continue
        ending = f"{suffix or ''}.{kind}"
        names = [n for n in sorted(os.listdir(path)) if n.endswith(ending)]
        names = [n for n in names if os.path.isfile(os.path.join(path, n))]
        if suffix is not None:
            names = [_with_suffix(names, path, suffix, kind)]
        elif kind == "safetensors":
            names.sort(key=_last_numbers)
        if names:
            found[int(match[1])] = os.path.join(path, names[-1])
    return found


def _with_suffix(names: list[str], folder: str, suffix: str, kind: str) -> str:
    if not names:
        raise located(
            ValueError,
            f"No safetensors files found in directory '{folder}' with suffix '{suffix}' and format "
            f"'{kind}'.",
        )
    if len(names) == 1:
        return names[0]
    # ModelCheckpoint's names: <prefix>[_<task>]-<epoch>_<step>.
    for pattern, mark in ((r"_?\d+-\d+_\d+", "_"), (r"-?\d+_\d+", "-"), (r"_?\d+", "_")):
        if re.fullmatch(pattern, suffix):
            ending = suffix if suffix.startswith(mark) else mark + suffix
            names = [n for n in names if n.endswith(f"{ending}.{kind}")]
            if pattern.startswith("_?\\d+-"):
                names = [n for n in names if not n.endswith(f"rank{ending}.{kind}")]
            shortest = [n for n in names if len(n) == min(map(len, names))]
            if len(shortest) == 1:
                return shortest[0]
            break
    raise located(
        ValueError,
        f"Multiple {kind} files ending with '{suffix}' found in {folder}. Please set file_suffix "
        "to the longest common suffix.",
    )


def _last_numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)][-2:]


def make_folder(path: str) -> None:
    """Make a folder unless it is there, or raise the original's error."""
    if not isinstance(path, str):
        raise located(TypeError, "The path is invalid, the type should be string.")
    if not path.strip():
        raise located(ValueError, "The path is invalid, it should be non-blank.")
    if os.path.exists(path) and not os.path.isdir(path):
        raise located(
            NotADirectoryError,
            f"The path({os.path.realpath(path)}) is a file path, it should be a directory path.",
        )
    os.makedirs(path, mode=0o700, exist_ok=True)


def _check_folder(argument: str, path: str | None) -> None:
    folder = os.path.dirname(path) if isinstance(path, str) else ""
    if folder and not os.path.exists(folder):
        raise located(ValueError, f"The director of {argument}: {folder} is not exists.")


def _placements(path: str | None, rank: int | None = None) -> Placements | None:
    strategy = build_searched_strategy(path)
    if strategy is None:
        return None
    found = placements(strategy, rank)
    if not found:
        raise LayoutError(f"the strategy file {path} is empty")
    return found


def _local(
    rank: int, source_file: str | None, target_file: str | None
) -> tuple[Placements | None, Placements | None]:
    """Give the layouts that concern the pipeline stage of a rank of the target."""
    source, target = _placements(source_file), _placements(target_file, rank)
    if target is None:
        return source, None
    stage = rank // _stage_ranks(target)
    kept = {name: placed for name, placed in target.items() if stage in placed.stages}
    if source is not None:
        source = {name: p for name, p in source.items() if name in kept or name not in target}
    return source, kept


def _stage_ranks(found: Placements | None) -> int:
    return next(iter(found.values())).layout.ranks if found else 1


def _stage_count(found: Placements | None) -> int:
    if found is None:
        return 1
    stages = {stage for placed in found.values() for stage in placed.stages}
    if stages != set(range(len(stages))):
        raise LayoutError("The strategy file for pipeline parallel does not contains all stages")
    return len(stages)


def _rank_list(rank: int, source: Placements | None, target: Placements | None) -> list[int]:
    if not source:
        raise LayoutError("The src_strategy_file is empty")
    local = rank % _stage_ranks(target)
    within: set[int] = set()
    for name, placed in source.items():
        if target is not None and name not in target:
            continue
        ours = placed.layout
        theirs = undivided(len(ours.spans)) if target is None else target[name].layout
        within.update(needed_ranks(ours, theirs, local))
    count = _stage_ranks(source)
    stages = {stage for placed in source.values() for stage in placed.stages}
    return sorted({stage * count + one for stage in stages for one in within}, reverse=True)


def _held(files: dict[int, str], kind: str, count: int) -> Held:
    """Read files; the ranks become those within a stage."""
    held: Held = {}
    for rank, path in files.items():
        for name, value in read_file(path, kind, mapped=True).items():
            held.setdefault(name, {})[rank % count] = value
    return held


def _of_stage(
    held: Held,
    everywhere: tuple[Placements | None, Placements | None],
    local: tuple[Placements | None, Placements | None],
) -> Held:
    """Leave out what belongs to another pipeline stage."""

    def outside(name: str) -> bool:
        return all(
            whole is None or own is None or (name in whole and name not in own)
            for whole, own in zip(everywhere, local, strict=True)
        )

    return {name: parts for name, parts in held.items() if not outside(name)}


def _groups(
    files: dict[int, str],
    everywhere: tuple[Placements | None, Placements | None],
    source_file: str | None,
    target_file: str | None,
    stages: int,
) -> dict[tuple[int, ...], list[int]]:
    """Group the new ranks by the ranks whose files they are made of."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for rank in range(_stage_ranks(everywhere[1]) * stages):
        local = _local(rank, source_file, target_file)
        needed = [0] if source_file is None else _rank_list(rank, *local)
        for one in needed:
            if one not in files:
                raise LayoutError(
                    f"The checkpoint file of rank{one} is needed for converting rank{rank}'s "
                    "checkpoint, but it is missing"
                )
        groups.setdefault(tuple(needed), []).append(rank)
    return groups


def _transform_group(
    paths: dict[int, str],
    local: dict[int, tuple[Placements | None, Placements | None]],
    everywhere: tuple[Placements | None, Placements | None],
    folder: str,
    prefix: str,
    kinds: tuple[str, str],
) -> None:
    held = _held(paths, kinds[0], _stage_ranks(everywhere[0]))
    for rank, (source, target) in local.items():
        own = _of_stage(held, everywhere, (source, target))
        found = redistribute(rank % _stage_ranks(everywhere[1]), own, source, target)
        _write(folder, rank, f"{prefix}{rank}", found, kinds[1])


def _write(folder: str, rank: int, name: str, entries: dict[str, Any], kind: str) -> None:
    inner = os.path.join(folder, f"rank_{rank}")
    make_folder(inner)
    path = os.path.realpath(os.path.join(inner, f"{name}.{kind}"))
    if not path.startswith(folder + os.sep):
        raise located(ValueError, f"The ckpt_prefix '{name}' leads out of {folder}.")
    write_file(path, entries, kind)


def _is_one_stage(source: Placements | None, target: Placements | None) -> bool:
    """Tell whether the source is one stage's file of a program that the target holds whole."""
    if not source or not target:
        return False
    ours, theirs = (_without_state(one) for one in (source, target))
    return ours < theirs


def _without_state(found: Iterable[str]) -> set[str]:
    return {name for name in found if not name.startswith(_OPTIMIZER)}


def _of_one_stage(
    files: dict[int, str],
    folder: str,
    prefix: str,
    source_file: str,
    source: Placements | None,
    target: Placements | None,
) -> None:
    assert source is not None and target is not None
    operators = read_strategy(source_file).operators
    if not operators:
        raise LayoutError(f"The strategy file {source_file} if empty")
    stage, count = operators[0].stage, _stage_ranks(source)
    own = {rank: path for rank, path in files.items() if rank // count == stage}
    kept = {name: placed for name, placed in target.items() if name in source}
    held = _held(own, "ckpt", count)
    for rank in range(_stage_ranks(kept)):
        found = redistribute(rank, held, source, kept)
        _write(os.path.realpath(folder), rank, f"{prefix}{rank}_part{stage}", found, "ckpt")
