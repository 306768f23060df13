"""Summaries of training as event files of TensorBoard."""

from mindjax.train.summary.record import SummaryRecord as SummaryRecord

__all__ = ["SummaryRecord"]
