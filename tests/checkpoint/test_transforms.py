"""Transforms between divisions over ranks, against what the original made of the same files."""

import json
import os
import subprocess

import ml_dtypes
import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, nn
from mindjax.checkpoint.load import read_file
from mindjax.checkpoint.save import write_file
from mindjax.checkpoint.strategy import (
    Dims,
    OperatorStrategy,
    ParallelLayouts,
    StrategyFile,
    read_strategy,
    write_strategy,
)
from tests.checkpoint import transforms as t

HERE = os.path.dirname(os.path.abspath(__file__))
with open(
    os.path.join(os.path.dirname(HERE), "goldens", "transform", "recorded.json"), encoding="utf-8"
) as _file:
    RECORDED = json.load(_file)


def record(layout):
    matrix, axes, step, size = layout
    nested = any(isinstance(one, list) for one in axes)
    maps = tuple(Dims(tuple(one)) for one in (axes if nested else [axes]))
    return ParallelLayouts((Dims(tuple(matrix)),), maps, (Dims(()),), (Dims(()),), 0, step, size)


def content(layouts, stage=0):
    operator = OperatorStrategy("n", stage, (Dims((1, 2)),))
    return StrategyFile(1, [operator], {name: record(one) for name, one in layouts.items()})


def strategy(path, layouts, stage=0):
    """Write a strategy file; None stays None."""
    if layouts is None:
        return None
    write_strategy(str(path), content(layouts, stage))
    return str(path)


def rank_path(folder, rank, name):
    inner = os.path.join(str(folder), f"rank_{rank}")
    os.makedirs(inner, exist_ok=True)
    return os.path.join(inner, name)


def place(folder, recorded, kind="ckpt"):
    """Write what every rank of the source holds."""
    for rank, entries in recorded.items():
        arrays = {
            key: np.array(values, dtype.lower()).reshape(shape)
            for key, (dtype, shape, values) in entries.items()
        }
        write_file(rank_path(folder, rank, f"x.{kind}"), arrays, kind)
    return str(folder)


def shown(path, kind="ckpt"):
    names = {"float32": "Float32", "float16": "Float16", "int32": "Int32"}
    return {
        key: [names[value.dtype.name], list(value.shape), value.ravel().tolist()]
        for key, value in read_file(path, kind).items()
    }


def parts(tmp_path, name):
    shapes, source, target = t.CASES[name]
    paths = strategy(tmp_path / "a.ckpt", source), strategy(tmp_path / "b.ckpt", target)
    return shapes, paths, RECORDED["cases"][name]


@pytest.mark.parametrize("name", t.CASES)
@pytest.mark.parametrize("kind", ["ckpt", "safetensors"])
def test_what_the_original_makes(tmp_path, name, kind):
    _, paths, recorded = parts(tmp_path, name)
    for path, raw in zip(paths, recorded["strategies"], strict=True):
        if path is not None:
            with open(path, "rb") as file:
                assert file.read().hex() == raw
    before = place(tmp_path / "before", recorded["before"], kind)
    after = str(tmp_path / "after")
    ms.transform_checkpoints(before, after, "y", *paths, process_num=2, output_format=kind)
    assert sorted(os.listdir(after)) == sorted(f"rank_{rank}" for rank in recorded["after"])
    for rank, values in recorded["after"].items():
        assert shown(rank_path(after, rank, f"y{rank}.{kind}"), kind) == values
        assert ms.rank_list_for_transform(int(rank), *paths) == recorded["ranks"][int(rank)]


@pytest.mark.parametrize("name", ["optimizer_part", "from_whole", "to_whole"])
def test_one_rank(tmp_path, name):
    _, paths, recorded = parts(tmp_path, name)
    before = place(tmp_path / "before", recorded["before"])
    for rank, values in recorded["after"].items():
        ranks = ms.rank_list_for_transform(int(rank), *paths)
        files = {one: rank_path(before, one, "x.ckpt") for one in ranks}
        ms.transform_checkpoint_by_rank(int(rank), files, str(tmp_path / "y.ckpt"), *paths)
        assert shown(str(tmp_path / "y.ckpt")) == values


def test_rank_lists(tmp_path):
    found = []
    for *pair, rank, _ in RECORDED["lists"]:
        paths = [strategy(tmp_path / f"{i}.ckpt", {"w": one}) for i, one in enumerate(pair)]
        found.append([*pair, rank, ms.rank_list_for_transform(rank, *paths)])
    assert found == RECORDED["lists"]
    assert ms.rank_list_for_transform(3) == [0]


def test_json_and_protobuf_are_alike(tmp_path):
    layouts = {
        "w": ([2, 2, 2], [[2, 1], [0]], 0, 0),
        "b": ([4, 2], [-1], 2, -1),
    }
    written = content(layouts)
    for name in ("a.ckpt", "a.json"):
        write_strategy(str(tmp_path / name), written)
        assert read_strategy(str(tmp_path / name)) == written
    plain = tmp_path / "plain.json"
    plain.write_text(json.dumps(t.text({"b": layouts["b"]})))
    assert ms.build_searched_strategy(str(plain)) == {"b": written.layouts["b"]}


@pytest.mark.parametrize(
    "text", ["[", "3", '{"parallel_layout_item": {"w": {}}}', '{"parallel_layout_item": [1]}']
)
def test_wrong_json(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(TypeError, match=r"a\.json"):
        ms.build_searched_strategy(str(path))


@pytest.mark.parametrize("kind", ["ckpt", "json"])
def test_pipeline_stages(tmp_path, kind):
    """Two stages of two ranks each become one file and back."""
    (tmp_path / "s").mkdir()
    row = ([2], [0, -1], 0, 0)
    strategy(tmp_path / "s" / f"a.{kind}", {"early.w": row}, 0)
    strategy(tmp_path / "s" / f"b.{kind}", {"late.w": row, "late.b": ([2], [-1], 0, 0)}, 1)
    merged = str(tmp_path / f"merged.{kind}")
    ms.merge_pipeline_strategys(str(tmp_path / "s"), merged)
    assert list(ms.build_searched_strategy(merged)) == ["0-early.w", "1-late.w", "1-late.b"]
    whole = {
        "early.w": np.arange(8, dtype=np.float32).reshape(4, 2),
        "late.w": np.arange(8, 16, dtype=np.float32).reshape(4, 2),
        "late.b": np.array([1, 2], ml_dtypes.bfloat16),
    }
    write_file(rank_path(tmp_path / "whole", 0, "w.ckpt"), whole, "ckpt")
    ms.transform_checkpoints(str(tmp_path / "whole"), str(tmp_path / "four"), "x", None, merged)
    stage = [
        read_file(rank_path(tmp_path / "four", rank, f"x{rank}.ckpt"), "ckpt") for rank in range(4)
    ]
    assert [sorted(one) for one in stage] == [["early.w"]] * 2 + [["late.b", "late.w"]] * 2
    assert stage[1]["early.w"].tolist() == [[4, 5], [6, 7]]
    assert stage[3]["late.w"].tolist() == [[12, 13], [14, 15]]
    assert ms.rank_list_for_transform(0, merged) == [3, 2, 1, 0]
    ms.transform_checkpoints(str(tmp_path / "four"), str(tmp_path / "back"), "y", merged)
    back = read_file(rank_path(tmp_path / "back", 0, "y0.ckpt"), "ckpt")
    assert sorted(back) == sorted(whole)
    for name, value in whole.items():
        assert back[name].dtype == value.dtype and (back[name] == value).all()


def test_slices_are_merged():
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)

    def slices(arrays):
        return [Parameter(Tensor(one), name="w") for one in arrays]

    def merged(arrays, layout, **more):
        strategy = {"w": record((*layout, 0, 0))._replace(**more)}
        return ms.merge_sliced_parameter(slices(arrays), strategy).asnumpy()

    assert (ms.merge_sliced_parameter(slices(np.split(whole, 2))).asnumpy() == whole).all()
    quarters = [half for row in np.split(whole, 2) for half in np.split(row, 2, 1)]
    assert (merged(quarters, ([2, 2], [1, 0])) == whole).all()
    uneven = [whole[:3, :3], whole[:3, 3:], whole[3:, :3], whole[3:, 3:]]
    sizes = (Dims((3, 3, 1, 1)),)
    assert (merged(uneven, ([2, 2], [1, 0]), param_split_shape=sizes) == whole).all()
    # An embedding of two fields: each rank holds rows of both.
    fields = [whole[[0, 2]], whole[[1, 3]]]
    assert (merged(fields, ([2], [0, -1]), field=2) == whole).all()


def test_unified_files_and_back(tmp_path):
    layouts = {"w": ([2, 2], [0, -1], 0, 0), "b": ([2, 2], [1], 0, 0)}
    path = strategy(tmp_path / "a.ckpt", layouts)
    whole = {"w": np.arange(32, dtype=np.float32).reshape(8, 4), "b": np.arange(4, dtype=np.int32)}
    values = {**whole, "step": np.array([3], np.int32), "accu_grads.w": np.zeros(2, np.float32)}
    write_file(rank_path(tmp_path / "whole", 0, "w.safetensors"), values, "safetensors")
    four, unified = str(tmp_path / "four"), tmp_path / "unified"
    ms.transform_checkpoints(
        str(tmp_path / "whole"), four, "x", None, path, output_format="safetensors"
    )
    ms.unified_safetensors(four, path, str(unified), choice_func=lambda n: "ww" if n == "w" else n)
    assert sorted(os.listdir(unified)) == [
        "hyper_param.safetensors",
        "param_name_map.json",
        "part0.safetensors",
    ]
    table = json.loads((unified / "param_name_map.json").read_text())
    assert table["metadata"] == {"total_size": 8 * 4 * 4 + 4 * 4}
    assert table["weight_map"] == {"ww": "part0.safetensors", "b": "part0.safetensors"}
    part = read_file(str(unified / "part0.safetensors"), "safetensors")
    assert (part["ww"] == whole["w"]).all() and (part["b"] == whole["b"]).all()
    hyper = read_file(str(unified / "hyper_param.safetensors"), "safetensors")
    assert sorted(hyper) == ["accu_grads.w", "step"]
    ms.load_distributed_checkpoint(
        None,
        predict_strategy=path,
        format="safetensors",
        unified_safetensors_dir=str(unified),
        dst_safetensors_dir=str(tmp_path / "again"),
        name_map={"w": "ww"},
    )
    for rank in range(4):
        found = read_file(rank_path(tmp_path / "again", rank, "net.safetensors"), "safetensors")
        before = read_file(rank_path(four, rank, f"x{rank}.safetensors"), "safetensors")
        assert sorted(found) == sorted(before)
        for name, value in before.items():
            assert (found[name] == value).all()


def test_left_out_values_are_found(tmp_path):
    path = strategy(tmp_path / "a.ckpt", {"w": ([2, 2], [0], 0, 0), "b": ([2, 2], [-1], 0, 0)})
    w = np.arange(4, dtype=np.float32)
    # Ranks 0 and 2 hold the same half of w, and all of them b.
    held = [{}, {"w": w[2:]}, {"w": w[:2]}, {"b": w}]
    for rank, values in enumerate(held):
        target = rank_path(tmp_path / "src", rank, "x.safetensors")
        write_file(target, values, "safetensors", remove_redundancy=True)
    ms.unified_safetensors(str(tmp_path / "src"), path, str(tmp_path / "dst"))
    found = read_file(str(tmp_path / "dst" / "part0.safetensors"), "safetensors")
    assert found["w"].tolist() == found["b"].tolist() == w.tolist()
    for rank, values in enumerate(held):
        write_file(rank_path(tmp_path / "src", rank, "x.safetensors"), values, "safetensors")
    with pytest.raises(ValueError, match="missing"):
        ms.unified_safetensors(str(tmp_path / "src"), path, str(tmp_path / "dst"))


def test_parts_are_balanced(tmp_path, monkeypatch):
    from mindjax.checkpoint import unify

    monkeypatch.setattr(unify, "_PART_BYTES", 100)
    whole = {f"p{i}": np.full(i + 1, i, np.float32) for i in range(10)}
    path = strategy(tmp_path / "a.ckpt", {name: ([1], [-1], 0, 0) for name in whole})
    write_file(rank_path(tmp_path / "src", 0, "x.safetensors"), whole, "safetensors")
    for share in ((1, 2), (2, 2)):
        ms.unified_safetensors(
            str(tmp_path / "src"), path, str(tmp_path / "dst"), split_dst_file=share
        )
    names = sorted(os.listdir(tmp_path / "dst"))
    assert names == ["param_name_map.json", *(f"part{i}.safetensors" for i in range(3))]
    places = json.loads((tmp_path / "dst" / names[0]).read_text())["weight_map"]
    for name, value in whole.items():
        found = read_file(str(tmp_path / "dst" / places[name]), "safetensors")
        assert (found[name] == value).all()
    target = _Net(whole)
    missing, unused = ms.load_distributed_checkpoint(
        target, format="safetensors", unified_safetensors_dir=str(tmp_path / "dst")
    )
    assert not missing and not unused
    for name, value in whole.items():
        assert (target.parameters_dict()[name].asnumpy() == value).all()


class _Net(nn.Cell):
    """A network with Parameters of zeros."""

    def __init__(self, like):
        super().__init__()
        for name, value in like.items():
            setattr(self, name, Parameter(Tensor(np.zeros_like(value)), name=name))


def test_a_network_from_the_files_of_all_ranks(tmp_path):
    whole = {"w": np.arange(32, dtype=np.float32).reshape(8, 4), "b": np.arange(4, dtype=np.int32)}
    layouts = {"w": ([2, 2], [0, -1], 2, 2), "b": ([2, 2], [1], 0, 0)}
    path = strategy(tmp_path / "a.ckpt", layouts)
    write_file(rank_path(tmp_path / "whole", 0, "w.ckpt"), whole, "ckpt")
    ms.transform_checkpoints(str(tmp_path / "whole"), str(tmp_path / "four"), "x", None, path)
    files = [rank_path(tmp_path / "four", rank, f"x{rank}.ckpt") for rank in range(4)]
    net = _Net(whole)
    assert ms.load_distributed_checkpoint(net, files, None, path) is True
    for name, value in whole.items():
        assert (net.parameters_dict()[name].asnumpy() == value).all()
    small = _Net({"w": whole["w"][:4], "b": whole["b"]})
    predict = {"w": [[2], [0, -1], [], 0], "b": [[2], [-1], [], 0]}
    ms.load_distributed_checkpoint(small, files, predict, path)
    assert (small.parameters_dict()["w"].asnumpy() == whole["w"][:4]).all()


def test_another_rank_s_file(tmp_path, monkeypatch):
    path = strategy(tmp_path / "a.ckpt", {"w": ([2, 2], [0], 0, 0), "b": ([2, 2], [-1], 0, 0)})
    for rank in (1, 2):
        write_file(rank_path(tmp_path, rank, "n.ckpt"), {"w": np.ones(1, np.float32)}, "ckpt")
    found = {}
    for rank in range(4):
        monkeypatch.setenv("RANK_ID", str(rank))
        own = str(tmp_path / f"rank_{rank}" / "n.ckpt")
        answer = ms.get_ckpt_path_with_strategy(own, path)
        found[rank] = answer and os.path.basename(os.path.dirname(answer))
    # Ranks 0 and 2 hold the same half, and 1 and 3 the other one.
    assert found == {0: "rank_2", 1: "rank_1", 2: "rank_2", 3: "rank_1"}
    monkeypatch.setenv("RANK_ID", "3")
    os.unlink(tmp_path / "rank_1" / "n.ckpt")
    assert ms.get_ckpt_path_with_strategy(str(tmp_path / "rank_3" / "n.ckpt"), path) is None


def _wrong_cases(d):
    one = {"w": ([2], [0], 0, 0)}
    a, b = strategy(f"{d}/a.ckpt", one), strategy(f"{d}/b.ckpt", {"w": ([3], [0], 0, 0)})
    axis = strategy(f"{d}/axis.ckpt", {"w": ([2], [1], 0, 0)})
    step = strategy(f"{d}/step.ckpt", {"w": ([2, 2], [0], 1, 2)})
    dims = strategy(f"{d}/dims.ckpt", {"w": ([2], [0, -1], 0, 0)})
    write_file(rank_path(f"{d}/src", 0, "x.ckpt"), {"w": np.ones(3, np.float32)}, "ckpt")
    write_file(rank_path(f"{d}/two", 0, "x.ckpt"), {"w": np.ones(4, np.float32)}, "ckpt")
    write_file(rank_path(f"{d}/two", 1, "x.ckpt"), {"w": np.ones(4, np.float32)}, "ckpt")
    src, two, to = f"{d}/src", f"{d}/two", f"{d}/dst"
    file = {0: f"{src}/rank_0/x.ckpt"}
    p = [Parameter(Tensor([1.0, 2.0]), name="w")]
    return {
        "rank": (TypeError, lambda: ms.rank_list_for_transform("0", a)),
        "counts": (ValueError, lambda: ms.rank_list_for_transform(0, a, b)),
        "axis": (ValueError, lambda: ms.rank_list_for_transform(0, axis)),
        "step": (ValueError, lambda: ms.rank_list_for_transform(0, step)),
        "no file": (ValueError, lambda: ms.rank_list_for_transform(0, f"{d}/no.ckpt")),
        "map": (TypeError, lambda: ms.transform_checkpoint_by_rank(0, [], "y.ckpt")),
        "suffix": (ValueError, lambda: ms.transform_checkpoint_by_rank(0, file, f"{d}/y", a)),
        "gone": (
            ValueError,
            lambda: ms.transform_checkpoint_by_rank(0, {0: f"{d}/no"}, f"{d}/y.ckpt", a),
        ),
        "dims": (ValueError, lambda: ms.transform_checkpoint_by_rank(0, file, f"{d}/y.ckpt", dims)),
        "half": (ValueError, lambda: ms.transform_checkpoint_by_rank(0, file, f"{d}/y.ckpt", a)),
        "odd": (ValueError, lambda: ms.transform_checkpoints(src, to, "x", None, a)),
        "missing": (ValueError, lambda: ms.transform_checkpoints(src, to, "x", a)),
        "empty": (ValueError, lambda: ms.transform_checkpoints(to, to, "x", a)),
        "kind": (
            ValueError,
            lambda: ms.transform_checkpoints(src, to, "x", output_format="safetensors"),
        ),
        "prefix": (TypeError, lambda: ms.transform_checkpoints(src, to, 3, None, a)),
        "escape": (ValueError, lambda: ms.transform_checkpoints(two, to, "../../e", a)),
        "file": (
            NotADirectoryError,
            lambda: ms.transform_checkpoints(src, a, "x", None, a),
        ),
        "stages": (NotADirectoryError, lambda: ms.merge_pipeline_strategys(a, f"{d}/m.ckpt")),
        "none": (ValueError, lambda: ms.merge_pipeline_strategys(src, f"{d}/m.ckpt")),
        "list": (TypeError, lambda: ms.merge_sliced_parameter(p[0])),
        "nothing": (ValueError, lambda: ms.merge_sliced_parameter([])),
        "element": (TypeError, lambda: ms.merge_sliced_parameter([*p, 3])),
        "key": (KeyError, lambda: ms.merge_sliced_parameter(p, {"v": record(one["w"])})),
        "count": (ValueError, lambda: ms.merge_sliced_parameter(p, {"w": record(one["w"])})),
        "unified": (ValueError, lambda: ms.unified_safetensors(a, a, to)),
        "format": (ValueError, lambda: ms.load_distributed_checkpoint(None, format="npz")),
        "network": (TypeError, lambda: ms.load_distributed_checkpoint(None, [])),
        "files": (ValueError, lambda: ms.load_distributed_checkpoint(_Net({}), [f"{d}/no.ckpt"])),
    }


def test_wrong_arguments(tmp_path):
    for name, (error, call) in _wrong_cases(str(tmp_path)).items():
        with pytest.raises(error) as caught:
            call()
        assert "\n" not in str(caught.value), name
        assert not os.path.exists(tmp_path / "y.ckpt") and not os.path.exists(tmp_path / "e0.ckpt")


def test_a_map_that_leads_elsewhere(tmp_path):
    folder = tmp_path / "unified"
    folder.mkdir()
    for name in ("part0.safetensors", "part1.safetensors"):
        write_file(str(folder / name), {name: np.ones(1, np.float32)}, "safetensors")
    write_file(str(tmp_path / "secret.safetensors"), {"w": np.ones(1, np.float32)}, "safetensors")
    (folder / "param_name_map.json").write_text('{"w": "../secret.safetensors"}')
    with pytest.raises(ValueError, match="no file of the folder"):
        ms.load_distributed_checkpoint(
            _Net({}), format="safetensors", unified_safetensors_dir=str(folder)
        )


JUDGE = """
import sys
import mindspore as ms
folder, source, target = sys.argv[1:]
ms.transform_checkpoints(folder, folder + "_after", "y", source or None, target or None)
"""


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["three_dims", "optimizer_part", "two_axes_one_dim"])
def test_the_original_transforms_ours(tmp_path, name):
    _, paths, recorded = parts(tmp_path, name)
    before = place(tmp_path / "before", recorded["before"])
    subprocess.run(
        [os.environ["MINDJAX_ORACLE_PYTHON"], "-c", JUDGE, before, *(p or "" for p in paths)],
        check=True,
        capture_output=True,
        cwd=tmp_path,
        timeout=120,
    )
    for rank, values in recorded["after"].items():
        assert shown(rank_path(f"{before}_after", rank, f"y{rank}.ckpt")) == values
