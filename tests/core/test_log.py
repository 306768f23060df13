"""The log: its levels, its line, its files and the variables that configure it."""

import logging
import re
import subprocess
import sys

import pytest

import mindjax as ms
from mindjax import log

LINE = re.compile(
    r"\[(\w+)\] ME\(\d+:\d+,MainProcess\):\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} "
    r"\[(.*):(\d+)\] (.*)"
)


@pytest.fixture
def fresh(monkeypatch):
    """Forget the logger before and after."""
    for name in ("GLOG_v", "GLOG_logtostderr", "GLOG_log_dir", "GLOG_stderrthreshold", "RANK_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(log._State, "logger", None)
    yield monkeypatch
    if log._State.logger is not None:
        for handler in log._State.logger.handlers:
            handler.close()


def test_line(fresh, capsys):
    log.info("unseen")
    log.warning("%d of %s", 3, "x")
    log.error("gone wrong")
    lines = [LINE.fullmatch(line) for line in capsys.readouterr().err.splitlines()]
    assert [(m[1], m[4]) for m in lines] == [("WARNING", "3 of x"), ("ERROR", "gone wrong")]
    assert all(m[2].endswith("tests/core/test_log.py") for m in lines)
    assert int(lines[1][3]) == int(lines[0][3]) + 1


@pytest.mark.parametrize("level", "01234")
def test_levels(fresh, capsys, level):
    fresh.setenv("GLOG_v", level)
    for write in (log.debug, log.info, log.warning, log.error, log.critical):
        write("m")
    assert len(capsys.readouterr().err.splitlines()) == 5 - int(level)
    assert ms.get_level() == log.get_level() == level
    assert ms.get_log_config() == {"GLOG_v": level, "GLOG_logtostderr": "1"}


def test_files(fresh, capsys, tmp_path):
    fresh.setenv("GLOG_logtostderr", "0")
    fresh.setenv("GLOG_log_dir", str(tmp_path))
    fresh.setenv("GLOG_stderrthreshold", "3")
    fresh.setenv("logger_maxBytes", "1000")
    fresh.setenv("logger_backupCount", "2")
    fresh.setenv("RANK_ID", "1")
    log.warning("to the file")
    log.error("to both")
    (path,) = (tmp_path / "rank_1/logs").iterdir()
    assert [LINE.fullmatch(line)[4] for line in path.read_text().splitlines()] == [
        "to the file",
        "to both",
    ]
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert log.get_log_config() == {
        "GLOG_v": "2",
        "GLOG_logtostderr": "0",
        "GLOG_log_dir": str(path.parent),
        "logger_maxBytes": 1000,
        "logger_backupCount": 2,
        "GLOG_stderrthreshold": "3",
    }
    for _ in range(30):
        log.error("x" * 50)
    assert len(list(path.parent.iterdir())) == 3


@pytest.mark.parametrize(
    ("name", "value"), [("GLOG_v", "7"), ("GLOG_logtostderr", "2"), ("GLOG_logtostderr", "0")]
)
def test_wrong_variables(fresh, name, value):
    fresh.setenv(name, value)
    with pytest.raises(ValueError, match="GLOG_"):
        log.warning("m")


def test_once(fresh, capsys):
    @log._LogActionOnce(logger=log, key="a test's key")
    def warn():
        log.warning("once")

    for _ in range(3):
        warn()
    assert capsys.readouterr().err.count("once") == 1
    assert log.logging is logging


def test_the_log_starts_no_backend():
    program = (
        "import mindjax; mindjax.install()\n"
        "from mindspore import log as logger\n"
        "import sys; logger.info('x')\n"
        "print('jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
