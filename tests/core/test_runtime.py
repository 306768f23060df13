"""Streams, events, memory, device settings and what the original's devices alone can do."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import mindjax as ms

ms.install()

from mindjax import Tensor, hal, ops, runtime  # noqa: E402
from mindjax.runtime import execution  # noqa: E402
from mindjax.runtime import memory as memory_part  # noqa: E402
from mindjax.runtime.once import Once  # noqa: E402


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    """Let the settings that may be made once be made in every test."""
    monkeypatch.setattr(memory_part, "_configured", Once("set_memory"))
    monkeypatch.setattr(execution, "_threads", Once("dispatch_threads_num"))
    monkeypatch.setattr(execution, "_group", Once("kernel_launch_group"))
    monkeypatch.setattr(execution, "_capture", Once("kernel_launch_capture"))
    monkeypatch.setattr(execution, "_affinity", Once("set_cpu_affinity"))


def test_streams_keep_the_order_of_dispatch():
    x = Tensor(np.ones((256, 256), np.float32))
    first, second = runtime.Stream(), hal.Stream(priority=1)
    with runtime.StreamCtx(first):
        assert runtime.current_stream() == first
        y = ops.matmul(x, x)
        event = first.record_event()
    assert runtime.current_stream() == runtime.default_stream()
    second.wait_event(event)
    second.wait_stream(first)
    with ms.StreamCtx(second):
        z = y + 1
    event.synchronize()
    assert event.query()
    ms.synchronize()
    assert first.query() and runtime.current_stream().query()
    assert float(z.asnumpy()[0, 0]) == 257
    assert first != second
    assert hash(first) == first.id
    assert ms.communication_stream() == ms.default_stream() != first
    assert str(runtime.default_stream()) == "Stream(device_name=CPU, device_id:0, stream id:0)"


def test_times():
    start, end = runtime.Event(enable_timing=True), runtime.Event(enable_timing=True)
    start.record()
    time.sleep(0.02)
    end.record(runtime.current_stream())
    assert 20 <= start.elapsed_time(end) < 2000
    with pytest.raises(RuntimeError, match="enable_timing"):
        runtime.Event().elapsed_time(end)


def test_memory_of_a_cpu_is_not_kept():
    stats = runtime.memory_stats()
    assert stats["total_allocated_memory"] == ms.memory_allocated() == hal.memory_allocated() == 0
    assert stats["common_mem_pool_stats"]["block_counts"] == 0
    assert runtime.memory_summary() == hal.memory_summary("CPU")
    assert "| Max allocated memory |      0 B             |" in ms.memory_summary()
    runtime.empty_cache()


def test_peaks_since_a_reset():
    peaks = memory_part.Peaks(("bytes_in_use",), ("peak_bytes_in_use",))
    assert peaks.largest({"bytes_in_use": 5, "peak_bytes_in_use": 9}, 0) == 9
    peaks.reset({"bytes_in_use": 5, "peak_bytes_in_use": 9}, 0)
    assert peaks.largest({"bytes_in_use": 5, "peak_bytes_in_use": 9}, 0) == 5
    assert peaks.largest({"bytes_in_use": 7, "peak_bytes_in_use": 9}, 0) == 7
    assert peaks.largest({"bytes_in_use": 2, "peak_bytes_in_use": 9}, 0) == 7
    assert peaks.largest({"bytes_in_use": 2, "peak_bytes_in_use": 12}, 0) == 12


def test_devices():
    assert hal.is_available("CPU") and not hal.is_available("Ascend")
    assert hal.device_count() == len(__import__("jax").local_devices())
    assert hal.get_device_name(0) == "CPU"
    assert hal.get_device_properties(0) is hal.get_device_capability(0) is hal.get_arch_list()
    info = ms.get_current_device()
    assert info == ("CPU", 0) == (info.device_target, info.device_id)
    assert ms.device_context.cpu.device_count() == hal.device_count()
    assert not ms.device_context.gpu.is_available()


def test_the_device_of_a_block():
    with ms.DeviceCtx("CPU") as outer:
        assert ms.get_current_device() == ("CPU", 0)
        with ms.DeviceCtx("CPU", 0), outer:
            assert Tensor([1.0]).sum().asnumpy() == 1
    assert ms.get_current_device() == ("CPU", 0)
    if not hal.is_available("GPU"):
        with pytest.raises(RuntimeError, match="GPU"):
            ms.DeviceCtx("GPU").__enter__()
        assert ms.get_current_device() == ("CPU", 0)
    with pytest.raises(NotImplementedError, match="meta"):
        ms.DeviceCtx("meta").__enter__()


def test_importing_starts_no_backend():
    program = (
        "import mindjax; mindjax.install()\n"
        "import mindspore.hal, mindspore.runtime, mindspore.utils, mindspore.multiprocessing\n"
        "import mindspore.device_context.ascend.op_precision as p, mindspore.tools\n"
        "from mindspore import hal, runtime, nn\n"
        "from mindspore.nn.probability import distribution as msd\n"
        "runtime.set_memory(max_size='8GB'); p.precision_mode('force_fp32')\n"
        "msd.Normal([1.0], [2.0]); msd.Gumbel(1.0, 2.0)\n"
        "from mindjax.core.jax_private import started_backends\n"
        "print(hal.is_initialized('CPU'), started_backends())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False {}\n", done.stderr


def test_settings_that_may_be_made_once():
    runtime.set_memory("2GB", "1GB", "8.5GB", "O1")
    with pytest.raises(RuntimeError, match="repeatedly"):
        runtime.set_memory()
    runtime.dispatch_threads_num(3)
    with pytest.raises(RuntimeError, match="repeatedly"):
        runtime.dispatch_threads_num(3)
    runtime.set_kernel_launch_group(2, 4)
    with pytest.raises(RuntimeError, match="together"):
        runtime.set_kernel_launch_capture(True)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinities")
def test_affinity():
    before = os.sched_getaffinity(0)
    one = min(before)
    try:
        runtime.set_cpu_affinity(True, {"device0": [f"{one}-{one}"]}, {"main": [0]})
        assert os.sched_getaffinity(0) == {one}
    finally:
        os.sched_setaffinity(0, before)


def test_every_op_of_a_thread_is_seen():
    seen = []

    class Log(ms.utils.MsDispatchMode):
        def __ms_dispatch__(self, func, args, kwargs=None):
            seen.append(func.name)
            return func(*args)

    class Double(ms.utils.MsDispatchMode):
        def __ms_dispatch__(self, func, args, kwargs=None):
            return func(*args) * 2

    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    with Log():
        z = x + y
        with Double():
            doubled = x + y
        w = z - y
    out = x * y
    assert seen == ["Add", "Sub"]
    assert doubled.asnumpy().tolist() == [8, 12]
    assert w.asnumpy().tolist() == [1, 2]
    assert out.asnumpy().tolist() == [3, 8]


def test_tensors_of_other_libraries():
    x = Tensor([1.0, 2.0])
    back = ms.utils.from_dlpack(ms.utils.to_dlpack(x))
    assert back.asnumpy().tolist() == [1, 2]


def test_quantized_types():
    assert ms.QuantDtype.INT8.value() == 7
    assert str(ms.QuantDtype.UINT4) == "UINT4"
    assert (repr(ms.hifloat8), str(ms.qint4x2)) == ("mindspore.hifloat8", "Int4")
    with pytest.raises(TypeError, match="HiFloat8 has no numpy dtype"):
        Tensor([1.0]).astype(ms.hifloat8)


def test_parameter_servers_are_refused():
    assert ms.get_ps_context("enable_ps") is False
    ms.set_ps_context(enable_ps=False)
    with pytest.raises(NotImplementedError, match="enable_ps"):
        ms.set_ps_context(enable_ps=True)
    with pytest.raises(ValueError, match="zzz"):
        ms.context.set_ps_context(zzz=1)
    ms.context.reset_ps_context()


def _square(x):
    return x * x


def test_multiprocessing():
    assert ms.multiprocessing.cpu_count() == os.cpu_count()
    assert issubclass(ms.multiprocessing.ProcessError, Exception)


REFUSED = {
    "stress": lambda: ms.tools.stress_detect(),
    "sdc": lambda: ms.utils.sdc_detect_start(),
    "dump": lambda: ms.set_dump(3),
    "replay": lambda: runtime.memory_replay("x"),
    "pool": lambda: runtime.use_mem_pool(runtime.MemPool(None)).__enter__(),
    "limit": lambda: runtime.set_device_limit(0, 3, 4),
    "stream_limit": lambda: runtime.StreamLimitCtx(runtime.default_stream(), 3).__enter__(),
    "order": lambda: ms.utils.comm_exec_order_check("start"),
    "orders": lambda: ms.utils.runtime_execution_order_check("folder"),
    "obfuscate": lambda: ms.obfuscate_ckpt(None, "x"),
    "obfuscated": lambda: ms.load_obf_params_into_net(None),
    "bind_file": lambda: runtime.set_cpu_affinity(True, bind_file="x"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(NotImplementedError, match=r"For '.*: .*\[.*:\d+\]$|give 'affinity"):
        REFUSED[name]()


WRONG = {
    "stream": (TypeError, lambda: runtime.Stream("a")),
    "event": (TypeError, lambda: runtime.Event(1)),
    "record": (TypeError, lambda: runtime.Event().record(3)),
    "wait": (TypeError, lambda: runtime.default_stream().wait_event(3)),
    "wait_stream": (TypeError, lambda: runtime.default_stream().wait_stream(3)),
    "equal": (TypeError, lambda: runtime.default_stream() == 3),
    "context": (TypeError, lambda: runtime.StreamCtx(3)),
    "current": (TypeError, lambda: runtime.set_cur_stream(3)),
    "elapsed": (TypeError, lambda: runtime.Event(True).elapsed_time(3)),
    "target": (ValueError, lambda: hal.is_available("X")),
    "absent": (ValueError, lambda: hal.memory_stats("Ascend")),
    "target_type": (TypeError, lambda: hal.device_count(3)),
    "device": (ValueError, lambda: hal.get_device_name(99)),
    "device_type": (TypeError, lambda: hal.get_device_name("a")),
    "block": (ValueError, lambda: ms.DeviceCtx("X").__enter__()),
    "block_device": (ValueError, lambda: ms.DeviceCtx("CPU", -1).__enter__()),
    "count": (RuntimeError, lambda: ms.device_context.ascend.device_count()),
    "size": (ValueError, lambda: runtime.set_memory(max_size="x")),
    "size_zero": (ValueError, lambda: runtime.set_memory(init_size="0GB")),
    "size_type": (TypeError, lambda: runtime.set_memory(1)),
    "level": (ValueError, lambda: runtime.set_memory(optimize_level="O2")),
    "threads": (ValueError, lambda: runtime.dispatch_threads_num(0)),
    "group": (ValueError, lambda: runtime.set_kernel_launch_group(3, 8)),
    "cpus": (ValueError, lambda: runtime.set_cpu_affinity(True, {"device0": ["9999"]})),
    "precision": (
        ValueError,
        lambda: ms.device_context.ascend.op_precision.precision_mode("zz"),
    ),
    "algorithm": (ValueError, lambda: ms.device_context.gpu.op_tuning.conv_fprop_algo("zz")),
    "tf32": (TypeError, lambda: ms.device_context.gpu.op_precision.conv_allow_tf32(3)),
    "timeout": (ValueError, lambda: ms.device_context.ascend.op_debug.execute_timeout(-1)),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name):
    error, case = WRONG[name]
    with pytest.raises(error, match=r"\[.*test_runtime.py:\d+\]$") as caught:
        case()
    assert caught.type is error
