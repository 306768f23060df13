"""Losses of classifiers and regressions as Cells."""

# The inputs of `construct` have the original's names, which differ from loss to loss.
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

import functools
from typing import Any, ClassVar

from mindjax.core import checks
from mindjax.core.dtype import bool_, float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops import loss as ops
from mindjax.ops.arithmetic import Mul, mul
from mindjax.ops.cast import Cast, cast
from mindjax.ops.exponential import sqrt
from mindjax.ops.reduction import ReduceMean, ReduceSum, mean, sum
from mindjax.tensor.tensor import Tensor


def check_tensors(owner: str, **values: Any) -> None:
    """Check that inputs are Tensors or arrays; TypeError otherwise."""
    for name, value in values.items():
        if not hasattr(value, "shape") or not hasattr(value, "dtype"):
            raise located(
                TypeError,
                f"For '{owner}', the '{name}' must be a Tensor, but got '{type(value).__name__}'.",
            )


@functools.lru_cache(maxsize=64)
def _is_integer(dtype: Any) -> bool:
    return "int" in str(dtype).lower()


def _check_weight(owner: str, **weights: Any) -> None:
    for name, value in weights.items():
        if value is not None:
            checks.of_type(name, value, Tensor, owner)


class LossBase(Cell):
    """Base of losses: subclasses compute one loss an element and call `get_loss`.

    MindSpore: ``nn.LossBase``.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        ValueError: the reduction is unknown.
    """

    # MindSpore: what losses of libraries find here.
    reduce_mean: ClassVar[Any] = ReduceMean()
    reduce_sum: ClassVar[Any] = ReduceSum()
    mul: ClassVar[Any] = Mul()
    cast: ClassVar[Any] = Cast()

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = checks.reduction(reduction, self.cls_name)
        self.average = reduction == "mean"
        self.reduce = reduction != "none"

    def get_axis(self, x: Any) -> tuple[int, ...]:
        """Give all axes of a Tensor."""
        return tuple(range(len(x.shape)))

    def get_loss(self, x: Any, weights: Any = 1.0) -> Any:
        """Weight and reduce losses.

        Args:
            x: losses, any shape.
            weights: number or Tensor that broadcasts to them.

        Returns:
            0-d Tensor, or the losses for ``"none"``, of the dtype of ``x``.
        """
        dtype = x.dtype
        if isinstance(weights, int | float) and weights == 1:
            x = cast(x, float32)
        else:
            x = mul(cast(x, float32), weights)
        if self.reduce:
            x = mean(x, self.get_axis(x)) if self.average else sum(x, self.get_axis(x))
        return cast(x, dtype)

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compute the loss; subclasses define it.

        Raises:
            NotImplementedError: always.
        """
        raise located(
            NotImplementedError, f"For '{self.cls_name}', the method 'construct' is not defined."
        )


class MSELoss(LossBase):
    """Squared difference (MindSpore: ``nn.MSELoss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare two Tensors that broadcast."""
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.mse_loss(logits, labels, self.reduction)


class RMSELoss(LossBase):
    """Root of the mean squared difference (MindSpore: ``nn.RMSELoss``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, logits: Any, label: Any) -> Any:
        """Compare two Tensors that broadcast."""
        check_tensors(self.cls_name, logits=logits, label=label)
        return sqrt(ops.mse_loss(logits, label))


class L1Loss(LossBase):
    """Absolute difference (MindSpore: ``nn.L1Loss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare two Tensors that broadcast."""
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.l1_loss(logits, labels, self.reduction)


class MAELoss(LossBase):
    """Absolute difference (MindSpore: ``nn.MAELoss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def construct(self, logits: Any, label: Any) -> Any:
        """Compare two Tensors that broadcast."""
        check_tensors(self.cls_name, logits=logits, label=label)
        return ops.l1_loss(logits, label, self.reduction)


class SmoothL1Loss(LossBase):
    """Absolute difference, squared below beta (Girshick 2015; MindSpore: ``nn.SmoothL1Loss``).

    Args:
        beta: where the square goes over into the absolute value.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.beta = beta
        self.smooth_l1_loss = ops.SmoothL1Loss(beta, reduction)

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare two Tensors of one shape."""
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return self.smooth_l1_loss(logits, labels)


class HuberLoss(LossBase):
    """Square of small differences, size of large ones (Huber 1964; MindSpore: ``nn.HuberLoss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        delta: where the one goes over into the other.
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = delta

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare two Tensors that broadcast."""
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.huber_loss(logits, labels, self.reduction, self.delta)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropy of logits (MindSpore: ``nn.SoftmaxCrossEntropyWithLogits``).

    Args:
        sparse: labels are classes (N,), not probabilities (N, C).
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        TypeError: ``sparse`` is not a bool.
        ValueError: the reduction is unknown.
    """

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = checks.boolean("sparse", sparse, self.cls_name)
        self.sparse_softmax_cross_entropy = ops.SparseSoftmaxCrossEntropyWithLogits()
        self.softmax_cross_entropy = ops.SoftmaxCrossEntropyWithLogits()

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare logits (N, C) with labels."""
        check_tensors(self.cls_name, logits=logits, labels=labels)
        if self.sparse:
            if self.reduction == "mean":
                return self.sparse_softmax_cross_entropy(logits, labels)
            return self.get_loss(ops.sparse_cross_entropy(logits, labels))
        return self.get_loss(self.softmax_cross_entropy(logits, labels)[0])


class CrossEntropyLoss(LossBase):
    """Cross entropy of logits and classes or probabilities (MindSpore: ``nn.CrossEntropyLoss``).

    Args:
        weight: weight of every class, Tensor (C,), or None.
        ignore_index: class that does not count.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        label_smoothing: share of the uniform distribution in the target, in [0, 1].

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction)
        _check_weight(self.cls_name, weight=weight)
        self.weight = weight
        self.ignore_index = checks.of_type("ignore_index", ignore_index, int, self.cls_name)
        checks.of_type("label_smoothing", label_smoothing, float, self.cls_name)
        self.label_smoothing = checks.float_in_range(
            "label_smoothing", label_smoothing, 0, 1, self.cls_name
        )

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare logits (N, C, ...) with classes (N, ...) or probabilities (N, C, ...)."""
        owner = self.cls_name
        if not isinstance(logits, Tensor) or not isinstance(labels, Tensor):
            check_tensors(owner, logits=logits, labels=labels)
        shape, classes = logits.value_shape, labels.value_shape
        # MindSpore: the ranks tell what the labels are, whose dtype is looked at before the shape.
        if len(classes) == len(shape):
            if _is_integer(labels.dtype) or labels.dtype == bool_:
                raise located(
                    TypeError,
                    f"For '{owner}', the 'labels' should be Float16 or Float32, as they have the "
                    f"rank of 'logits', but got '{labels.dtype!r}'.",
                )
        elif len(classes) == len(shape) - 1 and not _is_integer(labels.dtype):
            raise located(
                TypeError,
                f"For '{owner}', the 'labels' should be Int32 or Int64, but got "
                f"'{labels.dtype!r}'.",
            )
        axis = 0 if len(shape) == 1 else 1
        if classes != shape and (not shape or classes != shape[:axis] + shape[axis + 1 :]):
            raise located(
                ValueError,
                f"For '{owner}', the shape of 'logits' should be (N, C, d_0, d_1, ...), and "
                "the shape of 'labels' should be (N, d_0, d_1, ...), but get 'logits' shape: "
                f"{shape} and 'labels' shape: {classes}.",
            )
        options = (self.weight, self.ignore_index, self.reduction, self.label_smoothing)
        return ops.cross_entropy(logits, labels, *options)


class NLLLoss(LossBase):
    """Negative log-likelihood of classes (MindSpore: ``nn.NLLLoss``).

    Args:
        weight: weight of every class, Tensor (C,), or None.
        ignore_index: class that does not count.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        _check_weight(self.cls_name, weight=weight)
        self.weight = weight
        self.ignore_index = checks.of_type("ignore_index", ignore_index, int, self.cls_name)

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare log-probabilities (N, C, ...) with classes (N, ...)."""
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class BCELoss(LossBase):
    """Cross entropy of probabilities of two classes (MindSpore: ``nn.BCELoss``).

    Args:
        weight: Tensor that broadcasts to the losses, or None.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        _check_weight(self.cls_name, weight=weight)
        self.weight = weight
        self.binary_cross_entropy = ops.BinaryCrossEntropy(reduction)

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare probabilities with labels of one shape."""
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return self.binary_cross_entropy(logits, labels, self.weight)


class BCEWithLogitsLoss(LossBase):
    """Cross entropy of logits of two classes (MindSpore: ``nn.BCEWithLogitsLoss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        weight: Tensor that broadcasts to the losses, or None.
        pos_weight: weight of positive labels, Tensor that broadcasts, or None.
    """

    def __init__(self, reduction: str = "mean", weight: Any = None, pos_weight: Any = None) -> None:
        super().__init__(reduction)
        _check_weight(self.cls_name, weight=weight, pos_weight=pos_weight)
        self.weight, self.pos_weight = weight, pos_weight
        self.bce_with_logits_loss = ops.BCEWithLogitsLoss(reduction)

    def construct(self, input: Any, target: Any) -> Any:
        """Compare logits with labels of one shape."""
        check_tensors(self.cls_name, input=input, target=target)
        return self.bce_with_logits_loss(input, target, self.weight, self.pos_weight)


class KLDivLoss(LossBase):
    """Divergence of log-probabilities from probabilities (MindSpore: ``nn.KLDivLoss``).

    Args:
        reduction: ``"mean"``, ``"batchmean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.kldiv_loss = ops.KLDivLoss(reduction)
        self.reduction = reduction

    def construct(self, logits: Any, labels: Any) -> Any:
        """Compare two Tensors of one shape."""
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return self.kldiv_loss(logits, labels)


class DiceLoss(LossBase):
    """1 - twice the overlap over the sum of squares (Milletari 2016; MindSpore: ``nn.DiceLoss``).

    Args:
        smooth: added to the denominator, above 0.
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = checks.float_in_range("smooth", smooth, 0, float("inf"), self.cls_name, "()")

    def construct(self, logits: Any, label: Any) -> Any:
        """Compare two Tensors of one shape."""
        check_tensors(self.cls_name, logits=logits, label=label)
        checks.same_shape(self.cls_name, logits=tuple(logits.shape), label=tuple(label.shape))
        overlap = sum(logits * label)
        squares = sum(logits * logits) + sum(label * label)
        return 1 - 2 * overlap / (squares + self.smooth)
