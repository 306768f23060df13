"""AdaFactor: second moments of matrices held as means of rows and columns."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float16, float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.optim.optimizer import MISSING, Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter, ParameterTuple
from mindjax.tensor.tensor import Tensor

_ONE = Tensor([1.0], float32)


class AdaFactor(Optimizer):
    """Adafactor (MindSpore: ``nn.AdaFactor``; Shazeer & Stern 2018).

    The moments of a weight of two and more axes are those of its rows and columns; a step's root
    mean square is limited, and the rate may follow the step and the weight's size.

    Args:
        params: as in `Optimizer`.
        learning_rate: as in `Optimizer`; None with ``relative_step``.
        eps: two floats from 0 up: added to squared gradients, and the least size of a weight.
        clip_threshold: largest root mean square of a step, a float from 0 up.
        decay_rate: power of the moments' decay, between 0 and 1.
        beta1: decay of the steps' mean, from 0 up; 0 or None for none.
        weight_decay: a number from 0 up and below 1, for all names.
        scale_parameter: whether the rate is times the weight's size, if it is a number.
        relative_step: whether the rate is 1 / √t, at most 0.01.
        warmup_init: whether that limit is 1e-6 t instead.
        compression: whether vectors keep their moments in Float16.
        loss_scale: as in `Optimizer`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range, or arguments exclude each other.
    """

    _targets = "own"

    def __init__(
        self,
        params: Any = MISSING,
        learning_rate: Any = None,
        eps: tuple[float, float] = (1e-30, 1e-3),
        clip_threshold: float = 1.0,
        decay_rate: float = 0.8,
        beta1: float | None = 0.9,
        weight_decay: float = 0.0,
        scale_parameter: bool = True,
        relative_step: bool = True,
        warmup_init: bool = False,
        compression: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        if learning_rate is not None and relative_step:
            raise located(
                ValueError,
                "For 'AdaFactor', cannot combine manual lr and relative_step options: "
                f"'learning_rate' is {learning_rate!r}.",
            )
        if warmup_init and not relative_step:
            raise located(
                ValueError, "For 'AdaFactor', warmup_init requires relative_step=True, got False."
            )
        if learning_rate is None and not relative_step:
            raise located(
                ValueError,
                "For 'AdaFactor', 'learning_rate' cannot be None with relative_step=False.",
            )
        learning_rate = 0.0 if learning_rate is None else learning_rate
        beta1 = 0.0 if beta1 is None else beta1
        self_scaling = isinstance(learning_rate, float | int)
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check(eps, clip_threshold, decay_rate, beta1, weight_decay)
        flags = {
            "scale_parameter": scale_parameter,
            "relative_step": relative_step,
            "compression": compression,
        }
        for name, flag in flags.items():
            checks.of_type(name, flag, bool, self.cls_name)
        self.scale_lr = self_scaling
        self.scale_parameter = scale_parameter and self_scaling
        self.relative_step, self.warmup_init = relative_step, warmup_init
        self.compression = compression
        self.use_first_moment = beta1 > 0
        self.eps = Tensor([float(e) for e in eps], float32)
        self.clip_threshold = Tensor(clip_threshold, float32)
        self.decay_rate = Tensor(-decay_rate, float32)
        self.beta1 = Tensor(beta1, float32)
        if self.is_bound:
            self.create_state()

    def _check(self, eps: Any, clip: Any, decay: Any, beta1: Any, weight_decay: Any) -> None:
        owner = self.cls_name
        checks.of_type("eps", eps, (list, tuple), owner)
        if len(eps) != 2:
            raise located(
                ValueError, f"For '{owner}', 'eps' must have 2 value: (eps1, eps2), got {eps}."
            )
        for name, value in (("eps0", eps[0]), ("eps1", eps[1]), ("clip_threshold", clip)):
            checks.of_type(name, value, float, owner)
            checks.float_above(name, value, owner, ">=")
        checks.of_type("decay_rate", decay, float, owner)
        checks.in_range("decay_rate", decay, 0, 1, owner, "()")
        if not isinstance(weight_decay, Cell):
            checks.in_range("weight_decay", weight_decay, 0, 1, owner, "[)")
        checks.of_type("beta1", beta1, (int, float), owner)
        checks.float_above("beta1", float(beta1), owner, ">=")

    def create_state(self) -> None:
        """Make the means of steps, and of squares: by rows and columns, or whole."""
        if self.use_first_moment:
            self.exp_avg = self.parameters.clone(prefix="exp_avg", init="zeros")
        else:
            self.exp_avg = ParameterTuple([Parameter(Tensor(0.0))] * self.param_length)
        rows, columns, squares = [], [], []
        for p in self.parameters:
            shapes: tuple[tuple[int, ...], ...] = ((1,), (1,), p.shape)
            if p.ndim > 1:
                shapes = p.shape[:-1], (*p.shape[:-2], p.shape[-1]), (1,)
            whole = float16 if self.compression and p.ndim < 2 else p.dtype
            for kind, made, shape, dtype in zip(
                ("row_", "col_", ""),
                (rows, columns, squares),
                shapes,
                (p.dtype, p.dtype, whole),
                strict=True,
            ):
                name = f"exp_avg_sq_{kind}{p.name}"
                made.append(Parameter(initializer(0, shape, dtype), name=name))
        self.exp_avg_sq_row = ParameterTuple(rows)
        self.exp_avg_sq_col = ParameterTuple(columns)
        self.exp_avg_sq = ParameterTuple(squares)
        self.step = Parameter(initializer(0, [1], float32), name="afactor_step")
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length

    @property
    def supports_memory_efficient_fp16(self) -> bool:
        """Whether Float16 weights need no Float32 copy."""
        return True

    @property
    def supports_flat_params(self) -> bool:
        """Whether weights may be one flat vector: rows and columns would be lost."""
        return False

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters and means.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True for each Parameter.
        """
        decays = self._decays()
        gradients, rates = self._prepare(gradients, decay=False)
        ops.assign_add(self.step, _ONE)
        step = ops.reshape(self.step, ())
        if self.scale_lr and self.relative_step:
            limit = 1e-6 * step if self.warmup_init else 0.01
            rates = self._each(ops.minimum(limit, ops.rsqrt(step)), False)
        beta2 = 1.0 - ops.pow(step, self.decay_rate)
        states = self.exp_avg, self.exp_avg_sq_row, self.exp_avg_sq_col, self.exp_avg_sq
        for gradient, rate, decay, parameter, *state in zip(
            gradients, rates, decays, self.parameters, *states, strict=True
        ):
            record = ops.FusedAdaFactor(
                self.scale_parameter, self.use_first_moment, decay is not None
            )
            numbers = self.eps, self.clip_threshold, self.beta1, beta2
            least = 0.0 if decay is None else decay / self.loss_scale
            record(*numbers, least, rate, gradient, parameter, *state)
        return (True,) * self.param_length
