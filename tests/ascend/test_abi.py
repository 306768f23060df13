"""The declarations of PJRT's C interface have the layout that a table of it says."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "backends/ascend_xla/src/pjrt"
pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def recorded():
    return json.loads((HERE / "pjrt_abi.json").read_text())


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    """Ask the compiler for the size of each structure and the offset of each field."""
    folder = tmp_path_factory.mktemp("abi")
    declared = (SOURCES / "abi.h").read_text()
    lines = []
    for name, about in recorded()["structures"].items():
        if f"struct {name} {{" not in declared:
            continue
        fields = [f for f in about["fields"] if not f.startswith("_anon")]
        known = [f for f in fields if _declares(declared, name, f)]
        lines.append(f'printf("{name} %zu", sizeof({name}));')
        lines += [f'printf(" {f} %zu", offsetof({name}, {f}));' for f in known]
        lines.append('printf("\\n");')
    slots = "static const char* names[] = {PJRT_SLOTS(NAME, NAME)};\n"
    slots += 'for (auto n : names) printf("slot %s\\n", n);'
    text = (
        '#include <cstdio>\n#include "abi.h"\n#include "slots.h"\n#define NAME(f) #f,\n'
        "int main() {\n" + "\n".join(lines) + "\n" + slots + "\n}\n"
    )
    (folder / "layout.cc").write_text(text)
    program = folder / "layout"
    subprocess.run(
        ["g++", "-std=c++17", "-w", f"-I{SOURCES}", str(folder / "layout.cc"), "-o", str(program)],
        check=True,
    )
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout


def _declares(declared, structure, field):
    rest = declared.split(f"struct {structure} {{", 1)[1]
    body = rest.split("\n};" if rest.startswith("\n") else "};", 1)[0]
    return (
        field in ("struct_size", "extension_start") or f"{field};" in body or f"*{field})" in body
    )


def test_slots_are_in_order(layout):
    ours = [line.split()[1] for line in layout.splitlines() if line.startswith("slot ")]
    assert ours == recorded()["slots"]


def test_structures_have_the_sizes_and_offsets(layout):
    table, wrong, seen = recorded()["structures"], [], 0
    for line in layout.splitlines():
        if line.startswith("slot "):
            continue
        name, size, *rest = line.split()
        seen += 1
        # The table is of 0.114; a structure that grew since 0.112 is a beginning of it.
        if int(size) > table[name]["size"]:
            wrong.append((name, size))
        offsets = dict(zip(rest[::2], map(int, rest[1::2]), strict=True))
        wrong += [(name, f) for f, o in offsets.items() if table[name]["fields"][f] != o]
        if name not in GREW and int(size) != table[name]["size"]:
            wrong.append((name, size))
        missing = {
            f for f in set(table[name]["fields"]) - set(offsets) if not f.startswith("_anon")
        }
        if name not in GREW and missing:
            wrong.append((name, missing))
    assert not wrong
    assert seen > 100


# Fields came in after 0.112, which this plugin says it has.
GREW = {"PJRT_ExecuteOptions"}
