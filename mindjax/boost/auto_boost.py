"""Which algorithms of `mindspore.boost` a training uses."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

from mindjax import nn
from mindjax.boost.base import OptimizerProcess, ParameterProcess
from mindjax.boost.components import prepare_matrix
from mindjax.boost.grad_freeze import GradientFreeze
from mindjax.boost.less_bn import LessBN
from mindjax.boost.ranks import process_count, process_rank
from mindjax.core.errors import located
from mindjax.nn.cell import Cell

_NONE = {
    "less_bn": False,
    "grad_freeze": False,
    "adasum": False,
    "grad_accumulation": False,
    "dim_reduce": False,
    "loss_scale_group": False,
}
_LEVELS = {
    "O0": _NONE,
    "O1": {**_NONE, "less_bn": True, "grad_freeze": True},
    "O2": {**_NONE, "less_bn": True, "grad_freeze": True, "adasum": True},
}
_MODES = ["auto", "manual", "enable_all", "disable_all"]
# Setting -> its attribute here.
_SETTINGS = {
    "fn_flag": "_fn_flag",
    "gc_flag": "_gc_flag",
    "param_groups": "_param_groups",
    "freeze_type": "_freeze_type",
    "freeze_p": "_freeze_p",
    "total_steps": "_total_steps",
    "device_number": "device_number",
    "gradient_split_groups": "gradient_groups",
    "grad_accumulation_step": "grad_accumulation_step",
    "rho": "rho",
    "gamma": "gamma",
    "alpha": "alpha",
    "sigma": "sigma",
    "n_components": "n_components",
    "pca_mat_path": "pca_mat_path",
    "weight_load_dir": "weight_load_dir",
    "timeout": "timeout",
}


class AutoBoost:
    """The one object that says how the training is made faster; the first call's arguments count.

    Args:
        level: ``"O0"``: nothing. ``"O1"``: a normalized last layer with centralized gradients
            (``less_bn``), and steps that leave layers out (``grad_freeze``). ``"O2"``: adaptive
            sums over servers as well (``adasum``).
        boost_config_dict: settings: ``"boost"`` with ``mode``: ``"auto"`` (by ``level``),
            ``"manual"`` (by the algorithms' names here), ``"enable_all"`` or ``"disable_all"``;
            ``"common"``, ``"less_bn"``, ``"grad_freeze"``, ``"grad_accumulation"`` and
            ``"dim_reduce"`` with the numbers of each.

    Raises:
        ValueError: another mode.

    MindSpore: ``boost.AutoBoost``.
    """

    _instance: ClassVar[AutoBoost | None] = None

    level: str
    gradient_groups: Any

    def __new__(cls, *args: Any, **kwargs: Any) -> AutoBoost:
        """Give the one object."""
        if AutoBoost._instance is None:
            AutoBoost._instance = object.__new__(cls)
        return AutoBoost._instance

    def __init__(self, level: str = "O0", boost_config_dict: Any = "") -> None:
        if "level" in self.__dict__:
            return
        level = level if level in _LEVELS else "O0"
        self.boost_config_dict = boost_config_dict
        self._fn_flag = self._gc_flag = True
        self._param_groups, self._freeze_type = 10, 1
        self._freeze_p, self._total_steps = 0.7, 65536
        self.gradient_groups = None
        self.device_number, self.grad_accumulation_step = 8, 1
        self.rho, self.gamma, self.alpha, self.sigma = 0.55, 0.9, 0.001, 0.4
        self.n_components, self.timeout = 32, 1800
        self.pca_mat_path = self.weight_load_dir = self.local_pca_mat_path = None
        self.boost_config = self._configuration(level, boost_config_dict)
        self._param_processer = ParameterProcess()
        self.level = level

    def _configuration(self, level: str, given: Any) -> dict[str, Any]:
        chosen: dict[str, Any] = copy.copy(_LEVELS[level])
        if not given:
            return chosen
        boost = given.get("boost", {})
        mode = boost.get("mode", "auto")
        if mode not in _MODES:
            raise located(ValueError, f"The boost mode must be in {_MODES}, but got {mode}")
        if mode == "manual":
            chosen.update({k: v for k, v in boost.items() if k in chosen})
        elif mode != "auto":
            chosen = dict.fromkeys(chosen, mode == "enable_all")
        for part, numbers in given.items():
            if part == "common" or chosen.get(part):
                for name, value in numbers.items():
                    self._set(name, value)
        return chosen

    def _set(self, name: str, value: Any) -> None:
        if name == "gradient_split_groups":
            if not isinstance(value, list | int):
                raise located(ValueError, f"gradient_groups `{value}` is not in (list, int)")
            value = [value] if isinstance(value, int) else value
        if name in _SETTINGS:
            setattr(self, _SETTINGS[name], value)

    def network_auto_process_train(self, network: Cell, optimizer: Any) -> tuple[Cell, Any]:
        """Give the network and the optimizer as the algorithms want them.

        Args:
            network: the network.
            optimizer: of its Parameters.
        """
        config = self.boost_config
        if config.get("dim_reduce"):
            self.local_pca_mat_path = prepare_matrix(
                self.weight_load_dir,
                self.pca_mat_path,
                self.n_components,
                network,
                process_rank(),
                process_count(),
            )
            optimizer = nn.SGD(network.trainable_params(), learning_rate=1.0)
            optimizer.__dict__["dim_reduce"] = True
            return network, optimizer
        if config.get("less_bn"):
            network = LessBN(network, fn_flag=self._fn_flag)
            process = OptimizerProcess(optimizer)
            parameters = self._param_processer.assign_parameter_group(
                network.trainable_params(), self.gradient_groups
            )
            process.origin_params = ParameterProcess.generate_group_params(
                parameters, process.origin_params
            )
            if self._gc_flag:
                process.add_grad_centralization(network)
            optimizer = process.generate_new_optimizer()
        if config.get("grad_freeze"):
            freeze = GradientFreeze(
                self._param_groups, self._freeze_type, self._freeze_p, self._total_steps
            )
            network, optimizer = freeze.freeze_generate(network, optimizer)
        if config.get("adasum"):
            optimizer.__dict__["adasum"] = True
        return network, optimizer

    def network_auto_process_eval(self, network: Cell) -> Cell:
        """Give the network as it is evaluated.

        Args:
            network: the network.
        """
        if self.boost_config.get("less_bn") and not self.boost_config.get("dim_reduce"):
            return LessBN(network)
        return network
