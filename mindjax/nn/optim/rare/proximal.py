"""Optimizers that shrink weights to zero: FTRL and ProximalAdagrad."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.optim.gradients import is_sparse
from mindjax.nn.optim.optimizer import MISSING, Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.tensor.tensor import Tensor


class FTRL(Optimizer):
    """Follow the regularized leader (MindSpore: ``nn.FTRL``; McMahan et al. 2013).

    n' = n + g²; z = z + g - (n'^-power - n^-power) / lr p; p = 0 where |z| <= l1, elsewhere
    (sign(z) l1 - z) / (n'^-power / lr + 2 l2).

    Args:
        params: as in `Optimizer`, groups without ``lr``.
        initial_accum: first value of the sums of squares, a float from 0 up.
        learning_rate: a positive float.
        lr_power: a float, at most 0.
        l1: strength of the sparsity penalty, a float from 0 up.
        l2: strength of the quadratic penalty, a float from 0 up.
        use_locking: kept for scripts: updates never race.
        loss_scale: as in `Optimizer`.
        weight_decay: as in `Optimizer`, for all names.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range, or the learning rate changes or belongs to a group.
    """

    _targets = "any"
    _sparse = True

    def __init__(
        self,
        params: Any = MISSING,
        initial_accum: float = 0.1,
        learning_rate: float = 0.001,
        lr_power: float = -0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._refuse_dynamic_rates()
        for name, value, bound in (
            ("initial_accum", initial_accum, ">="),
            ("learning_rate", learning_rate, ">"),
            ("l1", l1, ">="),
            ("l2", l2, ">="),
        ):
            checks.of_type(name, value, float, self.cls_name)
            checks.float_above(name, value, self.cls_name, bound)
        checks.of_type("lr_power", lr_power, float, self.cls_name)
        if lr_power > 0.0:
            raise located(
                ValueError,
                f"For 'FTRL', the argument 'lr_power' must <= 0.0, but got {lr_power}.",
            )
        checks.of_type("use_locking", use_locking, bool, self.cls_name)
        self.l1, self.l2, self.lr, self.lr_power = l1, l2, learning_rate, lr_power
        self.use_locking = use_locking
        self._first = initial_accum
        self.opt = ops.ApplyFtrl(use_locking)
        self.sparse_opt = ops.FusedSparseFtrl(learning_rate, l1, l2, lr_power, use_locking)
        if self.is_bound:
            self.create_state()

    def _refuse_dynamic_rates(self) -> None:
        if self.dynamic_lr or self.is_group_lr:
            raise located(
                ValueError,
                "For 'FTRL', dynamic learning rate and group learning rate are currently not "
                "supported in FTRL, they should all be false, but got dynamic learning rate "
                f"{self.dynamic_lr} and group learning rate {self.is_group_lr}.",
            )

    def create_state(self) -> None:
        """Make the sums of squares and the linear coefficients."""
        self._refuse_dynamic_rates()
        self.moments = self.parameters.clone(prefix="moments", init=self._first)
        self.linear = self.parameters.clone(prefix="linear", init="zeros")
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length

    @one_program
    def construct(self, grads: Any) -> Any:
        """Write the new values of Parameters, sums and coefficients.

        Args:
            grads: gradient of each Parameter.

        Returns:
            True for each Parameter.
        """
        grads, rates = self._prepare(grads)
        for gradient, rate, *state in zip(
            grads, rates, self.parameters, self.moments, self.linear, strict=True
        ):
            if is_sparse(gradient):
                self.sparse_opt(*state, gradient.values, gradient.indices)
            else:
                self.opt(*state, gradient, rate, self.l1, self.l2, self.lr_power)
        return (True,) * self.param_length


class ProximalAdagrad(Optimizer):
    """Adagrad and then shrinking (MindSpore: ``nn.ProximalAdagrad``; Duchi & Singer 2009).

    s = s + g²; q = p - lr / √s g; p = sign(q) max(|q| - lr / √s l1, 0) / (1 + lr / √s l2).

    Args:
        params: as in `Optimizer`.
        accum: first value of the sums of squares, a float from 0 up.
        learning_rate: as in `Optimizer`.
        l1: strength of the sparsity penalty, a float from 0 up.
        l2: strength of the quadratic penalty, a float from 0 up.
        use_locking: kept for scripts: updates never race.
        loss_scale: as in `Optimizer`.
        weight_decay: as in `Optimizer`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    _targets = "any"
    _sparse = True

    def __init__(
        self,
        params: Any = MISSING,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        for name, value in (("accum", accum), ("l1", l1), ("l2", l2)):
            checks.of_type(name, value, float, self.cls_name)
            checks.float_above(name, value, self.cls_name, ">=")
        checks.of_type("use_locking", use_locking, bool, self.cls_name)
        self.l1, self.l2 = Tensor(l1, float32), Tensor(l2, float32)
        self.use_locking = use_locking
        self._first = accum
        self.opt = ops.ApplyProximalAdagrad(use_locking)
        self.sparse_opt = ops.FusedSparseProximalAdagrad(use_locking)
        if self.is_bound:
            self.create_state()

    def create_state(self) -> None:
        """Make the sums of squares."""
        self.accum = self.parameters.clone(prefix="accum", init=self._first)

    @one_program
    def construct(self, grads: Any) -> Any:
        """Write the new values of Parameters and sums.

        Args:
            grads: gradient of each Parameter.

        Returns:
            True for each Parameter.
        """
        grads, rates = self._prepare(grads)
        for gradient, rate, *state in zip(grads, rates, self.parameters, self.accum, strict=True):
            numbers = rate, self.l1, self.l2
            if is_sparse(gradient):
                self.sparse_opt(*state, *numbers, gradient.values, gradient.indices)
            else:
                self.opt(*state, *numbers, gradient)
        return (True,) * self.param_length
