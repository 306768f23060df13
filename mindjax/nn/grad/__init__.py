"""Cells that differentiate others, an explicit list."""

from mindjax.nn.grad.cell_grad import Jvp as Jvp
from mindjax.nn.grad.cell_grad import Vjp as Vjp
