"""Faster training (MindSpore: ``mindspore.boost``): an explicit list."""

from mindjax.boost.group_loss_scale import GroupLossScaleManager as GroupLossScaleManager

__all__ = ["GroupLossScaleManager"]
