"""Old import path: ``mindspore.common.dtype``."""

from mindjax.core.dtype import _null as _null
from mindjax.dtype import *  # noqa: F403
