"""What may be asked of `jit`: the original's options, checked, and how strict a graph is."""

from __future__ import annotations

import os
from typing import Any

from mindjax import log
from mindjax.core.context import STRICT, get_context
from mindjax.core.errors import located

# Options of the original's backends; XLA has nothing that they choose.
_CHOICES: dict[str, tuple[str, ...]] = {
    "exec_order": ("bfs", "dfs"),
    "infer_boost": ("on", "off"),
    "auto_offload": ("weight", "activation", "all"),
    "exc_mode": ("auto", "sink", "no_sink"),
}
_LEAVING = {
    "mode": "capture_mode",
    "input_signature": "dynamic",
    "hash_args": "",
    "jit_config": "jit_level, fullgraph or options",
    "compile_once": "",
}


def check_options(options: dict[str, Any]) -> None:
    """Check the further options of `jit`; say of each that it changes nothing here.

    Args:
        options: options by name.

    Raises:
        TypeError: an option has the wrong type.
        ValueError: an option has a value that the original does not know.
    """
    for name, value in options.items():
        if name in _LEAVING:
            instead = f" Please use the parameter '{_LEAVING[name]}' instead." * bool(
                _LEAVING[name]
            )
            log.warning(f"For 'jit', the parameter '{name}' has been deprecated.{instead}")
            continue
        if name == "disable_format_transform":
            _of_type(name, value, bool)
        elif name == "ge_options":
            _check_ge_options(value)
        elif name in _CHOICES:
            _of_type(name, value, str)
            if value not in _CHOICES[name]:
                raise located(
                    ValueError,
                    f"For '{name}', the value of '{name}' must be one of {list(_CHOICES[name])}, "
                    f"but got '{value}'.",
                )
        else:
            log.warning(
                f"For 'jit(options)', the option '{name}' is not recognized: it is ignored."
            )
            continue
        log.warning(f"For 'jit(options)', the option '{name}' is ignored: XLA has no such choice.")


def _of_type(name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise located(
            TypeError,
            f"For 'jit(options)', the type of '{name}' must be {kind.__name__}, but got "
            f"{type(value)}.",
        )


def _check_ge_options(value: Any) -> None:
    _of_type("ge_options", value, dict)
    for level, options in value.items():
        if level not in ("global", "session"):
            raise located(
                ValueError,
                "For 'ge_options', the key of 'ge_options' must be one of ['global', 'session'], "
                f"but got '{level}'.",
            )
        _of_type(f"ge_options[{level}]", options, dict)
        for item in (*options, *options.values()):
            _of_type(f"ge_options[{level}]", item, str)


def strict(jit_config: Any = None) -> bool:
    """Tell whether graphs must hold all of a function, none of it run op by op.

    Args:
        jit_config: a Cell's `JitConfig`, which comes before the context's ``jit_syntax_level`` and
            the variable ``MS_DEV_JIT_SYNTAX_LEVEL``.
    """
    level = getattr(jit_config, "jit_config_dict", {}).get("jit_syntax_level")
    if level:
        return level == "STRICT"
    variable = os.environ.get("MS_DEV_JIT_SYNTAX_LEVEL", "")
    return variable == "0" or get_context("jit_syntax_level") == STRICT
