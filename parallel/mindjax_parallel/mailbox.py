"""Messages between two ranks outside of programs: a sender does not wait for the receiver."""

from __future__ import annotations

import hmac
import queue
import socket
import struct
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from typing import Any

from mindjax.core.errors import located

# Secret, sender, tag, number of bytes.
_HEAD = struct.Struct("!16sIqQ")
SECRET_BYTES = 16


class Mailbox:
    """Takes the messages of other ranks in a thread, and sends to them.

    Args:
        rank: of this process.
        host: address on which others find this process.
        limit: seconds that `take` waits.
    """

    def __init__(self, rank: int, host: str, limit: float) -> None:
        self._rank, self._limit = rank, limit
        self._server = socket.create_server((host, 0), family=_family(host))
        self.address: tuple[str, int] = host, int(self._server.getsockname()[1])
        self._lock = threading.Lock()
        self._letters: dict[tuple[int, int], queue.SimpleQueue[bytes]] = {}
        self._expected: dict[tuple[int, int], list[Future[bytes]]] = {}
        self._lines: dict[int, tuple[socket.socket, threading.Lock]] = {}
        self._addresses: list[tuple[str, int]] = []
        self._secret = b""

    def open(self, addresses: list[tuple[str, int]], secret: bytes) -> None:
        """Begin to take messages.

        Args:
            addresses: of all ranks.
            secret: what every message of this world begins with.
        """
        self._addresses, self._secret = addresses, secret
        threading.Thread(target=self._accept, name="mindjax-mailbox", daemon=True).start()

    def _accept(self) -> None:
        while True:
            line, _ = self._server.accept()
            threading.Thread(target=self._read, args=(line,), daemon=True).start()

    def _read(self, line: socket.socket) -> None:
        with line:
            while True:
                try:
                    secret, source, tag, count = _HEAD.unpack(_exactly(line, _HEAD.size))
                    if not hmac.compare_digest(secret, self._secret):
                        return
                    data = _exactly(line, count)
                except OSError:
                    return
                self._put((source, tag), data)

    def _put(self, key: tuple[int, int], data: bytes) -> None:
        with self._lock:
            waiting = self._expected.get(key)
            if waiting:
                waiting.pop(0).set_result(data)
            else:
                self._letters.setdefault(key, queue.SimpleQueue()).put(data)

    def post(self, target: int, tag: int, data: bytes) -> None:
        """Send bytes to a rank, which may take them later.

        Args:
            target: rank in the world.
            tag: what the receiver asks for.
            data: the bytes.

        Raises:
            RuntimeError: the rank cannot be reached.
        """
        if target == self._rank:
            self._put((target, tag), data)
            return
        with self._lock:
            found = self._lines.get(target)
            if found is None:
                try:
                    line = socket.create_connection(self._addresses[target], self._limit)
                except OSError as error:
                    raise self._unreachable(target, error) from None
                line.settimeout(self._limit)
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                found = self._lines[target] = line, threading.Lock()
        line, lock = found
        with lock:
            try:
                line.sendall(_HEAD.pack(self._secret, self._rank, tag, len(data)))
                line.sendall(data)
            except OSError as error:
                raise self._unreachable(target, error) from None

    def _unreachable(self, target: int, error: Exception) -> Exception:
        return located(
            RuntimeError,
            f"Rank {self._rank} cannot reach another rank, {target}, which has ended ({error}).",
        )

    def expect(self, source: int, tag: int) -> Future[bytes]:
        """Ask for the next message of a rank that nobody has asked for yet.

        Args:
            source: rank in the world.
            tag: that of the message.
        """
        key, future = (source, tag), Future[bytes]()
        with self._lock:
            letters = self._letters.get(key)
            if letters is not None and not letters.empty():
                future.set_result(letters.get())
            else:
                waiting = self._expected.setdefault(key, [])
                waiting[:] = [f for f in waiting if not f.done()]
                waiting.append(future)
        return future

    def wait(self, future: Future[bytes], source: int, tag: int) -> bytes:
        """Wait for a message that `expect` asked for.

        Args:
            future: what `expect` gave.
            source: rank in the world, for the error.
            tag: that of the message, for the error.

        Raises:
            RuntimeError: it did not come in time.
        """
        try:
            return future.result(self._limit)
        except NotInTime:
            raise located(
                RuntimeError,
                f"Rank {self._rank} has waited {self._limit:g} s for a message of rank {source} "
                f"with the tag {tag}: it sends none, or another tag.",
            ) from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _exactly(line: socket.socket, count: int) -> Any:
    data = bytearray(count)
    view, got = memoryview(data), 0
    while got < count:
        more = line.recv_into(view[got:])
        if not more:
            raise ConnectionError("The line is closed.")
        got += more
    return bytes(data)
