"""Tensors and attributes of MindIR messages as numpy arrays and Python values, and back."""

from __future__ import annotations

import math
import os
from typing import Any

import ml_dtypes
import numpy as np

from mindjax.mindir import schema
from mindjax.mindir.message import Message, MindIRError


class Monad:
    """The token that orders side effects; there is one."""

    def __repr__(self) -> str:
        return "monad"


MONAD = Monad()
# No array of a file is larger; the product of hostile dims may have a million digits.
_LARGEST = 1 << 48


def np_dtype(code: int) -> np.dtype[Any]:
    """Give the numpy dtype of a `Tensor.data_type`.

    Raises:
        MindIRError: it has none.
    """
    name = schema.DTYPES.get(code)
    if name is None:
        raise MindIRError(f"a tensor has the data type {code}, which MindJAX cannot read")
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def read_tensor(tensor: Message, folder: str | None = None, opened: Any = None) -> np.ndarray:
    """Read a tensor's values.

    Args:
        tensor: the message.
        folder: where its external data may lie; None if it may have none.
        opened: function that turns the bytes of an external file into plain ones.

    Returns:
        Array of the tensor's dtype and shape; it may be a view of the message's bytes.

    Raises:
        MindIRError: shape, dtype and bytes do not fit each other.
    """
    name = tensor.ref_key or tensor.name
    if tensor.compression_type or tensor.has("quant_params"):
        raise MindIRError(
            f"the tensor '{name}' is compressed or quantized, which MindJAX cannot read"
        )
    dtype, dims = np_dtype(tensor.data_type), tuple(tensor.dims)
    count = 1
    for dim in dims:
        if dim < 0 or (count := count * dim) > _LARGEST:
            raise MindIRError(f"the tensor '{name}' has the impossible shape {dims[:8]}")
    if len(dims) > 32:
        raise MindIRError(f"the tensor '{name}' has {len(dims)} dimensions")
    if tensor.has("external_data"):
        raw: Any = _external(tensor.external_data, folder, name, opened)
    elif tensor.has("raw_data"):
        raw = tensor.raw_data
    else:
        kinds = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")
        given = next((getattr(tensor, k) for k in kinds if tensor.has(k)), [])
        try:
            raw = np.array(given, dtype).tobytes()
        except OverflowError:
            raise MindIRError(f"the tensor '{name}' has values outside of {dtype}") from None
    if count * dtype.itemsize != len(raw):
        raise MindIRError(
            f"the tensor '{name}' has {len(raw)} bytes, but its shape {dims} and type {dtype} "
            f"need {count * dtype.itemsize}"
        )
    return np.frombuffer(raw, dtype).reshape(dims)


def _external(data: Message, folder: str | None, name: str, opened: Any) -> Any:
    """Read the bytes of a tensor that lie in a file beside the MindIR file, and nowhere else."""
    location = data.location
    if folder is None:
        raise MindIRError(f"the tensor '{name}' lies in another file, which it must not here")
    root = os.path.realpath(folder)
    path = os.path.realpath(os.path.join(root, location.replace("\0", "/")))
    odd = os.path.isabs(location) or "\0" in location
    if odd or os.path.commonpath([root, path]) != root or not os.path.isfile(path):
        raise MindIRError(
            f"the tensor '{name}' lies in {location!r}, which is no file beside this one"
        )
    if data.offset < 0 or data.length < 0:
        raise MindIRError(f"the tensor '{name}' lies outside of {location!r}")
    if opened is not None:
        raw = opened(path)[data.offset : data.offset + data.length]
    else:
        with open(path, "rb") as file:
            if data.offset + data.length > os.fstat(file.fileno()).st_size:
                raise MindIRError(f"the tensor '{name}' lies outside of {location!r}")
            file.seek(data.offset)
            raw = file.read(data.length)
    if len(raw) != data.length:
        raise MindIRError(f"the tensor '{name}' lies outside of {location!r}")
    return raw


_INTEGERS = (
    schema.UINT8, schema.INT8, schema.UINT16, schema.INT16, schema.INT32, schema.INT64,
    schema.UINT32, schema.UINT64,
)  # fmt: skip


class DType(str):
    """A dtype among the attributes, by its numpy name."""


def read_attribute(attribute: Message) -> Any:
    """Read the value of an attribute.

    Args:
        attribute: the message.

    Returns:
        Python value, numpy array, `MONAD`, `DType`, or tuple, list or dict of these.

    Raises:
        MindIRError: MindJAX does not know its type.
    """
    kind = attribute.type
    if kind in _INTEGERS:
        return _single(attribute, "i", "ints", 0)
    if kind == schema.BOOL:
        return bool(_single(attribute, "i", "ints", 0))
    if kind in (schema.FLOAT32, schema.FLOAT16, schema.BFLOAT16):
        return _single(attribute, "f", "floats", 0.0)
    if kind == schema.FLOAT64:
        return _single(attribute, "d", "doubles", 0.0)
    if kind == schema.STRING:
        return str(_single(attribute, "s", "strings", b""), "utf-8", "surrogateescape")
    if kind == schema.TUPLE:
        return tuple(read_attribute(v) for v in attribute.values)
    if kind == schema.LIST:
        return [read_attribute(v) for v in attribute.values]
    if kind == schema.DICT:
        return {v.name: read_attribute(v) for v in attribute.values}
    if kind in (schema.TENSOR, schema.TENSORS):
        tensors = attribute.tensors or ([attribute.t] if attribute.has("t") else [])
        if not tensors:
            return DType("tensor")
        if kind == schema.TENSORS and not tensors[0].dims and _is_empty(tensors[0]):
            return DType(np_dtype(tensors[0].data_type).name)
        return read_tensor(tensors[0])
    if kind in (schema.UMONAD, schema.IOMONAD):
        return MONAD
    if kind in (schema.NONE, schema.TYPE_NULL):
        return None
    if kind == schema.CLASS_TYPE:
        return str(_single(attribute, "s", "strings", b""), "utf-8", "surrogateescape")
    raise MindIRError(f"the attribute '{attribute.name}' has the type {kind}, unknown to MindJAX")


def _single(attribute: Message, single: str, several: str, default: Any) -> Any:
    """Read a scalar, which stands in one field at the top and in another inside a tuple."""
    if attribute.has(single):
        return getattr(attribute, single)
    values = getattr(attribute, several) if attribute.has(several) else ()
    return values[0] if values else default


def _is_empty(tensor: Message) -> bool:
    fields = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data")
    return not any(tensor.has(name) for name in fields)


def make_tensor(array: np.ndarray, name: str = "", **fields: Any) -> Message:
    """Make the message of an array.

    Args:
        array: of any shape, of a dtype that the format knows.
        name: name of the tensor.
        **fields: further fields.

    Returns:
        The message; its bytes are a view of the array where it is contiguous.
    """
    tensor = tensor_type(array.shape, array.dtype.name, **fields)
    if name:
        tensor.name = name
    flat = np.ascontiguousarray(array).reshape(-1)
    tensor.raw_data = flat.view(np.uint8).data if flat.size else b""
    return tensor


def tensor_type(shape: Any, dtype: str, **fields: Any) -> Message:
    """Make the message of a tensor's shape and dtype.

    Args:
        shape: sizes; -1 stands for one that may change.
        dtype: numpy name.
        **fields: further fields.

    Returns:
        The message.

    Raises:
        MindIRError: the format does not know the dtype.
    """
    code = schema.DTYPE_CODES.get(dtype)
    if code is None:
        raise MindIRError(f"MindIR has no code for the dtype {dtype}")
    tensor = Message("Tensor", dims=[int(s) for s in shape], data_type=code, **fields)
    if not tensor.dims:
        tensor.clear("dims")
    return tensor


def make_attribute(value: Any, name: str = "", inner: bool = False) -> Message:
    """Make the attribute of a Python value or array.

    Args:
        value: bool, int, float, str, None, `MONAD`, array, or tuple or list of these.
        name: name of the attribute.
        inner: whether it stands inside a tuple or list.

    Returns:
        The message.

    Raises:
        MindIRError: there is no such attribute.
    """
    attribute = Message("Attribute")
    if name:
        attribute.name = name

    def scalar(kind: int, single: str, several: str, content: Any) -> None:
        attribute.type = kind
        setattr(attribute, several if inner else single, [content] if inner else content)

    if isinstance(value, bool | np.bool_):
        scalar(schema.BOOL, "i", "ints", int(value))
    elif isinstance(value, int | np.integer):
        scalar(schema.INT64, "i", "ints", int(value))
    elif isinstance(value, float | np.floating):
        scalar(schema.FLOAT32, "f", "floats", _float32(float(value)))
    elif isinstance(value, str):
        scalar(schema.STRING, "s", "strings", value.encode())
    elif value is None:
        attribute.type = schema.NONE
    elif value is MONAD:
        attribute.type = schema.UMONAD
    elif isinstance(value, np.ndarray):
        attribute.type = schema.TENSORS
        attribute.tensors = [make_tensor(value, "value0")]
    elif isinstance(value, tuple | list):
        attribute.type = schema.TUPLE if isinstance(value, tuple) else schema.LIST
        attribute.values = [make_attribute(v, inner=True) for v in value]
    else:
        raise MindIRError(f"MindIR has no attribute for a {type(value).__name__}")
    return attribute


def _float32(value: float) -> float:
    """Bring a Python float into the range of the four bytes that it is stored in."""
    largest = float(np.finfo(np.float32).max)
    return value if not math.isfinite(value) else min(max(value, -largest), largest)
