"""``ModelCheckpoint``: saves checkpoints while training, as ``CheckpointConfig`` says."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import time
from collections.abc import Callable
from typing import Any

from mindjax.checkpoint.save import (
    check_async,
    check_instance,
    save_checkpoint,
    wait_async_save,
)
from mindjax.core import checks, cipher
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.tensor import Tensor
from mindjax.train.callback.base import Callback, RunContext

logger = logging.getLogger("mindjax")

_BREAKPOINT = "_breakpoint.ckpt"
_NUMBERS = ("epoch_num", "step_num")


class CheckpointConfig:
    """When ``ModelCheckpoint`` saves, how, and which files it keeps.

    Args:
        save_checkpoint_steps: steps between saves; 0 or None if seconds count.
        save_checkpoint_seconds: seconds between saves, if no steps are given.
        keep_checkpoint_max: files that are kept; the oldest is removed.
        keep_checkpoint_per_n_minutes: minutes of which one file is kept, if no maximum is given.
        integrated_save: see ``save_checkpoint``.
        async_save: see ``save_checkpoint``.
        saved_network: Cell that is saved instead of the whole training network.
        append_info: further values: ``"epoch_num"``, ``"step_num"``, and one dict of int, float,
            bool, str, Tensor or Generator.
        enc_key: key that the files are encrypted with; None for plain files.
        enc_mode: ``"AES-GCM"``, ``"AES-CBC"`` or ``"SM4-CBC"``; means nothing without ``enc_key``.
        exception_save: whether an error in training saves ``..._breakpoint.ckpt``.
        crc_check: whether the files carry a check sum.
        remove_redundancy: whether each rank saves only its share; needs several ranks.
        format: ``"ckpt"`` or ``"safetensors"``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument has the wrong value.
        NotImplementedError: an argument is not supported.

    MindSpore: ``mindspore.train.CheckpointConfig``.
    """

    def __init__(
        self,
        save_checkpoint_steps: int | None = 1,
        save_checkpoint_seconds: int | None = 0,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_per_n_minutes: int | None = 0,
        integrated_save: bool = True,
        async_save: bool | str = False,
        saved_network: Cell | None = None,
        append_info: list[Any] | None = None,
        enc_key: bytes | None = None,
        enc_mode: str = "AES-GCM",
        exception_save: bool = False,
        crc_check: bool = False,
        remove_redundancy: bool = False,
        format: str = "ckpt",
        **kwargs: Any,
    ) -> None:
        owner = "CheckpointConfig"
        limits = {
            "save_checkpoint_steps": save_checkpoint_steps,
            "save_checkpoint_seconds": save_checkpoint_seconds,
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": keep_checkpoint_per_n_minutes,
        }
        for name, limit in limits.items():
            if limit is not None:
                checks.non_negative_int(name, limit, owner)
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise located(
                TypeError,
                "For 'CheckpointConfig', the type of 'saved_network' must be None or Cell, but got "
                f"{type(saved_network)}.",
            )
        if not any(limits.values()):
            raise located(
                ValueError,
                "For 'CheckpointConfig', the input arguments 'save_checkpoint_steps', "
                "'save_checkpoint_seconds', 'keep_checkpoint_max' and "
                "'keep_checkpoint_per_n_minutes' can't be all None or 0.",
            )
        self.exception_save = checks.boolean("exception_save", exception_save, owner)
        self._save_checkpoint_steps = save_checkpoint_steps
        self._save_checkpoint_seconds = None if save_checkpoint_steps else save_checkpoint_seconds
        self._keep_checkpoint_max = keep_checkpoint_max
        self._keep_checkpoint_per_n_minutes = keep_checkpoint_per_n_minutes
        if keep_checkpoint_max:
            self._keep_checkpoint_per_n_minutes = None
        elif not keep_checkpoint_per_n_minutes:
            self._keep_checkpoint_max = 1
        self._integrated_save = checks.boolean("integrated_save", integrated_save, owner)
        check_async(async_save)
        self._async_save = async_save
        self._saved_network = saved_network
        self._append_dict = _append_dict(append_info)
        check_instance("enc_key", enc_key, (type(None), bytes))
        check_instance("enc_mode", enc_mode, str)
        check_instance("crc_check", crc_check, bool)
        check_instance("format", format, str)
        check_instance("remove_redundancy", remove_redundancy, bool)
        self._enc_key, self._enc_mode = enc_key, enc_mode
        self._crc_check, self._format = crc_check, format
        self.remove_redundancy = remove_redundancy
        self._check_format(kwargs)

    def _check_format(self, kwargs: dict[str, Any]) -> None:
        for name in kwargs:
            if name not in ("incremental", "enable_redundance"):
                raise located(
                    TypeError, f"For 'CheckpointConfig', the argument '{name}' is not known."
                )
            if kwargs[name]:
                raise located(
                    NotImplementedError,
                    f"For 'CheckpointConfig', the argument '{name}' is not supported: leave it "
                    "out.",
                )
        plain = (self._enc_key, self._enc_mode, self._crc_check, self.exception_save)
        if self._format == "safetensors" and plain != (None, "AES-GCM", False, False):
            raise located(
                ValueError,
                "For 'save_checkpoint', when format is 'safetensors', other param must be default: "
                "'enc_key', 'enc_mode', 'crc_check', 'exception_save'.",
            )
        if self._enc_key is not None:
            try:
                cipher.require(self._enc_key, self._enc_mode)
            except (ValueError, ImportError) as error:
                raise located(type(error), f"For 'CheckpointConfig', {error}.") from None

    @property
    def save_checkpoint_steps(self) -> int | None:
        """Steps between saves."""
        return self._save_checkpoint_steps

    @property
    def save_checkpoint_seconds(self) -> int | None:
        """Seconds between saves, or None if steps count."""
        return self._save_checkpoint_seconds

    @property
    def keep_checkpoint_max(self) -> int | None:
        """How many files are kept."""
        return self._keep_checkpoint_max

    @property
    def keep_checkpoint_per_n_minutes(self) -> int | None:
        """Minutes of which one file is kept, or None if a maximum is given."""
        return self._keep_checkpoint_per_n_minutes

    @property
    def integrated_save(self) -> bool:
        """Whether slices of sharded Parameters are merged."""
        return self._integrated_save

    @property
    def async_save(self) -> bool | str:
        """Whether files are written in the background."""
        return self._async_save

    @property
    def saved_network(self) -> Cell | None:
        """The Cell that is saved instead of the training network."""
        return self._saved_network

    @property
    def enc_key(self) -> bytes | None:
        """The key, None."""
        return self._enc_key

    @property
    def enc_mode(self) -> str:
        """The cipher."""
        return self._enc_mode

    @property
    def crc_check(self) -> bool:
        """Whether files carry a check sum."""
        return self._crc_check

    @property
    def format(self) -> str:
        """The files' format."""
        return self._format

    @property
    def append_dict(self) -> dict[str, Any] | None:
        """Further values that are saved."""
        return self._append_dict

    @property
    def map_param_inc(self) -> bool:
        """Whether map parameters are saved by increments: never."""
        return False

    def get_checkpoint_policy(self) -> dict[str, Any]:
        """Give the arguments that say when files are saved and kept."""
        return {
            "save_checkpoint_steps": self.save_checkpoint_steps,
            "save_checkpoint_seconds": self.save_checkpoint_seconds,
            "keep_checkpoint_max": self.keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": self.keep_checkpoint_per_n_minutes,
            "saved_network": self.saved_network,
        }


def _append_dict(append_info: Any) -> dict[str, Any] | None:
    if append_info is None or append_info == []:
        return None
    if not isinstance(append_info, list):
        raise located(
            TypeError,
            "For 'CheckpointConfig', the type of 'append_info' must be list, but got "
            f"{type(append_info)}.",
        )
    values: dict[str, Any] = {name: 0 for name in _NUMBERS if name in append_info}
    dicts = [element for element in append_info if isinstance(element, dict)]
    for element in append_info:
        if not isinstance(element, str | dict):
            raise located(
                TypeError,
                "For 'CheckpointConfig', the type of 'append_info' element must be str or dict, "
                f"but got {type(element)}.",
            )
        if isinstance(element, str) and element not in _NUMBERS:
            raise located(
                ValueError,
                "For 'CheckpointConfig', the value of element in the argument 'append_info' must "
                f"be in {list(_NUMBERS)}, but got {element}.",
            )
    if len(dicts) > 1:
        raise located(
            TypeError,
            "For 'CheckpointConfig', the element of 'append_info' must has only one dict, but got "
            f"{len(dicts)}",
        )
    for key, value in dicts[0].items() if dicts else ():
        known = isinstance(value, int | float | bool | str | Tensor) or hasattr(value, "get_state")
        if not isinstance(key, str) or not known:
            raise located(
                TypeError,
                "For 'CheckpointConfig', the key type of the dict 'append_info' must be string, "
                "the value type must be int or float or bool, but got key type "
                f"{type(key)}, value type {type(value)}",
            )
        values[key] = value
    return values


class ModelCheckpoint(Callback):
    """Saves the training network, optimizer included, while it is trained.

    Files are named ``prefix-epoch_step.ckpt``. If such files are there already, the prefix gets a
    number: ``prefix_1``. The original's ``prefix-graph.meta`` is not written.

    Args:
        prefix: beginning of the files' names, or a function that takes the state of training and
            returns the whole name without the format's suffix.
        directory: folder, which is made, or a function that takes the state and returns it; the
            current folder by default.
        config: when, how and what is kept.

    Raises:
        ValueError: ``prefix`` is not a text without ``/``.
        TypeError: ``directory`` is not a text, or ``config`` not a CheckpointConfig.

    MindSpore: ``mindspore.train.ModelCheckpoint``.
    """

    def __init__(
        self,
        prefix: str | Callable[[Any], str] = "CKP",
        directory: str | Callable[[Any], str] | None = None,
        config: CheckpointConfig | None = None,
    ) -> None:
        super().__init__()
        self._prefix_func = prefix if callable(prefix) else None
        self._directory_func = directory if callable(directory) else None
        self._directory = os.getcwd()
        if directory is not None and self._directory_func is None:
            self._directory = _make_directory(directory)
        if self._prefix_func is None:
            _check_prefix(prefix, "")
        if config is not None and not isinstance(config, CheckpointConfig):
            raise located(
                TypeError,
                "For 'ModelCheckpoint', the type of argument 'config' should be "
                f"'CheckpointConfig', but got {type(config)}.",
            )
        self._config = config or CheckpointConfig()
        self._prefix = self._exception_prefix = prefix
        if self._prefix_func is None and self._directory_func is None:
            self._prefix = free_prefix(self._directory, str(prefix))
        self._append_dict = dict(self._config.append_dict or {})
        self._latest_ckpt_file_name = ""
        self._last_time = self._last_time_for_keep = time.time()
        self._last_triggered_step = 0

    @property
    def latest_ckpt_file_name(self) -> str:
        """Path of the newest file."""
        return self._latest_ckpt_file_name

    @property
    def exception_save(self) -> bool:
        """Whether an error in training saves the network."""
        return self._config.exception_save

    def on_train_begin(self, run_context: RunContext) -> None:
        """Begin to count the steps of a new training."""
        self._last_triggered_step = 0
        super().on_train_begin(run_context)

    def step_end(self, run_context: RunContext) -> None:
        """Save if it is time; an evaluation saves nothing."""
        params = run_context.original_args()
        if params.get("mode") == "eval":
            return
        if self._prefix_func is not None:
            self._prefix = self._prefix_func(params)
            _check_prefix(self._prefix, "is callable, it must return a ")
        if self._directory_func is not None:
            self._directory = _make_directory(self._directory_func(params))
        self._save(params)

    def end(self, run_context: RunContext) -> None:
        """Save the last state, and wait for files written in the background."""
        params = run_context.original_args()
        if params.get("mode") == "eval":
            return
        self._save(params, force=True)
        if self._config.async_save:
            wait_async_save()

    def save_breakpoint(self, network: Cell, epoch: int, step: int) -> None:
        """Save the state in which an error left the network.

        Args:
            network: training network.
            epoch: number of the epoch.
            step: number of the step in the epoch.
        """
        prefix = self._exception_prefix
        if self._prefix_func is None and self._directory_func is None:
            prefix = free_prefix(self._directory, str(prefix), broken=True)
        elif self._prefix_func is not None:
            prefix = self._prefix
        path = os.path.join(self._directory, f"{prefix}-{epoch}_{step}{_BREAKPOINT}")
        config = self._config
        saved = config.saved_network if config.saved_network is not None else network
        save_checkpoint(
            saved,
            path,
            config.integrated_save,
            append_dict=self._numbered(epoch, step),
            enc_key=config.enc_key,
            enc_mode=config.enc_mode,
            crc_check=config.crc_check,
        )

    def _save(self, params: Any, force: bool = False) -> None:
        if params.cur_step_num == self._last_triggered_step or not self._is_time(params, force):
            return
        config = self._config
        if config.remove_redundancy:
            raise located(
                TypeError,
                "The deduplication feature for saving checkpoint can only be used in parallel "
                "scenarios, but got 'stand_alone'.",
            )
        step = (params.cur_step_num - 1) % params.batch_num + 1
        name = str(self._prefix)
        if self._prefix_func is None:
            name += f"-{params.cur_epoch_num}_{step}"
        self._remove_old()
        path = os.path.join(self._directory, f"{name}.{config.format}")
        self._last_time_for_keep = time.time()
        self._last_triggered_step = params.cur_step_num
        network = config.saved_network if config.saved_network is not None else params.train_network
        save_checkpoint(
            network,
            path,
            config.integrated_save,
            config.async_save,
            self._numbered(params.cur_epoch_num, params.cur_step_num),
            enc_key=config.enc_key,
            enc_mode=config.enc_mode,
            crc_check=config.crc_check,
            format=config.format,
            remove_redundancy=False if config.format == "safetensors" else None,
        )
        self._latest_ckpt_file_name = params["latest_ckpt_file"] = path
        params["last_save_ckpt_step"] = params.cur_step_num

    def _is_time(self, params: Any, force: bool) -> bool:
        if self._config.save_checkpoint_steps:
            due = self._last_triggered_step + self._config.save_checkpoint_steps
            return force or params.cur_step_num >= due
        if not self._config.save_checkpoint_seconds:
            return False
        now = time.time()
        if force or now - self._last_time > self._config.save_checkpoint_seconds:
            self._last_time = now
            return True
        return False

    def _numbered(self, epoch: int, step: int) -> dict[str, Any]:
        """Give the further values with the numbers counted on."""
        values = dict(self._append_dict)
        for name, number in zip(_NUMBERS, (epoch, step), strict=True):
            if name in values:
                values[name] += number
        return values

    def _remove_old(self) -> None:
        wait_async_save()
        suffix = f".{self._config.format}"
        files = []
        for name in os.listdir(self._directory):
            middle = name.removeprefix(str(self._prefix)).removesuffix(suffix)
            if (
                name.startswith(f"{self._prefix}-")
                and name.endswith(suffix)
                and not any(char.isalpha() for char in middle)
            ):
                with contextlib.suppress(OSError):
                    path = os.path.join(self._directory, name)
                    files.append((os.stat(path).st_mtime_ns, path))
        files.sort()
        most, minutes = self._config.keep_checkpoint_max, self._config.keep_checkpoint_per_n_minutes
        if most:
            if len(files) >= most:
                _remove(files[0][1])
        elif minutes:
            now = time.time()
            if now - self._last_time_for_keep < 60 * minutes:
                recent = [path for at, path in files if now - at / 1e9 < 60 * minutes]
                for path in recent[1:]:
                    _remove(path)


def free_prefix(directory: str, prefix: str, broken: bool = False) -> str:
    """Give ``prefix``, with a number if the folder has checkpoints of that name.

    Args:
        directory: folder of the checkpoints.
        prefix: beginning of the files' names.
        broken: whether the files saved after an error are meant, or the others.

    Returns:
        The prefix whose files are new.
    """
    number = 0
    for name in os.listdir(directory):
        is_broken = name.endswith(_BREAKPOINT)
        if is_broken != broken or not name.endswith((".ckpt", ".safetensors")):
            continue
        match = re.match(re.escape(prefix) + r"(?:_(\d+))?-", name)
        if match:
            number = max(number, int(match[1] or 0) + 1)
    return f"{prefix}_{number}" if number else prefix


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except OSError as error:
        logger.warning("Failed to remove the older ckpt file %s: %s.", path, error.strerror)


def _check_prefix(prefix: Any, origin: str) -> None:
    if not isinstance(prefix, str) or "/" in prefix:
        kind = "string" if origin else "callable or string"
        raise located(
            ValueError,
            "For 'ModelCheckpoint', the argument 'prefix' for checkpoint file name "
            f"{origin or 'is invalid, it must be '}{kind} that does not contain '/', but got "
            f"{prefix}.",
        )


def _make_directory(directory: Any) -> str:
    if not isinstance(directory, str):
        raise located(
            TypeError,
            "For 'ModelCheckpoint', the argument 'directory': The path is invalid, the type should "
            f"be string, but got {type(directory)}.",
        )
    path = os.path.realpath(directory)
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise located(
            type(error),
            f"For 'ModelCheckpoint', the folder {path} cannot be made: {error.strerror}.",
        ) from error
    return path
