"""Kernels in C++ as custom calls of XLA, each beside its form in jax.numpy.

A module holds the plain form (``reference``), the function that takes the kernel where it can be
had and fits, its gradient, and ``ACLNN``, the operators of the vendor's library that do the same.
The C++ in ``src`` is compiled by g++ when a program first wants it. Without g++, on other platforms
than ``cpu`` and ``ascend`` and where programs span several devices, the plain forms stand.
"""
