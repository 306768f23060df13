"""Damaged files: an error of a documented class in bounded time and memory, and nothing loaded."""

import json
import os
import random
import resource
import time

import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, nn
from mindjax.checkpoint import ckpt, wire
from tests.checkpoint.test_weights import mutated

COUNTS = [250, pytest.param(20_000, marks=pytest.mark.slow)]
VALUES = {"w": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.arange(4, dtype=np.int32)}
# What load_checkpoint and load_param_into_net document.
DOCUMENTED = (ValueError, RuntimeError, TypeError)
LONGEST_SECONDS = 5.0
MOST_MEMORY = 300 << 20


class Net(nn.Cell):
    """A network whose Parameters are zeros."""

    def __init__(self):
        super().__init__()
        for name, value in VALUES.items():
            setattr(self, name, Parameter(Tensor(np.zeros_like(value)), name=name))


def spans(content):
    """Find where the lengths and sizes of a ckpt file stand: mutating them hurts the most."""
    return [at for at in range(len(content)) if content[at] in (8, 10, 18, 26)]


def wrong_lengths(content, seed):
    """Put a huge or negative integer where a length or a size may stand."""
    at = seed.choice(spans(content)) + 1
    number = seed.choice([1 << 62, (1 << 64) - 1, 1 << 31, 0, 1 << 40])
    return content[:at] + wire.varint(number) + content[at + 1 :]


def wrong_header(content, seed):
    """Change numbers and names in a safetensors header that stays JSON."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    entry = header[seed.choice(sorted(set(header) - {"__metadata__"}))]
    key = seed.choice(["dtype", "shape", "data_offsets"])
    number = seed.choice([-1, 0, 1 << 62, 1 << 31, 1.5, None, "x", [], {}])
    if key == "dtype":
        entry[key] = seed.choice(["F64", "BOOL", "F4", number])
    elif seed.random() < 0.2:
        entry[key] = number
    else:
        entry[key][seed.randrange(len(entry[key]))] = number
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content[8 + length :]


def damage(kind, content, seed):
    if seed.random() < 0.4:
        return (wrong_lengths if kind == "ckpt" else wrong_header)(content, seed)
    return mutated(content, seed)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", ["ckpt", "safetensors"])
def test_nothing_is_loaded_from_a_damaged_file(tmp_path, kind, count):
    path = tmp_path / f"x.{kind}"
    parameters = [Parameter(Tensor(value), name=name) for name, value in VALUES.items()]
    ms.save_checkpoint(parameters, str(path), format=kind)
    content = path.read_bytes()
    path.chmod(0o600)
    seed = random.Random(count)
    net, refused = Net(), 0
    ms.load_checkpoint(str(path), Net(), format=kind)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    for _ in range(count):
        path.write_bytes(damage(kind, content, seed))
        start = time.perf_counter()
        try:
            ms.load_checkpoint(str(path), net, format=kind)
        except DOCUMENTED as error:
            refused += 1
            assert "\n" not in str(error)
            assert not net.w.asnumpy().any() and not net.b.asnumpy().any()
        else:
            net = Net()
        assert time.perf_counter() - start < LONGEST_SECONDS
    assert refused > count // 10 and os.listdir(tmp_path) == [path.name]
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - before < MOST_MEMORY


def test_a_tensor_of_impossible_size():
    """Huge sizes whose product overflows to what the file holds."""
    import io

    for dims in ((1 << 32, 1 << 32), (0, 1 << 62), (1 << 62, 0), (-1, -4), (1,) * 70):
        tensor = b"".join(wire.integer(1, dim) for dim in dims) + b"\x12\x07Float32"
        tensor += wire.prefix(3, 4) + bytes(4)
        body = b"\x0a\x01w" + wire.prefix(2, len(tensor)) + tensor
        with pytest.raises(ckpt.CkptError, match=r"shape"):
            ckpt.read(io.BytesIO(wire.prefix(1, len(body)) + body))
