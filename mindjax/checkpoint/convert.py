"""``ckpt_to_safetensors`` and ``safetensors_to_ckpt``: one file format to the other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from mindjax.checkpoint.load import read_file
from mindjax.checkpoint.save import write_file
from mindjax.core import checks
from mindjax.core.errors import located

_OTHER = {"ckpt": "safetensors", "safetensors": "ckpt"}


def ckpt_to_safetensors(
    file_path: str,
    save_path: str | None = None,
    name_map: Mapping[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Rewrite ckpt files as safetensors files; check sums are not carried over.

    Args:
        file_path: one ``.ckpt`` file, or a folder whose folders ``rank*`` hold such files.
        save_path: folder of the new files; beside the old ones by default.
        name_map: old names and new ones.
        file_name_regex: only files whose name it is found in are rewritten.
        processes_num: how many files are rewritten at once, in threads.

    Raises:
        ValueError: a path is wrong, the regular expression does not fit, two names become one, or
            a file is damaged, encrypted or holds a text.

    MindSpore: ``mindspore.ckpt_to_safetensors``.
    """
    _convert("ckpt_to_safetensors", file_path, save_path, name_map, file_name_regex, processes_num)


def safetensors_to_ckpt(
    file_path: str,
    save_path: str | None = None,
    name_map: Mapping[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Rewrite safetensors files as ckpt files, with the names in their order.

    Args:
        file_path: one ``.safetensors`` file, or a folder whose folders ``rank*`` hold such files.
        save_path: folder of the new files; beside the old ones by default.
        name_map: old names and new ones.
        file_name_regex: only files whose name it is found in are rewritten.
        processes_num: how many files are rewritten at once, in threads.

    Raises:
        ValueError: a path is wrong, the regular expression does not fit, two names become one, or
            a file is damaged.

    MindSpore: ``mindspore.safetensors_to_ckpt``.
    """
    _convert("safetensors_to_ckpt", file_path, save_path, name_map, file_name_regex, processes_num)


def _convert(
    where: str,
    file_path: str,
    save_path: str | None,
    name_map: Mapping[str, str] | None,
    regex: str | None,
    count: int,
) -> None:
    source = where.partition("_")[0]
    is_folder = os.path.isdir(file_path)
    if not is_folder and not os.path.isfile(file_path):
        raise located(
            ValueError,
            f"For {where}, the input path must be a valid path or file, but got {file_path}",
        )
    if save_path and os.path.splitext(save_path)[1]:
        raise located(
            ValueError, f"For {where}, the save_path must be a directory, but got '{save_path}'"
        )
    if name_map is not None and not isinstance(name_map, Mapping):
        raise located(
            ValueError,
            f"For {where}, the type of 'name_map' must be a directory, but got '{type(name_map)}'",
        )
    checks.positive_int("processes_num", count, where)
    if is_folder:
        pairs = list(_of_folder(where, file_path, save_path, regex, source))
    else:
        pairs = [_of_file(where, file_path, save_path, regex, source)]
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(_rewrite, *pair, source, name_map) for pair in pairs]:
            done.result()


def _of_file(
    where: str, path: str, save_path: str | None, regex: str | None, source: str
) -> tuple[str, str]:
    if not path.endswith(f".{source}"):
        raise located(
            ValueError, f"For {where}, the input file must be a .{source} file, but got {path}"
        )
    if regex is not None and not re.search(regex, path):
        raise located(
            ValueError, f"For {where}, the input file does not match the regular expression."
        )
    folder, base = os.path.split(path)
    return path, os.path.join(save_path or folder, _renamed(base, source))


def _of_folder(
    where: str, path: str, save_path: str | None, regex: str | None, source: str
) -> Iterator[tuple[str, str]]:
    ranks = sorted(entry.name for entry in os.scandir(path) if entry.is_dir())
    ranks = [name for name in ranks if name.startswith("rank")]
    if not ranks:
        raise located(
            ValueError, f"For '{where}', no directories starting with 'rank' found in {path}."
        )
    for rank in ranks:
        for base in sorted(os.listdir(os.path.join(path, rank))):
            if base.endswith(f".{source}") and (regex is None or re.search(regex, base)):
                target = os.path.join(save_path or path, rank, _renamed(base, source))
                yield os.path.join(path, rank, base), target


def _renamed(base: str, source: str) -> str:
    return f"{base.removesuffix(source)}{_OTHER[source]}"


def _rewrite(path: str, target: str, source: str, name_map: Mapping[str, str] | None) -> None:
    entries = {}
    for name, value in read_file(path, source, mapped=True).items():
        new = (name_map or {}).get(name, name)
        if new in entries:
            raise located(ValueError, f"For 'name_map', two parameters of {path} become '{new}'.")
        entries[new] = value
    folder = os.path.dirname(target)
    if folder:
        os.makedirs(folder, exist_ok=True)
    write_file(target, entries, _OTHER[source])
