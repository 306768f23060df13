"""Import paths that real programs use: path -> names (MindSpore 2.10.0 or an older release)."""

PATHS = {
    "mindspore": (
        "_no_grad _Function _NullType _null JitConfig lazy_inline no_inline recompute "
        "set_recursion_limit initial_seed default_generator Symbol frombuffer swap_tensors "
        "saved_tensors_hooks register_saved_tensors_hooks set_deterministic enable_dynamic "
        "UntypedStorage STRICT LAX COMPATIBLE vmap jvp vjp jacfwd jacrev"
    ),
    "mindspore._c_expression": "MSContext typing",
    "mindspore._c_expression.typing": "Float BFloat Int Type TensorType",
    "mindspore._extends": "cell_attr_register",
    "mindspore.boost.grad_accumulation": "gradient_accumulation_op gradient_clear_op",
    "mindspore.communication._comm_helper": "_is_initialized get_rank",
    "mindspore.context": "ParallelMode _get_mode",
    "mindspore.dataset.engine.datasets": "Dataset BatchDataset RepeatDataset",
    "mindspore.dataset.samplers": "DistributedSampler Sampler",
    "mindspore.dataset.vision.py_transforms_util": "hwc_to_chw is_numpy",
    "mindspore.mint": "Tensor addcmul clip equal functional ge",
    "mindspore.nn.layer.rnn_cells": "RNNCellBase",
    "mindspore.nn.wrap.cell_wrapper": (
        "GradAccumulationCell MicroBatchInterleaved PipelineCell TrainOneStepCell WithLossCell "
        "_VirtualDatasetCell"
    ),
    "mindspore.nn.wrap.grad_reducer": "DistributedGradReducer",
    "mindspore.nn.wrap.loss_scale": "DynamicLossScaleUpdateCell TrainOneStepWithLossScaleCell",
    "mindspore.parallel._auto_parallel_context": "auto_parallel_context",
    "mindspore.parallel._cost_model_context": "_set_multi_subgraphs _set_rp_matmul_mem_coef",
    "mindspore.parallel._utils": "_get_device_num _is_in_auto_parallel_mode",
    "mindspore.parallel.shard": "Layout shard",
    "mindspore.train.serialization": (
        "_load_dismatch_prefix_params _update_param load_checkpoint load_param_into_net"
    ),
    "mindspore.train.amp": "auto_mixed_precision build_train_network get_black_list",
    "mindspore.train.callback._callback": "Callback RunContext _handle_loss",
    "mindspore.train.callback._checkpoint": "CheckpointConfig ModelCheckpoint",
    "mindspore._checkparam": (
        "Rel Validator args_type_check check check_bool check_float check_float_range check_int "
        "check_int_range check_is_float check_isinstance check_non_negative_float "
        "check_non_negative_int check_number check_positive_float check_positive_int check_string "
        "check_subclass check_type_name check_types_same_and_valid check_value_type EQ GE GT IN "
        "INC_BOTH INC_LEFT INC_NEITHER LE"
    ),
    "mindspore.common": (
        "Tensor Parameter dtype default_generator lazy_inline mutable _no_grad Generator from_numpy"
    ),
    "mindspore.common._grad_function": "_Function",
    "mindspore.common._register_for_recompute": "recompute",
    "mindspore.common._register_for_tensor": "tensor_operator_registry",
    "mindspore.common._stub_tensor": "StubTensor",
    "mindspore.common.api": "_no_grad _pynative_executor _cell_graph_executor jit ms_function",
    "mindspore.common.dtype": "float32 TensorType tensor_type _null",
    "mindspore.common.generator": "Generator default_generator manual_seed",
    "mindspore.common.initializer": "initializer Normal Tensor _calculate_fan_in_and_fan_out",
    "mindspore.common.jit_config": "JitConfig",
    "mindspore.hal.stream": "Stream",
    "mindspore.log": "logging info warning error debug critical _get_logger _LogActionOnce",
    "mindspore.mindrecord": "FileWriter FileReader MindPage ParamValueError MRMOpenError SUCCESS",
    "mindspore.mindrecord.common.exceptions": "ParamTypeError MRMInvalidSchemaError",
    "mindspore.mindrecord.config": "set_enc_key set_enc_mode set_dec_mode",
    "mindspore.mindrecord.filewriter": "FileWriter",
    "mindspore.mindrecord.tools.cifar10_to_mr": "Cifar10ToMR",
    "mindspore.nn.probability.bijector.exp": "Exp",
    "mindspore.nn.probability.bnn_layers.layer_distribution": "NormalPrior normal_post_fn",
    "mindspore.nn.probability.distribution.normal": "Normal",
    "mindspore.rewrite": "Node NodeType ScopedValue SymbolTree ValueType",
    "mindspore.rewrite.api.node": "Node",
    "mindspore.rewrite.api.symbol_tree": "SymbolTree",
    "mindspore.runtime.stream": "Stream current_stream",
    "mindspore.train.metrics.roc": "ROC",
    "mindspore.utils": "_tft_handler stress_detect",
    "mindspore.common.mutable": "mutable",
    "mindspore.common.parameter": "Parameter ParameterTuple",
    "mindspore.common.seed": "set_seed get_seed",
    "mindspore.common.tensor": "Tensor",
    "mindspore.common.type": "float16 float32",
    "mindspore.experimental.optim.adamw": "AdamW",
    "mindspore.experimental.optim.optimizer": "Optimizer",
    "mindspore.graph.api": "_no_grad jit",
    "mindspore.graph.lazy_inline": "lazy_inline",
    "mindspore.nn.cell": "Cell",
    "mindspore.nn.grad": "Jvp Vjp",
    "mindspore.nn.layer": "Dense GRU CosineSimilarity conv get_activation",
    "mindspore.nn.layer.activation": "ReLU get_activation",
    "mindspore.nn.layer.normalization": "BatchNorm2d",
    "mindspore.nn.layer.rnns": "LSTM",
    "mindspore.nn.optim.ftrl": "FTRL",
    "mindspore.nn.optim.optimizer": "Optimizer opt_init_args_register",
    "mindspore.nn.optim.thor": "thor",
    "mindspore.nn.sparse": "SparseToDense",
    "mindspore.nn.utils": "no_init_parameters",
    "mindspore.ops._primitive_cache": "_get_cache_prim",
    "mindspore.ops.array_func": "concat",
    "mindspore.ops.auto_generate": (
        "Abs AdamW AddExt Chunk CumsumExt MeanExt OneHotExt SiLU SliceExt SortExt SplitWithSize "
        "StackExt SubExt SumExt TopkExt add format_cast gen_ops_prim"
    ),
    "mindspore.ops.auto_generate.gen_ops_def": "add",
    "mindspore.ops.auto_generate.gen_ops_prim": "Abs Add MatMul",
    "mindspore.ops.composite": "GradOperation HyperMap MultitypeFuncGraph base",
    "mindspore.ops.composite.base": "GradOperation",
    "mindspore.ops.composite.multitype_ops.zeros_like_impl": "zeros_like",
    "mindspore.ops.function": "add math_func nn_func",
    "mindspore.ops.function.array_func": "concat reshape",
    "mindspore.ops.function.grad.grad_func": "vjp jvp",
    "mindspore.ops.function.math_func": "add matmul",
    "mindspore.ops.function.nn_func": "relu",
    "mindspore.ops.functional": "vmap linearize",
    "mindspore.ops.functional_overload": "add any empty conv2d lightning_indexer",
    "mindspore.ops.operations": "Add nn_ops array_ops _inner_ops",
    "mindspore.ops.operations._inner_ops": "Range",
    "mindspore.ops.operations.array_ops": "Concat",
    "mindspore.ops.operations.math_ops": "Add MatMul",
    "mindspore.ops.operations.nn_ops": "Conv2D ReLU",
    "mindspore.ops.op_info_register": "DataType CustomRegOp",
    "mindspore.ops.signature": "make_sig sig_rw sig_dtype",
    "mindspore.profiler.common.constant": "ProfilerLevel AicoreMetrics",
    "mindspore.profiler.profiler": "Profiler analyse",
    "mindspore.profiler.profiling": "Profiler",
    "mindspore.profiler.schedule": "ProfilerAction",
    "mindspore.train.callback._summary_collector": "SummaryCollector",
    "mindspore.train.summary.summary_record": "SummaryRecord",
    "mindspore.ops.vm_impl_registry": "vm_impl_registry get_vm_impl_fn",
    "mindspore.ops.primitive": (
        "Primitive PrimitiveWithInfer PrimitiveWithCheck constexpr _primexpr prim_attr_register"
    ),
}
