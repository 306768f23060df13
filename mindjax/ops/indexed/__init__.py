"""Scatter, segment and index updates."""
