"""Readers of public sets against what the original did (goldens of record_readers.py)."""

import inspect
import json
import pathlib

import numpy as np
import pytest

import mindjax.dataset as ds
from tests.dataset import reader_cases, reader_files

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "goldens" / "dataset" / "readers.json"
WANTED = json.loads(GOLDEN.read_text())


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    reader_files.write_sets(folder)
    return folder


@pytest.mark.parametrize("expression", reader_cases.READ)
def test_rows(expression, root):
    if "decode=True" in expression or "PhotoTour" in expression:
        pytest.importorskip("PIL")
    found = reader_cases.describe(eval(expression, {"ds": ds, "R": str(root)}))
    assert json.loads(json.dumps(found)) == WANTED["rows"][expression]


@pytest.mark.parametrize("expression", reader_cases.REFUSED)
def test_refused(expression, root):
    if "decode=True" in expression:
        pytest.importorskip("PIL")
    with pytest.raises(Exception) as caught:
        reader_cases.consume(eval(expression, {"ds": ds, "R": str(root)}))
    text = str(caught.value)
    assert WANTED["refused"][expression] in {b.__name__ for b in type(caught.value).__mro__}
    assert reader_cases.REFUSED[expression] in text
    assert "\n" not in text and ("<string>:" in text or "reader_cases.py:" in text), text


def test_every_case_is_recorded():
    assert set(reader_cases.READ) == set(WANTED["rows"])
    assert set(reader_cases.REFUSED) == set(WANTED["refused"])


def rows(dataset):
    return list(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))


# Files that the original reads past their end, or whose error does not name them.
SPOILED = {
    "ds.QMnistDataset(R + '/bad/qmnist', 'train')": "qmnist-train-labels-idx2-int",
    "ds.USPSDataset(R + '/bad/usps', 'train')": "line 1 of .*usps/usps should be",
    "ds.SemeionDataset(R + '/bad/semeion')": "line 1 of .*semeion.data should be",
    "ds.SVHNDataset(R + '/bad/svhn', 'train')": "failed to read .*train_32x32.mat",
    "ds.Flowers102Dataset(R + '/bad/flowers')": "bad/flowers/jpg does not exist",
    "ds.Caltech101Dataset(R + '/bad/caltech101', 'all')": "annotation_0001.mat",
    "ds.PhotoTourDataset(R + '/bad/phototour', 'liberty')": "open file: .*patches0000.bmp",
    "ds.WIDERFaceDataset(R + '/bad/wider', 'train')": "line 3 of .*wider_face_train_bbx_gt.txt",
    "ds.CMUArcticDataset(R + '/bad/cmu')": "open file: .*arctic_a0001.wav",
    "ds.LJSpeechDataset(R + '/bad/ljspeech')": "open file: .*LJ1.wav",
    "ds.GTZANDataset(R + '/bad/gtzan')": "read the audio file: .*blues.00000.wav",
    "ds.SpeechCommandsDataset(R + '/bad/speech')": "read the audio file: .*a_nohash_0.wav",
    "ds.SpeechCommandsDataset(R + '/bad/speech', 'test')": "failed to open .*testing_list.txt",
    "ds.YesNoDataset(R + '/bad/yesno')": "read the audio file: .*1_0_0_1_0_1_1_1.wav",
    "ds.YesNoDataset(R + '/bad/yesname')": "the name of .*hello.wav",
}


@pytest.mark.parametrize("expression", SPOILED)
def test_a_spoiled_file_is_named(expression, root):
    pytest.importorskip("PIL")
    with pytest.raises((RuntimeError, ValueError), match=SPOILED[expression]) as caught:
        reader_cases.consume(eval(expression, {"ds": ds, "R": str(root)}))
    assert "\n" not in str(caught.value)


def test_a_missing_file_names_the_users_line(root):
    with pytest.raises(RuntimeError, match=r"test_readers\.py:\d+\]$"):
        list(ds.LJSpeechDataset(str(root / "bad/ljspeech"), num_parallel_workers=2))


def test_what_the_original_gets_wrong(root):
    """It gives silence for talks, whole sizes for parts, no size, and bytes of other memory."""
    talks = rows(ds.TedliumDataset(str(root / "tedlium/release3"), "release3", shuffle=False))
    wanted = reader_files.samples(4, 60)
    np.testing.assert_allclose(talks[0]["waveform"][0], wanted[5:20] / 32767, rtol=1e-6)
    np.testing.assert_allclose(talks[1]["waveform"][0], wanted[20:30] / 32767, rtol=1e-6)
    assert [row["transcript"].item() for row in talks] == [
        "so {SMACK} hello(2) there ",
        "ignore_time_segment_in_scoring",
    ]
    for usage, count in (("train", 2), ("valid", 1), ("test", 1), ("all", 4)):
        assert len(ds.SpeechCommandsDataset(str(root / "speech"), usage)) == count
    assert len(ds.LSUNDataset(str(root / "lsun"), "test")) == 2
    fake = ds.FakeImageDataset(50, (8, 9, 3), 10, shuffle=False)
    images = np.stack([row["image"] for row in rows(fake)])
    assert images.shape == (50, 8, 9, 3) and images.dtype == np.uint8
    assert 120 < images.mean() < 135 and len(np.unique(images)) == 256
    np.testing.assert_array_equal(images, np.stack([row["image"] for row in rows(fake)]))


def test_fake_labels_are_the_originals():
    """The original's labels of these arguments; its images are not there to compare."""
    for count, seed, labels in ((10, 0, [5, 4, 4]), (7, 5, [1, 6, 0])):
        fake = ds.FakeImageDataset(3, (2, 3, 1), count, seed, shuffle=False)
        assert [int(row["label"]) for row in rows(fake)] == labels
        assert fake.num_classes() == count


def test_all_of_gtzan_comes_in_the_order_of_names(root):
    found = rows(ds.GTZANDataset(str(root / "gtzan"), shuffle=False))
    assert [row["label"].item() for row in found] == ["blues"] * 3 + ["disco", "jazz", "rock"]
    order = [2, 1, 0, 3, 4, 5]
    for row, seed in zip(found, order, strict=True):
        wanted = (reader_files.samples(seed) / 32767).astype(np.float32)
        np.testing.assert_array_equal(row["waveform"], wanted[None])


@pytest.mark.parametrize("bits", [8, 24, 32, "float"])
def test_sound_of_other_widths(bits, tmp_path):
    import struct

    peak = 1 if bits == "float" else 2 ** (bits - 1) - 1
    values = [0, peak, -peak]
    body = {
        8: bytes(value + 128 for value in values if bits == 8),
        24: b"".join(value.to_bytes(3, "little", signed=True) for value in values if bits == 24),
        32: np.array(values).astype("<i4").tobytes(),
        "float": np.array(values, "<f4").tobytes(),
    }[bits]
    width = 32 if bits == "float" else bits
    form = struct.pack("<HHIIHH", 3 if bits == "float" else 1, 1, 8000, 0, width // 8, width)
    chunks = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    chunks += b"fmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(body)) + body
    content = b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks
    (tmp_path / "1_0.wav").write_bytes(content)
    (row,) = rows(ds.YesNoDataset(str(tmp_path)))
    assert row["waveform"].tolist() == [[0, 1, -1]] and row["label"].tolist() == [1, 0]
    (tmp_path / "1_0.wav").write_bytes(content[:-2])
    with pytest.raises(RuntimeError, match=r"1_0\.wav should have \d+ bytes of data"):
        rows(ds.YesNoDataset(str(tmp_path)))


def test_a_column_of_metadata_shows_once_it_is_renamed(root):
    data = ds.VOCDataset(str(root / "voc"), extra_metadata=True, shuffle=False)
    assert data.get_col_names()[-1] == "_meta-filename" and "_meta-filename" not in rows(data)[0]
    named = data.rename("_meta-filename", "name").batch(2)
    assert rows(named)[0]["name"].tolist() == ["b", "a"]


def test_decoding_sixteen_bits(tmp_path):
    """The upper byte, as in the original: Cityscapes' images of instances have two."""
    images = pytest.importorskip("PIL.Image")
    (tmp_path / "a").mkdir()
    pixels = np.array([[0, 255, 256], [26001, 65535, 24000]], np.uint16)
    images.fromarray(pixels).save(tmp_path / "a" / "0.png")
    (row,) = rows(ds.ImageFolderDataset(str(tmp_path), decode=True))
    assert row["image"][..., 0].tolist() == [[0, 0, 1], [101, 255, 93]]


@pytest.mark.parametrize("sampler", ["sampler", "shards", "samples"])
def test_samplers_choose_rows(sampler, root):
    arguments = {
        "sampler": {"sampler": [3, 1]},
        "shards": {"shuffle": False, "num_shards": 2, "shard_id": 1},
        "samples": {"shuffle": False, "num_samples": 2},
    }[sampler]
    found = rows(ds.OmniglotDataset(str(root / "omniglot"), **arguments))
    wanted = {"sampler": [1, 0], "shards": [0, 1, 2], "samples": [0, 0]}[sampler]
    assert [int(row["label"]) for row in found] == wanted


def test_classes_are_sampled(root):
    found = rows(ds.OmniglotDataset(str(root / "omniglot"), sampler=ds.PKSampler(1)))
    assert [int(row["label"]) for row in found] == [0, 1, 2]
    with pytest.raises(RuntimeError, match="no column of classes"):
        rows(ds.LFWDataset(str(root / "lfw"), sampler=ds.PKSampler(1)))


def test_a_cache_is_refused(root):
    for name in ("CocoDataset", "VOCDataset", "GTZANDataset", "USPSDataset", "KMnistDataset"):
        kind = getattr(ds, name)
        assert "cache" in inspect.signature(kind).parameters
    with pytest.raises(NotImplementedError, match="cache is not supported"):
        ds.GTZANDataset(str(root / "gtzan"), cache=object())
