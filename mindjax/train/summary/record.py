"""``SummaryRecord``: scalars, images, histograms, Tensors, graphs and lineage of a training."""

from __future__ import annotations

import atexit
import functools
import logging
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mindjax.core import observed, world
from mindjax.core.checks import of_type
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.tensor import Tensor
from mindjax.train.summary import events
from mindjax.train.summary.graph import graph_of
from mindjax.train.summary.writer import EventFile, export_npy, free_path

logger = logging.getLogger("mindjax")

_VALUES = ("tensor", "scalar", "image", "histogram")
_LINEAGE = ("train_lineage", "eval_lineage", "dataset_graph", "custom_lineage_data")
_EXPORTS: dict[str, tuple[Any, ...]] = {"tensor_format": ("npy", None)}
_LONGEST_PATH = 1024


class SummaryRecord:
    """Writes summaries to a file of events that TensorBoard shows.

    What summary ops (`ops.ScalarSummary` and others) are given, in a compiled program or not, is
    kept while a record is open, the last value of each name, and written by `record`.

    Args:
        log_dir: folder of the file; it is made if it is missing.
        file_prefix: beginning of the file's name.
        file_suffix: end of the file's name.
        num_process: processes of the original's; here one thread writes.
        network: Cell whose graph is written by the first `record`: the compiled program's
            operations in GRAPH_MODE, otherwise its Cells.
        max_file_size: bytes that the file may have: at the limit writing ends with a warning. None
            or a negative number for no limit.
        raise_exception: whether an error of writing is raised by the next call; else it is logged.
        export_options: ``{"tensor_format": "npy"}`` writes summaries of Tensors as files of numpy's
            too, into the folder ``export_...``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument has the wrong value.
        RuntimeError: another record is open.
        ModuleNotFoundError: tensorboardX is not installed.

    MindSpore: ``mindspore.SummaryRecord``.
    """

    count = 0

    def __init__(
        self,
        log_dir: str,
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        num_process: int = 32,
        network: Cell | None = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: dict[str, str | None] | None = None,
    ) -> None:
        if SummaryRecord.count > 0:
            raise located(
                RuntimeError,
                "For 'SummaryRecord', only one instance is supported in a training process: close "
                f"the {SummaryRecord.count} that is open first.",
            )
        folder = make_folder("log_dir", log_dir)
        if not isinstance(max_file_size, int | None):
            raise located(
                TypeError,
                "For 'SummaryRecord', the 'max_file_size' should be int type, but got type "
                f"{type(max_file_size)}",
            )
        for name, part in (("file_prefix", file_prefix), ("file_suffix", file_suffix)):
            _check_part(name, part)
        if max_file_size is not None and max_file_size < 0:
            logger.warning("For 'SummaryRecord', the 'max_file_size' should be greater than 0.")
            max_file_size = None
        of_type("raise_exception", raise_exception, bool, "SummaryRecord")
        of_type("network", network, (Cell, type(None)), "SummaryRecord")
        self.network = network
        self._exports = check_export_options(export_options)
        rank = world.environment("RANK_ID", 0)
        self._path = free_path(folder, file_prefix, rank, file_suffix)
        self._export_folder = folder / f"export_{int(time.time())}"
        self._file = EventFile(self._path, max_file_size, raise_exception)
        self._mode = "train"
        self._pool: dict[str, list[tuple[str, Any]]] = {}
        self._lineage: dict[str, Any] = {}
        self._has_graph = self._closed = False
        SummaryRecord.count += 1
        observed.start()
        atexit.register(self.close)

    def __enter__(self) -> SummaryRecord:
        if self._closed:
            raise located(
                ValueError,
                "For 'SummaryRecord', SummaryRecord has been closed, please check if close() "
                "method is called",
            )
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    @property
    def log_dir(self) -> str:
        """The path of the file."""
        return str(self._path)

    def set_mode(self, mode: str) -> None:
        """Choose the phase.

        Args:
            mode: ``"train"``, or ``"eval"``, in which what summary ops are given is not recorded.

        Raises:
            ValueError: ``mode`` is neither.
        """
        if mode not in ("train", "eval"):
            raise located(
                ValueError,
                f"For 'SummaryRecord.set_mode', {mode!r} is not a recognized mode, expect the "
                'parameter "mode" is "train" or "eval"',
            )
        self._mode = mode

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Add a value to what the next `record` writes.

        Args:
            plugin: ``"scalar"``, ``"image"``, ``"tensor"``, ``"histogram"``; ``"graph"``;
                ``"train_lineage"``, ``"eval_lineage"``, ``"custom_lineage_data"``,
                ``"dataset_graph"`` or ``"landscape"``.
            name: the summary's name.
            value: Tensor for the first four: of one element, (N, C, H, W), and of one axis or more.
                A Cell or a serialized ``GraphDef`` for ``"graph"``. For lineage, a dict of names
                and numbers, bools or strings: it becomes a table, and the hyper-parameters of
                TensorBoard's HParams page. For a landscape, a dict of arrays x, y and z.

        Raises:
            ValueError: ``plugin`` or the Tensor's shape is wrong, or the name is no string.
            TypeError: the value has the wrong type.
        """
        if plugin in _VALUES:
            self._add(plugin, name, checked_value(plugin, name, value))
        elif plugin in _LINEAGE:
            if not isinstance(value, Mapping):
                raise located(TypeError, f"Plugin {plugin!r} expects a dict value.")
            self._add(plugin, name, dict(value))
        elif plugin == "graph":
            if not isinstance(value, Cell | bytes):
                raise located(
                    TypeError, f"Plugin 'graph' expects a Cell value, but got {type(value)}."
                )
            self._add(plugin, name, graph_of(value) if isinstance(value, Cell) else value)
        elif plugin == "landscape":
            if not isinstance(value, Mapping):
                raise located(TypeError, "Plugin 'landscape' expects a dict value.")
            self._add(plugin, name, {key: np.asarray(part) for key, part in value.items()})
        else:
            raise located(
                ValueError,
                f"For 'SummaryRecord.add_value', no such \"plugin\" of {plugin!r}, expect value is "
                "one of [tensor, scalar, image, histogram, train_lineage, eval_lineage, "
                "dataset_graph, custom_lineage_data, graph, landscape]",
            )

    def _add(self, plugin: str, name: str, value: Any) -> None:
        items = self._pool.setdefault(plugin, [])
        kept = [item for item in items if item[0] != name]
        if len(kept) < len(items):
            logger.warning(
                "For 'SummaryRecord.add_value', '%s/%s' has duplicate values. Only the newest one "
                "will be recorded.",
                name,
                plugin,
            )
        self._pool[plugin] = [*kept, (name, value)]

    def record(
        self,
        step: int,
        train_network: Cell | None = None,
        plugin_filter: Callable[[str], bool] | None = None,
    ) -> bool:
        """Write what was added and what summary ops were given since the last time.

        Args:
            step: number of the training step.
            train_network: Cell whose graph is written, once, if the record has no network.
            plugin_filter: tells of a plugin's name whether its values are written.

        Returns:
            False if the record is closed.

        Raises:
            TypeError: ``step`` is no int, or ``train_network`` no Cell.
        """
        of_type("step", step, int, "SummaryRecord.record")
        of_type("train_network", train_network, (Cell, type(None)), "SummaryRecord.record")
        if self._closed:
            logger.error("For 'SummaryRecord', the record writer is closed.")
            return False
        network = self.network or train_network
        if network is not None and not self._has_graph:
            self._add("graph", "network", graph_of(network))
            self._has_graph = True
        if self._mode == "train":
            for kind, name, array in observed.take():
                self._take(kind, name, np.asarray(array))
        pool, self._pool = self._pool, {}
        chosen = {
            plugin: items
            for plugin, items in pool.items()
            if plugin_filter is None or plugin_filter(plugin)
        }
        for plugin, items in chosen.items():
            if plugin in _LINEAGE and plugin != "dataset_graph":
                for _, value in items:
                    self._lineage.update(value)
        if chosen:
            self._file.write(functools.partial(self._encode, chosen, step, time.time()))
        return True

    def _take(self, kind: str, name: str, array: np.ndarray[Any, Any]) -> None:
        """Add what a summary op was given."""
        if kind == "scalar" and array.size != 1:
            raise located(
                ValueError,
                "For 'ScalarSummary', the v rank must be less than or equal to 1, and its size 1, "
                f"but got {array.size} values.",
            )
        self._add(kind, name, array)

    def _encode(self, pool: dict[str, list[tuple[str, Any]]], step: int, now: float) -> list[bytes]:
        """Make events; the file's thread calls this."""
        found: list[bytes] = []
        values: list[Any] = []
        for plugin, items in pool.items():
            for name, value in items:
                if plugin == "graph":
                    found.append(events.graph_event(value, now))
                elif plugin == "landscape":
                    values += [events.tensor(f"{name}/{key}", part) for key, part in value.items()]
                    values.append(events.image(name, _heat(value["z"])))
                elif plugin in _LINEAGE:
                    values.append(events.lineage(name, value))
                elif plugin == "image" and not _is_picture(value):
                    logger.error("'%s' is not an image: its shape is %s.", name, value.shape)
                else:
                    values.append(getattr(events, plugin)(name, value))
                if plugin == "tensor" and self._exports.get("tensor_format") == "npy":
                    export_npy(self._export_folder, name, step, value)
        if values:
            found.append(events.summary_event(values, step, now))
        return found

    def flush(self) -> None:
        """Wait until everything recorded is in the file."""
        if self._closed:
            logger.error("For 'SummaryRecord', the record writer is closed and can not flush.")
        else:
            self._file.flush()

    def close(self) -> None:
        """Write what was recorded, the hyper-parameters too, and close the file."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        SummaryRecord.count -= 1
        observed.stop()
        lineage = self._lineage
        try:
            if lineage:
                self._file.write(
                    lambda: [events.summary_event(events.hparams(lineage), 0, time.time())]
                )
        finally:
            self._file.close()


def checked_value(plugin: str, name: str, value: Any) -> np.ndarray[Any, Any]:
    """Check a summary's name and Tensor.

    Args:
        plugin: ``"scalar"``, ``"image"``, ``"tensor"`` or ``"histogram"``.
        name: the summary's name.
        value: the Tensor.

    Returns:
        The values, a copy.

    Raises:
        ValueError: the name is empty or no string, or the shape does not fit.
        TypeError: the value is no Tensor.
    """
    if not isinstance(name, str) or not name:
        raise located(
            ValueError,
            f"For 'SummaryRecord', the parameter \"name\" type should be str, but got {name!r}.",
        )
    if not isinstance(value, Tensor):
        raise located(
            TypeError,
            "For 'SummaryRecord', the parameter \"value\" expect to be Tensor, but got "
            f"{type(value).__name__}",
        )
    array = value.asnumpy()
    if plugin == "scalar" and array.size != 1:
        raise located(
            ValueError,
            "For 'SummaryRecord', the v rank must be less than or equal to 1, and its size 1, but "
            f"got {array.size} values.",
        )
    if plugin == "image" and array.ndim != 4:
        raise located(
            ValueError,
            "For 'SummaryRecord', the tensor seems not to hold a valid image: its shape is "
            f"{array.shape}, not (N, C, H, W).",
        )
    if plugin in ("tensor", "histogram") and array.ndim == 0:
        raise located(ValueError, "For 'SummaryRecord', the value should not be empty.")
    return array


def _is_picture(array: np.ndarray[Any, Any]) -> bool:
    return array.ndim == 4 and array.shape[1] in (1, 3) and 0 not in array.shape


def _heat(z: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Show a landscape as a picture: the higher the loss, the brighter."""
    low, high = float(z.min()), float(z.max())
    scaled = (z - low) / (high - low) if high > low else np.zeros(z.shape)
    return np.repeat(np.repeat(scaled, 8, 0), 8, 1)[None, None]


def check_export_options(options: Any) -> dict[str, str | None]:
    """Check ``export_options``.

    Raises:
        TypeError: it is no dict of strings.
        ValueError: a key or a format is unknown.
    """
    if options is None:
        return {}
    of_type("export_options", options, dict, "SummaryRecord")
    for key, value in options.items():
        of_type("export_option", key, str, "SummaryRecord")
        of_type("export_format", value, (str, type(None)), "SummaryRecord")
        if key not in _EXPORTS:
            raise located(
                ValueError,
                f'For "SummaryRecord", the keys {{{key!r}}} of "export_options" are unsupported, '
                f"expect the follow keys: {list(_EXPORTS)}",
            )
        if value not in _EXPORTS[key]:
            raise located(
                ValueError,
                f'For "SummaryRecord", the export_format {{{value!r}}} of "export_options" are '
                f"unsupported for {key}, expect the follow values: {list(_EXPORTS[key])}",
            )
    return dict(options)


def make_folder(name: str, path: Any) -> Path:
    """Make the folder that an argument names.

    Args:
        name: the argument.
        path: the folder.

    Raises:
        TypeError: it is no string, or may not be made.
        ValueError: it is blank or too long.
        NotADirectoryError: it is a file.
    """
    if not isinstance(path, str):
        raise located(TypeError, f"The {name} is invalid, the type should be string.")
    if not path.strip():
        raise located(ValueError, f"The {name} is invalid, it should be non-blank.")
    folder = Path(os.path.realpath(path))
    if len(str(folder)) > _LONGEST_PATH:
        raise located(
            ValueError,
            f"The {name} length is too long, it should be limited in {_LONGEST_PATH}.",
        )
    if folder.exists() and not folder.is_dir():
        raise located(
            NotADirectoryError,
            f"The path({folder}) is a file path, it should be a directory path.",
        )
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
    except PermissionError as error:
        raise located(TypeError, f"No write permission on the directory {folder}.") from error
    return folder


def _check_part(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise located(
            TypeError,
            "For 'SummaryRecord', `file_prefix` and `file_suffix` should be str, but the "
            f"'{name}' is {type(value)}",
        )
    if re.match(r"^\w+[0-9a-zA-Z\_\.]*$", value, re.ASCII) is None:
        raise located(
            ValueError,
            f"For 'SummaryRecord', the '{name}' {value!r} is illegal, it must be match "
            r"regular '^\w+[0-9a-zA-Z\_\.]*$'.",
        )


_TAGS = {"tensor": "Tensor", "scalar": "Scalar", "image": "Image", "histogram": "Histogram"}


def _taken() -> dict[str, Tensor]:
    """Give what summary ops were given since the last time, by ``name[:Kind]``."""
    return {f"{name}[:{_TAGS[kind]}]": Tensor(array) for kind, name, array in observed.take()}


@functools.cache
def _begun() -> Callable[[], dict[str, Tensor]]:
    observed.start()
    return _taken


def __getattr__(name: str) -> Any:
    # Libraries read summary ops without a record. Who imports the function will call it, so from
    # then on programs keep what summary ops are given.
    if name == "_get_summary_tensor_data":
        return _begun()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
