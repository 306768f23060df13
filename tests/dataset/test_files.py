"""Files of public formats against what the original read (goldens of record_files.py)."""

import json
import pathlib
import sys

import numpy as np
import pytest

import mindjax as ms
import mindjax.dataset as ds
from tests.dataset import cases, file_cases, text_sets

GOLDENS = pathlib.Path(__file__).resolve().parents[1] / "goldens" / "dataset" / "files.json"
# MindSpore: sizes of these are numbers of lines that are not empty, not of rows.
COUNTS_LINES = ("CoNLL2000", "UDPOS", "EnWik9")
FOUND = json.loads(GOLDENS.read_text())


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    file_cases.write(folder)
    return file_cases.scope(ds, ms, folder)


@pytest.mark.parametrize("expression", file_cases.PIPELINES)
def test_pipeline(expression, names):
    found = json.loads(json.dumps(cases.describe(eval(expression, names))))
    wanted = FOUND["pipelines"][expression]
    if any(name in expression for name in COUNTS_LINES):
        wanted = {**wanted, "size": len(wanted["rows"])}
    assert found == wanted


@pytest.mark.parametrize("expression", file_cases.VALUES)
def test_value(expression, names):
    found = json.loads(json.dumps(eval(expression, names)))
    assert found == FOUND["values"][expression]


@pytest.mark.parametrize("expression", file_cases.ERRORS)
def test_error(expression, names):
    with pytest.raises(Exception) as caught:
        cases.consume(eval(expression, names))
    assert FOUND["errors"][expression] in {base.__name__ for base in type(caught.value).__mro__}
    text = str(caught.value)
    assert file_cases.ERRORS[expression] in text
    assert "\n" not in text


@pytest.mark.parametrize("expression", text_sets.PIECES)
def test_pieces_of_sentences(expression, names):
    pytest.importorskip("sentencepiece")
    assert eval(expression, names) == FOUND["pieces"][expression]


def test_sentencepiece_is_an_extra(monkeypatch, names):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(ImportError, match=r'pip install "mindjax\[text\]"'):
        eval(text_sets.PIECES[0], names)


def test_every_case_is_recorded():
    assert set(file_cases.PIPELINES) == set(FOUND["pipelines"])
    assert set(text_sets.PIECES) == set(FOUND["pieces"])
    assert set(file_cases.VALUES) == set(FOUND["values"])
    assert set(file_cases.ERRORS) == set(FOUND["errors"])


DAMAGED = {"sum": "record 2: its data has another", "later": "record 1: its length has another"}


@pytest.mark.parametrize("name", DAMAGED)
def test_sums_of_all_records_are_compared(name, names):
    with pytest.raises(RuntimeError, match=rf"tf/{name}\.bad: {DAMAGED[name]} checksum"):
        list(eval(f"tf('{name}.bad')", names))


def test_a_truncated_packed_file(names, tmp_path):
    packed = pathlib.Path(names["folder"], "tf", "a.gz").read_bytes()
    path = tmp_path / "cut.gz"
    for data, kind in ((packed[:-20], "GZIP"), (packed, "ZLIB"), (b"", "ZLIB")):
        path.write_bytes(data)
        with pytest.raises(RuntimeError, match=r"not valid TFRecordDataset files: .*cut\.gz"):
            list(ds.TFRecordDataset(str(path), compression_type=kind))


def test_rows_of_packed_files_are_counted_over_all(names):
    data = eval("tf('*.gz', num_parallel_workers=2, compression_type='GZIP')", names)
    rows = [row[0].tolist() for row in data.create_tuple_iterator(None, 1, True)]
    data = eval("tf('*.gz', num_samples=4, num_parallel_workers=2, compression_type='GZIP')", names)
    assert [row[0].tolist() for row in data.create_tuple_iterator(None, 1, True)] == rows[:4]


def test_values_are_converted_and_bytes_have_the_shape_of_the_schema(names):
    rows = eval("list(tf('x.rows', ('i', 'float32'), ('v', 'int64')))", names)
    assert rows[0][0].tolist() == [1.0] and rows[0][1].tolist() == [1, 2, 3, 4]
    rows = eval("list(tf('x.rows', ('one', 'uint8', [-1, 2])))", names)
    assert [row[0].shape for row in rows] == [(2, 2), (4, 2)]


def test_levels_of_shuffling(names):
    path = names["folder"] + "/tf/*.rec"
    ds.config.set_seed(3)
    try:
        for level in (True, ds.Shuffle.FILES, None):
            data = ds.TFRecordDataset(path, shuffle=level, columns_list=["i"])
            rows = data.create_tuple_iterator(output_numpy=True)
            epochs = [[int(row[0][0]) for row in rows] for _ in range(3)]
            assert all(sorted(epoch) == list(range(10)) for epoch in epochs)
            assert epochs[0] != epochs[1] or epochs[1] != epochs[2]
            if level is ds.Shuffle.FILES:
                assert all(epoch.index(4) == epoch.index(3) + 1 for epoch in epochs)
    finally:
        ds.config.set_seed(5489)


def test_random_rows():
    schema = ds.Schema()
    for column in (("a", "uint8", [2]), ("b", "float32"), ("c", "int64", []), ("d", "bool", [3])):
        schema.add_column(*column)
    data = ds.RandomDataset(5, schema, shuffle=False)
    rows = [list(data.create_tuple_iterator(None, 1, True)) for _ in range(2)]
    assert [(v.dtype.name, v.ndim) for v in rows[0][0]] == [
        ("uint8", 1),
        ("float32", 0),
        ("int64", 0),
        ("bool", 1),
    ]
    assert len(rows[0]) == 5 and str(rows[0]) == str(rows[1])
    assert ds.RandomDataset(4, num_samples=2, columns_list=["x"]).get_col_names() == ["x"]
    assert 0 < ds.RandomDataset().get_dataset_size() <= 1024
    assert ds.RandomDataset(7, schema, num_shards=2, shard_id=1).get_dataset_size() == 4
    schema.add_column("text", "string")
    with pytest.raises(RuntimeError, match="column text is of texts"):
        ds.RandomDataset(5, schema)


def test_a_wait_in_vain_ends_with_a_warning(monkeypatch):
    monkeypatch.setattr(ds.config, "_settings", dict(ds.config._settings, callback_timeout=0.01))
    data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).sync_wait("p")
    with pytest.warns(UserWarning, match="sync_update"):
        assert len(list(data.create_tuple_iterator(None, 1, True))) == 3
    assert list(data.get_sync_notifiers()) == ["p"]


def test_workers_make_no_rows_ahead_of_a_wait():
    made = []
    data = ds.NumpySlicesDataset(list(range(8)), shuffle=False).sync_wait("p")
    data = data.map(lambda x: (made.append(int(x)), x)[1], num_parallel_workers=2).batch(2)
    for turn, _ in enumerate(data.create_tuple_iterator(None, 1, True)):
        assert made == list(range(2 * turn + 2))
        data.sync_update("p")
    data.disable_sync()
    assert len(list(data.create_tuple_iterator(None, 1, True))) == 4


def test_errors_of_callbacks_name_the_event():
    class Bad(ds.DSCallback):
        def ds_step_begin(self, ds_run_context):
            raise ValueError("no")

    data = ds.NumpySlicesDataset([1, 2]).map(lambda x: x, callbacks=Bad())
    assert data.get_dataset_size() == 2 and data.output_shapes() == [[]]
    with pytest.raises(ValueError, match=r"callback ds_step_begin failed .*ValueError: no"):
        list(data)


DEBUGGED = """\
[Dataset debugger] Print the [INPUT] of the operation [HorizontalFlip].
Column 0. The dtype is [uint8]. The shape is [(1, 2, 3)].
Column 0. The data is [[[[0 1 2]
  [3 4 5]]]].
[Dataset debugger] Print the [OUTPUT] of the operation [HorizontalFlip].
Column 0. The dtype is [uint8]. The shape is [(1, 2, 3)].
Column 0. The data is [[[[3 4 5]
  [0 1 2]]]].
[Dataset debugger] Print the [OUTPUT] of the operation [<lambda>].
Column 0. The dtype is [int64]. The shape is [()].
Column 0. The data is [6].
"""


def test_debug_mode_shows_what_operations_take_and_give(monkeypatch, capsys):
    monkeypatch.setattr(ds.config, "_settings", dict(ds.config._settings))

    class Both(ds.debug.DebugHook):
        def compute(self, *args):
            for hook in (ds.debug.PrintMetaDataHook(), ds.debug.PrintDataHook()):
                hook.compute(*args)

    ds.config.set_debug_mode(True, [Both()])
    image = np.arange(6, dtype=np.uint8).reshape(1, 1, 2, 3)
    data = ds.NumpySlicesDataset(image, "x").map(
        [ds.vision.HorizontalFlip(), lambda x: np.array(x.size)], num_parallel_workers=2
    )
    assert [row[0].tolist() for row in data.create_tuple_iterator(None, 1, True)] == [6]
    assert capsys.readouterr().out == DEBUGGED
    assert ds.config.get_seed() == 1


def test_boxes_are_drawn():
    pytest.importorskip("cv2")
    image = np.zeros((30, 40, 3), np.uint8)
    boxes = np.array([[5, 6, 20, 10, 0.9], [1, 1, 3, 3, 0.1]])
    labels = np.array([[0], [0]])
    drawn = ds.utils.imshow_det_bbox(image, boxes, labels, score_threshold=0.5, show=False)
    assert drawn[16, 10].tolist() == [0, 255, 0] and not drawn[1, 1].any()
    with pytest.raises(AssertionError, match="labels"):
        ds.utils.imshow_det_bbox(image, boxes, labels[:1], show=False)


SPOILED = {
    "SQuAD": "train-v1.1.json",
    "CoNLL2000": "train.txt: .*line 1 has 2 columns of 3",
    "AGNews": "train.csv: .*row 2 has 2 of 3",
}


@pytest.mark.parametrize("name", SPOILED)
def test_damaged_files_of_text_sets_are_named(name, names):
    made = getattr(ds, f"{name}Dataset")(names["folder"] + "/sets/bad", "train")
    with pytest.raises(RuntimeError, match=rf"Invalid data, {name}Dataset .*{SPOILED[name]}"):
        list(made)


@pytest.mark.parametrize("name", ["AGNews", "UDPOS"])
def test_shards_of_text_sets_are_of_equal_size(name, names):
    shards = [
        [str(row) for row in eval(f"text_set('{name}', 'all', num_shards=2, shard_id={n})", names)]
        for n in (0, 1)
    ]
    whole = [str(row) for row in eval(f"text_set('{name}', 'all')", names)]
    half = -(-len(whole) // 2)
    assert shards == [whole[:half], [*whole[half:], *whole][:half]]


def test_reviews_of_several_lines_are_whole(tmp_path):
    for label in ("pos", "neg"):
        (tmp_path / "train" / label).mkdir(parents=True)
        (tmp_path / "train" / label / "0_1.txt").write_text("one\ntwo\n")
    made = ds.IMDBDataset(str(tmp_path), "train", shuffle=False)
    rows = made.create_tuple_iterator(None, 1, True)
    assert [[value.tolist() for value in row] for row in rows] == [["one\ntwo", 1], ["one\ntwo", 0]]
