"""Record what layouts the original makes of its compiler's records: ``/tmp/oracle/bin/python``."""

from __future__ import annotations

import json
import math
import pathlib
from types import SimpleNamespace
from typing import Any

OUT = pathlib.Path(__file__).resolve().parents[1] / "goldens/strategy_metadata.json"
# Device matrix, tensor map, and over how many ranks an optimizer's state is shared out further.
CASES = [
    ([8], [[-1], [-1]], 0),
    ([2, 4], [[-1], [0]], 0),
    ([2, 4], [[0], [1]], 0),
    ([4, 2], [[1, 0]], 0),
    ([2, 2, 2], [[1, 2, 0], [-1]], 0),
    ([2, 2, 2], [[-1], [2, 0], [1]], 0),
    ([2, 2, 2], [[1], [-1]], -1),
    ([2, 2, 2], [[2], [0]], -1),
    ([2, 2, 2], [[1, 0], [-1]], 2),
    ([2, 4], [[-1], [0]], -1),
    ([8], [[-1]], -1),
]


def main() -> None:
    """Write ``tests/goldens/strategy_metadata.json``."""
    import mindspore as ms
    from mindspore.parallel import strategy

    network: Any = SimpleNamespace(compile_phase="train")
    found = []
    for matrix, maps, optimizer in CASES:
        ranks = list(range(8, 8 + math.prod(matrix)))
        record = SimpleNamespace(
            dev_matrix=matrix, tensor_map=maps, opt_weight_shard_size=optimizer, rank_list=ranks,
            tensor_type="mindspore.float32", tensor_shape=[64] * len(maps),
        )  # fmt: skip
        given = {"train": {0: {"w": record}}}
        info = strategy._NetStrategyInfo(network, given, given).get_rank_layout()
        layout, dtype, shape = info[0]["w"]
        found.append([matrix, maps, optimizer, {**layout.to_dict()}, dtype, shape])
    errors = []
    for wrong in (1, "x", None):
        try:
            strategy.get_strategy_metadata(wrong)
        except Exception as error:
            errors.append(type(error).__name__)
    nothing = [
        strategy.enable_save_strategy_online(),
        strategy.clear_strategy_metadata(),
        strategy.get_strategy_metadata(ms.nn.Dense(2, 2)),
        strategy.get_strategy_metadata(ms.nn.Dense(2, 2), 7),
        strategy.get_current_strategy_metadata(ms.nn.Dense(2, 2)),
    ]
    types = [repr(getattr(ms, t)) for t in ("float16", "bfloat16", "int32", "bool_")]
    whole = {
        "about": {"mindspore": ms.__version__},
        "names": strategy.__all__,
        "layouts": found,
        "errors": errors,
        "nothing": nothing,
        "types": types,
    }
    lines = [f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in whole.items()]
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
