"""Model, callbacks and metrics against what the original did (goldens/train.json)."""

import json
import os

import pytest

import mindjax as ms

ms.install()

from tests.train import scenarios as s  # noqa: E402
from tests.train.compare import check  # noqa: E402

_PATH = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "goldens", "train.json"
)
with open(_PATH, encoding="utf-8") as _file:
    RECORDED = json.load(_file)

# Messages that are worded otherwise: the phrase they must have.
CHANGED = {
    "accuracy_type": "The argument 'eval_type' must be in {",
    "get_unknown": "unsupported metric zzz",
    "metrics_unknown": "unsupported metric zzz",
    "old_methods_fit": "For Old callback, {'step_end'}",
    "fbeta_empty": "The 'F1' can not be calculated",
    "abstract": "Can't instantiate abstract class Metric",
    "ckpt_directory": "The path is invalid, the type should be string",
    "topk_one": "For 'TopKCategoricalAccuracy.update', it needs 2 inputs",
    "fbeta_label": "should contain same classes, but got predicted value",
    "precision_label": "For 'Precision.update', predicted value",
}
ERRORS = [name for name, outcome in RECORDED["graph"].items() if "error" in outcome]
# Both modes where values depend on the steps; elsewhere one mode says all.
VALUES = (
    "early_r",
    "eval_v",
    "flags",
    "history",
    "loss_monitor",
    "plateau",
    "pred",
    "r",
    "trained",
)
BOTH = [n for n in RECORDED["graph"] if n not in ERRORS and n.startswith(VALUES)]
ONE = [n for n in RECORDED["graph"] if n not in ERRORS and n not in BOTH]


@pytest.mark.parametrize("name", BOTH)
def test_model(name, mode):
    modes = [RECORDED["graph"], {**RECORDED["graph"], **RECORDED["pynative"]}]
    check(s.outcome(s.CASES[name]), modes[mode][name])


@pytest.mark.parametrize("name", ONE)
def test_callback(name):
    check(s.outcome(s.CASES[name]), {**RECORDED["graph"], **RECORDED["pynative"]}[name])


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    check(s.outcome(s.CASES[name]), RECORDED["graph"][name], CHANGED.get(name))


@pytest.mark.parametrize("name", RECORDED["metrics"])
def test_metric(name):
    # The interpreter itself refuses to make an abstract class.
    place = name != "abstract"
    check(s.outcome(s.METRICS[name]), RECORDED["metrics"][name], CHANGED.get(name), place)
