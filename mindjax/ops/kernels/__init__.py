"""Kernels in C++ for what XLA's CPU backend does badly; each op has a plain form beside its kernel.

They are compiled by g++ when the first program that wants one is traced, and kept in the user's
cache. Without a compiler, on other devices and where programs span several devices the plain forms
stand.
"""
