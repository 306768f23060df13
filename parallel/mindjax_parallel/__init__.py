"""Distributed execution over jax device meshes: layouts, strategies, communication, launching."""
