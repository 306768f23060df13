"""Small programs over the checkpoint functions, written as a MindSpore user writes them.

They run on the original (record.py) and on MindJAX (test_scenarios.py); each returns JSON.
"""

import os
import stat

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn

GOLDENS = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "goldens", "ckpt"
)
DTYPES = ["bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64", "bfloat16"]
# What an optimizer makes itself: its values stay.
OWN = ("global_step", "learning_rate", "momentum", "beta1_power", "beta2_power")


def outcome(case):
    """Run a scenario and describe its result or its error."""
    try:
        return {"ok": case()}
    except BaseException as error:
        text = str(error).splitlines()
        return {"error": type(error).__name__, "message": text[0] if text else ""}


def describe(parameters):
    """List name, shape, dtype and flag of loaded parameters."""
    return {
        key: value
        if isinstance(value, str)
        else [value.name, list(value.shape), str(value.dtype), value.requires_grad]
        for key, value in parameters.items()
    }


class Net(nn.Cell):
    """Two layers, and one frozen scalar."""

    def __init__(self):
        super().__init__()
        self.b = nn.Dense(2, 3)
        self.a = nn.Dense(3, 1)
        self.scale = Parameter(Tensor(2.0, ms.float32), name="scale", requires_grad=False)

    def construct(self, x):
        return self.a(self.b(x)) * self.scale


def set_all(net):
    """Give every parameter but the optimizer's own scalars known values."""
    for index, parameter in enumerate(net.get_parameters()):
        if parameter.name in OWN:
            continue
        data = np.arange(parameter.size, dtype=np.float32).reshape(parameter.shape) + index
        parameter.set_data(Tensor(data.astype(parameter.asnumpy().dtype)))
    return net


def plain():
    """Give the network alone."""
    return set_all(Net())


def step(optimizer):
    """Give a training network."""
    net = Net()
    with_loss = nn.WithLossCell(net, nn.MSELoss())
    return set_all(nn.TrainOneStepCell(with_loss, optimizer(net.trainable_params())))


def every():
    """Give six values of each dtype."""
    base = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
    return [Parameter(Tensor(base, getattr(ms, dtype)), name=dtype) for dtype in DTYPES]


APPEND = {"epoch_num": 3, "lr": 0.25, "done": True, "who": "näme✓"}

# Golden files: what is saved, and how.
FILES = {
    "made_net.ckpt": lambda: (plain(), {"crc_check": True}),
    "made_step.ckpt": lambda: (step(lambda p: nn.Adam(p, 0.01)), {}),
    "made_momentum.ckpt": lambda: (step(lambda p: nn.Momentum(p, 0.01, 0.9)), {}),
    "made_dtypes.ckpt": lambda: (every(), {"crc_check": True}),
    # The original cannot make the check sum of bfloat16 in this format.
    "made_dtypes.safetensors": lambda: (
        every()[:-1],
        {"format": "safetensors", "crc_check": True},
    ),
    "made_bfloat16.safetensors": lambda: (every()[-1:], {"format": "safetensors"}),
    "made_scalars.safetensors": lambda: (
        plain(),
        {
            "format": "safetensors",
            "crc_check": True,
            "append_dict": {"epoch_num": 3, "lr": 0.25, "done": True},
        },
    ),
    "made_append.ckpt": lambda: (
        plain(),
        {"append_dict": {**APPEND, "t": Tensor([1, 2], ms.int32)}},
    ),
    "made_dict.ckpt": lambda: (
        {
            "w": Parameter(Tensor([1.0, 2.0], ms.float32)),
            "n": np.array([[1, 2]], np.int16),
            "s": "text",
        },
        {},
    ),
    "made_list.ckpt": lambda: (
        [{"name": "w", "data": Tensor([[1.0]], ms.float32)}, {"name": "v", "data": Tensor(3)}],
        {},
    ),
}


def save_file(name, path):
    """Write one golden file to ``path``."""
    obj, options = FILES[name]()
    ms.save_checkpoint(obj, path, **options)


def load_file(name):
    """Load one golden file and describe it."""
    return describe(ms.load_checkpoint(os.path.join(GOLDENS, name), format=name.rsplit(".", 1)[1]))


def golden_names():
    """List the golden files."""
    return sorted(n for n in os.listdir(GOLDENS) if n.endswith((".ckpt", ".safetensors")))


def save_cases(folder):
    """Ask about names, permissions and wrong arguments of save_checkpoint."""
    p = Parameter(Tensor([1.0], ms.float32), name="p")

    def here(name):
        return os.path.join(folder, name)

    def save(obj=None, name="x", **kw):
        ms.save_checkpoint([p] if obj is None else obj, here(name), **kw)

    def named(name, **kw):
        save(name=name, **kw)
        return sorted(os.listdir(folder))

    def loaded(obj, name, **kw):
        save(obj, name, **kw)
        return describe(ms.load_checkpoint(here(name)))

    def mode():
        save(name="x.ckpt")
        return oct(stat.S_IMODE(os.stat(here("x.ckpt")).st_mode))

    def twice():
        save(name="x.ckpt")
        return named("x.ckpt")

    def zero_size():
        empty = Parameter(Tensor(np.zeros((0, 3), np.float32)), name="z")
        result = loaded([p, empty], "z.ckpt")
        return os.path.getsize(here("z.ckpt")), result

    return {
        "suffix": lambda: named("x"),
        "suffix_st": lambda: named("x", format="safetensors"),
        "suffix_other": lambda: named("x.bin"),
        "suffix_glued": lambda: named("xckpt"),
        "mode": mode,
        "twice": twice,
        "bad_obj": lambda: save(3),
        "bad_name": lambda: ms.save_checkpoint([p], 3),
        "directory": lambda: ms.save_checkpoint([p], folder),
        "no_directory": lambda: save(name="no/x.ckpt"),
        "bad_format": lambda: save(format="zip"),
        "bad_integrated": lambda: save(integrated_save=1),
        "bad_async": lambda: save(async_save=1),
        "bad_async_word": lambda: save(async_save="later"),
        "bad_append": lambda: save(append_dict=[1]),
        "bad_append_value": lambda: save(append_dict={"a": [1]}),
        "bad_enc_key": lambda: save(enc_key="abc"),
        "bad_enc_mode": lambda: save(enc_mode=1),
        "bad_crc": lambda: save(crc_check=1),
        "enc_st": lambda: save(format="safetensors", enc_key=b"0" * 16),
        "list_int": lambda: save([1]),
        "list_dict_key": lambda: save([{"name": "a"}]),
        "list_dict_name": lambda: save([{"name": 1, "data": p}]),
        "list_dict_data": lambda: save([{"name": "a", "data": 1}]),
        "dict_key": lambda: save({1: p}),
        "empty_list": lambda: named("e.ckpt") and save([], "e.ckpt"),
        "bad_redundancy": lambda: save(remove_redundancy=1),
        "choice": lambda: list(loaded(Net(), "c.ckpt", choice_func=lambda n: n.startswith("a"))),
        "order": lambda: list(loaded(step(lambda q: nn.Adam(q, 0.01)), "o.ckpt")),
        "zero_size": zero_size,
        "same_name": lambda: loaded([p, Parameter(Tensor([1, 2]), name="p")], "s.ckpt"),
    }


def load_cases(folder):
    """Ask about wrong files and arguments of load_checkpoint."""

    def golden(name):
        with open(os.path.join(GOLDENS, name), "rb") as file:
            return file.read()

    def of(content, name="t.ckpt", **kw):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return list(ms.load_checkpoint(path, **kw))

    step_path = os.path.join(GOLDENS, "made_step.ckpt")

    def names(**kw):
        return list(ms.load_checkpoint(step_path, **kw))

    def st(content, **kw):
        return of(content, "t.safetensors", format="safetensors", **kw)

    raw, tensors = golden("made_step.ckpt"), golden("made_dtypes.safetensors")
    damaged = bytearray(golden("made_net.ckpt"))
    damaged[60] ^= 1
    damaged_st = bytearray(tensors)
    damaged_st[-1] ^= 1
    return {
        "missing": lambda: ms.load_checkpoint("/nope/a.ckpt"),
        "not_str": lambda: ms.load_checkpoint(3),
        "suffix": lambda: ms.load_checkpoint("/etc/hostname"),
        "format": lambda: ms.load_checkpoint(step_path, format="zip"),
        "empty": lambda: of(b""),
        "text": lambda: of(b"hello world, this is not a checkpoint\n"),
        "pickle": lambda: of(b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94."),
        "zip": lambda: of(b"PK\x03\x04" + bytes(64)),
        "encrypted": lambda: of(b"\xd8\x5e\x3a\x7f" + bytes(64)),
        "trunc_half": lambda: of(raw[: len(raw) // 2]),
        "trunc_one": lambda: of(raw[:-1]),
        "trunc_tag": lambda: of(raw[:3]),
        "bad_type": lambda: of(raw.replace(b"Float32", b"Float99")),
        "dims0": lambda: of(b"\n\x16\n\x01a\x12\x11\x08\x00\x12\x07Float32\x1a\x04\x00\x00\x80?"),
        "crc_broken": lambda: of(bytes(damaged), crc_check=True),
        "crc_broken_unchecked": lambda: of(bytes(damaged)),
        "crc_absent": lambda: names(crc_check=True),
        "specify": lambda: names(specify_prefix="a."),
        "specify_list": lambda: names(specify_prefix=["a.", "scale"]),
        "filter": lambda: names(filter_prefix="moment"),
        "both": lambda: names(specify_prefix="moment", filter_prefix="moment1.a"),
        "specify_and_choice": lambda: names(specify_prefix="a.", choice_func=lambda n: False),
        "choice": lambda: names(choice_func=lambda n: n.startswith("b")),
        "filter_all": lambda: names(choice_func=lambda n: False),
        "prefix_type": lambda: names(specify_prefix=3),
        "prefix_empty": lambda: names(specify_prefix=[]),
        "prefix_item": lambda: names(specify_prefix=[3]),
        "prefix_blank": lambda: names(filter_prefix=""),
        "dec_key": lambda: names(dec_key="abc"),
        "dec_mode": lambda: names(dec_mode=1),
        "crc_type": lambda: names(crc_check=1),
        "redundancy_type": lambda: names(remove_redundancy=1),
        "redundancy": lambda: names(remove_redundancy=True, net=Net()),
        "st_text": lambda: st(b"hello world, this is not one\n"),
        "st_trunc": lambda: st(tensors[:-5]),
        "st_crc": lambda: st(bytes(damaged_st), crc_check=True),
        "st_empty": lambda: st(b""),
        "st_dec": lambda: st(tensors, dec_key=b"1"),
        "st_choice": lambda: st(tensors, choice_func=lambda n: n.startswith("u")),
        "st_specify": lambda: st(tensors, specify_prefix="u"),
    }


def par(data, name, dtype=ms.float32):
    """Make a named Parameter."""
    return Parameter(Tensor(np.array(data), dtype), name=name)


def into(parameters, net=None, **kw):
    """Load into the network and tell what was not loaded and all values."""
    net = net or Net()
    set_all(net)
    result = ms.load_param_into_net(net, parameters, **kw)
    values = {p.name: [str(p.dtype), p.asnumpy().ravel().tolist()] for p in net.get_parameters()}
    return [list(result[0]), list(result[1]), values]


def bias(dtype=ms.float32, name="a.bias", data=(7,)):
    """Give a dict with one Parameter."""
    return {name: par(data, name, dtype)}


INTO = {
    "one": lambda: into(bias()),
    "extra": lambda: into({**bias(), "zzz": par([1], "zzz")}),
    "float16": lambda: into(bias(ms.float16)),
    "float16_strict": lambda: into(bias(ms.float16), strict_load=True),
    "float64": lambda: into(bias(ms.float64)),
    "bfloat16": lambda: into(bias(ms.bfloat16)),
    "int": lambda: into(bias(ms.int32)),
    "shape": lambda: into(bias(data=(1, 2))),
    "trailing_ones": lambda: into({"b.bias": par([[[4]], [[5]], [[6]]], "b.bias")}),
    "trailing_two": lambda: into({"b.bias": par([[4, 5], [5, 5], [6, 5]], "b.bias")}),
    "scalar_to_one": lambda: into({"a.bias": par(5, "a.bias")}),
    "one_to_scalar": lambda: into({"scale": par([5], "scale")}),
    "prefix": lambda: into({"x.a.bias": par([9], "q"), "x.b.bias": par([1, 2, 3], "q")}),
    "prefix_two": lambda: into({"x.a.bias": par([9], "q"), "y.b.bias": par([1, 2, 3], "q")}),
    "prefix_strict": lambda: into({"x.a.bias": par([9], "q")}, strict_load=True),
    "suffix_match": lambda: into({"rescale": par(3, "q")}),
    "string": lambda: into({"a.bias": "text", **bias(name="b.bias", data=(1, 2, 3))}),
    "string_extra": lambda: into({"who": "text", **bias()}),
    "empty": lambda: into({}),
    "not_cell": lambda: ms.load_param_into_net(3, {}),
    "not_dict": lambda: into([]),
    "bad_key": lambda: into({1: par([1], "x")}),
    "bad_value": lambda: into({"a.bias": 3}),
    "tensor_value": lambda: into({"a.bias": Tensor([3.0], ms.float32)}),
    "strict_type": lambda: into(bias(), strict_load=1),
    "redundancy_type": lambda: into(bias(), remove_redundancy=1),
    "redundancy": lambda: into(bias(), remove_redundancy=True),
}
