"""``unified_safetensors``: the files of all ranks as whole Parameters in a few files, and back."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from mindjax.checkpoint import safetensors
from mindjax.checkpoint.layouts import LayoutError, Placements, placements, undivided
from mindjax.checkpoint.load import read_file
from mindjax.checkpoint.redistribute import Held, assemble
from mindjax.checkpoint.save import mark_int4, write_file
from mindjax.checkpoint.strategy import build_searched_strategy
from mindjax.checkpoint.transform import make_folder, rank_files, rank_list_for_transform
from mindjax.core import checks
from mindjax.core.atomic import replacing
from mindjax.core.errors import located
from mindjax.tensor import Parameter, Tensor

_MAP = "param_name_map.json"
_HYPER = "hyper_param.safetensors"
# A part holds about so many bytes.
_PART_BYTES = 3 << 30


def unified_safetensors(
    src_dir: str,
    src_strategy_file: str,
    dst_dir: str,
    merge_with_redundancy: bool = True,
    file_suffix: str | None = None,
    max_process_num: int = 64,
    choice_func: Callable[[str], bool | str] | None = None,
    split_dst_file: tuple[int, ...] = (),
) -> None:
    """Merge the safetensors files of all ranks.

    Args:
        src_dir: folder whose folders ``rank_0``, ``rank_1`` ... hold the files.
        src_strategy_file: strategy with which they were written.
        dst_dir: folder of ``part<n>.safetensors``, of ``hyper_param.safetensors`` with what has no
            layout, and of ``param_name_map.json``, which tells where each Parameter is.
        merge_with_redundancy: whether every rank's file is complete, or each value is only in one
            of the files that could hold it; what the files note about it goes first.
        file_suffix: how the names of the files end before the dot.
        max_process_num: how many parts are written at once, in threads.
        choice_func: takes a name and tells whether it is kept, or its new name.
        split_dst_file: ``(i, n)`` writes only the i-th of n shares of the parts, from 1.

    Raises:
        ValueError: a file is missing or damaged, or strategy and shapes do not fit.
        NotADirectoryError: ``dst_dir`` is a file.
        TypeError: an argument has the wrong type.

    MindSpore: ``mindspore.unified_safetensors``.
    """
    where = "unified_safetensors"
    make_folder(dst_dir)
    if os.path.isfile(src_dir):
        raise located(ValueError, f"For '{where}', the 'src_dir' can not be a file.")
    files = rank_files(src_dir, "safetensors", file_suffix)
    if files and rank_files(src_dir, "ckpt"):
        raise located(
            ValueError,
            f"For '{where}', the 'src_dir' cannot contain both ckpt file and safetensors file "
            "simultaneously",
        )
    checks.positive_int("max_process_num", max_process_num, where)
    share = _share(split_dst_file)
    strategy = build_searched_strategy(src_strategy_file)
    if not strategy:
        raise located(
            ValueError, f"For '{where}', 'src_strategy_file' {src_strategy_file} has no layouts."
        )
    for rank in rank_list_for_transform(0, src_strategy_file):
        if rank not in files:
            raise located(
                ValueError,
                f"The safetensor file of rank{rank} is needed for converting rank[0]'s safetensor, "
                "but it is missing.",
            )
    try:
        placed = placements(strategy)
        _Merge(files, placed, merge_with_redundancy, choice_func).write(
            os.path.realpath(dst_dir), max_process_num, share
        )
    except LayoutError as error:
        raise located(ValueError, f"For '{where}', {error}.") from None


def _share(split: Any) -> tuple[int, int] | None:
    if not split:
        return None
    if (
        not isinstance(split, tuple | list)
        or len(split) != 2
        or not all(type(number) is int for number in split)
        or not 1 <= split[0] <= split[1]
    ):
        raise located(
            ValueError,
            "For 'unified_safetensors', 'split_dst_file' must be two integers (i, n) with 1 <= i "
            f"<= n, but got {split!r}.",
        )
    return split[0], split[1]


class _Merge:
    """The files of all ranks, mapped, and how they become parts."""

    def __init__(
        self,
        files: dict[int, str],
        placed: Placements,
        redundant: bool,
        choice_func: Callable[[str], bool | str] | None,
    ) -> None:
        self._placed = placed
        self._noted = False
        count = next(iter(placed.values())).layout.ranks
        self._held: Held = {}
        for rank, path in files.items():
            for name, value in read_file(path, "safetensors", mapped=True).items():
                self._held.setdefault(name, {}).setdefault(rank % count, value)
            note = _redundancy(path)
            if note is not None:
                redundant, self._noted = not note, True
        self._incomplete = not redundant
        first = read_file(files[min(files)], "safetensors", mapped=True)
        self._new_names: dict[str, str] = {}
        for name in self._held:
            if name in placed and not name.startswith("accu_grads"):
                chosen = _chosen(name, choice_func)
                if chosen is not None:
                    self._new_names[name] = chosen
        self._hyper = {name: v for name, v in first.items() if name not in self._new_names}

    def write(self, folder: str, at_once: int, share: tuple[int, int] | None) -> None:
        """Write the parts, or a share of them; the first share writes the rest as well."""
        sizes = {name: self._bytes(name) for name in self._new_names}
        parts = _balanced(sizes, min(math.ceil(sum(sizes.values()) / _PART_BYTES), len(sizes)))
        mine = range(len(parts))
        if share is not None:
            each, more = divmod(len(parts), share[1])
            start = each * (share[0] - 1) + min(share[0] - 1, more)
            mine = range(start, start + each + (share[0] <= more))
        if share is None or share[0] == 1:
            if self._hyper:
                write_file(os.path.join(folder, _HYPER), self._hyper, "safetensors")
            names = {
                self._new_names[name]: f"part{index}.safetensors"
                for index, part in enumerate(parts)
                for name in part
            }
            table = {"metadata": {"total_size": sum(sizes.values())}, "weight_map": names}
            with replacing(os.path.join(folder, _MAP), 0o600) as file:
                file.write(json.dumps(table, indent=4).encode())
        with ThreadPoolExecutor(min(at_once, max(len(mine), 1), os.cpu_count() or 1)) as pool:
            for job in [pool.submit(self._part, folder, i, parts[i]) for i in mine]:
                job.result()

    def _bytes(self, name: str) -> int:
        first = next(iter(self._held[name].values()))
        whole = self._placed[name].layout.whole(first.shape)
        return math.prod(whole) * first.dtype.itemsize

    def _part(self, folder: str, index: int, names: list[str]) -> None:
        entries: dict[str, Any] = {}
        for name in names:
            held, layout = self._held[name], self._placed[name].layout
            try:
                whole = assemble(held, layout, undivided(len(layout.spans)), 0, self._incomplete)
            except LayoutError as error:
                raise LayoutError(f"for the parameter '{name}', {error}") from None
            entries[self._new_names[name]] = whole
        path = os.path.join(folder, f"part{index}.safetensors")
        write_file(path, entries, "safetensors", False if self._noted else None)


def _redundancy(path: str) -> bool | None:
    """Give what a file notes about left-out values, or None."""
    with open(path, "rb") as file:
        note = safetensors.metadata(file).get("remove_redundancy")
    return {"True": True, "False": False}.get(str(note))


def _chosen(name: str, choice_func: Callable[[str], bool | str] | None) -> str | None:
    chosen = True if choice_func is None else choice_func(name)
    if not isinstance(chosen, bool | str):
        raise located(
            ValueError,
            "For 'unified_safetensors', the return value type of the function 'choice_func' must "
            f"be bool or str, but got {type(chosen)}.",
        )
    if isinstance(chosen, str):
        return chosen
    return name if chosen else None


def _balanced(sizes: dict[str, int], count: int) -> list[list[str]]:
    """Divide names into groups of about equal size, the largest first."""
    groups: list[list[str]] = [[] for _ in range(count)]
    totals = [0] * count
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        least = totals.index(min(totals))
        groups[least].append(name)
        totals[least] += size
    return groups


class Source:
    """A folder that `unified_safetensors` wrote, read as one rank needs it.

    Args:
        folder: the folder; a single safetensors file in it needs no ``param_name_map.json``.
        strategy_file: strategy for which the values are divided; None for whole ones.
        name_map: names that are asked for and those in the files.

    Raises:
        ValueError: the folder, a file or the strategy is missing or wrong.
        TypeError: the strategy is no path.
    """

    def __init__(
        self, folder: str, strategy_file: str | None, name_map: dict[str, str] | None
    ) -> None:
        if not os.path.isdir(folder):
            raise self._wrong(f"'unified_safetensors_dir' {folder} is no folder")
        self._folder = folder
        self._map = name_map or {}
        self._strategy = build_searched_strategy(strategy_file)
        names = sorted(name for name in os.listdir(folder) if name.endswith(".safetensors"))
        self._hyper = _HYPER in names
        if len(names) == 1 and not self._hyper:
            back = {new: old for old, new in self._map.items()}
            inside = read_file(os.path.join(folder, names[0]), "safetensors", mapped=True)
            self._places = {back.get(name, name): names[0] for name in inside}
        else:
            self._places = self._read_map()

    @staticmethod
    def _wrong(problem: str) -> ValueError:
        return located(ValueError, f"For 'load_distributed_checkpoint', {problem}.")

    def _read_map(self) -> dict[str, str]:
        path = os.path.join(self._folder, _MAP)
        try:
            with open(path, encoding="utf-8") as file:
                table = json.load(file)
            table = table.get("weight_map", table)
            places = dict(table)
        except FileNotFoundError:
            raise self._wrong(
                f"there must be a JSON file named '{_MAP}' in {self._folder}"
            ) from None
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            raise self._wrong(f"the file {path} is no map of names to files") from None
        for name, place in places.items():
            if not isinstance(place, str) or os.path.basename(place) != place:
                raise self._wrong(f"'{name}' stands in {place!r}, which is no file of the folder")
        return places

    @contextlib.contextmanager
    def _fitting(self) -> Iterator[None]:
        try:
            yield
        except LayoutError as error:
            raise self._wrong(str(error)) from None

    def values(self, rank: int) -> dict[str, np.ndarray]:
        """Give the arrays that a rank needs."""
        with self._fitting():
            target = None if self._strategy is None else placements(self._strategy, rank)
            wanted = list(self._places)
            local = rank
            if target:
                count = next(iter(target.values())).layout.ranks
                stage, local = divmod(rank, count)
                wanted = [name for name, placed in target.items() if stage in placed.stages]
            found: dict[str, np.ndarray] = {}
            files: dict[str, dict[str, np.ndarray]] = {}
            for name in wanted:
                place = self._places.get(name, self._places.get(self._map.get(name, name)))
                if place is None:
                    continue
                if place not in files:
                    path = os.path.join(self._folder, place)
                    files[place] = read_file(path, "safetensors", mapped=True)
                inside = files[place].get(self._map.get(name, name))
                if inside is None:
                    continue
                layout = target[name].layout if target else undivided(inside.ndim)
                try:
                    found[name] = assemble({0: inside}, undivided(inside.ndim), layout, local)
                except LayoutError as error:
                    raise LayoutError(f"for the parameter '{name}', {error}") from None
        if self._hyper:
            found.update(read_file(os.path.join(self._folder, _HYPER), "safetensors"))
        return found

    def parameters(self, rank: int) -> dict[str, Parameter]:
        """Give the Parameters that a rank needs."""
        found = {}
        for name, array in self.values(rank).items():
            found[name] = Parameter(Tensor.from_numpy(np.asarray(array)), name=name)
            if isinstance(array, safetensors.Int4):
                mark_int4(found[name])
        return found

    def write(self, folder: str, rank: int | None, kind: str, at_once: int) -> None:
        """Write the file of one rank, or of every rank of the strategy."""
        ranks = range(1) if rank is None else range(rank, rank + 1)
        if rank is None and self._strategy:
            with self._fitting():
                placed = placements(self._strategy)
            stages = {stage for one in placed.values() for stage in one.stages}
            ranks = range(next(iter(placed.values())).layout.ranks * len(stages))
        with ThreadPoolExecutor(min(at_once, len(ranks), os.cpu_count() or 1)) as pool:
            for job in [pool.submit(self._write_rank, folder, one, kind) for one in ranks]:
                job.result()

    def _write_rank(self, folder: str, rank: int, kind: str) -> None:
        inner = os.path.join(folder, f"rank_{rank}")
        make_folder(inner)
        write_file(os.path.realpath(os.path.join(inner, f"net.{kind}")), self.values(rank), kind)
