"""The schedulers' code; `lr_scheduler` lists them.

A rate and whatever counts are Parameters, and choices are made by ``where``: ``step`` is the same
program at every step, alone or inside a compiled training step.
"""
