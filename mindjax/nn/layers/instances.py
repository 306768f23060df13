"""Normalization of each sample alone, and of the samples of several processes together."""

from __future__ import annotations

import itertools
import math
from typing import Any, ClassVar

from mindjax.core import checks, world
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.normalization import _BatchNorm
from mindjax.ops.collective.operators import AllReduce
from mindjax.ops.exponential import rsqrt
from mindjax.ops.normalization import batch_norm_training
from mindjax.ops.reduction import mean, sum
from mindjax.ops.sequence import tile
from mindjax.ops.shape import reshape
from mindjax.ops.state import assign, stop_gradient
from mindjax.tensor.initializer import Initializer, initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class _InstanceNorm(Cell):
    """Instance normalization of any rank; `InstanceNorm2d` describes the arguments."""

    _rank: ClassVar[int]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        checks.of_type("num_features", num_features, int, owner)
        self.eps = checks.of_type("eps", eps, float, owner)
        checks.of_type("momentum", momentum, float, owner)
        checks.of_type("affine", affine, bool, owner)
        self.check_types_valid({"gamma_init": gamma_init, "beta_init": beta_init}, owner)
        if num_features < 1:
            raise located(
                ValueError,
                f"For '{owner}', the 'num_features' must be at least 1, but got {num_features}.",
            )
        self.momentum = checks.float_in_range("momentum", momentum, 0, 1, owner)
        self.num_features = num_features

        def parameter(init: Any, name: str, trained: bool) -> Parameter:
            return Parameter(initializer(init, num_features, dtype), name, requires_grad=trained)

        self.moving_mean = parameter("zeros", "mean", False)
        self.moving_variance = parameter("ones", "variance", False)
        self.gamma = parameter(gamma_init, "gamma", affine)
        self.beta = parameter(beta_init, "beta", affine)

    def check_types_valid(self, args_dict: dict[str, Any], name: str) -> None:
        """Check first values by name.

        Args:
            args_dict: Tensors, numbers, names or initializers.
            name: layer named in errors.

        Raises:
            TypeError: one is none of these, or a Tensor of another dtype than Float32.
        """
        for key, value in args_dict.items():
            checks.of_type(key, value, (Tensor, int, float, str, Initializer), name)
            if isinstance(value, Tensor) and value.dtype is not float32:
                raise located(
                    TypeError,
                    f"For '{name}', the type of '{key}' must be float32, but got {value.dtype}.",
                )

    def construct(self, x: Any) -> Any:
        """Normalize each channel of each sample; the moving moments are written, not used."""
        if len(x.shape) != self._rank:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the in_shape must have {self._rank} dims, but got "
                f"{len(x.shape)}.",
            )
        samples, channels, *sizes = x.shape
        if channels != self.num_features:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the input must have 'num_features' "
                f"{self.num_features} channels, but got {channels}.",
            )
        rows = reshape(x, (1, samples * channels, *sizes))
        scale, shift = tile(self.gamma, (samples,)), tile(self.beta, (samples,))
        out, found, variance = batch_norm_training(rows, scale, shift, None, None, self.eps, 1.0)
        count = math.prod(sizes)
        # The moving variance is of the population: the sample's, times n / (n - 1).
        self._move(self.moving_mean, found, samples, 1.0)
        self._move(self.moving_variance, variance, samples, count / max(count - 1, 1))
        return reshape(out, x.shape)

    def _move(self, moving: Parameter, found: Any, samples: int, factor: float) -> None:
        fresh = mean(reshape(stop_gradient(found), (samples, self.num_features)), 0)
        part = self.momentum * factor
        assign(moving, moving * (1 - self.momentum) + fresh.astype(moving.dtype) * part)

    def extend_repr(self) -> str:
        """Name the arguments and Parameters."""
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"gamma={self.gamma}, beta={self.beta}, moving_mean={self.moving_mean}, "
            f"moving_variance={self.moving_variance}"
        )


class InstanceNorm1d(_InstanceNorm):
    """Instance normalization of (N, C, L) (MindSpore: ``nn.InstanceNorm1d``).

    The arguments are those of `InstanceNorm2d`.
    """

    _rank = 3


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of (N, C, H, W) (Ulyanov 2016; MindSpore: ``nn.InstanceNorm2d``).

    Args:
        num_features: number of channels.
        eps: added to the variance.
        momentum: weight of the batch in the moving moments, in [0, 1].
        affine: whether gamma and beta are trained.
        gamma_init: first gamma: initializer, its name, number or Tensor.
        beta_init: first beta.
        dtype: of the Parameters.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    _rank = 4


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of (N, C, D, H, W) (MindSpore: ``nn.InstanceNorm3d``).

    The arguments are those of `InstanceNorm2d`.
    """

    _rank = 5


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over the samples of all processes (MindSpore: ``nn.SyncBatchNorm``).

    Without a launcher, and in a group of one process, it is batch normalization.

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
        process_groups: list of lists of ranks that normalize together; None for all, 0 for none.
        dtype: of the Parameters.

    Raises:
        TypeError: ``process_groups`` is not a list of lists of ints.
        ValueError: a rank is twice in ``process_groups``, or out of range.
    """

    _ranks = (2, 4)

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
        process_groups: Any = None,
        dtype: Any = float32,
    ) -> None:
        inits = (gamma_init, beta_init, moving_mean_init, moving_var_init)
        super().__init__(
            num_features, eps, momentum, affine, *inits, use_batch_statistics, "NCHW", dtype
        )
        self.process_groups = process_groups
        self._sum: AllReduce | None = None
        if process_groups == 0 and not isinstance(process_groups, list):
            return
        size = world.launched_size()
        if process_groups is None:
            if size > 1:
                self._sum = AllReduce("sum", world.find(None, self.cls_name).name)
            return
        self._join(process_groups, size)

    def _join(self, groups: Any, size: int) -> None:
        owner = self.cls_name
        checks.of_type("process_groups", groups, list, owner)
        for group in groups:
            checks.of_type("sub group", group, list, owner)
        seen: set[int] = set()
        for rank in itertools.chain(*groups):
            checks.int_in_range("rank id in process_groups", rank, 0, size, owner)
            if rank in seen:
                raise located(
                    ValueError,
                    f"For '{owner}', rank id in 'process_groups' must not be duplicated, but got "
                    f"{groups}.",
                )
            seen.add(rank)
        for group in groups:
            if len(group) > 1 and world.transport.rank in group:
                name = f"sync_batch_norm_{'_'.join(map(str, sorted(group)))}"
                world.create(name, group)
                self._sum = AllReduce("sum", name)

    def construct(self, x: Any) -> Any:
        """Normalize (N, C) or (N, C, H, W); in training the moving moments are written."""
        batch = self.use_batch_statistics
        if self._sum is None or not (self.training if batch is None else batch):
            return super().construct(x)
        rank = len(x.shape)
        if rank not in self._ranks:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the in_shape must have 2 dims or 4 dims, but got {rank}.",
            )
        axes, column = (0, *range(2, rank)), (1, -1, *(1,) * (rank - 2))
        count = self._sum(Tensor(float(x.size // x.shape[1])))
        wide = x.astype(float32)
        center = self._sum(sum(wide, axes)) / count
        centered = wide - reshape(center, column)
        variance = self._sum(sum(centered * centered, axes)) / count
        keep = self.momentum
        for moving, found in (
            (self.moving_mean, center),
            (self.moving_variance, variance * (count / (count - 1))),
        ):
            fresh = stop_gradient(found).astype(moving.dtype)
            assign(moving, moving * keep + fresh * (1 - keep))
        scale = rsqrt(variance + self.eps) * self.gamma
        return (centered * reshape(scale, column) + reshape(self.beta, column)).astype(x.dtype)
