"""The key-value store by which processes meet; this process holds it."""

from __future__ import annotations

import re
import threading
from datetime import timedelta
from typing import Any

from mindjax.core.errors import located

_STORES: dict[tuple[str, int], dict[str, bytes]] = {}
_CHANGED = threading.Condition()


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

    Args:
        host_name: of the store's server.
        port: of the store's server, 0 to 65535.
        world_size: number of processes; None is 1.
        is_master: whether this process is the server.
        timeout: how long `get` waits for a key.
        wait_for_workers: whether the server waits for the others; there are none.
        multi_tenant: kept for the original's signature, as are the last two.
        master_listen_fd: see ``multi_tenant``.
        use_libuv: see ``multi_tenant``.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a number is out of range.
        NotImplementedError: the world has more than one process.
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
        if size > 1:
            raise located(
                NotImplementedError,
                f"For 'TCPStore', a 'world_size' of {size} is not supported yet: start one "
                "process.",
            )
        self.host = host_name
        self.port = port
        self._timeout = timeout.total_seconds()
        self._keys = _STORES.setdefault((host_name, port), {})

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
        with _CHANGED:
            text = self._keys.get(key, b"0")
            if not re.fullmatch(rb"-?\d+", text):
                raise located(
                    RuntimeError, f"For 'TCPStore.add', the key '{key}' holds no number: {text!r}."
                )
            total = int(text) + amount
            self._keys[key] = str(total).encode()
            _CHANGED.notify_all()
        return total

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
        with _CHANGED:
            self._keys[key] = value.encode() if isinstance(value, str) else value
            _CHANGED.notify_all()

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
        with _CHANGED:
            if not _CHANGED.wait_for(lambda: key in self._keys, self._timeout):
                raise located(
                    RuntimeError,
                    f"For 'TCPStore.get', the key '{key}' was not set within {self._timeout} s.",
                )
            return self._keys[key]

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
        with _CHANGED:
            return self._keys.pop(key, None) is not None


def _check(owner: str, name: str, value: Any, kind: type | tuple[type, ...]) -> None:
    if not isinstance(value, kind):
        shown = kind.__name__ if isinstance(kind, type) else " or ".join(k.__name__ for k in kind)
        raise located(
            TypeError,
            f"For '{owner}', the argument '{name}' must be type of {shown}, but got '{name}' type "
            f": {type(value)}.",
        )
