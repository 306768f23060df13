"""Optimizers whose original has no CPU kernel, or a faulty one, as formulas in float64.

Each takes the number of the Parameter, its name, its first value and its gradients, and gives its
last value and states.
"""

import numpy as np

# The ops get their factors in Float32, where one minus a factor is another number.
BETAS = tuple(map(float, np.float32((0.9, 0.999))))


def lamb(p, steps, lr, decay, betas=BETAS, eps=1e-6):
    m = v = 0.0
    for t, g in enumerate(steps, 1):
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        u = m / (1 - betas[0] ** t) / (np.sqrt(v / (1 - betas[1] ** t)) + eps) + decay * p
        p = p - lr * np.linalg.norm(p) / np.linalg.norm(u) * u
    return {"": p, "lamb_m.": m, "lamb_v.": v}


def ftrl(p, steps, accum=0.1, lr=0.001, power=-0.5, l1=0.0, l2=0.0, decay=0.0):
    n, z = accum, 0.0
    for g in steps:
        g = g + decay * p
        grown = n + g**2
        z = z + g - (grown**-power - n**-power) / lr * p
        n = grown
        p = np.where(np.abs(z) > l1, (np.sign(z) * l1 - z) / (n**-power / lr + 2 * l2), 0)
    return {"": p, "moments.": n, "linear.": z}


def amsgrad(p, steps, lr, betas, eps=1e-8):
    m = v = largest = 0.0
    for t, g in enumerate(steps, 1):
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        largest = np.maximum(largest, v)
        rate = lr * np.sqrt(1 - betas[1] ** t) / (1 - betas[0] ** t)
        p = p - rate * m / (np.sqrt(largest) + eps)
    return {"": p, "exp_avg.": m, "exp_avg_sq.": v, "max_exp_avg_sq.": largest}


def radam(p, steps, lr, betas=BETAS, eps=1e-8):
    m = v = 0.0
    last = 2 / (1 - betas[1]) - 1
    for t, g in enumerate(steps, 1):
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        missing = 1 - betas[1] ** t
        rho = last - 2 * t * betas[1] ** t / missing
        step = lr * m / (1 - betas[0] ** t)
        if rho > 5:
            square = (rho - 4) * (rho - 2) * last / ((last - 4) * (last - 2) * rho)
            step = step * np.sqrt(square * missing) / (np.sqrt(v) + eps)
        p = p - step
    return {"": p, "exp_avg.": m, "exp_avg_sq.": v}


def lars(
    p,
    steps,
    momentum=0.9,
    rates=(0.1,) * 20,
    decay=0.0,
    eps=1e-5,
    coefficient=0.001,
    clip=False,
    scaled=True,
):
    v = 0.0
    for rate, g in zip(rates, steps, strict=True):
        if scaled:
            norm, of_gradient = np.linalg.norm(p), np.linalg.norm(g)
            ratio = coefficient * norm / (of_gradient + decay * norm + eps)
            ratio = min(ratio / rate, 1.0) if clip else ratio
            g = ratio * (g + decay * p)
        v = momentum * v + g
        p = p - rate * v
    return {"": p}


def _halving():
    return [0.1 * 0.5 ** (t / 6) for t in range(20)]


FORMULAS = {
    "lamb": lambda i, n, p, g: lamb(p, g, *((0.02, 0.1) if i < 2 else (0.1, 0.0))),
    "ftrl_groups": lambda i, n, p, g: ftrl(
        p, [x / 4 for x in g], 0.2, 0.1, -0.4, 0.05, 0.1, 0.1 if i < 2 else 0.0
    ),
    "ftrl_decay": lambda i, n, p, g: ftrl(p, g, lr=0.1, l1=0.3, decay=0.1),
    "x_adam_amsgrad": lambda i, n, p, g: amsgrad(p, g, 0.1, (0.8, 0.9)),
    "x_radam": lambda i, n, p, g: radam(p, g, 0.1),
    "lars": lambda i, n, p, g: lars(p, g, scaled="bias" not in n),
    "lars_decay": lambda i, n, p, g: lars(
        p,
        [x / 4 for x in g],
        decay=0.1 if n != "gamma" and "bias" not in n else 0.0,
        eps=1e-3,
        coefficient=0.1,
        scaled="bias" not in n,
    ),
    "lars_clip": lambda i, n, p, g: lars(
        p, g, decay=0.1 if i < 2 else 0.0, coefficient=0.1, clip=True, scaled="bias" not in n
    ),
    "lars_schedule": lambda i, n, p, g: lars(
        p,
        g,
        rates=_halving(),
        decay=0.1 if n != "gamma" else 0.0,
        coefficient=0.1,
        clip=True,
        scaled="bias" not in n,
    ),
    "lars_filter": lambda i, n, p, g: lars(p, g, coefficient=0.1, scaled="conv" in n),
}
