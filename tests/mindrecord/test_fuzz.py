"""Damaged and hostile MindRecord files: the documented error, soon, or rows that are whole."""

import json
import os
import random
import sqlite3
import struct
import time
import tracemalloc

import numpy as np
import pytest

import mindjax.dataset as ds
import mindjax.mindrecord as mr
from tests.mindir.test_fuzz import mutated
from tests.mindrecord import cases

MOST_SECONDS, MOST_BYTES = 5.0, 64 << 20
HEADER = 1 << 14


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    rows = [
        {
            "i": n,
            "l": n - 2,
            "s": f"é{n}",
            "f": n / 3,
            "b": b"xyz" * n,
            "x": np.arange(n, dtype=np.int32) * 1000,
            "z": np.array([n, 0.5]),
        }
        for n in range(12)
    ]
    for name, fields in (("all", "ilsfbxz"), ("raw", "is"), ("blob", "x")):
        writer = mr.FileWriter(str(folder / name))
        writer.add_schema({field: cases.ALL[field] for field in fields}, "what")
        writer.set_page_size(1 << 15)
        writer.set_header_size(HEADER)
        writer.write_raw_data([{field: row[field] for field in fields} for row in rows[1:]])
        writer.commit()
    return [
        ((folder / name).read_bytes(), (folder / f"{name}.db").read_bytes())
        for name in ("all", "raw", "blob")
    ]


def damage(data, index, generator):
    """Damage the header, the pages or the index."""
    part = generator.randrange(4)
    if part == 0:
        length = struct.unpack_from("<Q", data)[0]
        text = mutated(data[8 : 8 + length], generator)
        size = struct.pack("<Q", len(text)) if generator.randrange(4) else data[:8]
        return (size + text).ljust(HEADER, b"\0")[:HEADER] + data[HEADER:], index
    if part == 1:
        at = HEADER + generator.randrange(2) * (1 << 15)
        piece = data[at : at + 900]
        return data[:at] + mutated(piece, generator)[:900].ljust(len(piece), b"\0") + data[
            at + 900 :
        ], index
    if part == 2:
        return data, mutated(index, generator)
    return mutated(data, generator), index


def use(path):
    """Read a file in every way, until the first error."""
    rows = cases.rows(mr.FileReader(path))
    fields = mr.FileReader(path).schema()
    for row in rows:
        assert set(row) == set(fields)
    dataset = ds.MindDataset(path, shuffle=False)
    assert len(list(dataset.create_tuple_iterator(None, 1, True))) == len(rows)
    page = mr.MindPage(path)
    for field in page.candidate_fields:
        page.category_field = field
        for group in json.loads(page.read_category_info())["categories"] or []:
            page.read_at_page_by_id(group["id"], 0, 2)


def check(path, limited):
    before = time.monotonic()
    if limited:
        tracemalloc.start()
    try:
        use(path)
    except (RuntimeError, mr.MindRecordException) as error:
        assert "\n" not in str(error).replace("\\n", "")
    finally:
        if limited:
            used = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert used < MOST_BYTES
    assert time.monotonic() - before < MOST_SECONDS


def attack(folder, originals, count, seed):
    os.chdir(folder)
    for number in range(count):
        generator = random.Random(f"{seed}/{number}")
        data, index = damage(*originals[number % len(originals)], generator)
        name = ("all", "raw", "blob")[number % len(originals)]
        path = folder / name
        path.write_bytes(data)
        (folder / f"{name}.db").write_bytes(index)
        try:
            check(str(path), number % 10 == 0)
        except BaseException as error:
            error.add_note(f"file {name}, seed {seed}/{number}")
            raise
    assert len(list(folder.iterdir())) <= 6


@pytest.fixture(autouse=True)
def back():
    before = os.getcwd()
    yield
    os.chdir(before)


def test_damaged_files(tmp_path, originals):
    attack(tmp_path, originals, 300, "few")


@pytest.mark.slow
def test_many_damaged_files(tmp_path, originals):
    attack(tmp_path, originals, 20_000, "many")


def header_of(data):
    (length,) = struct.unpack_from("<Q", data)
    return json.loads(data[8 : 8 + length])


def with_header(data, text):
    text = text if isinstance(text, bytes) else json.dumps(text).encode()
    return struct.pack("<Q", len(text)) + text.ljust(HEADER - 8, b"\0") + data[HEADER:]


HEADERS = {
    "no JSON": b"hello",
    "no object": b"[1, 2]",
    "deep nesting": b"[" * 16000,
    "a number of many digits": b'{"header_size": ' + b"9" * 9000 + b"}",
    "huge header_size": {"header_size": 1 << 60},
    "negative page_size": {"page_size": -4},
    "text as page_size": {"page_size": "4"},
    "another version": {"version": "9.0"},
    "no schema": {"schema": []},
    "a schema without fields": {"schema": [{"schema": {}, "blob_fields": [], "desc": ""}]},
    "a huge shape": {
        "schema": [
            {
                "schema": {"x": {"type": "int32", "shape": [1 << 40, 1 << 40]}},
                "blob_fields": ["x"],
                "desc": "",
            }
        ]
    },
    "a field that is SQL": {"index_fields": [{"index_field": "i] FROM x; --", "schema_id": 0}]},
    "pages that are no list": {"page": {"a": 1}},
    "a page of no type": {"page": [{"page_id": 0, "page_type": "X"}]},
    "shards elsewhere": {"shard_addresses": ["../all"]},
    "an absolute shard": {"shard_addresses": ["/etc/passwd"]},
    "a shard of two dots": {"shard_addresses": [".."]},
    "a shard with a zero": {"shard_addresses": ["a\0b"]},
    "no shards": {"shard_addresses": []},
    "many shards": {"shard_addresses": ["all"] * 2000},
    "a shard that is missing": {"shard_addresses": ["all", "nope"]},
}


@pytest.mark.parametrize("name", HEADERS)
def test_hostile_headers(name, tmp_path, originals):
    (data, index), change = originals[0], HEADERS[name]
    text = change if isinstance(change, bytes) else {**header_of(data), **change}
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "all").write_bytes(with_header(data, text))
    (folder / "all.db").write_bytes(index)
    before = time.monotonic()
    for read in (use, lambda path: mr.FileWriter.open_for_append(path)):
        with pytest.raises(RuntimeError):
            read(str(folder / "all"))
    assert time.monotonic() - before < MOST_SECONDS
    assert {p.name for p in tmp_path.iterdir()} == {"inner"}


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT "
COLUMNS = (
    "ROW_ID, PAGE_ID_RAW, PAGE_OFFSET_RAW, PAGE_OFFSET_RAW_END, ROW_GROUP_ID, PAGE_ID_BLOB, "
    "PAGE_OFFSET_BLOB, PAGE_OFFSET_BLOB_END"
)
INDEXES = {
    "no table": "DROP TABLE INDEXES",
    "an endless view": f"""
        DROP TABLE INDEXES;
        CREATE VIEW INDEXES AS {ENDLESS} {", ".join(f"x AS {c}" for c in COLUMNS.split(", "))}
        FROM c""",
    "a view of the name": f"""
        DROP TABLE SHARD_NAME;
        CREATE VIEW SHARD_NAME AS {ENDLESS} x AS NAME FROM c""",
    "a virtual table": f"""
        DROP TABLE INDEXES;
        CREATE VIRTUAL TABLE INDEXES USING fts5({COLUMNS})""",
    "a huge generated value": f"""
        DROP TABLE INDEXES; CREATE TABLE INDEXES({COLUMNS.replace("PAGE_ID_RAW",
        "PAGE_ID_RAW AS (length(hex(zeroblob(9000000))))")});
        INSERT INTO INDEXES VALUES(0,0,9,0,0,0,9)""",
    "texts": "UPDATE INDEXES SET PAGE_ID_RAW = 'a'",
    "reals": "UPDATE INDEXES SET PAGE_ID_RAW = 0.5",
    "blobs": "UPDATE INDEXES SET PAGE_ID_RAW = x'00'",
    "pages that are not": "UPDATE INDEXES SET PAGE_ID_BLOB = 7",
    "negative pages": "UPDATE INDEXES SET PAGE_ID_BLOB = -1",
    "huge pages": "UPDATE INDEXES SET PAGE_ID_BLOB = 9223372036854775807",
    "negative offsets": "UPDATE INDEXES SET PAGE_OFFSET_RAW = -9",
    "offsets beyond": "UPDATE INDEXES SET PAGE_OFFSET_RAW_END = 9223372036854775807",
    "rows out of order": "UPDATE INDEXES SET ROW_ID = 100 WHERE ROW_ID = 1",
    "too few rows": "DELETE FROM INDEXES WHERE ROW_ID = 10",
    "another row's place": "UPDATE INDEXES SET PAGE_OFFSET_RAW = 1 WHERE ROW_ID = 0",
    "another name": "UPDATE SHARD_NAME SET NAME = '../all'",
    "two names": "INSERT INTO SHARD_NAME VALUES('all')",
    "no index field": "ALTER TABLE INDEXES RENAME COLUMN i_0 TO j_0",
    "blobs in an index field": "UPDATE INDEXES SET i_0 = x'00'",
}  # fmt: skip


@pytest.mark.parametrize("name", INDEXES)
def test_hostile_indexes(name, tmp_path, originals):
    data, index = originals[0]
    (tmp_path / "all").write_bytes(data)
    (tmp_path / "all.db").write_bytes(index)
    database = sqlite3.connect(tmp_path / "all.db")
    database.executescript(INDEXES[name])
    database.commit()
    database.close()
    kept = (tmp_path / "all.db").read_bytes()
    before = time.monotonic()
    tracemalloc.start()
    try:
        with pytest.raises(RuntimeError):
            use(str(tmp_path / "all"))
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
    assert time.monotonic() - before < MOST_SECONDS
    assert (tmp_path / "all.db").read_bytes() == kept
    assert sorted(p.name for p in tmp_path.iterdir()) == ["all", "all.db"]


def test_appending_runs_nothing_of_an_index(tmp_path, originals):
    data, index = originals[0]
    path = tmp_path / "all"
    path.write_bytes(data)
    (tmp_path / "all.db").write_bytes(index)
    database = sqlite3.connect(tmp_path / "all.db")
    database.executescript(
        "CREATE TRIGGER t AFTER INSERT ON INDEXES BEGIN DELETE FROM INDEXES; END"
    )
    database.close()
    row = cases.rows(mr.FileReader(str(path)))[0]
    writer = mr.FileWriter.open_for_append(str(path))
    writer.write_raw_data([{**row, "f": 0.5}])
    writer.commit()
    assert len(cases.rows(mr.FileReader(str(path)))) == 12
    database = sqlite3.connect(tmp_path / "all.db")
    assert not database.execute("SELECT * FROM sqlite_master WHERE type = 'trigger'").fetchall()
    database.close()


def test_a_file_that_shrinks_while_it_is_read(tmp_path, originals):
    data, index = originals[0]
    path = tmp_path / "all"
    path.write_bytes(data)
    (tmp_path / "all.db").write_bytes(index)
    reader = mr.FileReader(str(path))
    os.truncate(path, HEADER)
    with pytest.raises(RuntimeError, match="cut off"):
        list(reader.get_next())
    reader.close()


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "a")
    with pytest.raises(RuntimeError, match="regular file"):
        mr.FileReader([str(tmp_path / "a")])
