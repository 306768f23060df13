"""Layers whose weights are drawn anew for each call (Blundell et al. 2015; Kingma et al. 2015)."""

from __future__ import annotations

from typing import Any

import mindjax.ops as ops
from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.nn.activation import get_activation
from mindjax.nn.cell import Cell
from mindjax.nn.conv import Conv2d
from mindjax.nn.probability.bnn_layers.weights import (
    NormalPrior,
    check_posterior,
    check_prior,
    normal_post_fn,
)
from mindjax.nn.probability.distribution import Normal


class Variational(Cell):
    """What the layers share: the divergence of posteriors from priors, and the bias."""

    has_bias: bool

    def _make_weights(self, shapes: tuple[Any, Any], priors: Any, posteriors: Any) -> None:
        self.weight_prior = check_prior(priors[0], "weight_prior_fn")
        self.weight_posterior = check_posterior(
            posteriors[0], shapes[0], "bnn_weight", "weight_posterior_fn"
        )
        if self.has_bias:
            self.bias_prior = check_prior(priors[1], "bias_prior_fn")
            self.bias_posterior = check_posterior(
                posteriors[1], shapes[1], "bnn_bias", "bias_posterior_fn"
            )

    def apply_variational_bias(self, inputs: Any) -> Any:
        """Add a bias drawn from its posterior.

        Args:
            inputs: Tensor with the channels on axis 1.
        """
        return ops.bias_add(inputs, self.bias_posterior("sample"))

    def compute_kl_loss(self) -> Any:
        """Compute the divergence of the posteriors from the priors, a 0-d Tensor."""
        loss = _divergence(self.weight_prior, self.weight_posterior)
        if self.has_bias:
            loss = loss + _divergence(self.bias_prior, self.bias_posterior)
        return loss

    def _weights_repr(self) -> str:
        parts = [("weight", self.weight_posterior)]
        if self.has_bias:
            parts.append(("bias", self.bias_posterior))
        return ", ".join(f"{k}_mean={p.mean}, {k}_std={p.untransformed_std}" for k, p in parts)


def _divergence(prior: Any, posterior: Any) -> Any:
    kind, parameters = posterior("get_dist_type"), posterior("get_dist_args")
    return ops.ReduceSum()(prior("kl_loss", kind, *parameters))


class _DenseVariational(Variational):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        activation: Any = None,
        has_bias: bool = True,
        weight_prior_fn: Any = NormalPrior,
        weight_posterior_fn: Any = normal_post_fn,
        bias_prior_fn: Any = NormalPrior,
        bias_posterior_fn: Any = normal_post_fn,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.in_channels = checks.positive_int("in_channels", in_channels, owner)
        self.out_channels = checks.positive_int("out_channels", out_channels, owner)
        self.has_bias = checks.boolean("has_bias", has_bias, owner)
        self._make_weights(
            ([out_channels, in_channels], [out_channels]),
            (weight_prior_fn, bias_prior_fn),
            (weight_posterior_fn, bias_posterior_fn),
        )
        if isinstance(activation, str):
            activation = get_activation(activation)
        elif activation and not isinstance(activation, Cell):
            raise located(
                ValueError,
                f"For '{owner}', the type of `activation` is wrong: must be a Cell or a name, but "
                f"got {activation!r}.",
            )
        self.activation: Any = activation or None
        self.activation_flag = bool(activation)

    def construct(self, x: Any) -> Any:
        """Compute (N, in_channels) to (N, out_channels)."""
        out = self._apply_variational_weight(x)
        if self.has_bias:
            out = self.apply_variational_bias(out)
        return self.activation(out) if self.activation_flag else out

    def _apply_variational_weight(self, inputs: Any) -> Any:
        raise NotImplementedError

    def extend_repr(self) -> str:
        """Name the arguments and the weights."""
        text = (
            f"in_channels={self.in_channels}, out_channels={self.out_channels}, "
            f"{self._weights_repr()}, has_bias={self.has_bias}"
        )
        return f"{text}, activation={self.activation}" if self.activation_flag else text


class DenseReparam(_DenseVariational):
    """A dense layer that draws its weights for each batch (MindSpore: ``DenseReparam``).

    Args:
        in_channels: features of the input.
        out_channels: features of the output.
        activation: Cell or name of one; None for none.
        has_bias: whether there is a bias.
        weight_prior_fn: prior of the weights: `NormalPrior` or a Cell.
        weight_posterior_fn: what makes their posterior, from ``name`` and ``shape``.
        bias_prior_fn: prior of the bias.
        bias_posterior_fn: what makes its posterior.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a number of features is not above 0, or the activation is unknown.

    MindSpore: ``nn.probability.bnn_layers.DenseReparam``.
    """

    def _apply_variational_weight(self, inputs: Any) -> Any:
        return ops.MatMul(transpose_b=True)(inputs, self.weight_posterior("sample"))


class DenseLocalReparam(_DenseVariational):
    """A dense layer that draws its outputs for each sample (MindSpore: ``DenseLocalReparam``).

    Args:
        in_channels: features of the input.
        out_channels: features of the output.
        activation: Cell or name of one; None for none.
        has_bias: whether there is a bias.
        weight_prior_fn: prior of the weights: `NormalPrior` or a Cell.
        weight_posterior_fn: what makes their posterior, from ``name`` and ``shape``.
        bias_prior_fn: prior of the bias.
        bias_posterior_fn: what makes its posterior.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a number of features is not above 0, or the activation is unknown.

    MindSpore: ``nn.probability.bnn_layers.DenseLocalReparam``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        activation: Any = None,
        has_bias: bool = True,
        weight_prior_fn: Any = NormalPrior,
        weight_posterior_fn: Any = normal_post_fn,
        bias_prior_fn: Any = NormalPrior,
        bias_posterior_fn: Any = normal_post_fn,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            activation,
            has_bias,
            weight_prior_fn,
            weight_posterior_fn,
            bias_prior_fn,
            bias_posterior_fn,
        )
        self.normal = Normal()

    def _apply_variational_weight(self, inputs: Any) -> Any:
        matmul = ops.MatMul(transpose_b=True)
        mean = matmul(inputs, self.weight_posterior("mean"))
        var = matmul(ops.square(inputs), ops.square(self.weight_posterior("sd")))
        return self.normal("sample", mean=mean, sd=ops.sqrt(var))


class ConvReparam(Variational, Conv2d):
    """A 2-D convolution that draws its weights for each batch (MindSpore: ``ConvReparam``).

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: int or (height, width).
        stride: int or (height, width).
        pad_mode: ``"same"``, ``"valid"`` or ``"pad"``.
        padding: int or (top, bottom, left, right), with ``"pad"`` only.
        dilation: int or (height, width).
        group: number of groups of channels.
        has_bias: whether there is a bias.
        weight_prior_fn: prior of the weights: `NormalPrior` or a Cell.
        weight_posterior_fn: what makes their posterior, from ``name`` and ``shape``.
        bias_prior_fn: prior of the bias.
        bias_posterior_fn: what makes its posterior.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a value does not fit.

    MindSpore: ``nn.probability.bnn_layers.ConvReparam``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_prior_fn: Any = NormalPrior,
        weight_posterior_fn: Any = normal_post_fn,
        bias_prior_fn: Any = NormalPrior,
        bias_posterior_fn: Any = normal_post_fn,
    ) -> None:
        window = (kernel_size, stride, pad_mode, padding, dilation, group, has_bias)
        Conv2d.__init__(self, in_channels, out_channels, *window, "normal", "zeros")
        # They stand in checkpoints, as in the original, and are not trained.
        self.weight.requires_grad = False
        if self.bias is not None:
            self.bias.requires_grad = False
        self._make_weights(
            (list(self.weight.shape), [out_channels]),
            (weight_prior_fn, bias_prior_fn),
            (weight_posterior_fn, bias_posterior_fn),
        )

    def construct(self, x: Any) -> Any:
        """Convolve (N, C, H, W)."""
        out = self.conv2d(x, self.weight_posterior("sample"))
        return self.apply_variational_bias(out) if self.has_bias else out

    def extend_repr(self) -> str:
        """Name the arguments and the weights."""
        return (
            f"in_channels={self.in_channels}, out_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, "
            f"{self._weights_repr()}, has_bias={self.has_bias}"
        )
