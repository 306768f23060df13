"""The original's path of the checkpoint functions."""

from mindjax.checkpoint.convert import ckpt_to_safetensors as ckpt_to_safetensors
from mindjax.checkpoint.convert import safetensors_to_ckpt as safetensors_to_ckpt
from mindjax.checkpoint.load import load_checkpoint as load_checkpoint
from mindjax.checkpoint.load import load_checkpoint_async as load_checkpoint_async
from mindjax.checkpoint.load import load_param_into_net as load_param_into_net
from mindjax.checkpoint.save import async_ckpt_thread_status as async_ckpt_thread_status
from mindjax.checkpoint.save import save_checkpoint as save_checkpoint
from mindjax.checkpoint.strategy import build_searched_strategy as build_searched_strategy
from mindjax.checkpoint.strategy import restore_group_info_list as restore_group_info_list
