"""Losses of classifiers and regressions."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.promotion import promote
from mindjax.ops.shape import laid_along
from mindjax.ops.softmax import log_softmax_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def reduced(x: Array, reduction: str) -> Array:
    """Take the mean, the sum or nothing of the losses of all elements."""
    if reduction == "mean":
        return jnp.mean(x)
    return jnp.sum(x) if reduction == "sum" else x


def reduction_kind(value: Any, owner: str) -> str:
    """Check the argument 'reduction' of a loss function; ValueError if it is not a known one."""
    return checks.one_of("reduction", value, ("none", "mean", "sum"), owner)


def _integers(name: str, labels: Array, owner: str) -> None:
    if labels.dtype not in (np.int32, np.int64):
        raise _not_integers(name, labels, owner)


def _not_integers(name: str, labels: Array, owner: str) -> TypeError:
    return located(
        TypeError,
        f"For primitive[{owner}], the input argument[{name}] must be a type of "
        "{Tensor[Int32], Tensor[Int64]}, but got "
        f"Tensor[{from_np(labels.dtype).name}].",
    )


def _hot(labels: Array, shape: tuple[int, ...], axis: int) -> Array:
    """Mark the labelled class along an axis; a label outside marks none."""
    place = lax.broadcasted_iota(np.int32, shape, axis)
    return place == jnp.expand_dims(labels.astype(np.int32), axis)


def _picked(x: Array, hot: Array, axis: int) -> Array:
    return jnp.sum(jnp.where(hot, x, jnp.zeros((), x.dtype)), axis)


def _of_classes(logits: Array, labels: Array) -> Array:
    """Give -log softmax at each sample's class along the last axis; 0 for a label outside.

    The class's logit is picked before the logarithm of the sum is taken from it, so that neither
    the logarithms of all classes nor their gradients are made.
    """
    axis = logits.ndim - 1
    shifted = logits - lax.stop_gradient(jnp.max(logits, axis, keepdims=True))
    total = jnp.log(jnp.sum(jnp.exp(shifted), axis))
    known = (labels >= 0) & (labels < logits.shape[axis])
    losses = total - _picked(shifted, _hot(labels, logits.shape, axis), axis)
    return jnp.where(known, losses, jnp.zeros((), logits.dtype))


class SparseSoftmaxCrossEntropyWithLogits(Primitive):
    """Mean cross entropy of logits and classes (MindSpore's operator of the same name).

    Args:
        is_grad: give the gradient with respect to the logits instead.
    """

    is_grad: bool = False

    def __post_init__(self) -> None:
        checks.boolean("is_grad", self.is_grad, self.name)

    def compute(self, logits: Array, labels: Array) -> Array:
        """Compare.

        Args:
            logits: (N, C), float.
            labels: (N,), Int32 or Int64.

        Returns:
            0-d mean, or its gradient (N, C).
        """
        owner = self.name
        checks.floating("logits_type", logits.dtype, owner)
        _integers("labels_type", labels, owner)
        if logits.ndim < 2 or logits.ndim != labels.ndim + 1 or logits.shape[:-1] != labels.shape:
            raise located(
                ValueError,
                f"For '{owner}', Labels shape value must be equal to the Features except the last "
                f"dimension of Features, but got labels shape: {labels.shape}, features shape: "
                f"{logits.shape}.",
            )
        if self.is_grad:
            axis = logits.ndim - 1
            hot = _hot(labels, logits.shape, axis)
            return (jax.nn.softmax(logits, axis) - hot.astype(logits.dtype)) / labels.size
        return jnp.mean(_of_classes(logits, labels))


class _SparseCrossEntropy(Primitive, register=False):
    """Cross entropy of logits (N, C) and classes (N,), one number a sample."""

    def compute(self, logits: Array, labels: Array) -> Array:
        owner = "SoftmaxCrossEntropyWithLogits"
        checks.floating("logits", logits.dtype, owner)
        _integers("labels", labels, owner)
        if logits.ndim != 2 or logits.shape[:1] != labels.shape:
            raise located(
                ValueError,
                f"For '{owner}', evaluator arg 'label' shape must be consistent with 'logits' "
                f"shape, but got 'label' shape: {labels.shape}, 'logits' shape: {logits.shape}.",
            )
        return _of_classes(logits, labels)


def sparse_cross_entropy(logits: Any, labels: Any) -> Any:
    """Give the cross entropy of every sample.

    Args:
        logits: (N, C), float.
        labels: (N,), Int32 or Int64.

    Returns:
        Tensor (N,).
    """
    return _SPARSE(logits, labels)


_SPARSE = _SparseCrossEntropy()


class SoftmaxCrossEntropyWithLogits(Primitive):
    """Cross entropy of logits and probabilities (MindSpore's operator of the same name)."""

    def compute(self, logits: Array, labels: Array) -> tuple[Array, Array]:
        """Compare.

        Args:
            logits: (N, C), float.
            labels: (N, C), of the same dtype.

        Returns:
            The loss (N,), and its gradient with respect to the logits (N, C).
        """
        owner = self.name
        checks.floating("logits", logits.dtype, owner)
        checks.same_dtype(owner, logits=logits.dtype, labels=labels.dtype)
        if logits.ndim != 2 or logits.shape != labels.shape:
            raise located(
                ValueError,
                f"For '{owner}', evaluator arg 'label' shape must be consistent with 'logits' "
                f"shape, but got 'label' shape: {labels.shape}, 'logits' shape: {logits.shape}.",
            )
        # MindSpore: the gradient is softmax - labels even where the labels do not sum to 1, and
        # none flows to the labels (test ce_prim_grad).
        labels = lax.stop_gradient(labels)
        shifted = logits - lax.stop_gradient(jnp.max(logits, 1, keepdims=True))
        exponentials = jnp.exp(shifted)
        total = jnp.sum(exponentials, 1)
        log_total = jnp.log(total)
        excess = lax.stop_gradient((jnp.sum(labels, 1) - 1) * log_total)
        loss = log_total + excess - jnp.sum(labels * shifted, 1)
        return loss, exponentials / total[:, None] - labels


class SigmoidCrossEntropyWithLogits(Primitive):
    """Cross entropy of two classes, element by element (MindSpore's operator of the same name)."""

    def compute(self, logits: Array, label: Array) -> Array:
        """Compare logits and probabilities of one shape and dtype."""
        checks.same_shape(self.name, logits=logits.shape, label=label.shape)
        checks.same_dtype(self.name, logits=logits.dtype, label=label.dtype)
        return jax.nn.softplus(logits) - logits * label


class _CrossEntropy(Primitive, register=False):
    """Cross entropy of (N, C, ...) and classes (N, ...), of logits or of log-probabilities."""

    reduction: str
    ignore_index: int
    label_smoothing: float
    logits: bool
    owner: str

    def compute(self, x: Array, target: Array, weight: Array | None) -> Array:
        checks.floating("input", x.dtype, self.owner)
        if target.dtype.kind not in "iu":
            raise _not_integers("target", target, self.owner)
        axis = 0 if x.ndim == 1 else 1
        if x.ndim == 0 or target.shape != x.shape[:axis] + x.shape[axis + 1 :]:
            raise located(
                ValueError,
                f"For '{self.owner}', the shape of 'input' should be (N, C, d_0, d_1, ...), and "
                f"the shape of 'target' should be (N, d_0, d_1, ...), but got 'input' shape: "
                f"{x.shape} and 'target' shape: {target.shape}.",
            )
        _check_weight(weight, x, axis, self.owner)
        logp = log_softmax_of(x, axis) if self.logits else x
        target = target.astype(np.int32)
        counted = target != np.int32(self.ignore_index)
        hot = _hot(target, x.shape, axis)
        if 0 <= self.ignore_index < x.shape[axis]:
            hot = hot & jnp.expand_dims(counted, axis)
        losses = -_picked(logp, hot, axis)
        if weight is None:
            total = jnp.sum(counted.astype(x.dtype))
            spread = logp
        else:
            factors = laid_along(weight.astype(x.dtype), x, axis)
            chosen = _picked(jnp.broadcast_to(factors, x.shape), hot, axis)
            losses, total, spread = losses * chosen, jnp.sum(chosen), logp * factors
        if self.label_smoothing > 0:
            smooth = jnp.where(counted, -jnp.sum(spread, axis), jnp.zeros((), x.dtype))
            share = self.label_smoothing / x.shape[axis]
            losses = losses * (1 - self.label_smoothing) + smooth * share
        return (
            jnp.sum(losses) / total if self.reduction == "mean" else reduced(losses, self.reduction)
        )


class _SoftCrossEntropy(Primitive, register=False):
    """Cross entropy of (N, C, ...) and probabilities of the same shape."""

    reduction: str
    label_smoothing: float
    logits: bool
    owner: str

    def compute(self, x: Array, target: Array, weight: Array | None) -> Array:
        checks.floating("input", x.dtype, self.owner)
        checks.same_shape(self.owner, input=x.shape, target=target.shape)
        axis = 0 if x.ndim == 1 else 1
        _check_weight(weight, x, axis, self.owner)
        x, target = promote(x, target)
        logp = log_softmax_of(x, axis) if self.logits else x
        if self.label_smoothing > 0:
            share = self.label_smoothing / x.shape[axis]
            target = target * (1 - self.label_smoothing) + share
        terms = logp * target
        if weight is not None:
            terms = terms * laid_along(weight.astype(x.dtype), x, axis)
        losses = -jnp.sum(terms, axis)
        return reduced(losses, self.reduction)


def _check_weight(weight: Array | None, x: Array, axis: int, owner: str) -> None:
    if weight is not None and weight.shape != (x.shape[axis],):
        raise located(
            ValueError,
            f"For '{owner}', the shape of 'weight' must be ({x.shape[axis]},), but got "
            f"{weight.shape}.",
        )


def _entropy(
    x: Any,
    target: Any,
    weight: Any,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
    logits: bool,
    owner: str,
) -> Any:
    if weight is not None and not hasattr(weight, "shape"):
        raise located(
            TypeError,
            f"For '{owner}', the 'weight' must be a Tensor, but got '{type(weight).__name__}'.",
        )
    # Log-probabilities are compared with classes alone.
    soft = logits and _is_float(getattr(target, "dtype", None))
    options = (soft, ignore_index, reduction, label_smoothing, logits, owner)
    try:
        record = _entropy_record(*options)
    except TypeError:
        # A list in the place of a number cannot be looked up: this names it.
        record = _entropy_record.__wrapped__(*options)
    return record(x, target, weight)


@functools.lru_cache(maxsize=256, typed=True)
def _entropy_record(
    soft: bool,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
    logits: bool,
    owner: str,
) -> Primitive:
    """Check the options of a cross entropy, and give its record."""
    checks.of_type("ignore_index", ignore_index, int, owner)
    reduction_kind(reduction, owner)
    if isinstance(label_smoothing, bool) or not isinstance(label_smoothing, float):
        raise located(
            TypeError,
            f"For '{owner}', the 'label_smoothing' must be float, but got "
            f"'{type(label_smoothing).__name__}'.",
        )
    if not 0 <= label_smoothing <= 1:
        raise located(
            ValueError,
            f"For '{owner}', the 'label_smoothing' must be in range of [0, 1], but got "
            f"{label_smoothing}.",
        )
    if soft:
        return _SoftCrossEntropy(reduction, label_smoothing, logits, owner)
    return _CrossEntropy(reduction, ignore_index, label_smoothing, logits, owner)


@functools.lru_cache(maxsize=64)
def _is_float(dtype: Any) -> bool:
    return dtype is not None and getattr(dtype, "np", dtype).name.startswith(("float", "bfloat"))


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Compare logits with classes or probabilities (MindSpore: ``ops.cross_entropy``).

    Args:
        input: logits (N, C, ...) or (C,), float.
        target: classes (N, ...) or 0-d, integers; or probabilities of the shape of ``input``.
        weight: weight of every class (C,), or None.
        ignore_index: class that does not count.
        reduction: ``"mean"`` (over the weights that count), ``"sum"`` or ``"none"``.
        label_smoothing: share of the uniform distribution in the target, in [0, 1].

    Returns:
        0-d Tensor, or (N, ...) for ``"none"``.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: the shapes or a value do not fit.
    """
    options = (weight, ignore_index, reduction, label_smoothing)
    return _entropy(input, target, *options, True, "cross_entropy_loss")


def nll_loss(
    inputs: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Compare log-probabilities with classes (MindSpore: ``ops.nll_loss``).

    Args:
        inputs: (N, C) or (N, C, ...), float: log-probabilities.
        target: (N,) or (N, ...), integer classes.
        weight: (C,): weight of each class; None for ones.
        ignore_index: class that does not count.
        reduction: ``"mean"`` (weighted), ``"sum"`` or ``"none"``.
        label_smoothing: part of the target spread over all classes, in [0, 1].

    Returns:
        0-d Tensor, or the losses of ``target``'s shape.

    Raises:
        TypeError: an argument has another type.
        ValueError: the shapes do not fit, or ``reduction`` is unknown.
    """
    options = (weight, ignore_index, reduction, label_smoothing)
    return _entropy(inputs, target, *options, False, "nll_loss")


class NLLLoss(Primitive):
    """Negative log-likelihood (MindSpore: ``ops.NLLLoss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        ignore_index: class that does not count.
    """

    reduction: str = "mean"
    ignore_index: int = -100

    def __post_init__(self) -> None:
        reduction_kind(self.reduction, "NLLLoss")
        checks.of_type("ignore_index", self.ignore_index, int, "NLLLoss")

    def compute(self, logits: Array, labels: Array, weight: Array) -> tuple[Array, Array]:
        """Compare.

        Args:
            logits: log-probabilities (N, C).
            labels: (N,), Int32 or Int64.
            weight: (C,).

        Returns:
            The loss, and the sum of the weights that count.
        """
        _integers("labels", labels, "NLLLoss")
        form = _CrossEntropy(self.reduction, self.ignore_index, 0.0, False, "NLLLoss")
        hot = _hot(labels, logits.shape, logits.ndim - 1)
        counted = labels.astype(np.int32) != np.int32(self.ignore_index)
        chosen = jnp.where(hot & counted[..., None], weight, jnp.zeros((), weight.dtype))
        return form.compute(logits, labels, weight), jnp.sum(chosen)


class BinaryCrossEntropy(Primitive):
    """Cross entropy of probabilities of two classes (MindSpore: ``ops.BinaryCrossEntropy``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    reduction: str = "mean"

    def __post_init__(self) -> None:
        reduction_kind(self.reduction, "BinaryCrossEntropy")

    def compute(self, logits: Array, labels: Array, weight: Array | None = None) -> Array:
        """Compare probabilities with labels of the same shape."""
        checks.floating("input", logits.dtype, "BinaryCrossEntropy")
        checks.same_shape("BinaryCrossEntropy", input=logits.shape, target=labels.shape)
        logits, labels = promote(logits, labels)
        least = np.asarray(1e-12 if logits.dtype.itemsize > 2 else 1e-7, logits.dtype)
        losses = -(
            labels * jnp.log(jnp.maximum(logits, least))
            + (1 - labels) * jnp.log(jnp.maximum(1 - logits, least))
        )
        if weight is not None:
            losses = losses * weight
        return reduced(losses, self.reduction)


def binary_cross_entropy(
    logits: Any, labels: Any, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """Compare probabilities with labels of two classes (MindSpore: ``ops.binary_cross_entropy``).

    Args:
        logits: probabilities in [0, 1], any shape.
        labels: the same shape.
        weight: broadcasts to the shape, or None.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or the shape of ``logits`` for ``"none"``.

    Raises:
        ValueError: the shapes or the reduction do not fit.
    """
    return BinaryCrossEntropy(reduction)(logits, labels, weight)


class BCEWithLogitsLoss(Primitive):
    """Cross entropy of logits of two classes (MindSpore: ``ops.BCEWithLogitsLoss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    reduction: str = "mean"

    def __post_init__(self) -> None:
        reduction_kind(self.reduction, "BCEWithLogitsLoss")

    def compute(
        self,
        input: Array,
        target: Array,
        weight: Array | None = None,
        pos_weight: Array | None = None,
    ) -> Array:
        """Compare logits with labels of the same shape; both weights broadcast to it."""
        checks.floating("input", input.dtype, "BCEWithLogitsLoss")
        if input.shape != target.shape:
            raise located(
                ValueError,
                "For 'BCEWithLogitsLoss', two inputs 'input' and 'target' shape are not equal, "
                f"'input' shape: {input.shape}, 'target' shape: {target.shape}.",
            )
        x, y = promote(input, target)
        if pos_weight is None:
            losses = jax.nn.softplus(x) - x * y
        else:
            losses = (1 - y) * x + ((pos_weight - 1) * y + 1) * jax.nn.softplus(-x)
        if weight is not None:
            losses = losses * weight
        return reduced(losses, self.reduction)


def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    pos_weight: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Compare logits with labels of two classes.

    MindSpore: ``ops.binary_cross_entropy_with_logits``.

    Args:
        input: logits, any shape.
        target: the same shape.
        weight: broadcasts to the shape, or None.
        pos_weight: weight of positive labels, broadcasts to the shape, or None.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or the shape of ``input`` for ``"none"``.

    Raises:
        ValueError: the shapes or the reduction do not fit.
    """
    return BCEWithLogitsLoss(reduction)(input, target, weight, pos_weight)


class _Difference(Primitive, register=False):
    """Base of losses of the difference of two arrays that broadcast."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def difference(self, x: Array, y: Array) -> Array:
        """Subtract, after implicit conversion."""
        try:
            jnp.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            raise located(
                ValueError,
                f"For 'SubExt' in '{self.name}', input.shape and other.shape need to broadcast, "
                f"but got input.shape = {x.shape} and other.shape = {y.shape}.",
            ) from None
        x, y = promote(x, y)
        return x - y


class MSELossExt(_Difference):
    """Squared difference (MindSpore: ``mint.nn.functional.mse_loss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    reduction: str = "mean"

    def compute(self, x: Array, y: Array) -> Array:
        """Compare two arrays that broadcast."""
        return reduced(jnp.square(self.difference(x, y)), self.reduction)


class L1LossExt(_Difference):
    """Absolute difference (MindSpore: ``mint.nn.functional.l1_loss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    reduction: str = "mean"

    def compute(self, x: Array, y: Array) -> Array:
        """Compare two arrays that broadcast."""
        return reduced(jnp.abs(self.difference(x, y)), self.reduction)


def _tensors(owner: str, **values: Any) -> None:
    for name, value in values.items():
        if not hasattr(value, "shape"):
            raise located(
                TypeError,
                f"For {owner}, the `{name}` must be tensor, but got {type(value).__name__}.",
            )


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Square the difference (MindSpore: ``ops.mse_loss``).

    Args:
        input: any shape.
        target: a shape that broadcasts with it.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or the common shape for ``"none"``.

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: the shapes or the reduction do not fit.
    """
    _tensors("ops.mse_loss", input=input, target=target)
    if reduction not in checks.REDUCTIONS:
        raise located(
            ValueError,
            "For ops.mse_loss, `reduction` value should be either 'mean', 'none' or 'sum', but "
            f"got {reduction!r}.",
        )
    return MSELossExt(reduction)(input, target)


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Take the absolute difference (MindSpore: ``ops.l1_loss``).

    Args:
        input: any shape.
        target: shape that broadcasts with ``input``'s.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or the losses of the broadcast shape.

    Raises:
        TypeError: an input is no Tensor.
        ValueError: the shapes do not fit, or ``reduction`` is unknown.
    """
    _tensors("ops.l1_loss", input=input, target=target)
    return L1LossExt(reduction_kind(reduction, "l1_loss"))(input, target)


class SmoothL1Loss(_Difference):
    """Absolute difference, squared below beta (Girshick 2015; MindSpore: ``ops.SmoothL1Loss``).

    Args:
        beta: where the square goes over into the absolute value, at least 0.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    beta: float = 1.0
    reduction: str = "none"

    def __post_init__(self) -> None:
        checks.of_type("beta", self.beta, (float, int), "SmoothL1Loss")
        reduction_kind(self.reduction, "SmoothL1Loss")
        if self.beta < 0:
            raise located(
                RuntimeError,
                "For 'SmoothL1Loss', the values for beta not support negative values, but got "
                f"{self.beta}.",
            )

    def compute(self, x: Array, y: Array) -> Array:
        """Compare two arrays of one shape."""
        checks.same_shape("SmoothL1Loss", prediction=x.shape, target=y.shape)
        difference = self.difference(x, y)
        size = jnp.abs(difference)
        if self.beta == 0:
            return reduced(size, self.reduction)
        beta = np.asarray(self.beta, size.dtype)
        half = np.asarray(0.5, size.dtype)
        square = half / beta * jnp.square(difference)
        return reduced(jnp.where(size < beta, square, size - half * beta), self.reduction)


def smooth_l1_loss(input: Any, target: Any, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """Take the absolute difference, squared below beta (MindSpore: ``ops.smooth_l1_loss``).

    Args:
        input: any shape.
        target: the same shape.
        beta: where the square goes over into the absolute value.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or the shape of ``input`` for ``"none"``.

    Raises:
        RuntimeError: ``beta`` is negative.
        ValueError: the shapes or the reduction do not fit.
    """
    return SmoothL1Loss(beta, reduction)(input, target)


class _Huber(_Difference, register=False):
    """Square below delta, delta times the absolute value above."""

    reduction: str
    delta: float

    def compute(self, x: Array, y: Array) -> Array:
        difference = self.difference(x, y)
        size, delta = jnp.abs(difference), np.asarray(self.delta, difference.dtype)
        half = np.asarray(0.5, size.dtype)
        far = delta * (size - half * delta)
        return reduced(jnp.where(size < delta, half * jnp.square(difference), far), self.reduction)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Square small differences and take the size of large ones (MindSpore: ``ops.huber_loss``).

    Args:
        input: any shape.
        target: a shape that broadcasts with it.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        delta: where the one goes over into the other, above 0.

    Returns:
        0-d Tensor, or the common shape for ``"none"``.

    Raises:
        ValueError: the shapes, the reduction or ``delta`` do not fit.
    """
    reduction_kind(reduction, "huber_loss")
    checks.of_type("delta", delta, (float, int), "huber_loss")
    if delta <= 0:
        raise located(
            ValueError, f"For 'huber_loss', the argument 'delta' must > 0.0, but got {delta}."
        )
    return _Huber(reduction, checks.number("delta", delta, "huber_loss"))(input, target)


class KLDivLoss(Primitive):
    """Divergence of log-probabilities from probabilities (MindSpore: ``ops.KLDivLoss``).

    Args:
        reduction: ``"mean"``, ``"batchmean"``, ``"sum"`` or ``"none"``.
    """

    reduction: str = "mean"

    def __post_init__(self) -> None:
        choices = ("none", "mean", "batchmean", "sum")
        checks.one_of("reduction", self.reduction, choices, "KLDivLoss")

    def compute(self, logits: Array, labels: Array) -> Array:
        """Compare; labels that are not above 0 count as 0."""
        checks.same_shape("KLDivLoss", logits=logits.shape, labels=labels.shape)
        checks.same_dtype("KLDivLoss", logits=logits.dtype, labels=labels.dtype)
        known = labels > 0
        safe = jnp.where(known, labels, jnp.ones((), labels.dtype))
        terms = jnp.where(known, labels * (jnp.log(safe) - logits), jnp.zeros((), logits.dtype))
        return _batch_reduced(terms, self.reduction)


class _KLDivLog(Primitive, register=False):
    """Divergence of log-probabilities from log-probabilities."""

    reduction: str

    def compute(self, logits: Array, labels: Array) -> Array:
        checks.same_shape("kl_div", logits=logits.shape, labels=labels.shape)
        return _batch_reduced(jnp.exp(labels) * (labels - logits), self.reduction)


def _batch_reduced(x: Array, reduction: str) -> Array:
    if reduction == "batchmean":
        return jnp.sum(x) / (x.shape[0] if x.ndim else 1)
    return reduced(x, reduction)


def kl_div(logits: Any, labels: Any, reduction: str = "mean") -> Tensor:
    """Measure how log-probabilities diverge from probabilities (MindSpore: ``ops.kl_div``).

    Args:
        logits: log-probabilities, any shape.
        labels: probabilities, the same shape and dtype.
        reduction: ``"mean"``, ``"batchmean"`` (sum over the first size), ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or the shape of ``logits`` for ``"none"``.

    Raises:
        ValueError: the shapes or the reduction do not fit.
    """
    return KLDivLoss(reduction)(logits, labels)


def kl_div_log(logits: Any, labels: Any, reduction: str) -> Any:
    """Measure how log-probabilities diverge from log-probabilities; arguments as `kl_div`."""
    checks.one_of("reduction", reduction, ("none", "mean", "batchmean", "sum"), "kl_div")
    return _KLDivLog(reduction)(logits, labels)


class L2Loss(Primitive):
    """Half the sum of squares (MindSpore: ``ops.L2Loss``)."""

    def compute(self, x: Array) -> Array:
        """Sum a float array of any shape up."""
        checks.floating("x", x.dtype, "L2Loss")
        return jnp.sum(jnp.square(x)) / 2
