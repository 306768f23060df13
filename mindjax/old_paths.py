"""Old and private import paths of the original, and our modules that give their names."""

FORWARDS = {
    "common._register_for_recompute": "autodiff",
    "common.generator": "common.seed",
    "common.hook_handle": "tensor.tensor",
    "common.jit_config": "graph",
    "common.jit_context": "graph",
    "common.mutable": "graph",
    "common.no_inline": "graph",
    "common.recompute": "autodiff",
    "common.np_dtype": "core.dtype",
    "common.storage": "tensor.storage",
    "common.symbol": "graph",
    "common.type": "dtype",
    "graph.api": "common.api",
    "hal.event": "runtime.streams",
    "hal.stream": "runtime.streams",
    "graph.jit_config": "graph",
    "graph.lazy_inline": "graph",
    "graph.mutable": "graph",
    "graph.no_inline": "graph",
    "graph.symbol": "graph",
    "mindrecord.common": "mindrecord",
    "mindrecord.common.exceptions": "mindrecord.exceptions",
    "mindrecord.tools": "mindrecord",
    "mindrecord.tools.cifar100_to_mr": "mindrecord.cifar_to_mr",
    "mindrecord.tools.cifar10_to_mr": "mindrecord.cifar_to_mr",
    "mindrecord.tools.csv_to_mr": "mindrecord.csv_to_mr",
    "mindrecord.tools.imagenet_to_mr": "mindrecord.imagenet_to_mr",
    "mindrecord.tools.mnist_to_mr": "mindrecord.mnist_to_mr",
    "mindrecord.tools.tfrecord_to_mr": "mindrecord.tfrecord_to_mr",
    "nn.sparse": "nn.layers.sparse",
    "nn.sparse.sparse": "nn.layers.sparse",
    "nn.utils": "nn.initialization",
    "nn.utils.init": "nn.initialization",
    "ops._grad": "ops.operations",
    "ops._tensor": "tensor",
    "ops.array_func": "ops.function",
    "ops.auto_generate": "ops",
    "ops.clip_func": "ops.function",
    "ops.comm_ops": "ops",
    "ops.deprecated": "ops.operations",
    "ops.linalg_func": "ops.function",
    "ops.math_func": "ops.function",
    "ops.nn_func": "ops.function",
    "ops.op_info_register": "ops.custom.registration",
    "ops.vm_impl_registry": "ops.custom.defined",
    "ops.tensor_method": "ops.functional",
    "profiler.common": "profiler",
    "profiler.common.constant": "profiler.config",
    "profiler.dynamic_profiler": "profiler.dynamic",
    "profiler.envprofiler": "profiler.environment",
    "profiler.experimental_config": "profiler",
    "profiler.profiler": "profiler.profile",
    "profiler.profiling": "profiler",
    "rewrite.api": "rewrite",
    "rewrite.api.node": "rewrite.node",
    "rewrite.api.node_type": "rewrite.statement",
    "rewrite.api.scoped_value": "rewrite.scoped_value",
    "rewrite.api.symbol_tree": "rewrite.symbol_tree",
    "nn.optim.thor": "nn.second_order",
    "train.train_thor": "train.second_order",
    "communication._comm_helper": "communication.management",
    "dataset.engine.datasets": "dataset",
    "dataset.samplers": "dataset.engine.samplers",
    "nn.wrap.grad_reducer": "nn.wrap",
    "nn.wrap.loss_scale": "nn.wrap",
    "parallel.shard": "parallel",
    "train.amp": "amp",
    "train.summary.summary_record": "train.summary.record",
    "train.summary_record": "train.summary.record",
}
# Package -> the modules in it, all of which one module of ours answers for.
PARTS = {
    "experimental.optim": (
        "adadelta adagrad adam adamax adamw asgd nadam optimizer radam rmsprop rprop sgd",
        "experimental.optim",
    ),
    "mint.optim": ("adam adamw fused_adamw sgd", "mint.optim"),
    "nn.optim": (
        "ada_grad adadelta adafactor adamax adasum asgd ftrl lars lazyadam proximal_ada_grad "
        "rprop tft_wrapper",
        "nn.optim",
    ),
    "train.callback": (
        "_backup_and_restore _callback _checkpoint _early_stop _flops_collector _history "
        "_lambda_callback _landscape _loss_monitor _lr_scheduler_callback _on_request_exit "
        "_reduce_lr_on_plateau _summary_collector _time_monitor _train_fault_tolerance",
        "train.callback",
    ),
    "train.train_thor": ("convert_utils model_thor", "train.second_order"),
    "nn.layer": (
        "activation basic channel_shuffle combined container conv dense embedding image math "
        "normalization padding pooling rnn_cells rnns thor_layer timedistributed transformer",
        "nn.layer",
    ),
    "ops.auto_generate": (
        "cpp_create_prim_instance_helper gen_extend_func gen_ops_def gen_ops_prim "
        "pyboost_inner_prim",
        "ops",
    ),
    "ops.composite": ("base env_ops math_ops multitype_ops", "ops.composite"),
    "ops.function": (
        "array_func clip_func comm_func debug_func fft_func grad image_func linalg_func math_func "
        "nn_func other_func parameter_func random_func reshard_func sparse_func "
        "sparse_unary_func spectral_func",
        "ops.function",
    ),
    "ops.function.grad": ("grad_func", "ops.function"),
    "ops.operations": (
        "_csr_ops _embedding_cache_ops _grad_ops _infer_ops _inner_ops _map_tensor_ops _ms_kernel "
        "_ocr_ops _quant_ops _rl_inner_ops _scalar_ops _sequence_ops _sparse_grad_ops "
        "_tensor_array _thor_ops array_ops comm_ops control_ops custom_ops debug_ops image_ops "
        "inner_ops linalg_ops manually_defined math_ops nn_ops other_ops random_ops reshard_ops "
        "sparse_ops spectral_ops",
        "ops.operations",
    ),
    "ops.operations.manually_defined": ("_inner ops_def", "ops.operations"),
}
# Package -> our modules in the package of that name, and the original's that each answers for.
RENAMED = {
    "nn.probability.bijector": {"power_transform": "exp"},
    "nn.probability.bnn_layers": {
        "loss_cell": "bnn_cell_wrapper",
        "variational": "conv_variational dense_variational",
        "weights": "layer_distribution",
    },
    "nn.probability.distribution": {
        "continuous": "cauchy half_normal laplace logistic normal student_t uniform",
        "discrete": "bernoulli categorical geometric poisson",
        "positive": "beta exponential gamma",
        "transformed": "gumbel log_normal transformed_distribution",
    },
    "runtime": {
        "execution": "executor",
        "limits": "device_limit stream_limit",
        "streams": "event stream",
    },
    "tools": {"ascend": "data_dump sdc_detect stress_detect"},
    "train.metrics": {
        "accuracy": "topk",
        "bleu": "bleu_score",
        "class_rates": "fbeta precision recall",
        "confusion": "confusion_matrix",
        "curves": "roc",
        "error": "loss",
        "occlusion": "occlusion_sensitivity",
        "similarity": "cosine_similarity dice",
        "surface": ("hausdorff_distance mean_surface_distance root_mean_square_surface_distance"),
    },
    "utils": {"dispatch_mode": "ms_dispatch", "fault_tolerance": "utils"},
}
for _parent, _modules in RENAMED.items():
    for _target, _parts in _modules.items():
        FORWARDS.update({f"{_parent}.{part}": f"{_parent}.{_target}" for part in _parts.split()})
for _parent, (_parts, _target) in PARTS.items():
    FORWARDS.update({f"{_parent}.{part}": _target for part in _parts.split()})


def parts(package: str) -> frozenset[str]:
    """Name the modules that a module of ours answers for.

    Args:
        package: the original's package, below the top one.
    """
    return frozenset(PARTS[package][0].split())
