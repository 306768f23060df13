"""``save_checkpoint``: Parameters of a Cell, list or dict to a checkpoint file."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax.checkpoint import ckpt, safetensors
from mindjax.checkpoint.atomic import replacing
from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import state_lock
from mindjax.nn.cell import Cell
from mindjax.tensor import Parameter, Tensor

logger = logging.getLogger("mindjax")

FORMATS = ("ckpt", "safetensors")
_SCALARS: dict[type, Any] = {bool: np.bool_, int: np.int64, float: np.float32}

Entries = dict[str, "np.ndarray | str"]


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
        integrated_save: whether the slices of a sharded Parameter are merged; the Parameters of
            one process are whole, so both values save the same.
        async_save: ``True``, ``"thread"`` or ``"process"`` writes the file in a background thread
            after the values are copied. A failure is raised by the next save.
        append_dict: further values: int, float, bool, str, Tensor or Generator.
        enc_key: must be None: encrypted files are not supported.
        enc_mode: cipher; means nothing without ``enc_key``.
        choice_func: takes a Parameter's name and tells whether it is saved.
        crc_check: whether the file carries a check sum.
        format: ``"ckpt"`` or ``"safetensors"``.
        **kwargs: ``remove_redundancy`` (bool) is noted in a safetensors file; ``incremental`` and
            ``global_step_num`` only with their defaults.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument has the wrong value.
        NotImplementedError: ``enc_key`` or another unsupported argument is given.
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

    wait_async_save()
    metadata = None if redundancy is None else {"remove_redundancy": str(redundancy)}
    # Another thread may be training: no step may fall between two Parameters.
    with state_lock:
        entries = {
            name: value if isinstance(value, str) else to_numpy(value)
            for name, value in _collect(save_obj, choice_func).items()
        }
        entries.update((name, _scalar(value)) for name, value in (append_dict or {}).items())
    if async_save:
        _background.start(path, entries, crc_check, format, metadata)
    else:
        _write(path, entries, crc_check, format, metadata)


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
    """Copy a Tensor, Parameter or array to numpy."""
    return value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)


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


def check_no_key(where: str, argument: str, key: bytes | None) -> None:
    """Raise if a key is given: encrypted files are not supported."""
    if key is not None:
        way = "save without it" if argument == "enc_key" else "decrypt the file with the original"
        raise located(
            NotImplementedError,
            f"For '{where}', the argument '{argument}' is not supported: {way}.",
        )


class _Background:
    """The one thread that writes in the background, and how its last save ended."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._failure: tuple[str, BaseException] | None = None
        self._registered = False

    def start(self, path: str, *rest: Any) -> None:
        def run() -> None:
            try:
                _write(path, *rest)
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


_background = _Background()


def _write(
    path: str, entries: Entries, crc_check: bool, format: str, metadata: dict[str, str] | None
) -> None:
    try:
        with replacing(path) as file:
            if format == "ckpt":
                ckpt.write(file, entries.items(), crc_check)
            else:
                arrays = {k: v for k, v in entries.items() if isinstance(v, np.ndarray)}
                safetensors.write(file, arrays, crc_check, metadata)
    except OSError as error:
        raised = located(
            type(error),
            f"For 'save_checkpoint', the file {path} cannot be written: {error.strerror}.",
        )
        raised.errno = error.errno
        raise raised from error


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
    check_no_key("save_checkpoint", "enc_key", enc_key)
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
