"""Settings of every test: CPU, one compile cache a run, both modes, a seed, no leaked tracer."""

import os
import sys
import tempfile
import time

import pytest

from tests.house.budget import Budget, folder_of
from tests.house.compiling import Compiling
from tests.house.leaks import leaked_attributes, leaked_handles

SECONDS_BETWEEN_LOOKS = 20.0
COMPILING = Compiling()

# jax and mindjax read these when they are imported: here, in xdist's workers, in subprocesses.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["MINDJAX_TRACK_HANDLES"] = "1"
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    compile_cache = tempfile.TemporaryDirectory(prefix="mindjax-tests-", ignore_cleanup_errors=True)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = compile_cache.name
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


def pytest_configure(config):
    """Keep the time budget where all reports arrive: in xdist's controller if there is one."""
    if not hasattr(config, "workerinput"):
        whole_suite = config.args_source is not pytest.Config.ArgsSource.ARGS
        config.pluginmanager.register(Budget(enforced=whole_suite), "budget")


def pytest_collection_modifyitems(items):
    """Leave out what asks the original where its environment is not named."""
    if "MINDJAX_ORACLE_PYTHON" in os.environ:
        return
    for item in items:
        if item.get_closest_marker("oracle"):
            item.add_marker(pytest.mark.skip(reason="MINDJAX_ORACLE_PYTHON is not set"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Choose how the test's programs are compiled."""
    COMPILING.choose(folder_of(item.nodeid), {mark.name for mark in item.iter_markers()})
    return (yield)


@pytest.fixture(params=["PYNATIVE", "GRAPH"])
def mode(request):
    """Run the test once in each mode; the value is the mode's constant."""
    import mindjax as ms

    before = ms.get_context("mode")
    value = {"PYNATIVE": ms.PYNATIVE_MODE, "GRAPH": ms.GRAPH_MODE}[request.param]
    ms.set_context(mode=value)
    yield value
    ms.set_context(mode=before)


@pytest.fixture
def seed():
    """Seed MindJAX and numpy; the value is the seed."""
    import numpy as np

    import mindjax as ms

    ms.set_seed(1)
    np.random.seed(1)
    return 1


@pytest.fixture(autouse=True)
def a_fresh_context():
    """Start in PYNATIVE and outside any world of processes, whatever ran before."""
    context, world = (sys.modules.get(f"mindjax.core.{m}") for m in ("context", "world"))
    if context is not None:
        context.set_context(mode=context.PYNATIVE_MODE)
    if world is not None:
        world.release()


@pytest.fixture(autouse=True)
def no_leaked_tracer():
    """Prove that the test left no tracer in a Tensor or Parameter."""
    yield
    leaked = leaked_handles()
    assert not leaked, f"handles that hold a tracer after the test: {leaked}"


@pytest.fixture(autouse=True, scope="session")
def looks_for_attributes():
    """Look once more at the end; the value holds the time of the last look."""
    last_look = [time.monotonic()]
    yield last_look
    assert_no_leaked_attribute()


@pytest.fixture(autouse=True, scope="module")
def no_leaked_attribute(looks_for_attributes):
    """Prove that modules' tests left no tracer in an attribute of a Cell.

    A look goes over every live object: after a module that ends soon after another's look, the
    next one finds what it left.
    """
    yield
    if time.monotonic() - looks_for_attributes[0] > SECONDS_BETWEEN_LOOKS:
        assert_no_leaked_attribute()
        looks_for_attributes[0] = time.monotonic()


def assert_no_leaked_attribute():
    leaked = leaked_attributes()
    assert not leaked, f"Cell attributes that hold a tracer, of this module or one before: {leaked}"
