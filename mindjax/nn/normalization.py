"""Normalization layers."""

from __future__ import annotations

from typing import Any, ClassVar

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.normalization import LayerNorm as _LayerNorm
from mindjax.ops.normalization import batch_norm_inference, batch_norm_training, group_norm
from mindjax.ops.shape import reshape
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter


class _BatchNorm(Cell):
    """Batch normalization of any rank; `BatchNorm2d` describes the arguments."""

    _ranks: ClassVar[tuple[int, ...]]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        data_format: str = "NCHW",
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        checks.of_type("num_features", num_features, int, owner)
        if num_features < 1:
            raise located(
                ValueError,
                f"For '{owner}', the 'num_features' must be at least 1, but got {num_features}.",
            )
        self.num_features = num_features
        self.eps = checks.of_type("eps", eps, (float, int), owner)
        self.momentum = checks.float_in_range("momentum", momentum, 0, 1, owner)
        self.data_format = checks.one_of("format", data_format, ("NCHW", "NHWC"), owner)
        if use_batch_statistics is not None and not isinstance(use_batch_statistics, bool):
            raise located(
                ValueError,
                f"For '{owner}', the 'use_batch_statistics' must be a boolean value or None, but "
                f"got {use_batch_statistics}.",
            )
        self.use_batch_statistics = use_batch_statistics
        checks.boolean("affine", affine, owner)

        def parameter(init: Any, name: str, trained: bool) -> Parameter:
            return Parameter(initializer(init, num_features, dtype), name, requires_grad=trained)

        self.moving_mean = parameter(moving_mean_init, "mean", False)
        self.moving_variance = parameter(moving_var_init, "variance", False)
        self.gamma = parameter(gamma_init, "gamma", affine)
        self.beta = parameter(beta_init, "beta", affine)
        self._channel_last = data_format == "NHWC"

    def construct(self, x: Any) -> Any:
        """Normalize; in training the moving moments are written."""
        rank = len(x.shape)
        if rank not in self._ranks:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the in_shape must have "
                f"{' dims or '.join(map(str, self._ranks))} dims, but got {rank}.",
            )
        channel = rank - 1 if self._channel_last else 1
        vectors = (self.gamma, self.beta, self.moving_mean, self.moving_variance)
        batch = self.use_batch_statistics
        if self.training if batch is None else batch:
            return batch_norm_training(x, *vectors, self.eps, 1 - self.momentum, channel)[0]
        return batch_norm_inference(x, *vectors, self.eps, channel)

    def extend_repr(self) -> str:
        """Name the arguments and Parameters."""
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"gamma={self.gamma}, beta={self.beta}, moving_mean={self.moving_mean}, "
            f"moving_variance={self.moving_variance}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalization of (N, C) or (N, C, L) (MindSpore: ``nn.BatchNorm1d``).

    The arguments are those of `BatchNorm2d`.
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalization of (N, C, H, W) (Ioffe 2015; MindSpore: ``nn.BatchNorm2d``).

    Args:
        num_features: number of channels.
        eps: added to the variance.
        momentum: weight of the past in the moving moments, in [0, 1].
        affine: whether gamma and beta are trained.
        gamma_init: first gamma: initializer, its name, number or Tensor.
        beta_init: first beta.
        moving_mean_init: first moving mean.
        moving_var_init: first moving variance.
        use_batch_statistics: True for the batch's moments always, False for the moving ones
            always, None for the batch's in training only.
        data_format: ``"NCHW"`` or ``"NHWC"``.
        dtype: of the Parameters.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    _ranks = (4,)


class BatchNorm3d(Cell):
    """Batch normalization of (N, C, D, H, W) (MindSpore: ``nn.BatchNorm3d``).

    The Parameters are those of a `BatchNorm2d` within, ``bn2d``.

    Args:
        num_features: number of channels.
        eps: added to the variance.
        momentum: weight of the past in the moving moments, in [0, 1].
        affine: whether gamma and beta are trained.
        gamma_init: first gamma: initializer, its name, number or Tensor.
        beta_init: first beta.
        moving_mean_init: first moving mean.
        moving_var_init: first moving variance.
        use_batch_statistics: as in `BatchNorm2d`.
        dtype: of the Parameters.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        inits = (gamma_init, beta_init, moving_mean_init, moving_var_init)
        self.bn2d = BatchNorm2d(
            num_features, eps, momentum, affine, *inits, use_batch_statistics, "NCHW", dtype
        )

    def construct(self, x: Any) -> Any:
        """Normalize; in training the moving moments are written."""
        shape = tuple(x.shape)
        if len(shape) != 5:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the in_shape must have 5 dims, but got {len(shape)}.",
            )
        n, c, d, h, w = shape
        return reshape(self.bn2d(reshape(x, (n, c, d * h, w))), shape)


class LayerNorm(Cell):
    """Layer normalization (Ba 2016; MindSpore: ``nn.LayerNorm``).

    Args:
        normalized_shape: tuple or list of ints: the input's shape from ``begin_params_axis`` on.
        begin_norm_axis: first axis that is normalized over.
        begin_params_axis: first axis that gamma and beta span.
        gamma_init: first gamma: initializer, its name, number or Tensor.
        beta_init: first beta.
        epsilon: added to the variance.
        dtype: of the Parameters.

    Raises:
        TypeError: ``normalized_shape`` is not a tuple or list.
    """

    def __init__(
        self,
        normalized_shape: Any,
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        if not isinstance(normalized_shape, tuple | list):
            raise located(
                TypeError,
                f"For '{self.cls_name}', the type of 'normalized_shape' must be tuple[int] or "
                f"list[int], but got {normalized_shape} and the type is {type(normalized_shape)}.",
            )
        self.normalized_shape = normalized_shape
        self.begin_norm_axis, self.begin_params_axis = begin_norm_axis, begin_params_axis
        self.epsilon = epsilon
        shape = tuple(normalized_shape)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), name="gamma")
        self.beta = Parameter(initializer(beta_init, shape, dtype), name="beta")
        self.layer_norm = _LayerNorm(begin_norm_axis, begin_params_axis, epsilon)

    def construct(self, input_x: Any) -> Any:
        """Normalize."""
        return self.layer_norm(input_x, self.gamma, self.beta)[0]

    def extend_repr(self) -> str:
        """Name the arguments and Parameters."""
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma={self.gamma}, beta={self.beta}"
        )


class GroupNorm(Cell):
    """Group normalization (Wu 2018; MindSpore: ``nn.GroupNorm``).

    Args:
        num_groups: number of groups, a divisor of ``num_channels``.
        num_channels: number of channels.
        eps: added to the variance.
        affine: whether gamma and beta are trained.
        gamma_init: first gamma: initializer, its name, number or Tensor.
        beta_init: first beta.
        dtype: of the Parameters.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a number is not above 0, or the channels are not divisible.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.num_groups = checks.positive_int("num_groups", num_groups, owner)
        self.num_channels = checks.positive_int("num_channels", num_channels, owner)
        if num_channels % num_groups:
            raise located(
                ValueError,
                f"For '{owner}', the 'num_channels' must be divided by 'num_groups', but got "
                f"'num_channels': {num_channels}, 'num_groups': {num_groups}.",
            )
        self.eps = checks.of_type("eps", eps, float, owner)
        self.affine = checks.boolean("affine", affine, owner)
        gamma, beta = (initializer(i, num_channels, dtype) for i in (gamma_init, beta_init))
        self.gamma = Parameter(gamma, "gamma", requires_grad=affine)
        self.beta = Parameter(beta, "beta", requires_grad=affine)

    def construct(self, x: Any) -> Any:
        """Normalize (N, C, ...)."""
        if len(x.shape) < 2 or x.shape[1] != self.num_channels:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'num_channels' of the input must be "
                f"{self.num_channels} in 'num_groups' {self.num_groups}, but got shape "
                f"{tuple(x.shape)}.",
            )
        return group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        """Name the numbers."""
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"
