"""Normalization layers with torch's arguments."""

from __future__ import annotations

from typing import Any, ClassVar

from mindjax.core import checks
from mindjax.core.dtype import float32, int64
from mindjax.core.errors import located
from mindjax.mint.nn import functional
from mindjax.nn.cell import Cell
from mindjax.ops.state import assign_add
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class _BatchNorm(Cell):
    """Batch normalization of any rank; `BatchNorm2d` describes the arguments."""

    _ranks: ClassVar[tuple[int, ...]]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        dtype = float32 if dtype is None else dtype
        self.num_features = checks.positive_int("num_features", num_features, self.cls_name)
        self.eps = eps
        self.affine = checks.boolean("affine", affine, self.cls_name)
        checks.boolean("track_running_stats", track_running_stats, self.cls_name)
        self.track_running_stats = track_running_stats
        if momentum is None:
            raise located(
                NotImplementedError,
                f"For '{self.cls_name}', 'momentum=None' (a plain average) is not supported: give "
                "a number.",
            )
        self.momentum = momentum
        self.weight = self.bias = self.running_mean = self.running_var = None
        self.num_batches_tracked = None
        if affine:
            self.weight = Parameter(initializer("ones", num_features, dtype), name="weight")
            self.bias = Parameter(initializer("zeros", num_features, dtype), name="bias")
        if track_running_stats:
            mean, variance = (initializer(i, num_features, dtype) for i in ("zeros", "ones"))
            self.running_mean = Parameter(mean, "running_mean", requires_grad=False)
            self.running_var = Parameter(variance, "running_var", requires_grad=False)
            count = Tensor(0, int64)
            self.num_batches_tracked = Parameter(count, "num_batches_tracked", requires_grad=False)

    def reset_running_stats(self) -> None:
        """Start the running moments again."""
        for p, value in (
            (self.running_mean, 0),
            (self.running_var, 1),
            (self.num_batches_tracked, 0),
        ):
            if p is not None:
                p.set_data(initializer(value, p.shape, p.dtype))

    def reset_parameters(self) -> None:
        """Start the running moments, weight and bias again."""
        self.reset_running_stats()
        for p, value in ((self.weight, 1), (self.bias, 0)):
            if p is not None:
                p.set_data(initializer(value, p.shape, p.dtype))

    def construct(self, input: Any) -> Any:
        """Normalize; in training the running moments are written."""
        if len(input.shape) not in self._ranks:
            ranks = " or ".join(f"{r}D" for r in self._ranks)
            raise located(
                ValueError,
                f"For '{self.cls_name}', expected {ranks} input, but got {len(input.shape)}D "
                "input.",
            )
        if self.training and self.track_running_stats:
            assign_add(self.num_batches_tracked, 1)
        batch = self.training or not self.track_running_stats
        moving = (self.running_mean, self.running_var)
        options = (self.weight, self.bias, batch, self.momentum, self.eps)
        return functional.batch_norm(input, *moving, *options)

    def extend_repr(self) -> str:
        """Name every argument."""
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalization of (N, C) or (N, C, L) (MindSpore: ``mint.nn.BatchNorm1d``).

    The arguments are those of `BatchNorm2d`.
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalization of (N, C, H, W) (Ioffe 2015; MindSpore: ``mint.nn.BatchNorm2d``).

    Args:
        num_features: number of channels.
        eps: added to the variance.
        momentum: weight of the batch in the running moments.
        affine: whether there are weight and bias.
        track_running_stats: keep running moments; else the batch's are used always.
        dtype: of the Parameters; None for Float32.

    Raises:
        NotImplementedError: ``momentum`` is None.
        TypeError: an argument is of a wrong type.
        ValueError: ``num_features`` is not above 0.
    """

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalization of (N, C, D, H, W) (MindSpore: ``mint.nn.BatchNorm3d``).

    The arguments are those of `BatchNorm2d`.
    """

    _ranks = (5,)


class LayerNorm(Cell):
    """Layer normalization over the last axes (Ba 2016; MindSpore: ``mint.nn.LayerNorm``).

    Args:
        normalized_shape: int, or tuple or list of ints: the last sizes of the input.
        eps: added to the variance.
        elementwise_affine: whether there is a weight.
        bias: whether there is a bias, with ``elementwise_affine`` only.
        dtype: of the Parameters; None for Float32.

    Raises:
        TypeError: ``normalized_shape`` is none of these.
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        dtype = float32 if dtype is None else dtype
        checks.of_type("normalized_shape", normalized_shape, (int, tuple, list), self.cls_name)
        single = isinstance(normalized_shape, int)
        shape = (normalized_shape,) if single else tuple(normalized_shape)
        self.normalized_shape, self.eps = shape, eps
        self.elementwise_affine = elementwise_affine
        self.weight = self.bias = None
        if elementwise_affine:
            self.weight = Parameter(initializer("ones", shape, dtype), name="weight")
            if bias:
                self.bias = Parameter(initializer("zeros", shape, dtype), name="bias")

    def construct(self, input: Any) -> Any:
        """Normalize."""
        options = (self.weight, self.bias, self.eps)
        return functional.layer_norm(input, self.normalized_shape, *options)

    def extend_repr(self) -> str:
        """Name every argument."""
        return (
            f"normalized_shape={self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}"
        )


class SyncBatchNorm(_BatchNorm):
    """Batch normalization whose moments span processes (MindSpore: ``mint.nn.SyncBatchNorm``).

    One process is all there is so far, so that it equals batch normalization of any rank.

    Args:
        num_features: number of channels.
        eps: added to the variance.
        momentum: weight of the batch in the running moments.
        affine: whether there are weight and bias.
        track_running_stats: keep running moments; else the batch's are used always.
        process_group: only None, all processes.
        dtype: of the Parameters; None for Float32.

    Raises:
        NotImplementedError: ``process_group`` is given, or ``momentum`` is None.
    """

    _ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: str | None = None,
        dtype: Any = None,
    ) -> None:
        if process_group is not None:
            raise located(
                NotImplementedError,
                f"For 'SyncBatchNorm', 'process_group' {process_group!r} is not supported: leave "
                "it None.",
            )
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)
        self.process_group = process_group


class GroupNorm(Cell):
    """Group normalization (Wu 2018; MindSpore: ``mint.nn.GroupNorm``).

    Args:
        num_groups: number of groups, a divisor of ``num_channels``.
        num_channels: number of channels.
        eps: added to the variance.
        affine: whether weight and bias are trained.
        dtype: of the Parameters; None for Float32.

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
        dtype: Any = None,
    ) -> None:
        super().__init__()
        dtype = float32 if dtype is None else dtype
        self.num_groups = checks.positive_int("num_groups", num_groups, self.cls_name)
        self.num_channels = checks.positive_int("num_channels", num_channels, self.cls_name)
        if num_channels % num_groups:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'num_channels' must be divided by 'num_groups', but "
                f"got 'num_channels': {num_channels}, 'num_groups': {num_groups}.",
            )
        self.eps, self.affine = eps, checks.boolean("affine", affine, self.cls_name)
        ones, zeros = (initializer(i, num_channels, dtype) for i in ("ones", "zeros"))
        self.weight = Parameter(ones, "weight", requires_grad=affine)
        self.bias = Parameter(zeros, "bias", requires_grad=affine)

    def construct(self, input: Any) -> Any:
        """Normalize (N, C, ...)."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        """Name every argument."""
        return (
            f"num_groups={self.num_groups}, num_channels={self.num_channels}, eps={self.eps}, "
            f"affine={self.affine}"
        )
