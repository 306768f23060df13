"""What the original has no word on: killed writers, background saves, unsupported arguments."""

import io
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, checkpoint, nn
from mindjax.checkpoint import async_ckpt_thread_status, ckpt, load_checkpoint_async
from mindjax.checkpoint.save import _Paced, wait_async_save
from mindjax.core import atomic

# Writes a file over and over in a child process, for each line on its input that names it; one
# interpreter for all children, since importing takes longer than the test.
NURSERY = """
import os, sys
import numpy as np
from mindjax.checkpoint import ckpt
from mindjax.core.atomic import replacing

def write(path, number):
    entries = {f"p{i}": np.full(100_000, number, np.int64) for i in range(10)}
    while True:
        with replacing(path) as file:
            ckpt.write(file, entries.items(), True)

for line in sys.stdin:
    path, number = line.split()
    child = os.fork()
    if child == 0:
        write(path, int(number))
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
"""


def parameter(values=(1.0, 2.0), name="w"):
    return Parameter(Tensor(np.array(values, np.float32)), name=name)


@pytest.mark.parametrize("tries", [8, pytest.param(100, marks=pytest.mark.slow)])
def test_a_killed_writer_never_loses_the_file(tmp_path, tries):
    """Writers are killed with SIGKILL at random points of an 8 MB file."""
    path = str(tmp_path / "net.ckpt")
    with atomic.replacing(path) as file:
        ckpt.write(file, {"p0": np.full(5, -1)}.items(), True)
    nursery = subprocess.Popen(
        [sys.executable, "-c", NURSERY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    seed = random.Random(0)
    numbers = set()
    with nursery:
        for number in range(tries):
            nursery.stdin.write(f"{path} {number}\n")
            before, child = os.stat(path).st_ino, int(nursery.stdout.readline())
            if number % 2:
                # However slow the disk is, some of them finish a file.
                until = time.monotonic() + 10
                while os.stat(path).st_ino == before and time.monotonic() < until:
                    time.sleep(0.001)
            time.sleep(seed.uniform(0.005, 0.08))
            os.kill(child, signal.SIGKILL)
            assert nursery.stdout.readline() == "gone\n"
            with open(path, "rb") as file:
                found = ckpt.read(file, crc_check=True)
            values = {int(value) for array in found.values() for value in np.unique(array)}
            assert len(values) == 1
            numbers |= values
        nursery.stdin.close()
    assert len(numbers) > 1
    # What the killed ones left is removed by the next save of any file in the folder.
    with atomic.replacing(str(tmp_path / "other.ckpt")) as file:
        file.write(b"x")
    assert sorted(os.listdir(tmp_path)) == ["net.ckpt", "other.ckpt"]


def test_the_newest_complete_file_is_found(tmp_path):
    assert checkpoint.newest_checkpoint(str(tmp_path)) is None
    for epoch in range(1, 5):
        ms.save_checkpoint([parameter()], str(tmp_path / f"net-{epoch}_10.ckpt"), crc_check=True)
        os.utime(tmp_path / f"net-{epoch}_10.ckpt", ns=(0, epoch // 2))
    ms.save_checkpoint([parameter()], str(tmp_path / "other"), format="safetensors")
    os.utime(tmp_path / "other.safetensors", ns=(0, 9))

    def newest(prefix=""):
        return os.path.basename(checkpoint.newest_checkpoint(str(tmp_path), prefix) or "")

    assert newest() == "other.safetensors" and newest("net") == "net-4_10.ckpt"
    for name, expected in (("net-4_10.ckpt", "net-3_10.ckpt"), ("net-3_10.ckpt", "net-2_10.ckpt")):
        path = tmp_path / name
        path.chmod(0o600)
        content = bytearray(path.read_bytes())
        if name == "net-4_10.ckpt":
            del content[-5:]
        else:
            content[len(content) // 2] ^= 1
        path.write_bytes(bytes(content))
        os.utime(path, ns=(0, 5))
        assert newest("net") == expected
    with pytest.raises(NotADirectoryError, match="folder"):
        checkpoint.newest_checkpoint(str(tmp_path / "no"))


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "a.ckpt"
    path = str(file)
    ms.save_checkpoint([parameter()], path)
    before = file.read_bytes()

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ckpt, "write", full)
    with pytest.raises(OSError, match="No space left") as caught:
        ms.save_checkpoint([parameter([3.0])], path)
    assert caught.value.errno == 28 and __file__ in str(caught.value)
    assert file.read_bytes() == before and os.listdir(tmp_path) == ["a.ckpt"]


@pytest.mark.parametrize("how", [True, "thread", "process"])
def test_async_save(tmp_path, how):
    w = parameter()
    ms.save_checkpoint([w], str(tmp_path / "a.ckpt"), async_save=how)
    w.set_data(Tensor(np.array([8.0, 9.0], np.float32)))
    wait_async_save()
    found = ms.load_checkpoint(str(tmp_path / "a.ckpt"))
    assert found["w"].asnumpy().tolist() == [1.0, 2.0]
    assert not async_ckpt_thread_status()


def test_a_background_save_rests_between_its_pieces():
    rests, file = [], io.BytesIO()

    class Hurry(threading.Event):
        def wait(self, timeout=None):
            rests.append(timeout)
            return True

    data = np.arange(1 << 18, dtype=np.int64)
    _Paced(file, Hurry()).write(data.data)
    assert file.getvalue() == data.tobytes()
    assert len(rests) == 2
    assert sum(rests) > 0


def test_async_failure_is_raised_by_the_next_save(tmp_path):
    ms.save_checkpoint([parameter()], str(tmp_path / "no" / "a.ckpt"), async_save=True)
    with pytest.raises(RuntimeError, match=r"asynchronous save of .*a\.ckpt failed"):
        ms.save_checkpoint([parameter()], str(tmp_path / "b.ckpt"))
    ms.save_checkpoint([parameter()], str(tmp_path / "b.ckpt"))


def test_async_failure_is_reported_at_exit(tmp_path):
    program = (
        "import mindjax as ms, numpy as np\n"
        "w = ms.Parameter(np.ones(2, np.float32), name='w')\n"
        f"ms.save_checkpoint([w], {str(tmp_path / 'no' / 'a.ckpt')!r}, async_save=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "asynchronous save" in done.stderr and "a.ckpt failed" in done.stderr


def test_load_async(tmp_path):
    ms.save_checkpoint([parameter()], str(tmp_path / "a.ckpt"))
    future = load_checkpoint_async(str(tmp_path / "a.ckpt"))
    assert future.result()["w"].asnumpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="does not exist"):
        load_checkpoint_async(str(tmp_path / "b.ckpt")).result()


UNSUPPORTED = {
    "incremental": lambda path: ms.save_checkpoint([parameter()], path, incremental=True),
    "global_step_num": lambda path: ms.save_checkpoint([parameter()], path, global_step_num=3),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_argument(name, tmp_path):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint([parameter()], path)
    with pytest.raises(NotImplementedError, match=f"'{name}' is not supported: ") as caught:
        UNSUPPORTED[name](path)
    assert __file__ in str(caught.value)


def test_unknown_keyword(tmp_path):
    with pytest.raises(TypeError, match="'colour'"):
        ms.save_checkpoint([parameter()], str(tmp_path / "a"), colour=1)


def test_dict_values(tmp_path):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint({"t": Tensor([1.5]), "n": np.ones((2, 1), np.int8), "s": "x"}, path)
    found = ms.load_checkpoint(path)
    assert found["s"] == "x" and found["t"].asnumpy().tolist() == [1.5]
    assert found["n"].shape == (2, 1) and found["n"].dtype == ms.int8
    with pytest.raises(TypeError, match="value should be Parameter"):
        ms.save_checkpoint({"a": 1}, path)


def test_generator_is_appended(tmp_path):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint([parameter()], path, append_dict={"g": ms.Generator()})
    assert ms.load_checkpoint(path)["g"].size > 0


def test_bytesio(tmp_path):
    path = tmp_path / "a.safetensors"
    ms.save_checkpoint([parameter()], str(path), format="safetensors")
    stream = io.BytesIO(path.read_bytes())
    found = ms.load_checkpoint(stream, format="safetensors")
    assert found["w"].asnumpy().tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="BytesIO"):
        ms.load_checkpoint(io.BytesIO(b""))


def test_a_loaded_parameter_is_its_own(tmp_path):
    """Neither the file nor the dictionary shares memory with the network."""
    path = str(tmp_path / "a.ckpt")
    net = nn.Dense(2, 1, weight_init="ones")
    ms.save_checkpoint(net, path)
    found = ms.load_checkpoint(path)
    os.remove(path)
    ms.load_param_into_net(net, found)
    net.weight.set_data(Tensor(np.zeros((1, 2), np.float32)))
    assert found["weight"].asnumpy().tolist() == [[1.0, 1.0]]
    assert found["weight"].requires_grad and found["weight"].name == "weight"


def test_a_symbolic_link_stays(tmp_path):
    real = tmp_path / "real.ckpt"
    ms.save_checkpoint([parameter()], str(real))
    link = tmp_path / "link.ckpt"
    link.symlink_to(real)
    ms.save_checkpoint([parameter([5.0])], str(link))
    assert link.is_symlink()
    assert ms.load_checkpoint(str(real))["w"].asnumpy().tolist() == [5.0]


def test_no_permission_to_read(tmp_path, monkeypatch):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint([parameter()], path)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ValueError, match="May not have permission to read it"):
        ms.load_checkpoint(path)


def test_segments_are_one_dictionary(tmp_path):
    for name, values in (("a", [1.0]), ("b", [2.0])):
        ms.save_checkpoint([parameter(values, name)], str(tmp_path / f"{name}.ckpt"))
    found = ms.load_segmented_checkpoints(str(tmp_path))
    assert {k: v.asnumpy().tolist() for k, v in found.items()} == {"a": [1.0], "b": [2.0]}
    with pytest.raises(ValueError, match="not a directory"):
        ms.load_segmented_checkpoints(str(tmp_path / "a.ckpt"))
    with pytest.raises(TypeError, match="should be a str"):
        ms.load_segmented_checkpoints(3)


@pytest.mark.parametrize("prefix", ["", "old."])
@pytest.mark.parametrize("wrong", [np.zeros(5, np.float32), np.zeros((2, 3), bool)])
def test_an_error_loads_nothing(prefix, wrong):
    net = nn.SequentialCell(nn.Dense(3, 2), nn.Dense(3, 2))
    before = {n: p.asnumpy() for n, p in net.parameters_and_names()}
    given = {prefix + n: Parameter(Tensor(np.ones_like(v)), name=n) for n, v in before.items()}
    last = [n for n in given if n.endswith("weight")][-1]
    given[last] = Parameter(Tensor(wrong), name=last)
    with pytest.raises(RuntimeError, match="should have the same"):
        ms.load_param_into_net(net, given)
    for name, p in net.parameters_and_names():
        np.testing.assert_array_equal(p.asnumpy(), before[name])


def test_steps_of_loading_that_libraries_take():
    from mindjax.train.serialization import _load_dismatch_prefix_params, _update_param

    net = nn.Dense(2, 2, has_bias=False)
    new = Parameter(Tensor(np.full((2, 2), 3, np.float32)), name="module.weight")
    missing = ["weight"]
    _load_dismatch_prefix_params(net, {"module.weight": new}, missing, True)
    assert missing == ["weight"] and not (net.weight.asnumpy() == 3).all()
    _load_dismatch_prefix_params(net, {"module.weight": new}, missing, False)
    assert not missing and (net.weight.asnumpy() == 3).all()
    _update_param(net.weight, Parameter(new + 1, name="other"), True)
    assert (net.weight.asnumpy() == 4).all()
    with pytest.raises(RuntimeError, match="weight"):
        _update_param(net.weight, Parameter(Tensor([1.0]), name="other"), False)
