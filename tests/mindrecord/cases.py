# ruff: noqa: E501  (one line of data a case)
"""Programs that write and read MindRecord files, alike under MindSpore and under MindJAX.

They use ``mr`` (mindrecord), ``ds`` (dataset), ``np``, and the names of `scope`.
"""

import hashlib
import itertools
import os
import sqlite3

import numpy as np

ALL = {
    "b": {"type": "bytes"},
    "d": {"type": "float64"},
    "f": {"type": "float32"},
    "i": {"type": "int32"},
    "l": {"type": "int64"},
    "s": {"type": "string"},
    "x": {"type": "int32", "shape": [-1]},
    "y": {"type": "int64", "shape": [2, -1]},
    "z": {"type": "float64", "shape": [2]},
    "w": {"type": "float32", "shape": [-1, 2]},
}


def all_kinds(count, seed=0):
    """Make rows of every kind of field, with numbers of every width and blobs of any size."""
    rng = np.random.RandomState(seed)
    rows = []
    for _ in range(count):
        wide = rng.randint(-(2**62), 2**62, (2, rng.randint(9))) >> rng.randint(0, 62, (2, 1))
        number = rng.randint(-(2**31), 2**31, rng.randint(9)) >> rng.randint(30)
        rows.append(
            {
                "b": b"y" * rng.randint(9000),
                "d": float(rng.rand()),
                "f": float(rng.randint(9) / 4),
                "i": int(rng.randint(-(2**31), 2**31) >> rng.randint(30)),
                "l": int(rng.randint(-(2**62), 2**62) >> rng.randint(60)),
                "s": "xé" * rng.randint(3000),
                "x": number.astype(np.int32),
                "y": wide,
                "z": rng.rand(2),
                "w": rng.rand(rng.randint(3), 2).astype(np.float32),
            }
        )
    return rows


def only(*names, rows):
    """Keep some fields of rows."""
    return [{name: row[name] for name in names} for row in rows]


# name -> (schema, index fields or None, number of files, calls' rows, calls' rows after each reopening)
FILES = {
    "all kinds": (ALL, None, 1, [all_kinds(4, 1), all_kinds(5, 2)], []),
    "index fields": (ALL, ["s", "i", "f"], 1, [all_kinds(4, 3)], []),
    "bytes alone": ("b", None, 1, [[{"b": b"a"}, {"b": b"bc\0\0"}]], []),
    "an array alone": ("x", None, 1, [[{"x": np.array([1, -200, 70000, 2**31 - 1], np.int32)}, {"x": np.array([0], np.int32)}]], []),
    "no blob": ("is", None, 1, [[{"i": 1, "s": "it's é"}, {"i": -5, "s": ""}]], []),
    "numbers": ("dfil", None, 1, [[{"d": v, "f": v, "i": i, "l": i} for v, i in zip((0.0, -0.0, 0.1, 2.5, 1e20, 3e9, -1e300, 1e-320), (0, 127, 128, -1, -32, -33, -32769, 2**31 - 1), strict=True)]], []),
    "numbers of numpy": ("dfil", None, 1, [[{"d": np.float64(0.1), "f": np.float32(0.1), "i": np.int32(7), "l": np.int64(2**40)}]], []),
    "rows that do not fit": ("is", None, 1, [[{"i": 1, "s": "a"}, {"i": 1.0, "s": "a"}, {"i": True, "s": "a"}, {"i": 1}, {"i": np.int64(1), "s": "a"}, {"i": 2, "s": b"a"}, {"i": 3, "s": "b", "other": 1}]], []),
    "packing makes longer": ("y", None, 1, [[{"y": np.full((2, 5), 2**62)}]], []),
    "no rows": ("is", None, 1, [], []),
    "many pages": ("sb", None, 1, [only("s", "b", rows=all_kinds(7, seed)) for seed in range(5)], []),
    "raw pages": ("s", None, 1, [[{"s": "x" * 9000} for _ in range(10)]], []),
    "a row of a page": ("b", None, 1, [[{"b": b"x" * (32768 - 8)}, {"b": b"y"}]], []),
    "appended": ("sb", None, 1, [only("s", "b", rows=all_kinds(3, 9))], [only("s", "b", rows=all_kinds(n, n)) for n in (1, 4, 6)]),
    "appended kinds": (ALL, ["l"], 1, [all_kinds(5, 10)], [all_kinds(6, 11)]),
    "files": ("ib", None, 3, [[{"i": i, "b": bytes([65 + i])} for i in range(9)], [{"i": i, "b": b"z"} for i in range(6)]], []),
}  # fmt: skip


def write(mr, folder, name):
    """Write the files of a case; gives their paths."""
    fields, index, shards, calls, later = FILES[name]
    path = os.path.join(folder, f"{name.replace(' ', '_')}.mindrecord")
    writer = mr.FileWriter(path, shards)
    writer.add_schema({f: ALL[f] for f in fields} if isinstance(fields, str) else fields, name)
    if index:
        writer.add_index(index)
    writer.set_page_size(1 << 15)
    writer.set_header_size(1 << 14)
    for rows in calls:
        writer.write_raw_data([dict(row) for row in rows])
    writer.commit()
    for rows in later:
        writer = mr.FileWriter.open_for_append(path)
        writer.write_raw_data([dict(row) for row in rows])
        writer.commit()
    return [path] if shards == 1 else [f"{path}{place}" for place in range(shards)]


def digests(paths):
    """Describe files by their bytes, and their indexes by all they hold."""
    found = []
    for path in paths:
        with open(path, "rb") as file:
            data = hashlib.md5(file.read()).hexdigest()
        database = sqlite3.connect(path + ".db")
        index = hashlib.md5("\n".join(database.iterdump()).encode()).hexdigest()
        database.close()
        found.append([os.path.getsize(path), data, index, oct(os.stat(path).st_mode)])
    return found


READ = (
    "all kinds",
    "bytes alone",
    "an array alone",
    "no blob",
    "numbers of numpy",
    "many pages",
    "appended kinds",
    "files",
)


def plain(value):
    """Turn what readers give into what JSON keeps."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, bytes):
        return ["bytes", value.decode("latin-1")[:40], len(value)]
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "U":
            return ["text", list(value.shape), str(value)[:40]]
        digest = hashlib.md5(np.ascontiguousarray(value).tobytes()).hexdigest()[:8]
        return [value.dtype.name if value.dtype.kind != "S" else "bytes", list(value.shape), digest]
    return value[:40] if isinstance(value, str) else value


def rows(reader, count=None):
    """Read all rows of a FileReader."""
    found = list(itertools.islice(reader.get_next(), count))
    reader.close()
    return found


def numbers(dataset):
    """Give the size of a dataset and its first column's values."""
    read = [
        row[0].tolist() for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
    ]
    return [dataset.get_dataset_size(), read]


def columns(dataset, row=0):
    """Give the column names and one row."""
    read = list(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True))
    return [dataset.get_col_names(), read[row]]


def with_child(sampler, child):
    """Let a sampler choose among another one's rows."""
    sampler.add_child(child)
    return sampler


def paged(mr, path, field):
    """Open pages of a field's groups."""
    page = mr.MindPage(path)
    page.category_field = field
    return page


def blocks(make):
    """Make something while shards are cut by blocks."""
    os.environ["MS_DEV_MINDRECORD_SHARD_BY_BLOCK"] = "True"
    try:
        return make()
    finally:
        del os.environ["MS_DEV_MINDRECORD_SHARD_BY_BLOCK"]


def write_sources(mr, folder):
    """Write what the expressions read: ``m`` in three files of four rows, ``s`` in one of nine."""
    schema = {
        "id": {"type": "int64"},
        "name": {"type": "string"},
        "f": {"type": "float32"},
        "d": {"type": "float64"},
        "i": {"type": "int32"},
        "x": {"type": "int32", "shape": [-1]},
        "b": {"type": "bytes"},
    }
    for name, shards, count in (("m", 3, 12), ("s", 1, 9)):
        writer = mr.FileWriter(os.path.join(folder, name), shards)
        writer.set_page_size(1 << 15)
        writer.set_header_size(1 << 14)
        writer.add_schema(schema, "d")
        writer.add_index(["id", "name", "i"])
        writer.write_raw_data(
            [
                {
                    "id": i,
                    "name": f"n{i % 3}",
                    "f": i / 3,
                    "d": i / 7,
                    "i": i % 3,
                    "x": np.arange(i % 4, dtype=np.int32) * 100,
                    "b": bytes([65 + i % 26] * (i % 5 + 1)),
                }
                for i in range(count)
            ]
        )
        writer.commit()


def scope(mr, ds, folder):
    """Give the names that expressions use."""
    m, s = os.path.join(folder, "m0"), os.path.join(folder, "s")

    def md(files=m, names=("id",), **kwargs):
        kwargs.setdefault("shuffle", None if "sampler" in kwargs else False)
        return ds.MindDataset(files, list(names) if names else None, **kwargs)

    return {
        "mr": mr, "ds": ds, "np": np, "m": m, "s": s, "md": md, "rows": rows, "numbers": numbers,
        "columns": columns, "with_child": with_child, "blocks": blocks, "out": os.path.join(folder, "out"),
        "paged": lambda path, field: paged(mr, path, field), "folder": folder,
        "files": lambda *places: [m[:-1] + str(place) for place in places],
        "writer": lambda *schema, **kw: written(mr, os.path.join(folder, "out"), *schema, **kw),
    }  # fmt: skip


def written(mr, path, fields="i", data=(), index=None, **kwargs):
    """Write rows of some fields in one call, over what was there."""
    writer = mr.FileWriter(path, overwrite=True)
    writer.add_schema(fields if isinstance(fields, dict) else {f: ALL[f] for f in fields})
    if index:
        writer.add_index(index)
    writer.set_page_size(1 << 15)
    writer.write_raw_data(list(data), **kwargs)
    writer.commit()


VALUES = [
    "rows(mr.FileReader(s))",
    "[r['id'] for r in rows(mr.FileReader(m))]",
    "[r['id'] for r in rows(mr.FileReader(files(2, 0)))]",
    "rows(mr.FileReader(s, columns=['name', 'id']))",
    "rows(mr.FileReader(s, columns=['x', 'f']))",
    "rows(mr.FileReader(s, 1, ['id']))",
    "mr.FileReader(s).schema()",
    "mr.FileReader(m).len()",
    "mr.FileReader(files(1)).len()",
    "numbers(md())",
    "numbers(md(files(1, 0)))",
    "columns(md(s, None), 1)",
    "columns(md(s, ['name', 'id', 'b']), 2)",
    *[f"numbers(md(num_shards={n}, shard_id={k}))" for n in (2, 3, 5) for k in range(n)],
    *[f"blocks(lambda: numbers(md(num_shards={n}, shard_id={k})))" for n in (3, 5) for k in range(n)],
    "numbers(md(num_shards=20, shard_id=13))",
    "numbers(md(num_samples=5))",
    "numbers(md(num_samples=50))",
    "numbers(md(num_samples=0))",
    "numbers(md(num_samples=2, num_shards=2, shard_id=1))",
    "numbers(md(sampler=ds.SequentialSampler(3, 4)))",
    "numbers(md(sampler=ds.SequentialSampler(13, 4)))",
    "numbers(md(sampler=ds.SequentialSampler(10, 4)))",
    "numbers(md(sampler=ds.SubsetSampler([3, 1, 7])))",
    "numbers(md(sampler=ds.SubsetSampler([3, 3, 3])))",
    "numbers(md(sampler=ds.DistributedSampler(5, 2, shuffle=False)))",
    "numbers(md(sampler=ds.DistributedSampler(5, 2, shuffle=False, num_samples=1)))",
    *[f"numbers(md(sampler=ds.DistributedSampler({n}, {k}, shuffle=False, offset={o})))" for n, k, o in ((5, 2, 1), (5, 0, 3), (5, 4, 0), (3, 1, 2))],
    "numbers(md(sampler=with_child(ds.SequentialSampler(2, 8), ds.SequentialSampler(1, 9))))",
    "numbers(md(sampler=with_child(ds.SubsetSampler([2, 0]), ds.DistributedSampler(3, 1, shuffle=False))))",
    "numbers(md(padded_sample={'id': -1}, num_padded=3))",
    *[f"numbers(md(padded_sample={{'id': -1}}, num_padded=3, num_shards=5, shard_id={k}))" for k in range(5)],
    "columns(md(names=['x', 'b', 'f'], padded_sample={'x': np.array([7, 8], np.int32), 'b': b'PP', 'f': 1.5}, num_padded=1), -1)",
    "columns(md(names=['name', 'i'], padded_sample={'name': 'zz', 'i': 3}, num_padded=1), -1)",
    "[md(names=['id', 'name'])[4], md()[0]]",
    "numbers(md().batch(5))",
    "numbers(md().repeat(2).skip(20))",
    "mr.MindPage(m).candidate_fields",
    "paged(s, 'name').category_field",
    "paged(s, 'name').read_category_info()",
    "paged(m, 'name').read_category_info()",
    "paged(m, 'id').read_category_info()",
    "paged(s, 'i').read_category_info()",
    "paged(s, 'name').read_at_page_by_id(1, 0, 2)",
    "paged(s, 'name').read_at_page_by_id(1, 1, 2)",
    "[r['id'] for r in paged(m, 'name').read_at_page_by_id(1, 0, 10)]",
    "[r['id'] for r in paged(files(0), 'name').read_at_page_by_id(1, 0, 10)]",
    "[r['id'] for r in paged(m, 'name').read_at_page_by_name('n2', 0, 10)]",
    "[r['id'] for r in paged(s, 'i').read_at_page_by_name('2', 0, 10)]",
    "[int(mr.SUCCESS), int(mr.FAILED)]",
    "[mr.ParamValueError('x').error_code, mr.MRMOpenError().error_code, mr.UnknownError().error_code, mr.MRMInvalidSchemaError('x').error_code]",
    "[str(e) for e in (mr.ParamValueError('x'), mr.ParamTypeError('a', 'int'), mr.ParamMissError('a'), mr.PathNotExistsError('p'), mr.MRMCommitError(), mr.MRMDefineIndexError('d'))]",
]  # fmt: skip

# expression -> words that the original's message has
ERRORS = {
    "mr.FileReader(s, columns=['zz'])": "column name: zz can not found in schema",
    "mr.FileReader(s, columns=('x',))": "'columns' expect list",
    "mr.FileReader(folder + '/nope')": "is not exists",
    "mr.FileReader(s, 0)": "num_consumer: 0 should between",
    "mr.FileReader(s, 99999)": "num_consumer: 99999 should between",
    "mr.FileReader(s, 'a')": "num_consumer is not int",
    "mr.FileReader(s, None)": "num_consumer is None",
    "mr.FileReader(folder + '/s?')": "should not contains",
    "mr.FileReader('')": "not allowed None or empty",
    "md(names=['id', 'id']).get_dataset_size()": "duplicate column names are not allowed: id",
    "numbers(md(names=['zz']))": "column name: zz can not found",
    "md(num_samples=-1)": "num_samples exceeds the boundary",
    "md(shuffle=ds.Shuffle.INFILE, num_samples=2)": "cannot be specified at the same time",
    "numbers(md(s, sampler=ds.PKSampler(2, class_column='zz')))": "'class_column': zz can not found",
    "numbers(md(s, sampler=ds.PKSampler(2, class_column='f')))": "'class_column': f can not found",
    "numbers(md(s, sampler=ds.SubsetSampler(list(range(9)) + [0])))": "should be less than or equal to database size",
    "md(sampler=ds.WeightedRandomSampler([1] * 12))": "not supported yet",
    "md(sampler=[1, 2])": "not supported yet",
    "md(sampler=ds.SequentialSampler(), shuffle=True)": "sampler and shuffle cannot be specified",
    "md(sampler=ds.SequentialSampler(), num_shards=2, shard_id=0)": "sampler and sharding cannot be specified",
    "md(sampler=ds.SequentialSampler(), num_samples=3)": "sampler and num_samples cannot be specified",
    "numbers(md(padded_sample={'id': -1}, num_padded=2, num_shards=5, shard_id=0))": "can not be divisible",
    "md(names=None, padded_sample={'id': -1}, num_padded=2)": "requires columns_list as well",
    "md(names=['id', 'name'], padded_sample={'id': -1}, num_padded=2)": "cannot match columns_list",
    "md(padded_sample={'id': -1})": "requires num_padded as well",
    "md(num_padded=2)": "padded_sample is not",
    "md(padded_sample={'id': -1}, num_padded=-1)": "num_padded is invalid",
    "md(shard_id=0)": "shard_id is specified but num_shards is not",
    "md(num_shards=2)": "requires shard_id as well",
    "md(num_shards=2, shard_id=2)": "shard_id is not within",
    "md(folder + '/nope')": "does not exist or permission denied",
    "md(folder)": "does not exist or permission denied",
    "md(3)": "is not string",
    "ds.MindDataset(m, 'id')": "is not of type",
    "md(shuffle=3)": "shuffle must be of boolean or enum",
    "md(num_parallel_workers=0)": "num_parallel_workers exceeds the boundary",
    "md([]).get_dataset_size()": "dataset files list is empty",
    "md()[40]": "not within the required interval of [0, 11]",
    "md()[-1]": "index cannot be negative",
    "mr.MindPage(m).read_category_info()": "field: is invalid",
    "paged(s, 'zz')": "not a candidate category field",
    "paged(s, 3)": "'category_fields' expect str",
    "paged(s, 'name').read_at_page_by_id(-1, 0, 1)": "Category id should be int",
    "paged(s, 'name').read_at_page_by_id(0, -1, 1)": "Page should be int",
    "paged(s, 'name').read_at_page_by_id(0, 0, 0)": "num_row should be int",
    "paged(s, 'name').read_at_page_by_id(77, 0, 1)": "category_id: 77 must be in the range",
    "paged(s, 'name').read_at_page_by_id(1, 9, 2)": "page no: 9",
    "paged(s, 'name').read_at_page_by_name(3, 0, 1)": "Category name should be str",
    "paged(s, 'name').read_at_page_by_name('zz', 0, 1)": "category_name: zz could not found",
    "mr.FileWriter('')": "not allowed None or empty",
    "mr.FileWriter(3)": "is not string",
    "mr.FileWriter(folder + '/')": "can not end with",
    "mr.FileWriter(folder + '/a:b')": "should not contains",
    "mr.FileWriter(folder + '/ a')": "should not start/end with space",
    "mr.FileWriter(out, 0)": "should between 1 and 1000",
    "mr.FileWriter(out, 1001)": "should between 1 and 1000",
    "mr.FileWriter(out, 'a')": "shard_num's type is not int",
    "mr.FileWriter(out, None)": "shard_num is None",
    "mr.FileWriter(out, 1, 1)": "overwrite's type is not bool",
    **{f"mr.FileWriter(out).add_schema({schema})": words for schema, words in {
        "{}": "is empty",
        "[1]": "should be dict",
        "{'a b': {'type': 'int32'}}": "should be composed of",
        "{'a': {}}": "should be dict",
        "{'a': 'int32'}": "should be dict",
        "{'a': {'type': 'int16'}}": "illegal attribute 'int16'",
        "{'a': {'type': 'string', 'shape': [1]}}": "illegal attribute 'string'",
        "{'a': {'type': 'int32', 'shape': 3}}": "illegal attribute '3'",
        "{'a': {'type': 'int32', 'x': [1]}}": "illegal attributes",
        "{'a': {'type': 'int32', 'shape': [1], 'z': 1}}": "illegal attributes",
        "{'a': {'type': 'int32', 'shape': [-1, -1]}}": "Failed to build schema",
        "{'a': {'type': 'int32', 'shape': [0, 3]}}": "Failed to build schema",
        "{1: {'type': 'int32'}}": "expected string",
    }.items()},
    "mr.FileWriter(out).add_index(['a'])": "Failed to get meta info",
    **{f"mr.FileWriter(out).set_page_size({size})": words for size, words in {
        "0": "should be in range", "1 << 14": "should be in range", "(1 << 28) + 4": "should be in range", "(1 << 15) + 1": "divided by four", "'a'": "", "-1": "",
    }.items()},
    "mr.FileWriter(out).set_header_size(1 << 13)": "should be in range",
    "mr.FileWriter(out).set_header_size((1 << 14) + 1)": "divided by four",
    "mr.FileWriter(out).write_raw_data([{'i': 1}])": "schema is not found in header",
    "writer('ib', [{'i': 1, 'b': b'x'}], ['b'])": "not primitive type",
    "writer('i', [{'i': 1}], ['zz'])": "zz can not found in schema",
    "writer('i', [{'i': 1}], ['i', 'i'])": "added repeatedly",
    "writer('i', [{'i': 1}], 'i')": "'index_fields' expect list",
    "writer('i', [{'i': 1}], [3])": "'index field' expect str",
    "writer('i', [])": "There is no valid data",
    "writer('i', [{'j': 3}])": "There is no valid data",
    "writer('i', [3])": "'raw_data item' expect dict",
    "writer('b', [{'b': b'x' * 40000}])": "too small to save a blob row",
    "writer('s', [{'s': 'x' * 40000}])": "too small to save a raw row",
    "writer('b', [{'b': b''}])": "",
    "writer('l', [{'l': 2 ** 64}])": "",
    "writer('i', [{'i': 1}], parallel_writer=3)": "must be bool",
    "mr.FileWriter.open_for_append(folder + '/nope')": "is not exists",
    "mr.FileWriter.open_for_append('')": "not allowed None or empty",
    "mr.set_enc_key(3)": "is not str",
    "mr.set_enc_key('a')": "is not 16, 24, 32",
    "mr.set_enc_mode('AES-CBC')": "enc_mode is invalid",
    "mr.set_dec_mode('x')": "dec_mode is invalid",
}  # fmt: skip
