"""Two threads call one net, and step it, while a third saves it."""

import pytest

import mindjax as ms
from tests.graph.threads import stress


@pytest.mark.parametrize("seconds", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_calls_steps_and_saves_at_once(seconds, tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE)
    counts = stress(seconds, str(tmp_path))
    assert all(counts.values())
