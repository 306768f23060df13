"""``newest_checkpoint`` and its kin: the file from which an interrupted training goes on."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from mindjax.checkpoint import ckpt, safetensors
from mindjax.checkpoint.layouts import LayoutError, Placements, placements, undivided
from mindjax.checkpoint.load import read_file
from mindjax.checkpoint.redistribute import Held, assemble
from mindjax.checkpoint.strategy import build_searched_strategy
from mindjax.core import world
from mindjax.core.errors import located
from mindjax.tensor import Parameter, Tensor


def newest_checkpoint(folder: str, prefix: str = "") -> str | None:
    """Find the newest complete checkpoint of a folder.

    A file that is cut off or damaged, as a copy that broke off leaves it, is passed over: its
    structure is checked, and its check sum if it has one.

    Args:
        folder: folder of ``.ckpt`` and ``.safetensors`` files.
        prefix: only files whose names begin so.

    Returns:
        Path of the file that was written last; of files of one time, the one with the highest
        numbers in its name. None if no complete file is there.

    Raises:
        NotADirectoryError: there is no such folder.
    """
    if not os.path.isdir(folder):
        raise located(
            NotADirectoryError, f"For 'newest_checkpoint', 'folder' {folder} is no folder."
        )
    names = [
        name
        for name in os.listdir(folder)
        if name.startswith(prefix) and name.endswith((".ckpt", ".safetensors"))
    ]
    paths = [os.path.join(folder, name) for name in names if not name.startswith(".")]
    for path in sorted(filter(os.path.isfile, paths), key=_age, reverse=True):
        if is_complete(path):
            return path
    return None


def load_newest_of_ranks(folder: str, strategy_file: str | None = None) -> dict[str, Any] | None:
    """Load the newest checkpoint that every rank of a training has written in full.

    A training that ended in the middle of a save left a file to some of its ranks only: that save
    is passed over.

    Args:
        folder: folder of one training, with the folders ``rank_0``, ``rank_1`` ... of its ranks'
            files, which have the same names in each.
        strategy_file: strategy that the training wrote, by which the parts of Parameters are put
            together; None where each rank saved whole ones.

    Returns:
        Names and whole Parameters, for `load_param_into_net` on any number of ranks, with what the
        file has besides, as ``step_num``; None if there is no such checkpoint.

    Raises:
        NotADirectoryError: there is no such folder.
        ValueError: the files of a rank are missing, or there are more ranks than in the strategy,
            or parts and strategy do not fit.
    """
    where = "For 'load_newest_of_ranks'"
    if not os.path.isdir(folder):
        raise located(NotADirectoryError, f"{where}, 'folder' {folder} is no folder.")
    found = sorted(
        int(m[1]) for m in (re.fullmatch(r"rank_(\d+)", n) for n in os.listdir(folder)) if m
    )
    try:
        placed = placements(build_searched_strategy(strategy_file) or {})
    except LayoutError as error:
        raise located(ValueError, f"{where}, {error}.") from None
    count = max((one.layout.ranks for one in placed.values()), default=len(found))
    if found and found != list(range(count)):
        raise located(
            ValueError,
            f"{where}, {folder} has the folders of the ranks {found}, but the training had {count} "
            "ranks: keep the files of each training in a folder of its own.",
        )
    if not found:
        return None
    first = os.path.join(folder, "rank_0")
    names = [n for n in os.listdir(first) if n.endswith((".ckpt", ".safetensors"))]
    names = [n for n in names if not n.startswith(".") and os.path.isfile(f"{first}/{n}")]
    for name in sorted(names, key=lambda n: _age(f"{first}/{n}"), reverse=True):
        paths = [os.path.join(folder, f"rank_{rank}", name) for rank in range(count)]
        if all(map(is_complete, paths)):
            return _joined(paths, placed, where)
    return None


def _joined(paths: list[str], placed: Placements, where: str) -> dict[str, Any]:
    """Put the files of all ranks together; what has no layout is as rank 0 has it."""
    kind = paths[0].rpartition(".")[2]
    held: Held = {}
    for rank, path in enumerate(paths if placed else paths[:1]):
        for name, value in read_file(path, kind).items():
            held.setdefault(name, {})[rank] = value
    try:
        whole = {
            name: assemble(parts, placed[name].layout, undivided(parts[0].ndim), 0)
            if name in placed
            else parts[0]
            for name, parts in held.items()
        }
    except LayoutError as error:
        raise located(ValueError, f"{where}, {error}.") from None
    return {
        name: value
        if isinstance(value, str)
        else Parameter(Tensor.from_numpy(np.asarray(value)), name=name)
        for name, value in whole.items()
    }


def is_complete(path: str) -> bool:
    """Tell whether a file can be read to its end.

    Args:
        path: ``.ckpt`` or ``.safetensors`` file; of an encrypted one only the first bytes are
            looked at.
    """
    try:
        with open(path, "rb") as file:
            if path.endswith(".safetensors"):
                safetensors.read(file, crc_check=True, mapped=True)
                return True
            if ckpt.is_encrypted(file):
                return True
            return bool(ckpt.read(file, crc_check=True, mapped=True))
    except (OSError, ckpt.CkptError, safetensors.SafetensorsError):
        return False


def get_ckpt_path_with_strategy(cur_ckpt_path: str, cur_strategy_path: str) -> str | None:
    """Find a rank's file, or that of another rank that holds the same parts of all Parameters.

    Args:
        cur_ckpt_path: path of this rank's file, with ``rank_<n>`` in it.
        cur_strategy_path: strategy with which the files were written.

    Returns:
        Path of a file that is there; None if there is none.

    Raises:
        ValueError: the strategy file is missing or wrong.
        TypeError: it is no path, or damaged.

    MindSpore: ``mindspore.get_ckpt_path_with_strategy``.
    """
    rank = world.transport.rank if world.GlobalComm.INITED else world.environment("RANK_ID", 0)
    if f"rank_{rank}" in cur_ckpt_path and os.path.isfile(cur_ckpt_path):
        return cur_ckpt_path
    try:
        placed = placements(build_searched_strategy(cur_strategy_path) or {})
    except LayoutError as error:
        raise located(ValueError, f"For 'get_ckpt_path_with_strategy', {error}.") from None
    layouts = [
        one.layout for name, one in placed.items() if not name.startswith(("accu_grads", "inputs"))
    ]
    count = layouts[0].ranks if layouts else 1
    start = rank - rank % count
    for other in range(start, start + count):
        # Parts of the smallest whole that divides: equal parts are equal in every other.
        if all(one.part(other, one.counts()) == one.part(rank, one.counts()) for one in layouts):
            path = re.sub(r"rank_\d+", f"rank_{other}", cur_ckpt_path)
            if os.path.isfile(path):
                return path
    return None


def _age(path: str) -> tuple[int, list[int], str]:
    name = os.path.basename(path)
    return os.stat(path).st_mtime_ns, [int(n) for n in re.findall(r"\d+", name)], name
