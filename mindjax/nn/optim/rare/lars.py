"""LARS: another optimizer, with gradients scaled by each layer's trust ratio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.optim.gradients import scaled
from mindjax.nn.optim.optimizer import Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


def _no_norm_or_bias(parameter: Any) -> bool:
    return "LayerNorm" not in parameter.name and "bias" not in parameter.name


class LARS(Optimizer):
    """Layer-wise adaptive rates (MindSpore: ``nn.LARS``; You et al. 2017).

    g = ratio (g + decay p) with ratio = coefficient ‖p‖ / (‖g‖ + decay ‖p‖ + epsilon), which the
    wrapped optimizer steps by. It takes the optimizer's weight decay and loss scale over.

    Args:
        optimizer: the optimizer that steps.
        epsilon: added to the ratio's denominator, a float.
        coefficient: of the ratio, a float.
        use_clip: whether the ratio is divided by the learning rate and limited to one.
        lars_filter: tells of a Parameter whether its gradient is scaled.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: ``use_clip`` with learning rates that change and differ by group.
    """

    def __init__(
        self,
        optimizer: Any,
        epsilon: float = 1e-5,
        coefficient: float = 0.001,
        use_clip: bool = False,
        lars_filter: Callable[[Any], bool] = _no_norm_or_bias,
    ) -> None:
        super().__init__(0.0, [Parameter(Tensor(0.0), name="fake_param")])
        checks.of_type("optimizer", optimizer, Optimizer, self.cls_name)
        checks.of_type("epsilon", epsilon, float, self.cls_name)
        checks.of_type("coefficient", coefficient, float, self.cls_name)
        checks.of_type("use_clip", use_clip, bool, self.cls_name)
        self.opt = optimizer
        self.use_clip = use_clip
        self.lars = ops.LARSUpdate(epsilon, coefficient, use_clip)
        self._clip_flags = optimizer.is_group_lr and use_clip, optimizer.dynamic_lr and use_clip
        self.is_group_lr, self.dynamic_lr = self._clip_flags
        if all(self._clip_flags):
            raise located(
                ValueError,
                "For 'LARS', if the argument 'use_clip' is set to True, then the dynamic learning "
                "rate and group learning rate cannot both be true.",
            )
        self.parameters = optimizer.parameters
        self.global_step = optimizer.global_step
        self.learning_rate = Parameter(Tensor(0.0, float32), name="fake_lr")
        self.lars_flag = tuple(bool(lars_filter(p)) for p in self.parameters)
        for name in (
            "is_group",
            "loss_scale",
            "need_scale",
            "reciprocal_scale",
            "weight_decay",
            "decay_flags",
            "dynamic_decay_flags",
            "dynamic_weight_decay",
            "exec_weight_decay",
        ):
            setattr(self, name, getattr(optimizer, name))
        optimizer.exec_weight_decay = optimizer.dynamic_weight_decay = False
        optimizer.decay_flags = (False,) * self.param_length
        optimizer.dynamic_decay_flags = (
            (False,) * self.param_length if optimizer.is_group else False
        )
        optimizer.need_scale = False

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Scale the gradients, and step.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            What the optimizer gives.
        """
        self._check_gradients(gradients)
        rates: Any = [self.learning_rate] * self.param_length
        if self.use_clip:
            rates = self._each(self.opt.get_lr(), self.opt.is_group_lr)
        decays = self._decays()
        if self.need_scale:
            gradients = tuple(scaled(g, self.reciprocal_scale) for g in gradients)
        return self.opt(
            tuple(
                self._trusted(*each) if scale else each[0]
                for scale, *each in zip(
                    self.lars_flag, gradients, self.parameters, decays, rates, strict=True
                )
            )
        )

    def _trusted(self, gradient: Any, parameter: Any, decay: Any, rate: Any) -> Any:
        norms = ops.SquareSumAll()(parameter, gradient)
        decay = 0.0 if decay is None else decay / self.loss_scale
        return self.lars(parameter, gradient, *norms, decay, rate)
