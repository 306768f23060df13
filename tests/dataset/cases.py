# ruff: noqa: E501  (one line of data a case)
"""Programs of pipelines and transforms that run alike under MindSpore and under MindJAX.

Each is an expression over ``ds``, ``V`` (vision), ``T`` (transforms), ``ms`` (dtypes), ``np`` and
the names of ``inputs``.
"""

import struct

import numpy as np
from PIL import Image


def inputs():
    """Arrays and functions that the expressions use."""
    rng = np.random.RandomState(0)
    u8 = rng.randint(0, 256, (7, 9, 3)).astype(np.uint8)
    gray = rng.randint(0, 256, (28, 28, 1)).astype(np.uint8)
    f32 = rng.rand(7, 9, 3).astype(np.float32)
    return {
        "u8": u8,
        "gray": gray,
        "flat": gray[..., 0],
        "f32": f32,
        "f64": f32.astype(np.float64),
        "i16": (u8.astype(np.int16) - 100) * 7,
        "u16": u8.astype(np.uint16) * 100,
        "many": rng.randint(0, 256, (2, 6, 5, 2)).astype(np.uint8),
        "wide": rng.randint(0, 256, (10, 20, 3)).astype(np.uint8),
        "floats": np.array([1.7, -2.5, 300.2, 0.0], np.float32),
        "ints": np.array([3, 1, 3, 2], np.int32),
        "grid": np.arange(12).reshape(3, 4),
    }


def write_idx(folder, prefix, count, images=True, labels=True):
    """Write a small MNIST part: random images, labels 0, 1, 2, ..."""
    folder.mkdir(parents=True, exist_ok=True)
    pixels = np.random.RandomState(0).randint(0, 256, (count, 28, 28)).astype(np.uint8)
    if images:
        data = struct.pack(">IIII", 2051, count, 28, 28) + pixels.tobytes()
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(data)
    if labels:
        data = struct.pack(">II", 2049, count) + (np.arange(count) % 10).astype(np.uint8).tobytes()
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(data)


def write_cifar(folder):
    """Write a training batch and a test batch of CIFAR-10; the original wants 10,000 rows each."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.RandomState(0)
    for name in ("data_batch_1", "test_batch"):
        table = np.zeros((10_000, 3073), np.uint8)
        table[:4] = rng.randint(0, 256, (4, 3073))
        table[:, 0] = np.arange(10_000) % 10
        table.tofile(folder / f"{name}.bin")


# name of transform -> (transform, its input); a tuple of inputs for several columns
TRANSFORMS = [
    *[
        f"V.Resize({size}, V.Inter.{inter})({image})"
        for image in ("u8", "gray", "flat", "f32")
        for size in ("(14, 18)", "(5, 4)", "(13, 7)", "(32, 32)", "4", "20", "(28, 10)", "1")
        for inter in ("BILINEAR", "NEAREST")
    ],
    *[f"V.Resize({size})({image})" for image in ("u16", "i16", "f64") for size in (5, 11)],
    "V.Resize((5, 10))(wide)",
    "V.Resize((5, 10))(wide.astype(np.float32))",
    "V.Resize((5, 10))(wide.astype(np.int16) - 128)",
    "V.Resize((7, 9))(u8)",
    "V.Resize((9, 4))(many)",
    "V.Resize([3, 4])(u8 > 100)",
    *[f"V.Resize({size}, V.Inter.BICUBIC)(u8)" for size in ("(14, 18)", "(5, 4)", "(32, 32)", 20)],
    *[
        f"V.Rescale({pair})({image})"
        for pair in ("1 / 255.0, 0.0", "1 / 0.3081, -0.1307 / 0.3081", "2, 3")
        for image in ("u8", "f32", "f64", "i16", "flat[0]", "many")
    ],
    "V.Rescale(0.1, 0.2)(f32.astype(np.float16))",
    *[f"V.Normalize([121.0, 115.5, 100.1], [70.0, 68.2, 71.3])({x})" for x in ("u8", "f32", "f64")],
    "V.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])(f32)",
    "V.Normalize([33.3], [78.6])(gray)",
    "V.Normalize([33.3], [78.6])(flat)",
    "V.Normalize([33.3], [78.6])(u8)",
    "V.Normalize([1, 2, 3], [4, 5, 6], is_hwc=False)(u8.transpose(2, 0, 1))",
    "V.HWC2CHW()(u8)",
    "V.HWC2CHW()(flat)",
    "V.HWC2CHW()(gray)",
    *[f"V.ToTensor()({image})" for image in ("u8", "gray", "flat", "f32", "i16", "f64")],
    "V.ToTensor(np.float16)(u8)",
    "V.ToTensor(np.float64)(u8)",
    "V.ToTensor(ms.float32)(u8)",
    "V.ToTensor('float64')(flat)",
    *[
        f"V.CenterCrop({size})({x})"
        for size in (3, "(4, 12)", "(10, 11)", "(6, 2)")
        for x in ("u8", "flat[:7, :9]")
    ],
    *[
        f"V.Pad((1, 2, 3, 0), (1, 2, 3), V.Border.{mode})(u8)"
        for mode in ("CONSTANT", "EDGE", "REFLECT", "SYMMETRIC")
    ],
    "V.Pad((1, 2))(u8)",
    "V.Pad(2, 7)(flat)",
    "V.Pad(9, padding_mode=V.Border.REFLECT)(u8[:4, :4])",
    "V.Pad(9, padding_mode=V.Border.SYMMETRIC)(u8[:4, :4])",
    "V.RandomHorizontalFlip(1.0)(u8)",
    "V.RandomHorizontalFlip(1.0)(flat)",
    "V.RandomHorizontalFlip(0.0)(u8)",
    "V.RandomVerticalFlip(1.0)(u8)",
    "V.RandomCrop((7, 9))(u8)",
    "V.RandomCrop((9, 13), padding=(2, 1))(u8)",
    *[
        f"T.TypeCast(ms.{name})(floats)"
        for name in ("int32", "uint8", "int8", "int64", "float16", "float64", "bool_")
    ],
    *[f"T.TypeCast({name})(u8)" for name in ("ms.float32", "np.int32", "'int16'", "float")],
    "T.OneHot(5)(np.array(3))",
    "T.OneHot(5)(ints)",
    "T.OneHot(5)(ints.reshape(4, 1).astype(np.uint8))",
    "T.OneHot(5, 0.2)(np.array(3))",
    "T.Fill(3)(ints)",
    "T.Fill(3.7)(ints)",
    "T.Fill(300)(u8)",
    "T.Concatenate(0, np.array([9], np.int32), np.array([8], np.int32))(ints)",
    "T.Concatenate()(ints, ints)",
    "T.Duplicate()(ints)",
    *[f"T.Mask(T.Relational.{name}, 2)(ints)" for name in ("EQ", "NE", "GT", "GE", "LT", "LE")],
    "T.Mask(T.Relational.GT, 1.5, ms.int32)(floats)",
    "T.Mask(T.Relational.GT, 2.5)(ints)",
    "T.PadEnd([6], -1)(ints)",
    "T.PadEnd([2])(ints)",
    "T.PadEnd([4, 5], 7)(grid)",
    *[
        f"T.Slice({s})(grid)"
        for s in (
            "2",
            "-1",
            "[0, 2]",
            "slice(0, 2)",
            "None",
            "...",
            "..., 1",
            "[0], [1, 2]",
            "slice(0, 99)",
            "slice(0, 2), slice(1, 3)",
        )
    ],
    "T.Unique()(ints.reshape(2, 2))",
    "T.Compose([T.TypeCast(ms.int32), lambda x: x + 1])(floats)",
    "T.Compose([lambda a, b: (a + b, a), lambda c, d: c * d])(ints, ints)",
    "T.Compose([V.Resize(6), V.Rescale(0.1, 1.0), V.HWC2CHW()])(u8)",
    "T.RandomApply([lambda x: x + 1], 1.0)(ints)",
    "T.RandomChoice([lambda x: x + 1])(ints)",
    "T.RandomOrder([lambda x: x + 1, lambda x: x + 2])(ints)",
]

HELPERS = """
def slices(n=5, **kw): return ds.NumpySlicesDataset(np.arange(n), shuffle=False, **kw)
def two(): return ds.NumpySlicesDataset({"a": [1, 2], "b": [3.0, 4.0]}, shuffle=False)
def three(): return ds.NumpySlicesDataset({"a": [1, 2], "b": [3.0, 4.0], "c": [5, 6]}, shuffle=False)
def gen(source, names="x", **kw): return ds.GeneratorDataset(source, names, shuffle=False, **kw)
def ragged(): return gen([np.zeros(2), np.zeros(3)])
def counts():
    for i in range(3): yield i, float(i), [i, i]
class Rows:
    def __init__(self, n=4): self.n = n
    def __getitem__(self, i): return np.array([i, i]), np.float32(i)
    def __len__(self): return self.n
class Stream:
    def __iter__(self): self.i = 0; return self
    def __next__(self):
        self.i += 1
        if self.i > 3: raise StopIteration
        return (self.i,)
class Bad:
    def __getitem__(self, i): raise KeyError("bad")
    def __len__(self): return 2
class NoLength:
    def __getitem__(self, i): return i
class Every3(ds.Sampler):
    def __iter__(self):
        for i in range(0, 10, 3): yield i
class Plain:
    def __iter__(self): return iter([1, 2])
def boom(*_): raise ValueError("boom")
def chained(outer, inner):
    outer.add_child(inner)
    return outer
def sampled(sampler, n=6): return ds.NumpySlicesDataset(np.arange(n), sampler=sampler)
def mnist(usage=None, **kw): return ds.MnistDataset(folder + "/mnist", usage, **kw)
def used(d, sampler):
    d.use_sampler(sampler)
    return d
def added(d, sampler):
    d.add_sampler(sampler)
    return d
"""

_BUCKETS = "gen([np.arange(n) for n in (1, 5, 2, 7, 4, 3, 2, 6)]).bucket_batch_by_length(['x'], "
BUCKETS = [
    _BUCKETS + more
    for more in (
        "[3, 5], [2, 2, 3])",
        "[3, 5], [2, 2, 3], drop_remainder=True)",
        "[3, 8], [2, 3, 1], pad_to_bucket_boundary=True)",
        "[3, 8], [2, 3, 1], pad_info={'x': ([None], 5)}, pad_to_bucket_boundary=True)",
        "[4], [3, 2], lambda x: np.array(len(x) // 2, np.int32), {'x': ([None], 9)})",
        "[4], [3, 2], pad_info={'x': ([10], -1)})",
        "[2], [1, 4], pad_info={'x': ([6], 0)})",
    )
]
FILES = [
    *BUCKETS,
    "used(slices(3).concat(slices(4)), ds.DistributedSampler(2, 1, False))",
    "used(slices(3).concat(slices(4)), ds.DistributedSampler(3, 0, False))",
    *[
        f"ds.TextFileDataset([folder + '/text/2.txt', folder + '/text/1.txt'], shuffle=False{more})"
        for more in (
            "",
            ", num_samples=3",
            ", num_shards=2, shard_id=0",
            ", num_shards=2, shard_id=1",
            ", num_shards=3, shard_id=2",
            ", num_parallel_workers=1",
        )
    ],
    "ds.TextFileDataset(folder + '/text/*.txt', shuffle=False).take(2)",
    "ds.CSVDataset(folder + '/text/1.csv', shuffle=False)",
    "ds.CSVDataset(folder + '/text/1.csv', column_defaults=[0, 0.0, ''], shuffle=False)",
    "ds.CSVDataset(folder + '/text/1.csv', column_defaults=[0, 0], shuffle=False)",
    "ds.CSVDataset(folder + '/text/2.csv', ';', column_names=['x', 'y', 'z'], shuffle=False, column_defaults=[7, 0.5, 'd'])",
    "ds.ImageFolderDataset(folder + '/images', shuffle=False).project('label')",
    "ds.ImageFolderDataset(folder + '/images', shuffle=False, extensions=['.png'])",
    "ds.ImageFolderDataset(folder + '/images', shuffle=False, extensions=['.png'], decode=True, num_samples=2)",
    "ds.ImageFolderDataset(folder + '/images', sampler=[3, 0], class_indexing={'a': 7, 'b': 2}).project('label')",
    "ds.ImageFolderDataset(folder + '/images', num_shards=2, shard_id=1, shuffle=False).project('label')",
    "ds.PaddedDataset([{'x': np.zeros(1, np.uint8)}, {'x': np.ones(2, np.uint8)}])",
    "slices(4).batch(2).flat_map(lambda a: ds.NumpySlicesDataset(a * 2, shuffle=False).repeat(2))",
    "two().flat_map(lambda a, b: ds.NumpySlicesDataset((np.stack([a + 1] * 2), np.stack([b - 1] * 2)), shuffle=False))",
]

PIPELINES = [
    *FILES,
    "slices()",
    "two()",
    "ds.NumpySlicesDataset(([1, 2], [3, 4]), shuffle=False)",
    "ds.NumpySlicesDataset(([1, 2], [3, 4]), ['p', 'q'], shuffle=False)",
    "ds.NumpySlicesDataset([[1, 2], [3, 4], [5, 6]], shuffle=False)",
    "slices(num_samples=2)",
    *[f"slices(7, num_shards=3, shard_id={i})" for i in range(3)],
    "slices(7, num_shards=3, shard_id=2, num_samples=2)",
    "slices().batch(2)",
    "slices().batch(2, drop_remainder=True)",
    "slices().batch(True)",
    "slices(4).batch(2).batch(2)",
    "slices(3).repeat(2).batch(2)",
    "slices(3).batch(2).repeat(2)",
    "slices(3).repeat(2).repeat(3)",
    "slices(2).take(-1)",
    "slices(2).take(1)",
    "slices(2).take(100)",
    "slices(2).skip(0)",
    "slices(5).skip(3).repeat(2).take(3)",
    "slices(6).batch(lambda info: info.get_batch_num() + 1)",
    "slices(5).batch(lambda info: 2, drop_remainder=True)",
    "slices().batch(2, per_batch_map=lambda c, i: ([x + 1 for x in c],), input_columns=['column_0'])",
    "slices().batch(2, per_batch_map=lambda c, i: (np.stack(c) + 10 * i.get_batch_num(),))",
    "slices(4).batch(2, per_batch_map=lambda c, i: (c, c), input_columns=['column_0'], output_columns=['p', 'q'])",
    "two().batch(2, per_batch_map=lambda c, i: (c, c), input_columns=['b'], output_columns=['p', 'q'])",
    "three().batch(2, per_batch_map=lambda c, i: (c,), input_columns=['b'], output_columns=['p'])",
    "three().batch(2, per_batch_map=lambda c, a, i: (c,), input_columns=['c', 'a'], output_columns=['p'])",
    "slices(4).batch(2, per_batch_map=lambda c, i: c)",
    "gen(['a', 'bcd']).batch(2)",
    "ragged().padded_batch(2, pad_info={'x': ([4], -1)})",
    "ragged().padded_batch(2, pad_info={'x': (None, 7)})",
    "ragged().padded_batch(2, pad_info={'x': ([2], 7)})",
    "ds.zip((slices(3).rename('column_0', 'a'), slices(5)))",
    "slices(3).zip(slices(2).rename('column_0', 'b'))",
    "slices(2) + slices(3)",
    "slices(2).concat([slices(3), slices(1)])",
    "two().project(['b', 'a'])",
    "two().rename(['b', 'a'], ['x', 'y'])",
    "two().rename(['b', 'a'], ['a', 'b'])",
    "slices(2).map(lambda x: x + 1)",
    "slices(2).map(lambda x: (x, x * 2), 'column_0', ['a', 'b'])",
    "slices(2).map([lambda x: (x, x), lambda x, y: x + y])",
    *[f"slices(2).map(lambda x: {value})" for value in ("1.5", "3", "[1, 2]", "True", "'s'")],
    "slices(2).map(lambda x: np.float16(x))",
    "two().map(lambda x: x * 2)",
    "three().map(lambda b: (b, b * 2), ['b'], ['p', 'q'])",
    "three().map(lambda c, a: c + a, ['c', 'a'], ['p'])",
    "three().map(lambda c, a: (c, a), ['c', 'a'], ['p', 'q'])",
    "three().map(lambda a: (a, a), ['a'], ['a', 'z'])",
    "slices(3).map(T.TypeCast(ms.float32)).batch(2)",
    "slices(3).map(T.OneHot(4)).batch(2)",
    "slices(2).map(T.Duplicate(), 'column_0', ['a', 'b'])",
    "ds.NumpySlicesDataset({'a': [[1], [2]], 'b': [[3], [4]]}, shuffle=False).map(T.Concatenate(), ['a', 'b'], ['c'])",
    "slices(5).filter(lambda x: x > 2)",
    "slices(5).filter(lambda x: 3)",
    "slices(5).filter(lambda x: None)",
    "two().filter(lambda b: b > 3, 'b')",
    "slices(10).split([0.5, 0.5], randomize=False)[1]",
    "slices(10).split([3, 7], randomize=False)[0]",
    "slices(2).apply(lambda d: d.repeat(2))",
    "gen(Rows(), ['a', 'b'])",
    "gen(Rows(5), ['a', 'b'], num_shards=2, shard_id=1)",
    "gen(Rows(), ['a', 'b'], num_samples=2)",
    "gen(Rows(), ['a', 'b'], column_types=[ms.int64, ms.float32])",
    "gen(Stream())",
    "gen(Stream(), num_samples=2)",
    "gen(counts, ['a', 'b', 'c'])",
    "gen(lambda: iter([1, 2]))",
    "gen([1, 2, 3])",
    "gen([(1, 2), (3, 4)], ['a', 'b'])",
    "gen([(1,), (2,)])",
    "gen([[1, 2], [3, 4]], ['a', 'b'])",
    "gen(['a', 'b'])",
    "gen([True, False])",
    *[
        f"gen([np.{t}(1)] * 2)"
        for t in (
            "int8",
            "uint8",
            "int16",
            "uint16",
            "int32",
            "uint32",
            "uint64",
            "float16",
            "float32",
        )
    ],
    "ds.GeneratorDataset(Rows(5), ['a', 'b'], sampler=[1, 3])",
    "ds.GeneratorDataset(Rows(5), ['a', 'b'], batch_sampler=[[1, 3], [0]])",
    "sampled(ds.SequentialSampler(2, 3))",
    "sampled(ds.SequentialSampler(2))",
    "sampled(ds.SequentialSampler(2, 100))",
    *[
        f"sampled(ds.DistributedSampler(4, {i}, False, offset={o}))"
        for o in (-1, 0, 1, 3, 4)
        for i in range(4)
    ],
    "sampled(ds.DistributedSampler(4, 1, False, num_samples=1))",
    *[f"sampled(ds.DistributedSampler(4, {i}, False), 2)" for i in range(4)],
    "sampled(ds.SubsetSampler([3, 1, 1]))",
    "sampled(ds.SubsetSampler([3, 1, 1], 2))",
    "sampled([5, 4, 3])",
    "sampled(Every3(), 10)",
    "sampled(Plain())",
    "sampled(ds.WeightedRandomSampler([0, 0, 1, 0, 0, 0], 4))",
    "sampled(ds.WeightedRandomSampler([0, 1], 4))",
    "sampled(chained(ds.DistributedSampler(2, 0, False), ds.SubsetSampler([5, 4, 3, 2])))",
    "used(slices(), ds.SubsetSampler([1]))",
    "added(sampled(ds.SequentialSampler(2, 3)), ds.SubsetSampler([1]))",
    *[
        f"mnist({usage}, shuffle=False).project('label')"
        for usage in ("None", "'train'", "'test'", "'all'")
    ],
    "mnist('test', shuffle=False).map(V.Resize(3), 'image')",
    "mnist('train', num_shards=5, shard_id=1, shuffle=False).project('label')",
    "mnist('train', num_samples=3, shuffle=False).project('label')",
    "mnist('train', num_samples=300, shuffle=False).project('label')",
    "mnist('train', sampler=[1, 2]).project('label')",
    "mnist('train', sampler=Every3()).project('label')",
    "mnist('test', shuffle=False).map([V.Resize(4), V.Rescale(1 / 255.0, 0.0), V.HWC2CHW()], 'image').map(T.TypeCast(ms.int32), 'label').batch(3)",
    "ds.FashionMnistDataset(folder + '/mnist', 'train', shuffle=False).project('label')",
    *[
        f"ds.Cifar10Dataset(folder + '/cifar', {usage}, num_samples=4, shuffle=False).map(V.Resize(2), 'image')"
        for usage in ("None", "'train'", "'test'")
    ],
]

# expression -> words of the original's message; None where it does not refuse or refuses later
ERRORS = {
    "used(slices(3).concat(slices(4)), ds.SequentialSampler())": "must be DistributedSampler",
    "used(slices(3).concat(slices(4)), ds.DistributedSampler(2, 1))": "shuffle of DistributedSampler",
    "used(slices(3).concat(slices(4)), ds.RandomSampler(True))": "replacement of RandomSampler",
    "used(slices(3).concat(slices(4)), ds.RandomSampler(num_samples=2))": "is not support to be set",
    "slices().bucket_batch_by_length('column_0', [1], [1, 1])": "column_names",
    "slices().bucket_batch_by_length(['column_0', 'b'], [1], [1, 1])": "exactly one column name",
    "slices().bucket_batch_by_length(['column_0'], [], [1])": "bucket_boundaries cannot be empty",
    "slices().bucket_batch_by_length(['column_0'], [2, 1], [1, 1, 1])": "strictly increasing",
    "slices().bucket_batch_by_length(['column_0'], [0], [1, 1])": "bucket_boundaries must only contain positive numbers",
    "slices().bucket_batch_by_length(['column_0'], [1.0], [1, 1])": "list of int",
    "slices().bucket_batch_by_length(['column_0'], [1], [1])": "one element more",
    "slices().bucket_batch_by_length(['column_0'], [1], [1, 0])": "positive numbers",
    "slices().bucket_batch_by_length(['column_0'], [1], [1, 1], 3)": "callable",
    "slices().bucket_batch_by_length(['column_0'], [1], [1, 1], pad_info=3)": "pad_info",
    "ragged().bucket_batch_by_length(['x'], [2], [1, 1], pad_info={'x': ([None], 0)}, pad_to_bucket_boundary=True)": "pad to bucket boundary failed",
    "ds.TextFileDataset(folder + '/text/none')": "did not match any files",
    "ds.TextFileDataset([])": "can not be empty",
    "ds.TextFileDataset(3)": "dataset files",
    "ds.TextFileDataset(folder + '/text/1.txt', shuffle=3)": "shuffle",
    "ds.CSVDataset(folder + '/text/1.csv', 'ab')": "field_delim is invalid",
    "ds.CSVDataset(folder + '/text/1.csv', column_names=['x'])": "failed to parse csv file",
    "ds.CSVDataset(folder + '/text/3.csv', column_defaults=[0, 0, ''])": "type does not match",
    "ds.CSVDataset(folder + '/text/1.csv', column_defaults=[0, 0, 0])": "type does not match",
    "ds.ImageFolderDataset(folder + '/none')": "does not exist or is not a directory",
    "ds.ImageFolderDataset(folder + '/images', extensions=['.x'])": "can't read the data file",
    "ds.ImageFolderDataset(folder + '/images', decode=1)": "decode",
    "ds.ImageFolderDataset(folder + '/images', decrypt=1)": "decrypt",
    "ds.PaddedDataset([])": None,
    "ds.PaddedDataset(3)": None,
    "slices().flat_map(lambda x: 3)": None,
    "slices().batch(0)": "Input batch_size is not within the required interval of [1, 2147483647]",
    "slices().batch(-2)": "Input batch_size is not within the required interval of [1, 2147483647]",
    "slices().batch(-1)": "Batch size cannot be -1 without using batch sampler.",
    "slices().batch(1.5)": "batch_size should either be an int or a callable",
    "slices().batch('a')": "batch_size should either be an int or a callable",
    "slices().batch(None)": "batch_size should either be an int or a callable",
    "slices().batch(2, drop_remainder=1)": "Argument drop_remainder with value 1 is not of type",
    "slices().batch(2, num_parallel_workers=0)": "num_parallel_workers exceeds the boundary",
    "slices().batch(2, foo=3)": "got an unexpected keyword argument 'foo'",
    "slices().map(boom, foo=3)": "got an unexpected keyword argument 'foo'",
    "ragged().batch(2)": "Cannot batch tensors with different shapes in column 0",
    "gen([np.zeros(2), np.zeros(2, np.float32)]).batch(2)": "First element had type float64 and this element had type float32",
    "slices(4).batch(2, per_batch_map=lambda c, i: ([1],), input_columns=['column_0'])": "expects: 2 rows returned from 'per_batch_map', got: 1",
    "slices(4).batch(2, per_batch_map=lambda i: 1, input_columns=['column_0'])": "The signature of per_batch_map should match with input columns",
    "slices(4).batch(2, per_batch_map=boom)": "ValueError: boom",
    "slices(2).repeat(0)": "count should be either -1 or positive integer",
    "slices(2).repeat(-2)": "count should be either -1 or positive integer",
    "slices(2).repeat(1.5)": "Argument repeat with value 1.5 is not of type",
    "slices(2).take(0)": "count should be either -1 or within the required interval of (0, 2147483647]",
    "slices(2).skip(-1)": "Input count is not within the required interval of [0, 2147483647]",
    "slices(2).shuffle(1)": "Input buffer_size is not within the required interval of [2, 2147483647]",
    "slices(2).shuffle(1.5)": "Argument buffer_size with value 1.5 is not of type",
    "ds.zip((slices(3), slices(5)))": "duplicate column column_0 already exists when zipping datasets",
    "ds.zip((slices(3),))": "Can't zip empty or just one dataset!",
    "ds.zip([slices(3)])": "Argument datasets with value",
    "slices(2).concat(slices(3).rename('column_0', 'b'))": "'column name' or 'column order' of concat datasets should be the same",
    "slices(2) + ds.NumpySlicesDataset(np.arange(2.0), shuffle=False)": "the data types of the two datasets to be concatenated should be the same, but got: int64 and float64",
    "slices(2).rename('z', 'b')": "column to be renamed does not exist",
    "slices(2).rename(['column_0'], ['b', 'c'])": "Number of column in input_columns and output_columns is not equal",
    "two().rename(['b'], ['a'])": "does not support rename one column name into another already exist column name",
    "slices(2).project('z')": "column name: z does not exist",
    "slices(2).map(boom, 'z')": "input column name: z doesn't exist in the dataset columns",
    "slices(2).map(lambda x: (x, x), 'column_0', ['a'])": "should match the number of 'output_columns', but got the number of columns returned in 'map' operations: 2",
    "slices(2).map(boom)": "ValueError: boom",
    "slices(2).map(boom, python_multiprocessing=True, num_parallel_workers=2)": "ValueError: boom",
    "slices(2).map(lambda x: None)": "Got None from Python object",
    "slices(2).map(lambda x: object())": "Failed to create tensor from numpy array, data type is unknown",
    "slices(2).map(3)": "should be a python function or class method which should be callable, but got: 3",
    "slices(2).map([])": "No 'operations' are specified",
    "slices(2).map(V.HWC2CHW())": "map operation: [HWC2CHW]",
    "two().map(T.TypeCast(ms.float32), ['a', 'b'])": "The op is OneToOne, can only accept one tensor as input",
    "slices(10).split([3, 6])": "Sum of split sizes 9 is not equal to dataset size 10",
    "ds.NumpySlicesDataset([])": "Argument data cannot be empty",
    "ds.NumpySlicesDataset(([1, 2], [3]))": "Data length in each column is not equal",
    "ds.NumpySlicesDataset(3)": "Argument data with value 3 is not of type",
    "ds.NumpySlicesDataset(([1, 2], [3, 4]), column_names=['a'])": "Num of input column names is 1, but required is 2",
    "ds.GeneratorDataset(Rows())": "Neither columns_names nor schema are provided",
    "gen(Rows(), ['a', 'a'])": "Every column name should not be same with others in column_names",
    "gen(3, ['a'])": "function of GeneratorDataset should be callable, iterable or random accessible",
    "gen(NoLength())": "'__len__' method is required!",
    "gen([])": "data row of input source must not be 0, got: 0",
    "gen(Bad())": "KeyError: 'bad'",
    "gen(Bad(), num_parallel_workers=2)": "KeyError: 'bad'",
    "gen(Rows(), ['a'])": "the size of column_names is:1 and number of returned NumPy array is:2",
    "gen(Rows(), ['a', 'b'], column_types=[ms.float32, ms.int32])": None,
    "ds.GeneratorDataset(Stream(), 'x', sampler=ds.SequentialSampler())": "sampler is not supported if source does not have attribute '__getitem__'",
    "ds.GeneratorDataset(Stream(), 'x', num_shards=2, shard_id=1)": "num_shards is not supported if source does not have attribute '__getitem__'",
    "mnist('foo')": "Input usage is not within the valid set of ['train', 'test', 'all']",
    "mnist(3)": "Argument usage with value 3 is not of type",
    "ds.MnistDataset('nowhere')": "The folder nowhere does not exist or is not a directory or permission denied!",
    "ds.MnistDataset(3)": "Argument dataset_dir with value 3 is not of type",
    "ds.MnistDataset(folder + '/empty')": "API can't read the data file (interface mismatch or no data found). Check mnist file in directory: ",
    "ds.MnistDataset(folder + '/no_images')": "num of images should be equal to num of labels",
    "ds.MnistDataset(folder + '/no_labels')": "num of images should be equal to num of labels",
    "ds.MnistDataset(folder + '/truncated')": "truncated data length of ",
    "ds.MnistDataset(folder + '/magic')": "train-images-idx3-ubyte should be 2051, but got 7",
    "ds.MnistDataset(folder + '/unequal')": "but got images number: 3, labels number: 2",
    "mnist(num_samples=-3)": "num_samples exceeds the boundary between 0 and 9223372036854775807(INT64_MAX)!",
    "mnist(shuffle=True, sampler=ds.SequentialSampler())": "sampler and shuffle cannot be specified at the same time",
    "mnist(num_shards=2, shard_id=0, sampler=ds.SequentialSampler())": "sampler and sharding cannot be specified at the same time",
    "mnist(num_shards=2)": "num_shards is specified and currently requires shard_id as well",
    "mnist(shard_id=2)": "shard_id is specified but num_shards is not",
    "mnist(num_shards=2, shard_id=2)": "Input shard_id is not within the required interval of [0, 1]",
    "mnist(num_shards=0, shard_id=0)": "Input num_shards is not within the required interval of [1, 2147483647]",
    "mnist(shuffle=1)": "Argument shuffle with value 1 is not of type",
    "sampled(ds.SequentialSampler(20))": "start_index must be less than num_rows, but got start_index: 20, num_rows: 6",
    "sampled(ds.SequentialSampler(-2))": "start_index_ must be greater than or equal to 0, but got: -2",
    "sampled(ds.DistributedSampler(4, 1, False, offset=5))": "offset must be no more than num_shards(4), but got: 5",
    "ds.DistributedSampler('a', 4)": "num_shards must be integer but was: ",
    "sampled(ds.SubsetSampler([3, 9]))": "Sample ID (9) is out of bound, expected range [0, 5]",
    "sampled(ds.SubsetSampler([3, -1]))": "Sample ID (-1) is out of bound, expected range [0, 5]",
    "ds.SubsetSampler(['a'])": "Type of indices element must be int, but got list[0]: ",
    "sampled(ds.WeightedRandomSampler([0, 1] * 4))": "got weight size: 8, num of data: 6",
    "sampled(ds.WeightedRandomSampler([0, -1]))": "weights[1] = -1.0",
    "sampled(ds.WeightedRandomSampler([0, 0]))": "elements of weights vector must not be all zero",
    "ds.PKSampler(2, 2)": "Not supported to specify num_class for PKSampler",
    "slices().create_tuple_iterator(num_epochs=0)": "num_epochs should be either -1 or positive integer, num_epochs: 0",
    "slices().create_tuple_iterator(num_epochs=-2)": "Input num_epochs is not within the required interval of [-1, 2147483647]",
    "slices().create_tuple_iterator(columns=['z'], num_epochs=1)": "column name: z does not exist",
    "ds.config.set_seed(-1)": "seed given is not within the required range [0, UINT32_MAX(4294967295)]",
    "ds.config.set_seed('a')": "seed isn't of type int",
    "ds.config.set_num_parallel_workers(0)": "Number of parallel workers given is not within the required range (0, INT32_MAX(2147483647)]",
    "ds.config.set_prefetch_size(0)": "ize is not within the required range (0, INT32_MAX(2147483647)]",
    "ds.config.set_enable_shared_mem(3)": "enable must be of type bool",
    "V.Resize('a')": "Size should be a single integer or a list/tuple (h, w) of length 2",
    "V.Resize(0)": "is not within the required interval of [1, 16777216]",
    "V.Resize((1, 2, 3))": "Size should be a single integer or a list/tuple (h, w) of length 2",
    "V.Resize(3, 2)": "Argument interpolation with value 2 is not of type",
    "V.Resize(3)([[1]])": "Input should be NumPy or PIL image, got <class 'list'>",
    "V.Resize(3)(ints)": "You may need to perform Decode first",
    "V.Resize(3)(u8.astype(np.int64))": "the data type of image tensor does not match the requirement of operator",
    "V.Rescale('a', 0)": "Argument rescale with value",
    "V.Rescale(1, 0)(u8.astype(np.int64))": "load image failed",
    "V.Normalize([1.0, 1.0], [70.0])": "Length of mean and std must be equal",
    "V.Normalize([-1.0], [70.0])": "Input mean[0] is not within the required interval of [0, 255]",
    "V.Normalize([1.0], [0.0])": "Input std[0] is not within the required interval of (0, 255]",
    "V.Normalize(3, [1.0])": "Argument mean with value 3 is not of type",
    "V.Normalize([1, 1], [1, 1])(u8)": "number of channels does not match the size of mean and std vectors, got channels: 3, size of mean: 2",
    "V.Normalize([1], [1])(ints)": "input tensor should have at least 2 dimensions, but got: 1",
    "V.HWC2CHW()(u8[None])": "image shape should be <H,W> or <H,W,C>, but got rank: 4",
    "V.ToTensor(3)": "Argument output_type with value 3 is not of type",
    "V.ToTensor('zz')": "Argument output_type with value",
    "V.ToTensor()(ints)": "but got:1",
    "V.ToTensor()(u8.astype(np.int64))": "Input includes unsupported data type in [uint32, int64, uint64, string, bytes]",
    "V.RandomCrop(30)(u8)": "crop size is bigger than the image dimensions, got crop height: 30, crop width: 30",
    "V.RandomCrop(3, padding=-1)": "Input padding is not within the required interval of [0, 2147483647]",
    "V.RandomCrop(3, padding=(1, 2, 3))": "The size of the padding list or tuple should be 2 or 4",
    "V.RandomCrop(3, fill_value=256)": "Input fill_value is not within the required interval of [0, 255]",
    "V.RandomCrop(3, padding_mode='edge')": "Argument padding_mode with value",
    "V.RandomHorizontalFlip(2)": "Input prob is not within the required interval of [0.0, 1.0]",
    "V.RandomHorizontalFlip('a')": "Argument prob with value",
    "V.Pad('a')": "Argument padding with value",
    "V.Pad(1)(u8[..., :2])": "But got channel 2",
    "V.RandomResizedCrop(3, (1, 0))": "scale should be in (min,max) format. Got (max,min)",
    "V.RandomResizedCrop(3, (0, 0))": "Input scale[1] must be greater than 0",
    "V.Decode()(u8)": "The number of array dimensions of the encoded image should be 1, but got 3",
    "V.Decode()(u8[0, :, 0])": "image decode failed",
    "V.ToPIL()(u8[None])": "The dimension of input image should be 2 or 3. Got 4",
    "T.TypeCast(3)": "Argument data_type with value 3 is not of type",
    "T.TypeCast(ms.int32)(np.array(['a']))": "TypeCast does not support cast from string to int32",
    "T.OneHot(0)": "Input must be greater than 0",
    "T.OneHot('a')": "Argument num_classes with value",
    "T.OneHot(5, 2)": "Input smoothing_rate is not within the required interval of [0.0, 1.0]",
    "T.OneHot(5)(np.array(5))": "index values should not bigger than num classes: 5, but got: 5",
    "T.OneHot(5)(floats)": "Only support input of int type, but got: float32",
    "T.OneHot(5)(grid)": "Only support scalar or 1D input, got rank: 2",
    "T.Compose(3)": "Argument transforms list with value 3 is not of type",
    "T.Compose([])": "transforms list can not be empty",
    "T.Compose([3])": "transforms[0] is neither a transforms op (TensorOperation) nor a callable pyfunc",
    "T.Fill([1])": "Argument fill_value with value [1] is not of type",
    "T.Fill('x')(ints)": "must be of the same data type when involving strings or bytes",
    "T.PadEnd([0])": "is not within the required interval of [1, 9223372036854775807]",
    "T.PadEnd([2, 3])(ints)": "as rank of input is: 1, and rank of pad value: 2",
    "T.Mask(3, 1)": "Argument operator with value 3 is not of type",
    "T.Slice('a')": "Argument slice with value",
    "T.Slice(9)(grid)": "Index 9 is out of bounds",
    "T.Concatenate(1)": "only 1D concatenation supported",
    "T.Concatenate(0, np.array([9.0]))(ints)": "input datatype does not match the prepend",
    "T.Unique()(ints)": "input must be at least 2-D in order to do unique op, got rank:1",
}


def write_folders(root):
    """Write the folders that the expressions name, good ones and bad ones."""
    write_idx(root / "mnist", "train", 12)
    write_idx(root / "mnist", "t10k", 7)
    write_cifar(root / "cifar")
    (root / "empty").mkdir()
    write_idx(root / "no_images", "train", 3, images=False)
    write_idx(root / "no_labels", "train", 3, labels=False)
    for name, spoil in (
        ("truncated", lambda data: data[:-100]),
        ("magic", lambda data: b"\0\0\0\7" + data[4:]),
    ):
        write_idx(root / name, "train", 3)
        path = root / name / "train-images-idx3-ubyte"
        path.write_bytes(spoil(path.read_bytes()))
    (root / "text").mkdir()
    for name, text in (
        ("1.txt", "  a \nb\n"),
        ("2.txt", "x y\n\nz\r\nlast"),
        ("1.csv", 'a,b,c\n1,2.5,x\n3,4.5,"y,""q"" z"\n'),
        ("3.csv", "a,b,c\n,2,x\n"),
        ("2.csv", "5;6.5;w\n1;2;\n8;1e3;v\n"),
    ):
        (root / "text" / name).write_bytes(text.encode())
    for folder in ("b", "a", "c"):
        (root / "images" / folder).mkdir(parents=True)
        for number in range(2):
            image = Image.new("RGB", (3, 2), (number, 1, 2))
            image.save(root / "images" / folder / f"{number}.png")
        (root / "images" / folder / "x.txt").write_bytes(b"x")
    write_idx(root / "unequal", "train", 3)
    path = root / "unequal" / "train-labels-idx1-ubyte"
    path.write_bytes(struct.pack(">II", 2049, 2) + b"\0\1")


def scope(ds, vision, transforms, ms, folder):
    """Names that the expressions are evaluated with."""
    names = {"ds": ds, "V": vision, "T": transforms, "ms": ms, "np": np, "folder": str(folder)}
    names.update(inputs())
    exec(HELPERS, names)
    return names


def describe(dataset):
    """Everything that can be asked of a dataset, and its rows, in JSON's terms."""
    return {
        "size": dataset.get_dataset_size(),
        "names": dataset.get_col_names(),
        "types": [str(t) for t in dataset.output_types()],
        "shapes": dataset.output_shapes(),
        "batch_size": dataset.get_batch_size(),
        "repeat_count": dataset.get_repeat_count(),
        "rows": [
            [np.asarray(value).tolist() for value in row]
            for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
        ],
    }


def consume(value):
    """Run a dataset to its end; leave anything else."""
    if hasattr(value, "create_tuple_iterator"):
        for _ in value.create_tuple_iterator(num_epochs=1, output_numpy=True):
            pass
