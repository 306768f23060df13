"""Events of TensorBoard, made of arrays: one event is one record of a file.

Source: the protocol buffers of TensorBoard, which tensorboardX carries.
"""

from __future__ import annotations

import json
import struct
import time
import zlib
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

_MAX_BINS = 90
_COLUMNS = 8
# Numbers of TensorFlow's DataType.
_TYPES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "complex64": 8,
    "int64": 9,
    "bool": 10,
    "bfloat16": 14,
    "uint16": 17,
    "complex128": 18,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}
_STRING = 7


def proto(module: str) -> Any:
    """Load one of tensorboardX's modules.

    Args:
        module: name below ``tensorboardX``, such as ``"proto.event_pb2"``.

    Raises:
        ModuleNotFoundError: tensorboardX is not installed.
    """
    try:
        return import_module(f"tensorboardX.{module}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "tensorboardX":
            raise
        raise ModuleNotFoundError(
            "summaries are written with tensorboardX, which is not installed here: "
            'pip install "mindjax[summary]"',
            name="tensorboardX",
        ) from None


def first_event() -> bytes:
    """Give the event that begins every file."""
    event = proto("proto.event_pb2").Event
    return event(wall_time=time.time(), file_version="brain.Event:2").SerializeToString()


def graph_event(graph: bytes, wall_time: float) -> bytes:
    """Give the event of a graph, a serialized ``GraphDef``."""
    event = proto("proto.event_pb2").Event
    return event(wall_time=wall_time, graph_def=graph).SerializeToString()


def summary_event(values: list[Any], step: int, wall_time: float) -> bytes:
    """Give the event that holds a step's summaries."""
    summary = proto("proto.summary_pb2").Summary(value=values)
    event = proto("proto.event_pb2").Event
    return event(wall_time=wall_time, step=step, summary=summary).SerializeToString()


def scalar(tag: str, array: np.ndarray[Any, Any]) -> Any:
    """Summarize an array of one element as a number."""
    value = array.reshape(-1)[0]
    number = float(value.real if array.dtype.kind == "c" else value)
    return proto("proto.summary_pb2").Summary.Value(tag=tag, simple_value=number)


def bins_of(count: int) -> int:
    """Choose a number of bins so that about ten values fall into each, as the original does."""
    if count <= 10:
        return 1 if not count else 2 if count <= 5 else 3
    return min(count // 10 + 1, _MAX_BINS)


def histogram(tag: str, array: np.ndarray[Any, Any]) -> Any:
    """Summarize how an array's finite values are distributed."""
    messages = proto("proto.summary_pb2")
    flat = np.asarray(array.reshape(-1), np.float64)
    finite = flat[np.isfinite(flat)]
    made = messages.HistogramProto(num=len(finite))
    if len(finite):
        counts, edges = np.histogram(finite, bins=bins_of(len(finite)))
        made.min, made.max = finite.min(), finite.max()
        made.sum, made.sum_squares = finite.sum(), np.square(finite).sum()
        made.bucket_limit.extend(edges[1:].tolist())
        made.bucket.extend(counts.astype(float).tolist())
    return messages.Summary.Value(tag=tag, histo=made)


def tensor(tag: str, array: np.ndarray[Any, Any]) -> Any:
    """Summarize an array with all its values, dtype and shape.

    Args:
        tag: the summary's name.
        array: the array, of a dtype that TensorFlow knows.
    """
    made = proto("proto.tensor_pb2").TensorProto(dtype=_TYPES[array.dtype.name])
    for size in array.shape:
        made.tensor_shape.dim.add(size=size)
    made.tensor_content = np.ascontiguousarray(array).tobytes()
    return _with_plugin(tag, "mindspore_tensor", tensor=made)


def text(tag: str, content: str) -> Any:
    """Summarize a text, shown as Markdown."""
    made = proto("proto.tensor_pb2").TensorProto(dtype=_STRING, string_val=[content.encode()])
    made.tensor_shape.dim.add(size=1)
    return _with_plugin(tag, "text", tensor=made)


def lineage(tag: str, values: Mapping[str, Any]) -> Any:
    """Summarize lineage as a table of names and values."""
    rows = (f"| {name} | {_cell(value)} |" for name, value in values.items())
    return text(tag, "\n".join(["| name | value |", "| --- | --- |", *rows]))


def _cell(value: Any) -> str:
    shown = value if isinstance(value, str) else json.dumps(value, default=str)
    return shown.replace("|", "\\|").replace("\n", "<br>")


def hparams(values: Mapping[str, Any]) -> list[Any]:
    """Summarize hyper-parameters: the run becomes a row of the HParams page.

    The page's columns of results are the run's scalars.

    Args:
        values: names, and numbers, bools or strings.
    """
    messages = proto("proto.plugin_hparams_pb2")
    status = proto("proto.api_pb2").Status.Value("STATUS_SUCCESS")
    start = messages.SessionStartInfo(start_time_secs=time.time())
    for name, value in values.items():
        if isinstance(value, bool | np.bool_):
            start.hparams[name].bool_value = bool(value)
        elif isinstance(value, int | float | np.number):
            start.hparams[name].number_value = float(value)
        else:
            start.hparams[name].string_value = _cell(value)
    end = messages.SessionEndInfo(status=status, end_time_secs=time.time())
    return [
        _with_plugin(
            f"_hparams_/{name}",
            "hparams",
            messages.HParamsPluginData(version=0, **{name: info}).SerializeToString(),
        )
        for name, info in (("session_start_info", start), ("session_end_info", end))
    ]


def _with_plugin(tag: str, plugin: str, content: bytes = b"", **value: Any) -> Any:
    messages = proto("proto.summary_pb2")
    data = messages.SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    metadata = messages.SummaryMetadata(plugin_data=data)
    return messages.Summary.Value(tag=tag, metadata=metadata, **value)


def image(tag: str, array: np.ndarray[Any, Any]) -> Any:
    """Summarize images (N, C, H, W), C being 1 or 3, as one picture of up to 8 columns."""
    messages = proto("proto.summary_pb2")
    pixels = _to_bytes(_canvas(array), array.dtype == np.uint8)
    height, width, _ = pixels.shape
    made = messages.Summary.Image(
        height=height, width=width, colorspace=3, encoded_image_string=png(pixels)
    )
    return messages.Summary.Value(tag=tag, image=made)


def _canvas(images: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    count, channels, height, width = images.shape
    columns = min(count, _COLUMNS)
    rows = -(-count // columns)
    canvas = np.zeros((rows * columns, 3, height, width), np.float64)
    canvas[:count] = images if channels == 3 else np.repeat(images, 3, axis=1)
    tiles = canvas.reshape(rows, columns, 3, height, width).transpose(0, 3, 1, 4, 2)
    return tiles.reshape(rows * height, columns * width, 3)


def _to_bytes(canvas: np.ndarray[Any, Any], are_bytes: bool) -> np.ndarray[Any, Any]:
    """Bring values to 0..255: as they are, from 0..1, or from whatever range they have."""
    low, high = canvas.min(), canvas.max()
    if not are_bytes and low >= 0 and high <= 1:
        canvas = canvas * 255
    elif not are_bytes:
        scale = 255 / (high - low + 1) if high != low else 1.0
        canvas = (canvas - low) * scale
    return np.nan_to_num(canvas).astype(np.uint8)


def png(pixels: np.ndarray[Any, Any]) -> bytes:
    """Encode a picture as PNG.

    Args:
        pixels: uint8 (H, W, 3).

    Source: ISO/IEC 15948, colour type 2, filter 0.
    """
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)
