"""Programs on several devices (``mindspore.parallel``); in a world of one, its settings."""

from mindjax.checkpoint.segments import load_segmented_checkpoints as load_segmented_checkpoints
from mindjax.checkpoint.strategy import build_searched_strategy as build_searched_strategy
from mindjax.checkpoint.strategy import restore_group_info_list as restore_group_info_list
