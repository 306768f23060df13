"""Minimisation of functions of Tensors, and assignment problems."""

from mindjax.scipy.optimize.linear_sum_assignment import (
    linear_sum_assignment as linear_sum_assignment,
)
from mindjax.scipy.optimize.search import line_search as line_search
from mindjax.scipy.optimize.solvers import minimize as minimize
