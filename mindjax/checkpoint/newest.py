"""``newest_checkpoint``: the file from which an interrupted training goes on."""

from __future__ import annotations

import os
import re

from mindjax.checkpoint import ckpt, safetensors
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


def _age(path: str) -> tuple[int, list[int], str]:
    name = os.path.basename(path)
    return os.stat(path).st_mtime_ns, [int(n) for n in re.findall(r"\d+", name)], name
