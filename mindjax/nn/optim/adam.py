"""Adam and AdamWeightDecay."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.optim.gradients import is_sparse
from mindjax.nn.optim.optimizer import MISSING, Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.ops.update import ApplyAdamWithAmsgradV2
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


def check_betas(owner: str, beta1: Any, beta2: Any, eps: Any) -> None:
    """Check the numbers of the Adam family.

    Args:
        owner: the optimizer's name.
        beta1: decay of the first moment, between 0 and 1.
        beta2: decay of the second moment, between 0 and 1.
        eps: positive number.

    Raises:
        TypeError: one is not a float.
        ValueError: one is out of range.
    """
    for name, value in (("beta1", beta1), ("beta2", beta2), ("eps", eps)):
        checks.of_type(name, value, float, owner)
    checks.in_range("beta1", beta1, 0.0, 1.0, owner, "()")
    checks.in_range("beta2", beta2, 0.0, 1.0, owner, "()")
    checks.float_above("eps", eps, owner)


class PoweredAdam(Optimizer):
    """Base of optimizers that keep the powers of both betas in their state.

    A sparse gradient, a `RowTensor`, goes to ``sparse_opt``.
    """

    _targets = "own"
    _power_shape: ClassVar[tuple[int, ...]] = ()
    _no_gradients = RuntimeError
    _no_gradient = ValueError
    # Whether `opt` gives a step, which is then added.
    _adds: bool = False
    opt: Any
    sparse_opt: Any
    use_amsgrad = False

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        betas: tuple[Any, Any],
        eps: Any,
        weight_decay: Any,
        loss_scale: Any,
        **flags: Any,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas(self.cls_name, *betas, eps)
        for name, flag in flags.items():
            checks.of_type(name, flag, bool, self.cls_name)
            setattr(self, name, flag)
        self.beta1, self.beta2 = (Tensor(beta, float32) for beta in betas)
        ones = initializer(1, self._power_shape, float32)
        self.beta1_power = Parameter(ones, name="beta1_power")
        self.beta2_power = Parameter(ones, name="beta2_power")
        self.eps = Tensor(eps, float32)

    def create_state(self) -> None:
        """Make the moments."""
        self.moment1 = self.parameters.clone(prefix="moment1", init="zeros")
        self.moment2 = self.parameters.clone(prefix="moment2", init="zeros")
        if self.use_amsgrad:
            self.vhat = self.parameters.clone(prefix="vhat", init="zeros")

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters, moments and powers of beta.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True for each Parameter.
        """
        gradients, rates = self._prepare(gradients)
        power1, power2 = self.beta1_power * self.beta1, self.beta2_power * self.beta2
        ops.assign(self.beta1_power, power1)
        ops.assign(self.beta2_power, power2)
        states = [self.moment1, self.moment2] + ([self.vhat] if self.use_amsgrad else [])
        for gradient, rate, parameter, *state in zip(
            gradients, rates, self.parameters, *states, strict=True
        ):
            numbers = power1, power2, rate, self.beta1, self.beta2, self.eps
            if is_sparse(gradient):
                values = gradient.values, gradient.indices
                self.sparse_opt(parameter, *state, *numbers, *values)
            elif self._adds:
                ops.assign_add(parameter, self.opt(*state, *numbers, gradient))
            else:
                self.opt(parameter, *state, *numbers, gradient)
        return (True,) * self.param_length


class Adam(PoweredAdam):
    """Adam (MindSpore: ``nn.Adam``; Kingma & Ba 2015, end of section 2).

    m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g²; p = p - lr √(1 - b2ᵗ) / (1 - b1ᵗ) m / (√v + eps).

    Args:
        params: as in `Optimizer`.
        learning_rate: as in `Optimizer`.
        beta1: decay of the first moment, between 0 and 1.
        beta2: decay of the second moment, between 0 and 1.
        eps: positive number added to the root.
        use_locking: kept for scripts: updates never race.
        use_nesterov: whether to look one step ahead; MindSpore: ``use_amsgrad`` overrides it.
        weight_decay: as in `Optimizer`.
        loss_scale: as in `Optimizer`.
        use_amsgrad: whether the largest second moment so far divides (Reddi et al. 2018).
        **kwargs: ``use_lazy``: whether a sparse gradient leaves the moments of other rows alone;
            ``use_offload``: device tuning only: the update's host is the network's device.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range, or two flags exclude each other.
        KeyError: another keyword is given.
    """

    def __init__(
        self,
        params: Any = MISSING,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        flags = {"use_locking": use_locking, "use_nesterov": use_nesterov}
        flags |= {"use_amsgrad": use_amsgrad, "use_lazy": False, "use_offload": False} | kwargs
        if len(flags) > 5:
            raise located(
                KeyError,
                "For 'Adam', invalid keys are passed as kwargs, supported keys are 'use_lazy' and "
                f"'use_offload', but got {list(kwargs)}.",
            )
        betas = beta1, beta2
        super().__init__(params, learning_rate, betas, eps, weight_decay, loss_scale, **flags)
        chosen = [name for name in ("use_lazy", "use_offload", "use_amsgrad") if flags[name]]
        if len(chosen) > 1:
            raise located(
                ValueError, f"For 'Adam', '{chosen[0]}' and '{chosen[1]}' can not both be True."
            )
        self._sparse = not (use_amsgrad or flags["use_offload"])
        if use_amsgrad:
            self.opt = ApplyAdamWithAmsgradV2(use_locking)
        elif flags["use_offload"]:
            self._adds = True
            self.opt = ops.AdamNoUpdateParam(use_locking, use_nesterov)
        else:
            self.opt = ops.Adam(use_locking, use_nesterov)
        if self.is_bound:
            self.create_state()

    @property
    def sparse_opt(self) -> Any:
        """The update by a sparse gradient."""
        kind = ops.FusedSparseLazyAdam if self.use_lazy else ops.FusedSparseAdam
        return kind(self.use_locking, self.use_nesterov)


class DecoupledAdam(Optimizer):
    """Base of `AdamWeightDecay` and `Lamb`: Adam's moments, without powers of beta in the state."""

    _prefix = ""

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        beta1: float,
        beta2: float,
        eps: float,
        weight_decay: Any,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        check_betas(self.cls_name, beta1, beta2, eps)
        self.beta1, self.beta2 = (Tensor(np.array([b], np.float32)) for b in (beta1, beta2))
        self.eps = Tensor(np.array([eps], np.float32))
        if self.is_bound:
            self.create_state()

    def create_state(self) -> None:
        """Make the moments."""
        self.moments1 = self.parameters.clone(prefix=f"{self._prefix}_m", init="zeros")
        self.moments2 = self.parameters.clone(prefix=f"{self._prefix}_v", init="zeros")

    def _write(self, parameter: Any, m: Any, v: Any, rate: Any, decay: Any, gradient: Any) -> None:
        raise NotImplementedError

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters and moments.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True for each Parameter.
        """
        decays = self._decays()
        gradients, rates = self._prepare(gradients, decay=False)
        states = self.parameters, self.moments1, self.moments2
        for gradient, rate, decay, parameter, m, v in zip(
            gradients, rates, decays, *states, strict=True
        ):
            self._write(parameter, m, v, rate, decay, gradient)
        return (True,) * self.param_length


class AdamWeightDecay(DecoupledAdam):
    """Adam with decoupled weight decay and no bias correction (MindSpore: ``AdamWeightDecay``).

    m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g²; p = p - lr (m / (√v + eps) + decay p).

    Args:
        params: as in `Optimizer`.
        learning_rate: as in `Optimizer`.
        beta1: decay of the first moment, between 0 and 1.
        beta2: decay of the second moment, between 0 and 1.
        eps: positive number added to the root.
        weight_decay: number, or Cell of the step.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    _prefix = "adam"

    def __init__(
        self,
        params: Any = MISSING,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps, weight_decay)
        self.fused_opt = ops.AdamWeightDecay()

    def _write(self, parameter: Any, m: Any, v: Any, rate: Any, decay: Any, gradient: Any) -> None:
        self.fused_opt(parameter, m, v, rate, self.beta1, self.beta2, self.eps, decay, gradient)
