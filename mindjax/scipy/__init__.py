"""SciPy's face: linear algebra, optimisation and cosine transforms on Tensors."""

from mindjax.scipy import fft as fft
from mindjax.scipy import linalg as linalg
from mindjax.scipy import ops as ops
from mindjax.scipy import optimize as optimize
