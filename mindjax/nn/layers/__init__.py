"""Layers that are thin faces of ops."""
