"""Storages, devices, bytes, files, other libraries' arrays; what Parameters note."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor


def matrix() -> Any:
    return Tensor([[1.0, 2.0], [3.0, 4.0]], ms.float32)


def plain(tensor: Any) -> Any:
    return tensor.asnumpy().tolist()


def test_storage_is_that_of_the_base() -> None:
    x = matrix()
    assert x.untyped_storage().nbytes() == x[0].storage().nbytes() == 16
    assert [x[1].storage_offset(), x[:, 1].storage_offset(), x.storage_offset()] == [2, 1, 0]
    assert x[1].parent_tensor_ is x and x.parent_tensor_ is None
    y = Tensor([7.0, 8.0, 9.0, 10.0], ms.float32)
    y.untyped_storage().copy_(x.untyped_storage())
    assert plain(y) == [1, 2, 3, 4]
    with pytest.raises(NotImplementedError, match="make a new Tensor"):
        y.untyped_storage().resize_(3)
    with pytest.raises(RuntimeError, match="belongs to no Tensor"):
        ms.UntypedStorage().nbytes()


def test_set() -> None:
    x, y = matrix(), Tensor([5.0, 6.0], ms.float32)
    assert x.set_(y) is x and x.shape == (2,)
    x[0] = 9.0
    assert plain(y) == [9, 6]
    source = Tensor([1.0, 2.0, 3.0, 4.0], ms.float32)
    assert plain(x.set_(source.storage(), 1, (2,), (2,))) == [2, 4]
    assert plain(x.set_(source.storage(), 2)) == [3, 4]
    x[0] = 7.0
    assert plain(source) == [1, 2, 7, 4]
    assert x.set_().shape == (0,)
    with pytest.raises(TypeError, match="must be of Float32"):
        x.set_(Tensor([1]))


def test_bytes_and_files(tmp_path: Path) -> None:
    x = matrix()
    assert plain(Tensor.convert_bytes_to_tensor(x.get_bytes(), (2, 2), ms.float32)) == plain(x)
    path = str(tmp_path / "values")
    assert x.offload(path) and x.offload_file_path() == path
    assert plain(x + 1) == [[2, 3], [4, 5]]
    y = x.delete_()
    assert y is x and plain(x) == [[0, 0], [0, 0]]


def test_dlpack() -> None:
    x = matrix()
    assert plain(Tensor.from_dlpack(x.to_dlpack())) == plain(x)
    # On memory that XLA could share as well as on memory that it could not.
    for start in range(0, 64, 8):
        room = np.zeros(128, np.uint8)
        place = (start - room.ctypes.data) % 64
        array = room[place : place + 24].view(np.int64)
        array[:] = [0, 1, 2]
        y = Tensor.from_dlpack(array)
        array[0] = 9
        assert plain(y) == [0, 1, 2] and y.dtype == ms.int64


def test_devices() -> None:
    x = matrix()
    y = x.move_to("CPU")
    x[0, 0] = 9.0
    assert plain(y) == [[1, 2], [3, 4]]
    assert x.to_("CPU") is x and x.to_() is x
    pinned = x.pin_memory()
    assert pinned.is_pinned() and not x.is_pinned() and plain(pinned) == plain(x)
    assert plain(pinned * 1) == plain(x) and not pinned.is_pinned()
    x.data_sync()
    x.wait_pipeline()
    x.flush_from_cache()
    for arguments, text in ((("X",), "must be one of"), (("CPU", 3), "must be bool")):
        with pytest.raises(ValueError, match=text):
            x.move_to(*arguments)
    with pytest.raises(RuntimeError, match="finds no such device"):
        x.move_to("Ascend")


@pytest.mark.parametrize("graph", [False, True])
def test_sum_to_size(graph: bool) -> None:
    def run(x: Any) -> Any:
        return x.sum_to_size((1, 2)), x.sum_to_size(2), x.sum_to_size(()), x.sum_to_size(2, 2)

    outs = (ms.jit(run) if graph else run)(matrix())
    assert [plain(o) for o in outs] == [[[4, 6]], [4, 6], 10, [[1, 2], [3, 4]]]
    with pytest.raises(ValueError, match="is not expandable"):
        matrix().sum_to_size((3, 2))


def test_swap_tensors() -> None:
    x, w = matrix(), Parameter(Tensor([5.0], ms.float32), name="w")
    first, second = id(x), id(w)
    ms.swap_tensors(x, w)
    assert (id(x), id(w)) == (first, second)
    assert isinstance(x, Parameter) and x.name == "w" and plain(x) == [5]
    assert type(w) is Tensor and plain(w) == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match="Tensors are needed"):
        ms.swap_tensors(x, 3)  # type: ignore[arg-type]


def test_frombuffer() -> None:
    data = bytearray([1, 2, 3, 4, 5, 6])
    assert plain(ms.frombuffer(data, ms.uint8)) == [1, 2, 3, 4, 5, 6]
    assert plain(ms.frombuffer(data, dtype=ms.int16, count=2, offset=2)) == [1027, 1541]
    copied = ms.frombuffer(data, ms.uint8) * 1
    data[0] = 9
    assert plain(copied) == [1, 2, 3, 4, 5, 6]
    wrong: list[dict[str, Any]] = [
        {"dtype": ms.int32},
        {"dtype": ms.uint8, "count": 0},
        {"dtype": ms.uint8, "count": -3},
        {"dtype": ms.uint8, "offset": 9},
        {"dtype": ms.int32, "count": 2},
    ]
    for arguments in wrong:
        with pytest.raises(RuntimeError, match="For 'frombuffer'"):
            ms.frombuffer(data, **arguments)


def test_notes_of_tensors() -> None:
    x = matrix()
    assert (x.init, x.init_finished, x.virtual_flag, x.delta_seed) == (None, True, False, 0)
    assert not x.is_init() and not x.is_meta and not x.is_shared() and x.param_info is None
    x.set_init_flag(True)
    assert x.is_init() and x.init_flag
    handle = x.register_hook(print)
    assert x.hooks() == [print]
    handle.remove()
    assert x.hooks() == []
    symbol = ms.Symbol(max=32, divisor=2)
    assert Tensor(shape=(None, symbol, 2), dtype=ms.float32).symbolic_shape == [
        None,
        {"max": 32, "divisor": 2},
        2,
    ]
    assert x.symbolic_shape is None


DEFAULTS = {
    "cache_enable": (False, True, 1),
    "cache_shape": ([], [1, 2], 1),
    "comm_fusion": (1, 3, -1),
    "key": (-1, 2, "a"),
    "layerwise_parallel": (False, True, 1),
    "parallel_optimizer": (True, False, "a"),
    "parallel_optimizer_comm_recompute": (False, True, 1),
    "sliced": (False, True, None),
    "unique": (False, True, None),
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_notes_of_parameters(name: str) -> None:
    default, other, wrong = DEFAULTS[name]
    w = Parameter(Tensor([1.0], ms.float32), name="w")
    assert getattr(w, name) == default and getattr(w.param_info, name) == default
    setattr(w, name, other)
    assert getattr(w, name) == getattr(copy.copy(w), name) == other
    if wrong is not None:
        with pytest.raises((TypeError, ValueError), match=name):
            setattr(w, name, wrong)


def test_stages_of_parameters() -> None:
    w = Parameter(Tensor([1.0], ms.float32), name="w")
    w.add_pipeline_stage(1)
    with pytest.raises(TypeError, match="`stage` must be"):
        w.add_pipeline_stage(-1)
    with pytest.raises(TypeError, match="`layerwise_parallel`"):
        Parameter(Tensor([1.0]), layerwise_parallel=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shape", "known", "text"),
    [
        ([3, None], (3, -1), "Tensor(shape=[3, -1], dtype=Float32, value=\n)"),
        ([3, -1], (3, -1), "Tensor(shape=[3, -1], dtype=Float32, value=\n)"),
        ([None], (-1,), "Tensor(shape=[-1], dtype=Float32, value= )"),
        (None, (-2,), "Tensor(shape=[-2], dtype=Float32, value= )"),
    ],
)
def test_unknown_sizes(shape, known, text):
    """Recorded from MindSpore 2.10.0; what has no values is not computed with."""
    declared = Tensor(shape=shape, dtype=ms.float32)
    assert (declared.shape, declared.ndim, repr(declared)) == (known, len(known), text)
    with pytest.raises(ValueError, match="only declares an input"):
        declared + 1
    with pytest.raises(ValueError, match="only declares an input"):
        declared.asnumpy()
    for again in (copy.copy(declared), copy.deepcopy(declared), pickled(declared)):
        assert (again.shape, repr(again)) == (known, text)


def pickled(value: Any) -> Any:
    """Give what a value is after pickling."""
    return pickle.loads(pickle.dumps(value))


def test_names_of_unnamed_parameters():
    """Named ones do not count, as in MindSpore 2.10.0."""
    data = Tensor(np.zeros(2, np.float32))
    first = Parameter(data)
    Parameter(data, name="w")
    assert int(Parameter(data).name.partition("#")[2]) == int(first.name.partition("#")[2]) + 1
