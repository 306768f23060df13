"""Making a network's layers those of THOR."""

from __future__ import annotations

from typing import Any

from mindjax import nn
from mindjax.nn.conv import Conv2d
from mindjax.nn.dense import Dense
from mindjax.nn.embedding import Embedding
from mindjax.nn.second_order.layers import (
    Conv2dThor,
    DenseThor,
    EmbeddingLookupThor,
    EmbeddingThor,
)

_DONE = (DenseThor, Conv2dThor, EmbeddingThor, EmbeddingLookupThor)


class ConvertNetUtils:
    """Turns layers into those that keep THOR's statistics (MindSpore: ``ConvertNetUtils``)."""

    def convert_to_thor_net(self, net: Any) -> None:
        """Replace the trained Dense, Conv2d and embedding layers within a network.

        Names of Parameters stay; layers whose names hold ``wide`` or a detector's
        ``rpn_with_loss.rpn_convs_list.`` are left, as in the original.

        Args:
            net: the network, which is changed.
        """
        net.update_cell_prefix()
        self._convert(net)
        net.update_cell_type("second-order")

    def _convert(self, net: Any) -> None:
        changed = False
        for name, cell in net.name_cells().items():
            if cell is net or isinstance(cell, _DONE):
                continue
            made = self._made(cell)
            if made is None:
                self._convert(cell)
                continue
            prefix = cell.param_prefix.lower()
            if "rpn_with_loss.rpn_convs_list." in prefix or "wide" in prefix:
                continue
            made.update_parameters_name(f"{cell.param_prefix}.")
            for own in ("weight", "bias", "embedding_table"):
                if getattr(cell, own, None) is not None:
                    setattr(made, own, getattr(cell, own))
            made.set_train(cell.training)
            net.insert_child_to_cell(name, made)
            changed = True
        if changed and isinstance(net, nn.SequentialCell):
            net.cell_list = list(net.cells())

    def _made(self, cell: Any) -> Any:
        """Give the layer that takes a Cell's place, None for one that stays."""
        kind = type(cell)
        if kind is Dense and cell.weight.requires_grad:
            made = DenseThor(cell.in_channels, cell.out_channels, "zeros", "zeros", cell.has_bias)
            made.activation = cell.activation
            return made
        if kind is Conv2d and cell.weight.requires_grad and cell.data_format == "NCHW":
            return Conv2dThor(
                cell.in_channels,
                cell.out_channels,
                cell.kernel_size,
                cell.stride,
                cell.pad_mode,
                cell.padding,
                cell.dilation,
                cell.group,
                cell.has_bias,
                "zeros",
            )
        if kind is Embedding and cell.embedding_table.requires_grad:
            return EmbeddingThor(cell.vocab_size, cell.embedding_size, False)
        if kind.__name__ == "EmbeddingLookup" and cell.embedding_table.requires_grad:
            return EmbeddingLookupThor(
                cell.vocab_size, cell.embedding_size, target=cell.target, sparse=cell.sparse
            )
        return None
