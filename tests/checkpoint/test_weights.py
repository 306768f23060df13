"""Weights of torch: its own files, read without it, give what its own networks give."""

import io
import os
import pickle
import random
import struct
import zipfile

import ml_dtypes
import numpy as np
import pytest

import mindjax as ms
from mindjax import checkpoint
from mindjax.__main__ import main
from mindjax.checkpoint.torch_file import Reader, TorchFileError
from tests.checkpoint.torch_networks import NETWORKS, LeNet, ResNet18, run

FOLDER = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "goldens", "torch"
)
with np.load(os.path.join(FOLDER, "outputs.npz")) as _file:
    OUTPUTS = dict(_file)


def golden(name):
    return os.path.join(FOLDER, name)


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_compute_the_same(name):
    net = NETWORKS[name]()
    assert checkpoint.load_torch_weights(net, golden(f"{name}.pth")) == ([], [])
    case = name.partition("_")[0]
    found = run(net, OUTPUTS[f"{case}_x"])
    np.testing.assert_allclose(found, OUTPUTS[f"{case}_y"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["dtypes.pth", "dtypes_legacy.pth"])
def test_tensors_of_every_kind(name):
    found = checkpoint.read_torch_weights(golden(name))
    base = np.arange(24).reshape(4, 6)
    special = {"bfloat16": ml_dtypes.bfloat16, "bool": np.bool_}
    kinds = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8"]
    for kind in [*kinds, "uint8", "bool", "complex64", "complex128"]:
        expected = base.astype(special.get(kind, kind))
        assert found[kind].dtype == expected.dtype and (found[kind] == expected).all()
    assert (found["transposed"] == base.T).all() and (found["slice"] == base[1:3, ::2]).all()
    assert found["scalar"].shape == () and found["scalar"] == 7.5
    assert found["empty"].shape == (0, 3) and found["parameter"].tolist() == [1, 1]
    assert found["inner.a"].tolist() == [1]


def test_newer_dtypes():
    found = checkpoint.read_torch_weights(golden("dtypes_new.pth"))
    base = np.arange(24).reshape(4, 6)
    assert found["u16"].dtype == np.uint16 and (found["u16"] == base).all()
    assert found["f8"].dtype == ml_dtypes.float8_e4m3fn
    assert (found["f8"].astype(np.float32) == base.astype(ml_dtypes.float8_e4m3fn)).all()


def test_a_whole_module_is_refused():
    with pytest.raises(ValueError, match=r"LeNet.*state_dict"):
        checkpoint.read_torch_weights(golden("module.pth"))


@pytest.mark.parametrize("kind", ["ckpt", "safetensors"])
@pytest.mark.parametrize("name", ["resnet18", "encoder", "recurrent"])
def test_conversion_by_names(tmp_path, kind, name):
    path = str(tmp_path / f"w.{kind}")
    assert main(["convert", "weights", golden(f"{name}.pth"), path]) == 0
    net = NETWORKS[name]()
    loaded = ms.load_checkpoint(path, format=kind)
    missing, unused = ms.load_param_into_net(net, loaded)
    # What PReLU's one weight is cannot be told from its name.
    assert (missing, unused) == ((["act.w"], ["act.weight"]) if name == "encoder" else ([], []))
    if name != "encoder":
        np.testing.assert_allclose(
            run(net, OUTPUTS[f"{name}_x"]), OUTPUTS[f"{name}_y"], rtol=1e-4, atol=1e-5
        )


def test_conversion_for_a_network(tmp_path, capsys):
    script = tmp_path / "net.py"
    script.write_text("from tests.checkpoint.torch_networks import Encoder\n")
    path = str(tmp_path / "w.ckpt")
    words = ["convert", "weights", golden("encoder.pth"), path, "--net", f"{script}:Encoder"]
    assert main(words) == 0
    assert "norm.weight -> norm.gamma" in capsys.readouterr().out
    net = NETWORKS["encoder"]()
    assert ms.load_param_into_net(net, ms.load_checkpoint(path), strict_load=True) == ([], [])
    np.testing.assert_allclose(
        run(net, OUTPUTS["encoder_x"]), OUTPUTS["encoder_y"], rtol=1e-4, atol=1e-5
    )


def test_safetensors_and_rows_of_files(tmp_path):
    whole = checkpoint.read_torch_weights(golden("lenet.pth"))
    names = sorted(whole)
    from mindjax.checkpoint.save import write_file

    for index, part in enumerate((names[:5], names[5:])):
        path = str(tmp_path / f"{index}.safetensors")
        write_file(path, {name: np.array(whole[name]) for name in part}, "safetensors")
    places = ", ".join(f'"{n}": "{int(i >= 5)}.safetensors"' for i, n in enumerate(names))
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(f'{{"weight_map": {{{places}}}}}')
    found = checkpoint.read_torch_weights(str(index))
    assert sorted(found) == names
    assert all((found[name] == whole[name]).all() for name in names)
    index.write_text('{"weight_map": {"a": "../a.safetensors"}}')
    with pytest.raises(ValueError, match="outside its folder"):
        checkpoint.read_torch_weights(str(index))


def test_what_is_left_over_is_reported():
    net = LeNet()
    before = net.conv1.weight.asnumpy()
    found = dict(checkpoint.read_torch_weights(golden("lenet.pth")))
    found["extra.weight"] = found.pop("fc3.weight")
    with pytest.raises(ValueError, match=r"fc3\.weight.*extra\.weight"):
        checkpoint.load_torch_weights(net, found)
    assert (net.conv1.weight.asnumpy() == before).all()
    left = checkpoint.load_torch_weights(net, found, strict=False)
    assert left == (["fc3.weight"], ["extra.weight"])
    assert (net.conv1.weight.asnumpy() == found["conv1.weight"]).all()
    mapping = {"extra.weight": "fc3.weight"}
    assert checkpoint.load_torch_weights(net, found, name_map=mapping) == ([], [])
    renamed = {f"net.{name}": value for name, value in found.items()}
    strip = lambda name: mapping.get(name.removeprefix("net."), name.removeprefix("net."))  # noqa: E731
    assert checkpoint.load_torch_weights(net, renamed, name_map=strip) == ([], [])
    with pytest.raises(RuntimeError, match="shape"):
        checkpoint.load_torch_weights(ResNet18(3), golden("resnet18.pth"))


class _Touches:
    """What a hostile pickle does when Python's unpickler reads it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def hostile(tmp_path):
    touched = str(tmp_path / "touched")
    files = {"legacy": pickle.dumps(_Touches(touched), 2)}
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("a/data.pkl", pickle.dumps({"w": _Touches(touched)}, 2))
    files["zip"] = archive.getvalue()
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a/data.pkl", bytes(1 << 24))
    files["bomb"] = bomb.getvalue()
    huge = b"\x80\x02]r\xff\xff\xff\xff."
    files["memo"] = huge
    files["deep"] = b"\x80\x02" + b"(" * 100_000 + b"t" * 100_000 + b"."
    files["bytes"] = b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + b"."
    cycle = {}
    cycle |= {"a": cycle, "b": cycle}
    ring = io.BytesIO()
    with zipfile.ZipFile(ring, "w") as out:
        out.writestr("a/data.pkl", pickle.dumps(cycle, 2))
    files["ring"] = ring.getvalue()
    script = io.BytesIO()
    with zipfile.ZipFile(script, "w") as out:
        out.writestr("a/data.pkl", pickle.dumps({}, 2))
        out.writestr("a/constants.pkl", b"")
    files["script"] = script.getvalue()
    files["empty"] = b""
    files["text"] = b"no file of torch"
    return touched, files


def test_hostile_files(tmp_path):
    touched, files = hostile(tmp_path)
    path = tmp_path / "x.pth"
    for name, content in files.items():
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"x\.pth") as caught:
            checkpoint.read_torch_weights(str(path))
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 600, name
        assert not os.path.exists(touched)


SIZES = {
    "leaves": ("F", 0, (3,), (2,), "leave"),
    "negative": ("F", -1, (2,), (1,), "counts"),
    "huge": ("F", 0, (1 << 60,), (0,), "counts"),
    "repeats": ("F", 0, (1 << 30, 4), (0, 1), "repeats"),
    "text": ("F", 0, "ab", "cd", "counts"),
    "uneven": ("F", 0, (2,), (1, 1), "do not fit"),
    "class": ("os.system", 0, (2,), (1,), "unknown class"),
}


@pytest.mark.parametrize("name", SIZES)
def test_tensors_that_do_not_fit(tmp_path, name):
    kind, offset, size, stride, message = SIZES[name]
    module, _, what = kind.rpartition(".") if "." in kind else ("torch", "", "FloatStorage")

    def text(value):
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    def number(value):
        return b"\x8a\x08" + struct.pack("<q", value)

    def group(values):
        body = text(values) if isinstance(values, str) else b"".join(number(v) for v in values)
        return b"(" + body + b"t"

    storage = b"(" + text("storage") + f"c{module}\n{what}\n".encode() + text("0") + text("cpu")
    storage += number(4) + b"tQ"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(offset)
    tensor += group(size) + group(stride) + b"\x89}tR"
    content = b"\x80\x02}(" + text("w") + tensor + b"u."
    with zipfile.ZipFile(tmp_path / "x.pth", "w") as out:
        out.writestr("a/data.pkl", content)
        out.writestr("a/data/0", np.arange(4, dtype=np.float32).tobytes())
    with pytest.raises(ValueError, match=message):
        checkpoint.read_torch_weights(str(tmp_path / "x.pth"))


def test_a_damaged_value_is_found(tmp_path):
    with open(golden("lenet.pth"), "rb") as file:
        content = bytearray(file.read())
    values = np.array(checkpoint.read_torch_weights(golden("lenet.pth"))["fc3.weight"]).tobytes()
    content[content.index(values) + 5] ^= 1
    path = tmp_path / "x.pth"
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="check sum"):
        checkpoint.read_torch_weights(str(path))
    assert len(checkpoint.read_torch_weights(str(path), crc_check=False)) == 10


def mutated(content, seed):
    """Flip bits, cut, or put random bytes somewhere."""
    damaged = bytearray(content)
    for _ in range(seed.choice([1, 1, 2, 8])):
        at = seed.randrange(len(damaged))
        damaged[at] = seed.choice(
            [0, 255, damaged[at] ^ 1 << seed.randrange(8), seed.randrange(256)]
        )
    if seed.random() < 0.2:
        del damaged[seed.randrange(len(damaged)) :]
    return bytes(damaged)


@pytest.mark.parametrize("count", [150, pytest.param(20_000, marks=pytest.mark.slow)])
def test_mutated_files(tmp_path, count):
    seed = random.Random(count)
    contents = []
    for name in ("dtypes.pth", "dtypes_legacy.pth", "lenet.pth", "lenet_legacy.pth"):
        with open(golden(name), "rb") as file:
            contents.append(file.read())
    path = tmp_path / "x.pth"
    refused = 0
    for _ in range(count):
        path.write_bytes(mutated(seed.choice(contents), seed))
        with open(path, "rb") as file:
            try:
                for value in Reader(file, crc_check=False).tensors().values():
                    value.tobytes()
            except TorchFileError as error:
                assert "\n" not in str(error)
                refused += 1
    assert refused > count // 10 and os.listdir(tmp_path) == ["x.pth"]
