"""The containers of encrypted checkpoints and MindIR files: AES-GCM, AES-CBC and SM4-CBC."""

from __future__ import annotations

import os
import struct
from typing import IO, Any

# The original encrypts a checkpoint in blocks of so many plain bytes.
BLOCK_BYTES = 64 << 20
MODES: tuple[str, ...] = ("AES-GCM", "AES-CBC", "SM4-CBC")
_HEADS: dict[str, int] = dict(zip(MODES, (0x7F3A5ED8, 0x7F3A5ED9, 0x7F3A5EDA), strict=True))
_IV = 16


class CipherError(ValueError):
    """The bytes are no such container, or the key is not theirs."""


def is_encrypted(start: bytes | memoryview) -> bool:
    """Tell from its first four bytes whether a file is encrypted."""
    return len(start) >= 4 and struct.unpack_from("<I", start)[0] in _HEADS.values()


def check_key(key: bytes, mode: str) -> None:
    """Check key and mode before they are used.

    Raises:
        ValueError: there is no such mode, or it takes no key of this length.
    """
    if mode not in MODES:
        raise ValueError(f"the encryption mode must be one of {MODES}, but got {mode!r}")
    lengths = (16,) if mode == "SM4-CBC" else (16, 24, 32)
    if len(key) not in lengths:
        raise ValueError(f"{mode} takes a key of {lengths} bytes, but got {len(key)}")


class Sealer:
    """A binary file that is written to plainly and holds encrypted blocks.

    Args:
        file: binary file, open for writing.
        key: 16, 24 or 32 bytes; 16 for SM4.
        mode: one of `MODES`.

    Raises:
        ValueError: mode or key do not fit.
        ImportError: the package ``cryptography`` is missing.
    """

    def __init__(self, file: IO[bytes], key: bytes, mode: str) -> None:
        require(key, mode)
        self._file, self._key, self._mode = file, key, mode
        self._plain = bytearray()

    def write(self, chunk: bytes | memoryview) -> None:
        """Take further bytes of the plain content."""
        view = memoryview(chunk)
        while len(view):
            room = BLOCK_BYTES - len(self._plain)
            self._plain += view[:room]
            view = view[room:]
            if len(self._plain) == BLOCK_BYTES:
                self.finish()

    def finish(self) -> None:
        """Write what is left as the last block."""
        if self._plain:
            self._file.write(encrypt(self._plain, self._key, self._mode))
            self._plain.clear()


def require(key: bytes, mode: str) -> None:
    """Check key, mode and that the package is there, before anything is written.

    Raises:
        ValueError: mode or key do not fit.
        ImportError: the package ``cryptography`` is missing.
    """
    check_key(key, mode)
    _cipher(mode, key, bytes(_IV))


def encrypt(plain: bytes | bytearray | memoryview, key: bytes, mode: str = "AES-GCM") -> bytes:
    """Put bytes into one encrypted block.

    Args:
        plain: what is encrypted.
        key: 16, 24 or 32 bytes; 16 for SM4.
        mode: one of `MODES`.

    Returns:
        The block.

    Raises:
        ValueError: mode or key do not fit.
        ImportError: the package ``cryptography`` is missing.
    """
    check_key(key, mode)
    iv = os.urandom(_IV)
    plain = bytes(plain)
    if mode != "AES-GCM":
        fill = 16 - len(plain) % 16
        plain += bytes([fill]) * fill
    encryptor = _cipher(mode, key, iv).encryptor()
    sealed = encryptor.update(plain) + encryptor.finalize()
    tag = encryptor.tag if mode == "AES-GCM" else b""
    rest = struct.pack("<ii", 8 + _IV + len(sealed), _IV) + iv + struct.pack("<i", len(sealed))
    return struct.pack("<I", _HEADS[mode]) + tag + rest + sealed


def decrypt(sealed: bytes | memoryview, key: bytes, mode: str = "AES-GCM") -> bytes:
    """Take the bytes out of a row of encrypted blocks.

    Args:
        sealed: the whole file.
        key: the key that they were encrypted with.
        mode: one of `MODES`.

    Returns:
        The plain bytes.

    Raises:
        CipherError: the container is damaged, or key or mode are not its own.
        ValueError: mode or key do not fit each other.
        ImportError: the package ``cryptography`` is missing.
    """
    check_key(key, mode)
    view, at, out = memoryview(sealed), 0, []
    while at < len(view):
        block, at = _block(view, at, mode)
        out.append(_opened(*block, key, mode))
    return b"".join(out)


def _block(view: memoryview, at: int, mode: str) -> tuple[tuple[bytes, bytes, bytes], int]:
    """Take one block apart: tag, iv and cipher text."""
    tag = b""
    try:
        (head,) = struct.unpack_from("<I", view, at)
        at += 4
        if head != _HEADS[mode]:
            raise CipherError(f"it is not encrypted with {mode}")
        if mode == "AES-GCM":
            tag = bytes(view[at : at + 16])
            at += 16
        total, length = struct.unpack_from("<ii", view, at)
        end = at + 4 + total
        at += 8
        if length != _IV or end > len(view):
            raise CipherError("a block of it is cut off")
        iv = bytes(view[at : at + length])
        at += length
        (size,) = struct.unpack_from("<i", view, at)
        at += 4
    except struct.error:
        raise CipherError("a block of it is cut off") from None
    if size < 0 or at + size != end:
        raise CipherError("a block of it has the wrong length")
    return (tag, iv, bytes(view[at:end])), end


def _opened(tag: bytes, iv: bytes, text: bytes, key: bytes, mode: str) -> bytes:
    decryptor = _cipher(mode, key, iv, tag or None).decryptor()
    try:
        plain = decryptor.update(text) + decryptor.finalize()
    except Exception as error:
        raise CipherError("the key does not fit, or it is damaged") from error
    if mode == "AES-GCM":
        return plain
    fill = plain[-1] if plain else 0
    if not 1 <= fill <= 16 or plain[-fill:] != bytes([fill]) * fill:
        raise CipherError("the key does not fit, or it is damaged")
    return plain[:-fill]


def _cipher(mode: str, key: bytes, iv: bytes, tag: bytes | None = None) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        raise ImportError(
            'encryption needs the package cryptography: pip install "mindjax[crypto]"'
        ) from None
    if mode == "AES-GCM":
        # The original keeps 16 bytes and uses the first 12 of them.
        return Cipher(algorithms.AES(key), modes.GCM(iv[:12], tag))
    if mode == "AES-CBC":
        return Cipher(algorithms.AES(key), modes.CBC(iv))
    return Cipher(algorithms.SM4(key), modes.CBC(iv))
