"""How Parameters of compiled programs lie on the ranks (``mindspore.parallel.strategy``)."""

from mindjax_parallel.strategy_metadata import clear_strategy_metadata as clear_strategy_metadata
from mindjax_parallel.strategy_metadata import (
    enable_save_strategy_online as enable_save_strategy_online,
)
from mindjax_parallel.strategy_metadata import (
    get_current_strategy_metadata as get_current_strategy_metadata,
)
from mindjax_parallel.strategy_metadata import get_strategy_metadata as get_strategy_metadata
