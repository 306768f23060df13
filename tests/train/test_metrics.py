"""Metrics of images, text, curves and models against the original's (goldens/metric.json)."""

import json
from pathlib import Path

import numpy as np
import pytest

import mindjax as ms

ms.install()

from mindjax import Tensor, nn  # noqa: E402
from mindjax import train as T  # noqa: E402
from tests.train import metric_cases as table  # noqa: E402
from tests.train.compare import check  # noqa: E402
from tests.train.scenarios import outcome  # noqa: E402

GOLDEN = Path(__file__).parents[1] / "goldens/metric.json"
RECORDED = json.loads(GOLDEN.read_text())["pynative"]
# Messages that are worded otherwise: the phrase they must have.
CHANGED = {
    **{
        name: "please call the 'update' method before calling 'eval' method"
        for name, found in RECORDED.items()
        if found.get("message", "").startswith("Please call the 'update' method")
    },
    "rate_unknown": "the metric 'zzz' is not implemented",
    "rate_none": "the 'decrease' must leave one number",
    "rate_classes_sample": "the 'calculation_method' must be False",
    "rate_values": "the true value (input[1]) must be a binarized",
    "rate_shape": "the shapes of predicted value (input[0]) and true value",
    "rate_dim": "the predicted value (input[0]) must have at least 2",
    "dice_empty": "The 'Dice' can not be calculated",
    "cosine_dim": "axis 1 is out of bounds",
    "auc_length": "found input variables with inconsistent numbers",
    "auc_scalar": "singleton array 1.0 cannot be considered",
}


@pytest.mark.parametrize("name", table.CASES)
def test_metric(name):
    check(outcome(table.CASES[name]), RECORDED[name], CHANGED.get(name))


def test_every_case_is_recorded():
    assert RECORDED.keys() == table.CASES.keys()


def test_a_second_eval_gives_the_same():
    metric = T.CosineSimilarity(reduction="mean")
    metric.update(table.ROWS)
    assert np.array_equal(metric.eval(), metric.eval())


def test_roc_of_more_samples_than_classes():
    metric = T.ROC(3)
    metric.update(table.PRED, table.TRUE)
    false, true, _ = metric.eval()
    scores, positive = table.PRED[:, 0], table.TRUE == 0
    for t, f in zip(true[0], false[0], strict=True):
        assert any(
            t == (scores[positive] >= bound).mean() and f == (scores[~positive] >= bound).mean()
            for bound in (*scores, 2.0)
        )


def test_occlusion_of_a_label_with_an_axis():
    metric = T.OcclusionSensitivity()
    metric.update(table.Scores(), Tensor(table.IMAGE), [1])
    assert np.allclose(metric.eval(), RECORDED["occlusion"]["ok"], rtol=1e-5)


def test_perplexity_of_sequences():
    metric = T.Perplexity(-1)
    metric.update(table.PRED.reshape(2, 2, 3), np.array([[1, -1], [0, 2]]))
    kept = np.array([0.5, 0.9, 0.8])
    assert np.isclose(metric.eval(), np.exp(-np.log(kept).mean()))


def test_names_are_at_every_path():
    from mindjax.nn import metrics
    from mindjax.train import metrics as home

    for name in metrics.__all__:
        assert getattr(metrics, name) is getattr(home, name)
        assert getattr(nn, name) is getattr(home, name)
        if name != "get_metrics":
            assert getattr(ms, name) is getattr(T, name) is getattr(nn, name)


@pytest.mark.parametrize("cls", [T.MeanSurfaceDistance, T.RootMeanSquareDistance])
def test_eval_before_update(cls):
    with pytest.raises(RuntimeError, match="please call the 'update' method"):
        cls().eval()
