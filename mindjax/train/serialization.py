"""The original's path of the checkpoint functions."""

from mindjax.checkpoint.convert import ckpt_to_safetensors as ckpt_to_safetensors
from mindjax.checkpoint.convert import safetensors_to_ckpt as safetensors_to_ckpt
from mindjax.checkpoint.load import load_by_suffix as _load_dismatch_prefix_params  # noqa: F401
from mindjax.checkpoint.load import load_checkpoint as load_checkpoint
from mindjax.checkpoint.load import load_checkpoint_async as load_checkpoint_async
from mindjax.checkpoint.load import load_param_into_net as load_param_into_net
from mindjax.checkpoint.load import update_parameter as _update_param  # noqa: F401
from mindjax.checkpoint.merge import load_distributed_checkpoint as load_distributed_checkpoint
from mindjax.checkpoint.merge import merge_sliced_parameter as merge_sliced_parameter
from mindjax.checkpoint.newest import (
    get_ckpt_path_with_strategy as get_ckpt_path_with_strategy,
)
from mindjax.checkpoint.save import async_ckpt_thread_status as async_ckpt_thread_status
from mindjax.checkpoint.save import save_checkpoint as save_checkpoint
from mindjax.checkpoint.segments import load_segmented_checkpoints as load_segmented_checkpoints
from mindjax.checkpoint.strategy import build_searched_strategy as build_searched_strategy
from mindjax.checkpoint.strategy import merge_pipeline_strategys as merge_pipeline_strategys
from mindjax.checkpoint.strategy import restore_group_info_list as restore_group_info_list
from mindjax.checkpoint.transform import rank_list_for_transform as rank_list_for_transform
from mindjax.checkpoint.transform import (
    transform_checkpoint_by_rank as transform_checkpoint_by_rank,
)
from mindjax.checkpoint.transform import transform_checkpoints as transform_checkpoints
from mindjax.checkpoint.unify import unified_safetensors as unified_safetensors
