# ruff: noqa: E501  (one line of data a case)
"""Files of public formats, written by code, and programs that read them under both libraries.

Each is an expression over ``ds``, ``ms``, ``np`` and ``HELPERS``.
"""

import gzip
import pathlib
import struct
import zlib

import numpy as np

from tests.dataset import text_sets

_TABLE = []
for _byte in range(256):
    for _ in range(8):
        _byte = _byte >> 1 ^ (0x82F63B78 if _byte & 1 else 0)
    _TABLE.append(_byte)


def checksum(data):
    """The masked CRC-32C of TFRecord files."""
    state = 0xFFFFFFFF
    for byte in data:
        state = _TABLE[(state ^ byte) & 255] ^ state >> 8
    state ^= 0xFFFFFFFF
    return struct.pack("<I", ((state >> 15 | state << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data):
    """A record of a TFRecord file."""
    length = struct.pack("<Q", len(data))
    return length + checksum(length) + data + checksum(data)


def varint(value):
    """A varint of protobuf."""
    value &= (1 << 64) - 1
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def block(field, data):
    """A field of bytes of protobuf."""
    return varint(field << 3 | 2) + varint(len(data)) + data


def feature(values, packed):
    """A ``tf.train.Feature``."""
    if values and isinstance(values[0], bytes):
        return block(1, b"".join(block(1, value) for value in values))
    if values and isinstance(values[0], float):
        parts = [struct.pack("<f", value) for value in values]
        return block(
            2, block(1, b"".join(parts)) if packed else b"".join(b"\x0d" + p for p in parts)
        )
    parts = [varint(value) for value in values]
    return block(3, block(1, b"".join(parts)) if packed else b"".join(b"\x08" + p for p in parts))


def example(row, packed=True):
    """A ``tf.train.Example``."""
    entries = [block(1, name.encode()) + block(2, feature(v, packed)) for name, v in row.items()]
    return block(1, b"".join(block(1, entry) for entry in entries))


def records(rows, packed=True):
    """The bytes of a TFRecord file."""
    return b"".join(record(example(row, packed)) for row in rows)


def write_records(folder):
    """Write TFRecord files, good ones and damaged ones."""
    folder.mkdir()
    first = 0
    for name, count in (("a", 3), ("b", 5), ("c", 2)):
        rows = [
            {"i": [n, -1], "f": [n / 2], "s": [b"x%d" % n], "many": [b"ab", b"c"]}
            for n in range(first, first + count)
        ]
        data = records(rows)
        (folder / f"{name}.rec").write_bytes(data)
        (folder / f"{name}.gz").write_bytes(gzip.compress(data))
        (folder / f"{name}.zl").write_bytes(zlib.compress(data))
        first += count
    good = (folder / "a.rec").read_bytes()
    third = len(good) // 3
    rows = [
        {
            "many": [b"ab", b"c"],
            "v": [1.5, 2.5, 3.5, 4.5],
            "one": [b"abcd"],
            "i": [1],
            "none": [0][:0],
        },
        {
            "many": [b"xyz", b"pq", b"r"],
            "v": [1.5, -2.5],
            "one": [b"abcdefgh"],
            "i": [-(1 << 63)],
            "none": [5],
        },
    ]
    files = {
        "x.rows": records(rows),
        "open.rows": records(rows, packed=False),
        "head.bad": good[:8] + bytes(4) + good[12:],
        "cut.bad": good[:-20],
        "empty.bad": b"",
        "short.bad": good[:5],
        "size.bad": good[:third] + b"\xff" * 8 + good[third + 8 :],
        "missing.bad": records([{"i": [1, 2], "f": [1.0]}, {"f": [2.0]}]),
        "type.bad": records([{"i": [1, 2]}, {"i": [2.0]}]),
        "garbage.bad": record(b"\xff\xff\xff"),
        "sum.bad": good[:-1] + b"\0",
        "later.bad": good[: third + 8] + bytes(4) + good[third + 12 :],
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)


def write(folder):
    """Write all files; gives the folder."""
    folder = pathlib.Path(folder)
    write_records(folder / "tf")
    (folder / "rows.json").write_text(
        '{"datasetType": "TF", "numRows": 3, "columns": {"i": {"type": "int64", "rank": 1, "shape": [2]}, "f": {"type": "float32", "rank": 1}}}'
    )
    (folder / "list.json").write_text('{"columns": [{"name": "v", "type": "float32", "rank": 1}]}')
    (folder / "rankless.json").write_text('{"columns": {"v": {"type": "float32"}}}')
    (folder / "other.json").write_text('{"zz": 3, "columns": {}}')
    (folder / "nothing.json").write_text("{ nope")
    (folder / "settings.json").write_text(
        '{"logFilePath": "/tmp", "numParallelWorkers": 2, "seed": 77, "monitorSamplingInterval": 30, "opConnectorSize": 9}'
    )
    (folder / "wrong.json").write_text('{"seed": "a"}')
    text_sets.write(folder)


HELPERS = """
def tf(name, *columns, **more):
    schema = None
    if columns and not isinstance(columns[0], str):
        schema = ds.Schema()
        for column in columns: schema.add_column(*column)
    elif columns: schema = folder + "/" + columns[0]
    return ds.TFRecordDataset(folder + "/tf/" + name, schema, shuffle=False, **more)
def schema(*columns):
    made = ds.Schema()
    for column in columns: made.add_column(*column)
    return made
def parsed(columns):
    made = ds.Schema()
    made.parse_columns(columns)
    return made.to_json()
def taken(content):
    made = ds.Schema()
    made.from_json(content)
    return made.to_json(), ds.Schema.get_num_rows(made)
def counted(*args): return ds.NumpySlicesDataset({"x": np.arange(8)}, shuffle=False)
count = [0]
def saved(data, files=1):
    count[0] += 1
    path = folder + "/saved%d" % count[0]
    data.save(path, files)
    read = ds.MindDataset(path if files == 1 else path + "0", shuffle=False)
    rows = list(read.create_dict_iterator(num_epochs=1, output_numpy=True))
    values = [[(name, str(v.dtype.kind), v.tolist()) for name, v in row.items()] for row in rows]
    return str(sorted(map(repr, values)) if files > 1 else values)
class Policy:
    loss = 0
    def use(self, x): return x + self.loss
    def update(self, data): self.loss = data
def synced(size):
    policy = Policy()
    data = counted().sync_wait("p", callback=policy.update).map(policy.use).batch(size)
    found = []
    for turn, row in enumerate(data.create_tuple_iterator(num_epochs=1, output_numpy=True)):
        found.append(row[0].tolist())
        data.sync_update("p", data=100 * (turn + 1))
    return found
def events(step_size, epochs, repeats=None):
    class Log(ds.DSCallback):
        log = []
        def note(self, name, c): self.log.append((name, c.cur_epoch_num, c.cur_step_num_in_epoch, c.cur_step_num))
        def ds_begin(self, c): self.note("begin", c)
        def ds_epoch_begin(self, c): self.note("epoch begin", c)
        def ds_epoch_end(self, c): self.note("epoch end", c)
        def ds_step_begin(self, c): self.note("step begin", c)
        def ds_step_end(self, c): self.note("step end", c)
    log = Log(step_size)
    data = ds.NumpySlicesDataset([1, 2, 3], "x", shuffle=False).map(lambda x: x, callbacks=log)
    data = data.repeat(repeats) if repeats else data
    rows = data.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    for _ in range(epochs): list(rows)
    # Ends of steps come when the original's threads meet them.
    return [e for e in log.log if e[0] != "step end"], [e for e in log.log if e[0] == "step end"]
class Nothing(ds.DSCallback): pass
def waited(size):
    log = []
    class Waited(ds.WaitedDSCallback):
        def sync_epoch_begin(self, t, c): log.append(("epoch", c.cur_epoch_num, c.cur_step_num, t.original_args().cur_epoch_num))
        def sync_step_begin(self, t, c): log.append(("step", c.cur_epoch_num, c.cur_step_num, t.original_args().cur_step_num))
    class Trained(ms.Callback):
        def on_train_epoch_end(self, c): log.append(("trained epoch", c.original_args().cur_epoch_num))
        def on_train_step_end(self, c): log.append(("trained step", c.original_args().cur_step_num))
    class Net(ms.nn.Cell):
        def construct(self, x, y): return x
    waited = Waited(size)
    data = ds.NumpySlicesDataset((np.arange(4), np.arange(4)), ["a", "b"], shuffle=False)
    data = data.map(lambda x: x, callbacks=waited, num_parallel_workers=1).batch(size)
    ms.Model(Net()).train(2, data, dataset_sink_mode=False, callbacks=[Trained(), waited])
    return log
def settings(name):
    kept = [(f, getattr(ds.config, "get_" + f)()) for f in ("seed", "num_parallel_workers", "monitor_sampling_interval", "prefetch_size")]
    try:
        ds.config.load(folder + "/" + name)
        return [getattr(ds.config, "get_" + f)() for f, _ in kept]
    finally:
        for f, value in kept: getattr(ds.config, "set_" + f)(value)
def lines(text):
    with open(folder + "/lines.txt", "w", newline="") as out: out.write(text)
    return ds.utils.LineReader(folder + "/lines.txt")
"""

TYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]

# Expressions that give data sets: everything that can be asked of them is recorded.
PIPELINES = [
    *[f"tf('*.rec', num_parallel_workers={n})" for n in (1, 2)],
    "tf('*.rec', num_parallel_workers=2, num_samples=4)",
    "tf('*.rec', num_parallel_workers=1, num_samples=40)",
    *[
        f"tf('*.rec', num_parallel_workers={w}, num_shards={n}, shard_id={s}, shard_equal_rows={equal})"
        for w in (1, 2)
        for n in (2, 3)
        for s in range(n)
        for equal in (False, True)
    ],
    "tf('*.rec', num_parallel_workers=2, num_shards=2, shard_id=0, num_samples=2)",
    "tf('*.rec', num_parallel_workers=2, num_shards=2, shard_id=0, num_samples=2, shard_equal_rows=True)",
    *[
        f"tf('*.{end}', num_parallel_workers=2, compression_type='{kind}')"
        for end, kind in (("gz", "GZIP"), ("zl", "ZLIB"), ("rec", "GZIP"), ("rec", ""))
    ],
    "tf('*.gz', num_parallel_workers=1, num_shards=2, shard_id=0, compression_type='GZIP')",
    "tf('*.rec', num_parallel_workers=1, columns_list=['s', 'i'])",
    "tf('*.rec', 'rows.json', num_parallel_workers=2)",
    "tf('*.rec', 'rows.json', num_parallel_workers=1, columns_list=['f'], num_samples=5)",
    "tf('*.rows', 'list.json', num_parallel_workers=1)",
    *[f"tf('{name}.rows')" for name in ("x", "open")],
    *[
        f"tf('x.rows', {column!r})"
        for column in (
            ("many", "uint8"),
            ("many", "uint8", [-1]),
            ("many", "string"),
            ("many", "string", [-1]),
            ("v", "float32"),
            ("v", "float32", [-1, 2]),
            ("v", "float32", [2, -1]),
            ("v", "float64"),
            ("one", "uint8", [-1]),
            ("one", "string", []),
            ("i", "int64", []),
            ("i", "int32", [1, 1]),
            ("i", "int16", []),
            ("i", "uint64"),
            ("i", "bool", [1]),
            ("none", "int32"),
        )
    ],
    "tf('a.rec', ('i', 'int64', [2]), ('f', 'float32', []))",
    "tf('a.rec', ('i', ms.int64, [1, 2]), ('s', 'uint8', [2]), ('many', 'uint8', [3]))",
    *text_sets.PIPELINES,
]

# Expressions that give values in JSON's terms.
VALUES = [
    "schema(('i', 'int64', [2]), ('f', ms.float32), ('s', 'string', [])).to_json()",
    "str(schema(('a', 'int8'), ('a', 'int8')))",
    "ds.Schema.get_num_rows(folder + '/rows.json')",
    *[
        f"parsed({columns!r})"
        for columns in (
            [{"name": "a", "type": "int8", "shape": [3, 3]}, {"name": "b", "type": "int8"}],
            {"b": {"shape": [3], "type": "int8"}, "a": {"type": "float32"}},
            [{"name": "a", "type": "int8", "rank": 1}],
        )
    ],
    "taken({'datasetType': 'TF', 'numRows': 3, 'columns': {'i': {'type': 'int64', 'rank': 1, 'shape': [2]}}})",
    "taken({'columns': {'i': {'type': 'int64'}}})",
    f"saved(ds.NumpySlicesDataset({{name: np.arange(3).astype(name) for name in {TYPES}}}, shuffle=False))",
    f"saved(ds.NumpySlicesDataset({{name: np.arange(6).reshape(3, 2).astype(name) for name in {TYPES}}}, shuffle=False))",
    "saved(ds.NumpySlicesDataset({'s': ['a', 'bcd', '']}, shuffle=False))",
    "saved(ds.GeneratorDataset([np.zeros((2, 3)), np.ones((4, 3))], 'x', shuffle=False))",
    "saved(ds.GeneratorDataset([np.array(b'ab'), np.array(b'c')], 'x', shuffle=False))",
    "saved(counted().batch(2).repeat(2))",
    "saved(counted(), 3)",
    *[f"synced({size})" for size in (1, 2, 3)],
    "[counted().is_sync(), counted().sync_wait('p').is_sync()]",
    *[
        f"events({n}, {epochs}, {repeats})"
        for n, epochs, repeats in ((1, 2, None), (2, 2, None), (1, 1, 2), (5, 1, None))
    ],
    *[f"waited({size})" for size in (1, 2)],
    "settings('settings.json')",
    "[lines('a\\nbb\\r\\n\\nc')[n] for n in (1, 2, 3, 4)]",
    "len(lines('a\\n\\n')) + lines('').len()",
    "ds.transforms.not_random(len) if False else ds.vision.not_random(lambda x: x).random",
    *text_sets.VALUES,
]

# Expression -> words of its error.
ERRORS = {
    "tf('nope.rec')": "The following patterns did not match any files",
    "ds.TFRecordDataset(3)": "dataset_files should be type str or a list of strings.",
    "ds.TFRecordDataset([])": "Input dataset_files can not be empty",
    "tf('*.rec', num_shards=4, shard_id=3)": "numbers of tfrecord file should not less than num_shards",
    "tf('*.rec', num_shards=4, shard_id=4)": "Input shard_id is not within the required interval of [0, 3]",
    "tf('*.rec', num_shards=4)": "num_shards is specified and currently requires shard_id as well.",
    "tf('*.rec', shard_id=4)": "shard_id is specified but num_shards is not.",
    "ds.TFRecordDataset(folder + '/tf/a.rec', shuffle='x')": "shuffle must be of boolean or enum of 'Shuffle' values",
    "tf('*.zl', compression_type='')": "either cannot be opened, or are not valid TFRecordDataset files",
    "tf('*.rec', compression_type='BZ')": "compression_type can only be either '' (no compression), 'ZLIB', or 'GZIP', but got 'BZ'",
    "tf('a.gz', compression_type='GZIP', num_shards=2, shard_id=0, num_samples=2)": "the number of dataset files cannot be less than num_shards",
    "tf('*.rec', num_samples=-1)": "num_samples exceeds the boundary",
    "tf('*.rec', columns_list=['zz'])": "Invalid columns_list, tfrecord file failed to find column name: zz",
    "tf('*.rec', 'rows.json', columns_list=['s'])": "failed to find column: s in JSON schema file",
    "tf('*.rec', 'nope.json')": "does not exist or permission denied!",
    "ds.TFRecordDataset(folder + '/tf/a.rec', 3)": "path: 3 is not string",
    "tf('x.rows', 'rankless.json')": '"rank" field of column v must have value >= 0',
    **{
        f"tf('{name}.bad')": "either cannot be opened, or are not valid TFRecordDataset files"
        for name in ("head", "empty", "short")
    },
    "tf('cut.bad')": "tf/cut.bad",
    "tf('size.bad')": "",
    "tf('missing.bad')": "column name: i does not exist in tfrecord file",
    "tf('type.bad')": "Invalid column type, the column type of i should be",
    "tf('garbage.bad')": "Failed to parse tfrecord file",
    "tf('missing.bad', ('i', 'int64', [2]))": "Feature name: i is required in schema but could not be found in tfrecord file.",
    **{
        f"tf('x.rows', {column!r})": f"Column shape of {column[0]} defined in schema does not match the shape actually load"
        for column in (
            ("many", "uint8", [4]),
            ("many", "uint8", [2, 3]),
            ("many", "string", [2]),
            ("v", "float32", [4]),
            ("one", "uint8", [4]),
            ("one", "uint8", []),
            ("i", "int64", [3]),
        )
    },
    "tf('x.rows', ('many', 'uint8', [-1, -1]))": "Requested shape has more than one unknown dimension!",
    **{
        f"tf('x.rows', ({name!r}, {kind!r}))": f"The data type loaded from the example for feature name: {name} does not match the predefined type in schema"
        for name, kind in (("v", "string"), ("one", "int8"), ("one", "int16"), ("i", "string"))
    },
    "ds.Schema(folder + '/nope.json')": "does not exist or permission denied!",
    "ds.Schema(folder + '/nothing.json')": "Schema file failed to load",
    "ds.Schema(folder + '/other.json')": "Unknown field zz",
    "schema(('a', 'int65'))": "Unknown column type",
    "schema(('a', 3))": "Unknown column type",
    "schema(('a', 'int64', [2.5]))": "Argument shape[0] with value 2.5 is not of type",
    "schema(('a', ms.float32, (2,)))": "Argument shape with value (2,) is not of type",
    "schema((3, 'int8'))": "Argument name with value 3 is not of type",
    "parsed([{'type': 'int8'}])": "Column's name is missing",
    "parsed([{'name': 'x'}])": "Column's type is missing",
    "parsed({'a': {'shape': [1]}})": "Column's type is missing",
    "parsed('x')": "columns must be dict or list, columns contain name, type, shape(optional).",
    "taken({'datasetType': 'TF'})": '"columns" node is required in the schema',
    "taken({'columns': {}})": "Columns are missing",
    "taken({'columns': [{'name': 'a', 'type': 'int8'}], 'numRows': -1})": "numRows must be greater than or equal to 0",
    "ds.RandomDataset(total_rows=-1)": "'total_rows' must be greater than or equal to 0, got: -1",
    "ds.RandomDataset(total_rows='x')": "Argument total_rows with value",
    "ds.RandomDataset(3, schema(('a', 'uint8')), ['zz'])": "failed to find column: zz in JSON schema file",
    "ds.RandomDataset(3, columns_list='x')": "Argument columns_list with value",
    "counted().save('x', file_type='tfrecord')": "tfrecord dataset format is not supported.",
    "counted().save('x', 0)": "num_files should between 0 and 1000.",
    "counted().save('x', 1001)": "num_files should between 0 and 1000.",
    "counted().save(3)": "Argument file_name with value 3 is not of type",
    "counted().save('x', 'x')": "Argument num_files with value",
    "counted().save(folder + '/none/x')": "SaveToDisk failed, can not get real dataset path",
    "counted().save(folder + '/rows.json')": "already exist",
    "saved(ds.GeneratorDataset([np.zeros((2, 3)), np.ones((2, 4))], 'x', shuffle=False))": "Tensor with dynamic shape do not currently support saving.",
    "saved(ds.NumpySlicesDataset({'s': [['a', 'b']]}))": "mindrecord can not support multi-dimensional string tensor",
    "counted().sync_wait('p').sync_wait('p')": "Condition name is already in use.",
    "counted().sync_update('p')": "Condition name not found.",
    "counted().sync_wait('p').sync_update('q')": "Condition name not found.",
    "counted().sync_wait('p', 0)": "num_batch need to be greater than 0.",
    "counted().sync_wait(3)": "Argument condition_name with value 3 is not of type",
    "counted().sync_wait('p').shuffle(4)": "No shuffle after sync operators.",
    "counted().sync_wait('p').sync_update('p', 0)": "Sync_update batch size can only be positive integer, got: 0.",
    "counted().map(lambda x: x, callbacks=Nothing())": "Inheriting Callback class without overriding any methods",
    "counted().map(lambda x: x, callbacks=3)": "Argument callbacks with value 3 is not of type",
    "counted().map(lambda x: x, callbacks=[3])": "Argument callbacks[0] with value 3 is not of type",
    "Nothing('x')": "Argument step_size with value x is not of type".replace(" x ", " "),
    "Nothing(0)": "Input step_size is not within the required interval of [1, 2147483647]",
    "ds.config.set_debug_mode(True, 3)": "debug_hook_list is not a list.",
    "ds.config.set_debug_mode(True, [3])": "All items in debug_hook_list must be of type DebugHook.",
    "ds.debug.DebugHook()": "abstract class DebugHook",
    "ds.config.set_sending_batches('x')": "batch_num must be an int dtype.",
    "settings('nope.json')": "is not exist, check input path of config 'load' API.",
    **{f"settings('{name}.json')": "Client file failed to load" for name in ("nothing", "wrong")},
    "lines('a\\n')[2]": "Input line is not within the required interval of [1, 1]",
    "ds.utils.LineReader(folder + '/nope')": "does not exist.",
    "ds.utils.LineReader(folder)": "is not a regular file.",
    **text_sets.ERRORS,
}
ERRORS = {
    key: words.split("with value")[0] if words.startswith("Argument") else words
    for key, words in ERRORS.items()
}


def scope(ds, ms, folder):
    """Names that the expressions are evaluated with."""
    names = {"ds": ds, "ms": ms, "np": np, "folder": str(folder)}
    exec(HELPERS, names)
    exec(text_sets.HELPERS, names)
    return names
