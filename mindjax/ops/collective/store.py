"""The key-value store by which processes meet; one of them holds it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from mindjax.core.errors import located
from mindjax.core.key_value import Client, NotSet, Server, Table

# Of worlds of one process, whose keys need no server.
_TABLES: dict[tuple[str, int], Table] = {}


def address(url: str) -> tuple[str, int]:
    """Read ``tcp://IP:PORT``.

    Raises:
        RuntimeError: it is something else.
    """
    found = re.fullmatch(r"tcp://(\d+\.\d+\.\d+\.\d+|localhost):(\d+)", url)
    if found is None or int(found[2]) > 65535:
        raise located(RuntimeError, f"Failed to parse TCP URL from 'init_method': {url}")
    return found[1], int(found[2])


class TCPStore:
    """A key-value store shared by the processes of a world (MindSpore: ``TCPStore``).

    In a world of one process its keys live in this process: stores of one host and port share them.
    The keys travel unencrypted, between processes that trust one another.

    Args:
        host_name: of the store's server.
        port: of the store's server, 0 to 65535.
        world_size: number of processes; None is 1.
        is_master: whether this process is the server.
        timeout: how long `get` waits for a key, and the processes for one another.
        wait_for_workers: whether the server waits for the others.
        multi_tenant: kept for the original's signature, as are the last two.
        master_listen_fd: see ``multi_tenant``.
        use_libuv: see ``multi_tenant``.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a number is out of range.
        RuntimeError: the port is taken, or another process does not come in time.
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = timedelta(seconds=300),
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        size = 1 if world_size is None else world_size
        for name, value, kind in (
            ("host_name", host_name, str),
            ("port", port, int),
            ("is_master", is_master, bool),
            ("timeout", timeout, timedelta),
            ("wait_for_workers", wait_for_workers, bool),
            ("world_size", size, int),
        ):
            _check("TCPStore", name, value, kind)
        if not 0 <= port <= 65535:
            raise located(
                ValueError, f"For 'TCPStore', the argument 'port' must be legal, but got {port}."
            )
        if size <= 0:
            raise located(
                ValueError,
                f"For 'TCPStore', the argument 'world_size' must be legal, but got {size}.",
            )
        self.host = host_name
        self.port = port
        self._timeout = timeout.total_seconds()
        self._keys: Table | Client
        if size == 1:
            self._keys = _TABLES.setdefault((host_name, port), Table())
        elif is_master:
            self._keys = self._serve(size, wait_for_workers)
        else:
            try:
                self._keys = Client(host_name, port, self._timeout)
            except ConnectionError as error:
                raise located(RuntimeError, f"For 'TCPStore', {error}.") from None

    def _serve(self, size: int, waits: bool) -> Table:
        try:
            server = Server(self.host, self.port)
        except OSError as error:
            raise located(
                RuntimeError,
                f"For 'TCPStore', cannot listen on {self.host}:{self.port} ({error.strerror}): "
                "choose another port.",
            ) from None
        self.port = server.port
        if waits and not server.table.wait_for_members(size - 1, self._timeout):
            raise located(
                RuntimeError,
                f"For 'TCPStore', {server.table.members} of {size - 1} other processes have come "
                f"to {self.host}:{self.port} within {self._timeout} s.",
            )
        return server.table

    def add(self, key: str, amount: int) -> int:
        """Add to a counter, which starts at 0.

        Args:
            key: its name.
            amount: what is added.

        Returns:
            The new value.

        Raises:
            TypeError: an argument is of another type.
            RuntimeError: the key holds no number.
        """
        _check("TCPStore.add", "key", key, str)
        _check("TCPStore.add", "amount", amount, int)
        try:
            return self._keys.add(key, amount)
        except ValueError as error:
            raise located(RuntimeError, f"For 'TCPStore.add', {error}.") from None

    def set(self, key: str, value: str | bytes) -> None:
        """Write a value.

        Args:
            key: its name.
            value: text or bytes.

        Raises:
            TypeError: an argument is of another type.
        """
        _check("TCPStore.set", "key", key, str)
        _check("TCPStore.set", "value", value, (str, bytes))
        self._keys.set(key, value.encode() if isinstance(value, str) else value)

    def get(self, key: str) -> bytes:
        """Read a value, waiting for it until the timeout.

        Args:
            key: its name.

        Returns:
            The value as bytes.

        Raises:
            TypeError: ``key`` is no string.
            RuntimeError: nobody wrote it in time.
        """
        _check("TCPStore.get", "key", key, str)
        try:
            return self._keys.get(key, self._timeout)
        except NotSet as error:
            raise located(RuntimeError, f"For 'TCPStore.get', {error}.") from None

    def delete_key(self, key: str) -> bool:
        """Take a key away.

        Args:
            key: its name.

        Returns:
            Whether it was there.

        Raises:
            TypeError: ``key`` is no string.
        """
        _check("TCPStore.delete_key", "key", key, str)
        return self._keys.delete(key)


def _check(owner: str, name: str, value: Any, kind: type | tuple[type, ...]) -> None:
    if not isinstance(value, kind):
        shown = kind.__name__ if isinstance(kind, type) else " or ".join(k.__name__ for k in kind)
        raise located(
            TypeError,
            f"For '{owner}', the argument '{name}' must be type of {shown}, but got '{name}' type "
            f": {type(value)}.",
        )
