"""The PyTorch-flavoured functions of networks: ops with ``dim`` and ``inplace``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.mint.creation import one_hot as one_hot
from mindjax.mint.shape import flatten as flatten
from mindjax.ops import activation as _activation
from mindjax.ops import conv as _conv
from mindjax.ops import loss as _loss
from mindjax.ops import pooling as _pooling
from mindjax.ops.activation import hardshrink as hardshrink
from mindjax.ops.activation import hardsigmoid as hardsigmoid
from mindjax.ops.activation import hardswish as hardswish
from mindjax.ops.activation import logsigmoid as logsigmoid
from mindjax.ops.activation import mish as mish
from mindjax.ops.activation import prelu as prelu
from mindjax.ops.activation import relu as relu
from mindjax.ops.activation import selu as selu
from mindjax.ops.activation import sigmoid as sigmoid
from mindjax.ops.activation import softplus as softplus
from mindjax.ops.activation import softshrink as softshrink
from mindjax.ops.conv import conv_transpose2d as conv_transpose2d
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
from mindjax.ops.resize import interpolate as interpolate
from mindjax.ops.shape import expand_dims as _expand_dims
from mindjax.ops.shape import squeeze as _squeeze
from mindjax.ops.trigonometry import tanh as tanh

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


def _written(target: Any, value: Any, inplace: bool, owner: str) -> Any:
    """Give a value, or write it into its input and give that."""
    if not checks.boolean("inplace", inplace, owner):
        return value
    return _activation.write(target, value, owner)


def relu_(input: Any) -> Tensor:
    """Cut a Tensor at 0 from below, in place (MindSpore: ``mint.nn.functional.relu_``)."""
    return relu(input, inplace=True)


def sigmoid_(input: Any) -> Tensor:
    """Apply the logistic function in place (MindSpore: ``mint.nn.functional.sigmoid_``)."""
    return _written(input, sigmoid(input), True, "sigmoid_")


def relu6(input: Any, inplace: bool = False) -> Tensor:
    """Cut a Tensor at 0 and 6 (MindSpore: ``mint.nn.functional.relu6``)."""
    return _written(input, _activation.relu6(input), inplace, "relu6")


def silu(input: Any, inplace: bool = False) -> Tensor:
    """Apply x * sigmoid(x) (MindSpore: ``mint.nn.functional.silu``)."""
    return _written(input, _activation.silu(input), inplace, "silu")


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Apply the exponential linear unit (MindSpore: ``mint.nn.functional.elu``)."""
    return _written(input, _activation.elu(input, alpha), inplace, "elu")


def elu_(input: Any, alpha: float = 1.0) -> Tensor:
    """Apply the exponential linear unit in place (MindSpore: ``mint.nn.functional.elu_``)."""
    return elu(input, alpha, inplace=True)


def hardtanh(
    input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Cut a Tensor at two bounds (MindSpore: ``mint.nn.functional.hardtanh``)."""
    return _written(input, _activation.hardtanh(input, min_val, max_val), inplace, "hardtanh")


def hardtanh_(input: Any, min_val: float = -1, max_val: float = 1) -> Tensor:
    """Cut a Tensor at two bounds in place (MindSpore: ``mint.nn.functional.hardtanh_``)."""
    return hardtanh(input, min_val, max_val, inplace=True)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Keep what is above a threshold (MindSpore: ``mint.nn.functional.threshold``)."""
    kept = _activation.threshold(input, threshold, value)
    return _written(input, kept, inplace, "threshold")


def threshold_(input: Any, threshold: float, value: float) -> Tensor:
    """Keep what is above a threshold, in place (MindSpore: ``mint.nn.functional.threshold_``)."""
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


def leaky_relu(input: Any, negative_slope: float = 0.01) -> Tensor:
    """Scale what is below 0 (MindSpore: ``mint.nn.functional.leaky_relu``)."""
    return _activation.leaky_relu(input, negative_slope)


def glu(input: Any, dim: int = -1) -> Tensor:
    """Gate the first half along an axis by the second (MindSpore: ``mint.nn.functional.glu``)."""
    return _activation.glu(input, dim)


def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Widen the last axes (MindSpore: ``mint.nn.functional.pad``); arguments as ``ops.pad``."""
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
    dim = _softmax_dim(len(input.shape)) if dim is None else dim
    return _activation.softmax(input, dim, dtype=dtype)


def log_softmax(input: Any, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """Make logarithms of the softmax; arguments as `softmax`.

    MindSpore: ``mint.nn.functional.log_softmax``.
    """
    dim = _softmax_dim(len(input.shape)) if dim is None else dim
    return _activation.log_softmax(_activation.cast_to(input, dtype), dim)


def _pad_of(padding: Any, owner: str) -> tuple[str, Any]:
    """Split torch's 'padding' into a mode and numbers."""
    if isinstance(padding, str):
        return checks.one_of("padding", padding, ("valid", "same"), owner), 0
    return "pad", padding


def _batched(x: Any, rank: int, owner: str) -> tuple[Any, bool]:
    """Put a batch axis before a single sample."""
    if len(x.shape) not in (rank, rank - 1):
        raise located(
            RuntimeError,
            f"For '{owner}', the input must have {rank - 1} or {rank} dims, but got shape "
            f"{tuple(x.shape)}.",
        )
    single = len(x.shape) == rank - 1
    return (_expand_dims(x, 0) if single else x), single


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve sequences (N, C, W) or (C, W); arguments as `conv2d`.

    MindSpore: ``mint.nn.functional.conv1d``.
    """
    x, single = _batched(input, 3, "conv1d")
    mode, pads = _pad_of(padding, "conv1d")
    out = _conv.conv1d(x, weight, bias, stride, mode, pads, dilation, groups)
    return _squeeze(out, 0) if single else out


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve images (MindSpore: ``mint.nn.functional.conv2d``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        weight: (out, C / groups, height, width).
        bias: (out,) or None.
        stride: int or (height, width).
        padding: int, (height, width), ``"valid"`` or ``"same"``.
        dilation: int or (height, width).
        groups: number of groups of channels.

    Returns:
        Tensor (N, out, H', W').

    Raises:
        RuntimeError: the channels do not fit.
        ValueError: another argument does not fit.
    """
    x, single = _batched(input, 4, "conv2d")
    mode, pads = _pad_of(padding, "conv2d")
    out = _conv.conv2d(x, weight, bias, stride, mode, pads, dilation, groups)
    return _squeeze(out, 0) if single else out


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve volumes (N, C, D, H, W) or (C, D, H, W); arguments as `conv2d`.

    MindSpore: ``mint.nn.functional.conv3d``.
    """
    x, single = _batched(input, 5, "conv3d")
    mode, pads = _pad_of(padding, "conv3d")
    out = _conv.conv3d(x, weight, bias, stride, mode, pads, dilation, groups)
    return _squeeze(out, 0) if single else out


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Take maxima over windows of images (MindSpore: ``mint.nn.functional.max_pool2d``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        kernel_size: int or (height, width).
        stride: int or (height, width); None for ``kernel_size``.
        padding: int or (height, width), at most half of the kernel.
        dilation: int or (height, width).
        ceil_mode: count windows that only begin inside.
        return_indices: give the places of the maxima too.

    Returns:
        Tensor (N, C, H', W'); with ``return_indices`` also their places in the flattened (H, W).

    Raises:
        ValueError: an argument does not fit.
    """
    x, single = _batched(input, 4, "max_pool2d")
    window = (kernel_size, stride, padding, dilation)
    out = _pooling.max_pool2d(x, *window, return_indices, ceil_mode)
    if single and return_indices:
        return _squeeze(out[0], 0), _squeeze(out[1], 0)
    return _squeeze(out, 0) if single else out


def _average(
    x: Any,
    count: int,
    window: tuple[Any, Any, Any],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None,
) -> Any:
    owner = f"avg_pool{count}d"
    if len(x.shape) not in (count + 1, count + 2):
        raise located(
            ValueError,
            f"For '{owner}', the input must have {count + 1} or {count + 2} dims, but got shape "
            f"{tuple(x.shape)}.",
        )
    kernel_size, stride, padding = window
    rest = (padding, ceil_mode, count_include_pad, divisor)
    return _pooling.avg_pool_nd(x, count, kernel_size, stride, *rest, owner)


def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Take averages over windows of (N, C, W) or (C, W); arguments as `avg_pool2d`.

    MindSpore: ``mint.nn.functional.avg_pool1d``.
    """
    window = (kernel_size, stride, padding)
    return _average(input, 1, window, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Take averages over windows of images (MindSpore: ``mint.nn.functional.avg_pool2d``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        kernel_size: int or (height, width).
        stride: int or (height, width); None for ``kernel_size``.
        padding: int or (height, width), at most half of the kernel.
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at padded edges too.
        divisor_override: what to divide by, or None.

    Returns:
        Tensor (N, C, H', W').

    Raises:
        ValueError: an argument does not fit.
    """
    window = (kernel_size, stride, padding)
    return _average(input, 2, window, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Take averages over windows of volumes; arguments as `avg_pool2d`.

    MindSpore: ``mint.nn.functional.avg_pool3d``.
    """
    window = (kernel_size, stride, padding)
    return _average(input, 3, window, ceil_mode, count_include_pad, divisor_override)


def adaptive_avg_pool1d(input: Any, output_size: int) -> Tensor:
    """Average over regions of sequences (MindSpore: ``mint.nn.functional.adaptive_avg_pool1d``)."""
    return _pooling.adaptive_avg_pool1d(input, output_size)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """Average over regions of images (MindSpore: ``mint.nn.functional.adaptive_avg_pool2d``)."""
    return _pooling.adaptive_avg_pool2d(input, output_size)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Take maxima over regions of images.

    MindSpore: ``mint.nn.functional.adaptive_max_pool2d``.
    """
    return _pooling.adaptive_max_pool2d(input, output_size, return_indices)


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
    """Drop whole channels of (N, C, H, W) or (N, C, L); arguments as `dropout`.

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

    MindSpore: ``mint.nn.functional.cross_entropy``; the arguments are those of
    ``ops.cross_entropy``.
    """
    options = (weight, ignore_index, reduction, float(label_smoothing))
    return _loss.cross_entropy(input, target, *options)


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Compare log-probabilities with classes; arguments as `cross_entropy`.

    MindSpore: ``mint.nn.functional.nll_loss``.
    """
    return _loss.nll_loss(input, target, weight, ignore_index, reduction)


def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """Compare probabilities with labels; arguments as ``ops.binary_cross_entropy``.

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
    """Compare logits with labels; arguments as ``ops.binary_cross_entropy_with_logits``.

    MindSpore: ``mint.nn.functional.binary_cross_entropy_with_logits``.
    """
    return _loss.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Take the absolute difference, squared below beta; arguments as ``ops.smooth_l1_loss``.

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
