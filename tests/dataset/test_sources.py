"""Files, iterators, Tensors and settings."""

import gzip
import pathlib
import sys

import numpy as np
import pytest

import mindjax.dataset as ds
import mindjax.dataset.vision as vision
from mindjax.dataset.engine import tensors
from tests.dataset import cases


@pytest.fixture
def folder(tmp_path):
    cases.write_idx(tmp_path, "train", 5)
    return tmp_path


def labels(path, **kwargs):
    data = ds.MnistDataset(str(path), "train", shuffle=False, **kwargs)
    return [int(row["label"]) for row in data.create_dict_iterator(1, output_numpy=True)]


def first_image(path):
    data = ds.MnistDataset(str(path), shuffle=False)
    return next(data.create_tuple_iterator(output_numpy=True))[0]


def pack(path):
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))


def test_packed_files(folder):
    before = first_image(folder)
    for path in list(folder.iterdir()):
        pack(path)
    assert labels(folder) == [0, 1, 2, 3, 4]
    for path in folder.glob("*ubyte"):
        path.unlink()
    assert labels(folder) == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(first_image(folder), before, strict=True)
    assert labels(pathlib.Path(folder)) == [0, 1, 2, 3, 4]


def test_a_spoiled_packed_file_beside_a_good_one(folder):
    for path in list(folder.iterdir()):
        path.with_name(path.name + ".gz").write_bytes(b"no gzip")
    assert labels(folder) == [0, 1, 2, 3, 4]


def test_dotted_names(folder):
    for path in list(folder.iterdir()):
        path.rename(path.with_name(path.name.replace("-idx", ".idx")))
    assert labels(folder) == [0, 1, 2, 3, 4]


SPOILED = {
    "no gzip": lambda data: b"no gzip",
    "truncated gzip": lambda data: gzip.compress(data)[:-20],
    "empty": lambda data: gzip.compress(b""),
    "header only": lambda data: gzip.compress(data[:9]),
    "too long": lambda data: gzip.compress(data + b"x"),
    "other magic": lambda data: gzip.compress(b"\0\0\x08\1" + data[4:]),
}


@pytest.mark.parametrize("spoil", SPOILED)
def test_spoiled_packed_file(folder, spoil):
    path = folder / "train-images-idx3-ubyte"
    path.with_name(path.name + ".gz").write_bytes(SPOILED[spoil](path.read_bytes()))
    path.unlink()
    with pytest.raises(
        RuntimeError, match=r"^Invalid mnist file.*train-images-idx3-ubyte\.gz"
    ) as caught:
        labels(folder)
    assert "\n" not in str(caught.value) and "test_sources.py:" in str(caught.value)


def test_truncated_cifar(tmp_path):
    (tmp_path / "test_batch.bin").write_bytes(bytes(3072))
    with pytest.raises(RuntimeError, match=r"test_batch\.bin should be a multiple of 3073 bytes"):
        list(ds.Cifar10Dataset(str(tmp_path)))


def test_cifar100(tmp_path):
    table = np.random.RandomState(0).randint(0, 256, (3, 3074)).astype(np.uint8)
    table.tofile(tmp_path / "train.bin")
    rows = list(
        ds.Cifar100Dataset(str(tmp_path), "train", shuffle=False).create_dict_iterator(
            1, output_numpy=True
        )
    )
    assert [int(row["coarse_label"]) for row in rows] == table[:, 0].tolist()
    assert [int(row["fine_label"]) for row in rows] == table[:, 1].tolist()
    np.testing.assert_array_equal(rows[1]["image"][2, 5], table[1, 2:].reshape(3, 32, 32)[:, 2, 5])


class Handle:
    """Stands for a Tensor."""

    def __init__(self, array):
        self.array = array

    def asnumpy(self):
        return self.array


@pytest.fixture
def factory(monkeypatch):
    monkeypatch.setattr(tensors, "_factory", Handle)


def test_iterators_make_tensors(factory):
    data = ds.NumpySlicesDataset({"a": [1, 2], "b": ["x", "y"]}, shuffle=False)
    (number, text), _ = data.create_tuple_iterator(num_epochs=1)
    assert isinstance(number, Handle) and isinstance(text, np.ndarray)
    assert isinstance(next(iter(data))[0], Handle)
    assert list(next(data.create_dict_iterator())) == ["a", "b"]


def test_tensors_are_accepted_as_values(factory):
    data = ds.GeneratorDataset([Handle(np.float32(2))], "x").map(lambda x: Handle(x + 1))
    assert [row[0].asnumpy() for row in data] == [3.0]


def test_rows_are_writable_and_their_own():
    source = np.zeros((4, 2))
    data = ds.NumpySlicesDataset(source, shuffle=False)
    changed = data.map(lambda x: np.add(x, 1, out=x))
    for row in changed.create_tuple_iterator(num_epochs=1, output_numpy=True):
        assert row[0].tolist() == [1, 1]
    assert not source.any()


def test_endless_repeat():
    data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).repeat().batch(2).take(4)
    rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [row[0].tolist() for row in rows] == [[1, 2], [3, 1], [2, 3], [1, 2]]


def test_repeat_of_nothing_ends():
    empty = ds.GeneratorDataset(lambda: iter([]), "x")
    assert list(empty.repeat().create_tuple_iterator(num_epochs=1, output_numpy=True)) == []
    data = ds.NumpySlicesDataset([1], shuffle=False).skip(1)
    assert list(data.repeat().create_tuple_iterator(num_epochs=1, output_numpy=True)) == []


def test_generator_object_is_used_up():
    data = ds.GeneratorDataset((i for i in range(3)), "x")
    iterator = data.create_tuple_iterator(output_numpy=True)
    assert [len(list(iterator)) for _ in range(2)] == [3, 0]


def test_epochs_beyond_the_last():
    iterator = ds.NumpySlicesDataset([1]).create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [len(list(iterator)) for _ in range(2)] == [1, 1]
    with pytest.raises(RuntimeError, match="fetch data beyond the specified number of epochs"):
        next(iterator)


def test_estimated_shapes():
    data = ds.GeneratorDataset([np.zeros((2, 3)), np.zeros((4, 3))], "x", shuffle=False)
    assert data.output_shapes() == [[2, 3]]
    assert data.output_shapes(estimate=True) == [[None, 3]]


def test_ragged_list():
    data = ds.NumpySlicesDataset([[1, 2], [3]], shuffle=False)
    rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [row[0].tolist() for row in rows] == [[1, 2], [3]]


def test_decode_png_and_jpeg():
    pillow = pytest.importorskip("PIL.Image")
    import io

    image = np.random.RandomState(0).randint(0, 256, (6, 5, 3)).astype(np.uint8)
    buffer = io.BytesIO()
    pillow.fromarray(image).save(buffer, "PNG")
    encoded = np.frombuffer(buffer.getvalue(), np.uint8)
    np.testing.assert_array_equal(vision.Decode()(encoded), image, strict=True)
    assert vision.Decode(to_pil=True)(encoded).size == (5, 6)
    data = ds.GeneratorDataset([encoded] * 3, "image").map([vision.Decode(), vision.HWC2CHW()])
    for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
        np.testing.assert_array_equal(row[0], image.transpose(2, 0, 1))


def test_decode_without_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r'pip install "mindjax\[vision\]"'):
        vision.Decode()(np.zeros(4, np.uint8))


MODES = [
    (ds.ErrorSamplesMode.SKIP, [0, 2, 4]),
    (ds.ErrorSamplesMode.REPLACE, [0, 0, 2, 2, 4]),
]


@pytest.mark.parametrize(("mode", "rows"), MODES)
def test_error_samples(mode, rows):
    def refuse_odd(x):
        if x % 2:
            raise ValueError
        return x

    data = ds.NumpySlicesDataset(np.arange(5), shuffle=False).map(refuse_odd)
    ds.config.set_error_samples_mode(mode)
    try:
        found = [int(row[0]) for row in data.create_tuple_iterator(None, 1, True)]
    finally:
        ds.config.set_error_samples_mode(ds.ErrorSamplesMode.RETURN)
    assert found == rows


SETTINGS = [
    ("seed", 7),
    ("num_parallel_workers", 3),
    ("prefetch_size", 5),
    ("enable_shared_mem", False),
    ("enable_watchdog", False),
    ("multiprocessing_timeout_interval", 9),
    ("multiprocessing_start_method", "fork"),
    ("monitor_sampling_interval", 3),
    ("callback_timeout", 3),
    ("auto_num_workers", True),
    ("numa_enable", True),
    ("auto_offload", True),
    ("enable_autotune", True),
    ("autotune_interval", 3),
    ("fast_recovery", False),
    ("debug_mode", True),
    ("dynamic_shape", True),
    ("video_backend", "Ascend"),
]


@pytest.mark.parametrize(("name", "value"), SETTINGS)
def test_settings(name, value, monkeypatch):
    monkeypatch.setattr(ds.config, "_settings", dict(ds.config._settings))
    getattr(ds.config, f"set_{name}")(value)
    assert getattr(ds.config, f"get_{name}")() == value


REFUSED = [
    lambda: ds.config.set_multiprocessing_start_method("spawn"),
    lambda: ds.config.set_enable_autotune(True, "file"),
    lambda: ds.NumpySlicesDataset([1]).map(print, cache=1),
    lambda: ds.DatasetCache(1),
    lambda: ds.OBSMindDataset(["s3://bucket/object"], "server", "ak", "sk", "s3://bucket/sync"),
    lambda: ds.transforms.Plugin("lib.so", "function"),
    lambda: ds.GeneratorDataset([1], "x", schema="file"),
    lambda: vision.Resize(3, vision.Inter.AREA)(np.zeros((4, 4), np.uint8)),
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_not_supported_says_so(call):
    with pytest.raises(NotImplementedError, match="not supported"):
        call()
