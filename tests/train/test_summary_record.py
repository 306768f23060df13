"""Files of events: what is recorded is what is read back, with its checksums."""

import io
import os
import subprocess
import sys

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, nn, ops
from mindjax.train.summary.events import bins_of
from tests.train.event_files import Summaries, files


def tensor(*values):
    return Tensor(np.array(values, np.float32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
        self.scalar, self.show = ops.ScalarSummary(), ops.TensorSummary()
        self.histogram, self.image = ops.HistogramSummary(), ops.ImageSummary()

    def construct(self, x):
        out = self.fc(x)
        self.scalar("mean", out.mean())
        self.show("out", out)
        self.histogram("weight", self.fc.weight)
        self.image("rows", x.reshape(1, 1, *x.shape))
        return out


def test_what_ops_are_given_is_recorded(mode, tmp_path):
    net = Net()
    x = tensor([1, 2], [3, 4])
    net(x)
    with ms.SummaryRecord(str(tmp_path), network=net) as record:
        assert "tfevents" in record.log_dir and not os.path.exists(record.log_dir)
        for step in (1, 2, 3):
            net(x * step)
            assert record.record(
                step, plugin_filter=lambda p, step=step: p != "tensor" or step != 2
            )
        record.set_mode("eval")
        net(x * 9)
        record.record(4)
        record.flush()
        assert Summaries(tmp_path).values["mean"][-1] == (3, 15)
    seen = Summaries(tmp_path)
    assert seen.values["mean"] == [(1, 5), (2, 10), (3, 15)]
    assert [(s, v.tolist()) for s, v in seen.values["out"]] == [(1, [[3], [7]]), (3, [[9], [21]])]
    histogram = seen.values["weight"][0][1]
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (1, 1, 2, 2)
    picture = seen.values["rows"][0][1]
    assert (picture.height, picture.width) == (2, 2)
    assert len(seen.graphs) == 1
    assert os.stat(record.log_dir).st_mode & 0o777 == 0o400


def test_programs_are_compiled_again_for_the_first_record_only(tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE)
    from mindjax.core import caches

    net, counts = Net(), []
    for i in range(3):
        for _ in range(3):
            net(tensor([1, 2], [3, 4]))
            counts.append(caches.compilations()["graph"])
        with ms.SummaryRecord(str(tmp_path / str(i))) as record:
            for step in (1, 2, 3):
                net(tensor([1, 2], [3, 4]))
                record.record(step)
                counts.append(caches.compilations()["graph"])
    assert counts[3] == counts[2] + 1 and counts[-1] == counts[3]


def test_values_of_ones_own(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    image = np.arange(2 * 3 * 4 * 5, dtype=np.uint8).reshape(2, 3, 4, 5)
    numbers = np.linspace(-1, 1, 100, dtype=np.float32)
    with ms.SummaryRecord(str(tmp_path), export_options={"tensor_format": "npy"}) as record:
        record.add_value("scalar", "loss", tensor(9.0))
        record.add_value("scalar", "loss", tensor(0.5))
        record.add_value("image", "picture", Tensor(image))
        record.add_value("histogram", "numbers", Tensor(np.append(numbers, np.nan)))
        record.add_value("tensor", "a/b", Tensor(np.arange(6, dtype=np.int32).reshape(2, 3)))
        record.add_value("tensor", "half", Tensor([1.0, 2.0], ms.bfloat16))
        record.add_value("graph", "net", Net())
        record.add_value("custom_lineage_data", "mine", {"lr": 0.1, "name": "a|b", "best": True})
        record.add_value("landscape", "hills", {"x": [0.0], "y": [0.0], "z": np.eye(3)})
        record.record(7)
    assert not record.record(8)
    seen = Summaries(tmp_path)
    assert seen.values["loss"] == [(7, 0.5)]
    (picture,) = [v for _, v in seen.values["picture"]]
    pixels = np.asarray(Image.open(io.BytesIO(picture.encoded_image_string)))
    np.testing.assert_array_equal(pixels, np.concatenate(image.transpose(0, 2, 3, 1), axis=1))
    histogram = seen.values["numbers"][0][1]
    assert histogram.num == sum(histogram.bucket) == 100
    assert len(histogram.bucket_limit) == bins_of(100) == 11
    assert np.isclose(histogram.sum_squares, np.square(numbers).sum())
    assert seen.values["half"][0][1].tolist() == [1, 2]
    assert seen.values["a/b"][0][1].tolist() == [[0, 1, 2], [3, 4, 5]]
    (exported,) = tmp_path.glob("export_*/tensor/a%2Fb_7.npy")
    assert np.load(exported).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert b"Net/fc/weight" in seen.graphs[0]
    assert seen.hparams == {"lr": 0.1, "name": "a\\|b", "best": True}
    assert "| lr | 0.1 |" in seen.values["mine"][0][1]


def test_the_size_of_a_file_is_kept(tmp_path):
    with ms.SummaryRecord(str(tmp_path), max_file_size=300) as record:
        for step in range(50):
            record.add_value("scalar", "loss", tensor(float(step)))
            record.record(step)
    assert 100 < os.path.getsize(record.log_dir) <= 300
    assert len(Summaries(tmp_path).values["loss"]) > 1


def test_an_error_of_writing_is_raised_if_asked(tmp_path, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mindjax.train.summary.writer.shutil.disk_usage", full)
    record = ms.SummaryRecord(str(tmp_path), raise_exception=True)
    record.add_value("scalar", "loss", tensor(1.0))
    record.record(1)
    with pytest.raises(OSError, match="No space left"):
        record.flush()
    record.close()
    with ms.SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "loss", tensor(1.0))
        record.record(1)


def test_errors(tmp_path):
    folder = str(tmp_path)
    for kwargs, error, word in (
        ({"log_dir": 3}, TypeError, "log_dir"),
        ({"log_dir": " "}, ValueError, "log_dir"),
        ({"log_dir": __file__}, NotADirectoryError, "file path"),
        ({"max_file_size": "1"}, TypeError, "max_file_size"),
        ({"file_prefix": 1}, TypeError, "file_prefix"),
        ({"file_suffix": "/a"}, ValueError, "file_suffix"),
        ({"raise_exception": 1}, TypeError, "raise_exception"),
        ({"export_options": {"image_format": "npy"}}, ValueError, "image_format"),
        ({"export_options": {"tensor_format": "txt"}}, ValueError, "txt"),
        ({"export_options": 3}, TypeError, "export_options"),
    ):
        with pytest.raises(error, match=word):
            ms.SummaryRecord(**{"log_dir": folder, **kwargs})
    with ms.SummaryRecord(folder) as record:
        with pytest.raises(RuntimeError, match="only one instance"):
            ms.SummaryRecord(folder)
        for args, error, word in (
            (("scaler", "a", tensor(1.0)), ValueError, "scaler"),
            (("scalar", "", tensor(1.0)), ValueError, "name"),
            (("scalar", "a", 1.0), TypeError, "value"),
            (("scalar", "a", tensor(1.0, 2.0)), ValueError, "2 values"),
            (("image", "a", tensor(1.0)), ValueError, "image"),
            (("tensor", "a", Tensor(1.0)), ValueError, "empty"),
            (("train_lineage", "a", 3), TypeError, "train_lineage"),
            (("graph", "a", 3), TypeError, "Cell"),
        ):
            with pytest.raises(error, match=word):
                record.add_value(*args)
        with pytest.raises(TypeError, match="step"):
            record.record("1")
        with pytest.raises(ValueError, match="mode"):
            record.set_mode("test")
    with pytest.raises(ValueError, match="closed"):
        record.__enter__()
    record.close()
    assert not files(tmp_path)


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    for module in [m for m in sys.modules if m.startswith("tensorboardX.")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "mindjax\[summary\]"'):
        ms.SummaryRecord(str(tmp_path))
    assert ms.SummaryRecord.count == 0


def test_a_program_that_forgets_to_close_ends_and_writes(tmp_path):
    script = (
        "import mindjax as ms, numpy as np\n"
        f"record = ms.SummaryRecord({str(tmp_path)!r})\n"
        "record.add_value('scalar', 'loss', ms.Tensor(np.float32(0.5)))\n"
        "record.record(1)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
    assert Summaries(tmp_path).values["loss"] == [(1, 0.5)]
