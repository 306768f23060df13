"""How Cells are made without drawing first values (MindSpore: ``nn.utils``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mindjax.tensor.parameter import Parameter


@contextmanager
def no_init_parameters() -> Iterator[None]:
    """Mark the Parameters made within as ones whose values a checkpoint will replace.

    MindSpore: ``nn.no_init_parameters``. The original leaves them without memory until they are
    loaded or `init_parameters_data` runs. Here they have their first values from the start, so
    that one which the checkpoint lacks is as good as any: only the mark, ``init_param``, is set.

    Yields:
        None.
    """
    outer = Parameter._first_init_param
    Parameter._first_init_param = False
    try:
        yield
    finally:
        Parameter._first_init_param = outer
