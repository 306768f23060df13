"""A reader of TensorBoard's event files that owes nothing to the writer, for tests."""

import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("tensorboardX")
from tensorboardX.proto.event_pb2 import Event
from tensorboardX.proto.plugin_hparams_pb2 import HParamsPluginData

_TYPES = {1: "f4", 2: "f8", 3: "i4", 9: "i8", 14: ml_dtypes.bfloat16}
_TABLE = []
for _byte in range(256):
    for _ in range(8):
        _byte = (_byte >> 1) ^ (0x82F63B78 if _byte & 1 else 0)
    _TABLE.append(_byte)


def masked_crc(data):
    """CRC-32C (RFC 3720), turned as TensorFlow's records have it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def read_events(path):
    """Read one file, and check every checksum."""
    data, found, at = Path(path).read_bytes(), [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        (length_crc,) = struct.unpack_from("<I", data, at + 8)
        body = data[at + 12 : at + 12 + size]
        (body_crc,) = struct.unpack_from("<I", data, at + 12 + size)
        assert length_crc == masked_crc(data[at : at + 8]) and body_crc == masked_crc(body)
        found.append(Event.FromString(body))
        at += 16 + size
    assert found[0].file_version == "brain.Event:2"
    return found[1:]


def files(folder):
    return sorted(Path(folder).glob("*tfevents*"))


class Summaries:
    """What all files of a folder hold: ``values[tag] = [(step, value), ...]``."""

    def __init__(self, folder):
        self.values, self.graphs, self.hparams = {}, [], {}
        for path in files(folder):
            for event in read_events(path):
                if event.graph_def:
                    self.graphs.append(event.graph_def)
                for value in event.summary.value:
                    self._take(event.step, value)

    def _take(self, step, value):
        data = value.metadata.plugin_data
        if data.plugin_name == "hparams":
            start = HParamsPluginData.FromString(data.content).session_start_info
            for name, item in start.hparams.items():
                self.hparams[name] = getattr(item, item.WhichOneof("kind"))
            return
        kind = value.WhichOneof("value")
        content = getattr(value, kind)
        if kind == "tensor" and content.dtype != 7:
            dtype = _TYPES[content.dtype]
            shape = [d.size for d in content.tensor_shape.dim]
            content = np.frombuffer(content.tensor_content, dtype).reshape(shape)
        elif kind == "tensor":
            content = content.string_val[0].decode()
        self.values.setdefault(value.tag, []).append((step, content))
