"""Members of the Cell that hold state, notes of the original's, and moves between dtypes."""

from __future__ import annotations

import copy
import gc
import time
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn

X = ms.Tensor(np.ones((3, 2), np.float32))


class Counter(nn.Cell):
    """A dense layer, a buffer and a number of its own."""

    def __init__(self, number: int = 0) -> None:
        super().__init__()
        self.dense = nn.Dense(2, 2)
        self.number = number
        self.register_buffer("shift", ms.Tensor([1.0, 2.0]))

    def get_extra_state(self) -> Any:
        return {"number": self.number}

    def set_extra_state(self, state: Any) -> None:
        self.number = state["number"]

    def construct(self, x: Any) -> Any:
        return self.dense(x) + self.shift


def test_state_goes_over() -> None:
    one, two = Counter(3), Counter()
    state = one.state_dict()
    assert list(state) == ["shift", "_extra_state", "dense.weight", "dense.bias"]
    assert state["dense.weight"] is one.dense.weight
    assert list(state._metadata) == ["", "dense"]
    found = two.load_state_dict(state)
    assert (found.missing_keys, found.unexpected_keys) == ([], [])
    assert repr(found) == "<All keys matched successfully>"
    assert two.number == 3
    np.testing.assert_array_equal(two(X).asnumpy(), one(X).asnumpy())
    one.dense.weight.set_data(ms.Tensor(np.zeros((2, 2), np.float32)))
    assert two.dense.weight.asnumpy().any()


def test_what_does_not_fit() -> None:
    cell = nn.Dense(2, 2)
    with pytest.raises(RuntimeError, match=r'Missing key.*"weight".*Unexpected key.*"other"'):
        cell.load_state_dict({"other": X, "bias": cell.bias})
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        cell.load_state_dict({"weight": X}, strict=False)
    found = cell.load_state_dict({"other": X}, strict=False)
    assert found == (["weight", "bias"], ["other"])
    with pytest.raises(TypeError, match="dict-like"):
        cell.load_state_dict([])
    with pytest.raises(RuntimeError, match="get_extra_state"):
        cell.get_extra_state()
    with pytest.raises(TypeError, match="prefix"):
        cell.state_dict(prefix=3)


def test_hooks_of_state() -> None:
    cell, seen = Counter(), []
    handles = [
        cell.register_state_dict_pre_hook(lambda c, prefix, keep: seen.append(prefix)),
        cell.register_state_dict_post_hook(lambda c, state, p, note: state.update(extra=X)),
        cell.register_load_state_dict_pre_hook(lambda c, state, *rest: state.pop("extra")),
        cell.register_load_state_dict_post_hook(lambda c, keys: seen.append(len(keys[0]))),
    ]
    state = cell.state_dict(prefix="")
    cell.load_state_dict(state)
    assert seen == ["", 0]
    assert "extra" in state
    for handle in handles:
        handle.remove()
    assert "extra" not in cell.state_dict()
    cell.register_state_dict_post_hook(lambda *args: 3)
    with pytest.raises(RuntimeError, match="None"):
        cell.state_dict()


def test_to_another_dtype() -> None:
    cell = Counter()
    cell.register_buffer("count", ms.Tensor([3]))
    optimizer_sees = cell.dense.weight
    assert cell.to(ms.float16) is cell
    assert {str(p.dtype) for p in cell.get_parameters()} == {"Float16"}
    assert (str(cell.shift.dtype), str(cell.count.dtype)) == ("Float16", "Int64")
    assert cell.dense.weight is optimizer_sees
    assert cell(X.astype(ms.float16)).dtype is ms.float16
    cell.to("CPU", dtype=ms.float32)
    assert cell(X).dtype is ms.float32
    with pytest.raises(TypeError, match="floating point"):
        cell.to(ms.int32)
    cell.to_empty(device="CPU")
    assert not cell.dense.weight.asnumpy().any()


def test_saved_tensors(mode: int) -> None:
    cell, seen = Counter(), []
    plain = ms.grad(cell)(X).asnumpy()

    def pack(x: Any) -> Any:
        seen.append(x.shape)
        return x * 2

    cell.register_saved_tensors_hooks(pack, lambda x: x / 2)
    np.testing.assert_allclose(ms.grad(cell)(X).asnumpy(), plain, 1e-6)
    assert seen


def test_notes() -> None:
    gc.collect()
    before, count = time.time_ns(), nn.Cell.total_instance_count
    cell = Counter()
    twin = copy.deepcopy(cell)
    assert nn.Cell.total_instance_count == count + 4
    assert before <= cell.create_time <= time.time_ns()
    del twin
    gc.collect()
    assert nn.Cell.total_instance_count == count + 2
    assert cell.exist_names == {"dense.weight", "dense.bias"}
    assert cell.exist_objs == set(cell.get_parameters())
    cell.compile_phase = "train"
    assert cell.dense.compile_phase == "train"
    for name, wrong in (("phase", 3), ("bprop_debug", 1), ("pipeline_stage", "a")):
        with pytest.raises(TypeError, match=name):
            setattr(cell, name, wrong)
    with pytest.raises(ValueError, match="pipeline_stage"):
        cell.pipeline_stage = -1
    assert not cell.enable_backward_hook
    cell.dense.register_backward_hook(lambda *args: None)
    assert cell.enable_backward_hook
    cell.generate_scope()
    assert cell.dense.get_scope() == "Default/dense-Dense"
    assert cell.get_scope() is None
    with pytest.raises(ValueError, match="less_bn"):
        cell.set_boost("more")
    assert cell.set_boost("less_bn").dense.less_bn
    with pytest.raises(ValueError, match="backward_prefetch"):
        cell.offload("soon")
    assert cell.run_construct((X,), {}).shape == (3, 2)


def test_programs_are_listed() -> None:
    cell = Counter()
    assert not cell.compiled
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        cell(X)
        cell(X[:2])
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert cell.compiled
    assert len(cell.compile_cache) == len(cell.phase_cache) == 2


def test_no_init_parameters() -> None:
    with nn.utils.no_init_parameters():
        cell = nn.Dense(2, 2)
    assert not any(p.init_param for p in cell.get_parameters())
    assert nn.Dense(2, 2).weight.init_param
    assert cell.weight.asnumpy().any()


def test_what_is_not_supported() -> None:
    with pytest.raises(NotImplementedError, match="construct"):
        Counter().register_parameter_forward_hook(lambda p: p)
    with pytest.raises(NotImplementedError, match="MINDIR"):
        Counter().get_func_graph_proto()
