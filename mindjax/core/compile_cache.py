"""Compiled programs kept on disk: jax's persistent compilation cache, bounded in size.

Nothing here happens at import: `set_context`, the original's variables and ``mindjax run`` ask.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any

import jax

LIMIT = 1 << 30
"""Bytes that the folder keeps from one process to the next."""

_OFF = ("0", "off", "false", "no")


class _Before:
    """jax's settings as they were, while MindJAX's hold."""

    settings: dict[str, Any] | None = None


def default_folder() -> str:
    """Give the user's folder for compiled programs."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, "mindjax", "programs")


def enable(folder: str | None = None, limit: int = LIMIT) -> str:
    """Keep compiled programs in a folder from now on.

    Args:
        folder: where; None takes `default_folder`.
        limit: bytes; older programs are deleted first.

    Returns:
        The folder.
    """
    folder = os.path.abspath(folder or default_folder())
    os.makedirs(folder, exist_ok=True)
    trim(folder, limit)
    names = (
        "jax_compilation_cache_dir",
        "jax_enable_compilation_cache",
        "jax_persistent_cache_min_compile_time_secs",
    )
    if _Before.settings is None:
        _Before.settings = {name: _setting(name) for name in names}
    for name, value in zip(names, (folder, True, 0.0), strict=True):
        jax.config.update(name, value)
    _look_again()
    return folder


def _setting(name: str) -> Any:
    return getattr(jax.config, name)


def disable() -> None:
    """Put jax's settings back to what they were before `enable`."""
    if _Before.settings is None:
        return
    for name, value in _Before.settings.items():
        jax.config.update(name, value)
    _Before.settings = None
    _look_again()


def _look_again() -> None:
    """Let jax see changed settings, at which it looks at its first compilation."""
    from jax.experimental.compilation_cache import compilation_cache

    compilation_cache.reset_cache()


def enable_for_run() -> str | None:
    """Enable the cache for ``mindjax run``, unless the user has settings of their own.

    ``MINDJAX_COMPILE_CACHE`` names another folder, or switches it off with ``0``.

    Returns:
        The folder, None where nothing was changed.
    """
    asked = os.environ.get("MINDJAX_COMPILE_CACHE", "")
    own = _setting("jax_compilation_cache_dir")
    if asked.lower() in _OFF or own or not _setting("jax_enable_compilation_cache"):
        return None
    with contextlib.suppress(OSError):
        return enable(asked or None)
    return None


def enable_as_original(path: str) -> None:
    """Enable the cache as the original's setting does.

    Args:
        path: ``compile_cache_path``; without it ``MS_COMPILER_CACHE_PATH`` or the user's folder.
    """
    enable(path or os.environ.get("MS_COMPILER_CACHE_PATH"))


def trim(folder: str, limit: int) -> int:
    """Delete the files of a folder that were used least lately until it fits.

    Args:
        folder: the folder; only files that jax names as its own are touched.
        limit: bytes that may stay.

    Returns:
        Bytes that were deleted.
    """
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(("-cache", "-atime")) and entry.is_file():
                state = entry.stat()
                found.append((max(state.st_atime, state.st_mtime), state.st_size, entry.path))
    excess = sum(size for _, size, _ in found) - limit
    deleted = 0
    for _, size, path in sorted(found):
        if deleted >= excess:
            break
        # Another process may be deleting too.
        with contextlib.suppress(OSError):
            os.remove(path)
        deleted += size
    return deleted
