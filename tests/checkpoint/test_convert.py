"""ckpt files to safetensors files and back."""

import os

import ml_dtypes
import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor
from mindjax.checkpoint import ckpt
from mindjax.checkpoint.load import read_file

GOLDENS = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "goldens", "ckpt"
)


def write(path, **values):
    parameters = [Parameter(Tensor(value), name=name) for name, value in values.items()]
    ms.save_checkpoint(parameters, str(path))


def files(folder):
    """List the files under a folder."""
    return sorted(
        os.path.relpath(os.path.join(at, name), folder)
        for at, _, names in os.walk(folder)
        for name in names
    )


def test_one_file_there_and_back(tmp_path):
    values = {
        "w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "h": np.ones(3, ml_dtypes.bfloat16),
        "a": np.array(7, np.int64),
    }
    write(tmp_path / "x.ckpt", **values)
    ms.ckpt_to_safetensors(str(tmp_path / "x.ckpt"), str(tmp_path / "out"), {"w": "ww"})
    ms.safetensors_to_ckpt(str(tmp_path / "out" / "x.safetensors"), name_map={"ww": "w"})
    assert files(tmp_path) == ["out/x.ckpt", "out/x.safetensors", "x.ckpt"]
    found = read_file(str(tmp_path / "out" / "x.ckpt"), "ckpt")
    assert list(found) == ["a", "h", "w"]
    for name, value in values.items():
        assert found[name].dtype == value.dtype and (found[name] == value).all()


def test_what_the_original_converted(tmp_path):
    """The header is what the original wrote."""
    write(tmp_path / "one.ckpt", w=np.float32([1, 2]), b=np.int32([3]))
    ms.ckpt_to_safetensors(str(tmp_path / "one.ckpt"), name_map={"w": "ww"})
    header = b'{"__metadata__":{"format":"ms"},"ww":{"dtype":"F32","shape":[2],"data_offsets":[0,8]'
    header += b'},"b":{"dtype":"I32","shape":[1],"data_offsets":[8,12]}}'
    header += b" " * (-len(header) % 8)
    body = np.float32([1, 2]).tobytes() + np.int32([3]).tobytes()
    size = len(header).to_bytes(8, "little")
    assert (tmp_path / "one.safetensors").read_bytes() == size + header + body
    assert read_file(str(tmp_path / "one.safetensors"), "safetensors")["ww"].tolist() == [1, 2]


def test_int4_keeps_its_type(tmp_path):
    for kind in ("ckpt", "safetensors"):
        found = read_file(os.path.join(GOLDENS, f"int4.{kind}"), kind)["q"]
        assert isinstance(found, ckpt.Int4) and found.tolist() == [[1, 2], [3, -4]]
    source = os.path.join(GOLDENS, "int4.ckpt")
    ms.ckpt_to_safetensors(source, str(tmp_path))
    ms.safetensors_to_ckpt(str(tmp_path / "int4.safetensors"))
    for name in ("int4.ckpt", "int4.safetensors"):
        with open(os.path.join(GOLDENS, name), "rb") as file:
            assert (tmp_path / name).read_bytes() == file.read()
    loaded = ms.load_checkpoint(source)
    assert loaded["q"].dtype == ms.int8
    ms.save_checkpoint(loaded, str(tmp_path / "again.ckpt"))
    with open(source, "rb") as file:
        assert (tmp_path / "again.ckpt").read_bytes() == file.read()


def test_folders_of_ranks(tmp_path):
    for rank in range(3):
        (tmp_path / "src" / f"rank_{rank}").mkdir(parents=True)
        for name in ("a", "b"):
            write(tmp_path / "src" / f"rank_{rank}" / f"{name}.ckpt", w=np.float32([rank]))
    ms.ckpt_to_safetensors(
        str(tmp_path / "src"), str(tmp_path / "dst"), file_name_regex="a", processes_num=2
    )
    assert files(tmp_path / "dst") == [f"rank_{rank}/a.safetensors" for rank in range(3)]
    for rank in range(3):
        path = str(tmp_path / "dst" / f"rank_{rank}" / "a.safetensors")
        assert ms.load_checkpoint(path, format="safetensors")["w"].asnumpy().tolist() == [rank]


WRONG = {
    "missing": (lambda d: ms.ckpt_to_safetensors(f"{d}/no.ckpt"), "must be a valid path or file"),
    "kind": (lambda d: ms.safetensors_to_ckpt(f"{d}/x.ckpt"), "must be a .safetensors file"),
    "target": (lambda d: ms.ckpt_to_safetensors(f"{d}/x.ckpt", "a.b"), "must be a directory"),
    "map": (lambda d: ms.ckpt_to_safetensors(f"{d}/x.ckpt", name_map=[1]), "'name_map' must be"),
    "regex": (
        lambda d: ms.ckpt_to_safetensors(f"{d}/x.ckpt", file_name_regex="zzz"),
        "does not match the regular",
    ),
    "no ranks": (lambda d: ms.ckpt_to_safetensors(d), "no directories starting with 'rank'"),
    "two names": (
        lambda d: ms.ckpt_to_safetensors(f"{d}/x.ckpt", name_map={"w": "b"}),
        "become 'b'",
    ),
    "text": (lambda d: ms.ckpt_to_safetensors(f"{d}/text.ckpt"), "the text 's' cannot stand"),
    "count": (lambda d: ms.ckpt_to_safetensors(f"{d}/x.ckpt", processes_num=0), "processes_num"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(tmp_path, name):
    write(tmp_path / "x.ckpt", w=np.float32([1]), b=np.float32([2]))
    ms.save_checkpoint({"s": "text"}, str(tmp_path / "text.ckpt"))
    case, message = WRONG[name]
    before = files(tmp_path)
    with pytest.raises(ValueError, match=message):
        case(str(tmp_path))
    assert files(tmp_path) == before
