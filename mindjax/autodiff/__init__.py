"""Gradients: `grad`, `value_and_grad`, `GradOperation`, custom backward passes."""

from mindjax.autodiff.custom import HookBackward as HookBackward
from mindjax.autodiff.grad import GradOperation as GradOperation
from mindjax.autodiff.grad import get_grad as get_grad
from mindjax.autodiff.grad import grad as grad
from mindjax.autodiff.grad import value_and_grad as value_and_grad
