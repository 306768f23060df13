"""Activation layers and `get_activation`."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.operators import Operator, laid
from mindjax.ops import activation as ops
from mindjax.ops.normalization import LRN as _LRN
from mindjax.ops.softmax import LogSoftmax as _LogSoftmax
from mindjax.ops.softmax import Softmax as _Softmax
from mindjax.ops.softmax import softmax, softmin
from mindjax.ops.trigonometry import Tanh as _Tanh
from mindjax.ops.trigonometry import tanh
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class _Plain(Cell):
    """A layer without arguments."""

    def __init__(self) -> None:
        super().__init__()


class ReLU(_Plain):
    """max(x, 0) (MindSpore: ``nn.ReLU``)."""

    relu = Operator(lambda cell: ops.ReLU())

    def construct(self, input: Any) -> Any:
        """Apply it element by element."""
        return ops.relu(*laid(self, "relu", input))


class ReLU6(_Plain):
    """min(max(x, 0), 6) (MindSpore: ``nn.ReLU6``)."""

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return ops.relu6(x)


class LeakyReLU(Cell):
    """x above 0, alpha * x below (MindSpore: ``nn.LeakyReLU``).

    Args:
        alpha: slope below 0.
    """

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = checks.of_type("alpha", alpha, (float, int), self.cls_name)

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return ops.leaky_relu(x, self.alpha)


class PReLU(Cell):
    """x above 0, w * x below, w learned (He 2015; MindSpore: ``nn.PReLU``).

    Args:
        channel: number of slopes, 1 or the size of axis 1.
        w: first value of the slopes: float, list or Tensor (channel,).

    Raises:
        TypeError: ``w`` is none of these.
        ValueError: ``channel`` is not above 0, or ``w`` has another size.
    """

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        checks.positive_int("channel", channel, self.cls_name)
        if not isinstance(w, float | list | np.generic | Tensor):
            raise located(
                TypeError,
                "For 'PReLU', the 'w' only supported float, list and tensor, but got "
                f"{type(w).__name__}.",
            )
        if isinstance(w, Tensor | list):
            size = tuple(w.shape) if isinstance(w, Tensor) else (len(w),)
            if size != (channel,):
                raise located(
                    ValueError,
                    "For 'PReLU', the dimension of 'w' must be 1, and the elements number should "
                    f"be equal to the 'channel', but got 'w' shape {size}, the 'channel' "
                    f"{channel}.",
                )
            first = w if isinstance(w, Tensor) else Tensor(np.asarray(w, np.float32))
        else:
            first = initializer(float(w), (channel,), float32)
        self.w = Parameter(first, name="a")

    def construct(self, x: Any) -> Any:
        """Apply it to (N, C, ...)."""
        return ops.prelu(x, self.w)


class RReLU(Cell):
    """x above 0, random slopes below (Xu 2015; MindSpore: ``nn.RReLU``).

    Args:
        lower: smallest slope.
        upper: largest slope.
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> None:
        super().__init__()
        self.lower, self.upper = lower, upper

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return ops.rrelu(x, self.lower, self.upper)


class ELU(Cell):
    """x above 0, alpha (exp(x) - 1) below (Clevert 2015; MindSpore: ``nn.ELU``).

    Args:
        alpha: height of the negative side.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.elu = ops.Elu(alpha)

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return self.elu(x)


class CELU(Cell):
    """x above 0, alpha (exp(x / alpha) - 1) below (MindSpore: ``nn.CELU``).

    Args:
        alpha: scale of the negative side, not 0.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.celu = ops.CeLU(alpha)

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return self.celu(x)


class SeLU(_Plain):
    """Self-normalising exponential linear unit (Klambauer 2017; MindSpore: ``nn.SeLU``)."""

    def construct(self, input_x: Any) -> Any:
        """Apply it element by element."""
        return ops.selu(input_x)


class GELU(Cell):
    """Gaussian error linear unit (Hendrycks 2016; MindSpore: ``nn.GELU``).

    Args:
        approximate: by tanh; False by the error function.
    """

    gelu = Operator(lambda cell: ops.GeLU())

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = checks.boolean("approximate", approximate, self.cls_name)

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        (x,) = laid(self, "gelu", x)
        return ops.gelu(x, "tanh" if self.approximate else "none")


class FastGelu(_Plain):
    """Gaussian error linear unit by a logistic function (MindSpore: ``nn.FastGelu``)."""

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return ops.fast_gelu(x)


class SiLU(_Plain):
    """x * sigmoid(x) (MindSpore: ``nn.SiLU``)."""

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return ops.silu(x)


class Sigmoid(_Plain):
    """Logistic function (MindSpore: ``nn.Sigmoid``)."""

    sigmoid = Operator(lambda cell: ops.Sigmoid())

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return ops.sigmoid(*laid(self, "sigmoid", x))


class LogSigmoid(_Plain):
    """Logarithm of the logistic function (MindSpore: ``nn.LogSigmoid``)."""

    def construct(self, input_x: Any) -> Any:
        """Apply it element by element."""
        return ops.logsigmoid(input_x)


class HSigmoid(_Plain):
    """relu6(x + 3) / 6 (MindSpore: ``nn.HSigmoid``)."""

    def construct(self, input: Any) -> Any:
        """Apply it element by element."""
        return ops.hardsigmoid(input)


class HSwish(_Plain):
    """x * relu6(x + 3) / 6 (MindSpore: ``nn.HSwish``)."""

    def construct(self, input: Any) -> Any:
        """Apply it element by element."""
        return ops.hardswish(input)


class Softmax(Cell):
    """Exponentials that sum to 1 along an axis (MindSpore: ``nn.Softmax``).

    Args:
        axis: the axis, or a tuple of axes.
    """

    def __init__(self, axis: Any = -1) -> None:
        super().__init__()
        self.softmax = _Softmax(axis)

    def construct(self, input: Any) -> Any:
        """Apply it along the axis."""
        return self.softmax(input)


class Softmax2d(_Plain):
    """Softmax over the channels of (N, C, H, W) or (C, H, W) (MindSpore: ``nn.Softmax2d``)."""

    def construct(self, x: Any) -> Any:
        """Apply it along axis -3."""
        if len(x.shape) not in (3, 4):
            raise located(
                ValueError,
                f"For 'Softmax2d', the dim of input 'x' must be 3 or 4, but got {len(x.shape)}.",
            )
        return softmax(x, -3)


class LogSoftmax(Cell):
    """Logarithm of the softmax along an axis (MindSpore: ``nn.LogSoftmax``).

    Args:
        axis: the axis.
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.log_softmax = _LogSoftmax(axis)

    def construct(self, x: Any) -> Any:
        """Apply it along the axis."""
        return self.log_softmax(x)


class Softmin(Cell):
    """Softmax of -x along an axis (MindSpore: ``nn.Softmin``).

    Args:
        axis: the axis.
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = checks.of_type("axis", axis, int, self.cls_name)

    def construct(self, x: Any) -> Any:
        """Apply it along the axis."""
        return softmin(x, self.axis)


class Softsign(_Plain):
    """x / (1 + abs(x)) (MindSpore: ``nn.Softsign``)."""

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return ops.softsign(x)


class Mish(_Plain):
    """x * tanh(log(1 + exp(x))) (Misra 2019; MindSpore: ``nn.Mish``)."""

    def construct(self, input_x: Any) -> Any:
        """Apply it element by element."""
        return ops.mish(input_x)


class Tanh(_Plain):
    """Hyperbolic tangent (MindSpore: ``nn.Tanh``)."""

    tanh = Operator(lambda cell: _Tanh())

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return tanh(*laid(self, "tanh", x))


class Tanhshrink(_Plain):
    """x - tanh(x) (MindSpore: ``nn.Tanhshrink``)."""

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return ops.tanhshrink(x)


class Hardtanh(Cell):
    """x cut at two bounds (MindSpore: ``nn.Hardtanh``).

    Args:
        min_val: lower bound.
        max_val: upper bound, above the lower one.
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        self.min_val = checks.of_type("min_val", min_val, (float, int), self.cls_name)
        self.max_val = checks.of_type("max_val", max_val, (float, int), self.cls_name)
        if min_val >= max_val:
            raise located(
                ValueError,
                "For Hardtanh, min_val should be less than max_val,but got "
                f"{min_val} and {max_val}",
            )

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return ops.hardtanh(x, self.min_val, self.max_val)


class HShrink(Cell):
    """0 within [-lambd, lambd], x outside (MindSpore: ``nn.HShrink``).

    Args:
        lambd: half width.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.hshrink = ops.HShrink(lambd)

    def construct(self, input: Any) -> Any:
        """Apply it element by element."""
        return self.hshrink(input)


class SoftShrink(Cell):
    """x moved towards 0 by lambd (MindSpore: ``nn.SoftShrink``).

    Args:
        lambd: half width of what becomes 0.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.softshrink = ops.SoftShrink(lambd)

    def construct(self, input: Any) -> Any:
        """Apply it element by element."""
        return self.softshrink(input)


class Threshold(Cell):
    """x above a threshold, a constant elsewhere (MindSpore: ``nn.Threshold``).

    Args:
        threshold: the bound.
        value: the constant.
    """

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold, self.value = threshold, value

    def construct(self, input_x: Any) -> Any:
        """Apply it element by element."""
        return ops.threshold(input_x, self.threshold, self.value)


class GLU(Cell):
    """First half along an axis times the sigmoid of the second (MindSpore: ``nn.GLU``).

    Args:
        axis: the axis.
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.glu = ops.GLU(axis)

    def construct(self, x: Any) -> Any:
        """Halve and gate."""
        return self.glu(x)


class LRN(Cell):
    """Local response normalization over channels (Krizhevsky 2012; MindSpore: ``nn.LRN``).

    Args:
        depth_radius: half width of the window of channels.
        bias: added to the sum.
        alpha: factor of the sum.
        beta: exponent.
        norm_region: only ``"ACROSS_CHANNELS"``.
    """

    def __init__(
        self,
        depth_radius: int = 5,
        bias: float = 1.0,
        alpha: float = 1.0,
        beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ) -> None:
        super().__init__()
        self.lrn = _LRN(depth_radius, bias, alpha, beta, norm_region)

    def construct(self, input_x: Any) -> Any:
        """Normalize (N, C, H, W)."""
        return self.lrn(input_x)


_BY_NAME: dict[str, type[Cell]] = {
    "softmin": Softmin,
    "softmax": Softmax,
    "softmax2d": Softmax2d,
    "logsoftmax": LogSoftmax,
    "relu": ReLU,
    "relu6": ReLU6,
    "rrelu": RReLU,
    "silu": SiLU,
    "tanh": Tanh,
    "tanhshrink": Tanhshrink,
    "hardtanh": Hardtanh,
    "gelu": GELU,
    "fast_gelu": FastGelu,
    "elu": ELU,
    "sigmoid": Sigmoid,
    "softsign": Softsign,
    "prelu": PReLU,
    "leakyrelu": LeakyReLU,
    "hswish": HSwish,
    "hsigmoid": HSigmoid,
    "logsigmoid": LogSigmoid,
    "softshrink": SoftShrink,
    "hshrink": HShrink,
    "threshold": Threshold,
    "mish": Mish,
}


def get_activation(name: str | None, prim_name: str | None = None) -> Cell | None:
    """Make an activation layer by its name (MindSpore: ``nn.get_activation``).

    Args:
        name: such as ``"relu"``; None gives None.
        prim_name: class named in the error.

    Returns:
        A new Cell.

    Raises:
        KeyError: there is no such activation.
    """
    if name is None:
        return None
    if not isinstance(name, str) or name not in _BY_NAME:
        owner = f"For '{prim_name}', the" if prim_name else "The"
        raise located(KeyError, f"{owner} 'name' must be in {list(_BY_NAME)}, but got {name}.")
    return _BY_NAME[name]()
