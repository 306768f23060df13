"""Settings of the search for strategies: kept, given back, checked as in the original."""

import pytest

import mindjax as ms

DEFAULTS = {
    "fully_use_devices": False,
    "elementwise_op_strategy_follow": False,
    "enable_algo_approxi": False,
    "algo_approxi_epsilon": 0.10000000149011612,
    "tensor_slice_align_enable": False,
    "tensor_slice_align_size": 16,
}


def test_defaults_and_values(monkeypatch):
    changed = {
        name: True if value is False else type(value)(value * 2) for name, value in DEFAULTS.items()
    }
    assert {name: ms.get_algo_parameters(name) for name in DEFAULTS} == DEFAULTS
    said = []
    monkeypatch.setattr(ms.log, "warning", said.append)
    ms.set_algo_parameters(**changed)
    assert len(said) == len(changed) and all("changes nothing" in text for text in said)
    assert {name: ms.parallel.get_algo_parameters(name) for name in DEFAULTS} == changed
    ms.reset_algo_parameters()
    assert {name: ms.get_algo_parameters(name) for name in DEFAULTS} == DEFAULTS


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("fully_use_devices", 1, TypeError),
        ("enable_algo_approxi", "a", TypeError),
        ("elementwise_op_strategy_follow", None, TypeError),
        ("algo_approxi_epsilon", 1, TypeError),
        ("algo_approxi_epsilon", 3.0, RuntimeError),
        ("tensor_slice_align_size", 1.5, TypeError),
        ("tensor_slice_align_size", 0, ValueError),
        ("tensor_slice_align_size", 1025, ValueError),
        ("nope", 1, ValueError),
    ],
)
def test_errors(name, value, error):
    with pytest.raises(error):
        ms.set_algo_parameters(**{name: value})
    with pytest.raises(ValueError, match="is not recognized"):
        ms.get_algo_parameters("nope")
