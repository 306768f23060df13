"""Files exchanged with the real MindSpore: each side reads what the other one wrote."""

import json
import os
import subprocess

import pytest

import mindjax.dataset as ds
import mindjax.mindrecord as mr
from tests.house.source import ROOT
from tests.mindrecord import cases

pytestmark = [pytest.mark.oracle, pytest.mark.slow]

PROGRAM = """
import json, os, sys
sys.path.insert(0, {root!r})
import mindspore.dataset as ds
import mindspore.mindrecord as mr
from tests.mindrecord import cases
folder, ours = {theirs!r}, {ours!r}
found = {{}}
for name in cases.FILES:
    cases.write(mr, folder, name)
    stem = name.replace(" ", "_") + ".mindrecord"
    paths = [os.path.join(ours, f) for f in sorted(os.listdir(ours))
             if f.startswith(stem) and not f.endswith(".db")]
    dataset = ds.MindDataset(paths, shuffle=False)
    read = list(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True))
    found[name] = [cases.plain(cases.rows(mr.FileReader(paths))), cases.plain(read)]
cases.write_sources(mr, folder)
values = {{e: cases.plain(eval(e, cases.scope(mr, ds, ours))) for e in cases.VALUES}}
with open({answer!r}, "w") as file:
    json.dump([found, values], file)
os._exit(0)
"""


def test_exchange(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    paths = {name: cases.write(mr, str(ours), name) for name in cases.FILES}
    cases.write_sources(mr, str(ours))
    answer = tmp_path / "answer.json"
    program = PROGRAM.format(root=str(ROOT), ours=str(ours), theirs=str(theirs), answer=str(answer))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"GLOG_v": "4"}
    done = subprocess.run(
        [os.environ["MINDJAX_ORACLE_PYTHON"], "-c", program],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found, values = json.loads(answer.read_text())
    for name, written in paths.items():
        from_them = [path.replace(str(ours), str(theirs)) for path in written]
        for files in (written, from_them):
            if name == "numbers":  # the original reads 1e20 as -9223372036854775808
                continue
            dataset = ds.MindDataset(files, shuffle=False)
            read = list(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True))
            assert cases.plain(cases.rows(mr.FileReader(files))) == found[name][0], name
            for row, expected in zip(cases.plain(read), found[name][1], strict=True):
                for value, wanted in zip(row, expected, strict=True):
                    # The original gives an empty array the shape (): docs/differences.md.
                    empty = isinstance(value[1], list) and 0 in value[1]
                    assert (value[0], []) == tuple(wanted[:2]) if empty else value == wanted, name
    for folder in (ours, theirs):
        scope = cases.scope(mr, ds, str(folder))
        for expression in cases.VALUES:
            assert cases.plain(eval(expression, scope)) == values[expression], expression
