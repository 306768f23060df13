"""Traces: steps, operators, marks and memory are in the files that tools read."""

import csv
import gzip
import json
import logging
import sqlite3

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, nn, profiler, train
from mindjax import dataset as ds
from mindjax.profiler.schedule import ProfilerAction

CONFIG = profiler._ExperimentalConfig
X = Tensor(np.ones((64, 64), np.float32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(64, 64)

    def construct(self, x):
        return self.fc(x).sum()


def table(folder, name):
    with open(folder / "ASCEND_PROFILER_OUTPUT" / f"{name}.csv") as file:
        return list(csv.DictReader(file))


def timeline(folder):
    text = (folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").read_text()
    return {event.get("name") for event in json.loads(text)["traceEvents"]}


def test_a_schedule(tmp_path, caplog):
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    net(X).asnumpy()
    config = CONFIG(mstx=True, mstx_domain_exclude=["hidden"])
    with profiler.profile(
        schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1),
        on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path), "me"),
        profile_memory=True,
        experimental_config=config,
    ) as prof:
        prof.add_metadata("author", "me")
        prof.add_metadata_json("numbers", "[1, 2]")
        prof.add_metadata_json("broken", "[1,")
        for _ in range(9):
            number = profiler.mstx.range_start("forward")
            profiler.mstx.mark("secret", domain="hidden")
            net(X).asnumpy()
            profiler.mstx.range_end(number)
            prof.step()
    folders = sorted(tmp_path.glob("me_*_ascend_ms"))
    assert len(folders) == 2
    assert [row["Step"] for row in table(folders[0], "step_trace_time")] == ["3", "4"]
    assert [row["Step"] for row in table(folders[1], "step_trace_time")] == ["7", "8"]
    step = table(folders[0], "step_trace_time")[0]
    assert 0 < float(step["Computing(us)"]) <= float(step["Duration(us)"])
    kernels = table(folders[0], "kernel_details")
    assert {row["Step Id"] for row in kernels} == {"3", "4"}
    assert all("ms_Net" in row["Module"] or "Runner" in row["Module"] for row in kernels)
    share = sum(float(row["Ratio(%)"]) for row in table(folders[0], "op_statistic"))
    assert share == pytest.approx(100, abs=0.1)
    (program,) = table(folders[0], "program_statistic")
    assert int(program["Count"]) == 2
    names = timeline(folders[0])
    assert {"ProfilerStep 3", "ProfilerStep 4", "forward"} <= names and "secret" not in names
    memory = [row for row in table(folders[0], "memory_record") if row["Step"] in "34"]
    assert len(memory) == 2 and float(memory[0]["Total Allocated(KB)"]) > 16
    assert gzip.decompress((folders[0] / "memory.prof").read_bytes())
    metadata = json.loads((folders[0] / "profiler_metadata.json").read_text())
    assert metadata == {"author": "me", "numbers": [1, 2]}
    assert "json format" in caplog.text


def test_profiler_of_operators(tmp_path):
    x = X * 1
    prof = ms.Profiler(start_profile=False, output_path=str(tmp_path))
    prof.start()
    ms.ops.matmul(x, x).asnumpy()
    prof.stop()
    prof.analyse(pretty=True)
    found = json.loads(prof.op_analyse(["MatMul", "Conv2D"]))
    assert sum(row["op_occurrences"] for row in found["MatMul"]) >= 1 and found["Conv2D"] == []
    (folder,) = tmp_path.glob("*_ascend_ms")
    assert table(folder, "op_statistic")
    (folder / "ASCEND_PROFILER_OUTPUT" / "op_statistic.csv").unlink()
    ms.Profiler.offline_analyse(str(tmp_path))
    assert table(folder, "op_statistic")
    with pytest.raises(TypeError, match="op_name"):
        prof.op_analyse(3)
    with pytest.raises(TypeError, match="device_id"):
        prof.op_analyse("MatMul", "0")
    with pytest.raises(ValueError, match="mode"):
        prof.analyse(mode="later")


def test_the_whole_run_with_python_calls_as_a_database(tmp_path):
    config = CONFIG(export_type=[profiler.ExportType.Db])
    handler = profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False)
    with profiler.profile(with_stack=True, on_trace_ready=handler, experimental_config=config) as p:
        (X + 1).asnumpy()
        with pytest.raises(RuntimeError):
            profiler.profile()
    session = p._last
    session.analyse(async_mode=True)
    session._thread.join()
    output = session.folder / "ASCEND_PROFILER_OUTPUT"
    database = sqlite3.connect(output / "ascend_mindspore_profiler.db")
    assert database.execute('SELECT "Count" FROM op_statistic').fetchall()
    database.close()
    assert any("py:" in str(name) for name in timeline(session.folder))


def test_a_training_is_profiled_on_request(tmp_path, capsys):
    monitor = profiler.DynamicProfilerMonitor(str(tmp_path), str(tmp_path / "out"), 1)
    config = tmp_path / "profiler_config.json"
    wanted = json.loads(config.read_text())
    assert wanted["start_step"] == -1
    config.write_text(json.dumps({**wanted, "start_step": 2, "stop_step": 3, "analyse": True}))
    data = ds.NumpySlicesDataset((np.ones((8, 2), np.float32), np.ones((8, 1), np.float32)))
    net = nn.Dense(2, 1)
    model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    model.train(1, data.batch(2), callbacks=monitor)
    (folder,) = (tmp_path / "out" / "rank0_start2_stop3").glob("*_ascend_ms")
    assert [row["Step"] for row in table(folder, "step_trace_time")] == ["0", "1"]
    assert "start at step 2" in capsys.readouterr().out


def test_the_environment_starts_it(tmp_path, monkeypatch):
    options = {"start": True, "output_path": str(tmp_path), "activities": ["CPU"], "aic_metrics": 3}
    monkeypatch.setenv("MS_PROFILER_OPTIONS", json.dumps(options))
    profiler.EnvProfiler.init_profiler()
    (X + 1).asnumpy()
    profiler.EnvProfiler().analyse()
    assert profiler.EnvProfiler.profiler is None
    (folder,) = tmp_path.glob("*_ascend_ms")
    info = json.loads((folder / "profiler_info.json").read_text())
    assert info["settings"]["activities"] == ["CPU"] and table(folder, "op_statistic")


def test_schedules():
    plan = profiler.schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    names = [plan(i).name for i in range(6)]
    assert names == ["NONE", "NONE", "WARM_UP", "RECORD", "RECORD_AND_SAVE", "NONE"]
    assert plan.to_dict()["active"] == 2 and "skip_first=1" in repr(plan)
    assert profiler.schedule(wait=-1, active=0).to_dict() == {
        "wait": 0,
        "active": 1,
        "warmup": 0,
        "repeat": 0,
        "skip_first": 0,
    }
    assert ProfilerAction.get_by_value(2) is ProfilerAction.RECORD
    with pytest.raises(ValueError, match="step"):
        plan(-1)


def test_what_is_wrong_is_warned_of(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    prof = ms.Profiler(
        start_profile=False, output_path=str(tmp_path), activities=["CPU"], speed=3, schedule=3
    )
    prof.stop()
    prof.step()
    profiler.mstx.mark("")
    profiler.mstx.range_end(99)
    ms.Profiler.offline_analyse(str(tmp_path))
    for words in (
        "activities value is Invalid",
        "no parameter 'speed'",
        "schedule is not Callable",
        "has not started",
        "step takes no effect",
        "Invalid message",
        "Invalid range_id",
        "Invalid path",
    ):
        assert words in caplog.text
