"""Old import path: ``mindspore.common._grad_function``."""

from mindjax.autodiff import _Function as _Function
