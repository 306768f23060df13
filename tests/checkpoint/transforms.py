"""Divisions of Parameters over ranks for the transforms; both interpreters import this file.

A layout is ``(device matrix, tensor map, optimizer step, optimizer size)``; a case says how two
programs divide Parameters of given whole shapes. Stage 1 of a pipeline holds the names in ``late``.
"""

import math

# name: (whole shapes, source layouts or None, target layouts or None)
W, B = (8, 8), (16,)
CASES = {
    "rows_to_columns": ({"w": W}, {"w": ([4], [0, -1], 0, 0)}, {"w": ([4], [-1, 0], 0, 0)}),
    "to_whole": (
        {"w": W, "b": B},
        {"w": ([2, 2], [1, 0], 0, 0), "b": ([2, 2], [0], 0, 0)},
        None,
    ),
    "from_whole": (
        {"w": W, "b": B},
        None,
        {"w": ([2, 2], [0, 1], 0, 0), "b": ([2, 2], [-1], 0, 0)},
    ),
    "fewer_ranks": ({"w": W}, {"w": ([2, 4], [0, 1], 0, 0)}, {"w": ([2], [-1, 0], 0, 0)}),
    "more_ranks": ({"w": W}, {"w": ([2], [0, -1], 0, 0)}, {"w": ([2, 2, 2], [2, 0], 0, 0)}),
    "optimizer_to_whole": ({"w": W}, {"w": ([4, 2], [0, -1], 2, 4)}, None),
    "optimizer_part": (
        {"w": W},
        {"w": ([4, 2], [-1, 0], 2, 2)},
        {"w": ([2, 2], [0, 1], 0, 0)},
    ),
    "to_optimizer": ({"w": W}, {"w": ([2], [0, -1], 0, 0)}, {"w": ([4, 2], [0, -1], 2, -1)}),
    "two_axes_one_dim": (
        {"w": (16, 4)},
        {"w": ([2, 2, 2], [[2, 1], [0]], 0, 0)},
        {"w": ([2, 4], [-1, 0], 0, 0)},
    ),
    "three_dims": (
        {"w": (4, 4, 4), "b": (8,)},
        {"w": ([2, 2, 2], [2, 1, 0], 0, 0), "b": ([2, 2, 2], [0], 0, 0)},
        {"w": ([2, 2, 2], [0, -1, 1], 0, 0), "b": ([2, 2, 2], [2], 0, 0)},
    ),
}
DTYPES = {"w": "float32", "b": "float16"}


def whole(name, shape):
    """Give a Parameter's values: no two are equal."""
    import numpy as np

    return np.arange(math.prod(shape)).reshape(shape).astype(DTYPES[name])


def ranks(layouts):
    """Give the number of ranks of a program."""
    return math.prod(next(iter(layouts.values()))[0]) if layouts else 1


def text(layouts):
    """Give the JSON form of a strategy file, as a table."""
    items = {
        name: {
            "dev_matrix": matrix,
            "tensor_map": axes,
            "field": 0,
            "opt_weight_shard_step": step,
            "opt_weight_shard_size": size,
        }
        for name, (matrix, axes, step, size) in layouts.items()
    }
    operator = {"n": {"parallel_strategy": [[1, 2]], "stage": 0}}
    return {
        "current_stage": 1,
        "parallel_layout_item": items,
        "parallel_strategy_item": operator,
    }
