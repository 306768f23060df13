"""Adam for sparse gradients, and Adam whose step is added apart from its moments."""

from __future__ import annotations

from typing import Any, ClassVar

from mindjax import ops
from mindjax.core import checks
from mindjax.nn.optim.adam import PoweredAdam
from mindjax.nn.optim.optimizer import MISSING


class LazyAdam(PoweredAdam):
    """Adam whose sparse gradients leave other rows alone (MindSpore: ``nn.LazyAdam``).

    A dense gradient steps as in `Adam`. Deprecated in MindSpore for ``Adam(use_lazy=True)``.

    Args:
        params: as in `Optimizer`.
        learning_rate: as in `Optimizer`.
        beta1: decay of the first moment, between 0 and 1.
        beta2: decay of the second moment, between 0 and 1.
        eps: positive number added to the root.
        use_locking: kept for scripts: updates never race.
        use_nesterov: whether to look one step ahead.
        weight_decay: a float from 0 up, as in `Optimizer`.
        loss_scale: as in `Optimizer`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    _sparse = True
    _power_shape: ClassVar[tuple[int, ...]] = (1,)

    def __init__(
        self,
        params: Any = MISSING,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: float = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(
            params,
            learning_rate,
            (beta1, beta2),
            eps,
            weight_decay,
            loss_scale,
            use_locking=use_locking,
            use_nesterov=use_nesterov,
        )
        checks.of_type("weight_decay", weight_decay, float, self.cls_name)
        self.opt = ops.Adam(use_locking, use_nesterov)
        self.sparse_opt = ops.FusedSparseLazyAdam(use_locking, use_nesterov)
        if self.is_bound:
            self.create_state()


class AdamOffload(PoweredAdam):
    """Adam whose step is computed and then added (MindSpore: ``nn.AdamOffload``).

    The original computes the step on the host; here it is on the network's device. Deprecated in
    MindSpore for ``Adam(use_offload=True)``.

    Args:
        params: as in `Optimizer`.
        learning_rate: as in `Optimizer`.
        beta1: decay of the first moment, between 0 and 1.
        beta2: decay of the second moment, between 0 and 1.
        eps: positive number added to the root.
        use_locking: kept for scripts: updates never race.
        use_nesterov: whether to look one step ahead.
        weight_decay: as in `Optimizer`.
        loss_scale: as in `Optimizer`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    _targets = "none"
    _adds = True
    _power_shape: ClassVar[tuple[int, ...]] = (1,)

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
    ) -> None:
        super().__init__(
            params,
            learning_rate,
            (beta1, beta2),
            eps,
            weight_decay,
            loss_scale,
            use_locking=use_locking,
            use_nesterov=use_nesterov,
        )
        self.opt = ops.AdamNoUpdateParam(use_locking, use_nesterov)
        if self.is_bound:
            self.create_state()
