"""Weights of torch: files to arrays, arrays to a Cell's Parameters, and files to checkpoints."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from mindjax.checkpoint import safetensors, torch_file
from mindjax.checkpoint.load import fitting
from mindjax.checkpoint.save import FORMATS, write_file
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.tensor import Parameter, Tensor

# What torch calls the Parameters that a Cell calls otherwise.
_NAMES: dict[str, tuple[str, ...]] = {
    "gamma": ("weight",),
    "beta": ("bias",),
    "moving_mean": ("running_mean",),
    "moving_variance": ("running_var",),
    "embedding_table": ("weight",),
    "w": ("weight",),
}
# Of a TransformerEncoderLayer and a TransformerDecoderLayer.
_PARTS = {"dense1": "linear1", "dense2": "linear2"}
_BACK = {theirs: ours for ours, theirs in _PARTS.items()}
# A counter that the Cells do not keep.
_COUNTER = "num_batches_tracked"
_EMBEDDING = re.compile(r"embed|\bwte\b|\bwpe\b|lookup", re.IGNORECASE)


def read_torch_weights(
    path: str, key: str | None = None, crc_check: bool = True
) -> dict[str, np.ndarray]:
    """Read the tensors of a file that torch wrote; torch is not needed, and no code of it is run.

    Args:
        path: file of ``torch.save`` (``.pth``, ``.pt``, ``.bin``), ``.safetensors``, or the
            ``.index.json`` of a row of such files.
        key: entry of the file that holds the state_dict; found by itself where trainings put it.
        crc_check: whether check sums in the file are compared.

    Returns:
        Names and read-only arrays of the mapped file, which must not be shortened while they live.

    Raises:
        ValueError: the file is missing, damaged, or holds no tensors.
    """
    if not isinstance(path, str):
        raise located(TypeError, f"For 'read_torch_weights', 'path' must be str, but got {path!r}.")
    try:
        if path.endswith(".index.json"):
            return dict(_of_index(path, key, crc_check))
        return _read(path, key, crc_check)
    except (torch_file.TorchFileError, safetensors.SafetensorsError) as error:
        raise located(
            ValueError, f"For 'read_torch_weights', the file {path} cannot be read: {error}."
        ) from None
    except OSError as error:
        raise located(
            ValueError,
            f"For 'read_torch_weights', the file {path} cannot be read: {error.strerror}.",
        ) from error


def _read(path: str, key: str | None, crc_check: bool) -> dict[str, np.ndarray]:
    with open(path, "rb") as file:
        if path.endswith(".safetensors"):
            return safetensors.read(file, mapped=True)[0]
        found = torch_file.Reader(file, crc_check).tensors(key)
    names = list(found)
    if all(name.startswith("module.") for name in names):
        # What DataParallel puts before every name.
        found = {name.removeprefix("module."): found[name] for name in names}
    return found


def _of_index(path: str, key: str | None, crc_check: bool) -> Iterator[tuple[str, np.ndarray]]:
    with open(path, "rb") as file:
        try:
            places = json.load(file)["weight_map"]
            names = sorted(set(places.values()))
            plain = all(os.path.basename(name) == name for name in names)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise torch_file.TorchFileError("it is no index of files") from None
    if not plain:
        raise torch_file.TorchFileError("it names files outside its folder")
    for name in names:
        yield from _read(os.path.join(os.path.dirname(path), name), key, crc_check).items()


def load_torch_weights(
    net: Cell,
    source: str | Mapping[str, Any],
    strict: bool = True,
    name_map: Mapping[str, str] | Callable[[str], str] | None = None,
    key: str | None = None,
) -> tuple[list[str], list[str]]:
    """Give the Parameters of a Cell the values of a torch network of the same structure.

    A Parameter takes the value of its own name, or of the name that torch uses: ``weight`` and
    ``bias`` for ``gamma`` and ``beta``, ``running_mean`` and ``running_var`` for ``moving_mean``
    and ``moving_variance``, ``weight`` for ``embedding_table``. Dimensions of size 1 that only one
    of the two has, as in Conv1d, are no difference. Float widths are converted.

    Args:
        net: Cell.
        source: path for `read_torch_weights`, or its result.
        strict: whether every Parameter must get a value and every value must find a Parameter.
        name_map: the file's names and those they stand for; or a function from one to the other.
        key: see `read_torch_weights`.

    Returns:
        Names of the Cell that got no value, and names of the file that found no Parameter.

    Raises:
        ValueError: the file cannot be read, or with ``strict`` names are left over.
        RuntimeError: a shape or dtype does not fit.
        TypeError: ``net`` is no Cell.
    """
    where = "load_torch_weights"
    if not isinstance(net, Cell):
        raise located(TypeError, f"For '{where}', 'net' must be a Cell, but got {type(net)}.")
    given = read_torch_weights(source, key) if isinstance(source, str) else dict(source)
    renamed = {_renamed(name, name_map): value for name, value in given.items()}
    planned: list[tuple[Parameter, Tensor]] = []
    missing, used = [], set()
    for path, parameter in net.parameters_and_names():
        name = next((n for n in _candidates(path, parameter.name) if n in renamed), None)
        if name is None:
            missing.append(parameter.name)
            continue
        used.add(name)
        planned.append((parameter, _value(parameter, name, renamed[name])))
    unused = [name for name in renamed if name not in used and not name.endswith(_COUNTER)]
    if strict and (missing or unused):
        raise located(
            ValueError,
            f"For '{where}', {len(missing)} parameters of 'net' have no value: {missing[:20]}, and "
            f"{len(unused)} values of the file have no parameter: {unused[:20]}. Give 'name_map', "
            "or strict=False.",
        )
    for parameter, value in planned:
        parameter.set_data(value)
    return missing, unused


def _renamed(name: str, name_map: Any) -> str:
    if name_map is None:
        return name
    return str(name_map(name) if callable(name_map) else name_map.get(name, name))


def _candidates(path: str, name: str) -> Iterator[str]:
    """List what a file may call a Parameter, its own names first."""
    for own in dict.fromkeys((path, name)):
        yield own
        *parts, last = own.split(".")
        for theirs in (parts, [_PARTS.get(part, part) for part in parts]):
            for one in (last, *_NAMES.get(last, ())):
                yield ".".join((*theirs, one))


def _value(parameter: Parameter, name: str, array: Any) -> Tensor:
    array = np.asarray(array)
    shape = tuple(parameter.shape)
    if array.shape != shape and _essential(array.shape) == _essential(shape):
        array = array.reshape(shape)
    value = Tensor.from_numpy(np.array(array, order="C"))
    return fitting(parameter, Parameter(value, name=name), strict_load=False)


def _essential(shape: tuple[int, ...]) -> list[int]:
    return [size for size in shape if size != 1]


def convert_weights(
    source: str,
    target: str,
    format: str | None = None,
    net: Cell | None = None,
    name_map: Mapping[str, str] | Callable[[str], str] | None = None,
    key: str | None = None,
) -> dict[str, str]:
    """Rewrite a file of torch as a checkpoint that `load_checkpoint` reads.

    Args:
        source: file for `read_torch_weights`.
        target: file to write.
        format: ``"ckpt"`` or ``"safetensors"``; by default what ``target`` ends with.
        net: the Cell that will take the values. Without it the names are worked out from the
            file's alone: a module with running statistics, or whose weight has one dimension, is a
            normalization; one that is called an embedding is one; a weight of three dimensions
            belongs to a Conv1d.
        name_map: see `load_torch_weights`.
        key: see `read_torch_weights`.

    Returns:
        The file's names and those that were written.

    Raises:
        ValueError: the file cannot be read, or names do not fit ``net``.
        OSError: the target cannot be written.
    """
    kind = format or os.path.splitext(target)[1].lstrip(".") or "ckpt"
    if kind not in FORMATS:
        raise located(
            ValueError,
            f"For 'convert_weights', 'format' must be 'ckpt' or 'safetensors', but got {kind!r}.",
        )
    found = read_torch_weights(source, key)
    found = {_renamed(name, name_map): value for name, value in found.items()}
    pairs = _of_names(found) if net is None else _of_net(found, net)
    names: dict[str, str] = {}
    entries: dict[str, np.ndarray] = {}
    for old, new, array in pairs:
        if new in entries:
            raise located(ValueError, f"For 'convert_weights', two values become '{new}'.")
        names[old], entries[new] = new, array
    path = os.path.realpath(target)
    write_file(path if path.endswith(f".{kind}") else f"{path}.{kind}", entries, kind)
    return names


def _of_net(found: dict[str, np.ndarray], net: Cell) -> Iterator[tuple[str, str, np.ndarray]]:
    load_torch_weights(net, found)
    for path, parameter in net.parameters_and_names():
        old = next(name for name in _candidates(path, parameter.name) if name in found)
        yield old, parameter.name, parameter.asnumpy()


def _of_names(found: dict[str, np.ndarray]) -> Iterator[tuple[str, str, np.ndarray]]:
    for name, array in found.items():
        module, _, last = name.rpartition(".")
        if last == _COUNTER:
            continue
        inner = f"{module}." if module else ""
        weight = found.get(f"{inner}weight")
        statistics = f"{inner}running_mean" in found
        is_norm = statistics or (weight is not None and weight.ndim == 1)
        table = {}
        if is_norm and (statistics or f"{inner}bias" in found or "norm" in module.lower()):
            table = {"weight": "gamma", "bias": "beta"}
            table |= {"running_mean": "moving_mean", "running_var": "moving_variance"}
        elif last == "weight" and array.ndim == 2 and f"{inner}bias" not in found:
            table = {"weight": "embedding_table"} if _EMBEDDING.search(module) else {}
        if last == "weight" and array.ndim == 3:
            array = array[:, :, None]
        outer, _, part = module.rpartition(".")
        around = f"{outer}." if outer else ""
        if part in _BACK and f"{around}self_attn.in_proj_weight" in found:
            inner = f"{around}{_BACK[part]}."
        yield name, f"{inner}{table.get(last, last)}", array
