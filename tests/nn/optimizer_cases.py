"""Cases of all optimizers over twenty steps: expressions for either MindSpore.

They are evaluated with ``nn``, ``ms``, ``np``, ``xo`` (``experimental.optim``) and a list ``p`` of
Parameters, as in `tests.nn.optim_cases`.
"""

import numpy as np

from tests.nn.optim_cases import SHAPES, values

STEPS = 20
__all__ = ["ERRORS", "HALF", "RESUMED", "SHAPES", "SPARSE", "STEPS", "UPDATES"]
__all__ += ["gradients", "rows", "values"]


def gradients():
    """Give the gradients of each step."""
    random = np.random.RandomState(4)
    return [[random.randn(*s).astype(np.float32) for s in SHAPES.values()] for _ in range(STEPS)]


def rows():
    """Give indices and values of a gradient of some rows of ``weight``, for five steps."""
    random = np.random.RandomState(5)
    return [
        (random.permutation(4)[:2].astype(np.int32), random.randn(2, 16).astype(np.float32))
        for _ in range(5)
    ]


_DECAYED = "[{'params': p[:2], 'weight_decay': 0.1}, {'params': p[2:]}]"
_GROUPS = "[{'params': p[:2], 'weight_decay': 0.1, 'lr': 0.02}, {'params': p[2:]}]"
_SCHEDULED = (
    "[{'params': p[2:], 'weight_decay': 0.1, 'lr': nn.CosineDecayLR(0.01, 0.1, 15)},"
    " {'params': p[:2], 'lr': 0.05}, {'order_params': p}]"
)
_LISTED = (
    "[{'params': p[:2], 'lr': [0.01 * i for i in range(20)], 'weight_decay': 0.1},"
    " {'params': p[2:]}]"
)
_SLOWING = "nn.ExponentialDecayLR(0.1, 0.5, 6)"

UPDATES = {
    "sgd": f"nn.SGD({_SCHEDULED}, 0.1, 0.9, 0.2)",
    "sgd_nesterov": f"nn.SGD({_LISTED}, 0.1, 0.9, nesterov=True)",
    "momentum": f"nn.Momentum({_SCHEDULED}, 0.1, 0.9, loss_scale=16.0)",
    "momentum_list": f"nn.Momentum({_LISTED}, 0.1, 0.9, 0.05)",
    "adam": f"nn.Adam({_SCHEDULED}, 0.1, 0.8, 0.99, 1e-6)",
    "adam_amsgrad": f"nn.Adam({_GROUPS}, {_SLOWING}, use_amsgrad=True)",
    "adam_nesterov": f"nn.Adam({_LISTED}, 0.1, use_nesterov=True, loss_scale=8.0)",
    "adam_lazy": f"nn.Adam({_GROUPS}, 0.1, use_lazy=True)",
    "adam_offload": f"nn.Adam({_GROUPS}, 0.1, use_offload=True)",
    "adamw": f"nn.AdamWeightDecay({_SCHEDULED}, 0.1, 0.8, 0.99)",
    "adamw_list": f"nn.AdamWeightDecay({_LISTED}, 0.1, weight_decay=0.05)",
    "lamb": f"nn.Lamb({_GROUPS}, 0.1)",
    "rmsprop": f"nn.RMSProp({_GROUPS}, {_SLOWING}, 0.8, 0.5, 1e-9)",
    "rmsprop_centered": f"nn.RMSProp({_SCHEDULED}, 0.01, 0.8, 0.5, 0.1, centered=True)",
    "adagrad": f"nn.Adagrad({_SCHEDULED}, 0.2, 0.1, loss_scale=2.0)",
    "ftrl": "nn.FTRL(p)",
    "ftrl_groups": f"nn.FTRL({_DECAYED}, 0.2, 0.1, -0.4, 0.05, 0.1, loss_scale=4.0)",
    "ftrl_decay": "nn.FTRL(p, learning_rate=0.1, l1=0.3, weight_decay=0.1)",
    "lazy_adam": f"nn.LazyAdam({_SCHEDULED}, 0.1, 0.8, 0.99)",
    "lazy_adam_decay": "nn.LazyAdam(p, 0.1, use_nesterov=True, weight_decay=0.1, loss_scale=4.0)",
    "adam_offload_class": f"nn.AdamOffload({_GROUPS}, {_SLOWING}, 0.8, 0.99)",
    "adam_offload_nesterov": "nn.AdamOffload(p, 0.1, use_nesterov=True, weight_decay=0.1)",
    "proximal": "nn.ProximalAdagrad(p, 0.1, 0.1)",
    "proximal_groups": f"nn.ProximalAdagrad({_SCHEDULED}, 0.2, 0.1, 0.05, 0.1, loss_scale=4.0)",
    "adadelta": "nn.Adadelta(p)",
    "adadelta_groups": f"nn.Adadelta({_SCHEDULED}, 0.5, 0.8, 1e-4, loss_scale=4.0)",
    "adamax": "nn.AdaMax(p)",
    "adamax_groups": f"nn.AdaMax({_GROUPS}, {_SLOWING}, 0.8, 0.99, 1e-4, loss_scale=4.0)",
    "asgd": "nn.ASGD(p)",
    "asgd_groups": f"nn.ASGD({_SCHEDULED}, 0.1, 0.01, 0.5, 5.0)",
    "asgd_decay": "nn.ASGD(p, 0.05, t0=10.0, weight_decay=0.1)",
    "rprop": "nn.Rprop(p)",
    "rprop_groups": f"nn.Rprop({_GROUPS}, 0.1, (0.4, 1.3), (1e-3, 0.5))",
    "rprop_decay": "nn.Rprop(p, 0.01, weight_decay=0.1)",
    "adafactor": "nn.AdaFactor(p)",
    "adafactor_warmup": "nn.AdaFactor(p, warmup_init=True, weight_decay=0.1)",
    "adafactor_plain": "nn.AdaFactor(p, beta1=None, scale_parameter=False, clip_threshold=0.5)",
    "adafactor_rate": "nn.AdaFactor(p, 0.1, relative_step=False, weight_decay=0.01)",
    "adafactor_schedule": f"nn.AdaFactor(p, {_SLOWING}, (1e-20, 1e-2), relative_step=False)",
    "adafactor_compression": "nn.AdaFactor(p, compression=True)",
    "lars": "nn.LARS(nn.Momentum(p, 0.1, 0.9))",
    "lars_decay": "nn.LARS(nn.Momentum(p, 0.1, 0.9, 0.1, 4.0), 1e-3, 0.1)",
    "lars_clip": f"nn.LARS(nn.SGD({_DECAYED}, 0.1, 0.9), 1e-5, 0.1, True)",
    "lars_schedule": f"nn.LARS(nn.Momentum(p, {_SLOWING}, 0.9, 0.1), 1e-5, 0.1, True)",
    "lars_filter": "nn.LARS(nn.Momentum(p, 0.1, 0.9), coefficient=0.1,"
    " lars_filter=lambda x: 'conv' in x.name)",
    "x_sgd": "xo.SGD(p, 0.1, 0.9, 0.2, 0.1)",
    "x_sgd_groups": "xo.SGD([{'params': p[:2], 'lr': 0.05, 'momentum': 0.5}, {'params': p[2:],"
    " 'weight_decay': 0.1}], 0.1, 0.9, nesterov=True, maximize=True)",
    "x_adam": "xo.Adam(p, 0.1, weight_decay=0.1)",
    "x_adam_groups": "xo.Adam([{'params': p[:2], 'lr': 0.05, 'betas': (0.8, 0.9)}, {'params':"
    " p[2:], 'weight_decay': 0.1}], 0.1, maximize=True)",
    "x_adam_amsgrad": "xo.Adam(p, 0.1, (0.8, 0.9), amsgrad=True)",
    "x_adamw": "xo.AdamW(p, 0.1)",
    "x_adamw_groups": "xo.AdamW([{'params': p[:2], 'lr': 0.05}, {'params': p[2:],"
    " 'weight_decay': 0.1}], 0.1, (0.8, 0.9), 1e-4, amsgrad=True, maximize=True)",
    "x_adamax": "xo.Adamax(p)",
    "x_adamax_groups": "xo.Adamax([{'params': p[:2], 'lr': 0.05}, {'params': p[2:],"
    " 'weight_decay': 0.1}], 0.1, (0.8, 0.9), 1e-4, maximize=True)",
    "x_nadam": "xo.NAdam(p)",
    "x_nadam_groups": "xo.NAdam([{'params': p[:2], 'lr': 0.05}, {'params': p[2:],"
    " 'weight_decay': 0.1}], 0.1, (0.8, 0.9), 1e-4, momentum_decay=0.1)",
    "x_radam": "xo.RAdam(p, 0.1)",
    "x_radam_groups": "xo.RAdam([{'params': p[:2], 'lr': 0.05}, {'params': p[2:],"
    " 'weight_decay': 0.1}], 0.1, (0.8, 0.9), 1e-4)",
    "x_adagrad": "xo.Adagrad(p)",
    "x_adagrad_groups": "xo.Adagrad([{'params': p[:2], 'lr': 0.05}, {'params': p[2:],"
    " 'weight_decay': 0.1}], 0.1, 0.1, 0.0, 0.2, 1e-4, maximize=True)",
    "x_adadelta": "xo.Adadelta(p)",
    "x_adadelta_groups": "xo.Adadelta([{'params': p[:2], 'lr': 0.05}, {'params': p[2:],"
    " 'weight_decay': 0.1}], 0.1, 0.8, 1e-4, maximize=True)",
    "x_asgd": "xo.ASGD(p)",
    "x_asgd_groups": "xo.ASGD([{'params': p[:2], 'lr': 0.05}, {'params': p[2:],"
    " 'weight_decay': 0.1}], 0.1, 0.01, 0.5, 5.0, maximize=True)",
    "x_rmsprop": "xo.RMSprop(p)",
    "x_rmsprop_groups": "xo.RMSprop([{'params': p[:2], 'lr': 0.05}, {'params': p[2:],"
    " 'weight_decay': 0.1}], 0.1, 0.8, 1e-2, momentum=0.5, centered=True, maximize=True)",
    "x_rprop": "xo.Rprop(p)",
    "x_rprop_groups": "xo.Rprop([{'params': p[:2], 'lr': 0.05}, {'params': p[2:]}], 0.1,"
    " (0.4, 1.3), (1e-3, 0.5), maximize=True)",
}

# The gradient of ``p[0]`` names some of its rows.
SPARSE = {
    "adam": "nn.Adam(p[:1], 0.1)",
    "adam_lazy": "nn.Adam(p[:1], 0.1, use_lazy=True)",
    "lazy_adam": "nn.LazyAdam(p[:1], 0.1)",
    "lazy_adam_decay": "nn.LazyAdam(p[:1], 0.1, weight_decay=0.1, loss_scale=2.0)",
    "ftrl": "nn.FTRL(p[:1], learning_rate=0.1, l1=0.1)",
    "proximal": "nn.ProximalAdagrad(p[:1], 0.1, 0.1, 0.05)",
    "sgd": "nn.SGD(p[:1], 0.1)",
    "momentum": "nn.Momentum(p[:1], 0.1, 0.9)",
}

ERRORS = {
    "ftrl_dynamic": "nn.FTRL(p, learning_rate=nn.WarmUpLR(0.1, 4))",
    "ftrl_list": "nn.FTRL(p, learning_rate=[0.1, 0.2])",
    "ftrl_group_rate": "nn.FTRL([{'params': p, 'lr': 0.1}])",
    "ftrl_accum": "nn.FTRL(p, -0.1)",
    "ftrl_accum_type": "nn.FTRL(p, 1)",
    "ftrl_rate_type": "nn.FTRL(p, learning_rate=1)",
    "ftrl_rate": "nn.FTRL(p, learning_rate=0.0)",
    "ftrl_power": "nn.FTRL(p, lr_power=0.5)",
    "ftrl_l1": "nn.FTRL(p, l1=-0.5)",
    "ftrl_l2": "nn.FTRL(p, l2='a')",
    "ftrl_locking": "nn.FTRL(p, use_locking=1)",
    "lazy_beta": "nn.LazyAdam(p, beta1=1.0)",
    "lazy_decay": "nn.LazyAdam(p, weight_decay=-0.1)",
    "lazy_decay_type": "nn.LazyAdam(p, weight_decay=nn.WarmUpLR(0.1, 4))",
    "lazy_nesterov": "nn.LazyAdam(p, use_nesterov=1)",
    "offload_eps": "nn.AdamOffload(p, eps=0.0)",
    "offload_locking": "nn.AdamOffload(p, use_locking=1)",
    "proximal_accum": "nn.ProximalAdagrad(p, -0.1)",
    "proximal_l1": "nn.ProximalAdagrad(p, l1=1)",
    "proximal_l2": "nn.ProximalAdagrad(p, l2=-0.1)",
    "adadelta_rho": "nn.Adadelta(p, rho=1.1)",
    "adadelta_rho_type": "nn.Adadelta(p, rho=1)",
    "adadelta_eps": "nn.Adadelta(p, epsilon=-0.1)",
    "adadelta_list": "nn.Adadelta(p)([ms.Tensor(np.ones((4, 16), np.float32))] * 4)",
    "adamax_beta": "nn.AdaMax(p, beta2=0.0)",
    "adamax_eps": "nn.AdaMax(p, eps=1)",
    "asgd_lambd": "nn.ASGD(p, lambd=1)",
    "asgd_alpha": "nn.ASGD(p, alpha=1)",
    "asgd_t0": "nn.ASGD(p, t0=1)",
    "rprop_etas": "nn.Rprop(p, etas=[0.5, 1.2])",
    "rprop_etas_length": "nn.Rprop(p, etas=(0.5,))",
    "rprop_minus": "nn.Rprop(p, etas=(1.5, 1.2))",
    "rprop_plus": "nn.Rprop(p, etas=(0.5, 0.9))",
    "rprop_plus_type": "nn.Rprop(p, etas=(0.5, 2))",
    "rprop_sizes": "nn.Rprop(p, step_sizes=1.0)",
    "rprop_sizes_length": "nn.Rprop(p, step_sizes=(0.5,))",
    "rprop_sizes_order": "nn.Rprop(p, step_sizes=(5.0, 1.0))",
    "rprop_sizes_type": "nn.Rprop(p, step_sizes=(1e-6, 50))",
    "adafactor_both": "nn.AdaFactor(p, 0.1)",
    "adafactor_warmup": "nn.AdaFactor(p, 0.1, warmup_init=True, relative_step=False)",
    "adafactor_neither": "nn.AdaFactor(p, relative_step=False)",
    "adafactor_eps": "nn.AdaFactor(p, eps=1e-3)",
    "adafactor_eps_length": "nn.AdaFactor(p, eps=(1e-3,))",
    "adafactor_eps_range": "nn.AdaFactor(p, eps=(1e-3, -1.0))",
    "adafactor_eps_type": "nn.AdaFactor(p, eps=(1, 1e-3))",
    "adafactor_clip": "nn.AdaFactor(p, clip_threshold=-1.0)",
    "adafactor_clip_type": "nn.AdaFactor(p, clip_threshold=1)",
    "adafactor_decay": "nn.AdaFactor(p, decay_rate=1.0)",
    "adafactor_beta": "nn.AdaFactor(p, beta1=-0.1)",
    "adafactor_beta_type": "nn.AdaFactor(p, beta1='a')",
    "adafactor_weight_decay": "nn.AdaFactor(p, weight_decay=1.0)",
    "adafactor_scale": "nn.AdaFactor(p, scale_parameter=1)",
    "adafactor_compression": "nn.AdaFactor(p, compression=1)",
    "lars_optimizer": "nn.LARS(3)",
    "lars_epsilon": "nn.LARS(nn.SGD(p), 1)",
    "lars_coefficient": "nn.LARS(nn.SGD(p), coefficient=1)",
    "lars_clip": "nn.LARS(nn.SGD(p), use_clip=1)",
    "lars_rates": "nn.LARS(nn.SGD([{'params': p, 'lr': nn.WarmUpLR(0.1, 4)}]), use_clip=True)",
    "adasum_grad": "nn.AdaSumByGradWrapCell(nn.SGD(p))",
    "adasum_delta": "nn.AdaSumByDeltaWeightWrapCell(nn.SGD(p))",
    "adasum_first": "nn.AdaSumByDeltaWeightWrapCell(3)",
    "tft": "nn.OptTFTWrapper(nn.SGD(p))",
    "tft_type": "nn.OptTFTWrapper(3)",
    "unique": "setattr(nn.SGD(p), 'unique', 1)",
    "target_type": "setattr(nn.Adam(p), 'target', 1)",
    "target": "setattr(nn.Adam(p), 'target', 'Ascend')",
    "target_name": "setattr(nn.FTRL(p), 'target', 'TPU')",
    "target_ftrl_type": "setattr(nn.FTRL(p), 'target', 1)",
    "target_proximal": "setattr(nn.ProximalAdagrad(p), 'target', 'TPU')",
    "target_sgd": "setattr(nn.SGD(p), 'target', 'CPU')",
    "x_none": "xo.SGD(None, 0.1)",
    "x_empty": "xo.SGD([], 0.1)",
    "x_number": "xo.SGD(3, 0.1)",
    "x_group": "xo.SGD([{'params': p}, 3], 0.1)",
    "x_set": "xo.SGD([{'params': set(p)}], 0.1)",
    "x_element": "xo.SGD([{'params': [3]}], 0.1)",
    "x_twice": "xo.SGD([{'params': p}, {'params': p}], 0.1)",
    "x_rate_tensor": "xo.Adam(p, ms.Tensor([0.1, 0.2]))",
    "x_group_rate": "xo.Adam([{'params': p, 'lr': 'a'}])",
    "x_group_negative": "xo.Adam([{'params': p, 'lr': -0.1}])",
    "x_group_decay": "xo.Adam([{'params': p, 'weight_decay': 'a'}])",
    "x_sgd_rate": "xo.SGD(p, -0.1)",
    "x_sgd_rate_type": "xo.SGD(p, 'a')",
    "x_sgd_momentum": "xo.SGD(p, 0.1, -0.1)",
    "x_sgd_momentum_type": "xo.SGD(p, 0.1, 'a')",
    "x_sgd_dampening": "xo.SGD(p, 0.1, 0.9, 'a')",
    "x_sgd_nesterov": "xo.SGD(p, 0.1, nesterov=True)",
    "x_sgd_nesterov_type": "xo.SGD(p, 0.1, nesterov=1)",
    "x_sgd_maximize": "xo.SGD(p, 0.1, maximize=1)",
    "x_adam_rate": "xo.Adam(p, -0.1)",
    "x_adam_eps": "xo.Adam(p, eps=-0.1)",
    "x_adam_beta": "xo.Adam(p, betas=(1.0, 0.9))",
    "x_adam_beta2": "xo.Adam(p, betas=(0.9, 1.0))",
    "x_adam_decay": "xo.Adam(p, weight_decay=-1.0)",
    "x_adamw_decay": "xo.AdamW(p, weight_decay=-1.0)",
    "x_adamax_rate": "xo.Adamax(p, 0.0)",
    "x_adamax_eps": "xo.Adamax(p, eps=0.0)",
    "x_adamax_beta": "xo.Adamax(p, betas=(0.9, 1.0))",
    "x_nadam_rate": "xo.NAdam(p, 0.0)",
    "x_nadam_momentum": "xo.NAdam(p, momentum_decay=-1.0)",
    "x_radam_decay": "xo.RAdam(p, weight_decay=-1.0)",
    "x_radam_beta": "xo.RAdam(p, betas=(-0.1, 0.9))",
    "x_adagrad_decay": "xo.Adagrad(p, lr_decay=-1.0)",
    "x_adagrad_first": "xo.Adagrad(p, initial_accumulator_value=-1.0)",
    "x_adadelta_rho": "xo.Adadelta(p, rho=1.5)",
    "x_adadelta_rate": "xo.Adadelta(p, 0.0)",
    "x_asgd_lambd": "xo.ASGD(p, lambd=1)",
    "x_asgd_t0": "xo.ASGD(p, t0=1)",
    "x_asgd_rate": "xo.ASGD(p, 0.0)",
    "x_rmsprop_alpha": "xo.RMSprop(p, alpha=-1.0)",
    "x_rmsprop_momentum": "xo.RMSprop(p, momentum=-1.0)",
    "x_rprop_plus": "xo.Rprop(p, etas=(0.5, 1.0))",
    "x_rprop_minus": "xo.Rprop(p, etas=(1.0, 1.2))",
    "x_base": "xo.Optimizer(p, {})(p)",
}

# Saved after ten steps in one MindSpore, and resumed in the other for ten more.
HALF = 10
RESUMED = [
    "ftrl",
    "lazy_adam",
    "proximal_groups",
    "adadelta",
    "adamax_groups",
    "asgd_decay",
    "rprop",
    "adafactor_warmup",
    "adagrad",
    "x_adamw",
    "x_sgd_groups",
    "x_rmsprop_groups",
]
