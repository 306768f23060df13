"""Files stay short, and are named for what they hold."""

import pytest

from tests.house.source import ROOT, all_files, api, ids, module_name, package_files, undocumented

LINES = 800
VAGUE = {"util", "utils", "helper", "helpers", "common", "misc", "tools", "lib"}


@pytest.mark.parametrize("path", all_files(), ids=ids)
def test_file_is_short(path):
    count = len(path.read_text(encoding="utf-8").splitlines())
    assert count <= LINES, f"{count} lines: split the family"


def test_no_vague_names():
    """Only import paths of the original may have one."""
    wrong = set()
    for path in package_files():
        parts = module_name(path).split(".")
        for end, part in enumerate(parts, 1):
            above = ".".join(["mindspore", *parts[1 : end - 1]])
            if part in VAGUE and not (f"{above}.{part}" in api() or part in undocumented(above)):
                wrong.add(ids(path))
    wrong |= {ids(p) for p in (ROOT / "tests").rglob("*.py") if p.stem in VAGUE}
    assert not wrong
