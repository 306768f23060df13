"""How the original's kernels are watched on Ascend devices: device tuning."""

from typing import Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.device_context import kept


def execute_timeout(op_timeout: int) -> None:
    """Keep after how many seconds an op is given up; XLA runs whole programs.

    Args:
        op_timeout: seconds, from 0 up.

    Raises:
        TypeError: it is no int.
        ValueError: it is below 0.
        RuntimeError: it is another already.
    """
    checks.of_type("op_timeout", op_timeout, int, "execute_timeout")
    if op_timeout < 0:
        raise located(
            ValueError,
            "For 'execute_timeout', the 'op_timeout' must bigger than or equal to 0, but got "
            f"{op_timeout}.",
        )
    kept.keep("Ascend", "execute_timeout", op_timeout)


def debug_option(option_value: str) -> None:
    """Keep what is checked: XLA's programs never write out of bounds.

    Args:
        option_value: ``"oom"``, out of memory's bounds.

    Raises:
        TypeError: it is no string.
        ValueError: it is another.
        RuntimeError: it is another already.
    """
    checks.of_type("option_value", option_value, str, "debug_option")
    kept.one_of("debug_option", option_value, ["oom"])
    kept.keep("Ascend", "debug_option", option_value)


def aclinit_config(config: dict[str, Any]) -> None:
    """Keep how the original's runtime of Ascend devices starts.

    Args:
        config: ``"max_opqueue_num"``, a text; ``"err_msg_mode"``, ``"0"`` or ``"1"``; ``"dump"``.

    Raises:
        TypeError: a value has the wrong type.
        ValueError: a key or a value is none of these.
        RuntimeError: it is another already.
    """
    scenes = [{"dump_scene": "lite_exception"}, {"dump_scene": "lite_exception:disable"}]
    for key, value in config.items():
        kept.one_of("aclinit_config", key, ["max_opqueue_num", "err_msg_mode", "dump"])
        if key == "max_opqueue_num":
            checks.of_type(key, value, str, "aclinit_config")
        else:
            kept.one_of("aclinit_config", value, ["0", "1"] if key == "err_msg_mode" else scenes)
    kept.keep("Ascend", "aclinit_config", dict(config))
