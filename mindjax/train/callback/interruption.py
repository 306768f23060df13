"""Callbacks for trainings that are interrupted: saved and taken up again, or ended on request."""

from __future__ import annotations

import json
import logging
import os
import signal
from importlib import import_module
from typing import Any

from mindjax.checkpoint import load_checkpoint, save_checkpoint
from mindjax.core import checks
from mindjax.core.context import get_context
from mindjax.core.errors import located
from mindjax.train.callback.base import Callback, RunContext

logger = logging.getLogger("mindjax")


def _folder(owner: str, name: str, path: Any) -> str:
    if not isinstance(path, str):
        raise located(
            TypeError,
            f"For '{owner}', the argument '{name}': The path is invalid, the type should be "
            f"string, but got {type(path)}.",
        )
    path = os.path.realpath(path)
    os.makedirs(path, exist_ok=True)
    return path


class BackupAndRestore(Callback):
    """Save the training after epochs, and go on with it when it is started again.

    Args:
        backup_dir: folder of the file ``backup.ckpt``.
        save_freq: ``"epoch"``, or the number of epochs between two backups.
        delete_checkpoint: whether the file is deleted when the training has ended.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: ``save_freq`` is below 1.

    MindSpore: ``mindspore.train.BackupAndRestore``.
    """

    def __init__(
        self, backup_dir: str, save_freq: str | int = "epoch", delete_checkpoint: bool = True
    ) -> None:
        super().__init__()
        folder = _folder("BackupAndRestore", "backup_dir", backup_dir)
        self.backup_file = os.path.join(folder, "backup.ckpt")
        self.save_freq = 1
        if save_freq != "epoch":
            self.save_freq = checks.positive_int("save_freq", save_freq, "BackupAndRestore")
        self.delete_checkpoint = checks.boolean(
            "delete_checkpoint", delete_checkpoint, "BackupAndRestore"
        )

    def on_train_begin(self, run_context: RunContext) -> None:
        """Load the backup, if there is one."""
        if os.path.exists(self.backup_file):
            load_checkpoint(self.backup_file, net=run_context.original_args().train_network)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Save the training if it is time."""
        params = run_context.original_args()
        if params.cur_epoch_num % self.save_freq == 0:
            save_checkpoint(params.train_network, self.backup_file)

    def on_train_end(self, run_context: RunContext) -> None:
        """Delete the backup, if that is wished."""
        if self.delete_checkpoint and os.path.exists(self.backup_file):
            os.remove(self.backup_file)


class OnRequestExit(Callback):
    """End a training or an evaluation after its step, and save it, when it is asked to.

    It is asked by a signal, or by ``{"GracefulExit": 1}`` in a file. The checkpoint is loaded when
    the training starts again.

    Args:
        save_ckpt: whether a checkpoint is saved.
        save_mindir: whether the network is exported as well, where `export` is there.
        file_name: beginning of the files' names.
        directory: folder; the files lie in ``rank_0`` in it, with the number of the device.
        config_file: JSON file that is looked at before each step, or None.
        sig: the signal.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: ``sig`` cannot be caught.

    MindSpore: ``mindspore.train.OnRequestExit``, which looks at the file, and ends before the last
    epoch, only under the variable MS_ENABLE_GRACEFUL_EXIT.
    """

    def __init__(
        self,
        save_ckpt: bool = True,
        save_mindir: bool = True,
        file_name: str = "Net",
        directory: str = "./",
        config_file: str | None = None,
        sig: int = signal.SIGTERM,
    ) -> None:
        super().__init__()
        owner = "OnRequestExit"
        self.save_ckpt = checks.boolean("save_ckpt", save_ckpt, owner)
        self.save_mindir = checks.boolean("save_mindir", save_mindir, owner)
        checks.of_type("file_name", file_name, str, owner)
        self.sig = signal.Signals(checks.of_type("sig", int(sig), int, owner))
        if self.sig in (signal.SIGKILL, signal.SIGSTOP):
            raise located(ValueError, f"Not support send exit request by signal {self.sig.name}.")
        self.exit = False
        self.remote_config_file = config_file
        self._before: Any = None
        folder = os.path.join(directory or os.getcwd(), f"rank_{get_context('device_id')}")
        if self.save_ckpt or self.save_mindir:
            folder = _folder(owner, "directory", folder)
        self.train_name = os.path.join(folder, f"{file_name}_train")
        self.eval_name = os.path.join(folder, f"{file_name}_eval")

    def on_train_begin(self, run_context: RunContext) -> None:
        """Listen for the signal, and load what an earlier training saved."""
        self._listen()
        path = f"{self.train_name}.ckpt"
        if self.save_ckpt and os.path.isfile(path):
            load_checkpoint(path, net=run_context.original_args().train_network)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Look at the file."""
        if not self.exit and self._asked_by_file():
            self.exit = True

    def on_train_step_end(self, run_context: RunContext) -> None:
        """End the training if it was asked for."""
        if self.exit:
            run_context.request_stop()

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """End the training if it was asked for."""
        if self.exit:
            run_context.request_stop()

    def on_train_end(self, run_context: RunContext) -> None:
        """Save the training if it was asked to end."""
        params = run_context.original_args()
        self._finish(params.train_network, self.train_name, params.get("train_dataset_element"))

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Listen for the signal, and load what was saved."""
        self._listen()
        for path in (f"{self.eval_name}.ckpt", f"{self.train_name}.ckpt"):
            if self.save_ckpt and os.path.isfile(path):
                load_checkpoint(path, net=run_context.original_args().eval_network)
                return

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """End the evaluation if it was asked for."""
        if self.exit:
            run_context.request_stop()

    def on_eval_end(self, run_context: RunContext) -> None:
        """Save the network if the evaluation was asked to end."""
        params = run_context.original_args()
        self._finish(params.eval_network, self.eval_name, params.get("eval_dataset_element"))

    def _listen(self) -> None:
        self._before = signal.signal(self.sig, self._handle_signal)

    def _handle_signal(self, signum: int, frame: Any) -> None:
        self.exit = True

    def _finish(self, network: Any, name: str, row: Any) -> None:
        if self._before is not None:
            signal.signal(self.sig, self._before)
            self._before = None
        if not self.exit:
            return
        if self.save_ckpt:
            save_checkpoint(network, name)
        if self.save_mindir:
            _export(network, name, row)

    def _asked_by_file(self) -> bool:
        path = self.remote_config_file
        if path is None or not os.path.exists(path):
            return False
        try:
            with open(path, encoding="utf-8") as file:
                asked = json.load(file)
        except json.JSONDecodeError as error:
            logger.warning("The file %s is no JSON: %s.", path, error)
            return False
        return isinstance(asked, dict) and asked.get("GracefulExit") == 1


def _export(network: Any, name: str, row: Any) -> None:
    try:
        export = import_module("mindjax.mindir").export
    except ModuleNotFoundError:
        logger.warning("OnRequestExit: there is no export to MindIR yet; %s is not written.", name)
        return
    export(network, *(row or ()), file_name=name, file_format="MINDIR")


class TrainFaultTolerance(Callback):
    """Repair a training on a cluster of Ascend devices with the library MindIO.

    Args:
        ckpt_save_path: folder of the checkpoints.
        **kwargs: ``ckpt_save_fn``, ``ckpt_load_fn`` and ``initial_step``.

    Raises:
        ValueError: neither ``ckpt_save_path`` nor ``ckpt_save_fn`` is given.
        NotImplementedError: always otherwise: the library works on Ascend only.

    MindSpore: ``mindspore.train.TrainFaultTolerance``.
    """

    def __init__(self, ckpt_save_path: str | None = None, **kwargs: Any) -> None:
        super().__init__()
        if ckpt_save_path is None and kwargs.get("ckpt_save_fn") is None:
            raise located(
                ValueError,
                "TrainFaultTolerance construct need to set ckpt_save_fn or ckpt_save_path!",
            )
        raise located(
            NotImplementedError,
            "For 'TrainFaultTolerance', there is no MindIO here: use BackupAndRestore, or "
            "ModelCheckpoint with 'exception_save'.",
        )
