"""Gradients and other transforms of functions: `grad`, `jvp`, `vjp`, `jacfwd`, `jet`, `vmap`."""

from mindjax.autodiff.custom import HookBackward as HookBackward
from mindjax.autodiff.function import _Function as _Function
from mindjax.autodiff.function import _no_grad as _no_grad
from mindjax.autodiff.general import _Grad as _Grad
from mindjax.autodiff.grad import GradOperation as GradOperation
from mindjax.autodiff.grad import get_grad as get_grad
from mindjax.autodiff.grad import grad as grad
from mindjax.autodiff.grad import value_and_grad as value_and_grad
from mindjax.autodiff.products import jacfwd as jacfwd
from mindjax.autodiff.products import jacrev as jacrev
from mindjax.autodiff.products import jvp as jvp
from mindjax.autodiff.products import linearize as linearize
from mindjax.autodiff.products import vjp as vjp
from mindjax.autodiff.saved import recompute as recompute
from mindjax.autodiff.saved import recompute_block as recompute_block
from mindjax.autodiff.saved import register_saved_tensors_hooks as register_saved_tensors_hooks
from mindjax.autodiff.saved import saved_tensors_hooks as saved_tensors_hooks
from mindjax.autodiff.taylor import derivative as derivative
from mindjax.autodiff.taylor import jet as jet
from mindjax.autodiff.vectorize import _Vmap as _Vmap
from mindjax.autodiff.vectorize import vmap as vmap
