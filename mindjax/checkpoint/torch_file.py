"""Tensors from the files of ``torch.save``, without torch and without running what they name.

Both forms are read: the zip archive and the older row of pickles. The storages stay in the mapped
file until their values are used.
"""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any

import ml_dtypes
import numpy as np

from mindjax.checkpoint.ckpt import map_file
from mindjax.checkpoint.pickled import Called, Named, PickleError, Stored, read_pickle

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_STORAGES: dict[str, Any] = {
    "FloatStorage": np.float32,
    "DoubleStorage": np.float64,
    "HalfStorage": np.float16,
    "BFloat16Storage": ml_dtypes.bfloat16,
    "LongStorage": np.int64,
    "IntStorage": np.int32,
    "ShortStorage": np.int16,
    "CharStorage": np.int8,
    "ByteStorage": np.uint8,
    "BoolStorage": np.bool_,
    "ComplexFloatStorage": np.complex64,
    "ComplexDoubleStorage": np.complex128,
    "UntypedStorage": np.uint8,
}
_DTYPES: dict[str, Any] = {
    "float32": np.float32,
    "float64": np.float64,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "int64": np.int64,
    "int32": np.int32,
    "int16": np.int16,
    "int8": np.int8,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "bool": np.bool_,
    "complex64": np.complex64,
    "complex128": np.complex128,
}
_ORDERED = Named("collections", "OrderedDict")
_MOST_DIMS = 32
_MOST_ELEMENTS = 1 << 48
_DEEPEST = 64
# Tensors share storages; a file whose tensors have together so many times its size is made to harm.
_MOST_SHARED = 16
_FREE_BYTES = 1 << 20


class TorchFileError(ValueError):
    """The file is no readable file of torch; the message says why."""


class Reader:
    """One file of ``torch.save``.

    Args:
        file: binary file of the system, open for reading.
        crc_check: whether the check sums of an archive's storages are compared.

    Raises:
        TorchFileError: the file is damaged, or no file of torch.
    """

    def __init__(self, file: IO[bytes], crc_check: bool = True) -> None:
        self._crc_check = crc_check
        self._view = map_file(file) or memoryview(b"")
        self._storages: dict[str, memoryview] = {}
        self._left = _MOST_SHARED * len(self._view) + _FREE_BYTES
        self._unread = len(self._view)
        self._walked: set[int] = set()
        # Classes and functions that the file names and that are not built.
        self.skipped: set[str] = set()
        self._find: Callable[[str], memoryview]
        try:
            file.seek(0)
            zipped = file.read(4) == b"PK\x03\x04"
            self._root = self._archive(file) if zipped else self._row(file)
        except PickleError as error:
            raise TorchFileError(f"its pickle cannot be read: {error}") from None

    def tensors(self, key: str | None = None) -> dict[str, np.ndarray]:
        """Build the tensors of a state_dict.

        Args:
            key: entry of the file that holds it; by default the file itself, or what trainings call
                such an entry, like ``"state_dict"`` and ``"model"``.

        Returns:
            Names and read-only arrays; those of nested dicts are joined with dots.

        Raises:
            TorchFileError: there are none, or one does not fit its storage.
        """
        root = _entries(self._root)
        if root is None:
            raise TorchFileError(f"it holds {_shown(self._root)}: save model.state_dict() instead")
        if key is not None:
            if key not in root:
                raise TorchFileError(f"it has no entry {key!r}, but {sorted(map(str, root))[:8]}")
            root = _entries(root[key]) or {}
        elif not any(_is_tensor(value) for value in root.values()):
            for name in ("state_dict", "model_state_dict", "model", "module", "net", "params"):
                inner = _entries(root.get(name))
                if inner and any(_is_tensor(value) for value in inner.values()):
                    root = inner
                    break
        self._walked.clear()
        found = dict(self._walk("", root, 0))
        if not found:
            raise TorchFileError(
                f"it has no tensors where a state_dict has them; its entries are "
                f"{sorted(map(str, root))[:8]}: give 'key'"
            )
        return found

    def _walk(self, prefix: str, table: dict[Any, Any], depth: int) -> Iterator[tuple[str, Any]]:
        if depth > _DEEPEST:
            raise TorchFileError("its dictionaries are nested too deeply")
        if id(table) in self._walked:
            return
        self._walked.add(id(table))
        for key, value in table.items():
            name = f"{prefix}{key}"
            inner = _entries(value)
            if _is_tensor(value):
                try:
                    yield name, self._tensor(value)
                except (TypeError, ValueError, OverflowError, IndexError) as error:
                    problem = " ".join(str(error).split())
                    raise TorchFileError(f"the tensor {name!r}: {problem}") from None
            elif inner is not None:
                yield from self._walk(f"{name}.", inner, depth + 1)
            elif isinstance(value, Called | Named):
                self.skipped.add(_shown(value))

    def _tensor(self, value: Called) -> np.ndarray:
        name = value.function.name
        arguments = value.arguments
        if name.startswith("_rebuild_parameter"):
            inner = arguments[0]
            if not _is_tensor(inner) or inner.function.name.startswith("_rebuild_parameter"):
                raise ValueError("its Parameter holds no tensor")
            return self._tensor(inner)
        storage, offset, size, stride = arguments[:4]
        dtype, data = self._storage(storage)
        if name == "_rebuild_tensor_v3":
            dtype = _dtype_of(arguments[6])
        if len(size) != len(stride) or len(size) > _MOST_DIMS:
            raise ValueError(f"its {len(size)} sizes and {len(stride)} strides do not fit")
        numbers = (offset, *size, *stride)
        if any(type(n) is not int or not 0 <= n < _MOST_ELEMENTS for n in numbers):
            raise ValueError("its sizes and strides are not all counts")
        count = math.prod(size)
        elements = len(data) // dtype.itemsize
        last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if count and last >= elements:
            raise ValueError(f"its sizes {size} and strides {stride} leave its {elements} values")
        if count > elements:
            raise ValueError("it repeats its values: save it with .contiguous()")
        self._left -= count * dtype.itemsize
        if self._left < 0:
            raise ValueError("the tensors are far larger than the file")
        flat = np.frombuffer(data, dtype, elements)
        if not count:
            return np.zeros(size, dtype)
        steps = tuple(step * dtype.itemsize for step in stride)
        return np.lib.stride_tricks.as_strided(flat[offset:], tuple(size), steps, writeable=False)

    def _storage(self, stored: Any) -> tuple[np.dtype[Any], memoryview]:
        if not isinstance(stored, Stored):
            raise ValueError("it has no storage")
        parts = stored.key
        if not isinstance(parts, tuple) or len(parts) < 5 or parts[0] != "storage":
            raise ValueError("its storage is not understood")
        kind, key, count = parts[1], parts[2], parts[4]
        known = isinstance(kind, Named) and kind.module in ("torch", "torch.storage")
        if not known or kind.name not in _STORAGES:
            raise ValueError(f"its storage is of the unknown class {_shown(kind)}")
        if not isinstance(key, str) or type(count) is not int or count < 0:
            raise ValueError("its storage is not understood")
        dtype = np.dtype(_STORAGES[kind.name])
        data = self._storages.get(key)
        if data is None:
            data = self._storages[key] = self._find(key)
        if len(data) < count * dtype.itemsize:
            raise ValueError(f"its storage has {len(data)} bytes, not {count * dtype.itemsize}")
        return dtype, data[: count * dtype.itemsize]

    # -- the archive --

    def _archive(self, file: IO[bytes]) -> Any:
        try:
            entries = {info.filename: info for info in zipfile.ZipFile(file).infolist()}
        except (zipfile.BadZipFile, ValueError, OSError, struct.error, NotImplementedError):
            raise TorchFileError("it is no whole zip archive") from None
        pickles = [name for name in entries if name.endswith("data.pkl")]
        if len(pickles) != 1:
            raise TorchFileError("it is a zip archive, but not one of torch.save")
        folder = pickles[0].removesuffix("data.pkl")
        if f"{folder}constants.pkl" in entries:
            raise TorchFileError("it is a TorchScript program: save model.state_dict() instead")
        order = entries.get(f"{folder}byteorder")
        if order is not None and bytes(self._content(file, order)) != b"little":
            raise TorchFileError("its numbers are big-endian: save it on another machine")

        def find(key: str) -> memoryview:
            info = entries.get(f"{folder}data/{key}")
            if info is None:
                raise ValueError(f"its storage {key!r} is missing")
            return self._content(file, info)

        self._find = find
        content = self._content(file, entries[pickles[0]])
        return read_pickle(_Bytes(content))

    def _content(self, file: IO[bytes], info: zipfile.ZipInfo) -> memoryview:
        """Find a stored file of the archive in the mapped bytes."""
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise TorchFileError(f"its part {info.filename!r} is compressed, as torch never does")
        start = info.header_offset
        head = self._view[start : start + 30]
        if len(head) != 30 or head[:4] != b"PK\x03\x04":
            raise TorchFileError(f"its part {info.filename!r} is not where it should be")
        name, extra = struct.unpack_from("<HH", head, 26)
        start += 30 + name + extra
        if info.compress_size != info.file_size or start + info.file_size > len(self._view):
            raise TorchFileError(f"its part {info.filename!r} is cut off")
        self._unread -= info.file_size
        if self._unread < 0:
            raise TorchFileError("the parts of the archive overlap")
        content = self._view[start : start + info.file_size]
        if self._crc_check and zlib.crc32(content) != info.CRC:
            raise TorchFileError(f"its part {info.filename!r} is damaged: the check sum is wrong")
        return content

    # -- the older form --

    def _row(self, file: IO[bytes]) -> Any:
        file.seek(0)
        if read_pickle(file) != _MAGIC or read_pickle(file) != _PROTOCOL:
            raise TorchFileError("it is no file of torch.save")
        machine = read_pickle(file)
        if not isinstance(machine, dict) or machine.get("little_endian") is not True:
            raise TorchFileError("its numbers are big-endian: save it on another machine")
        root = read_pickle(file)
        keys = read_pickle(file)
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise TorchFileError("its list of storages is not understood")
        sizes = dict(_itemsizes(root))
        at = file.tell()
        found: dict[str, memoryview] = {}
        for key in keys:
            head = self._view[at : at + 8]
            count = int.from_bytes(head, "little", signed=True) if len(head) == 8 else -1
            end = at + 8 + count * sizes.get(key, 1)
            if count < 0 or end > len(self._view):
                raise TorchFileError(f"its storage {key!r} is cut off")
            found[key] = self._view[at + 8 : end]
            at = end

        def find(key: str) -> memoryview:
            if key not in found:
                raise ValueError(f"its storage {key!r} is missing")
            return found[key]

        self._find = find
        return root


class _Bytes:
    """A file on bytes in memory, which are not copied as a whole."""

    def __init__(self, content: memoryview) -> None:
        self._content, self._at = content, 0

    def read(self, count: int) -> bytes:
        """Read so many bytes, or what is left."""
        found = bytes(self._content[self._at : self._at + max(count, 0)])
        self._at += len(found)
        return found

    def readline(self) -> bytes:
        """Read to the end of the line."""
        line = bytearray()
        while one := self.read(256):
            end = one.find(b"\n") + 1
            if end:
                self._at -= len(one) - end
                return bytes(line + one[:end])
            line += one
        return bytes(line)

    def tell(self) -> int:
        """Tell where the next byte is read."""
        return self._at


def _entries(value: Any) -> dict[Any, Any] | None:
    """Give a dictionary's entries, be it ordered or not."""
    if isinstance(value, dict):
        return value
    return value.items if isinstance(value, Called) and value.function == _ORDERED else None


def _is_tensor(value: Any) -> bool:
    if not isinstance(value, Called) or not isinstance(value.function, Named):
        return False
    module, name = value.function
    least = {
        "_rebuild_tensor": 4,
        "_rebuild_tensor_v2": 4,
        "_rebuild_tensor_v3": 7,
        "_rebuild_parameter": 1,
        "_rebuild_parameter_with_state": 1,
    }.get(name)
    fits = isinstance(value.arguments, tuple) and least is not None
    return module == "torch._utils" and fits and len(value.arguments) >= (least or 0)


def _dtype_of(value: Any) -> np.dtype[Any]:
    if not isinstance(value, Named) or value.module != "torch" or value.name not in _DTYPES:
        raise ValueError(f"its dtype {_shown(value)} is unknown")
    return np.dtype(_DTYPES[value.name])


def _shown(value: Any) -> str:
    if isinstance(value, Called):
        return f"an object of {_shown(value.function)}"
    return str(value)[:80] if isinstance(value, Named) else type(value).__name__


def _itemsizes(root: Any) -> Iterator[tuple[str, int]]:
    """Find what size the elements of each storage have, wherever tensors stand in a pickle."""
    todo, seen = [root], set()
    while todo:
        value = todo.pop()
        if isinstance(value, Stored):
            parts = value.key
            if isinstance(parts, tuple) and len(parts) >= 5 and isinstance(parts[2], str):
                kind = parts[1].name if isinstance(parts[1], Named) else ""
                yield parts[2], np.dtype(_STORAGES.get(kind, np.uint8)).itemsize
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Called):
            todo += [value.arguments, value.state, value.items]
        elif isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, list | tuple) and not isinstance(value, Named):
            todo += value
