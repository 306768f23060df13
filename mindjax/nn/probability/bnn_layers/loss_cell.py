"""The loss of a Bayesian network."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.probability.bnn_layers.variational import Variational


class WithBNNLossCell(Cell):
    """A network with a loss and the divergence of its Bayesian layers' weights.

    Args:
        backbone: the network.
        loss_fn: the loss, a Cell of outputs and labels.
        dnn_factor: factor of the loss, from 0 up.
        bnn_factor: factor of the divergence, from 0 up.

    Raises:
        TypeError: a factor is no number.
        ValueError: a factor is below 0.

    MindSpore: ``nn.probability.bnn_layers.WithBNNLossCell``.
    """

    def __init__(
        self, backbone: Any, loss_fn: Any, dnn_factor: float = 1, bnn_factor: float = 1
    ) -> None:
        super().__init__(auto_prefix=False)
        for name, value in (("dnn_factor", dnn_factor), ("bnn_factor", bnn_factor)):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise located(
                    TypeError,
                    f"The type of `{name}` must be `int` or `float`, but got {value!r}.",
                )
            if value < 0:
                raise located(ValueError, f"The value of `{name}` must be >= 0, but got {value}.")
        self.dnn_factor, self.bnn_factor = dnn_factor, bnn_factor
        self._backbone = backbone
        self._loss_fn = loss_fn
        self.kl_loss = [cell.compute_kl_loss for cell in _variational(backbone)]

    def construct(self, x: Any, label: Any) -> Any:
        """Compute the loss of a batch."""
        loss = self._loss_fn(self._backbone(x), label) * self.dnn_factor
        for divergence in self.kl_loss:
            loss = loss + divergence() * self.bnn_factor
        return loss

    @property
    def backbone_network(self) -> Any:
        """The network."""
        return self._backbone


def _variational(net: Any) -> list[Any]:
    """List the Bayesian layers in a network, none of which lies in another."""
    found = []
    for cell in net.name_cells().values():
        found += [cell] if isinstance(cell, Variational) else _variational(cell)
    return found
