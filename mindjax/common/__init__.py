"""Old import paths of the original (``mindspore.common.*``): names that live elsewhere."""

from importlib import import_module
from typing import Any

from mindjax.autodiff import _Function as _Function
from mindjax.autodiff import _no_grad as _no_grad
from mindjax.autodiff import recompute as recompute
from mindjax.autodiff import register_saved_tensors_hooks as register_saved_tensors_hooks
from mindjax.autodiff import saved_tensors_hooks as saved_tensors_hooks
from mindjax.common import api as api
from mindjax.common import dtype as dtype
from mindjax.common import initializer as initializer
from mindjax.common import parameter as parameter
from mindjax.common import sparse_tensor as sparse_tensor
from mindjax.common.device import DeviceCtx as DeviceCtx
from mindjax.common.seed import Generator as Generator
from mindjax.common.seed import get_rng_state as get_rng_state
from mindjax.common.seed import get_seed as get_seed
from mindjax.common.seed import initial_seed as initial_seed
from mindjax.common.seed import manual_seed as manual_seed
from mindjax.common.seed import seed as seed
from mindjax.common.seed import set_rng_state as set_rng_state
from mindjax.common.seed import set_seed as set_seed
from mindjax.core.dtype import _null as _null
from mindjax.core.dtype import _NullType as _NullType
from mindjax.dtype import *  # noqa: F403
from mindjax.graph import JitConfig as JitConfig
from mindjax.graph import Symbol as Symbol
from mindjax.graph import enable_dynamic as enable_dynamic
from mindjax.graph import jit as jit
from mindjax.graph import jit_class as jit_class
from mindjax.graph import lazy_inline as lazy_inline
from mindjax.graph import ms_memory_recycle as ms_memory_recycle
from mindjax.graph import mutable as mutable
from mindjax.graph import no_inline as no_inline
from mindjax.graph import set_recursion_limit as set_recursion_limit
from mindjax.ops import is_tensor as is_tensor
from mindjax.tensor import Parameter as Parameter
from mindjax.tensor import ParameterTuple as ParameterTuple
from mindjax.tensor import Tensor as Tensor
from mindjax.tensor import UntypedStorage as UntypedStorage
from mindjax.tensor import swap_tensors as swap_tensors
from mindjax.tensor import tensor as tensor
from mindjax.tensor.sparse import COOTensor as COOTensor
from mindjax.tensor.sparse import CSRTensor as CSRTensor
from mindjax.tensor.sparse import RowTensor as RowTensor
from mindjax.tensor.sparse import RowTensorInner as RowTensorInner
from mindjax.tensor.sparse import SparseTensor as SparseTensor
from mindjax.tools import set_dump as set_dump

from_numpy = Tensor.from_numpy


def __getattr__(name: str) -> Any:
    if name == "default_generator":
        # The package's own attribute of that name is the function.
        return import_module("mindjax.common.seed").default_generator
    if name == "flops_collection":
        return import_module("mindjax.train.callback.flops").flops_collection
    if name in ("load_mindir", "save_mindir"):
        return getattr(import_module("mindjax.mindir"), name)
    raise AttributeError(f"module 'mindspore.common' has no attribute '{name}'")
