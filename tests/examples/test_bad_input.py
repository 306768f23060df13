"""A user's mistakes end in the original's error class, in one line with the user's file and line.

The classes and phrases are those of MindSpore 2.10.0, in both of its modes. `# here` marks the line
that the message must name.
"""

import builtins
import pickle
import struct
import subprocess
import sys
import traceback

import numpy as np
import pytest

from tests.examples.run import ENVIRONMENT

IMPORTS = """\
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops, Tensor

ms.set_context(mode=ms.{mode}_MODE)

def ones(*shape, dtype=np.float32):
    return Tensor(np.ones(shape, dtype))

def rows(labels):
    return ds.NumpySlicesDataset((np.ones((8, 4), np.float32), labels), ["x", "y"])
"""

NET = """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 5, pad_mode="valid")
    def construct(self, x):
        return ops.relu(self.conv(x))  # here
Net()(ones(2, 3, 28, 28))
"""

UNDER_GRAD = """
net = nn.Dense(4, 3)
def forward(x):
    return net(x).sum()  # here
ms.value_and_grad(forward, None, net.trainable_params())(ones(2, 3))
"""

NET_TRAINED = """
net = nn.Dense(4, 3)
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = ms.Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9))
model.train(1, rows(np.ones(8, np.float32)).batch(4))  # here
"""

NO_SUPER = """
class Net(nn.Cell):
    def __init__(self):
        self.{attribute} = {value}{here_if_assigned}
    def construct(self, x):
        return x
Net()(ones(1)){here_if_called}
"""
ASSIGNED = {"here_if_assigned": "  # here", "here_if_called": ""}
CALLED = {"here_if_assigned": "", "here_if_called": "  # here"}

NO_CONSTRUCT = """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 2)
    def forward(self, x):
        return self.fc(x)
Net()(ones(2, 4))  # here
"""

RAGGED = """
def lengths():
    for n in (1, 2):
        yield (np.ones(n),)
next(ds.GeneratorDataset(lengths, ["x"]).batch(2).create_tuple_iterator())  # here
"""

FAILING_MAP = """
def fail(x):
    raise KeyError("mine")
next(rows(np.ones(8)).map(fail, ["x"]).create_tuple_iterator())  # here
"""

# name, class of the original's error, a phrase of its message, the script after IMPORTS
MISTAKES = [
    ("channels", "RuntimeError", "For 'Conv2D', 'C_in' of input 'x' shape", NET),
    ("dense", "ValueError", "'x1_col': 3 and 'x2_row': 4", "nn.Dense(4, 2)(ones(2, 3))"),
    ("under value_and_grad", "ValueError", "'x1_col': 3 and 'x2_row': 4", UNDER_GRAD),
    (
        "batchnorm",
        "ValueError",
        "equal to input_x's channel dimension: 3",
        "nn.BatchNorm2d(4).set_train()(ones(2, 3, 5, 5))",
    ),
    (
        "input dtype",
        "TypeError",
        "type Tensor[Int32] and 'x2' with type Tensor[Float32]",
        "nn.Dense(4, 2)(ones(2, 4, dtype=np.int32))",
    ),
    (
        "label dtype",
        "TypeError",
        "must be a type of {Tensor[Int32], Tensor[Int64]}, but got Tensor[Float32]",
        "nn.SoftmaxCrossEntropyWithLogits(sparse=True)(ones(2, 3), ones(2))",
    ),
    (
        "label dtype in training",
        "TypeError",
        "must be a type of {Tensor[Int32], Tensor[Int64]}, but got Tensor[Float32]",
        NET_TRAINED,
    ),
    (
        "label dtype of CrossEntropyLoss",
        "TypeError",
        "For 'CrossEntropyLoss', the 'labels' should be Int32",
        "nn.CrossEntropyLoss()(ones(2, 3), ones(2))",
    ),
    (
        "label shape",
        "ValueError",
        "but got 'label' shape: (2, 4), 'logits' shape: (2, 3)",
        "nn.SoftmaxCrossEntropyWithLogits()(ones(2, 3), ones(2, 4))",
    ),
    (
        "missing folder",
        "ValueError",
        "The folder absent does not exist or is not a directory or permission denied!",
        'ds.MnistDataset("absent")',
    ),
    (
        "empty folder",
        "RuntimeError",
        "MnistDataset API can't read the data file (interface mismatch or no data found)",
        'next(ds.MnistDataset("empty").create_tuple_iterator())',
    ),
    (
        "truncated images",
        "RuntimeError",
        "Invalid mnist file, truncated data length of cut_images/",
        'next(ds.MnistDataset("cut_images", shuffle=False).create_tuple_iterator())',
    ),
    (
        "truncated labels",
        "RuntimeError",
        "Invalid mnist file, truncated data length of cut_labels/",
        'next(ds.MnistDataset("cut_labels", shuffle=False).create_tuple_iterator())',
    ),
    (
        "size of truncated images",
        "RuntimeError",
        "Invalid mnist file, truncated data length of cut_images/",
        'ds.MnistDataset("cut_images").get_dataset_size()',
    ),
    (
        "no IDX file",
        "RuntimeError",
        "should be 2051, but got 1952999795",
        'next(ds.MnistDataset("text", shuffle=False).create_tuple_iterator())',
    ),
    (
        "negative batch size",
        "ValueError",
        "Input batch_size is not within the required interval of [1, 2147483647]",
        "rows(np.ones(8)).batch(-5)",
    ),
    (
        "batch size -1",
        "RuntimeError",
        "Batch size cannot be -1 without using batch sampler.",
        "next(rows(np.ones(8)).batch(-1).create_tuple_iterator())",
    ),
    (
        "batch size 2.5",
        "TypeError",
        "batch_size should either be an int or a callable",
        "rows(np.ones(8)).batch(2.5)",
    ),
    ("ragged batch", "RuntimeError", "First element had shape <1> and this", RAGGED),
    (
        "failing map",
        "RuntimeError",
        "Exception thrown from user defined Python function in dataset.",
        FAILING_MAP,
    ),
    (
        "unknown column",
        "RuntimeError",
        "Invalid parameter, input column name: nope doesn't exist in the dataset columns",
        'next(rows(np.ones(8)).map(len, ["nope"]).create_tuple_iterator())',
    ),
    (
        "truncated checkpoint",
        "ValueError",
        "cut.ckpt. The file may be corrupted",
        'ms.load_checkpoint("cut.ckpt")',
    ),
    (
        "foreign checkpoint",
        "ValueError",
        "pickled.ckpt. The file may be corrupted",
        'ms.load_checkpoint("pickled.ckpt")',
    ),
    (
        "empty checkpoint",
        "ValueError",
        "The loaded parameter dict is empty after filter or specify",
        'ms.load_checkpoint("nothing.ckpt")',
    ),
    (
        "missing checkpoint",
        "ValueError",
        "absent.ckpt does not exist, please check whether the 'ckpt_file_name' is correct.",
        'ms.load_checkpoint("absent.ckpt")',
    ),
    (
        "suffix of a checkpoint",
        "ValueError",
        "but got file_name:'model.pth', format:'ckpt'",
        'ms.load_checkpoint("model.pth")',
    ),
    (
        "shape on load",
        "RuntimeError",
        "But got its shape (3, 4) in the argument 'net' and shape (2, 4)",
        'ms.load_param_into_net(nn.Dense(4, 3), ms.load_checkpoint("good.ckpt"))',
    ),
    (
        "shape on load into a net",
        "RuntimeError",
        "But got its shape (3, 4) in the argument 'net' and shape (2, 4)",
        'ms.load_checkpoint("good.ckpt", net=nn.Dense(4, 3))',
    ),
    (
        "a path in place of parameters",
        "TypeError",
        "the argument 'parameter_dict' should be a dict, but got <class 'str'>",
        'ms.load_param_into_net(nn.Dense(4, 2), "good.ckpt")',
    ),
    (
        "no super().__init__(), a Cell",
        "AttributeError",
        "",
        NO_SUPER.format(attribute="fc", value="nn.ReLU()", **ASSIGNED),
    ),
    (
        "no super().__init__(), a Parameter",
        "AttributeError",
        "For 'insert_param_to_cell', please call Cell.__init__() firstly",
        NO_SUPER.format(attribute="w", value="ms.Parameter(ones(1))", **ASSIGNED),
    ),
    (
        "no super().__init__(), called",
        "AttributeError",
        "",
        NO_SUPER.format(attribute="n", value="3", **CALLED),
    ),
    (
        "no construct",
        "AttributeError",
        "For 'Cell', the method 'construct' is not defined",
        NO_CONSTRUCT,
    ),
    (
        "unknown metric",
        "KeyError",
        "For 'get_metric_fn', unsupported metric acuracy",
        'ms.Model(nn.Dense(4, 3), nn.MSELoss(), metrics={"acuracy"})',
    ),
    (
        "metrics of no kind",
        "TypeError",
        "the argument 'metrics' must be None, dict or set, but got 3",
        "ms.Model(nn.Dense(4, 3), nn.MSELoss(), metrics=3)",
    ),
    (
        "eval without metrics",
        "ValueError",
        "For Model.eval, the model argument 'metrics' can not be None or empty",
        "ms.Model(nn.Dense(4, 3), nn.MSELoss()).eval(rows(np.ones(8)))",
    ),
    (
        "negative number of epochs",
        "ValueError",
        "must be int and must > 0, but got '-1' with type 'int'",
        "ms.Model(nn.Dense(4, 3), nn.MSELoss(), nn.SGD([ms.Parameter(1.0)], 0.1))"
        ".train(-1, rows(np.ones(8)))",
    ),
    (
        "a list in place of a dataset",
        "AttributeError",
        "'list' object has no attribute 'get_dataset_size'",
        "ms.Model(nn.Dense(4, 3), nn.MSELoss(), nn.SGD([ms.Parameter(1.0)], 0.1)).train(1, [1, 2])",
    ),
    (
        "negative width",
        "ValueError",
        "For 'Dense', the 'in_channels' must be int and must > 0, but got '-1'",
        "nn.Dense(-1, 3)",
    ),
    (
        "pad_mode",
        "ValueError",
        "the 'pad_mode' must be str and must be in '['valid', 'same', 'pad']'",
        'nn.Conv2d(1, 2, 3, pad_mode="vaild")',
    ),
    ("dropout", "ValueError", "the 'p' must be a number in range [0, 1)", "nn.Dropout(p=1.5)"),
    (
        "no parameters",
        "ValueError",
        "For 'Optimizer', the argument parameters must not be empty.",
        "nn.Momentum([], 0.1, 0.9)",
    ),
    (
        "negative learning rate",
        "ValueError",
        "For 'Momentum', the 'learning rate' must be float and must >= 0, but got '-0.1'",
        "nn.Momentum(nn.Dense(2, 2).trainable_params(), -0.1, 0.9)",
    ),
    (
        "a net in place of parameters",
        "TypeError",
        "For 'Optimizer', the argument parameters must be Iterable type",
        "nn.Adam(nn.Dense(2, 2), 0.1)",
    ),
    (
        "unknown mode",
        "ValueError",
        "should be context.GRAPH_MODE (0) or context.PYNATIVE_MODE (1), but got 7",
        "ms.set_context(mode=7)",
    ),
    ("matmul", "RuntimeError", "shape1[-1] must be equal to", "ops.matmul(ones(2, 3), ones(2, 3))"),
    ("add", "ValueError", "need to broadcast", "ones(2, 3) + ones(2, 4)"),
    ("reshape", "ValueError", "is invalid for input of size 6", "ones(2, 3).reshape(4, 2)"),
    ("cat", "ValueError", "only support one axis different", "ops.cat([ones(2, 3), ones(3, 4)])"),
    ("index", "IndexError", "index 5 is out of bounds for dimension with size 2", "ones(2, 3)[5]"),
    ("truth of many", "ValueError", "The tensor should have only one element", "bool(ones(2) > 0)"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write the files that the scripts read: IDX files and checkpoints, whole and damaged."""
    import mindjax as ms
    from mindjax import nn

    ms.install()
    place = tmp_path_factory.mktemp("files")
    images = struct.pack(">4i", 2051, 10, 28, 28) + bytes(7840)
    labels = struct.pack(">2i", 2049, 10) + bytes(10)
    contents = {
        "empty": {},
        "cut_images": {"images-idx3": images[:-1000], "labels-idx1": labels},
        "cut_labels": {"images-idx3": images, "labels-idx1": labels[:-5]},
        "text": {"images-idx3": b"this is no IDX file" * 40, "labels-idx1": labels},
    }
    for name, files in contents.items():
        (place / name).mkdir()
        for file, content in files.items():
            for part in ("train", "t10k"):
                (place / name / f"{part}-{file}-ubyte").write_bytes(content)
    ms.save_checkpoint(nn.Dense(4, 2), str(place / "good.ckpt"))
    (place / "cut.ckpt").write_bytes((place / "good.ckpt").read_bytes()[:-9])
    (place / "pickled.ckpt").write_bytes(pickle.dumps({"weight": np.ones(3)}))
    (place / "nothing.ckpt").touch()
    (place / "model.pth").touch()
    return place


def write(folder, name, mode_name, body):
    """Write a script; give its path and the line that its error must name."""
    if "# here" not in body:
        body += "  # here\n"
    lines = (IMPORTS.format(mode=mode_name) + body).splitlines()
    path = folder / f"{name}.py"
    path.write_text("\n".join(lines) + "\n")
    return path, 1 + next(i for i, line in enumerate(lines) if line.endswith("# here"))


@pytest.mark.parametrize("mode_name", ["PYNATIVE", "GRAPH"])
@pytest.mark.parametrize(("name", "kind", "phrase", "body"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_mistake(name, kind, phrase, body, mode_name, folder, monkeypatch):
    import mindjax as ms

    path, line = write(folder, "mistake", mode_name, body)
    monkeypatch.chdir(folder)
    try:
        with pytest.raises(getattr(builtins, kind)) as raised:
            exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert phrase in str(raised.value)
    assert f"[{path}:{line}]" in str(raised.value)
    assert len(traceback.format_exception_only(raised.value)) == 1
    assert "\n" not in traceback.format_exception_only(raised.value)[0].rstrip()


@pytest.mark.parametrize("mode_name", ["PYNATIVE", "GRAPH"])
def test_process_ends_with_the_message(mode_name, folder):
    path, line = write(folder, f"ends_{mode_name}", mode_name, NET)
    result = subprocess.run(
        [sys.executable, "-m", "mindjax", "run", str(path)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert result.stdout == ""
    last = result.stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: For 'Conv2D'")
    assert last.endswith(f"[{path}:{line}]")
