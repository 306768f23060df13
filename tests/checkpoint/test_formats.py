"""The two file formats, as bytes: what the original wrote, damaged files, slices, odd content."""

import io
import json
import os
import tempfile

import ml_dtypes
import numpy as np
import pytest

from mindjax.checkpoint import ckpt, safetensors, wire

GOLDENS = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "goldens", "ckpt"
)
NAMES = sorted(n for n in os.listdir(GOLDENS) if not n.endswith(".json"))
BASE = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
ERRORS = (ckpt.CkptError,)


def golden(name):
    with open(os.path.join(GOLDENS, name), "rb") as file:
        return file.read()


def read(content, **options):
    with tempfile.TemporaryFile() as file:
        file.write(content)
        return ckpt.read(file, **options)


def written(entries, crc_check=False):
    file = io.BytesIO()
    ckpt.write(file, entries.items(), crc_check)
    return file.getvalue()


def message(*values):
    """Build a checkpoint from (tag, dims, type, content) and further raw bytes of the value."""
    out = b""
    for tag, dims, kind, content, *more in values:
        tensor = b"".join(wire.integer(1, dim) for dim in dims)
        for number, part in ((2, kind), (3, content)):
            tensor += wire.prefix(number, len(part)) + part
        body = wire.prefix(1, len(tag)) + tag + wire.prefix(2, len(tensor)) + tensor
        body += b"".join(more)
        out += wire.prefix(1, len(body)) + body
    return out


@pytest.mark.parametrize("name", [n for n in NAMES if n.endswith(".ckpt")])
def test_rewrite_is_identical(name):
    content = golden(name)
    crc = content[-17:-10] == b"crc_num"
    assert written(read(content, crc_check=True), crc) == content


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("made_") and "saf" in n])
def test_safetensors_rewrite_is_identical(name):
    content = golden(name)
    arrays, metadata = safetensors.read(io.BytesIO(content), crc_check=True)
    file = io.BytesIO()
    safetensors.write(file, arrays, "crc_num" in metadata)
    # The original writes the metadata's entries in an order of chance.
    ours, theirs = file.getvalue(), content
    start, end = theirs.index(b"{", 9), theirs.index(b"}") + 1
    assert json.loads(ours[start:end]) == json.loads(theirs[start:end])
    assert ours[:start] == theirs[:start] and ours[end:] == theirs[end:]


def test_values_of_every_dtype():
    found = read(golden("made_dtypes.ckpt"))
    assert len(found) == 13
    for name, array in found.items():
        np_type = {"bool_": np.bool_, "bfloat16": ml_dtypes.bfloat16}.get(name, name)
        expected = BASE.astype(np_type)
        assert array.dtype == expected.dtype and array.shape == (2, 3)
        assert (array == expected).all()
        assert array.flags.writeable and array.flags.aligned
    arrays, _ = safetensors.read(io.BytesIO(golden("made_dtypes.safetensors")))
    for name, array in arrays.items():
        assert array.dtype == found[name].dtype and (array == found[name]).all()


def test_appended_values():
    found = read(golden("made_append.ckpt"))
    assert list(found)[-5:] == ["epoch_num", "lr", "done", "who", "t"]
    assert found["who"] == "näme✓"
    for name, value, dtype in (("epoch_num", 3, "int64"), ("lr", 0.25, "float32")):
        assert found[name].shape == () and found[name] == value and found[name].dtype == dtype


@pytest.mark.parametrize("size", [1, 7, 32, 1000])
def test_slices_are_joined(monkeypatch, size):
    monkeypatch.setattr(ckpt, "SLICE_BYTES", size)
    entries = {"a": np.arange(70, dtype=np.int16).reshape(7, 10), "b": np.float64(3).reshape(())}
    content = written(entries, crc_check=True)
    found = read(content, crc_check=True)
    assert content.count(b"Int16") == -(-140 // size)
    for name, array in entries.items():
        assert found[name].dtype == array.dtype and (found[name] == array).all()


def test_wanted_leaves_values_out():
    assert list(read(golden("made_step.ckpt"), wanted=lambda n: n.startswith("a."))) == [
        "a.weight",
        "a.bias",
    ]


@pytest.mark.parametrize("name", ["made_append.ckpt", "made_net.ckpt", "list.ckpt"])
def test_every_truncation_is_an_error_or_a_shorter_file(name):
    content, whole = golden(name), read(golden(name))
    for end in range(len(content)):
        try:
            found = read(content[:end])
        except ckpt.CkptError:
            continue
        assert list(found) == list(whole)[: len(found)]


def test_damaged_bytes_never_crash():
    random = np.random.default_rng(0)
    content = golden("made_append.ckpt")
    for _ in range(600):
        damaged = bytearray(content)
        for at in random.integers(0, len(content), random.integers(1, 4)):
            damaged[at] = random.integers(0, 256)
        try:
            found = read(bytes(damaged))
        except ERRORS:
            continue
        assert all(isinstance(value, str | np.ndarray) for value in found.values())


def test_damaged_safetensors_never_crash():
    random = np.random.default_rng(0)
    content = golden("made_dtypes.safetensors")
    for _ in range(600):
        damaged = bytearray(content)
        for at in random.integers(0, 900, random.integers(1, 4)):
            damaged[at] = random.integers(0, 256)
        try:
            safetensors.read(io.BytesIO(bytes(damaged)))
        except safetensors.SafetensorsError:
            continue


def test_check_sum_finds_each_flipped_byte():
    content = golden("made_net.ckpt")
    for at in range(0, len(content) - 17, 5):
        damaged = bytearray(content)
        damaged[at] ^= 0x10
        with pytest.raises(ckpt.CkptError):
            read(bytes(damaged), crc_check=True)


FOREIGN = {
    "huge size": b"\n\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    "endless varint": b"\n" + b"\xff" * 20,
    "no tensor": b"\n\x03\n\x01a",
    "field zero": b"\n\x02\x00\x00",
    "negative dim": message((b"a", [-1], b"Float32", b"abcd")),
    "huge dims": message((b"a", [1 << 62, 1 << 62], b"Float32", b"abcd")),
    "short content": message((b"a", [2], b"Float32", b"abcd")),
    "unknown type": message((b"a", [1], b"Float33", b"abcd")),
    "text cut off": message((b"a", [0], b"str", b"abcde")),
    "no text": message((b"a", [0], b"str", b"\xff\xff\xff\xff")),
    "name not utf8": message((b"\xff\xfe", [1], b"Float32", b"abcd")),
    "encrypted": b"\xd9\x5e\x3a\x7f" + bytes(60),
    "pickle": b"\x80\x04\x95\x0f\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x8c\x06system\x93.",
    "hdf5": b"\x89HDF\r\n\x1a\n" + bytes(60),
    "zip": b"PK\x03\x04" + bytes(60),
    "json": b'{"a": 1}',
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_content(name):
    with pytest.raises(ckpt.CkptError) as caught:
        read(FOREIGN[name])
    assert "\n" not in str(caught.value)


def test_content_with_a_way_out():
    with pytest.raises(ckpt.CkptError, match="has 1 bytes"):
        read(message((b"a", [2], b"Int4", b"a")))
    with pytest.raises(ckpt.CkptError, match="map parameter"):
        body = wire.prefix(1, 1) + b"a" + wire.prefix(3, 0)
        read(wire.prefix(1, len(body)) + body)
    assert read(message((b"a", [2], b"Int4", b"a")), wanted=lambda name: False) == {}


def test_other_writers_of_the_same_message():
    """Packed dims, unknown fields and fields in another order are valid protocol buffers."""
    packed = wire.prefix(3, 4) + b"\0\0\x80?" + wire.prefix(2, 7) + b"Float32"
    packed += wire.prefix(1, 2) + b"\x01\x01" + wire.integer(9, 5)
    body = wire.prefix(2, len(packed)) + packed + wire.prefix(1, 1) + b"a" + b"\x3d\0\0\0\0"
    found = read(wire.prefix(1, len(body)) + body)
    assert found["a"].shape == (1, 1) and found["a"] == 1.0


SAFETENSORS = {
    "empty": b"",
    "short": b"abc",
    "long header": (1 << 40).to_bytes(8, "little") + b"{}",
    "not json": (4).to_bytes(8, "little") + b"abcd",
    "no table": (4).to_bytes(8, "little") + b"1234",
    "deep": (200_000).to_bytes(8, "little") + b"[" * 200_000,
    "entry": (9).to_bytes(8, "little") + b'{"a": 12}',
}
for _text in (
    '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}',
    '{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}',
    '{"a":{"dtype":"F32","shape":[-1],"data_offsets":[4,0]}}',
    '{"a":{"dtype":"F32","shape":["x"],"data_offsets":[0,4]}}',
    '{"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}}',
    '{"a":{"dtype":["F32"],"shape":[1],"data_offsets":[0,4]}}',
    '{"a":{"dtype":"F32","shape":[1]}}',
):
    SAFETENSORS[_text] = len(_text).to_bytes(8, "little") + _text.encode() + b"abcd"


@pytest.mark.parametrize("name", SAFETENSORS)
def test_foreign_safetensors(name):
    with pytest.raises(safetensors.SafetensorsError) as caught:
        safetensors.read(io.BytesIO(SAFETENSORS[name]))
    assert "\n" not in str(caught.value)


def test_safetensors_that_the_library_reads_and_writes(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    arrays = {
        "w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "n": np.array(5, np.int64),
        "h": np.ones((3,), np.float16),
        "flag": np.array([True, False, True]),
        "empty": np.zeros((0, 2), np.int8),
    }
    with open(tmp_path / "ours.safetensors", "wb") as file:
        safetensors.write(file, arrays, crc_check=True)
    for name, array in library.load_file(tmp_path / "ours.safetensors").items():
        assert array.dtype == arrays[name].dtype and (array == arrays[name]).all()
    library.save_file(arrays, tmp_path / "theirs.safetensors")
    with open(tmp_path / "theirs.safetensors", "rb") as file:
        found, metadata = safetensors.read(file, crc_check=True)
    assert metadata == {} and found.keys() == arrays.keys()
    for name, array in found.items():
        assert array.shape == arrays[name].shape and (array == arrays[name]).all()
