"""Cases of optimizers, schedules and initializers: expressions for either MindSpore.

They are evaluated with ``nn``, ``ms`` and ``init`` (the module of initializers), a list ``p`` of
Parameters, and ``np``.
"""

import numpy as np

STEPS = 10
SHAPES = {"weight": (4, 16), "bias": (5,), "gamma": (3,), "conv": (2, 16, 1, 2)}


def values():
    """Give the first value of each Parameter."""
    random = np.random.RandomState(0)
    return {n: random.randn(*s).astype(np.float32) for n, s in SHAPES.items()}


def gradients():
    """Give the gradients of each step."""
    random = np.random.RandomState(1)
    return [[random.randn(*s).astype(np.float32) for s in SHAPES.values()] for _ in range(STEPS)]


def network(ms, nn):
    """Make a small classifier with fixed weights."""
    random = np.random.RandomState(2)

    def dense(inputs, outputs):
        weight = ms.Tensor(random.randn(outputs, inputs).astype(np.float32))
        return nn.Dense(inputs, outputs, weight, "zeros")

    return nn.SequentialCell([dense(6, 8), nn.ReLU(), dense(8, 3)])


def batches():
    """Give data and labels of five steps."""
    random = np.random.RandomState(3)
    return [
        (random.randn(10, 6).astype(np.float32), random.randint(0, 3, 10).astype(np.int32))
        for _ in range(5)
    ]


# With `network` and `optimizer`, a Momentum of its Parameters.
TRAINERS = {
    "plain": "nn.TrainOneStepCell(network, optimizer)",
    "sens": "nn.TrainOneStepCell(network, optimizer, sens=3.0)",
    "gradients": "nn.TrainOneStepCell(network, optimizer, return_grad=True)",
    "gradients_sens": "nn.TrainOneStepCell(network, optimizer, 0.5, True)",
}

# Cells around `network` (with its loss), `backbone` and `loss`; called with one batch.
WRAPPERS = {
    "with_grad": "nn.WithGradCell(backbone, loss)",
    "with_grad_sens": "nn.WithGradCell(backbone, loss, ms.Tensor(2.0, ms.float32))",
    "with_eval": "nn.WithEvalCell(backbone, loss)",
    "forward": "nn.ForwardValueAndGrad(network, ms.ParameterTuple(network.trainable_params()),"
    " get_by_list=True)",
    "forward_first": "nn.ForwardValueAndGrad(network)",
}

UPDATES = {
    "momentum": "nn.Momentum(p, 0.1, 0.9)",
    "momentum_zero": "nn.Momentum(p, 0.1, 0.0)",
    "momentum_decay": "nn.Momentum(p, 0.1, 0.9, weight_decay=0.01)",
    "momentum_scale": "nn.Momentum(p, 0.1, 0.9, loss_scale=128.0)",
    "momentum_decay_scale": "nn.Momentum(p, 0.1, 0.9, weight_decay=0.01, loss_scale=128)",
    "sgd": "nn.SGD(p)",
    "sgd_momentum": "nn.SGD(p, 0.1, 0.9)",
    "sgd_dampening": "nn.SGD(p, 0.1, 0.9, 0.3)",
    "sgd_nesterov": "nn.SGD(p, 0.1, 0.9, nesterov=True)",
    "sgd_decay": "nn.SGD(p, 0.1, 0.9, weight_decay=0.01, loss_scale=2.0)",
    "adam": "nn.Adam(p)",
    "adam_large_eps": "nn.Adam(p, 0.1, 0.5, 0.9, 0.1)",
    "adam_nesterov": "nn.Adam(p, 0.1, use_nesterov=True)",
    "adam_amsgrad": "nn.Adam(p, 0.1, 0.9, 0.9, use_amsgrad=True)",
    "adam_decay_scale": "nn.Adam(p, 0.1, weight_decay=0.1, loss_scale=4.0)",
    "adam_weight_decay": "nn.AdamWeightDecay(p, 0.1)",
    "adam_weight_decay_decay": "nn.AdamWeightDecay(p, 0.1, 0.8, 0.9, 1e-3, 0.1)",
    "rmsprop": "nn.RMSProp(p, 0.1)",
    # MindSpore: its CPU takes eps out of the root for arrays of 8 and more, so it is small here.
    "rmsprop_momentum": "nn.RMSProp(p, 0.1, 0.8, 0.9, 1e-9, weight_decay=0.1, loss_scale=2.0)",
    "rmsprop_centered": "nn.RMSProp(p, 0.01, 0.8, 0.5, 0.1, centered=True)",
    "adagrad": "nn.Adagrad(p, learning_rate=0.1)",
    "rate_tensor": "nn.Momentum(p, ms.Tensor(0.2, ms.float32), 0.9)",
    "rate_list": "nn.SGD(p, [0.1 * i for i in range(10)])",
    "rate_array": "nn.SGD(p, ms.Tensor(np.linspace(0.1, 1, 10).astype(np.float32)), 0.9)",
    "rate_schedule": "nn.Momentum(p, nn.ExponentialDecayLR(0.1, 0.5, 3), 0.9)",
    "rate_warmup": "nn.AdamWeightDecay(p, nn.WarmUpLR(0.1, 4), weight_decay=0.1)",
    "decay_schedule": "nn.Momentum(p, 0.1, 0.9, nn.ExponentialDecayLR(0.1, 0.5, 3), 8.0)",
    "decay_schedule_adamw": "nn.AdamWeightDecay(p, 0.1, weight_decay=nn.WarmUpLR(0.1, 4))",
    "group_rate": "nn.Momentum([{'params': p[:1], 'lr': 0.5}, {'params': p[1:]}], 0.1, 0.9)",
    "group_decay": "nn.Adam([{'params': p[:2], 'weight_decay': 0.1}, {'params': p[2:]}], 0.1)",
    "group_default_decay": "nn.SGD([{'params': p[:2]}, {'params': p[2:], 'weight_decay': 0.0}],"
    " 0.1, 0.9, weight_decay=0.1, loss_scale=2.0)",
    "group_order": "nn.Adam([{'params': p[2:], 'lr': 0.2}, {'params': p[:2]},"
    " {'order_params': p}], 0.1)",
    "group_schedule": "nn.AdamWeightDecay([{'params': p[2:], 'lr': nn.WarmUpLR(0.1, 4),"
    " 'weight_decay': 0.3}, {'params': p[:2], 'lr': 0.5}, {'order_params': p}], 0.1)",
    "group_list": "nn.SGD([{'params': p[:2], 'lr': [0.1 * i for i in range(10)]},"
    " {'params': p[2:]}], [0.2 * i for i in range(10)])",
    "group_rmsprop": "nn.RMSProp([{'params': p[:2], 'lr': 0.5}, {'params': p[2:]}], 0.1)",
    "group_adagrad": "nn.Adagrad([{'params': p[:2], 'lr': 0.5}, {'params': p[2:]}])",
}

# The original's CPU has no kernel for these: learning rate, betas, eps, decay of each Parameter.
LAMBS = {
    "nn.Lamb(p, 0.1)": [(0.1, 0.9, 0.999, 1e-6, 0.0)] * 4,
    "nn.Lamb(p, 0.1, 0.8, 0.9, 1e-3, 0.1)": [
        (0.1, 0.8, 0.9, 1e-3, 0.1),
        (0.1, 0.8, 0.9, 1e-3, 0.1),
        (0.1, 0.8, 0.9, 1e-3, 0.0),
        (0.1, 0.8, 0.9, 1e-3, 0.1),
    ],
    "nn.Lamb([{'params': p[:2], 'lr': 0.5, 'weight_decay': 0.1}, {'params': p[2:]}], 0.1)": [
        *[(0.5, 0.9, 0.999, 1e-6, 0.1)] * 2,
        *[(0.1, 0.9, 0.999, 1e-6, 0.0)] * 2,
    ],
}

# Nor for centralization; it leaves out Momentum's `use_nesterov` and Adagrad's `update_slots`.
NESTEROV = "nn.Momentum(p, 0.1, 0.9, use_nesterov=True)"
FROZEN = "nn.Adagrad(p, 0.5, 0.1, update_slots=False)"
CENTRALIZED = "nn.Momentum([{'params': p, 'grad_centralization': True}], 0.1, 0.9)"

SCHEDULES = {
    "exponential": "nn.ExponentialDecayLR(0.1, 0.9, 4)",
    "exponential_stair": "nn.ExponentialDecayLR(0.1, 0.9, 4, True)",
    "natural_exp": "nn.NaturalExpDecayLR(0.1, 0.9, 4)",
    "natural_exp_stair": "nn.NaturalExpDecayLR(0.1, 0.9, 4, True)",
    "inverse": "nn.InverseDecayLR(0.1, 0.9, 4)",
    "inverse_stair": "nn.InverseDecayLR(0.1, 0.9, 4, True)",
    "cosine": "nn.CosineDecayLR(0.01, 0.1, 8)",
    "polynomial": "nn.PolynomialDecayLR(0.1, 0.01, 8, 0.5)",
    "polynomial_again": "nn.PolynomialDecayLR(0.1, 0.01, 5, 2.0, True)",
    "warmup": "nn.WarmUpLR(0.1, 8)",
}

LISTS = {
    "piecewise": "nn.piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01])",
    "exponential": "nn.exponential_decay_lr(0.1, 0.9, 9, 2, 2)",
    "exponential_stair": "nn.exponential_decay_lr(0.1, 0.9, 9, 2, 2, True)",
    "natural_exp": "nn.natural_exp_decay_lr(0.1, 0.9, 9, 2, 2)",
    "natural_exp_stair": "nn.natural_exp_decay_lr(0.1, 0.9, 9, 2, 2, True)",
    "inverse": "nn.inverse_decay_lr(0.1, 0.5, 9, 1, 2)",
    "inverse_stair": "nn.inverse_decay_lr(0.1, 0.5, 9, 1, 2, True)",
    "cosine": "nn.cosine_decay_lr(0.01, 0.1, 9, 2, 3)",
    "polynomial": "nn.polynomial_decay_lr(0.1, 0.01, 9, 2, 3, 0.5)",
    "polynomial_again": "nn.polynomial_decay_lr(0.1, 0.01, 15, 1, 4, 0.5, True)",
    "warmup": "nn.warmup_lr(0.1, 9, 2, 3)",
}

OPTIMIZER_ERRORS = {
    "none": "nn.Adam(None)",
    "empty": "nn.Adam([])",
    "number": "nn.Adam(3)",
    "one_parameter": "nn.Adam(p[0])",
    "numbers": "nn.Adam([1, 2])",
    "mixed": "nn.Adam([p[0], {'params': [p[1]]}])",
    "negative_rate": "nn.Adam(p, -0.1)",
    "text_rate": "nn.Adam(p, 'x')",
    "object_rate": "nn.Adam(p, object())",
    "matrix_rate": "nn.Adam(p, ms.Tensor(np.ones((2, 2), np.float32)))",
    "negative_decay": "nn.Adam(p, 0.1, weight_decay=-1.0)",
    "text_decay": "nn.Adam(p, 0.1, weight_decay='x')",
    "zero_scale": "nn.Adam(p, 0.1, loss_scale=0.0)",
    "negative_scale": "nn.Adam(p, 0.1, loss_scale=-1)",
    "text_scale": "nn.Adam(p, 0.1, loss_scale='a')",
    "beta_range": "nn.Adam(p, 0.1, beta1=1.0)",
    "beta_type": "nn.Adam(p, 0.1, beta1=1)",
    "zero_eps": "nn.Adam(p, 0.1, eps=0.0)",
    "nesterov_type": "nn.Adam(p, 0.1, use_nesterov=1)",
    "unknown_keyword": "nn.Adam(p, 0.1, foo=1)",
    "shape": "nn.Adam(p)(tuple(x.flatten() for x in p))",
    "sgd_shape": "nn.SGD(p)(tuple(x.flatten() for x in p))",
    "momentum_shape": "nn.Momentum(p, 0.1, 0.9)(tuple(x.flatten() for x in p))",
    "broadcast": "nn.Adam(p)(tuple(x[:1] for x in p))",
    "decayed_broadcast": "nn.Adam(p, weight_decay=0.1)(tuple(x[:1] for x in p))",
    "sgd_decayed_broadcast": "nn.SGD(p, weight_decay=0.1)(tuple(x[:1] for x in p))",
    "momentum_decayed_broadcast": (
        "nn.Momentum(p, 0.1, 0.9, weight_decay=0.1)(tuple(x[:1] for x in p))"
    ),
    "few": "nn.SGD(p)((p[0] + 0,))",
    "tensor_for_gradients": "nn.Adam(p)(p[0].value())",
    "sgd_none_for_gradients": "nn.SGD(p)(None)",
    "momentum_none_for_gradients": "nn.Momentum(p, 0.1, 0.9)(None)",
    "number_for_gradient": "nn.Momentum(p[1:2], 0.1, 0.9)((1.0,))",
    "none_for_gradient": "nn.Adam(p[1:2])((None,))",
    "momentum_none_for_gradient": "nn.Momentum(p[1:2], 0.1, 0.9)((None,))",
    "complex_gradient": "nn.SGD(p)(tuple(x.astype(ms.complex64) for x in p))",
    "integer_gradient": "nn.SGD(p)(tuple(x.astype(ms.int32) for x in p))",
    "lazy_offload": "nn.Adam(p, 0.1, use_lazy=True, use_offload=True)",
    "lazy_amsgrad": "nn.Adam(p, 0.1, use_lazy=True, use_amsgrad=True)",
    "momentum_type": "nn.Momentum(p, 0.1, 1)",
    "momentum_range": "nn.Momentum(p, 0.1, -0.5)",
    "momentum_nesterov": "nn.Momentum(p, 0.1, 0.9, use_nesterov=1)",
    "momentum_missing": "nn.Momentum(p, 0.1)",
    "sgd_momentum_range": "nn.SGD(p, momentum=-1.0)",
    "sgd_momentum_type": "nn.SGD(p, momentum='a')",
    "sgd_dampening_range": "nn.SGD(p, dampening=-1.0)",
    "sgd_dampening_type": "nn.SGD(p, dampening='a')",
    "sgd_nesterov": "nn.SGD(p, nesterov=True)",
    "sgd_nesterov_type": "nn.SGD(p, momentum=0.9, nesterov=1)",
    "sgd_decay": "nn.SGD(p, weight_decay=nn.WarmUpLR(0.1, 4))",
    "rmsprop_decay": "nn.RMSProp(p, decay=-1.0)",
    "rmsprop_eps": "nn.RMSProp(p, epsilon=0.0)",
    "rmsprop_momentum": "nn.RMSProp(p, momentum=1)",
    "adagrad_accum": "nn.Adagrad(p, accum=-1.0)",
    "adagrad_slots": "nn.Adagrad(p, update_slots=1)",
    "lamb_missing": "nn.Lamb(p)",
    "group_key": "nn.SGD([{'params': p, 'foo': 1}])",
    "group_params": "nn.SGD([{'lr': 0.1}])",
    "group_element": "nn.SGD([{'params': [1]}])",
    "group_empty": "nn.SGD([{'params': []}])",
    "group_twice": "nn.SGD([{'params': p}, {'params': p}])",
    "group_centralization": "nn.SGD([{'params': p, 'grad_centralization': 1}])",
    "group_lengths": "nn.SGD([{'params': p, 'lr': [0.1, 0.2]}], learning_rate=[0.1, 0.2, 0.3])",
    "order_key": "nn.SGD([{'params': p}, {'order_params': p, 'lr': 1.0}])",
    "order_type": "nn.SGD([{'params': p}, {'order_params': 3}])",
    "order_length": "nn.SGD([{'params': p}, {'order_params': p[:1]}])",
    "rate_of_number": "nn.SGD(p).get_lr_parameter(3)",
    "rate_of_other": "nn.SGD(p[:1]).get_lr_parameter(p[1])",
    "too_few_gradients": "nn.Momentum(p, 0.1, 0.9)((ms.Tensor(np.ones(3, np.float32)),))",
    "gradient_shape": "nn.Momentum(p[1:2], 0.1, 0.9)((ms.Tensor(np.ones(4, np.float32)),))",
    "gradient_dtype": "nn.Momentum(p[1:2], 0.1, 0.9)((ms.Tensor(np.ones(5)),))",
    "sens_zero": "nn.TrainOneStepCell(nn.Dense(2, 2), nn.SGD(p), sens=0)",
    "network": "nn.TrainOneStepCell(3, nn.SGD(p))",
    "optimizer": "nn.TrainOneStepCell(nn.Dense(2, 2), 3)",
}

SCHEDULE_ERRORS = {
    "exponential_rate": "nn.ExponentialDecayLR(1, 0.9, 2)",
    "exponential_steps": "nn.ExponentialDecayLR(0.1, 0.9, 2.0)",
    "exponential_range": "nn.ExponentialDecayLR(0.1, -0.9, 2)",
    "exponential_stair": "nn.ExponentialDecayLR(0.1, 0.9, 2, 1)",
    "cosine_min": "nn.CosineDecayLR(1, 0.1, 2)",
    "cosine_order": "nn.CosineDecayLR(0.2, 0.1, 2)",
    "cosine_max": "nn.CosineDecayLR(0.01, 1, 2)",
    "cosine_steps": "nn.CosineDecayLR(0.01, 0.1, 0)",
    "cosine_range": "nn.CosineDecayLR(-0.01, 0.1, 2)",
    "polynomial_end": "nn.PolynomialDecayLR(0.1, 1, 4, 0.5)",
    "polynomial_power": "nn.PolynomialDecayLR(0.1, 0.01, 4, 0.0)",
    "polynomial_update": "nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5, 1)",
    "polynomial_rate": "nn.PolynomialDecayLR(-0.1, 0.01, 4, 0.5)",
    "warmup_rate": "nn.WarmUpLR(1, 2)",
    "warmup_steps": "nn.WarmUpLR(0.1, 0)",
    "warmup_steps_type": "nn.WarmUpLR(0.1, 2.0)",
    "warmup_range": "nn.WarmUpLR(-0.1, 2)",
    "piecewise_lengths": "nn.piecewise_constant_lr([2, 5], [0.1])",
    "piecewise_order": "nn.piecewise_constant_lr([5, 2], [0.1, 0.2])",
    "piecewise_range": "nn.piecewise_constant_lr([0, 2], [0.1, 0.2])",
    "piecewise_rate": "nn.piecewise_constant_lr([1, 2], [0.1, 2])",
    "piecewise_type": "nn.piecewise_constant_lr(2, [0.1, 2])",
    "list_epochs": "nn.exponential_decay_lr(0.1, 0.9, 6, 2, 0)",
    "list_stair": "nn.exponential_decay_lr(0.1, 0.9, 6, 2, 1, 1)",
    "list_cosine": "nn.cosine_decay_lr(1, 0.1, 6, 2, 1)",
    "list_cosine_order": "nn.cosine_decay_lr(0.2, 0.1, 6, 2, 1)",
    "list_warmup": "nn.warmup_lr(1, 6, 2, 1)",
    "list_warmup_steps": "nn.warmup_lr(0.1, 6.0, 2, 1)",
    "list_polynomial": "nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 'a')",
}

DISTRIBUTIONS = {
    "normal": "init.initializer('normal', [400, 500])",
    "normal_mean": "init.initializer(init.Normal(0.5, 2.0), [400, 500])",
    "uniform": "init.initializer('uniform', [400, 500])",
    "uniform_scale": "init.initializer(init.Uniform(3.0), [400, 500])",
    "truncated_normal": "init.initializer('truncatedNormal', [400, 500])",
    "truncated_normal_bounds": "init.initializer(init.TruncatedNormal(0.5, 1.0, -1.0, 2.0),"
    " [400, 500])",
    "xavier_normal": "init.initializer('xavier_normal', [50, 40, 10, 10])",
    "xavier_uniform": "init.initializer('xavier_uniform', [50, 40, 10, 10])",
    "xavier_gain": "init.initializer(init.XavierUniform(2), [400, 500])",
    "he_normal": "init.initializer('he_normal', [50, 40, 10, 10])",
    "he_uniform": "init.initializer('he_uniform', [50, 40, 10, 10])",
    "he_leaky": "init.initializer(init.HeUniform(5**0.5), [400, 500])",
    "he_out": "init.initializer(init.HeNormal(0.1, 'fan_out', 'relu'), [50, 40, 10, 10])",
    "he_tanh": "init.initializer(init.HeNormal(0, 'fan_in', 'tanh'), [400, 500])",
    "scaling": "init.initializer('varianceScaling', [50, 40, 10, 10])",
    "scaling_average": "init.initializer(init.VarianceScaling(2.0, 'fan_avg',"
    " 'untruncated_normal'), [50, 40, 10, 10])",
    "scaling_out": "init.initializer(init.VarianceScaling(2.0, 'fan_out', 'uniform'), [400, 500])",
    "orthogonal": "init.initializer('orthogonal', [400, 20, 25])",
    "sparse": "init.initializer(init.Sparse(0.3, 0.5), [400, 500])",
}

EXACT = {
    "zeros": "init.initializer('zeros', [2, 3])",
    "ones": "init.initializer('ones', 3, ms.int32)",
    "zero": "init.initializer(init.Zero(), (2,), ms.float16)",
    "one": "init.initializer(init.One(), (2,), ms.bool_)",
    "number": "init.initializer(0.25, [2, 2])",
    "constant": "init.initializer(init.Constant(3), (), ms.int64)",
    "identity": "init.initializer('identity', [3, 4])",
    "dirac3": "init.initializer('dirac', [4, 3, 5])",
    "dirac4": "init.initializer(init.Dirac(2), [6, 2, 3, 3])",
    "dirac5": "init.initializer('DIRAC', [2, 3, 3, 3, 2])",
    "uniform_int": "init.initializer('uniform', [2, 3], ms.int32)",
}

INITIALIZER_ERRORS = {
    "name": "init.initializer('nope', [2])",
    "constant_name": "init.initializer('constant', [2])",
    "type": "init.initializer([1], [2])",
    "tensor_shape": "init.initializer(ms.Tensor(np.ones(2, np.float32)), [3])",
    "zero_size": "init.initializer('ones', [0])",
    "float_size": "init.initializer('ones', [2.0])",
    "he_rank": "init.initializer('he_normal', [3])",
    "xavier_rank": "init.initializer('xavier_uniform', [3])",
    "he_mode": "init.initializer(init.HeUniform(mode='x'), [3, 3])",
    "he_nonlinearity": "init.initializer(init.HeUniform(nonlinearity='x'), [3, 3])",
    "he_slope": "init.initializer(init.HeUniform('a'), [3, 3])",
    "identity_rank": "init.initializer('identity', [3])",
    "dirac_rank": "init.initializer('dirac', [3])",
    "dirac_groups": "init.initializer(init.Dirac(2), [3, 2, 2])",
    "orthogonal_rank": "init.initializer('orthogonal', [3])",
    "scaling_scale": "init.VarianceScaling(-1.0)",
    "scaling_mode": "init.VarianceScaling(1.0, 'x')",
    "scaling_distribution": "init.VarianceScaling(1.0, 'fan_in', 'x')",
    "normal_sigma": "init.initializer(init.Normal(-1.0), [3])",
    "truncated_sigma": "init.initializer(init.TruncatedNormal(-1.0), [3])",
    "sparse_argument": "init.initializer('sparse', [3, 2])",
    "abstract": "init.initializer(init.Initializer(), [2])",
}
