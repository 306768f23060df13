"""Old import path: ``mindspore.common.dtype``."""

from mindjax.dtype import *  # noqa: F403
