"""The commands of ``mindjax`` and ``python -m mindjax``, one module each."""
