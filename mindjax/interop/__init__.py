"""The bridge to jax, flax and optax: functions, modules and optimizers, in both directions."""

from mindjax.interop.flax import as_cell as as_cell
from mindjax.interop.flax import as_nnx as as_nnx
from mindjax.interop.functional import functional as functional
from mindjax.interop.optax import as_optax as as_optax
from mindjax.interop.optax import optimizer as optimizer
from mindjax.interop.transforms import as_op as as_op
from mindjax.interop.transforms import grad as grad
from mindjax.interop.transforms import jit as jit
from mindjax.interop.transforms import vmap as vmap
