"""Cases of `experimental.optim.lr_scheduler`: expressions for either MindSpore.

They are evaluated with ``ms``, ``np``, ``S`` (the schedulers' module), an optimizer ``o`` of two
groups, whose rates are 0.1 and 0.5, and ``xo`` (``experimental.optim``).
"""

STEPS = 14

SCHEDULERS = {
    "step": "S.StepLR(o, 3)",
    "step_gamma": "S.StepLR(o, 4, 0.5)",
    "multi_step": "S.MultiStepLR(o, [2, 5, 5, 9])",
    "multi_step_gamma": "S.MultiStepLR(o, [1, 3], gamma=2)",
    "lambda": "S.LambdaLR(o, lambda e: 0.9 ** e)",
    "lambda_each": "S.LambdaLR(o, [lambda e: e // 3, lambda e: 0.95 ** e])",
    "multiplicative": "S.MultiplicativeLR(o, lambda e: 0.95)",
    "multiplicative_each": "S.MultiplicativeLR(o, [lambda e: 0.95, lambda e: 1.0 / e])",
    "constant": "S.ConstantLR(o)",
    "constant_factor": "S.ConstantLR(o, 0.5, 4)",
    "linear": "S.LinearLR(o)",
    "linear_down": "S.LinearLR(o, 1.0, 0.1, 8)",
    "exponential": "S.ExponentialLR(o, 0.7)",
    "polynomial": "S.PolynomialLR(o)",
    "polynomial_power": "S.PolynomialLR(o, 9, 2.5)",
    "cosine": "S.CosineAnnealingLR(o, 5)",
    "cosine_min": "S.CosineAnnealingLR(o, 4, 0.05)",
    "restarts": "S.CosineAnnealingWarmRestarts(o, 4)",
    "restarts_longer": "S.CosineAnnealingWarmRestarts(o, 2, 2, 0.01)",
    "cyclic": "S.CyclicLR(o, 0.01, 0.2, 3)",
    "cyclic_each": "S.CyclicLR(o, [0.01, 0.02], [0.2, 0.4], 2, 4, 'triangular2')",
    "cyclic_range": "S.CyclicLR(o, 0.01, 0.2, 3, mode='exp_range', gamma=0.9)",
    "cyclic_own": "S.CyclicLR(o, 0.01, 0.2, 3, scale_fn=lambda x: 0.5 ** x)",
    "cyclic_steps": "S.CyclicLR(o, 0.01, 0.2, 3, scale_fn=lambda x: 0.9 ** x,"
    " scale_mode='iterations')",
    "sequential": "S.SequentialLR(o, [S.ConstantLR(o, 0.5, 2), S.ExponentialLR(o, 0.9)], [3])",
    "sequential_three": "S.SequentialLR(o, [S.LinearLR(o, 0.5, 1.0, 3), S.StepLR(o, 2, 0.5),"
    " S.CosineAnnealingLR(o, 4)], [3, 7])",
}

# One value a step.
WATCHED = [3.0, 2.0, 2.1, 2.05, 2.2, 1.9999, 1.5, 1.6, 1.7, 1.8, 1.9, 1.4, 1.45, 1.39]

PLATEAUS = {
    "min": "S.ReduceLROnPlateau(o, 'min', 0.5, 1)",
    "max": "S.ReduceLROnPlateau(o, 'max', 0.5, 0, threshold=0.1, cooldown=2)",
    "absolute": "S.ReduceLROnPlateau(o, patience=0, threshold=0.2, threshold_mode='abs')",
    "max_absolute": "S.ReduceLROnPlateau(o, 'max', patience=2, threshold_mode='abs')",
    "lowest": "S.ReduceLROnPlateau(o, factor=0.5, patience=0, min_lr=[0.01, 0.2], eps=0.01)",
    "cooldown": "S.ReduceLROnPlateau(o, factor=0.9, patience=0, cooldown=3, min_lr=0.05)",
}

# What `step` is given in place of nothing.
EPOCHS = [4, 1, 7, 12]
CLOSED = ["step", "lambda", "constant_factor", "linear", "exponential", "polynomial_power"]
CLOSED += ["cosine_min", "restarts", "cyclic"]

ERRORS = {
    "optimizer": "S.StepLR(3, 2)",
    "step_size": "S.StepLR(o, 2.0)",
    "step_gamma": "S.StepLR(o, 2, 1)",
    "last_epoch": "S.StepLR(o, 2, last_epoch=-2)",
    "last_epoch_type": "S.StepLR(o, 2, last_epoch=1.0)",
    "resuming": "S.StepLR(o, 2, last_epoch=3)",
    "milestones": "S.MultiStepLR(o, (2, 3))",
    "milestone": "S.MultiStepLR(o, [2.0])",
    "multi_gamma": "S.MultiStepLR(o, [2], 'a')",
    "lambdas": "S.LambdaLR(o, [lambda e: e])",
    "factors": "S.MultiplicativeLR(o, [lambda e: e])",
    "constant": "S.ConstantLR(o, 1.5)",
    "constant_iters": "S.ConstantLR(o, 0.5, 1.0)",
    "linear_start": "S.LinearLR(o, 0.0)",
    "linear_end": "S.LinearLR(o, 0.5, 1.5)",
    "linear_iters": "S.LinearLR(o, 0.5, 1.0, 1.0)",
    "exponential": "S.ExponentialLR(o, 1)",
    "polynomial": "S.PolynomialLR(o, power=-1.0)",
    "polynomial_type": "S.PolynomialLR(o, power=1)",
    "polynomial_iters": "S.PolynomialLR(o, 2.0)",
    "cosine": "S.CosineAnnealingLR(o, 2.0)",
    "cosine_min": "S.CosineAnnealingLR(o, 2, 'a')",
    "restarts": "S.CosineAnnealingWarmRestarts(o, 0)",
    "restarts_mult": "S.CosineAnnealingWarmRestarts(o, 2, 0)",
    "restarts_min": "S.CosineAnnealingWarmRestarts(o, 2, eta_min='a')",
    "restarts_epoch": "S.CosineAnnealingWarmRestarts(o, 2).step(-1)",
    "cyclic": "S.CyclicLR(o, [0.1], 0.2)",
    "cyclic_max": "S.CyclicLR(o, 0.1, [0.2])",
    "cyclic_mode": "S.CyclicLR(o, 0.1, 0.2, mode='x')",
    "sequential": "S.SequentialLR(o, [S.ConstantLR(o)], [3])",
    "sequential_optimizer": "S.SequentialLR(o, [S.ConstantLR(xo.SGD(o.parameters, 1.0))], [])",
    "plateau_factor": "S.ReduceLROnPlateau(o, factor=1.0)",
    "plateau_optimizer": "S.ReduceLROnPlateau(3)",
    "plateau_mode": "S.ReduceLROnPlateau(o, 'x')",
    "plateau_threshold": "S.ReduceLROnPlateau(o, threshold_mode='x')",
    "plateau_rates": "S.ReduceLROnPlateau(o, min_lr=[0.1])",
    "base": "S.LRScheduler(o)",
}
