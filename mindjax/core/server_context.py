"""The context of parameter servers, which MindJAX does not have."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located

_DEFAULTS: dict[str, Any] = {
    "enable_ps": False,
    "server_mode": "",
    "ms_role": "",
    "worker_num": 0,
    "server_num": 0,
    "scheduler_ip": "",
    "scheduler_port": 0,
    "config_file_path": "",
    "enable_ssl": False,
    "client_password": "",
    "server_password": "",
}
_settings: dict[str, Any] = {}


def _known(owner: str, name: str) -> None:
    if name not in _DEFAULTS:
        raise located(
            ValueError,
            f"For 'context.{owner}', the context keyword argument {name} is not recognized! Use "
            f"one of {list(_DEFAULTS)}.",
        )


def set_ps_context(**kwargs: Any) -> None:
    """Set the context of parameter servers (MindSpore: ``set_ps_context``).

    Args:
        **kwargs: ``enable_ps``, which must be False, and ``config_file_path``, ``enable_ssl``,
            ``client_password``, ``server_password`` and others, which are kept.

    Raises:
        ValueError: no such setting.
        NotImplementedError: ``enable_ps`` is True: embeddings are sharded over the devices.
    """
    for name, value in kwargs.items():
        _known("set_ps_context", name)
        if name == "enable_ps" and value:
            raise located(
                NotImplementedError,
                "For 'set_ps_context', the 'enable_ps' must be False, but got True: there are no "
                "parameter servers; data parallel training and sharded embeddings take their "
                "place.",
            )
        _settings[name] = value


def get_ps_context(attr_key: str) -> Any:
    """Give a setting of parameter servers (MindSpore: ``get_ps_context``).

    Args:
        attr_key: name of the setting.

    Raises:
        ValueError: no such setting.
    """
    _known("get_ps_context", attr_key)
    return _settings.get(attr_key, _DEFAULTS[attr_key])


def reset_ps_context() -> None:
    """Put every setting of parameter servers back to its default."""
    _settings.clear()
