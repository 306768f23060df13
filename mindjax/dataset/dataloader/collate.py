"""How samples become Tensors, and several of them one batch."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.tensors import make_tensor


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "asnumpy") and hasattr(value, "dtype")


def _to_tensor(value: Any) -> Any:
    return importlib.import_module("mindjax.tensor").Tensor(value)


def _is_named(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _rebuilt(like: Any, made: Any) -> Any:
    """Give a mapping's or a sequence's new content its type, or a plain one's."""
    try:
        if isinstance(like, MutableMapping):
            clone = copy.copy(like)
            clone.update(made)
            return clone
        if isinstance(like, MutableSequence):
            clone = copy.copy(like)
            for place, value in enumerate(made):
                clone[place] = value
            return clone
        return type(like)(made)
    except TypeError:
        return made


def default_convert(data: Any) -> Any:
    """Turn the arrays and numpy numbers of a sample into Tensors.

    Args:
        data: the sample: arrays, numbers, text, mappings, sequences.

    Returns:
        The same with Tensors; a plain tuple becomes a list; text and Python's numbers stay.
    """
    if _is_tensor(data):
        return data
    if isinstance(data, np.number | np.bool_):
        return _to_tensor(data)
    if isinstance(data, np.ndarray):
        return make_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt(data, {key: default_convert(data[key]) for key in data})
    if _is_named(data):
        return type(data)(*(default_convert(entry) for entry in data))
    if isinstance(data, tuple):
        return [default_convert(entry) for entry in data]
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _rebuilt(data, [default_convert(entry) for entry in data])
    return data


def default_collate(batch: list[Any]) -> Any:
    """Put samples together to one batch.

    Args:
        batch: samples of the same form.

    Returns:
        Tensors with a new first axis, in the form of one sample; text stays a list.

    Raises:
        TypeError: samples hold what cannot be put together.
        RuntimeError: sequences differ in length.
    """
    first = batch[0]
    if _is_tensor(first):
        return _to_tensor(np.stack([np.asarray(entry.asnumpy()) for entry in batch]))
    if isinstance(first, np.ndarray):
        if first.dtype.kind in "SUO":
            raise located(
                TypeError, f"NumPy arrays with dtype {first.dtype} are not supported in a batch."
            )
        return make_tensor(np.stack(batch))
    if isinstance(first, np.number | np.bool_):
        # The original takes the machine's dtypes of a list for those of Python's numbers.
        column = np.stack(batch)
        like = {"int32": np.int64, "float64": np.float32}.get(column.dtype.name, column.dtype)
        return make_tensor(column.astype(like))
    if isinstance(first, bool | int):
        return _to_tensor(batch)
    if isinstance(first, float):
        return make_tensor(np.array(batch, np.float64))
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return _rebuilt(first, {key: default_collate([d[key] for d in batch]) for key in first})
    if _is_named(first):
        columns = zip(*batch, strict=True)
        return type(first)(*(default_collate(list(column)) for column in columns))
    if isinstance(first, Sequence):
        if len({len(entry) for entry in batch}) > 1:
            raise located(RuntimeError, "Each element in list of batch must be of equal size.")
        columns = [default_collate(list(column)) for column in zip(*batch, strict=True)]
        return columns if isinstance(first, tuple) else _rebuilt(first, columns)
    raise located(
        TypeError, f"Cannot find the appropriate collate function for type {type(first)}."
    )
