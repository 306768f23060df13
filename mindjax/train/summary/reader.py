"""Scalars read back from files of events, and from what `LossMonitor` prints."""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mindjax.train.summary.events import proto

Scalars = dict[str, list[tuple[int, float]]]

_LOSS = re.compile(r"epoch: (\d+) step: (\d+), loss is (\S+)")
_METRICS = re.compile(r"Eval result: epoch (\d+), metrics: (\{.*\})")
_TYPES = {1: "<f", 2: "<d", 3: "<i", 9: "<q"}


def records(path: Path) -> Iterator[bytes]:
    """Read the records of a file of events; one that is still being written may end early.

    Args:
        path: the file.

    Raises:
        ValueError: a checksum is wrong.
    """
    checksum = proto("record_writer").masked_crc32c
    data, at = path.read_bytes(), 0
    while at + 12 <= len(data):
        head, stored = data[at : at + 8], data[at + 8 : at + 12]
        if struct.pack("<I", checksum(head)) != stored:
            raise ValueError(f"{path} is damaged at byte {at}")
        (size,) = struct.unpack("<Q", head)
        body = data[at + 12 : at + 12 + size]
        end = data[at + 12 + size : at + 16 + size]
        if len(end) < 4:
            return
        if struct.pack("<I", checksum(body)) != end:
            raise ValueError(f"{path} is damaged at byte {at}")
        yield body
        at += 16 + size


def event_scalars(path: Path) -> Scalars:
    """Read the numbers of a file of events.

    Args:
        path: the file, of any program that writes for TensorBoard.

    Returns:
        Step and value of each, by tag.

    Raises:
        ValueError: the file is damaged.
        ModuleNotFoundError: tensorboardX is not installed.
    """
    event = proto("proto.event_pb2").Event
    found: Scalars = {}
    for body in records(path):
        read = event.FromString(body)
        for value in read.summary.value:
            number = _number(value)
            if number is not None:
                found.setdefault(value.tag, []).append((read.step, number))
    return found


def _number(value: Any) -> float | None:
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return value.simple_value
    if kind == "tensor" and value.metadata.plugin_data.plugin_name == "scalars":
        made = value.tensor
        if made.tensor_content and made.dtype in _TYPES:
            return float(struct.unpack(_TYPES[made.dtype], made.tensor_content)[0])
        return next(iter([*made.float_val, *made.double_val]), None)
    return None


def log_scalars(path: Path) -> Scalars:
    """Read what `LossMonitor` has printed.

    Args:
        path: a text with its lines among others.

    Returns:
        Step and value of the loss, and of the metrics of evaluations.
    """
    losses: list[tuple[int, int, float]] = []
    metrics: list[tuple[int, str, float]] = []
    for line in path.read_text(errors="replace").splitlines():
        if match := _LOSS.search(line):
            try:
                losses.append((int(match[1]), int(match[2]), float(match[3])))
            except ValueError:
                continue
        elif match := _METRICS.search(line):
            metrics += [(int(match[1]), n, v) for n, v in _parsed(match[2]).items()]
    steps = max((step for _, step, _ in losses), default=1)
    found: Scalars = {}
    for epoch, step, loss in losses:
        found.setdefault("loss", []).append(((epoch - 1) * steps + step, loss))
    for epoch, name, value in metrics:
        found.setdefault(name, []).append((epoch * steps, value))
    return found


def _parsed(text: str) -> dict[str, float]:
    try:
        values = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {}
    return {name: float(value) for name, value in values.items() if isinstance(value, int | float)}
