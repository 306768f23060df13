"""Training by THOR: models whose steps make the inverses anew at times."""

from __future__ import annotations

from typing import Any

from mindjax.nn.second_order.convert import ConvertNetUtils as ConvertNetUtils
from mindjax.nn.wrap import TrainOneStepCell
from mindjax.train.model import Model


class ModelThor(Model):
    """A model whose optimizer is `nn.thor`'s (MindSpore: ``ModelThor``).

    The first step and every ``frequency``-th after it keeps statistics and makes inverses; the
    others use them. Each of the two kinds is compiled once. Arguments are as in `Model`.
    """

    def __init__(
        self, network: Any, loss_fn: Any = None, optimizer: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(network, loss_fn, optimizer, **kwargs)
        holder = network.optimizer if isinstance(network, TrainOneStepCell) else optimizer
        self._frequency = holder.get_frequency()
        self._taken = 0

    def _step(self, row: tuple[Any, ...]) -> Any:
        place = self._taken % self._frequency
        if place < 2:
            self._train_network.add_flags_recursive(thor=place == 0)
        self._taken += 1
        return super()._step(row)


class ConvertModelUtils:
    """Makes models that train by THOR (MindSpore: ``ConvertModelUtils``)."""

    @staticmethod
    def convert_to_thor_model(
        model: Any,
        network: Any,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        amp_level: str = "O0",
        loss_scale_manager: Any = None,
        keep_batchnorm_fp32: bool = False,
    ) -> Any:
        """Make a model that makes the inverses every ``frequency`` steps.

        Args:
            model: given back where the optimizer is not `nn.thor`'s.
            network: as in `Model`.
            loss_fn: as in `Model`.
            optimizer: as in `Model`.
            metrics: as in `Model`.
            amp_level: as in `Model`.
            loss_scale_manager: as in `Model`.
            keep_batchnorm_fp32: as in `Model`.

        Returns:
            The model.
        """
        if type(optimizer).__name__ not in ("ThorAscend", "ThorGpu"):
            return model
        if isinstance(network, TrainOneStepCell):
            return ModelThor(network)
        more = {"loss_scale_manager": loss_scale_manager} if loss_scale_manager else {}
        return ModelThor(
            network,
            loss_fn,
            optimizer,
            metrics=metrics,
            amp_level=amp_level,
            keep_batchnorm_fp32=keep_batchnorm_fp32,
            **more,
        )
