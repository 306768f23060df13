"""Records what the original's transforms make of the cases in ``transforms.py``.

Run ``$MINDJAX_ORACLE_PYTHON tests/checkpoint/record_transforms.py``: it rewrites
``tests/goldens/transform/recorded.json``, with the strategy files (hexadecimal), every rank's
values before and after, and 400 rank lists of random layouts.
"""

import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mindspore as ms
import transforms as t
from mindspore.train import node_strategy_pb2

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "goldens", "transform", "recorded.json")


def strategy(layouts):
    """Serialize a strategy file with the original's own classes."""
    message = node_strategy_pb2.ParallelStrategyMap(current_stage=1)
    operator = message.parallel_strategy_item.add(node_name="n")
    operator.parallel_strategys.stage = 0
    operator.parallel_strategys.parallel_strategy.add().dim.extend([1, 2])
    for name, (matrix, axes, step, size) in layouts.items():
        item = message.parallel_layout_item.add(param_name=name)
        record = item.parallel_layouts
        record.dev_matrix.add().dim.extend(matrix)
        nested = any(isinstance(one, list) for one in axes)
        for one in axes if nested else [axes]:
            record.tensor_map.add().dim.extend(one)
        record.param_split_shape.add()
        record.indices_offset.add()
        record.field = 0
        record.opt_weight_shard_step = step
        record.opt_weight_shard_size = size
    return message.SerializeToString()


def write(path, layouts):
    """Write a strategy file; None stays None."""
    if layouts is None:
        return None
    with open(path, "wb") as file:
        file.write(strategy(layouts))
    return path


def values(folder, count):
    """Read what every rank of a folder holds."""
    out = {}
    for rank in range(count):
        inner = os.path.join(folder, f"rank_{rank}")
        (name,) = os.listdir(inner)
        found = ms.load_checkpoint(os.path.join(inner, name))
        out[str(rank)] = {
            key: [str(value.dtype), list(value.shape), value.asnumpy().ravel().tolist()]
            for key, value in found.items()
        }
    return out


def case(folder, shapes, source, target):
    """Divide whole values for the source, and transform them for the target."""
    paths = write(f"{folder}/a.ckpt", source), write(f"{folder}/b.ckpt", target)
    whole = [ms.Parameter(ms.Tensor(t.whole(n, s)), name=n) for n, s in shapes.items()]
    whole.append(ms.Parameter(ms.Tensor(7, ms.int32), name="step"))
    os.makedirs(f"{folder}/whole/rank_0")
    ms.save_checkpoint(whole, f"{folder}/whole/rank_0/w.ckpt")
    before = f"{folder}/whole"
    if source:
        before = f"{folder}/before"
        ms.transform_checkpoints(f"{folder}/whole", before, "x", None, paths[0])
    ms.transform_checkpoints(before, f"{folder}/after", "y", *paths)
    return {
        "strategies": [one and strategy(one).hex() for one in (source, target)],
        "before": values(before, t.ranks(source)),
        "after": values(f"{folder}/after", t.ranks(target)),
        "ranks": [
            [int(one) for one in ms.rank_list_for_transform(rank, *paths)]
            for rank in range(t.ranks(target))
        ],
    }


def random_layout(source, dims):
    """Make a layout without optimizer sharding."""
    matrix = [source.choice([1, 2, 2, 4]) for _ in range(source.choice([1, 2, 3]))]
    axes = list(range(len(matrix)))
    source.shuffle(axes)
    return matrix, [axes.pop() if axes and source.random() < 0.6 else -1 for _ in range(dims)], 0, 0


def lists(folder, count):
    """Ask for rank lists of random pairs of layouts."""
    source = random.Random(5)
    out = []
    while len(out) < count:
        dims = source.choice([1, 2, 2, 3])
        pair = random_layout(source, dims), random_layout(source, dims)
        paths = [write(f"{folder}/{i}.ckpt", {"w": one}) for i, one in enumerate(pair)]
        rank = source.randrange(t.ranks({"w": pair[1]}))
        found = ms.rank_list_for_transform(rank, *paths)
        out.append([*pair, rank, [int(one) for one in found]])
    return out


def main():
    """Record everything."""
    out = {"version": ms.__version__, "cases": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in t.CASES.items():
            inner = os.path.join(folder, name)
            os.makedirs(inner)
            out["cases"][name] = case(inner, *arguments)
        out["lists"] = lists(folder, 400)
    os.makedirs(os.path.dirname(GOLDEN), exist_ok=True)
    with open(GOLDEN, "w", encoding="utf-8") as file:
        json.dump(out, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
