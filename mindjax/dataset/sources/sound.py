"""Readers of the files of sound that sets come in: WAV and NIST SPHERE."""

from __future__ import annotations

import os
import struct
from typing import Any

import numpy as np

from mindjax.dataset.engine.failures import pipeline_error
from mindjax.dataset.sources.listed import read_bytes

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE


def read_wav(path: str) -> tuple[np.ndarray, int]:
    """Read a WAV file of integers of 8, 16, 24 or 32 bits, or of floats.

    Args:
        path: the file.

    Returns:
        The samples, float32 of shape (1, n) within about [-1, 1], channels in turn, and how many
        come in a second.

    Raises:
        RuntimeError: it cannot be read, is no such file, or is truncated.
    """
    data = read_bytes(path)
    if len(data) < 12 or data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise _bad(path, "should begin as a RIFF WAVE file")
    form: tuple[Any, ...] | None = None
    at = 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        body = data[at + 8 : at + 8 + size]
        if name == b"fmt ":
            if len(body) < 16:
                raise _bad(path, "has a header that is too short")
            form = struct.unpack_from("<HHIIHH", body)
            if form[0] == _EXTENSIBLE and len(body) >= 26:
                form = (struct.unpack_from("<H", body, 24)[0], *form[1:])
        elif name == b"data":
            if form is None:
                raise _bad(path, "has data before its header")
            if len(body) < size:
                raise _bad(path, f"should have {size} bytes of data, but has {len(body)}")
            return _samples(path, body, form[0], form[5])[None], form[2]
        at += 8 + size + size % 2
    raise _bad(path, "has no data")


def _bad(path: str, text: str) -> Exception:
    return pipeline_error(f"Invalid file, failed to read the audio file: {path} {text}.")


def _samples(path: str, body: bytes, form: int, bits: int) -> np.ndarray:
    if form == _FLOAT and bits in (32, 64) and len(body) % (bits // 8) == 0:
        return np.frombuffer(body, f"<f{bits // 8}").astype(np.float32)
    if form != _PCM or bits not in (8, 16, 24, 32) or len(body) % (bits // 8):
        raise _bad(path, f"has the format {form} of {bits} bits, which is not supported")
    if bits == 8:
        values = np.frombuffer(body, np.uint8).astype(np.float64) - 128
    elif bits == 24:
        parts = np.frombuffer(body, np.uint8).reshape(-1, 3)
        wide = np.zeros((len(parts), 4), np.uint8)
        wide[:, 1:] = parts
        values = (wide.view("<i4")[:, 0] >> 8).astype(np.float64)
    else:
        values = np.frombuffer(body, f"<i{bits // 8}").astype(np.float64)
    # MindSpore divides by the largest sample: the smallest one is a little below -1.
    return (values / (2 ** (bits - 1) - 1)).astype(np.float32)


def read_sphere(path: str, start: float, stop: float) -> tuple[np.ndarray, int]:
    """Read a piece of a NIST SPHERE file of 16-bit samples.

    Args:
        path: the file.
        start: where the piece begins, in seconds.
        stop: where it ends.

    Returns:
        The samples, float32 of shape (1, n), and how many come in a second.

    Raises:
        RuntimeError: it cannot be read, is no such file, or is coded.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(16)
            size = int(head[8:16]) if head[:7] == b"NIST_1A" else 0
            fields = _fields(head + file.read(max(size - 16, 0)))
            rate = int(fields["sample_rate"])
            width = int(fields.get("sample_n_bytes", "2"))
            coding = fields.get("sample_coding", "pcm")
            if width != 2 or coding != "pcm":
                raise _bad(path, f"has {width} bytes a sample coded as {coding}, not supported")
            channels = int(fields.get("channel_count", "1"))
            first, last = int(start * rate), int(stop * rate)
            file.seek(min(size + 2 * channels * first, os.path.getsize(path)))
            body = file.read(2 * channels * max(last - first, 0))
    except OSError as error:
        raise pipeline_error(
            f"Invalid file, failed to open file: {path}: {error.strerror}."
        ) from None
    except (ValueError, KeyError):
        raise _bad(path, "should begin with the header of a NIST SPHERE file") from None
    order = ">" if fields.get("sample_byte_format") == "10" else "<"
    values = np.frombuffer(body[: len(body) // 2 * 2], f"{order}i2").astype(np.float64)
    return (values / 32767).astype(np.float32)[None], rate


def _fields(head: bytes) -> dict[str, str]:
    lines = head.decode("ascii", "replace").partition("end_head")[0].splitlines()
    words = [line.split(maxsplit=2) for line in lines]
    return {line[0]: line[2].strip() for line in words if len(line) == 3}
