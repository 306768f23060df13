"""`MoE`: a feed-forward layer of many experts, of which each token sees some."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import Type, float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.tensor.initializer import Normal, initializer
from mindjax.tensor.parameter import Parameter
from mindjax_parallel.experts import ACTIVATIONS, MixtureOfExperts
from mindjax_parallel.layout import Layout


class MoE(Cell):
    """A feed-forward layer of many experts (Shazeer, 2017; Lepikhin, 2021; Fedus, 2022).

    The original's package has no such layer; the names are those of its ecosystem. In semi-auto
    parallel mode it is cut as its arguments say; elsewhere it computes the same on one device.

    Args:
        hidden_size: H, size of a token.
        ffn_hidden_size: F, hidden size of an expert.
        expert_num: E, number of experts.
        num_experts_chosen: experts a token, from 1 up.
        capacity_factor: an expert takes this many times the mean number of tokens of a group, and
            tokens beyond that skip it; None drops none.
        groups: number of groups that tokens are cut into, in order, each with places of its own. A
            multiple of ``data_parallel``. It decides which tokens are dropped, so that a layer
            computes the same on any number of devices only with as many groups.
        activation: ``"gelu"``, ``"relu"``, ``"silu"``, or ``"swiglu"`` with a third matrix.
        normalize: whether a token's weights add up to 1, else they are the softmax's; None for
            whether it has several experts.
        aux_loss_factor: of the loss that balances experts, which is 1 where they are balanced.
        data_parallel: parts of the tokens.
        expert_parallel: parts of the experts; it divides ``data_parallel``.
        model_parallel: parts of each expert's hidden dimension.
        dtype: of the Parameters.

    Inputs: ``x`` (..., H). Outputs: Tensor (..., H); the balance loss, float32 ().

    Raises:
        TypeError: an argument has another type.
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        hidden_size: int,
        ffn_hidden_size: int,
        expert_num: int,
        num_experts_chosen: int = 1,
        capacity_factor: float | None = 1.25,
        groups: int = 1,
        activation: str = "gelu",
        normalize: bool | None = None,
        aux_loss_factor: float = 0.01,
        data_parallel: int = 1,
        expert_parallel: int = 1,
        model_parallel: int = 1,
        dtype: Type = float32,
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        for name, value in (
            ("hidden_size", hidden_size),
            ("ffn_hidden_size", ffn_hidden_size),
            ("expert_num", expert_num),
            ("num_experts_chosen", num_experts_chosen),
            ("groups", groups),
            ("data_parallel", data_parallel),
            ("expert_parallel", expert_parallel),
            ("model_parallel", model_parallel),
        ):
            checks.positive_int(name, value, owner)
        checks.one_of("activation", activation, tuple(ACTIVATIONS), owner)

        def wrong(why: str) -> ValueError:
            return located(ValueError, f"For '{owner}', {why}.")

        if num_experts_chosen > expert_num:
            raise wrong(
                f"the 'num_experts_chosen' {num_experts_chosen} must be at most the 'expert_num' "
                f"{expert_num}"
            )
        if capacity_factor is not None and not capacity_factor > 0:
            raise wrong(f"the 'capacity_factor' must be above 0, but got {capacity_factor}")
        for name, value, parts_name, parts in (
            ("expert_num", expert_num, "expert_parallel", expert_parallel),
            ("ffn_hidden_size", ffn_hidden_size, "model_parallel", model_parallel),
            ("data_parallel", data_parallel, "expert_parallel", expert_parallel),
            ("groups", groups, "data_parallel", data_parallel),
        ):
            if value % parts:
                raise wrong(
                    f"the '{name}' {value} must be a multiple of the '{parts_name}' {parts}"
                )
        self.aux_loss_factor = float(aux_loss_factor)
        several = num_experts_chosen > 1 if normalize is None else bool(normalize)
        factor = None if capacity_factor is None else float(capacity_factor)
        self.experts = MixtureOfExperts(num_experts_chosen, factor, groups, activation, several)

        def weight(*shape: int) -> Parameter:
            deviation = shape[-2] ** -0.5
            return Parameter(initializer(Normal(sigma=deviation), shape, dtype))

        self.router = weight(hidden_size, expert_num)
        self.up = weight(expert_num, hidden_size, ffn_hidden_size)
        self.down = weight(expert_num, ffn_hidden_size, hidden_size)
        self.gate = None
        if activation == "swiglu":
            self.gate = weight(expert_num, hidden_size, ffn_hidden_size)
        if data_parallel * model_parallel > 1:
            self._cut(data_parallel, expert_parallel, model_parallel)

    def _cut(self, data: int, experts: int, model: int) -> None:
        axes = Layout((data // experts, experts, model), ("replica", "expert", "model"))
        inner = axes("expert", "None", "model")
        strategy = [
            axes(("replica", "expert"), "None"),
            axes("None", "None"),
            inner,
            axes("expert", "model", "None"),
        ]
        if self.gate is not None:
            strategy.append(inner)
        self.experts.shard(tuple(strategy))

    def construct(self, x: Any) -> Any:
        """Map tokens, and give the balance loss."""
        rows = ops.reshape(x, (-1, x.shape[-1]))
        y, loss = self.experts(rows, self.router, self.up, self.down, self.gate)
        return ops.reshape(y, x.shape), loss * self.aux_loss_factor
