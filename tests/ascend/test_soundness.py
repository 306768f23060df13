"""Nothing stays allocated, and the sanitizers find nothing; all of it takes minutes."""

import json
import shutil
import subprocess

import pytest

from tests.ascend.processes import ROOT, run_python
from tests.ascend.test_behaviour import CHECKS
from tests.ascend.test_programs import QUICK

pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++"),
    pytest.mark.slow,
]
MEGABYTE = 1 << 20


def test_nothing_leaks():
    """100,000 executions and 1,000 compilations."""
    text = run_python("-m", "tests.ascend.run_leaks", timeout=1200)
    grown = json.loads(text.splitlines()[-1])["grown"]
    assert [g["device"] for g in grown.values()] == [0, 0]
    assert all(g["resident"] < 16 * MEGABYTE for g in grown.values()), grown


def _library(name):
    asked = ["g++", f"-print-file-name={name}"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def sanitizer(name):
    """Give the settings of a process whose plugin is built with a sanitizer of g++."""
    found = _library(f"lib{name[0]}san.so")
    if "/" not in found:
        pytest.skip(f"g++ has no lib{name[0]}san")
    flags = f"-fsanitize={name} -fno-omit-frame-pointer -O1 -g"
    # The compiler itself runs without the sanitizer.
    build = "from mindjax_ascend import library; library.library_path()"
    run_python("-c", build, timeout=1200, MINDJAX_ASCEND_FLAGS=flags)
    options = "detect_leaks=0:abort_on_error=1:halt_on_error=1"
    return {
        "MINDJAX_ASCEND_FLAGS": flags,
        # The sanitizer looks for the C++ library's functions before jaxlib has loaded it.
        "LD_PRELOAD": f"{found} {_library('libstdc++.so.6')}",
        f"{name[0].upper()}SAN_OPTIONS": options,
    }


def test_address_sanitizer_finds_nothing():
    settings = sanitizer("address")
    names = sorted(QUICK)
    text = run_python(
        "-m", "tests.ascend.run_programs", text="\n".join(names), timeout=1200, **settings
    )
    results = [json.loads(line) for line in text.splitlines()]
    assert [r["name"] for r in results] == names
    assert not [r for r in results if r["wrong"]]
    run_python(
        "-m",
        "tests.ascend.run_behaviour",
        *CHECKS.split(),
        timeout=1200,
        MINDJAX_ASCEND_SIM_DEVICES="4",
        MINDJAX_ASCEND_MEMORY="100000000",
        **settings,
    )


def test_thread_sanitizer_finds_nothing(tmp_path):
    """Four threads use the plugin without Python; a race of the driver's own is found."""
    settings = sanitizer("thread")
    run_python("-m", "tests.ascend.write_programs", tmp_path, MINDJAX_ASCEND_SIM_DEVICES="4")
    flags, path = settings["MINDJAX_ASCEND_FLAGS"], "from mindjax_ascend import library as l\n"
    plugin = run_python("-c", path + "print(l.library_path())", MINDJAX_ASCEND_FLAGS=flags).strip()
    driver, source = tmp_path / "threads", ROOT / "tests/ascend/threads.cc"
    headers = f"-I{ROOT / 'backends/ascend_xla/src'}"
    command = ["g++", "-std=c++17", "-pthread", *flags.split(), headers, source, "-ldl"]
    subprocess.run([*command, "-o", driver], check=True)
    words = [driver, plugin, tmp_path / "list"]
    found = [
        subprocess.run([*words, *more], capture_output=True, text=True, timeout=900)
        for more in ([], ["race"])
    ]
    assert found[0].returncode == 0 and not found[0].stderr, found[0].stderr[:3000]
    assert found[0].stdout.startswith("11 programs, 160 runs")
    assert found[1].returncode and "data race" in found[1].stderr
