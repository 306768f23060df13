"""The few fields of XLA's messages that the plugin reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def varint(value: int) -> bytes:
    """Write a number as protocol buffers do."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Walk a message's fields: their numbers, and numbers or bytes in them."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _read_varint(data, at)
            yield key >> 3, value
        else:
            size = 8 if kind == 1 else 4
            if kind == 2:
                size, at = _read_varint(data, at)
            yield key >> 3, data[at : at + size]
            at += size


def message(number: int, data: bytes) -> bytes:
    """Write a field that holds bytes."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def _assigned(data: bytes) -> list[list[int]]:
    """Give the devices of a serialised DeviceAssignmentProto: computation, then replica."""
    rows = []
    for number, value in fields(data):
        if number != 3 or not isinstance(value, bytes):
            continue
        row: list[int] = []
        for _, inner in fields(value):
            if isinstance(inner, int):
                row.append(inner)
                continue
            at = 0
            while at < len(inner):
                device, at = _read_varint(inner, at)
                row.append(device)
        rows.append(row)
    return rows


def device_ids(options: Any) -> list[int]:
    """List the devices of compile options, replica by replica."""
    if options.device_assignment is None:
        return list(range(options.num_replicas * options.num_partitions))
    rows = _assigned(options.device_assignment.serialize())
    # A number zero may be left out of the message.
    rows = [row or [0] for row in rows]
    return [rows[c][r] for r in range(len(rows[0])) for c in range(len(rows))]


def assignment(options: Any) -> bytes:
    """Give compile options' devices as a serialised DeviceAssignmentProto."""
    if options.device_assignment is not None:
        return options.device_assignment.serialize()
    from jaxlib import xla_client

    count = options.num_replicas * options.num_partitions
    grid = np.arange(count, dtype=np.int32).reshape(options.num_replicas, options.num_partitions)
    return xla_client.DeviceAssignment.create(grid).serialize()


def with_config(module: bytes, replicas: int, partitions: int) -> bytes:
    """Give a HloModuleProtoWithConfig; jaxlib ends the process over one that lacks a field.

    Args:
        module: a serialised HloModuleProto.
        replicas: how many there are.
        partitions: how many there are.
    """
    layout = next(v for n, v in fields(module) if n == 4)
    assert isinstance(layout, bytes)
    config = message(1, layout)
    config += varint(4 << 3) + varint(replicas) + varint(5 << 3) + varint(partitions)
    return message(1, module) + message(2, config)
