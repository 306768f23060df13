"""The log (MindSpore: ``mindspore.log``), configured by environment variables when first used.

``GLOG_v`` is the lowest level that is written: 0 debug, 1 info, 2 warning (the default), 3 error,
4 critical. ``GLOG_logtostderr=0`` writes to files ``GLOG_log_dir/rank_N/logs/mindspore.log.PID``
of at most ``logger_maxBytes`` bytes, ``logger_backupCount`` old ones kept, and to standard error
from the level ``GLOG_stderrthreshold`` on.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from typing import Any, ClassVar

from mindjax.core.errors import located

__all__ = ["get_level", "get_log_config"]

_LEVELS = {"0": "DEBUG", "1": "INFO", "2": "WARNING", "3": "ERROR", "4": "CRITICAL"}
_FORMAT = (
    "[%(levelname)s] ME(%(process)d:%(thread)d,%(processName)s):%(asctime)s "
    "[%(filepath)s:%(lineno)d] %(message)s"
)
_lock = threading.Lock()


class _Formatter(logging.Formatter):
    """The original's line: level, process, time to the microsecond, file and line, message."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        when = time.strftime(datefmt or "%Y-%m-%d-%H:%M:%S", self.converter(record.created))
        micro = int(record.created % 1 * 1e6)
        return when if datefmt else f"{when}.{micro // 1000:03d}.{micro % 1000:03d}"

    def format(self, record: logging.LogRecord) -> str:
        package = record.pathname.rfind("mindjax/")
        record.filepath = record.pathname[max(package, 0) :]
        return super().format(record)


class _State:
    logger: logging.Logger | None = None


def _wrong(text: str) -> ValueError:
    return located(ValueError, f"For 'mindspore.log', {text}")


def _environment() -> dict[str, str]:
    """Read the configuration.

    Raises:
        ValueError: a variable has a value that it cannot have.
    """
    names = ("GLOG_v", "GLOG_logtostderr", "GLOG_log_dir", "GLOG_stderrthreshold")
    found = {
        n: os.environ[n].strip()
        for n in (*names, "logger_maxBytes", "logger_backupCount")
        if os.environ.get(n)
    }
    for name in ("GLOG_v", "GLOG_stderrthreshold"):
        if found.get(name, "2") not in _LEVELS:
            raise _wrong(
                "incorrect log level, please check the configuration of GLOG_v or "
                "GLOG_stderrthreshold, desired log level: 4-CRITICAL, 3-ERROR, 2-WARNING, 1-INFO, "
                f"0-DEBUG. But got {found[name]}."
            )
    console = found.get("GLOG_logtostderr", "1")
    if console not in ("0", "1"):
        raise _wrong(f"the value of GLOG_logtostderr must be 0 or 1, but got {console}.")
    if console == "0":
        if "GLOG_log_dir" not in found:
            raise _wrong(
                "when GLOG_logtostderr is set to 0, the directory of saving log GLOG_log_dir must "
                "be set, but got it empty."
            )
        for name in ("logger_maxBytes", "logger_backupCount"):
            if not found.get(name, "1").isdigit():
                raise _wrong(
                    f"the value of {name} must be positive integer, but got {found[name]}."
                )
    return found


def _rank() -> str:
    for name in ("RANK_ID", "OMPI_COMM_WORLD_RANK", "MS_NODE_ID"):
        if os.environ.get(name):
            return os.environ[name]
    return "0"


def _handler(handler: logging.Handler, name: str, level: str | None = None) -> logging.Handler:
    handler.name = name
    handler.setFormatter(_Formatter(_FORMAT))
    if level is not None:
        handler.setLevel(_LEVELS[level])
    return handler


def _get_logger() -> logging.Logger:
    """Give the logger, made when it is first asked for."""
    if _State.logger is not None:
        return _State.logger
    with _lock:
        if _State.logger is not None:
            return _State.logger
        found = _environment()
        name = f"mindspore.log.{os.getpid()}"
        logger = logging.getLogger(f"ME.{name}")
        logger.setLevel(_LEVELS[found.get("GLOG_v", "2")])
        logger.propagate = False
        logger.handlers.clear()
        stream = logging.StreamHandler(sys.stderr)
        if found.get("GLOG_logtostderr") == "0":
            folder = os.path.join(
                os.path.realpath(found["GLOG_log_dir"]), f"rank_{_rank()}", "logs"
            )
            os.makedirs(folder, mode=0o700, exist_ok=True)
            path = os.path.join(folder, name)
            file = RotatingFileHandler(
                path,
                maxBytes=int(found.get("logger_maxBytes", 50 * 2**20)),
                backupCount=int(found.get("logger_backupCount", 30)),
                encoding="utf8",
            )
            os.chmod(path, 0o600)
            logger.addHandler(_handler(file, "FileHandler"))
            logger.addHandler(
                _handler(stream, "StreamHandler", found.get("GLOG_stderrthreshold", "2"))
            )
        else:
            logger.addHandler(_handler(stream, "StreamHandler"))
        _State.logger = logger
        return logger


def _write(level: int, msg: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    # The line that is named is the caller's of `info` and the like.
    kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 2
    _get_logger().log(level, msg, *args, **kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log for those who look for a fault.

    Args:
        msg: the message, with ``%`` places for ``args``.
        *args: what stands in them.
        **kwargs: as Python's ``logging`` takes them.
    """
    _write(logging.DEBUG, msg, args, kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log what goes on.

    Args:
        msg: the message, with ``%`` places for ``args``.
        *args: what stands in them.
        **kwargs: as Python's ``logging`` takes them.
    """
    _write(logging.INFO, msg, args, kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log what may be wrong.

    Args:
        msg: the message, with ``%`` places for ``args``.
        *args: what stands in them.
        **kwargs: as Python's ``logging`` takes them.
    """
    _write(logging.WARNING, msg, args, kwargs)


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log what failed.

    Args:
        msg: the message, with ``%`` places for ``args``.
        *args: what stands in them.
        **kwargs: as Python's ``logging`` takes them.
    """
    _write(logging.ERROR, msg, args, kwargs)


def critical(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log what the program cannot go on after.

    Args:
        msg: the message, with ``%`` places for ``args``.
        *args: what stands in them.
        **kwargs: as Python's ``logging`` takes them.
    """
    _write(logging.CRITICAL, msg, args, kwargs)


def _glog(level: int) -> str | None:
    names = {name: number for number, name in _LEVELS.items()}
    return names.get(logging.getLevelName(level))


def get_level() -> str | None:
    """Give the lowest level that is written, as ``GLOG_v`` writes it (``mindspore.get_level``)."""
    return _glog(_get_logger().getEffectiveLevel())


def get_log_config() -> dict[str, Any]:
    """Give the configuration by the names of the variables (``mindspore.get_log_config``)."""
    logger = _get_logger()
    first = logger.handlers[0]
    config: dict[str, Any] = {"GLOG_v": get_level(), "GLOG_logtostderr": "1"}
    if isinstance(first, RotatingFileHandler):
        config["GLOG_logtostderr"] = "0"
        config["GLOG_log_dir"] = os.path.dirname(first.baseFilename)
        config["logger_maxBytes"] = first.maxBytes
        config["logger_backupCount"] = first.backupCount
        config["GLOG_stderrthreshold"] = _glog(logger.handlers[1].level)
    return config


class _LogActionOnce:
    """Decorator: what the function logs as warnings is written the first time only.

    Args:
        logger: module or logger with a ``warning``.
        key: names the warning.
        no_warning: True for never.
    """

    is_logged: ClassVar[dict[str, bool]] = {}

    def __init__(self, logger: Any, key: str, no_warning: bool = False) -> None:
        self.logger, self.key, self.no_warning = logger, key, no_warning

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            before = getattr(self.logger, "warning", None)
            if before is None:
                return func(*args, **kwargs)
            if self.no_warning or self.key in _LogActionOnce.is_logged:
                self.logger.warning = lambda *args, **kwargs: None
            else:
                _LogActionOnce.is_logged[self.key] = True
            try:
                return func(*args, **kwargs)
            finally:
                self.logger.warning = before

        return wrapper
