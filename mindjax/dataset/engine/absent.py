"""What belongs to the original's machinery and is refused by name, each with a way out."""

from __future__ import annotations

from typing import Any, NoReturn

from mindjax.core.errors import located
from mindjax.dataset.engine.samplers import Shuffle


def _refuse(name: str, instead: str) -> NoReturn:
    raise located(NotImplementedError, f"'{name}' is not supported: {instead}.")


class DatasetCache:
    """A client of the original's cache server, which does not exist here.

    Args:
        session_id: its session.
        size: memory of the session.
        spilling: whether rows go to disk.
        hostname: the server's host.
        port: the server's port.
        num_connections: connections to it.
        prefetch_size: rows on their way.

    Raises:
        NotImplementedError: always.
    """

    def __init__(
        self,
        session_id: int,
        size: int = 0,
        spilling: bool = False,
        hostname: str | None = None,
        port: int | None = None,
        num_connections: int | None = None,
        prefetch_size: int | None = None,
    ) -> None:
        _refuse(
            "DatasetCache",
            "leave cache out; rows that are slow to make are kept by Dataset.save and MindDataset",
        )

    def get_stat(self) -> NoReturn:
        """Give nothing: there is no cache."""
        _refuse("DatasetCache.get_stat", "there is no cache")


class OBSMindDataset:
    """MindRecord files in a cloud's object store, for which there is no client here.

    Args:
        dataset_files: names of objects.
        server: address of the store.
        ak: key.
        sk: secret.
        sync_obs_path: where ranks meet.
        columns_list: the columns wanted.
        shuffle: order of the rows.
        num_shards: number of shards.
        shard_id: which shard this is.
        shard_equal_rows: whether shards are of equal size.

    Raises:
        NotImplementedError: always.
    """

    def __init__(
        self,
        dataset_files: Any,
        server: str,
        ak: str,
        sk: str,
        sync_obs_path: str,
        columns_list: list[str] | None = None,
        shuffle: Any = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shard_equal_rows: bool = True,
    ) -> None:
        _refuse(
            "OBSMindDataset",
            "fetch the files, or mount the store, and read them with MindDataset",
        )


def sync_wait_for_dataset(
    rank_id: int, rank_size: int, current_epoch: int, obs_runtime: Any
) -> NoReturn:
    """Wait for other ranks' downloads from an object store.

    Args:
        rank_id: this rank.
        rank_size: number of ranks.
        current_epoch: the epoch.
        obs_runtime: the store's client.

    Raises:
        NotImplementedError: always.
    """
    _refuse("sync_wait_for_dataset", "it belongs to OBSMindDataset; MindDataset needs no waiting")


class Plugin:
    """A transform from a shared library of the original's C++ interface.

    Args:
        lib_path: the library.
        func_name: name of the transform in it.
        user_args: text that it gets.

    Raises:
        NotImplementedError: always.
    """

    def __init__(self, lib_path: str, func_name: str, user_args: str | None = None) -> None:
        _refuse("Plugin", "map a Python function; ctypes calls functions of a library")
