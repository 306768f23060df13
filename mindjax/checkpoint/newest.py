"""``newest_checkpoint`` and its kin: the file from which an interrupted training goes on."""

from __future__ import annotations

import os
import re

from mindjax.checkpoint import ckpt, safetensors
from mindjax.checkpoint.layouts import LayoutError, placements
from mindjax.checkpoint.strategy import build_searched_strategy
from mindjax.core import world
from mindjax.core.errors import located


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
