"""Public data sets to MindRecord."""

import gzip
import io
import pickle
import struct
import zlib

import numpy as np
import pytest

import mindjax.dataset as ds
import mindjax.mindrecord as mr
from mindjax.dataset import vision
from mindjax.mindrecord import tf_example
from mindjax.mindrecord.tf_example import FixedLenFeature
from tests.mindrecord import cases

Image = pytest.importorskip("PIL.Image")


def read(path):
    return cases.rows(mr.FileReader(str(path)))


def smooth(count, channels=3):
    """Make images that JPEG keeps almost as they are."""
    y, x = np.mgrid[:32, :32]
    planes = [(x * (c + 1) + y * 2) % 256 for c in range(channels)]
    return np.stack([np.stack(planes, -1) + n for n in range(count)]).astype(np.uint8)


def decoded(data):
    return np.asarray(Image.open(io.BytesIO(data))).astype(int)


def write_cifar(folder, names, labels):
    folder.mkdir()
    for number, name in enumerate(names):
        images = smooth(4) + number
        content = {b"data": images.transpose(0, 3, 1, 2).reshape(4, -1)}
        content |= {label: [(n + number) % 10 for n in range(4)] for label in labels}
        (folder / name).write_bytes(pickle.dumps(content, protocol=2))


def test_cifar10(tmp_path):
    write_cifar(tmp_path / "src", ["data_batch_1", "data_batch_2", "test_batch"], [b"labels"])
    converter = mr.Cifar10ToMR(str(tmp_path / "src"), str(tmp_path / "c10"))
    assert converter.transform(["label"]) is None
    rows = read(tmp_path / "c10")
    assert [row["id"] for row in rows] == list(range(8))
    assert [row["label"] for row in rows] == [0, 1, 2, 3, 1, 2, 3, 4]
    assert np.abs(decoded(rows[5]["data"]) - (smooth(4) + 1)[1]).mean() < 4
    assert [row["label"] for row in read(tmp_path / "c10_test")] == [2, 3, 4, 5]
    assert mr.MindPage(str(tmp_path / "c10")).candidate_fields == ["label"]
    dataset = ds.MindDataset(str(tmp_path / "c10"), ["data", "label"], shuffle=False)
    first = next(iter(dataset.map(vision.Decode(), "data").batch(8)))
    assert first[0].shape == (8, 32, 32, 3) and first[1].asnumpy().tolist()[:2] == [0, 1]
    with pytest.raises(RuntimeError, match="already exist"):
        converter.transform()
    with pytest.raises(ValueError, match="fields should be None or list"):
        converter.transform("label")


def test_cifar100(tmp_path):
    write_cifar(tmp_path / "src", ["train", "test"], [b"fine_labels", b"coarse_labels"])
    mr.Cifar100ToMR(str(tmp_path / "src"), str(tmp_path / "c100")).transform()
    row = read(tmp_path / "c100_test")[2]
    assert (row["fine_label"], row["coarse_label"], row["id"]) == (3, 3, 2)


def test_cifar_runs_no_code(tmp_path):
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "made"), "w"))

    folder = tmp_path / "src"
    write_cifar(folder, ["train", "test"], [b"fine_labels", b"coarse_labels"])
    converter = mr.Cifar100ToMR(str(folder), str(tmp_path / "c100"))
    for content in (
        pickle.dumps({b"data": Evil()}),
        b"",
        b"cos\nsystem\n(S'ls'\ntR.",
        b"\x80\x02]",
    ):
        (folder / "train").write_bytes(content)
        with pytest.raises(RuntimeError, match="Not a valid Cifar100 Dataset"):
            converter.transform()
    assert not (tmp_path / "made").exists()
    (folder / "train").unlink()
    with pytest.raises(mr.PathNotExistsError, match="train"):
        mr.Cifar100ToMR(str(folder), str(tmp_path / "c100"))


def test_mnist(tmp_path):
    images = smooth(3, 1)[:, :28, :28, 0]
    for prefix, count in (("train", 3), ("t10k", 2)):
        header = struct.pack(">IIII", 2051, count, 28, 28)
        packed = gzip.compress(header + images[:count].tobytes())
        (tmp_path / f"{prefix}-images-idx3-ubyte.gz").write_bytes(packed)
        labels = struct.pack(">II", 2049, count) + bytes(range(count))
        (tmp_path / f"{prefix}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))
    mr.MnistToMR(str(tmp_path), str(tmp_path / "m")).transform()
    rows = read(tmp_path / "m_train.mindrecord")
    assert [row["label"] for row in rows] == [0, 1, 2]
    assert np.abs(decoded(rows[2]["data"]) - images[2]).mean() < 2
    assert len(read(tmp_path / "m_test.mindrecord")) == 2
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(9)))
    with pytest.raises(RuntimeError, match="has not an image"):
        mr.MnistToMR(str(tmp_path), str(tmp_path / "n")).transform()


def test_imagenet(tmp_path):
    for name, files in (("n01", ["b.jpg", "a.JPEG", "c.txt"]), ("n02", ["d.jpg", "e.jpg"])):
        (tmp_path / "images" / name).mkdir(parents=True)
        for file in files:
            (tmp_path / "images" / name / file).write_bytes(file.encode() * (file != "e.jpg"))
    (tmp_path / "map").write_text("n01 0\nn02 7\nn03 9\n")
    words = [str(tmp_path / name) for name in ("map", "images", "i")]
    mr.ImageNetToMR(*words).transform()
    rows = read(tmp_path / "i")
    found = [(row["label"], row["file_name"][-8:], row["image"]) for row in rows]
    assert found == [
        (0, "1/a.JPEG", b"a.JPEG"),
        (0, "01/b.jpg", b"b.jpg"),
        (7, "02/d.jpg", b"d.jpg"),
    ]
    words[2] += "2"
    mr.ImageNetToMR(*words, 2).transform()
    assert len(read(tmp_path / "i20")) == 3
    (tmp_path / "map").write_text("n09 0\n")
    with pytest.raises(mr.PathNotExistsError):
        mr.ImageNetToMR(words[0], words[1], str(tmp_path / "j")).transform()
    with pytest.raises(ValueError, match="partition_number must be int"):
        mr.ImageNetToMR(*words, None)


CSV = "i,f,b,s,m,e\n1,2.5,True,x,1,\n-2,3,False,,,\n3,inf,true,'é',2.5,\n"


def test_csv(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    mr.CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "a")).transform()
    reader = mr.FileReader(str(tmp_path / "a"))
    kinds = {name: entry["type"] for name, entry in reader.schema().items()}
    wanted = {"i": "int64", "f": "float64", "b": "int32", "s": "string", "m": "float64"}
    assert kinds == {**wanted, "e": "string"}
    rows = cases.rows(reader)
    assert [row["i"] for row in rows] == [1, -2, 3] and [row["b"] for row in rows] == [1, 0, 1]
    assert [row["s"] for row in rows] == ["x", "", "'é'"] and np.isnan(rows[1]["m"])
    mr.CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "b"), ["s", "i"], 2).transform()
    assert mr.MindPage(str(tmp_path / "b0")).candidate_fields == ["s", "i"]
    assert [row["i"] for row in read(tmp_path / "b1")] == [1, -2, 3]


@pytest.mark.parametrize(
    ("content", "columns", "error", "words"),
    [
        (CSV, ["q"], RuntimeError, "column q does not exist"),
        ("1,2\n3,4\n", None, ValueError, "does not allow starting with a number"),
        ("a,b\n3\n", None, ValueError, "row 0 has 1 cells and not 2"),
        ("", None, RuntimeError, "Failed to generate schema"),
        ("a b\n3\n", None, mr.MRMInvalidSchemaError, "should be composed of"),
        (None, None, OSError, "do not exist"),
        (CSV, "i", ValueError, "columns_list must be list of str"),
    ],
)
def test_csv_errors(content, columns, error, words, tmp_path):
    if content is not None:
        (tmp_path / "a.csv").write_text(content)
    with pytest.raises(error, match=words):
        mr.CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "a"), columns).transform()


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def block(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def example(**features):
    entries = b""
    for name, values in features.items():
        if isinstance(values[0], bytes):
            feature = block(1, b"".join(block(1, value) for value in values))
        elif isinstance(values[0], float):
            feature = block(2, block(1, np.array(values, "<f4").tobytes()))
        else:
            feature = block(3, block(1, b"".join(varint(value) for value in values)))
        entries += block(1, block(1, name.encode()) + block(2, feature))
    return block(1, entries)


def record(data):
    def summed(part):
        return struct.pack("<I", tf_example.masked_crc(part))

    head = struct.pack("<Q", len(data))
    return head + summed(head) + data + summed(data)


FEATURES = {
    "name": FixedLenFeature([], "string"),
    "image/bytes": FixedLenFeature([], "string"),
    "n": FixedLenFeature([], np.int64),
    "f": FixedLenFeature([], np.dtype("float32")),
    "ns": FixedLenFeature([3], "int64"),
    "fs": FixedLenFeature([2], "float32"),
    "gone": FixedLenFeature([], "int64", 5),
}


def test_tfrecord(tmp_path):
    rows = [
        {
            "name": [f"é{n}".encode()],
            "image/bytes": [bytes([n]) * 9000],
            "n": [-n],
            "f": [n / 2],
            "ns": [n, -1, 2**40],
            "fs": [0.5, 1.5],
        }
        for n in range(3)
    ]
    path = tmp_path / "a.tfrecord"
    path.write_bytes(b"".join(record(example(**row)) for row in rows))
    converter = mr.TFRecordToMR(str(path), str(tmp_path / "a"), FEATURES, ["image/bytes"])
    converter.transform()
    found = read(tmp_path / "a")
    assert [row["name"] for row in found] == ["é0", "é1", "é2"]
    assert [row["n"] for row in found] == [0, -1, -2] and found[1]["gone"] == 5
    assert found[1]["image_bytes"] == b"\1" * 9000 and found[1]["f"] == 0.5
    assert found[2]["ns"].tolist() == [2, -1, 2**40] and found[2]["fs"].tolist() == [0.5, 1.5]
    whole = path.read_bytes()
    for place in (0, 9, 20, len(whole) // 2, len(whole) - 1):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="damaged"):
            mr.TFRecordToMR(str(path), str(tmp_path / "b"), FEATURES, ["image/bytes"]).transform()
    path.write_bytes(record(example(n=[1])))
    with pytest.raises(ValueError, match="has no feature name"):
        mr.TFRecordToMR(str(path), str(tmp_path / "b"), FEATURES).transform()
    path.write_bytes(record(b"\xff\xff\xff"))
    with pytest.raises(ValueError, match=r"no tf\.train\.Example"):
        mr.TFRecordToMR(str(path), str(tmp_path / "b"), FEATURES).transform()
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("features", "fields", "words"),
    [
        (None, None, "feature_dict is None or not dict"),
        ({"a": 3}, None, "only supports FixedLenFeature"),
        ({"a": FixedLenFeature([], "complex64")}, None, "complex64 is not supported"),
        ({"a": FixedLenFeature([2], "string")}, None, "is not supported"),
        ({"a": FixedLenFeature([2, 2], "int64")}, None, "should be"),
        ({"a": FixedLenFeature([0], "int64")}, None, "should be"),
        ({"a": FixedLenFeature([], "int64")}, ["a"], "should be tf.string"),
        ({"a": FixedLenFeature([], "string")}, ["b"], "is not in feature_dict"),
        ({"a": FixedLenFeature([], "string")}, "a", r"must be list\(str\)"),
    ],
)
def test_tfrecord_arguments(features, fields, words):
    with pytest.raises(ValueError, match=words):
        mr.TFRecordToMR("a", "b", features, fields)


@pytest.mark.parametrize("size", [0, 1, 9, 8191, 8192, 8200, 100_003])
def test_crc32c(size):
    assert tf_example.crc32c(b"123456789") == 0xE3069283
    data = np.random.RandomState(size).bytes(size)
    state = 0xFFFFFFFF
    for byte in data:
        state = tf_example._LIST[(state ^ byte) & 255] ^ state >> 8
    assert tf_example.crc32c(data) == state ^ 0xFFFFFFFF
    assert tf_example.crc32c(data) != zlib.crc32(data) or not size
