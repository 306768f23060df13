"""A key-value store of several processes: a server in one of them, and its clients."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from typing import Any

_HEAD = struct.Struct("!II")


class NotSet(RuntimeError):
    """A key that nobody wrote in time."""


class Table:
    """Keys and values of one process; any thread may use it."""

    def __init__(self) -> None:
        self._keys: dict[str, bytes] = {}
        self._changed = threading.Condition()
        # How many processes have come, the server's own included.
        self.members = 0

    def come(self) -> None:
        """Count a process."""
        with self._changed:
            self.members += 1
            self._changed.notify_all()

    def wait_for_members(self, count: int, timeout: float) -> bool:
        """Wait until so many processes have come; tell whether they have."""
        with self._changed:
            return self._changed.wait_for(lambda: self.members >= count, timeout)

    def add(self, key: str, amount: int) -> int:
        """Add to a counter and give its new value.

        Raises:
            ValueError: the key holds no number.
        """
        with self._changed:
            text = self._keys.get(key, b"0")
            if not re.fullmatch(rb"-?\d+", text):
                raise ValueError(f"the key '{key}' holds no number: {text!r}")
            total = int(text) + amount
            self._keys[key] = str(total).encode()
            self._changed.notify_all()
        return total

    def set(self, key: str, value: bytes) -> None:
        """Write a value."""
        with self._changed:
            self._keys[key] = value
            self._changed.notify_all()

    def get(self, key: str, timeout: float) -> bytes:
        """Read a value, waiting for it.

        Raises:
            NotSet: nobody wrote it in time.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: key in self._keys, timeout):
                raise NotSet(f"the key '{key}' was not set within {timeout} s")
            return self._keys[key]

    def delete(self, key: str) -> bool:
        """Take a key away; tell whether it was there."""
        with self._changed:
            return self._keys.pop(key, None) is not None


class Server:
    """Serves a `Table` to other processes, in threads.

    Args:
        host: address to listen on.
        port: port to listen on.
    """

    def __init__(self, host: str, port: int) -> None:
        self.table = Table()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family)
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, name="mindjax-store", daemon=True).start()

    def _accept(self) -> None:
        while True:
            line, _ = self._socket.accept()
            threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        with line:
            self.table.come()
            while True:
                try:
                    request, data = receive(line)
                except (OSError, ValueError):
                    return
                answer, out = self._answer(request, data)
                try:
                    transmit(line, answer, out)
                except OSError:
                    return

    def _answer(self, request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
        what, key = request.get("what"), str(request.get("key", ""))
        try:
            if what == "add":
                return {"value": self.table.add(key, int(request["amount"]))}, b""
            if what == "set":
                self.table.set(key, data)
                return {}, b""
            if what == "get":
                return {}, self.table.get(key, float(request["timeout"]))
            if what == "delete":
                return {"value": self.table.delete(key)}, b""
        except NotSet as error:
            return {"not_set": str(error)}, b""
        except ValueError as error:
            return {"error": str(error)}, b""
        return {"error": f"there is no request {what!r}"}, b""


class Client:
    """Reaches the `Server` of another process; it has a `Table`'s methods.

    Args:
        host: of the server.
        port: of the server.
        timeout: seconds in which the server must appear and answer.

    Raises:
        ConnectionError: it did not appear in time.
    """

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self._timeout, self._lock = timeout, threading.Lock()
        until = time.monotonic() + timeout
        while True:
            try:
                left = max(0.05, until - time.monotonic())
                self._line = socket.create_connection((host, port), left)
                return
            except OSError as error:
                if time.monotonic() > until:
                    raise ConnectionError(
                        f"no store answers at {host}:{port} within {timeout} s ({error})"
                    ) from None
                time.sleep(0.05)

    def _ask(
        self, request: dict[str, Any], data: bytes = b"", wait: float = 0.0
    ) -> tuple[dict[str, Any], bytes]:
        with self._lock:
            self._line.settimeout(self._timeout + wait + 5)
            transmit(self._line, request, data)
            answer, out = receive(self._line)
        if "not_set" in answer:
            raise NotSet(answer["not_set"])
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer, out

    def add(self, key: str, amount: int) -> int:
        """Add to a counter and give its new value; ValueError if the key holds no number."""
        return int(self._ask({"what": "add", "key": key, "amount": amount})[0]["value"])

    def set(self, key: str, value: bytes) -> None:
        """Write a value."""
        self._ask({"what": "set", "key": key}, value)

    def get(self, key: str, timeout: float) -> bytes:
        """Read a value, waiting for it; `NotSet` if nobody wrote it in time."""
        return self._ask({"what": "get", "key": key, "timeout": timeout}, wait=timeout)[1]

    def delete(self, key: str) -> bool:
        """Take a key away; tell whether it was there."""
        return bool(self._ask({"what": "delete", "key": key})[0]["value"])


def transmit(line: socket.socket, head: dict[str, Any], data: bytes) -> None:
    """Send a message: a dictionary of plain values, and bytes."""
    text = json.dumps(head).encode()
    line.sendall(_HEAD.pack(len(text), len(data)) + text + data)


def receive(line: socket.socket) -> tuple[dict[str, Any], bytes]:
    """Receive what `transmit` sent.

    Raises:
        ConnectionError: the line is closed.
        ValueError: it is something else.
    """
    head, data = _HEAD.unpack(_exactly(line, _HEAD.size))
    request = json.loads(_exactly(line, head))
    if not isinstance(request, dict):
        raise ValueError("A message must begin with a dictionary.")
    return request, _exactly(line, data)


def _exactly(line: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        more = line.recv(min(1 << 20, count - len(parts)))
        if not more:
            raise ConnectionError("The line is closed.")
        parts += more
    return bytes(parts)
