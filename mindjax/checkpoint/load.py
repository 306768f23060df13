"""``load_checkpoint`` and ``load_param_into_net``: files to Parameters, Parameters to Cells."""

from __future__ import annotations

import contextlib
import io
import logging
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any

import numpy as np

from mindjax.checkpoint import ckpt, safetensors
from mindjax.checkpoint.save import check_instance, mark_int4, to_numpy
from mindjax.core import checks, cipher
from mindjax.core import dtype as mstype
from mindjax.core.errors import located
from mindjax.core.handle import joined, spans_processes, wrap
from mindjax.nn.cell import Cell
from mindjax.tensor import Parameter, Tensor

logger = logging.getLogger("mindjax")

Parameters = dict[str, Any]

_HINT = "May you need to check whether the checkpoint you loaded is correct"
_CONVERTIBLE = (
    {mstype.float16, mstype.float32, mstype.float64, mstype.bfloat16},
    {mstype.int8, mstype.int16, mstype.int32, mstype.int64},
)


def load_checkpoint(
    ckpt_file_name: str | io.BytesIO,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str = "ckpt",
) -> Parameters:
    """Load Parameters from a file.

    Args:
        ckpt_file_name: path that ends with the format's name, or for safetensors an ``io.BytesIO``.
        net: Cell into which the Parameters are loaded as well.
        strict_load: see :func:`load_param_into_net`.
        filter_prefix: names that begin so are left out; only for ckpt.
        dec_key: key with which the ckpt file was encrypted.
        dec_mode: ``"AES-GCM"``, ``"AES-CBC"`` or ``"SM4-CBC"``.
        specify_prefix: only names that begin so are kept; only for ckpt.
        choice_func: takes a name and tells whether it is kept; not asked for ckpt if a prefix is
            given.
        crc_check: whether the file's check sum is compared.
        remove_redundancy: whether the file holds only this rank's share; needs several ranks.
        format: ``"ckpt"`` or ``"safetensors"``.

    Returns:
        Names and Parameters, or str for stored texts, in the file's order.

    Raises:
        ValueError: the file is missing, cut off, damaged or something else, or nothing is kept.
        TypeError: an argument has the wrong type.
        ImportError: ``dec_key`` is given and the package ``cryptography`` is missing.

    MindSpore: ``mindspore.load_checkpoint``.
    """
    specified, filtered = _prefixes(specify_prefix), _prefixes(filter_prefix)
    check_instance("dec_key", dec_key, (type(None), bytes))
    check_instance("dec_mode", dec_mode, str)
    check_instance("crc_check", crc_check, bool)
    check_instance("remove_redundancy", remove_redundancy, bool)
    _check_cipher(format, dec_key, dec_mode)
    source = _check_source(ckpt_file_name, format)
    if format == "safetensors":
        found = _read_safetensors(source, choice_func, crc_check)
    else:
        found = _read_ckpt(
            source, _wanted(specified, filtered, choice_func), crc_check, dec_key, dec_mode
        )
    if not found:
        raise located(
            ValueError,
            "The loaded parameter dict is empty after filter or specify, please check whether "
            "'filter_prefix' or 'specify_prefix' are set correctly.",
        )
    # One after the other: no value is held twice.
    parameters = {name: _parameter(name, found.pop(name)) for name in list(found)}
    if net is not None:
        load_param_into_net(net, parameters, strict_load, remove_redundancy)
    return parameters


def _parameter(name: str, value: np.ndarray | str) -> Parameter | str:
    if isinstance(value, str):
        return value
    # Nobody else holds the array, so that it is not copied.
    parameter = Parameter(Tensor.from_numpy(np.asarray(value)), name=name)
    if isinstance(value, ckpt.Int4):
        mark_int4(parameter)
    return parameter


class ParamDictFuture:
    """The pending result of :func:`load_checkpoint_async`."""

    def __init__(self, executor: ThreadPoolExecutor, future: Future[Parameters]) -> None:
        self._executor, self._future = executor, future

    def result(self) -> Parameters:
        """Wait for the file and return what :func:`load_checkpoint` returns."""
        try:
            return self._future.result()
        finally:
            self._executor.shutdown()


def load_checkpoint_async(
    ckpt_file_name: str,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: Callable[[str], bool] | None = None,
) -> ParamDictFuture:
    """Load Parameters in a background thread.

    Args:
        ckpt_file_name: path that ends with ``.ckpt``.
        net: Cell into which the Parameters are loaded as well.
        strict_load: see :func:`load_param_into_net`.
        filter_prefix: names that begin so are left out.
        dec_key: key with which the ckpt file was encrypted.
        dec_mode: ``"AES-GCM"``, ``"AES-CBC"`` or ``"SM4-CBC"``.
        specify_prefix: only names that begin so are kept.
        choice_func: takes a name and tells whether it is kept.

    Returns:
        An object whose ``result()`` waits and returns the Parameters, or raises.

    MindSpore: ``mindspore.load_checkpoint_async``.
    """
    executor = ThreadPoolExecutor(1, "mindjax_load_checkpoint")
    arguments = (filter_prefix, dec_key, dec_mode, specify_prefix, choice_func)
    future = executor.submit(load_checkpoint, ckpt_file_name, net, strict_load, *arguments)
    return ParamDictFuture(executor, future)


def load_param_into_net(
    net: Cell,
    parameter_dict: Parameters,
    strict_load: bool = False,
    remove_redundancy: bool = False,
) -> tuple[list[str], list[str]]:
    """Give the Parameters of a Cell the values of those with the same names.

    Without ``strict_load``, float widths and signed int widths are converted, and a Parameter that
    has no namesake takes the value of one whose name ends with its name. Trailing dimensions of
    size 1 that the Cell's Parameter lacks are dropped. A Parameter that a compiled program has
    spread over several processes takes the whole value, or this process's part.

    Args:
        net: Cell.
        parameter_dict: names and Parameters; texts are passed over.
        strict_load: whether names and dtypes must match exactly.
        remove_redundancy: whether the Parameters are only this rank's share; needs several ranks.

    Returns:
        Names of the Cell that got no value, and names of ``parameter_dict`` that found none.

    Raises:
        TypeError: an argument has the wrong type.
        RuntimeError: shapes or dtypes do not match.

    MindSpore: ``mindspore.load_param_into_net``.
    """
    _check_into_net(net, parameter_dict)
    checks.boolean("strict_load", strict_load, "load_param_into_net")
    check_instance("remove_redundancy", remove_redundancy, bool)
    if remove_redundancy:
        raise located(
            TypeError,
            "The deduplication feature for loading checkpoint can only be used in parallel "
            "scenarios, but got stand_alone.",
        )
    left = _by_name(net)
    # Everything is checked before the first Parameter is written: an error leaves the Cell whole.
    planned: list[tuple[Parameter, Tensor]] = []
    missing: list[str] = []
    unused = list(parameter_dict)
    for name, parameter in left.items():
        new = parameter_dict.get(name)
        if isinstance(new, Parameter):
            planned.append((parameter, fitting(parameter, new, strict_load)))
            unused.remove(name)
        elif name not in parameter_dict and not name.startswith("accu_grads"):
            missing.append(name)
    if missing and not strict_load:
        planned += _found_by_suffix(left, parameter_dict, missing)
    for parameter, value in planned:
        parameter.set_data(value)
    if missing:
        logger.warning(
            "For 'load_param_into_net', %d parameters in the 'net' are not loaded, because they "
            "are not in the 'parameter_dict': %s.",
            len(missing),
            missing,
        )
    return missing, unused


def _by_name(net: Cell) -> dict[str, Parameter]:
    return {parameter.name: parameter for _, parameter in net.parameters_and_names()}


def _found_by_suffix(
    left: dict[str, Parameter], given: Parameters, missing: list[str]
) -> list[tuple[Parameter, Tensor]]:
    """Find, one after the other, the prefixes that the given names have and the Cell's lack."""
    found: list[tuple[Parameter, Tensor]] = []
    while True:
        pair = next(
            (
                (key, name)
                for name in missing
                for key, value in given.items()
                if key.endswith(name) and isinstance(value, Parameter)
            ),
            None,
        )
        if pair is None:
            return found
        prefix = pair[0].removesuffix(pair[1])
        logger.warning(
            "For 'load_param_into_net', remove parameter prefix name: %s, continue to load.", prefix
        )
        for name in list(missing):
            new = given.get(prefix + name)
            if isinstance(new, Parameter):
                found.append((left[name], fitting(left[name], new, strict_load=False)))
                missing.remove(name)


def update_parameter(parameter: Parameter, new: Parameter, strict_load: bool) -> None:
    """Write the values of one Parameter to another, as `load_param_into_net` does.

    Args:
        parameter: takes the values.
        new: has them.
        strict_load: whether the dtypes must be the same.

    Raises:
        RuntimeError: shapes or dtypes do not match.
    """
    parameter.set_data(fitting(parameter, new, strict_load))


def load_by_suffix(
    net: Cell, parameter_dict: Parameters, param_not_load: list[str], strict_load: bool
) -> None:
    """Write what is given under names with a prefix more than the Cell's.

    Args:
        net: takes the values.
        parameter_dict: Parameters by name.
        param_not_load: names of the Cell that are missing; those that are found leave it.
        strict_load: True leaves all as it is.

    Raises:
        RuntimeError: shapes or dtypes do not match; nothing is written then.
    """
    if strict_load:
        return
    for parameter, value in _found_by_suffix(_by_name(net), parameter_dict, param_not_load):
        parameter.set_data(value)


def fitting(parameter: Parameter, new: Parameter, strict_load: bool) -> Tensor:
    """Give the values of one Parameter in the shape and dtype of another.

    Args:
        parameter: the one that will take them; it is not changed.
        new: the one that has them.
        strict_load: whether the dtypes must be the same.

    Raises:
        RuntimeError: shapes or dtypes do not match.
    """
    name, shape, dtype = parameter.name, tuple(parameter.shape), parameter.dtype
    given = tuple(new.shape)
    is_part = given != shape and given == _own_shape(parameter)
    if given != shape and not is_part:
        extra = given[len(shape) :]
        if len(given) <= len(shape) or math.prod(given) != math.prod(shape) or set(extra) != {1}:
            raise located(
                RuntimeError,
                f"For 'load_param_into_net', {name} in the argument 'net' should have the same "
                f"shape as {name} in the argument 'parameter_dict'. But got its shape {shape} in "
                f"the argument 'net' and shape {given} in the argument 'parameter_dict'."
                f"{_HINT} or the batch size and so on in the 'net' and 'parameter_dict' are same.",
            )
    if dtype != new.dtype:
        if strict_load or not any({dtype, new.dtype} <= kinds for kinds in _CONVERTIBLE):
            raise located(
                RuntimeError,
                f"For 'load_param_into_net', {name} in the argument 'net' should have the same "
                f"type as {name} in the argument 'parameter_dict'. but got its type {dtype} in "
                f"the argument 'net' and type {new.dtype} in the argument 'parameter_dict'."
                f"{_HINT}.",
            )
        logger.warning(
            "The type of %s:%s in 'parameter_dict' is different from the type of it in 'net':%s, "
            "and is converted.",
            new.name,
            new.dtype,
            dtype,
        )
    elif given == shape:
        # What is behind a Tensor is never written to: the two share it.
        return wrap(new.local_value())
    array = to_numpy(new).astype(mstype.to_np(dtype), copy=False)
    if is_part:
        return wrap(joined(parameter.local_value(), array))
    return Tensor.from_numpy(array.reshape(shape))


def _own_shape(parameter: Parameter) -> tuple[int, ...]:
    """Give the shape of this process's part of a Parameter that lies on several processes."""
    array = parameter.local_value()
    if not spans_processes(array):
        return tuple(parameter.shape)
    return tuple(array.sharding.shard_shape(array.shape))


def _check_into_net(net: Any, parameter_dict: Any) -> None:
    if not isinstance(net, Cell):
        raise located(
            TypeError,
            f"For 'load_param_into_net', the argument 'net' should be a Cell, but got {type(net)}.",
        )
    if not isinstance(parameter_dict, dict):
        raise located(
            TypeError,
            "For 'load_param_into_net', the argument 'parameter_dict' should be a dict, but got "
            f"{type(parameter_dict)}.",
        )
    for key, value in parameter_dict.items():
        if not isinstance(key, str) or not isinstance(value, Parameter | str | list):
            raise located(
                TypeError,
                "For 'parameter_dict', the element in the argument 'parameter_dict' should be a "
                f"'str' and 'Parameter', but got {type(key)} and {type(value)}.",
            )


def _check_cipher(format: Any, dec_key: bytes | None, dec_mode: str) -> None:
    if format == "safetensors":
        for name, value, default in (
            ("dec_key", dec_key, None),
            ("dec_mode", dec_mode, "AES-GCM"),
        ):
            if value != default:
                raise located(
                    ValueError,
                    "For 'load_checkpoint', when format is 'safetensors', the parameter "
                    f"'{name}' must be set to default value '{default}', but got '{value}'.",
                )


def _check_source(source: Any, format: Any) -> Any:
    if format not in ("ckpt", "safetensors"):
        raise located(
            ValueError,
            "For 'load_checkpoint', the checkpoint file should end with '.ckpt' or "
            f"'.safetensors', please input the correct 'format', but got {format}.",
        )
    if isinstance(source, io.BytesIO):
        if format == "ckpt":
            raise located(
                TypeError, "ckpt don't support BytesIO as input type, please change to safetensors."
            )
        return source
    if not isinstance(source, str):
        raise located(
            TypeError,
            "For 'load_checkpoint', the argument 'ckpt_file_name' must be string, but got "
            f"{type(source)}.",
        )
    if not source.endswith(format):
        raise located(
            ValueError,
            "For 'load_checkpoint', the checkpoint file format must same with 'format', but got "
            f"file_name:'{source}', format:'{format}'",
        )
    path = os.path.realpath(source)
    if not os.path.exists(path):
        raise located(
            ValueError,
            f"For 'load_checkpoint', the checkpoint file: {path} does not exist, please check "
            "whether the 'ckpt_file_name' is correct.",
        )
    return path


def _prefixes(prefix: Any) -> tuple[str, ...] | None:
    if prefix is None:
        return None
    names = "'specify_prefix' or 'filter_prefix'"
    if not isinstance(prefix, str | list | tuple):
        raise located(
            TypeError,
            f"For 'load_checkpoint', the type of {names} must be string, list[string] or "
            f"tuple[string], but got {type(prefix)}.",
        )
    prefixes = (prefix,) if isinstance(prefix, str) else tuple(prefix)
    if not prefixes:
        raise located(
            ValueError,
            f"For 'load_checkpoint', the argument {names} can't be empty when {names} is list or "
            "tuple.",
        )
    for index, one in enumerate(prefixes):
        if not isinstance(one, str):
            raise located(
                TypeError,
                f"For 'load_checkpoint', when {names} is list or tuple, the element in it must be "
                f"string, but got {type(one)} at index {index}.",
            )
        if not one:
            raise located(
                ValueError, f"For 'load_checkpoint', the value of {names} can't include ''."
            )
    return prefixes


def _wanted(
    specified: tuple[str, ...] | None,
    filtered: tuple[str, ...] | None,
    choice_func: Callable[[str], bool] | None,
) -> Callable[[str], bool] | None:
    if specified is None and filtered is None:
        return choice_func
    return lambda name: (
        (specified is None or name.startswith(specified))
        and not (filtered is not None and name.startswith(filtered))
    )


@contextlib.contextmanager
def _reading(path: Any, problem: str) -> Iterator[None]:
    """Turn what may go wrong while a file is read into the original's error, in one line."""
    try:
        yield
    except (ckpt.CkptError, safetensors.SafetensorsError) as error:
        raise located(ValueError, f"{problem}: {error}.") from error
    except OSError as error:
        raise located(
            ValueError,
            f"Failed to read the checkpoint file {path}. May not have permission to read it, "
            f"please check the correct of the file: {error.strerror}.",
        ) from error


def read_file(path: str, format: str, mapped: bool = False) -> dict[str, Any]:
    """Read a file as names and numpy arrays, or texts, without making Parameters.

    Args:
        path: the file.
        format: ``"ckpt"`` or ``"safetensors"``.
        mapped: whether the arrays may be read-only views of the mapped file, for use at once.

    Returns:
        Names and values in the order in which `load_checkpoint` gives them.

    Raises:
        ValueError: the file is missing, cut off, damaged, encrypted or something else.
    """
    if format == "safetensors":
        return _read_safetensors(path, None, False, mapped)
    return _read_ckpt(path, None, False, None, "AES-GCM", mapped)


def _read_ckpt(
    path: str,
    wanted: Callable[[str], bool] | None,
    crc_check: bool,
    key: bytes | None,
    mode: str,
    mapped: bool = False,
) -> dict[str, np.ndarray | str]:
    problem = f"Failed to read the checkpoint file {path}. The file may be corrupted"
    with _reading(path, problem), contextlib.ExitStack() as stack:
        file: IO[bytes] = stack.enter_context(open(path, "rb"))
        if key is not None:
            file = _decrypted(file, path, key, mode)
        if crc_check and not ckpt.has_crc(file):
            logger.warning(
                "For 'load_checkpoint', the ckpt file do not contain the crc code, please check "
                "the file."
            )
        return ckpt.read(file, crc_check, wanted, mapped)


def _decrypted(file: IO[bytes], path: str, key: bytes, mode: str) -> IO[bytes]:
    try:
        return io.BytesIO(cipher.decrypt(file.read(), key, mode))
    except cipher.CipherError as error:
        raise located(
            ValueError,
            f"Failed to read the checkpoint file {path}. The file may be encrypted or tempered "
            "with, please pass in the correct 'dec_key' or check the file integrity: "
            f"{error}.",
        ) from None
    except (ValueError, ImportError) as error:
        raise located(type(error), f"For 'load_checkpoint', {error}.") from None


def _read_safetensors(
    source: Any,
    wanted: Callable[[str], bool] | None,
    crc_check: bool,
    mapped: bool = False,
) -> dict[str, Any]:
    where = "the BytesIO" if isinstance(source, io.BytesIO) else f"'{source}'"
    problem = (
        f"Fail to parse the input safetensors: {where}. Please check the correctness of the file"
    )
    with _reading(source, problem), contextlib.ExitStack() as stack:
        file = source
        if not isinstance(source, io.BytesIO):
            file = stack.enter_context(open(source, "rb"))
        arrays, metadata = safetensors.read(file, crc_check, wanted, mapped)
    if crc_check and "crc_num" not in metadata:
        logger.warning(
            "For 'load_checkpoint', the safetensors file do not contain the crc code, please check "
            "the file."
        )
    return arrays
