"""Programs over the metrics that measure images, text, curves and models.

They run on the original (tests/oracle/record_cases.py) and on MindJAX (test_metrics.py).
"""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore import train as T

RNG = np.random.default_rng(3)


def number(value):
    """Bring a metric's value to JSON."""
    if isinstance(value, tuple | list):
        return [number(v) for v in value]
    return np.asarray(value, np.float64).tolist()


def measured(metric, *updates):
    """Update a metric and evaluate it."""
    for update in updates:
        metric.update(*update)
    return number(metric.eval())


CANDIDATE = [["i", "have", "a", "pen", "on", "my", "desk"], ["the", "cat", "sat", "down", "here"]]
REFERENCE = [
    [
        ["i", "have", "a", "pen", "in", "my", "desk"],
        ["there", "is", "a", "pen", "on", "my", "desk"],
    ],
    [["the", "cat", "sat", "down"], ["a", "cat", "sat", "down", "here", "now"]],
]
SHORT = [[words[:4] for words in CANDIDATE][1]], [[REFERENCE[1][1]]]

PRED = np.array([[0.2, 0.5, 0.3], [0.3, 0.1, 0.6], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8]], np.float32)
TRUE = np.array([1, 0, 0, 2], np.int32)
PROBABILITY = np.array([0.2, 0.8, 0.5, 0.9, 0.4, 0.8], np.float32)
BINARY = np.array([0, 1, 0, 1, 1, 1], np.int32)
IMAGES = RNG.integers(0, 2, (3, 2, 4, 4)).astype(np.float32)
IMAGES_TRUE = RNG.integers(0, 2, (3, 2, 4, 4)).astype(np.float32)
SPARSE_TRUE = IMAGES_TRUE * np.array([[1, 0], [1, 1], [0, 1]], np.float32)[:, :, None, None]
HOT = np.array([[[0], [1]], [[1], [0]], [[0], [1]]], np.float32)
HOT_TRUE = np.array([[[0], [1]], [[0], [1]], [[0], [1]]], np.float32)
ROWS = np.array([[1, 3, 4, 7], [2, 4, 2, 5], [3, 1, 5, 8]], np.float32)

RATES = (
    "sensitivity",
    "specificity",
    "precision",
    "negative predictive value",
    "miss rate",
    "fall out",
    "false discovery rate",
    "false omission rate",
    "prevalence threshold",
    "threat score",
    "accuracy",
    "balanced accuracy",
    "f1 score",
    "matthews correlation coefficient",
    "fowlkes mallows index",
    "informedness",
    "markedness",
)


def cleared(metric):
    """Clear a metric: the original's distances take a new one for updated."""
    metric.clear()
    return metric


def blob(shape, corners, value=1):
    """Draw boxes into an image of zeros."""
    image = np.zeros(shape, np.int32)
    for corner in corners:
        image[tuple(slice(a, b) for a, b in corner)] = value
    return image


FIRST = blob((9, 8), [((1, 6), (2, 7))])
SECOND = blob((9, 8), [((2, 8), (1, 5)), ((0, 1), (7, 8))])
LINE = blob((9, 8), [((3, 4), (1, 7))])
CUBE = blob((5, 6, 4), [((1, 4), (1, 5), (1, 3))], 2)
CUBE_2 = blob((5, 6, 4), [((0, 3), (2, 6), (0, 3))], 2)
NONE = np.zeros((9, 8), np.int32)
SURFACES = {
    "squares": (FIRST, SECOND, 1),
    "tensor": (Tensor(FIRST), Tensor(SECOND), 1),
    "float": (FIRST, SECOND, 1.0),
    "cube": (CUBE, CUBE_2, 2),
    "line": (LINE, SECOND, 1),
    "lines": (LINE, LINE, 1),
    "same": (FIRST, FIRST, 1),
    "background": (FIRST, SECOND, 0),
    "absent": (FIRST, NONE, 1),
    "absent_first": (NONE, FIRST, 1),
    "bool": (FIRST == 1, SECOND == 1, 1),
    "list": (FIRST.tolist(), SECOND.tolist(), 1),
}
SURFACE_ERRORS = {
    "two": (FIRST, SECOND),
    "shape": (FIRST, SECOND[:3], 1),
    "label": (FIRST, SECOND, 5),
    "label_type": (FIRST, SECOND, "1"),
    "type": ("a", SECOND, 1),
}
KINDS = ("euclidean", "chessboard", "taxicab")


def surfaces():
    """List the programs of the distances between surfaces."""
    cases = {}
    for name, update in SURFACES.items():
        for kind in KINDS:
            key = f"{name}_{kind}"
            cases[f"hausdorff_{key}"] = lambda u=update, k=kind: measured(T.HausdorffDistance(k), u)
            for label, cls in (("mean", T.MeanSurfaceDistance), ("rms", T.RootMeanSquareDistance)):
                for symmetric in (False, True):
                    cases[f"{label}_{key}_{symmetric}"] = (
                        lambda c=cls, s=symmetric, u=update, k=kind: measured(c(s, k), u)
                    )
    for name, update in SURFACE_ERRORS.items():
        for cls in (T.HausdorffDistance, T.MeanSurfaceDistance, T.RootMeanSquareDistance):
            cases[f"{cls.__name__}_{name}"] = lambda c=cls, u=update: c().update(*u)
    for cls in (T.HausdorffDistance, T.MeanSurfaceDistance, T.RootMeanSquareDistance):
        cases[f"{cls.__name__}_empty"] = lambda c=cls: cleared(c()).eval()
        cases[f"{cls.__name__}_kind"] = lambda c=cls: c(distance_metric="far")
        cases[f"{cls.__name__}_kind_type"] = lambda c=cls: c(distance_metric=3)
    return cases


class Scores(nn.Cell):
    """Two scores of an image of 2 x 3."""

    def __init__(self):
        super().__init__()
        weight = np.sin(np.arange(12, dtype=np.float32)).reshape(2, 6)
        self.dense = nn.Dense(6, 2, weight_init=Tensor(weight), bias_init="zeros")

    def construct(self, x):
        return self.dense(x.reshape((-1, 6)))


IMAGE = np.linspace(0.1, 1.2, 6, dtype=np.float32).reshape(1, 2, 3)


def occluded(image=IMAGE, label=None, **kw):
    """Measure the model of two scores."""
    label = np.array(1) if label is None else label
    return measured(T.OcclusionSensitivity(**kw), (Scores(), image, label))


def rates():
    """List the programs of the rates of the confusion matrix."""
    cases = {}
    for name in RATES:
        for method in (False, True):
            for label, true in (("", IMAGES_TRUE), ("_sparse", SPARSE_TRUE)):
                cases[f"rate_{name}_{method}{label}"] = lambda n=name, m=method, t=true: measured(
                    T.ConfusionMatrixMetric(True, n, m), (IMAGES, t), (t, IMAGES)
                )
    for decrease in ("sum", "mean"):
        cases[f"rate_{decrease}"] = lambda d=decrease: measured(
            T.ConfusionMatrixMetric(True, "recall", True, d), (IMAGES, SPARSE_TRUE)
        )
    return cases


CASES = {
    "bleu": lambda: measured(T.BleuScore(), (CANDIDATE, REFERENCE)),
    "bleu_smooth": lambda: measured(T.BleuScore(4, True), (CANDIDATE, REFERENCE)),
    "bleu_2": lambda: measured(T.BleuScore(2), (CANDIDATE, REFERENCE), SHORT),
    "bleu_short": lambda: measured(T.BleuScore(3), SHORT),
    "bleu_nothing": lambda: measured(T.BleuScore(), ([["x", "y"]], [[["z"]]])),
    "bleu_call": lambda: number(T.BleuScore(1)(CANDIDATE, REFERENCE)),
    "bleu_gram": lambda: T.BleuScore(5),
    "bleu_gram_type": lambda: T.BleuScore(1.0),
    "bleu_smooth_type": lambda: T.BleuScore(1, 1),
    "bleu_one": lambda: T.BleuScore().update(CANDIDATE),
    "bleu_length": lambda: T.BleuScore().update(CANDIDATE, REFERENCE[:1]),
    "bleu_empty": lambda: T.BleuScore().eval(),
    "matrix": lambda: measured(T.ConfusionMatrix(3), (PRED, TRUE), (PRED, TRUE[::-1].copy())),
    "matrix_tensor": lambda: measured(T.ConfusionMatrix(3), (Tensor(PRED), Tensor(TRUE))),
    "matrix_numbers": lambda: measured(T.ConfusionMatrix(3), (TRUE, TRUE[::-1].copy())),
    "matrix_threshold": lambda: measured(
        T.ConfusionMatrix(2, threshold=0.6), (PROBABILITY, BINARY)
    ),
    "matrix_target": lambda: measured(T.ConfusionMatrix(3, "target"), (PRED, TRUE)),
    "matrix_prediction": lambda: measured(T.ConfusionMatrix(4, "prediction"), (PRED, TRUE)),
    "matrix_all": lambda: measured(T.ConfusionMatrix(3, "all"), (PRED, TRUE)),
    "matrix_normalize": lambda: T.ConfusionMatrix(3, "x"),
    "matrix_classes": lambda: T.ConfusionMatrix(3.0),
    "matrix_threshold_type": lambda: T.ConfusionMatrix(3, threshold=1),
    "matrix_dim": lambda: T.ConfusionMatrix(3).update(PRED[None], TRUE),
    "matrix_one": lambda: T.ConfusionMatrix(3).update(PRED),
    "matrix_empty": lambda: T.ConfusionMatrix(3).eval(),
    **rates(),
    "rate_skip": lambda: measured(T.ConfusionMatrixMetric(False, "acc"), (IMAGES, IMAGES_TRUE)),
    "rate_skip_sample": lambda: measured(
        T.ConfusionMatrixMetric(False, "acc", True), (IMAGES, IMAGES_TRUE)
    ),
    "rate_skip_batch": lambda: measured(
        T.ConfusionMatrixMetric(False, "acc", True, "sum_batch"), (IMAGES, IMAGES_TRUE)
    ),
    "rate_classes": lambda: measured(T.ConfusionMatrixMetric(True, "tpr"), (HOT, HOT_TRUE)),
    "rate_tensor": lambda: measured(
        T.ConfusionMatrixMetric(True, "ppv"), (Tensor(HOT), Tensor(HOT_TRUE))
    ),
    "rate_unknown": lambda: measured(T.ConfusionMatrixMetric(True, "zzz"), (HOT, HOT_TRUE)),
    "rate_none": lambda: measured(
        T.ConfusionMatrixMetric(True, "acc", True, "none"), (IMAGES, IMAGES_TRUE)
    ),
    "rate_classes_sample": lambda: T.ConfusionMatrixMetric(True, "acc", True).update(HOT, HOT_TRUE),
    "rate_values": lambda: T.ConfusionMatrixMetric().update(IMAGES, IMAGES_TRUE + 0.5),
    "rate_shape": lambda: T.ConfusionMatrixMetric().update(IMAGES, IMAGES_TRUE[:2]),
    "rate_dim": lambda: T.ConfusionMatrixMetric().update(TRUE, TRUE),
    "rate_one": lambda: T.ConfusionMatrixMetric().update(IMAGES),
    "rate_skip_type": lambda: T.ConfusionMatrixMetric(1),
    "rate_name_type": lambda: T.ConfusionMatrixMetric(True, 1),
    "rate_method_type": lambda: T.ConfusionMatrixMetric(True, "acc", 1),
    "rate_decrease": lambda: T.ConfusionMatrixMetric(True, "acc", True, "x"),
    "rate_empty": lambda: T.ConfusionMatrixMetric(True, "acc", True).eval(),
    "rate_empty_counts": lambda: str(T.ConfusionMatrixMetric(True, "acc").eval()),
    "cosine": lambda: measured(T.CosineSimilarity(), (ROWS,)),
    "cosine_tensor": lambda: measured(T.CosineSimilarity(), (Tensor(ROWS),)),
    "cosine_diagonal": lambda: measured(T.CosineSimilarity(zero_diagonal=False), (ROWS,)),
    "cosine_dot": lambda: measured(T.CosineSimilarity("dot", "sum"), (ROWS,)),
    "cosine_mean": lambda: measured(T.CosineSimilarity("cosine", "mean"), (ROWS,)),
    "cosine_kind": lambda: T.CosineSimilarity("x"),
    "cosine_reduction": lambda: T.CosineSimilarity("dot", "x"),
    "cosine_reduction_type": lambda: T.CosineSimilarity("dot", 3),
    "cosine_diagonal_type": lambda: T.CosineSimilarity(zero_diagonal=1),
    "cosine_empty": lambda: T.CosineSimilarity().eval(),
    "cosine_dim": lambda: T.CosineSimilarity().update(TRUE),
    "dice": lambda: measured(T.Dice(), (PRED, PRED[::-1].copy()), (PRED, PRED)),
    "dice_tensor": lambda: measured(T.Dice(1e-2), (Tensor(PRED), Tensor(PRED))),
    "dice_int": lambda: measured(T.Dice(), (BINARY, BINARY[::-1].copy())),
    "dice_shape": lambda: T.Dice().update(PRED, TRUE),
    "dice_one": lambda: T.Dice().update(PRED),
    "dice_smooth": lambda: T.Dice(0.0),
    "dice_smooth_type": lambda: T.Dice(1),
    "dice_empty": lambda: T.Dice().eval(),
    "perplexity": lambda: measured(T.Perplexity(), (PRED, TRUE), (PRED[:2], TRUE[:2])),
    "perplexity_tensor": lambda: measured(T.Perplexity(), (Tensor(PRED), Tensor(TRUE))),
    "perplexity_ignore": lambda: measured(T.Perplexity(0), (PRED, TRUE)),
    "perplexity_zero": lambda: measured(T.Perplexity(), (PRED * 0, TRUE)),
    "perplexity_call": lambda: number(T.Perplexity(2)(PRED, TRUE)),
    "perplexity_type": lambda: T.Perplexity(1.0),
    "perplexity_shape": lambda: T.Perplexity().update(PRED, TRUE[:2]),
    "perplexity_one": lambda: T.Perplexity().update(PRED),
    "perplexity_empty": lambda: T.Perplexity().eval(),
    "roc": lambda: measured(T.ROC(), (PROBABILITY, BINARY)),
    "roc_label": lambda: measured(T.ROC(pos_label=0), (Tensor(PROBABILITY), Tensor(BINARY))),
    "roc_one": lambda: measured(T.ROC(1), (PROBABILITY, BINARY)),
    "roc_classes": lambda: measured(
        T.ROC(4), (np.pad(PRED, ((0, 0), (0, 1)), constant_values=0.1), np.array([0, 1, 2, 3]))
    ),
    "roc_negative": lambda: measured(T.ROC(), (PROBABILITY, np.ones(6))),
    "roc_positive": lambda: measured(T.ROC(), (PROBABILITY, np.zeros(6))),
    "roc_class_num": lambda: T.ROC(2).update(PRED, TRUE),
    "roc_class_none": lambda: T.ROC().update(PRED, TRUE),
    "roc_class_same": lambda: T.ROC(3).update(PROBABILITY, BINARY),
    "roc_pos_label": lambda: T.ROC(3, 1).update(PRED, TRUE),
    "roc_dim": lambda: T.ROC(3).update(PRED[None], TRUE),
    "roc_type": lambda: T.ROC(1.0),
    "roc_label_type": lambda: T.ROC(1, "a"),
    "roc_input": lambda: T.ROC().update(PROBABILITY),
    "roc_empty": lambda: T.ROC().eval(),
    "auc": lambda: number(T.auc(np.array([0.0, 0.3, 0.3, 1.0]), np.array([0.0, 0.4, 0.6, 1.0]))),
    "auc_down": lambda: number(T.auc(np.array([1.0, 0.3, 0.1]), np.array([0.2, 0.4, 0.6]))),
    "auc_reorder": lambda: number(
        T.auc(np.array([0.5, 0.1, 0.9, 0.5]), np.array([0.4, 0.2, 0.8, 0.3]), True)
    ),
    "auc_column": lambda: number(T.auc(np.array([[0.0], [1.0]]), np.array([1.0, 3.0]))),
    "auc_order": lambda: T.auc(np.array([0.5, 0.1, 0.9]), np.array([0.4, 0.2, 0.8])),
    "auc_type": lambda: T.auc([0.0, 1.0], np.array([1.0, 2.0])),
    "auc_length": lambda: T.auc(np.array([0.0, 1.0]), np.array([1.0])),
    "auc_short": lambda: T.auc(np.array([0.0]), np.array([1.0])),
    "auc_shape": lambda: T.auc(np.ones((2, 2)), np.array([1.0, 2.0])),
    "auc_scalar": lambda: T.auc(np.array(1.0), np.array([1.0])),
    **surfaces(),
    "hausdorff_percentile": lambda: measured(
        T.HausdorffDistance("euclidean", 60.0), (FIRST, SECOND, 1)
    ),
    "hausdorff_percentile_cube": lambda: measured(
        T.HausdorffDistance("chessboard", 95.0, True), (CUBE, CUBE_2, 2)
    ),
    "hausdorff_directed": lambda: measured(T.HausdorffDistance(directed=True), (FIRST, SECOND, 1)),
    "hausdorff_back": lambda: measured(T.HausdorffDistance(directed=True), (SECOND, FIRST, 1)),
    "hausdorff_whole": lambda: measured(T.HausdorffDistance(crop=False), (LINE, SECOND, 1)),
    "hausdorff_lines_whole": lambda: measured(T.HausdorffDistance(crop=False), (LINE, LINE, 1)),
    "hausdorff_percentile_value": lambda: measured(
        T.HausdorffDistance(percentile=101.0), (FIRST, SECOND, 1)
    ),
    "hausdorff_percentile_type": lambda: T.HausdorffDistance(percentile=3),
    "hausdorff_directed_type": lambda: T.HausdorffDistance(directed=1),
    "hausdorff_crop_type": lambda: T.HausdorffDistance(crop=1),
    "mean_symmetric_type": lambda: T.MeanSurfaceDistance(1),
    "rms_symmetric_type": lambda: T.RootMeanSquareDistance(1),
    "occlusion": occluded,
    "occlusion_batch": lambda: occluded(n_batch=4),
    "occlusion_margin": lambda: occluded(margin=1),
    "occlusion_value": lambda: occluded(pad_val=0.5, label=np.array(0)),
    "occlusion_box": lambda: occluded(b_box=[0, 1, 1, 2], margin=1),
    "occlusion_box_end": lambda: occluded(b_box=[1, 1, -1, -1], margin=1),
    "occlusion_tensor": lambda: occluded(Tensor(IMAGE), Tensor(1, ms.int32)),
    "occlusion_box_length": lambda: occluded(b_box=[0, 1]),
    "occlusion_box_large": lambda: occluded(b_box=[0, 1, 0, 3]),
    "occlusion_box_order": lambda: occluded(b_box=[1, 0, 0, 1]),
    "occlusion_images": lambda: occluded(np.zeros((2, 2, 3), np.float32)),
    "occlusion_labels": lambda: occluded(label=np.array([0, 1])),
    "occlusion_model": lambda: T.OcclusionSensitivity().update(3, IMAGE, np.array(1)),
    "occlusion_two": lambda: T.OcclusionSensitivity().update(Scores(), IMAGE),
    "occlusion_pad_type": lambda: T.OcclusionSensitivity(1),
    "occlusion_margin_type": lambda: T.OcclusionSensitivity(margin=1.5),
    "occlusion_batch_type": lambda: T.OcclusionSensitivity(n_batch=1.5),
    "occlusion_box_type": lambda: T.OcclusionSensitivity(b_box=3),
    "occlusion_empty": lambda: T.OcclusionSensitivity().eval(),
    "names": T.names,
    "get_dice": lambda: measured(T.get_metric_fn("dice", smooth=0.5), (PRED, PRED)),
    "get_auc": lambda: number(T.get_metric_fn("auc", np.array([0.0, 1.0]), np.array([1.0, 2.0]))),
}
