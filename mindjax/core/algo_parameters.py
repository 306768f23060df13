"""The settings of `set_algo_parameters`: how strategies are searched in AUTO_PARALLEL mode.

They bound the original's own search. The one here compares few plans and has nothing to bound: they
are checked, kept and given back, and a warning says that they change nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax import log
from mindjax.core.errors import located

_DEFAULTS: dict[str, Any] = {
    "fully_use_devices": False,
    "elementwise_op_strategy_follow": False,
    "enable_algo_approxi": False,
    "algo_approxi_epsilon": float(np.float32(0.1)),
    "tensor_slice_align_enable": False,
    "tensor_slice_align_size": 16,
}
_settings: dict[str, Any] = {}


def set_algo_parameters(**kwargs: Any) -> None:
    """Set how strategies are searched (MindSpore: ``set_algo_parameters``).

    Args:
        **kwargs: ``fully_use_devices``, ``elementwise_op_strategy_follow``, ``enable_algo_approxi``
            and ``tensor_slice_align_enable``, bools; ``algo_approxi_epsilon``, a float in (0, 1];
            ``tensor_slice_align_size``, an int in [1, 1024].

    Raises:
        ValueError: no such setting, or a size out of its range.
        TypeError: a setting has the wrong type.
        RuntimeError: ``algo_approxi_epsilon`` is out of its range.
    """
    for name, value in kwargs.items():
        if name not in _DEFAULTS:
            raise located(ValueError, f"Set context keyword {name} is not recognized!")
        kind = type(_DEFAULTS[name])
        if type(value) is not kind:
            raise located(
                TypeError, f"The parameter '{name}' must be {kind}, but got {type(value)}."
            )
        if kind is int and not 1 <= value <= 1024:
            raise located(ValueError, f"Align_size must be in [1, 1024], but got {value}.")
        if kind is float and not 0 < value <= 1:
            raise located(
                RuntimeError, f"For '{name}', 'epsilon' must be in (0, 1], but got {value}."
            )
        if value != _DEFAULTS[name]:
            log.warning(
                f"For 'set_algo_parameters', '{name}' changes nothing: the search of "
                "AUTO_PARALLEL compares too few plans to leave some out."
            )
        _settings[name] = value


def get_algo_parameters(attr_key: str) -> Any:
    """Give a setting of `set_algo_parameters` (MindSpore: ``get_algo_parameters``).

    Args:
        attr_key: name of the setting.

    Returns:
        bool, float or int.

    Raises:
        ValueError: no such setting.
    """
    if attr_key not in _DEFAULTS:
        raise located(ValueError, f"Get context keyword {attr_key} is not recognized!")
    return _settings.get(attr_key, _DEFAULTS[attr_key])


def reset_algo_parameters() -> None:
    """Give the settings their defaults back (MindSpore: ``reset_algo_parameters``)."""
    _settings.clear()
