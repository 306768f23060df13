"""Encryption of MindRecord files: key and modes of this process, and the container."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import IO, Any

from mindjax.core import cipher
from mindjax.core.errors import located

__all__ = ["set_dec_mode", "set_enc_key", "set_enc_mode"]

MIN_FILE_SIZE = 8
_END = b"ENCRYPT"
_MODE = "AES-GCM"
_MODE_LENGTH = len(_MODE)
_CUSTOM = "UDF-ENC"
_LENGTH = 4
_BLOCK = 64 << 20

Mode = str | Callable[..., Any]


class _State:
    key: str | None = None
    enc_mode: Mode = _MODE
    dec_mode: Mode | None = None


def set_enc_key(enc_key: str | None) -> None:
    """Set the key that files are encrypted and decrypted with.

    Args:
        enc_key: 16, 24 or 32 characters; None for no encryption.

    Raises:
        ValueError: it is no text of such a length.
    """
    if enc_key is not None and not isinstance(enc_key, str):
        raise located(ValueError, f"The input enc_key is not str, but {type(enc_key)}.")
    if enc_key is not None and len(enc_key) not in (16, 24, 32):
        raise located(ValueError, "The length of input enc_key is not 16, 24, 32.")
    _State.key = enc_key


def get_enc_key() -> str | None:
    """Give the key, or None."""
    return _State.key


def set_enc_mode(enc_mode: Mode = _MODE) -> None:
    """Set how files are encrypted.

    Args:
        enc_mode: ``"AES-GCM"``, or a function of the open plain file, its size, the open file to
            write, and the key.

    Raises:
        ValueError: it is neither.
    """
    _State.enc_mode = _checked("enc_mode", enc_mode)


def set_dec_mode(dec_mode: Mode | None = _MODE) -> None:
    """Set how files are decrypted.

    Args:
        dec_mode: ``"AES-GCM"``, or a function of the open encrypted file, the size of its content,
            the open file to write, and the key; None for what ``set_enc_mode`` says.

    Raises:
        ValueError: it is neither.
    """
    _State.dec_mode = None if dec_mode is None else _checked("dec_mode", dec_mode)


def _checked(name: str, mode: Any) -> Mode:
    if callable(mode):
        return mode
    if not isinstance(mode, str):
        raise located(ValueError, f"The input {name} is not str, but {type(mode)}.")
    if mode != _MODE:
        raise located(ValueError, f"The input {name} is invalid: it must be {_MODE!r}.")
    return mode


def _decryption() -> Mode:
    if _State.dec_mode is not None:
        return _State.dec_mode
    if callable(_State.enc_mode):
        raise located(
            RuntimeError, "You use custom encryption, so you must also define custom decryption."
        )
    return _State.enc_mode


def _key_bytes(key: str) -> bytes:
    encoded = key.encode("utf-8")
    if len(encoded) not in (16, 24, 32):
        raise located(ValueError, "The length of input enc_key is not 16, 24, 32 bytes.")
    return encoded


def seal(source: IO[bytes], target: IO[bytes]) -> None:
    """Copy a whole file, encrypted if this process has a key.

    Args:
        source: the plain file, open for reading.
        target: the file to write.
    """
    if _State.key is None:
        source.seek(0)
        shutil.copyfileobj(source, target, 1 << 20)
        return
    size = source.seek(0, os.SEEK_END)
    source.seek(0)
    mode = _State.enc_mode
    if callable(mode):
        mode(source, size, target, _State.key)
    else:
        key = _key_bytes(_State.key)
        while block := source.read(_BLOCK):
            sealed = cipher.encrypt(block, key, mode)
            target.write(len(sealed).to_bytes(_LENGTH, "big", signed=True) + sealed)
    name = _CUSTOM if callable(mode) else mode
    target.write(bytes(_LENGTH) + name.encode("ascii") + _END)


def open_plain(path: str) -> IO[bytes]:
    """Open a file, decrypted if this process has a key.

    Args:
        path: the file, or its index.

    Returns:
        The plain content, open for reading; what is decrypted lies in a file without a name.

    Raises:
        RuntimeError: there is no such file, it is encrypted and there is no key, it is not and
            there is one, or it cannot be decrypted.
    """
    if not os.path.exists(path):
        raise located(RuntimeError, f"The input: {path} is not exists.")
    if not os.path.isfile(path):
        raise located(RuntimeError, f"The input: {path} should be a regular file.")
    try:
        file = open(path, "rb")  # noqa: SIM115  (given to the caller)
    except OSError as error:
        raise located(RuntimeError, f"The input: {path} cannot be opened: {error}.") from None
    try:
        size = file.seek(0, os.SEEK_END)
        if size < MIN_FILE_SIZE:
            raise located(
                RuntimeError,
                f"Invalid file, the size of mindrecord file: {size} is smaller than the lower "
                f"limit: {MIN_FILE_SIZE}. Please check file path: {path} and use 'FileWriter' to "
                "generate valid mindrecord files.",
            )
        file.seek(size - len(_END))
        sealed = file.read(len(_END)) == _END
        if _State.key is None and sealed:
            raise located(
                RuntimeError,
                "The mindrecord file is encrypted. You need to configure "
                "'mindspore.mindrecord.config.set_enc_key(...)' and "
                f"'mindspore.mindrecord.config.set_enc_mode(...)' for decryption: {path}",
            )
        if _State.key is not None and not sealed:
            raise located(
                RuntimeError,
                "The mindrecord file is not encrypted. You can set "
                "'mindspore.mindrecord.config.set_enc_key(None)' to disable the decryption: "
                f"{path}",
            )
        if not sealed:
            file.seek(0)
            return file
        folder = os.path.dirname(os.path.abspath(path))
        plain = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  (given to the caller)
        try:
            _decrypt(path, file, size - len(_END), plain)
            plain.seek(0)
        except BaseException:
            plain.close()
            raise
    except BaseException:
        file.close()
        raise
    file.close()
    return plain


def _decrypt(path: str, file: IO[bytes], size: int, plain: IO[bytes]) -> None:
    key, mode = _State.key, _decryption()
    assert key is not None
    file.seek(max(size - _MODE_LENGTH, 0))
    if file.read(_MODE_LENGTH) != (_CUSTOM if callable(mode) else mode).encode("ascii"):
        raise _undecryptable(path)
    file.seek(0)
    if callable(mode):
        mode(file, size, plain, key)
        return
    end = size - _MODE_LENGTH
    while True:
        length = int.from_bytes(file.read(_LENGTH), "big", signed=True)
        if length == 0:
            break
        if not 0 < length <= end - file.tell() - _LENGTH:
            raise _undecryptable(path)
        try:
            plain.write(cipher.decrypt(file.read(length), _key_bytes(key), mode))
        except cipher.CipherError:
            raise _undecryptable(path) from None


def _undecryptable(path: str) -> RuntimeError:
    return located(
        RuntimeError,
        "Failed to decrypt data, please check if enc_key and enc_mode / dec_mode is valid, for "
        f"{path}",
    )
