"""Losses of classes: focused, of overlaps, of a sample of the classes."""

# The inputs of `construct` have the original's names, which differ from loss to loss.
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float16, float32, int32, int64
from mindjax.core.errors import located
from mindjax.nn.activation import get_activation
from mindjax.nn.cell import Cell
from mindjax.nn.loss.loss import DiceLoss, LossBase, check_tensors
from mindjax.tensor.tensor import Tensor

_ACTIVATIONS = ["softmax", "logsoftmax", "relu", "relu6", "tanh", "sigmoid"]


class FocalLoss(LossBase):
    """Cross entropy that counts what is predicted well for less.

    Lin and others, "Focal loss for dense object detection" (2017): -(1 - p)^gamma log p.

    Args:
        weight: weight of each class, or None.
        gamma: how much less.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        TypeError: ``gamma`` is no float or ``weight`` no Tensor.
        ValueError: ``weight`` has not one axis, or the reduction is unknown.

    MindSpore: ``nn.FocalLoss``.
    """

    def __init__(
        self, weight: Tensor | None = None, gamma: float = 2.0, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        self.gamma = checks.of_type("gamma", gamma, float, self.cls_name)
        if weight is not None:
            checks.of_type("weight", weight, Tensor, self.cls_name)
            if weight.ndim != 1:
                raise located(
                    ValueError,
                    f"For '{self.cls_name}', the dimension of 'weight' must be 1, but got "
                    f"{weight.ndim}.",
                )
        self.weight = weight

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare logits (N, C), (N, C, H) or (N, C, H, W) with labels.

        Args:
            logits: one a class.
            labels: of the same shape, a weight of each class; or with C = 1, the class itself.

        Raises:
            TypeError: an input is no Tensor, or of another dtype.
            ValueError: the shapes do not fit.
        """
        self._check(logits, labels)
        given = labels.shape[1] == 1
        spread = (logits.shape[0], logits.shape[1], -1)
        logs = ops.log_softmax(logits.reshape(spread), 1)
        targets = labels.reshape((labels.shape[0], labels.shape[1], -1))
        weight = None if self.weight is None else self.weight[None, :, None]
        if given:
            places = ops.cast(targets, int32)
            logs = ops.squeeze(ops.gather_elements(logs, 1, places), 1)
            if weight is not None:
                weight = ops.tile(weight, (targets.shape[0], 1, targets.shape[2]))
                weight = ops.squeeze(ops.gather_elements(weight, 1, places), 1)
        far = ops.pow(1.0 - ops.exp(logs), self.gamma)
        if weight is not None:
            logs = logs * weight
        if given:
            return self.get_loss((-1 * far * logs).mean(1))
        return self.get_loss((-1 * far * targets * logs).mean(-1))

    def _check(self, logits: Any, labels: Any) -> None:
        check_tensors(self.cls_name, logits=logits, labels=labels)
        dimensions = {"logits": len(logits.shape), "labels": len(labels.shape)}
        for name, count in dimensions.items():
            if not 2 <= count <= 4:
                raise located(
                    ValueError,
                    f"For '{self.cls_name}', the dimensions of '{name}' must be in [2, 4], but got "
                    f"dimension of '{name}' {count}.",
                )
        if dimensions["logits"] != dimensions["labels"]:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the dimensions of 'logits' and 'labels' must be equal, "
                f"but got {dimensions['logits']} and {dimensions['labels']}.",
            )
        classes = logits.shape[1]
        if classes == 1:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'logits'.shape[1] cannot be one, but got 1.",
            )
        if labels.shape[1] not in (1, classes):
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'labels'.shape[1] must be one or equal to "
                f"'logits'.shape[1]: {classes}, but got {labels.shape[1]}.",
            )
        if labels.dtype not in (int32, int64, float16, float32):
            raise located(
                TypeError,
                f"For '{self.cls_name}', the type of 'labels' must be Int32, Int64, Float16 or "
                f"Float32, but got {labels.dtype}.",
            )


class MultiClassDiceLoss(LossBase):
    """The mean of the overlap losses of each class (MindSpore: ``nn.MultiClassDiceLoss``).

    Args:
        weights: weight of each class (C, D), or None.
        ignore_indiex: class that does not count, or None.
        activation: name or Cell that makes probabilities of the logits, or None.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: ``weights`` has not two axes, or ``activation`` is unknown.
    """

    def __init__(
        self,
        weights: Tensor | None = None,
        ignore_indiex: int | None = None,
        activation: Any = "softmax",
    ) -> None:
        super().__init__()
        self.binarydiceloss = DiceLoss(smooth=1e-5)
        if weights is not None:
            checks.of_type("weights", weights, Tensor, self.cls_name)
            if weights.ndim != 2:
                raise located(
                    ValueError,
                    f"For '{self.cls_name}', the dimension of 'weights' must be 2, but got "
                    f"{weights.ndim}.",
                )
        if ignore_indiex is not None:
            checks.of_type("ignore_indiex", ignore_indiex, int, self.cls_name)
        if isinstance(activation, str) and activation not in _ACTIVATIONS:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'activation' must be in {_ACTIVATIONS}, but got "
                f"{activation}.",
            )
        self.weights, self.ignore_indiex = weights, ignore_indiex
        self.activation = get_activation(activation) if isinstance(activation, str) else activation
        if self.activation is not None and not isinstance(self.activation, Cell):
            raise located(
                TypeError,
                f"For '{self.cls_name}', the 'activation' must be str or Cell, but got "
                f"{type(self.activation)}.",
            )

    def construct(self, logits: Any, label: Any) -> Any:
        """Compare logits with labels of each class, both (N, C, ...).

        Raises:
            TypeError: an input is no Tensor.
            ValueError: the shapes do not fit.
        """
        check_tensors(self.cls_name, logits=logits, labels=label)
        if tuple(logits.shape) != tuple(label.shape):
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'logits_shape' must be equal to 'labels_shape', but "
                f"got {tuple(logits.shape)} and {tuple(label.shape)}.",
            )
        if len(logits.shape) < 2:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'logits' dimension must be greater than 1, but got "
                f"{len(logits.shape)}.",
            )
        classes = label.shape[1]
        if self.weights is not None and self.weights.shape[0] != classes:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'weights'.shape[0] must be equal to "
                f"'labels'.shape[1], but got {self.weights.shape[0]} and {classes}.",
            )
        if self.activation is not None:
            logits = self.activation(logits)
        total: Any = 0
        for i in range(classes):
            if i == self.ignore_indiex:
                continue
            loss = self.binarydiceloss(logits[:, i], label[:, i])
            total = total + (loss if self.weights is None else loss * self.weights[i])
        return total / classes


class SampledSoftmaxLoss(LossBase):
    """Cross entropy over the right classes and a sample of the others.

    Jean and others, "On using very large target vocabulary for neural machine translation" (2015).

    Args:
        num_sampled: how many classes are drawn for a batch.
        num_classes: how many there are.
        num_true: right classes of an example.
        sampled_values: what a candidate sampler gave: classes, expected counts of the right ones,
            expected counts of the sampled ones; None to draw uniformly.
        remove_accidental_hits: whether right classes are not drawn.
        seed: of the draw.
        reduction: checked; the losses are given as they are, as in the original.

    Raises:
        TypeError: ``sampled_values`` is no list or tuple.
        ValueError: a number does not fit, or there are not three ``sampled_values``.

    MindSpore: ``nn.SampledSoftmaxLoss``.
    """

    def __init__(
        self,
        num_sampled: int,
        num_classes: int,
        num_true: int = 1,
        sampled_values: Any = None,
        remove_accidental_hits: bool = True,
        seed: int = 0,
        reduction: str = "none",
    ) -> None:
        super().__init__(reduction)
        for name, value, least in (("num_true", num_true, 1), ("seed", seed, 0)):
            if value < least:
                raise located(
                    ValueError,
                    f"For '{self.cls_name}', the '{name}' must be greater than or equal to "
                    f"{least}, but got {value}.",
                )
        for name, value in (("num_sampled", num_sampled), ("num_true", num_true)):
            if value > num_classes:
                raise located(
                    ValueError,
                    f"For '{self.cls_name}', the '{name}' must be smaller than or equal to "
                    f"'num_classes', but got '{name}': {value} and 'num_classes': {num_classes}.",
                )
        if sampled_values is not None:
            checks.of_type("sampled_values", sampled_values, (list, tuple), self.cls_name)
            if len(sampled_values) != 3:
                raise located(
                    ValueError,
                    f"For '{self.cls_name}', the length of 'sampled_values' must be equal to 3,but "
                    f"got {len(sampled_values)}.",
                )
        self.num_sampled, self.num_classes, self.num_true = num_sampled, num_classes, num_true
        self.sampled_values = sampled_values
        self.remove_accidental_hits, self.seed = remove_accidental_hits, seed
        self.sampler = ops.UniformCandidateSampler(
            num_true, num_sampled, True, num_classes, seed, remove_accidental_hits
        )

    def construct(self, weights: Any, biases: Any, labels: Any, logits: Any) -> Any:
        """Give the loss of each example.

        Args:
            weights: of the classes (C, D).
            biases: of the classes (C,).
            labels: right classes (N, ``num_true``), Int32 or Int64.
            logits: what the weights are multiplied with (N, D).

        Raises:
            TypeError: an input is no Tensor, or ``labels`` are no integers.
        """
        check_tensors(self.cls_name, weights=weights, biases=biases, labels=labels, logits=logits)
        if labels.dtype not in (int32, int64):
            raise located(
                TypeError,
                f"For '{self.cls_name}', the type of 'labels' must be Int32 or Int64, but got "
                f"{labels.dtype}.",
            )
        labels = ops.cast(labels, int32).reshape((-1, self.num_true))
        values = self.sampler(labels) if self.sampled_values is None else self.sampled_values
        sampled, expected_true, expected_sampled = values
        sampled = ops.cast(sampled, int32)
        right = labels.reshape((-1,))
        dots = ops.expand_dims(logits, 1) * ops.gather(weights, right, 0).reshape(
            (-1, self.num_true, weights.shape[1])
        )
        true = dots.sum(2) + ops.gather(biases, right, 0).reshape((-1, self.num_true))
        others = ops.MatMul(False, True)(logits, ops.gather(weights, sampled, 0))
        others = others + ops.gather(biases, sampled, 0)
        true = true - ops.log(expected_true)
        others = others - ops.log(expected_sampled)
        predicted = ops.softmax(ops.concat((true, others), 1), 1)
        targets = ops.concat((ops.ones_like(true) / self.num_true, ops.zeros_like(others)), 1)
        return -1 * (targets * ops.log(predicted + 1.0e-20)).sum(1)
