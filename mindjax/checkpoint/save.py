"""``save_checkpoint``: Parameters of a Cell, list or dict to a checkpoint file."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, NamedTuple

import numpy as np

from mindjax.checkpoint import ckpt, safetensors
from mindjax.core import checks, cipher
from mindjax.core.atomic import replacing
from mindjax.core.errors import located
from mindjax.core.handle import (
    host_view,
    own_part,
    spans_processes,
    state_lock,
    whole,
    wrap,
)
from mindjax.nn.cell import Cell
from mindjax.tensor import Parameter, Tensor

logger = logging.getLogger("mindjax")

FORMATS = ("ckpt", "safetensors")
_SCALARS: dict[type, Any] = {bool: np.bool_, int: np.int64, float: np.float32}

_INT4_MARK = "_stored_as_int4"

Entries = Mapping[str, "np.ndarray | str | Tensor"]


def save_checkpoint(
    save_obj: Any,
    ckpt_file_name: str,
    integrated_save: bool = True,
    async_save: bool | str = False,
    append_dict: dict[str, Any] | None = None,
    enc_key: bytes | None = None,
    enc_mode: str = "AES-GCM",
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    format: str = "ckpt",
    **kwargs: Any,
) -> None:
    """Save Parameters to a file, which is replaced in one step and made read-only.

    Args:
        save_obj: Cell (its Parameters in the order of ``parameters_and_names``), list of
            Parameters, list of ``{"name": str, "data": Tensor}``, or dict of names to Parameters,
            Tensors, numpy arrays or texts.
        ckpt_file_name: path; ``.ckpt`` or ``.safetensors`` is appended if it does not end so.
        integrated_save: whether the slices of a Parameter that lies on several processes' devices
            are merged, which each of them must ask for; else each saves its own. The Parameters of
            one process are whole, so both values save the same.
        async_save: ``True``, ``"thread"`` or ``"process"`` writes the file in a background thread;
            it holds the values that the Parameters have now. A failure is raised by the next save.
        append_dict: further values: int, float, bool, str, Tensor or Generator.
        enc_key: key of 16, 24 or 32 bytes with which a ckpt file is encrypted.
        enc_mode: ``"AES-GCM"``, ``"AES-CBC"`` or ``"SM4-CBC"``, whose key has 16 bytes.
        choice_func: takes a Parameter's name and tells whether it is saved.
        crc_check: whether the file carries a check sum.
        format: ``"ckpt"`` or ``"safetensors"``.
        **kwargs: ``remove_redundancy`` (bool) is noted in a safetensors file; ``incremental`` and
            ``global_step_num`` only with their defaults.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument has the wrong value.
        NotImplementedError: an unsupported argument is given.
        ImportError: ``enc_key`` is given and the package ``cryptography`` is missing.
        OSError: the file cannot be written.

    MindSpore: ``mindspore.save_checkpoint``.
    """
    path = _check_target(save_obj, ckpt_file_name, format)
    checks.boolean("integrated_save", integrated_save, "save_checkpoint")
    check_async(async_save)
    _check_append(append_dict)
    check_instance("enc_key", enc_key, (type(None), bytes))
    check_instance("enc_mode", enc_mode, str)
    check_instance("crc_check", crc_check, bool)
    redundancy = kwargs.pop("remove_redundancy", None)
    check_instance("remove_redundancy", redundancy, (type(None), bool))
    _check_rest(format, enc_key, enc_mode, kwargs)
    options = _Options(format, crc_check, redundancy, enc_key, enc_mode)

    wait_async_save()
    # Another thread may be training: no step may fall between two Parameters.
    with state_lock:
        entries: dict[str, Any] = {
            name: _held(value, integrated_save)
            for name, value in _collect(save_obj, choice_func).items()
        }
        entries.update((name, _scalar(value)) for name, value in (append_dict or {}).items())
    if async_save:
        _background.start(path, entries, options)
    else:
        _write(path, entries, options)


def wait_async_save() -> None:
    """Wait until the background save, if one runs, has ended.

    Raises:
        RuntimeError: a background save failed; it is raised once.
    """
    _background.wait()


def async_ckpt_thread_status() -> bool:
    """Tell whether a background save is running (MindSpore: ``async_ckpt_thread_status``)."""
    return _background.running()


def to_numpy(value: Any) -> np.ndarray:
    """Give a Tensor's, Parameter's or array's values as an array that is not shared."""
    if not isinstance(value, Tensor):
        return np.asanyarray(value)
    array = value.asnumpy()
    is_int4 = getattr(value, _INT4_MARK, False) and array.dtype == np.int8
    return array.view(ckpt.Int4) if is_int4 else array


def _held(value: Any, integrated: bool) -> np.ndarray | str | Tensor:
    """Keep a value as it is now, without a copy: what is behind a Tensor is never written to."""
    if not isinstance(value, Tensor):
        return value if isinstance(value, str) else np.array(value, subok=True)
    array = value.local_value()
    # What lies on several processes is gathered here: all of them are at this place now.
    held = wrap(whole(array) if integrated and spans_processes(array) else own_part(array))
    if getattr(value, _INT4_MARK, False):
        setattr(held, _INT4_MARK, True)
    return held


def mark_int4(parameter: Parameter) -> None:
    """Note that a Parameter of int8 is saved as the type that it was stored as."""
    setattr(parameter, _INT4_MARK, True)


def check_instance(name: str, value: Any, kinds: type | tuple[type, ...]) -> None:
    """Raise the original's error unless ``value`` is of one of ``kinds``."""
    if not isinstance(value, kinds):
        raise located(
            ValueError, f"The parameter '{name}' must be isinstance of {kinds}, but got {value}."
        )


def check_async(async_save: Any) -> None:
    """Raise the original's error unless ``async_save`` is a bool, 'process' or 'thread'."""
    if not isinstance(async_save, bool | str):
        raise located(
            TypeError,
            "For 'save_checkpoint', the parameter 'async_save' must be bool or str, but got "
            f"{type(async_save)}.",
        )
    if isinstance(async_save, str) and async_save not in ("process", "thread"):
        raise located(
            ValueError,
            "For 'save_checkpoint', the argument 'async_save' can only be 'process' or 'thread', "
            f"but got {async_save}.",
        )


class _Options(NamedTuple):
    """How a file is written."""

    format: str
    crc_check: bool = False
    remove_redundancy: bool | None = None
    key: bytes | None = None
    mode: str = "AES-GCM"


class _Background:
    """The one thread that writes in the background, and how its last save ended."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._failure: tuple[str, BaseException] | None = None
        self._registered = False
        self._hurry = threading.Event()

    def start(self, path: str, entries: Entries, options: _Options) -> None:
        self._hurry.clear()

        def run() -> None:
            _yield_to_others()
            try:
                _write(path, entries, options, self._hurry)
            except BaseException as error:
                self._failure = (path, error)

        if not self._registered:
            atexit.register(self._report)
            self._registered = True
        self._thread = threading.Thread(target=run, name="mindjax_save_checkpoint")
        self._thread.start()

    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def wait(self) -> None:
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            self._hurry.set()
            thread.join()
            self._thread = None
        failure, self._failure = self._failure, None
        if failure is not None:
            raise located(
                RuntimeError,
                f"For 'save_checkpoint', the asynchronous save of {failure[0]} failed: "
                f"{type(failure[1]).__name__}: {failure[1]}",
            ) from failure[1]

    def _report(self) -> None:
        try:
            self.wait()
        except RuntimeError as error:
            logger.critical("%s", error)


def _yield_to_others() -> None:
    """Let this thread run only where the training leaves room, on systems that can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)


class _Paced:
    """A file that takes a fifth of a processor, until someone waits for it.

    The lowest priority does not do that: a program's threads wait for each other, and so for the
    one whose processor is taken.

    Args:
        file: what is written to.
        hurry: set once someone waits.
    """

    _BYTES, _RESTS = 1 << 20, 4

    def __init__(self, file: IO[bytes], hurry: threading.Event) -> None:
        self._file, self._hurry = file, hurry
        self._used = time.thread_time()

    def write(self, data: Any) -> None:
        """Write bytes piece by piece, with rests between."""
        view = memoryview(data).cast("B")
        for start in range(0, len(view), self._BYTES):
            self._file.write(view[start : start + self._BYTES])
            used = time.thread_time()
            self._hurry.wait(self._RESTS * (used - self._used))
            self._used = time.thread_time()


_background = _Background()


def write_file(
    path: str, entries: Entries, format: str, remove_redundancy: bool | None = None
) -> None:
    """Replace a file by one that holds these names and values.

    Args:
        path: the file; its folder exists.
        entries: names and values, in the file's order.
        format: ``"ckpt"`` or ``"safetensors"``.
        remove_redundancy: what is noted in a safetensors file about it; nothing by default.

    Raises:
        OSError: the file cannot be written.
        ValueError: a text is to stand in a safetensors file.
    """
    _write(path, entries, _Options(format, remove_redundancy=remove_redundancy))


def _write(
    path: str, entries: Entries, options: _Options, hurry: threading.Event | None = None
) -> None:
    try:
        with replacing(path) as whole_file:
            file: Any = whole_file if hurry is None else _Paced(whole_file, hurry)
            if options.format == "safetensors":
                redundancy = options.remove_redundancy
                notes = {} if redundancy is None else {"remove_redundancy": str(redundancy)}
                safetensors.write(file, _arrays(path, entries), options.crc_check, notes)
            elif options.key is None:
                ckpt.write(file, _read(entries), options.crc_check)
            else:
                sealer = cipher.Sealer(file, options.key, options.mode)
                # The original puts an unusable check sum behind the blocks; ours is inside them,
                # where its reader finds it.
                ckpt.write(sealer, _read(entries), options.crc_check)
                sealer.finish()
    except OSError as error:
        raised = located(
            type(error),
            f"For 'save_checkpoint', the file {path} cannot be written: {error.strerror}.",
        )
        raised.errno = error.errno
        raise raised from error


def _read(entries: Entries) -> Iterator[tuple[str, np.ndarray | str]]:
    """Bring one value after the other to the host."""
    for name, value in entries.items():
        yield name, value if isinstance(value, str) else _viewed(value)


def _viewed(value: Any) -> np.ndarray:
    """Give a value as an array that is only read, without a copy where it is on the host."""
    if not isinstance(value, Tensor):
        return np.asanyarray(value)
    array = host_view(value)
    is_int4 = getattr(value, _INT4_MARK, False) and array.dtype == np.int8
    return array.view(ckpt.Int4) if is_int4 else array


def _arrays(path: str, entries: Entries) -> dict[str, np.ndarray]:
    texts = [name for name, value in entries.items() if isinstance(value, str)]
    if texts:
        raise located(
            ValueError,
            f"For 'save_checkpoint', the text '{texts[0]}' cannot stand in the safetensors file "
            f"{path}: leave it out, or save a ckpt file.",
        )
    return {name: _viewed(value) for name, value in entries.items()}


def _check_target(save_obj: Any, name: Any, format: Any) -> str:
    if format not in FORMATS:
        raise located(
            ValueError,
            f"For 'save_checkpoint', the format must be 'safetensors' or 'ckpt', but got {format}.",
        )
    if not isinstance(save_obj, Cell | list | dict):
        raise located(
            TypeError,
            "For 'save_checkpoint', the parameter 'save_obj' must be nn.Cell, list or dict, but "
            f"got {type(save_obj)}.",
        )
    if not isinstance(name, str):
        raise located(
            TypeError,
            f"For 'save_checkpoint', the parameter {name} for checkpoint file name is invalid, "
            f"'ckpt_file_name' must be string, but got {type(name)}.",
        )
    path = os.path.realpath(name)
    if os.path.isdir(path):
        raise located(
            IsADirectoryError,
            f"For 'save_checkpoint', the parameter `ckpt_file_name`: {path} is a directory, it "
            "must be a file name.",
        )
    return path if path.endswith(format) else f"{path}.{format}"


def _check_append(append_dict: Any) -> None:
    if append_dict is None:
        return
    if not isinstance(append_dict, dict):
        raise located(
            TypeError,
            "For 'save_checkpoint', the argument 'append_dict' must be dict, but got "
            f"{type(append_dict)}.",
        )
    for key, value in append_dict.items():
        known = isinstance(value, int | float | bool | str | Tensor) or _is_generator(value)
        if not isinstance(key, str) or not known:
            raise located(
                TypeError,
                "For 'save_checkpoint', the type of dict 'append_info' must be key: string, value: "
                f"int, float, bool or Generator, but got key: {type(key)}, value: {type(value)}",
            )


def _check_rest(format: str, enc_key: Any, enc_mode: str, kwargs: dict[str, Any]) -> None:
    given = {"enc_key": (enc_key, None), "enc_mode": (enc_mode, "AES-GCM")}
    for name, default in (("incremental", False), ("global_step_num", None)):
        given[name] = (kwargs.pop(name, default), default)
    if kwargs:
        raise located(
            TypeError,
            f"For 'save_checkpoint', the argument '{next(iter(kwargs))}' is not known.",
        )
    if format == "safetensors":
        for name, (value, default) in given.items():
            if value != default:
                raise located(
                    ValueError,
                    "For 'save_checkpoint', when format is 'safetensors', the parameter "
                    f"'{name}' must be set to default value '{default}', but got '{value}'.",
                )
    if enc_key is not None:
        try:
            cipher.require(enc_key, enc_mode)
        except ValueError as error:
            raise located(ValueError, f"For 'save_checkpoint', {error}.") from None
        except ImportError as error:
            raise located(ImportError, f"For 'save_checkpoint', {error}.") from None
    for name in ("incremental", "global_step_num"):
        if given[name][0] != given[name][1]:
            raise located(
                NotImplementedError,
                f"For 'save_checkpoint', the argument '{name}' is not supported: leave it out.",
            )


def _is_generator(value: Any) -> bool:
    return callable(getattr(value, "get_state", None))


def _scalar(value: Any) -> np.ndarray | str:
    if isinstance(value, str):
        return value
    if _is_generator(value):
        value = value.get_state()
    for kind, dtype in _SCALARS.items():
        if isinstance(value, kind):
            return np.array(value, dtype)
    return to_numpy(value)


def _collect(save_obj: Any, choice_func: Callable[[str], bool] | None) -> dict[str, Any]:
    if isinstance(save_obj, Cell):
        pairs = [(parameter.name, parameter) for _, parameter in save_obj.parameters_and_names()]
    elif isinstance(save_obj, dict):
        pairs = [_of_dict(key, value) for key, value in save_obj.items()]
    elif save_obj and isinstance(save_obj[0], dict):
        pairs = [_of_item(item) for item in save_obj]
    else:
        pairs = [_of_list(parameter) for parameter in save_obj]
    return {name: data for name, data in pairs if choice_func is None or choice_func(name)}


def _of_list(parameter: Any) -> tuple[str, Any]:
    if not isinstance(parameter, Parameter):
        raise located(
            TypeError,
            "For save_checkpoint, when save_obj is made up by list of Parameter, the param should "
            f"be parameter, but got {type(parameter)}",
        )
    return parameter.name, parameter


def _of_item(item: Any) -> tuple[str, Any]:
    if not isinstance(item, dict) or "name" not in item or "data" not in item:
        raise located(
            TypeError,
            "For save_checkpoint, save_obj should be a list of dict items, and the dict should "
            f"have key values 'name' and 'data', but got {type(item)} and {item}.",
        )
    if not isinstance(item["name"], str):
        raise located(
            TypeError,
            "For save_checkpoint, when save_obj is a list of dict items, the name in dict should "
            f"be string, but got {type(item['name'])}.",
        )
    if not isinstance(item["data"], Tensor):
        raise located(
            TypeError,
            "For save_checkpoint, when save_obj is a list of dict items, the data in dict should "
            f"be parameter, but got {type(item['data'])}.",
        )
    return item["name"], item["data"]


def _of_dict(key: Any, value: Any) -> tuple[str, Any]:
    if not isinstance(key, str) or not isinstance(value, Tensor | np.ndarray | str):
        raise located(
            TypeError,
            "For save_checkpoint, when save_obj is made up by dict, the key should be str and "
            f"value should be Parameter, but got the type of key is {type(key)} and the type of "
            f"value is {type(value)}",
        )
    return key, value
