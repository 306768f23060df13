"""``load_segmented_checkpoints``: several files of one folder as one dictionary."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from mindjax.checkpoint.load import load_checkpoint, load_param_into_net
from mindjax.core.errors import located
from mindjax.nn.cell import Cell


def load_segmented_checkpoints(
    ckpt_file_dir: str,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: Callable[[str], bool] | None = None,
) -> dict[str, Any]:
    """Load every ``.ckpt`` file of a folder, in the order of their names.

    Args:
        ckpt_file_dir: folder.
        net: Cell into which the Parameters are loaded as well.
        strict_load: see :func:`load_param_into_net`.
        filter_prefix: names that begin so are left out.
        dec_key: key with which the files were encrypted.
        dec_mode: ``"AES-GCM"``, ``"AES-CBC"`` or ``"SM4-CBC"``.
        specify_prefix: only names that begin so are kept.
        choice_func: takes a name and tells whether it is kept.

    Returns:
        Names and Parameters of all files; of equal names the last file's.

    Raises:
        TypeError: ``ckpt_file_dir`` is no string.
        RuntimeError: shapes or dtypes do not match those of ``net``.
        ValueError: there is no such folder, or a file is damaged.

    MindSpore: ``mindspore.load_segmented_checkpoints``.
    """
    if not isinstance(ckpt_file_dir, str):
        raise located(TypeError, "The ckpt_file_dir should be a str.")
    if not os.path.isdir(ckpt_file_dir):
        raise located(
            ValueError,
            f"The dst_strategy_file: {ckpt_file_dir} doesn't exist. Or it's not a directory",
        )
    arguments = (filter_prefix, dec_key, dec_mode, specify_prefix, choice_func)
    found: dict[str, Any] = {}
    for name in sorted(os.listdir(ckpt_file_dir)):
        if name.endswith(".ckpt"):
            path = os.path.join(ckpt_file_dir, name)
            found.update(load_checkpoint(path, None, strict_load, *arguments))
    if net is not None:
        # Once all are read: a damaged file leaves the network as it was.
        load_param_into_net(net, found, strict_load)
    return found
