"""Old import paths of the original (``mindspore.common.*``): names only, nothing is defined here."""

from mindjax.common.dtype import *  # noqa: F403
from mindjax.common.seed import get_rng_state as get_rng_state
from mindjax.common.seed import get_seed as get_seed
from mindjax.common.seed import initial_seed as initial_seed
from mindjax.common.seed import manual_seed as manual_seed
from mindjax.common.seed import seed as seed
from mindjax.common.seed import set_rng_state as set_rng_state
from mindjax.common.seed import set_seed as set_seed
