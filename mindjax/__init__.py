"""MindJAX: programs written for MindSpore, run on JAX/XLA.

The names of `mindspore` are here, loaded when first used: importing MindJAX starts no backend.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mindjax.version import __version__ as __version__

if TYPE_CHECKING:
    from mindjax import amp as amp
    from mindjax import boost as boost
    from mindjax import common as common
    from mindjax import communication as communication
    from mindjax import context as context
    from mindjax import dataset as dataset
    from mindjax import dtype as dtype
    from mindjax import interop as interop
    from mindjax import mindrecord as mindrecord
    from mindjax import mint as mint
    from mindjax import nn as nn
    from mindjax import numpy as numpy
    from mindjax import onnx as onnx
    from mindjax import ops as ops
    from mindjax import parallel as parallel
    from mindjax import profiler as profiler
    from mindjax import scipy as scipy
    from mindjax import train as train
    from mindjax.alias import install as install
    from mindjax.autodiff import get_grad as get_grad
    from mindjax.autodiff import grad as grad
    from mindjax.autodiff import jacfwd as jacfwd
    from mindjax.autodiff import jacrev as jacrev
    from mindjax.autodiff import jvp as jvp
    from mindjax.autodiff import value_and_grad as value_and_grad
    from mindjax.autodiff import vjp as vjp
    from mindjax.autodiff import vmap as vmap
    from mindjax.checkpoint import load_checkpoint as load_checkpoint
    from mindjax.checkpoint import load_param_into_net as load_param_into_net
    from mindjax.checkpoint import save_checkpoint as save_checkpoint
    from mindjax.core.context import GRAPH_MODE as GRAPH_MODE
    from mindjax.core.context import PYNATIVE_MODE as PYNATIVE_MODE
    from mindjax.core.context import get_context as get_context
    from mindjax.core.context import set_context as set_context
    from mindjax.core.context import set_device as set_device
    from mindjax.core.parallel_context import ParallelMode as ParallelMode
    from mindjax.core.parallel_context import (
        get_auto_parallel_context as get_auto_parallel_context,
    )
    from mindjax.core.parallel_context import (
        reset_auto_parallel_context as reset_auto_parallel_context,
    )
    from mindjax.core.parallel_context import (
        set_auto_parallel_context as set_auto_parallel_context,
    )
    from mindjax.graph import jit as jit
    from mindjax.tensor import Parameter as Parameter
    from mindjax.tensor import ParameterTuple as ParameterTuple
    from mindjax.tensor import Tensor as Tensor
    from mindjax.tensor import tensor as tensor
    from mindjax.tensor.sparse import COOTensor as COOTensor
    from mindjax.tensor.sparse import CSRTensor as CSRTensor
    from mindjax.tensor.sparse import RowTensor as RowTensor
    from mindjax.tensor.sparse import SparseTensor as SparseTensor
    from mindjax.train import Model as Model

_MODULES = (
    "amp",
    "autodiff",
    "boost",
    "checkpoint",
    "common",
    "communication",
    "context",
    "dataset",
    "device_context",
    "device_manager",
    "dtype",
    "hal",
    "experimental",
    "interop",
    "log",
    "mindrecord",
    "mint",
    "multiprocessing",
    "nn",
    "numpy",
    "onnx",
    "ops",
    "parallel",
    "profiler",
    "rewrite",
    "runtime",
    "safeguard",
    "scipy",
    "tools",
    "train",
    "utils",
    "version",
)

# Module -> the public names that it defines.
_SOURCES = {
    "mindjax.tensor.sparse": "COOTensor CSRTensor RowTensor SparseTensor",
    "mindjax.tensor": (
        "Tensor tensor Parameter ParameterTuple UntypedStorage frombuffer swap_tensors"
    ),
    "mindjax.core.dtype": (
        "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 "
        "complex64 complex128 float8_e4m3fn float8_e5m2 hifloat8 "
        "qint4x2 QuantDtype byte short intc intp ubyte ushort uintc "
        "uintp half single double long cfloat cdouble int_ uint float_ number string type_none "
        "tensor_type list_ tuple_ Type Int TensorType dtype_to_nptype dtype_to_pytype "
        "pytype_to_dtype get_py_obj_dtype _NullType _null"
    ),
    "mindjax.core.context": (
        "GRAPH_MODE PYNATIVE_MODE STRICT COMPATIBLE LAX set_context get_context set_device "
        "set_deterministic"
    ),
    "mindjax.common.device": "DeviceCtx",
    "mindjax.common.seed": (
        "set_seed get_seed manual_seed seed get_rng_state set_rng_state initial_seed "
        "default_generator"
    ),
    "mindjax.core.parallel_context": (
        "ParallelMode set_auto_parallel_context get_auto_parallel_context "
        "reset_auto_parallel_context"
    ),
    "mindjax.core.algo_parameters": (
        "set_algo_parameters get_algo_parameters reset_algo_parameters"
    ),
    "mindjax.parallel": ("Layout shard parameter_broadcast sync_pipeline_shared_parameters"),
    "mindjax.core.random": "Generator",
    "mindjax.graph": (
        "jit jit_class ms_memory_recycle mutable JitConfig Symbol enable_dynamic lazy_inline "
        "no_inline set_recursion_limit"
    ),
    "mindjax.autodiff": (
        "grad value_and_grad get_grad jvp vjp jacfwd jacrev vmap recompute saved_tensors_hooks "
        "register_saved_tensors_hooks _Function _no_grad"
    ),
    "mindjax.checkpoint": (
        "save_checkpoint load_checkpoint load_checkpoint_async load_param_into_net "
        "async_ckpt_thread_status ckpt_to_safetensors safetensors_to_ckpt "
        "load_segmented_checkpoints build_searched_strategy restore_group_info_list "
        "load_distributed_checkpoint merge_pipeline_strategys merge_sliced_parameter "
        "get_ckpt_path_with_strategy "
        "rank_list_for_transform transform_checkpoint_by_rank transform_checkpoints "
        "unified_safetensors"
    ),
    "mindjax.mindir": ("export export_split_mindir load load_mindir load_stablehlo save_mindir"),
    "mindjax.train": (
        "ConvertModelUtils ConvertNetUtils "
        "Model SummaryRecord SummaryCollector SummaryLandscape "
        "Callback RunContext LossMonitor TimeMonitor ModelCheckpoint CheckpointConfig "
        "History EarlyStopping ReduceLROnPlateau LearningRateScheduler LambdaCallback "
        "DatasetHelper FixedLossScaleManager LossScaleManager Metric Accuracy Loss MAE MSE F1 "
        "Fbeta Precision Recall Top1CategoricalAccuracy Top5CategoricalAccuracy "
        "TopKCategoricalAccuracy get_metric_fn names rearrange_inputs "
        "BleuScore ConfusionMatrix ConfusionMatrixMetric ROC auc OcclusionSensitivity Perplexity "
        "CosineSimilarity Dice HausdorffDistance MeanSurfaceDistance RootMeanSquareDistance"
    ),
    "mindjax.train.loss_scale_manager": "DynamicLossScaleManager",
    "mindjax.profiler": "Profiler",
    "mindjax.train.data_sink": "data_sink connect_network_with_dataset",
    "mindjax.train.callback": (
        "BackupAndRestore FlopsUtilizationCollector OnRequestExit TrainFaultTolerance"
    ),
    "mindjax.train.callback.flops": "flops_collection",
    "mindjax.cli.check": "run_check",
    "mindjax.log": "get_level get_log_config",
    "mindjax.core.engine": "eager",
    "mindjax.core.server_context": "get_ps_context set_ps_context reset_ps_context",
    "mindjax.device_manager": "get_current_device",
    "mindjax.runtime": (
        "Event MemPool PluggableAllocator Stream StreamCtx StreamLimitCtx communication_stream "
        "current_stream default_stream dispatch_threads_num empty_cache get_device_limit "
        "get_stream_limit launch_blocking max_memory_allocated max_memory_reserved "
        "memory_allocated memory_replay memory_reserved memory_stats memory_summary "
        "reset_max_memory_allocated reset_max_memory_reserved reset_peak_memory_stats "
        "reset_stream_limit set_cpu_affinity set_cur_stream set_device_limit "
        "set_kernel_launch_capture set_kernel_launch_group set_memory set_stream_limit "
        "synchronize use_mem_pool"
    ),
    "mindjax.rewrite": "Node NodeType ScopedValue SymbolTree",
    "mindjax.safeguard": "load_obf_params_into_net obfuscate_ckpt",
    "mindjax.tools": "set_dump",
    "mindjax.utils": (
        "from_dlpack to_dlpack comm_exec_order_check runtime_execution_order_check "
        "stress_detect sdc_detect_start sdc_detect_stop get_sdc_detect_result ExitByRequest "
        "RSCPluginHandle TFTCommValue MsDispatchMode"
    ),
    "mindjax.alias": "install",
    "mindjax.common.tensor": "from_numpy",
    "mindjax.ops": "constexpr is_tensor",
}
_NAMES = {name: module for module, names in _SOURCES.items() for name in names.split()}

# Names that shadow builtins are given as attributes only, never by `import *`.
_SHADOWS = {"int": "int32", "float": "float32", "bool": "bool_"}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        module = importlib.import_module(_NAMES[name])
        value = getattr(module, name)
    elif name in _MODULES:
        value = importlib.import_module(f"mindjax.{name}")
    elif name in _SHADOWS:
        value = getattr(importlib.import_module("mindjax.core.dtype"), _SHADOWS[name])
    else:
        raise AttributeError(f"module 'mindspore' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES, *_MODULES})


__all__ = [*sorted(_NAMES), *_MODULES]
