"""Programs on several devices (``mindspore.parallel``)."""

from mindjax.checkpoint.merge import load_distributed_checkpoint as load_distributed_checkpoint
from mindjax.checkpoint.merge import merge_sliced_parameter as merge_sliced_parameter
from mindjax.checkpoint.segments import load_segmented_checkpoints as load_segmented_checkpoints
from mindjax.checkpoint.strategy import build_searched_strategy as build_searched_strategy
from mindjax.checkpoint.strategy import merge_pipeline_strategys as merge_pipeline_strategys
from mindjax.checkpoint.strategy import restore_group_info_list as restore_group_info_list
from mindjax.checkpoint.transform import convert_checkpoint_by_rank as convert_checkpoint_by_rank
from mindjax.checkpoint.transform import convert_checkpoints as convert_checkpoints
from mindjax.checkpoint.transform import rank_list_for_convert as rank_list_for_convert
from mindjax.checkpoint.transform import rank_list_for_transform as rank_list_for_transform
from mindjax.checkpoint.transform import (
    transform_checkpoint_by_rank as transform_checkpoint_by_rank,
)
from mindjax.checkpoint.transform import transform_checkpoints as transform_checkpoints
from mindjax.checkpoint.unify import unified_safetensors as unified_safetensors
from mindjax.core.algo_parameters import get_algo_parameters as get_algo_parameters
from mindjax.core.algo_parameters import reset_algo_parameters as reset_algo_parameters
from mindjax.core.algo_parameters import set_algo_parameters as set_algo_parameters
from mindjax_parallel.layout import Layout as Layout
from mindjax_parallel.parameters import parameter_broadcast as parameter_broadcast
from mindjax_parallel.parameters import set_op_strategy_config as set_op_strategy_config
from mindjax_parallel.parameters import (
    sync_pipeline_shared_parameters as sync_pipeline_shared_parameters,
)
from mindjax_parallel.shard import shard as shard
