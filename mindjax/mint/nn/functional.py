"""The PyTorch-flavoured functions of networks: ops with ``dim`` and ``inplace``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.mint.convolution import conv1d as conv1d
from mindjax.mint.convolution import conv2d as conv2d
from mindjax.mint.convolution import conv3d as conv3d
from mindjax.mint.creation import one_hot as one_hot
from mindjax.mint.nn.windows import adaptive_avg_pool1d as adaptive_avg_pool1d
from mindjax.mint.nn.windows import adaptive_avg_pool2d as adaptive_avg_pool2d
from mindjax.mint.nn.windows import adaptive_avg_pool3d as adaptive_avg_pool3d
from mindjax.mint.nn.windows import adaptive_max_pool1d as adaptive_max_pool1d
from mindjax.mint.nn.windows import adaptive_max_pool2d as adaptive_max_pool2d
from mindjax.mint.nn.windows import avg_pool1d as avg_pool1d
from mindjax.mint.nn.windows import avg_pool2d as avg_pool2d
from mindjax.mint.nn.windows import avg_pool3d as avg_pool3d
from mindjax.mint.nn.windows import fold as fold
from mindjax.mint.nn.windows import interpolate as interpolate
from mindjax.mint.nn.windows import max_pool2d as max_pool2d
from mindjax.mint.nn.windows import max_unpool2d as max_unpool2d
from mindjax.mint.nn.windows import unfold as unfold
from mindjax.mint.nn.windows import upsample as upsample
from mindjax.mint.shape import flatten as flatten
from mindjax.ops import activation as _activation
from mindjax.ops import loss as _loss
from mindjax.ops.activation import hardshrink as hardshrink
from mindjax.ops.activation import hardsigmoid as hardsigmoid
from mindjax.ops.activation import hardswish as hardswish
from mindjax.ops.activation import mish as mish
from mindjax.ops.activation import prelu as prelu
from mindjax.ops.activation import relu as relu
from mindjax.ops.activation import selu as selu
from mindjax.ops.activation import sigmoid as sigmoid
from mindjax.ops.activation import softplus as softplus
from mindjax.ops.activation import softshrink as softshrink
from mindjax.ops.cast import cast_to as _cast_to
from mindjax.ops.conv import conv_transpose2d as conv_transpose2d
from mindjax.ops.dense import dense
from mindjax.ops.dropout import dropout as _dropout
from mindjax.ops.dropout import dropout_channels as _dropout_channels
from mindjax.ops.embedding import embedding as embedding
from mindjax.ops.loss import l1_loss as l1_loss
from mindjax.ops.loss import mse_loss as mse_loss
from mindjax.ops.margin import cosine_embedding_loss as cosine_embedding_loss
from mindjax.ops.margin import soft_margin_loss as soft_margin_loss
from mindjax.ops.normalization import batch_norm_inference as _batch_norm_inference
from mindjax.ops.normalization import batch_norm_training as _batch_norm_training
from mindjax.ops.normalization import group_norm as group_norm
from mindjax.ops.normalization import layer_norm as layer_norm
from mindjax.ops.normalization import normalize as normalize
from mindjax.ops.rearrange import pad as _pad
from mindjax.ops.softmax import log_softmax as _log_softmax
from mindjax.ops.softmax import softmax as _softmax
from mindjax.ops.trigonometry import tanh as tanh
from mindjax.ops.vision.rearrange import pixel_shuffle as pixel_shuffle
from mindjax.ops.vision.sampling import grid_sample as grid_sample

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


linear = dense


def _written(target: Any, value: Any, inplace: bool, owner: str) -> Any:
    """Give a value, or write it into its input and give that."""
    if not checks.boolean("inplace", inplace, owner):
        return value
    return _activation.write_back(target, value, owner)


def relu_(input: Any) -> Tensor:
    """Cut a Tensor at 0 from below, in place (MindSpore: ``mint.nn.functional.relu_``).

    Args:
        input: any shape, float; it is written.

    Returns:
        ``input``.
    """
    return relu(input, inplace=True)


def sigmoid_(input: Any) -> Tensor:
    """Apply the logistic function in place (MindSpore: ``mint.nn.functional.sigmoid_``).

    Args:
        input: any shape, float; it is written.

    Returns:
        ``input``.
    """
    return _written(input, sigmoid(input), True, "sigmoid_")


def relu6(input: Any, inplace: bool = False) -> Tensor:
    """Cut a Tensor at 0 and 6 (MindSpore: ``mint.nn.functional.relu6``).

    Args:
        input: any shape, float.
        inplace: write the result into ``input``.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _written(input, _activation.relu6(input), inplace, "relu6")


def silu(input: Any, inplace: bool = False) -> Tensor:
    """Apply x * sigmoid(x) (MindSpore: ``mint.nn.functional.silu``).

    Args:
        input: any shape, float.
        inplace: write the result into ``input``.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _written(input, _activation.silu(input), inplace, "silu")


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Apply the exponential linear unit (MindSpore: ``mint.nn.functional.elu``).

    Args:
        input: any shape, float.
        alpha: scale of what is below 0.
        inplace: write the result into ``input``.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _written(input, _activation.elu(input, alpha), inplace, "elu")


def elu_(input: Any, alpha: float = 1.0) -> Tensor:
    """Apply the exponential linear unit in place (MindSpore: ``mint.nn.functional.elu_``).

    Args:
        input: any shape, float; it is written.
        alpha: scale of what is below 0.

    Returns:
        ``input``.
    """
    return elu(input, alpha, inplace=True)


def hardtanh(
    input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Cut a Tensor at two bounds (MindSpore: ``mint.nn.functional.hardtanh``).

    Args:
        input: any shape.
        min_val: lower bound.
        max_val: upper bound.
        inplace: write the result into ``input``.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _written(input, _activation.hardtanh(input, min_val, max_val), inplace, "hardtanh")


def hardtanh_(input: Any, min_val: float = -1, max_val: float = 1) -> Tensor:
    """Cut a Tensor at two bounds in place (MindSpore: ``mint.nn.functional.hardtanh_``).

    Args:
        input: any shape; it is written.
        min_val: lower bound.
        max_val: upper bound.

    Returns:
        ``input``.
    """
    return hardtanh(input, min_val, max_val, inplace=True)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Keep what is above a threshold (MindSpore: ``mint.nn.functional.threshold``).

    Args:
        input: any shape.
        threshold: the bound.
        value: what stands for elements up to it.
        inplace: write the result into ``input``.

    Returns:
        Tensor of the same shape and dtype.
    """
    kept = _activation.threshold(input, threshold, value)
    return _written(input, kept, inplace, "threshold")


def threshold_(input: Any, threshold: float, value: float) -> Tensor:
    """Keep what is above a threshold, in place (MindSpore: ``mint.nn.functional.threshold_``).

    Args:
        input: any shape; it is written.
        threshold: the bound.
        value: what stands for elements up to it.

    Returns:
        ``input``.
    """
    kept = _activation.threshold(input, threshold, value)
    return _written(input, kept, True, "threshold_")


def gelu(input: Any, *, approximate: str = "none") -> Tensor:
    """Apply the Gaussian error linear unit (MindSpore: ``mint.nn.functional.gelu``).

    Args:
        input: any shape, float.
        approximate: ``"none"`` by the error function, ``"tanh"`` by its approximation.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        ValueError: ``approximate`` is neither.
    """
    return _activation.gelu(input, approximate)


def logsigmoid(input: Any) -> Tensor:
    """Take the logarithm of the logistic function (MindSpore: ``mint.nn.functional.logsigmoid``).

    Args:
        input: any shape, float.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _activation.logsigmoid(input)


def leaky_relu(input: Any, negative_slope: float = 0.01) -> Tensor:
    """Scale what is below 0 (MindSpore: ``mint.nn.functional.leaky_relu``).

    Args:
        input: any shape, float.
        negative_slope: slope below 0.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _activation.leaky_relu(input, negative_slope)


def glu(input: Any, dim: int = -1) -> Tensor:
    """Gate the first half along an axis by the second (MindSpore: ``mint.nn.functional.glu``).

    Args:
        input: any shape, float, of even size along ``dim``.
        dim: the axis.

    Returns:
        Tensor of half the size along ``dim``.
    """
    return _activation.glu(input, dim)


def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Widen the last axes (MindSpore: ``mint.nn.functional.pad``).

    Args:
        input: any shape.
        pad: widths (before, after) for the last axis, then for the one before it, and so on.
        mode: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        value: what is filled in for ``"constant"``; None for 0.

    Returns:
        Tensor with wider last axes, of the same dtype.
    """
    return _pad(input, pad, mode, value)


def _softmax_dim(rank: int) -> int:
    """Give the axis that torch takes where none is given."""
    return 0 if rank in (0, 1, 3) else 1


def softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Tensor:
    """Make exponentials that sum to 1 along an axis (MindSpore: ``mint.nn.functional.softmax``).

    Args:
        input: any shape, float.
        dim: the axis; None for 0 at rank 0, 1 and 3, else 1.
        dtype: dtype that ``input`` is cast to first.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: ``dim`` is outside the rank.
    """
    checks.tensors("softmax", input=input)
    dim = _softmax_dim(len(input.shape)) if dim is None else dim
    return _softmax(input, dim, dtype=dtype)


def log_softmax(input: Any, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """Make logarithms of the softmax (MindSpore: ``mint.nn.functional.log_softmax``).

    Args:
        input: any shape, float.
        dim: the axis; None for 0 at rank 0, 1 and 3, else 1.
        dtype: dtype that ``input`` is cast to first.

    Returns:
        Tensor of the same shape.
    """
    checks.tensors("log_softmax", input=input)
    dim = _softmax_dim(len(input.shape)) if dim is None else dim
    return _log_softmax(_cast_to(input, dtype), dim)


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize a batch (Ioffe 2015; MindSpore: ``mint.nn.functional.batch_norm``).

    Args:
        input: (N, C, ...).
        running_mean: (C,), written in training; or None with ``training``.
        running_var: (C,), written in training with the unbiased variance; or None.
        weight: (C,), or None for ones.
        bias: (C,), or None for zeros.
        training: use the batch's moments.
        momentum: weight of the batch in the running moments.
        eps: added to the variance.

    Returns:
        Tensor of the shape and dtype of ``input``.

    Raises:
        ValueError: the sizes differ, or the running moments are missing.
    """
    vectors = (weight, bias, running_mean, running_var)
    if checks.boolean("training", training, "batch_norm"):
        return _batch_norm_training(input, *vectors, eps, momentum)[0]
    if running_mean is None or running_var is None:
        raise located(
            ValueError,
            "For 'batch_norm', 'running_mean' and 'running_var' must be given when 'training' is "
            "False.",
        )
    return _batch_norm_inference(input, *vectors, eps)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Drop elements at random and scale the rest (MindSpore: ``mint.nn.functional.dropout``).

    Args:
        input: any shape, float.
        p: probability of an element to be dropped, in [0, 1].
        training: False gives ``input`` itself.
        inplace: write the result into ``input``.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        ValueError: ``p`` is outside [0, 1].
    """
    out = _dropout(input, p, training)
    return _written(input, out, inplace, "dropout") if training else out


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Drop whole channels of (N, C, H, W) or (N, C, L).

    Args:
        input: (N, C, H, W) or (N, C, L), float.
        p: probability of a channel to be dropped, in [0, 1].
        training: False gives ``input`` itself.
        inplace: write the result into ``input``.

    Returns:
        Tensor of the same shape and dtype.

    MindSpore: ``mint.nn.functional.dropout2d``.
    """
    out = _dropout_channels(input, p, training, 2, "dropout2d")
    return _written(input, out, inplace, "dropout2d") if training else out


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Compare logits with classes or probabilities.

    Args:
        input: logits (C,), (N, C) or (N, C, d1, ...).
        target: classes (), (N,) or (N, d1, ...), or probabilities of the shape of ``input``.
        weight: weights of the classes (C,), or None.
        ignore_index: class that does not count.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        label_smoothing: part of the probability that is spread over all classes, in [0, 1].

    Returns:
        a 0-d Tensor, or one loss a sample for ``"none"``.

    MindSpore: ``mint.nn.functional.cross_entropy``.
    """
    options = (
        weight,
        ignore_index,
        reduction,
        checks.number("label_smoothing", label_smoothing, "cross_entropy"),
    )
    return _loss.cross_entropy(input, target, *options)


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Compare log-probabilities with classes (MindSpore: ``mint.nn.functional.nll_loss``).

    Args:
        input: log-probabilities (N, C) or (N, C, d1, ...).
        target: classes (N,) or (N, d1, ...).
        weight: weights of the classes (C,), or None.
        ignore_index: class that does not count.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        a 0-d Tensor, or one loss a sample for ``"none"``.
    """
    return _loss.nll_loss(input, target, weight, ignore_index, reduction)


def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """Compare probabilities with labels.

    Args:
        input: probabilities, any shape.
        target: labels in [0, 1], the same shape.
        weight: weights that broadcast to ``input``, or None.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        a 0-d Tensor, or one of the shape of ``input`` for ``"none"``.

    MindSpore: ``mint.nn.functional.binary_cross_entropy``.
    """
    return _loss.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Tensor:
    """Compare logits with labels.

    Args:
        input: logits, any shape.
        target: labels in [0, 1], the same shape.
        weight: weights that broadcast to ``input``, or None.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        pos_weight: weights of the positive labels, which broadcast to ``input``, or None.

    Returns:
        a 0-d Tensor, or one of the shape of ``input`` for ``"none"``.

    MindSpore: ``mint.nn.functional.binary_cross_entropy_with_logits``.
    """
    return _loss.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Take the absolute difference, squared below beta.

    Args:
        input: any shape, float.
        target: the same shape.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        beta: where the square ends.

    Returns:
        a 0-d Tensor, or one of the shape of ``input`` for ``"none"``.

    MindSpore: ``mint.nn.functional.smooth_l1_loss``.
    """
    return _loss.smooth_l1_loss(input, target, beta, reduction)


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Measure how log-probabilities diverge (MindSpore: ``mint.nn.functional.kl_div``).

    Args:
        input: log-probabilities, any shape.
        target: probabilities, or log-probabilities with ``log_target``, the same shape.
        reduction: ``"mean"``, ``"batchmean"``, ``"sum"`` or ``"none"``.
        log_target: what ``target`` is.

    Returns:
        0-d Tensor, or the shape of ``input`` for ``"none"``.

    Raises:
        ValueError: the shapes or the reduction do not fit.
    """
    if checks.boolean("log_target", log_target, "kl_div"):
        return _loss.kl_div_log(input, target, reduction)
    return _loss.kl_div(input, target, reduction)
