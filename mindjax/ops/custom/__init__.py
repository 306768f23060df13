"""User-written operators: Python functions, jax functions and native kernels."""
