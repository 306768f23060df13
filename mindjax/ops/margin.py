"""Losses with margins and of distributions; those of plain classifiers live in `loss`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.gather import check_range
from mindjax.ops.loss import reduced, reduction_kind
from mindjax.ops.shape import shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def _zero(x: Array) -> Array:
    return jnp.zeros((), x.dtype)


class _CosineEmbedding(Primitive, register=False):
    """1 - cosine for target 1, cosine above the margin for target -1."""

    margin: float
    reduction: str

    def compute(self, x: Array, y: Array, target: Array) -> Array:
        checks.same_shape("cosine_embedding_loss", input1=x.shape, input2=y.shape)
        if target.shape != x.shape[:1] + x.shape[2:]:
            raise located(
                ValueError,
                f"For 'cosine_embedding_loss', the shape of 'target' must be "
                f"{x.shape[:1] + x.shape[2:]}, but got {target.shape}.",
            )
        least = np.asarray(1e-12, x.dtype)
        product = jnp.sum(x * y, 1)
        squares = (jnp.sum(jnp.square(x), 1) + least) * (jnp.sum(jnp.square(y), 1) + least)
        cosine = product / jnp.sqrt(squares)
        apart = jnp.maximum(cosine - np.asarray(self.margin, x.dtype), _zero(x))
        losses = jnp.where(target == 1, 1 - cosine, jnp.where(target == -1, apart, _zero(x)))
        return reduced(losses, self.reduction)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Bring pairs together or apart by their cosine (MindSpore: ``ops.cosine_embedding_loss``).

    Args:
        input1: (N, D, ...), float.
        input2: the same shape.
        target: 1 for together, -1 for apart, the shape without axis 1.
        margin: cosine up to which pairs are apart enough, in [-1, 1].
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or the shape of ``target`` for ``"none"``.

    Raises:
        ValueError: the shapes, the margin or the reduction do not fit.
    """
    checks.of_type("margin", margin, (float, int), "ops.cosine_embedding_loss")
    if not -1 <= margin <= 1:
        raise located(
            ValueError,
            "For ops.cosine_embedding_loss, the value of 'margin' should be in [-1, 1],but got "
            f"{margin}.",
        )
    record = _CosineEmbedding(
        checks.number("margin", margin, "cosine_embedding_loss"),
        reduction_kind(reduction, "cosine_embedding_loss"),
    )
    return record(input1, input2, target)


class _MarginRanking(Primitive, register=False):
    """max(0, -target (x - y) + margin)."""

    margin: float
    reduction: str

    def compute(self, x: Array, y: Array, target: Array) -> Array:
        losses = -target.astype(x.dtype) * (x - y) + np.asarray(self.margin, x.dtype)
        return reduced(jnp.maximum(losses, _zero(x)), self.reduction)


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Rank the first input above the second where the target is 1, below where it is -1.

    MindSpore: ``ops.margin_ranking_loss``.

    Args:
        input1: any shape, float.
        input2: the same shape.
        target: 1 or -1, the same shape.
        margin: difference that is enough.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or the inputs' shape for ``"none"``.

    Raises:
        ValueError: the reduction is unknown.
    """
    owner = "margin_ranking_loss"
    checks.of_type("margin", margin, (float, int), owner)
    return _MarginRanking(checks.number("margin", margin, owner), reduction_kind(reduction, owner))(
        input1, input2, target
    )


class SoftMarginLoss(Primitive):
    """log(1 + exp(-target x)) (MindSpore: ``ops.SoftMarginLoss``).

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    reduction: str = "mean"

    def __post_init__(self) -> None:
        reduction_kind(self.reduction, "SoftMarginLoss")

    def compute(self, predict: Array, label: Array) -> Array:
        """Compare two arrays of one shape."""
        checks.same_shape("SoftMarginLoss", predict=predict.shape, label=label.shape)
        return reduced(jax.nn.softplus(-label.astype(predict.dtype) * predict), self.reduction)


def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Take log(1 + exp(-target * input)) (MindSpore: ``ops.soft_margin_loss``).

    Args:
        input: any shape, float.
        target: 1 or -1, the same shape.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or the shape of ``input`` for ``"none"``.

    Raises:
        ValueError: the shapes or the reduction do not fit.
    """
    return SoftMarginLoss(reduction)(input, target)


class _HingeEmbedding(Primitive, register=False):
    """x for target 1, max(0, margin - x) for target -1."""

    margin: float
    reduction: str

    def compute(self, x: Array, target: Array) -> Array:
        apart = jnp.maximum(np.asarray(self.margin, x.dtype) - x, _zero(x))
        zero = _zero(x)
        losses = jnp.where(target == -1, zero, x) + jnp.where(target == 1, zero, apart)
        return reduced(losses, self.reduction)


def hinge_embedding_loss(
    inputs: Any, targets: Any, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """Make distances small where the target is 1 and large where it is -1.

    MindSpore: ``ops.hinge_embedding_loss``.

    Args:
        inputs: distances, any shape.
        targets: 1 or -1, the same shape.
        margin: distance that is enough.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or the shape of ``inputs`` for ``"none"``.

    Raises:
        ValueError: the reduction is unknown.
    """
    owner = "hinge_embedding_loss"
    checks.of_type("margin", margin, (float, int), owner)
    return _HingeEmbedding(
        checks.number("margin", margin, owner), reduction_kind(reduction, owner)
    )(inputs, targets)


class _TripletMargin(Primitive, register=False):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm."""

    margin: float
    p: float
    eps: float
    swap: bool
    reduction: str

    def compute(self, anchor: Array, positive: Array, negative: Array) -> Array:
        margin = jnp.asarray(self.margin, anchor.dtype)
        norm = (self.p, self.eps, self.swap)
        return reduced(triplet_losses(anchor, positive, negative, margin, *norm), self.reduction)


def triplet_losses(
    anchor: Array,
    positive: Array,
    negative: Array,
    margin: Array,
    p: float,
    eps: float,
    swap: bool,
) -> Array:
    """Give max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm of axis 1."""

    def distance(x: Array, y: Array) -> Array:
        size = jnp.abs(x - y + np.asarray(eps, x.dtype))
        total = jnp.sum(size ** np.asarray(p, x.dtype), 1)
        return total ** np.asarray(1 / p, x.dtype)

    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = jnp.minimum(far, distance(positive, negative))
    return jnp.maximum(near - far + margin, _zero(near))


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: int = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Bring anchors nearer to positives than to negatives (MindSpore: ``ops.triplet_margin_loss``).

    Args:
        anchor: (N, D, ...), float.
        positive: the same shape.
        negative: the same shape.
        margin: difference of distances that is enough.
        p: exponent of the norm.
        eps: added to every difference.
        swap: take the smaller of the negative's distances to anchor and positive.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or (N, ...) for ``"none"``.

    Raises:
        ValueError: the reduction is unknown.
    """
    owner = "triplet_margin_loss"
    checks.boolean("swap", swap, owner)
    for name, value in (("margin", margin), ("p", p), ("eps", eps)):
        checks.of_type(name, value, (float, int), owner)
    record = _TripletMargin(
        checks.number("margin", margin, owner),
        checks.number("p", p, owner),
        checks.number("eps", eps, owner),
        swap,
        reduction_kind(reduction, owner),
    )
    return record(anchor, positive, negative)


class _GaussianNLL(Primitive, register=False):
    """(log var + (x - target)^2 / var) / 2, and a constant if full."""

    full: bool
    eps: float
    reduction: str

    def compute(self, x: Array, target: Array, var: Array) -> Array:
        if var.shape != x.shape and var.shape == x.shape[:-1]:
            # One variance for all of the last axis.
            var = jnp.expand_dims(var, -1)
        floor = np.asarray(self.eps, var.dtype)
        safe = jnp.maximum(var, floor)
        losses = (jnp.log(safe) + jnp.square(x - target) / safe) / 2
        if self.full:
            losses = losses + np.asarray(0.5 * np.log(2 * np.pi), losses.dtype)
        return reduced(losses, self.reduction)


def gaussian_nll_loss(
    x: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Measure likelihood under normal distributions (MindSpore: ``ops.gaussian_nll_loss``).

    Args:
        x: means, any shape.
        target: a shape that broadcasts with it.
        var: variances, a shape that broadcasts with it, or that of ``x`` without its last axis.
        full: add the constant term.
        eps: smallest variance.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or the common shape for ``"none"``.

    Raises:
        ValueError: ``eps`` or the reduction does not fit.
    """
    owner = "gaussian_nll_loss"
    checks.boolean("full", full, owner)
    checks.float_in_range("eps", eps, 0, float("inf"), owner, "()")
    return _GaussianNLL(full, checks.number("eps", eps, owner), reduction_kind(reduction, owner))(
        x, target, var
    )


class _PoissonNLL(Primitive, register=False):
    """Likelihood of counts under Poisson distributions."""

    log_input: bool
    full: bool
    eps: float
    reduction: str

    def compute(self, x: Array, target: Array) -> Array:
        if self.log_input:
            losses = jnp.exp(x) - target * x
        else:
            losses = x - target * jnp.log(x + np.asarray(self.eps, x.dtype))
        if self.full:
            safe = jnp.maximum(target, jnp.ones((), target.dtype))
            half = jnp.log(np.asarray(2 * np.pi, safe.dtype) * safe) / 2
            stirling = safe * jnp.log(safe) - safe + half
            losses = losses + jnp.where(target > 1, stirling, _zero(losses))
        return reduced(losses, self.reduction)


def poisson_nll_loss(
    input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: str
) -> Any:
    """Measure the likelihood of counts under Poisson distributions.

    Args:
        input: logarithms of the rates, or the rates.
        target: counts, the same shape.
        log_input: whether ``input`` is logarithms.
        full: add Stirling's term.
        eps: added to rates before their logarithm.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or the shape of ``input`` for ``"none"``.
    """
    record = _PoissonNLL(
        log_input,
        full,
        checks.number("eps", eps, "poisson_nll_loss"),
        reduction_kind(reduction, "PoissonNLLLoss"),
    )
    return record(input, target)


class _MultiMargin(Primitive, register=False):
    """Mean over classes of max(0, margin - x[y] + x[i]) ** p."""

    p: int
    margin: float
    reduction: str

    def compute(self, x: Array, target: Array, weight: Array | None) -> Array:
        if x.ndim != 2 or target.shape != x.shape[:1]:
            raise located(
                ValueError,
                "For 'multi_margin_loss', the shapes of 'input' and 'target' must be (N, C) and "
                f"(N,), but got {x.shape} and {target.shape}.",
            )
        place = lax.broadcasted_iota(np.int32, x.shape, 1)
        hot = place == target.astype(np.int32)[:, None]
        right = jnp.sum(jnp.where(hot, x, _zero(x)), 1, keepdims=True)
        terms = jnp.maximum(np.asarray(self.margin, x.dtype) - right + x, _zero(x))
        terms = jnp.square(terms) if self.p == 2 else terms
        if weight is not None:
            terms = terms * jnp.sum(jnp.where(hot, weight, _zero(weight)), 1, keepdims=True)
        losses = jnp.sum(jnp.where(hot, _zero(x), terms), 1) / x.shape[1]
        return reduced(losses, self.reduction)


def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1,
    weight: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Raise the right class above the others by a margin (MindSpore: ``ops.multi_margin_loss``).

    Args:
        input: (N, C), float.
        target: (N,), integers.
        p: exponent, 1 or 2.
        margin: difference that is enough.
        weight: weight of every class (C,), or None.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or (N,) for ``"none"``.

    Raises:
        ValueError: the shapes, ``p`` or the reduction do not fit.
    """
    owner = "multi_margin_loss"
    if p not in (1, 2):
        raise located(ValueError, f"For '{owner}', the 'p' must be 1 or 2, but got {p}.")
    checks.of_type("margin", margin, (float, int), owner)
    shape = shape_of(input)
    if shape:
        check_range(owner, target, shape[-1], ValueError)
    return _MultiMargin(
        p, checks.number("margin", margin, owner), reduction_kind(reduction, owner)
    )(input, target, weight)


class _MultilabelSoftMargin(Primitive, register=False):
    """Mean over classes of the cross entropy of two classes."""

    reduction: str

    def compute(self, x: Array, target: Array, weight: Array | None) -> Array:
        owner = "multilabel_soft_margin_loss"
        checks.same_shape(owner, input=x.shape, target=target.shape)
        terms = jax.nn.softplus(x) - x * target
        if weight is not None:
            terms = terms * weight
        return reduced(jnp.mean(terms, terms.ndim - 1), self.reduction)


def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """Compare logits with several truths a sample.

    MindSpore: ``ops.multilabel_soft_margin_loss``.

    Args:
        input: (N, C), float.
        target: (N, C), 0 or 1.
        weight: weight of every class (C,), or None.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or (N,) for ``"none"``.

    Raises:
        ValueError: the shapes or the reduction do not fit.
    """
    owner = "multilabel_soft_margin_loss"
    return _MultilabelSoftMargin(reduction_kind(reduction, owner))(input, target, weight)
